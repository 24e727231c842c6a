"""The macros of the generalization lattice (Lee 2020) against records that are taken one by one."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.examples import REPEATABLE
from scipy.stats import chisquare
from support.published_terms import fill

ENDS: dict[int, list[tuple[int, int]]] = {3: [(0, 0), (1, 1), (2, 5)], 7: [(10, 10), (11, 19)]}
"""Position of a dimension -> the ends of its leaves; behind them is the leaf of the unknown."""
UNLIKELY = 1e-6

Box = tuple[int, int] | None
boxes = st.tuples(
    st.sampled_from([None, (0, 0), (1, 1), (2, 5), (0, 5)]),
    st.sampled_from([None, (10, 10), (11, 19), (11, 12)]),
)


def leaf(position: int, box: Box) -> int:
    ends = ENDS[position]
    return ends.index(box) if box in ends else len(ends)


@REPEATABLE
@given(cases=st.lists(boxes, max_size=10), counted=st.sets(st.integers(0, 9)))
def test_a_case_is_at_the_leaf_of_its_value_or_at_the_unknown_one(
    sql: Any, cases: list[tuple[Box, Box]], counted: set[int]
) -> None:
    """Unknown is what is missing and an interval that is no leaf: reports that differ."""
    chosen = sorted(counted & set(range(len(cases))))
    numbered = fill(sql, "lat_case", ("case_no INTEGER",), [(n,) for n in chosen])
    columns = ("case_no INTEGER", "position INTEGER", "low BIGINT", "high BIGINT")
    boxed = fill(sql, "lat_box", columns, [
        (n, position, *box) for n, case in enumerate(cases)
        for position, box in zip(ENDS, case, strict=True) if box
    ])  # fmt: skip
    ends = fill(
        sql,
        "lat_end",
        ("place INTEGER", "position INTEGER", "low BIGINT", "high BIGINT", "leaf INTEGER"),
        [(place, position, *box, n) for place, position in enumerate(ENDS)
         for n, box in enumerate(ENDS[position])],
    )  # fmt: skip
    unknown = [len(leaves) for leaves in ENDS.values()]
    rows = sql.rows(f"FROM srsql.case_leaves('{numbered}', '{boxed}', '{ends}', {unknown})")
    assert sorted(rows) == [
        (n, [leaf(p, box) for p, box in zip(ENDS, cases[n], strict=True)]) for n in chosen
    ]


def test_the_leaves_of_many_dimensions_are_told_exactly(sql: Any) -> None:
    """14 dimensions of 500 leaves: more combinations than a double or 64 bits tell apart."""
    width, count = 14, 500
    told = [[(31 * n + 7 * place) % count for place in range(width)] for n in range(20)]
    told[3], told[4] = [count - 1] * width, [0] * width
    columns = ("case_no INTEGER", "position INTEGER", "low BIGINT", "high BIGINT")
    boxed = fill(sql, "lat_box", columns, [
        (n, place, leaf, leaf) for n, row in enumerate(told)
        for place, leaf in enumerate(row) if leaf
    ])  # fmt: skip
    ends = fill(
        sql,
        "lat_end",
        ("place INTEGER", "position INTEGER", "low BIGINT", "high BIGINT", "leaf INTEGER"),
        [(place, place, leaf, leaf, leaf) for place in range(width) for leaf in range(1, count)],
    )  # fmt: skip
    numbered = fill(sql, "lat_case", ("case_no INTEGER",), [(n,) for n in range(len(told))])
    rows = sql.rows(f"FROM srsql.case_leaves('{numbered}', '{boxed}', '{ends}', {[0] * width})")
    assert sorted(rows) == list(enumerate(told))


leaves = st.tuples(st.integers(0, 3), st.integers(0, 2))
maps = st.tuples(
    st.lists(st.integers(0, 3), min_size=4, max_size=4),
    st.lists(st.integers(0, 2), min_size=3, max_size=3),
)


@REPEATABLE
@given(
    records=st.lists(st.tuples(leaves, st.integers(0, 2)), max_size=25),
    maps=maps,
)
def test_a_node_has_the_records_that_become_the_same(
    sql: Any,
    records: list[tuple[tuple[int, int], int]],
    maps: tuple[list[int], list[int]],
) -> None:
    """Records are rolled up from the cells of the base cube; classes are in the order of nodes."""
    cells = sorted({at for at, _ in records})
    held = Counter((cells.index(at), value) for at, value in records)
    cell = fill(sql, "lat_cell", ("cell INTEGER", "leaves INTEGER[]"),
                [(n, list(at)) for n, at in enumerate(cells)])  # fmt: skip
    cube = fill(sql, "lat_cube", ("cell INTEGER", "value INTEGER", "records BIGINT"),
                [(*key, count) for key, count in held.items()])  # fmt: skip

    def becomes(at: tuple[int, int]) -> tuple[int, ...]:
        return tuple(of[n] for of, n in zip(maps, at, strict=True))

    classes = sorted({becomes(at) for at in cells})
    sql.rows(
        "CREATE OR REPLACE TEMP TABLE lat_class AS "
        f"FROM srsql.node_classes('{cell}', {[list(m) for m in maps]})"
    )
    assert sorted(sql.rows("FROM temp.main.lat_class")) == [
        (n, list(becomes(at)), classes.index(becomes(at))) for n, at in enumerate(cells)
    ]
    rows = sql.rows(f"FROM srsql.rolled_counts('{cube}', 'temp.main.lat_class')")
    counts = Counter((classes.index(becomes(at)), value) for at, value in records)
    assert rows == [(*key, counts[key]) for key in sorted(counts)]


@REPEATABLE
@given(
    made=st.dictionaries(st.tuples(st.integers(0, 3), st.integers(0, 2)), st.integers(0, 4)),
    seed=st.one_of(st.none(), st.integers(0, 2**50)),
)
def test_each_record_of_a_class_is_one_row_with_a_number_of_its_own(
    sql: Any, made: dict[tuple[int, int], int], seed: int | None
) -> None:
    name = fill(sql, "lat_made", ("class_no INTEGER", "value INTEGER", "records BIGINT"),
                [(*key, count) for key, count in made.items()])  # fmt: skip
    drawn = "NULL" if seed is None else seed
    rows = sql.rows(f"FROM srsql.shuffled_records('{name}', {drawn})")
    assert sorted(row[0] for row in rows) == list(range(1, sum(made.values()) + 1))
    assert Counter(row[1:] for row in rows) == Counter(made)


@pytest.mark.thorough
def test_every_order_of_the_rows_is_as_likely_as_any_other(sql: Any) -> None:
    name = fill(sql, "lat_made", ("class_no INTEGER", "value INTEGER", "records BIGINT"),
                [(0, 0, 1), (1, 0, 1), (2, 0, 1)])  # fmt: skip
    counts = Counter(
        tuple(row[0] for row in sql.rows(
            f"SELECT class_no FROM srsql.shuffled_records('{name}', {seed}) ORDER BY row"
        ))
        for seed in range(600)
    )  # fmt: skip
    assert set(counts) == set(permutations(range(3)))
    assert chisquare(list(counts.values())).pvalue > UNLIKELY
