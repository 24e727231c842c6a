"""The threshold of every value, and whether any grouping could keep it."""

from __future__ import annotations

from srsql.engine.grouping.feasibility import k_effective
from srsql.engine.grouping.history import make_feasible
from srsql.engine.grouping.patterns import Grouping
from srsql.engine.grouping.thresholds import apply_theta, check_called
from srsql.engine.release.request import Request
from srsql.engine.release.stages.stage import Made, Stage, Tables, handed_on


def wait_for_kernels(request: Request, made: Made) -> Tables:
    """Have them loaded, which was begun beside the stages before: from here on they are needed.

    Where there are few cases, those that are not there are interpreted meanwhile; not so where
    groups are refined in full, which takes fifty times as long.
    """
    cases = made.current.warehouse.value("SELECT count(*) FROM temp.main.srsql_profile")
    made.loaded(None if request.model.refine == "full" else int(cases))
    return {}


def bound_values(request: Request, made: Made) -> Tables:
    """Bound every value, and have those give way that no grouping could keep."""
    current, warehouse, model = made.current, made.current.warehouse, request.model
    apply_theta(warehouse, request.theta, current.dataset.term_key)
    check_called(warehouse, request.theta, current.dataset.term_key)
    bounds = model.bound(current, made.weight_scale)
    made.infeasible = make_feasible(
        warehouse, made.rule, bounds, request.on_infeasible, made.suppression
    )
    k = k_effective(warehouse, bounds, model.k)
    made.grouping = Grouping(current, bounds, made.weight_scale, k, made.draw, made.suppression)
    return handed_on(THRESHOLDS.writes)


KERNELS = Stage(
    "kernels (compiled on first use)",
    "The kernels are there, which were loaded beside the stages before.",
    wait_for_kernels,
    reads="profile",
)
THRESHOLDS = Stage(
    "thresholds",
    "Every value gets its threshold; values that no grouping could keep refuse the quarter, or "
    "cases give way.",
    bound_values,
    reads="case_report case_term losable profile report_value role slot suggested "
    "suppressed term withheld word",
    writes="bound_term bound_theta held_value theta value",
)
