"""The checks of a disassociated release: against enumeration, and against tables broken by hand."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.examples import REPEATABLE
from oracles.published_terms import covers_its_records, disassociate, is_km_anonymous, reconstruct
from support import medical_codes
from support.published_terms import (
    Place,
    Published,
    check_originals,
    fill,
    load,
    load_originals,
    project,
    warehouse,
)

from srsql.engine.catalog.released_terms import PublishedTerms
from srsql.engine.checks import term_chunks
from srsql.engine.checks.term_chunks import (
    BARE,
    CHUNKS,
    breaches,
    check_reconstructed,
    check_terms,
    longest_unproved,
)
from srsql.engine.risk.term_counts import count_terms

pytestmark = pytest.mark.slow

Rows = dict[str, list[tuple[Any, ...]]]

subrecords = st.lists(st.frozensets(st.sampled_from("abcdef"), min_size=1), min_size=1, max_size=9)
baskets = st.lists(st.frozensets(st.sampled_from("abcdefg"), min_size=1), min_size=4, max_size=12)


def failed(sql: Any, rows: Rows, k: int, m: int, **more: Any) -> set[tuple[str, str]]:
    """(check, scope) of every check that did not pass."""
    measured = check_terms(warehouse(sql), load(sql, rows), 9, k, m, **more)
    return {(row.measure, row.scope) for row in measured if not row.passed}


@REPEATABLE
@given(own=subrecords, shared=subrecords, k=st.integers(1, 4), m=st.integers(1, 7))
def test_k_to_the_m_is_its_definition_on_any_chunk(
    sql: Any, own: list[frozenset[str]], shared: list[frozenset[str]], k: int, m: int
) -> None:
    made = Published(
        {1: 9, 2: 9}, {1: frozenset({1, 2})}, own={(1, 1): own}, shared={(1, 1): shared}
    )
    call = load(sql, made.rows()).call("check_km", CHUNKS, f"{k}", f"{m}", "1000000", "9")
    broken = {
        scope for scope, passed in sql.rows(f"SELECT scope, passed FROM {call}") if not passed
    }
    expected = {
        scope
        for scope, chunk in (("record chunk", own), ("shared chunk", shared))
        if not is_km_anonymous(chunk, k, m)
    }
    assert broken == expected


def lacking(terms: int, subrecords: int, most: int) -> list[frozenset[str]]:
    """One subrecord of all terms, and others of which each lacks a few."""
    luck = random.Random(terms)
    everything = [f"t{i:02}" for i in range(terms)]
    return [frozenset(everything)] + [
        frozenset(everything) - set(luck.sample(everything, luck.randint(1, most)))
        for _ in range(subrecords - 1)
    ]


@REPEATABLE
@given(own=st.lists(subrecords, max_size=3), k=st.integers(2, 4), m=st.integers(1, 7))
def test_a_chunk_is_proved_or_a_breach_of_it_is_named(
    sql: Any, own: list[list[frozenset[str]]], k: int, m: int
) -> None:
    made = Published(dict.fromkeys((1, 2, 3), 9), own={(n, 1): c for n, c in enumerate(own, 1)})
    call = load(sql, made.rows()).call("km_unproved", CHUNKS, f"{k}", f"{m}", "1000000")
    found = {
        owner: (terms, known)
        for owner, terms, known in sql.rows(f"SELECT owner, terms, known FROM {call}")
    }
    assert found.keys() == {n for n, c in enumerate(own, 1) if not is_km_anonymous(c, k, m)}
    for owner, (terms, known) in found.items():
        assert terms == len(frozenset().union(*own[owner - 1]))
        assert 0 < sum(set(known) <= s for s in own[owner - 1]) < k


def test_what_is_not_decided_within_the_steps_fails_and_is_named(
    sql: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """24 terms in 60 subrecords keep 5^8 and take thousands of steps; {a, b} takes none."""
    hard, easy = lacking(24, 60, 2), [frozenset("ab")] * 5
    made = Published(
        {1: 60, 2: 9}, own={(1, 1): hard, (2, 1): easy},
        items={1: frozenset("x"), 2: frozenset("y")},
    )  # fmt: skip
    tables = load(sql, made.rows())
    house = warehouse(sql)
    assert failed(sql, made.rows(), 5, 8) == set()
    assert longest_unproved(house, tables, 5, 8) == 0
    monkeypatch.setattr(term_chunks, "STEPS", 2000)
    assert failed(sql, made.rows(), 5, 8) == {("check_km", "chunk not provable within 2,000 steps")}
    (row,) = [r for r in check_terms(house, tables, 9, 5, 8) if r.passed is False]
    assert (row.violating, row.total) == (1, 2)
    assert breaches(house, tables, 5, 8) == [
        "cluster 1, chunk 1: that its 24 terms are 5^8-anonymous is not provable within 2,000 steps"
    ]
    assert longest_unproved(house, tables, 5, 8) == 24


@pytest.mark.parametrize(("m", "kept"), [(2, True), (3, True), (20, False), (40, False)])
def test_subrecords_of_forty_terms_are_judged_without_their_combinations(
    sql: Any, m: int, kept: bool
) -> None:
    """Forty terms have 10^11 combinations of 20. Five copies of each subrecord keep 5^m; without
    one copy of the longest, 11 terms or fewer are in its four others alone: one of those that each
    of the rest has not."""
    luck = random.Random(m)
    terms = [f"t{i:02}" for i in range(40)]
    pieces = [frozenset(terms), *(frozenset(luck.sample(terms, 36)) for _ in range(11))]
    made = Published({1: 60}, own={(1, 1): pieces * 5}, items={1: frozenset("x")})
    assert failed(sql, made.rows(), 5, m) == set()
    made.own[1, 1].pop(0)
    assert (failed(sql, made.rows(), 5, m) == set()) == kept


def test_a_long_subrecord_that_is_alone_is_found_at_once(sql: Any) -> None:
    terms = [f"t{i:02}" for i in range(40)]
    chunk = [frozenset(terms)] + [frozenset(terms) - {t} for t in terms for _ in range(5)]
    made = Published({1: len(chunk)}, own={(1, 1): chunk}, items={1: frozenset("x")})
    assert failed(sql, made.rows(), 5, 3) == set()
    assert failed(sql, made.rows(), 5, 39) == set()
    assert failed(sql, made.rows(), 5, 40) == {("check_km", "record chunk")}


@pytest.mark.thorough
@settings(REPEATABLE, max_examples=12)
@given(records=baskets, k=st.integers(2, 3), m=st.integers(1, 3), two=st.booleans())
def test_a_valid_publication_passes_every_check_and_holds_its_originals(
    sql: Any, records: list[frozenset[str]], k: int, m: int, two: bool
) -> None:
    half = len(records) // 2 if two and len(records) >= 2 * k else 0
    member = [1 + (i >= half) for i in range(len(records))]
    made = disassociate(records, member, k, m)
    assert failed(sql, made.rows(), k, m) == set()
    load_originals(sql, records, member)
    rows = check_originals(
        warehouse(sql), load(sql, made.rows()), 9, "temp.main.originals", "temp.main.members"
    )
    assert len(rows) == 6
    assert all(row.passed for row in rows), rows


@REPEATABLE
@given(
    own=st.lists(subrecords, max_size=3), records=st.integers(9, 12), k=st.integers(1, 4),
    m=st.integers(1, 4), item=st.booleans(),
)  # fmt: skip
def test_a_cluster_without_item_chunk_needs_so_many_subrecords(
    sql: Any, own: list[list[frozenset[str]]], records: int, k: int, m: int, item: bool
) -> None:
    made = Published(
        {1: records},
        own={(1, i): chunk for i, chunk in enumerate(own, 1)},
        items={1: frozenset("z")} if item else {},
    )
    call = load(sql, made.rows()).call("check_bare_clusters", BARE, f"{k}", f"{m}", "9")
    assert sql.rows(f"SELECT passed FROM {call}") == [(covers_its_records(made, 1, k, m),)]


def test_five_records_over_two_chunks_of_three_are_told(sql: Any) -> None:
    """SPEC section 11: one of five non-empty records has to hold both a and b."""
    a, b = frozenset("a"), frozenset("b")
    made = Published({1: 5}, own={(1, 1): [a] * 3, (1, 2): [b] * 3})
    assert failed(sql, made.rows(), 3, 2) == {("check_bare_clusters", "cluster without item chunk")}
    assert failed(sql, made.rows(), 3, 1) == set()
    text = breaches(warehouse(sql), load(sql, made.rows()), 3, 2)
    assert text == [
        "cluster 1: 6 subrecord(s) in 2 chunk(s) for 5 records without an item chunk, 8 are needed"
    ]


def example() -> tuple[list[frozenset[str]], list[int], Published]:
    """Two clusters joined by {x, y}, and a third one; k = 3, m = 2."""
    texts = "abx abxy ab axy b abd|cdxy cdx cdy cdq dq xy|ab ab abz z z"
    clusters = [text.split() for text in texts.split("|")]
    records = [frozenset(r) for cluster in clusters for r in cluster]
    member = [i for i, cluster in enumerate(clusters, 1) for _ in cluster]
    item = {(1, "d"), (2, "q"), (3, "z")}
    places: dict[tuple[int, str], Place] = {}
    for record, cluster in zip(records, member, strict=True):
        for term in record:
            if term in "xy":
                places[cluster, term] = ("shared", 1, 1)
            elif (cluster, term) in item:
                places[cluster, term] = ("item", cluster, 0)
            else:
                places[cluster, term] = ("own", cluster, 1)
    return records, member, project(records, member, {1: frozenset({1, 2})}, places)


def judge(sql: Any, rows: Rows) -> set[tuple[str, str]]:
    records, member, _ = example()
    load_originals(sql, records, member)
    tables = load(sql, rows)
    measured = check_terms(warehouse(sql), tables, 9, 3, 2) + check_originals(
        warehouse(sql), tables, 9, "temp.main.originals", "temp.main.members"
    )
    return {(row.measure, row.scope) for row in measured if not row.passed}


def test_the_example_passes_before_anything_is_broken(sql: Any) -> None:
    rows = example()[2].rows()
    assert judge(sql, rows) == set()
    assert breaches(warehouse(sql), load(sql, rows), 3, 2) == []


def change(table: str, edit: Callable[[list[tuple[Any, ...]]], list[tuple[Any, ...]]]) -> Any:
    def broken(rows: Rows) -> Rows:
        return rows | {table: edit(rows[table])}

    return broken


OWN, SHARED, ITEM = "record_chunk", "shared_chunk", "item_chunk"
BREACHES = {
    "a subrecord is gone": (
        change(OWN, lambda r: [x for x in r if x[:3] != (1, 1, 6)]),
        {("check_term_support", "term"), ("check_projection", "subrecord")},
    ),
    "one term of a subrecord is gone": (
        change(SHARED, lambda r: r[:-1]),
        {("check_term_support", "term"), ("check_projection", "subrecord")},
    ),
    "a term is in a subrecord twice": (
        change(OWN, lambda r: [*r, r[0]]),
        {("check_term_structure", "record chunk"), ("check_term_support", "term"),
         ("check_projection", "subrecord")},
    ),
    "two terms that meet once are in a chunk": (
        change(OWN, lambda r: [*r, (1, 1, 1, "d")]),
        {("check_km", "record chunk"), ("check_one_place", "item chunk"),
         ("check_term_support", "term"), ("check_projection", "term"),
         ("check_projection", "subrecord")},
    ),
    "a shared subrecord more than records hold": (
        change(SHARED, lambda r: [*r, (1, 1, 9, "y"), (1, 1, 10, "y")]),
        {("check_term_structure", "shared chunk"), ("check_term_support", "term"),
         ("check_projection", "subrecord")},
    ),
    "a cluster is smaller than k": (
        change("clusters", lambda r: [(c, 2 if c == 3 else n) for c, n in r]),
        {("check_cluster_size", "cluster"), ("check_term_structure", "record chunk"),
         ("check_term_support", "record"), ("check_term_support", "term"),
         ("check_projection", "record")},
    ),
    "a cluster is unknown": (
        change("clusters", lambda r: r[:-1]),
        {("check_term_structure", "record chunk"), ("check_term_structure", "item chunk"),
         ("check_term_support", "record"), ("check_term_support", "term"),
         ("check_projection", "record")},
    ),
    "a cluster is listed twice": (
        change("clusters", lambda r: [*r, r[0]]),
        {("check_term_structure", "cluster"), ("check_term_support", "record"),
         ("check_term_support", "term")},
    ),
    "a shared term is in a record chunk below": (
        change(OWN, lambda r: [*r, (1, 2, 1, "x"), (1, 2, 2, "x"), (1, 2, 3, "x")]),
        {("check_one_place", "shared chunk"), ("check_term_support", "term"),
         ("check_projection", "term")},
    ),
    "a shared term is in an item chunk below": (
        change(ITEM, lambda r: [*r, (1, "x")]),
        {("check_one_place", "shared chunk"), ("check_term_support", "term"),
         ("check_projection", "term")},
    ),
    "an item term is nobody's": (
        change(ITEM, lambda r: [*r, (1, "w")]),
        {("check_term_support", "term"), ("check_projection", "item")},
    ),
    "an item term is gone": (
        change(ITEM, lambda r: [x for x in r if x != (1, "d")]),
        {("check_term_support", "term"), ("check_projection", "term")},
    ),
    "a term is in two record chunks": (
        change(OWN, lambda r: [*r, *((1, 2, i, "b") for i in range(1, 4))]),
        {("check_one_place", "record chunk"), ("check_term_support", "term"),
         ("check_projection", "term"), ("check_projection", "subrecord")},
    ),
    "a joint cluster has an unknown cluster": (
        change("joint_clusters", lambda r: [*r, (1, 7)]),
        {("check_term_structure", "joint cluster")},
    ),
    "a joint cluster is known to nobody": (
        change("joint_clusters", lambda r: []),
        {("check_term_structure", "shared chunk"), ("check_projection", "term"),
         ("check_projection", "subrecord")},
    ),
    "a joint cluster is one cluster": (
        change("joint_clusters", lambda r: r[:1]),
        {("check_term_structure", "joint cluster"), ("check_term_structure", "shared chunk"),
         ("check_projection", "term"), ("check_projection", "subrecord")},
    ),
    "a joint cluster has no shared chunk": (
        change("joint_clusters", lambda r: [*r, (2, 1), (2, 2)]),
        {("check_term_structure", "joint cluster")},
    ),
    "joint clusters overlap": (
        lambda rows: change("joint_clusters", lambda r: [*r, (2, 2), (2, 3)])(
            change(SHARED, lambda r: [*r, *((2, 1, i, "b") for i in range(1, 4))])(rows)
        ),
        {("check_term_structure", "joint cluster"), ("check_one_place", "shared chunk"),
         ("check_term_support", "term"), ("check_projection", "term")},
    ),
    "a term is in shared chunks one above the other": (
        lambda rows: change("joint_clusters", lambda r: [*r, (2, 1), (2, 2), (2, 3)])(
            change(SHARED, lambda r: [*r, *((2, 1, i, "x") for i in range(1, 4))])(rows)
        ),
        {("check_one_place", "shared chunk"), ("check_term_support", "term"),
         ("check_projection", "term"), ("check_projection", "subrecord")},
    ),
    "subrecords are numbered with a gap": (
        change(OWN, lambda r: [(c, n, s + (c == 3 and s == 3), t) for c, n, s, t in r]),
        {("check_term_structure", "record chunk")},
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", BREACHES)
def test_a_table_broken_by_hand_is_caught(sql: Any, what: str) -> None:
    edit, expected = BREACHES[what]
    rows = edit(example()[2].rows())
    assert judge(sql, rows) == expected
    told = breaches(warehouse(sql), load(sql, rows), 3, 2)
    assert bool(told) == any(
        check in ("check_term_structure", "check_km", "check_bare_clusters", "check_one_place")
        for check, _ in expected
    )


def test_records_that_swap_their_clusters_are_not_what_is_published(sql: Any) -> None:
    records, member, made = example()
    load_originals(sql, records, [member[-1], *member[1:-1], member[0]])
    rows = check_originals(
        warehouse(sql), load(sql, made.rows()), 9, "temp.main.originals", "temp.main.members"
    )
    assert {row.scope for row in rows if not row.passed} >= {"term", "subrecord"}


def test_a_sampled_dataset_is_checked_like_the_originals(sql: Any) -> None:
    made = example()[2]
    member = [c for c, n in made.records.items() for _ in range(n)]
    columns = ("record INTEGER", "cluster INTEGER", "term VARCHAR")
    for seed in range(3):
        sample = reconstruct(made, random.Random(seed))
        rows = [
            (i, c, t)
            for i, (r, c) in enumerate(zip(sample, member, strict=True))
            for t in sorted(r)
        ]
        tables = replace(load(sql, made.rows()), reconstructed="temp.main.reconstructed")
        for kept, expected in ((rows, True), (rows[1:], False), ([*rows, (0, 1, "q")], False)):
            fill(sql, "reconstructed", columns, kept)
            found = check_reconstructed(warehouse(sql), tables, 9)
            assert {row.measure for row in found} == {"check_reconstructed"}
            assert all(row.passed for row in found) == expected


def test_a_sensitive_term_outside_item_chunks_is_caught(sql: Any) -> None:
    rows = example()[2].rows()
    name = fill(sql, "kept_apart", ("term VARCHAR",), [("z",), ("q",)])
    assert failed(sql, rows, 3, 2, sensitive=name, cluster_size=5) == set()
    assert failed(sql, rows, 3, 2, cluster_size=6) == {("check_cluster_size", "cluster")}
    for term in ("b", "x"):
        name = fill(sql, "kept_apart", ("term VARCHAR",), [(term,)])
        assert failed(sql, rows, 3, 2, sensitive=name) == {("check_kept_apart", "sensitive term")}


def test_the_composed_worked_example_keeps_3_to_the_2_and_guarantee_1(sql: Any) -> None:
    records = medical_codes.example("loukides2014").records
    member = [1] * 5 + [2] * 5
    chunks: dict[Place, str] = {
        ("own", 1, 1): "296.00 296.01 296.02", ("own", 1, 2): "692.71 695.10",
        ("item", 1, 0): "401.0", ("shared", 1, 1): "834.0 944.01",
        ("own", 2, 1): "294.10 296.03", ("own", 2, 2): "401.0 404.00", ("own", 2, 3): "295.04",
    }  # fmt: skip
    places = {
        (cluster, term): place
        for place, text in chunks.items()
        for term in text.split()
        for cluster in ([1, 2] if place[0] == "shared" else [place[1]])
    }
    made = project(records, member, {1: frozenset({1, 2})}, places)
    assert failed(sql, made.rows(), 3, 2) == set()
    assert ("check_km", "record chunk") in failed(sql, made.rows(), 4, 2)
    load_originals(sql, records, member)
    rows = check_originals(
        warehouse(sql), load(sql, made.rows()), 9, "temp.main.originals", "temp.main.members"
    )
    assert all(row.passed for row in rows)


def test_tables_may_stand_in_a_schema_of_any_name(sql: Any) -> None:
    rows = example()[2].rows()
    load(sql, rows)
    sql.con.execute("""CREATE SCHEMA "an 'odd.one" """)
    for name in rows:
        sql.con.execute(f"""CREATE VIEW "an 'odd.one"."my {name}" AS FROM temp.main.{name}""")
    tables = PublishedTerms.in_schema("an 'odd.one", prefix="my ")
    assert all(row.passed for row in check_terms(warehouse(sql), tables, 9, 3, 2))
    assert [c.upper for c in count_terms(warehouse(sql), tables, ["ab", "x"])] == [7, 6]
