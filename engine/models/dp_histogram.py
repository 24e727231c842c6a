"""A histogram with Laplace noise, made records again, as Lee 2020 compares with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from srsql.engine.lattice.cube import Made
from srsql.engine.lattice.ipa import noisy_histogram
from srsql.engine.models.noisy_lattice import NoisyLattice
from srsql.engine.warehouse.dimensions import Dimension
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.udfs.mechanisms import Source


@dataclass(frozen=True)
class DpHistogram(NoisyLattice):
    """Noise of scale 1 / epsilon on the count of every combination of values, the empty ones too.

    Epsilon-differentially private for adding or removing a case (which is one record), *given the
    list of informative values*: that list, and how they are spelled, is the quarter's own, and a
    value that only one case holds is on it because of that case. Budgets of several releases of a
    case add up.
    """

    name: ClassVar[str] = "dp-histogram"
    family: ClassVar[str] = "dp-histogram"

    @property
    def guarantee(self) -> str:
        """In words."""
        return (
            f"{self.warning}Counts of all combinations of dimension values and informative values "
            f"have Laplace noise: epsilon = {self.epsilon}, differentially private for adding or "
            "removing a case, given the list of informative values, which is the quarter's own and "
            "not covered. Budgets of several releases of a case add up. No combination has a least "
            f"count: k = {self.k} counts the cases of the quarter alone."
        )

    def anonymize(
        self, warehouse: Warehouse, dimensions: tuple[Dimension, ...], source: Source
    ) -> Made:
        """Draw the histogram."""
        return noisy_histogram(warehouse, dimensions, self.epsilon, source)
