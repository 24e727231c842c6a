"""The bounding models: MS(k, theta*) for one release (Lin 2016), PPMS(k, theta*) for a series.

Sources of the latter: Huang 2021, Wu 2022.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from srsql.engine.errors import ReleaseError
from srsql.engine.grouping import staying
from srsql.engine.grouping.patterns import Grouping
from srsql.engine.models.base import EXTENDED, GroupingModel, Growth, History, Stopping
from srsql.engine.parameters import parameter
from srsql.engine.parameters.takes import Amount, OneOf

FINEST = 10_000
"""Largest denominator of alpha: weights are counted in its parts, in 64 bits."""


@dataclass(frozen=True)
class Ms(GroupingModel):
    """MS(k, theta*)-bounding, Definition 3, by Algorithms 1 and 2.

    Protects: whoever knows a patient's quasi-identifiers and that the patient is in this release
    is left with at least k cases, and infers no sensitive value s with confidence above theta_s,
    with or without the external knowledge that was given.

    Does not protect: against joining releases of several quarters (a follow-up in one release
    narrows the candidates of another), against an attacker who knows some of the patient's drugs or
    terms already, or who knows the case id.
    """

    name: ClassVar[str] = "ms"
    claimed_bounds = EXTENDED
    family: ClassVar[str] = "single"

    @property
    def guarantee(self) -> str:
        """Definition 3 in words."""
        return (
            f"Every published region is shared by at least {self.k} distinct cases, and no "
            "sensitive value is held by a larger share of them than its threshold. This holds for "
            "this release alone: an attacker who joins releases of several quarters, knows some of "
            "a patient's drugs or terms, or knows a case id is not defended against."
        )


@dataclass(frozen=True)
class PeriodicalModel(GroupingModel):
    """PPMS(k, theta*)-bounding, Definition 4: QID-bounding and NC-bounding.

    Protects: whoever knows a patient's quasi-identifiers and that the patient is in some release of
    the series, new in it or not, and joins all its releases, is left with at least k cases, and
    infers no sensitive value s with confidence above theta_s.

    Why: every group has k new cases, and no later region of theirs fails to cover their first one.
    So no backward, forward or latest attack excludes a new case of any group that covers the
    target, and sigma_s <= theta_s |new|. What holds in each covering group holds in their union:
    safety at scope=group implies safety at scope=match.

    Does not protect: against an attacker who knows that the patient is in two quarters in a row
    (persistence), or stops, or some of the patient's drugs or terms, or the case id; nor against
    audiences who put their series together.
    """

    family: ClassVar[str] = "periodical"
    history: ClassVar[History] = History("earliest", "new")
    growth: ClassVar[Growth] = Growth(risk_after_joining=True)

    @property
    def defended_attacks(self) -> tuple[str, ...]:
        """Backward, forward and latest attacks."""
        return ("b", "f", "l")

    @property
    def guarantee(self) -> str:
        """Definition 4 in words."""
        return (
            f"{self._remaining} This holds against an attacker who knows a patient's "
            "quasi-identifiers and joins all releases of this series (backward, forward and latest "
            f"attacks{self._also}). An attacker who knows that a patient is in consecutive "
            f"quarters{self._but}, knows some of a patient's drugs or terms, or knows a case id is "
            "not defended against."
        )

    @property
    def _remaining(self) -> str:
        return (
            f"After every exclusion at least {self.k} distinct cases remain for any patient, and "
            "no sensitive value is held by a larger share of them than its threshold."
        )

    @property
    def _also(self) -> str:
        return ""

    @property
    def _but(self) -> str:
        return " or stops after one"


@dataclass(frozen=True)
class Ppms(PeriodicalModel):
    """An old case's QID covers all its earlier regions; groups are grown over all cases."""

    name: ClassVar[str] = "ppms"
    claimed_bounds = EXTENDED
    history: ClassVar[History] = History("all", "new")


@dataclass(frozen=True)
class PpmsEar(PeriodicalModel):
    """An old case's QID covers its earliest region; groups are grown over all cases."""

    name: ClassVar[str] = "ppms-ear"
    claimed_bounds = EXTENDED


@dataclass(frozen=True)
class PpmsPlus(PeriodicalModel):
    """Covers the earliest region; groups grow on new cases alone, then the others join them.

    Our reading of what Wu 2022 compares with as the best implementation: its new-case-core grouping
    (section IV.B) without noise. Section III has no algorithm of this name.
    """

    name: ClassVar[str] = "ppms++"
    claimed_bounds = EXTENDED
    growth: ClassVar[Growth] = Growth(carriers_only=True, risk_after_joining=True)


@dataclass(frozen=True)
class PpmsAlpha(PeriodicalModel):
    """PPMS(k, theta, alpha)-bounding, Definition 7: also against MD- and SS-attacks.

    Every group has k cases that are new and absent from the next quarter; these remain whatever an
    attacker excludes, who may also know that the patient stops. Of what remains at most alpha has
    substantially many symptoms.
    """

    alpha: Fraction = parameter(
        Fraction(1, 2),
        takes=Amount(1, FINEST, noun="share"),
        help="largest share of cases with substantially many symptoms",
        weaker="higher",
        compared=(),
    )
    assume_md: Literal["none", "all"] = parameter(
        "none",
        takes=OneOf(("none", "all")),
        help=(
            "all treats every case as one that stops while the next quarter is not loaded; "
            "the MD-attack is then open"
        ),
        weaker="all",
    )

    name: ClassVar[str] = "ppms-alpha"
    growth: ClassVar[Growth] = Growth(risk_after_joining=True, seed_from_last_added=True)

    @property
    def defended_attacks(self) -> tuple[str, ...]:
        """With the next quarter at hand all five."""
        defended = (*super().defended_attacks, "md", "ss")
        return tuple(a for a in defended if a != "md" or self.assume_md == "none")

    @property
    def symptoms_limit(self) -> Fraction:
        """alpha."""
        return self.alpha

    def stopping(self) -> Stopping:
        """By the next quarter's cases, or assumed of all."""
        return Stopping("next" if self.assume_md == "none" else "all", carries=True)

    @property
    def _remaining(self) -> str:
        return (
            f"After every exclusion at least {self.k} distinct cases remain for any patient, no "
            "sensitive value is held by a larger share of them than its threshold, and at most "
            f"{self.alpha} of them have substantially many symptoms."
        )

    @property
    def _also(self) -> str:
        if self.assume_md == "all":
            return ", substantial-symptoms attacks"
        return ", medication-discontinuation and substantial-symptoms attacks"

    @property
    def _but(self) -> str:
        return " or stops after one" if self.assume_md == "all" else ""


@dataclass(frozen=True)
class PpmsStay(PeriodicalModel):
    """PPMS(k, theta)-bounding that withstands persistence: also against MD- and P-attacks.

    Protects: whoever knows a patient's quasi-identifiers, joins all releases of the series, and for
    one window of two consecutive periods knows whether the patient is released in each, is left
    with at least k cases, and infers no sensitive value s with confidence above theta_s.

    Why: in every group those who go on and those who stop are none or have k new cases and theta
    among them, and those who go on share one group of the next release, with theta among them, or
    none of them is in it (the rules and their proof: docs/proofs.md).

    Does not protect: who is known to be in, or not in, three periods; a patient whose own earlier
    region does not cover the value by which they are looked for (counted apart); substantially many
    symptoms; and whatever PPMS does not.
    """

    name: ClassVar[str] = "ppms-stay"
    family: ClassVar[str] = "stay"
    growth: ClassVar[Growth] = Growth(carriers_only=True, risk_after_joining=True)

    def __post_init__(self) -> None:
        """Refuse what would tear cohorts or classes.

        Raises:
            ReleaseError: as for every model, or leftovers or parts that do not keep them together.
        """
        super().__post_init__()
        if self.leftovers in ("merge", "suppress"):
            raise ReleaseError(
                f"--leftovers {self.leftovers} does not apply to the model {self.name}, whose "
                "cohorts are placed as a whole: give withhold or error"
            )
        if self.parts != "1":
            raise ReleaseError(
                f"--parts does not apply to the model {self.name}: a cohort may lie in several "
                "parts; leave it out"
            )

    @property
    def defended_attacks(self) -> tuple[str, ...]:
        """Those of PPMS, MD, and persistence."""
        return (*super().defended_attacks, "md", "p")

    def stopping(self) -> Stopping:
        """By the next quarter's cases; those who go on carry the bounds of their class as well."""
        return Stopping("next")

    @property
    def kernels(self) -> tuple[str, ...]:
        """With the one that places cohorts."""
        return (*super().kernels, staying.KERNELS)

    def group(self, grouping: Grouping) -> None:
        """Groups of two classes, around cohorts that stay together."""
        staying.group_staying(grouping, lambda: self._group(grouping, 1))

    @property
    def guarantee(self) -> str:
        """What holds, in words."""
        return (
            f"{self._remaining} This holds against an attacker who knows a patient's "
            "quasi-identifiers, joins all releases of this series (backward, forward, latest and "
            "medication-discontinuation attacks), and for one window of two consecutive quarters "
            "knows whether the patient is released in each (persistence). Patients whose earlier "
            "region does not cover what they report now are counted apart. An attacker who knows "
            "this of three quarters, knows some of a patient's drugs or terms, or knows a case id "
            "is not defended against."
        )
