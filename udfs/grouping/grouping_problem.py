"""The grouping problem as arrays, and its losses as exact integers.

Every QID is an interval of integers: granules for a numeric QID, the preorder interval of a
hierarchy node for a categorical one (see ``srsql.schemas.hierarchy``). A record is a box of such
intervals, the region of a group is the hull of its boxes, and the loss of a QID is
``(high - low) / span`` or ``h(LCA) / h(root)`` (Lin 2016, eq. (1)). All losses are held as integers
in units of one over the common denominator of spans and heights, so that equal losses are equal
numbers and a lower bound never rounds past the value it bounds.

The terms of a case have weights: 1 for what it is known to have, and with external knowledge E how
likely a disease is, given the drugs it took (SPEC section 7).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from srsql.udfs import Ints

LIMIT = 2**61
ROUNDED_UNIT = 2**40
# 1 / |E(d)| and products of two of them are whole multiples of 1 / (232792560 x 27720) for all
# small |E(d)|; fewer digits are used only where n sums of them would overflow 64 bits.
UNITS = (232792560 * 27720, 232792560 * 2520, 232792560 * 60, 232792560)


@dataclass(frozen=True)
class Attributes:
    """The QIDs of a problem, d of them."""

    span: Ints
    """[d] numeric: max - min of the domain in granules, above 0; categorical: 0."""
    tree_start: Ints
    """[d + 1] offsets of each QID's nodes in the arrays below; a numeric QID has none."""
    parent: Ints
    """Preorder number of each node's parent within its own tree; -1 for a root."""
    last: Ints
    """Largest preorder number in each node's subtree."""
    height: Ints
    """Longest path from each node down to a leaf."""

    def __post_init__(self) -> None:
        """Refuse what compiled code would read past its ends for."""
        sizes = np.diff(self.tree_start)
        nodes = np.arange(len(self.parent)) - np.repeat(self.tree_start[:-1], sizes)
        within = np.repeat(sizes, sizes)
        if not (len(self.parent) == len(self.last) == len(self.height) == int(sizes.sum())):
            raise ValueError("parent, last and height must have one entry per node")
        if bool(((self.span == 0) != (sizes > 0)).any()):
            raise ValueError("a QID has either a span above 0 or a tree")
        wrong = (self.parent >= nodes) | ((self.parent < 0) != (nodes == 0))
        wrong |= (self.last < nodes) | (self.last >= within)
        wrong |= (nodes == 0) & (self.last != within - 1)
        if bool(wrong.any()):
            raise ValueError("tree nodes must be numbered in preorder, the root first")


@dataclass(frozen=True)
class Cases:
    """The super-records of a problem, n of them, in case-id order."""

    low: Ints
    """[n, d] granules, or the preorder number of the node."""
    high: Ints
    """[n, d] granules, or the last preorder number under the node."""
    offsets: Ints
    """[n + 1] where each case's terms start."""
    terms: NDArray[np.int32]
    """Distinct term numbers of each case, in any order."""
    weights: Ints
    """p(r, s) in units of 1 / ``one``, above 0; all 1 without external knowledge."""
    one: int
    """What a certain term weighs."""


@dataclass(frozen=True)
class Bounding:
    """What the bounds of a group are counted against, and how groups are grown."""

    carrier: NDArray[np.bool_]
    """[n] cases that count towards k and in eta: all of them for MS, new ones for PPMS, new ones
    that stop for PPMS with alpha."""
    grows: NDArray[np.bool_]
    """[n] cases among which groups are grown: all, or the carriers alone (NCC grouping)."""
    kind: NDArray[np.int8]
    """[n] 0: no substantial symptoms; with them 1: new and stops, 2: new, 3: stops, 4: neither."""
    alpha_num: int = 1
    alpha_den: int = 1
    after_join: bool = False
    """PR with sigma counted after the record joins (Huang 2021, eq. (2)), not before (Lin 2016)."""
    from_last: bool = False
    """The next seed is farthest from the record added last (Huang 2021), not from the last seed."""

    @staticmethod
    def of_all(n: int) -> Bounding:
        """MS(k, theta*)-bounding: every case counts."""
        return Bounding(np.ones(n, np.bool_), np.ones(n, np.bool_), np.zeros(n, np.int8))

    def __post_init__(self) -> None:
        """Refuse what no rule could mean."""
        if not len(self.carrier) == len(self.grows) == len(self.kind):
            raise ValueError("carrier, grows and kind must have one entry per case")
        if bool((self.carrier & ~self.grows).any()):
            raise ValueError("a carrier must be among the cases that groups are grown on")
        if len(self.kind) and (self.kind.min() < 0 or self.kind.max() > 4):
            raise ValueError("kind must be 0 to 4")
        if not 0 <= self.alpha_num <= self.alpha_den or self.alpha_den < 1:
            raise ValueError("alpha must lie between 0 and 1")


class Losses(NamedTuple):
    """The QIDs with integer loss weights, as the compiled code takes them."""

    numeric: NDArray[np.bool_]
    weight: Ints
    """[d] loss units per granule (numeric) or per level of height (categorical)."""
    start: Ints
    parent: Ints
    last: Ints
    height: Ints


class Terms(NamedTuple):
    """Terms of the cases, and what the group under construction holds of them."""

    offsets: Ints
    terms: NDArray[np.int32]
    weights: Ints
    sigma: Ints
    """[V] sigma_s(g) in units of 1 / one."""
    eta: Ints
    """[V] eta_s of a group with at most k carriers, in the same units."""
    frequent: NDArray[np.int32]
    """Term of each mask bit."""
    bit: NDArray[np.int8]
    """[V] mask bit of each term, -1 for most."""
    base: NDArray[np.float64]
    """[n] PR of each case in a group of at most k carriers that holds none of its terms; equal
    floats are equal fractions, and their order is that of the fractions."""
    free: NDArray[np.bool_]
    """[V] terms of theta = 1."""
    one: int
    after_join: bool


class Task(NamedTuple):
    """Boxes, terms and bounds of n cases."""

    low: Ints
    """[n, d]"""
    high: Ints
    losses: Losses
    terms: Terms
    theta_num: Ints
    theta_den: Ints
    k: int
    carrier: NDArray[np.bool_]
    """[n] counts towards k and in eta."""
    kind: NDArray[np.int8]
    """[n] see ``Bounding``."""
    alpha_num: int
    alpha_den: int


def integer_losses(attributes: Attributes, cases: int) -> tuple[Losses, int]:
    """Loss weights in units of 1 / unit, and the unit.

    The unit is the least common multiple of all spans and root heights. Where a group of ``cases``
    could overflow with it, losses are rounded to 2**-40 instead, and only then are ties of the
    rounded losses, not of the exact ones.
    """
    d = len(attributes.span)
    numeric = attributes.span > 0
    denominators = [
        int(attributes.span[i])
        if numeric[i]
        else max(1, int(attributes.height[attributes.tree_start[i]]))
        for i in range(d)
    ]
    unit = math.lcm(1, *denominators)
    if 2 * unit * max(d, 1) * max(cases, 1) > LIMIT:
        unit = ROUNDED_UNIT
    weight = np.array([(2 * unit + x) // (2 * x) for x in denominators], dtype=np.int64)
    losses = Losses(
        numeric=numeric,
        weight=weight,
        start=attributes.tree_start.astype(np.int64),
        parent=attributes.parent.astype(np.int64),
        last=attributes.last.astype(np.int64),
        height=attributes.height.astype(np.int64),
    )
    return losses, unit


def weight_unit(cases: int) -> int:
    """Units per certain term that keep sums over ``cases`` cases within 62 bits."""
    return next((unit for unit in UNITS if unit * max(cases, 1) < 2**61), UNITS[-1])


def weight(sizes: Sequence[int], one: int) -> int:
    """1 - prod(1 - 1/|E(d)|) in units of 1 / one, rounded up so that no bound is understated."""
    miss = Fraction(1)
    for size in sizes:
        miss *= Fraction(size - 1, size)
    share = (1 - miss) * one
    return -(-share.numerator // share.denominator)
