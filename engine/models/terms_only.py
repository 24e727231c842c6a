"""The models that release terms and no row of a case: disassociation and CBA."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from srsql.engine.catalog.releases import Release, TermFormat
from srsql.engine.grouping.feasibility import BY_SHARE, Bounds, bound_by_share
from srsql.engine.grouping.patterns import Grouping
from srsql.engine.models.base import ClaimedBounds, GroupingModel
from srsql.engine.parameters import facts_of
from srsql.engine.shapes.chunks import Chunks
from srsql.engine.shapes.regions import Shape
from srsql.engine.store.statements import query


@dataclass(frozen=True)
class TermsOnlyModel(GroupingModel):
    """All cases are one internal group without a region; what is released of them has no id."""

    refine: ClassVar[Literal["off", "fast", "full"]] = "off"  # type: ignore[misc]
    """One group is not refined: a parameter of the others, not of these."""
    parts: ClassVar[str] = "1"  # type: ignore[misc]
    """Nor is it made by parts."""
    claimed_bounds: ClassVar[ClaimedBounds] = ClaimedBounds(frozenset())
    bounds: ClassVar[Bounds] = BY_SHARE
    shape: ClassVar[Shape] = Chunks()

    @property
    def claims(self) -> dict[str, Fraction]:
        """There is one region, which says nothing: it is shared by all cases."""
        return {"k": Fraction(self.k)}

    def bound(self, release: Release, weight_scale: int) -> Bounds:
        """No value is bounded: whose it is, is not told."""
        bound_by_share(release.warehouse, None)
        return super().bound(release, weight_scale)

    @property
    def kernels(self) -> tuple[str, ...]:
        """Nothing is grouped."""
        return ()

    def group(self, grouping: Grouping) -> None:
        """All cases together, under no quasi-identifier."""
        grouping.warehouse.run(query("grouping/patterns", "one_group"), {"k": grouping.k})


@dataclass(frozen=True)
class Disassociation(TermsOnlyModel):
    """k^m-anonymity of the terms alone: neither ids nor quasi-identifiers are released.

    Protects: whoever knows up to m terms of a patient's record has to reckon with at least k
    records that hold all of them (Loukides 2014, Guarantee 1).

    Does not protect: against learning terms that many records of a cluster share, against who
    knows more than m terms, or against joining releases of several quarters.
    """

    name: ClassVar[str] = "disassociation"
    family: ClassVar[str] = "terms"

    @property
    def guarantee(self) -> str:
        """What of the release the terms' own guarantee leaves out."""
        return (
            "No id, no quasi-identifier and no other column of a report is released, only terms, "
            f"in clusters of at least {self.k} records. What is known of several quarters of a "
            "patient is not defended against."
        )

    @property
    def public_facts(self) -> dict[str, str | int]:
        """There are no regions that could keep anything."""
        return {"keeps": "no quasi-identifier", **facts_of(self)}


@dataclass(frozen=True)
class Cba(Disassociation):
    """k^m-anonymity of the terms alone, by generalizing them to sets of terms and suppressing them.

    Protects: whoever knows up to m terms of a patient's record is left with at least k records, or
    with all of them where one of these terms is suppressed.

    Does not protect: against learning the terms that all of these records share, against who knows
    more than m terms, or against joining releases of several quarters.
    """

    name: ClassVar[str] = "cba"
    family: ClassVar[str] = "cba"
    term_format: ClassVar[TermFormat] = "nodes"
    claimed_bounds: ClassVar[ClaimedBounds] = ClaimedBounds(
        frozenset(),
        unpublishable="a comparator, made to be measured against; publish a release of "
        "disassociation",
    )

    @property
    def guarantee(self) -> str:
        """What of the release the terms' own guarantee leaves out."""
        return (
            "No id, no quasi-identifier and no other column of a report is released, only "
            f"generalized terms, each of at least {self.k} records; some are suppressed. What is "
            "known of several quarters of a patient is not defended against."
        )

    @property
    def public_facts(self) -> dict[str, str | int]:
        """There are no regions, and such a release does not leave the house."""
        return super().public_facts | {"publication": "refused"}
