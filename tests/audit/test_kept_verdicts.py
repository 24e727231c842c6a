"""The verdicts that releases keep, against a full audit after every release of random series."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import chain, combinations, product
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.audit import Case, Group, Release, covers
from oracles.examples import REPEATABLE
from support.amount import some_of
from support.audited_series import DATASET, Catalog, coded, hull, series
from support.boxes import ANYTHING, boxes
from support.boxes import coded as coded_box
from support.catalog import publish
from support.groups import UNIT, Groups, Tables, groups

from srsql.engine.audit import verdicts
from srsql.engine.audit.audit import Audit, audit
from srsql.engine.audit.plan import AuditOptions
from srsql.engine.audit.verdicts import audit_again, audit_new, drop, kept_audit, stored
from srsql.engine.checks.series import _worsened
from srsql.engine.errors import AuditError

pytestmark = pytest.mark.slow

ATTACKS = ("b", "f", "l", "md", "ss")
FIGURES = ("groups", "dig", "dsg", "ssg", "outside", "qid_bounding", "qid_bounding_earliest",
           "internal", "erasure", "erasure_series")  # fmt: skip
OPTIONS = AuditOptions(keep=True)
anything: Any = st.data()
VIEWS = list(product([False, True], repeat=2))


@pytest.fixture(scope="module")
def catalog() -> Iterator[Catalog]:
    made = Catalog()
    yield made
    made.con.close()


@st.composite
def careful_series(draw: st.DrawFn) -> list[Release]:
    """Releases of which most groups are safe: cases come back to regions that cover their earlier
    ones, to others, or to the quarter after."""
    ages = st.integers(0, 6).map(lambda n: (n, n))
    people = {str(n): (draw(ages), (2, 2)) for n in range(draw(st.integers(6, 14)))}
    seen: dict[str, list[Any]] = {}
    found = []
    thetas = {s: draw(st.sampled_from([Fraction(3, 4), Fraction(1)])) for s in "stu"}
    k = draw(st.integers(1, 2))
    for n in range(draw(st.integers(2, 6))):
        present = draw(st.lists(st.sampled_from(sorted(people)), unique=True, min_size=4))
        crowd = [
            Case(who, people[who], draw(st.dictionaries(st.sampled_from("stu"), st.just(1),
                                                        max_size=1)), draw(st.booleans()))
            for who in present
        ]  # fmt: skip
        groups = []
        while crowd:
            size = len(crowd) if len(crowd) < 6 else draw(st.integers(3, len(crowd) - 3))
            cases, crowd = tuple(crowd[:size]), crowd[size:]
            known = [c.raw for c in cases]
            if draw(st.integers(0, 3)):
                known += [box for c in cases for box in seen.get(c.case_id, [])]
            region = tuple(hull([box[q] for box in known], q) for q in range(2))
            groups.append(Group(region, cases))
            for c in cases:
                seen.setdefault(c.case_id, []).append(region)
        quarter = f"201{1 + n // 4}Q{1 + n % 4}"
        found.append(Release(quarter, tuple(groups), k, thetas, Fraction(1), 1, "released"))
    return found


def told(found: Audit) -> dict[tuple[int, str], tuple[Any, ...]]:
    """Release and scope -> what the audit says that is kept."""
    return {
        (row.release_id, row.scope): (
            row.attacks, row.persistence or 0, *(getattr(row, name) for name in FIGURES)
        )
        for row in found.releases
    }  # fmt: skip


def kept(catalog: Catalog) -> dict[tuple[int, str], tuple[Any, ...]]:
    """The same of the verdicts that are those of today."""
    numbers = sorted(
        row[0] for row in catalog.warehouse.rows("SELECT release_id FROM srsql.release")
    )
    return {
        (one.release_id, one.scope): (
            one.attacks, one.persistent, *(getattr(one, name) for name in FIGURES)
        )
        for one in stored(catalog.warehouse, numbers)
        if one.attacker == tuple(numbers)
    }  # fmt: skip


def dangers(found: Audit) -> set[tuple[Any, ...]]:
    return {
        (g.release_id, g.scope, g.group_id, g.dig, g.dsg, g.ssg)
        for g in found.evidence
        if g.dig or g.dsg or g.ssg
    }


def kept_dangers(catalog: Catalog) -> set[tuple[Any, ...]]:
    return set(
        catalog.warehouse.rows(
            "SELECT g.release_id, g.scope, g.group_id, g.dig, g.dsg, g.ssg "
            "FROM srsql.verdict_group AS g WHERE g.dig OR g.dsg OR g.ssg"
        )
    )


def refused(catalog: Catalog, number: int, after: Audit) -> set[tuple[int, str, int]]:
    """The groups that a release is refused for."""
    release: Any = SimpleNamespace(
        warehouse=catalog.warehouse, dataset=DATASET, series="main", release_id=number
    )
    return {(g.release_id, g.scope, g.group_id) for g in _worsened(release, after)}


def make(catalog: Catalog, made: list[Release], draw: Any, attacks: tuple[str, ...]) -> None:
    """Make the releases in some order; after each of them every verdict is that of a full audit."""
    catalog.clear()
    order = draw(st.permutations(range(len(made)))) if draw(st.booleans()) else range(len(made))
    for number, place in enumerate(order):
        release = made[place]
        what = draw(st.sampled_from(["release"] * 6 + ["import", "forget"]))
        imported = what == "import"
        catalog.add(
            number,
            release,
            originals=not imported,
            attacks=attacks,
            model="imported" if imported else "ppms",
        )
        if imported and draw(st.booleans()):
            continue  # nobody audits it yet
        if what == "forget":
            forget(catalog, draw)
        after = audit_new(catalog.warehouse, DATASET, "main", number, OPTIONS)
        full = audit(catalog.warehouse, DATASET, "main")
        expected, found = told(full), kept(catalog)
        assert found == {place: expected[place] for place in found}
        assert {place[0] for place in found} >= {row.release_id for row in after.releases}
        assert {d for d in kept_dangers(catalog) if d[:2] in found} == {
            d for d in dangers(full) if d[:2] in found
        }
        assert refused(catalog, number, after) == refused(catalog, number, full)


def forget(catalog: Catalog, draw: Any) -> None:
    """A patient is forgotten, as srsql forget does it."""
    rows = catalog.warehouse.rows("SELECT DISTINCT m.case_id FROM srsql.member AS m ORDER BY ALL")
    who = [row[0] for row in rows if not row[0].startswith("forgotten")]
    if not who:
        return
    case = draw(st.sampled_from(who))
    token = f"forgotten:{case}"
    run = catalog.con.execute
    held = catalog.warehouse.rows("SELECT release_id FROM srsql.member WHERE case_id = ?", [case])
    drop(catalog.warehouse, [row[0] for row in held])
    run(
        "DELETE FROM srsql.case_qid AS q USING srsql.member AS m "
        "WHERE q.release_id = m.release_id AND q.case_no = m.case_no AND m.case_id = ?",
        [case],
    )
    run("UPDATE srsql.member SET case_id = ? WHERE case_id = ?", [token, case])
    run(  # it may have come back and be forgotten once more
        "INSERT OR IGNORE INTO srsql.forgotten_case VALUES ('d', ?, '', DATE '2020-01-01')", [token]
    )


@pytest.mark.thorough
@settings(parent=REPEATABLE, max_examples=6)
@given(made=st.one_of(series(), careful_series()), data=anything,
       attacks=st.lists(st.sampled_from(ATTACKS), min_size=1, unique=True))  # fmt: skip
def test_a_kept_verdict_is_that_of_a_full_audit(
    catalog: Catalog, made: list[Release], data: Any, attacks: list[str]
) -> None:
    make(catalog, [coded(r) for r in made], data.draw, tuple(a for a in ATTACKS if a in attacks))


@pytest.mark.thorough
@settings(parent=REPEATABLE, max_examples=some_of(40))
@given(made=st.one_of(series(), careful_series()), data=anything,
       attacks=st.lists(st.sampled_from(ATTACKS), min_size=1, unique=True))  # fmt: skip
def test_in_many_series_every_kept_verdict_is_that_of_a_full_audit(
    catalog: Catalog, made: list[Release], data: Any, attacks: list[str]
) -> None:
    make(catalog, [coded(r) for r in made], data.draw, tuple(a for a in ATTACKS if a in attacks))


def steady_series() -> list[Release]:
    """Three quarters of groups that are safe by themselves; a is in all of them, b in the first and
    the last, in regions that cover the earlier ones."""

    def group(region: Any, names: str) -> Group:
        return Group(region, tuple(Case(who, ((2, 2), (2, 2)), {}, False) for who in names))

    narrow, wide = ((1, 3), (1, 3)), ((0, 6), (1, 3))
    quarters = {
        "2011Q1": (group(narrow, "abcd"), group(narrow, "efgh")),
        "2011Q2": (group(narrow, "aijk"), group(wide, "lmno")),
        "2011Q3": (group(wide, "abpqr"),),
    }
    return [
        Release(quarter, groups, 3, {"s": Fraction(1)}, Fraction(1), 1, "released")
        for quarter, groups in quarters.items()
    ]


@pytest.mark.thorough
def test_of_a_safe_series_a_release_audits_itself_and_the_groups_that_it_changes(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at: list[list[tuple[int, int]]] = []

    def watched(warehouse: Any, batch: Any, **options: Any) -> Any:
        rows = warehouse.rows(
            "SELECT p.release_id, p.group_id FROM temp.main.srsql_audit_part AS p ORDER BY ALL"
        )
        looked_at.append(rows)
        return judge(warehouse, batch, **options)

    judge = verdicts._audit_batch
    monkeypatch.setattr(verdicts, "_audit_batch", watched)
    catalog.clear()
    for number, release in enumerate(steady_series()):
        catalog.add(number, release, attacks=("b", "f", "l"))
        after = audit_new(catalog.warehouse, DATASET, "main", number, OPTIONS)
        assert {row.release_id for row in after.releases} == {number}
        full = audit(catalog.warehouse, DATASET, "main")
        assert full.safe
        assert kept(catalog) == told(full)
    # of the period just before those that a and b came from, for P; of earlier ones none
    assert looked_at == [[(0, 0)], [(1, 0)]]
    assert [row.persistence for row in full.releases if row.scope == "group"] == [1, 1, 1]


@pytest.mark.thorough
def test_a_region_that_does_not_cover_an_earlier_one_has_its_group_audited(
    catalog: Catalog,
) -> None:
    """b comes back to a region outside of its first one: c and d alone remain for whoever is b."""
    first, second, third = steady_series()
    moved = Group(((7, 8), (1, 3)), third.groups[0].cases)
    catalog.clear()
    for number, release in enumerate((first, second, replace(third, groups=(moved,)))):
        catalog.add(number, release, attacks=("b", "f", "l"))
        after = audit_new(catalog.warehouse, DATASET, "main", number, OPTIONS)
    assert {row.release_id for row in after.releases} == {0, 2}
    assert (0, "group", 0) in refused(catalog, 2, after)
    assert kept(catalog) == told(audit(catalog.warehouse, DATASET, "main"))


@pytest.mark.thorough
def test_what_is_kept_is_shown_as_long_as_the_releases_are_those_of_then(catalog: Catalog) -> None:
    catalog.clear()
    for number, release in enumerate(steady_series()):
        catalog.add(number, release, attacks=("b", "f", "l"))
        audit_new(catalog.warehouse, DATASET, "main", number, OPTIONS)
    shown = kept_audit(catalog.warehouse, DATASET, "main")
    full = audit(catalog.warehouse, DATASET, "main")
    assert (shown.safe, shown.releases) == (full.safe, full.releases)
    again = audit_again(catalog.warehouse, DATASET, "main", AuditOptions())
    assert again.releases == full.releases
    catalog.con.execute("UPDATE srsql.verdict SET qid_bounding = 7 WHERE release_id = 1")
    with pytest.raises(AuditError, match=r"2011Q2 kept at scope=.* is not that of a full audit"):
        audit_again(catalog.warehouse, DATASET, "main", AuditOptions())
    catalog.add(3, replace(steady_series()[2], quarter="2011Q4"), attacks=("b", "f", "l"))
    with pytest.raises(AuditError, match="no verdict of 2011Q1 is kept that holds"):
        kept_audit(catalog.warehouse, DATASET, "main")


def subsets(numbers: list[int]) -> list[frozenset[int]]:
    sizes = range(len(numbers) + 1)
    return [frozenset(c) for c in chain.from_iterable(combinations(numbers, n) for n in sizes)]


@settings(parent=REPEATABLE, max_examples=20)
@given(world=groups(), loose=st.sets(st.integers(0, 14)), k=st.integers(1, 3),
       uses=st.sampled_from(VIEWS))  # fmt: skip
def test_certain_groups_keep_k_and_thresholds_in_any_union_whoever_is_ruled_out(
    sql: Any, world: Groups, loose: set[int], k: int, uses: tuple[bool, bool]
) -> None:
    """``loose``: cases that other regions may rule out; L and MD where the attacker uses them."""
    uses_l, uses_md = uses
    tables = Tables(sql, world)
    members = [
        (g, uses_l and c.old, uses_md and c.in_next_quarter, n not in loose)
        for g in range(len(world.groups))
        for n, c in world.cases(g).items()
    ]
    held = [(n, *m) for n, m in enumerate(members)]
    listed = sql.table(
        "judged_member", "case_no INTEGER, group_id INTEGER, l BOOLEAN, md BOOLEAN, steady BOOLEAN",
        held,
    )  # fmt: skip
    crowds = sql.table(
        "judged_crowd", "group_id INTEGER, cases BIGINT, of_l BIGINT, of_md BIGINT, of_both BIGINT",
        [
            (g, len(own), sum(m[1] for m in own), sum(m[2] for m in own),
             sum(m[1] and m[2] for m in own))
            for g in range(len(world.groups))
            for own in [[m for m in members if m[0] == g]]
        ],
    )  # fmt: skip
    sql.rows(
        "CREATE OR REPLACE TEMP TABLE judged_load AS "
        f"FROM srsql.group_term_weights({tables.held}, {listed})"
    )
    loads = "'temp.main.judged_load'"
    rows = sql.rows(
        f"FROM srsql.uncertain_groups({listed}, {crowds}, {loads}, {tables.bounds}, "
        f"{uses_l}, {uses_md}, {k}, {UNIT})"
    )
    uncertain = {group for (group,) in rows}
    assert len(rows) == len(uncertain)
    terms = dict(enumerate(c.held for group in world.groups for c in group))
    for g in range(len(world.groups)):
        own = [m for m in held if m[1] == g]
        assert (g in uncertain) == any(breaks(own, terms, world.bounds, k, view) for view in VIEWS)
    certain = [m for m in held if m[1] not in uncertain]
    if not certain:
        return
    for new, stopped in VIEWS:
        left = [m for m in certain if not (new and m[2]) and not (stopped and m[3])]
        for gone in subsets([m[0] for m in left if not m[4]][:6]):
            remain = [m[0] for m in left if m[0] not in gone]
            assert len(remain) >= k
            for term, theta in world.bounds.items():
                assert sum(terms[n].get(term, 0) for n in remain) <= theta * len(remain) * UNIT


def breaks(
    own: list[Any], terms: dict[int, dict[int, int]], bounds: dict[int, Fraction], k: int,
    view: tuple[bool, bool],
) -> bool:  # fmt: skip
    """Whether a group breaks k or a threshold when all its loose cases are out who may be, but
    their values count."""
    new, stopped = view
    left = [m for m in own if not (new and m[2]) and not (stopped and m[3])]
    sure = sum(m[4] for m in left)
    return sure < k or any(
        sum(terms[m[0]].get(term, 0) for m in left) > theta * sure * UNIT
        for term, theta in bounds.items()
        if any(term in terms[m[0]] for m in own)
    )


@settings(parent=REPEATABLE, max_examples=20)
@given(region=boxes, earlier=st.one_of(st.none(), boxes), later=st.one_of(st.none(), boxes),
       old=st.booleans(), follows=st.booleans(), uses=st.sampled_from(VIEWS))  # fmt: skip
def test_a_case_is_steady_where_its_other_regions_cover_its_own(
    sql: Any, region: Any, earlier: Any, later: Any, old: bool, follows: bool,
    uses: tuple[bool, bool],
) -> None:  # fmt: skip
    cases = sql.table(
        "judged_case",
        "case_no INTEGER, box BIGINT[], old BOOLEAN, in_next_quarter BOOLEAN, earlier BIGINT[], "
        "later BIGINT[]",
        [(7, coded_box(region), old, follows, earlier and coded_box(earlier),
          later and coded_box(later))],
    )  # fmt: skip
    (row,) = sql.records(f"FROM srsql.attacked_cases({cases}, {uses[0]}, {uses[1]})")
    assert "box" not in row
    assert (row["l"], row["md"]) == (uses[0] and old, uses[1] and follows)
    assert row["steady"] == all(covers(other, region) for other in (earlier, later) if other)


def test_the_box_of_a_group_has_a_pair_per_quasi_identifier_and_missing_ones_say_nothing(
    own_sql: Any,
) -> None:
    publish(own_sql, 1, "2011Q1", {0: (((10, 20), (1, 1)), "a"), 1: (((None, None), (0, 2)), "b")})
    publish(own_sql, 2, "2011Q2", {0: (((5, 6), (2, 2)), "a")})
    for release_id in (1, 2):
        own_sql.insert("srsql.attribute", [(release_id, 0, "age", "numeric", 9),
                                           (release_id, 1, "sex", "categorical", 0)])  # fmt: skip
    own_sql.insert("srsql.node", [("d", "sex", "Any", None, 0, 2, 0, 1, 2, None, None),
                                  ("d", "sex", "M", "Any", 1, 1, 1, 0, 1, None, None)])  # fmt: skip
    asked = own_sql.table("asked", "release_id INTEGER, group_id INTEGER",
                          [(1, 0), (1, 0), (1, 1), (2, 0)])  # fmt: skip
    boxes = f"srsql.region_boxes({asked}, NULL::INTEGER[])"
    rows = own_sql.rows(f"FROM {boxes} ORDER BY release_id, group_id")
    nothing = [ANYTHING, ANYTHING]
    assert rows == [(1, 0, [-10, 20, -1, 1]), (1, 1, nothing + nothing), (2, 0, [-5, 6, -2, 2])]
    (row,) = own_sql.rows(f"FROM srsql.region_boxes({asked}, [1]) WHERE release_id = 2")
    assert row == (2, 0, [*nothing, -2, 2])  # who knows the sex alone
