"""Names of what the warehouse stores: raw tables, released tables, and their columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from srsql.engine.warehouse.statements import table
from srsql.schemas import Dataset, Qid


def raw_table(dataset: Dataset, name: str, alias: str | None = None) -> exp.Table:
    """The ingested rows of one source table, all periods together."""
    return table(f"raw_{dataset.name}", name, alias=alias)


def derived(name: str) -> str:
    """Column of a raw table that holds a QID in granules or labels, or a normalized term."""
    return f"srsql_{name}"


REGION = "srsql_public_region"


IDENTITY = "srsql_identity"


SERIAL = "srsql_serial"


@dataclass(frozen=True)
class Built:
    """One released table: where its rows are and the query that made them."""

    name: str
    store: str
    """Table of the schema ``STORE`` that holds the rows."""
    query: exp.Query


def region_columns(dataset: Dataset) -> list[str]:
    """Published columns of the generalized QIDs, in schema order."""
    names: list[str] = []
    for qid in dataset.qid:
        names += [f"{qid.name}_low", f"{qid.name}_high"] if qid.bounded else [qid.name]
    return names


def store_of(release_id: int, name: str) -> str:
    """The table of the schema ``STORE`` with the rows of one released table."""
    return f"release_{release_id}_{name}"


def in_units(qid: Qid, granules: exp.Expr) -> exp.Expr:
    """Granules in the QID's unit, with no more digits than the granularity has."""
    if qid.granularity == 1:
        return granules
    exponent = qid.granularity.normalize().as_tuple().exponent
    digits = max(0, -exponent) if isinstance(exponent, int) else 0
    scaled = exp.Mul(
        this=granules, expression=exp.Literal.number(format(qid.granularity.normalize(), "f"))
    )
    return exp.cast(scaled, f"DECIMAL(18, {digits})" if digits else "BIGINT", dialect="duckdb")


CLUSTERS = "clusters"


COLUMNS = {
    CLUSTERS: ("cluster", "records"),
    "joint_clusters": ("joint", "cluster"),
    "record_chunk": ("cluster", "chunk", "subrecord", "term"),
    "shared_chunk": ("joint", "chunk", "subrecord", "term"),
    "item_chunk": ("cluster", "term"),
    "reconstructed": ("record", "cluster", "term"),
}
"""Released table of disassociated terms -> its columns, in the order of its rows."""


NODES: dict[str, tuple[str, ...]] = {
    "generalized_terms": ("record", "node"),
    "term_nodes": ("node", "term"),
}
"""The same of generalized terms (CBA)."""


SHAPES: dict[Literal["chunks", "nodes"], dict[str, tuple[str, ...]]] = {
    "chunks": COLUMNS,
    "nodes": NODES,
}
"""By ``GroupingModel.term_format``."""


def source_of(name: str) -> str:
    """The temporary table of a released one."""
    return f"srsql_pub_{name}"


ROWS = "released_rows"


NUMBER = "row"


SOURCE = "srsql_pub_released_rows"


def row_columns(dataset: Dataset) -> set[str]:
    """Every column that released rows may have."""
    named = (*dataset.sensitive, *dataset.quasi_sensitive)
    return {NUMBER, *region_columns(dataset), *(attribute.column for attribute in named)}
