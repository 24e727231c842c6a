"""CBA (Loukides and Gkoulalas-Divanis 2013), the comparator of Loukides 2014: terms generalized."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from srsql.engine.models.disassociation import Disassociation


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
    tells: ClassVar[Literal["chunks", "nodes"]] = "nodes"
    unpublishable: ClassVar[str] = (
        "a comparator, made to be measured against; publish a release of disassociation"
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
    def facts(self) -> dict[str, str]:
        """There are no regions, and such a release does not leave the house."""
        return super().facts | {"publication": "refused"}
