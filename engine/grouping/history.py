"""What the other quarters make of this one's cases, and what of them could be grouped at all."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from srsql.engine.errors import ReleaseError
from srsql.engine.grouping.feasibility import (
    InfeasibleValue,
    OnInfeasible,
    carriers,
    resolve_infeasible,
    withhold_all,
)
from srsql.engine.grouping.symptoms import SymptomsRule, find_next_cases, find_substantial
from srsql.engine.warehouse.periods import next_quarter
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset


@dataclass(frozen=True)
class HistoryRule:
    """What a model makes of the other releases of a series, and of the next quarter."""

    model: str
    k: int
    cover: Literal["none", "earliest", "all", "later"]
    """Which earlier regions an old case is widened to cover (QID-bounding)."""
    carry: Literal["all", "new"]
    """Which cases count towards k and theta (NC-bounding: the new ones)."""
    stopping: Literal["next", "all"] | None
    """Whose medication counts as discontinued: the cases absent from the next quarter, or all."""
    alpha: Fraction | None
    """Largest share of cases with substantially many symptoms; None: no such bound."""


def cover_history(
    warehouse: Warehouse,
    dataset: Dataset,
    quarter: str,
    rule: HistoryRule,
    symptoms: SymptomsRule,
) -> None:
    """What other quarters and the number of symptoms make of each case; QID-bounding.

    Raises:
        ReleaseError: the model needs the next quarter, and it is not in the warehouse.
    """
    following = None
    if rule.stopping == "next":
        following = next_quarter(warehouse, dataset, quarter)
        if following is None:
            raise ReleaseError(
                f"{rule.model} needs the cases of the quarter after {quarter} to know who "
                "stops: ingest it first, or give --assume-md all (the MD-attack is then open)"
            )
    alpha = rule.alpha
    warehouse.run(
        "UPDATE temp.main.srsql_run SET cover = ?, carry = ?, md = ?, alpha_num = ?, alpha_den = ?",
        [
            rule.cover,
            rule.carry,
            rule.stopping,
            alpha.numerator if alpha else None,
            alpha.denominator if alpha else None,
        ],
    )
    find_substantial(warehouse, dataset, symptoms)
    find_next_cases(warehouse, dataset, following)
    warehouse.run_step("grouping/history")


def make_feasible(
    warehouse: Warehouse, rule: HistoryRule, on_infeasible: OnInfeasible
) -> list[InfeasibleValue]:
    """Withhold, or refuse, what no grouping could keep below its threshold."""
    if rule.alpha is not None:
        warehouse.run_step("grouping/burden")
    if rule.carry == "new" and carriers(warehouse) < rule.k:
        withhold_all(warehouse, "too_few_new_cases")
        return []
    return resolve_infeasible(warehouse, on_infeasible)
