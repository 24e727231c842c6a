"""Information loss, against the definitions in exact fractions."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import ms
from oracles.examples import REPEATABLE
from oracles.releases import Case, Group, Release, releases
from oracles.trees import Tree

SEX = Tree({"Any": "", "M": "Any", "F": "Any"})
KINDS = {"wt": "numeric", "age": "numeric", "sex": "categorical"}
AGE = Tree({"Any": "", "Young": "Any", "Child": "Young", "Teen": "Young", "Adult": "Any"})


def group_loss(sql: Any, release_id: int) -> dict[tuple[int, int], tuple[int, float | None]]:
    """(group, QID) -> its cases, and the loss of each."""
    found = sql.rows(f"SELECT group_id, position, cases, loss FROM srsql.group_loss({release_id})")
    losses = {row[:2]: row[2:] for row in found}
    assert len(losses) == len(found)
    return losses


def figure(sql: Any, measure: str, release_id: int = 1) -> dict[str, Any]:
    rows = sql.records(f"FROM srsql.information_loss({release_id})")
    assert sorted(row["measure"] for row in rows) == ["il_per_group", "nil"]
    (row,) = [row for row in rows if row["measure"] == measure]
    assert list(row) == [
        "release", "measure", "scope", "violating", "total", "ratio", "threshold", "passed",
    ]  # fmt: skip
    return row


@pytest.mark.slow
@REPEATABLE
@given(release=releases(), other=releases())
def test_each_group_loses_the_share_of_each_qid_that_its_region_spans(
    sql: Any, release: Release, other: Release
) -> None:
    release.store(sql, 1)
    other.store(sql, 2)
    for number, one in ((1, release), (2, other)):
        found = group_loss(sql, number)
        assert found == {
            (g, q): (
                len(group.cases),
                pytest.approx(float(one.width(group, q))) if group.pattern >> q & 1 else None,
            )
            for g, group in enumerate(one.groups)
            for q in range(len(one.qids))
        }
        assert all(loss is None or 0 <= loss <= 1 for _, loss in found.values())


@pytest.mark.slow
@REPEATABLE
@given(release=releases(), other=releases())
def test_nil_is_the_loss_per_case_and_qid_and_lies_between_0_and_1(
    sql: Any, release: Release, other: Release
) -> None:
    release.store(sql, 1)
    other.store(sql, 2)
    total, pairs = sum(release.losses()), len(release.cases) * len(release.qids)
    row = figure(sql, "nil")
    assert row["violating"] == pytest.approx(float(total))
    assert row["total"] == pairs
    assert row["ratio"] == (pytest.approx(float(total / pairs)) if pairs else None)
    assert not pairs or 0 <= row["ratio"] <= 1


@pytest.mark.slow
@REPEATABLE
@given(release=releases())
def test_il_per_group_divides_by_groups_instead_of_cases(sql: Any, release: Release) -> None:
    release.store(sql, 1)
    total, pairs = sum(release.losses()), len(release.groups) * len(release.qids)
    row = figure(sql, "il_per_group")
    assert row["total"] == pairs
    assert row["ratio"] == (pytest.approx(float(total / pairs)) if pairs else None)


@REPEATABLE
@given(release=releases())
def test_a_group_that_knows_every_qid_has_the_il_of_equation_1(sql: Any, release: Release) -> None:
    """Its cases times its losses are IL(g) as the oracle of the grouping computes it."""
    release.store(sql, 1)
    found = group_loss(sql, 1)
    labels = [list(q.above) if isinstance(q, Tree) else [] for q in release.qids]
    attributes = [
        ms.Categorical(tuple(order.index(q.above[n]) if q.above[n] else None for n in order))
        if isinstance(q, Tree)
        else ms.Numeric(q)
        for q, order in zip(release.qids, labels, strict=True)
    ]
    for g, group in enumerate(release.groups):
        if group.pattern != 2 ** len(release.qids) - 1:
            continue
        records = [
            ms.Record(
                tuple(
                    order.index(v) if isinstance(v, str) else v
                    for v, order in zip(case.values, labels, strict=True)
                ),
                {},
            )
            for case in group.cases
        ]
        loss = sum(cases * loss for (g_, _), (cases, loss) in found.items() if g_ == g)
        assert loss == pytest.approx(float(ms.information_loss(records, attributes)))


def test_known_but_released_as_null_costs_1_and_missing_costs_0(sql: Any) -> None:
    cases = (Case(((30, 30), "M")), Case(((40, 40), None)))
    Release((120, SEX), (Group(cases, 0b01),)).store(sql, 1)
    assert figure(sql, "nil")["violating"] == pytest.approx(2 * 10 / 120 + 1 + 0)


def test_a_withheld_case_loses_nothing(sql: Any) -> None:
    group = Group((Case(((30, 30),)), Case(((40, 40),))), 1)
    Release((120,), (group,), withheld=(("infeasible", 1),)).store(sql, 1)
    row = figure(sql, "nil")
    assert (row["violating"], row["total"]) == (pytest.approx(2 / 12), 2)


def test_a_node_costs_its_height_over_the_height_of_the_hierarchy(sql: Any) -> None:
    pairs = [("Child", "Child"), ("Child", "Teen"), ("Teen", "Adult"), ("Adult", "Adult")]
    groups = tuple(Group((Case((a,)), Case((b,))), 1) for a, b in pairs)
    Release((AGE,), groups).store(sql, 1)
    found = group_loss(sql, 1)
    assert [found[g, 0][1] for g in range(4)] == [0, 0.5, 1, 0]


def test_losses_without_any_release_are_null_not_an_error(sql: Any) -> None:
    assert figure(sql, "nil", 404)["ratio"] is None
    assert figure(sql, "il_per_group", 404)["ratio"] is None


def test_the_sum_of_many_small_losses_is_exact(sql: Any) -> None:
    """A tenth, which binary floats do not have, a thousand times."""
    groups = tuple(Group((Case(((0, 0),)), Case(((1, 1),))), 1) for _ in range(500))
    Release((10,), groups).store(sql, 1)
    assert figure(sql, "nil")["violating"] == 100


DRAWN = st.lists(
    st.tuples(st.integers(0, 1), st.one_of(st.none(), st.integers(-1, 6))), max_size=12
)


@REPEATABLE
@given(drawn=DRAWN)
def test_drawn_numbers_at_an_end_of_their_domain_are_counted(
    sql: Any, drawn: list[tuple[int, int | None]]
) -> None:
    """Of the two numbers and the category of a release; another release does not count."""
    sql.con.execute("DELETE FROM srsql.perturbed")
    sql.con.execute("DELETE FROM srsql.attribute")
    sql.insert(
        "srsql.attribute",
        [(1, n, name, kind, 5) for n, (name, kind) in enumerate(KINDS.items())],
    )
    sql.insert(
        "srsql.perturbed",
        [(1, case, position, value, value) for case, (position, value) in enumerate(drawn)]
        + [(2, 0, 0, 0, 0), (1, 0, 2, 0, 0)],
    )
    ends = sql.table(
        "ends",
        "attribute VARCHAR, low BIGINT, high BIGINT",
        [("wt", 0, 5), ("age", 2, 4), ("sex", 0, 0)],
    )
    expected = {}
    for position, name, low, high in ((0, "wt", 0, 5), (1, "age", 2, 4)):
        values = [value for place, value in drawn if place == position and value is not None]
        if values:
            expected[name] = (sum(not low < v < high for v in values), len(values))
    found = sql.records(f"FROM srsql.at_domain_ends(1, {ends})")
    assert {row["scope"]: (row["violating"], row["total"]) for row in found} == expected
    for row in found:
        assert row["ratio"] == pytest.approx(row["violating"] / row["total"])
        assert (row["measure"], row["threshold"], row["passed"]) == ("at_domain_ends", None, None)
