"""Linkability from its definition: every row of one release against every row of the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Ends = tuple[float, float] | None
"""An interval with both ends; None: missing, which overlaps everything."""


@dataclass(frozen=True)
class Row:
    """A released case as its rows show it."""

    items: frozenset[tuple[str, str]]
    region: tuple[Ends, ...]


def overlap(one: Row, other: Row) -> bool:
    return all(
        a is None or b is None or (a[0] <= b[1] and b[0] <= a[1])
        for a, b in zip(one.region, other.region, strict=True)
    )


def links(first: Mapping[int, Row], second: Mapping[int, Row]) -> dict[int, int]:
    """Case of the first release -> the case of the second that it links to, one to one."""

    def counterparts(row: Row, others: Mapping[int, Row]) -> list[int]:
        return [n for n, o in others.items() if o.items == row.items and overlap(row, o)]

    forward = {n: counterparts(row, second) for n, row in first.items()}
    backward = {n: counterparts(row, first) for n, row in second.items()}
    return {
        n: found[0] for n, found in forward.items() if len(found) == 1 and backward[found[0]] == [n]
    }


def common(regions: Sequence[tuple[Ends, ...]]) -> tuple[Ends, ...] | None:
    """What lies in all regions; None: nothing does."""
    found: list[Ends] = []
    for ends in zip(*regions, strict=True):
        known = [each for each in ends if each is not None]
        low = max((each[0] for each in known), default=None)
        high = min((each[1] for each in known), default=None)
        if low is None or high is None:
            found.append(None)
        elif low > high:
            return None
        else:
            found.append((low, high))
    return tuple(found)


def covers(region: tuple[Ends, ...] | None, target: tuple[Ends, ...]) -> bool:
    """Whether a region covers a target; only what is missing covers what is missing."""
    return region is not None and all(
        r is None or (t is not None and r[0] <= t[0] and t[1] <= r[1])
        for r, t in zip(region, target, strict=True)
    )
