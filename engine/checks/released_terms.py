"""The check of released terms: k^m, what their guarantee needs, and that none was made up.

The originals it compares with are read off the raw rows anew; who is in which cluster is the one
thing that only the making of the release knows.
"""

from __future__ import annotations

from dataclasses import astuple

from srsql.engine.checks.postcheck import require_passed
from srsql.engine.checks.term_chunks import check_shown_chunks, check_told_chunks
from srsql.engine.checks.term_nodes import check_shown_nodes, check_told_nodes
from srsql.engine.measures import Measure
from srsql.engine.risk.term_originals import load_originals
from srsql.engine.warehouse.releases import ReleasedTerms, released_terms
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset


def check_released_terms(
    warehouse: Warehouse,
    dataset: Dataset,
    schema: str,
    release_id: int,
    k: int,
    terms: ReleasedTerms,
    *,
    grouped: bool,
) -> list[Measure]:
    """Every check of the terms in ``schema``; needs the tables that the release was made with.

    ``grouped``: clusters lie inside QID-groups.

    Raises:
        CheckFailedError: one of them failed; the text names it.
    """
    load_originals(warehouse, dataset, release_id, terms)
    check = {"chunks": check_told_chunks, "nodes": check_told_nodes}[terms.term_format]
    rows = check(warehouse, schema, release_id, k, terms, grouped=grouped)
    measures = [astuple(row) for row in rows]
    require_passed(measures)
    return measures


def check_shown_terms(warehouse: Warehouse, schema: str, release_id: int, k: int) -> list[Measure]:
    """What the terms in ``schema`` show by themselves, if the release has any.

    Raises:
        CheckFailedError: a bound is broken; the text names it.
    """
    terms = released_terms(warehouse, release_id)
    if terms is None:
        return []
    check = {"chunks": check_shown_chunks, "nodes": check_shown_nodes}[terms.term_format]
    rows = check(warehouse, schema, release_id, k, terms)
    measures = [astuple(row) for row in rows]
    require_passed(measures)
    return measures
