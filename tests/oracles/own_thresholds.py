"""Thresholds of patients, from the definition (Huang 2021, PPMS-bounding (2), section 7).

For every individual P nobody concludes with more than theta_P that P has any value of P's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction


def broken(
    groups: Iterable[Iterable[int]],
    values: Mapping[int, set[str]],
    own: Mapping[int, Fraction],
    carrying: set[int] | None = None,
) -> list[tuple[int, str]]:
    """Each case and value of which too much is concluded.

    Args:
        groups: cases that nobody tells apart.
        values: that each case shows.
        own: threshold of each case that has one.
        carrying: the cases that an attacker cannot exclude; None: all.
    """
    found = []
    for group in groups:
        members = set(group)
        left = members if carrying is None else members & carrying
        for case in members & own.keys():
            for value in values.get(case, set()):
                holders = sum(value in values.get(other, set()) for other in members)
                if holders > own[case] * len(left):
                    found.append((case, value))
    return found
