"""What the other quarters make of this one's cases, and what of them could be grouped at all."""

from __future__ import annotations

from srsql.engine.errors import ReleaseError
from srsql.engine.grouping.feasibility import (
    InfeasibleValue,
    carriers,
    resolve_infeasible,
    withhold_all,
)
from srsql.engine.grouping.symptoms import find_next_cases, find_substantial
from srsql.engine.release.request import Request
from srsql.engine.warehouse.periods import next_quarter
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset


def cover_history(warehouse: Warehouse, dataset: Dataset, request: Request) -> None:
    """What other quarters and the number of symptoms make of each case; QID-bounding.

    Raises:
        ReleaseError: the model needs the next quarter, and it is not in the warehouse.
    """
    model, following = request.model, None
    if model.stopping == "next":
        following = next_quarter(warehouse, dataset, request.quarter)
        if following is None:
            raise ReleaseError(
                f"{model.name} needs the cases of the quarter after {request.quarter} to know who "
                "stops: ingest it first, or give --assume-md all (the MD-attack is then open)"
            )
    alpha = model.share
    warehouse.run(
        "UPDATE temp.main.srsql_run SET cover = ?, carry = ?, md = ?, alpha_num = ?, alpha_den = ?",
        [
            model.cover,
            model.carry,
            model.stopping,
            alpha.numerator if alpha else None,
            alpha.denominator if alpha else None,
        ],
    )
    find_substantial(warehouse, dataset, request.symptoms)
    find_next_cases(warehouse, dataset, following)
    warehouse.run_step("grouping/steps/history.sql")


def make_feasible(warehouse: Warehouse, request: Request) -> list[InfeasibleValue]:
    """Withhold, or refuse, what no grouping could keep below its threshold."""
    if request.model.share is not None:
        warehouse.run_step("grouping/steps/burden.sql")
    if request.model.carry == "new" and carriers(warehouse) < request.model.k:
        withhold_all(warehouse, "too_few_new_cases")
        return []
    return resolve_infeasible(warehouse, request.on_infeasible)
