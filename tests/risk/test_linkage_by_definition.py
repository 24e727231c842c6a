"""NIL*, RR, AR_rev and medical knowledge in SQL, against the definitions in exact fractions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import nearest as oracle
from oracles.examples import REPEATABLE
from oracles.releases import Case, Group, Release, Value, releases
from oracles.trees import Tree
from support.linkage import NOISE, coded, store, worlds

from srsql.engine.store.statements import query, step_file
from srsql.schemas.hierarchy import build_hierarchy

pytestmark = pytest.mark.slow

SEX = Tree({"Any": "", "M": "Any", "F": "Any"})


def linkage(
    sql: Any,
    release: Release,
    noise: NOISE | None = None,
    knowledge: oracle.Knowledge | None = None,
) -> dict[str, dict[str, Any]]:
    """Measure -> its row, of a release that is stored as number 1 with this noise."""
    store(sql, release, noise or {})
    known = [
        (term, number, q, *coded(release.qids[q], value))
        for term, rows in (knowledge or {}).items()
        for number, row in enumerate(rows)
        for q, value in row.items()
    ]
    return measured_again(sql, known)


def measured_again(sql: Any, known: Sequence[tuple[Any, ...]] = ()) -> dict[str, dict[str, Any]]:
    """Measure -> its row, of the release that is stored as number 1."""
    for statement in step_file("risk/linkage").statements():
        sql.con.execute(statement, dict.fromkeys(statement.named_parameters, 1))
    names = ("terms", "numbers", "positions", "lows", "highs")
    lists = {name: [row[place] for row in known] for place, name in enumerate(names)}
    rows = sql.records(query("risk/linkage", "risks"), {**lists, "release_id": 1})
    rows += sql.records("FROM srsql.star_information_loss(1)")
    found = {row["measure"]: row for row in rows}
    assert len(found) == len(rows)
    assert {tuple(row) for row in rows} == {
        ("release", "measure", "scope", "violating", "total", "ratio", "threshold", "passed")
    }
    assert {row["release"] for row in rows} == {1}
    return found


def candidates(sql: Any) -> dict[int, list[int]]:
    """Case -> the cases whose published records are nearest to it."""
    return dict(
        sql.rows(
            "SELECT o.case_no, list(p.case_no ORDER BY p.case_no) "
            "FROM temp.main.srsql_link_tuple AS o "
            "INNER JOIN temp.main.srsql_link_pair AS n ON o.own_no = n.own_no "
            "INNER JOIN temp.main.srsql_link_tuple AS p ON n.published_no = p.published_no "
            "GROUP BY o.case_no"
        )
    )


@pytest.mark.thorough
@REPEATABLE
@given(world=worlds(), other=releases())
def test_nearest_records_and_measures_are_those_of_the_definitions(
    sql: Any, world: tuple[Release, NOISE, oracle.Knowledge], other: Release
) -> None:
    """G record by record, so that errors cannot cancel; then what is made of it."""
    release, noise, knowledge = world
    other.store(sql, 2)
    found = linkage(sql, release, noise, knowledge)
    records = oracle.published(release, noise)
    shown = [record.shown for record in records]
    assert candidates(sql) == {
        n: oracle.nearest(release.qids, record.own, shown) for n, record in enumerate(records)
    }
    plain, informed = (oracle.risks(release.qids, records, k) for k in ({}, knowledge))
    lost = sum(oracle.loss(release.qids, r.own, r.shown) for r in records)
    for measure, expected, parts in [
        ("rr", plain[0], 1),
        ("ar_rev", plain[1], 1),
        ("rr_medical", informed[0], 1),
        ("ar_medical", informed[1], 1),
        ("rr_bias", informed[0] - plain[0], 1),
        ("ar_bias", informed[1] - plain[1], 1),
        ("nil_star", lost, len(release.qids)),
    ]:
        total = len(records) * parts
        row = found[measure]
        assert (row["violating"], row["total"]) == (
            pytest.approx(float(expected), abs=1e-12), total,
        ), measure  # fmt: skip
        ratio = pytest.approx(float(expected / total), abs=1e-12) if total else None
        assert row["ratio"] == ratio, measure


NUMBERS = st.integers(-3, 40)


@REPEATABLE
@given(own=st.tuples(NUMBERS, NUMBERS), shown=st.tuples(NUMBERS, NUMBERS))
def test_the_closed_form_is_the_integral(
    sql: Any, own: tuple[int, int], shown: tuple[int, int]
) -> None:
    """Against a sum over slices, whose boundaries include the kink at v, so that it is exact."""
    (a, b), (low, high) = sorted(own), sorted(shown)
    ((closed,),) = sql.rows(f"SELECT srsql.star_number({a}, {b}, {low}, {high}, 7)")
    middle = Fraction(a + b, 2)
    slices = 2 * (high - low)
    if slices:
        middles = [low + Fraction(2 * i + 1, 4) for i in range(slices)]
        mean = sum(abs(x - middle) for x in middles) / slices
    else:
        mean = abs(low - middle)
    assert closed == pytest.approx(float(mean / 7), abs=1e-15)
    assert oracle.mean_distance(middle, low, high) == mean


def test_ancestors_count_the_node_itself_and_the_root(sql: Any) -> None:
    """Wu 2022, Example 2: 1/3 and 2/3 of Child, and (SPEC section 10) 0 of the node itself."""
    tree = Tree(
        {"Non-adult": "", "Child": "Non-adult", "In-school": "Child", "Adolescent": "Non-adult"}
    )
    own = ("Child", "In-school", "Adolescent")
    groups = (Group(tuple(Case((node,)) for node in own), 1),)
    noise = {(n, 0): node for n, node in enumerate(("Child", "Child", "Non-adult"))}
    linkage(sql, Release((tree,), groups), noise)
    number = build_hierarchy(tree.rows()).number
    labels = {pre: label for label, pre in number.items()}
    found = {
        (labels[own], labels[shown]): Fraction(apart, united)
        for own, shown, apart, united in sql.rows(
            "SELECT d.own, d.published, d.apart, d.united FROM srsql.node_distance(1) AS d"
        )
    }
    assert found == {
        ("Child", "Child"): 0,
        ("In-school", "Child"): Fraction(1, 3),
        ("Adolescent", "Child"): Fraction(2, 3),
        ("Child", "Non-adult"): Fraction(1, 2),
        ("In-school", "Non-adult"): Fraction(2, 3),
        ("Adolescent", "Non-adult"): Fraction(1, 2),
    }


def two_groups() -> Release:
    """Weights over a domain of 100 and sexes: [30-40] M of two cases and [50-90] F of two."""
    sure = Fraction(1)
    return Release(
        (100, SEX),
        (
            Group(
                (
                    Case(((30, 30), "M"), {"a": sure}),
                    Case(((40, 40), "M"), {"a": sure, "b": sure}),
                ),
                3,
            ),
            Group((Case(((50, 50), "F"), {"c": sure}), Case(((90, 90), "F"))), 3),
        ),
        dict.fromkeys("abc", sure),
    )


def test_a_generalized_table_as_computed_by_hand(sql: Any) -> None:
    """IL*: 5, 5, 20, 20 of 100. G is each case's group; Ar: (2/2 + 1/2) / 2 and 1/2."""
    found = linkage(sql, two_groups())
    assert found["nil_star"]["ratio"] == pytest.approx(0.5 / (4 * 2))
    assert found["rr"]["ratio"] == pytest.approx(1 / 2)
    assert found["ar_rev"]["ratio"] == pytest.approx((3 / 4 + 3 / 4 + 1 / 2 + 1 / 2) / 4)


def test_a_perturbed_table_as_computed_by_hand(sql: Any) -> None:
    """The first case is published at 60 F: its nearest record is another's (0.1 < 0.3 + 2/3).

    The others are published as they are: G is their own record. The last one shows no value.
    """
    shown = [(60, "F"), (40, "M"), (50, "F"), (90, "F")]
    noise: dict[tuple[int, int], Value] = {}
    for n, (weight, sex) in enumerate(shown):
        noise |= {(n, 0): (weight, weight), (n, 1): sex}
    knowledge = {"C": [{1: "M"}], "c": [{1: "M"}]}
    found = linkage(sql, two_groups(), noise, knowledge)
    assert found["nil_star"]["violating"] == pytest.approx(0.3 + 2 / 3)
    assert found["rr"]["ratio"] == pytest.approx(3 / 4)
    assert found["ar_rev"]["ratio"] == pytest.approx((0 + 1 + 1 + 0) / 4)
    # a woman's record that shows a man's disease is not taken for hers, though it is
    assert found["rr_medical"]["ratio"] == pytest.approx(2 / 4)
    assert found["rr_bias"]["ratio"] == pytest.approx(-1 / 4)
    assert found["ar_bias"]["ratio"] == pytest.approx(-1 / 4)


def test_medical_knowledge_narrows_a_mixed_group(sql: Any) -> None:
    """Four cases of a region with both sexes; two of them show diseases of one sex each."""
    sure = Fraction(1)
    terms = ({"s": sure}, {"t": sure}, {"u": sure}, {"u": sure})
    cases = tuple(Case(((20, 20), "FMFM"[n]), held) for n, held in enumerate(terms))
    release = Release((100, SEX), (Group(cases, 3),), dict.fromkeys("stu", sure))
    found = linkage(sql, release, None, {"s": [{1: "F"}], "t": [{1: "M"}]})
    assert found["rr"]["ratio"] == pytest.approx(1 / 4)
    assert found["rr_medical"]["ratio"] == pytest.approx(1 / 3)
    assert found["rr_bias"]["ratio"] == pytest.approx(1 / 12)


def test_equal_sums_of_different_fractions_tie(sql: Any) -> None:
    """1/3 of 60 and 2/3 of 90 against 2/3 of 60 and 1/3 of 90: floats may differ, G may not."""
    cases = tuple(Case(((0, 0), (0, 0))) for _ in range(3))
    release = Release((60, 90), (Group(cases, 3),))
    points = [(20, 60), (40, 30), (1, 88)]  # 1, 1 and 179/180
    for last, expected in (((1, 88), [2]), ((1, 89), [0, 1])):
        points[2] = last
        noise = {(n, q): (v, v) for n, point in enumerate(points) for q, v in enumerate(point)}
        linkage(sql, release, noise)
        assert candidates(sql)[0] == expected


def test_a_value_that_is_not_published_or_only_suspected_tells_nothing(sql: Any) -> None:
    before = linkage(sql, two_groups())["ar_rev"]["violating"]
    assert before == pytest.approx(3 / 4 + 3 / 4 + 1 / 2 + 1 / 2)
    sql.rows("UPDATE srsql.threshold SET released = false WHERE release_id = 1 AND term = 'b'")
    assert measured_again(sql)["ar_rev"]["violating"] == pytest.approx(1 + 1 + 1 / 2 + 1 / 2)
    sql.rows("UPDATE srsql.case_term SET direct = false WHERE release_id = 1 AND term_no = 0")
    assert measured_again(sql)["ar_rev"]["violating"] == pytest.approx(1 / 2 + 1 / 2)


def test_without_originals_nothing_is_measured_and_nothing_fails(sql: Any) -> None:
    linkage(sql, two_groups())
    sql.rows("DELETE FROM srsql.case_qid WHERE release_id = 1")
    rows = measured_again(sql).values()
    assert {(row["total"], row["ratio"]) for row in rows} == {(0, None)}
