"""Cases are grouped; who fits no group is withheld, or loses values."""

from __future__ import annotations

from dataclasses import replace

from srsql.engine.grouping.feasibility import need_groups
from srsql.engine.grouping.suppression import suppress_withheld
from srsql.engine.release.request import Request
from srsql.engine.release.stages.carrying import parts_carrier
from srsql.engine.release.stages.stage import Made, Stage, Tables, handed_on
from srsql.engine.release.terms import need_terms


def group(request: Request, made: Made) -> Tables:
    """Have the model group."""
    with parts_carrier(made.grouping, request) as carrier:
        request.model.group(replace(made.grouping, carrier=carrier))
    return handed_on(GROUPING.writes)


def release_rests(request: Request, made: Made) -> Tables:
    """Release the rest of withheld cases without the values that broke their thresholds."""
    if made.suppression:
        suppress_withheld(made.grouping, made.suppression, request.model.symptoms_limit)
    return {}


def need_a_cluster(request: Request, made: Made) -> Tables:
    """Refuse terms alone of fewer cases than a cluster needs."""
    if made.terms:
        need_terms(made.current, request, made.terms)
    return handed_on(CLUSTER_NEEDED.writes)


def need_a_group(request: Request, made: Made) -> Tables:
    """Refuse a quarter of which nothing is released, unless that may be."""
    need_groups(
        made.current.warehouse,
        request.quarter,
        made.grouping.k,
        request.model.leftovers,
        may_be_empty=request.may_be_empty or request.max_delay is not None,
    )
    return {}


GROUPING = Stage(
    "grouping",
    "The model groups the cases.",
    group,
    reads="attribute bound_term bound_theta bounded box case case_report case_term grouped "
    "held_value node profile report_box report_value role term theta value withheld "
    "word",
    writes="region",
)
RESTS = Stage(
    "grouping",
    "Cases that fit no group lose the values that break their thresholds, and the rest of them is "
    "released.",
    release_rests,
    reads="attribute bounded case_term grouped losable role slot suggested suppressed "
    "theta withheld",
    applies=lambda request: request.suppresses,
)
CLUSTER_NEEDED = Stage(
    "grouping",
    "Where terms alone are released, a cluster's worth of cases has some.",
    need_a_cluster,
    reads="case_report grouped term theta",
    writes="basket basket_case basket_term case_item part repeated",
    applies=lambda request: request.terms is not None,
)
GROUP_NEEDED = Stage(
    "grouping",
    "Some group is released, or the quarter may be empty.",
    need_a_group,
    reads="grouped withheld",
)
