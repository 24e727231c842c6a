"""What every grouping model is: parameters, a guarantee in words, and a way to group."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

from srsql.engine.errors import ReleaseError
from srsql.engine.warehouse import Warehouse

MOST = 1_000_000


@dataclass(frozen=True)
class GroupingModel(ABC):
    """A privacy model that releases groups of cases under one region each."""

    k: int
    """Least number of distinct cases behind every published region."""
    leftovers: Literal["withhold", "merge", "error"]
    """What happens to a case that no group can take."""

    name: ClassVar[str]
    family: ClassVar[str]
    """Releases of one series belong to one family."""

    def __post_init__(self) -> None:
        """Refuse parameters that protect nobody."""
        if self.k < 2:
            raise ReleaseError(f"k is {self.k}: a group needs at least 2 cases to hide one")
        if self.k > MOST:
            raise ReleaseError(f"k is {self.k}: no quarter has groups of more than {MOST:,} cases")

    @property
    @abstractmethod
    def guarantee(self) -> str:
        """What an attacker cannot do, and what they still can, in words for the manifest."""

    @abstractmethod
    def prepare(self) -> None:
        """Load, or on the first use of an installation compile, the model's kernels."""

    @abstractmethod
    def group(self, warehouse: Warehouse, k: int, draw: str) -> None:
        """Fill ``srsql_grouped`` and ``srsql_withheld`` from ``srsql_profile``.

        Args:
            warehouse: with the temporary tables of ``step_cases.sql`` and ``srsql_theta``.
            k: k_effective.
            draw: text from which every random choice is derived.
        """
