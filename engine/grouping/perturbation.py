"""From groups to perturbed values: merging, noise on numbers, a choice among nodes (Wu 2022).

What each draw costs is charged to its case in the budget ledger.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from srsql.engine.errors import ReleaseError
from srsql.engine.parameters import Calibration, Noise
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset, Qid

LAPLACE, EXPONENTIAL = "discrete laplace", "exponential"


@dataclass(frozen=True)
class Perturbation:
    """What is perturbed, how much, and by which source of randomness."""

    epsilon: Fraction
    calibration: Calibration
    noise: Noise
    categories: bool
    """Categories are chosen at random; else they are generalized, and only numbers perturbed."""

    def share(self, attributes: int) -> Fraction:
        """Epsilon of one value: split over the attributes (sound), or each the whole (paper)."""
        return self.epsilon / attributes if self.calibration == "sound" else self.epsilon


def perturb(warehouse: Warehouse, dataset: Dataset, asked: Perturbation, draw: str) -> None:
    """Merge the groups of ``srsql_grouped``, draw what its cases show, and keep it in the catalog.

    Every report of a case shows the same draw. Missing values stay missing. Fills
    ``srsql_region`` (what is not perturbed), ``srsql_shown`` and ``srsql_released``.

    Args:
        warehouse: within a transaction, with the tables of ``grouping/steps/history.sql``.
        dataset: as the model takes it (``Dataset.with_categories``).
        asked: see ``Perturbation``.
        draw: what a seeded generator starts from; the secure one takes no notice of it.

    Raises:
        ReleaseError: nothing can be perturbed, or a number has no declared domain.
    """
    _plan(warehouse, dataset, asked, draw)
    warehouse.run_step("grouping/merge")
    for position, mechanism, seed in warehouse.rows(
        "SELECT p.position, p.mechanism, p.seed FROM temp.main.srsql_plan AS p ORDER BY p.position"
    ):
        if mechanism == LAPLACE:
            _add_noise(warehouse, position, seed)
        else:
            parents = dataset.hierarchies[dataset.qid[position].name].parent
            _choose(warehouse, position, list(parents), seed)
    warehouse.run_step("grouping/perturbed")


def _plan(warehouse: Warehouse, dataset: Dataset, asked: Perturbation, draw: str) -> None:
    """Fill ``srsql_plan``: one row for each quasi-identifier to perturb."""
    chosen = [
        (position, qid)
        for position, qid in enumerate(dataset.qid)
        if qid.kind == "numeric" or asked.categories
    ]
    if not chosen:
        raise ReleaseError(
            f"dataset {dataset.name} has no numeric quasi-identifier to add noise to: use one of "
            "the models that perturb all (ppms-dp-all, msdp-all), or ppms++"
        )
    epsilon = asked.share(len(chosen))
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_plan (position INTEGER, mechanism VARCHAR,"
        " calibration VARCHAR, noise VARCHAR, epsilon_num BIGINT, epsilon_den BIGINT,"
        " domain_low BIGINT, domain_high BIGINT, seed BIGINT)"
    )
    for position, qid in chosen:
        low, high = _granules(dataset, qid) if qid.kind == "numeric" else (None, None)
        digest = hashlib.sha256(f"{draw}/noise/{position}".encode()).digest()
        warehouse.run(
            "INSERT INTO temp.main.srsql_plan VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                position,
                LAPLACE if qid.kind == "numeric" else EXPONENTIAL,
                asked.calibration,
                asked.noise,
                epsilon.numerator,
                epsilon.denominator,
                low,
                high,
                int.from_bytes(digest[:7]) if asked.noise == "seeded" else None,
            ],
        )


def _granules(dataset: Dataset, qid: Qid) -> tuple[int, int]:
    """The declared domain (or limits) in granules: what released numbers are kept in."""
    bounds = qid.domain if isinstance(qid.domain, tuple) else qid.limits
    if bounds is None:
        raise ReleaseError(
            f"quasi-identifier {qid.name!r} of {dataset.name} has an observed domain without "
            "limits: it needs declared bounds, since observed ones are themselves private"
        )
    low, high = (Decimal(end) / qid.granularity for end in bounds)
    return int(low.to_integral_value("ROUND_CEILING")), int(high.to_integral_value("ROUND_FLOOR"))


def _add_noise(warehouse: Warehouse, position: int, seed: int | None) -> None:
    """Laplace noise on a number, then the nearest value of the domain (post-processing)."""
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_draw AS SELECT d.* FROM "
        "srsql.laplace_draws('temp.main.srsql_noisy', 'temp.main.srsql_plan', ?) AS d",
        [position],
    )
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_noise AS "
        "SELECT z.case_no, z.noise FROM srsql.laplace_noise('temp.main.srsql_draw', ?) AS z",
        [seed],
    )
    warehouse.run(
        "INSERT INTO temp.main.srsql_drawn SELECT v.case_no, v.position, v.value, v.value FROM ("
        "SELECT d.case_no, p.position,"
        " least(greatest(d.value + z.noise, p.domain_low), p.domain_high) AS value "
        "FROM temp.main.srsql_draw AS d "
        "INNER JOIN temp.main.srsql_noise AS z ON d.case_no = z.case_no "
        "INNER JOIN temp.main.srsql_plan AS p ON p.position = ?) AS v",
        [position],
    )


def _choose(warehouse: Warehouse, position: int, parents: list[int], seed: int | None) -> None:
    """A node in the place of a category, by the exponential mechanism."""
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_draw AS SELECT d.* FROM "
        "srsql.choice_draws('temp.main.srsql_noisy', 'temp.main.srsql_plan', ?) AS d",
        [position],
    )
    calibration, num, den = warehouse.rows(
        "SELECT p.calibration, p.epsilon_num, p.epsilon_den FROM temp.main.srsql_plan AS p "
        "WHERE p.position = ?",
        [position],
    )[0]
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_noise AS SELECT z.case_no, z.node FROM "
        "srsql.exponential_choice('temp.main.srsql_draw', ?, ?, ?, ?, ?) AS z",
        [parents, num, den, calibration, seed],
    )
    warehouse.run(
        "INSERT INTO temp.main.srsql_drawn SELECT z.case_no, n.position, n.pre, n.last "
        "FROM temp.main.srsql_noise AS z INNER JOIN temp.main.srsql_node AS n "
        "ON n.position = ? AND z.node = n.pre",
        [position],
    )


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
