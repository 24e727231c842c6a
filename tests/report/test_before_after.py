"""Cases by place before and after, against each case spread over its own values in Python."""

from __future__ import annotations

import itertools
from collections import defaultdict
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.examples import REPEATABLE
from oracles.releases import Group, Release, Value, releases
from oracles.trees import Tree

pytestmark = pytest.mark.slow
Places = dict[Any, Fraction]


def shown(release: Release, group: Group, q: int) -> Value:
    """What is published of a group in one quasi-identifier."""
    values, qid = [case.values[q] for case in group.cases], release.qids[q]
    if not group.pattern >> q & 1:
        return None
    if isinstance(qid, Tree):
        return qid.meeting(values)
    return min(v[0] for v in values), max(v[1] for v in values)


def spread(qid: Any, values: list[Value]) -> Places:
    """Each value over its granules or leaves, alike."""
    found: Places = defaultdict(Fraction)
    for value in values:
        if value is None:
            continue
        parts = qid.leaves(value) if isinstance(qid, Tree) else range(value[0], value[1] + 1)
        for part in parts:
            found[part] += Fraction(1, len(parts))
    return found


@REPEATABLE
@given(releases(), st.sampled_from([1, 3, 24, 500]))
def test_each_case_is_spread_over_what_it_covers(sql: Any, release: Release, parts: int) -> None:
    release.store(sql, 1)
    rows = defaultdict(list)
    for row in sql.records(f"FROM srsql.report_before_after(1, {parts}) ORDER BY position, place"):
        rows[row["position"]].append(row)
    for q, qid in enumerate(release.qids):
        before = spread(qid, [case.values[q] for case in release.cases])
        after = spread(qid, [shown(release, g, q) for g in release.groups for _ in g.cases])
        if not isinstance(qid, Tree) and before | after:
            ends = [(row["low"], row["high"]) for row in rows[q]]
            assert ends[0][0] == min(before | after)
            assert ends[-1][1] == max(before | after)
            assert all(high + 1 == low for (_, high), (low, _) in itertools.pairwise(ends))
            assert len(ends) == min(parts, ends[-1][1] + 1 - ends[0][0])
        for row in rows[q]:
            place = [row["label"]] if row["label"] else range(row["low"], row["high"] + 1)
            for side, due in (("before", before), ("after", after)):
                assert row[side] == pytest.approx(float(sum(due.get(p, 0) for p in place)))
        if isinstance(qid, Tree):
            assert {row["label"] for row in rows[q]} == qid.leaves(qid.root)
        for side, due in (("before", before), ("after", after)):
            assert sum(row[side] for row in rows[q]) == pytest.approx(float(sum(due.values())))
