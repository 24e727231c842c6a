"""What the models over the lattice that draw noise share: a budget and a source."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from srsql.engine.errors import ReleaseError
from srsql.engine.grouping.perturbation import Noise
from srsql.engine.models.lattice import LatticeModel
from srsql.engine.models.perturbing import FINEST, NOT_FOR_PUBLICATION
from srsql.udfs.mechanisms import MAX_EPSILON


@dataclass(frozen=True)
class NoisyLattice(LatticeModel):
    """Made-up records are among the rows; nothing published tells how many."""

    epsilon: Fraction = Fraction(1)
    """Budget of a release."""
    noise: Noise = "secure"
    """``secure``: OpenDP, not seedable; ``seeded``: an experiment, not for publication."""

    counted: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Refuse budgets that mean nothing or cannot be kept."""
        super().__post_init__()
        if not 0 < self.epsilon <= MAX_EPSILON or self.epsilon.denominator > FINEST:
            raise ReleaseError(
                f"--epsilon {self.epsilon}: give a number above 0, at most {MAX_EPSILON}, to four "
                f"decimals or as a fraction with a denominator up to {FINEST:,}"
            )

    @property
    def seeded(self) -> bool:
        """As asked for."""
        return self.noise == "seeded"

    @property
    def facts(self) -> dict[str, str | int]:
        """Budget and source of noise, too."""
        unfit = {"publication": NOT_FOR_PUBLICATION} if self.seeded else {}
        return {**super().facts, "epsilon": str(self.epsilon), "noise": self.noise, **unfit}

    @property
    def private_facts(self) -> dict[str, Any]:
        """What ``publish`` asks for."""
        return {"noise": self.noise, "publishable": False}

    @property
    def warning(self) -> str:
        """What comes before the guarantee of an experiment."""
        if not self.seeded:
            return ""
        return (
            "NOT FOR PUBLICATION: the noise is that of a seeded experiment, and whoever learns the "
            "seed takes it off. "
        )
