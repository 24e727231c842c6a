"""From groups to perturbed values: merging, noise on numbers, a choice among nodes (Wu 2022).

What each draw costs is charged to its case in the budget ledger, which is one for all series.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from sqlglot import exp, parse_one

from srsql.engine.catalog.releases import Release
from srsql.engine.errors import ReleaseError
from srsql.engine.parameters import Calibration, EpsilonScope, Noise
from srsql.engine.store.statements import query
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, Qid

TOPIC = "grouping/perturbation"
LAPLACE, EXPONENTIAL, HISTOGRAM = "discrete laplace", "exponential", "laplace on counts"
ON_TABLES = "laplace on tables"
"""Of count tables with noise."""
NOMINAL = {"paper": "calibration paper", "printed": "calibration printed", "nominal": "ipa"}
"""Calibrations of charges that bound no privacy loss, and what has them."""
LedgerCalibration = Literal["paper", "sound", "printed", "nominal"]


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


@dataclass(frozen=True)
class Draw:
    """One quasi-identifier that is perturbed."""

    position: int
    mechanism: str
    domain: tuple[int, int] | None
    """Declared bounds of a number, in granules; None of a category."""
    seed: int | None
    """Of an experiment; None: the secure generator."""


def perturb(release: Release, perturbation: Perturbation, draw: str) -> None:
    """Merge the groups of ``srsql_grouped``, draw what its cases show, and keep it in the catalog.

    Every report of a case shows the same draw. Missing values stay missing. Fills
    ``srsql_region`` (what is not perturbed) and ``srsql_drawn``.

    Args:
        release: within a transaction, with the tables of ``grouping/steps/history.sql``; its
            dataset as the model takes it (``Dataset.with_categories``).
        perturbation: what is perturbed, and how much.
        draw: what a seeded generator starts from; the secure one takes no notice of it.

    Raises:
        ReleaseError: nothing can be perturbed, or a number has no declared domain.

    Source:
        Wu 2022, section IV; SPEC section 10.
    """
    warehouse, dataset = release.warehouse, release.dataset
    draws = _draws(dataset, perturbation, draw)
    epsilon = perturbation.share(len(draws))
    shared = {
        "calibration": perturbation.calibration,
        "epsilon_num": epsilon.numerator,
        "epsilon_den": epsilon.denominator,
    }
    positions = [each.position for each in draws]
    warehouse.run_step("grouping/merge", {"perturbed_positions": positions})
    for each in draws:
        own: dict[str, Any] = {"position": each.position, "seed": each.seed, **shared}
        if each.domain is not None:
            own["domain_low"], own["domain_high"] = each.domain
            warehouse.run(query(TOPIC, "add_noise"), own)
        else:
            own["parents"] = list(dataset.hierarchies[dataset.qid[each.position].name].parent)
            warehouse.run(query(TOPIC, "choose_nodes"), own)
    warehouse.run_step(
        "grouping/perturbed",
        {
            "release_id": release.release_id,
            "positions": positions,
            "mechanisms": [each.mechanism for each in draws],
            "noise": perturbation.noise,
            **shared,
        },
    )


def published_values() -> exp.Subquery:
    """What each case of a perturbing release shows: (group_no, position, low, high) AS r."""
    values = parse_one(query(TOPIC, "published_values"), dialect="duckdb")
    assert isinstance(values, exp.Query)
    return values.subquery("r")


def _draws(dataset: Dataset, perturbation: Perturbation, draw: str) -> list[Draw]:
    """Each quasi-identifier to perturb, in the order of the schema."""
    draws = []
    for position, qid in enumerate(dataset.qid):
        numeric = qid.kind == "numeric"
        if not (numeric or perturbation.categories):
            continue
        digest = hashlib.sha256(f"{draw}/noise/{position}".encode()).digest()
        draws.append(
            Draw(
                position,
                LAPLACE if numeric else EXPONENTIAL,
                _granules(dataset, qid) if numeric else None,
                int.from_bytes(digest[:7]) if perturbation.noise == "seeded" else None,
            )
        )
    if not draws:
        raise ReleaseError(
            f"dataset {dataset.name} has no numeric quasi-identifier to add noise to: use one of "
            "the models that perturb all (ppms-dp-all, msdp-all), or ppms++"
        )
    return draws


def _granules(dataset: Dataset, qid: Qid) -> tuple[int, int]:
    """The declared domain (or limits) in granules: what released numbers are kept in."""
    ends = qid.ends
    if ends is None:
        raise ReleaseError(
            f"quasi-identifier {qid.name!r} of {dataset.name} has an observed domain without "
            "limits: it needs declared bounds, since observed ones are themselves private"
        )
    return ends


@dataclass(frozen=True)
class Budget:
    """The worst case of a series, or of all; every amount is an exact fraction."""

    dataset: str
    series: str | None
    """None: all series of the warehouse together."""
    worst: Fraction
    """What the case that was charged most has spent, nominal charges included."""
    worst_cases: int
    """Cases charged as much."""
    cases: int
    """Cases charged at all."""
    kinds: tuple[tuple[str, str], ...]
    """Mechanism and calibration of the charges."""

    @property
    def scope(self) -> EpsilonScope:
        """What is added up."""
        return "warehouse" if self.series is None else "series"

    @property
    def calibrations(self) -> tuple[str, ...]:
        """Those of the charges."""
        return tuple(sorted({calibration for _, calibration in self.kinds}))

    @property
    def meaning(self) -> str:
        """What the amount bounds, in words."""
        nominal = [words for name, words in NOMINAL.items() if name in self.calibrations]
        if nominal:
            verb = "is" if len(nominal) == 1 else "are"
            return (
                f"nominal: {' and '.join(nominal)} {verb} not differential privacy, "
                "no epsilon holds"
            )
        mechanisms = {mechanism for mechanism, _ in self.kinds}
        words = []
        if mechanisms - {HISTOGRAM, ON_TABLES}:
            words.append(
                "epsilon-local differential privacy of a case's perturbed values, given the "
                "grouping"
            )
        if ON_TABLES in mechanisms:
            words.append(
                "(epsilon, delta)-differential privacy for adding or removing a case from count "
                "tables"
            )
        if HISTOGRAM in mechanisms:
            words.append(
                "epsilon-differential privacy for adding or removing a case from a histogram, "
                "given its list of values"
            )
        return "; ".join(words)


def charge_quarter(
    release: Release, epsilon: Fraction, mechanism: str, calibration: LedgerCalibration
) -> None:
    """Charge ``epsilon`` to every case of the quarter of a release whose rows are no case's."""
    release.warehouse.run(
        query(TOPIC, "charge_quarter"),
        {
            "release_id": release.release_id,
            "mechanism": mechanism,
            "calibration": calibration,
            "epsilon_num": epsilon.numerator,
            "epsilon_den": epsilon.denominator,
        },
    )


def budget(
    warehouse: Warehouse, dataset: str, series: str | None, charged_by: int | None = None
) -> Budget | None:
    """The ledger of a series (None: of all) added up; None if nothing was ever charged.

    Superseded releases count, since attackers know them; drafts too, removed ones included, since
    the steward saw what was drawn. ``charged_by``: only cases that this release charges.
    """
    rows = warehouse.rows(
        query(TOPIC, "charges"), {"dataset": dataset, "series": series, "release_id": charged_by}
    )
    if not rows:
        return None
    sums = [
        (sum((Fraction(num, den) * times for *_, num, den, times in charges), Fraction(0)), cases)
        for charges, cases in rows
    ]
    worst = max(amount for amount, _ in sums)
    return Budget(
        dataset,
        series,
        worst,
        sum(cases for amount, cases in sums if amount == worst),
        sum(cases for _, cases in sums),
        tuple(sorted({tuple(charge[:2]) for charges, _ in rows for charge in charges})),
    )


def check_limit(release: Release, limit: Fraction, scope: EpsilonScope) -> None:
    """Refuse a release after which one of its cases has spent more than ``limit``.

    ``scope``: what counts, all series of the warehouse or the release's own alone.

    Raises:
        ReleaseError: the text tells how much, and of how many cases.
    """
    series = release.series if scope == "series" else None
    worst = budget(release.warehouse, release.dataset.name, series, release.release_id)
    if worst is not None and worst.worst > limit:
        where = f"series {series!r}" if series else "all series of the warehouse"
        raise ReleaseError(
            f"{worst.worst_cases:,} case(s) would have spent an epsilon of {worst.worst} over "
            f"{where}, drafts included, which is more than --epsilon-limit {limit}: "
            "lower --epsilon, or raise the limit"
        )


def budgets(warehouse: Warehouse) -> list[Budget]:
    """The budget of every dataset that has one: of all its series together, then of each."""
    accounts = [
        budget(warehouse, dataset, series)
        for dataset, series in warehouse.rows(query(TOPIC, "accounts"))
    ]
    return [one for one in accounts if one is not None]
