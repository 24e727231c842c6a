"""Terms, or whole rows, are taken apart from cases."""

from __future__ import annotations

from srsql.engine.release.request import Request
from srsql.engine.release.stages.carrying import clusters_carrier
from srsql.engine.release.stages.stage import Made, Stage, Tables, handed_on
from srsql.engine.release.terms import release_terms


def take_apart(request: Request, made: Made) -> Tables:
    """Tell terms of clusters or nodes; from here on the terms have what can be promised of them."""
    if made.terms:
        with clusters_carrier(made.current.warehouse, request) as carrier:
            made.limited, made.terms = release_terms(made.current, request, made.terms, carrier)
    return handed_on(TERMS.writes)


TERMS = Stage(
    "terms",
    "Terms that are told apart from rows are put into clusters and chunks, or generalized.",
    take_apart,
    reads="basket basket_case basket_term case_item case_report grouped node part region "
    "repeated term theta",
    writes="basket basket_case basket_term chunk_term cluster generalized_record part "
    "pub_clusters pub_generalized_terms pub_item_chunk pub_joint_clusters "
    "pub_reconstructed pub_record_chunk pub_shared_chunk pub_term_nodes term_bound",
    applies=lambda request: request.terms is not None,
)
