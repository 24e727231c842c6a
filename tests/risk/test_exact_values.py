"""Which exact values follow from the regions of groups, against every data set that fits."""

from __future__ import annotations

from itertools import combinations_with_replacement, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.examples import REPEATABLE
from support.catalog import publish

Point = tuple[int | None, ...]
NUMERIC = 2
"""The first positions are numbers; the last is a category, whose regions are nodes."""
LEAVES = {(1, 3): (2, 3), (2, 2): (2,), (3, 3): (3,)}
"""Interval of a node -> the leaves under it; a case may have the inner node as well."""


def values_of(region: tuple[Any, ...], position: int) -> list[Any]:
    """What a case may have within a region at a position."""
    ends = region[position]
    if ends == (None, None):
        return [None]
    if position < NUMERIC:
        return list(range(ends[0], ends[1] + 1))
    return [node for node in LEAVES if ends[0] <= node[0] and node[1] <= ends[1]]


def ends_of(values: list[Any], position: int) -> tuple[Any, Any]:
    """The region of cases with these values: their hull, or the node over them."""
    if values[0] is None:
        return None, None
    if position < NUMERIC:
        return min(values), max(values)
    return values[0] if len(set(values)) == 1 else (1, 3)


def worlds(region: tuple[Any, ...], size: int) -> list[tuple[Point, ...]]:
    """Every group of so many cases that is released with that region."""
    points = list(product(*(values_of(region, position) for position in range(len(region)))))
    return [
        group
        for group in combinations_with_replacement(points, size)
        if all(ends_of([p[n] for p in group], n) == region[n] for n in range(len(region)))
    ]


def held_by_some(found: list[tuple[Point, ...]]) -> set[Point]:
    """What some case has in every world."""
    return set.intersection(*(set(group) for group in found))


def store(sql: Any, groups: dict[int, list[Point]]) -> dict[int, tuple[Any, ...]]:
    """Release 1, whose regions are made of its groups; position 2 is a category."""
    for table in ("release", "member", "region", "attribute", "case_qid", "perturbation"):
        sql.con.execute(f"DELETE FROM srsql.{table}")
    regions = {
        number: tuple(ends_of([p[n] for p in group], n) for n in range(NUMERIC + 1))
        for number, group in groups.items()
    }
    names = {n: [f"{n}.{i}" for i in range(len(group))] for n, group in groups.items()}
    publish(sql, 1, "q", {n: (regions[n], names[n]) for n in groups})
    kinds = ["numeric"] * NUMERIC + ["categorical"]
    sql.insert("srsql.attribute", [(1, n, f"q{n}", kind, 9) for n, kind in enumerate(kinds)])
    own = [point for group in groups.values() for point in group]
    rows = [
        (1, case, n, *(value if isinstance(value, tuple) else (value, value)), False)
        for case, point in enumerate(own)
        for n, value in enumerate(point)
    ]
    sql.insert("srsql.case_qid", rows)
    return regions


@st.composite
def group(draw: st.DrawFn) -> list[Point]:
    """Two or three cases that lack the same values."""
    lacks = draw(st.tuples(*[st.booleans()] * (NUMERIC + 1)))
    values: list[Any] = [st.integers(0, 2)] * NUMERIC + [st.sampled_from([(2, 2), (2, 2), (3, 3)])]
    point = st.tuples(*(st.none() if gone else v for gone, v in zip(lacks, values, strict=True)))
    return draw(st.lists(point, min_size=2, max_size=3))


@REPEATABLE
@given(st.lists(group(), min_size=1, max_size=4))
def test_values_follow_where_some_case_has_them_in_every_data_set_that_fits(
    sql: Any, drawn: list[list[Point]]
) -> None:
    groups = dict(enumerate(drawn))
    regions = store(sql, groups)
    found = {row["group_id"]: row for row in sql.records("FROM srsql.exact_regions(1)")}
    told = {"every row": 0, "some row": 0}
    for number, members in groups.items():
        fit = worlds(regions[number], len(members))
        assert tuple(sorted(members, key=repr)) in {tuple(sorted(w, key=repr)) for w in fit}
        shows = any(ends != (None, None) for ends in regions[number])
        some = shows and bool(held_by_some(fit))
        every = shows and len({point for world in fit for point in world}) == 1
        row = found[number]
        assert (row["cases"], row["every_row"], row["some_row"]) == (len(members), every, some)
        assert row["proved"] == some
        told["every row"] += len(members) * every
        told["some row"] += len(members) * some
    rows = {row["scope"]: row for row in sql.records("FROM srsql.exact_values(1)")}
    assert {scope: row["violating"] for scope, row in rows.items()} == told
    assert {row["total"] for row in rows.values()} == {sum(map(len, groups.values()))}


@pytest.mark.parametrize("moved", ["low", "high"])
def test_an_end_that_no_case_has_is_counted_by_regions_alone(sql: Any, moved: str) -> None:
    """An earlier region that is covered may reach farther than the cases do."""
    store(sql, {0: [(1, 5, (2, 2)), (2, 5, (2, 2))]})
    by = -1 if moved == "low" else 1
    sql.con.execute(f"UPDATE srsql.region SET {moved} = {moved} + {by} WHERE position = 0")
    rows = {row["scope"]: row["violating"] for row in sql.records("FROM srsql.exact_values(1)")}
    assert rows == {"every row": 0, "some row": 0, "some row, by regions alone": 2}


def test_nothing_follows_beside_a_drawn_value(sql: Any) -> None:
    store(sql, {0: [(1, 5, (2, 2)), (1, 5, (2, 2))]})
    sql.con.execute("UPDATE srsql.region SET low = NULL, high = NULL WHERE position = 1")
    sql.insert("srsql.perturbation", [(1, 1, "laplace", "claimed", "seeded", 1, 1)])
    rows = {row["scope"]: row["violating"] for row in sql.records("FROM srsql.exact_values(1)")}
    sql.con.execute("DELETE FROM srsql.perturbation")
    assert rows == {"every row": 0, "some row": 0}
