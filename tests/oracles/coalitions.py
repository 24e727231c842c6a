"""What a coalition concludes, by going through all coalitions, from the definition.

A coalition knows who its members are and what they have. Of the others of a crowd it concludes a
value with the share of them that holds it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations


def concluded(
    crowd: Sequence[bool], outside: int, coalition: int
) -> tuple[Fraction, list[Fraction]]:
    """Of a holder of a value, the most that a coalition concludes, and what each of them does.

    Args:
        crowd: whether each case of it holds the value.
        outside: further cases that may be in a coalition.
        coalition: how many are; as many as there are, where there are fewer.

    Returns:
        The most over all coalitions of at most so many cases of the crowd that leave a holder, and
        the share that each coalition of exactly so many others of the first holder concludes.
    """
    cases = range(len(crowd))
    most = Fraction(0)
    for size in range(coalition + 1):
        for chosen in combinations(cases, min(size, len(crowd))):
            left = [crowd[case] for case in cases if case not in chosen]
            if any(left):
                most = max(most, Fraction(sum(left), len(left)))
    target = list(crowd).index(True)
    others = [case for case in range(len(crowd) + outside) if case != target]
    each = []
    for chosen in combinations(others, min(coalition, len(others))):
        left = [crowd[case] for case in cases if case not in chosen]
        each.append(Fraction(sum(left), len(left)))
    return most, each
