"""The comparators of Lin 2016: models that others are measured against."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from srsql.engine.catalog.releases import Release
from srsql.engine.grouping.cases import gather_pieces
from srsql.engine.grouping.feasibility import BY_SHARE, Bounds, bound_by_share
from srsql.engine.grouping.patterns import Grouping, group_by_pattern, refine_groups
from srsql.engine.grouping.symptoms import attribute_count, partition_pattern, set_values
from srsql.engine.grouping.thresholds import MAX_DENOMINATOR
from srsql.engine.models.base import MOST, ClaimedBounds, GroupingModel, K
from srsql.engine.parameters import facts_of, parameter
from srsql.engine.parameters.takes import Amount, Whole
from srsql.engine.store.statements import query

OF_REPORTS = (
    "which counts reports: a region may be that of a single patient with several reports. It is "
    "made to be compared with; publish a release of ms or ppms++"
)


@dataclass(frozen=True)
class Comparator(GroupingModel):
    """Groups as a model before MS(k, theta*)-bounding makes them, by the same greedy clustering.

    k and theta of MS(k, theta*)-bounding are not kept; metrics tell how far each release breaks
    them (DR, DIR, group sizes in distinct cases), which is what Lin 2016 compares. Every comparator
    is a family of its own: its releases follow none of another model in a series.

    Where reports are grouped, each has its group's region, so a case may have several; a case that
    has several reports in a group is one case to every measure.

    None withstands joining releases of several quarters, knowing some of a patient's drugs or
    terms, external knowledge of what drugs are taken for.
    """

    claimed_bounds: ClassVar[ClaimedBounds] = ClaimedBounds(
        frozenset(), unit="report", unpublishable=OF_REPORTS
    )
    bounds: ClassVar[Bounds] = BY_SHARE

    @property
    def largest_share(self) -> Fraction | None:
        """Largest share of a group's records that may hold a value; None: any."""
        return None

    @property
    def bounds_in_words(self) -> str:
        """What is kept, in a few words."""
        return ", ".join(
            f"{bound} {claim}" if claim in ("reports", "values") else claim
            for claim, bound in self.claims.items()
        )

    @property
    def public_facts(self) -> dict[str, str | int]:
        """What is kept, and whether such a release may leave the house."""
        return {
            "keeps": self.bounds_in_words,
            "publication": "refused" if self.claimed_bounds.unpublishable else "allowed",
            **facts_of(self),
        }

    @property
    def not_defended(self) -> str:
        """What every comparator leaves open, in words for the manifest."""
        return (
            f"Thresholds of sensitive values are not kept; risk is measured by them and k = "
            f"{self.k} distinct cases. An attacker who joins releases of several quarters, knows "
            "some of a patient's drugs or terms, what drugs are taken for, or a case id is not "
            "defended against."
        )

    def bound(self, release: Release, weight_scale: int) -> Bounds:
        """Bound what cases hold themselves by one share, or nothing: then PR is 1."""
        bound_by_share(release.warehouse, self.largest_share)
        return super().bound(release, weight_scale)

    def group(self, grouping: Grouping) -> None:
        """As every model; then what is counted in a group are distinct cases."""
        self.cluster(grouping)
        if self.claimed_bounds.unit == "report":
            gather_pieces(grouping.release, grouping.weight_scale)

    def cluster(self, grouping: Grouping) -> None:
        """Group the records (see :meth:`GroupingModel.group`)."""
        super().group(grouping)

    def generalize(self, release: Release, draw: str) -> None:
        """As every model, from the boxes that records have after they were gathered."""
        if self.claimed_bounds.unit == "report":
            release.warehouse.run_step("grouping/regions", bounded="srsql_box")
        else:
            super().generalize(release, draw)


@dataclass(frozen=True)
class KAnonymity(Comparator):
    """Every region is shared by at least k *reports*; groups grow by least dIL alone.

    Protects: whoever knows the quasi-identifiers of a report cannot tell it from k - 1 others.

    Does not protect: a patient with follow-ups fills a group alone (duplicates break it: k reports
    may be of one case), and no sensitive value is bounded, so a group may agree on one.
    """

    name: ClassVar[str] = "k-anonymity"
    family: ClassVar[str] = "k-anonymity"

    @property
    def claims(self) -> dict[str, Fraction]:
        """k reports."""
        return {"reports": Fraction(self.k)}

    @property
    def guarantee(self) -> str:
        """In words."""
        return (
            f"Every published region is shared by at least {self.k} reports, which may be of fewer "
            "cases, even of one: follow-ups break it. No sensitive value is bounded, so a region "
            f"may give one away. {self.not_defended}"
        )


@dataclass(frozen=True)
class XyAnonymity(Comparator):
    """Every region (X) is shared by at least k distinct cases (Y); groups grow by least dIL alone.

    MS(k, theta*)-bounding without theta*: all reports of a case are one record.

    Protects: whoever knows a patient's quasi-identifiers is left with at least k cases.

    Does not protect: no sensitive value is bounded, so all cases of a region may share one.
    """

    name: ClassVar[str] = "xy-anonymity"
    family: ClassVar[str] = "xy-anonymity"
    claimed_bounds: ClassVar[ClaimedBounds] = ClaimedBounds(
        frozenset({"k"}), extensions=frozenset({"qid sets"})
    )

    @property
    def claims(self) -> dict[str, Fraction]:
        """k cases."""
        return {"k": Fraction(self.k)}

    @property
    def guarantee(self) -> str:
        """In words."""
        return (
            f"Every published region is shared by at least {self.k} distinct cases. No sensitive "
            f"value is bounded, so a region may give one away. {self.not_defended}"
        )


@dataclass(frozen=True)
class LDiversity(Comparator):
    """Every region has at least l distinct values of each sensitive attribute, by l *reports*.

    Made from the top down: all reports of a missingness pattern, split at the median of the widest
    number or into the children of a node, as long as every part keeps it.

    Protects: whoever knows the quasi-identifiers of a report is left with at least l values of each
    sensitive attribute for it.

    Does not protect: no frequency is bounded (all but l - 1 reports of a region may agree), reports
    are taken for patients, and what is known of one attribute may settle another.
    """

    l: int = parameter(  # noqa: E741 (the model's own name for it)
        K,
        takes=Whole(
            2,
            MOST,
            too_low="a region needs at least 2 values to hide one",
            too_high=f"no quarter has regions of more than {MOST:,} values",
        ),
        help="distinct values of each sensitive attribute in a region, at least",
        weaker="lower",
        compared=(),
    )

    parts: ClassVar[str] = "1"  # type: ignore[misc]
    """It cuts all cases of a pattern itself."""
    name: ClassVar[str] = "l-diversity"
    family: ClassVar[str] = "l-diversity"

    @property
    def kernels(self) -> tuple[str, ...]:
        """Its own way to group, refined like the others."""
        return ("srsql.udfs.grouping.partition", *super().kernels[1:])

    @property
    def claims(self) -> dict[str, Fraction]:
        """l values."""
        return {"values": Fraction(self.l)}

    @property
    def guarantee(self) -> str:
        """In words."""
        return (
            f"Every published region has at least {self.l} distinct values of each sensitive "
            f"attribute, held by at least {self.l} reports, which may be of fewer cases. How "
            f"frequent a value is there is not bounded. {self.not_defended}"
        )

    def bound(self, release: Release, weight_scale: int) -> Bounds:
        """No share is bounded; values are numbered by attribute."""
        set_values(release.warehouse, release.dataset)
        return super().bound(release, weight_scale)

    def cluster(self, grouping: Grouping) -> None:
        """From the top down; nothing is drawn. Refined groups need l records, not k."""
        release = grouping.release

        def one_pattern(pattern: int) -> None:
            partition_pattern(release.warehouse, release.dataset, pattern, self.l)

        group_by_pattern(grouping, self.l, one_pattern)
        if self.refine != "off":
            rules = {
                "effort": self.refine,
                "diversity": self.l,
                "attributes": attribute_count(release.dataset),
            }
            statement = query("grouping/patterns", "refine_partition")
            refine_groups(replace(grouping, k=self.l, weight_scale=1), statement, rules)


@dataclass(frozen=True)
class AlphaK(Comparator):
    """Every region has at least k *reports*, and at most alpha of them hold any one value.

    MS(k, theta*)-bounding with one threshold for all, by reports: the same algorithm and PR.

    Protects: whoever knows the quasi-identifiers of a report cannot tell it from k - 1 others, nor
    infer a value of it with confidence above alpha.

    Does not protect: duplicates break both (reports of one case count as many; of the cases that
    remain, more than alpha may hold a value); one alpha suits neither rare nor frequent values.
    """

    alpha: Fraction = parameter(
        Fraction(2, 5),
        takes=Amount(1, MAX_DENOMINATOR, noun="share"),
        help="largest share of a region's reports that hold a value",
        weaker="higher",
        compared=(),
    )

    name: ClassVar[str] = "alpha-k"
    family: ClassVar[str] = "alpha-k"

    @property
    def largest_share(self) -> Fraction:
        """alpha."""
        return self.alpha

    @property
    def claims(self) -> dict[str, Fraction]:
        """k reports, alpha."""
        return {"reports": Fraction(self.k), "alpha": self.alpha}

    @property
    def guarantee(self) -> str:
        """In words."""
        return (
            f"Every published region is shared by at least {self.k} reports, and no sensitive "
            f"value is held by more than {self.alpha} of them. Reports may be of fewer cases: "
            f"follow-ups break both. {self.not_defended}"
        )
