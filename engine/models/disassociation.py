"""Disassociation (Loukides 2014): the terms of a quarter, apart from each other and from ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from srsql.engine.models.terms_only import Apart


@dataclass(frozen=True)
class Disassociation(Apart):
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
    def facts(self) -> dict[str, str]:
        """There are no regions that could keep anything."""
        return {"keeps": "no quasi-identifier"}
