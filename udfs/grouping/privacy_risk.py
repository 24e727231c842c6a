"""Privacy risk PR of a case joining a group, by either of the papers' equations.

Lin 2016, eqs. (5)-(6): sum of sigma / (eta - sigma) over the terms that the group holds already,
sigma counted before the case joins. Huang 2021, eqs. (2)-(3): sum of sigma / (eta - sigma + 1) over
all its terms, sigma counted with it. Either way PR = 1 + the sum, and infinite where sigma with the
case would pass eta. A term of theta = 1 bounds nothing, so it never makes PR infinite: beyond eta,
which counts carriers alone, its denominator stays at 1.
"""

from __future__ import annotations

from functools import cmp_to_key
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from srsql.udfs.grouping.candidates import NEAR, exact_order
from srsql.udfs.problem import Ints


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


@njit(cache=True)
def fraction(sigma: int, weight: int, eta: int, one: int, after_join: bool) -> tuple[int, int]:
    """Numerator and denominator of PR_s for a term that fits (sigma + weight <= eta) or is free."""
    if after_join:
        return sigma + weight, max(eta - sigma - weight, 0) + one
    return sigma, eta - sigma


@njit(cache=True)
def plain_risk(r: int, eta: Ints, terms: Terms) -> float:
    """PR of case ``r`` in a group with that eta that holds none of its terms.

    The parts are summed in order of size, so that equal parts give equal floats.
    """
    if not terms.after_join:
        return 1.0
    begin, end = terms.offsets[r], terms.offsets[r + 1]
    parts = np.empty(end - begin, np.float64)
    for j in range(begin, end):
        num, den = fraction(0, terms.weights[j], eta[terms.terms[j]], terms.one, True)
        parts[j - begin] = num / den
    parts.sort()
    total = 1.0
    for part in parts:
        total += part
    return total


@njit(cache=True)
def _plain_risks(terms: Terms, n: int) -> NDArray[np.float64]:
    risks = np.empty(n, np.float64)
    for r in range(n):
        risks[r] = plain_risk(r, terms.eta, terms)
    return risks


def set_base(terms: Terms) -> None:
    """Fill ``terms.base`` so that its floats are equal, and ordered, as the fractions are."""
    n = len(terms.base)
    terms.base[:] = _plain_risks(terms, n)
    if not terms.after_join or n == 0:
        return
    values, first, inverse = np.unique(terms.base, return_index=True, return_inverse=True)
    apart = values[1:] > values[:-1] * (1 + NEAR)
    edges = [0, *(np.flatnonzero(apart) + 1).tolist(), len(values)]
    for start, end in pairwise(edges):
        if end - start > 1:  # floats that cannot tell their fractions apart
            values[start:end] = _told_apart(values[start:end], first[start:end], terms)
    terms.base[:] = values[inverse]


def _told_apart(values: NDArray[np.float64], cases: Ints, terms: Terms) -> NDArray[np.float64]:
    """Floats for the plain risks of ``cases``, as equal and as ordered as the fractions."""

    def rank(a: int, b: int) -> int:
        return int(rank_in_empty_group(cases[a], cases[b], terms))

    order: list[int] = sorted(range(len(cases)), key=cmp_to_key(rank))
    told = np.empty_like(values)
    told[order[0]] = values[0]
    for before, at in pairwise(order):
        same = rank(before, at) == 0
        told[at] = told[before] if same else np.nextafter(told[before], np.inf)
    return told


@njit(cache=True)
def rank_in_empty_group(a: int, b: int, terms: Terms) -> int:
    """-1, 0 or 1 as case ``a`` has less, equal or more PR than ``b`` where the group is empty."""
    nums_a, dens_a = risk_fractions(a, terms)
    nums_b, dens_b = risk_fractions(b, terms)
    return int(exact_order(1, nums_a, dens_a, 1, nums_b, dens_b))


@njit(cache=True)
def mask_risk(mask: int, terms: Terms) -> float:
    """What the frequent terms of ``mask``, held by the group, add at least to PR of a cell."""
    risk = 0.0
    b = 0
    while mask:
        if mask & 1:
            s = terms.frequent[b]
            sigma, eta = terms.sigma[s], terms.eta[s]
            if sigma + 1 > eta and not terms.free[s]:
                return np.inf
            num, den = fraction(sigma, 1, eta, terms.one, terms.after_join)
            risk += num / den
            if terms.after_join:
                num, den = fraction(0, 1, eta, terms.one, True)
                risk -= num / den
        mask >>= 1
        b += 1
    return risk


@njit(cache=True)
def risk_fractions(r: int, terms: Terms) -> tuple[Ints, Ints]:
    """Numerators and denominators of PR_s of the terms of case ``r``."""
    most = terms.offsets[r + 1] - terms.offsets[r]
    numerators, denominators = np.empty(most, np.int64), np.empty(most, np.int64)
    count = 0
    for j in range(terms.offsets[r], terms.offsets[r + 1]):
        s = terms.terms[j]
        if terms.after_join or terms.sigma[s] > 0:
            num, den = fraction(
                terms.sigma[s], terms.weights[j], terms.eta[s], terms.one, terms.after_join
            )
            numerators[count], denominators[count] = num, den
            count += 1
    return numerators[:count], denominators[:count]


@njit(cache=True)
def privacy_risk(r: int, terms: Terms) -> tuple[float, bool, int]:
    """PR, whether the group holds no term of the case, and how many outside the mask it holds."""
    risk = 1.0
    held = own = 0
    for j in range(terms.offsets[r], terms.offsets[r + 1]):
        s = terms.terms[j]
        sigma = terms.sigma[s]
        if sigma + terms.weights[j] > terms.eta[s] and not terms.free[s]:
            return np.inf, False, 1
        if sigma > 0:
            held += 1
            own += terms.bit[s] < 0
        if terms.after_join or sigma > 0:
            num, den = fraction(sigma, terms.weights[j], terms.eta[s], terms.one, terms.after_join)
            risk += num / den
    if held == 0:
        return terms.base[r], True, 0
    return risk, False, own


@njit(cache=True)
def cannot_win(
    loss: int,
    floor: float,
    least: int,
    best: int,
    best_loss: int,
    best_risk: float,
    best_plain: bool,
) -> bool:
    """Whether no choice of dIL >= ``loss``, PR >= ``floor``, number >= ``least`` beats the best.

    ``best_plain``: the best one's PR is a plain one, whose floats compare as the fractions do, and
    so is ``floor``.
    """
    if best < 0:
        return False
    if best_plain and floor >= best_risk:
        return loss > best_loss or (loss == best_loss and (floor > best_risk or least > best))
    if loss * floor > best_loss * best_risk * (1 + NEAR):
        return True
    return loss >= best_loss and floor > best_risk * (1 + NEAR)
