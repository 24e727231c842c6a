"""What the other quarters make of this one's cases, and what of them could be grouped at all."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from srsql.engine.catalog.releases import Release
from srsql.engine.catalog.series import next_quarter
from srsql.engine.errors import ReleaseError
from srsql.engine.grouping.feasibility import (
    Bounds,
    InfeasibleValue,
    OnInfeasible,
    Suppression,
    carriers,
    resolve_infeasible,
    withhold_all,
)
from srsql.engine.grouping.symptoms import SymptomsRule, find_next_cases, find_substantial
from srsql.engine.store.warehouse import Warehouse


@dataclass(frozen=True)
class HistoryRule:
    """What a model makes of the other releases of a series, and of the next quarter."""

    model: str
    k: int
    cover: Literal["none", "earliest", "all", "later"]
    """Which earlier regions an old case is widened to cover (QID-bounding)."""
    carriers: Literal["all", "new"]
    """Which cases count towards k and theta (NC-bounding: the new ones)."""
    stopping: Literal["next", "all"] | None
    """Whose medication counts as discontinued: the cases absent from the next quarter, or all."""
    stopping_carries: bool
    """Of new cases only those carry the bounds who stop."""
    alpha: Fraction | None
    """Largest share of cases with substantially many symptoms; None: no such bound."""


def cover_history(release: Release, rule: HistoryRule, symptoms: SymptomsRule) -> None:
    """What other quarters and the number of symptoms make of each case; QID-bounding.

    Args:
        release: with the tables of ``grouping/steps/cases.sql``.
        rule: what the model makes of them.
        symptoms: from how many values on a case has substantially many.

    Raises:
        ReleaseError: the model needs the next quarter, and it is not in the warehouse.

    Source:
        Huang 2021, Definitions 4, 6 and 7; SPEC section 8.
    """
    following = None
    if rule.stopping == "next":
        following = next_quarter(release.warehouse, release.dataset, release.quarter)
        if following is None:
            assumed = ", or give --assume-md all (the MD-attack is then open)"
            way_out = assumed if rule.stopping_carries else ""
            raise ReleaseError(
                f"{rule.model} needs the cases of the quarter after {release.quarter} to know who "
                f"stops: ingest it first{way_out}"
            )
    find_substantial(release, symptoms)
    find_next_cases(release, following)
    release.warehouse.run_step(
        "grouping/history",
        {
            "release_id": release.release_id,
            "cover": rule.cover,
            "carriers": rule.carriers,
            "stopping": rule.stopping,
            "stopping_carries": rule.stopping_carries,
            "symptoms_are_bounded": rule.alpha is not None,
        },
    )


def make_feasible(
    warehouse: Warehouse,
    rule: HistoryRule,
    bounds: Bounds,
    on_infeasible: OnInfeasible,
    suppression: Suppression | None = None,
) -> list[InfeasibleValue]:
    """Withhold, suppress or refuse what no grouping could keep below its threshold.

    Args:
        warehouse: with ``srsql_profile``.
        rule: which cases count, and how many are needed at least.
        bounds: the values and their thresholds.
        on_infeasible: refuse, withhold, or suppress.
        suppression: how, for the last.

    Raises:
        InfeasibleError: see ``resolve_infeasible``.
    """
    if rule.carriers == "new" and carriers(warehouse) < rule.k:
        withhold_all(warehouse, "too_few_new_cases")
        return []
    return resolve_infeasible(warehouse, bounds, on_infeasible, suppression)
