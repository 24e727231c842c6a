"""Regions as the macros of an audit take them: a box is the list [-low, high, -low, high, ...]."""

from __future__ import annotations

from hypothesis import strategies as st
from oracles.audit import Box

ANYTHING = 2**62
"""Stands twice at a position that is missing."""
PLACES = [(0, 6), (1, 3), (2, 2), (3, 3), (4, 6), (5, 5), (6, 6)]
"""The nodes of a hierarchy as preorder intervals, the root first."""
LEAVES = [2, 3, 5, 6]

numbers = st.one_of(
    st.none(),
    st.tuples(st.integers(-40, 90), st.integers(0, 70)).map(lambda p: (p[0], p[0] + p[1])),
)
boxes = st.tuples(numbers, st.one_of(st.none(), st.sampled_from(PLACES[1:])))


def coded(box: Box) -> list[int]:
    """The box as the list that the macros take."""
    return [n for x in box for n in ((-x[0], x[1]) if x else (ANYTHING, ANYTHING))]


def decoded(box: list[int]) -> Box:
    pairs = zip(box[::2], box[1::2], strict=True)
    return tuple(None if high == ANYTHING else (-low, high) for low, high in pairs)


def pattern(box: Box) -> list[bool]:
    """For each number of the box whether its position is known."""
    return [known for x in box for known in (x is not None,) * 2]
