"""The grouping problem as arrays, and its losses as exact integers.

Every QID is an interval of integers: granules for a numeric QID, the preorder interval of a
hierarchy node for a categorical one (see ``srsql.schemas.hierarchy``). A record is a box of such
intervals, the region of a group is the hull of its boxes, and the loss of a QID is
``(high - low) / span`` or ``h(LCA) / h(root)`` (Lin 2016, eq. (1)). All losses are held as integers
in units of one over the common denominator of spans and heights, so that equal losses are equal
numbers and a lower bound never rounds past the value it bounds.

A term of a case weighs 1, or with external knowledge E as much as a disease is likely, given the
drugs that the case took (SPEC section 7). Weights are held as integers in units of one over the
*weight scale*, which is therefore what a certain term weighs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from srsql.udfs.columns import Ints
from srsql.udfs.limits import LIMIT

ROUNDED_SCALE = 2**40

Leftovers = Literal["withhold", "merge"]
"""A case that no group can take stays out, or groups are merged until one can take it."""


@dataclass(frozen=True)
class Attributes:
    """The QIDs of a problem, d of them."""

    span: Ints
    """[d] numeric: max - min of the domain in granules, above 0; categorical: 0."""
    tree_start: Ints
    """[d + 1] offsets of each QID's nodes in the arrays below; a numeric QID has none."""
    parent: Ints
    """[nodes] preorder number of each node's parent within its own tree; -1 for a root."""
    last: Ints
    """[nodes] largest preorder number in each node's subtree."""
    height: Ints
    """[nodes] longest path from each node down to a leaf."""

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
    """[offsets[n]] distinct term numbers of each case, in any order."""
    weights: Ints
    """[offsets[n]] p(r, s) in units of 1 / ``weight_scale``, above 0."""
    weight_scale: int
    """What a certain term weighs; 1 without external knowledge."""

    def some(self, rows: Ints, columns: Ints) -> Cases:
        """The cases ``rows`` with the QIDs ``columns``."""
        offsets, place = _terms_of(self.offsets, rows)
        return Cases(
            self.low[np.ix_(rows, columns)],
            self.high[np.ix_(rows, columns)],
            offsets,
            self.terms[place],
            self.weights[place],
            self.weight_scale,
        )

    def check_boxes(self, attributes: Attributes) -> None:
        """Refuse boxes that compiled code would read past the ends of a tree for.

        Raises:
            ValueError: a box ends before it begins, or lies outside its tree.
        """
        sizes = np.diff(attributes.tree_start)
        trees = sizes > 0
        if bool((self.low > self.high).any() or (self.low[:, trees] < 0).any()):
            raise ValueError("a box ends before it begins, or before its tree")
        if bool((self.high[:, trees] >= sizes[trees]).any()):
            raise ValueError("a box ends behind its tree")


@dataclass(frozen=True)
class Bounding:
    """What the bounds of a group are counted against, and how groups are grown.

    Source: Lin 2016, Algorithms 1 and 2; Huang 2021, procedures 1 to 3; SPEC sections 7 and 8.
    """

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
    leftovers: Leftovers = "withhold"
    more_seeds: int = 0
    """First records that may fail to complete a group before groups are grown no more; the papers'
    algorithms end with the first that does."""
    standing: NDArray[np.int32] | None = None
    """[n] groups that there are, numbered from 0 on without gaps, -1 for a leftover: none is grown,
    leftovers join these; None: groups are grown."""

    @staticmethod
    def of_all(n: int, leftovers: Leftovers = "withhold") -> Bounding:
        """MS(k, theta*)-bounding of ``n`` cases: every one counts."""
        every = np.ones(n, np.bool_)
        return Bounding(every, every, np.zeros(n, np.int8), leftovers=leftovers)

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
        if self.standing is not None and len(self.standing) != len(self.carrier):
            raise ValueError("standing must have one entry per case")
        if self.more_seeds < 0:
            raise ValueError("more_seeds cannot be fewer than none")
        if self.leftovers not in ("withhold", "merge"):
            raise ValueError(f"leftovers is {self.leftovers!r}: give withhold or merge")


class Losses(NamedTuple):
    """The QIDs with integer loss weights, as the compiled code takes them (see ``Attributes``)."""

    numeric: NDArray[np.bool_]
    """[d]"""
    weight: Ints
    """[d] loss units per granule (numeric) or per level of height (categorical)."""
    start: Ints
    """[d + 1]"""
    parent: Ints
    last: Ints
    height: Ints


class Terms(NamedTuple):
    """The terms of the cases (see ``Cases``), and what the group under construction has of them."""

    offsets: Ints
    terms: NDArray[np.int32]
    weights: Ints
    sigma: Ints
    """[V] sigma_s(g) in units of 1 / ``weight_scale``."""
    eta: Ints
    """[V] eta_s of a group with at most k carriers, in the same units (see ``etas``)."""
    frequent: NDArray[np.int32]
    """[bits] the term of each mask bit (see ``cells.frequent_terms``)."""
    bit: NDArray[np.int8]
    """[V] mask bit of each term, -1 for most."""
    base_risk: NDArray[np.float64]
    """[n] PR of each case in a group of at most k carriers that holds none of its terms; equal
    floats are equal fractions, and their order is that of the fractions."""
    unbounded: NDArray[np.bool_]
    """[V] terms of theta = 1, where sigma is counted with the case that joins."""
    weight_scale: int
    after_join: bool
    """Whether sigma is counted with the case that joins (see ``Bounding``)."""


class GroupingProblem(NamedTuple):
    """What the compiled code groups by: boxes, terms and bounds of n cases with d QIDs."""

    low: Ints
    """[n, d] see ``Cases``."""
    high: Ints
    losses: Losses
    terms: Terms
    theta_num: Ints
    """[V] numerators of the thresholds; theta_s = num / den."""
    theta_den: Ints
    k: int
    """k_effective."""
    carrier: NDArray[np.bool_]
    """[n] see ``Bounding``, as for what follows."""
    kind: NDArray[np.int8]
    alpha_num: int
    alpha_den: int


def integer_losses(attributes: Attributes, cases: int) -> tuple[Losses, int]:
    """The losses of the QIDs as integers.

    Args:
        attributes: the d QIDs.
        cases: as many as a group may have.

    Returns:
        The losses in units of 1 / scale, and the scale: the least common multiple of all spans and
        root heights. Where a group of ``cases`` could overflow with it, losses are rounded to
        2**-40 instead, and only then are ties those of the rounded losses, not of the exact ones.

    Source: Lin 2016, eq. (1).
    """
    d = len(attributes.span)
    numeric = attributes.span > 0
    denominators = [
        int(attributes.span[i])
        if numeric[i]
        else max(1, int(attributes.height[attributes.tree_start[i]]))
        for i in range(d)
    ]
    scale = math.lcm(1, *denominators)
    if 2 * scale * max(d, 1) * max(cases, 1) > LIMIT:
        scale = ROUNDED_SCALE
    weight = np.array([(2 * scale + x) // (2 * x) for x in denominators], dtype=np.int64)
    losses = Losses(
        numeric=numeric,
        weight=weight,
        start=attributes.tree_start.astype(np.int64),
        parent=attributes.parent.astype(np.int64),
        last=attributes.last.astype(np.int64),
        height=attributes.height.astype(np.int64),
    )
    return losses, scale


def _terms_of(offsets: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Where the terms of the cases ``rows`` start among them, and where each of these is."""
    held = np.diff(offsets)[rows]
    starts = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(held, out=starts[1:])
    return starts, np.repeat(offsets[rows] - starts[:-1], held) + np.arange(starts[-1])


def etas(carriers: int, theta_num: Ints, theta_den: Ints, weight_scale: int) -> Ints:
    """eta_s of a group of so many carriers: what sigma_s may be (see ``exact_search.share_of``)."""
    whole, rest = np.divmod(carriers * theta_num, theta_den)
    units, part = divmod(weight_scale, theta_den)
    found: Ints = whole * weight_scale + rest * units + rest * part // theta_den
    return found


def inferred_weight(sizes: Sequence[int], weight_scale: int) -> int:
    """How likely a case has a disease for which it took so many drugs that E knows.

    Args:
        sizes: |E(d)| of each of these drugs d: the diseases for which it is taken.
        weight_scale: what a certain term weighs.

    Returns:
        p(r, s) = 1 - prod(1 - 1 / |E(d)|) in units of 1 / ``weight_scale``, rounded up so that no
        bound is understated.

    Source: Lin 2016, Definition 3; SPEC section 7.
    """
    miss = Fraction(1)
    for size in sizes:
        miss *= Fraction(size - 1, size)
    share = (1 - miss) * weight_scale
    return -(-share.numerator // share.denominator)
