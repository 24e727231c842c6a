"""The privacy budget of a series: what its cases were charged, by sequential composition."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from srsql.engine.errors import ReleaseError
from srsql.engine.warehouse.warehouse import Warehouse


@dataclass(frozen=True)
class Budget:
    """The worst case of a series; every amount is an exact fraction."""

    dataset: str
    series: str
    worst: Fraction
    """What the case that was charged most has spent, nominal charges included."""
    worst_cases: int
    """Cases charged as much."""
    cases: int
    """Cases charged at all."""
    calibrations: tuple[str, ...]

    @property
    def meaning(self) -> str:
        """What the amount bounds, in words."""
        if "paper" in self.calibrations:
            return "nominal: calibration paper is not differential privacy, no epsilon holds"
        return "epsilon-local differential privacy of a case's perturbed values, given the grouping"


def budget(
    warehouse: Warehouse, dataset: str, series: str, draft: int | None = None
) -> Budget | None:
    """The ledger of a series, added up; None if nothing was ever charged.

    Superseded releases count, since attackers know them; drafts do not, but for ``draft``.
    """
    rows = warehouse.rows(
        "SELECT c.charges, c.cases FROM srsql.charges(?, ?, ?) AS c", [dataset, series, draft]
    )
    if not rows:
        return None
    sums = [
        (sum((Fraction(num, den) * times for _, num, den, times in charges), Fraction(0)), cases)
        for charges, cases in rows
    ]
    worst = max(amount for amount, _ in sums)
    return Budget(
        dataset,
        series,
        worst,
        sum(cases for amount, cases in sums if amount == worst),
        sum(cases for _, cases in sums),
        tuple(sorted({charge[0] for charges, _ in rows for charge in charges})),
    )


def keep_limit(
    warehouse: Warehouse, dataset: str, series: str, release_id: int, limit: Fraction
) -> None:
    """Refuse a release after which a case has spent more than ``limit`` over the series.

    Raises:
        ReleaseError: the text tells how much, and of how many cases.
    """
    found = budget(warehouse, dataset, series, release_id)
    if found is not None and found.worst > limit:
        raise ReleaseError(
            f"{found.worst_cases:,} case(s) would have spent an epsilon of {found.worst} over "
            f"series {series!r}, which is more than --epsilon-limit {limit}: lower --epsilon, or "
            "raise the limit"
        )


def budgets(warehouse: Warehouse) -> list[Budget]:
    """The budget of every series that has one."""
    found = [
        budget(warehouse, dataset, series)
        for dataset, series in warehouse.rows(
            "SELECT s.dataset, s.series FROM srsql.series AS s ORDER BY s.dataset, s.series"
        )
    ]
    return [one for one in found if one is not None]
