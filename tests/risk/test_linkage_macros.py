"""What was, what is published, and what an attacker makes of it: macro by macro.

The whole of it is in ``test_linkage_by_definition.py``; here each macro gets tables of its own.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import nearest as oracle
from oracles.examples import REPEATABLE
from oracles.releases import Release, Value
from oracles.trees import Tree
from support.linkage import NOISE, coded, store, worlds
from support.published_terms import fill

from srsql.schemas.hierarchy import build_hierarchy

World = tuple[Release, NOISE, oracle.Knowledge]
BOX = ("case_no INTEGER", "position INTEGER", "low BIGINT", "high BIGINT")
UNIFORM = {"release": 4, "measure": "mine", "scope": "release", "threshold": None, "passed": None}


@pytest.mark.thorough
@REPEATABLE
@given(world=worlds())
def test_the_published_and_the_original_values_are_those_of_each_case(
    sql: Any, world: World
) -> None:
    release, noise, _ = world
    store(sql, release, noise)
    records = oracle.published(release, noise)

    def rows(chosen: str) -> list[tuple[Any, ...]]:
        return [
            (n, q, *coded(release.qids[q], value))
            for n, record in enumerate(records)
            for q, value in enumerate(getattr(record, chosen))
        ]

    assert sorted(sql.rows("FROM srsql.released_qid(1)"), key=lambda r: r[:2]) == rows("shown")
    assert sorted(sql.rows("FROM srsql.original_qid(1)"), key=lambda r: r[:2]) == rows("own")


@pytest.mark.slow
@REPEATABLE
@given(world=worlds())
def test_the_nodes_of_a_release_are_those_of_its_categories(sql: Any, world: World) -> None:
    release, noise, _ = world
    store(sql, release, noise)
    expected = [
        (q, label, number, tree.last[number])
        for q, qid in enumerate(release.qids)
        if isinstance(qid, Tree)
        for tree in [build_hierarchy(qid.rows())]
        for label, number in tree.number.items()
    ]
    rows = sql.rows("SELECT position, node, pre, last FROM srsql.release_node(1)")
    assert sorted(rows) == sorted(expected)


@pytest.mark.slow
@REPEATABLE
@given(world=worlds())
def test_each_pair_of_values_loses_il_star_as_often_as_it_occurs(sql: Any, world: World) -> None:
    release, noise, _ = world
    store(sql, release, noise)
    expected: dict[tuple[Any, ...], list[Fraction]] = {}
    for record in oracle.published(release, noise):
        for q, (own, shown) in enumerate(zip(record.own, record.shown, strict=True)):
            qid = release.qids[q]
            key = (q, *coded(qid, own), *coded(qid, shown))
            expected.setdefault(key, []).append(oracle.value_loss(qid, own, shown))
    found = {row[:5]: row[5:] for row in sql.rows("FROM srsql.star_loss(1)")}
    assert found.keys() == expected.keys()
    for key, losses in expected.items():
        assert len(set(losses)) == 1
        assert found[key] == (len(losses), pytest.approx(float(losses[0]), abs=1e-12))


values = st.sampled_from([None, (1, 1), (1, 4), (7, 7)])


@REPEATABLE
@given(cases=st.lists(st.tuples(values, values), max_size=12))
def test_cases_of_equal_values_are_one_tuple(sql: Any, cases: list[tuple[Value, Value]]) -> None:
    boxes = fill(sql, "link_box", BOX, [
        (n, q, *(value or (None, None)))
        for n, case in enumerate(cases) for q, value in enumerate(case)
    ])  # fmt: skip
    sql.rows(f"CREATE OR REPLACE TEMP TABLE link_tuple AS FROM srsql.qid_tuples('{boxes}')")
    number = dict(sql.rows("SELECT case_no, tuple_no FROM temp.main.link_tuple"))
    assert sorted(number) == list(range(len(cases)))
    assert set(number.values()) == set(range(len(set(cases))))
    for one, other in product(number, repeat=2):
        assert (number[one] == number[other]) == (cases[one] == cases[other])
    rows = sql.rows(f"FROM srsql.tuple_values('{boxes}', 'temp.main.link_tuple')")
    assert sorted(rows) == sorted(
        {(number[n], q, *value) for n, case in enumerate(cases) for q, value in enumerate(case)
         if value}
    )  # fmt: skip


@st.composite
def crowds(draw: st.DrawFn) -> tuple[list[tuple[int, int]], list[set[int]], list[set[int]]]:
    """Cases as (original, cell), the cells that each original may have become, and the values
    that each cell shows."""
    cells = draw(st.integers(1, 4))
    cell = st.integers(0, cells - 1)
    owns = draw(st.integers(1, 4))
    cases = [(draw(st.integers(0, owns - 1)), n) for n in range(cells)]
    cases += draw(st.lists(st.tuples(st.integers(0, owns - 1), cell), max_size=8))
    candidates = [draw(st.sets(cell, min_size=1)) for _ in range(owns)]
    shown = [draw(st.sets(st.integers(0, 3), max_size=3)) for _ in range(cells)]
    return cases, candidates, shown


@REPEATABLE
@given(world=crowds())
def test_rr_and_ar_are_means_over_the_cases_among_their_candidates(
    sql: Any, world: tuple[list[tuple[int, int]], list[set[int]], list[set[int]]]
) -> None:
    """Pr and Ar (Wu 2022, section V.A), record by record: every record of a cell is the same."""
    cases, candidates, shown = world
    named = fill(sql, "link_case", ("case_no INTEGER", "own_no INTEGER", "cell_no INTEGER"),
                 [(n, *case) for n, case in enumerate(cases)])  # fmt: skip
    pairs = fill(
        sql,
        "link_candidate",
        ("own_no INTEGER", "cell_no INTEGER"),
        [(own, cell) for own, found in enumerate(candidates) for cell in found],
    )
    sizes = [sum(cell == n for _, cell in cases) for n in range(len(shown))]
    cells = fill(sql, "link_cell", ("cell_no INTEGER", "cases BIGINT"), list(enumerate(sizes)))
    terms = fill(sql, "link_term", ("cell_no INTEGER", "term_no INTEGER", "cases BIGINT"),
                 [(n, t, sizes[n]) for n, held in enumerate(shown) for t in held])  # fmt: skip
    identified = inferred = Fraction(0)
    for own, cell in cases:
        records = [c for _, c in cases if c in candidates[own]]
        if cell not in candidates[own]:
            continue
        identified += Fraction(1, len(records))
        known = set().union(*(shown[c] for c in records))
        for term in known:
            share = Fraction(sum(term in shown[c] for c in records), len(records))
            inferred += max(share, Fraction(1, len(records))) / len(known)
    for macro, more, expected in (
        ("record_risk", "", identified),
        ("attribute_risk", f", '{terms}'", inferred),
    ):
        (row,) = sql.records(
            f"FROM srsql.{macro}(4, 'mine', '{named}', '{pairs}', '{cells}'{more})"
        )
        figures = {name: row.pop(name) for name in ("violating", "total", "ratio")}
        assert row == UNIFORM
        assert figures == {
            "violating": pytest.approx(float(expected), abs=1e-12),
            "total": len(cases),
            "ratio": pytest.approx(float(expected / len(cases)), abs=1e-12),
        }


@REPEATABLE
@given(held=st.dictionaries(st.integers(0, 6), st.sets(st.integers(0, 3), min_size=1), max_size=7))
def test_cases_that_show_the_same_diseases_have_one_signature(
    sql: Any, held: dict[int, set[int]]
) -> None:
    telling = fill(
        sql,
        "link_telling",
        ("case_no INTEGER", "term_no INTEGER"),
        [(case, term) for case, terms in held.items() for term in sorted(terms)],
    )
    rows = sql.rows(f"FROM srsql.signatures('{telling}')")
    assert {case: terms for case, _, terms in rows} == {c: sorted(t) for c, t in held.items()}
    numbers = {case: number for case, number, _ in rows}
    assert set(numbers.values()) == set(range(1, len({frozenset(t) for t in held.values()}) + 1))
    for one, other in product(held, repeat=2):
        assert (numbers[one] == numbers[other]) == (held[one] == held[other])


def test_only_a_published_value_of_the_case_itself_tells_of_a_disease(own_sql: Any) -> None:
    """Term 0 is known, published and the case's own; each of the others lacks one of these."""
    own_sql.insert("srsql.member", [(1, 0, "a", 0, 1, True), (2, 0, "a", 0, 1, True)])
    names = ["KNOWN", "UNKNOWN", "KNOWN BUT NOT RELEASED", "KNOWN BUT INFERRED"]
    own_sql.insert(
        "srsql.threshold",
        [(r, n, name, 1, 2, 1, n != 2) for r in (1, 2) for n, name in enumerate(names)],
    )
    own_sql.insert("srsql.case_term", [(1, 0, n, 1, n != 3) for n in range(4)])
    own_sql.insert("srsql.case_term", [(2, 0, 0, 1, True), (1, 9, 0, 1, True)])
    known = own_sql.table("known", "term VARCHAR, row_no INTEGER", [
        (name, row) for name in names if name != "UNKNOWN" for row in (0, 1)
    ])  # fmt: skip
    assert own_sql.rows(f"FROM srsql.telling_terms(1, {known})") == [(0, 0)]


intervals = st.tuples(st.integers(0, 6), st.integers(0, 3)).map(lambda p: (p[0], p[0] + p[1]))
alternatives = st.lists(intervals, min_size=1, max_size=2)


@REPEATABLE
@given(
    owns=st.lists(st.tuples(st.one_of(st.none(), intervals), st.one_of(st.none(), intervals)),
                  max_size=4),
    diseases=st.lists(
        st.lists(st.dictionaries(st.integers(0, 1), alternatives, min_size=1), min_size=1,
                 max_size=2),
        max_size=3,
    ),
)  # fmt: skip
def test_a_disease_is_contradicted_where_no_row_of_it_fits(
    sql: Any,
    owns: list[tuple[Value, Value]],
    diseases: list[list[dict[int, list[tuple[int, int]]]]],
) -> None:
    """Rows are alternatives, so are the intervals of one position; what is missing fits."""
    own = fill(sql, "link_own", ("tuple_no INTEGER", *BOX[1:]), [
        (n, q, *value) for n, values in enumerate(owns) for q, value in enumerate(values) if value
    ])  # fmt: skip
    knowledge = fill(
        sql,
        "link_knowledge",
        ("term VARCHAR", "row_no INTEGER", *BOX[1:]),
        [(f"d{d}", r, q, *interval) for d, rows in enumerate(diseases)
         for r, row in enumerate(rows) for q, found in row.items() for interval in found],
    )  # fmt: skip
    named = fill(sql, "link_disease", ("term_no INTEGER", "term VARCHAR"),
                 [(d, f"d{d}") for d in range(len(diseases))])  # fmt: skip

    def fits(values: tuple[Value, Value], row: dict[int, list[tuple[int, int]]]) -> bool:
        return all(
            not (known := values[q])
            or any(known[0] <= high and known[1] >= low for low, high in found)
            for q, found in row.items()
        )

    rows = sql.rows(f"FROM srsql.contradictions('{own}', '{knowledge}', '{named}')")
    assert sorted(rows) == [
        (n, d)
        for n, values in enumerate(owns)
        for d, alternatives_of in enumerate(diseases)
        if not any(fits(values, row) for row in alternatives_of)
    ]


@REPEATABLE
@given(
    candidates=st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3))),
    signature=st.lists(st.integers(0, 2), min_size=4, max_size=4),
    shows=st.sets(st.tuples(st.integers(1, 2), st.integers(0, 2))),
    contradicted=st.sets(st.tuples(st.integers(0, 3), st.integers(0, 2))),
)
def test_a_candidate_is_dropped_that_shows_a_disease_the_target_cannot_have(
    sql: Any,
    candidates: set[tuple[int, int]],
    signature: list[int],
    shows: set[tuple[int, int]],
    contradicted: set[tuple[int, int]],
) -> None:
    """Signature 0 shows nothing."""
    pairs = fill(sql, "link_candidate", ("own_no INTEGER", "cell_no INTEGER"), sorted(candidates))
    cells = fill(sql, "link_cell", ("cell_no INTEGER", "signature_no INTEGER"),
                 list(enumerate(signature)))  # fmt: skip
    terms = fill(sql, "link_shows", ("signature_no INTEGER", "term_no INTEGER"), sorted(shows))
    cannot = fill(sql, "link_cannot", ("own_no INTEGER", "term_no INTEGER"), sorted(contradicted))
    rows = sql.rows(f"FROM srsql.narrowed_candidates('{pairs}', '{cells}', '{terms}', '{cannot}')")
    assert sorted(rows) == [
        (own, cell)
        for own, cell in sorted(candidates)
        if not any(s == signature[cell] and (own, t) in contradicted for s, t in shows)
    ]


def test_bias_is_the_difference_that_knowledge_makes_within_one_release(sql: Any) -> None:
    risks = sql.table(
        "risk",
        "release INTEGER, measure VARCHAR, scope VARCHAR, violating DOUBLE, total DOUBLE,"
        " ratio DOUBLE, threshold DOUBLE, passed BOOLEAN",
        [
            (release, measure, "release", n, 8, n / 8, None, None)
            for release, measure, n in
            [(1, "rr", 2), (1, "rr_medical", 5), (1, "ar", 7), (2, "rr", 4), (2, "rr_medical", 3)]
        ],
    )  # fmt: skip
    rows = sql.rows(
        "SELECT release, measure, scope, violating, total, ratio FROM "
        f"srsql.knowledge_bias({risks}, 'rr', 'rr_medical', 'rr_bias') ORDER BY release"
    )
    assert rows == [
        (1, "rr_bias", "release", 3, 8, 3 / 8),
        (2, "rr_bias", "release", -1, 8, -1 / 8),
    ]
