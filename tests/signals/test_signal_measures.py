"""Signals: contingency tables, measures and bias, against the definitions in plain Python."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from oracles.examples import REPEATABLE
from oracles.signals import Case, Condition, contingency, measures

from srsql.udfs.shrinkage import Prior, posterior

TABLE = "drug VARCHAR, reaction VARCHAR, a DOUBLE, b DOUBLE, c DOUBLE, d DOUBLE"
DRUGS, REACTIONS = ("P", "Q", "R"), ("X", "Y", "Z")

CRITERIA: dict[str, tuple[str, float, Any]] = {
    "signal_prr": ("prr_low", 1, lambda _, w: (w["prr_low"] or 0) > 1),
    "signal_mhra": (
        "chi2", 4, lambda a, w: a >= 3 and (w["prr"] or 0) >= 2 and (w["chi2"] or 0) >= 4
    ),
    "signal_ror": ("ror_low", 1, lambda _, w: (w["ror_low"] or 0) > 1),
    "signal_ic": ("ic_low", 0, lambda _, w: w["ic_low"] is not None and w["ic_low"] > 0),
}  # fmt: skip
"""Criterion -> what decides it near which limit, and whether a world meets it."""
small = st.integers(0, 6) | st.integers(0, 60)
cells = st.integers(0, 4) | st.integers(0, 10**6)
intervals = st.tuples(st.integers(0, 9), st.integers(0, 9)).map(lambda p: (min(p), max(p)))
cases = st.lists(
    st.builds(
        Case,
        st.frozensets(st.sampled_from(DRUGS)),
        st.frozensets(st.sampled_from(REACTIONS)),
        st.fixed_dictionaries({0: st.none() | intervals, 1: st.none() | intervals}),
    ),
    max_size=25,
)
conditions = st.dictionaries(
    st.integers(0, 1),
    st.builds(Condition, st.tuples(st.integers(-3, 12), st.integers(-3, 12)), st.just((0, 9))),
)


def measured(sql: Any, *rows: tuple[float, float, float, float]) -> list[dict[str, Any]]:
    named = [(f"D{i}", "R", *map(float, row)) for i, row in enumerate(rows)]
    name = sql.table("tables", TABLE, named)
    return list(sql.records(f"FROM srsql.signal_measures({name}) ORDER BY drug"))


def close(found: dict[str, Any], expected: dict[str, float | None]) -> None:
    for name, value in expected.items():
        wanted = None if value is None else pytest.approx(value, rel=1e-9, abs=1e-9)
        assert found[name] == wanted, name


@pytest.mark.slow
@REPEATABLE
@given(rows=st.lists(st.tuples(cells, cells, cells, cells), min_size=1, max_size=6))
@example(rows=[(0, 0, 0, 0), (1, 0, 0, 0), (0, 1, 1, 0), (3, 0, 5, 9), (3, 5, 0, 9), (2, 2, 2, 2)])
def test_every_measure_is_what_its_definition_says_and_null_where_it_is_undefined(
    sql: Any, rows: list[tuple[int, int, int, int]]
) -> None:
    for row, found in zip(rows, measured(sql, *rows), strict=True):
        close(found, measures(*row))


@pytest.mark.parametrize(
    ("row", "met"),
    [
        ((10, 190, 100, 9700), {"signal_prr", "signal_mhra", "signal_ror", "signal_ic"}),
        ((2, 8, 100, 9800), {"signal_prr", "signal_ror", "signal_ic"}),
        ((10, 990, 100, 9800), set()),
        ((3, 0, 0, 50), {"signal_ic"}),
    ],
)
def test_the_criteria_are_those_of_table_2(
    sql: Any, row: tuple[int, int, int, int], met: set[str]
) -> None:
    (found,) = measured(sql, row)
    assert {name for name, value in found.items() if name.startswith("signal_") and value} == met


@pytest.mark.slow
@REPEATABLE
@given(listed=cases, asked=conditions)
def test_each_cell_counts_cases_surely_expectedly_and_possibly(
    sql: Any, listed: list[Case], asked: dict[int, Condition]
) -> None:
    tables = store(sql, listed, asked)
    sql.con.execute(
        "CREATE OR REPLACE TEMP TABLE weights AS FROM srsql.signal_weights("
        f"{tables['cases']}, {tables['boxes']}, {tables['conditions']})"
    )
    names = f"'temp.main.weights', {tables['drugs']}, {tables['reactions']}"
    rows = sql.records(f"FROM srsql.contingency({names}, {tables['pairs']})")
    assert len(rows) == len(DRUGS) * len(REACTIONS)
    asking = set(asked)
    missing = [any(case.boxes[p] is None for p in asking) for case in listed]
    assert sql.rows("SELECT w.missing FROM temp.main.weights AS w ORDER BY w.case_id") == [
        (each,) for each in missing
    ]
    frequent = set()
    for row in rows:
        table = contingency(listed, row["drug"], row["reaction"], asked)
        for cell, (lower, expected, upper) in table.items():
            assert (row[f"{cell}_lower"], row[f"{cell}_upper"]) == (lower, upper)
            assert row[f"{cell}_known"] == lower <= row[cell] + 1e-9
            assert row[cell] == pytest.approx(float(expected), abs=1e-9)
        if table["a"][2] >= 3:
            frequent.add((row["drug"], row["reaction"], table["a"][0] >= 3))
    assert set(sql.rows(f"FROM srsql.signal_pairs({names}, 3)")) == frequent


def store(sql: Any, listed: list[Case], asked: dict[int, Condition]) -> dict[str, str]:
    numbered = list(enumerate(listed))
    return {
        "cases": sql.table("cases", "case_id BIGINT", [(n,) for n, _ in numbered]),
        "boxes": sql.table(
            "boxes",
            "case_id BIGINT, position INTEGER, low BIGINT, high BIGINT",
            [(n, p, *(b or (None, None))) for n, case in numbered for p, b in case.boxes.items()],
        ),
        "conditions": sql.table(
            "conditions",
            "position INTEGER, low BIGINT, high BIGINT, domain_low BIGINT, domain_high BIGINT",
            [(p, *c.asked, *c.domain) for p, c in asked.items()],
        ),
        "drugs": sql.table(
            "drugs",
            "case_id BIGINT, drug VARCHAR",
            [(n, drug) for n, case in numbered for drug in case.drugs],
        ),
        "reactions": sql.table(
            "reactions",
            "case_id BIGINT, reaction VARCHAR",
            [(n, reaction) for n, case in numbered for reaction in case.reactions],
        ),
        "pairs": sql.table(
            "pairs", "drug VARCHAR, reaction VARCHAR", [(d, r) for d in DRUGS for r in REACTIONS]
        ),
    }


@pytest.mark.slow
@REPEATABLE
@given(
    boxes=st.lists(st.tuples(*[st.tuples(small, st.integers(0, 2))] * 4), min_size=1, max_size=12)
)
@example(boxes=[((9, 1), (1, 2), (2, 0), (90, 3)), ((3, 0), (0, 1), (1, 1), (40, 0))])
def test_a_criterion_holds_only_where_it_holds_of_every_whole_number_between_the_bounds(
    sql: Any, boxes: list[tuple[tuple[int, int], ...]]
) -> None:
    found = judged(sql, boxes)
    for box, row in zip(boxes, found, strict=True):
        worlds = [
            measures(*world)
            for world in itertools.product(*(range(low, low + width + 1) for low, width in box))
        ]
        for name, (value, limit, met) in CRITERIA.items():
            if any(world[value] is not None and abs(world[value] - limit) < 1e-9  # type: ignore[operator]
                   for world in worlds):  # fmt: skip
                continue  # rounding may decide
            truths = {
                met(a, world)
                for a, world in zip(
                    (w[0] for w in itertools.product(
                        *(range(low, low + width + 1) for low, width in box))),
                    worlds,
                    strict=True,
                )
            }  # fmt: skip
            if row[name] == "holds":
                assert truths == {True}, (name, box)
            elif row[name] == "does not":
                assert truths == {False}, (name, box)
            else:
                assert row[name] == "undecided"
                assert any(width for _, width in box)


def test_clear_cases_are_decided_and_a_fraction_never_is(sql: Any) -> None:
    strong, weak, few, exact = judged(
        sql,
        [
            ((20, 2), (5, 2), (30, 5), (900, 9)),
            ((3, 2), (50, 9), (300, 5), (900, 9)),
            ((2, 1), (1, 0), (1, 0), (900, 0)),
            ((10, 0), (190, 0), (100, 0), (9700, 0)),
        ],
    )
    names = ["signal_prr", "signal_mhra", "signal_ror", "signal_ic"]
    assert [strong[name] for name in names] == ["holds"] * 4
    assert [weak[name] for name in names] == ["does not"] * 4
    assert few["signal_mhra"] == "undecided"  # a is 2 or 3, and never 2.9
    assert [exact[name] for name in names] == ["holds"] * 4
    assert strong["signal_eb05"] is None


@pytest.mark.parametrize("seed", range(3))
def test_eb05_holds_only_where_it_does_of_every_whole_number_under_the_fitted_prior(
    sql: Any, seed: int
) -> None:
    luck = random.Random(seed)
    prior = Prior(*(luck.uniform(0.1, 6) for _ in range(4)), luck.uniform(0.05, 0.95))
    boxes = [
        tuple((luck.randint(0, top), luck.randint(0, 2)) for top in (25, 20, 20, 300))
        for _ in range(60)
    ]
    outcomes = set()
    for box, row in zip(boxes, judged(sql, boxes, prior), strict=True):
        worlds = np.array(
            list(itertools.product(*(range(low, low + width + 1) for low, width in box))), float
        )
        a, b, c, d = worlds.T
        expected = (a + b) * (a + c) / (a + b + c + d)
        defined = expected > 0
        if not defined.all():
            continue
        eb05 = posterior(a, expected, prior)[1]
        if np.abs(eb05 - 2).min() < 1e-9:
            continue  # rounding may decide
        truths = {bool(each) for each in eb05 >= 2}
        if row["signal_eb05"] == "undecided":
            assert any(width for _, width in box)
        else:
            assert truths == {row["signal_eb05"] == "holds"}, box
        outcomes.add(row["signal_eb05"])
    assert outcomes == {"holds", "does not", "undecided"}


def judged(
    sql: Any, boxes: Sequence[tuple[tuple[int, int], ...]], fitted: Prior | None = None
) -> list[dict[str, Any]]:
    """The verdicts on tables whose cells are only known to lie between bounds."""
    rows = [
        (f"D{n:03}", "R", *(low + width / 3 for low, width in box), *(low for low, _ in box),
         *(low + width for low, width in box))
        for n, box in enumerate(boxes)
    ]  # fmt: skip
    bounds = ", ".join(f"{x}_{end} BIGINT" for end in ("lower", "upper") for x in "abcd")
    name = sql.table("tables", f"{TABLE}, {bounds}", rows)
    prior = "STRUCT(alpha1 DOUBLE, beta1 DOUBLE, alpha2 DOUBLE, beta2 DOUBLE, p DOUBLE)"
    sql.con.execute(
        f"CREATE OR REPLACE TEMP TABLE prior AS SELECT $prior::{prior} AS prior",
        {"prior": fitted and fitted._asdict()},
    )
    sql.con.execute(
        "CREATE OR REPLACE TEMP TABLE shrunk AS "
        f"WITH ratio AS MATERIALIZED (FROM srsql.signal_measures({name})) "
        "FROM srsql.shrunk_measures('ratio', 'temp.main.prior')"
    )
    verdicts = "srsql.signal_verdicts('temp.main.shrunk', 'temp.main.prior')"
    return list(sql.records(f"FROM {verdicts} ORDER BY drug"))


def test_bias_is_a_ratio_of_ratios_and_a_difference_of_logarithms(sql: Any) -> None:
    before, after = [(4, 6, 10, 80), (3, 0, 0, 9)], [(5, 5, 10, 80), (3, 1, 1, 9)]
    for side, rows in (("original", before), ("released", after)):
        measured(sql, *rows)
        sql.con.execute(
            f"CREATE OR REPLACE TEMP TABLE {side} AS SELECT m.*, 2 * m.a AS ebgm "
            "FROM srsql.signal_measures('temp.main.tables') AS m"
        )
    sql.con.execute(
        "CREATE OR REPLACE TEMP TABLE bias AS "
        "FROM srsql.signal_bias('temp.main.original', 'temp.main.released')"
    )
    first, second = sql.records("FROM temp.main.bias ORDER BY drug")
    old, new = measures(*before[0]), measures(*after[0])
    assert (first["a_bias"], first["ebgm_bias"]) == (1.25, 1.25)
    assert first["prr_bias"] == pytest.approx((new["prr"] or 0) / (old["prr"] or 1))
    assert first["ic_shift"] == pytest.approx((new["ic"] or 0) - (old["ic"] or 0))
    assert (second["a_bias"], second["prr_bias"], second["ror_bias"]) == (1, None, None)
    counts = {
        row["measure"]: row["pairs"]
        for row in sql.records("FROM srsql.signal_bias_quantiles('temp.main.bias')")
    }
    assert counts == {
        "a_bias": 2, "prr_bias": 1, "ror_bias": 1, "ebgm_bias": 2,
        "ic_shift": 2, "ic_shrunk_shift": 2,
    }  # fmt: skip


@pytest.mark.parametrize("row", [(122, 1320, 381, 31341), (5, 20, 30, 400), (40, 3, 2, 77)])
def test_scipy_agrees_on_prr_ror_and_chi2(sql: Any, row: tuple[int, int, int, int]) -> None:
    contingency_tables = pytest.importorskip("scipy.stats.contingency", reason="no scipy here")
    a, b, c, d = row
    (found,) = measured(sql, row)
    prr = contingency_tables.relative_risk(a, a + b, c, c + d)
    ror = contingency_tables.odds_ratio([[a, b], [c, d]], kind="sample")
    for name, theirs in (("prr", prr.relative_risk), ("ror", ror.statistic)):
        assert found[name] == pytest.approx(theirs, rel=1e-9)
    for name, theirs in (("prr", prr), ("ror", ror)):
        interval = theirs.confidence_interval(confidence_level=0.95)
        assert found[f"{name}_low"] == pytest.approx(interval.low, rel=1e-9)
        assert found[f"{name}_high"] == pytest.approx(interval.high, rel=1e-9)
    chi2 = contingency_tables.chi2_contingency([[a, b], [c, d]], correction=True)
    assert found["chi2"] == pytest.approx(chi2.statistic, rel=1e-9)
