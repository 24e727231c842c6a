"""Whether a case may join a group, and at which risk: privacy risk PR and alpha-bounding.

PR by either of the papers' equations. Lin 2016, eqs. (5)-(6): sum of sigma / (eta - sigma) over the
terms that the group holds already, sigma counted before the case joins. Huang 2021, eqs. (2)-(3):
sum of sigma / (eta - sigma + 1) over all its terms, sigma counted with it. Either way PR = 1 + the
sum, and infinite where sigma with the case would pass eta. A term of theta = 1 bounds nothing, so
it never makes PR infinite: beyond eta, which counts carriers alone, its denominator stays at 1. The
*plain risk* of a case is its PR in a group that holds none of its terms: the least it can have.

Alpha-bounding bounds the share of cases with substantial symptoms (Huang 2021, procedures 2 and 3).
A group is seen in four views: 1 its new cases that stop, 2 its new cases, 3 those that stop, 4 all.
For each the state of a group holds MSAVR, the cases with substantial symptoms in the view, and N, a
lower bound of what remains of the view whatever an attacker excludes: the k carriers, for which
places are reserved, and the cases counted in MSAVR beside them. Cases without substantial symptoms
never raise N, since other releases may exclude them; so MSAVR / N <= alpha holds for what remains
after any exclusion that spares the carriers (Lemma 2 and its analogues).
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from srsql.udfs.columns import Ints
from srsql.udfs.compiled import leaf, njit
from srsql.udfs.exact_search import NEAR
from srsql.udfs.grouping_problem import Terms

VIEWS = 4
ANY_KIND = 1
"""Bit of kind 0 in a mask of kinds."""


@leaf()
def fraction(
    sigma: int, weight: int, eta: int, weight_scale: int, after_join: bool
) -> tuple[int, int]:
    """PR_s of a term that a case brings to a group, as a fraction.

    Args:
        sigma: sigma_s of the group without the case, in units of 1 / ``weight_scale``.
        weight: p(r, s) of the case, in the same units.
        eta: eta_s of the group; sigma + weight is at most eta, or theta of the term is 1.
        weight_scale: what a certain term weighs.
        after_join: whether sigma is counted with the case.

    Returns:
        Numerator and denominator.

    Source: Lin 2016, eq. (5); Huang 2021, eq. (3).
    """
    if after_join:
        return sigma + weight, max(eta - sigma - weight, 0) + weight_scale
    return sigma, eta - sigma


@njit()
def plain_risk(r: int, eta: Ints, terms: Terms) -> float:
    """PR of case ``r`` in a group that holds none of its terms.

    Args:
        r: the case.
        eta: [V] of the group; only those of the case's terms are read.
        terms: of all cases.

    Returns:
        1 + the sum of its parts in order of size, so that equal parts give equal floats.
    """
    if not terms.after_join:
        return 1.0
    begin, end = terms.offsets[r], terms.offsets[r + 1]
    parts = np.empty(end - begin, np.float64)
    for j in range(begin, end):
        num, den = fraction(0, terms.weights[j], eta[terms.terms[j]], terms.weight_scale, True)
        parts[j - begin] = num / den
    parts.sort()
    total = 1.0
    for part in parts:
        total += part
    return total


@njit()
def _plain_risks(terms: Terms, n: int) -> NDArray[np.float64]:
    """[n] plain risks in a group of at most k carriers."""
    risks = np.empty(n, np.float64)
    for r in range(n):
        risks[r] = plain_risk(r, terms.eta, terms)
    return risks


def set_base_risks(terms: Terms) -> None:
    """Fill ``terms.base_risk`` with floats that are equal, and ordered, as the fractions are."""
    n = len(terms.base_risk)
    terms.base_risk[:] = _plain_risks(terms, n)
    if not terms.after_join or n == 0:
        return
    values, first, inverse = np.unique(terms.base_risk, return_index=True, return_inverse=True)
    gaps = values[1:] > values[:-1] * (1 + NEAR)
    edges = [0, *(np.flatnonzero(gaps) + 1).tolist(), len(values)]
    for start, end in pairwise(edges):
        if end - start > 1:  # floats that cannot tell their fractions apart
            values[start:end] = _distinct_floats(values[start:end], first[start:end], terms)
    terms.base_risk[:] = values[inverse]


def _distinct_floats(values: NDArray[np.float64], cases: Ints, terms: Terms) -> NDArray[np.float64]:
    """Floats for the plain risks of ``cases``, as equal and as ordered as the fractions."""
    exact = [_exact_plain_risk(r, terms) for r in cases.tolist()]
    order = sorted(range(len(exact)), key=exact.__getitem__)
    floats = np.empty_like(values)
    floats[order[0]] = values[0]
    for before, at in pairwise(order):
        same = exact[before] == exact[at]
        floats[at] = floats[before] if same else np.nextafter(floats[before], np.inf)
    return floats


def _exact_plain_risk(r: int, terms: Terms) -> Fraction:
    """PR of case ``r`` in a group of at most k carriers that holds none of its terms, counted with
    the case (see ``fraction``)."""
    own = slice(terms.offsets[r], terms.offsets[r + 1])
    eta = terms.eta[terms.terms[own]].tolist()
    parts = [
        Fraction(weight, max(most - weight, 0) + terms.weight_scale)
        for weight, most in zip(terms.weights[own].tolist(), eta, strict=True)
    ]
    return sum(parts, Fraction(1))


@leaf()
def mask_risk(mask: int, terms: Terms) -> float:
    """What the frequent terms of ``mask``, held by the group, add at least to PR of a cell."""
    risk = 0.0
    b = 0
    while mask:
        if mask & 1:
            s = terms.frequent[b]
            sigma, eta = terms.sigma[s], terms.eta[s]
            if sigma + 1 > eta and not terms.unbounded[s]:
                return np.inf
            num, den = fraction(sigma, 1, eta, terms.weight_scale, terms.after_join)
            risk += num / den
            if terms.after_join:
                num, den = fraction(0, 1, eta, terms.weight_scale, True)
                risk -= num / den
        mask >>= 1
        b += 1
    return risk


@njit()
def risk_fractions(r: int, terms: Terms) -> tuple[Ints, Ints]:
    """Numerators and denominators of PR_s of the terms of case ``r`` that count for the group."""
    most = terms.offsets[r + 1] - terms.offsets[r]
    numerators, denominators = np.empty(most, np.int64), np.empty(most, np.int64)
    count = 0
    for j in range(terms.offsets[r], terms.offsets[r + 1]):
        s = terms.terms[j]
        if terms.after_join or terms.sigma[s] > 0:
            num, den = fraction(
                terms.sigma[s], terms.weights[j], terms.eta[s], terms.weight_scale, terms.after_join
            )
            numerators[count], denominators[count] = num, den
            count += 1
    return numerators[:count], denominators[:count]


@leaf()
def privacy_risk(r: int, terms: Terms) -> tuple[float, bool, int]:
    """PR of case ``r`` joining the group under construction.

    Returns:
        PR, inf where a bound would be broken; whether the group holds no term of the case, so that
        PR is a plain risk; and how many of the terms outside the mask the group holds.

    Source: Lin 2016, eqs. (5)-(6); Huang 2021, eqs. (2)-(3).
    """
    risk = 1.0
    shared = unmasked = 0
    for j in range(terms.offsets[r], terms.offsets[r + 1]):
        s = terms.terms[j]
        sigma = terms.sigma[s]
        if sigma + terms.weights[j] > terms.eta[s] and not terms.unbounded[s]:
            return np.inf, False, 1
        if sigma > 0:
            shared += 1
            unmasked += terms.bit[s] < 0
        if terms.after_join or sigma > 0:
            num, den = fraction(
                sigma, terms.weights[j], terms.eta[s], terms.weight_scale, terms.after_join
            )
            risk += num / den
    if shared == 0:
        return terms.base_risk[r], True, 0
    return risk, False, unmasked


@leaf()
def cannot_win(
    loss: int,
    floor: float,
    least: int,
    best: int,
    best_loss: int,
    best_risk: float,
    best_plain: bool,
) -> bool:
    """Whether no candidate of a set can rank before the best one found.

    Args:
        loss: a lower bound of dIL in the set, in loss units.
        floor: a lower bound of PR in the set, which is a plain risk wherever ``best_plain`` is set.
        least: the least number in the set.
        best: the number of the best candidate; -1: none is found yet.
        best_loss: its dIL.
        best_risk: its PR.
        best_plain: whether that is a plain risk, so that floats compare as the fractions do.
    """
    if best < 0:
        return False
    if best_plain and floor >= best_risk:
        return loss > best_loss or (loss == best_loss and (floor > best_risk or least > best))
    if loss * floor > best_loss * best_risk * (1 + NEAR):
        return True
    return loss >= best_loss and floor > best_risk * (1 + NEAR)


@leaf()
def _in_view(kind: int, view: int) -> bool:
    """Whether a case of that kind (1-4, see ``Bounding``) is in the view (0-3)."""
    return (
        view == 3
        or kind == 1
        or (kind == 2 and view == 1)
        or (kind == 3 and view == 2)
    )  # fmt: skip


@leaf()
def update_group(state: Ints, kind: int, remaining: bool) -> None:
    """Count a case that joins a group.

    Args:
        state: [2, 4] MSAVR and N of the group per view; changed.
        kind: of the case (see ``Bounding``).
        remaining: whether it joins a completed group, where no place is reserved for it.

    Source: Huang 2021, procedure 3 (Update_Group).
    """
    if kind == 0:
        return
    for view in range(VIEWS):
        if _in_view(kind, view):
            state[0, view] += 1
            if kind != 1 or remaining:
                state[1, view] += 1


@leaf()
def judge_alpha_bounding(
    state: Ints, kind: int, remaining: bool, alpha_num: int, alpha_den: int
) -> bool:
    """Whether a group keeps alpha with one more case.

    Args:
        state: [2, 4] MSAVR and N of the group per view.
        kind: of the case (see ``Bounding``).
        remaining: whether the group is completed.
        alpha_num: the numerator of alpha.
        alpha_den: its denominator.

    Source: Huang 2021, procedure 2 (Judge_alpha_bounding).
    """
    if kind == 0:
        return True
    for view in range(VIEWS):
        if _in_view(kind, view):
            symptoms = state[0, view] + 1
            room = state[1, view] + (1 if kind != 1 or remaining else 0)
            if symptoms * alpha_den > room * alpha_num:
                return False
    return True


@leaf()
def allowed_kinds(state: Ints, remaining: bool, alpha_num: int, alpha_den: int) -> int:
    """The kinds that a group can still take.

    Args:
        state: [2, 4] MSAVR and N of the group per view.
        remaining: whether the group is completed.
        alpha_num: the numerator of alpha.
        alpha_den: its denominator.

    Returns:
        A bit mask.
    """
    mask = ANY_KIND
    for kind in range(1, VIEWS + 1):
        if judge_alpha_bounding(state, kind, remaining, alpha_num, alpha_den):
            mask |= 1 << kind
    return mask


@njit()
def new_alpha_state(k: int) -> Ints:
    """[2, 4] of a group without records: MSAVR = 0 and N = k in every view."""
    state = np.zeros((2, VIEWS), np.int64)
    state[1] = k
    return state
