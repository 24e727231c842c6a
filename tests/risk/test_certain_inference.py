"""What one or two known terms tell of a disassociated record: against every possible dataset."""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.examples import REPEATABLE
from oracles.published_terms import random_places, told_by
from support.published_terms import Published, Subrecord, fill, load, project, warehouse

from srsql.engine.catalog.released_terms import ALL
from srsql.engine.store.statements import literal

TERMS = "abcd"
ORIGINALS = "temp.main.originals"


def certain_sets(
    sql: Any, published: Published, records: list[Subrecord], looked_at: int = 10**6
) -> dict[tuple[int, int], tuple[int, int]]:
    """Record and items -> sets and those that tell a further term."""
    tables = load(sql, published.rows())
    rows = [(i, t) for i, r in enumerate(records) for t in sorted(r)]
    fill(sql, "originals", ("record INTEGER", "term VARCHAR"), rows)
    call = tables.call("certain_sets", ALL, literal(ORIGINALS), str(looked_at))
    return {
        (record, items): (sets, certain)
        for record, items, sets, certain in warehouse(sql).rows(
            f"SELECT c.record, c.items, c.sets, c.certain FROM {call} AS c"
        )
    }


@pytest.mark.slow
@settings(REPEATABLE, max_examples=60)
@given(seed=st.integers(0, 10**6), joined=st.booleans(), sizes=st.sampled_from([(2, 2), (3,)]))
def test_what_follows_follows_in_every_dataset_that_is_possible(
    sql: Any, seed: int, joined: bool, sizes: tuple[int, ...]
) -> None:
    luck = random.Random(seed)
    member = [c for c, n in enumerate(sizes, 1) for _ in range(n)]
    records = [frozenset(t for t in TERMS if luck.random() < 0.6) or frozenset("a") for _ in member]
    joints = {1: frozenset(member)} if joined and len(sizes) > 1 else {}
    made = project(records, member, joints, random_places(luck, records, member, joints))
    told = told_by(made, TERMS)
    expected = {}
    for number, record in enumerate(records):
        for items in (1, 2):
            sets = [frozenset(s) for s in combinations(sorted(record), items)]
            if sets:
                expected[number, items] = (len(sets), sum(bool(told[s]) for s in sets))
    assert certain_sets(sql, made, records) == expected


def test_a_term_that_all_holders_of_another_have_follows_from_it(sql: Any) -> None:
    # b is in all subrecords with a; c, in a chunk of its own, is in all four records
    made = Published(
        {1: 4},
        own={
            (1, 1): [frozenset("ab"), frozenset("ab"), frozenset("b")],
            (1, 2): [frozenset("c")] * 4,
        },
    )
    records = [frozenset("abc"), frozenset("abc"), frozenset("bc"), frozenset("c")]
    found = certain_sets(sql, made, records)
    assert found[0, 1] == (3, 2)  # a tells b and c, b tells c; c tells nothing
    assert found[0, 2] == (3, 2)  # ab tells c, ac tells b; bc tells nothing
    assert found[2, 2] == (1, 0)
    assert found[3, 1] == (1, 0)
    assert (3, 2) not in found
    warehouse(sql).run(
        "CREATE OR REPLACE TEMP TABLE sets (record BIGINT, items INT, sets INT, certain INT)"
    )
    for (record, items), (sets, certain) in found.items():
        warehouse(sql).run("INSERT INTO sets VALUES (?, ?, ?, ?)", [record, items, sets, certain])
    rows = warehouse(sql).rows(
        "SELECT m.scope, m.violating, m.total, m.ratio, m.passed "
        "FROM srsql.certain_inference('temp.main.sets', 7) AS m"
    )
    assert [(scope, pytest.approx(n), total) for scope, n, total, _, _ in rows] == [
        ("1 known, worst", 3, 4),
        ("1 known, random", 2 / 3 + 2 / 3 + 1 / 2, 4),
        ("2 known, worst", 2, 3),
        ("2 known, random", 2 / 3 + 2 / 3, 3),
    ]
    assert {passed for *_, passed in rows} == {None}


def test_as_many_records_are_drawn_as_asked(sql: Any) -> None:
    records = [frozenset("ab")] * 6
    made = Published({1: 6}, own={(1, 1): records})
    found = certain_sets(sql, made, records, looked_at=4)
    assert len({record for record, _ in found}) == 4
    assert set(found.values()) == {(2, 2), (1, 0)}
