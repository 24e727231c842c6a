"""What one who knows a patient's region and some published items can single out and infer.

Items are the published drugs and terms of a case (SPEC section 18). They stand beside the region
that the model protects and are published as they are, so no bound of a model limits these figures:
but for those of whole rows that are taken apart (``row_candidates``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from srsql.engine.catalog.datasets import raw_term, trimmed
from srsql.engine.catalog.layout import raw_table, same_id
from srsql.engine.catalog.releases import key_of
from srsql.engine.measures import MeasureRow
from srsql.engine.risk.row_candidates import (
    EMPTY_IS_ANYTHING,
    READINGS,
    both_readings,
    measure_row_candidates,
)
from srsql.engine.shapes import Telling, release_shape
from srsql.engine.store.statements import (
    column,
    create,
    dotted,
    query,
    table,
    temporary,
    union_all,
)
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, Sensitive
from srsql.schemas.derived import claim_text, rule_text

KERNELS = "srsql.udfs.risk.singling_out"
"""As ``load_kernels`` takes them."""
EVERY_CASE = 2**31 - 1
SOME_CASES = 2_000
"""Cases drawn where an estimate will do: the standard error of a share is 1.1 % at most."""
SEED = 0
"""Of what is drawn: whoever measures a release again draws the same."""
SMALL_SETS = ("1_item", "2_items")
"""How many items are known, in the names of ``PERCENT``, in what is said first of a release."""
PERCENT = {
    f"{name}_percent_{items}": (measure, scope)
    for name, measure in (
        ("below_k", "candidates_below_k"),
        ("one_candidate", "one_candidate"),
        ("certain_term", "certain_term"),
    )
    for items, scope in (
        ("1_item", "1 of the drugs or terms, worst"),
        ("2_items", "2 of the drugs or terms, worst"),
        ("all_items", "all drugs and terms"),
    )
}
"""Column of the public manifest -> measure and scope of which it tells the share of the cases."""
AS_ANYTHING = "_empty_is_anything"
"""Ends the column of the same figure of who takes an empty value for any; it stands beside the
other, which is never lower, only where the two differ."""
EXACT = {
    "exact_values_percent_every_row": ("every row",),
    "exact_values_percent_some_row": ("some row, by regions alone", "some row"),
}
"""Column of the public manifest -> scopes of ``exact_values``, of which it tells the first that is
measured: what regions alone tell, which everybody sees who has them."""
MEASURED = "measured_cases"
"""The column with the number of these cases."""
PUBLIC_SHARES = (
    *PERCENT, *(name + AS_ANYTHING for name in PERCENT), MEASURED, *EXACT,
)  # fmt: skip
ITEMS = "known_items"
"""Column of the public manifest: what known items are, where they are no drugs or terms."""
DRUGS_OR_TERMS = "drugs or terms"
_ITEM = "srsql_known_item"
_SUPPRESSES = "SELECT count(*) > 0 FROM srsql.suppressed AS s WHERE s.release_id = ?"
_EXPOSURE = "srsql.singling_out({id}, 'temp.main.srsql_known_item', {cases}, {seed}, {readings})"
_MACROS = ("unbounded_values({id})", "unanimous_regions({id})")


def measure_singling_out(
    warehouse: Warehouse, visible_dataset: Dataset, release_id: int, cases: int = EVERY_CASE
) -> list[MeasureRow]:
    """Shares of cases that known items single out, or of which a further term follows from them.

    And of those in whose region a known value of some row, or of each, follows from the region
    alone; not where several sets of quasi-identifiers are protected, each by groups of its own.
    Of two readings of an empty value the one is told that leaves fewer candidates, and where it
    differs the other beside it (``both_readings``). Nothing but temporary tables is written; the
    warehouse may be read-only.

    Args:
        warehouse: where the release is.
        visible_dataset: with the tables of which the release has rows.
        release_id: of the release.
        cases: so many are drawn and looked at, if there are more.

    Returns:
        Of items no rows where no rows of cases are published; none for somebody else's release.

    Source: SPEC section 18.
    """
    visible_dataset = visible_dataset.keyed(key_of(warehouse, release_id))

    def exact() -> list[MeasureRow]:
        found = warehouse.rows(f"FROM srsql.exact_values({int(release_id)})")
        return [MeasureRow(*row) for row in found]

    shape = release_shape(warehouse, visible_dataset, release_id)
    return shape.singled_out(exact, _Items(warehouse, visible_dataset, release_id, cases))


@dataclass(frozen=True)
class _Items(Telling[list[MeasureRow]]):
    """What items and columns single out."""

    warehouse: Warehouse
    visible_dataset: Dataset
    release_id: int
    cases: int

    def by_rows(self) -> list[MeasureRow]:
        """Those that are published in the rows of cases."""
        return _of_items(self.warehouse, self.visible_dataset, self.release_id, self.cases)

    def by_clusters(self) -> list[MeasureRow]:
        """Those that clusters tell."""
        return measure_row_candidates(
            self.warehouse, self.visible_dataset, self.release_id, self.cases, SEED
        )


def _of_items(
    warehouse: Warehouse, visible_dataset: Dataset, release_id: int, cases: int
) -> list[MeasureRow]:
    """What items and columns single out that are published in the rows of cases."""
    hides = bool(warehouse.value(_SUPPRESSES, [release_id]))
    items = known_items(visible_dataset, release_id, hides=hides)
    quarter = warehouse.value(
        "SELECT r.quarter FROM srsql.release AS r WHERE r.release_id = ?", [release_id]
    )
    columns = _column_rows(warehouse, visible_dataset, release_id, quarter)
    if items is None:
        return columns
    warehouse.run(create(temporary(_ITEM), items, temp=True), {"quarter": quarter})
    empty = warehouse.value(query("risk/metrics", "shows_empty"), {"release_id": release_id})
    readings = READINGS if empty else READINGS[:1]  # where nothing is empty they are the same
    call = _EXPOSURE.format(id=int(release_id), cases=cases, seed=SEED, readings=list(readings))
    found: dict[str, list[MeasureRow]] = {reading: [] for reading in readings}
    for *row, reading in warehouse.rows(f"FROM {call}"):
        found[reading].append(MeasureRow(*row))
    rows = both_readings(found[readings[-1]], found[readings[0]])
    for macro in _MACROS:
        called = warehouse.rows(f"FROM srsql.{macro.format(id=int(release_id))}")
        rows += [MeasureRow(*row) for row in called]
    warehouse.run(f"DROP TABLE {dotted('temp', 'main', _ITEM)}")
    return [row for row in rows if row.total] + columns


def _column_rows(
    warehouse: Warehouse, visible_dataset: Dataset, release_id: int, quarter: str
) -> list[MeasureRow]:
    """Whom columns single out that a release shows beside those of every release of the dataset."""
    parts: list[exp.Query] = [
        _reported(visible_dataset, source.name).select(
            column(visible_dataset.report_id, "t").as_("report_id"),
            exp.Literal.string(f"{source.name}.{name}").as_("column_name"),
            trimmed(column(name, "t")).as_("value"),
        )
        for source in visible_dataset.row_tables
        for name in source.publish
        if name in source.optional or visible_dataset.makes(source.name, name)
    ]
    if not parts:
        return []
    items = (
        exp.select(
            *(column(n, t) for n, t in (("case_no", "r"), ("column_name", "v"), ("value", "v")))
        )
        .from_(union_all(parts).subquery("v"))
        .join(
            _numbered_reports(visible_dataset, release_id).subquery("r"),
            on=column("report_id", "v").eq(column("report_id", "r")),
        )
    )
    warehouse.run(create(temporary(_ITEM), items, temp=True), {"quarter": quarter})
    rows = warehouse.rows(f"FROM srsql.column_singling_out({int(release_id)}, 'temp.main.{_ITEM}')")
    warehouse.run(f"DROP TABLE {dotted('temp', 'main', _ITEM)}")
    return [MeasureRow(*row) for row in rows]


def public_shares(rows: Iterable[MeasureRow]) -> dict[str, int]:
    """What the public manifest tells of ``measure_singling_out``: shares in whole percent.

    And of how many cases that have such items. A figure of who takes an empty value for any stands
    there only where it is another one in whole percent.
    """
    found = {(row.measure, row.scope): row for row in rows}
    shares: dict[str, int] = {}
    for name, (measure, scope) in PERCENT.items():
        for end, words in (("", ""), (AS_ANYTHING, EMPTY_IS_ANYTHING)):
            row = found.get((measure, scope + words))
            if row is None or row.ratio is None:
                continue
            if (share := round(100 * row.ratio)) != shares.get(name):
                shares[name + end] = share
    for name, scopes in EXACT.items():
        told = [row for scope in scopes if (row := found.get(("exact_values", scope)))]
        if told and told[0].total:
            shares[name] = -int(-100 * (told[0].violating or 0) // told[0].total)  # rounded up
    looked_at = found.get(PERCENT["one_candidate_percent_2_items"])
    return shares | ({MEASURED: int(looked_at.total or 0)} if looked_at else {})


def share_text(told: Mapping[str, Any], name: str) -> str:
    """A share of the public manifest in words, and beside it that of the other reading.

    Args:
        told: a manifest with that column.
        name: of ``PERCENT``.
    """
    other = told.get(name + AS_ANYTHING)
    beside = "" if other is None else f" ({other} % where an empty value may be anything)"
    return f"{told[name]} %{beside}"


def known_items(
    visible_dataset: Dataset, release_id: int, *, hides: bool = False
) -> exp.Query | None:
    """(case_no, attribute, term, value, sensitive) of the released cases in $quarter, row by row.

    The term is the spelling as it is published, since it is looked for as it is printed; its value
    is its key. Of version 0 of the key both are the same. A case that has an item twice has two
    rows. None where no attribute is published beside the rows
    of cases. ``hides``: some sensitive values are suppressed.
    """
    published = {source.name: source.publish for source in visible_dataset.row_tables}
    parts = [
        _reported(visible_dataset, attribute.table).select(
            column(visible_dataset.report_id, "t").as_("report_id"),
            exp.Literal.string(attribute.column).as_("attribute"),
            _printed(visible_dataset, attribute).as_("term"),
            raw_term(visible_dataset, attribute.table, attribute.column, "t").as_("value"),
            exp.convert(sensitive).as_("sensitive"),
        )
        for sensitive, attributes in (
            (True, visible_dataset.sensitive),
            (False, visible_dataset.quasi_sensitive),
        )
        for attribute in attributes
        if attribute.column in published.get(attribute.table, ())
    ]
    if not parts:
        return None
    named = [column(name, "v") for name in ("attribute", "term", "value", "sensitive")]
    shown = (
        exp.select(column("case_no", "r"), *named)
        .from_(union_all(list(parts)).subquery("v"))
        .join(
            _numbered_reports(visible_dataset, release_id).subquery("r"),
            on=column("report_id", "v").eq(column("report_id", "r")),
        )
        .where(column("value", "v").is_(exp.null()).not_())
    )
    return _without_suppressed(shown, release_id) if hides else shown


def _printed(dataset: Dataset, attribute: Sensitive) -> exp.Expression:
    """What a released row shows of a term."""
    if dataset.term_key:
        return column(attribute.column, "t")
    return raw_term(dataset, attribute.table, attribute.column, "t")


def _reported(dataset: Dataset, source: str) -> exp.Select:
    """FROM the rows ``t`` of a table in $quarter."""
    of_quarter = column("quarter", "t").eq(exp.Placeholder(this="quarter"))
    return exp.select().from_(raw_table(dataset, source, alias="t")).where(of_quarter)


def _numbered_reports(dataset: Dataset, release_id: int) -> exp.Select:
    """(report_id, case_no) of the reports of the released cases in $quarter."""
    return (
        _reported(dataset, dataset.report_table)
        .select(column(dataset.report_id, "t").as_("report_id"), column("case_no", "m"))
        .join(
            table("srsql", "member", alias="m"),
            on=same_id(dataset, column(dataset.case_id, "t"), column("case_id", "m")),
        )
        .where(column("release_id", "m").eq(release_id))
    )


def _without_suppressed(shown: exp.Select, release_id: int) -> exp.Select:
    """The rows of ``shown`` but for the sensitive values that their cases have lost."""
    gone = (
        exp.select(column("case_no", "s"), column("term", "h"))
        .from_(table("srsql", "suppressed", alias="s"))
        .join(
            table("srsql", "threshold", alias="h"),
            on=exp.and_(
                column("release_id", "s").eq(column("release_id", "h")),
                column("term_no", "s").eq(column("term_no", "h")),
            ),
        )
        .where(column("release_id", "s").eq(release_id))
    )
    return shown.join(
        gone.subquery("gone"),
        on=exp.and_(
            column("sensitive", "v"),
            column("case_no", "r").eq(column("case_no", "gone")),
            column("value", "v").eq(column("term", "gone")),
        ),
        join_type="anti",
    )


def columns_beside(visible_dataset: Dataset) -> dict[str, str]:
    """Which columns the public manifest calls protected, and which are published verbatim.

    Where no drugs are among these, ``ITEMS`` says what known items are instead.
    """
    protected = [qid.name for qid in visible_dataset.qid] if visible_dataset.rows else []
    items = items_named(visible_dataset)
    return {
        "protected": ", ".join(protected) or "none",
        "published_verbatim": ", ".join(verbatim_columns(visible_dataset)) or "none",
        **({"derived": told} if (told := derived_text(visible_dataset)) else {}),
        **({} if items == DRUGS_OR_TERMS else {ITEMS: items}),
    }


def items_named(visible_dataset: Dataset) -> str:
    """What known items are, in words: drugs or terms, or the values of tables by their names."""
    published = visible_dataset.published
    drugs, terms = (
        [a.table for a in attributes if (a.table, a.column) in published]
        for attributes in (visible_dataset.quasi_sensitive, visible_dataset.sensitive)
    )
    if drugs or not terms:
        return DRUGS_OR_TERMS
    return f"values of {' or '.join(dict.fromkeys(terms))}"


def derived_text(visible_dataset: Dataset) -> str:
    """Each derived column that is shown, with its rule and what is claimed; empty: none is."""
    return "; ".join(
        f"{each.name}: {rule_text(each)} ({claim_text(each, visible_dataset.published)})"
        for each in visible_dataset.told_derived
    )


def verbatim_columns(visible_dataset: Dataset) -> list[str]:
    """``table.column`` of what is published as the reports have it.

    Ids, regions and derived columns are left out.
    """
    ids = {visible_dataset.case_id, visible_dataset.report_id}
    return [
        f"{source.name}.{name}"
        for source in visible_dataset.row_tables
        for name in source.publish
        if name not in ids and not visible_dataset.makes(source.name, name)
    ]
