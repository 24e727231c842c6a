"""Count tables with noise (``--terms noisy-tables``): what is asked, and what noise that needs.

The mechanism and its proof stand in ``sql_macros/terms/noisy_tables.sql``; whose claim it is, in
``release/features/noisy_tables.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

from srsql.engine.errors import ReleaseError
from srsql.engine.parameters import Noise, declared, option_name, parameter, read_fields
from srsql.engine.parameters.takes import Amount, Names, OneOf, Parsed, Whole
from srsql.engine.shapes.strata import Cut, check_cuts, cuts_text, parse_cuts
from srsql.engine.terms.count_tables import kinds, sources
from srsql.schemas import Dataset
from srsql.udfs.limits import MAX_EPSILON

NOISY_TABLES = "noisy-tables"
"""The value of ``--terms``."""
OF = f"--terms {NOISY_TABLES}"
FINEST = 10_000
"""Largest denominator of epsilon: the ledger adds exact fractions."""
LEAST_DELTA = 10**12
"""Largest denominator of delta."""
MOST_ITEMS = 1_000
CASES, ITEMS, PAIRS = "noisy_case_count", "noisy_item_count", "noisy_pair_count"
SHARES = {CASES: Fraction(1, 10), ITEMS: Fraction(9, 20), PAIRS: Fraction(9, 20)}
"""What of epsilon each table takes: a signal needs a pair and both of its items."""
CONFIDENCE = Fraction(95, 100)
"""At which the error of a published count is stated."""
_DIGITS = 60


@dataclass(frozen=True)
class TableNoise:
    """The noise of one table."""

    table: str
    epsilon: Fraction
    delta: Fraction
    """0: its keys are a closed list."""
    counts: int
    """Counts to which a case adds 1, at most."""

    @property
    def scale(self) -> Fraction:
        """Of the discrete Laplace noise: P(Z = z) proportional to exp(-|z| / scale)."""
        return self.counts / self.epsilon

    @property
    def threshold(self) -> int | None:
        """The least count that is published; None: all are.

        A case's own keys have a count of 1: at most so many pass with a chance of p each, and
        p times their number is at most delta. See the proof.
        """
        if not self.delta:
            return None
        with localcontext() as exact:
            exact.prec = _DIGITS
            ratio = self._ratio()
            allowed = min(_decimal(self.delta) / self.counts, 1 - ratio)
            allowed *= 1 - Decimal(10) ** (10 - _DIGITS)  # roundings of 60 digits
            steps = int(
                ((allowed * (1 + ratio)).ln() / ratio.ln()).to_integral_value("ROUND_FLOOR")
            )
            steps = max(steps - 1, 1)
            while ratio**steps / (1 + ratio) > allowed:
                steps += 1
        return steps + 1

    @property
    def mean_error(self) -> float:
        """Expected absolute value of the noise."""
        with localcontext() as exact:
            exact.prec = _DIGITS
            ratio = self._ratio()
            return float(2 * ratio / (1 - ratio * ratio))

    @property
    def margin(self) -> int:
        """The least m for which noise is within -m and m at ``CONFIDENCE``."""
        with localcontext() as exact:
            exact.prec = _DIGITS
            ratio, margin = self._ratio(), 0
            outside = _decimal(1 - CONFIDENCE)
            estimate = (outside * (1 + ratio) / 2).ln() / ratio.ln()
            margin = max(int(estimate) - 2, 0)
            while 2 * ratio ** (margin + 1) / (1 + ratio) > outside:
                margin += 1
        return margin

    def _ratio(self) -> Decimal:
        """exp(-1 / scale), of the double that the sampler is given: no scale below is drawn."""
        from srsql.udfs.mechanisms import conservative_scale

        given = Fraction(conservative_scale(self.scale.numerator, self.scale.denominator))
        return (-1 / _decimal(given)).exp()


def _decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


@dataclass(frozen=True)
class NoisyParameters:
    """Count tables with noise: SPEC section 19, R8."""

    epsilon: Fraction = parameter(
        Fraction(1),
        takes=Amount(MAX_EPSILON, FINEST),
        help="privacy budget of a case for all counts of its period, a number or fraction",
        of=OF,
        weaker="higher",
    )
    delta: Fraction = parameter(
        Fraction(1, 1_000_000),
        takes=Amount(Fraction(1, 1000), LEAST_DELTA),
        help="chance at most that a name or pair that only one case has is published",
        of=OF,
        weaker="higher",
    )
    noise: Noise = parameter(
        "secure",
        takes=OneOf(("secure", "seeded")),
        help="secure is OpenDP's sampler (extra noise); seeded repeats with --seed, for "
        "experiments, and is not for publication",
        of=OF,
        weaker="seeded",
    )
    case_items: int = parameter(
        3,
        takes=Whole(1, MOST_ITEMS),
        help="values of a counted column that a case adds at most",
        of=OF,
        weaker="different",
    )
    case_pairs: int = parameter(
        4,
        takes=Whole(1, MOST_ITEMS),
        help="pairs of values that a case adds at most",
        of=OF,
        weaker="different",
    )
    cuts: tuple[Cut, ...] = parameter(
        (),
        takes=Parsed(
            tuple,
            parse_cuts,
            "none, or the path of a TOML file of [[cut]]",
            show_with=cuts_text,
            content=lambda cuts: cuts and [cuts_text(cuts)],
        ),
        keyword="strata",
        help="strata by which units are counted: none, or a TOML file of [[cut]]",
        usual="none, since each stratum has noise of its own",
        of=OF,
        weaker="different",
    )
    attributes: tuple[str, ...] = parameter(
        (),
        takes=Names(),
        keyword="table_items",
        help="columns whose values are counted, alone and in pairs",
        usual="drugs and reactions of signals",
        of=OF,
        weaker="different",
    )

    def __post_init__(self) -> None:
        """Refuse parameters that mean nothing."""
        read_fields(self, ReleaseError)
        if len(set(self.attributes)) < len(self.attributes):
            raise ReleaseError("--table-items names a column twice")

    def of(self, dataset: Dataset) -> NoisyParameters:
        """The same with what a dataset has by default.

        Raises:
            ReleaseError: the dataset has none of what is asked for.
        """
        signals = dataset.signals
        usual = (
            (signals.drug, signals.reaction)
            if signals
            else tuple(a.column for a in (*dataset.quasi_sensitive, *dataset.sensitive))
        )
        found = replace(self, attributes=self.attributes or usual)
        check_cuts(dataset, found.cuts)
        sources(dataset, found.attributes)
        return found

    @property
    def publishable(self) -> bool:
        """Whether no seed takes the noise off again."""
        return self.noise == "secure"

    def packages(self) -> Mapping[str, str]:
        """Packages of extras that it works with, and what needs each."""
        return {"opendp": f"{OF} --noise secure"} if self.publishable else {}

    def plan(self, dataset: Dataset) -> tuple[TableNoise, ...]:
        """The noise of each table: epsilon and delta are split, and add up to the whole."""
        paired = any(True for _ in kinds(dataset, self.attributes))
        counts = {CASES: 1, ITEMS: self.case_items * len(self.attributes), PAIRS: self.case_pairs}
        kept = [name for name in counts if paired or name != PAIRS]
        whole = sum(SHARES[name] for name in kept)
        return tuple(
            TableNoise(
                name,
                self.epsilon * SHARES[name] / whole,
                Fraction(0) if name == CASES else self.delta / (len(kept) - 1),
                counts[name],
            )
            for name in kept
        )


def make_noisy(terms: str | None, given: Mapping[str, Any]) -> NoisyParameters | None:
    """What is asked of count tables with noise; None: none are asked for.

    Args:
        terms: value of ``--terms``.
        given: options by keyword.

    Raises:
        ReleaseError: options that go with nothing.
    """
    known = declared(NoisyParameters)
    asked = {name: value for name, value in given.items() if value is not None and name in known}
    if terms != NOISY_TABLES:
        for name in ("delta", "case_items", "case_pairs"):
            if name in asked:
                raise ReleaseError(
                    f"{option_name(name)} goes with {OF}: give that, or leave it out"
                )
        return None
    return NoisyParameters(**{known[name].field: value for name, value in asked.items()})
