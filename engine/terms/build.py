"""The released tables of terms told apart from records: none has an id of a case or report."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from srsql.engine.warehouse.layout import (
    CLUSTER_GROUP,
    CLUSTERS,
    COLUMNS,
    REGION,
    Built,
    region_columns,
    source_of,
    store_of,
)
from srsql.engine.warehouse.statements import STORE, column, create, table, temporary
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset


def term_queries(
    dataset: Dataset, *, grouped: bool, shape: Mapping[str, tuple[str, ...]] = COLUMNS
) -> dict[str, exp.Query]:
    """Released table -> the query that fills it.

    ``grouped``: clusters lie inside QID-groups and show their region; ``shape``: of ``SHAPES``.
    """
    queries: dict[str, exp.Query] = {}
    for name, columns in shape.items():
        query = exp.select(*[column(shown, "t") for shown in columns])
        query = query.from_(temporary(source_of(name), alias="t"))
        if name == CLUSTERS and grouped:
            query = (
                query.select(*[column(shown, "r") for shown in region_columns(dataset)])
                .join(
                    temporary(CLUSTER_GROUP, alias="g"),
                    on=column("cluster", "t").eq(column("cluster", "g")),
                )
                .join(
                    temporary(REGION, alias="r"),
                    on=column("group_no", "g").eq(column("group_no", "r")),
                )
            )
        queries[name] = query.order_by(*[column(shown, "t") for shown in columns])
    return queries


def build_term_tables(
    warehouse: Warehouse,
    dataset: Dataset,
    release_id: int,
    *,
    grouped: bool,
    shape: Mapping[str, tuple[str, ...]],
) -> list[Built]:
    """Fill one table per released view in the schema ``STORE``."""
    built = []
    for name, query in term_queries(dataset, grouped=grouped, shape=shape).items():
        store = store_of(release_id, name)
        warehouse.run(create(table(STORE, store), query))
        built.append(Built(name, store, query))
    return built
