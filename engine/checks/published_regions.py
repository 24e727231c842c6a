"""What the rows of a release show, as checks read them: regions, terms of each case, drawn values.

Composed from the dataset schema; shares no code with what makes the rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from srsql.engine.catalog.datasets import raw_term
from srsql.engine.catalog.layout import raw_table, region_columns
from srsql.engine.checks import checked_key
from srsql.engine.store.statements import (
    check_row,
    column,
    table,
    temporary,
    union_all,
)
from srsql.schemas import Dataset, Qid, Sensitive


def region_text(dataset: Dataset) -> exp.Expr:
    """The published quasi-identifiers of a row ``v``, the same text for the same region only."""
    return exp.func("to_json", exp.func("row", *[column(n, "v") for n in region_columns(dataset)]))


def region_rows(dataset: Dataset, schema: str, *, reports: bool) -> exp.Select:
    """(region, case_id, carries) of every released report; region is a text, and of published rows
    alone every case carries the bounds.

    ``reports``: with ``report_id``, since reports are counted.
    """
    query = exp.select(
        exp.cast(region_text(dataset), "VARCHAR").as_("region"),
        column(dataset.case_id, "v").as_("case_id"),
        exp.true().as_("carries"),
    )
    if reports:
        query = query.select(column(dataset.report_id, "v").as_("report_id"))
    return query.from_(table(schema, dataset.report_table, alias="v"))


def clustered_rows(dataset: Dataset, schema: str) -> exp.Select:
    """Those of whole rows that are taken apart, with their ``cluster``."""
    return region_rows(dataset, schema, reports=False).select(column("cluster", "v"))


def placed_records(dataset: Dataset, schema: str, release_id: int) -> exp.Query:
    """The same with ``record``, which numbers the cases of the release.

    Needs ``srsql_identity``.
    """
    rows = clustered_rows(dataset, schema).select(column("case_no", "m").as_("record"))
    return _with_members(rows, dataset, release_id)


def _with_members(rows: exp.Select, dataset: Dataset, release_id: int) -> exp.Select:
    """Released rows ``v`` beside what the catalog has of their cases, ``m``."""
    return rows.join(
        temporary("srsql_identity", alias="i"),
        on=exp.and_(
            column(dataset.report_id, "v").eq(column("public_report", "i")),
            column(dataset.case_id, "v").eq(column("public_case", "i")),
        ),
    ).join(
        table("srsql", "member", alias="m"),
        on=exp.and_(
            exp.cast(column("case_id", "i"), "VARCHAR").eq(column("case_id", "m")),
            column("release_id", "m").eq(release_id),
        ),
    )


def internal_group_rows(
    dataset: Dataset, schema: str, release_id: int, shown: Sequence[str] = ()
) -> exp.Query:
    """(region, case_id, carries[, shown]) of every released report; region is its internal group.

    Needs ``srsql_identity``; ``shown``: published columns that go into a text.
    """
    shown_rows = exp.select(
        exp.cast(column("group_id", "m"), "VARCHAR").as_("region"),
        column(dataset.case_id, "v").as_("case_id"),
        exp.true().as_("carries"),
    ).from_(table(schema, dataset.report_table, alias="v"))
    query = _with_members(shown_rows, dataset, release_id)
    if not shown:
        return query
    text = exp.func("to_json", exp.func("row", *[column(name, "v") for name in shown]))
    return query.select(exp.cast(text, "VARCHAR").as_("shown"))


def case_terms(
    dataset: Dataset, schema: str, name: str, apart: dict[str, str], *, drugs: bool = False
) -> exp.Query:
    """Distinct (case, attribute, normalized value) of the released sensitive (or drug) columns.

    ``apart``: the columns of which the raw rows of the released cases tell instead.
    """
    attributes = dataset.quasi_sensitive if drugs else dataset.sensitive
    published = {t.name: t.publish for t in dataset.tables}
    parts: list[exp.Query] = []
    for attribute in attributes:
        if attribute.column in apart:
            quarter = apart[attribute.column]
            parts.append(_raw_terms(dataset, attribute.table, attribute.column, quarter, name))
        if attribute.column not in published[attribute.table]:
            continue
        shown = exp.select(
            column(dataset.case_id, "v").as_("case_id"),
            exp.Literal.string(attribute.column).as_("attribute"),
            _TERM.as_(name),
        )
        parts.append(_with_terms(shown.distinct(), schema, attribute, dataset.term_key))
    if not parts:
        none = exp.cast(exp.null(), "VARCHAR")
        parts = [
            exp.select(
                column(dataset.case_id, "v").as_("case_id"),
                none.as_("attribute"),
                none.copy().as_(name),
            )
            .from_(table(schema, dataset.report_table, alias="v"))
            .where(exp.false())
        ]
    together = union_all(parts)
    if len({attribute.column for attribute in attributes}) == len(attributes):
        return together
    return exp.select("u.*").distinct().from_(together.subquery("u"))


def _raw_terms(dataset: Dataset, source: str, name: str, quarter: str, shown: str) -> exp.Query:
    """(case_id, attribute, normalized value) of one column for the released cases, under their
    public ids."""
    value = checked_key(column(name, "t"), dataset.term_key)
    return (
        exp.select(
            column("public_case", "i").as_("case_id"),
            exp.Literal.string(name).as_("attribute"),
            value.as_(shown),
        )
        .distinct()
        .from_(raw_table(dataset, source, alias="t"))
        .join(
            table("temp", "main", "srsql_identity", alias="i"),
            on=column(dataset.report_id, "t").eq(column("report_id", "i")),
        )
        .where(column("quarter", "t").eq(exp.Literal.string(quarter)))
        .where(raw_term(dataset, source, name, "t").is_(exp.null()).not_())
    )


def published_sensitive(dataset: Dataset) -> list[Sensitive]:
    """The sensitive attributes whose column is published."""
    published = {item.name: item.publish for item in dataset.tables}
    return [a for a in dataset.sensitive if a.column in published[a.table]]


def report_values(dataset: Dataset, schema: str) -> exp.Query:
    """(report_id, case_id, attribute, normalized term) of the released sensitive columns."""
    ids = (dataset.report_id, dataset.case_id)
    parts: list[exp.Query] = [
        _with_terms(
            _values_of(attribute, [column(name, "v") for name in ids], _TERM),
            schema,
            attribute,
            dataset.term_key,
        )
        for attribute in published_sensitive(dataset)
    ]
    none = exp.cast(exp.null(), "VARCHAR")
    empty = exp.select(
        *[column(name, "v").as_(shown) for name, shown in zip(ids, _IDS, strict=True)],
        none.as_("attribute"),
        none.copy().as_("term"),
    ).from_(table(schema, dataset.report_table, alias="v"))
    return union_all(parts or [empty.where(exp.false())])


_IDS = ("report_id", "case_id")


def _values_of(attribute: Sensitive, ids: list[exp.Column], term: exp.Expr) -> exp.Select:
    """Distinct (report_id, case_id, attribute, normalized term), without FROM."""
    return exp.select(
        *[each.as_(shown) for each, shown in zip(ids, _IDS, strict=True)],
        exp.Literal.string(attribute.column).as_("attribute"),
        term.as_("term"),
    ).distinct()


_TERM = column("term", "n")


def _with_terms(shown: exp.Select, schema: str, attribute: Sensitive, term_key: int) -> exp.Select:
    """What is selected of the rows ``v`` of a released table, beside the key ``_TERM`` of the
    attribute's term, where that is not empty.

    Many rows have the same text, so each is normalized once. A condition on what is grouped by
    would be tested of every row: so the text is a minimum.
    """
    rows, value = table(schema, attribute.table, alias="v"), column(attribute.column, "v")
    texts = exp.select(exp.func("min", value).as_("text")).from_(rows.copy()).group_by(value.copy())
    term = checked_key(column("text", "d"), term_key)
    terms = exp.select(column("text", "d"), term.as_("term")).from_(texts.subquery("d"))
    named = terms.where(term.copy().neq("")).subquery(exp.to_identifier("n", quoted=True))
    return shown.from_(rows).join(named, on=value.copy().eq(column("text", "n")))


def original_values(dataset: Dataset, quarter: str) -> exp.Query:
    """The same of the ingested rows of the released reports, under their public ids."""
    ids = [column(name, "i") for name in ("public_report", "public_case")]
    parts: list[exp.Query] = [
        _values_of(attribute, ids, checked_key(column(attribute.column, "t"), dataset.term_key))
        .from_(raw_table(dataset, attribute.table, alias="t"))
        .join(
            temporary("srsql_identity", alias="i"),
            on=column(dataset.report_id, "t").eq(column("report_id", "i")),
        )
        .where(column("quarter", "t").eq(exp.Literal.string(quarter)))
        .where(raw_term(dataset, attribute.table, attribute.column, "t").is_(exp.null()).not_())
        for attribute in published_sensitive(dataset)
    ]
    none = exp.cast(exp.null(), "VARCHAR")
    empty = exp.select(
        *[each.copy().as_(shown) for each, shown in zip(ids, _IDS, strict=True)],
        none.as_("attribute"),
        none.copy().as_("term"),
    ).from_(temporary("srsql_identity", alias="i"))
    return union_all(parts or [empty.where(exp.false())])


def shown_regions(dataset: Dataset, schema: str, kept: str, *, by_report: bool) -> exp.Query:
    """(group_id, case_no, reports, the columns of the region) of the released rows.

    Args:
        dataset: names the columns.
        schema: of the views.
        kept: the rows of ``srsql.kept_reports``; the group of what is not among them is NULL.
        by_report: each report is a row; else those of one group that show the same are one, with
            the least of their cases.
    """
    region = [column(name, "v") for name in region_columns(dataset)]
    group, case = column("group_id", "k"), column("case_no", "k")
    rows = exp.select(group).from_(table(schema, dataset.report_table, alias="v"))
    rows = rows.join(
        exp.to_table(kept, alias="k"),
        on=column(dataset.report_id, "v").eq(column("public_report", "k")),
        join_type="left",
    )
    if by_report:
        return rows.select(case, exp.Literal.number(1).as_("reports"), *region)
    number = exp.Count(this=exp.Star()).as_("reports")
    found = rows.select(exp.func("min", case).as_("case_no"), number, *region)
    return found.group_by(group.copy(), *(each.copy() for each in region))


def region_ends(dataset: Dataset, shown: str) -> exp.Query:
    """(group_id, case_no, reports, position, low, high) of ``shown_regions``, coded as the catalog
    does."""
    parts: list[exp.Query] = []
    for position, qid in enumerate(dataset.qid):
        query = exp.select(
            *[column(name, "v") for name in ("group_id", "case_no", "reports")],
            exp.Literal.number(position).as_("position"),
        ).from_(exp.to_table(shown, alias="v"))
        if qid.kind == "numeric":
            size = exp.Literal.number(format(qid.granularity, "f"))
            for end in ("low", "high"):
                granules = exp.Div(this=column(f"{qid.name}_{end}", "v"), expression=size.copy())
                query = query.select(exp.cast(granules, "BIGINT").as_(end))
        elif qid.ranged:
            query = _range_nodes(dataset, qid, query)
        else:
            query = query.join(
                table("srsql", "node", alias="n"),
                on=exp.and_(
                    column("dataset", "n").eq(exp.Literal.string(dataset.name)),
                    column("attribute", "n").eq(exp.Literal.string(qid.name)),
                    column("node", "n").eq(column(qid.name, "v")),
                ),
                join_type="left",
            ).select(column("pre", "n").as_("low"), column("last", "n").as_("high"))
        parts.append(query)
    return union_all(parts)


def _range_nodes(dataset: Dataset, qid: Qid, query: exp.Select) -> exp.Select:
    """The node that a published range stands for; a missing one is shown as no range."""
    nodes = _node_ranges(dataset, qid, "n")
    low, high = column(f"{qid.name}_low", "v"), column(f"{qid.name}_high", "v")
    missing = low.is_(exp.null())
    return query.join(
        nodes,
        on=exp.and_(low.eq(column("low", "n")), high.eq(column("high", "n"))),
        join_type="left",
    ).select(
        exp.case().when(missing, exp.Literal.number(0)).else_(column("pre", "n")).as_("low"),
        exp.case()
        .when(missing.copy(), exp.Literal.number(len(dataset.groups[qid.name].labels) - 1))
        .else_(column("last", "n"))
        .as_("high"),
    )


def case_symptoms(dataset: Dataset, values: exp.Table) -> exp.Query:
    """(case_id, attribute, symptoms): distinct released values of each sensitive attribute.

    ``values``: what ``case_terms`` tells, AS v.
    """
    names = dict.fromkeys(attribute.column for attribute in published_sensitive(dataset))
    attribute = column("attribute", "v")
    shown = attribute.isin(*[exp.Literal.string(name) for name in names]) if names else exp.false()
    return (
        exp.select(
            column("case_id", "v"),
            attribute,
            exp.Count(this=column("term", "v")).as_("symptoms"),
        )
        .from_(values)
        .where(shown)
        .group_by(column("case_id", "v"), attribute.copy())
    )


def _node_ranges(dataset: Dataset, qid: Qid, alias: str) -> exp.Table:
    """A call of ``srsql.node_ranges`` for one quasi-identifier."""
    names = [exp.Literal.string(dataset.name), exp.Literal.string(qid.name)]
    return exp.Table(
        this=exp.Anonymous(this="node_ranges", expressions=names),
        db=exp.to_identifier("srsql"),
        alias=exp.TableAlias(this=exp.to_identifier(alias, quoted=True)),
    )


def drawn_values_query(dataset: Dataset, schema: str, release_id: int) -> exp.Query:
    """The uniform row: released values are some that could be released at all."""
    query = exp.select().from_(table(schema, dataset.report_table, alias="v"))
    strange: list[exp.Expr] = []
    for position, qid in enumerate(dataset.qid):
        if qid.kind == "numeric":
            strange.append(_off_domain(qid))
            continue
        alias = f"n{position}"
        name = exp.Literal.string(qid.name)
        if qid.ranged:
            low, high = column(f"{qid.name}_low", "v"), column(f"{qid.name}_high", "v")
            nodes = _node_ranges(dataset, qid, alias)
            found = exp.and_(low.eq(column("low", alias)), high.eq(column("high", alias)))
            shown = exp.or_(low.copy().is_(exp.null()).not_(), high.copy().is_(exp.null()).not_())
        else:
            nodes = table("srsql", "node", alias=alias)
            found = exp.and_(
                column("dataset", alias).eq(exp.Literal.string(dataset.name)),
                column("attribute", alias).eq(name),
                column("node", alias).eq(column(qid.name, "v")),
            )
            shown = exp.true()
        query = query.join(nodes, on=found, join_type="left")
        strange.append(exp.and_(shown, column("pre", alias).is_(exp.null())))
    wrong = exp.func("coalesce", exp.or_(*strange), exp.true())
    return query.select(check_row(release_id, ("check_values", "report"), wrong))


def _off_domain(qid: Qid) -> exp.Expr:
    """A number that is not one value of the declared domain on a granule; missing is fine."""
    low, high = (exp.cast(column(f"{qid.name}_{end}", "v"), "DECIMAL(28, 9)")
                 for end in ("low", "high"))  # fmt: skip
    bounds = qid.domain if isinstance(qid.domain, tuple) else qid.limits
    size = exp.Literal.number(format(qid.granularity, "f"))
    inside: list[exp.Expr] = [low.eq(high), exp.Mod(this=low.copy(), expression=size).eq(0)]
    if bounds is not None:
        inside += [
            exp.GTE(this=low.copy(), expression=exp.Literal.number(format(bounds[0], "f"))),
            exp.LTE(this=low.copy(), expression=exp.Literal.number(format(bounds[1], "f"))),
        ]
    missing = exp.and_(low.copy().is_(exp.null()), high.copy().is_(exp.null()))
    return exp.and_(
        exp.not_(missing), exp.not_(exp.func("coalesce", exp.and_(*inside), exp.false()))
    )
