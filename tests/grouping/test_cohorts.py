"""Those who stay: cohorts in SQL, units in the kernel, and cohorts checked from released rows."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
import pytest

from srsql.engine.errors import ReleaseError
from srsql.engine.models import make_model
from srsql.udfs.grouping.cohorts import Staying, place_units
from srsql.udfs.grouping_problem import Attributes, Cases

NONE = np.empty(0, np.int64)
LINE = Attributes(np.array([100]), np.array([0, 0]), NONE, NONE, NONE)


def test_a_cohort_is_who_went_on_from_a_group_present_or_not(sql: Any) -> None:
    cases = sql.table("own", "case_no INTEGER, case_id VARCHAR", [(0, "a"), (1, "b"), (2, "z")])
    members = sql.table(
        "there", "group_id INTEGER, case_no INTEGER, case_id VARCHAR",
        [(5, 0, "a"), (5, 1, "b"), (5, 2, "c"), (5, 3, "d"), (6, 4, "e")],
    )  # fmt: skip
    flags = sql.table(
        "flag", "case_no INTEGER, is_md BOOLEAN",
        [(0, False), (1, False), (2, False), (3, True), (4, True)],
    )  # fmt: skip
    past = sql.table("past", "case_id VARCHAR", [("b",)])
    found = sql.rows(f"FROM srsql.cohorts({cases}, {members}, {flags}, {past})")
    assert found == [(5, 3, 2, 2, [0, 1])]


def test_a_cohort_beyond_theta_is_told_by_those_who_were_new(sql: Any) -> None:
    cases = sql.table("cohort", "unit_no INTEGER, case_no INTEGER", [(1, n) for n in range(4)])
    terms = sql.table(
        "held", "case_no INTEGER, term_no INTEGER, weight BIGINT",
        [(0, 0, 1), (1, 0, 1), (0, 1, 1), (1, 1, 1), (2, 1, 1), (3, 1, 1)],
    )  # fmt: skip
    for new, shares, beyond in (
        (4, [(0, 1, 2), (1, 1, 1)], False),
        (3, [(0, 1, 2), (1, 1, 1)], True),
        (3, [(0, 2, 3), (1, 1, 1)], False),
    ):
        sizes = sql.table("size", "unit_no INTEGER, new_cases BIGINT", [(1, new)])
        theta = sql.table(
            "share", "term_no INTEGER, theta_num BIGINT, theta_den BIGINT", shares
        )  # fmt: skip
        found = sql.rows(
            f"FROM srsql.cohorts_beyond_theta({cases}, {sizes}, {terms}, {theta}, 2, 1)"
        )
        assert found == ([(1,)] if beyond else [])


def test_the_macro_places_a_unit_where_it_loses_least(sql: Any) -> None:
    placed = sql.table(
        "placed", "case_no INTEGER, known INTEGER, goes_on BOOLEAN, is_new BOOLEAN,"
        " unit_no INTEGER, group_no INTEGER, free BOOLEAN",
        [*((n, 1, False, True, n, n // 2, False) for n in range(4)),
         (4, 1, False, False, 4, -1, False), (5, 1, False, False, 4, -1, False)],
    )  # fmt: skip
    ages = [10, 12, 60, 62, 50, 58]
    boxes = sql.table(
        "box", "case_no INTEGER, position INTEGER, low BIGINT, high BIGINT",
        [(n, 0, age, age) for n, age in enumerate(ages)],
    )  # fmt: skip
    terms = sql.table("held", "case_no INTEGER, term_no INTEGER, weight BIGINT", [])
    qids = sql.table(
        "qid", "position INTEGER, span BIGINT, parent BIGINT[], last BIGINT[], height BIGINT[]",
        [(0, 100, [], [], [])],
    )  # fmt: skip
    theta = sql.table("share", "term_no INTEGER, theta_num BIGINT, theta_den BIGINT", [])
    found = dict(
        sql.rows(f"FROM srsql.place_units({placed}, {boxes}, {terms}, {qids}, {theta}, 1, 2)")
    )
    assert found == {0: 0, 1: 0, 2: 1, 3: 1, 4: 1, 5: 1}


@pytest.mark.parametrize("seed", range(20))
def test_classes_of_placed_units_keep_k_and_theta_and_units_stay_whole(seed: int) -> None:
    luck = random.Random(seed)
    n, k = 60, luck.choice([2, 3])
    unit = np.array([luck.randrange(12) if luck.random() < 0.5 else 100 + i for i in range(n)])
    new = unit >= 100
    goes_on = np.array([luck.random() < 0.5 for _ in range(n)])
    held = [sorted({luck.randrange(6) for _ in range(luck.randrange(3))}) for _ in range(n)]
    offsets = np.cumsum([0, *map(len, held)])
    terms = np.array([t for own in held for t in own], np.int32)
    ends = np.array([[luck.randrange(100)] for _ in range(n)], np.int64)
    num, den = np.array([1, 1, 2, 1, 1, 1]), np.array([2, 1, 3, 2, 2, 3])
    k = max(k, 3)
    cases = Cases(ends, ends + 1, offsets, terms, np.ones(len(terms), np.int64), 1)
    group = place_units(
        cases, LINE, num, den, k,
        Staying(goes_on, new, np.ones(n, np.int64), unit, np.full(n, -1), new),
    )  # fmt: skip
    members: dict[int, list[int]] = defaultdict(list)
    for case, number in enumerate(group.tolist()):
        members[number].append(case)
    for number in set(unit.tolist()):
        assert len(set(group[unit == number].tolist())) == 1
    members.pop(-1, None)
    for together in members.values():
        for side in (True, False):
            those = [case for case in together if goes_on[case] == side]
            carriers = sum(bool(new[case]) for case in those)
            assert not those or carriers >= k
            counts = Counter(t for case in those for t in held[case])
            for term, count in counts.items():
                theta = Fraction(int(num[term]), int(den[term]))
                assert theta == 1 or count <= floor(theta * max(k, carriers))


def test_a_torn_cohort_fails_the_check_of_released_rows(sql: Any) -> None:
    rows = [("x", n) for n in (1, 2, 9)] + [("y", n) for n in (3, 10)]
    here = sql.table("here", "region VARCHAR, case_id BIGINT", rows)
    before = sql.table(
        "seen_before", "region VARCHAR, case_id BIGINT", [("r", n) for n in (1, 2, 3, 4, 5)]
    )
    older = sql.table("older", "case_id BIGINT", [])
    values = sql.table("value", "case_id BIGINT, term VARCHAR", [(1, "A"), (2, "A"), (3, "B")])
    theta = sql.table(
        "share", "term VARCHAR, theta_num BIGINT, theta_den BIGINT", [("A", 1, 2), ("B", 1, 1)]
    )
    found = {
        row["scope"]: (row["violating"], row["total"])
        for row in sql.records(
            f"FROM srsql.check_cohorts({here}, {values}, {theta}, {before}, {older}, 2, 2, 1)"
        )
    }
    assert found == {
        "classes of the release before": (0, 2),
        "cohorts": (1, 2),
        "values of cohorts": (1, 2),
    }


def test_persistence_rules_out_the_opposite_of_what_is_known(sql: Any) -> None:
    found = sql.rows(
        "SELECT srsql.exclusion_p('next', true, false, true), "
        "srsql.exclusion_p('next', false, false, true), "
        "srsql.exclusion_p('previous', true, false, true), "
        "srsql.exclusion_p('previous', false, false, true), "
        "srsql.exclusion_p(NULL, true, false, true)"
    )
    assert found == [(True, False, False, True, False)]


@pytest.mark.parametrize("options", [{"leftovers": "merge"}, {"parts": "4"}])
def test_what_would_tear_a_cohort_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ReleaseError, match="does not apply to the model ppms-stay"):
        make_model("ppms-stay", k=3, **options)
