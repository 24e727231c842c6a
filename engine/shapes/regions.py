"""The usual shape: rows of cases under regions that cover them, with the terms of each case.

Readers ask a shape how the rows of a release tell the truth, and decide nothing by its kind. What
other shapes answer otherwise stands in their files; what cannot be asked of one, it refuses.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from sqlglot import exp

from srsql.engine.catalog.releases import ReleasedTerms
from srsql.engine.catalog.series import Ids
from srsql.engine.errors import SrsqlError
from srsql.engine.measures import MeasureRow
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

Found = TypeVar("Found")
Rows = list[MeasureRow]
Statement = tuple[str, tuple[str, ...]]
"""Name of a statement of ``signals/tables``, and the tables of a side that it takes."""


class Telling(ABC, Generic[Found]):
    """What a reader makes of the terms of cases, by what tells them."""

    @abstractmethod
    def by_rows(self) -> Found:
        """Rows of cases tell them."""

    @abstractmethod
    def by_clusters(self) -> Found:
        """Clusters of cases tell them, and no row does."""

    def by_counts(self) -> Found:
        """Counts tell them, and no row does: rows tell what there is of cases."""
        return self.by_rows()


class RowPairs:
    """Drugs and reactions as rows of cases tell them, and what counts them."""

    of_clusters: ClassVar[bool] = False
    """As ``Signals`` tells it."""
    by_name: ClassVar[bool] = True
    """A pair is counted by the rows that have its drug or its reaction, and no others."""
    weighed: ClassVar[tuple[Statement, ...]] = ()
    """What follows once it is known what each case counts."""
    prior: ClassVar[Statement] = ("prior", ("weight", "drug", "reaction"))
    tables: ClassVar[tuple[Statement, ...]] = (
        ("contingency", ("contingency", "weight", "drug", "reaction")),
    )
    """The table of each pair."""
    measured: ClassVar[tuple[Statement, ...]] = ()
    """What follows once the pairs are measured."""
    own_strata: ClassVar[bool] = False
    """Strata are those that a release tells, and no case is parted by its region."""
    stratum_prior: ClassVar[Statement] = (
        "stratum_prior",
        ("stratum_weight", "drug", "reaction"),
    )
    stratified: ClassVar[Statement] = ("stratified", ("stratum_weight", "drug", "reaction"))
    """What strata make of each pair, and the tables that it takes beside its own."""

    def need_strata(self, strata: Sequence[str], *, bands: bool, compared: bool) -> None:
        """Refuse strata that are not told.

        Args:
            strata: sex, age or period.
            bands: of age, are asked for.
            compared: with the originals.

        Raises:
            SignalError: they are not.
        """

    def need_rows(self, option: str) -> None:
        """Refuse what rows of cases must tell where clusters tell it.

        Raises:
            SignalError: they do.
        """

    def report_rows(self, reports: exp.Table) -> exp.Table | exp.Subquery:
        """The released rows of cases with their regions, under the alias of ``reports``, the view
        that has them where any has."""
        return reports

    def every(self, least: int, *, surely: bool) -> tuple[Statement, dict[str, Any]]:
        """What lists all pairs of at least so many cases, with its parameters.

        ``surely``: by the lower counts; else by the upper ones.
        """
        asked = {"enough": least, "surely": surely}
        return ("pair_of_cases", ("weight", "drug", "reaction")), asked

    def held(self, told: Mapping[str, exp.Query], roles: Sequence[str]) -> Mapping[str, exp.Query]:
        """Name of each table of who has what -> its rows.

        Args:
            told: what rows tell of cases.
            roles: of drugs that count; empty: every role.
        """
        del roles
        return told

    def names(self, what: str, told: exp.Select) -> exp.Select:
        """The names of drugs, or of reactions, that anybody has; ``told``: those that rows have."""
        del what
        return told

    def load_means(self, warehouse: Warehouse, into: str) -> None:
        """Fill a table with what each item stands for that is told without a count."""


ROWS = RowPairs()
NO_COVER = (
    "{quarter} was released by {model}, whose regions need not hold the original values: no bounds "
    "can be given"
)
"""Why what a release shows bounds no count."""


@dataclass(frozen=True)
class Told:
    """Where the drugs and reactions of a series are told."""

    dataset: Dataset
    """By the version of the key by which they are compared there."""
    schema: str
    pairs: RowPairs
    roles: Sequence[str] | None
    """Which count; None: suspects."""


class Shape:
    """What readers ask, as rows of cases under regions answer it."""

    output: ClassVar[str] = "rows of cases"
    """What a release has, in words."""
    family: ClassVar[str] = ""
    """What sets the family of its series apart from that of its model."""
    uncorrectable: ClassVar[str] = ""
    """Why nobody can be taken out of a release; empty: somebody may."""
    counted_once: ClassVar[bool] = False
    """No second release of the same cases mends one: counts would tell them twice (R6, R7)."""
    unsplit: ClassVar[str] = ""
    """Why no release stands in a public file beside the warehouse; empty: it may."""
    beside_region: ClassVar[tuple[str, ...]] = ()
    """Columns of the report table that show numbers of the release's own making."""
    shows_cases: ClassVar[bool] = True
    """Rows of cases are released."""
    counts_items: ClassVar[bool] = False
    """Counts tell items, whatever is asked."""
    clusters_in_groups: ClassVar[bool] = True
    """Terms that are told apart are told of clusters inside groups, which show their region."""
    usual_ids: ClassVar[Ids | None] = None
    """Which ids a new series gets where none are asked; None: the usual ones."""
    unjudged: ClassVar[str] = ""
    """Why attacks on its published rows alone judge nothing that it promises; empty: they do."""

    def of_cases(self, shown: Found, otherwise: Found) -> Found:
        """What goes for rows of cases, or where a release has none."""
        return shown if self.shows_cases else otherwise

    def of_no_case(self, made: Found, otherwise: Found) -> Found:
        """What goes for rows of the model's own making, or where a release has none."""
        del made
        return otherwise

    def tells_terms(self, *, asked: bool) -> bool:
        """Whether terms are told apart from rows; ``asked``: with rows of cases they are to be."""
        return asked

    def shown(self, dataset: Dataset, model: str) -> Dataset:
        """The dataset with the tables of which there will be rows, where nothing is told apart.

        Args:
            dataset: as the model takes it.
            model: its name.

        Raises:
            ReleaseError: nothing would be released.
        """
        del model
        return dataset

    def without_told(self, dataset: Dataset, apart: Sequence[str]) -> Dataset:
        """The dataset with the tables of which there will be rows.

        Args:
            dataset: as the model takes it.
            apart: attributes whose terms are told apart from rows.
        """
        return dataset.without_terms(apart, rows=self.shows_cases)

    def told_apart(self, apart: Sequence[str]) -> str:
        """What the releases of a series tell apart from rows, as its family says it."""
        return "+".join(apart)

    def need_region(self, model: str, error: type[SrsqlError]) -> None:
        """Refuse to explain the region of a case that has none; ``model``: its name.

        Raises:
            SrsqlError: of the kind ``error``.
        """

    def instead_of(self, other: Shape) -> Iterator[str]:
        """What is released in the place of another shape, in words."""
        if self.output != other.output:
            yield f"what is released: {self.output}, was {other.output}"

    def drawn_in(self, quarter: str) -> tuple[str, ...]:
        """The quarter, if its values were drawn at random."""
        del quarter
        return ()

    def without_ids(self, told: tuple[str, ...]) -> tuple[str, ...]:
        """The released tables that have no ids; ``told``: those of terms apart from rows."""
        return told

    def need_cover(self, quarter: str, model: str) -> None:
        """Refuse to count within bounds where regions need not hold the original values.

        Raises:
            QueryError: they need not.
        """

    def placed(self, dataset: Dataset, regions: exp.Query) -> exp.Query:
        """The rows of groups with all that rows of cases show of them.

        Args:
            dataset: with the tables of which the release has rows.
            regions: ``group_no`` and the columns of the region.
        """
        del dataset
        return regions

    def claimed(self, dataset: Dataset, terms: ReleasedTerms) -> dict[str, Any]:
        """What an artifact claims of terms, beside what it does of any."""
        del dataset, terms
        return {}

    def need_cases(self, series: str, error: type[SrsqlError]) -> None:
        """Refuse what is about cases, where no row is a case's.

        Raises:
            SrsqlError: of the kind ``error``.
        """

    def need_public(self, series: str, error: type[SrsqlError]) -> None:
        """Refuse a public edition of what shows no regions, or has no views.

        Raises:
            SrsqlError: of the kind ``error``.
        """

    def need_untold(self, series: str, error: type[SrsqlError]) -> None:
        """Refuse to judge by bounds of a reader's what has bounds of its own.

        Raises:
            SrsqlError: of the kind ``error``.
        """
        raise error(
            f"series {series!r} has bounds of its own: --k and --theta judge an imported series, "
            "'srsql audit' takes them for any"
        )

    def whose(self, ours: Found, theirs: Found) -> Found:
        """What goes for a release of our own, or for somebody else's."""
        del theirs
        return ours

    def kept(self, bounds: frozenset[str]) -> frozenset[str]:
        """Which bounds of a model hold for what rows show, all quasi-identifiers together."""
        return bounds

    def need_one_quarter(self, series: str, error: type[SrsqlError]) -> None:
        """Refuse to count the cases of several quarters together.

        Raises:
            SrsqlError: of the kind ``error``: they cannot be.
        """

    def tell(self, telling: Telling[Found]) -> Found:
        """What a reader makes of the terms of cases."""
        return telling.by_rows()

    def measured(self, warehouse: Warehouse, release_id: int, rows: Rows) -> Rows:
        """What the metrics of a release say of it.

        Args:
            warehouse: may be read-only.
            release_id: of the release.
            rows: of every metric, as if its groups were under regions.
        """
        del warehouse, release_id
        return rows

    def singled_out(self, exact: Callable[[], Rows], telling: Telling[Rows]) -> Rows:
        """Whom items and columns single out.

        Args:
            exact: gives what follows from regions alone.
            telling: gives what follows from the terms of cases.
        """
        return exact() + self.tell(telling)

    def told_pairs(self, warehouse: Warehouse, told: Told, releases: Mapping[str, int]) -> Told:
        """Where drugs and reactions are told.

        Args:
            warehouse: may be read-only.
            told: by rows, in the views of all quarters together.
            releases: quarter -> its release, of those that are asked.

        Raises:
            SignalError: they are not, or not in the roles that count.
        """
        del warehouse, releases
        return told


class Regions(Shape):
    """Rows of cases under regions."""


class WithoutRegions(Shape):
    """No row shows the region of a group."""

    unjudged: ClassVar[str] = "its rows show no region of a group"

    def singled_out(self, exact: Callable[[], Rows], telling: Telling[Rows]) -> Rows:
        """Nothing follows from regions."""
        del exact
        return self.tell(telling)
