"""What cases who collude tell of others: of groups, and of clusters of terms told apart.

Loukides 2014, section 7.2, and SPEC 11 leave collaborative attacks and those who know several
records open; nothing bounds them here either. So it is measured how far a release withstands them.
"""

from __future__ import annotations

from srsql.engine.catalog.released_terms import PublishedTerms
from srsql.engine.catalog.releases import released_terms
from srsql.engine.errors import WarehouseError
from srsql.engine.measures import MeasureRow
from srsql.engine.risk.term_counts import published_terms
from srsql.engine.store.statements import literal, query
from srsql.engine.store.warehouse import Warehouse


def coalitions(warehouse: Warehouse, release_id: int, members: int) -> list[MeasureRow]:
    """What coalitions of so many cases of a group, or of a cluster, conclude of the others.

    Args:
        warehouse: with the release, and its originals.
        release_id: of it.
        members: cases in a coalition.

    Raises:
        WarehouseError: the release has neither groups nor clusters.
    """
    of = {"release_id": release_id}
    k = warehouse.value("SELECT r.k FROM srsql.release AS r WHERE r.release_id = $release_id", of)
    terms, cells = released_terms(warehouse, release_id), {}
    if terms is not None:
        (schema, _), *_ = warehouse.rows(query("risk/metrics", "views"), of)
        tables = published_terms(terms.term_format, schema)
        if isinstance(tables, PublishedTerms):
            call = tables.call("coalition_chunks", ("clusters", "record_chunk"))
            cells[", known term and cluster"] = call
    else:
        cells[""] = f"srsql.coalition_groups({release_id:d})"
    rows = [
        MeasureRow(*row)
        for scope, call in cells.items()
        for row in warehouse.rows(
            f"WITH coalition_cell AS MATERIALIZED (FROM {call}) "
            f"FROM srsql.coalition('coalition_cell', {literal(scope)}, {members:d}, {k:d}, "
            f"{release_id:d}) AS m ORDER BY m.measure, m.scope"
        )
    ]
    if not rows:
        raise WarehouseError(
            "--coalition: the release has no groups or clusters of cases who could collude: leave "
            "it out"
        )
    return rows
