"""The mechanisms of the perturbing models: discrete Laplace noise and the exponential mechanism.

Randomness has two sources. ``secure`` (seed None) is OpenDP's exact discrete Laplace sampler
(integers and rationals only, so that no floating-point attack applies; Canonne, Kamath and Steinke
2020) and the cryptographically secure generator of the system, neither of which anybody can seed.
``seeded`` is a NumPy generator for experiments: whoever learns the seed takes the noise off again.

The exponential mechanism draws nodes of a hierarchy (Wu 2022, section IV.C; SPEC section 10). A
node is its preorder number. phi(v) is the path from v up to the top of the tree; the distortion
IL_c(u, v) is 1 - |phi(u) & phi(v)| / |phi(u) | phi(v)|, and the score of a candidate v for a set
dom of values is q(v) = sum of IL_c(u, v) over u in dom, the less the better.

* ``paper``: dom is what a group holds; candidates are dom and its ancestors within the smallest
  subtree that has them all, whose root is the top of every path; dq = max - min of IL_c over dom
  and candidates. Not differential privacy: candidates and dq depend on the data.
* ``sound``: dom is the record's own value, candidates are all nodes of the tree, dq = 1.
"""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from srsql.udfs.columns import Ints
from srsql.udfs.limits import MAX_EPSILON

Calibration = Literal["paper", "sound"]
"""How the exponential mechanism takes its candidates and sensitivity; see above."""
Floats = NDArray[np.float64]
Words = NDArray[np.uint64]
MAX_NOISE = 2**62
"""Noise is cut here, so that it can be added to a value in 64 bits."""
_PART = 20_000
"""Draws per call of the library, so that every processor has some."""


def laplace_noise(numerators: Ints, denominators: Ints, seed: int | None) -> Ints:
    """Independent draws Z with P(Z = z) proportional to exp(-|z| / scale), z in granules.

    Args:
        numerators: [n] of the scale of each draw, above 0.
        denominators: [n] of the same scales, above 0.
        seed: of the NumPy generator; None: OpenDP and the secure generator of the system.

    Returns:
        [n] draws. The scale of a secure draw is the fraction rounded up to a double.

    Raises:
        ValueError: a scale is not above 0.

    Source: Canonne, Kamath and Steinke 2020; SPEC section 10.
    """
    if bool((numerators < 1).any() or (denominators < 1).any()):
        raise ValueError("a scale of noise must be above 0")
    if seed is not None:
        return _seeded_laplace(numerators / denominators, np.random.default_rng(seed))
    noise = np.empty(len(numerators), np.int64)
    scales, which = np.unique(np.stack([numerators, denominators]), axis=1, return_inverse=True)
    order = np.argsort(which, kind="stable")
    ends = np.searchsorted(which[order], np.arange(scales.shape[1] + 1))
    parts = [
        (conservative_scale(int(num), int(den)), order[start : min(start + _PART, stop)])
        for (num, den), first, stop in zip(scales.T, ends[:-1], ends[1:], strict=True)
        for start in range(int(first), int(stop), _PART)
    ]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        batches = pool.map(lambda part: _secure_laplace(part[0], len(part[1])), parts)
        for (_, rows), draws in zip(parts, batches, strict=True):
            noise[rows] = draws
    return noise


def conservative_scale(numerator: int, denominator: int) -> float:
    """The fraction as a double that is not below it, so that no draw has too little noise."""
    return math.nextafter(numerator / denominator, math.inf)


def _secure_laplace(scale: float, count: int) -> Ints:
    """Draws of OpenDP's discrete Laplace measurement over 64-bit integers."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    measurement = dp.m.make_laplace(*space, scale=scale)
    draws = np.array(measurement([0] * count), dtype=np.int64)
    return np.asarray(np.clip(draws, -MAX_NOISE, MAX_NOISE), dtype=np.int64)


def _seeded_laplace(scales: NDArray[np.float64], generator: np.random.Generator) -> Ints:
    """A discrete Laplace variable is the difference of two geometric ones."""
    chance = -np.expm1(-1 / scales)
    first, second = generator.geometric(chance), generator.geometric(chance)
    noise = np.clip(first.astype(np.int64) - second, -MAX_NOISE, MAX_NOISE)
    return np.asarray(noise, dtype=np.int64)


class Uniform:
    """A stream of uniform 64-bit words."""

    def __init__(self, seed: int | None) -> None:
        self._generator = None if seed is None else np.random.default_rng(seed)

    def words(self, count: int) -> Words:
        """[count] independent words, uniform over 0 .. 2**64 - 1."""
        if self._generator is not None:
            return self._generator.integers(0, 2**64, count, dtype=np.uint64)
        return _secure_words(count)

    def below(self, totals: Ints) -> Ints:
        """[n] independent integers, the i-th uniform over 0 .. totals[i] - 1; [n] totals above 0.

        Words of the incomplete last cycle are drawn again, so that no value is likelier.
        """
        sizes = totals.astype(np.uint64)
        excess = (np.uint64(0) - sizes) % sizes
        words = self.words(len(sizes))
        while len(again := np.flatnonzero(words < excess)):
            words[again] = self.words(len(again))
        return (words % sizes).astype(np.int64)


def _secure_words(count: int) -> Words:
    """Bytes of the secure generator of the system."""
    return np.frombuffer(os.urandom(8 * count), np.uint64).copy()


class Source:
    """Where the draws of a release come from.

    OpenDP and the system (seed None), or for experiments a seed.
    """

    def __init__(self, seed: int | None) -> None:
        self._seeds = None if seed is None else np.random.default_rng(seed)
        self.uniform = Uniform(None if seed is None else self.seed())

    def seed(self) -> int | None:
        """A seed for another generator; None: the secure one."""
        return None if self._seeds is None else int(self._seeds.integers(2**63))

    def laplace(self, scale: Fraction, count: int) -> Ints:
        """[count] discrete Laplace draws; a scale of 0 draws zeros."""
        if scale == 0:
            return np.zeros(count, np.int64)
        numerators = np.full(count, scale.numerator, np.int64)
        denominators = np.full(count, scale.denominator, np.int64)
        return laplace_noise(numerators, denominators, self.seed())


class HierarchyPaths:
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
        """[nodes] IL_c(u, v) for every v, on paths that end at ``top``; only nodes below it count.

        Source: Wu 2022, section IV.C.
        """
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
    """One distribution of the exponential mechanism."""

    candidates: Ints
    """[c] nodes, ascending."""
    scores: Floats
    """[c] q of each, the less the better."""
    sensitivity: float
    """dq"""


def choice_of(tree: HierarchyPaths, dom: list[int], calibration: Calibration) -> Choice:
    """The distribution from which a node is drawn.

    Args:
        tree: of the QID.
        dom: the values of a group (paper), or the one value of a record (sound).
        calibration: see the module.

    Source: Wu 2022, section IV.C, Example 2; SPEC section 10.
    """
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


def exponential_weights(choice: Choice, epsilon: Fraction) -> Ints:
    """[c] integers in the ratio of exp(-epsilon q / (2 dq)); their sum is below 2**62.

    Weights are rounded up from doubles, which moves each by a share of at most ``slack``. The
    exponent is lowered by four times that, so that of two sets of weights for the same candidates,
    with scores at most dq apart, no probability exceeds exp(epsilon) times the other.

    Raises:
        ValueError: epsilon is not above 0 or too large.
    """
    if len(choice.candidates) == 1 and 0 < epsilon <= MAX_EPSILON:
        return np.ones(1, np.int64)
    best_weight, used_epsilon = weight_of_best(len(choice.candidates), epsilon)
    above_best = choice.scores - choice.scores.min()
    exact = np.exp(-used_epsilon * above_best / (2 * choice.sensitivity)) * best_weight
    return np.asarray(np.maximum(np.ceil(exact), 1), dtype=np.int64)


def weight_of_best(candidates: int, epsilon: Fraction) -> tuple[float, float]:
    """The weight of the best score among so many candidates, and the epsilon of the exponent.

    Raises:
        ValueError: epsilon is not above 0, or too large or too small to be kept.
    """
    if not 0 < epsilon <= MAX_EPSILON:
        raise ValueError(f"epsilon must be above 0 and at most {MAX_EPSILON}")
    best_weight = 2.0 ** (61 - candidates.bit_length())
    slack = math.exp(float(epsilon) / 2) / best_weight + 2.0**-44
    used_epsilon = float(epsilon) - 4 * slack
    if used_epsilon <= 0:
        raise ValueError(f"epsilon {float(epsilon):g} is too small to be kept in 64 bits")
    return best_weight, used_epsilon


def exponential_choice(
    which: Ints,
    doms: list[list[int]],
    parent: Ints,
    epsilon: Fraction,
    calibration: Calibration,
    seed: int | None,
) -> Ints:
    """Independent draws of the exponential mechanism over the nodes of a hierarchy.

    Args:
        which: [n] the dom of each draw, an index into ``doms``.
        doms: distinct node numbers each, at least one.
        parent: [nodes] the tree, by each node's parent in preorder.
        epsilon: above 0, at most ``MAX_EPSILON``.
        calibration: see the module; ``sound`` takes doms of one value.
        seed: of the NumPy generator; None: the secure one of the system.

    Returns:
        [n] the nodes drawn.

    Raises:
        ValueError: a dom is empty, or not one value where it must be, or epsilon is out of range.

    Source: Wu 2022, section IV.C; SPEC section 10.
    """
    if any(not dom or (calibration == "sound" and len(dom) != 1) for dom in doms):
        raise ValueError("a choice needs a value, and the sound calibration exactly one")
    tree = HierarchyPaths(parent)
    distributions = [choice_of(tree, dom, calibration) for dom in doms]
    steps = [np.cumsum(exponential_weights(choice, epsilon)) for choice in distributions]
    totals = np.array([step[-1] for step in steps], dtype=np.int64)
    points = Uniform(seed).below(totals[which])
    chosen = np.empty(len(which), np.int64)
    order = np.argsort(which, kind="stable")
    ends = np.searchsorted(which[order], np.arange(len(doms) + 1))
    for choice, step, first, stop in zip(distributions, steps, ends[:-1], ends[1:], strict=True):
        rows = order[first:stop]
        chosen[rows] = choice.candidates[np.searchsorted(step, points[rows], side="right")]
    return chosen


def first_above(keys: Ints, starts: Ints, which: Ints, points: Ints) -> Ints:
    """For each point the first place in its list with a key above it, else the list's end.

    Args:
        keys: ascending within each list.
        starts: [lists + 1] where each list begins.
        which: [n] the list of each point.
        points: [n].

    Returns:
        [n] places in ``keys``.
    """
    low, high = starts[which].copy(), starts[which + 1].copy()
    while bool((open_ := low < high).any()):
        middle = (low + high) // 2
        above = keys[np.where(open_, middle, 0)] > points
        high = np.where(open_ & above, middle, high)
        low = np.where(open_ & ~above, middle + 1, low)
    return low


def running_totals(values: Ints, starts: Ints) -> Ints:
    """The sums of each list up to and with each of its values; lists as for ``first_above``."""
    total = np.cumsum(values)
    before = np.concatenate([np.zeros(1, np.int64), total])[starts[:-1]]
    return np.asarray(total - np.repeat(before, np.diff(starts)), dtype=np.int64)


def list_totals(values: Ints, starts: Ints) -> Ints:
    """[lists] the sum of each list; lists as for ``first_above``."""
    total = np.concatenate([np.zeros(1, np.int64), np.cumsum(values)])
    return np.asarray(total[starts[1:]] - total[starts[:-1]], dtype=np.int64)
