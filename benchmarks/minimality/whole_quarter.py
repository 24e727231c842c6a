"""What local optimality tells of a whole quarter, without the seed and without a replay.

Where groups are refined, no exchange of two cases of near groups that keeps the bounds loses less,
nor does a move, whatever the seed was. An attacker writes that down as constraints on the originals
and crosses out those that break one (combinatorial refinement, Chhillar et al. 2025): one group and
its nearest neighbours are enough, so it needs no whole world. He is given which cases are a group.

Worlds of a group are drawn uniformly from those that fit its hull, and each is weighed by the share
of the worlds of each neighbour in which no such change is better. *Broken by the truth*: groups
whose originals break a constraint, of which this attacker is misled. That is what becomes of him
where groups are not refined, and of how far ``fast`` is from an optimum.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from benchmarks.minimality.tables import (
    FINE,
    FINE_UNIT,
    REFINEMENTS,
    SEED,
    Population,
    Refine,
    Table,
    table_of,
)
from benchmarks.minimality.worlds import LEAST_KEPT, entropy

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
K = 5
NEIGHBOURS = 5
WORLDS, MORE_WORLDS, BESIDE = 4_000, 40_000, 10
"""Worlds of a group, and of each neighbour beside each of them; more where few of them are left."""
GROUPS, SMALL_GROUPS = 60, 5


def draw_worlds(members: int, low: Ints, high: Ints, count: int, rng: np.random.Generator) -> Ints:
    """[count, members, 3] values that have the hull, uniformly.

    One member is put at each end; a world that comes about in several ways is kept as often as one
    that does in one.
    """
    worlds = np.empty((count, members, len(low)), np.int64)
    for attribute, (least, most) in enumerate(zip(low, high, strict=True)):
        width, made = int(most - least) + 1, 0
        while made < count:
            rows = rng.integers(0, width, (count, members))
            ends = np.argsort(rng.random(rows.shape), axis=1)
            if width > 1:
                rows[np.arange(count), ends[:, 0]] = 0
                rows[np.arange(count), ends[:, 1]] = width - 1
                ways = (rows == 0).sum(axis=1) * (rows == width - 1).sum(axis=1)
                rows = rows[rng.random(count) * ways < 1]
            rows = rows[: count - made]
            worlds[made : made + len(rows), :, attribute] = least + rows
            made += len(rows)
    return worlds


@njit(cache=True)
def _loss(values, left_out, extra, unit):
    """What cases lose together without one of them, or with another one (an index, or -1)."""
    count = len(values) - (left_out >= 0) + (len(extra) > 0)
    total = 0
    for i in range(values.shape[1]):
        low, high = 1 << 40, -1
        for j in range(len(values)):
            if j != left_out:
                low, high = min(low, values[j, i]), max(high, values[j, i])
        if len(extra):
            low, high = min(low, extra[i]), max(high, extra[i])
        total += (high - low) * unit[i]
    return total * count


@njit(cache=True)
def survive(ours, theirs, swaps, gone, come, unit):
    """[worlds] share of the worlds of a neighbour in which no change that is allowed loses less.

    Args:
        ours: [worlds, m, d] values of the group.
        theirs: [worlds, beside, l, d] those of the neighbour, beside each world.
        swaps: [m, l] whether two cases may be exchanged.
        gone: [m] whether a case may move to the neighbour.
        come: [l] the other way round.
        unit: [d] loss of a difference of 1.
    """
    found = np.zeros(len(ours))
    none = np.empty(0, np.int64)
    for w in range(len(ours)):
        for u in range(theirs.shape[1]):
            a, b = ours[w], theirs[w, u]
            before = _loss(a, -1, none, unit) + _loss(b, -1, none, unit)
            better = False
            for i in range(len(a)):
                if gone[i] and _loss(a, i, none, unit) + _loss(b, -1, a[i], unit) < before:
                    better = True
                    break
                for j in range(len(b)):
                    if swaps[i, j] and _loss(a, i, b[j], unit) + _loss(b, j, a[i], unit) < before:
                        better = True
                        break
                if better:
                    break
            for j in range(len(b)):
                if better:
                    break
                if come[j] and _loss(b, j, none, unit) + _loss(a, -1, b[j], unit) < before:
                    better = True
            found[w] += not better
    return found / theirs.shape[1]


@dataclass(frozen=True)
class Shrunk:
    """What is left of one group; ratios are after / before, where the hull is all that is known."""

    broken: bool
    """By the originals."""
    share: float
    """Of the worlds, those that are left."""
    values: Floats
    """[members] of the effective values of each case."""
    candidates: Floats
    """[members] of the effective candidates in the group for the target that each case is."""
    before: float
    """Effective values of a case, by the hull alone; mean."""
    kept: float
    """Effective number of the worlds that are left."""


def shrink(
    table: Table, own: Ints, near: Sequence[Ints], worlds: int, rng: np.random.Generator,
    k: int = K,
) -> Shrunk:  # fmt: skip
    """Attack the group ``own`` by its neighbours ``near`` (numbers of cases)."""
    values = table.values[own]
    drawn = draw_worlds(len(own), values.min(axis=0), values.max(axis=0), worlds, rng)
    weights, broken = np.ones(worlds), False
    for other in near:
        theirs = table.values[other]
        beside = draw_worlds(
            len(other), theirs.min(axis=0), theirs.max(axis=0), worlds * BESIDE, rng
        )
        allowed = allowed_changes(table, own, other, k)
        beside = beside.reshape(worlds, BESIDE, len(other), -1)
        weights *= survive(drawn, beside, *allowed, FINE_UNIT)
        broken |= survive(values[None], theirs[None, None], *allowed, FINE_UNIT)[0] == 0
    ones = np.ones(worlds)
    if not weights.any():
        weights = ones
    codes = (drawn[:, :, 0] * 1_000 + drawn[:, :, 1]) * 10 + drawn[:, :, 2]
    kept = weights.sum() ** 2 / (weights**2).sum()
    if kept < LEAST_KEPT and worlds < MORE_WORLDS:
        return shrink(table, own, near, MORE_WORLDS, rng, k)
    effective = np.array([
        [_effective(codes[:, j], ones, worlds), _effective(codes[:, j], weights, kept)]
        for j in range(len(own))
    ])  # fmt: skip
    candidates = np.ones(len(own))
    for target, (age, weight, sex) in enumerate(values):
        hit = codes == (age * 1_000 + weight) * 10 + sex
        hulls, left = hit.mean(axis=0), weights @ hit
        if left.any():
            candidates[target] = np.exp(entropy(left) - entropy(hulls))
    return Shrunk(
        broken, float(weights.mean()), effective[:, 1] / effective[:, 0], candidates,
        float(effective[:, 0].mean()), float(kept),
    )  # fmt: skip


def _effective(codes: Ints, weights: Floats, sampled: float) -> float:
    _, number = np.unique(codes, return_inverse=True)
    return float(np.exp(entropy(np.bincount(number, weights), sampled)))


def allowed_changes(
    table: Table, own: Ints, other: Ints, k: int
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    """Which exchanges and moves keep k and theta = 1/2."""
    terms = [[set(table.terms_of(r)) for r in group] for group in (own, other)]
    held = [Counter(t for each in group for t in each) for group in terms]

    def fits(side: int, gone: int, come: set[int]) -> bool:
        left = terms[side][gone] if gone >= 0 else set()
        size = len(terms[side]) - (gone >= 0) + bool(come)
        if size < k:
            return False
        sigma = held[side] - Counter(left) + Counter(come)
        return all(2 * number <= size for number in sigma.values())

    pairs = [[fits(0, i, b) and fits(1, j, a) for j, b in enumerate(terms[1])]
             for i, a in enumerate(terms[0])]  # fmt: skip
    gone = [fits(0, i, set()) and fits(1, -1, a) for i, a in enumerate(terms[0])]
    come = [fits(1, j, set()) and fits(0, -1, b) for j, b in enumerate(terms[1])]
    return np.array(pairs), np.array(gone), np.array(come)


def neighbours(table: Table, groups: Sequence[Ints], at: int) -> list[Ints]:
    """The groups whose union with the group ``groups[at]`` would lose least, each."""
    low = np.array([table.values[g].min(axis=0) for g in groups])
    high = np.array([table.values[g].max(axis=0) for g in groups])
    joint = np.maximum(high, high[at]) - np.minimum(low, low[at])
    joint = (joint * FINE_UNIT).sum(axis=1)
    joint[at] = np.iinfo(np.int64).max
    return [groups[g] for g in np.argsort(joint, kind="stable")[:NEIGHBOURS]]


def attack_quarter(people: Population, count: int) -> None:
    """Group the cases of a quarter with each refinement, attack some groups, print a line each."""
    print(f"local optimality as constraints: {len(people[0]):,} cases in years and kilograms, "
          f"ms, k = {K}, {count} groups of those that lose anything")  # fmt: skip
    for refine in REFINEMENTS:
        print(_line(table_of(people, FINE), refine, count), flush=True)


def _line(table: Table, refine: Refine, count: int) -> str:
    rng = np.random.default_rng(SEED)
    number = table.partition(table.values, "ms", K, 0, refine)
    groups = [np.flatnonzero(number == g) for g in range(number.max() + 1)]
    wide = [at for at, g in enumerate(groups)
            if len(g) <= 4 * K and np.ptp(table.values[g], axis=0).any()]  # fmt: skip
    chosen = rng.choice(wide, min(count, len(wide)), replace=False)
    found = [shrink(table, groups[at], neighbours(table, groups, at), WORLDS, rng)
             for at in chosen]  # fmt: skip
    true = [each for each in found if not each.broken]
    sure = [each for each in true if each.kept >= LEAST_KEPT] or found
    values, candidates = (np.concatenate([getattr(e, f) for e in sure])
                          for f in ("values", "candidates"))  # fmt: skip
    same = np.mean([a.tolist() == b.tolist() for a, b in zip(
        _shown(table, number), _shown(table, table.partition(
            table.values, "ms", K, len(number) // 2, refine)), strict=True)])  # fmt: skip
    return (
        f"  refine {refine}: withheld {(number < 0).sum()}, groups {len(groups)}, "
        f"of them points {len(groups) - len(wide)}, effective values by the hull "
        f"{np.mean([e.before for e in found]):.1f}, broken by the truth "
        f"{np.mean([e.broken for e in found]):.0%}; else worlds left "
        f"{np.mean([e.share for e in sure]):.0%}, values {values.mean():.2f} (worst "
        f"{values.min():.2f}), candidates {candidates.mean():.2f} (worst {candidates.min():.2f}; "
        f"{len(true) - len(sure)} groups of which too few worlds are left aside); "
        f"cases with the same region by another seed {same:.0%}"
    )


def _shown(table: Table, number: NDArray[np.int32]) -> Ints:
    shown = np.full((len(number), 6), -1)
    for g in range(number.max() + 1):
        values = table.values[number == g]
        shown[number == g] = np.concatenate([values.min(axis=0), values.max(axis=0)])
    return shown
