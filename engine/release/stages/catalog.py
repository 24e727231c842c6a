"""The catalog keeps what a release is made of."""

from __future__ import annotations

from srsql.engine.grouping.perturbation import check_limit
from srsql.engine.release.request import Request
from srsql.engine.release.series import set_figures
from srsql.engine.release.stages.stage import Made, Stage, Tables
from srsql.engine.release.terms import release_thresholds
from srsql.engine.release.waiting import wait


def keep(request: Request, made: Made) -> Tables:
    """Write members, regions, terms and thresholds."""
    current = made.current
    set_figures(current, request.model, made.grouping.k, made.weight_scale)
    tables = {name: made.tables[name] for name in CATALOG.reads.split()}
    current.warehouse.run_step("release/catalog", {"release_id": current.release_id}, **tables)
    made.pool = wait(current, request.max_delay)
    return {}


def tell_thresholds(request: Request, made: Made) -> Tables:
    """Keep those of values that items tell of."""
    release_thresholds(made.current)
    return {}


def spend(request: Request, made: Made) -> Tables:
    """Refuse draws that no case has the budget for."""
    model = request.model
    if model.budget is not None:
        check_limit(made.current, model.budget.limit, model.budget.scope)
    return {}


CATALOG = Stage(
    "catalog",
    "The catalog keeps what is released of whom, and who is withheld or waits.",
    keep,
    reads="attribute box case case_term deleted grouped region role suppressed term theta withheld",
)
ITEM_THRESHOLDS = Stage(
    "catalog",
    "The thresholds are kept of what items of whole rows tell.",
    tell_thresholds,
    reads="term_bound",
    applies=lambda request: request.takes_rows_apart,
)
BUDGET = Stage(
    "catalog",
    "No case has spent more of its privacy budget than it may.",
    spend,
    applies=lambda request: request.model.budget is not None,
)
