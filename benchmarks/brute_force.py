"""The quadratic grouping of Lin 2016, compiled: what the fast kernel is compared with.

Every step looks at every remaining record. The arithmetic is exact: losses are integers over the
least common multiple of spans and heights; a privacy risk is a fraction over the least common
multiple of the η - σ that occur, which divides lcm(1..k) while groups are built. Products are
compared by continued fractions, so nothing has to be rounded where leftovers make groups grow
beyond k. Terms are certain (no external knowledge).
"""

from __future__ import annotations

from itertools import pairwise
from math import lcm

import numpy as np
from numba import njit
from numpy.typing import NDArray

from srsql.udfs.problem import Attributes, Cases

Ints = NDArray[np.int64]
LIMIT = 2**62


def group(
    cases: Cases, attributes: Attributes, theta_num: Ints, theta_den: Ints, k: int, first: int
) -> NDArray[np.int32]:
    """Group number of every case, -1 where it fits no group; arguments as of ``ms_group``."""
    if cases.one != 1:
        raise ValueError("the comparison takes certain terms only")
    start, height = attributes.tree_start, attributes.height
    roots = [int(height[s]) if s < e else 0 for s, e in pairwise(start)]
    per_unit = [int(span) or root or 1 for span, root in zip(attributes.span, roots, strict=True)]
    common = lcm(*per_unit)
    if common * len(per_unit) * len(cases.low) * lcm(*range(1, k + 1)) >= LIMIT:
        raise OverflowError("lcm(1..k) x losses does not fit 64 bits: use a smaller k or n")
    unit = np.array([common // per for per in per_unit], dtype=np.int64)
    width, at, table = _tabulate(start, attributes.parent, attributes.last, height, unit)
    terms = (cases.offsets, cases.terms, theta_num, theta_den)
    return _group(cases.low, cases.high, unit, width, at, table, terms, k, first)


@njit(cache=True)
def _tabulate(start, parent, last, height, unit):
    """Loss of every interval of nodes; ``width`` is the table's side, 0 for a numeric QID."""
    width = start[1:] - start[:-1]
    at = np.zeros(len(width) + 1, np.int64)
    at[1:] = np.cumsum(width * width)
    table = np.zeros(at[-1], np.int64)
    for i in range(len(width)):
        for low in range(width[i]):
            for high in range(low, width[i]):
                node = low
                while last[start[i] + node] < high:
                    node = parent[start[i] + node]
                table[at[i] + low * width[i] + high] = height[start[i] + node] * unit[i]
    return width, at, table


@njit(cache=True, inline="always")
def _loss(i, low, high, unit, width, at, table):
    """Loss of attribute i for one interval, in common units (eq. (1))."""
    if width[i] == 0:
        return (high - low) * unit[i]
    return table[at[i] + low * width[i] + high]


@njit(cache=True)
def _hull_loss(g_low, g_high, low, high, r, unit, width, at, table):
    total = 0
    for i in range(len(g_low)):
        total += _loss(
            i, min(g_low[i], low[r, i]), max(g_high[i], high[r, i]), unit, width, at, table
        )
    return total


@njit(cache=True)
def _region_loss(g_low, g_high, unit, width, at, table):
    total = 0
    for i in range(len(g_low)):
        total += _loss(i, g_low[i], g_high[i], unit, width, at, table)
    return total


@njit(cache=True)
def _worth(loss, num, den):
    """Largest ΔIL that can still rank before ΔIL' = loss x num/den of an earlier candidate.

    PR is at least 1, so a ΔIL above the best ΔIL' needs no PR; nor does a tie with PR = 1.
    """
    return loss - 1 if num == den else loss * num // den


@njit(cache=True)
def _distance(low, high, one, other, unit, width, at, table):
    """Twice the distance between two seeds: midpoints, or the height of the common ancestor."""
    total = 0
    for i in range(low.shape[1]):
        if width[i] == 0:
            apart = low[one, i] + high[one, i] - low[other, i] - high[other, i]
            total += abs(apart) * unit[i]
        else:
            a, b = min(low[one, i], low[other, i]), max(high[one, i], high[other, i])
            total += 2 * _loss(i, a, b, unit, width, at, table)
    return total


@njit(cache=True)
def _gcd(a, b):
    while b:
        a, b = b, a % b
    return a


@njit(cache=True)
def _risk(r, size, sigma, terms, k):
    """PR (eq. (6)) as a fraction in lowest terms; denominator 0 is ∞."""
    offsets, values, theta_num, theta_den = terms
    num, den = 1, 1
    for j in range(offsets[r], offsets[r + 1]):
        s = values[j]
        spare = max(k, size + 1) * theta_num[s] // theta_den[s] - sigma[s]
        if spare <= 0:
            return 1, 0
        if sigma[s] > 0:
            shared = den // _gcd(den, spare)
            if float(shared) * spare >= LIMIT or float(num) * spare >= LIMIT:
                raise OverflowError("a privacy risk does not fit 64 bits")
            num = num * (spare // _gcd(den, spare)) + sigma[s] * shared
            den = shared * spare
            divisor = _gcd(num, den)
            num, den = num // divisor, den // divisor
    return num, den


@njit(cache=True)
def _compare(a, b, c, d):
    """Sign of a/b - c/d, by continued fractions: no product, no overflow."""
    sign = 1
    while True:
        if a // b != c // d:
            return sign if a // b > c // d else -sign
        a, c = a % b, c % d
        if a == 0 or c == 0:
            return sign * ((a > 0) - (c > 0))
        a, b, c, d = d, c, b, a


@njit(cache=True)
def _ranks_before(loss, num, den, best_loss, best_num, best_den):
    """Least ΔIL', then least PR, then least ΔIL."""
    if float(loss) * num >= LIMIT or float(best_loss) * best_num >= LIMIT:
        raise OverflowError("a refined loss does not fit 64 bits")
    order = _compare(loss * num, den, best_loss * best_num, best_den)
    if order == 0:
        order = _compare(num, den, best_num, best_den)
    return order < 0 or (order == 0 and loss < best_loss)


@njit(cache=True)
def _count(sigma, r, terms, by):
    for j in range(terms[0][r], terms[0][r + 1]):
        sigma[terms[1][j]] += by


@njit(cache=True)
def _group(low, high, unit, width, at, table, terms, k, first):
    n, d = low.shape
    groups = np.full(n, -1, np.int32)
    if n < k:
        return groups
    rest = np.arange(n)
    taken = np.zeros(n, np.bool_)
    region_low, region_high = np.empty((n // k, d), np.int64), np.empty((n // k, d), np.int64)
    sigma = np.zeros(len(terms[2]), np.int64)
    members = np.empty(k, np.int64)
    count, seed = 0, first
    while True:
        members[0], size = seed, 1
        taken[seed] = True
        g_low, g_high = low[seed].copy(), high[seed].copy()
        _count(sigma, seed, terms, 1)
        while size < k:
            best = _best_record(
                rest, taken, low, high, g_low, g_high, size, sigma, unit, width, at, table, terms, k
            )
            if best < 0:
                break
            taken[best] = True
            members[size] = best
            size += 1
            g_low, g_high = np.minimum(g_low, low[best]), np.maximum(g_high, high[best])
            _count(sigma, best, terms, 1)
        for m in members[:size]:
            _count(sigma, m, terms, -1)
        if size < k:
            break
        groups[members] = count
        region_low[count], region_high[count] = g_low, g_high
        count += 1
        rest = rest[~taken[rest]]
        if len(rest) == 0:
            break
        farthest, seed_before = -1, seed
        for r in rest:
            apart = _distance(low, high, seed_before, r, unit, width, at, table)
            if apart > farthest:
                farthest, seed = apart, r
    _place_leftovers(
        groups, count, region_low, region_high, low, high, sigma, unit, width, at, table, terms, k
    )
    return groups


@njit(cache=True)
def _best_record(
    rest, taken, low, high, g_low, g_high, size, sigma, unit, width, at, table, terms, k
):
    """The record of least ΔIL' (eq. (8)); -1 where all are infinite."""
    best, best_loss, best_num, best_den, worth = -1, 0, 1, 1, LIMIT
    before = size * _region_loss(g_low, g_high, unit, width, at, table)
    for r in rest:
        if taken[r]:
            continue
        loss = (size + 1) * _hull_loss(g_low, g_high, low, high, r, unit, width, at, table) - before
        if loss > worth:
            continue
        num, den = _risk(r, size, sigma, terms, k)
        if den and (best < 0 or _ranks_before(loss, num, den, best_loss, best_num, best_den)):
            best, best_loss, best_num, best_den = r, loss, num, den
            worth = _worth(loss, num, den)
    return best


@njit(cache=True)
def _place_leftovers(
    groups, count, region_low, region_high, low, high, sigma, unit, width, at, table, terms, k
):
    """Algorithm 2: every leftover joins the group of least ΔIL' as the group then is."""
    n = len(groups)
    head, following = np.full(count, -1, np.int64), np.full(n, -1, np.int64)
    size = np.zeros(count, np.int64)
    leftovers = np.flatnonzero(groups < 0)
    for r in range(n):
        g = groups[r]
        if g >= 0:
            following[r], head[g] = head[g], r
            size[g] += 1
    for r in leftovers:
        best, best_loss, best_num, best_den, worth = -1, 0, 1, 1, LIMIT
        for g in range(count):
            before = size[g] * _region_loss(region_low[g], region_high[g], unit, width, at, table)
            hull = _hull_loss(region_low[g], region_high[g], low, high, r, unit, width, at, table)
            loss = (size[g] + 1) * hull - before
            if loss > worth:
                continue
            m = head[g]
            while m >= 0:
                _count(sigma, m, terms, 1)
                m = following[m]
            num, den = _risk(r, size[g], sigma, terms, k)
            m = head[g]
            while m >= 0:
                _count(sigma, m, terms, -1)
                m = following[m]
            if den and (best < 0 or _ranks_before(loss, num, den, best_loss, best_num, best_den)):
                best, best_loss, best_num, best_den = g, loss, num, den
                worth = _worth(loss, num, den)
        if best >= 0:
            groups[r] = best
            following[r], head[best] = head[best], r
            size[best] += 1
            region_low[best] = np.minimum(region_low[best], low[r])
            region_high[best] = np.maximum(region_high[best], high[r])
