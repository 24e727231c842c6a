"""Random series of count tables: claim (d), by attackers who have every table of a series.

A unit is counted in its first release alone, whatever comes later: follow-ups with other items,
reports that come late, cases that leave. So tables of different releases count different units, and
what fits all of them together is whatever fits each. The first tests make tables by the macro from
random histories; the last ones run the engine, with replaced data, erasure and second series.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from oracles.count_tables import NOTHING, Counts, Key, Maker, Rules, Tree, Unit, extremes
from properties.test_count_tables import ITEMS, world
from release.test_counts_alone import members, placed_units, schema
from support.amount import IN_FULL
from support.count_tables import told_by_macro, without_empty
from support.quarters import write_quarter
from support.random_world import World

from srsql.engine.api.engine import Engine
from srsql.engine.errors import NothingToReleaseError, SrsqlError


@dataclass
class Person:
    """What is reported of a unit: its leaf, and what it holds in each period that has it."""

    leaf: str
    held: dict[int, frozenset[Any]]
    late: int | None = None
    """The period whose release is the first that has it, where its first report came late."""
    leaves: int | None = None
    """The period before which it is erased."""

    def in_release(self, period: int) -> bool:
        known = period in self.held and (self.late is None or period >= self.late)
        return (known or self.late == period) and not (self.leaves and period >= self.leaves)

    def holds(self, period: int) -> frozenset[Any]:
        """As far as it is known when the period is released."""
        return frozenset().union(*(items for at, items in self.held.items() if at <= period))


@dataclass
class Series:
    """Periods, rules, and who is reported."""

    periods: int
    tree: Tree
    rules: Rules
    persons: list[Person]
    counted: dict[int, list[tuple[int, Unit]]] = field(default_factory=dict)

    def release(self) -> None:
        """Each period counts those that no earlier release has."""
        seen = set[int]()
        for period in range(self.periods):
            here = [n for n, each in enumerate(self.persons) if each.in_release(period)]
            self.counted[period] = [
                (n, (self.persons[n].leaf, self.persons[n].holds(period)))
                for n in here
                if n not in seen
            ]
            seen |= set(here)


def random_series(seed: int) -> Series:
    luck = random.Random(seed)
    units, tree, rules = world(seed, most=60)
    periods = luck.randint(2, 4)
    persons = []
    for leaf, items in units:
        first = luck.randrange(periods)
        held = {first: items}
        for later in range(first + 1, periods):
            if luck.random() < 0.35:  # a follow-up repeats items, changes them or adds some
                more = frozenset(item for item in ITEMS[:6] if luck.random() < 0.15)
                held[later] = luck.choice((items, items | more, more))
        late = first + 1 if first + 1 < periods and luck.random() < 0.15 else None
        gone = luck.randint(first + 1, periods) if luck.random() < 0.15 else None
        persons.append(Person(leaf, held, late, gone))
    return Series(periods, tree, Rules(rules.k, rules.theta, rules.kinds), persons)


def forced(sql: Any, seed: int) -> Iterator[tuple[Any, ...]]:
    """What all tables of a series force above a threshold, on holders of any of its releases."""
    series = random_series(seed)
    series.release()
    tree, rules = series.tree, series.rules
    everyone = [n for several in series.counted.values() for n, _ in several]
    assert len(everyone) == len(set(everyone)), "a unit is counted once"
    units = {p: [unit for _, unit in several] for p, several in series.counted.items()}
    makers = {p: Maker(several, tree, rules) for p, several in units.items() if several}
    told = {p: maker.tell() for p, maker in makers.items()}
    for period, cells in told.items():
        assert told_by_macro(sql, units[period], tree, rules) == without_empty(cells)
        for key, of in cells.items():
            assert all(n == 0 or n >= rules.k for n in of.values()), (key, of)
    for known in (NOTHING, *(frozenset({item}) for item in ITEMS)):
        for sensitive in sorted(rules.theta):
            if rules.theta[sensitive] < 1 and sensitive[0] not in {a for a, _ in known}:
                yield from _together(series, makers, told, units, known, sensitive)


def _together(
    series: Series, makers: dict[int, Maker], told: dict[int, Any], units: dict[int, list[Unit]],
    known: Key, sensitive: Any,
) -> Iterator[tuple[Any, ...]]:  # fmt: skip
    """The least share of several releases together: data sets of each are free of the others."""
    theta, asked = series.rules.theta[sensitive], known | {sensitive}
    keys = [NOTHING, known, frozenset({sensitive}), asked]
    for node in series.tree.nodes():
        where = [p for p in told if node in told[p].get(known, {})]
        counts: dict[int, Counts] = {p: makers[p].counts for p in where}
        above = [
            p for p in where
            if counts[p].of(node, asked) > theta * counts[p].of(node, known)
        ]  # fmt: skip
        least = {
            p: extremes(told[p], series.tree, keys, node, asked, len(units[p]))[0] for p in above
        }
        least |= {p: 0 for p in where if p not in above}
        several = [c for n in range(1, len(above) + 1) for c in combinations(above, n)]
        for chosen in several:
            holders = sum(counts[p].of(node, known) for p in chosen)
            if sum(least[p] for p in chosen) > theta * holders:
                yield node, known, sensitive, chosen


def check(sql: Any, seeds: range) -> None:
    counted = 0
    for seed in seeds:
        assert list(forced(sql, seed)) == [], seed
        counted += 1
    assert counted == len(seeds)


def test_tables_of_a_series_together_force_no_share_above_its_threshold(sql: Any) -> None:
    check(sql, range(50))


@pytest.mark.thorough
def test_nor_do_those_of_two_thousand_series(sql: Any) -> None:
    check(sql, range(2000))


QUARTERS = ("2011Q1", "2011Q2", "2011Q3")
VIEWS = ("case_count", "item_count", "pair_count")


class History:
    """A random series of releases of counts, and what was told as each came out."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.rng = random.Random(seed)
        self.folder, self.files = folder, 0
        self.world = World(self.rng)
        self.engine = Engine(folder / "w.duckdb")
        self.options: dict[str, Any] = {"k": 3, "theta": "0.4", "seed": seed}
        self.options |= self.rng.choice(
            ({"model": "tables"}, {"model": "tables"}, {"model": "ms", "terms": "tables"})
        )
        self.told: dict[str, Any] = {}
        self.counted: dict[str, set[str]] = {}
        self.refused = 0

    def ingest(self, quarter: str) -> None:
        self.files += 1
        reports = self.world.quarters[quarter]
        archive = write_quarter(self.folder / str(self.files), quarter, reports, [])
        self.engine.ingest([archive], replace=True, allow_incomplete=True)

    def tables(self, quarter: str) -> list[Any]:
        return [
            self.engine.sql(f"SELECT * FROM {schema(quarter)}.{view} ORDER BY ALL")
            for view in VIEWS
        ]

    def release(self, quarter: str) -> None:
        try:
            self.engine.release.make(quarter, **self.options)
        except NothingToReleaseError:
            return
        before = set().union(*self.counted.values())
        new = {case for case in members(self.engine, quarter) if case not in before}
        self.counted[quarter] = new
        self.told[quarter] = self.tables(quarter)
        units = sum(cases for *_, cases in self.told[quarter][0])
        assert units in (0, len(new)), "all cases that no earlier release has, or too few of them"
        if self.options["model"] == "tables":
            assert new == members(self.engine, quarter).keys()
            assert len(placed_units(self.engine, quarter)) == len(new)

    def happen(self, quarter: str) -> None:
        """What may follow a release: none of it changes what was told."""
        rng = self.rng
        if rng.random() < 0.5 and self.counted[quarter]:
            self.engine.steward.forget([rng.choice(sorted(self.counted[quarter]))], reason="asked")
        if rng.random() < 0.5:
            self.world.add(quarter, self.world.newcomers(6))
            self.ingest(quarter)
            with pytest.raises(SrsqlError, match=r"its counts are never revised|nothing to"):
                self.engine.release.correct(quarter)
        if len(self.counted[quarter]) and rng.random() < 0.5:
            second = self.options | {"series": "second"}
            with pytest.raises(SrsqlError, match=r"are counted in the tables of|nothing|No group"):
                self.engine.release.make(quarter, **second)
            self.refused += 1

    def live(self) -> None:
        for quarter in QUARTERS:
            self.world.arrive(quarter)
            self.world.add(quarter, self.world.newcomers(30))
            self.ingest(quarter)
            self.release(quarter)
            if quarter in self.counted:
                self.happen(quarter)
        assert len(self.counted) > 1
        for quarter, told in self.told.items():
            assert self.tables(quarter) == told
        for one, other in combinations(self.counted.values(), 2):
            assert not one & other


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40 if IN_FULL else 4))
def test_what_a_series_tells_stays_and_no_case_is_counted_twice(tmp_path: Path, seed: int) -> None:
    history = History(tmp_path, seed)
    try:
        history.live()
    finally:
        history.engine.close()
