"""The nearest published records of every original: against all pairs, and how the cost grows."""

from __future__ import annotations

import resource
from math import log
from time import perf_counter

import numpy as np
from numba import njit
from numpy.typing import NDArray

from srsql.udfs.risk.nearest_records import NodeDistances, Points, nearest, warm_up

SPAN = np.array([120, 400, 0])
SEX = NodeDistances(
    *np.array(
        [
            (2, own, shown, apart, united)
            for own, shown, apart, united in [
                (0, 0, 0, 1), (0, 1, 1, 2), (0, 2, 1, 2), (1, 0, 1, 2), (1, 1, 0, 2), (1, 2, 2, 3),
                (2, 0, 1, 2), (2, 1, 2, 3), (2, 2, 0, 2),
            ]
        ]
    ).T
)  # fmt: skip
K, SEED = 5, 2022
SIZES, SMALL_SIZES = (20_000, 80_000, 320_000), (4_000, 16_000)
NEAR = 1e-9
Ints = NDArray[np.int64]


def originals(n: int) -> tuple[Ints, NDArray[np.bool_]]:
    """Age, weight and sex; a tenth of the ages and a third of the weights missing.

    Ages and weights count tenths, finer than in reports, so that distinct originals grow with n.
    """
    rng = np.random.default_rng(SEED)
    age = np.clip(rng.normal(56, 17, n), 0, 119).astype(np.int64)
    weight = np.clip(rng.lognormal(4.3, 0.24, n), 2, 399)
    values = np.stack([age * 10, np.round(weight * 10).astype(np.int64), rng.integers(1, 3, n)], 1)
    known = rng.random((n, 3)) > (0.1, 0.35, 0.05)
    return values, known


def release(values: Ints, known: NDArray[np.bool_], *, noise: bool) -> tuple[Ints, Ints]:
    """Low and high of each record: hulls of K neighbours of one pattern, or Laplace noise."""
    low, high = values.copy(), values.copy()
    if noise:
        rng = np.random.default_rng(SEED)
        for i, (scale, top) in enumerate(((60, 1200), (200, 4000))):
            drawn = np.round(rng.laplace(values[:, i], scale)).astype(np.int64)
            low[:, i] = high[:, i] = np.clip(drawn, 0, top)
        return low, high
    shown = np.where(known, values, 0)
    keys = (shown[:, 1], shown[:, 0] // 50, shown[:, 2], *known.T)
    order = np.lexsort(keys)
    group = np.empty(len(order), np.int64)
    change = np.any(np.diff(known[order], axis=0) | np.diff(shown[order][:, 2:], axis=0), axis=1)
    group[order] = np.cumsum(np.append(True, change)) * len(order) + np.arange(len(order)) // K
    _, group = np.unique(group, return_inverse=True)
    for i in range(2):
        ends = np.full((2, group.max() + 1), np.iinfo(np.int64).max)
        ends[1] *= -1
        np.minimum.at(ends[0], group, values[:, i])
        np.maximum.at(ends[1], group, values[:, i])
        low[:, i], high[:, i] = ends[0][group], ends[1][group]
    return low, high


def distinct(low: Ints, high: Ints, known: NDArray[np.bool_]) -> Points:
    rows = np.hstack([np.where(known, low, 0), np.where(known, high, 0), known])
    rows = np.unique(rows, axis=0)
    return Points(rows[:, :3].copy(), rows[:, 3:6].copy(), rows[:, 6:].astype(np.bool_))


@njit(cache=True)
def all_pairs(
    low: Ints, high: Ints, known: Ints, other_low: Ints, other_high: Ints, other_known: Ints,
    span: Ints, sexes: NDArray[np.float64],
) -> NDArray[np.float64]:  # fmt: skip
    """The least loss of every original, by comparing it with every record."""
    least = np.full(len(low), np.inf)
    for r in range(len(low)):
        for t in range(len(other_low)):
            total = 0.0
            for i in range(3):
                if known[r, i] != other_known[t, i]:
                    total += 1.0
                elif known[r, i]:
                    if i == 2:
                        total += sexes[low[r, i], other_low[t, i]]
                    else:
                        v = (low[r, i] + high[r, i]) / 2
                        a, b = other_low[t, i], other_high[t, i]
                        if v <= a or v >= b:
                            total += abs(v - (a + b) / 2) / span[i]
                        else:
                            total += ((v - a) ** 2 + (b - v) ** 2) / (2 * (b - a)) / span[i]
            least[r] = min(least[r], total)
    return least


def compare(n: int, *, noise: bool, brute: bool) -> float:
    """Print one row; the seconds of the search."""
    values, known = originals(n)
    low, high = release(values, known, noise=noise)
    own, shown = distinct(values, values, known), distinct(low, high, known)
    span = SPAN * 10
    began = perf_counter()
    pairs = nearest(own, shown, span, SEX)
    seconds = perf_counter() - began
    cells = [f"{n:,}", "noise" if noise else "regions", f"{len(own.low):,}", f"{len(shown.low):,}"]
    cells += [f"{len(pairs):,}", f"{seconds:.3f}"]
    cells.append(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f}")
    if brute:
        sexes = np.zeros((3, 3))
        sexes[SEX.own, SEX.published] = SEX.apart / SEX.united
        mine, theirs = ((p.low, p.high, p.known) for p in (own, shown))
        all_pairs(*(a[:2] for a in mine), *(a[:2] for a in theirs), span, sexes)
        began = perf_counter()
        least = all_pairs(*mine, *theirs, span, sexes)
        taken = perf_counter() - began
        chosen = all_pairs_of(mine, theirs, pairs, span, sexes)
        same = bool((np.abs(chosen - least[pairs[:, 0]]) <= NEAR).all())
        same &= len(np.unique(pairs[:, 0])) == len(own.low)
        cells += [f"{taken:.3f}", f"{taken / seconds:.1f}", "yes" if same else "NO"]
        if not same:
            raise SystemExit("the search and the comparison of all pairs disagree")
    print("".join(f"{cell:>12}" for cell in cells), flush=True)
    return seconds


def all_pairs_of(
    mine: tuple[Ints, ...], theirs: tuple[Ints, ...], pairs: Ints, span: Ints,
    sexes: NDArray[np.float64],
) -> NDArray[np.float64]:  # fmt: skip
    """The loss of each pair that the search chose."""
    return np.array(
        [
            all_pairs(*(a[r : r + 1] for a in mine), *(a[t : t + 1] for a in theirs), span, sexes)[
                0
            ]
            for r, t in pairs
        ]
    )


def main(small: bool) -> None:
    """Print the table; fail where a chosen record is not a nearest one."""
    warm_up()
    head = ("cases", "published", "originals", "distinct", "pairs", "seconds", "peak MiB")
    print("".join(f"{c:>12}" for c in (*head, "all pairs s", "ratio", "same")))
    sizes = SMALL_SIZES if small else SIZES
    for noise in (False, True):
        seconds = [compare(n, noise=noise, brute=n == sizes[0]) for n in sizes]
        slope = log(seconds[-1] / seconds[0]) / log(sizes[-1] / sizes[0])
        print(f"cost grows as n^{slope:.2f} from {sizes[0]:,} to {sizes[-1]:,} cases")
