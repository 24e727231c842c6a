"""The privacy risk PR, in each of the groups, of one case that looks for a group.

In a few groups it is counted member by member. Where a case has to compare many groups, the holders
of its terms are looked up at once, and every other group holds none of them: there its PR is a
plain risk, which depends on the number of carriers alone (see ``privacy_risk``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from srsql.udfs.columns import Ints
from srsql.udfs.compiled import leaf, njit
from srsql.udfs.exact_search import PRIME, as_int64, quotient, share_of
from srsql.udfs.grouping.group_tree import Groups
from srsql.udfs.grouping.privacy_risk import fraction, plain_risk
from srsql.udfs.grouping_problem import GroupingProblem
from srsql.udfs.passed import by_address

COMMON_SIGMAS = 8
"""So many values of sigma, from 0 on, have their part of PR computed once per term."""


@by_address
class RiskCache(NamedTuple):
    """What is known of the PR of the case that is being placed, and who holds each term."""

    start: Ints
    """[V + 1] the holders of term s are ``holder[start[s]:start[s + 1]]``."""
    holder: NDArray[np.int32]
    """[terms of all cases] cases, by term."""
    holder_weight: Ints
    """[terms of all cases] what the term weighs for that case."""
    slot: NDArray[np.int32]
    """[V] position of a term among those of the case, -1 for others."""
    eta: Ints
    """[V] scratch: of a group of some number of carriers."""
    plain: NDArray[np.float64]
    """[carriers] plain risk in a group that has so many carriers with the case."""
    plain_of: Ints
    """[carriers] the case for which ``plain`` is right."""
    sigma: Ints
    """[G] scratch: sigma of one term, 0 between uses."""
    holder_groups: Ints
    """[G] scratch: the groups that hold one term."""
    risk: NDArray[np.float64]
    """[G] PR of the groups that hold some term of the case."""
    risk_of: Ints
    """[G] the case for which ``risk`` and ``residue`` are right."""
    residue: Ints
    """[G] the same PR modulo a prime, by which equal ones are known (see ``exact_search``)."""
    plain_residue: Ints
    """[carriers] ``plain`` modulo the prime."""
    looked_up: Ints
    """[1] the case whose terms' holders were looked up last; -1: none."""
    added: NDArray[np.float64]
    added_residue: Ints
    """[``COMMON_SIGMAS``] scratch: what one term adds to PR."""
    own_sigma: Ints
    """[most terms of a case] scratch: sigma of its terms in one group."""


@njit()
def new_risk_cache(problem: GroupingProblem, groups: Groups) -> RiskCache:
    """A cache that knows no PR yet, with the index of the terms' holders."""
    vocabulary, n, count = len(problem.theta_num), len(problem.low), len(groups.size)
    terms = problem.terms
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
    carriers = int(problem.carrier.sum()) + 2
    most = as_int64(0)
    for r in range(n):
        most = max(most, terms.offsets[r + 1] - terms.offsets[r])
    return RiskCache(
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
        np.empty(COMMON_SIGMAS, np.float64),
        np.empty(COMMON_SIGMAS, np.int64),
        np.empty(most, np.int64),
    )


@leaf()
def eta_at(s: int, carriers: int, problem: GroupingProblem) -> int:
    """eta of term ``s`` in a group of so many carriers (see ``share_of``)."""
    return share_of(
        max(problem.k, carriers), problem.theta_num[s], problem.theta_den[s],
        problem.terms.weight_scale,
    )  # fmt: skip


@leaf()
def plain_at(r: int, carriers: int, problem: GroupingProblem, cache: RiskCache) -> float:
    """The plain risk of case ``r`` in a group that has so many carriers with it."""
    if carriers <= problem.k or not problem.terms.after_join:
        return float(problem.terms.base_risk[r])
    if cache.plain_of[carriers] != r:
        _fill_plain(r, carriers, problem, cache)
    return float(cache.plain[carriers])


@leaf()
def _fill_plain(r: int, carriers: int, problem: GroupingProblem, cache: RiskCache) -> None:
    """Compute a plain risk, as a float and modulo the prime."""
    terms = problem.terms
    residue = 1
    for j in range(terms.offsets[r], terms.offsets[r + 1]):
        s = terms.terms[j]
        cache.eta[s] = eta_at(s, carriers, problem)
        if terms.after_join:
            num, den = fraction(0, terms.weights[j], cache.eta[s], terms.weight_scale, True)
            residue = (residue + quotient(num, den)) % PRIME
    cache.plain[carriers] = plain_risk(r, cache.eta, terms)
    cache.plain_residue[carriers] = residue
    cache.plain_of[carriers] = r


@leaf()
def _added_by_term(
    s: int, sigma: int, weight: int, eta: int, problem: GroupingProblem
) -> tuple[float, int]:
    """What a term adds to PR beyond its part of the plain risk: a float, and modulo the prime."""
    if sigma + weight > eta and not problem.terms.unbounded[s]:
        return np.inf, 0
    weight_scale, after_join = problem.terms.weight_scale, problem.terms.after_join
    num, den = fraction(sigma, weight, eta, weight_scale, after_join)
    if not after_join:
        return num / den, quotient(num, den)
    plain_num, plain_den = fraction(0, weight, eta, weight_scale, True)
    return num / den - plain_num / plain_den, quotient(num, den) - quotient(plain_num, plain_den)


@leaf()
def holder_count(r: int, problem: GroupingProblem, cache: RiskCache) -> int:
    """How many holders the terms of case ``r`` have together, each once for each of its terms."""
    terms = problem.terms
    count = 0
    for j in range(terms.offsets[r], terms.offsets[r + 1]):
        count += cache.start[terms.terms[j] + 1] - cache.start[terms.terms[j]]
    return count


@leaf()
def look_up_holders(
    r: int, problem: GroupingProblem, group: NDArray[np.int32], groups: Groups, cache: RiskCache
) -> None:
    """Fill the cache with PR in every group that holds a term of a case, from the terms' holders.

    Args:
        r: the case.
        problem: of which it is a case.
        group: [n] the group of each case, -1 for none.
        groups: with their carriers.
        cache: changed.
    """
    if cache.looked_up[0] == r:
        return
    terms = problem.terms
    risks, residues = cache.added, cache.added_residue
    for j in range(terms.offsets[r], terms.offsets[r + 1]):
        s, weight = terms.terms[j], terms.weights[j]
        count = 0
        for at in range(cache.start[s], cache.start[s + 1]):
            g = group[cache.holder[at]]
            if g >= 0:
                if cache.sigma[g] == 0:
                    cache.holder_groups[count] = g
                    count += 1
                cache.sigma[g] += cache.holder_weight[at]
        for sigma in range(COMMON_SIGMAS):
            risks[sigma], residues[sigma] = _added_by_term(s, sigma, weight, terms.eta[s], problem)
        for at in range(count):
            g = cache.holder_groups[at]
            sigma = cache.sigma[g]
            cache.sigma[g] = 0
            carriers = max(problem.k, groups.carriers[g] + problem.carrier[r])
            if cache.risk_of[g] != r:
                if cache.plain_of[carriers] != r:
                    _fill_plain(r, carriers, problem, cache)
                cache.risk_of[g] = r
                cache.risk[g] = cache.plain[carriers]
                cache.residue[g] = cache.plain_residue[carriers]
            if carriers == problem.k and sigma < COMMON_SIGMAS:
                cache.risk[g] += risks[sigma]
                cache.residue[g] += residues[sigma]
                continue
            risk, residue = _added_by_term(s, sigma, weight, eta_at(s, carriers, problem), problem)
            cache.risk[g] += risk
            cache.residue[g] += residue
    cache.looked_up[0] = r


@leaf()
def _count_sigmas(
    r: int, g: int, problem: GroupingProblem, groups: Groups, cache: RiskCache
) -> bool:
    """Count sigma in group ``g`` of each term of case ``r``; whether the group holds one."""
    terms = problem.terms
    begin, end = terms.offsets[r], terms.offsets[r + 1]
    sigma = cache.own_sigma
    for j in range(begin, end):
        sigma[j - begin] = 0
        cache.slot[terms.terms[j]] = j - begin
    member = groups.head[g]
    while member >= 0:
        for j in range(terms.offsets[member], terms.offsets[member + 1]):
            at = cache.slot[terms.terms[j]]
            if at >= 0:
                sigma[at] += terms.weights[j]
        member = groups.following[member]
    held = False
    for j in range(begin, end):
        cache.slot[terms.terms[j]] = -1
        held = held or sigma[j - begin] > 0
    return held


@leaf()
def risk_in(
    r: int, g: int, problem: GroupingProblem, groups: Groups, cache: RiskCache
) -> tuple[float, bool]:
    """PR of a case joining a group.

    Args:
        r: the case.
        g: the group.
        problem: of which it is a case.
        groups: with their members and carriers.
        cache: what is known of the PR of the case; may be filled.

    Returns:
        PR, inf where a bound would be broken, and whether it is a plain risk.

    Source: Lin 2016, eqs. (5)-(6); Huang 2021, eqs. (2)-(3).
    """
    carriers = groups.carriers[g] + problem.carrier[r]
    if cache.looked_up[0] == r:
        if cache.risk_of[g] == r:
            return cache.risk[g], False
        return plain_at(r, carriers, problem, cache), True
    terms = problem.terms
    if not _count_sigmas(r, g, problem, groups, cache):
        return plain_at(r, carriers, problem, cache), True
    risk = 1.0
    for j in range(terms.offsets[r], terms.offsets[r + 1]):
        s, sigma_s = terms.terms[j], cache.own_sigma[j - terms.offsets[r]]
        eta = eta_at(s, carriers, problem)
        if sigma_s + terms.weights[j] > eta and not terms.unbounded[s]:
            return np.inf, False
        num, den = fraction(sigma_s, terms.weights[j], eta, terms.weight_scale, terms.after_join)
        risk += num / den
    return risk, False


@njit()
def fractions_in(
    r: int, g: int, problem: GroupingProblem, groups: Groups, cache: RiskCache
) -> tuple[Ints, Ints]:
    """Numerators and denominators of PR_s, for each of its terms, of a case joining a group.

    Arguments as for ``risk_in``.
    """
    terms = problem.terms
    _count_sigmas(r, g, problem, groups, cache)
    numerators = cache.own_sigma[: terms.offsets[r + 1] - terms.offsets[r]].copy()
    denominators = np.empty_like(numerators)
    carriers = groups.carriers[g] + problem.carrier[r]
    for j in range(terms.offsets[r], terms.offsets[r + 1]):
        at = j - terms.offsets[r]
        numerators[at], denominators[at] = fraction(
            numerators[at],
            terms.weights[j],
            eta_at(terms.terms[j], carriers, problem),
            terms.weight_scale,
            terms.after_join,
        )
    return numerators, denominators


@leaf()
def same_risk(
    r: int,
    g: int,
    other: int,
    problem: GroupingProblem,
    groups: Groups,
    cache: RiskCache,
) -> bool:
    """Whether a case has equal PR in two groups.

    Args:
        r: the case.
        g: one group.
        other: the other.
        problem: of which it is a case.
        groups: with their members and carriers.
        cache: what is known of PR of the case.
    """
    residue = _residue_in(r, g, problem, groups, cache)
    return bool((residue - _residue_in(r, other, problem, groups, cache)) % PRIME == 0)


@leaf()
def _counted_residue(
    r: int, g: int, problem: GroupingProblem, groups: Groups, cache: RiskCache
) -> int:
    """PR modulo the prime, from the members of the group."""
    terms, residue = problem.terms, as_int64(1)
    carriers = groups.carriers[g] + problem.carrier[r]
    _count_sigmas(r, g, problem, groups, cache)
    for j in range(terms.offsets[r], terms.offsets[r + 1]):
        num, den = fraction(
            cache.own_sigma[j - terms.offsets[r]],
            terms.weights[j],
            eta_at(terms.terms[j], carriers, problem),
            terms.weight_scale,
            terms.after_join,
        )
        residue += quotient(num, den)
    return residue


@leaf()
def _residue_in(r: int, g: int, problem: GroupingProblem, groups: Groups, cache: RiskCache) -> int:
    """PR modulo the prime: of two groups alone it is not worth while to look the holders up."""
    if cache.looked_up[0] != r:
        return _counted_residue(r, g, problem, groups, cache)
    if cache.risk_of[g] == r:
        return int(cache.residue[g])
    carriers = max(problem.k, groups.carriers[g] + problem.carrier[r])
    if cache.plain_of[carriers] != r:
        _fill_plain(r, carriers, problem, cache)
    return int(cache.plain_residue[carriers])
