"""DuMouchel's gamma-Poisson shrinker: the prior by likelihood, and the posterior of each pair.

A pair of a drug and a reaction has n reports where e are expected; its relative rate lambda is
drawn from a mixture of two gamma distributions, p of (alpha1, beta1) and 1 - p of (alpha2, beta2),
and n from Poisson(lambda e). DuMouchel 1999, The American Statistician 53 (3); DuMouchel and
Pregibon 2001 for the likelihood without the pairs that were never reported.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, expit, gammainc, gammaincinv, gammaln

Numbers = NDArray[np.float64]

MIN_PAIRS = 50
"""A prior of five parameters is fitted to so many pairs at least."""
MAX_PARAMETER = 100.0
"""Bound of alpha and beta, as in openEBGM: beyond, a part hardly varies, the likelihood is flat."""
MIN_PARAMETER = float(np.exp(-12.0))
"""As small as alpha and beta get: the likelihood of pairs that are reported is flat below."""
_STARTS = (
    (0.2, 0.1, 2.0, 4.0, 1 / 3),
    (0.1, 0.2, 10.0, 10.0, 0.2),
    (0.3, 0.5, 6.0, 6.0, 0.5),
    (1.0, 0.3, 3.0, 3.0, 0.1),
    (0.2, 0.02, 2.0, 2.0, 0.01),
    (2.0, 0.1, 20.0, 20.0, 0.01),
    (8.0, 0.2, 60.0, 50.0, 0.005),
)
_BOUNDS = [(float(np.log(MIN_PARAMETER)), float(np.log(MAX_PARAMETER)))] * 4 + [(-12.0, 12.0)]
"""Of the logarithms of the parameters, and of the logit of p."""
_MAX_SLOPE = 1e-5
"""Largest slope of the mean log-likelihood at a maximum, where no bound is in the way."""
_MAX_STEPS = 60
"""Of Newton's method for a quantile, or halvings of its bracket; doubles have 52 bits."""
_PRECISION = 1e-12


class Prior(NamedTuple):
    """The mixture; its first part has the larger mean alpha / beta."""

    alpha1: float
    beta1: float
    alpha2: float
    beta2: float
    p: float
    """Share of the first part."""


def fit_prior(n: Numbers, e: Numbers, weight: Numbers) -> Prior | None:
    """The prior of largest likelihood, given that every pair was counted at least once.

    Args:
        n: counts, shape [points], 1 or more; expected counts of generalized data need not be whole.
        e: expected counts, shape [points], above 0.
        weight: pairs that each point stands for, shape [points].

    Returns:
        None where there are fewer than ``MIN_PAIRS`` pairs, or no start ends at a maximum.

    Source: DuMouchel 1999; DuMouchel and Pregibon 2001.
    """
    if weight.sum() < MIN_PAIRS:
        return None
    shares = weight / weight.sum()
    found = [
        _climb([*np.log(start[:4]), np.log(start[4] / (1 - start[4]))], n, e, shares)
        for start in _STARTS
    ]
    maxima = [result for result in found if result]
    if not maxima:
        return None
    best = min(maxima, key=lambda result: result[0])[1]
    first, second, p = np.exp(best[:2]), np.exp(best[2:4]), float(expit(best[4]))
    if first[0] / first[1] < second[0] / second[1]:
        first, second, p = second, first, 1 - p
    return Prior(float(first[0]), float(first[1]), float(second[0]), float(second[1]), p)


def _climb(
    start: list[float], n: Numbers, e: Numbers, shares: Numbers
) -> tuple[float, Numbers] | None:
    """(loss, parameters) of the maximum that a start leads to; None if it leads to none."""
    from scipy.optimize import minimize  # half a second, which whoever has a prior need not wait

    at: Numbers = np.array(start)
    for _ in range(2):  # anew from where it stopped: its memory of the slopes may be misleading
        result = minimize(
            _loss,
            at,
            args=(n, e, shares),
            jac=True,
            method="L-BFGS-B",
            bounds=_BOUNDS,
            options={"maxiter": 2000, "maxfun": 4000, "ftol": 1e-14, "gtol": 1e-9},
        )
        at = result.x
    loss, slope = _loss(at, n, e, shares)
    low, high = np.array(_BOUNDS).T
    free = ((at > low) | (slope < 0)) & ((at < high) | (slope > 0))
    return (loss, at) if bool((np.abs(slope[free]) < _MAX_SLOPE).all()) else None


def posterior(n: Numbers, e: Numbers, prior: Prior) -> tuple[Numbers, Numbers, Numbers]:
    """EBGM, EB05 and EB95 of each pair.

    Args:
        n: counts, shape [pairs].
        e: expected counts, shape [pairs], above 0.
        prior: of all pairs.

    Returns:
        The geometric mean of the posterior of lambda, its 5 % and its 95 % quantile, each of shape
        [pairs].

    Source: DuMouchel 1999.
    """
    (first, _), (second, _) = (_marginal(n, e, *part) for part in (prior[:2], prior[2:4]))
    share = expit(np.log(prior.p) - np.log1p(-prior.p) + first - second)
    shapes = prior.alpha1 + n, prior.alpha2 + n
    rates = prior.beta1 + e, prior.beta2 + e
    mean = share * (digamma(shapes[0]) - np.log(rates[0]))
    mean += (1 - share) * (digamma(shapes[1]) - np.log(rates[1]))
    low, high = (_quantile(q, share, shapes, rates) for q in (0.05, 0.95))
    return np.exp(mean), low, high


def _marginal(
    n: Numbers, e: Numbers, alpha: float, beta: float
) -> tuple[Numbers, tuple[Numbers, Numbers]]:
    """log f(n), up to what no parameter changes, and its gradient by log alpha and log beta."""
    less, more = -np.log1p(e / beta), np.log(e / (beta + e))
    value = gammaln(alpha + n) - gammaln(alpha) + alpha * less + n * more
    by_alpha = alpha * (digamma(alpha + n) - digamma(alpha) + less)
    by_beta = beta * (alpha / beta - (alpha + n) / (beta + e))
    return value, (by_alpha, by_beta)


def _reported(e: Numbers, alpha: float, beta: float) -> tuple[Numbers, tuple[Numbers, Numbers]]:
    """1 - f(0) and its gradient by log alpha and log beta."""
    less = -np.log1p(e / beta)
    never = np.exp(alpha * less)
    by_beta = -never * (alpha - alpha * beta / (beta + e))
    return -np.expm1(alpha * less), (-never * alpha * less, by_beta)


def _loss(
    parameters: Numbers, n: Numbers, e: Numbers, weight: Numbers
) -> tuple[float, NDArray[np.float64]]:
    """Negative mean log-likelihood and its gradient; parameters: logarithms, and the logit of p."""
    parts = np.exp(parameters[:4]).reshape(2, 2)
    p = float(expit(parameters[4]))
    mix = np.array([p, 1 - p])
    values, slopes = zip(*(_marginal(n, e, *part) for part in parts), strict=True)
    top = np.maximum(*values)
    dense = [m * np.exp(value - top) for m, value in zip(mix, values, strict=True)]
    density = dense[0] + dense[1]
    reported, reported_slopes = zip(*(_reported(e, *part) for part in parts), strict=True)
    chance = mix[0] * reported[0] + mix[1] * reported[1]
    loss = -float(np.sum(weight * (top + np.log(density) - np.log(chance))))
    gradient = [
        -float(np.sum(weight * (dense[i] * slope / density - mix[i] * reported_slope / chance)))
        for i in range(2)
        for slope, reported_slope in zip(slopes[i], reported_slopes[i], strict=True)
    ]
    turn = dense[0] / density * (1 - p) - dense[1] / density * p
    gradient.append(
        -float(np.sum(weight * (turn - p * (1 - p) * (reported[0] - reported[1]) / chance)))
    )
    return loss, np.array(gradient)


def _quantile(
    q: float, share: Numbers, shapes: tuple[Numbers, Numbers], rates: tuple[Numbers, Numbers]
) -> Numbers:
    """Quantile of the posterior mixture: it lies between those of its parts."""
    ends = [gammaincinv(shape, q) / rate for shape, rate in zip(shapes, rates, strict=True)]
    at = share * ends[0] + (1 - share) * ends[1]
    # wider than need be: from a root at its edge Newton's method may step over the edge
    low, high = np.minimum(*ends) / 2, np.maximum(*ends) * 2
    found, left = at.copy(), np.arange(len(at))
    scales = gammaln(shapes[0]), gammaln(shapes[1])
    for _ in range(_MAX_STEPS):
        below, density = np.zeros_like(at), np.zeros_like(at)
        for part, shape, rate, scale in zip((share, 1 - share), shapes, rates, scales, strict=True):
            scaled = at * rate
            below += part * gammainc(shape, scaled)
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                height = np.exp((shape - 1) * np.log(scaled) - scaled - scale)
            density += part * rate * height
        low, high = np.where(below < q, at, low), np.where(below < q, high, at)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            newton = at - (below - q) / density
        inside = (newton >= low) & (newton <= high)  # not where it is undefined
        moved = np.where(inside, newton, (low + high) / 2)
        found[left] = moved
        moves = ~(np.abs(moved - at) <= _PRECISION * at)  # by itself, whatever others do
        if not moves.any():
            break
        left = left[moves]
        at, low, high, share = (each[moves] for each in (moved, low, high, share))
        shapes, rates, scales = (
            (each[0][moves], each[1][moves]) for each in (shapes, rates, scales)
        )
    return found
