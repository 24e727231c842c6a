"""Signals of disproportionate reporting: the originals against what was released of them.

``rules`` reads what is asked for, ``cases`` loads the cases of both sides, and ``results`` holds
what one call finds; here it is computed. The measures themselves (PRR, ROR, IC with their
intervals, EBGM) are macros in ``sql_macros/signals``.

Only the steward's form reads raw tables; ``released_only`` reads the released views, since
differences from the originals disclose what was withheld.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import Any

from sqlglot import exp

from srsql.engine.catalog.datasets import normalized_texts, term_keys
from srsql.engine.catalog.levels import told_of_levels
from srsql.engine.catalog.releases import (
    counting_persons,
    not_released,
    shows_keys,
    without_releases,
)
from srsql.engine.catalog.series import IMPORTED, PER_QUARTER, find_series
from srsql.engine.errors import SignalError
from srsql.engine.models import made_shape
from srsql.engine.shapes import shape_of
from srsql.engine.shapes.regions import ROWS, Statement, Told
from srsql.engine.signals.cases import (
    ORIGINAL,
    PAIR,
    RELEASED,
    Scope,
    Suppressed,
    indication_of,
    leave_out,
    load_cases,
    load_names,
    load_wanted,
    side_table,
    suppressed_cases,
    suppressed_of,
    unknown_names,
)
from srsql.engine.signals.results import (
    Bias,
    Measures,
    Pairs,
    Quantiles,
    Shrinkage,
    Signal,
    Signals,
    Stratified,
    signal_of,
)
from srsql.engine.signals.rules import (
    USUAL,
    Condition,
    Counting,
    Interval,
    Missing,
    Rule,
    intervals,
)
from srsql.engine.signals.strata import Parted, Stratum, parted
from srsql.engine.store.optional import installed
from srsql.engine.store.statements import column, dotted, query, temporary
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

LEAST = 3
"""Cases from which a pair counts as one of all pairs (Lin 2016, Table 2)."""
BIAS = "srsql_signal_bias"
_SIDE_TABLES = (
    "case", "box", "drug", "reaction", "weight", "contingency", "measure", "place", "cluster_size",
    "holding", "item_mean", "crowd", "margin", "observed", "pair_table", "masked", "indication",
    "stratum_weight", "stratified",
)  # fmt: skip
_TABLES, _RELEASES = "signals/tables", "signals/releases"


def signals(
    warehouse: Warehouse,
    dataset: Dataset,
    series: str,
    rules: Sequence[Rule] | Condition | Sifted,
    *,
    quarter: str | None = None,
    released_only: bool = False,
    counting: Counting = USUAL,
) -> Signals:
    """Compute the signals; nothing is changed.

    Args:
        warehouse: may be read-only.
        dataset: says which columns are drug, reaction and role.
        series: whose releases.
        rules: what to compute, or the condition under which to compute all pairs.
        quarter: only this one; default: all released quarters, each case as its latest has it.
        released_only: read no raw table, compare with nothing.
        counting: which roles count, what becomes of missing values and unknown names, what cases
            are parted by, and what is left out of them.

    Returns:
        One signal per rule, in the order of the rules, or every pair, the most cases first.

    Raises:
        SignalError: nothing is released, or the dataset has no such columns; or no case has a drug
            or reaction of that name. Who reads released views only is told of released names only.
    """
    rules = Sifted(rules) if isinstance(rules, Condition) else rules
    every = isinstance(rules, Sifted)
    asked = ask(
        warehouse, dataset, series, () if isinstance(rules, Sifted) else rules,
        quarter=quarter, released_only=released_only, counting=counting,
    )  # fmt: skip
    scope, sides, suppressed = asked.scope, asked.sides, asked.suppressed
    run = Run(warehouse, scope, sides, counting, suppressed)
    try:
        if isinstance(rules, Sifted):
            found, quantiles = run.all_pairs(rules)
        else:
            found, quantiles = run.rules(rules), ()
    finally:
        run.close()
    return Signals(
        dataset=dataset.name,
        series=series,
        quarters=tuple(scope.releases),
        roles=scope.roles,
        released_only=released_only,
        missing=counting.missing,
        every_pair=every,
        changed_since=() if released_only else replaced_quarters(warehouse, scope),
        perturbed=perturbed_quarters(warehouse, scope),
        persons=quarters_of_persons(warehouse, scope),
        signals=found,
        quantiles=quantiles,
        priors=tuple(run.priors),
        dropped=0 if released_only else dropped_cases(warehouse, scope),
        unknown=asked.unknown,
        suppressed=suppressed.reactions,
        suppressed_drugs=suppressed.drugs,
        remarks=suppressed.remarks,
        strata=counting.strata,
        without=left_out(counting),
        masked=run.masked,
        without_indications=counting.without_indications,
        of_clusters=scope.told.of_clusters,
        levels=tuple(told_of_levels(warehouse, scope.levels)),
    )


@dataclass(frozen=True)
class Asked:
    """What a call counts, once everything that it names is known to be there."""

    scope: Scope
    sides: tuple[str, ...]
    unknown: tuple[str, ...]
    """Names that no case has, in words; they count as none."""
    suppressed: Suppressed


def ask(
    warehouse: Warehouse,
    dataset: Dataset,
    series: str,
    rules: Sequence[Rule],
    *,
    quarter: str | None,
    released_only: bool,
    counting: Counting,
) -> Asked:
    """What is counted, and of whom.

    Args:
        warehouse: may be read-only.
        dataset: says which columns are drug, reaction and role.
        series: whose releases.
        rules: whose names must be known; an empty one is none.
        quarter: only this one; None: all released ones.
        released_only: read no raw table.
        counting: how cases are counted.

    Raises:
        SignalError: see ``signals``.
    """
    scope = scope_of(warehouse, dataset, series, quarter, counting)
    sides = (RELEASED,) if released_only else (ORIGINAL, RELEASED)
    if scope.levels:
        load_names(warehouse, scope, sides)
    _check_names(warehouse, scope, rules, counting)
    allowed = counting.allow_unknown
    unknown = unknown_names(warehouse, scope, sides[0], rules, allowed=allowed) if rules else []
    masks = Rule(counting.without_drug or "", counting.without_reaction or "", Condition())
    if masks.drug or masks.reaction:
        unknown += unknown_names(warehouse, scope, sides[0], [masks], allowed=allowed)
    suppressed = suppressed_of(warehouse, scope)
    _check_told(warehouse, scope, counting, suppressed)
    return Asked(scope, sides, tuple(unknown), suppressed)


def _check_names(
    warehouse: Warehouse, scope: Scope, rules: Sequence[Rule], counting: Counting
) -> None:
    """That names are names, and none of them of cases that are left out.

    Raises:
        SignalError: one is blank, or left out.
    """
    for what in ("drug", "reaction"):
        left = getattr(counting, f"without_{what}")
        asked = [name for rule in rules if (name := getattr(rule, what))]
        names = asked if left is None else [left, *asked]
        found = term_keys(warehouse, names, scope.dataset.term_key)
        keys = dict(zip(names, found, strict=True))
        for name, visible in zip(names, normalized_texts(warehouse, names), strict=True):
            if keys[name] is None or visible is None:  # a key keeps a text of no visible sign
                raise SignalError(f"{name!r} is no name of a {what}: give one")
        for name in asked:
            if left is not None and keys[name] == keys[left]:
                raise SignalError(f"the {what} {name!r} is left out by --without-{what}")


def left_out(counting: Counting) -> tuple[str, ...]:
    """The dominant drugs and reactions whose cases are left out, in words."""
    named = (("drug", counting.without_drug), ("reaction", counting.without_reaction))
    return tuple(f"{what} {name}" for what, name in named if name)


def _check_told(
    warehouse: Warehouse, scope: Scope, counting: Counting, suppressed: Suppressed
) -> None:
    """That rows of cases tell what is asked for.

    Raises:
        SignalError: clusters tell it, or rows may lack it.
    """
    asked = {
        "--strata": bool(counting.strata),
        "--without-drug": counting.without_drug is not None,
        "--without-reaction": counting.without_reaction is not None,
        "--without-indications": counting.without_indications,
    }
    given = [option for option, wanted in asked.items() if wanted]
    if given:
        scope.told.need_rows(given[0])
    indications = counting.without_indications and (
        suppressed.reactions or suppressed_cases(warehouse, scope, indication_of(scope))
    )
    unseen = {
        "--without-drug": ("drugs", suppressed.drugs),
        "--without-reaction": ("reactions", suppressed.reactions),
        "--without-indications": ("reactions", indications),
    }
    for option, (what, hidden) in unseen.items():
        if asked[option] and hidden:
            raise SignalError(
                f"some released cases have {what} that no row shows, which {option} cannot tell: "
                "leave it out"
            )


def scope_of(
    warehouse: Warehouse,
    dataset: Dataset,
    series: str,
    quarter: str | None,
    counting: Counting,
) -> Scope:
    """Which rows count.

    Args:
        warehouse: may be read-only.
        dataset: says which columns are drug, reaction and role.
        series: whose releases.
        quarter: only this one; None: all released ones.
        counting: which roles and levels count.

    Raises:
        SignalError: nothing is released, or the dataset has no such columns, roles or levels.
    """
    declared, roles, shape = dataset.signals, counting.roles, shape_of(dataset)
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
            query(_RELEASES, "released_quarters"), {"dataset": dataset.name, "series": series}
        )
    )
    if found is None or not releases:
        raise SignalError(without_releases(warehouse, dataset.name, series))
    if quarter is not None:
        if quarter not in releases:
            raise SignalError(not_released(warehouse, dataset.name, series, quarter))
        releases = {quarter: releases[quarter]}
    elif len(releases) > 1:
        if found.ids == PER_QUARTER:
            raise SignalError(
                f"series {series!r} has other ids in every quarter, so cases cannot be counted "
                "over several: give --quarter"
            )
        shape.need_one_quarter(series, SignalError)
    told = Told(dataset, found.cumulative_schema, ROWS, roles)
    told = shape.told_pairs(warehouse, told, releases)
    dataset, roles = told.dataset, told.roles
    chosen = declared.suspect if roles is None else roles
    counted = {(declared.drug_table, declared.drug), (declared.reaction_table, declared.reaction)}
    for level in counting.levels:
        if (level.attribute.table, level.attribute.column) not in counted:
            raise SignalError(
                f"--level {level.key}: signals count {declared.drug} and {declared.reaction} alone"
            )
    return Scope(
        dataset,
        declared,
        told.schema,
        releases,
        tuple(role.strip().upper() for role in chosen if role.strip()),
        told.pairs,
        tuple(counting.levels),
        shows_keys=dataset.term_key > 0 and shows_keys(warehouse, releases.values()),
    )


def perturbed_quarters(warehouse: Warehouse, scope: Scope) -> tuple[str, ...]:
    """The quarters whose released values were drawn at random."""
    models = warehouse.rows(query(_RELEASES, "models"), {"releases": list(scope.releases.values())})
    return tuple(drawn for each, name in models for drawn in made_shape(name).drawn_in(each))


def quarters_of_persons(warehouse: Warehouse, scope: Scope) -> tuple[str, ...]:
    """The quarters whose releases count suspected duplicates as one person."""
    rows = warehouse.rows(query(_RELEASES, "schemas"), {"releases": list(scope.releases.values())})
    return counting_persons(warehouse, {quarter: schema for schema, quarter in rows})


def replaced_quarters(warehouse: Warehouse, scope: Scope) -> tuple[str, ...]:
    """The quarters whose raw rows were replaced after their release."""
    rows = warehouse.rows(
        query(_RELEASES, "replaced_quarters"), {"releases": list(scope.releases.values())}
    )
    return tuple(quarter for (quarter,) in rows)


def dropped_cases(warehouse: Warehouse, scope: Scope) -> int:
    """Cases of the originals that releases were asked to leave out for want of a value."""
    releases = list(scope.releases.values())
    return int(warehouse.value(query(_RELEASES, "dropped_cases"), {"releases": releases}))


@dataclass(frozen=True)
class Sifted:
    """Every pair under a condition, or those of them that are kept."""

    condition: Condition
    keep: Callable[[Iterator[Signal]], tuple[Signal, ...]] | None = None
    """Takes the pairs one by one, the most cases first, and gives those that are kept; None: all
    are."""


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
        self.masked = 0
        """Released cases that were left out for a dominant drug or reaction."""
        self.priors: list[Shrinkage] = []
        self.prior: dict[str, Shrinkage] = {}
        """Of each side, under the condition of the moment."""

    def rules(self, rules: Sequence[Rule]) -> tuple[Signal, ...]:
        """Each rule; those under one condition together."""
        self.load()
        wanted: dict[Condition, list[int]] = {}
        for number, rule in enumerate(rules):
            wanted.setdefault(rule.condition, []).append(number)
        found: dict[int, Signal] = {}
        for condition, numbers in wanted.items():
            pairs = [(rules[number].drug, rules[number].reaction) for number in numbers]
            load_wanted(self.warehouse, self.scope, numbers, pairs)
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
        self.load()
        self.weigh(condition, self.missing, fit=True)
        side = self.sides[0]
        (name, tables), enough = self.scope.pairs(side).every(LEAST, surely=ORIGINAL in self.sides)
        self.warehouse.run(self.of_side(name, side, *tables), enough)
        self._measure()
        strata = bool(self.counting.strata)
        if strata:
            self._stratify(condition, self.missing)
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

    def load(self) -> None:
        """The cases of each side, without those that are left out."""
        for side in self.sides:
            load_cases(self.warehouse, self.scope, side)
            self.masked = leave_out(self.warehouse, self.scope, side, self.counting)

    def weigh(self, condition: Condition, missing: Missing, *, fit: bool) -> None:
        """What each case counts under the condition; if wanted the prior that all pairs have then.

        A prior takes seconds to fit; there is none without the package that fits it.
        """
        asked = intervals(self.scope.dataset, condition)
        if self.counting.strata and missing == "exclude":
            asked = list(self._parted(condition).whole.intervals)
        restricted = self._restricted(asked, missing)
        for side in self.sides:
            self.warehouse.run(self.of_side("weight", side, "weight", "case", "box"), restricted)
            self.prior[side] = Shrinkage(condition, side, 0, *(None,) * 5)
            pairs = self.scope.pairs(side)
            self._run_each(side, pairs.weighed)
            if fit and installed("scipy"):
                name, tables = pairs.prior
                statement = self.of_side(name, side, *tables)
                self.prior[side] = Shrinkage(condition, side, *self.warehouse.rows(statement)[0])
                self.priors.append(self.prior[side])

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
        self.part(condition, missing)
        for side in self.sides:
            prior = Shrinkage(condition, side, 0, *(None,) * 5)
            tables = ("stratum_weight", "drug", "reaction")
            if installed("scipy"):
                row = self.warehouse.rows(self.of_side("stratum_prior", side, *tables))[0]
                prior = replace(Shrinkage(condition, side, *row), strata=self.counting.strata)
                self.priors.append(prior)
            statement = self.of_side("stratified", side, "stratified", *tables)
            self.warehouse.run(statement, self.shown(side, prior))

    def shown(self, side: str, prior: Shrinkage) -> dict[str, Any]:
        """The prior, and what released rows may not show, as parameters of a statement."""
        fitted = ("alpha1", "beta1", "alpha2", "beta2", "p")
        return {name: getattr(prior, name) for name in fitted} | self.hidden(side).parameters()

    def hidden(self, side: str) -> Suppressed:
        """What rows of a side may not show; originals show everything."""
        return self.suppressed if side == RELEASED else Suppressed()

    def _run_each(self, side: str, statements: Sequence[Statement]) -> None:
        for name, tables in statements:
            self.warehouse.run(self.of_side(name, side, *tables))

    def _with_domain(self, interval: Interval) -> tuple[int, int, int, int, int]:
        """The interval with its domain; where that is observed, what the regions span.

        A declared domain also cuts the interval, so that nobody meets what no value can.
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


def results_of_rules(sides: tuple[str, ...], *, strata: bool = False) -> exp.Select:
    """Number of the rule, then as ``results_of_pairs``."""
    return _results(sides, column("pair_no", "w"), strata=strata).join(
        temporary(PAIR, alias="w"), on=_same_pair("w")
    )


def _results(sides: tuple[str, ...], *keys: exp.Expr, strata: bool = False) -> exp.Select:
    """The columns of ``Measures``, ``Bias`` and, of strata, ``Stratified`` in their order, after
    ``keys`` and the names."""
    source = temporary(side_table(RELEASED, "measure"), alias=RELEASED)
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


def _columns(of: type[Measures | Bias | Stratified], alias: str) -> list[exp.Column]:
    return [column(field.name, alias) for field in fields(of)]


def _same_pair(alias: str) -> exp.Expr:
    return exp.and_(
        *[column(name, alias).eq(column(name, RELEASED)) for name in ("drug", "reaction")]
    )
