"""The released rows of a model over the lattice: under no id, shuffled, numbered anew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from srsql.engine.errors import ReleaseError
from srsql.engine.grouping.cases import derived, raw_table
from srsql.engine.lattice.dimensions import Dimension, dimensions_of
from srsql.engine.lattice.result import Made
from srsql.engine.release.views import Built, in_units, region_columns, store_of
from srsql.engine.warehouse.catalog import trimmed
from srsql.engine.warehouse.statements import STORE, column, create, table, temporary
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset, Qid, Sensitive

ROWS = "released_rows"
NUMBER = "row"
SOURCE = "srsql_pub_released_rows"
FIRST = "first"
"""Stands for the first sensitive attribute that is published."""
ALL = "all"
"""Stands for every quasi-identifier."""


def asked_dimensions(dataset: Dataset, names: str) -> tuple[Dimension, ...]:
    """The dimensions ``age,sex,...``, or all.

    Raises:
        ReleaseError: see ``dimensions_of``.
    """
    listed = [] if names == ALL else [name.strip() for name in names.split(",") if name.strip()]
    return dimensions_of(dataset, listed)


def informative_attribute(dataset: Dataset, name: str) -> Sensitive:
    """The sensitive or quasi-sensitive attribute whose values are published as they are.

    Raises:
        ReleaseError: there is none of that name, or it is not published.
    """
    known = [
        attribute
        for attribute in (*dataset.sensitive, *dataset.quasi_sensitive)
        if attribute.column in dataset.table(attribute.table).publish
    ]
    for attribute in known:
        if name in (FIRST, attribute.column):
            return attribute
    names = ", ".join(dict.fromkeys(a.column for a in known)) or "none"
    raise ReleaseError(
        f"--informative {name}: no published sensitive column of {dataset.name} (it has: {names})"
    )


def row_columns(dataset: Dataset) -> set[str]:
    """Every column that released rows may have."""
    named = (*dataset.sensitive, *dataset.quasi_sensitive)
    return {NUMBER, *region_columns(dataset), *(attribute.column for attribute in named)}


def load_held_values(warehouse: Warehouse, dataset: Dataset, name: str) -> None:
    """Fill ``srsql_held_value(case_no, term, spelling)`` for the quarter of ``srsql_run``."""
    attribute = informative_attribute(dataset, name)
    quarter = warehouse.value(
        "SELECT r.quarter FROM srsql.release AS r "
        "INNER JOIN temp.main.srsql_run AS u ON r.release_id = u.release_id"
    )
    term = column(derived(attribute.column), "t")
    query = (
        exp.select(
            column("case_no", "c"),
            term.as_("term"),
            exp.func("min", trimmed(column(attribute.column, "t"))).as_("spelling"),
        )
        .from_(raw_table(dataset, attribute.table, alias="t"))
        .join(
            temporary("srsql_case_report", alias="c"),
            on=column(dataset.report_id, "t").eq(column("report_id", "c")),
        )
        .where(column("quarter", "t").eq(exp.Placeholder()))
        .where(term.copy().is_(exp.null()).not_())
        .group_by(column("case_no", "c"), term.copy())
    )
    warehouse.run(create(exp.to_table("srsql_held_value"), query, temp=True), [quarter])


def make_rows(
    warehouse: Warehouse,
    dataset: Dataset,
    dimensions: Sequence[Dimension],
    informative: str,
    made: Made,
    seed: int | None,
) -> None:
    """Fill ``srsql_pub_released_rows``: the only data of the lattice that are written out.

    Raises:
        ReleaseError: two of its columns would have one name.
    """
    shown = [NUMBER, *shown_columns(dataset, dimensions), informative]
    if len(set(shown)) < len(shown) or informative == "quarter":
        raise ReleaseError(
            f"the informative column {informative!r} is called like another column of the released "
            "rows: leave that dimension out (--dimensions), or rename it in the dataset"
        )
    records = made.records
    _insert(
        warehouse,
        "srsql_made",
        {"class_no": "BIGINT", "value": "INTEGER", "records": "BIGINT"},
        [records.owner.tolist(), records.value.tolist(), records.count.tolist()],
    )
    kinds = {"class_no": "BIGINT"} | {f"node_{d.position}": "INTEGER" for d in dimensions}
    columns = [list(range(len(made.nodes))), *made.nodes.T.tolist()]
    _insert(warehouse, "srsql_made_class", kinds, columns)
    load_nodes(warehouse, dimensions)
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_shuffled_row AS "
        "SELECT s.* FROM srsql.shuffled_records('temp.main.srsql_made', ?) AS s",
        [seed],
    )
    query = (
        exp.select(column("row", "r").as_(NUMBER, quoted=True))
        .from_(temporary("srsql_shuffled_row", alias="r"))
        .join(
            temporary("srsql_made_class", alias="c"),
            on=column("class_no", "r").eq(column("class_no", "c")),
            join_type="left",
        )
    )
    for dimension in dimensions:
        query = _with_values(query, dataset, dimension)
    spelling = column("spelling", "i").as_(informative, quoted=True)
    query = query.select(spelling).join(
        temporary("srsql_informative", alias="i"),
        on=column("value", "r").eq(column("value", "i")),
    )
    query = query.order_by(column("row", "r"))
    warehouse.run(create(exp.to_table(SOURCE), query, temp=True))


def build_rows(warehouse: Warehouse, dataset: Dataset, release_id: int) -> list[Built]:
    """Keep the released rows in the schema ``STORE``."""
    names, informative = warehouse.rows(
        "SELECT l.dimensions, l.informative FROM srsql.lattice AS l WHERE l.release_id = ?",
        [release_id],
    )[0]
    shown = [NUMBER, *shown_columns(dataset, dimensions_of(dataset, names)), informative]
    query = (
        exp.select(*[column(name, "t") for name in shown])
        .from_(temporary(SOURCE, alias="t"))
        .order_by(column(NUMBER, "t"))
    )
    store = store_of(release_id, ROWS)
    warehouse.run(create(table(STORE, store), query))
    return [Built(ROWS, store, query)]


def shown_columns(dataset: Dataset, dimensions: Sequence[Dimension]) -> list[str]:
    """Published columns of the dimensions."""
    names: list[str] = []
    for dimension in dimensions:
        qid = dataset.qid[dimension.position]
        names += [f"{qid.name}_low", f"{qid.name}_high"] if qid.bounded else [qid.name]
    return names


def load_nodes(warehouse: Warehouse, dimensions: Sequence[Dimension]) -> None:
    """Fill ``srsql_dimension_node(position, level, node, low, high, label)``."""
    rows = sorted(
        {
            (d.position, level, node)
            for d in dimensions
            for level, leaves in enumerate(d.maps)
            for node in leaves
        }
    )
    nodes = {d.position: d.nodes for d in dimensions}
    shown = [nodes[position][node] for position, _, node in rows]
    _insert(
        warehouse,
        "srsql_dimension_node",
        {"position": "INTEGER", "level": "INTEGER", "node": "INTEGER", "low": "BIGINT",
         "high": "BIGINT", "label": "VARCHAR"},
        [
            *([row[at] for row in rows] for at in range(3)),
            [node.low for node in shown],
            [node.high for node in shown],
            [node.label for node in shown],
        ],
    )  # fmt: skip


def value_columns(dataset: Dataset, qid: Qid, alias: str) -> dict[str, exp.Expr]:
    """Published columns of one dimension, from its node in ``alias``."""
    if qid.bounded:
        return {f"{qid.name}_{end}": in_units(qid, column(end, alias)) for end in ("low", "high")}
    root = exp.Literal.string(dataset.hierarchies[qid.name].labels[0])
    return {qid.name: exp.func("coalesce", column("label", alias), root)}


def _with_values(query: exp.Select, dataset: Dataset, dimension: Dimension) -> exp.Select:
    alias = f"n{dimension.position}"
    values = value_columns(dataset, dataset.qid[dimension.position], alias)
    return query.select(*[value.as_(name, quoted=True) for name, value in values.items()]).join(
        temporary("srsql_dimension_node", alias=alias),
        on=exp.and_(
            column("position", alias).eq(dimension.position),
            column("node", alias).eq(column(f"node_{dimension.position}", "c")),
        ),
        join_type="left",
    )


def _insert(
    warehouse: Warehouse, name: str, kinds: dict[str, str], columns: Sequence[list[Any]]
) -> None:
    """A temporary table of our own name from columns of equal length."""
    listed = ", ".join(f"unnest(?::{kind}[]) AS {shown}" for shown, kind in kinds.items())
    warehouse.run(f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT {listed}", list(columns))
