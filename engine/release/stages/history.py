"""What other quarters know of each case, and which values of it may be suppressed."""

from __future__ import annotations

from srsql.engine.grouping.feasibility import drop_incomplete
from srsql.engine.grouping.history import HistoryRule, cover_history
from srsql.engine.grouping.suppression import find_losable, keep_suppressed
from srsql.engine.release.request import Request
from srsql.engine.release.stages.stage import Made, Stage, Tables, handed_on


def look_around(request: Request, made: Made) -> Tables:
    """Mark new and old cases, cover earlier regions, leave out what is not to be grouped."""
    model, current = request.model, made.current
    made.rule = HistoryRule(
        model.name,
        model.k,
        model.history.covers,
        model.history.carriers,
        model.stopping.cases,
        model.stopping.carries,
        model.symptoms_limit,
    )
    cover_history(current, made.rule, request.symptoms)
    drop_incomplete(current.warehouse, current.dataset, request.missing)
    keep_suppressed(current, made.weight_scale)
    return handed_on(HISTORY.writes)


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
    reads="attribute box case case_report case_term node person report_value symptoms term word",
    writes="appearance bounded grouped profile role suggested suppressed withheld",
)
LOSABLE = Stage(
    "history",
    "The values of single reports are found that may be suppressed.",
    find_what_may_be_lost,
    reads="appearance case case_report case_term report_value suggested term",
    writes="losable slot",
    applies=lambda request: request.suppresses,
)
