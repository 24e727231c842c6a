"""Full-domain k-anonymity (LeFevre et al. 2005), as Lee 2020 compares with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from srsql.engine.lattice.cube import Made
from srsql.engine.lattice.ipa import k_anonymous
from srsql.engine.models.lattice import LatticeModel
from srsql.engine.warehouse.dimensions import Dimension
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.udfs.mechanisms import Source


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
    def least(self) -> int:
        """k."""
        return self.k

    @property
    def facts(self) -> dict[str, str | int]:
        """k rows."""
        return {**super().facts, "keeps": "k rows of every class, one level vector"}

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
