"""Omega: macros against the definition and every world of bounds; the call on both sides."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from oracles.examples import REPEATABLE
from oracles.interaction import NAMES, below, expected, omega, quantile
from oracles.signals import Case, Condition, weight
from support.quarters import side_effects, write_quarter

from srsql.engine.api.engine import Engine
from srsql.engine.console.field_signals import interaction_parts, interaction_table
from srsql.engine.errors import SignalError

COLUMNS = ", ".join(
    [f"{name} DOUBLE" for name in NAMES]
    + [f"{name}_{end} BIGINT" for end in ("lower", "upper") for name in NAMES]
)
counts = st.tuples(*[st.integers(0, 3) | st.integers(0, 40)] * 8)


def measured(sql: Any, lower: Any, upper: Any) -> dict[str, Any]:
    sql.table("tables", COLUMNS, [(*map(float, lower), *lower, *upper)])
    (row,) = sql.records("FROM srsql.interaction_measures('temp.main.tables')")
    return dict(row)


def near(found: float | None, value: float | None) -> bool:
    if found is None or value is None:
        return found is value
    return math.isclose(found, value, rel_tol=1e-8, abs_tol=1e-8)


@pytest.mark.slow
@REPEATABLE
@example((0, 0, 0, 5, 0, 5, 0, 5))
@example((3, 0, 2, 0, 0, 7, 1, 9))
@example((3, 1, 0, 0, 1, 7, 1, 9))
@given(counts)
def test_of_a_known_table_every_measure_is_what_its_definition_says(
    sql: Any, table: tuple[int, ...]
) -> None:
    row = measured(sql, table, table)
    own = omega(table)
    assert near(row["e111"], expected(table))
    for name in ("omega", "omega025", "omega975"):
        assert near(row[name], own and own[name]), name
    for name in ("omega", "omega025"):
        for end in ("known", "lower", "upper"):
            assert near(row[f"{name}_{end}"], own and own[name]), (name, end)
    assert row["signal_omega"] == ("holds" if own and own["omega025"] > 0 else "does not")


@pytest.mark.slow
@REPEATABLE
@given(counts, st.tuples(*[st.integers(0, 1)] * 8))
def test_what_any_table_between_the_bounds_makes_lies_between_the_bounds(
    sql: Any, lower: tuple[int, ...], more: tuple[int, ...]
) -> None:
    upper = [low + extra for low, extra in zip(lower, more, strict=True)]
    row = measured(sql, lower, upper)
    truths = set()
    for world in itertools.product(*map(lambda a, b: range(a, b + 1), lower, upper)):
        own = omega(world)
        truths.add(bool(own and own["omega025"] > 0))
        if own is None:
            continue
        e = expected(world)
        assert e is not None
        assert row["e111_lower"] - 1e-9 <= e <= row["e111_upper"] + 1e-9
        for name in ("omega", "omega025"):
            assert row[f"{name}_lower"] - 1e-9 <= own[name] <= row[f"{name}_upper"] + 1e-9
    if row["signal_omega"] != "undecided":
        assert truths == {row["signal_omega"] == "holds"}


def test_quantiles_are_those_of_the_gamma_distribution(sql: Any) -> None:
    found = sql.rows(
        "SELECT v.n, srsql.gamma_quantile(v.n + 0.5, 0.025::DOUBLE), "
        "srsql.gamma_quantile(v.n + 0.5, 0.975::DOUBLE), "
        "srsql.gamma_share(v.n + 0.5, ln(v.n + 1)), "
        "srsql.log_gamma_quantile(v.n + 0.5, 0.2::DOUBLE).low, "
        "srsql.gamma_bracket({'low': -9::DOUBLE, 'high': 9::DOUBLE}, v.n + 0.5, 0.025::DOUBLE) "
        "FROM (SELECT unnest([0, 1, 30])::DOUBLE AS n) AS v"
    )
    shares = []
    for n, low, high, share, log_fifth, bracket in found:
        assert low == pytest.approx(quantile(int(n), 0.025), rel=1e-9)
        assert high == pytest.approx(quantile(int(n), 0.975), rel=1e-9)
        assert share == pytest.approx(below(int(n), n + 1), rel=1e-9)
        assert math.exp(log_fifth) == pytest.approx(quantile(int(n), 0.2), rel=1e-9)
        half = {"low": -9, "high": 0} if quantile(int(n), 0.025) < 1 else {"low": 0, "high": 9}
        assert bracket == half
        shares.append(low / (n + 0.5))
    assert shares == sorted(shares)  # on which the bounds of omega025 rest
    odds = "srsql.reporting_odds(3::DOUBLE, 6::DOUBLE), srsql.reporting_odds(1::DOUBLE, 0::DOUBLE)"
    share = "srsql.share_without_interaction(0.5::DOUBLE, 1::DOUBLE, 0.25::DOUBLE)"
    (row,) = sql.rows(f"SELECT {odds}, srsql.reporting_odds(0::DOUBLE, 0::DOUBLE), {share}")
    assert row == (0.5, math.inf, 0, 0.5)  # 1 - 1 / (1 + 0.5 - 0.5 + 1)


boxes = st.none() | st.tuples(st.integers(0, 4), st.integers(0, 4)).map(lambda p: (min(p), max(p)))
cases = st.lists(
    st.builds(
        lambda drugs, reactions, box: Case(drugs, reactions, {0: box}),
        st.frozensets(st.sampled_from(("P", "Q", "R"))),
        st.frozensets(st.sampled_from(("X", "Y"))),
        boxes,
    ),
    max_size=20,
)


@pytest.mark.slow
@REPEATABLE
@given(cases, st.integers(0, 2), st.integers(0, 2))
def test_the_table_counts_the_cases_of_each_kind(
    sql: Any, told: list[Case], hidden: int, drugs: int
) -> None:
    condition = {0: Condition((1, 3), (0, 4))}
    weights = [weight(case, condition) for case in told]
    sql.table(
        "weights",
        "case_id BIGINT, lower BIGINT, expected DECIMAL(18, 12), upper BIGINT",
        [(n, low, float(share), high) for n, (low, share, high) in enumerate(weights)],
    )
    for what in ("drug", "reaction"):
        held = [(n, name) for n, case in enumerate(told) for name in getattr(case, f"{what}s")]
        sql.table(f"{what}s", f"case_id BIGINT, {what} VARCHAR", held)
    sql.table("triples", "drug VARCHAR, other VARCHAR, reaction VARCHAR", [("P", "Q", "X")])
    (row,) = sql.records(
        "FROM srsql.interaction_tables('temp.main.weights', 'temp.main.drugs', "
        f"'temp.main.reactions', 'temp.main.triples', {hidden}, 0)"
    )
    (wide,) = sql.records(
        "FROM srsql.interaction_tables('temp.main.weights', 'temp.main.drugs', "
        f"'temp.main.reactions', 'temp.main.triples', {hidden}, {drugs})"
    )
    assert drugs or wide == row
    for name in NAMES:
        assert wide[name] == row[name]
        assert wide[f"{name}_lower"] <= row[f"{name}_lower"]
        assert wide[f"{name}_upper"] >= row[f"{name}_upper"]
    for name in NAMES:
        wanted = tuple(digit == "1" for digit in name[1:])
        of = [
            own
            for case, own in zip(told, weights, strict=True)
            if ("P" in case.drugs, "Q" in case.drugs, "X" in case.reactions) == wanted
        ]
        without = [
            own[2]
            for case, own in zip(told, weights, strict=True)
            if ("P" in case.drugs, "Q" in case.drugs, "X" in case.reactions) == (*wanted[:2], False)
        ]
        lower, upper = sum(own[0] for own in of), sum(own[2] for own in of)
        if wanted[2]:
            upper += min(hidden, sum(without))
        else:
            lower = max(0, lower - hidden)
        assert row[name] == pytest.approx(float(sum(own[1] for own in of)), abs=1e-9)
        assert (row[f"{name}_lower"], row[f"{name}_upper"]) == (lower, upper)


@pytest.mark.thorough
def test_both_sides_have_the_measures_of_their_reports(tmp_path: Path) -> None:
    drugs, reactions = [f"Drug {name}" for name in "ABCD"], ["Bleeding", "Rash", "Pain"]
    reports = [*{r.caseid: r for r in side_effects(3, drugs, reactions)}.values()]
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q4", reports)])
        engine.release("2011Q4", k=3, theta="1", seed=1)
        found = engine.interaction("drug a", "Drug B", "bleeding", roles=["all"])
        table = dict.fromkeys(NAMES, 0)
        for report in reports:
            held = ("Drug A" in report.drugs, "Drug B" in report.drugs, "Bleeding" in report.pt)
            table["n" + "".join("01"[each] for each in held)] += 1
        own = omega([*table.values()])
        assert own is not None
        assert [each.data for each in found.measures] == ["original", "released"]
        for each in found.measures:
            assert {name: getattr(each, name) for name in NAMES} == table
            for name, value in own.items():
                assert getattr(each, name) == pytest.approx(value)
        near_40 = engine.interaction("drug a", "Drug B", "bleeding", roles=["all"], min_age=40)
        original, released = near_40.measures
        assert original.omega is not None
        assert released.omega_lower is not None
        assert released.omega_upper is not None
        assert released.omega_lower <= original.omega_upper  # type: ignore[operator]
        assert released.n111_lower <= original.n111 <= released.n111_upper
        titles = [part.title for part in interaction_parts(found) if not isinstance(part, str)]
        assert titles == ["interaction", "cases"]
        header, one, two = interaction_table(found)
        assert one[header.index("omega")] == two[header.index("omega")]
        with pytest.raises(SignalError, match="is the drug itself"):
            engine.interaction("Drug A", "drug a ", "bleeding")
