"""Checks of what a release says of itself: its manifest, its catalog and its internal groups."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.examples import REPEATABLE
from oracles.trees import Tree, trees
from support.published_terms import fill

from srsql.schemas.hierarchy import build_hierarchy

UNIT = 12
THETAS = [Fraction(t) for t in ("0", "1/3", "1/2", "3/5", "1")]


@REPEATABLE
@given(
    told=st.lists(st.sampled_from("abcd"), max_size=5),
    held=st.sets(st.tuples(st.integers(0, 3), st.sampled_from("abcd"))),
)
def test_a_manifest_tells_thresholds_of_released_values_only(
    sql: Any, told: list[str], held: set[tuple[int, str]]
) -> None:
    values = fill(sql, "seen_value", ("case_id INTEGER", "term VARCHAR"), sorted(held))
    entries = ", ".join(f"{{'value': '{term}', 'theta': 0.5}}" for term in told)
    listed = f"[{entries}]::STRUCT(value VARCHAR, theta DOUBLE)[]"
    (row,) = sql.records(f"FROM srsql.check_manifest({listed}, '{values}', 9)")
    unseen = set(told) - {term for _, term in held}
    total = len(set(told))
    assert row == {
        "release": 9,
        "measure": "check_manifest",
        "scope": "threshold",
        "violating": len(unseen),
        "total": total,
        "ratio": len(unseen) / total if total else None,
        "threshold": 0,
        "passed": not unseen,
    }


@REPEATABLE
@given(shown=st.lists(st.tuples(st.integers(0, 4), st.sampled_from("xyz")), max_size=12))
def test_the_reports_of_an_internal_group_show_one_text(
    sql: Any, shown: list[tuple[int, str]]
) -> None:
    rows = fill(sql, "common", ("region INTEGER", "shown VARCHAR"), shown)
    groups = {region: {text for other, text in shown if other == region} for region, _ in shown}
    mixed = sum(len(texts) > 1 for texts in groups.values())
    (row,) = sql.records(f"FROM srsql.check_common('{rows}', 9)")
    assert (row["violating"], row["total"], row["passed"]) == (mixed, len(groups), mixed == 0)


cases = st.tuples(
    st.integers(0, 2), st.booleans(), st.dictionaries(st.integers(0, 3), st.integers(1, UNIT))
)


@REPEATABLE
@given(
    members=st.lists(cases, min_size=1, max_size=10),
    thetas=st.dictionaries(st.integers(0, 2), st.sampled_from(THETAS), min_size=3),
)
def test_an_internal_group_keeps_theta_of_the_cases_that_carry_its_bounds(
    sql: Any, members: list[tuple[int, bool, dict[int, int]]], thetas: dict[int, Fraction]
) -> None:
    """Everybody's values count, in shares of the carriers; value 3 has no threshold."""
    for table in ("release", "member", "case_flag", "case_term", "threshold"):
        sql.rows(f"DELETE FROM srsql.{table}")
    sql.insert(
        "srsql.release",
        [(r, "d", "main", f"2011Q{r}", "m", "released", 2, 2, UNIT, "s", 1, "{}") for r in (1, 2)],
    )
    for release in (1, 2):
        sql.insert(
            "srsql.member",
            [(release, n, f"c{n}", group, 1, True) for n, (group, *_) in enumerate(members)],
        )
        sql.insert(
            "srsql.case_flag",
            [(release, n, carrier and release == 1, False, None)
             for n, (_, carrier, _) in enumerate(members)],
        )  # fmt: skip
    sql.insert(
        "srsql.case_term",
        [(1, n, t, weight, True) for n, (*_, held) in enumerate(members)
         for t, weight in held.items()],
    )  # fmt: skip
    sql.insert(
        "srsql.threshold",
        [(1, t, f"t{t}", theta.numerator, theta.denominator, 1, True)
         for t, theta in thetas.items()],
    )  # fmt: skip
    expected = []
    for group in sorted({group for group, *_ in members}):
        own = [(carrier, held) for g, carrier, held in members if g == group]
        carriers = sum(carrier for carrier, _ in own)
        weights = {t: sum(held.get(t, 0) for _, held in own) for _, h in own for t in h}
        breached = any(
            t not in thetas or (thetas[t] < 1 and Fraction(weight, UNIT) > thetas[t] * carriers)
            for t, weight in weights.items()
        )
        expected.append((group, len(own), carriers, breached))
    assert sorted(sql.rows("FROM srsql.internal_groups(1)")) == expected


@REPEATABLE
@given(tree=trees(), data=st.data())
def test_a_node_stands_for_the_ranges_of_its_leaves(sql: Any, tree: Tree, data: Any) -> None:
    hierarchy = build_hierarchy(tree.rows())
    ends = {
        leaf: (low, low + data.draw(st.integers(0, 9)))
        for leaf in sorted(tree.leaves(tree.root))
        for low in [data.draw(st.integers(0, 90))]
    }
    sql.rows("DELETE FROM srsql.node")
    sql.insert(
        "srsql.node",
        [
            (dataset, "age", label, tree.above[label] or None, n, hierarchy.last[n],
             0, 0, 0, *(ends.get(label, (None, None)) if dataset == "d" else (0, 1)))
            for dataset in ("d", "other")
            for n, label in enumerate(hierarchy.labels)
        ],
    )  # fmt: skip
    rows = sql.rows("FROM srsql.node_ranges('d', 'age')")
    assert sorted(rows) == [
        (
            n,
            hierarchy.last[n],
            min(ends[leaf][0] for leaf in tree.leaves(label)),
            max(ends[leaf][1] for leaf in tree.leaves(label)),
        )
        for n, label in enumerate(hierarchy.labels)
    ]


VALUES = ("case_id VARCHAR", "term VARCHAR")


@pytest.fixture
def audited(own_sql: Any) -> Any:
    """Release 5: cases a and b in group 0, c in group 1, all published under other ids.

    Position 0 is a number, position 1 a category whose root is [0, 2]; the number of c is drawn.
    """
    insert = own_sql.insert
    insert("srsql.release", [(5, "d", "main", "2011Q1", "m", "released", 2, 2, 1, "s", 1, "{}")])
    insert("srsql.member", [(5, n, case, n // 2, 1, True) for n, case in enumerate("abc")])
    insert("srsql.attribute", [(5, 0, "age", "numeric", 99), (5, 1, "sex", "categorical", 0)])
    insert(
        "srsql.node",
        [
            ("d", "sex", *node, 0, 0, 0, None, None)
            for node in [("Any", None, 0, 2), ("M", "Any", 1, 1), ("F", "Any", 2, 2)]
        ],
    )
    insert(
        "srsql.region",
        [(5, 0, 0, 20, 29), (5, 0, 1, 1, 1), (5, 1, 0, None, None), (5, 1, 1, None, None)],
    )
    insert("srsql.perturbed", [(5, 2, 0, 33, 33)])
    insert("srsql.threshold", [(5, 0, "FLU", 1, 1, 2, True), (5, 1, "HIV", 1, 1, 1, True)])
    insert("srsql.case_term", [(5, 0, 0, 1, True), (5, 1, 0, 1, True), (5, 2, 1, 1, True)])
    insert("srsql.ss_rule", [(5, "pt", 1.0, 1.0, 3, False)])
    insert("srsql.case_flag", [(5, n, True, n == 1, None) for n in range(3)])
    own_sql.table(
        "identity",
        "report_id INTEGER, case_id VARCHAR, case_no INTEGER, public_report INTEGER,"
        " public_case VARCHAR",
        [(10 + n, case, n, 100 + n, f"x{case}") for n, case in enumerate("abc")],
    )
    shown = "report INTEGER, reports INTEGER, position INTEGER, low BIGINT, high BIGINT"
    own_sql.table("shown", shown, [
        (100, 2, 0, 20, 29), (100, 2, 1, 1, 1), (102, 1, 0, 33, 33), (102, 1, 1, 0, 2),
    ])  # fmt: skip
    fill(own_sql, "values_seen", VALUES, [("xa", "FLU"), ("xb", "FLU"), ("xc", "HIV")])
    own_sql.table("symptoms", "case_id VARCHAR, attribute VARCHAR, symptoms BIGINT",
                  [("xa", "pt", 2), ("xb", "pt", 3)])  # fmt: skip
    return own_sql


def verdict(sql: Any) -> dict[str, tuple[float, float, bool]]:
    kept = "kept AS MATERIALIZED (FROM srsql.kept_reports('temp.main.identity', 5))"
    ends = (
        "ends AS (SELECT k.group_id, k.case_no, s.reports, s.position, s.low, s.high"
        " FROM temp.main.shown AS s LEFT JOIN kept AS k ON s.report = k.public_report)"
    )
    cases = "cases AS (SELECT DISTINCT public_case, case_no FROM kept)"
    tables = "'cases', 'ends', 'temp.main.values_seen', 'temp.main.symptoms'"
    rows = sql.records(f"WITH {kept}, {cases}, {ends} FROM srsql.check_catalog({tables}, 5)")
    assert {(row["release"], row["measure"]) for row in rows} == {(5, "check_catalog")}
    return {row["scope"]: (row["violating"], row["total"], row["passed"]) for row in rows}


def test_a_catalog_that_has_what_the_views_show_passes(audited: Any) -> None:
    assert verdict(audited) == {
        "region": (0, 6, True),
        "value": (0, 3, True),
        "substantial symptoms": (0, 2, True),
    }


FAULTS: dict[str, list[str]] = {
    "region": [
        "UPDATE srsql.region SET low = 19 WHERE group_id = 0 AND position = 0",
        "UPDATE srsql.region SET low = 2, high = 2 WHERE group_id = 1 AND position = 1",
        "DELETE FROM srsql.region WHERE group_id = 1 AND position = 1",
        "UPDATE srsql.perturbed SET high = 34",
        "DELETE FROM srsql.perturbed",
        "UPDATE srsql.member SET case_id = 'z' WHERE case_no = 2",
        "INSERT INTO temp.main.shown VALUES (999, 1, 0, 20, 29)",
    ],
    "value": [
        "DELETE FROM srsql.case_term WHERE case_no = 1",
        "DELETE FROM srsql.threshold WHERE term = 'HIV'",
        "INSERT INTO temp.main.values_seen VALUES ('xa', 'HIV')",
    ],
    "substantial symptoms": [
        "UPDATE srsql.case_flag SET is_ss = false WHERE case_no = 1",
        "UPDATE srsql.ss_rule SET cutoff = 2",
        "INSERT INTO temp.main.symptoms VALUES ('xc', 'pt', 7)",
    ],
}


@pytest.mark.parametrize(("scope", "fault"), [(s, f) for s, found in FAULTS.items() for f in found])
def test_each_difference_between_catalog_and_views_is_found(
    audited: Any, scope: str, fault: str
) -> None:
    audited.con.execute(fault)
    assert not verdict(audited)[scope][2]
