"""The views that show released tables: those of one release, and those of a whole series."""

from __future__ import annotations

from sqlglot import exp

from srsql.engine.warehouse.layout import store_of
from srsql.engine.warehouse.statements import STORE, column, create, dotted, table, union_all
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset


def create_views(warehouse: Warehouse, schema: str, stores: dict[str, str]) -> None:
    """The schema of a release: one view per released table, plain columns only."""
    warehouse.run(f"CREATE SCHEMA {dotted(schema)}")
    for name, store in stores.items():
        # not duckdb_columns(), which goes through every table of the warehouse
        cursor = warehouse.con.execute(f"SELECT s.* FROM {dotted(STORE, store)} AS s LIMIT 0")
        columns = [entry[0] for entry in cursor.description or ()]
        cursor.fetchall()
        query = exp.select(*[column(c, "t") for c in columns]).from_(table(STORE, store, alias="t"))
        warehouse.run(create(table(schema, name), query, "VIEW"))


def series_views(
    warehouse: Warehouse,
    dataset: Dataset,
    schema: str,
    releases: list[tuple[str, int]],
    without_ids: tuple[str, ...] = (),
) -> None:
    """``released.*``: all released quarters together, and each case's latest.

    No view calls a function, compares or groups, since macros and settings of whoever queries it
    (a macro ``max``, a collation) would take part; the latest quarters are therefore stored.

    Args:
        warehouse: where to create them.
        dataset: for the published tables and ids.
        schema: e.g. ``released``.
        releases: (quarter, id) of every release that is out, oldest first.
        without_ids: released tables without ids, beside those of the dataset.
    """
    warehouse.run(f"CREATE SCHEMA IF NOT EXISTS {dotted(schema)}")
    for name in (*(source.name for source in dataset.row_tables), *without_ids):
        parts: list[exp.Query] = []
        for quarter, release_id in releases:
            query = exp.select(exp.column(exp.Star(), table=exp.to_identifier("t", quoted=True)))
            if name != dataset.report_table:
                query = exp.select(exp.Literal.string(quarter).as_("quarter")).select(
                    exp.column(exp.Star(), table=exp.to_identifier("t", quoted=True))
                )
            parts.append(query.from_(table(STORE, store_of(release_id, name), alias="t")))
        warehouse.run(create(table(schema, name), union_all(parts), "VIEW"))
    if not dataset.rows:
        return
    latest = (
        exp.select(
            column(dataset.case_id, "t"), exp.func("max", column("quarter", "t")).as_("quarter")
        )
        .from_(table(schema, dataset.report_table, alias="t"))
        .group_by(column(dataset.case_id, "t"))
        .order_by(column(dataset.case_id, "t"))
    )
    store = f"latest_{schema}"
    warehouse.run(create(table(STORE, store), latest))
    columns = [column(name, "t") for name in (dataset.case_id, "quarter")]
    stored = exp.select(*columns).from_(table(STORE, store, alias="t"))
    warehouse.run(create(table(schema, "case_latest"), stored, "VIEW"))
