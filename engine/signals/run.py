"""The statements of one call of `srsql signals`, over temporary tables of both sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from srsql.engine.signals.cases import (
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
from srsql.engine.signals.results import Bias, Measures, Quantiles, Shrinkage, Signal
from srsql.engine.signals.rules import Condition, Interval, Rule, intervals
from srsql.engine.warehouse.statements import dotted
from srsql.engine.warehouse.warehouse import Warehouse

LEAST = 3
"""Cases from which a pair counts as one of all pairs (Lin 2016, Table 2)."""
_CONDITION, _PAIR, _BIAS = (f"srsql_signal_{name}" for name in ("condition", "pair", "bias"))
_OF_SIDES = (
    *("case", "box", "drug", "reaction"),
    *("weight", "seen", "prior"),
    *("table", "ratio", "measure"),
)


class Run:
    """The statements of one call."""

    def __init__(self, warehouse: Warehouse, scope: Scope, sides: tuple[str, ...]) -> None:
        self.warehouse, self.scope, self.sides = warehouse, scope, sides
        self.priors: list[Shrinkage] = []

    def rules(self, rules: Sequence[Rule]) -> tuple[Signal, ...]:
        """Each rule; those under one condition together."""
        load_wanted(self.warehouse, [(rule.drug, rule.reaction) for rule in rules])
        self._load()
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
        self._load()
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

    def _load(self) -> None:
        load_nodes(self.warehouse, self.scope.dataset)
        for side in self.sides:
            load_cases(self.warehouse, self.scope, side)

    def _weigh(self, condition: Condition) -> None:
        """What each case counts under the condition, and the prior that all pairs have then."""
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
            self._fit(side, condition)

    def _fit(self, side: str, condition: Condition) -> None:
        for name, macro, inputs in (
            ("seen", "observed_pairs", ("weight", "drug", "reaction")),
            ("prior", "gps_prior", ("seen",)),
        ):
            self.warehouse.run(
                f"CREATE OR REPLACE TEMP TABLE {part(side, name)} AS SELECT m.* "
                f"FROM srsql.{macro}({self._names(side, *inputs)}) AS m"
            )
        pairs, *prior = self.warehouse.rows(
            "SELECT p.pairs, p.prior.alpha1, p.prior.beta1, p.prior.alpha2, p.prior.beta2, "
            f"p.prior.p FROM temp.main.{part(side, 'prior')} AS p"
        )[0]
        self.priors.append(Shrinkage(condition, side, pairs, *prior))

    def _bounded(self, interval: Interval) -> tuple[int, int, int, int, int]:
        """The interval with its domain; where that is observed, what the regions span.

        A declared domain also cuts the interval, so that nobody meets what no value can.
        """
        if interval.domain:
            low, high = interval.domain
            return interval.position, max(interval.low, low), min(interval.high, high), low, high
        low, high = self.warehouse.rows(
            "SELECT coalesce(min(b.low), 0), coalesce(max(b.high), 0) "
            f"FROM temp.main.{part(RELEASED, 'box')} AS b WHERE b.position = ?",
            [interval.position],
        )[0]
        return interval.position, interval.low, interval.high, low, high

    def _measure(self) -> None:
        """Tables, measures and bias of ``srsql_signal_pair``."""
        for side in self.sides:
            for name, macro, inputs in (
                ("table", "contingency", ("weight", "drug", "reaction")),
                ("ratio", "signal_measures", ("table",)),
                ("measure", "shrunk_measures", ("ratio", "prior")),
            ):
                pairs = f", 'temp.main.{_PAIR}'" if name == "table" else ""
                self.warehouse.run(
                    f"CREATE OR REPLACE TEMP TABLE {part(side, name)} AS SELECT m.* "
                    f"FROM srsql.{macro}({self._names(side, *inputs)}{pairs}) AS m"
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

    def close(self) -> None:
        """Drop the temporary tables."""
        names = [part(side, name) for side in (ORIGINAL, RELEASED) for name in _OF_SIDES]
        for name in (*names, NODE, WANTED, _CONDITION, _PAIR, _BIAS):
            self.warehouse.run(f"DROP TABLE IF EXISTS {dotted('temp', 'main', name)}")
