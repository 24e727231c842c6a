"""Measures over strata: macros against the printed formulas and against every world of regions."""

from __future__ import annotations

import math
from decimal import Decimal
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.examples import REPEATABLE
from oracles.signals import Case
from oracles.strata import Stratum, mantel_haenszel, tables_of, worlds

from srsql.engine.errors import SignalError
from srsql.engine.signals.rules import Condition, Counting
from srsql.engine.signals.strata import parted, read_strata
from srsql.schemas import load_dataset
from srsql.udfs.shrinkage import Prior, posterior

PRIOR = Prior(0.2, 0.06, 1.4, 1.8, 0.1)
DRUGS, REACTIONS = ("P", "Q"), ("X", "Y")
PAIRS = [(drug, reaction) for drug in DRUGS for reaction in REACTIONS]
AGES, SEXES = ((0, 1), (2, 4)), ((0, 0), (1, 1))
STRATA: list[Stratum] = [{0: age, 1: sex} for age, sex in product(AGES, SEXES)]
DOMAINS = {0: (0, 4), 1: (0, 1)}
TABLE = "drug VARCHAR, reaction VARCHAR, stratum INTEGER, a DOUBLE, b DOUBLE, c DOUBLE, d DOUBLE"
names = st.builds(
    lambda drugs, reactions, boxes: Case(drugs, reactions, boxes),
    st.frozensets(st.sampled_from(DRUGS)),
    st.frozensets(st.sampled_from(REACTIONS)),
    st.fixed_dictionaries(
        {0: st.integers(0, 4).map(lambda v: (v, v)), 1: st.integers(0, 1).map(lambda v: (v, v))}
    ),
)
ages = st.tuples(st.integers(0, 4), st.integers(0, 4)).map(lambda p: (min(p), max(p)))
open_cases = st.builds(
    lambda drugs, reactions, boxes: Case(drugs, reactions, boxes),
    st.frozensets(st.sampled_from(DRUGS)),
    st.frozensets(st.sampled_from(REACTIONS)),
    st.fixed_dictionaries({0: st.none() | ages, 1: st.none() | st.sampled_from([(0, 0), (0, 1)])}),
)


def stratified(sql: Any, cases: list[Case]) -> dict[tuple[str, str], dict[str, Any]]:
    """As ``srsql signals --strata`` runs the macros."""
    numbered = list(enumerate(cases))
    sql.table("cases", "case_id BIGINT", [(n,) for n, _ in numbered])
    sql.table(
        "boxes",
        "case_id BIGINT, position INTEGER, low BIGINT, high BIGINT",
        [(n, p, *(b or (None, None))) for n, case in numbered for p, b in case.boxes.items()],
    )
    sql.con.execute("DROP TABLE IF EXISTS temp.main.weights")
    whole: Stratum = DOMAINS
    for number, stratum in enumerate([whole, *STRATA]):
        sql.table(
            "conditions",
            "position INTEGER, low BIGINT, high BIGINT, domain_low BIGINT, domain_high BIGINT",
            [(p, *ends, *DOMAINS[p]) for p, ends in stratum.items()],
        )
        into = "INSERT INTO temp.main.weights" if number else "CREATE TEMP TABLE weights AS"
        sql.con.execute(
            f"{into} SELECT {number}::INTEGER AS stratum, w.* EXCLUDE (missing) "
            "FROM srsql.signal_weights('temp.main.cases', 'temp.main.boxes', "
            "'temp.main.conditions') AS w WHERE w.upper > 0"
        )
    held = {"drug": [], "reaction": []}  # type: ignore[var-annotated]
    for n, case in numbered:
        held["drug"] += [(n, name) for name in case.drugs]
        held["reaction"] += [(n, name) for name in case.reactions]
    for what, rows in held.items():
        sql.table(f"{what}s", f"case_id BIGINT, {what} VARCHAR", rows)
    sql.table("pairs", "drug VARCHAR, reaction VARCHAR", PAIRS)
    struct = "STRUCT(alpha1 DOUBLE, beta1 DOUBLE, alpha2 DOUBLE, beta2 DOUBLE, p DOUBLE)"
    sql.con.execute(
        f"CREATE OR REPLACE TEMP TABLE priors AS SELECT $prior::{struct} AS prior",
        {"prior": PRIOR._asdict()},
    )
    sql.con.execute(
        "CREATE OR REPLACE TEMP TABLE apart AS FROM srsql.contingency_by_stratum("
        "'temp.main.weights', 'temp.main.drugs', 'temp.main.reactions', 'temp.main.pairs')"
    )
    rows = sql.records("FROM srsql.stratified_measures('temp.main.apart', 'temp.main.priors')")
    return {(row["drug"], row["reaction"]): row for row in rows}


def near(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)


@pytest.mark.thorough
@REPEATABLE
@given(known=st.lists(names, min_size=1, max_size=14), unknown=st.lists(open_cases, max_size=3))
def test_what_any_values_of_the_regions_make_lies_between_the_bounds(
    sql: Any, known: list[Case], unknown: list[Case]
) -> None:
    cases = known + unknown
    found = stratified(sql, cases)
    every = list(worlds(cases, STRATA))
    for pair in PAIRS:
        row = found[pair]
        own = [mantel_haenszel(tables_of(cases, world, len(STRATA), pair)) for world in every]
        counts = np.array([[w["n"], w["e"]] for w in own], float)
        for at, name in enumerate(("n", "e")):
            assert row[f"{name}_lower"] <= counts[:, at].min() + 1e-9
            assert counts[:, at].max() <= row[f"{name}_upper"] + 1e-9
        for name in ("prr", "ror"):
            values = [w[name] for w in own if w[name] is not None]
            lower, upper = row[f"{name}_lower"], row[f"{name}_upper"]
            assert not values or lower is not None
            assert all(lower <= value * (1 + 1e-9) + 1e-12 for value in values)
            assert upper is None or all(value <= upper * (1 + 1e-9) + 1e-12 for value in values)
            ends = [w[f"{name}_low"] or 0 for w in own]
            if not any(math.isclose(end, 1, rel_tol=1e-9) for end in ends):
                truths = {end > 1 for end in ends}
                if row[f"signal_{name}"] != "undecided":
                    assert truths == {row[f"signal_{name}"] == "holds"}
        positive = counts[counts[:, 1] > 0]
        if len(positive) == len(counts):
            ebgm, eb05, _ = posterior(positive[:, 0], positive[:, 1], PRIOR)
            assert row["ebgm_lower"] <= ebgm.min() * (1 + 1e-9)
            assert row["ebgm_upper"] is None or ebgm.max() <= row["ebgm_upper"] * (1 + 1e-9)
            if row["signal_eb05"] in ("holds", "does not"):
                assert set(eb05 >= 2) == {row["signal_eb05"] == "holds"}


@pytest.mark.thorough
@REPEATABLE
@given(cases=st.lists(names, min_size=1, max_size=40))
def test_of_known_values_every_measure_is_what_its_formula_says(
    sql: Any, cases: list[Case]
) -> None:
    found = stratified(sql, cases)
    (world,) = worlds(cases, STRATA)
    for pair in PAIRS:
        row, own = found[pair], mantel_haenszel(tables_of(cases, world, len(STRATA), pair))
        for name, value in own.items():
            assert near(row[name], value), name
        for name in ("n", "e", "prr", "ror"):
            for end in ("known", "lower", "upper"):
                if row[f"{name}_{end}"] is not None or name in ("n", "e"):
                    assert near(row[f"{name}_{end}"], own[name]), (name, end)
        assert row["signal_prr"] == ("holds" if (own["prr_low"] or 0) > 1 else "does not")
        assert row["signal_ror"] == ("holds" if (own["ror_low"] or 0) > 1 else "does not")


def test_the_bounds_of_one_stratum_are_reached(sql: Any) -> None:
    """PRR is largest where a is and b is least, and so on; one stratum is the crude table."""
    bounds = ", ".join(f"{x}_{end} BIGINT" for end in ("lower", "upper") for x in "abcd")
    low, high = (4, 10, 7, 300), (6, 12, 9, 330)
    name = sql.table("one", f"{TABLE}, {bounds}", [("P", "X", 1, 5, 11, 8, 315, *low, *high)])
    (row,) = sql.records(f"FROM srsql.mantel_haenszel_bounds({name})")
    (a0, b0, c0, d0), (a1, b1, c1, d1) = low, high
    assert row["prr_lower"] == pytest.approx(a0 * (c1 + d0) / (c1 * (a0 + b1)))
    assert row["prr_upper"] == pytest.approx(a1 * (c0 + d1) / (c0 * (a1 + b0)))
    assert row["ror_lower"] == pytest.approx(a0 * d0 / (b1 * c1))
    assert row["ror_upper"] == pytest.approx(a1 * d1 / (b0 * c0))


REPORTS = [
    ("B", "1", "F2"), ("A", "1", "M1"), ("B", "2", "M1"), ("A", "1", "M1"), ("A", "1", "F1"),
    ("A", "1", "F1"), ("A", "2", "F1"), ("A", "2", "F1"), ("A", "1", "M2"), ("A", "2", "M1"),
    ("A", "2", "M1"), ("B", "2", "M2"), ("B", "1", "M1"), ("B", "2", "M1"), ("B", "1", "M1"),
    ("B", "2", "F1"), ("C", "1", "M1"),
]  # fmt: skip
PUBLISHED = {
    ("A", "1"): (5, 4.3222222), ("A", "2"): (4, 4.6777778), ("B", "1"): (3, 4.1222222),
    ("B", "2"): (4, 2.8777778), ("C", "1"): (1, 0.5555556),
}  # fmt: skip
"""N and E of processRaw(stratify = TRUE) in the vignette "Processing Raw Data with openEBGM",
2023-09-14, of the seventeen reports that it prints."""


def test_expected_cases_over_strata_are_those_that_openebgm_publishes(sql: Any) -> None:
    strata = {label: number + 1 for number, label in enumerate(sorted({r[2] for r in REPORTS}))}
    inputs = ", ".join(
        (
            sql.table(
                "weights",
                "stratum INTEGER, case_id BIGINT, expected DECIMAL(18, 12)",
                [(strata[label], n, 1) for n, (_, _, label) in enumerate(REPORTS)],
            ),
            sql.table(
                "drugs", "case_id BIGINT, drug VARCHAR",
                [(n, drug) for n, (drug, _, _) in enumerate(REPORTS)],
            ),
            sql.table(
                "reactions", "case_id BIGINT, reaction VARCHAR",
                [(n, reaction) for n, (_, reaction, _) in enumerate(REPORTS)],
            ),
        )
    )  # fmt: skip
    rows = sql.rows(f"FROM srsql.observed_in_strata({inputs})")
    assert {row[:2] for row in rows} == set(PUBLISHED)
    for drug, reaction, n, e in rows:
        assert (n, e) == pytest.approx(PUBLISHED[drug, reaction], abs=5e-8)


def test_cases_that_rows_may_hide_move_the_ends_and_nothing_that_is_known_grows(sql: Any) -> None:
    ends = ("lower", "upper", "known")
    columns = TABLE + "".join(f", {x}_{end} BIGINT" for end in ends for x in "abcd")
    row = ("P", "X", 1, 2.0, 5.0, 3.0, 40.0, *(2, 5, 3, 40) * 3)
    name = sql.table("shown", columns, [row])
    (found,) = sql.records(f"FROM srsql.with_suppressed({name}, 4, 0)")
    assert [found[f"{x}_upper"] for x in "abcd"] == [6, 5, 7, 40]
    assert [found[f"{x}_lower"] for x in "abcd"] == [2, 1, 3, 36]
    assert [found[f"{x}_known"] for x in "abcd"] == [2, 1, 3, 36]
    (found,) = sql.records(f"FROM srsql.with_suppressed({name}, 7, 4)")
    # 5 of b and 3 of c may be of a, and of d one who lacks both
    assert [found[f"{x}_upper"] for x in "abcd"] == [2 + 5 + 3 + 1, 5 + 4, 3 + 7, 40]
    assert [found[f"{x}_lower"] for x in "abcd"] == [2, 0, 0, 40 - 7 - 4]
    assert [found[f"{x}_known"] for x in "abcd"] == [2, 0, 0, 40 - 7 - 4]


def test_steps_end_at_the_extreme_ratio_of_any_corners(sql: Any) -> None:
    corners = [[(1.0, 2.0), (3.0, 1.0)], [(0.5, 4.0), (6.0, 5.0), (2.0, 0.25)]]
    ratios = [sum(x[0] for x in chosen) / sum(x[1] for x in chosen) for chosen in product(*corners)]
    listed = [[{"num": num, "den": den} for num, den in each] for each in corners]
    kind = "STRUCT(num DOUBLE, den DOUBLE)[][]"
    for sign, extreme in ((1, min(ratios)), (-1, max(ratios))):
        ((found, at),) = sql.rows(
            f"SELECT srsql.extreme_ratio(c.corners, 1.0::DOUBLE, {sign}), srsql.ratio_of_sums("
            f"srsql.extreme_corners(c.corners, {extreme!r}::DOUBLE, {sign}), NULL) "
            f"FROM (SELECT ?::{kind} AS corners) AS c",
            [listed],
        )
        assert found == at == pytest.approx(extreme)


def test_strata_have_everybody_once_and_stop_at_the_condition() -> None:
    faers = load_dataset("faers")
    by, bands = read_strata(["sex", "age", "period"], ["18", "65"])
    counting = Counting(strata=by, bands=bands)
    found = parted(faers, counting, Condition(min_age=Decimal(30)), ("2011Q1", "2011Q2"))
    # nobody from 30 is below 18: two sexes, two bands, two periods
    assert len(found.strata) == 8
    ages = {(i.low, i.high) for s in found.strata for i in s.intervals if i.domain == (0, 120)}
    assert ages == {(30, 64), (65, 2**40)}
    assert {s.quarter for s in found.strata} == {"2011Q1", "2011Q2"}
    assert found.whole.quarter is None
    usual = parted(faers, Counting(strata=("age",)), Condition(), ("2011Q1",))
    assert [s.intervals[0].low for s in usual.strata][1:] == [2, 6, 13, 19, 25, 45, 65, 80]


@pytest.mark.parametrize(
    ("by", "bands", "told"),
    [
        (["weight"], None, "some of sex, age, period"),
        (["sex", "sex"], None, "names one twice"),
        (["sex"], ["18"], "bands of --strata age"),
        (["age"], ["65", "18"], "rising ages"),
        (["age"], ["old"], "rising ages"),
    ],
)
def test_what_no_strata_can_be_made_of_is_refused(
    by: list[str], bands: list[str] | None, told: str
) -> None:
    with pytest.raises(SignalError, match=told):
        read_strata(by, bands)


def test_bands_between_the_steps_of_ages_and_without_groups_are_refused() -> None:
    faers, vaers = load_dataset("faers"), load_dataset("vaers")
    with pytest.raises(SignalError, match="steps of 1"):
        parted(faers, Counting(strata=("age",), bands=(Decimal("17.5"),)), Condition(), ("Q",))
    if not vaers.groups:
        with pytest.raises(SignalError, match="no groups of age"):
            parted(vaers, Counting(strata=("age",)), Condition(), ("Q",))
