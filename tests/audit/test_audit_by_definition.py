"""The audit of random series in the catalog, against the definitions by brute force."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.audit import (
    Attacker,
    Box,
    Case,
    Finding,
    Group,
    Release,
    erasure,
    left_for_good,
)  # fmt: skip
from oracles.examples import REPEATABLE
from sqlglot import exp
from support.audited_series import DATASET, NODES, Catalog, coded, series

from srsql.engine.audit.audit import Audit, audit
from srsql.engine.audit.evidence import extremes
from srsql.engine.audit.plan import AuditOptions
from srsql.engine.errors import AuditError

pytestmark = pytest.mark.slow

ATTACKS = ("b", "f", "l", "md", "ss")
EXAMPLES = int(os.environ.get("AUDIT_EXAMPLES", "30"))


@pytest.fixture(scope="module")
def catalog() -> Iterator[Catalog]:
    made = Catalog()
    yield made
    made.con.close()


def flags(findings: list[Finding]) -> tuple[bool, ...]:
    return tuple(any(getattr(f, name) for f in findings) for name in ("dig", "dsg", "ssg"))


def check(
    found: Audit, releases: list[Release], attacks: tuple[str, ...], next_ids: set[str] | None
) -> None:
    releases = [coded(release) for release in releases]
    rows = {(row.release_id, row.scope): row for row in found.releases}
    shown = defaultdict(list)
    for e in found.evidence:
        shown[e.release_id, e.scope].append(e)
    assert len(rows) == 2 * len(releases)
    for (i, scope), row in rows.items():
        own = releases[i]
        by_group: dict[int, list[Finding]] = defaultdict(list)
        for finding in Attacker(releases, i, attacks, scope, next_ids).findings():
            by_group[finding.group].append(finding)
        evaluated = set(attacks) - set(row.not_evaluated)
        newest = own.quarter == releases[-1].quarter
        assert row.not_evaluated == (
            ("md",) if "md" in attacks and newest and next_ids is None else ()
        )
        assert set(row.attacks) == evaluated
        danger = {g: flags(fs) for g, fs in by_group.items()}
        evidence = {e.group_id: e for e in shown[i, scope]}
        told = {g: (e.dig, e.dsg, e.ssg) for g, e in evidence.items() if e.dig or e.dsg or e.ssg}
        assert told == {g: three for g, three in danger.items() if any(three)}
        assert (row.groups, row.dig, row.dsg, row.ssg) == (
            len(own.groups), *(sum(three[n] for three in danger.values()) for n in range(3))
        )  # fmt: skip
        if scope == "group":
            assert row.persistence == sum(any(f.persistent for f in fs) for fs in by_group.values())
        check_erasure(found, row, releases, attacks, next_ids)
        check_leaving(row, releases)
        for g, e in evidence.items():
            worst = by_group[g]
            if scope == "match":
                worst = [f for f in worst if f.dig or f.dsg or f.ssg]
            target = min(worst, key=lambda f: len(f.remaining))
            assert e.case_id == target.target.case_id
            assert (e.candidates, e.remaining) == (len(target.candidates), len(target.remaining))
            sizes = {
                a: len(target.excluded[a]) if a in evaluated else 0 for a in attacks if a != "ss"
            }
            assert {a: getattr(e, a) for a in sizes} == sizes
            if e.dsg:
                assert e.term is not None
                assert Fraction(e.theta) == own.thetas[e.term] < Fraction(e.confidence)


def check_leaving(row: Any, releases: list[Release]) -> None:
    """G by its definition, at scope=group."""
    remaining = left_for_good(releases, row.release_id) if row.scope == "group" else None
    if remaining is None:
        assert row.leaving is None
        return
    left = [cases for cases in remaining.values() if cases]
    few = [cases for cases in left if cases < row.k]
    told = (row.leaving.groups, row.leaving.cases, row.leaving.fewest)
    assert told == (len(few), sum(few), min(left, default=None))


def check_erasure(
    found: Audit,
    row: Any,
    releases: list[Release],
    attacks: tuple[str, ...],
    next_ids: set[str] | None,
) -> None:
    """E by its definition; nothing is claimed, since no version of the catalog is a correction."""
    i, scope = row.release_id, row.scope
    attacker = erasure(releases, i, attacks, scope, next_ids)
    shown = [e for e in found.erasure if (e.release_id, e.scope) == (i, scope)]
    assert not row.erasure_claimed
    if attacker is None:
        assert (row.erasure, row.erasure_series, shown) == (None, None, [])
        return
    first = next(
        n for n in range(i + 1, len(releases)) if releases[n].quarter == releases[i].quarter
    )
    since = set().union(*(release.ids for release in releases[first:]))
    stronger = Attacker(releases, i, attacks, scope, next_ids, since)
    for told, one in ((row.erasure, attacker), (row.erasure_series, stronger)):
        assert told == len({f.group for f in one.findings() if f.dig or f.dsg or f.ssg})
    assert {e.group_id for e in shown} == {
        f.group for f in attacker.findings() if f.dig or f.dsg or f.ssg
    }


@pytest.mark.thorough
@settings(parent=REPEATABLE, max_examples=EXAMPLES)
@given(
    releases=series(),
    attacks=st.lists(st.sampled_from(ATTACKS), min_size=1, unique=True),
    next_ids=st.one_of(st.none(), st.sets(st.sampled_from("0123456789"))),
)
def test_an_audit_finds_what_the_definitions_find(
    catalog: Catalog, releases: list[Release], attacks: list[str], next_ids: set[str] | None
) -> None:
    catalog.store(releases)
    chosen = tuple(a for a in ATTACKS if a in attacks)
    coming = None
    if next_ids is not None:
        catalog.con.execute("CREATE OR REPLACE TEMP TABLE coming (case_id VARCHAR)")
        for who in next_ids:
            catalog.con.execute("INSERT INTO coming VALUES (?)", [who])
        coming = exp.select("case_id").from_("temp.main.coming")
    found = audit(
        catalog.warehouse,
        DATASET,
        "main",
        AuditOptions(attacks=chosen, next_cases=coming, leaving=True),
    )
    check(found, releases, chosen, next_ids)


@pytest.mark.thorough
@settings(parent=REPEATABLE, max_examples=EXAMPLES)
@given(releases=series(), attacks=st.lists(st.sampled_from(ATTACKS), min_size=1, unique=True))
def test_the_worst_target_is_left_the_fewest_candidates_and_the_surest_value(
    catalog: Catalog, releases: list[Release], attacks: list[str]
) -> None:
    catalog.store(releases)
    chosen = tuple(a for a in ATTACKS if a in attacks)
    published = [coded(release) for release in releases]
    for i, own in enumerate(published):
        if own.quarter in [later.quarter for later in published[i + 1 :]]:
            continue
        found = extremes(catalog.warehouse, DATASET, "main", own.quarter, chosen)
        evaluated = tuple(a for a in chosen if a != "md" or own.quarter != published[-1].quarter)
        assert found.attacks == evaluated
        findings = list(Attacker(published, i, evaluated, "group").findings())
        assert found.fewest == min((len(f.remaining) for f in findings), default=None)
        terms = {c.case_id: c.terms for g in own.groups for c in g.cases}
        shares = [
            Fraction(sum(terms[who].get(s, 0) for who in f.remaining), len(f.remaining) * own.unit)
            for f in findings
            for s, theta in own.thetas.items()
            if f.remaining and theta < 1
        ]
        assert Fraction(found.held or 0, found.of or 1) == max(shares, default=0)
        if found.term is not None:
            assert Fraction(own.thetas[found.term]) == Fraction(found.theta).limit_denominator(9)


VALUES: list[Box] = [
    (age, place)
    for age in (None, *((n, n) for n in range(-4, 15)))
    for place in (None, *((a, z) for a, z in NODES if a == z))
]


@pytest.mark.thorough
@settings(parent=REPEATABLE, max_examples=EXAMPLES)
@given(releases=series(), attacks=st.lists(st.sampled_from(ATTACKS), min_size=1, unique=True))
def test_without_originals_an_audit_finds_what_some_value_in_the_regions_would_tell(
    catalog: Catalog, releases: list[Release], attacks: list[str]
) -> None:
    catalog.store(releases, originals=False)
    chosen = tuple(a for a in ATTACKS if a in attacks)
    found = audit(catalog.warehouse, DATASET, "main", AuditOptions(attacks=chosen))
    releases = [coded(release) for release in releases]
    for row in found.releases:
        assert row.targets == ("cells" if releases[row.release_id].groups else "originals")
        by_group: dict[int, list[Finding]] = defaultdict(list)
        for finding in Attacker(releases, row.release_id, chosen, row.scope).guesses(VALUES):
            by_group[finding.group].append(finding)
        danger = {g: three for g, fs in by_group.items() if any(three := flags(fs))}
        evidence = {
            e.group_id: e
            for e in found.evidence
            if (e.release_id, e.scope) == (row.release_id, row.scope) and (e.dig or e.dsg or e.ssg)
        }
        assert {g: (e.dig, e.dsg, e.ssg) for g, e in evidence.items()} == danger
        for g, e in evidence.items():
            bad = [f for f in by_group[g] if f.dig or f.dsg or f.ssg or row.scope == "group"]
            assert e.remaining == min(len(f.remaining) for f in bad)


def crowd(*ids: int, age: int = 1, region: Box = ((0, 9), None)) -> Group:
    return Group(region, tuple(Case(str(n), ((age, age), None), {}) for n in ids))


def released(quarter: str, *groups: Group, status: str = "released") -> Release:
    return Release(quarter, groups, 2, dict.fromkeys("s", Fraction(1)), status=status)


def test_an_audit_works_inside_a_transaction_and_leaves_nothing(catalog: Catalog) -> None:
    catalog.store([released("2011Q1", crowd(1, 2)), released("2011Q2", crowd(1, 3))])
    before = catalog.con.execute("SELECT count(*) FROM duckdb_tables()").fetchall()
    catalog.con.execute("BEGIN TRANSACTION")
    found = audit(catalog.warehouse, DATASET, "main")
    catalog.con.execute("COMMIT")
    assert [row.dig for row in found.releases] == [0, 0, 0, 0]
    assert catalog.con.execute("SELECT count(*) FROM duckdb_tables()").fetchall() == before


def test_a_draft_counts_only_if_it_is_asked_for(catalog: Catalog) -> None:
    narrow = crowd(1, 2, age=5, region=((5, 5), None))
    catalog.store([released("2011Q1", crowd(1, 2)), released("2011Q2", narrow, status="draft")])
    without = audit(catalog.warehouse, DATASET, "main", AuditOptions(attacks=("b", "f", "l")))
    assert (without.safe, {row.quarter for row in without.releases}) == (True, {"2011Q1"})
    with_it = audit(
        catalog.warehouse, DATASET, "main", AuditOptions(attacks=("b", "f", "l"), draft=1)
    )
    assert [(row.quarter, row.scope, row.dig) for row in with_it.releases] == [
        ("2011Q1", "group", 1), ("2011Q1", "match", 1),
        ("2011Q2", "group", 0), ("2011Q2", "match", 0),
    ]  # fmt: skip


def test_a_superseded_release_stays_known_and_is_judged_itself(catalog: Catalog) -> None:
    first = released("2011Q1", crowd(1, 2, region=((0, 2), None)), status="superseded")
    second = released("2011Q1", crowd(1, 3, age=4))
    catalog.store([first, second])
    found = audit(
        catalog.warehouse, DATASET, "main", AuditOptions(attacks=("b",), scopes=("group",))
    )
    assert [(row.status, row.dig) for row in found.releases] == [("superseded", 0), ("released", 1)]
    (worst,) = [e for e in found.evidence if e.dig]
    assert (worst.case_id, worst.b, worst.remaining) == ("1", 1, 1)


def test_each_release_is_audited_for_what_it_promises(catalog: Catalog) -> None:
    catalog.store([released("2011Q1", crowd(1, 2)), released("2011Q2", crowd(1, 3))])
    catalog.con.execute(
        "UPDATE srsql.defended_attack SET attacks = ['md', 'l'] WHERE release_id = 0"
    )
    catalog.con.execute("UPDATE srsql.defended_attack SET attacks = [] WHERE release_id = 1")
    found = audit(catalog.warehouse, DATASET, "main", AuditOptions(scopes=("group",)))
    assert [row.attacks for row in found.releases] == [("l", "md"), ("b", "f", "l")]


def test_cases_outside_their_region_and_regions_that_shrink_are_counted(catalog: Catalog) -> None:
    wide, narrow = ((0, 9), None), ((4, 6), None)
    catalog.store(
        [
            released("2011Q1", crowd(1, 2, region=narrow)),
            released("2011Q2", crowd(1, 2, age=5, region=wide)),
            released("2011Q3", crowd(1, 2, age=5, region=narrow)),
        ]
    )
    found = audit(catalog.warehouse, DATASET, "main", AuditOptions(scopes=("group",)))
    figures = [(r.outside, r.qid_bounding, r.qid_bounding_earliest) for r in found.releases]
    assert figures == [(2, 0, 0), (0, 0, 0), (0, 2, 0)]


def test_a_value_without_a_threshold_is_an_error_not_a_safe_value(catalog: Catalog) -> None:
    held = Group(((0, 9), None), (Case("1", ((1, 1), None), {"s": 1}),))
    catalog.store([released("2011Q1", held)])
    catalog.con.execute("DELETE FROM srsql.threshold")
    with pytest.raises(AuditError, match="lacks thresholds"):
        audit(catalog.warehouse, DATASET, "main")
