"""The gamma-Poisson shrinker from its definition: densities added up, nothing solved."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

Prior = tuple[float, float, float, float, float]
"""alpha1, beta1, alpha2, beta2, p."""
STEP = 1 / 200
LOGS = np.arange(-400, 9, STEP)
"""Logarithms of rates; below, a prior of shape 0.05 has no weight left that counts."""


def posterior(n: float, e: float, prior: Prior) -> tuple[float, float, float]:
    """Geometric mean, 5 % and 95 % quantile of the rate after n reports where e are expected."""
    alpha1, beta1, alpha2, beta2, p = prior
    rates = np.exp(LOGS)
    density = p * _gamma(rates, alpha1, beta1) + (1 - p) * _gamma(rates, alpha2, beta2)
    weights = density * np.exp(n * np.log(rates * e) - rates * e - math.lgamma(n + 1))
    shares = weights / weights.sum()
    # the share of a point is spread over a step around it
    reached = np.cumsum(shares) - shares / 2
    low, high = (math.exp(np.interp(q, reached, LOGS)) for q in (0.05, 0.95))
    return math.exp(float(shares @ LOGS)), low, high


def _gamma(rates: np.ndarray, alpha: float, beta: float) -> np.ndarray:
    """Density of ln(rate)."""
    return np.exp(
        alpha * math.log(beta) + alpha * np.log(rates) - beta * rates - math.lgamma(alpha)
    )


def log_likelihood(pairs: Sequence[tuple[float, float]], prior: Prior) -> float:
    """Of the prior, given that each pair (n, e) was reported."""
    alpha1, beta1, alpha2, beta2, p = prior

    def marginal(n: float, e: float) -> float:
        return p * _negative_binomial(n, e, alpha1, beta1) + (1 - p) * _negative_binomial(
            n, e, alpha2, beta2
        )

    return math.fsum(math.log(marginal(n, e)) - math.log1p(-marginal(0, e)) for n, e in pairs)


def _negative_binomial(n: float, e: float, alpha: float, beta: float) -> float:
    """Poisson counts of mean e times a gamma rate."""
    return math.exp(
        math.lgamma(alpha + n)
        - math.lgamma(alpha)
        - math.lgamma(n + 1)
        + alpha * math.log(beta / (beta + e))
        + n * math.log(e / (beta + e))
    )
