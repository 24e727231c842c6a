"""U, the union attack: thresholds over values united over all releases in which an id appears."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from audit.test_audit_by_definition import DATASET, Catalog, coded, series
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.audit import Attacker, Case, Group, Release
from oracles.examples import REPEATABLE

from srsql.engine.audit.audit import audit
from srsql.engine.audit.plan import AuditOptions

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def catalog() -> Iterator[Catalog]:
    made = Catalog()
    yield made
    made.con.close()


def union_groups(releases: list[Release], i: int, attacks: tuple[str, ...], scope: str) -> int:
    """How many groups have a target whose remaining candidates share a united value too often."""
    attacker = Attacker(releases, i, attacks, scope)
    own = releases[i]
    values: dict[str, dict[str, Fraction]] = {}
    thetas: dict[str, Fraction] = {}
    for release in releases:
        for group in release.groups:
            for case in group.cases:
                for term, weight in case.terms.items():
                    held = values.setdefault(case.case_id, {})
                    part = Fraction(weight * own.unit // release.unit, own.unit)
                    held[term] = max(held.get(term, Fraction(0)), part)
                    thetas[term] = min(thetas.get(term, Fraction(1)), release.thetas[term])
    thetas |= own.thetas
    dangerous = set()
    for finding in attacker.findings():
        for term, theta in thetas.items():
            total = sum(values.get(c, {}).get(term, Fraction(0)) for c in finding.remaining)
            if finding.remaining and total > theta * len(finding.remaining):
                dangerous.add(finding.group)
    return len(dangerous)


@pytest.mark.thorough
@settings(REPEATABLE)
@given(st.data())
def test_the_union_attack_finds_what_the_definition_finds(
    catalog: Catalog, data: st.DataObject
) -> None:
    releases = data.draw(series())
    attacks = data.draw(st.sampled_from([("b",), ("b", "f", "l")]))
    catalog.store(releases)
    found = audit(catalog.warehouse, DATASET, "main", AuditOptions(attacks=attacks, union=True))
    plain = [coded(release) for release in releases]
    for row in found.releases:
        assert row.union == union_groups(plain, row.release_id, attacks, row.scope)
        assert row.union >= row.dsg


def three(quarter: str, terms: list[list[str]], ids: str = "123") -> Release:
    """One group of three cases with these values."""
    cases = tuple(
        Case(who, ((3, 3), None), dict.fromkeys(held, 1))
        for who, held in zip(ids, terms, strict=True)
    )
    return Release(
        quarter, (Group(((2, 4), None), cases),), 3, dict.fromkeys("stu", Fraction(1, 2))
    )


def test_a_value_that_each_quarter_tells_of_one_case_is_certain_after_three(
    catalog: Catalog,
) -> None:
    quarters = [
        three(f"2011Q{n + 1}", [["s"] if place == n else [] for place in range(3)])
        for n in range(3)
    ]
    catalog.store(quarters)
    found = audit(catalog.warehouse, DATASET, "main", AuditOptions(attacks=("b",), union=True))
    assert [(row.dsg, row.union, row.safe) for row in found.releases] == [(0, 1, True)] * 6
    catalog.store(quarters[:1])
    found = audit(catalog.warehouse, DATASET, "main", AuditOptions(attacks=("b",), union=True))
    assert [row.union for row in found.releases] == [0, 0]


def test_nobody_who_does_not_ask_for_it_waits_for_it(catalog: Catalog) -> None:
    catalog.store([three("2011Q1", random.Random(1).sample([["s"], [], []], 3))])
    found = audit(catalog.warehouse, DATASET, "main", AuditOptions(attacks=("b",)))
    assert [row.union for row in found.releases] == [None, None]


@settings(REPEATABLE)
@given(st.data())
def test_one_attacker_unites_the_values_of_those_who_remain(
    catalog: Catalog, data: st.DataObject
) -> None:
    releases = data.draw(series())
    catalog.store(releases)
    i = data.draw(st.integers(0, len(releases) - 1))
    own = [case for group in releases[i].groups for case in group.cases]
    chosen = sorted(data.draw(st.sets(st.integers(0, len(own) - 1), min_size=1))) if own else []
    rows = catalog.con.execute(
        "WITH remaining AS MATERIALIZED (SELECT unnest($1::INTEGER[]) AS case_no) "
        f"FROM srsql.attack_union('remaining', {i})",
        [chosen],
    ).fetchall()
    shown: dict[str, dict[str, set[int]]] = {}
    for number, release in enumerate(releases):
        for group in release.groups:
            for case in group.cases:
                for term in case.terms:
                    shown.setdefault(term, {}).setdefault(case.case_id, set()).add(number)
    wanted = {}
    for term, holders in shown.items():
        who = [own[n].case_id for n in chosen]
        united = sum(bool(holders.get(case)) for case in who)
        if united > sum(i in holders.get(case, ()) for case in who):
            theta = releases[i].thetas[term]
            wanted[term] = (united, united / len(who), united > theta * len(who))
    assert {term: (h, c, exceeds) for term, h, c, _, _, exceeds in rows} == wanted


def test_weights_of_values_are_summed_by_group_and_by_what_rules_a_case_out(sql: Any) -> None:
    luck = random.Random(3)
    members = [(n, luck.randrange(3), luck.random() < 0.5, luck.random() < 0.5) for n in range(20)]
    held = [(n, term, luck.randrange(1, 5)) for n in range(20) for term in luck.sample(range(4), 2)]
    names = (
        sql.table("held", "case_no INTEGER, term_no INTEGER, weight BIGINT", held),
        sql.table("members", "case_no INTEGER, group_id INTEGER, l BOOLEAN, md BOOLEAN", members),
    )
    wanted = set()
    for group in range(3):
        for term in range(4):
            rows = [
                (weight, members[n][2], members[n][3])
                for n, t, weight in held
                if t == term and members[n][1] == group
            ]
            if rows:
                kinds = (
                    [w for w, _, _ in rows],
                    [w for w, l_set, _ in rows if l_set],
                    [w for w, _, md_set in rows if md_set],
                    [w for w, l_set, md_set in rows if l_set and md_set],
                )
                wanted.add((group, term, *map(sum, kinds)))
    assert set(sql.rows(f"FROM srsql.group_term_weights({', '.join(names)})")) == wanted
