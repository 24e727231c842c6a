"""The check of published texts: what they hold that one value of one record would not.

A fault of ingestion can put the lines of other patients into one value, which every check of
regions and thresholds passes. So the texts that the views show are looked at by themselves: line
ends and control characters, lengths, and ids of other reports and cases. Nothing is taken from what
reads a source or makes a release; which columns there are is read off the views.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from srsql.engine.catalog.layout import key_columns, raw_table, region_columns
from srsql.engine.catalog.releases import Release
from srsql.engine.checks import Evidence
from srsql.engine.errors import PublishedIdError
from srsql.engine.measures import Measure
from srsql.engine.store.statements import (
    column,
    literal,
    query,
    scalar_macro,
    table,
    union_all,
)
from srsql.schemas import Dataset

TOPIC = "checks/published_text"
TEXTS, WORDS, IDS, FOUND, HELD = (
    "published_text", "published_word", "source_id", "found_id", "held_id",
)  # fmt: skip
OF_IDS = "with an id of another report or case"
"""How the scopes end that tell of ids."""
NAMED = 20
"""Ids that a refusal names."""
AT_ENDS = r"^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$"
"""What an id of the type text begins or ends with that is no part of a word."""


@dataclass(frozen=True)
class TextColumn:
    """A column of a view that shows texts."""

    view: str
    name: str
    most: int
    """Characters that a text of it may have."""
    searched: bool
    """Whether it may hold ids of others: names of periods, nodes and serial numbers are no text of
    a record, and an id column holds its own."""
    serial: bool = False
    """Whether it numbers rows, or holds ids: a text of its own in each row."""

    @property
    def place(self) -> str:
        """View and column."""
        return f"{self.view}.{self.name}"


def check_text(evidence: Evidence) -> list[Measure]:
    """Texts of all columns; ids are those of the source.

    Raises:
        PublishedIdError: a text holds an id of others; the text names it, and says what to do.
    """
    rows, ids = _examined(evidence)
    if ids and _only_ids(rows):
        raise PublishedIdError(
            f"the release failed its own check_text, nothing was released: {_refusal(rows, ids)}"
        )
    return rows


def text_fault(evidence: Evidence) -> str:
    """What is wrong with the texts of a release that is out, and what to do; empty: nothing."""
    return _refusal(*_examined(evidence))


def accepted_ids(evidence: Evidence) -> list[str]:
    """Those of ``not_ids`` that texts of a release hold and that are ids of others as well."""
    if not evidence.not_ids:
        return []
    queries = _queries(evidence, exp.not_(_not_accepted(evidence.not_ids)))
    return _named_ids(evidence, queries)


def _queries(evidence: Evidence, of_ids: exp.Expr) -> dict[str, exp.Select]:
    release = evidence.release
    keyed = bool(release.warehouse.value(query(TOPIC, "keyed"), {"release": release.release_id}))
    queries = held_ids(release, text_columns(release), keyed=keyed)
    return queries | {HELD: queries[HELD].where(of_ids)}


def _examined(evidence: Evidence) -> tuple[list[Measure], list[str]]:
    """The uniform rows, and the ids of others that texts hold."""
    queries = _queries(evidence, _not_accepted(evidence.not_ids))
    rows = evidence.ask(
        "check_text",
        literal(TEXTS),
        literal(HELD),
        tables={name: each.sql("duckdb") for name, each in queries.items()},
    )
    return rows, [] if all(row[-1] for row in rows) else _named_ids(evidence, queries)


def text_columns(release: Release) -> list[TextColumn]:
    """Every column of the views of a release that shows texts, as the catalog of DuckDB has them.

    Keys of terms are left out: ``check_term_keys`` derives each anew from the text beside it.

    Args:
        release: whose views are there.
    """
    dataset = release.visible_dataset
    keys = {
        (t.name, key) for t in dataset.row_tables for key in key_columns(dataset, t.name).values()
    }
    rows = release.warehouse.rows(query(TOPIC, "text_columns"), {"schema": release.schema})
    return [
        _text_column(release.dataset, view, name) for view, name in rows if (view, name) not in keys
    ]


def _text_column(dataset: Dataset, view: str, name: str) -> TextColumn:
    own = {each.name: each for each in dataset.tables}
    labels = {"quarter", *dataset.id_columns, *region_columns(dataset)}
    labels |= {qid.name for qid in dataset.qid}  # as groups, where a number is a category
    if view in own:
        numbers = {*own[view].serial, *dataset.id_columns}
        searched = name not in labels | numbers
        return TextColumn(view, name, own[view].longest(name), searched, name in numbers)
    named = (*dataset.sensitive, *dataset.quasi_sensitive)
    lengths = [own[each.table].longest(name) for each in named if each.column == name]
    return TextColumn(view, name, max([*lengths, dataset.longest_term]), name not in labels)


def held_ids(
    release: Release, shown: Sequence[TextColumn], *, keyed: bool
) -> dict[str, exp.Select]:
    """Queries by name, each of which reads those before it; the last has the texts with ids.

    Args:
        release: whose views are there.
        shown: its columns with texts.
        keyed: it shows pseudonyms, so that an id of the source in a text tells whose it is, that of
            its own report as well; else a text may hold the ids that stand beside it.

    Returns:
        ``TEXTS`` (place, most, searched, value), and at the end ``HELD`` (place, value, id).
    """
    dataset, schema = release.dataset, release.schema
    texts = [_texts(each, schema) for each in shown] or [_texts_of_none()]
    found = {TEXTS: _all(texts)}
    if dataset.id_type == "integer":
        found[WORDS] = exp.maybe_parse(query(TOPIC, "number_words"), dialect="duckdb")
        found[IDS] = _all([_numbers(dataset, name) for name in dataset.id_columns])
        found[FOUND] = _words_that(exp.func("abs", column("id", "i")), "BIGINT")
    else:
        found[IDS] = _all([_words_of_ids(dataset, name) for name in dataset.id_columns])
        found[WORDS] = exp.maybe_parse(query(TOPIC, "text_words"), dialect="duckdb")
        found[FOUND] = _words_that(column("id", "i"), "VARCHAR")
    held = exp.select("f.place", "f.value", "f.id").from_(f"{FOUND} AS f")
    if not keyed:
        report_rows = {each.name for each in dataset.tables}
        parts: list[exp.Query] = [
            _beside(dataset, each, schema)
            for each in shown
            if each.searched and each.view in report_rows
        ]
        others = [each.place for each in shown if each.view not in report_rows]
        parts.append(held.where(column("place", "f").isin(*others) if others else exp.false()))
        held = _all(parts)
    found[HELD] = exp.select("h.place", "h.value", "h.id").from_(held.subquery("h"))
    return found


def _all(parts: Sequence[exp.Query]) -> exp.Select:
    return exp.select("u.*").from_(union_all(list(parts)).subquery("u"))


def _texts(shown: TextColumn, schema: str) -> exp.Query:
    """The distinct texts of a column; where no id is searched, those that are wrong by themselves.
    Of serial numbers there may be millions: each row is looked at; of labels there are few."""
    value = exp.cast(column(shown.name, "v"), "VARCHAR")
    rows = (
        exp.select(
            exp.Literal.string(shown.place).as_("place"),
            exp.convert(shown.most).as_("most"),
            exp.convert(shown.searched).as_("searched"),
            value.as_("value"),
        )
        .distinct()
        .from_(table(schema, shown.view, alias="v"))
        .where(column(shown.name, "v").is_(exp.null()).not_())
    )
    if shown.searched:
        return rows
    if shown.serial:
        return rows.where(_wrong(value, shown.most))
    return (
        exp.select("d.*").from_(rows.subquery("d")).where(_wrong(column("value", "d"), shown.most))
    )


def _wrong(value: exp.Expr, most: int) -> exp.Expr:
    """Whether a text is wrong by itself."""
    longer = exp.GT(this=exp.Length(this=value.copy()), expression=exp.convert(most))
    return exp.or_(scalar_macro("breaks_line", value.copy()), longer)


def _texts_of_none() -> exp.Query:
    """The same of a release without a text."""
    none = "SELECT '' AS place, 0 AS most, FALSE AS searched, '' AS value WHERE FALSE"
    return exp.maybe_parse(none, dialect="duckdb")


def _raw_reports(dataset: Dataset) -> exp.Table:
    """The reports of all periods as they were ingested, of no series."""
    return raw_table(dataset.taken_from(""), dataset.report_table, alias="t")


def _numbers(dataset: Dataset, name: str) -> exp.Query:
    """Ids that are words of texts: the few words are looked up, and not the millions of ids."""
    words = exp.select(exp.cast(column("word", "w"), "BIGINT")).from_(f"{WORDS} AS w")
    below = exp.select(exp.Neg(this=exp.cast(column("word", "w"), "BIGINT"))).from_(f"{WORDS} AS w")
    return (
        exp.select(column(name, "t").as_("id"))
        .from_(_raw_reports(dataset))
        .where(column(name, "t").isin(query=union_all([words, below])))
    )


def _words_of_ids(dataset: Dataset, name: str) -> exp.Query:
    """Every id of the type text, as it stands in a text if it does."""
    upper = exp.Upper(this=exp.cast(column(name, "t"), "VARCHAR"))
    texts = [exp.Literal.string(text) for text in (AT_ENDS, "", "g")]
    bare = exp.Anonymous(this="regexp_replace", expressions=[upper, *texts])
    return exp.select(bare.as_("id")).distinct().from_(_raw_reports(dataset))


def _words_that(are: exp.Expr, kind: str) -> exp.Select:
    """(place, value, id): words of texts that are ids."""
    known = exp.select(are).from_(f"{IDS} AS i")
    return (
        exp.select("w.place", "w.value", column("word", "w").as_("id"))
        .from_(f"{WORDS} AS w")
        .where(exp.cast(column("word", "w"), kind).isin(query=known))
    )


def _beside(dataset: Dataset, shown: TextColumn, schema: str) -> exp.Query:
    """(place, value, id): ids in texts of a column that some row shows without showing that id as
    its own."""
    own = [_bare(column(name, "v")) for name in dataset.id_columns]
    return (
        exp.select("f.place", "f.value", "f.id")
        .distinct()
        .from_(table(schema, shown.view, alias="v"))
        .join(
            f"{FOUND} AS f",
            on=exp.and_(
                column("place", "f").eq(exp.Literal.string(shown.place)),
                column("value", "f").eq(exp.cast(column(shown.name, "v"), "VARCHAR")),
            ),
        )
        .where(exp.not_(column("id", "f").isin(*own)))
    )


def _bare(value: exp.Expr) -> exp.Expr:
    """An id that a row shows, as it stands in a text if it does."""
    texts = [exp.Literal.string(text) for text in (AT_ENDS, "", "g")]
    upper = exp.Upper(this=exp.cast(value, "VARCHAR"))
    return exp.Anonymous(this="regexp_replace", expressions=[upper, *texts])


def _not_accepted(not_ids: Sequence[str]) -> exp.Expr:
    listed = [exp.Literal.string(text.strip().upper()) for text in not_ids]
    return exp.not_(column("id", "h").isin(*listed)) if listed else exp.true()


def _named_ids(evidence: Evidence, queries: dict[str, exp.Select]) -> list[str]:
    """The ids that texts hold, in order."""
    parts = [f"{name} AS MATERIALIZED ({each.sql('duckdb')})" for name, each in queries.items()]
    named = f"WITH {', '.join(parts)} SELECT DISTINCT h.id FROM {HELD} AS h ORDER BY h.id"
    return [text for (text,) in evidence.release.warehouse.rows(named)]


def _only_ids(rows: Sequence[Measure]) -> bool:
    return all(row[-1] or row[2].endswith(OF_IDS) for row in rows)


def _refusal(rows: Sequence[Measure], ids: Sequence[str]) -> str:
    """What is wrong, and what to do."""
    faults = [
        f"{violating:,.0f} of {total:,.0f} texts of {' '.join(scope.split(': '))}"
        for _, _, scope, violating, total, _, _, passed in rows
        if not passed
    ]
    if not ids:
        return "; ".join(faults)
    listed = ",".join(ids[:NAMED])
    more = f" and {len(ids) - NAMED:,} more" if len(ids) > NAMED else ""
    return (
        f"{'; '.join(faults)} ({listed}{more}): one value holds what another record says, mend the "
        f"source; if you have looked and these are no ids there, give --not-ids {listed}"
    )
