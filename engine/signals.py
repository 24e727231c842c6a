"""Signals of disproportionate reporting: the originals against what was released of them.

Only the steward's form reads raw tables; ``released_only`` reads the released views, since
differences from the originals disclose what was withheld.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from srsql.engine.errors import SignalError
from srsql.engine.series import IMPORTED, find_series
from srsql.engine.signal_cases import (
    NODE,
    ORIGINAL,
    RELEASED,
    WANTED,
    Scope,
    load_cases,
    load_nodes,
    load_wanted,
    part,
)
from srsql.engine.signal_rules import Condition, Interval, Rule, intervals
from srsql.engine.statements import dotted
from srsql.engine.warehouse import Warehouse
from srsql.schemas import Dataset

LEAST = 3
"""Cases from which a pair counts as one of all pairs (Lin 2016, Table 2)."""
_CONDITION, _PAIR, _BIAS = (f"srsql_signal_{name}" for name in ("condition", "pair", "bias"))
_TEMPORARIES = (
    *(
        part(side, name)
        for side in (ORIGINAL, RELEASED)
        for name in ("case", "box", "drug", "reaction", "weight", "table", "measure")
    ),
    *(NODE, WANTED, _CONDITION, _PAIR, _BIAS),
)


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


@dataclass(frozen=True)
class Bias:
    """Released against original: ratios for a, PRR and ROR, differences for the ICs."""

    a_bias: float | None
    prr_bias: float | None
    ror_bias: float | None
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
class Signals:
    """What was asked for, in its order; all pairs come with the most cases first."""

    dataset: str
    series: str
    quarters: tuple[str, ...]
    roles: tuple[str, ...]
    """Empty: every role, or the dataset has none."""
    released_only: bool
    every_pair: bool
    changed_since: tuple[str, ...]
    """Quarters whose raw rows were replaced after their release."""
    signals: tuple[Signal, ...]
    quantiles: tuple[Quantiles, ...]
    """Of all pairs; empty where there is nothing to compare with."""


def signals(
    warehouse: Warehouse,
    dataset: Dataset,
    series: str,
    rules: Sequence[Rule] | Condition,
    *,
    quarter: str | None = None,
    roles: Sequence[str] | None = None,
    released_only: bool = False,
) -> Signals:
    """Compute the signals; nothing is changed.

    Args:
        warehouse: may be read-only.
        dataset: says which columns are drug, reaction and role.
        series: whose releases.
        rules: what to compute, or the condition under which to compute all pairs.
        quarter: only this one; default: all released quarters, each case as its latest has it.
        roles: roles of the drug; default: the dataset's suspect roles; empty: every role.
        released_only: read no raw table, compare with nothing.

    Raises:
        SignalError: nothing is released, or the dataset has no such columns.
    """
    scope = _scope(warehouse, dataset, series, quarter, roles)
    every = isinstance(rules, Condition)
    run = _Run(warehouse, scope, (RELEASED,) if released_only else (ORIGINAL, RELEASED))
    try:
        if isinstance(rules, Condition):
            found, quantiles = run.all_pairs(rules)
        else:
            found, quantiles = run.rules(rules), ()
    finally:
        for name in _TEMPORARIES:
            warehouse.run(f"DROP TABLE IF EXISTS {dotted('temp', 'main', name)}")
    return Signals(
        dataset=dataset.name,
        series=series,
        quarters=tuple(scope.releases),
        roles=scope.roles,
        released_only=released_only,
        every_pair=every,
        changed_since=() if released_only else _changed(warehouse, scope),
        signals=found,
        quantiles=quantiles,
    )


def _scope(
    warehouse: Warehouse,
    dataset: Dataset,
    series: str,
    quarter: str | None,
    roles: Sequence[str] | None,
) -> Scope:
    declared = dataset.signals
    if declared is None:
        raise SignalError(
            f"dataset {dataset.name} does not say what a drug and a reaction are: its schema needs "
            "a [signals] section"
        )
    if roles and declared.role is None:
        raise SignalError(f"dataset {dataset.name} has no roles of drugs: leave --roles out")
    found = find_series(warehouse, dataset, series)
    if found is not None and found.family == IMPORTED:
        raise SignalError(f"series {series!r} is imported, without drugs: signals need your own")
    releases = dict(
        warehouse.rows(
            "SELECT r.quarter, r.release_id FROM srsql.release AS r WHERE r.dataset = ? "
            "AND r.series = ? AND r.status = 'released' ORDER BY r.quarter",
            [dataset.name, series],
        )
    )
    if found is None or not releases:
        raise SignalError(
            f"series {series!r} of {dataset.name} has no releases: run 'srsql release' first"
        )
    if quarter is not None:
        if quarter not in releases:
            raise SignalError(
                f"{quarter} is not released in series {series!r} (it has: {min(releases)} to "
                f"{max(releases)}): give another --quarter or --series"
            )
        releases = {quarter: releases[quarter]}
    chosen = declared.suspect if roles is None else roles
    return Scope(
        dataset,
        declared,
        found.cumulative_schema,
        releases,
        tuple(role.strip().upper() for role in chosen if role.strip()),
    )


def _changed(warehouse: Warehouse, scope: Scope) -> tuple[str, ...]:
    return tuple(
        quarter
        for (quarter,) in warehouse.rows(
            "SELECT r.quarter FROM srsql.release AS r "
            "INNER JOIN srsql.ingestion AS i ON r.ingestion_id = i.ingestion_id "
            "WHERE i.replaced AND list_contains(?::INTEGER[], r.release_id) ORDER BY 1",
            [list(scope.releases.values())],
        )
    )


class _Run:
    """The statements of one call."""

    def __init__(self, warehouse: Warehouse, scope: Scope, sides: tuple[str, ...]) -> None:
        self.warehouse, self.scope, self.sides = warehouse, scope, sides

    def rules(self, rules: Sequence[Rule]) -> tuple[Signal, ...]:
        """Each rule; those under one condition together."""
        load_wanted(self.warehouse, [(rule.drug, rule.reaction) for rule in rules])
        self._load(named=True)
        wanted: dict[Condition, list[int]] = {}
        for number, rule in enumerate(rules):
            wanted.setdefault(rule.condition, []).append(number)
        found: dict[int, Signal] = {}
        for condition, numbers in wanted.items():
            self._weigh(condition)
            self.warehouse.run(
                f"CREATE OR REPLACE TEMP TABLE {_PAIR} AS SELECT DISTINCT w.drug, w.reaction "
                f"FROM temp.main.{WANTED} AS w WHERE list_contains(?::BIGINT[], w.pair_no)",
                [numbers],
            )
            self._measure()
            for number, *row in self._rows(
                f"INNER JOIN temp.main.{WANTED} AS w ON w.drug = released.drug "
                "AND w.reaction = released.reaction "
                "WHERE list_contains(?::BIGINT[], w.pair_no)",
                "w.pair_no",
                [numbers],
            ):
                found[number] = self._signal(
                    rules[number].drug, rules[number].reaction, condition, row[2:]
                )
        return tuple(found[number] for number in range(len(rules)))

    def all_pairs(self, condition: Condition) -> tuple[tuple[Signal, ...], tuple[Quantiles, ...]]:
        """Every pair of enough original cases (released ones where nothing else may be read)."""
        self._load(named=False)
        self._weigh(condition)
        first = self.sides[0]
        self.warehouse.run(
            f"CREATE OR REPLACE TEMP TABLE {_PAIR} AS SELECT p.drug, p.reaction FROM "
            f"srsql.signal_pairs({self._names(first, 'weight', 'drug', 'reaction')}, {LEAST}) AS p"
        )
        self._measure()
        found = tuple(
            self._signal(row[1], row[2], condition, row[3:])
            for row in self._rows(f"ORDER BY {first}.a DESC, 2, 3", "0", [])
        )
        if ORIGINAL not in self.sides:
            return found, ()
        rows = self.warehouse.rows(
            f"SELECT q.* FROM srsql.signal_bias_quantiles('temp.main.{_BIAS}') AS q "
            "ORDER BY q.measure"
        )
        return found, tuple(Quantiles(*row) for row in rows)

    def _load(self, *, named: bool) -> None:
        load_nodes(self.warehouse, self.scope.dataset)
        for side in self.sides:
            load_cases(self.warehouse, self.scope, side, named=named)

    def _weigh(self, condition: Condition) -> None:
        """What each case counts under the condition."""
        listed = [self._bounded(i) for i in intervals(self.scope.dataset, condition)]
        names = ("position", "low", "high", "domain_low", "domain_high")
        self.warehouse.run(
            f"CREATE OR REPLACE TEMP TABLE {_CONDITION} AS SELECT "
            + ", ".join(f"unnest(${name}::BIGINT[]) AS {name}" for name in names),
            {name: [row[i] for row in listed] for i, name in enumerate(names)},
        )
        for side in self.sides:
            self.warehouse.run(
                f"CREATE OR REPLACE TEMP TABLE {part(side, 'weight')} AS SELECT w.* FROM "
                f"srsql.signal_weights({self._names(side, 'case', 'box')}, "
                f"'temp.main.{_CONDITION}') AS w"
            )

    def _bounded(self, interval: Interval) -> tuple[int, int, int, int, int]:
        """The interval with its domain; where that is observed, what the regions span."""
        low, high = (
            interval.domain
            or self.warehouse.rows(
                "SELECT coalesce(min(b.low), 0), coalesce(max(b.high), 0) "
                f"FROM temp.main.{part(RELEASED, 'box')} AS b WHERE b.position = ?",
                [interval.position],
            )[0]
        )
        return interval.position, interval.low, interval.high, low, high

    def _measure(self) -> None:
        """Tables, measures and bias of ``srsql_signal_pair``."""
        for side in self.sides:
            self.warehouse.run(
                f"CREATE OR REPLACE TEMP TABLE {part(side, 'table')} AS SELECT t.* FROM "
                f"srsql.contingency({self._names(side, 'weight', 'drug', 'reaction')}, "
                f"'temp.main.{_PAIR}') AS t"
            )
            self.warehouse.run(
                f"CREATE OR REPLACE TEMP TABLE {part(side, 'measure')} AS SELECT m.* FROM "
                f"srsql.signal_measures({self._names(side, 'table')}) AS m"
            )
        if ORIGINAL in self.sides:
            self.warehouse.run(
                f"CREATE OR REPLACE TEMP TABLE {_BIAS} AS SELECT b.* FROM srsql.signal_bias("
                f"{self._names(ORIGINAL, 'measure')}, {self._names(RELEASED, 'measure')}) AS b"
            )

    def _names(self, side: str, *names: str) -> str:
        return ", ".join(f"'temp.main.{part(side, name)}'" for name in names)

    def _rows(self, rest: str, key: str, parameters: list[Any]) -> list[tuple[Any, ...]]:
        """key, drug, reaction, the released measures, then the original ones and the bias."""
        measures = [f"released.{field.name}" for field in fields(Measures)]
        joins = ""
        if ORIGINAL in self.sides:
            measures += [f"original.{field.name}" for field in fields(Measures)]
            measures += [f"bias.{field.name}" for field in fields(Bias)]
            for table, alias in ((part(ORIGINAL, "measure"), ORIGINAL), (_BIAS, "bias")):
                joins += (
                    f"INNER JOIN temp.main.{table} AS {alias} ON {alias}.drug = released.drug "
                    f"AND {alias}.reaction = released.reaction "
                )
        return self.warehouse.rows(
            f"SELECT {key}, released.drug, released.reaction, {', '.join(measures)} "
            f"FROM temp.main.{part(RELEASED, 'measure')} AS released {joins} {rest}",
            parameters,
        )

    def _signal(self, drug: str, reaction: str, condition: Condition, row: Sequence[Any]) -> Signal:
        size = len(fields(Measures))
        original, bias = None, None
        if ORIGINAL in self.sides:
            original, bias = Measures(*row[size : 2 * size]), Bias(*row[2 * size :])
        return Signal(drug, reaction, condition, original, Measures(*row[:size]), bias)
