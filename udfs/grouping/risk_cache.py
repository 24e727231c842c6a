"""What is worked out for one case that looks for a group: its PR in each of them.

A few groups are looked at member by member. Where a case has to compare many, the holders of its
terms are looked up at once, and every other group holds none of them: there its PR depends on the
number of carriers alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from srsql.udfs import Ints
from srsql.udfs.exact_search import PRIME, quotient
from srsql.udfs.grouping.group_tree import Groups
from srsql.udfs.grouping.grouping_problem import Task
from srsql.udfs.grouping.privacy_risk import fraction, plain_risk

USUAL = 8
"""Values of sigma whose part of PR is worked out once per term."""


class Desk(NamedTuple):
    """What is worked out for the case that is being placed, and who holds each term."""

    start: Ints
    """[V + 1] the holders of term s are ``holder[start[s]:start[s + 1]]``."""
    holder: NDArray[np.int32]
    holder_weight: Ints
    slot: NDArray[np.int32]
    """[V] position of a term among those of the case, -1 for others."""
    eta: Ints
    """[V] scratch."""
    plain: NDArray[np.float64]
    """[carriers] PR where a group of so many carriers (after the join) holds no term of it."""
    plain_of: Ints
    """[carriers] the case for which ``plain`` is right."""
    sigma: Ints
    """[G] sigma of one term, 0 between uses."""
    touched: Ints
    risk: NDArray[np.float64]
    """[G] PR of the groups that hold some term of the case."""
    risk_of: Ints
    """[G] the case for which ``risk`` and ``residue`` are right."""
    residue: Ints
    """[G] the same PR modulo a prime, by which equal ones are told (see ``candidates``)."""
    plain_residue: Ints
    """[carriers] that of ``plain``."""
    listed: Ints
    """[1] the case whose terms' holders have been looked up."""


@njit(cache=True)
def new_desk(task: Task, groups: Groups) -> Desk:
    """An empty desk, and the index of the terms' holders."""
    vocabulary, n, count = len(task.theta_num), len(task.low), len(groups.size)
    terms = task.terms
    start = np.zeros(vocabulary + 1, np.int64)
    for s in terms.terms:
        start[s + 1] += 1
    for s in range(vocabulary):
        start[s + 1] += start[s]
    fill = start[:-1].copy()
    holder = np.empty(len(terms.terms), np.int32)
    weight = np.empty(len(terms.terms), np.int64)
    for r in range(n):
        for j in range(terms.offsets[r], terms.offsets[r + 1]):
            s = terms.terms[j]
            holder[fill[s]], weight[fill[s]] = r, terms.weights[j]
            fill[s] += 1
    carriers = int(task.carrier.sum()) + 2
    return Desk(
        start,
        holder,
        weight,
        np.full(vocabulary, -1, np.int32),
        np.empty(vocabulary, np.int64),
        np.empty(carriers, np.float64),
        np.full(carriers, -1, np.int64),
        np.zeros(count, np.int64),
        np.empty(count, np.int64),
        np.empty(count, np.float64),
        np.full(count, -1, np.int64),
        np.empty(count, np.int64),
        np.empty(carriers, np.int64),
        np.full(1, -1, np.int64),
    )


@njit(cache=True)
def eta_at(s: int, carriers: int, task: Task) -> int:
    """eta_s of a group of so many carriers, in units of 1 / one."""
    return int(
        max(task.k, carriers) * task.theta_num[s] // task.theta_den[s] * task.terms.one
    )  # fmt: skip


@njit(cache=True)
def plain_at(r: int, carriers: int, task: Task, desk: Desk) -> float:
    """PR of case ``r`` in a group of so many carriers (with it) that holds none of its terms."""
    if carriers <= task.k or not task.terms.after_join:
        return float(task.terms.base[r])
    if desk.plain_of[carriers] != r:
        _fill_plain(r, carriers, task, desk)
    return float(desk.plain[carriers])


@njit(cache=True)
def _fill_plain(r: int, carriers: int, task: Task, desk: Desk) -> None:
    terms = task.terms
    residue = 1
    for j in range(terms.offsets[r], terms.offsets[r + 1]):
        s = terms.terms[j]
        desk.eta[s] = eta_at(s, carriers, task)
        if terms.after_join:
            num, den = fraction(0, terms.weights[j], desk.eta[s], terms.one, True)
            residue = (residue + quotient(num, den)) % PRIME
    desk.plain[carriers] = plain_risk(r, desk.eta, terms)
    desk.plain_residue[carriers] = residue
    desk.plain_of[carriers] = r


@njit(cache=True)
def _added(s: int, sigma: int, weight: int, eta: int, task: Task) -> tuple[float, int]:
    """What a term adds to PR beyond its part of the plain PR: a float, and modulo the prime."""
    if sigma + weight > eta and not task.terms.free[s]:
        return np.inf, 0
    one, after_join = task.terms.one, task.terms.after_join
    num, den = fraction(sigma, weight, eta, one, after_join)
    if not after_join:
        return num / den, quotient(num, den)
    plain_num, plain_den = fraction(0, weight, eta, one, True)
    return num / den - plain_num / plain_den, quotient(num, den) - quotient(plain_num, plain_den)


@njit(cache=True)
def look_up(r: int, task: Task, group: NDArray[np.int32], groups: Groups, desk: Desk) -> None:
    """PR of every group that holds a term of case ``r``, from the holders of its terms."""
    if desk.listed[0] == r:
        return
    terms = task.terms
    risks, residues = np.empty(USUAL), np.empty(USUAL, np.int64)
    for j in range(terms.offsets[r], terms.offsets[r + 1]):
        s, weight = terms.terms[j], terms.weights[j]
        count = 0
        for at in range(desk.start[s], desk.start[s + 1]):
            g = group[desk.holder[at]]
            if g >= 0:
                if desk.sigma[g] == 0:
                    desk.touched[count] = g
                    count += 1
                desk.sigma[g] += desk.holder_weight[at]
        for sigma in range(USUAL):
            risks[sigma], residues[sigma] = _added(s, sigma, weight, terms.eta[s], task)
        for at in range(count):
            g = desk.touched[at]
            sigma = desk.sigma[g]
            desk.sigma[g] = 0
            carriers = max(task.k, groups.carriers[g] + task.carrier[r])
            if desk.risk_of[g] != r:
                if desk.plain_of[carriers] != r:
                    _fill_plain(r, carriers, task, desk)
                desk.risk_of[g] = r
                desk.risk[g] = desk.plain[carriers]
                desk.residue[g] = desk.plain_residue[carriers]
            if carriers == task.k and sigma < USUAL:
                desk.risk[g] += risks[sigma]
                desk.residue[g] += residues[sigma]
                continue
            risk, residue = _added(s, sigma, weight, eta_at(s, carriers, task), task)
            desk.risk[g] += risk
            desk.residue[g] += residue
    desk.listed[0] = r


@njit(cache=True)
def _sigmas(r: int, g: int, task: Task, groups: Groups, desk: Desk) -> Ints:
    """sigma in group ``g`` of each term of case ``r``, from the members of the group."""
    terms = task.terms
    begin, end = terms.offsets[r], terms.offsets[r + 1]
    sigma = np.zeros(end - begin, np.int64)
    for j in range(begin, end):
        desk.slot[terms.terms[j]] = j - begin
    member = groups.head[g]
    while member >= 0:
        for j in range(terms.offsets[member], terms.offsets[member + 1]):
            at = desk.slot[terms.terms[j]]
            if at >= 0:
                sigma[at] += terms.weights[j]
        member = groups.following[member]
    for j in range(begin, end):
        desk.slot[terms.terms[j]] = -1
    return sigma


@njit(cache=True)
def risk_in(r: int, g: int, task: Task, groups: Groups, desk: Desk) -> tuple[float, bool]:
    """PR of case ``r`` joining group ``g``, and whether the group holds none of its terms."""
    carriers = groups.carriers[g] + task.carrier[r]
    if desk.listed[0] == r:
        if desk.risk_of[g] == r:
            return desk.risk[g], False
        return plain_at(r, carriers, task, desk), True
    terms = task.terms
    sigma = _sigmas(r, g, task, groups, desk)
    if not sigma.any():
        return plain_at(r, carriers, task, desk), True
    risk = 1.0
    for j in range(terms.offsets[r], terms.offsets[r + 1]):
        s, held = terms.terms[j], sigma[j - terms.offsets[r]]
        eta = eta_at(s, carriers, task)
        if held + terms.weights[j] > eta and not terms.free[s]:
            return np.inf, False
        num, den = fraction(held, terms.weights[j], eta, terms.one, terms.after_join)
        risk += num / den
    return risk, False


@njit(cache=True)
def fractions_in(r: int, g: int, task: Task, groups: Groups, desk: Desk) -> tuple[Ints, Ints]:
    """Numerators and denominators of PR_s of case ``r`` joining group ``g``."""
    terms = task.terms
    numerators = _sigmas(r, g, task, groups, desk)
    denominators = np.empty_like(numerators)
    carriers = groups.carriers[g] + task.carrier[r]
    for j in range(terms.offsets[r], terms.offsets[r + 1]):
        at = j - terms.offsets[r]
        numerators[at], denominators[at] = fraction(
            numerators[at],
            terms.weights[j],
            eta_at(terms.terms[j], carriers, task),
            terms.one,
            terms.after_join,
        )
    return numerators, denominators


@njit(cache=True)
def same_risk(
    r: int,
    g: int,
    other: int,
    task: Task,
    group: NDArray[np.int32],
    groups: Groups,
    desk: Desk,
) -> bool:
    """Whether two groups are of equal PR for case ``r``."""
    look_up(r, task, group, groups, desk)
    difference = _residue_in(r, g, task, groups, desk) - _residue_in(r, other, task, groups, desk)
    return bool(difference % PRIME == 0)


@njit(cache=True)
def _residue_in(r: int, g: int, task: Task, groups: Groups, desk: Desk) -> int:
    if desk.risk_of[g] == r:
        return int(desk.residue[g])
    carriers = max(task.k, groups.carriers[g] + task.carrier[r])
    if desk.plain_of[carriers] != r:
        _fill_plain(r, carriers, task, desk)
    return int(desk.plain_residue[carriers])
