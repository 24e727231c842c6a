"""What `srsql signals` finds: tables and measures of each pair, before and after the release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from srsql.engine.signals.rules import Condition
from srsql.engine.warehouse.frames import Framed


@dataclass(frozen=True)
class Measures:
    """One table and its measures; see ``signal_measures`` for each. None: undefined.

    A cell is the expected number of cases; its ``_lower`` counts the cases that meet the condition
    whatever value of their region is true, its ``_upper`` those that may meet it.
    """

    a: float
    b: float
    c: float
    d: float
    a_lower: int
    b_lower: int
    c_lower: int
    d_lower: int
    a_upper: int
    b_upper: int
    c_upper: int
    d_upper: int
    prr: float | None
    prr_low: float | None
    prr_high: float | None
    ror: float | None
    ror_low: float | None
    ror_high: float | None
    chi2: float | None
    ic: float | None
    ic_low: float | None
    ic_high: float | None
    ic_shrunk: float | None
    ic025: float | None
    ic975: float | None
    signal_prr: bool | None
    signal_mhra: bool | None
    signal_ror: bool | None
    signal_ic: bool | None
    ebgm: float | None
    eb05: float | None
    eb95: float | None
    signal_eb05: bool | None


@dataclass(frozen=True)
class Bias:
    """Released against original: ratios for a, PRR, ROR and EBGM, differences for the ICs."""

    a_bias: float | None
    prr_bias: float | None
    ror_bias: float | None
    ebgm_bias: float | None
    ic_shift: float | None
    ic_shrunk_shift: float | None


@dataclass(frozen=True)
class Signal:
    """One rule."""

    drug: str
    reaction: str
    condition: Condition
    original: Measures | None
    """None where only released data were asked for."""
    released: Measures
    bias: Bias | None


@dataclass(frozen=True)
class Shrinkage:
    """The prior of the gamma-Poisson shrinker, fitted over all pairs under one condition.

    Relative rates are drawn from gamma(alpha1, beta1) with the probability p, else from
    gamma(alpha2, beta2); None where there are too few pairs.
    """

    condition: Condition
    data: str
    """``original`` or ``released``."""
    pairs: int
    """Pairs of at least one case."""
    alpha1: float | None
    beta1: float | None
    alpha2: float | None
    beta2: float | None
    p: float | None


@dataclass(frozen=True)
class Quantiles:
    """How one bias is distributed over the pairs for which it is defined."""

    measure: str
    pairs: int
    least: float | None
    p05: float | None
    p25: float | None
    median: float | None
    p75: float | None
    p95: float | None
    most: float | None


@dataclass(frozen=True)
class Signals(Framed):
    """What was asked for, in its order; all pairs come with the most cases first."""

    _tables: ClassVar[tuple[str, ...]] = ("signals",)

    dataset: str
    series: str
    quarters: tuple[str, ...]
    roles: tuple[str, ...]
    """Empty: every role, or the dataset has none."""
    released_only: bool
    every_pair: bool
    changed_since: tuple[str, ...]
    """Quarters whose raw rows were replaced after their release."""
    perturbed: tuple[str, ...]
    """Quarters whose values were drawn at random: their lower and upper are no bounds."""
    signals: tuple[Signal, ...]
    quantiles: tuple[Quantiles, ...]
    """Of all pairs; empty where there is nothing to compare with."""
    priors: tuple[Shrinkage, ...]
