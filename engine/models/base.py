"""What every grouping model is: parameters, a guarantee in words, and a way to group."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal, TypeVar

from srsql.engine.catalog.releases import Release, TermFormat
from srsql.engine.errors import ReleaseError
from srsql.engine.grouping.feasibility import BY_THETA, Bounds, bound_symptoms
from srsql.engine.grouping.parts import Parts, group_in_parts
from srsql.engine.grouping.patterns import Grouping, group_by_pattern
from srsql.engine.grouping.qid_sets import group_by_sets, least_of
from srsql.engine.grouping.reports import Records
from srsql.engine.parameters import EpsilonScope, facts_of, parameter, read_fields
from srsql.engine.parameters.takes import OneOf, Parsed, RefusedError, Whole
from srsql.engine.shapes.regions import Regions, Shape
from srsql.schemas import Dataset

Found = TypeVar("Found")
Extension = Literal["persons", "qid sets"]
MOST = 1_000_000
K = 5
MORE_SEEDS = 64
"""First records of a pattern that may complete no group, where groups are refined afterwards."""
AUTO = "auto"
MOST_DIGITS = 6
GREEDY_KERNELS = "srsql.udfs.grouping.greedy"
REFINEMENT_KERNELS = "srsql.udfs.grouping.refine"
PARTS = "auto, or a whole number from 1 to 999,999"
SUPPRESS = "suppress"
"""Values are suppressed where cases would be withheld."""
SUPPRESSES = (
    "The thresholds bound the values that are published: some values of cases are suppressed so "
    "that they hold, and whoever knows how these are chosen can suspect that more cases of a "
    "region have such a value."
)
"""What the guarantee of such a release says beside that of its model."""
_BY_UNIT = {
    "person": "Cases that are suspected duplicates of each other, at the match probability told, "
    "count as one person: every region has as many persons as it needs cases, and its thresholds "
    "hold of persons as of cases. Duplicates that were not suspected count as persons of their own."
}
"""Who is counted -> what the guarantee says beside that of the model."""
BY_SETS = (
    "Sets of quasi-identifiers are protected, each by itself ({sets}): a region is what rows show "
    "of one set, and an attacker who knows quasi-identifiers of several sets together is not "
    "defended against. {guarantee}"
)
"""What the guarantee of a release says that protects several sets."""
COUNTS_CLAIM = (
    "For a table release whose units stand in no other table: (a) every told count, and every "
    "difference of told counts of one key, is 0 or at least k, and no published row has a region "
    "and an item; (b) for sensitive s with θ_s < 1, x an item or nothing, and S where n(S,x) is "
    "told: some data set that agrees with the told cells of nothing, x, s and {x,s}, and that "
    "would have been published in this way, has at most θ_s of the holders of x in S holding s; "
    "(c) for two known items at one node the same, over keys within {x,y,s}; (d) periods count "
    "different units, so that this holds for all of them together. Not claimed: probabilities, "
    "θ = 1, attributes without θ as targets, absent items, the joint use of cells of further items "
    "(measured), audiences who add other data."
)
"""SPEC section 19, word for word; ``sql_macros/terms/count_tables.sql`` has the proof of (a) to
(c). Of (d): a unit is counted in its first release alone, so that the unknowns of two periods are
disjoint, and what fits the tables of both is whatever fits each of them."""
BY_COUNTS = (
    "Rows of cases show their region, and no drug or term. At least {k} distinct cases {remain}."
)
"""What the guarantee of a release says whose items counts tell, in the place of its model's."""


def promise_by_counts(model: GroupingModel) -> str:
    """The guarantee of a release of a model where counts tell the items of cases."""
    rows = BY_COUNTS.format(k=model.k, remain=_remaining(model))
    return f"{model.shape.of_cases(rows, model.guarantee)} {COUNTS_CLAIM}"


def _remaining(model: GroupingModel) -> str:
    """How far the k cases of a row remain, in words."""
    attacks = ", ".join(model.defended_attacks)
    if not attacks:
        return "share every published region of this release"
    return f"remain for any patient after every exclusion by attacks {attacks} on this series"


NOISY_CLAIM = (
    "Counts have noise: two data sets that differ in all reports of one case publish any set of "
    "counts, of all periods of this series together, with probabilities that differ by a factor of "
    "at most exp(epsilon), and by delta beyond: epsilon = {epsilon} and delta = {delta}, or those "
    "of the period that counts the case (differential privacy for adding or removing a case); and "
    "by at most 3e-12 (1 + exp(epsilon)), since counts that their check takes for no such draw are "
    "not released. A case is counted in one period, whether its row is released or not, with at "
    "most so many values and pairs as the manifest says. Not claimed: rows and their regions, "
    "which depend on other cases; whether and when a period is released; reports of a person under "
    "several case ids, whose budgets add up; whatever else is published of the same cases."
)
"""SPEC section 19, R8; ``sql_macros/terms/noisy_tables.sql`` has the proof."""
_BY_NOISE = (
    "{warning}Rows of cases show their region, and no drug or term. At least {k} distinct cases "
    "{remain}. {claim}"
)


def promise_by_noise(model: GroupingModel, epsilon: str, delta: str, *, seeded: bool) -> str:
    """The guarantee of a release of a model where counts with noise tell the items of cases.

    Args:
        model: of the rows.
        epsilon: of a case for all counts.
        delta: likewise.
        seeded: the noise is that of an experiment.
    """
    warning = (
        "NOT FOR PUBLICATION: the noise is that of a seeded experiment, and whoever learns the "
        "seed takes it off. "
    )
    return _BY_NOISE.format(
        warning=warning if seeded else "",
        k=model.k,
        remain=_remaining(model),
        claim=NOISY_CLAIM.format(epsilon=epsilon, delta=delta),
    )


def promise_by(unit: str, guarantee: str) -> str:
    """The guarantee of a release by who is counted (``case``, ``report``, ``person``)."""
    return " ".join(filter(None, (guarantee, _BY_UNIT.get(unit))))


Covered = Literal["none", "earliest", "all", "later"]


def parse_parts(text: str) -> str:
    """Into how many parts a pattern is cut at most, as a series remembers it.

    Raises:
        RefusedError: it is neither ``auto`` nor a whole number from 1 on.
    """
    asked = text.strip()
    if asked == AUTO:
        return asked
    if not (asked.isascii() and asked.isdigit() and 1 <= len(asked) <= MOST_DIGITS and int(asked)):
        raise RefusedError(f"--parts {text[:20]!r}: give {PARTS}")
    return str(int(asked))


@dataclass(frozen=True)
class History:
    """What earlier releases of a case mean for the next."""

    covers: Covered = "none"
    """Which earlier regions an old case's QID is widened to before grouping (QID-bounding);
    ``later``: its categories to all of them, once the groups are made."""
    carriers: Literal["all", "new"] = "all"
    """Which cases count towards k and theta (NC-bounding: new ones)."""


@dataclass(frozen=True)
class Growth:
    """How the greedy clustering grows groups."""

    carriers_only: bool = False
    """Groups are grown on the cases that carry the bounds alone (NCC grouping, Wu 2022)."""
    risk_after_joining: bool = False
    """PR of Huang 2021, eq. (2), not of Lin 2016, eq. (5)."""
    seed_from_last_added: bool = False
    """The next seed is farthest from the record added last, not from the last seed."""


@dataclass(frozen=True)
class ClaimedBounds:
    """What an artifact of the model is held to."""

    guaranteed: frozenset[str] = frozenset({"k", "theta"})
    """Bounds of Lin 2016, Definition 3, that published regions keep: k distinct cases, theta."""
    unit: Records = "case"
    """What is grouped: super-records, or every report as if it were a case of its own."""
    drawn: bool = False
    """Released values are drawn at random, so they prove neither k nor theta nor what they cover;
    ``srsql.perturbation`` tells which ones."""
    extensions: frozenset[Extension] = frozenset()
    """What a release may promise beyond: the bounds of persons in the place of cases (``--count
    persons``), or for several sets of quasi-identifiers, each for itself."""
    unpublishable: str = ""
    """Why no release may leave the house with these bounds; empty: it may."""


EXTENDED = ClaimedBounds(extensions=frozenset({"persons", "qid sets"}))
"""Of a model whose bounds may be of persons, or hold for several sets of quasi-identifiers."""


@dataclass(frozen=True)
class Stopping:
    """What a model makes of cases that are absent from the next quarter."""

    cases: Literal["next", "all"] | None = None
    """Who counts as absent: by the data of the next quarter, everybody, or not asked."""
    carries: bool = False
    """Of new cases only those carry the bounds who stop."""


@dataclass(frozen=True)
class Budget:
    """The limit of what a case may spend."""

    limit: Fraction
    """Most that it may have spent so far."""
    scope: EpsilonScope
    """What counts towards it: all series of the warehouse, or this one alone."""

    @classmethod
    def of(cls, limit: Fraction | None, scope: EpsilonScope) -> Budget | None:
        """The budget, if there is a limit."""
        return None if limit is None else cls(limit, scope)


@dataclass(frozen=True)
class GroupingModel(ABC):
    """A privacy model that releases groups of cases under one region each."""

    k: int = parameter(
        K,
        takes=Whole(
            2,
            MOST,
            too_low="a group needs at least 2 cases to hide one",
            too_high=f"no quarter has groups of more than {MOST:,} cases",
        ),
        help="Least cases of a group; for k-anonymity and alpha-k, least reports",
        in_facts=False,
        weaker="lower",
        compared=(K,),
        advised=(3, 5, 10, 20),
    )
    leftovers: Literal["withhold", "merge", "error", "suppress"] = parameter(
        "withhold",
        takes=OneOf(("withhold", "merge", "error", SUPPRESS)),
        help=(
            "A case that fits no group: withhold it, merge groups, refuse the quarter, or "
            "suppress the values that break their thresholds"
        ),
        in_facts=False,
        weaker=SUPPRESS,
        advised=("withhold", SUPPRESS),
    )
    refine: Literal["off", "fast", "full"] = parameter(
        "fast",
        takes=OneOf(("off", "fast", "full")),
        help="How far groups are refined after the paper's algorithm, at the same bounds: not at "
        "all, quickly, or until no change of theirs is for the better",
        compared=("off",),
        advised=("fast",),
    )
    parts: str = parameter(
        "1",
        takes=Parsed(type(None), parse_parts, PARTS, numbers=True),
        help="Parts at most that a set of known quasi-identifiers is cut into and grouped by, or "
        "auto: as many as have about 10,000 cases; the bounds are the same",
        told_default=False,
    )

    name: ClassVar[str]
    family: ClassVar[str]
    """Releases of one series belong to one family."""
    shape: ClassVar[Shape] = Regions()
    """How the rows of a release tell the truth."""
    history: ClassVar[History] = History()
    """What earlier releases mean for a case."""
    claimed_bounds: ClassVar[ClaimedBounds] = ClaimedBounds()
    """What published regions keep, and of whom."""
    growth: ClassVar[Growth] = Growth()
    bounds: ClassVar[Bounds] = BY_THETA
    """Which values are bounded in a group, and by what."""
    term_format: ClassVar[TermFormat] = "chunks"
    """How terms that are told apart from rows are released: disassociated, or generalized."""

    def __post_init__(self) -> None:
        """Refuse parameters that protect nobody."""
        read_fields(self, ReleaseError)

    @property
    @abstractmethod
    def guarantee(self) -> str:
        """What an attacker cannot do, and what they still can, in words for the manifest."""

    def shows_bounded_values(self) -> bool:
        """Whether rows of cases show the values that theta bounds, so that some may be left out."""
        return "theta" in self.shape.of_cases(self.claimed_bounds.guaranteed, frozenset())

    def of_bound(self, bound: str, kept: Found, otherwise: Found) -> Found:
        """What goes where published regions keep a bound, or where they do not."""
        return kept if bound in self.claimed_bounds.guaranteed else otherwise

    @property
    def claims(self) -> dict[str, Fraction]:
        """What every published region keeps in the place of k and theta; empty: those.

        ``k`` distinct cases, ``reports``, ``alpha`` (largest share of reports that hold a value),
        ``values`` (least number of distinct values of each sensitive attribute).
        """
        return {}

    @property
    def defended_attacks(self) -> tuple[str, ...]:
        """The attacks of SPEC section 9 that the model withstands."""
        return ()

    @property
    def symptoms_limit(self) -> Fraction | None:
        """alpha: the largest share of cases with substantially many symptoms; None: unbounded."""
        return None

    def public_counts(self) -> tuple[str, ...]:
        """The numbers that the public may know; not of what is withheld where noise is drawn, nor
        of what is released where made-up cases are among it."""
        return ("released_cases", "released_reports", "withheld_cases", "withheld_reports")

    def stopping(self) -> Stopping:
        """Who counts as absent from the next quarter, and whether they alone carry the bounds."""
        return Stopping()

    def series_family(self) -> str:
        """What the releases of one series have in common: the family, and what tells it apart."""
        return self.family

    def budget(self) -> Budget | None:
        """The limit of what a case may spend; None: there is none, or nothing is spent."""
        return None

    @property
    def public_facts(self) -> Mapping[str, str | int]:
        """Parameters of the model beside k and leftovers, for the manifests."""
        return facts_of(self)

    def private_facts(self) -> dict[str, Any]:
        """What the private manifest alone tells of the model."""
        return {"noise": "none"}

    def prepare_dataset(self, dataset: Dataset) -> Dataset:
        """The dataset as the model takes it."""
        return dataset

    def generalize(self, release: Release, draw: str) -> None:
        """Fill ``srsql_region`` from ``srsql_grouped``.

        ``draw``: text from which every random choice is derived.
        """
        if not release.dataset.qid_set:  # several sets made theirs as they grouped
            release.warehouse.run_step("grouping/regions")

    def bound(self, release: Release, weight_scale: int) -> Bounds:
        """What the cases of a quarter must meet so that any grouping can; its tables are filled.

        With alpha, the substantial symptoms are one of the values. ``weight_scale``: what a
        certain value weighs.
        """
        bounds = replace(self.bounds, weight_scale=weight_scale)
        if self.symptoms_limit is None:
            return bounds
        return bound_symptoms(release.warehouse, bounds, self.symptoms_limit)

    def packages(self) -> Mapping[str, str]:
        """Packages of extras that the model works with, and what of it needs each."""
        return {}

    @property
    def kernels(self) -> tuple[str, ...]:
        """What ``load_kernels`` takes of the model."""
        return (GREEDY_KERNELS, *(() if self.refine == "off" else (REFINEMENT_KERNELS,)))

    def group(self, grouping: Grouping) -> None:
        """Fill ``srsql_grouped`` and ``srsql_withheld`` from ``srsql_profile``."""
        if grouping.release.dataset.qid_set:
            group_by_sets(
                grouping,
                lambda part, size: self._group(part, 1, size),
                merge=self.leftovers == "merge",
            )
            return
        group_in_parts(grouping, self.parts, lambda most: self._group(grouping, most))

    def _group(self, grouping: Grouping, most: int | None, size: int | None = None) -> int:
        """Group and refine, by so many parts of a pattern at most; says how many there were.

        ``size``: cases of a group, at least, in place of k, where a pattern has as many; nothing is
        refined then.
        """
        alpha = self.symptoms_limit or Fraction(1)
        limit = {"alpha_num": alpha.numerator, "alpha_den": alpha.denominator}
        rules: dict[str, Any] = {
            "core_only": self.growth.carriers_only,
            "after_join": self.growth.risk_after_joining,
            "from_last": self.growth.seed_from_last_added,
            "more_seeds": 0 if self.refine == "off" else MORE_SEEDS,
            **limit,
        }
        parts = Parts(grouping, most, self.bounds)

        def parameters(pattern: int) -> dict[str, Any]:
            digest = hashlib.sha256(f"{grouping.draw}/{pattern}".encode()).digest()
            return {
                "pattern": pattern,
                "weight_scale": grouping.weight_scale,
                "k": grouping.k if size is None else least_of(grouping, pattern, size),
                "draw": int.from_bytes(digest[:7]),
                "leftovers": "merge" if self.leftovers == "merge" else "withhold",
                "rules": rules,
            }

        group_by_pattern(
            grouping,
            grouping.k,
            lambda pattern: parts.group(parameters(pattern)),
            (lambda several: parts.group_ahead([*map(parameters, several)])) if most == 1 else None,
        )
        if self.refine != "off" and size is None:
            parts.refine({"effort": self.refine, **limit})
        return parts.largest
