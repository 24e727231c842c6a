"""The released tables and views, composed from the dataset schema.

Every released table is one SELECT over the raw tables and the released regions, kept as built so
that ``lineage`` can prove which columns it derives from.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial

from sqlglot import exp

from srsql.engine.catalog.datasets import raw_term
from srsql.engine.catalog.dimensions import shown_as
from srsql.engine.catalog.layout import (
    IDENTITY,
    REGION,
    SERIAL,
    Built,
    key_columns,
    raw_table,
    region_columns,
    store_of,
    term_placeholders,
)
from srsql.engine.catalog.releases import Release
from srsql.engine.grouping.perturbation import published_values
from srsql.engine.grouping.suppression import HIDDEN, list_hidden
from srsql.engine.shapes import Telling, shape_of
from srsql.engine.store.statements import (
    STORE,
    column,
    create,
    query,
    table,
    temporary,
    union_all,
)
from srsql.schemas import Dataset, Qid


def build_tables(release: Release, *, perturbed: bool, keyed: bool) -> list[Built]:
    """Fill one table per released view in the schema ``STORE``.

    Args:
        release: with ``srsql_identity`` and what its model made in the place of regions.
        perturbed: rows show what was drawn for their cases, not the region of a group.
        keyed: ids are pseudonyms, so serial numbers are published per report.
    """
    warehouse, dataset, quarter = release.warehouse, release.visible_dataset, release.quarter
    hides = list_hidden(warehouse)
    if keyed and any(child.serial for child in dataset.child_tables):
        numbers = serials(dataset, lambda child: _raw_rows(dataset, child, quarter, hides=hides))
        warehouse.run(create(exp.to_table(SERIAL), numbers, temp=True))
    regions = published_values() if perturbed else temporary("srsql_region", alias="r")
    shown = shape_of(dataset).placed(dataset, public_regions(dataset, regions))
    warehouse.run(create(exp.to_table(REGION), shown, temp=True))
    lined = warehouse.rows(
        query("release/manifest", "tables_of_one_file"), {"release_id": release.release_id}
    )
    queries = table_queries(
        dataset, quarter, keyed=keyed, hides=hides, lined={name for (name,) in lined}
    )
    built = []
    for name, rows in queries.items():
        store = store_of(release.release_id, name)
        warehouse.run(create(table(STORE, store), rows))
        built.append(Built(name, store, rows))
    return built


def table_queries(
    dataset: Dataset,
    quarter: str,
    *,
    keyed: bool,
    hides: bool = False,
    lined: Collection[str] = (),
) -> dict[str, exp.Query]:
    """Released table -> the query over raw rows, ids and regions that fills it.

    Args:
        dataset: with the tables of which the release has rows.
        quarter: of the rows.
        keyed: ids are pseudonyms, so serial numbers are published per report.
        hides: ``srsql_hidden`` has values that are suppressed: no row shows one of them, and a row
            that would show nothing else is left out.
        lined: tables that came as one file, so that no two rows are of one line; what the rows of
            others show orders those of one line, which takes longer.
    """
    return shape_of(dataset).tell(_Tables(dataset, quarter, keyed, hides, lined))


@dataclass(frozen=True)
class _Tables(Telling[dict[str, exp.Query]]):
    """Released table -> its query; see ``table_queries``."""

    dataset: Dataset
    quarter: str
    keyed: bool
    hides: bool
    lined: Collection[str]

    def by_rows(self) -> dict[str, exp.Query]:
        """The tables with their terms."""
        dataset, quarter, hides = self.dataset, self.quarter, self.hides
        return {
            source.name: _report_rows(dataset, quarter, hides=hides)
            if source.name == dataset.report_table
            else _child_rows(dataset, source.name, quarter, keyed=self.keyed, hides=hides).order_by(
                column("public_report", "i"),
                column("public_case", "i"),
                column("srsql_line", "t"),
                *[column(name, "t") for name in source.publish if source.name not in self.lined],
            )
            for source in dataset.row_tables
        }

    def by_clusters(self) -> dict[str, exp.Query]:
        """The report table alone."""
        return {self.dataset.report_table: _cluster_rows(self.dataset, self.quarter)}

    def by_counts(self) -> dict[str, exp.Query]:
        """The report table alone, if any."""
        return self.by_clusters() if self.dataset.rows else {}


def public_regions(dataset: Dataset, regions: exp.Table | exp.Subquery) -> exp.Query:
    """One row per group: bounds in the QID's unit, node labels, NULL or the root where missing.

    ``regions``: (group_no, position, low, high) AS r, what rows show of their QIDs.
    """
    query = exp.select(column("group_no", "r")).from_(regions)
    for position, qid in enumerate(dataset.qid):
        here = column("position", "r").eq(position)
        alias = f"n{position}"
        ends, label = partial(_end, qid, here, alias), exp.func("max", column("node", alias))
        for name, value in shown_as(dataset, qid, ends, label).items():
            query = query.select(value.as_(name, quoted=True))
        if qid.kind == "numeric":
            continue
        query = query.join(
            temporary("srsql_node", alias=alias),
            on=exp.and_(
                here.copy(),
                column("position", alias).eq(position),
                column("pre", alias).eq(column("low", "r")),
                column("last", alias).eq(column("high", "r")),
            ),
            join_type="left",
        )
    return query.group_by(column("group_no", "r"))


def _end(qid: Qid, here: exp.Expr, alias: str, end: str) -> exp.Expr:
    own = column(end, alias) if qid.ranged else exp.case().when(here.copy(), column(end, "r"))
    return exp.func("max", own)


def _report_rows(dataset: Dataset, quarter: str, *, hides: bool) -> exp.Query:
    report = dataset.table(dataset.report_table)
    query = exp.select(
        *_ids(dataset),
        exp.Literal.string(quarter).as_("quarter", quoted=True),
        *[column(name, "g") for name in region_columns(dataset)],
        *[_published(dataset, report.name, name, hides=hides) for name in report.publish],
        *_keys(dataset, report.name, hides=hides),
    )
    rows = _released_rows(dataset, report.name, query, quarter)
    if hides:
        rows = _without_hidden(dataset, report.name, rows)
    return rows.order_by(column("public_report", "i"), column("public_case", "i"))


def _cluster_rows(dataset: Dataset, quarter: str) -> exp.Query:
    """One row a case: its ids, its region and its cluster, if it has one; what else there is of a
    case, its number of reports included, no row tells."""
    shown = [
        *_ids(dataset),
        exp.Literal.string(quarter).as_("quarter", quoted=True),
        *[column(name, "g") for name in region_columns(dataset)],
        *[column(name, "g") for name in dataset.cluster_columns],
    ]
    return (
        exp.select(*shown)
        .distinct()
        .from_(temporary(IDENTITY, alias="i"))
        .join(temporary(REGION, alias="g"), on=column("group_no", "i").eq(column("group_no", "g")))
        .order_by(*[exp.column(name, quoted=True) for name in dataset.id_columns])
    )


def _raw_rows(dataset: Dataset, name: str, quarter: str, *, hides: bool) -> exp.Select:
    rows = exp.select().from_(raw_table(dataset, name, alias="t"))
    rows = rows.where(column("quarter", "t").eq(exp.Literal.string(quarter)))
    return _without_hidden(dataset, name, rows) if hides else rows


def serials(dataset: Dataset, rows_of: Callable[[str], exp.Select]) -> exp.Query:
    """The numbers of each numbering within a report, counted from 1 in their own order.

    Args:
        dataset: which has a child table with serial numbers.
        rows_of: the rows of a child table, as a SELECT without columns FROM ... AS t.
    """
    parts: dict[str, list[exp.Query]] = {}
    for child in dataset.child_tables:
        for name, numbering in child.serial.items():
            parts.setdefault(numbering, []).append(
                rows_of(child.name)
                .select(
                    column(dataset.report_id, "t").as_("report_id"), column(name, "t").as_("value")
                )
                .where(column(name, "t").is_(exp.null()).not_())
            )
    rank = (
        "row_number() OVER (PARTITION BY n.report_id "
        "ORDER BY try_cast(n.value AS HUGEINT) NULLS LAST, n.value)::VARCHAR AS ordinal"
    )
    numbered: list[exp.Query] = [
        exp.select(
            exp.Literal.string(numbering).as_("numbering"),
            *("n.report_id", "n.value", rank),
            dialect="duckdb",
        ).from_(exp.select("p.*").distinct().from_(union_all(rows).subquery("p")).subquery("n"))
        for numbering, rows in parts.items()
    ]
    return union_all(numbered)


def _child_rows(
    dataset: Dataset, name: str, quarter: str, *, keyed: bool, hides: bool
) -> exp.Select:
    child = dataset.table(name)
    serial = child.serial if keyed else {}
    query = exp.select(
        *_ids(dataset),
        *[
            column("ordinal", f"s_{published}").as_(published, quoted=True)
            if published in serial
            else _published(dataset, name, published, hides=hides)
            for published in child.publish
        ],
        *_keys(dataset, name, hides=hides),
    )
    rows = _released_rows(dataset, name, query, quarter)
    if hides:
        rows = _without_hidden(dataset, name, rows)
    for published, numbering in serial.items():
        alias = f"s_{published}"
        rows = rows.join(
            temporary(SERIAL, alias=alias),
            on=exp.and_(
                column("numbering", alias).eq(exp.Literal.string(numbering)),
                column("report_id", alias).eq(column(dataset.report_id, "t")),
                column("value", alias).eq(column(published, "t")),
            ),
            join_type="left",
        )
    return rows


def _ids(dataset: Dataset) -> list[exp.Expr]:
    names = {dataset.report_id: "public_report", dataset.case_id: "public_case"}
    return [column(source, "i").as_(name, quoted=True) for name, source in names.items()]


def _released_rows(dataset: Dataset, name: str, query: exp.Select, quarter: str) -> exp.Select:
    return (
        query.from_(raw_table(dataset, name, alias="t"))
        .join(
            temporary(IDENTITY, alias="i"),
            on=column(dataset.report_id, "t").eq(column("report_id", "i")),
        )
        .join(temporary(REGION, alias="g"), on=column("group_no", "i").eq(column("group_no", "g")))
        .where(column("quarter", "t").eq(exp.Literal.string(quarter)))
    )


def _published(dataset: Dataset, table_name: str, name: str, *, hides: bool) -> exp.Expr:
    """A published column; a sensitive one is NULL where it is suppressed or only "not known"."""
    if name not in term_placeholders(dataset, dataset.table(table_name)):
        return column(name, "t")
    known = _is_shown(dataset, table_name, name, hides=hides)
    return exp.case().when(known, column(name, "t")).as_(name, quoted=True)


def _is_shown(dataset: Dataset, table_name: str, name: str, *, hides: bool) -> exp.Expr:
    """Whether a term is known and not suppressed."""
    known: exp.Expr = raw_term(dataset, table_name, name, "t").is_(exp.null()).not_()
    if hides and name in _values(dataset, table_name):
        return exp.and_(known, column("term", f"h_{name}").is_(exp.null()))
    return known


def _keys(dataset: Dataset, table_name: str, *, hides: bool) -> list[exp.Expr]:
    """The keys of the terms that a row shows, beside their spellings."""
    shown: list[exp.Expr] = []
    for name, key in key_columns(dataset, table_name).items():
        value = raw_term(dataset, table_name, name, "t")
        if hides and name in _values(dataset, table_name):
            value = exp.case().when(_is_shown(dataset, table_name, name, hides=hides), value)
        shown.append(value.as_(key, quoted=True))
    return shown


def _values(dataset: Dataset, table_name: str) -> list[str]:
    """The sensitive columns of a table that are published."""
    names = {a.column for a in dataset.sensitive if a.table == table_name}
    return [name for name in dataset.table(table_name).publish if name in names]


def _without_hidden(dataset: Dataset, name: str, rows: exp.Select) -> exp.Select:
    """Rows ``t`` joined with what is suppressed of them, as ``h_COLUMN``.

    Where a child table shows sensitive values, and serial numbers at most beside them, a row is
    left out that had a value and shows none any more; elsewhere it stays with what else it tells.
    """
    values, none = _values(dataset, name), exp.null()
    for value in values:
        alias = f"h_{value}"
        rows = rows.join(
            temporary(HIDDEN, alias=alias),
            on=exp.and_(
                column("report_id", alias).eq(column(dataset.report_id, "t")),
                column("term", alias).eq(raw_term(dataset, name, value, "t")),
            ),
            join_type="left",
        )
    source = dataset.table(name)
    if name == dataset.report_table or not set(source.publish) <= {*values, *source.serial}:
        return rows
    hidden = [column("term", f"h_{value}").is_(none).not_() for value in values]
    shown = [
        exp.and_(
            raw_term(dataset, name, value, "t").is_(none).not_(),
            column("term", f"h_{value}").is_(none),
        )
        for value in values
    ]
    return rows.where(exp.or_(exp.not_(exp.or_(*hidden)), *shown)) if values else rows
