"""Who is grouped, and by which bounds: cases, what other quarters know of them, thresholds."""

from __future__ import annotations

from srsql.engine.grouping.cases import load_cases
from srsql.engine.grouping.feasibility import drop_incomplete, k_effective
from srsql.engine.grouping.history import HistoryRule, cover_history, make_feasible
from srsql.engine.grouping.own_thresholds import lower_thresholds
from srsql.engine.grouping.patterns import Grouping
from srsql.engine.grouping.suppression import find_losable, keep_suppressed
from srsql.engine.grouping.thresholds import apply_theta, check_called
from srsql.engine.release.features.late import TOPIC as LATE_TOPIC
from srsql.engine.release.features.late import shows_late
from srsql.engine.release.request import Request
from srsql.engine.release.stages.carrying import buckets_carrier
from srsql.engine.release.stages.stage import Made, Stage, Tables, handed_on
from srsql.engine.store.statements import query
from srsql.engine.terms.count_tables import TOPIC as COUNTS_TOPIC
from srsql.engine.terms.count_tables import take_items_off


def merge_cases(request: Request, made: Made) -> Tables:
    """Load them; only the weight scale is known of them elsewhere."""
    model = request.model
    parts = model.symptoms_limit.denominator if model.symptoms_limit else 1
    with buckets_carrier(made.current, request) as carrier:
        made.weight_scale = load_cases(
            made.current, request.knowledge, parts, request.unit, carrier
        )
    return handed_on(CASES.writes)


CASES = Stage(
    "cases",
    "All reports of a case in the quarter, or of whoever else is counted, become one super-record.",
    merge_cases,
    writes="attribute box case case_report case_term deleted node own_report "
    "report_box report_value symptoms term unit word",
)


def look_around(request: Request, made: Made) -> Tables:
    """Mark new and old cases, cover earlier regions, leave out what is not to be grouped."""
    model, current = request.model, made.current
    stopping = model.stopping()
    made.rule = HistoryRule(
        model.name,
        model.k,
        model.history.covers,
        model.history.carriers,
        stopping.cases,
        stopping.carries,
        model.symptoms_limit,
    )
    cover_history(current, made.rule, request.symptoms)
    drop_incomplete(current.warehouse, current.dataset, request.missing)
    keep_suppressed(current, made.weight_scale)
    return handed_on(HISTORY.writes)


def withhold_late(request: Request, made: Made) -> Tables:
    """Withhold cases that came late where the release would tell which ones did."""
    current = made.current
    if not shows_late(made.series, current.visible_dataset):
        own = {"release_id": current.release_id}
        current.warehouse.run(query(LATE_TOPIC, "withhold_late"), own)
        current.warehouse.run(query(LATE_TOPIC, "leave_late"))
    return {}


def leave_counted_out(request: Request, made: Made) -> Tables:
    """Withhold the cases that an earlier release counts: each is counted once (rule R6)."""
    made.current.warehouse.run(query(COUNTS_TOPIC, "counted_before"))
    made.current.warehouse.run(query(LATE_TOPIC, "leave_late"))
    return {}


def find_what_may_be_lost(request: Request, made: Made) -> Tables:
    """Find the values that may be suppressed at all."""
    made.suppression = request.suppression(made.draw, made.weight_scale)
    if made.suppression:
        find_losable(made.current, made.suppression)
    return handed_on(LOSABLE.writes)


HISTORY = Stage(
    "history",
    "What other quarters know of each case is marked, and old cases cover their earlier regions; "
    "what the series suppressed of a case stays so.",
    look_around,
    reads="attribute box case case_report case_term node report_value symptoms term unit word",
    writes="appearance bounded grouped profile role suggested suppressed withheld",
)
LATE_WITHHELD = Stage(
    "history",
    "Cases that came after their period was released are withheld where ids or columns would tell "
    "which ones did.",
    withhold_late,
    reads="case profile unit withheld",
)
COUNTED_BEFORE = Stage(
    "history",
    "Where counts alone are released, cases that an earlier release counts are left out.",
    leave_counted_out,
    reads="profile role withheld",
    applies=lambda request: request.shape.counts_items,
)
LOSABLE = Stage(
    "history",
    "The values of single reports are found that may be suppressed.",
    find_what_may_be_lost,
    reads="appearance case case_report case_term report_value suggested term",
    writes="losable slot",
    applies=lambda request: request.suppresses,
)


def wait_for_kernels(request: Request, made: Made) -> Tables:
    """Have them loaded, which was begun beside the stages before: from here on they are needed.

    Where there are few cases, those that are not there are interpreted meanwhile; not so where
    groups are refined in full, which takes fifty times as long.
    """
    cases = made.current.warehouse.value("SELECT count(*) FROM temp.main.srsql_profile")
    made.loaded(None if request.model.refine == "full" else int(cases))
    return {}


def bound_values(request: Request, made: Made) -> Tables:
    """Give every value its threshold."""
    warehouse, term_key = made.current.warehouse, made.current.dataset.term_key
    apply_theta(warehouse, request.theta, term_key)
    check_called(warehouse, request.theta, term_key)
    return handed_on(THRESHOLDS.writes)


def lower(request: Request, made: Made) -> Tables:
    """Lower the thresholds of values whose holders ask for more."""
    assert request.own_theta
    lower_thresholds(made.current, request.own_theta, request.model.k, made.weight_scale)
    return handed_on(OWN_THRESHOLDS.writes)


def set_items_apart(request: Request, made: Made) -> Tables:
    """Take the items of cases off them, so that groups keep k and regions alone."""
    take_items_off(made.current)
    return handed_on(ITEMS_APART.writes)


def make_room(request: Request, made: Made) -> Tables:
    """Have the values give way that no grouping could keep."""
    current, warehouse, model = made.current, made.current.warehouse, request.model
    bounds = model.bound(current, made.weight_scale)
    made.infeasible = make_feasible(
        warehouse, made.rule, bounds, request.on_infeasible, made.suppression
    )
    k = k_effective(warehouse, bounds, model.k)
    made.grouping = Grouping(current, bounds, made.weight_scale, k, made.draw, made.suppression)
    return handed_on(FEASIBLE.writes)


KERNELS = Stage(
    "kernels",
    "The kernels are there, which were loaded beside the stages before.",
    wait_for_kernels,
    reads="profile",
)
THRESHOLDS = Stage(
    "thresholds",
    "Every value gets its threshold.",
    bound_values,
    reads="case_report case_term report_value term word",
    writes="theta",
)
OWN_THRESHOLDS = Stage(
    "thresholds",
    "Values of patients with a threshold of their own have it at most.",
    lower,
    reads="case case_term profile theta withheld",
    writes="asked_theta own_theta",
    applies=lambda request: request.own_theta is not None,
)
ITEMS_APART = Stage(
    "thresholds",
    "Where counts tell items, cases have none that a group would have to bound.",
    set_items_apart,
    reads="term theta",
    writes="item_theta",
    applies=lambda request: request.counts_items,
)
FEASIBLE = Stage(
    "thresholds",
    "Values that no grouping could keep refuse the quarter, or cases give way.",
    make_room,
    reads="case_report case_term losable profile report_value role slot suggested "
    "suppressed term theta withheld word",
    writes="bound_term bound_theta held_value value",
)
