"""Mutations of the maker of count tables: each rule left out, on drawn cases, where the checks
notice; and of the stages that make two releases with counts."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import duckdb

import srsql
from benchmarks.mutations.records import MACROS, Attribute, Mutation, Text, applied
from srsql.engine.store import statements

COUNTED = "counted"
"""The world of two releases with counts, of which the second has most cases of the first."""
COUNTS = "drawn counts"
"""The world of these: no release, but what ``srsql.count_tables`` tells of drawn cases."""
STRATA = "terms/told_strata.sql"
PAIRS = "terms/told_pairs.sql"
MOVABLE = "terms/movable_pairs.sql"
MAKER = "terms/count_tables.sql"
CHECK = "check"
DRAWN = 30
TREE = {"all": None, "F": "all", "not F": "all", "M": "not F", "U": "not F"}
LEAVES = ("F", "M", "U")
ITEMS = {
    "x": "drug", "y": "drug", "z": "drug", "s": "reac", "t": "reac", "H": "outc", "D": "outc",
}  # fmt: skip
KINDS = [("drug", "reac"), ("drug", "outc"), ("outc", "reac")]
K = 3
THETA = (2, 5)
Held = list[tuple[str, frozenset[str]]]


def _of(name: str, does: str, file: str, old: str, new: str) -> Mutation:
    return Mutation(name, "count tables", does, COUNTS, (Text(file, old, new),))


def _made(name: str, does: str, way: Text | Attribute) -> Mutation:
    return Mutation(name, "count tables", does, COUNTED, (way,))


def _less(function: Any) -> Any:
    """``make_counts`` of a lower k."""
    return lambda release, tables: function(release, replace(tables, k=tables.k - 1))


def _low_end_alone(function: Any) -> Any:
    """``_lies_within`` that asks for the lower end of a region where there is one."""

    def lies_within(dataset: Any, cut: Any, alias: str) -> Any:
        return function(dataset, cut if cut.low is None else replace(cut, below=None), alias)

    return lies_within


OF_COUNTS = [
    _of("counts of k - 1 units", "tells strata of k - 1 units", MAKER,
        "u.units >= k AS passes FROM unit_nodes", "u.units >= k - 1 AS passes FROM unit_nodes"),
    _of("items of k - 1 units", "tells items that k - 1 units hold", STRATA,
        "    n.units >= k\n", "    n.units >= k - 1\n"),
    _of("all but one hold it", "tells items that all but one or two hold", STRATA,
        "    AND (u.units = n.units OR u.units - n.units >= k)\n    AND n.units",
        "    AND n.units"),
    _of("any base rate", "tells items whatever their share of all units", STRATA,
        "    AND n.units::HUGEINT * i.theta_den <= u.units::HUGEINT * i.theta_num AS passes",
        "    AS passes"),
    _of("children that do not pass", "tells strata of which one passes", STRATA,
        "HAVING bool_and(p.passes)", "HAVING bool_or(p.passes)"),
    _of("terms one by one", "tells some terms of an attribute with one term a unit", STRATA,
        "    i.group_no,\n    o.node,", "    o.item_no AS group_no,\n    o.node,"),
    _of("no term for the rest", "leaves out who has none of the told terms", STRATA,
        "    i.rest AND NOT EXISTS", "    false AND NOT EXISTS"),
    _of("without G1", "tells items that others are forced on", STRATA,
        "o.passes AND c.node IS NULL AS passes", "o.passes AS passes"),
    _of("G1 by theta alone", "lets k and more be forced", STRATA,
        "    f.units >= k\n    OR", "    false\n    OR"),
    _of("G1 by k alone", "lets more than theta be forced", STRATA,
        "    OR f.units::HUGEINT * f.theta_den > o.units::HUGEINT * f.theta_num;", ";"),
    _of("pairs of k - 1 units", "tells pairs that k - 1 units hold", PAIRS,
        "    p.units >= k\n    AND coalesce", "    p.units >= k - 1\n    AND coalesce"),
    _of("any share of a pair", "tells pairs whatever their share of the holders", PAIRS,
        "coalesce(p.units::HUGEINT * o.theta_den <= a.units::HUGEINT * o.theta_num, false) "
        "AS passes", "a.units IS NOT NULL AS passes"),
    _of("pairs without their items", "tells pairs where their items are not known", PAIRS,
        "coalesce(p.units::HUGEINT * o.theta_den <= a.units::HUGEINT * o.theta_num, false) "
        "AS passes",
        "coalesce(p.units::HUGEINT * o.theta_den <= a.units::HUGEINT * o.theta_num, true) "
        "AS passes"),
    _of("without G2", "tells pairs that force a share on a part", MAKER,
        "'fitting_pairs', 'known_items', 'item_leaves', 'unit_leaves', strata, 'within', items, k"
        "\n    ) AS f", "'fitting_pairs', 'known_items', 'item_leaves', 'unit_leaves', strata, "
        "'within', items, k\n    ) AS f\n    WHERE false"),
    _of("the root alone without G2", "tells pairs of all units that force a share on a part",
        MAKER, "'coarse_pairs', 'known_items', 'item_leaves', 'unit_leaves', strata, 'within', "
        "items, k\n    ) AS f", "'coarse_pairs', 'known_items', 'item_leaves', 'unit_leaves', "
        "strata, 'within', items, k\n    ) AS f\n    WHERE false"),
    _of("G2 by k alone", "asks no threshold of the parts of a told pair", PAIRS,
        "\n        AND greatest(s.overlap, c.here - (c.room - s.room))::HUGEINT * c.theta_den\n"
        "        <= c.holders::HUGEINT * c.theta_num\n", "\n"),
    _of("elsewhere beyond theta", "tells pairs whose item lies elsewhere whatever its share there",
        MOVABLE, "\n                AND t.units - least(t.rest_room, t.holders - here) - "
        "t.beside_room <= t.allowed", ""),
    _made("old cases counted again", "counts the cases of earlier releases, too",
          Text("terms/queries/count_tables.sql", "\nWHERE r.is_new;", ";")),
    _made("released counts of k - 1 cases", "releases counts of k - 1 cases",
          Attribute("engine.release.stages.counts:make_counts", _less)),
    _made("thresholds of counts twice as high", "counts by thresholds twice as high",
          Text("terms/steps/items_apart.sql", "h.theta_num::BIGINT AS theta_num",
               "least(2 * h.theta_num, h.theta_den)::BIGINT AS theta_num")),
    _made("regions that straddle", "puts regions that straddle a cut within it",
          Attribute("engine.shapes.strata:_lies_within", _low_end_alone)),
    _of("without G3", "tells two partners that force their item", MAKER,
        "ANTI JOIN bridged AS b ON p.group_no = b.group_no\n", ""),
]  # fmt: skip


@dataclass(frozen=True)
class Drawn:
    """Cases, and the attributes of which each has one term at most."""

    held: Held
    single: frozenset[str]


def _drawn() -> Iterator[Drawn]:
    """Cases with frequent items, of few strata; every third with one outcome at most."""
    for seed in range(DRAWN):
        luck = random.Random(seed)
        share = {item: luck.choice((0.15, 0.35, 0.6, 0.75)) for item in ITEMS}
        share |= {item: luck.choice((0.1, 0.3, 0.4)) for item in "st"}
        single = frozenset({"outc"} if seed % 3 == 2 else ())
        weights = [luck.random() + 0.05 for _ in LEAVES]
        held = []
        for _ in range(luck.randint(12, 60)):
            items = {item for item in ITEMS if luck.random() < share[item]}
            items -= {"D"} if single and "H" in items else set()
            held.append((luck.choices(LEAVES, weights)[0], frozenset(items)))
        yield Drawn(held, single)
    for joint in (5, 6):  # most holders of s have x and H, and few have both: rule G3
        counts = {"xHs": joint, "xs": 2, "Hs": 2, "x": 40, "H": 40, "": 100}
        yield Drawn([("M", frozenset(items)) for items, n in counts.items() for _ in range(n)],
                    frozenset())  # fmt: skip
    elsewhere = {"F": {"xs": 28, "x": 32, "": 40}, "M": {"xs": 2, "x": 13, "": 90}}
    yield Drawn([(leaf, frozenset(items)) for leaf, counts in elsewhere.items()
                 for items, n in counts.items() for _ in range(n)], frozenset())  # fmt: skip


def _table(con: Any, name: str, columns: str, rows: Sequence[Sequence[object]]) -> str:
    con.execute(f"CREATE OR REPLACE TEMP TABLE {name} ({columns})")
    if rows:
        marks = ", ".join("(" + ", ".join("?" * len(row)) + ")" for row in rows)
        con.execute(
            f"INSERT INTO temp.main.{name} VALUES {marks}", [each for row in rows for each in row]
        )
    return f"'temp.main.{name}'"


def _told(con: Any, drawn: Drawn) -> list[tuple[Any, ...]]:
    """Told cells: stratum, first item, second item, units; of the rest an item is its attribute."""
    nodes = {node: number for number, node in enumerate(TREE)}
    items = [*ITEMS, *sorted(drawn.single)]
    number = {item: place for place, item in enumerate(items)}
    rows = []
    for item in items:
        attribute = ITEMS.get(item, item)
        own = number[item]
        if attribute in drawn.single:
            own = min(number[each] for each in items if ITEMS.get(each, each) == attribute)
        theta = THETA if attribute == "reac" else (1, 1)
        rows.append((number[item], own, attribute, item in drawn.single, *theta))
    tables = [
        _table(con, "stratum", "node INTEGER, parent INTEGER",
               [(nodes[n], nodes.get(p or "")) for n, p in TREE.items()]),
        _table(con, "counted_unit", "unit INTEGER, leaf INTEGER",
               [(unit, nodes[leaf]) for unit, (leaf, _) in enumerate(drawn.held)]),
        _table(con, "unit_item", "unit INTEGER, item_no INTEGER",
               [(u, number[i]) for u, (_, held) in enumerate(drawn.held) for i in sorted(held)]),
        _table(con, "counted_item", "item_no INTEGER, group_no INTEGER, attribute VARCHAR, "
               "rest BOOLEAN, theta_num BIGINT, theta_den BIGINT", rows),
        _table(con, "counted_kind", "attribute VARCHAR, other VARCHAR", KINDS),
    ]  # fmt: skip
    names, found = list(TREE), []
    for one, other, node, units in con.execute(
        f"SELECT c.* FROM srsql.count_tables({', '.join(tables)}, {K}) AS c WHERE c.units > 0"
    ).fetchall():
        held = [None if each is None else items[each] for each in (one, other)]
        found.append((names[node], *held, units))
    return sorted(found, key=str)


def _refused(con: Any, drawn: Drawn, told: Sequence[tuple[Any, ...]]) -> list[str]:
    """The checks that do not pass."""

    def pair(item: str) -> tuple[str, str | None]:
        return ITEMS.get(item, item), item if item in ITEMS else None

    item, other = "attribute VARCHAR, term VARCHAR", "other_attribute VARCHAR, other_term VARCHAR"
    cells = ", ".join((
        _table(con, "case_count", "stratum VARCHAR, cases BIGINT",
               [(n, c) for n, a, b, c in told if a is None]),
        _table(con, "item_count", f"stratum VARCHAR, {item}, cases BIGINT",
               [(n, *pair(a), c) for n, a, b, c in told if a and not b]),
        _table(con, "pair_count", f"stratum VARCHAR, {item}, {other}, cases BIGINT",
               [(n, *pair(a), *pair(b), c) for n, a, b, c in told if b]),
    ))  # fmt: skip
    tree = _table(con, "tree", "stratum VARCHAR, parent VARCHAR", list(TREE.items()))
    theta = _table(con, "thresholds", f"{item}, theta_num BIGINT, theta_den BIGINT",
                   [("reac", term, *THETA) for term in "st"])  # fmt: skip
    counted = _table(con, "counted", "unit INTEGER, stratum VARCHAR",
                     [(u, leaf) for u, (leaf, _) in enumerate(drawn.held)])  # fmt: skip
    rows = [(u, *pair(i)) for u, (_, of) in enumerate(drawn.held) for i in sorted(of)]
    held = _table(con, "held", f"unit INTEGER, {item}", rows)
    single = _table(con, "single", "attribute VARCHAR", [(each,) for each in drawn.single])
    kinds = _table(con, "kinds", "attribute VARCHAR, other VARCHAR", KINDS)
    calls = {
        "check_count_cells": f"{cells}, {tree}, {K}",
        "check_count_theta": f"{cells}, {tree}, {theta}, {K}",
        "check_count_bridges": f"{cells}, {tree}, {theta}",
        "check_count_truth": f"{cells}, {tree}, {counted}, {held}, {single}",
    }
    if not drawn.single:
        calls["check_count_ways_out"] = f"{cells}, {tree}, {theta}, {counted}, {held}, {kinds}, {K}"
    return [
        name for name, given in calls.items()
        if (False,) in con.execute(
            f"SELECT c.passed FROM srsql.{name}({given}, 1) AS c").fetchall()
    ]  # fmt: skip


class Counted:
    """What a maker tells of the drawn cases, and which checks refuse it."""

    def __init__(self) -> None:
        """Raises:
        SystemExit: what the maker tells without a mutation is refused.
        """
        self._data = list(_drawn())
        self._maker, self._checks = duckdb.connect(), duckdb.connect()
        srsql.install(self._maker)
        srsql.install(self._checks)
        self._right = self._made(None)
        for drawn, told in zip(self._data, self._right, strict=True):
            if refused := _refused(self._checks, drawn, told):
                raise SystemExit(f"without a mutation, {COUNTS}: {refused}")

    def _made(self, mutation: Mutation | None) -> list[list[tuple[Any, ...]]]:
        with applied(mutation):
            for file in (STRATA, PAIRS, MOVABLE, MAKER):
                self._maker.execute(statements.source(MACROS, file))
        return [_told(self._maker, drawn) for drawn in self._data]

    def caught(self, mutation: Mutation) -> tuple[str, str, bool]:
        """Who refused it (or nobody, empty), which checks did so, and whether anything changed."""
        made = self._made(mutation)
        found: dict[str, int] = {}
        for drawn, told, right in zip(self._data, made, self._right, strict=True):
            if told == right:
                continue
            for check in _refused(self._checks, drawn, told):
                found[check] = found.get(check, 0) + 1
        why = ", ".join(f"{check} of {count}" for check, count in sorted(found.items()))
        return (CHECK if found else ""), why, made != self._right
