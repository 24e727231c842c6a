"""The grouping of ``ms`` with a seeded choice among near-equal candidates: no part of the product.

Quadratic, for tables of a few cases whose terms are certain and have one threshold. With a
``slack`` below 0 it is Lin 2016, Algorithms 1 and 2, with the product's rule for ties; else each
step draws among the records whose ΔIL′ is at most 1 + slack times the least.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]
NEAR = 1e-9


@njit(cache=True)
def seed_generator(seed):
    """Numba's own generator, which ``near_groups`` draws from."""
    np.random.seed(seed)


@njit(cache=True)
def _risk(held, sigma, size, k, theta):
    """PR (Lin 2016, eq. (6)); infinite where a threshold would be broken."""
    risk = 1.0
    limit = int(max(k, size + 1) * theta)
    for s in range(len(held)):
        if held[s]:
            spare = limit - sigma[s]
            if spare <= 0:
                return np.inf
            risk += sigma[s] / spare
    return risk


@njit(cache=True)
def _loss(low, high, unit):
    return float(((high - low) * unit).sum())


@njit(cache=True)
def _sign(difference):
    return 0 if abs(difference) <= NEAR else (-1 if difference < 0 else 1)


@njit(cache=True)
def _pick(scores, risks, losses, slack):
    """The least ΔIL′, then PR, then ΔIL, then number; or one that is nearly as good, drawn."""
    best = -1
    for r in range(len(scores)):
        if scores[r] == np.inf:
            continue
        order = -1 if best < 0 else _sign(scores[r] - scores[best])
        order = order or _sign(risks[r] - risks[best]) or _sign(losses[r] - losses[best])
        best = r if order < 0 else best
    if best < 0 or slack < 0:
        return best
    near = np.flatnonzero(scores <= scores[best] * (1 + slack) + NEAR)
    return near[np.random.randint(len(near))]


@njit(cache=True)
def near_groups(values, held, unit, k, theta, first, slack):
    """Group number of each case, -1 where it fits none.

    Args:
        values: [n, d] each attribute as a number whose differences are losses.
        held: [n, V] which terms each case has.
        unit: [d] loss of a difference of 1, in whole units.
        k: cases of a group.
        theta: of every term.
        first: opens the first group.
        slack: see above.
    """
    n = len(values)
    groups = np.full(n, -1)
    count, seed = 0, first
    scores, risks, losses = np.empty(n), np.empty(n), np.empty(n)
    while seed >= 0:
        taken = [seed]
        low, high = values[seed].copy(), values[seed].copy()
        sigma = held[seed].astype(np.int64)
        groups[seed] = count
        while len(taken) < k:
            size = len(taken)
            before = size * _loss(low, high, unit)
            for r in range(n):
                scores[r] = np.inf
                if groups[r] < 0:
                    hull = _loss(np.minimum(low, values[r]), np.maximum(high, values[r]), unit)
                    losses[r] = (size + 1) * hull - before
                    risks[r] = _risk(held[r], sigma, size, k, theta)
                    if risks[r] < np.inf:
                        scores[r] = losses[r] * risks[r]
            chosen = _pick(scores, risks, losses, slack)
            if chosen < 0:
                break
            groups[chosen] = count
            taken.append(chosen)
            low, high = np.minimum(low, values[chosen]), np.maximum(high, values[chosen])
            sigma += held[chosen]
        if len(taken) < k:
            for r in taken:
                groups[r] = -1
            break
        count += 1
        farthest, origin = -1.0, seed
        seed = -1
        for r in range(n):
            apart = (np.abs(values[r] - values[origin]) * unit).sum()
            if groups[r] < 0 and apart > farthest:
                farthest, seed = apart, r
    _place(values, held, unit, k, theta, slack, groups, count)
    return groups


@njit(cache=True)
def _place(values, held, unit, k, theta, slack, groups, count):
    """Algorithm 2: every leftover joins the group of least ΔIL′ as the group then is."""
    for r in range(len(values)):
        if groups[r] >= 0 or count == 0:
            continue
        scores, risks, losses = np.full(count, np.inf), np.ones(count), np.zeros(count)
        for g in range(count):
            members = np.flatnonzero(groups == g)
            low, high = values[r].copy(), values[r].copy()
            own_low, own_high = values[members[0]].copy(), values[members[0]].copy()
            sigma = np.zeros(held.shape[1], np.int64)
            for m in members:
                low, high = np.minimum(low, values[m]), np.maximum(high, values[m])
                own_low = np.minimum(own_low, values[m])
                own_high = np.maximum(own_high, values[m])
                sigma += held[m]
            size = len(members)
            losses[g] = (size + 1) * _loss(low, high, unit) - size * _loss(own_low, own_high, unit)
            risks[g] = _risk(held[r], sigma, size, k, theta)
            if risks[g] < np.inf:
                scores[g] = losses[g] * risks[g]
        chosen = _pick(scores, risks, losses, slack)
        if chosen >= 0:
            groups[r] = chosen
