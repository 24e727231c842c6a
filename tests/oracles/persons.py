"""Persons by definition: clusters of suspected duplicates by union-find, in plain Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set


def clusters(pairs: Iterable[tuple[str, str, float]], at_least: float) -> dict[str, str]:
    """Case -> the least case of its cluster; a case of no pair has none."""
    parent: dict[str, str] = {}

    def root(case: str) -> str:
        while parent.setdefault(case, case) != case:
            case = parent[case]
        return case

    for one, other, probability in pairs:
        if probability >= at_least:
            low, high = sorted((root(one), root(other)))
            parent[high] = low
    return {case: root(case) for case in parent}


def persons(cases: Set[str], of: Mapping[str, str]) -> set[str]:
    """The persons of cases."""
    return {of.get(case, case) for case in cases}
