"""Counts of pairs of terms from clusters of whole rows, against every dataset that fits them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import pytest
from oracles.published_terms import worlds
from support.published_terms import Place, Published, Subrecord, fill, project, warehouse

from srsql.engine.store.warehouse import Warehouse

pytestmark = pytest.mark.slow

DRUGS = {"D": ("D/PS", "D/SS"), "E": ("E/PS",), "X": ()}
REACTIONS = {"R": ("R",), "S": ("S",)}
SHARES = {"never": Fraction(0), "maybe": Fraction(1, 4), "surely": Fraction(1)}
PAIRS = list(product(DRUGS, REACTIONS))
CELLS = "abcd"


def publication(luck: random.Random) -> Published:
    """One cluster or two of any places, k^m-anonymous or not; few items are without a count."""
    sizes = luck.choice([(3,), (4,), (2, 2)])
    items = [item for each in (DRUGS, REACTIONS) for listed in each.values() for item in listed]
    records: list[Subrecord] = []
    member: list[int] = []
    places: dict[tuple[int, str], Place] = {}
    for cluster, size in enumerate(sizes, 1):
        records += [frozenset(i for i in items if luck.random() < 0.5) for _ in range(size)]
        member += [cluster] * size
        for item in items:
            places[cluster, item] = ("own", cluster, luck.choice([1, 2]))
    for cluster, item in luck.sample(sorted(places), luck.randint(0, 2)):
        places[cluster, item] = ("item", cluster, 0)
    return project(records, member, {}, places)


def in_cell(record: Subrecord, drug: str, reaction: str) -> str:
    taken = not record.isdisjoint(DRUGS[drug])
    suffered = not record.isdisjoint(REACTIONS[reaction])
    return {(True, True): "a", (True, False): "b", (False, True): "c"}.get((taken, suffered), "d")


def conditions(met: list[str]) -> Iterator[frozenset[int]]:
    """Which records meet the condition, in every world of the regions."""
    sure = {i for i, how in enumerate(met) if how == "surely"}
    open_ones = [i for i, how in enumerate(met) if how == "maybe"]
    for size in range(len(open_ones) + 1):
        for chosen in combinations(open_ones, size):
            yield frozenset(sure.union(chosen))


def counted(
    house: Warehouse, made: Published, met: list[str], mean: float = 1.0, most: int | None = None
) -> list[Any]:
    """What the macros say of the pairs: rows of term_pairs, then of cluster_contingency."""
    records = [(number, cluster) for cluster, n in made.records.items() for number in range(n)]
    rows = [(i, cluster) for i, (_, cluster) in enumerate(records)]
    held = [
        (cluster, chunk, number, side, name)
        for (cluster, chunk), subrecords in made.own.items()
        for number, subrecord in enumerate(subrecords)
        for side, names in (("drug", DRUGS), ("reaction", REACTIONS))
        for name, items in names.items()
        if not subrecord.isdisjoint(items)
    ]
    held += [
        (cluster, 0, number, side, name)
        for cluster, alone in made.items.items()
        for number, item in enumerate(sorted(alone))
        for side, names in (("drug", DRUGS), ("reaction", REACTIONS))
        for name, items in names.items()
        if item in items
    ]
    sql = type("Sql", (), {"con": house.con})()
    fill(sql, "place", ("case_id INTEGER", "cluster INTEGER"), rows)
    fill(sql, "clusters", ("cluster INTEGER", "records INTEGER"), list(made.records.items()))
    weights = [
        (i, how == "surely", float(SHARES[how]), how != "never") for i, how in enumerate(met)
    ]
    columns = ("case_id INTEGER", "lower INTEGER", "expected DECIMAL(18,12)", "upper INTEGER")
    fill(sql, "weight", columns, weights)
    columns = (
        "cluster INTEGER", "chunk INTEGER", "subrecord INTEGER", "side VARCHAR", "name VARCHAR"
    )  # fmt: skip
    fill(sql, "holding", columns, held)
    fill(sql, "pair", ("drug VARCHAR", "reaction VARCHAR"), PAIRS)
    columns = ("side VARCHAR", "mean DOUBLE", "most INTEGER")
    fill(sql, "item_mean", columns, [(side, mean, most) for side in ("drug", "reaction")])
    for name, call in (
        ("crowd", "cluster_weights('temp.main.weight', 'temp.main.place', 'temp.main.clusters')"),
        ("margin", "term_margins('temp.main.crowd', 'temp.main.holding', 'temp.main.item_mean')"),
        (
            "pair_table",
            "cluster_tables('temp.main.margin', 'temp.main.crowd', 'temp.main.holding', "
            "'temp.main.pair')",
        ),
    ):
        house.run(f"CREATE OR REPLACE TEMP TABLE {name} AS FROM srsql.{call}")
    together = house.con.execute(
        "FROM srsql.term_pairs('temp.main.pair_table', 'temp.main.crowd', 'temp.main.pair')"
    ).fetchall()
    found = house.con.execute(
        "FROM srsql.cluster_contingency('temp.main.pair_table', 'temp.main.margin', "
        "'temp.main.crowd', 'temp.main.pair')"
    )
    names = [column[0] for column in found.description]
    return [together, [dict(zip(names, row, strict=True)) for row in found.fetchall()]]


@pytest.mark.parametrize("seed", range(30))
def test_bounds_are_reached_by_datasets_that_fit_and_by_no_other(seed: int, sql: Any) -> None:
    luck = random.Random(seed)
    made = publication(luck)
    size = sum(made.records.values())
    met = luck.choices(list(SHARES), k=size)
    most = luck.choice([None, 1, 2])
    together, tables = counted(warehouse(sql), made, met, most=most)
    counts: dict[tuple[str, str, str], set[int]] = {}
    sums: dict[tuple[str, str, str], Fraction] = {}
    single = 0
    alone = {(c, item) for c, items in made.items.items() for item in items}
    first, members = 0, {}
    for cluster, n in made.records.items():
        members[cluster] = range(first, first + n)
        first += n
    for world in worlds(made):
        held = [sum(item in world[i] for i in members[c]) for c, item in alone]
        if max(held, default=0) > (most or size):
            continue
        once = all(count == 1 for count in held)
        single += once
        for drug, reaction in PAIRS:
            cells = [in_cell(record, drug, reaction) for record in world]
            for cell in CELLS:
                key = drug, reaction, cell
                there = {i for i, at in enumerate(cells) if at == cell}
                counts.setdefault(key, set()).update(
                    len(there & chosen) for chosen in conditions(met)
                )
                if once:
                    share = sum((SHARES[met[i]] for i in there), Fraction(0))
                    sums[key] = sums.get(key, Fraction(0)) + share
    assert len(tables) == len(PAIRS)
    for row in tables:
        for cell in CELLS:
            key = row["drug"], row["reaction"], cell
            assert (row[f"{cell}_lower"], row[f"{cell}_upper"]) == (
                min(counts[key]), max(counts[key])
            ), (key, made)  # fmt: skip
            assert row[f"{cell}_known"] == row[f"{cell}_lower"]
            assert row[cell] == pytest.approx(float(sums[key] / single), abs=1e-9)
    expected = {
        (drug, reaction): (n, e)
        for drug, reaction, n, e in warehouse(sql)
        .con.execute(
            "FROM srsql.expected_pairs('temp.main.margin', 'temp.main.crowd', 'temp.main.holding')"
        )
        .fetchall()
    }
    for row in tables:
        n, e = expected.get((row["drug"], row["reaction"]), (0, 0))
        assert n == pytest.approx(row["a"], abs=1e-9)
        everyone = sum(row[cell] for cell in CELLS)
        if everyone and n:
            margins = (row["a"] + row["b"]) * (row["a"] + row["c"])
            assert e == pytest.approx(margins / everyone, abs=1e-9)
    assert {tuple(row) for row in together} == {
        (r["drug"], r["reaction"], r["a_lower"], r["a_known"], r["a"], r["a_upper"]) for r in tables
    }


def test_an_item_without_a_count_is_expected_as_often_as_is_said(sql: Any) -> None:
    made = Published({1: 6}, own={(1, 1): [frozenset({"R"})] * 3}, items={1: frozenset({"E/PS"})})
    for mean in (1.0, 1.5):
        _, tables = counted(warehouse(sql), made, ["surely"] * 6, mean)
        (row,) = [r for r in tables if (r["drug"], r["reaction"]) == ("E", "R")]
        assert row["a"] == pytest.approx(3 * mean / 6)
        assert row["a"] + row["b"] == pytest.approx(mean)
        assert (row["a_lower"], row["a_upper"]) == (0, 3)


@pytest.mark.parametrize("fewest", range(4))
@pytest.mark.parametrize("met", [(0, 1), (1, 2), (3, 3), (0, 0)])
def test_met_records_are_those_of_any_rows(fewest: int, met: tuple[int, int], sql: Any) -> None:
    surely, maybe = met
    rows = range(3)
    ends = [
        len(set(held) & set(chosen))
        for held in combinations(rows, fewest)
        for more in range(maybe - surely + 1)
        for chosen in [rows[: surely + more]]
    ]
    ((found,),) = sql.rows(
        f"SELECT srsql.met_records({fewest}, {fewest}, {fewest}, struct_pack(records := 3, "
        f"lower := {surely}, expected := {(surely + maybe) / 2}, upper := {maybe}))"
    )
    assert (found["lower"], found["upper"]) == (min(ends), max(ends))
    assert found["expected"] == pytest.approx(fewest * (surely + maybe) / 6)
