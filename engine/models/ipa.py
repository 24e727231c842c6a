"""IPA: informative attribute preserving anonymization (Lee 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from srsql.engine.errors import ReleaseError
from srsql.engine.grouping.perturbation import Calibration
from srsql.engine.lattice.cube import Made
from srsql.engine.lattice.ipa import Asked, anonymize
from srsql.engine.models.base import MOST
from srsql.engine.models.noisy_lattice import NoisyLattice
from srsql.engine.warehouse.dimensions import Dimension
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.udfs.mechanisms import Source


@dataclass(frozen=True)
class Ipa(NoisyLattice):
    """Generalization by a level vector, suppression of small classes, counterfeit records.

    Epsilon is split 0.1 / 0.3 / 0.3 / 0.3 over suppression, number of counterfeits, their values
    and the choice of the node. It is a *nominal* budget: **no calibration is epsilon-differentially
    private** for adding or removing a record, whatever Lee 2020, Theorem 9, says.

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

    suppress_below: int = 2
    """t: a class of at most so many records, give or take noise, is suppressed."""
    calibration: Calibration = "sound"
    """How the node is chosen."""

    name: ClassVar[str] = "ipa"
    family: ClassVar[str] = "ipa"

    def __post_init__(self) -> None:
        """Refuse a threshold without noise: its scale is t - 1."""
        super().__post_init__()
        if not 2 <= self.suppress_below <= MOST:
            raise ReleaseError(
                f"--suppress-below {self.suppress_below}: give a number from 2 to {MOST:,} "
                "(at 1 the threshold would have no noise)"
            )

    @property
    def facts(self) -> dict[str, str | int]:
        """t and how the node is chosen, too."""
        return {
            **super().facts,
            "suppress_below": self.suppress_below,
            "calibration": self.calibration,
        }

    @property
    def guarantee(self) -> str:
        """What does not hold, in words."""
        choice = (
            "the choice of the level vector alone is differentially private, with 3/10 of it"
            if self.calibration == "sound"
            else "every level vector is perturbed with the same budget before one is drawn"
        )
        return (
            f"{self.warning}Rows are generalized by one level vector, small classes suppressed and "
            f"made-up records inserted (Lee 2020) with a nominal epsilon of {self.epsilon}. This "
            "is not differential privacy for adding or removing a record, under any calibration: "
            "real informative values are published as they are, so that one with a single holder "
            f"proves presence, and suppressed rows get no noise; {choice}. No class has a "
            f"least size: k = {self.k} counts the cases of the quarter alone."
        )

    def anonymize(
        self, warehouse: Warehouse, dimensions: tuple[Dimension, ...], source: Source
    ) -> Made:
        """Algorithms 1 and 2."""
        asked = Asked(self.epsilon, self.suppress_below, self.calibration == "sound")
        return anonymize(warehouse, dimensions, asked, source)
