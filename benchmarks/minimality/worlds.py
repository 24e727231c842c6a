"""The worlds that fit a release, those that the algorithm makes it of, and what that tells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod

import numpy as np
from numpy.typing import NDArray

from benchmarks.minimality.tables import SEED, UNIT, Table

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
LEAST_KEPT, MOST_ROUNDS = 100, 6
"""Worlds that have to stay, and how often as many are drawn again until they do; a table with fewer
is not counted, which is told."""
LISTED = 100_000
"""Assignments of one attribute to one class that are listed; of more a sample is."""


@cache
def assignments(members: int, width: int) -> Ints:
    """Values 0 .. width - 1 of the members whose least and greatest are the ends, one a row.

    All of them, or ``LISTED`` drawn uniformly where there are more combinations to look at.
    """
    if width**members <= LISTED:
        rows = np.indices((width,) * members).reshape(members, -1).T
        return rows[(rows.min(axis=1) == 0) & (rows.max(axis=1) == width - 1)]
    rng, found = np.random.default_rng(SEED), np.empty((0, members), np.int64)
    while len(found) < LISTED:
        rows = rng.integers(0, width, (LISTED, members))
        found = np.vstack([found, rows[(rows.min(axis=1) == 0) & (rows.max(axis=1) == width - 1)]])
    return found[:LISTED]


def assignment_count(members: int, width: int) -> int:
    """How many there are."""
    if width == 1:
        return 1
    return width**members - 2 * (width - 1) ** members + (width - 2) ** members


@dataclass(frozen=True)
class Factor:
    """One attribute of the cases that share a region."""

    members: Ints
    attribute: int
    low: int
    rows: Ints

    def chances(self, value: int) -> float:
        """How likely a member has the value, before the attack."""
        return float((self.rows == value - self.low).mean())

    @property
    def entropy(self) -> float:
        """Of the value of one member, in nats."""
        return entropy(np.bincount(self.rows.ravel()).astype(float))


def factors(shown: Ints) -> list[Factor]:
    """The worlds that fit the published regions as hulls: independent choices, one of each."""
    found = []
    for region in np.unique(shown, axis=0):
        members = np.flatnonzero((shown == region).all(axis=1))
        for attribute in range(3):
            low, high = int(region[attribute]), int(region[attribute + 3])
            rows = assignments(len(members), high - low + 1)
            found.append(Factor(members, attribute, low, rows))
    return found


def entropy(weights: Floats, sampled: int = 0) -> float:
    """In nats; of ``sampled`` draws with the correction of Miller and Madow."""
    shares = weights[weights > 0] / weights.sum()
    return float(-(shares * np.log(shares)).sum() + (len(shares) - 1) / (2 * sampled or np.inf))


@dataclass(frozen=True)
class Attack:
    """What is left of one table; ``before`` is what the regions alone leave."""

    exact: bool
    """Every world was tried with every first case."""
    kept: int
    share: float
    """Of the worlds that fit the regions, with a first case, those that give the release."""
    values: Floats
    """[n] effective values of each case, after / before."""
    candidates: Floats
    """[n] the same of candidates, for the target that each case is."""
    guess: Floats
    """[n, 3] chance of the best guess at the target: regions, hulls, attack."""
    left: Floats
    """[n, 2] effective candidates: hulls, attack."""
    possible: Floats
    """[n, 2] candidates that are possible at all: hulls, attack."""
    releases: float
    """Effective number of releases that the first cases make of the table: 1, if all make one."""
    loss: float
    """Mean loss of the published regions."""


Runner = Callable[[Ints, int], Ints | None]
"""From values and a first case to the published regions."""


@dataclass(frozen=True)
class Replay:
    """How much is tried, and whether the algorithm draws beside its first case."""

    rng: np.random.Generator
    runs: int
    draws: bool = False


def attack(run: Runner, table: Table, first: int, how: Replay) -> Attack | None:
    """Replay the attack on what ``run`` makes of a table; None: a case of it is withheld."""
    shown = run(table.values, first)
    if shown is None:
        return None
    n, choices = len(shown), factors(shown)
    sizes = [assignment_count(len(c.members), int(np.ptp(c.rows)) + 1) for c in choices]
    listed = [len(choice.rows) for choice in choices]
    exact = prod(sizes) * n <= how.runs and listed == sizes and not how.draws
    kept, tried = np.empty((0, n, 3), np.int64), 0
    while tried == 0 or (not exact and len(kept) < LEAST_KEPT and tried < MOST_ROUNDS * how.runs):
        if exact:
            grid = np.indices((*sizes, n)).reshape(len(sizes) + 1, -1)
        else:
            grid = np.stack([how.rng.integers(0, size, how.runs) for size in (*listed, n)])
        worlds = np.empty((grid.shape[1], n, 3), np.int64)
        for choice, picked in zip(choices, grid[:-1], strict=True):
            worlds[:, choice.members, choice.attribute] = choice.low + choice.rows[picked]
        gives = [
            (made := run(world, int(seed))) is not None and bool((made == shown).all())
            for world, seed in zip(worlds, grid[-1], strict=True)
        ]
        kept, tried = np.concatenate([kept, worlds[np.array(gives)]]), tried + len(worlds)
    made = Counter(str(run(table.values, seed)) for seed in range(n))
    releases = float(np.exp(entropy(np.array(list(made.values()), np.float64))))
    return judge(table, shown, choices, kept, (exact, tried, releases))


def judge(
    table: Table, shown: Ints, choices: Sequence[Factor], kept: Ints,
    tried: tuple[bool, int, float],
) -> Attack:  # fmt: skip
    """Compare what is left with what the regions leave."""
    exact, count, releases = tried
    n, sampled = len(shown), 0 if exact else len(kept)
    codes = (kept[:, :, 0] * 1_000 + kept[:, :, 1]) * 10 + kept[:, :, 2]
    before = np.zeros(n)
    for choice in choices:
        before[choice.members] += choice.entropy
    after = np.array([
        entropy(np.unique(codes[:, case], return_counts=True)[1].astype(float), sampled)
        for case in range(n)
    ]) if len(kept) else np.zeros(n)  # fmt: skip
    candidates, guess = np.ones(n), np.zeros((n, 3))
    effective, possible = np.zeros((n, 2)), np.zeros((n, 2))
    for target, (age, weight, sex) in enumerate(table.values):
        of = (age, weight, sex)
        covering = ((shown[:, :3] <= of) & (of <= shown[:, 3:])).all(axis=1)
        hulls = np.ones(n)
        for choice in choices:
            hulls[choice.members] *= choice.chances(of[choice.attribute])
        left = (codes == (age * 1_000 + weight) * 10 + sex).mean(axis=0) if len(kept) else hulls
        if not left.any():
            left = hulls  # no world that was drawn has the target: nothing is learned of it
        effective[target] = np.exp(entropy(hulls)), np.exp(entropy(left))
        candidates[target] = effective[target, 1] / effective[target, 0]
        guess[target] = 1 / covering.sum(), hulls.max() / hulls.sum(), left.max() / left.sum()
        possible[target] = (hulls > 0).sum(), (left > 0).sum()
    values = np.exp(after - before)
    loss = float(((shown[:, 3:] - shown[:, :3]) * UNIT).sum() / (60 * 3 * n))
    share = len(kept) / count
    return Attack(
        exact, len(kept), share, values, candidates, guess, effective, possible, releases, loss
    )
