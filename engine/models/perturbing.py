"""The models with noise: PPMS-DP(k, theta*, epsilon) (Wu 2022, section IV; Lin and Shen 2020)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from srsql.engine.catalog.releases import Release
from srsql.engine.grouping.perturbation import Perturbation, perturb
from srsql.engine.models.base import Budget, ClaimedBounds, GroupingModel, Growth, History
from srsql.engine.parameters import (
    LOOSER,
    NOISE_HELP,
    Calibration,
    EpsilonScope,
    Noise,
    facts_of,
    parameter,
)
from srsql.engine.parameters.takes import Amount, OneOf
from srsql.engine.shapes.drawn_values import DrawnValues
from srsql.engine.shapes.regions import Shape
from srsql.schemas import Dataset
from srsql.udfs.limits import MAX_EPSILON

FINEST = 10_000
"""Largest denominator of epsilon: the ledger adds exact fractions."""
NOT_FOR_PUBLICATION = "not for publication"
WITH_NOISE = "models with noise"


EPSILON: dict[str, Any] = {
    "default": Fraction(1),
    "takes": Amount(MAX_EPSILON, FINEST),
    "help": "privacy budget of a case in a release, a number or fraction",
    "of": WITH_NOISE,
    "weaker": "higher",
    "compared": (),
    "advised": ("0.1", "1", "10"),
}
"""The budget, as every model with noise declares it."""
NOISE: dict[str, Any] = {
    "default": "secure",
    "takes": OneOf(("secure", "seeded")),
    "help": NOISE_HELP,
    "of": WITH_NOISE,
    "weaker": "seeded",
    "compared": ("seeded",),
}
"""The source of randomness, as every model with noise declares it."""
EPSILON_LIMIT: dict[str, Any] = {
    "default": None,
    "takes": Amount(),
    "help": "largest privacy budget spent on a case, drafts and this release included",
    "of": WITH_NOISE,
    "in_facts": False,
    "weaker": "higher",
}
"""The limit of the budget, as every model with noise declares it."""
EPSILON_SCOPE: dict[str, Any] = {
    "default": "warehouse",
    "takes": OneOf(("warehouse", "series")),
    "help": "releases that count towards --epsilon-limit: those of all series in the "
    "warehouse, or only of this series; an attacker who joins series has all draws "
    "of a case",
    "of": WITH_NOISE,
    "in_facts": False,
    "weaker": "series",
}
"""What the limit is of, as every model with noise declares it."""


@dataclass(frozen=True)
class PerturbingModel(GroupingModel):
    """Groups are formed as by ``ppms++``, merged, and values drawn at random within them.

    Calibration ``sound``: epsilon-local differential privacy of one record's perturbed
    quasi-identifiers *given the grouping*. Whoever sees the released values of a record, and knows
    the grouping and everything else, learns about two possible originals of that record at most a
    likelihood ratio of exp(epsilon). Grouping, withholding, which values are missing, and the terms
    are not covered; releases of the same case add up, whatever their series.

    Calibration ``paper``: the mechanism as Wu 2022 has it. It is **not** differential privacy:
    sensitivity and candidates depend on the data of the group. No epsilon holds. As it is
    ``printed``, a group of equal numbers shows them as they are.

    Either way k and theta hold for the internal groups alone, which nobody sees; B, F and L are
    reported of these releases and gate nothing.
    """

    epsilon: Fraction = parameter(**EPSILON)
    """Budget of a case in this release (sound), or of each of its values (paper)."""
    calibration: Calibration = parameter(
        "sound",
        takes=OneOf(("paper", "sound", "printed")),
        help="sound scales noise to the declared domain, which is local differential privacy "
        "given the grouping; paper scales it to the group, as Wu 2022 has it, at least to 5 "
        "granules, which is none; printed does so without that least, for experiments",
        weaker="printed",
        weaker_than=lambda now, was: LOOSER[now] > LOOSER[was],
        compared=("paper",),
    )
    noise: Noise = parameter(**NOISE)
    epsilon_limit: Fraction | None = parameter(**EPSILON_LIMIT)
    epsilon_scope: EpsilonScope = parameter(**EPSILON_SCOPE)

    claimed_bounds: ClassVar[ClaimedBounds] = ClaimedBounds(drawn=True)
    shape: ClassVar[Shape] = DrawnValues()
    growth: ClassVar[Growth] = Growth(carriers_only=True, risk_after_joining=True)
    perturbs_categories: ClassVar[bool]
    """Categories are perturbed, too."""

    @property
    def publishable(self) -> bool:
        """Whether nobody can take the noise off again, and every number has some."""
        return self.noise == "secure" and self.calibration != "printed"

    @property
    def public_facts(self) -> dict[str, str | int]:
        """Whether the release may leave the house, too."""
        allowed = "allowed" if self.publishable else NOT_FOR_PUBLICATION
        return {**facts_of(self), "publication": allowed}

    def budget(self) -> Budget | None:
        """As asked for."""
        return Budget.of(self.epsilon_limit, self.epsilon_scope)

    def public_counts(self) -> tuple[str, ...]:
        """Of what is released."""
        return super().public_counts()[:2]

    def packages(self) -> Mapping[str, str]:
        """Of secure noise, its sampler."""
        return {"opendp": "--noise secure"} if self.noise == "secure" else {}

    def private_facts(self) -> dict[str, Any]:
        """What ``publish`` asks for, and the limit."""
        return {
            "noise": self.noise,
            "publishable": self.publishable,
            "epsilon_limit": None if self.epsilon_limit is None else str(self.epsilon_limit),
            "epsilon_scope": self.epsilon_scope,
        }

    @property
    def guarantee(self) -> str:
        """What holds, under which calibration, in words."""
        unfit = (
            ""
            if self.publishable
            else "NOT FOR PUBLICATION: the noise is that of a seeded experiment, and whoever "
            "learns the seed takes it off. "
            if self.noise == "seeded"
            else "NOT FOR PUBLICATION: numbers on which a group agrees are shown as they are. "
        )
        return f"{unfit}{self._noise_words} {self._group_words}"

    @property
    def _noise_words(self) -> str:
        what = "quasi-identifiers" if self.perturbs_categories else "numeric quasi-identifiers"
        if self.calibration != "sound":
            return (
                f"The {what} of each record are perturbed as Wu 2022 prints it, with a nominal "
                f"epsilon of {self.epsilon} for each value. This is not differential privacy, "
                "since sensitivity and candidates depend on the data: no epsilon holds."
            )
        return (
            f"The {what} of each record are perturbed with epsilon = {self.epsilon}, split over "
            "the attributes: epsilon-local differential privacy of these values of that record "
            "given the grouping. Grouping, withholding, which values are missing and the terms "
            "are not covered; the budgets of several releases of a case add up, whatever their "
            "series."
        )

    @property
    def _group_words(self) -> str:
        sort = "new cases" if self.history.carriers == "new" else "cases"
        categories = (
            ""
            if self.perturbs_categories
            else "Categories are generalized to the group's common value"
            + ("." if self.history.covers == "none"
               else ", which covers what the case was released as before.") + " "
        )  # fmt: skip
        return (
            f"{categories}Within groups of at least {self.k} {sort} no sensitive value exceeds its "
            "threshold; the groups are internal and k and theta hold for them, not for published "
            "values. An attacker who knows some of a patient's drugs or terms, or a case id, "
            "is not defended against."
        )

    def prepare_dataset(self, dataset: Dataset) -> Dataset:
        """Numbers that declare groups are categories (Wu 2022 takes age as one)."""
        return dataset.with_categories()

    def generalize(self, release: Release, draw: str) -> None:
        """Merge the groups and draw what their cases show."""
        perturbation = Perturbation(
            self.epsilon, self.calibration, self.noise, self.perturbs_categories
        )
        perturb(release, perturbation, draw)


@dataclass(frozen=True)
class PpmsDpNum(PerturbingModel):
    """Noise on numbers; categories are generalized and cover all earlier releases of a case."""

    name: ClassVar[str] = "ppms-dp-num"
    family: ClassVar[str] = "dp-num"
    perturbs_categories: ClassVar[bool] = False
    history: ClassVar[History] = History("later", "new")


@dataclass(frozen=True)
class PpmsDpAll(PerturbingModel):
    """Noise on numbers and a random choice among nodes for categories; nothing needs covering."""

    name: ClassVar[str] = "ppms-dp-all"
    family: ClassVar[str] = "dp-all"
    perturbs_categories: ClassVar[bool] = True
    history: ClassVar[History] = History(carriers="new")


@dataclass(frozen=True)
class MsdpNum(PerturbingModel):
    """As ``ppms-dp-num`` on a quarter of its own: no earlier release counts."""

    name: ClassVar[str] = "msdp-num"
    family: ClassVar[str] = "single-dp"
    perturbs_categories: ClassVar[bool] = False


@dataclass(frozen=True)
class MsdpAll(PerturbingModel):
    """As ``ppms-dp-all`` on a quarter of its own: no earlier release counts."""

    name: ClassVar[str] = "msdp-all"
    family: ClassVar[str] = "single-dp"
    perturbs_categories: ClassVar[bool] = True
