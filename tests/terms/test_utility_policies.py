"""Utility policies and the frequent itemsets that one kind of them is made of."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.examples import REPEATABLE
from support.published_terms import Subrecord, fill, warehouse

from srsql.engine.errors import PolicyError
from srsql.engine.store.warehouse import Warehouse
from srsql.engine.terms.itemsets import Itemset, frequent_itemsets
from srsql.engine.terms.policies import (
    UtilityPolicy,
    frequency_policy,
    hierarchy_policy,
    load_policy,
    load_tree,
    parse_policy,
    put_constraints,
    similarity_policy,
)
from srsql.schemas.hierarchy import Hierarchy, build_hierarchy

ORIGINALS = "temp.main.originals"
baskets = st.lists(st.frozensets(st.sampled_from("abcdef"), min_size=1), min_size=1, max_size=20)

ICD = {
    "290-319": ["290-299", "300-319"], "290-299": ["295", "296"], "300-319": ["300"],
    "295": ["295.00", "295.01", "295.02"], "296": ["296.00", "296.01"], "300": ["300.0", "300.1"],
    "V": ["V1", "V2"], "Any": ["290-319", "V", "X"],
}  # fmt: skip


def icd() -> Hierarchy:
    """Chapters 290-319 (with sections and codes) and V (two codes), and a code at the root."""
    rows = [{"node": "Any", "parent": ""}]
    return build_hierarchy(
        rows + [{"node": c, "parent": p} for p, children in ICD.items() for c in children]
    )


def put(sql: Any, records: list[Subrecord]) -> Warehouse:
    rows = [(i, t) for i, r in enumerate(records) for t in sorted(r)]
    fill(sql, "originals", ("record INTEGER", "term VARCHAR"), rows)
    return warehouse(sql)


@pytest.mark.slow
@settings(REPEATABLE, max_examples=12)
@given(records=baskets, percent=st.sampled_from(["5", "12.5", "20", "100/3", "50", "100"]))
def test_frequent_itemsets_are_all_sets_that_so_many_records_hold(
    sql: Any, records: list[Subrecord], percent: str
) -> None:
    least = math.ceil(Fraction(percent) * len(records) / 100)
    held = Counter(c for r in records for n in range(1, 7) for c in combinations(sorted(r), n))
    expected = [Itemset(c, n) for c, n in held.items() if n >= least]
    found = frequent_itemsets(put(sql, records), ORIGINALS, percent)
    assert found == sorted(expected, key=lambda i: (len(i.terms), i.terms))
    short = frequent_itemsets(warehouse(sql), ORIGINALS, percent, longest=2)
    assert short == [i for i in found if len(i.terms) <= 2]


def test_itemsets_refuse_a_support_that_is_none_and_too_many_sets(sql: Any) -> None:
    house = put(sql, [frozenset("abcdef")])
    for percent in (0, "100.5", -1):
        with pytest.raises(PolicyError, match="above 0 and up to 100"):
            frequent_itemsets(house, ORIGINALS, percent)
    with pytest.raises(PolicyError, match="more than 20 sets"):
        frequent_itemsets(house, ORIGINALS, 100, at_most=20)
    assert frequent_itemsets(put(sql, []), ORIGINALS, 1) == []


@settings(REPEATABLE, max_examples=12)
@given(records=baskets, percent=st.sampled_from([5, 20, 50]))
def test_a_frequency_policy_has_every_frequent_term_in_one_frequent_itemset(
    sql: Any, records: list[Subrecord], percent: int
) -> None:
    itemsets = frequent_itemsets(put(sql, records), ORIGINALS, percent)
    if not itemsets:
        return
    policy = frequency_policy(itemsets, str(percent))
    chosen = list(policy.constraints.values())
    assert set(chosen) <= {i.terms for i in itemsets}
    assert sorted(t for c in chosen for t in c) == [
        i.terms[0] for i in itemsets if len(i.terms) == 1
    ]
    assert [len(c) for c in chosen] == sorted((len(c) for c in chosen), reverse=True)
    assert len(chosen[0]) == max(len(i.terms) for i in itemsets)


def test_overlapping_itemsets_the_longest_then_the_most_frequent_wins() -> None:
    itemsets = [
        Itemset(("a",), 9), Itemset(("b",), 8), Itemset(("c",), 8), Itemset(("d",), 5),
        Itemset(("a", "b"), 5), Itemset(("b", "c"), 7), Itemset(("c", "d"), 5),
    ]  # fmt: skip
    assert frequency_policy(itemsets, "1.25") == UtilityPolicy(
        "sup 1.25", {"sup 1": ("b", "c"), "sup 2": ("a",), "sup 3": ("d",)}
    )
    with pytest.raises(PolicyError, match="no term has this support"):
        frequency_policy([], "90")


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        (1, {"295": 4, "296": 3, "300": 3, "V": 3}),
        (2, {"290-299": 8, "300-319": 4, "V": 3}),
        (3, {"290-319": 13, "V": 3}),
        (9, {"290-319": 13, "V": 3}),
    ],
)
def test_levels_of_a_hierarchy_are_its_common_ancestors_below_the_root(
    level: int, expected: dict[str, int]
) -> None:
    constraints = hierarchy_policy(icd(), level).constraints
    assert {label: len(terms) for label, terms in constraints.items()} == expected
    assert all(label in terms for label, terms in constraints.items())


def test_level_1_has_the_siblings() -> None:
    terms = hierarchy_policy(icd(), 1).constraints["295"]
    assert terms == ("295", "295.00", "295.01", "295.02")


def test_similar_terms_are_siblings_and_what_is_left_over_goes_up() -> None:
    groups = {frozenset(g) for g in similarity_policy(icd(), 2).constraints.values()}
    assert groups == {
        frozenset(pair.split())
        for pair in ("295.00 295.01", "296.00 296.01", "300.0 300.1", "V1 V2")
    }
    groups = {frozenset(g) for g in similarity_policy(icd(), 4).constraints.values()}
    assert groups == {frozenset(["295.00", "295.01", "295.02", "296.00"])}


@settings(REPEATABLE, max_examples=60)
@given(
    parents=st.lists(st.integers(0, 100), min_size=1, max_size=30),
    size=st.integers(2, 6),
    level=st.integers(1, 5),
)
def test_policies_of_any_hierarchy_are_disjoint_and_of_their_size(
    parents: list[int], size: int, level: int
) -> None:
    rows = [{"node": "n0", "parent": ""}]
    rows += [{"node": f"n{i}", "parent": f"n{p % i}"} for i, p in enumerate(parents, 1)]
    tree = build_hierarchy(rows)
    for make, number in ((similarity_policy, size), (hierarchy_policy, level)):
        try:
            constraints = list(make(tree, number).constraints.values())
        except PolicyError:
            continue
        terms = [t for c in constraints for t in c]
        assert len(terms) == len(set(terms))
        assert tree.labels[0] not in terms
        if make is similarity_policy:
            assert {len(c) for c in constraints} == {size}


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: hierarchy_policy(icd(), 0), "levels count from 1"),
        (lambda: hierarchy_policy(build_hierarchy([{"node": "Any", "parent": ""}]), 1), "no inner"),
        (lambda: similarity_policy(icd(), 1), "needs 2 terms"),
        (lambda: similarity_policy(icd(), 9), "no node below the root has 9 leaves"),
    ],
)
def test_policies_that_cannot_be_made_say_so(make: Any, text: str) -> None:
    with pytest.raises(PolicyError, match=text):
        make()


def test_a_policy_is_read_and_written_for_the_kernels_in_the_terms_of_the_data(
    sql: Any, tmp_path: Path
) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("﻿constraint,term\nu1,Fever\nu2,a\nu1, rash \nu1,Fever\nu3,unknown\n", "utf-8")
    policy = load_policy(path)
    assert policy == UtilityPolicy(
        "mine.csv", {"u1": ("Fever", "rash"), "u2": ("a",), "u3": ("unknown",)}
    )
    fill(sql, "srsql_basket_term", ("term_no INTEGER", "term VARCHAR"),
         [(0, "A"), (1, "FEVER"), (2, "PAIN"), (3, "RASH")])  # fmt: skip
    assert put_constraints(warehouse(sql), policy) == 2
    rows = sql.rows("FROM temp.main.srsql_constraint ORDER BY ALL")
    assert rows == [(0, 1), (1, 0), (3, 0)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("constraint,code\nu,a\n", "must name the columns constraint and term"),
        ("constraint,term\nu,a\nv,\n", "line 3 has an empty field"),
        ("constraint,term\n", "no constraint in it"),
        ("constraint,term\nu,a\nv, A\n", "term 'A' is in the constraints 'u' and 'v'"),
    ],
)
def test_a_policy_file_that_is_wrong_is_refused_in_one_line(
    tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "policy.csv"
    path.write_text(text, "utf-8")
    with pytest.raises(PolicyError, match=message) as caught:
        load_policy(path)
    assert "\n" not in str(caught.value)
    with pytest.raises(PolicyError, match="cannot be read"):
        load_policy(tmp_path / "none.csv")


@pytest.mark.parametrize("constraints", [{"u": ()}, {" ": ("a",)}, {"u": (" ",)}])
def test_a_policy_without_names_or_terms_is_none(constraints: dict[str, tuple[str, ...]]) -> None:
    with pytest.raises(PolicyError):
        UtilityPolicy("bad", constraints)


def test_trees_come_from_files(tmp_path: Path) -> None:
    path = tmp_path / "tree.csv"
    path.write_text("node,parent\nAny,\nV,Any\nV1,V\nV2,V\n", "utf-8")
    tree = load_tree(path)
    assert hierarchy_policy(tree, 1).constraints == {"V": ("V", "V1", "V2")}
    for text in ("node,parent\nAny,\nOther,\n", "node,parent\nAny,\nA,B\n"):
        path.write_text(text, "utf-8")
        with pytest.raises(PolicyError, match=r"root|add a row") as caught:
            load_tree(path)
        assert "\n" not in str(caught.value)
    with pytest.raises(PolicyError):
        load_tree(tmp_path / "none.csv")


def test_the_hierarchy_that_ships_makes_the_policies_of_the_paper() -> None:
    tree = load_tree(None)
    assert tree.height[0] == 4  # terms, categories, sections, chapters
    assert {tree.depth[n] for n, h in enumerate(tree.height) if h == 0} == {4}
    upper = [label.upper() for label in tree.labels]
    assert len(set(upper)) == len(upper)  # terms are compared in upper case
    for text, least in (("level:1", 300), ("level:2", 40), ("level:3", 12), ("sim:5", 300),
                        ("sim:10", 150), ("sim:25", 50), ("sim:100", 10)):  # fmt: skip
        choice = parse_policy(text)
        assert (choice.name, choice.fixed is not None) == (text, True)
        assert choice.fixed is not None
        assert len(choice.fixed.constraints) >= least
    chapter = parse_policy("level:3").fixed
    assert chapter is not None
    assert "Nausea" in chapter.constraints["Belly"]
    assert "Pyrexia" in chapter.constraints["Whole body"]


@pytest.mark.parametrize("text", ["level:1:", "sim:", "sim:x", "level::terms.csv"])
def test_a_policy_over_no_hierarchy_is_refused(text: str) -> None:
    with pytest.raises(PolicyError, match="give a CSV file"):
        parse_policy(text)
