"""Which cases to withhold so that every threshold can be kept at all (SPEC section 6).

A grouping that keeps sigma_s(g) <= theta_s |carriers of g| in every group exists only if the sum
over all cases does: sigma_s <= theta_s |carriers|.
"""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from srsql.udfs.columns import Ints
from srsql.udfs.compiled import leaf, njit
from srsql.udfs.exact_search import share_of

BUNDLE_TRIES = 64
"""Sizes of a bundle of cases tried one after the other, before each is half the last."""


@leaf()
def largest_sum(n: int, num: int, den: int, weight_scale: int) -> int:
    """The largest sigma, in units of 1 / ``weight_scale``, that is <= num / den of n carriers.

    Theta = 1 caps nothing.
    """
    if num >= den:  # any share is allowed, and cases that do not carry have the term as well
        return 2**62
    return share_of(n, num, den, weight_scale)


@njit()
def withhold_infeasible(
    offsets: Ints,
    terms: NDArray[np.int32],
    weights: Ints,
    theta_num: Ints,
    theta_den: Ints,
    weight_scale: int,
    carrier: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Cases whose withholding makes all thresholds feasible; none of them could come back alone.

    Greedy: the case that holds the most infeasible terms goes first, then the least case number.
    Afterwards cases come back in case order, alone or several at once: each carrier raises what is
    allowed, so cases with different terms can make room for each other.

    Args:
        offsets: [n + 1] where each case's terms start.
        terms: [offsets[n]] distinct terms of each case.
        weights: [offsets[n]] p(r, s) in units of 1 / ``weight_scale``.
        theta_num: [V] numerators of the thresholds; theta_s = num / den.
        theta_den: [V] denominators, at most 10**9.
        weight_scale: what a certain term weighs.
        carrier: [n] the cases against whose number the terms are counted.

    Returns:
        [n] whether each case is to be withheld.
    """
    n, v = len(offsets) - 1, len(theta_num)
    withheld = np.zeros(n, np.bool_)
    sigma = np.zeros(v, np.int64)
    for j in range(len(terms)):
        sigma[terms[j]] += weights[j]
    start, holders = _postings(offsets, terms, v)
    infeasible = np.zeros(v, np.bool_)
    burden = np.zeros(n, np.int64)
    heap = [np.int64(0)]  # -burden x n + case: least first is most burdened, then least case
    heap.pop()
    present = int(carrier.sum())
    unresolved = 0
    check_at = present  # no threshold can become infeasible while more carriers are present
    while True:
        if present <= check_at:
            check_at = -1
            for s in range(v):
                if infeasible[s] or sigma[s] == 0:
                    continue
                if sigma[s] > largest_sum(present, theta_num[s], theta_den[s], weight_scale):
                    infeasible[s] = True
                    unresolved += 1
                    for j in range(start[s], start[s + 1]):
                        r = holders[j]
                        if not withheld[r]:
                            burden[r] += 1
                            heapq.heappush(heap, -burden[r] * n + r)
                else:
                    need = sigma[s] / weight_scale * theta_den[s] / theta_num[s]
                    check_at = max(check_at, min(present - 1, int(need) + 1))
        if unresolved == 0:
            break
        while True:
            key = heapq.heappop(heap)
            r = key % n
            if not withheld[r] and burden[r] == -(key // n) and burden[r] > 0:
                break
        withheld[r] = True
        present -= carrier[r]
        for j in range(offsets[r], offsets[r + 1]):
            sigma[terms[j]] -= weights[j]
        for j in range(offsets[r], offsets[r + 1]):
            s = terms[j]
            if infeasible[s] and sigma[s] <= largest_sum(
                present, theta_num[s], theta_den[s], weight_scale
            ):
                infeasible[s] = False
                unresolved -= 1
                check_at = max(check_at, present - 1)
                for t in range(start[s], start[s + 1]):
                    holder = holders[t]
                    if not withheld[holder]:
                        burden[holder] -= 1
                        if burden[holder] > 0:
                            heapq.heappush(heap, -burden[holder] * n + holder)
    _bring_back(
        withheld, present, sigma, offsets, terms, weights, theta_num, theta_den, weight_scale,
        carrier,
    )  # fmt: skip
    return withheld


@njit()
def _postings(offsets: Ints, terms: NDArray[np.int32], v: int) -> tuple[Ints, NDArray[np.int32]]:
    """The cases that hold each term: ``holders[start[s]:start[s + 1]]``."""
    start = np.zeros(v + 1, np.int64)
    for s in terms:
        start[s + 1] += 1
    for s in range(v):
        start[s + 1] += start[s]
    fill = start[:-1].copy()
    holders = np.empty(len(terms), np.int32)
    for r in range(len(offsets) - 1):
        for j in range(offsets[r], offsets[r + 1]):
            holders[fill[terms[j]]] = r
            fill[terms[j]] += 1
    return start, holders


@njit()
def _bring_back(
    withheld: NDArray[np.bool_], present: int, sigma: Ints, offsets: Ints,
    terms: NDArray[np.int32], weights: Ints, theta_num: Ints, theta_den: Ints, weight_scale: int,
    carrier: NDArray[np.bool_],
) -> None:  # fmt: skip
    """Let withheld cases come back, in bundles down to one carrier, until none can alone.

    The last round is for cases that do not carry: they only take room, which a carrier that
    comes after them may need.
    """
    at_once = int((withheld & carrier).sum())
    misses = 0
    while at_once >= 0:
        # who fits, in case order, if at least ``at_once`` carriers come back together
        added = np.empty(len(withheld), np.int64)
        count = carriers = 0
        for r in range(len(withheld)):
            if not withheld[r] or (at_once > 0 and not carrier[r]):
                continue
            fits = True
            for j in range(offsets[r], offsets[r + 1]):
                s = terms[j]
                cap = largest_sum(present + at_once, theta_num[s], theta_den[s], weight_scale)
                fits = fits and sigma[s] + weights[j] <= cap
            if fits:
                added[count] = r
                count += 1
                carriers += carrier[r]
                for j in range(offsets[r], offsets[r + 1]):
                    sigma[terms[j]] += weights[j]
        if carriers >= at_once:
            for i in range(count):
                withheld[added[i]] = False
            present += carriers
            if at_once == 0:
                return
            continue
        for i in range(count):
            for j in range(offsets[added[i]], offsets[added[i] + 1]):
                sigma[terms[j]] -= weights[j]
        misses += 1
        at_once = min(at_once - 1, carriers) if misses < BUNDLE_TRIES else at_once // 2
