"""Strata of signals: sex, bands of age and period, over which measures are combined.

A stratum is a condition like any other: a released region may lie inside it, outside, or across
its edge, so that its cells have a lower, an expected and an upper count. What is made of the tables
of all strata is in ``sql_macros/signals/strata.sql``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from itertools import pairwise, product

from srsql.engine.errors import SignalError
from srsql.engine.signals.rules import AGE, SEX, Condition, Counting, Interval, intervals, leaves
from srsql.schemas import Dataset

PERIOD = "period"
STRATA_NAMES = (SEX, AGE, PERIOD)
"""What strata may be made of."""
MAX_STRATA = 500
"""More would leave hardly any case in each."""


@dataclass(frozen=True)
class Stratum:
    """Who is in one stratum."""

    intervals: tuple[Interval, ...]
    """One for each quasi-identifier that it, or the condition, speaks of."""
    quarter: str | None = None
    """Only cases whose latest quarter it is; None: every one."""
    labels: tuple[str, ...] = ()
    """What it is called by sex, age and period, those of them that cases are parted by."""


@dataclass(frozen=True)
class Parted:
    """The strata under one condition."""

    whole: Stratum
    """All of them together: cases that have the values that they ask for."""
    strata: tuple[Stratum, ...] = field(default=())


def read_strata(
    by: Sequence[str] | None, bands: Sequence[str] | None
) -> tuple[tuple[str, ...], tuple[Decimal, ...]]:
    """What ``--strata`` and ``--age-bands`` ask for, as ``Counting`` has it.

    Args:
        by: some of ``STRATA_NAMES``; None: no strata.
        bands: lower ends of the bands of age but the first, rising; None: the dataset's groups.

    Raises:
        SignalError: strata of something else, or twice; bands that do not rise, or without strata
            by age.
    """
    names = tuple(name.strip().lower() for name in by or ())
    if wrong := [name for name in names if name not in STRATA_NAMES]:
        raise SignalError(f"--strata {wrong[0]!r}: give some of {', '.join(STRATA_NAMES)}")
    if len(set(names)) < len(names):
        raise SignalError(f"--strata {','.join(names)}: names one twice")
    ends: list[Decimal] = []
    for text in bands or ():
        try:
            end = Decimal(str(text).strip())
        except InvalidOperation:
            end = Decimal("nan")
        if not end.is_finite() or (ends and end <= ends[-1]):
            raise SignalError(
                f"--age-bands {','.join(map(str, bands or ()))}: give rising ages, such as 18,45,65"
            )
        ends.append(end)
    if ends and AGE not in names:
        raise SignalError("--age-bands are bands of --strata age: ask for both")
    return names, tuple(ends)


def parted(
    dataset: Dataset, counting: Counting, condition: Condition, quarters: Sequence[str]
) -> Parted:
    """The strata of those who meet a condition.

    Args:
        dataset: has the quasi-identifiers, the hierarchy of sex and the groups of age.
        counting: what cases are parted by.
        condition: who counts at all; strata in which no case can meet it are left out.
        quarters: the periods that count.

    Raises:
        SignalError: the dataset has no such quasi-identifier, or no groups of age where no bands
            are given; or there are more than ``MAX_STRATA`` strata.
    """
    axes: list[list[tuple[str, Interval]]] = []
    whole = {one.position: one for one in intervals(dataset, condition)}
    if SEX in counting.strata:
        axes.append(_sexes(dataset))
    if AGE in counting.strata:
        axes.append(_bands(dataset, counting.bands))
    labels: Sequence[str | None] = quarters if PERIOD in counting.strata else (None,)
    count = len(labels)
    for axis in axes:
        count *= len(axis)
    if count > MAX_STRATA:
        raise SignalError(f"these are {count} strata, more than {MAX_STRATA}: give wider bands")
    found = []
    for ends in product(*axes):
        within = dict(whole)
        for _, end in ends:
            within[end.position] = _both(within.get(end.position), end)
        if all(one.low <= one.high for one in within.values()):
            called = tuple(name for name, _ in ends)
            found += [
                Stratum(tuple(within.values()), label, called + (() if label is None else (label,)))
                for label in labels
            ]
    for axis in axes:
        (_, first), (_, last) = axis[0], axis[-1]
        everything = Interval(first.position, first.low, last.high, first.domain)
        whole[everything.position] = _both(whole.get(everything.position), everything)
    return Parted(Stratum(tuple(whole.values())), tuple(found))


def _both(one: Interval | None, other: Interval) -> Interval:
    """Both conditions on one quasi-identifier."""
    if one is None:
        return other
    return Interval(one.position, max(one.low, other.low), min(one.high, other.high), one.domain)


def _sexes(dataset: Dataset) -> list[tuple[str, Interval]]:
    """A condition for each leaf of its hierarchy, and its label."""
    for position, qid in enumerate(dataset.qid):
        if qid.name == SEX and qid.kind == "categorical":
            tree = dataset.hierarchies[qid.name]
            domain = leaves(tree)[0]
            names = [n for n, height in zip(tree.labels, tree.height, strict=True) if height == 0]
            return [
                (name, Interval(position, number, number, domain))
                for number, name in enumerate(names)
            ]
    raise SignalError(f"{dataset.name} has no categorical quasi-identifier {SEX!r} for strata")


def _bands(dataset: Dataset, ends: Sequence[Decimal]) -> list[tuple[str, Interval]]:
    """A condition for each band, which together have every age, and what it is called."""
    if not ends:
        ends = _groups(dataset.groups, dataset.name)
    lows = [None, *ends]
    highs = [*ends, None]
    granularity = next(
        (qid.granularity for qid in dataset.qid if qid.name == AGE and qid.kind == "numeric"),
        Decimal(1),
    )
    found: list[Interval] = []
    for low, high in zip(lows, highs, strict=True):
        band = Condition(
            Decimal(-(10**9)) if low is None else low, None if high is None else high - granularity
        )
        found += intervals(dataset, band)
    if any(one.high < two.low - 1 or one.low > one.high for one, two in pairwise(found)):
        raise SignalError(
            f"--age-bands {','.join(map(str, ends))}: {dataset.name} tells ages in steps of "
            f"{granularity}: give multiples of it"
        )
    return [
        (_called(low, high, granularity), one)
        for low, high, one in zip(lows, highs, found, strict=True)
    ]


def _called(low: Decimal | None, high: Decimal | None, granularity: Decimal) -> str:
    """A band of age, from its lower end to before that of the next one."""
    if low is None or high is None:
        return "any" if low is high else f"under {high:f}" if low is None else f"{low:f} and over"
    return f"{low:f} to {high - granularity:f}"


def _groups(groups: Mapping[str, object], name: str) -> Sequence[Decimal]:
    """Lower ends of the groups of age that a dataset declares, but the first."""
    tree = groups.get(AGE)
    lows = sorted(low for low in getattr(tree, "low", ()) if low is not None)
    if not lows:
        raise SignalError(f"{name} declares no groups of age: give --age-bands, such as 18,45,65")
    return lows[1:]
