"""k and theta of a published table, from the definitions, in plain Python."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

Region = tuple[Any, ...]


def regions(reports: Iterable[Mapping[str, Any]], names: Iterable[str]) -> dict[Region, set[Any]]:
    """Region -> the cases released with it."""
    found: dict[Region, set[Any]] = defaultdict(set)
    for row in reports:
        found[tuple(row[name] for name in names)].add(row["caseid"])
    return found


def terms(rows: Iterable[tuple[Any, str | None]]) -> dict[Any, set[str]]:
    """Case -> its values: trimmed, upper case, blank ones left out."""
    found: dict[Any, set[str]] = defaultdict(set)
    for case, spelling in rows:
        if spelling is not None and spelling.strip():
            found[case].add(spelling.strip().upper())
    return found


def too_small(crowds: Mapping[Region, set[Any]], k: int) -> set[Region]:
    """Lin 2016, Definition 3 (1)."""
    return {region for region, cases in crowds.items() if len(cases) < k}


def too_frequent(
    crowds: Mapping[Region, set[Any]],
    held: Mapping[Any, set[str]],
    thetas: Mapping[str, tuple[int, int]],
) -> set[tuple[Region, str]]:
    """Lin 2016, Definition 3 (2); a value without a threshold may not be released at all."""
    found = set()
    for region, cases in crowds.items():
        for value in set().union(*(held.get(case, set()) for case in cases)):
            holders = sum(value in held.get(case, set()) for case in cases)
            bound = Fraction(*thetas[value]) if value in thetas else Fraction(-1)
            if Fraction(holders, len(cases)) > bound:
                found.add((region, value))
    return found
