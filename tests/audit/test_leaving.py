"""Leaving several quarters (G): who appears in a release that is out is no candidate any more."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from oracles.audit import Case, Group, Release, left_for_good
from oracles.examples import REPEATABLE
from support.catalog import Region, publish

REGION: Region = ((None, None),)
SERIES = st.lists(
    st.tuples(
        st.sampled_from(["2011Q1", "2011Q2", "2011Q3"]),
        st.dictionaries(st.sampled_from("abcdefghijkl"), st.integers(0, 2), min_size=1),
    ),
    min_size=1,
    max_size=5,
)
"""Of each release its quarter and the group of each case."""


def grouped(placed: dict[str, int]) -> dict[int, str]:
    """Group -> its cases, numbered from 0 without a gap."""
    numbers = sorted(set(placed.values()))
    return {n: "".join(sorted(c for c in placed if placed[c] == g)) for n, g in enumerate(numbers)}


def stored(sql: Any, drawn: list[tuple[str, dict[str, int]]], status: str) -> list[Release]:
    """The releases in their order, in the catalog as well."""
    for table in ("release", "member", "region", "forgotten_case"):
        sql.con.execute(f"DELETE FROM srsql.{table}")
    made = []
    for number, (quarter, placed) in enumerate(sorted(drawn, key=lambda each: each[0])):
        groups = grouped(placed)
        publish(sql, number, quarter, {g: (REGION, cases) for g, cases in groups.items()},
                status=status)  # fmt: skip
        kept = tuple(
            Group((None,), tuple(Case(who, (None,), {}) for who in c)) for c in groups.values()
        )
        made.append(Release(quarter, kept, 2, {}))
    return made


@REPEATABLE
@given(SERIES)
def test_who_appears_in_no_release_that_is_out_is_who_is_in_none_of_them(
    sql: Any, drawn: list[tuple[str, dict[str, int]]]
) -> None:
    releases = stored(sql, drawn, "released")
    replaced = [
        any(later.quarter == release.quarter for later in releases[n + 1 :])
        for n, release in enumerate(releases)
    ]
    listed = list(enumerate(zip((r.quarter for r in releases), replaced, strict=True)))
    rows = [(number, quarter, gone) for number, (quarter, gone) in listed]
    held = sql.table("held", "release_id INTEGER, quarter VARCHAR, replaced BOOLEAN", rows)
    found = sql.records(f"FROM srsql.leaving_groups({held})")
    assert {(f["release_id"], f["group_id"]): f["cases"] for f in found} == {
        (n, g): len(group.cases) for n, r in enumerate(releases) for g, group in enumerate(r.groups)
    }
    for n in range(len(releases)):
        due = left_for_good(releases, n)
        told = {f["group_id"]: f["remaining"] for f in found if f["release_id"] == n}
        if due is None:  # nothing else is out: nobody appears anywhere
            due = {g: len(group.cases) for g, group in enumerate(releases[n].groups)}
        assert told == due


@REPEATABLE
@given(SERIES, st.sets(st.sampled_from("abc"), min_size=1))
def test_forgotten_cases_of_several_quarters_leave_who_leaves_with_them_everywhere(
    sql: Any, drawn: list[tuple[str, dict[str, int]]], forgotten: set[str]
) -> None:
    """The versions that take whole groups out are made in plain Python, and compared."""
    drawn = list(dict(drawn).items())  # one release of each quarter is out
    releases = stored(sql, drawn, "released")
    sql.insert("srsql.forgotten_case", [("d", who, "reason", "2011-01-01") for who in forgotten])
    after = [
        [group for group in release.groups if not forgotten & {c.case_id for c in group.cases}]
        for release in releases
    ]
    still = {case.case_id for groups in after for group in groups for case in group.cases}
    fewest: dict[str, int] = {}
    for who in sorted(forgotten):
        own = [{c.case_id for c in g.cases} for r in releases for g in r.groups
               if who in {c.case_id for c in g.cases}]  # fmt: skip
        if len(own) > 1:
            fewest[who] = min(len(cases - still) for cases in own)
    found = sql.records("FROM srsql.leaving_together('d')")
    if not fewest:
        assert found == []
        return
    (row,) = found
    assert (row["series"], row["cases"], row["k"]) == ("main", len(fewest), 2)
    assert row["fewest"] == min(fewest.values())
    assert row["below_k"] == sum(left < 2 for left in fewest.values())
