"""The exponential mechanism over the nodes of a hierarchy (Wu 2022, section IV.C; SPEC section 10).

A node is its preorder number. phi(v) is the path from v up to the top of the tree; the distortion
IL_c(u, v) is 1 - |phi(u) & phi(v)| / |phi(u) | phi(v)|, and the score of a candidate v for a set
dom of values is q(v) = sum of IL_c(u, v) over u in dom, the less the better.

* ``paper``: dom is what a group holds; candidates are dom and its ancestors within the smallest
  subtree that has them all, whose root is the top of every path; dq = max - min of IL_c over dom
  and candidates. Not differential privacy: candidates and dq depend on the data.
* ``sound``: dom is the record's own value, candidates are all nodes of the tree, dq = 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from srsql.udfs.noise import Uniform
from srsql.udfs.problem import Ints

Calibration = Literal["paper", "sound"]
Floats = NDArray[np.float64]
MOST = Fraction(50)
"""Largest epsilon of one choice: beyond, integer weights are too coarse to keep it."""


class Tree:
    """Paths in a tree given by each node's parent in preorder, -1 for the root."""

    def __init__(self, parent: Ints) -> None:
        self.parent = parent
        self.depth = np.zeros(len(parent), np.int64)
        for node in range(1, len(parent)):
            self.depth[node] = self.depth[parent[node]] + 1
        self.last = np.arange(len(parent), dtype=np.int64)
        for node in range(len(parent) - 1, 0, -1):
            above = parent[node]
            self.last[above] = max(self.last[above], self.last[node])
        self._shared: dict[int, Ints] = {}

    def path(self, node: int) -> list[int]:
        """The node and its ancestors, nearest first."""
        found = [node]
        while self.parent[found[-1]] >= 0:
            found.append(int(self.parent[found[-1]]))
        return found

    def distortion(self, u: int, top: int) -> Floats:
        """IL_c(u, v) for every v, on paths that end at ``top``; only nodes below it count."""
        if u not in self._shared:
            shared = np.zeros(len(self.parent), np.int64)
            for node in reversed(self.path(u)):
                shared[node : self.last[node] + 1] = self.depth[node]
            self._shared[u] = shared
        cut = self.depth[top] - 1
        common = self._shared[u] - cut
        union = self.depth[u] - cut + self.depth - cut - common
        return np.asarray((union - common) / np.maximum(union, 1), dtype=np.float64)

    def meeting(self, nodes: list[int]) -> int:
        """The lowest common ancestor."""
        low, high = min(nodes), max(nodes)
        return next(node for node in self.path(low) if self.last[node] >= high)


@dataclass(frozen=True)
class Choice:
    """One distribution: candidates, their scores, and the sensitivity of the scores."""

    candidates: Ints
    scores: Floats
    sensitivity: float


def choice_of(tree: Tree, dom: list[int], calibration: Calibration) -> Choice:
    """Candidates for a set of values of a group (paper) or the one value of a record (sound)."""
    if calibration == "sound":
        (value,) = dom
        scores = tree.distortion(value, 0)
        return Choice(np.arange(len(tree.parent), dtype=np.int64), scores, 1.0)
    top = tree.meeting(dom)
    candidates = np.unique(
        [node for value in dom for node in tree.path(value) if node >= top]
    ).astype(np.int64)
    losses = np.stack([tree.distortion(value, top)[candidates] for value in dom])
    return Choice(candidates, losses.sum(axis=0), float(losses.max() - losses.min()))


def weights(choice: Choice, epsilon: Fraction) -> Ints:
    """Integers in the ratio of exp(-epsilon q / (2 dq)); their sum is below 2**62.

    Weights are rounded up from doubles, which moves each by a share of at most ``slack``. The
    exponent is lowered by four times that, so that of two sets of weights for the same candidates,
    with scores at most dq apart, no probability exceeds exp(epsilon) times the other.

    Raises:
        ValueError: epsilon is not above 0 or too large.
    """
    if len(choice.candidates) == 1 and 0 < epsilon <= MOST:
        return np.ones(1, np.int64)
    one, used = scale_of(len(choice.candidates), epsilon)
    above_best = choice.scores - choice.scores.min()
    exact = np.exp(-used * above_best / (2 * choice.sensitivity)) * one
    return np.asarray(np.maximum(np.ceil(exact), 1), dtype=np.int64)


def scale_of(candidates: int, epsilon: Fraction) -> tuple[float, float]:
    """The weight of the best score, and the epsilon that is used, of so many candidates.

    Raises:
        ValueError: epsilon is not above 0, or too large or too small to be kept.
    """
    if not 0 < epsilon <= MOST:
        raise ValueError(f"epsilon must be above 0 and at most {MOST}")
    one = 2.0 ** (61 - candidates.bit_length())
    slack = math.exp(float(epsilon) / 2) / one + 2.0**-44
    used = float(epsilon) - 4 * slack
    if used <= 0:
        raise ValueError(f"epsilon {float(epsilon):g} is too small to be kept in 64 bits")
    return one, used


def choose(
    which: Ints,
    doms: list[list[int]],
    parent: Ints,
    epsilon: Fraction,
    calibration: Calibration,
    seed: int | None,
) -> Ints:
    """Independent draws of the exponential mechanism.

    Args:
        which: [n] the dom of each draw, an index into ``doms``.
        doms: distinct node numbers each, at least one.
        parent: the tree, by each node's parent in preorder.
        epsilon: above 0, at most ``MOST``.
        calibration: see the module; ``sound`` takes doms of one value.
        seed: of the NumPy generator; None: OpenDP's secure one.

    Returns:
        [n] the nodes drawn.

    Raises:
        ValueError: a dom is empty, or not one value where it must be.
    """
    if any(not dom or (calibration == "sound" and len(dom) != 1) for dom in doms):
        raise ValueError("a choice needs a value, and the sound calibration exactly one")
    tree = Tree(parent)
    distributions = [choice_of(tree, dom, calibration) for dom in doms]
    steps = [np.cumsum(weights(choice, epsilon)) for choice in distributions]
    totals = np.array([step[-1] for step in steps], dtype=np.int64)
    points = Uniform(seed).below(totals[which])
    chosen = np.empty(len(which), np.int64)
    order = np.argsort(which, kind="stable")
    ends = np.searchsorted(which[order], np.arange(len(doms) + 1))
    for choice, step, first, stop in zip(distributions, steps, ends[:-1], ends[1:], strict=True):
        rows = order[first:stop]
        chosen[rows] = choice.candidates[np.searchsorted(step, points[rows], side="right")]
    return chosen
