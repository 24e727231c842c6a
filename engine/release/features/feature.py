"""What a feature declares, and what a refusal is: two things that do not go together, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Generic, Protocol, TypeVar

from srsql.engine.catalog.series import Series
from srsql.engine.grouping.cases import Knowledge, Unit
from srsql.engine.measures import Applicability
from srsql.engine.models.base import GroupingModel
from srsql.engine.terms.count_tables import TableParameters
from srsql.engine.terms.noisy_tables import NoisyParameters
from srsql.engine.terms.parameters import DisassociationParameters
from srsql.engine.workers.carriers import Carrier
from srsql.schemas import Dataset


class Wanted(Protocol):
    """What refusals read of a request (``release.request.Request``, which is built on them)."""

    @property
    def model(self) -> GroupingModel:
        """Privacy model."""

    @property
    def terms(self) -> DisassociationParameters | None:
        """What is told apart from rows; None: nothing."""

    @property
    def tables(self) -> TableParameters | None:
        """How counts tell what rows do not; None: they do not."""

    @property
    def noisy(self) -> NoisyParameters | None:
        """How counts with noise tell what rows do not; None: they do not."""

    @property
    def match(self) -> Fraction:
        """Probability from which on two cases count as one."""

    @property
    def knowledge(self) -> Knowledge | None:
        """What drugs tell of diseases."""

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Optional columns."""

    @property
    def max_delay(self) -> int | None:
        """Periods that a case may wait at most."""

    @property
    def own_theta(self) -> str | None:
        """The column of thresholds of patients."""

    @property
    def as_printed(self) -> str | None:
        """The paper whose choices are taken."""

    @property
    def draft(self) -> bool:
        """It is not exposed yet."""

    @property
    def supersede(self) -> bool:
        """A released quarter is replaced."""

    @property
    def workers(self) -> int:
        """Processes that carry parts."""

    @property
    def spark(self) -> str | None:
        """Address of Spark, which carries them."""

    @property
    def choices(self) -> dict[str, str]:
        """What becomes of values and cases that break their bounds, by option."""

    @property
    def unit(self) -> Unit:
        """Of whom bounds are."""

    @property
    def suppresses(self) -> bool:
        """Values are to be suppressed."""

    @property
    def makes_clusters(self) -> bool:
        """Terms are told in clusters."""

    @property
    def takes_rows_apart(self) -> bool:
        """Rows show their region and cluster alone."""

    @property
    def carries_buckets(self) -> bool:
        """Buckets of a lake may be carried."""


@dataclass(frozen=True)
class Asked:
    """A request by itself, when it is read."""

    wanted: Wanted


@dataclass(frozen=True)
class OfRange(Asked):
    """A request for several quarters."""


@dataclass(frozen=True)
class ByOthers(Asked):
    """A request, and who else is to carry parts of it."""

    carrier: Carrier | None
    in_lake: bool
    """The rows of the dataset lie in a lake, whose buckets are carried."""
    by_set: bool
    """The dataset declares several sets of quasi-identifiers, which make no parts."""


@dataclass(frozen=True)
class OnDataset(Asked):
    """A request and the dataset, as its model takes it."""

    dataset: Dataset


@dataclass(frozen=True)
class OnTerms(OnDataset):
    """The same with the optional columns, before terms are told apart."""


@dataclass(frozen=True)
class OnTermRows(OnDataset):
    """The same, once the dataset is known to have these terms."""


@dataclass(frozen=True)
class OnShown(OnDataset):
    """A request and the dataset with the tables of which there will be rows."""


@dataclass(frozen=True)
class InGroups(Asked):
    """A request whose cases are grouped, before clusters are made within the groups."""


@dataclass(frozen=True)
class WithIds(Asked):
    """A request, and the ids that a series has or is to have."""

    name: str
    ids: str | None


@dataclass(frozen=True)
class InSeries(OnShown):
    """A request and its series."""

    of: Series
    waits: bool
    """Some case of the series waits, or waited."""


Subject = TypeVar("Subject", bound=Asked)
Words = Mapping[str, object]


@dataclass(frozen=True)
class Refusal(Generic[Subject]):
    """Two things that do not go together."""

    of: type[Subject]
    """When it is asked: as soon as this is known."""
    one: str
    other: str
    holds: Callable[[Subject], bool]
    says: str
    """The error, with words in braces."""
    do: str = ""
    """What to do; empty: that is said already."""
    words: Callable[[Subject], Words] = lambda subject: {"model": subject.wanted.model.name}

    def text(self, subject: Subject) -> str:
        """The error."""
        return self.template.format(**self.words(subject))

    @property
    def template(self) -> str:
        """The error with its words in braces."""
        return f"{self.says}: {self.do}" if self.do else self.says


@dataclass(frozen=True)
class Feature:
    """All that one feature touches."""

    name: str
    does: str
    """In a whole sentence."""
    options: tuple[str, ...] = ()
    """Keywords of a release."""
    stages: tuple[str, ...] = ()
    """Functions of ``engine/release/stages`` that run for it alone."""
    checks: tuple[Applicability, ...] = ()
    """To which releases the checks apply that are made for it alone."""
    facts: Mapping[str, type] = field(default_factory=dict)
    """Keys of the public manifest, and what they hold."""
    refusals: tuple[Refusal[Any], ...] = ()
