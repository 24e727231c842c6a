"""The statements of one call, over temporary tables of each side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import Any

from sqlglot import exp

from srsql.engine.parameters import Missing
from srsql.engine.shapes.regions import Statement
from srsql.engine.signals.asked import Asked
from srsql.engine.signals.cases import (
    ORIGINAL,
    PAIR,
    RELEASED,
    Scope,
    Suppressed,
    leave_out,
    load_cases,
    load_wanted,
    side_table,
)
from srsql.engine.signals.priors import NUMBERS, Priors
from srsql.engine.signals.results import (
    Bias,
    Measures,
    Pairs,
    Quantiles,
    Shrinkage,
    Signal,
    Stratified,
    signal_of,
)
from srsql.engine.signals.rules import (
    Condition,
    Counting,
    Interval,
    Rule,
    intervals,
)
from srsql.engine.signals.strata import Parted, Stratum, parted
from srsql.engine.store.doors import installed
from srsql.engine.store.statements import column, dotted, query, temporary
from srsql.engine.store.warehouse import Warehouse

LEAST_CASES = 3
"""Cases from which a pair counts as one of all pairs (Lin 2016, Table 2)."""
BIAS = "srsql_signal_bias"
_SIDE_TABLES = (
    "case", "box", "drug", "reaction", "weight", "contingency", "measure", "place", "cluster_size",
    "holding", "item_mean", "crowd", "margin", "observed", "pair_table", "masked", "indication",
    "stratum_weight", "stratified", "cell", "tree", "leaf_weight", "leaf_stratum",
)  # fmt: skip
_TABLES = "signals/tables"


@dataclass(frozen=True)
class Sifted:
    """Every pair under a condition, or those of them that are kept."""

    condition: Condition
    keep: Callable[[Iterator[Signal]], tuple[Signal, ...]] | None = None
    """Takes the pairs one by one, the most cases first, and gives those that are kept; None: all
    are."""
    strongest: int | None = None
    """Only so many, of the greatest IC025 of what is released and with an interval of its PRR."""
    counted: Callable[[int], object] | None = None
    """Told how many pairs there are, of which the strongest are taken."""


class Run:
    """The statements of one call, over temporary tables of each side."""

    def __init__(
        self,
        warehouse: Warehouse,
        scope: Scope,
        sides: tuple[str, ...],
        counting: Counting,
        suppressed: Suppressed,
    ) -> None:
        self.warehouse, self.scope, self.sides = warehouse, scope, sides
        self.counting, self.missing, self.suppressed = counting, counting.missing, suppressed
        self._priors = Priors(warehouse, scope, counting)
        self.masked = 0
        """Released cases that were left out for a dominant drug or reaction."""
        self.priors: list[Shrinkage] = []
        self.prior: dict[str, Shrinkage] = {}
        """Of each side, under the condition of the moment."""

    def rules(self, rules: Sequence[Rule]) -> tuple[Signal, ...]:
        """Each rule; those under one condition together."""
        wanted: dict[Condition, list[int]] = {}
        for number, rule in enumerate(rules):
            wanted.setdefault(rule.condition, []).append(number)
        self._load_wanted(rules, range(len(rules)))
        self.load(
            regions=self._asks(*wanted), every_name=not all(self._priors_kept(c) for c in wanted)
        )
        found: dict[int, Signal] = {}
        for condition, numbers in wanted.items():
            self._load_wanted(rules, numbers)
            known = {}
            if self.missing == "spread" and condition != Condition():
                known = self._wanted(rules, condition, "exclude")
            for number, signal in self._wanted(rules, condition, self.missing).items():
                if number in known:
                    other = known[number]
                    signal = replace(
                        signal, original_complete=other.original, released_complete=other.released
                    )
                found[number] = signal
        return tuple(found[number] for number in range(len(rules)))

    def _load_wanted(self, rules: Sequence[Rule], numbers: Sequence[int]) -> None:
        pairs = [(rules[number].drug, rules[number].reaction) for number in numbers]
        load_wanted(self.warehouse, self.scope, numbers, pairs)

    def _asks(self, *conditions: Condition) -> bool:
        """Whether anything is asked of the quasi-identifiers of a case."""
        return bool(self.counting.strata) or any(each != Condition() for each in conditions)

    def _priors_kept(self, condition: Condition) -> bool:
        """Whether the rows of other pairs have nothing to say of these."""
        counting = self.counting
        left_out = counting.without_drug is not None or counting.without_reaction is not None
        if counting.strata or counting.without_indications or left_out:
            return False
        return all(
            self.scope.pairs(side).by_name
            and (
                not installed("scipy")
                or self._priors.kept(condition, self.missing, side, self.scope.pairs(side).prior[0])
            )
            for side in self.sides
        )

    def _wanted(
        self, rules: Sequence[Rule], condition: Condition, missing: Missing
    ) -> dict[int, Signal]:
        """The signals of the wanted pairs by number."""
        main = missing == self.missing
        self.weigh(condition, missing, fit=main)
        self._measure()
        strata = main and bool(self.counting.strata)
        if strata:
            self._stratify(condition, missing)
        statement = results_of_rules(self.sides, strata=strata).sql(dialect="duckdb")
        return {
            number: signal_of(rules[number].drug, rules[number].reaction, condition, row)
            for number, _, _, *row in self.warehouse.rows(statement)
        }

    def all_pairs(self, asked: Sifted) -> tuple[Sequence[Signal], tuple[Quantiles, ...]]:
        """Every pair of surely enough original cases; of released ones, of possibly enough."""
        condition = asked.condition
        self.load(regions=self._asks(condition))
        self.weigh(condition, self.missing, fit=True)
        side = self.sides[0]
        (name, tables), enough = self.scope.pairs(side).every(
            LEAST_CASES, surely=ORIGINAL in self.sides
        )
        self.warehouse.run(self.of_side(name, side, *tables), enough)
        self._measure()
        strata = bool(self.counting.strata)
        if strata:
            self._stratify(condition, self.missing)
        if asked.strongest is not None:
            (every,) = self.warehouse.rows(exp.select("count(*)").from_(_released()).sql("duckdb"))
            if asked.counted is not None:
                asked.counted(int(every[0]))
            strong = strongest_pairs(self.sides, asked.strongest, strata=strata)
            statement = strong.sql(dialect="duckdb")
        else:
            statement = results_of_pairs(self.sides, strata=strata).sql(dialect="duckdb")
        found: Sequence[Signal]
        if asked.keep is not None:
            found = asked.keep(
                signal_of(drug, reaction, condition, row)
                for rows in self.warehouse.batches(statement)
                for drug, reaction, *row in rows
            )
        else:
            found = Pairs(condition, self.warehouse.arrow_batches(statement))
        if ORIGINAL not in self.sides:
            return found, ()
        quantiles = self.warehouse.rows(query(_TABLES, "bias_quantiles"))
        return found, tuple(Quantiles(*row) for row in quantiles)

    def load(self, *, regions: bool = True, every_name: bool = True) -> None:
        """The cases of each side, without those that are left out; see ``load_cases``."""
        for side in self.sides:
            load_cases(self.warehouse, self.scope, side, regions=regions, every_name=every_name)
            self.masked = leave_out(self.warehouse, self.scope, side, self.counting)

    def weigh(self, condition: Condition, missing: Missing, *, fit: bool) -> None:
        """What each case counts under the condition; if wanted the prior that all pairs have then.

        A prior takes seconds to fit; there is none without the package that fits it.
        """
        asked = intervals(self.scope.dataset, condition)
        if self.counting.strata and missing == "exclude" and not self.scope.told.own_strata:
            asked = list(self._parted(condition).whole.intervals)
        restricted = self._restricted(asked, missing)
        for side in self.sides:
            self.warehouse.run(self.of_side("weight", side, "weight", "case", "box"), restricted)
            self.prior[side] = Shrinkage(condition, side, 0, *(None,) * 5)
            pairs = self.scope.pairs(side)
            self._run_each(side, pairs.weighed)
            if fit and installed("scipy"):
                self.prior[side] = self._prior(condition, missing, side, pairs.prior)
                self.priors.append(self.prior[side])

    def _prior(
        self, condition: Condition, missing: Missing, side: str, statement: Statement
    ) -> Shrinkage:
        name, tables = statement
        counted = self.of_side(name, side, *tables)
        return self._priors.of(
            condition, missing, side, name, lambda: self.warehouse.rows(counted)[0]
        )

    def _restricted(self, asked: Sequence[Interval], missing: Missing) -> dict[str, Any]:
        """The conditions as parameters of a statement."""
        rows = [self._with_domain(interval) for interval in asked]
        names = ("positions", "lows", "highs", "domain_lows", "domain_highs")
        listed = {name: [row[place] for row in rows] for place, name in enumerate(names)}
        return listed | {"exclude": missing == "exclude"}

    def _parted(self, condition: Condition) -> Parted:
        quarters = tuple(self.scope.releases)
        return parted(self.scope.dataset, self.counting, condition, quarters)

    def part(self, condition: Condition, missing: Missing) -> list[Stratum]:
        """How far each case of each side is in each stratum, by its place in what is returned;
        the first is all of them together."""
        found = self._parted(condition)
        strata: list[Stratum] = [found.whole, *found.strata]
        given = [
            self._restricted(stratum.intervals, missing)
            | {"stratum": number, "quarter": stratum.quarter}
            for number, stratum in enumerate(strata)
        ]
        for side in self.sides:
            names = ("stratum_weight", "weight")
            self.warehouse.run(self.of_side("stratum_weights", side, *names))
            into = self.of_side("stratum_weight", side, "stratum_weight", "case", "box")
            for parameters in given:
                self.warehouse.run(into, parameters)
        return strata

    def _stratify(self, condition: Condition, missing: Missing) -> None:
        """What strata make of the wanted pairs."""
        if self.scope.told.own_strata:
            statement = self.of_side("leaf_stratum", RELEASED, "leaf_stratum", "tree")
            self.warehouse.run(statement, {"by": list(self.counting.strata)})
        else:
            self.part(condition, missing)
        for side in self.sides:
            prior = Shrinkage(condition, side, 0, *(None,) * 5)
            pairs = self.scope.pairs(side)
            if installed("scipy"):
                prior = self._prior(condition, missing, side, pairs.stratum_prior)
                prior = replace(prior, strata=self.counting.strata)
                self.priors.append(prior)
            name, tables = pairs.stratified
            statement = self.of_side(name, side, "stratified", *tables)
            self.warehouse.run(statement, {} if pairs.own_strata else self.shown(side, prior))

    def shown(self, side: str, prior: Shrinkage) -> dict[str, Any]:
        """The prior, and what released rows may not show, as parameters of a statement."""
        return {name: getattr(prior, name) for name in NUMBERS} | self.hidden(side).parameters()

    def hidden(self, side: str) -> Suppressed:
        """What rows of a side may not show; originals show everything."""
        return self.suppressed if side == RELEASED else Suppressed()

    def _run_each(self, side: str, statements: Sequence[Statement]) -> None:
        for name, tables in statements:
            self.warehouse.run(self.of_side(name, side, *tables))

    def _with_domain(self, interval: Interval) -> tuple[int, int, int, int, int]:
        """The interval with its domain; where that is observed, what the regions span.

        A declared domain also cuts the interval, so that no case meets what no value can.
        """
        if interval.domain:
            low, high = interval.domain
            return interval.position, max(interval.low, low), min(interval.high, high), low, high
        name, tables = "observed_domain", ["box"]
        if self.scope.states:  # so that the last row of a trend is what there is without one
            name, tables = "observed_domain_of_latest", ["box", "case"]
        statement = self.of_side(name, RELEASED, *tables)
        low, high = self.warehouse.rows(statement, {"position": interval.position})[0]
        return interval.position, interval.low, interval.high, low, high

    def _measure(self) -> None:
        """Tables and measures of the pairs on each side, and what the release changes of them."""
        for side in self.sides:
            pairs = self.scope.pairs(side)
            self._run_each(side, pairs.tables)
            self.warehouse.run(
                self.of_side("measure", side, "measure", "contingency"),
                self.shown(side, self.prior[side]),
            )
            self._run_each(side, pairs.measured)
        if ORIGINAL in self.sides:
            self.warehouse.run(query(_TABLES, "bias"))

    def of_side(self, statement: str, side: str, *tables: str) -> str:
        """A statement over tables of one side."""
        return query(_TABLES, statement, **{name: side_table(side, name) for name in tables})

    def close(self) -> None:
        """Drop the temporary tables."""
        names = [side_table(side, name) for side in (ORIGINAL, RELEASED) for name in _SIDE_TABLES]
        for name in (*names, PAIR, BIAS):
            self.warehouse.run(f"DROP TABLE IF EXISTS {dotted('temp', 'main', name)}")


@contextmanager
def weighed(
    warehouse: Warehouse, asked: Asked, condition: Condition, counting: Counting
) -> Iterator[Run]:
    """The statements of one call, while which each side has its cases and what each of them counts.

    Args:
        warehouse: may be read-only.
        asked: which cases.
        condition: that they meet.
        counting: how they are counted.
    """
    run = Run(warehouse, asked.scope, asked.sides, counting, asked.suppressed)
    try:
        run.load()
        run.weigh(condition, counting.missing, fit=False)
        yield run
    finally:
        run.close()


def results_of_pairs(sides: tuple[str, ...], *, strata: bool = False) -> exp.Select:
    """Names, released measures, then the original ones and the bias, then what strata make of the
    released ones and of the original ones; the most cases first."""
    keys = [exp.Ordered(this=column("a", sides[0]), desc=True)]
    names = [column(name, RELEASED) for name in ("drug", "reaction")]
    return _results(sides, strata=strata).order_by(*keys, *names)


def strongest_pairs(sides: tuple[str, ...], most: int, *, strata: bool = False) -> exp.Select:
    """Those of the greatest IC025 of what is released, of equal ones by name: some of a hundred
    thousand, of which none but these becomes a record."""
    least = exp.func("coalesce", column("ic025", RELEASED), exp.Literal.number(0))
    names = [column(name, RELEASED) for name in ("drug", "reaction")]
    return (
        _results(sides, strata=strata)
        .where(*[column(end, RELEASED).neq(0) for end in ("prr_low", "prr_high")])
        .order_by(exp.Ordered(this=least, desc=True), *names)
        .limit(most)
    )


def results_of_rules(sides: tuple[str, ...], *, strata: bool = False) -> exp.Select:
    """Number of the rule, then as ``results_of_pairs``."""
    return _results(sides, column("pair_no", "w"), strata=strata).join(
        temporary(PAIR, alias="w"), on=_same_pair("w")
    )


def _results(sides: tuple[str, ...], *keys: exp.Expr, strata: bool = False) -> exp.Select:
    """The columns of ``Measures``, ``Bias`` and, of strata, ``Stratified`` in their order, after
    ``keys`` and the names."""
    source = _released()
    names = [column(name, RELEASED) for name in ("drug", "reaction")]
    found = exp.select(*keys, *names, *_columns(Measures, RELEASED)).from_(source)
    if ORIGINAL in sides:
        original = temporary(side_table(ORIGINAL, "measure"), alias=ORIGINAL)
        found = found.select(*_columns(Measures, ORIGINAL), *_columns(Bias, "bias"))
        found = found.join(original, on=_same_pair(ORIGINAL))
        found = found.join(temporary(BIAS, alias="bias"), on=_same_pair("bias"))
    for side in reversed(sides) if strata else ():
        alias = f"{side}_strata"
        parted_table = temporary(side_table(side, "stratified"), alias=alias)
        found = found.select(*_columns(Stratified, alias)).join(parted_table, on=_same_pair(alias))
    return found


def _released() -> exp.Table:
    return temporary(side_table(RELEASED, "measure"), alias=RELEASED)


def _columns(of: type[Measures | Bias | Stratified], alias: str) -> list[exp.Column]:
    return [column(field.name, alias) for field in fields(of)]


def _same_pair(alias: str) -> exp.Expr:
    return exp.and_(
        *[column(name, alias).eq(column(name, RELEASED)) for name in ("drug", "reaction")]
    )
