"""The models over a generalization lattice, whose rows are of their own making (Lee 2020)."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from srsql.engine.catalog.dimensions import (
    ALL,
    FIRST,
    Dimension,
    informative_attribute,
    requested_dimensions,
)
from srsql.engine.catalog.releases import Release
from srsql.engine.errors import ReleaseError
from srsql.engine.grouping.feasibility import Bounds, drop_withheld
from srsql.engine.grouping.patterns import Grouping
from srsql.engine.grouping.perturbation import HISTOGRAM, LedgerCalibration, charge_quarter
from srsql.engine.lattice.cube import Made, load_cube, nothing
from srsql.engine.lattice.ipa import (
    IpaParameters,
    Shares,
    anonymize,
    k_anonymous,
    noisy_histogram,
)
from srsql.engine.lattice.rows import keep_lattice, load_held_values, make_rows
from srsql.engine.models.base import MOST, Budget, ClaimedBounds
from srsql.engine.models.perturbing import (
    EPSILON,
    EPSILON_LIMIT,
    EPSILON_SCOPE,
    FINEST,
    NOISE,
    NOT_FOR_PUBLICATION,
)
from srsql.engine.models.terms_only import TermsOnlyModel
from srsql.engine.parameters import (
    LOOSER,
    Calibration,
    EpsilonScope,
    Noise,
    facts_of,
    parameter,
)
from srsql.engine.parameters.takes import Amount, Names, OneOf, Text, Whole
from srsql.engine.shapes.lattice_rows import LatticeRows
from srsql.engine.shapes.regions import Shape
from srsql.engine.store.statements import query
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

if TYPE_CHECKING:
    from srsql.udfs.mechanisms import Source

OVER_LATTICE = "models over a lattice"
NO_CHECK = (
    "whose rows are under no id and prove no bound by themselves, so that nobody who gets an "
    "artifact could verify it. It is made to be compared with; publish a release of ms or ppms++"
)


@dataclass(frozen=True)
class LatticeModel(TermsOnlyModel):
    """One record per case: dimension values on one level of their hierarchies, and one informative
    value as it is. No id is released; rows are shuffled and numbered anew.

    A case that holds several informative values shows one, drawn uniformly; a case that holds none
    is withheld. What is not known of a dimension, or differs between the reports of a case, is
    shown as what tells nothing.
    """

    informative: str = parameter(
        FIRST,
        takes=Text(),
        help="the sensitive or quasi-sensitive column whose values are released as they are",
        usual="the first sensitive one",
        of=OVER_LATTICE,
        compared=(),
    )
    dimensions: str = parameter(
        ALL,
        takes=Names(joined=True),
        help="the quasi-identifiers to generalize, such as age,sex; the others are not released",
        of=OVER_LATTICE,
        compared=(),
    )

    shape: ClassVar[Shape] = LatticeRows()
    claimed_bounds: ClassVar[ClaimedBounds] = ClaimedBounds(frozenset(), unpublishable=NO_CHECK)

    @abstractmethod
    def anonymize(
        self, warehouse: Warehouse, dimensions: tuple[Dimension, ...], source: Source
    ) -> Made:
        """Take a node of the lattice, and say which records it has."""

    @property
    def kernels(self) -> tuple[str, ...]:
        """Rows are shuffled."""
        return ("srsql.udfs.terms:warm_up_permutations",)

    @property
    def seeded(self) -> bool:
        """Whether the draws follow the seed: an experiment."""
        return False

    @property
    def least_class_size(self) -> int:
        """Rows that every published class claims to have."""
        return 1

    def series_family(self) -> str:
        """Releases of one series have the same columns."""
        return f"{self.family}, {self.informative} by {self.dimensions}"

    @property
    def public_facts(self) -> dict[str, str | int]:
        """What the rows show."""
        return {
            "keeps": "one level vector",
            **facts_of(self, LatticeModel),
            "publication": "refused",
            **facts_of(self),
        }

    def prepare_dataset(self, dataset: Dataset) -> Dataset:
        """Numbers that declare groups are generalized by them."""
        return dataset.with_categories()

    def bound(self, release: Release, weight_scale: int) -> Bounds:
        """No value is bounded; those that are shown are read."""
        requested_dimensions(release.dataset, self.dimensions)
        load_held_values(release, self.informative)
        return super().bound(release, weight_scale)

    def group(self, grouping: Grouping) -> None:
        """All cases that hold an informative value."""
        grouping.warehouse.run(query("grouping/feasibility", "withhold_uninformative"))
        drop_withheld(grouping.warehouse)
        super().group(grouping)

    def generalize(self, release: Release, draw: str) -> None:
        """No group shows a region; the rows are made from the lattice."""
        from srsql.udfs.mechanisms import Source

        super().generalize(release, draw)
        warehouse, dataset = release.warehouse, release.dataset
        digest = hashlib.sha256(f"{draw}/lattice".encode()).digest()
        source = Source(int.from_bytes(digest[:7]) if self.seeded else None)
        dimensions = requested_dimensions(dataset, self.dimensions)
        if not dimensions:
            raise ReleaseError("there is no dimension to generalize: name some with --dimensions")
        load_cube(warehouse, dimensions, source.seed())
        empty = not warehouse.value("SELECT count(*) FROM temp.main.srsql_cell")
        made = nothing(dimensions) if empty else self.anonymize(warehouse, dimensions, source)
        column = informative_attribute(dataset, self.informative).column
        make_rows(warehouse, dataset, dimensions, column, made, source.seed())
        keep_lattice(release, dimensions, column, self.least_class_size, made)


@dataclass(frozen=True)
class FullDomain(LatticeModel):
    """The level vector of least NCP under which every class has at least k cases.

    Protects: whoever knows the dimension values of a case is left with at least k rows for it.

    Does not protect: the informative values of a class are not bounded (all may agree), rare ones
    are shown as they are, and releases of several quarters can be joined. Nothing is suppressed, so
    a single odd case can make all others coarse.
    """

    name: ClassVar[str] = "full-domain"
    family: ClassVar[str] = "full-domain"

    @property
    def least_class_size(self) -> int:
        """k."""
        return self.k

    @property
    def public_facts(self) -> dict[str, str | int]:
        """k rows."""
        return {**super().public_facts, "keeps": "k rows of every class, one level vector"}

    @property
    def guarantee(self) -> str:
        """In words."""
        return (
            f"Every class of rows with the same dimension values has at least {self.k} rows, each "
            "of another case. Which informative values a class has, and how often, is not bounded; "
            "joining releases of several quarters is not defended against."
        )

    def anonymize(
        self, warehouse: Warehouse, dimensions: tuple[Dimension, ...], source: Source
    ) -> Made:
        """Search the lattice."""
        return k_anonymous(warehouse, dimensions, self.k)


@dataclass(frozen=True)
class NoisyLattice(LatticeModel):
    """Made-up records are among the rows; nothing published tells how many."""

    epsilon: Fraction = parameter(**EPSILON)
    noise: Noise = parameter(**NOISE)
    epsilon_limit: Fraction | None = parameter(**EPSILON_LIMIT)
    epsilon_scope: EpsilonScope = parameter(**EPSILON_SCOPE)

    charged_as: ClassVar[LedgerCalibration]
    """What the ledger says that epsilon bounds."""
    charged_for: ClassVar[str]
    """What the ledger calls the mechanism."""

    @property
    def seeded(self) -> bool:
        """As asked for."""
        return self.noise == "seeded"

    @property
    def experimental(self) -> bool:
        """Whether it is made as nothing that leaves the house may be."""
        return self.seeded

    @property
    def public_facts(self) -> dict[str, str | int]:
        """Whether it is an experiment, too."""
        unfit = {"publication": NOT_FOR_PUBLICATION} if self.experimental else {}
        return {**super().public_facts, **unfit}

    def public_counts(self) -> tuple[str, ...]:
        """None: made-up records are among the rows."""
        return ()

    def packages(self) -> Mapping[str, str]:
        """Of secure noise, its sampler."""
        return {"opendp": "--noise secure"} if self.noise == "secure" else {}

    def private_facts(self) -> dict[str, Any]:
        """What ``publish`` asks for, and the limit."""
        return {
            "noise": self.noise,
            "publishable": False,
            "epsilon_limit": None if self.epsilon_limit is None else str(self.epsilon_limit),
            "epsilon_scope": self.epsilon_scope,
        }

    def budget(self) -> Budget | None:
        """As asked for."""
        return Budget.of(self.epsilon_limit, self.epsilon_scope)

    def generalize(self, release: Release, draw: str) -> None:
        """Make the rows, and charge the whole of epsilon to every case of the quarter."""
        super().generalize(release, draw)
        charge_quarter(release, self.epsilon, self.charged_for, self.charged_as)

    @property
    def experiment_warning(self) -> str:
        """What comes before the guarantee of an experiment."""
        if not self.experimental:
            return ""
        if not self.seeded:
            return "NOT FOR PUBLICATION: an experiment, as its paper prints it. "
        return (
            "NOT FOR PUBLICATION: the noise is that of a seeded experiment, and whoever learns the "
            "seed takes it off. "
        )


def _share(step: str) -> dict[str, Any]:
    """What the declarations of the four shares of epsilon have in common."""
    return {
        "takes": Amount(1, FINEST),
        "help": f"share of epsilon that {step}; the four shares add up to 1",
        "compared": (),
    }


@dataclass(frozen=True)
class Ipa(NoisyLattice):
    """Generalization by a level vector, suppression of small classes, counterfeit records.

    Epsilon is split over suppression, number of counterfeits, their values and the choice of the
    node, 0.1 / 0.3 / 0.3 / 0.3 unless other shares are given. It is a *nominal* budget: **no
    calibration is epsilon-differentially private** for adding or removing a record, whatever Lee
    2020, Theorem 9, says.

    * Real informative values are published as they are: one with a single holder proves that the
      holder is in the data, with certainty.
    * Suppressed rows get no noise; their number and values are those of the data.
    * The domain of informative values that counterfeits are drawn from is that of the data.
    * Calibration ``paper``: every node of the lattice is perturbed with the whole of the first
      three shares before one is drawn, and the scores of the draw are not what a single record
      changes by at most its sensitivity.

    Calibration ``sound`` concerns the choice of the node alone: it is made from cell counts with
    noise of their own, within its share of epsilon, and only that node is perturbed. That choice is
    differentially private; the rows are not.

    An attacker who knows the dimension values of a case finds its class and what is claimed of its
    members; counterfeits make each such claim deniable, except for values that nobody else has.
    """

    suppress_below: int = parameter(
        2,
        takes=Whole(2, MOST, too_low="the threshold would have no noise"),
        help="classes of at most so many records (t) are suppressed, give or take noise",
        weaker="lower",
        compared=(),
    )
    calibration: Calibration = parameter(
        "sound",
        takes=OneOf(("paper", "sound", "printed")),
        help="sound chooses the level vector by noise of its own; paper perturbs every level "
        "vector before it chooses, as Lee 2020 has it; printed does so and inserts as many records "
        "as a class has, too, for experiments",
        weaker="printed",
        weaker_than=lambda now, was: LOOSER[now] > LOOSER[was],
        compared=("paper",),
    )
    share_suppression: Fraction = parameter(
        Shares.suppression, **_share("the decision takes whether a class is suppressed")
    )
    share_insertion: Fraction = parameter(
        Shares.insertion, **_share("the number of made-up records takes")
    )
    share_value: Fraction = parameter(Shares.value, **_share("the values of made-up records take"))
    share_candidates: Fraction = parameter(
        Shares.candidates, **_share("the choice of the level vector takes")
    )

    name: ClassVar[str] = "ipa"
    family: ClassVar[str] = "ipa"
    charged_as: ClassVar[LedgerCalibration] = "nominal"
    charged_for: ClassVar[str] = "ipa"

    def __post_init__(self) -> None:
        """Refuse a budget that is not spent, or spent twice."""
        super().__post_init__()
        if self.shares.total != 1:
            raise ReleaseError(
                f"the shares of epsilon add up to {self.shares.total}: give four that add up to 1 "
                "(--share-suppression, --share-insertion, --share-value, --share-candidates)"
            )

    @property
    def experimental(self) -> bool:
        """Records are made up beside as many as there are, too."""
        return super().experimental or self.calibration == "printed"

    @property
    def shares(self) -> Shares:
        """What of epsilon each step takes."""
        return Shares(
            self.share_suppression, self.share_insertion, self.share_value, self.share_candidates
        )

    @property
    def guarantee(self) -> str:
        """What does not hold, in words."""
        choice = (
            "the choice of the level vector alone is differentially private, with "
            f"{self.share_candidates} of it"
            if self.calibration == "sound"
            else "every level vector is perturbed with the same budget before one is drawn"
        )
        return (
            f"{self.experiment_warning}Rows are generalized by one level vector, small classes "
            "suppressed and made-up records inserted (Lee 2020) with a nominal epsilon of "
            f"{self.epsilon}. This is not differential privacy for adding or removing a record, "
            "under any calibration: real informative values are published as they are, so that one "
            "with a single holder proves presence, and suppressed rows get no noise; "
            f"{choice}. Every case of the quarter is charged the whole of it, as nominal. No class "
            f"has a least size: k = {self.k} counts the cases of the quarter alone."
        )

    def anonymize(
        self, warehouse: Warehouse, dimensions: tuple[Dimension, ...], source: Source
    ) -> Made:
        """Algorithms 1 and 2."""
        parameters = IpaParameters(
            self.epsilon,
            self.suppress_below,
            self.calibration == "sound",
            self.shares,
            self.calibration == "printed",
        )
        return anonymize(warehouse, dimensions, parameters, source)


@dataclass(frozen=True)
class DpHistogram(NoisyLattice):
    """Noise of scale 1 / epsilon on the count of every combination of values, the empty ones too.

    Epsilon-differentially private for adding or removing a case (which is one record), *given the
    list of informative values*: that list, and how they are spelled, is the quarter's own, and a
    value that only one case holds is on it because of that case. Budgets of several releases of a
    case add up, whatever their series.
    """

    name: ClassVar[str] = "dp-histogram"
    family: ClassVar[str] = "dp-histogram"
    charged_as: ClassVar[LedgerCalibration] = "sound"
    charged_for: ClassVar[str] = HISTOGRAM

    @property
    def guarantee(self) -> str:
        """In words."""
        return (
            f"{self.experiment_warning}Counts of all combinations of dimension values and "
            f"informative values have Laplace noise: epsilon = {self.epsilon}, differentially "
            "private for adding or removing a case, given the list of informative values, which is "
            "the quarter's own and not covered. Every case of the quarter is charged the whole of "
            "it; budgets of several releases of a case add up, whatever their series. No "
            f"combination has a least count: k = {self.k} counts the cases of the quarter alone."
        )

    def anonymize(
        self, warehouse: Warehouse, dimensions: tuple[Dimension, ...], source: Source
    ) -> Made:
        """Draw the histogram."""
        return noisy_histogram(warehouse, dimensions, self.epsilon, source)
