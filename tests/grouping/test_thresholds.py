"""Thresholds by frequency, and whether they can be met."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import thresholds as oracle
from oracles.examples import REPEATABLE
from support.published_terms import warehouse

from srsql.engine.errors import ReleaseError
from srsql.engine.grouping.thresholds import apply_theta, check_called, parse_theta

THETAS = [Fraction(t) for t in ("1/5", "1/3", "2/5", "1/2", "3/5", "2/3", "1", "3/7")]
UNIT = 12
PRESENT = "case_no INTEGER, carrier BOOLEAN"
Case = Mapping[int, Fraction]


def theta_frequency(sql: Any, cases: Mapping[str, int]) -> dict[str, Fraction]:
    terms = list(cases)
    name = sql.table(
        "term",
        "term_no INTEGER, term VARCHAR, cases BIGINT",
        [(number, term, cases[term]) for number, term in enumerate(terms)],
    )
    found = sql.rows(f"FROM srsql.theta_frequency({name})")
    assert sorted(row[0] for row in found) == list(range(len(terms)))
    return {terms[number]: Fraction(num, den) for number, num, den in found}


@pytest.mark.slow
@REPEATABLE
@given(st.dictionaries(st.text("AB É'", min_size=1, max_size=4), st.integers(1, 4), max_size=41))
def test_the_frequency_policy_is_the_papers_with_tenths_rounded_to_the_safe_side(
    sql: Any, cases: dict[str, int]
) -> None:
    assert theta_frequency(sql, cases) == oracle.by_frequency(cases)


@pytest.mark.parametrize(
    ("values", "unprotected", "strict"),
    [(1, 0, 1), (9, 0, 1), (10, 1, 1), (11, 1, 2), (19, 1, 2), (20, 2, 2), (21, 2, 3)],
)
def test_the_tenth_without_protection_is_rounded_down_and_the_strict_one_up(
    sql: Any, values: int, unprotected: int, strict: int
) -> None:
    thetas = list(theta_frequency(sql, {f"v{i:02}": 100 - i for i in range(values)}).values())
    assert thetas.count(Fraction(1)) == unprotected
    assert thetas.count(Fraction(1, 5)) == strict
    assert thetas.count(Fraction(2, 5)) == values - unprotected - strict


def test_equal_frequencies_are_ordered_by_the_text_of_the_value(sql: Any) -> None:
    thetas = theta_frequency(sql, dict.fromkeys("JIHGFEDCBA", 3))
    assert thetas["A"] == 1
    assert thetas["J"] == Fraction(1, 5)
    assert {thetas[value] for value in "BCDEFGHI"} == {Fraction(2, 5)}


def tables(
    sql: Any,
    cases: Sequence[Case],
    thetas: Mapping[int, Fraction],
    carriers: Sequence[bool] | None = None,
) -> tuple[str, ...]:
    """case_terms (in no order), thresholds, present; without ``carriers`` every case is one."""
    carry = carriers if carriers is not None else [True] * len(cases)
    weights = [{s: int(p * UNIT) for s, p in sorted(case.items())} for case in cases]
    return (
        sql.table(
            "case_term",
            "case_no INTEGER, term_no INTEGER, weight BIGINT",
            [(r, s, w) for r, case in enumerate(weights) for s, w in case.items()][::-1],
        ),
        sql.table(
            "theta",
            "term_no INTEGER, theta_num BIGINT, theta_den BIGINT",
            [(s, t.numerator, t.denominator) for s, t in thetas.items()],
        ),
        sql.table("present", PRESENT, enumerate(carry)),
    )


def infeasible(
    sql: Any,
    cases: Sequence[Case],
    thetas: Mapping[int, Fraction],
    carriers: Sequence[bool] | None = None,
) -> set[int]:
    terms, theta, present = tables(sql, cases, thetas, carriers)
    found = sql.rows(f"SELECT term_no FROM srsql.infeasible({terms}, {theta}, {present}, {UNIT})")
    return {row[0] for row in found}


def withheld(
    sql: Any,
    cases: Sequence[Case],
    thetas: Mapping[int, Fraction],
    carriers: Sequence[bool] | None = None,
) -> set[int]:
    terms, theta, present = tables(sql, cases, thetas, carriers)
    found = sql.rows(f"FROM srsql.withhold_infeasible({present}, {terms}, {theta}, {UNIT})")
    assert len(set(found)) == len(found)
    return {row[0] for row in found}


def holding(*values: int) -> Case:
    return dict.fromkeys(values, Fraction(1))


@pytest.mark.parametrize(
    ("holders", "total", "theta", "expected"),
    [
        (3, 5, "0.6", False),  # 0.6 * 5 is 3 exactly, although not in binary
        (3, 5, "0.599999999", True),
        (1, 3, "1/3", False),
        (7, 21, "1/3", False),
        (8, 21, "1/3", True),
        (1, 3, "0.333333333", True),
        (29, 100, "0.29", False),
        (58, 100, "0.57", True),
        (5, 5, "1", False),
        (1, 5, "0", True),
    ],
)
def test_frequencies_are_compared_with_theta_exactly(
    sql: Any, holders: int, total: int, theta: str, expected: bool
) -> None:
    cases = [holding(0)] * holders + [holding()] * (total - holders)
    assert (infeasible(sql, cases, {0: Fraction(theta)}) == {0}) is expected


def test_an_infeasible_value_is_reported_with_its_cases_of_those_present_only(sql: Any) -> None:
    cases = [holding(0), {0: Fraction(1, 4)}, holding(), holding(0), holding(0)]
    terms, theta, _ = tables(sql, cases, {0: Fraction(2, 5)})
    present = sql.table("present", PRESENT, [(0, True), (1, True), (2, True)])
    query = f"FROM srsql.infeasible({terms}, {theta}, {present}, {UNIT})"
    assert sql.records(query) == [{"term_no": 0, "weight": 15, "cases": 2, "total": 3}]


def test_a_value_is_counted_over_all_cases_against_those_that_carry(sql: Any) -> None:
    cases = [holding(0), holding(), holding(), holding(0), holding()]
    terms, theta, present = tables(
        sql, cases, {0: Fraction(1, 2)}, [True, True, True, False, False]
    )
    query = f"FROM srsql.infeasible({terms}, {theta}, {present}, {UNIT})"
    assert sql.records(query) == [{"term_no": 0, "weight": 24, "cases": 2, "total": 3}]


@pytest.mark.parametrize("carriers", [[True, False, False], [False, False, False]])
def test_a_threshold_of_one_bounds_nothing_however_few_carry(
    sql: Any, carriers: list[bool]
) -> None:
    cases = [holding(0)] * 3
    assert infeasible(sql, cases, {0: Fraction(1)}, carriers) == set()
    assert withheld(sql, cases, {0: Fraction(1)}, carriers) == set()


def test_without_a_carrier_no_case_with_a_bounded_value_stays(sql: Any) -> None:
    cases = [holding(0), holding(), holding(1)]
    thetas = {0: Fraction(3, 5), 1: Fraction(1)}
    assert infeasible(sql, cases, thetas, [False] * 3) == {0}
    assert withheld(sql, cases, thetas, [False] * 3) == {0}


certain = st.sets(st.integers(0, 4), max_size=3).map(lambda values: holding(*values))
likely = st.dictionaries(
    st.integers(0, 4),
    st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(7, 12)]),
    max_size=3,
)
some_thetas = st.lists(st.sampled_from(THETAS), min_size=5, max_size=5).map(
    lambda thetas: dict(enumerate(thetas))
)
crowds = st.lists(st.tuples(st.one_of(certain, likely), st.booleans()), max_size=14)
"""Cases, each with whether it carries."""
everyone = st.lists(st.tuples(st.one_of(certain, likely), st.just(True)), max_size=14)
Crowd = list[tuple[Case, bool]]


def args(
    crowd: Crowd, thetas: dict[int, Fraction]
) -> tuple[list[Case], dict[int, Fraction], list[bool]]:
    return [case for case, _ in crowd], thetas, [carries for _, carries in crowd]


@REPEATABLE
@given(crowd=st.one_of(crowds, everyone), thetas=some_thetas)
def test_infeasible_values_are_those_whose_expected_share_exceeds_theta(
    sql: Any, crowd: Crowd, thetas: dict[int, Fraction]
) -> None:
    assert infeasible(sql, *args(crowd, thetas)) == oracle.infeasible(*args(crowd, thetas))


@REPEATABLE
@given(crowd=st.one_of(crowds, everyone), thetas=some_thetas)
def test_after_withholding_every_threshold_can_be_met_and_no_case_could_come_back(
    sql: Any, crowd: Crowd, thetas: dict[int, Fraction]
) -> None:
    out = withheld(sql, *args(crowd, thetas))
    inside = {r for r in range(len(crowd)) if r not in out}
    assert not oracle.infeasible(*args([crowd[r] for r in inside], thetas))
    for r in out:
        assert oracle.infeasible(*args([crowd[i] for i in inside | {r}], thetas))


@REPEATABLE
@given(crowd=st.one_of(crowds, everyone), thetas=some_thetas)
def test_withholding_takes_the_cases_that_the_documented_greedy_takes(
    sql: Any, crowd: Crowd, thetas: dict[int, Fraction]
) -> None:
    assert withheld(sql, *args(crowd, thetas)) == oracle.withheld_greedily(*args(crowd, thetas))


def test_the_case_with_most_infeasible_values_goes_before_the_least_case_number(sql: Any) -> None:
    cases = [holding(0), holding(1), holding(0, 1), holding(), holding()]
    thetas = {0: Fraction(1, 4), 1: Fraction(1, 4)}
    assert withheld(sql, cases, thetas) == {2}


def test_of_equally_burdened_cases_the_least_case_number_goes(sql: Any) -> None:
    cases = [holding(), holding(0), holding(0), holding(0), holding()]
    assert withheld(sql, cases, {0: Fraction(1, 2)}) == {1}


def test_only_the_cases_of_the_profiles_are_judged(sql: Any) -> None:
    """Cases 0 and 1 are out already: one of the three others holds the value, not three of five."""
    terms, theta, _ = tables(sql, [holding(0)] * 3 + [holding()] * 2, {0: Fraction(1, 3)})
    left = sql.table("present", PRESENT, [(4, True), (2, True), (3, True)])
    assert sql.rows(f"FROM srsql.withhold_infeasible({left}, {terms}, {theta}, {UNIT})") == []
    left = sql.table("present", PRESENT, [(4, True), (2, True), (1, True), (3, True)])
    assert sql.rows(f"FROM srsql.withhold_infeasible({left}, {terms}, {theta}, {UNIT})") == [(1,)]


def test_a_feasible_quarter_loses_no_case(sql: Any) -> None:
    cases = [holding(0), holding(0), holding(0), holding(), holding()]
    assert withheld(sql, cases, {0: Fraction(3, 5)}) == set()


def test_without_cases_nothing_is_infeasible_or_withheld(sql: Any) -> None:
    assert infeasible(sql, [], {0: Fraction(0)}) == set()
    assert withheld(sql, [], {0: Fraction(0)}) == set()


def test_withheld_cases_that_make_room_for_each_other_come_back_together(sql: Any) -> None:
    cases = [holding(*v) for v in ((), (0, 1), (2,), (2,), (0, 2), (0, 1), (1, 2))]
    out = withheld(sql, cases, {0: Fraction(2, 5), 1: Fraction(1, 2), 2: Fraction(2, 5)})
    assert not {1, 2} <= out


def test_without_any_value_no_case_is_withheld(sql: Any) -> None:
    assert withheld(sql, [holding()], {}) == set()


EXAMPLE = {
    "PAIN": 10, "ANEMIA": 6, "ANÉMIA": 5, "D": 4, "E": 4, "F": 3, "G": 3, "H": 2, "I": 2, "J": 1,
    "K": 1,
}  # fmt: skip
"""Eleven spellings of ten terms, each of a case of its own."""
FOLDED = {"ANÉMIA": "ANEMIA"}


def spelled_thetas(
    sql: Any, spelled: Mapping[str, int], folded: Mapping[str, str]
) -> dict[str, Fraction]:
    """Thresholds by frequency of the terms of a quarter in which each case has one spelling."""
    terms = list(dict.fromkeys(folded.get(name, name) for name in spelled))
    held = [name for name, cases in spelled.items() for _ in range(cases)]
    sql.table(
        "srsql_case_report", "case_no INTEGER, report_id VARCHAR",
        [(case, f"R{case}") for case in range(len(held))],
    )  # fmt: skip
    texts = [("pt", name, folded.get(name, name).lower(), name, True) for name in spelled]
    columns = "attribute VARCHAR, text VARCHAR, term VARCHAR, spelling VARCHAR, sensitive BOOLEAN"
    sql.table("srsql_text", columns, texts)
    warehouse(sql).run_step("grouping/words", {"release_id": 1})
    words = sql.rows("SELECT w.text, w.word_no, w.term, w.key_no FROM temp.main.srsql_word AS w")
    word_nos, keys = {word[0]: word[1] for word in words}, {word[2]: word[3] for word in words}
    sql.table(
        "srsql_report_value",
        "report_id VARCHAR, word_no INTEGER, sensitive BOOLEAN",
        [(f"R{n}", word_nos[name], True) for n, name in enumerate(held)],
    )
    rows = []
    for number, term in enumerate(terms):
        own = [name for name in spelled if folded.get(name, name) == term]
        commonest = max(own, key=lambda name: spelled[name])
        cases = sum(spelled[name] for name in own)
        rows.append((number, keys[term.lower()], term.lower(), commonest, cases))
    columns = "term_no INTEGER, key_no INTEGER, term VARCHAR, spelling VARCHAR, cases BIGINT"
    sql.table("srsql_term", columns, rows)
    apply_theta(warehouse(sql), parse_theta("frequency"), 1)
    found = sql.rows("SELECT t.term_no, t.theta_num, t.theta_den FROM temp.main.srsql_theta AS t")
    return {terms[number]: Fraction(num, den) for number, num, den in found}


def stricter(spelled: Mapping[str, int], folded: Mapping[str, str]) -> dict[str, Fraction]:
    """The stricter of the place among terms and of the commonest spelling's among spellings."""
    terms: dict[str, int] = {}
    for name, cases in spelled.items():
        term = folded.get(name, name)
        terms[term] = terms.get(term, 0) + cases
    by_term = oracle.by_frequency({term.lower(): cases for term, cases in terms.items()})
    by_spelling = oracle.by_frequency(dict(spelled))
    found = {}
    for term in terms:
        own = [name for name in spelled if folded.get(name, name) == term]
        commonest = min(own, key=lambda name: (-spelled[name], name))
        found[term] = min(by_term[term.lower()], by_spelling[commonest])
    return found


def test_folding_two_spellings_loosens_no_threshold_by_frequency(sql: Any) -> None:
    """By terms alone ANEMIA rose to 1 and J, which nothing was merged with, from 1/5 to 2/5."""
    before = oracle.by_frequency(EXAMPLE)
    assert (before["ANEMIA"], before["PAIN"], before["J"]) == (
        Fraction(2, 5), 1, Fraction(1, 5)
    )  # fmt: skip
    found = spelled_thetas(sql, EXAMPLE, FOLDED)
    assert found == stricter(EXAMPLE, FOLDED)
    assert (found["ANEMIA"], found["PAIN"], found["J"]) == (
        Fraction(2, 5), Fraction(2, 5), Fraction(1, 5)
    )  # fmt: skip
    assert all(found[term] <= before[term] for term in found)


@REPEATABLE
@given(
    spelled=st.dictionaries(st.text("ABCDE'", min_size=1, max_size=3), st.integers(1, 4),
                            min_size=1, max_size=25),
    rule=st.sampled_from(["", "'", "'E"]),
)  # fmt: skip
def test_thresholds_by_frequency_are_the_stricter_of_both_readings(
    sql: Any, spelled: dict[str, int], rule: str
) -> None:
    """Spellings that differ in some signs alone are one term."""
    bare = {name: "".join(c for c in name if c not in rule) or name for name in spelled}
    first: dict[str, str] = {}
    folded = {name: first.setdefault(bare[name], name) for name in spelled}
    assert spelled_thetas(sql, spelled, folded) == stricter(spelled, folded)


SPELLINGS = ["SUICIDE ATTEMPT", "SUICIDE-ATTEMPT", "SUICIDE  ATTEMPT", "SUICIDE ATTEMPT /00002701/"]


VERSIONS = {0: str.upper, 1: str.lower}
"""Version of the key -> the case of the terms of these tests."""


def applied(
    sql: Any, text: str, terms: Sequence[str], folder: Path, version: int
) -> dict[str, Fraction]:
    """The threshold of each term under a file."""
    (folder / "theta.toml").write_text(text)
    sql.table("srsql_term", "term_no INTEGER, term VARCHAR", enumerate(terms))
    policy = parse_theta(f"levels:{folder / 'theta.toml'}")
    apply_theta(warehouse(sql), policy, version)
    rows = sql.rows("SELECT t.term_no, t.theta_num, t.theta_den FROM temp.main.srsql_theta AS t")
    return {terms[number]: Fraction(num, den) for number, num, den in rows}


@pytest.mark.parametrize("version", VERSIONS)
def test_every_spelling_of_a_term_has_the_threshold_of_its_name_on_a_level(
    sql: Any, tmp_path: Path, version: int
) -> None:
    cased = VERSIONS[version]
    (tmp_path / "terms.csv").write_text("term,soc\nSuicide attempt,Mind\nPain,Body\n")
    text = (
        'default = 0.5\ndictionary = "terms.csv"\n[values]\n"Suicide-attempt" = 0.1\n'
        '[[group]]\ntheta = "1/5"\nlevel = "soc"\nvalues = ["mind"]\n'
    )
    terms = [cased(term) for term in (*SPELLINGS, "PAIN", "SUICIDEATTEMPT")]
    found = applied(sql, text, terms, tmp_path, version)
    assert found == {
        **dict.fromkeys(terms[: len(SPELLINGS)], Fraction(1, 5)),
        cased("SUICIDE-ATTEMPT"): Fraction(1, 10),
        **dict.fromkeys(terms[len(SPELLINGS) :], Fraction(1, 2)),
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_names_that_share_a_spelling_give_the_terms_of_all_of_them(
    sql: Any, tmp_path: Path, version: int
) -> None:
    cased = VERSIONS[version]
    tree = "node,parent\nAny,\nA-B,Any\nx,A-B\nA B,Any\ny,A B\nC,Any\nz,C\n"
    (tmp_path / "tree.csv").write_text(tree)
    text = (
        'default = 0.5\ndictionary = "tree.csv"\n'
        '[[group]]\ntheta = 0.2\nlevel = "1"\nvalues = ["A-B"]\n'
    )
    found = applied(sql, text, [cased(term) for term in "XYZ"], tmp_path, version)
    assert list(found.values()) == [Fraction(1, 5), Fraction(1, 5), Fraction(1, 2)]
    policy = parse_theta(f"levels:{tmp_path / 'theta.toml'}")
    check_called(warehouse(sql), policy, version)
    applied(sql, text, [cased("Z")], tmp_path, version)
    with pytest.raises(ReleaseError, match="no case has a term that level 1 calls 'A-B'") as told:
        check_called(warehouse(sql), policy, version)
    assert len(str(told.value).splitlines()) == 1
