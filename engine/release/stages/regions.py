"""Every group gets its region, its cases drawn values, or their terms are taken apart; reports get
the ids they are shown by.
"""

from __future__ import annotations

from srsql.engine.release.ids import make_identity
from srsql.engine.release.request import Request
from srsql.engine.release.series import grouped_reports
from srsql.engine.release.stages.carrying import clusters_carrier
from srsql.engine.release.stages.stage import Made, Stage, Tables, handed_on
from srsql.engine.release.terms import release_terms


def generalize(request: Request, made: Made) -> Tables:
    """Have the model tell what rows show."""
    request.model.generalize(made.current, made.grouping.draw)
    return handed_on(REGIONS.writes)


def part_records(request: Request, made: Made) -> Tables:
    """Make records of cases of those of several."""
    request.unit.part(made.current, made.weight_scale, request.model.history.carriers)
    return {}


def name_reports(request: Request, made: Made) -> Tables:
    """Give ids to what is released."""
    reports = grouped_reports(by_case=request.model.claimed_bounds.drawn)
    make_identity(made.current, made.series, reports, one_row=request.one_row)
    return handed_on(IDS.writes)


REGIONS = Stage(
    "regions",
    "Every group gets its region, or its cases values drawn at random.",
    generalize,
    reads="attribute bounded box case grouped held_value node region",
    writes="dimension_node drawn pub_released_rows region",
)
PARTED = Stage(
    "regions",
    "Records of several cases become those of each case again.",
    part_records,
    reads="attribute box case case_report case_term grouped node own_report report_box "
    "report_value role term theta withheld word",
    applies=lambda request: request.unit.parted,
)
IDS = Stage(
    "regions",
    "Reports and cases get pseudonyms, or keep the ids of the source.",
    name_reports,
    reads="case_report grouped",
    writes="identity",
)


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
