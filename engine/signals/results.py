"""What `srsql signals` finds: tables and measures of each pair, before and after the release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import chain
from typing import Any, ClassVar, Literal, overload

import pyarrow as pa

from srsql.engine.parameters import Missing
from srsql.engine.signals.rules import Condition
from srsql.engine.store.frames import Framed

Verdict = Literal["holds", "does not", "undecided"]
"""Of a criterion: met in every world of the regions, in none, or in some (``signal_verdicts``)."""
Part = Literal["original", "released", "bias"]
_SIDES: tuple[Part, Part] = ("original", "released")
Judged = tuple[Verdict | None, Verdict | None]
"""The same of the originals, if there are any, and of what is released."""


@dataclass(frozen=True, slots=True)
class Measures:
    """One table and its measures; see ``signal_measures`` for each. None: undefined.

    A cell is the expected number of cases; its ``_lower`` counts the cases that meet the condition
    whatever value of their region is true, its ``_upper`` those that may meet it, its ``_known``
    those whose region decides every condition and that meet them all; since all conditions of a
    signal must hold, that is as many as ``_lower``. Criteria are judged on those whole numbers.
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
    a_known: int
    b_known: int
    c_known: int
    d_known: int
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
    signal_prr: Verdict
    signal_mhra: Verdict
    signal_ror: Verdict
    signal_ic: Verdict
    ebgm: float | None
    eb05: float | None
    eb95: float | None
    signal_eb05: Verdict | None


@dataclass(frozen=True, slots=True)
class Stratified:
    """What strata make of one pair; see ``stratified_measures`` for each. None: undefined.

    ``prr`` and ``ror`` are those of Mantel and Haenszel, with intervals of 95 %, ``ebgm`` is of
    ``n`` cases where ``e`` are expected over all strata. A measure is that of expected counts, its
    ``_known`` that of the cases whose regions decide the stratum and the condition; it lies between
    ``_lower`` and ``_upper`` whatever values of the regions are true (None: no bound).
    """

    strata: int
    """Strata that a case may be in."""
    n: float
    n_lower: int
    n_known: int
    n_upper: int
    e: float
    e_lower: float
    e_known: float
    e_upper: float
    prr: float | None
    prr_low: float | None
    prr_high: float | None
    prr_known: float | None
    prr_lower: float | None
    prr_upper: float | None
    ror: float | None
    ror_low: float | None
    ror_high: float | None
    ror_known: float | None
    ror_lower: float | None
    ror_upper: float | None
    ebgm: float | None
    eb05: float | None
    eb95: float | None
    ebgm_known: float | None
    ebgm_lower: float | None
    ebgm_upper: float | None
    signal_prr: Verdict
    signal_ror: Verdict
    signal_eb05: Verdict | None


@dataclass(frozen=True, slots=True)
class Bias:
    """Released against original: ratios for a, PRR, ROR and EBGM, differences for the ICs."""

    a_bias: float | None
    prr_bias: float | None
    ror_bias: float | None
    ebgm_bias: float | None
    ic_shift: float | None
    ic_shrunk_shift: float | None


@dataclass(frozen=True, slots=True)
class Signal:
    """One rule."""

    drug: str
    reaction: str
    condition: Condition
    original: Measures | None
    """None where only released data were asked for."""
    released: Measures
    bias: Bias | None
    original_complete: Measures | None = None
    """Of a rule with a condition whose missing values are spread: as the usual tools count, without
    the cases of which a value is missing that the condition or the strata ask for; without EBGM,
    whose prior of those cases is fitted where they alone are asked for."""
    released_complete: Measures | None = None
    """The same of what was released."""
    original_stratified: Stratified | None = None
    """None where no strata were asked for, or released data only."""
    released_stratified: Stratified | None = None


_SIZES = len(fields(Measures)), len(fields(Stratified)), len(fields(Bias))
"""Columns of each: a quarter has some hundred thousand pairs."""


def signal_of(drug: str, reaction: str, condition: Condition, row: Sequence[Any]) -> Signal:
    """A signal of what a statement found: ``Measures`` of the released rows, where there are strata
    what they make of these, and where there are originals theirs and the ``Bias``."""
    size, strata, biases = _SIZES
    sides = 2 if len(row) >= 2 * size else 1
    found = [Measures(*row[side * size : (side + 1) * size]) for side in range(sides)]
    at, bias = sides * size, None
    if sides == 2:
        bias = Bias(*row[at : at + biases])
        at += biases
    parted = [Stratified(*row[place : place + strata]) for place in range(at, len(row), strata)]
    return Signal(
        drug,
        reaction,
        condition,
        found[1] if sides == 2 else None,
        found[0],
        bias,
        released_stratified=parted[0] if parted else None,
        original_stratified=parted[1] if len(parted) == 2 else None,
    )


class Pairs(Sequence[Signal]):
    """Every pair under a condition, kept by column: records of them take five times the room.

    A record is made when it is asked for.
    """

    def __init__(self, condition: Condition, batches: Iterable[pa.RecordBatch]) -> None:
        """``batches``: drug, reaction, and what ``signal_of`` takes, in its order."""
        self._condition, self._batches = condition, list(batches)

    def __len__(self) -> int:
        """How many pairs there are."""
        return sum(batch.num_rows for batch in self._batches)

    def __iter__(self) -> Iterator[Signal]:
        """Each pair, the most cases first."""
        return chain.from_iterable(map(self._records, self._batches))

    @overload
    def __getitem__(self, place: int) -> Signal: ...
    @overload
    def __getitem__(self, place: slice) -> Pairs: ...
    def __getitem__(self, place: int | slice) -> Signal | Pairs:
        """One pair, or some of them."""
        chosen = range(len(self))[place]
        table = pa.Table.from_batches(self._batches) if self._batches else None
        if isinstance(chosen, range):
            if table is None:
                return Pairs(self._condition, [])
            if chosen.step == 1:  # an array of places imports pandas
                taken = table.slice(chosen.start, len(chosen))
            else:
                taken = table.take(pa.array(chosen, pa.int64()))
            return Pairs(self._condition, taken.to_batches())
        assert table is not None  # else there is no such place
        return next(iter(Pairs(self._condition, table.slice(chosen, 1).to_batches())))

    def __eq__(self, other: object) -> bool:
        """Whether the other has the same pairs in the same order, kept in whatever way."""
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __repr__(self) -> str:
        """As a tuple of the pairs has it."""
        return repr(tuple(self))

    __hash__ = None  # type: ignore[assignment]

    def of_all(self, part: Part, field: str) -> list[Any]:
        """One field of a part of every pair, in their order; without that part None. No record is
        made for it."""
        size, width = len(fields(Measures)), self._batches[0].num_columns if self._batches else 0
        compared = width >= 2 + 2 * size
        if part != "released" and not compared:
            return [None] * len(self)
        of = Bias if part == "bias" else Measures
        place = [each.name for each in fields(of)].index(field)
        place += 2 + {"released": 0, "original": size, "bias": 2 * size}[part]
        return [value for batch in self._batches for value in batch.column(place).to_pylist()]

    def _records(self, batch: pa.RecordBatch) -> Iterator[Signal]:
        columns = (column.to_pylist() for column in batch.columns)
        for drug, reaction, *row in zip(*columns, strict=True):
            yield signal_of(drug, reaction, self._condition, row)


@dataclass(frozen=True)
class Agreement:
    """Of the pairs that meet a criterion in the originals, what became of them, and the others."""

    before: int
    """Pairs that meet it in the originals, in every world of what is missing there."""
    after: int
    """As released, in every world of the regions."""
    kept: int
    lost: int
    """Met in the originals, and in no world of the regions."""
    undecided: int
    """Met in the originals, and in some worlds of the regions."""
    gained: int
    """Met in every world of the regions, and in none of the originals."""
    open: int
    """Undecided as released, whatever they are in the originals."""


def agreements(signals: Sequence[Signal], criteria: Sequence[str]) -> list[Agreement]:
    """How originals and released rows agree on each criterion.

    Args:
        signals: the pairs; without originals, ``before`` and what rests on it are 0.
        criteria: fields of ``Measures``, such as ``signal_mhra``.
    """
    if isinstance(signals, Pairs):
        before, after = ([signals.of_all(part, name) for name in criteria] for part in _SIDES)
        return [
            agreed(Counter(zip(*sides, strict=True))) for sides in zip(before, after, strict=True)
        ]
    return [agreed(Counter(judged(signal, name) for signal in signals)) for name in criteria]


def judged(signal: Signal, criterion: str) -> Judged:
    """What a criterion says of a pair in the originals and as released."""
    before = getattr(signal.original, criterion) if signal.original else None
    return before, getattr(signal.released, criterion)


def agreed(counted: Counter[Judged]) -> Agreement:
    """An agreement of pairs that were counted by what the criterion says of them."""
    met = {after: pairs for (before, after), pairs in counted.items() if before == "holds"}
    return Agreement(
        before=sum(met.values()),
        after=sum(pairs for (_, after), pairs in counted.items() if after == "holds"),
        kept=met.get("holds", 0),
        lost=met.get("does not", 0),
        undecided=met.get("undecided", 0),
        gained=counted["does not", "holds"],
        open=sum(pairs for (_, after), pairs in counted.items() if after == "undecided"),
    )


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
    strata: tuple[str, ...] = ()
    """What the expected cases were summed over; empty: nothing."""


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
    missing: Missing
    """What became of cases without a value that a condition asks for."""
    every_pair: bool
    changed_since: tuple[str, ...]
    """Quarters whose raw rows were replaced after their release."""
    perturbed: tuple[str, ...]
    """Quarters whose values were drawn at random: their lower and upper are no bounds."""
    persons: tuple[str, ...]
    """Quarters whose releases count suspected duplicates as one person."""
    signals: Sequence[Signal]
    quantiles: tuple[Quantiles, ...]
    """Of all pairs; empty where there is nothing to compare with."""
    priors: tuple[Shrinkage, ...]
    """None: there is no EBGM, for want of the package that fits them."""
    dropped: int = 0
    """Cases of the originals that are not compared, since the release was asked to leave out who
    lacks a value (``--missing drop``)."""
    unknown: tuple[str, ...] = ()
    """What was asked for that no case has, in words; it counts as none."""
    suppressed: int = 0
    """So many released cases, at most, may have any one reaction although no row shows it, as the
    public manifests tell: ``lower`` and ``upper`` allow for them, expected counts do not."""
    suppressed_drugs: int = 0
    """So many may have any one drug although no row shows it; likewise."""
    remarks: tuple[str, ...] = ()
    """What both rest on, in words."""
    strata: tuple[str, ...] = ()
    """What cases were parted by: sex, age, period."""
    without: tuple[str, ...] = ()
    """Dominant drugs and reactions whose cases were left out, in words."""
    masked: int = 0
    """Released cases that were left out for them."""
    without_indications: bool = False
    """Reactions that a case has as an indication, too, were left out."""
    of_clusters: bool = False
    """Drugs and reactions are told of clusters and of no row: ``lower`` and ``upper`` hold for
    every dataset that fits what is released. Without originals, all pairs are those that are
    expected often enough."""
    levels: tuple[str, ...] = ()
    """On which levels drugs and reactions are counted, in words; none: as they are reported."""
