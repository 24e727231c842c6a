"""Worked examples of disassociation: records of diagnosis codes and a utility policy, numbered."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

GOLDEN = Path(__file__).parents[1] / "golden"


@dataclass(frozen=True)
class Example:
    """Records and constraints as sets of codes; the number of a code is its place in ``codes``."""

    records: list[frozenset[str]]
    policy: list[frozenset[str]]

    @property
    def codes(self) -> list[str]:
        return sorted(frozenset().union(*self.records))

    @property
    def baskets(self) -> list[frozenset[int]]:
        return [self.numbers(record) for record in self.records]

    @property
    def constraints(self) -> list[frozenset[int]]:
        return [self.numbers(constraint) for constraint in self.policy]

    def numbers(self, codes: Iterable[str]) -> frozenset[int]:
        return frozenset(self.codes.index(code) for code in codes)

    def support(self, codes: Iterable[str], among: Iterable[int] | None = None) -> int:
        """Records that hold all the codes, of those with the given indices or of all."""
        sought = frozenset(codes)
        chosen = range(len(self.records)) if among is None else among
        return sum(sought <= self.records[i] for i in chosen)


def example(folder: str) -> Example:
    """The example in ``tests/golden/<folder>``."""
    return Example(
        _codes(GOLDEN / folder / "records.csv"), _codes(GOLDEN / folder / "utility_policy.csv")
    )


def _codes(file: Path) -> list[frozenset[str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return [frozenset(row["codes"].split(";")) for row in csv.DictReader(lines)]
