"""What reports show, against counts in plain Python."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.examples import REPEATABLE
from oracles.releases import Release, releases
from oracles.trees import Tree

pytestmark = pytest.mark.thorough

FEW = settings(REPEATABLE, max_examples=25)


def width(release: Release, g: int, q: int) -> float | None:
    """The released region of a group: span of a number, height of a node."""
    group = release.groups[g]
    if not group.pattern >> q & 1:
        return None
    values, qid = [case.values[q] for case in group.cases], release.qids[q]
    if isinstance(qid, Tree):
        return float(qid.height(qid.meeting(values)))
    return float(max(v[1] for v in values) - min(v[0] for v in values))


def fill(sql: Any, release_id: int) -> tuple[str, str, str]:
    """Tables of members, regions and confidences of a stored release."""
    for table, macro in (
        ("r_members", "srsql.report_members"),
        ("r_regions", "srsql.report_regions"),
        ("r_confidences", "srsql.report_confidences"),
    ):
        sql.rows(f"CREATE OR REPLACE TEMP TABLE {table} AS FROM {macro}({release_id})")
    return "'temp.main.r_members'", "'temp.main.r_regions'", "'temp.main.r_confidences'"


@FEW
@given(release=releases(), other=releases())
def test_sizes_and_widths_count_the_groups_and_their_cases(
    sql: Any, release: Release, other: Release
) -> None:
    release.store(sql, 1)
    other.store(sql, 2)
    for number, one in ((1, release), (2, other)):
        members, regions, _ = fill(sql, number)
        sizes = sql.rows(f"FROM srsql.report_sizes({members})")
        assert sorted(sizes) == sorted(Counter(len(g.cases) for g in one.groups).items())
        expected: Counter[tuple[int, float | None]] = Counter()
        for g, group in enumerate(one.groups):
            for q in range(len(one.qids)):
                expected[q, width(one, g, q)] += len(group.cases)
        found = sql.rows(f"FROM srsql.report_widths({members}, {regions})")
        assert Counter({(q, w): n for q, w, n in found}) == expected
        assert len(found) == len(expected)


@FEW
@given(release=releases())
def test_the_losses_of_the_qids_add_up_to_the_loss_of_the_release(
    sql: Any, release: Release
) -> None:
    release.store(sql, 1)
    per_qid: dict[int, Fraction] = defaultdict(Fraction)
    for n, loss in enumerate(release.losses()):
        per_qid[n % len(release.qids)] += loss
    found = {q: (n, loss) for q, n, loss in sql.rows("FROM srsql.report_losses(1)")}
    assert found == {
        q: (len(release.cases), pytest.approx(float(loss))) for q, loss in per_qid.items()
    }
    nil = sql.rows("SELECT violating FROM srsql.information_loss(1) WHERE measure = 'nil'")[0][0]
    assert nil == pytest.approx(sum(loss for _, loss in found.values()))


@FEW
@given(release=releases(), other=releases())
def test_missingness_tells_the_quarter_from_the_release_and_missing_from_given_up(
    sql: Any, release: Release, other: Release
) -> None:
    release.store(sql, 1)
    other.store(sql, 2)
    found = {row[0]: row[1:] for row in sql.rows("FROM srsql.report_missingness(1)")}
    gone = len(release.withheld)  # stored with known values
    members = [(group, case) for group in release.groups for case in group.cases]
    if not members and not gone:
        assert found == {}
        return
    for q in range(len(release.qids)):
        missing = sum(case.values[q] is None for _, case in members)
        given_up = sum(
            case.values[q] is not None and not group.pattern >> q & 1 for group, case in members
        )
        assert found[q] == (len(members) + gone, missing, len(members), missing, given_up)


@FEW
@given(release=releases(), other=releases())
def test_withheld_cases_and_reports_are_counted_by_reason(
    sql: Any, release: Release, other: Release
) -> None:
    release.store(sql, 1)
    other.store(sql, 2)
    expected: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for reason, reports in release.withheld:
        expected[reason][0] += 1
        expected[reason][1] += reports
    found = sql.rows("FROM srsql.report_withheld(1)")
    assert {r[0]: list(r[1:]) for r in found} == dict(expected)
    assert len(found) == len(expected)


@FEW
@given(release=releases())
def test_exposure_is_the_greatest_share_of_a_bound_that_a_group_uses_up(
    sql: Any, release: Release
) -> None:
    release.store(sql, 1)
    *_, confidences = fill(sql, 1)
    conf = release.confidences(with_knowledge=True)
    most: dict[int, Fraction] = {}
    highest: dict[Fraction, list[Fraction]] = defaultdict(list)
    for (g, term), value in conf.items():
        theta = release.thetas[term]
        highest[theta].append(value)
        if 0 < theta < 1:
            most[g] = max(most.get(g, Fraction(0)), value / theta)
    found = sql.rows(f"FROM srsql.report_exposure({confidences})")
    assert sum(n for _, n in found) == len(most)
    listed = sorted(x for x, n in found for _ in range(n))
    assert listed == pytest.approx(sorted(float(x) for x in most.values()))
    shown = {row[0]: row[1:] for row in sql.rows(f"FROM srsql.report_highest({confidences})")}
    assert set(shown) == {float(theta) for theta in highest}
    for theta, values in highest.items():
        terms = {t for (_, t) in conf if release.thetas[t] == theta}
        assert shown[float(theta)] == (len(terms), pytest.approx(float(max(values))))


@FEW
@given(data=st.data())
def test_shares_of_shown_rows_are_holders_over_the_cases_of_the_group(
    sql: Any, data: st.DataObject
) -> None:
    groups = data.draw(st.lists(st.integers(0, 3), max_size=8))
    terms = [data.draw(st.sets(st.sampled_from("stu"))) for _ in groups]
    members = sql.table("m", "case_id INTEGER, group_id INTEGER", enumerate(groups))
    held = sql.table(
        "h", "case_id INTEGER, term VARCHAR", [(c, t) for c, own in enumerate(terms) for t in own]
    )
    theta = sql.table("t", "term VARCHAR, theta DOUBLE", [("s", 0.5), ("t", 1.0)])
    found = {
        (g, term): (bound, conf)
        for g, term, bound, conf in sql.rows(
            f"FROM srsql.report_shares({members}, {held}, {theta})"
        )
    }
    expected = {}
    for g in set(groups):
        inside = [own for own, at in zip(terms, groups, strict=True) if at == g]
        for term, bound in (("s", 0.5), ("t", 1.0)):
            holders = sum(term in own for own in inside)
            if holders:
                expected[g, term] = (bound, pytest.approx(holders / len(inside)))
    assert found == expected


@FEW
@given(release=releases())
def test_thresholds_are_counted_by_theta(sql: Any, release: Release) -> None:
    release.store(sql, 1)
    expected = Counter(float(theta) for theta in release.thetas.values())
    found = {theta: n for theta, n, *_ in sql.rows("FROM srsql.report_thresholds(1)")}
    assert found == dict(expected)


def test_a_series_counts_each_case_once_and_leaves_out_drafts_and_superseded(own_sql: Any) -> None:
    own_sql.insert(
        "srsql.release",
        [
            (n, "d", series, quarter, "ms", status, 2, 2, 1, "x", 1, "{}")
            for n, series, quarter, status in (
                (1, "main", "2011Q1", "superseded"), (2, "main", "2011Q1", "released"),
                (3, "main", "2011Q2", "released"), (4, "main", "2011Q3", "released"),
                (5, "main", "2011Q4", "draft"), (6, "other", "2011Q1", "released"),
            )
        ],
    )  # fmt: skip
    own_sql.insert(
        "srsql.member",
        [
            (release, case, str(case), case % 2, 2, new)
            for release, cases, new in (
                (1, range(9), True), (2, range(4), True), (4, range(2, 7), False),
                (5, range(40), True), (6, range(30), True),
            )
            for case in cases
        ],
    )  # fmt: skip
    own_sql.insert("srsql.withheld", [(2, 8, "8", 1, "infeasible"), (2, 9, "9", 1, "deleted")])
    own_sql.insert(
        "srsql.measure",
        [
            (2, "metric", "nil", "release", 1.0, 4.0, 0.25, None, None),
            (2, "check", "nil", "release", 1.0, 4.0, 0.75, None, None),
        ],
    )
    found = own_sql.rows("FROM srsql.report_series('d', 'main') ORDER BY quarter")
    assert found == [
        (2, "2011Q1", "ms", 2, 4, 4, 8, 2, 2, 4, 0.25, None),
        (3, "2011Q2", "ms", 2, 0, 0, 0, 0, 0, 4, None, None),
        (4, "2011Q3", "ms", 2, 5, 0, 10, 2, 0, 7, None, None),
    ]
