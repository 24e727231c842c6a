"""The likelihood-ratio test of a drug, against its definition and the chances of all tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.examples import REPEATABLE
from oracles.likelihood import chance_of_more, counts, log_ratio
from support.quarters import side_effects, write_quarter

from srsql.engine.api.engine import Engine
from srsql.engine.console.field_signals import likelihood_parts, likelihood_table
from srsql.engine.errors import SignalError
from srsql.engine.signals.likelihood import null_distribution

DRUGS, REACTIONS = ("P", "Q", "R"), ("X", "Y", "Z")
cases = st.lists(
    st.tuples(
        st.frozensets(st.sampled_from(DRUGS)),
        st.frozensets(st.sampled_from(REACTIONS)),
        st.integers(0, 1),
    ),
    max_size=25,
)


@pytest.mark.slow
@REPEATABLE
@given(cases)
def test_counts_and_ratios_are_those_of_the_definition(sql: Any, told: list[Any]) -> None:
    rows = [(n, known) for n, (_, _, known) in enumerate(told)]
    sql.table("weights", "case_id BIGINT, lower BIGINT", rows)
    for place, what in enumerate(("drug", "reaction")):
        held = [(n, name) for n, case in enumerate(told) for name in case[place]]
        sql.table(f"{what}s", f"case_id BIGINT, {what} VARCHAR", held)
    sql.table("wanted", "drug VARCHAR", [("P",), ("Q",)])
    sql.con.execute(
        "CREATE OR REPLACE TEMP TABLE counts AS FROM srsql.likelihood_counts("
        "'temp.main.weights', 'temp.main.drugs', 'temp.main.reactions', 'temp.main.wanted')"
    )
    found = sql.records("FROM srsql.likelihood_ratios('temp.main.counts')")
    table = counts([(drugs, reactions) for drugs, reactions, known in told if known])
    everything = sum(table.values())
    rows_of = {r: sum(n for (_, s), n in table.items() if s == r) for r in REACTIONS}
    assert {(row["drug"], row["reaction"]) for row in found} == {
        (drug, reaction) for drug in ("P", "Q") for reaction, n in rows_of.items() if n
    }
    for row in found:
        n = table.get((row["drug"], row["reaction"]), 0)
        column = sum(m for (d, _), m in table.items() if d == row["drug"])
        total = rows_of[row["reaction"]]
        assert (row["n"], row["n_reaction"], row["n_drug"], row["n_all"]) == (
            n, total, column, everything,
        )  # fmt: skip
        assert row["log_lr"] == pytest.approx(log_ratio(n, total, column, everything), abs=1e-9)
        e = total * column / everything
        poisson = n * np.log(n / e) - (n - e) if n > e else 0
        assert row["log_lr_poisson"] == pytest.approx(poisson, abs=1e-9)


def test_drawn_tables_exceed_a_ratio_as_often_as_all_tables_do() -> None:
    totals, column, draws = [2, 5, 13], 4, 20_000
    drawn = null_distribution(totals, column, draws, 7)
    for n, row in ((1, 2), (2, 2), (3, 5), (2, 5), (4, 13)):
        ratio = log_ratio(n, row, column, sum(totals))
        chance = chance_of_more(totals, column, ratio)
        share = np.count_nonzero(drawn >= ratio - 1e-9) / draws
        assert abs(share - chance) <= 4 * np.sqrt(chance * (1 - chance) / draws) + 1e-12
    assert (null_distribution(totals, column, draws, 7) == drawn).all()
    assert (null_distribution(totals, column, draws, 8) != drawn).any()
    assert null_distribution([], 0, 3, 1).tolist() == [0, 0, 0]


@pytest.mark.thorough
def test_a_side_effect_of_a_drug_is_found_in_both_data(tmp_path: Path) -> None:
    drugs, reactions = ["Drug A", "Drug B", "Drug C"], ["Bleeding", "Rash", "Pain", "Fever"]
    reports = [*{r.caseid: r for r in side_effects(5, drugs, reactions)}.values()]
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q4", reports)])
        engine.release("2011Q4", k=3, theta="1", seed=1)
        found = engine.likelihood("drug a", roles=["all"], draws=999, seed=3)
        first = found.reactions[0]
        assert first.reaction == "bleeding"
        table = counts([(frozenset(r.drugs), frozenset(r.pt)) for r in reports])
        row = sum(n for (_, reaction), n in table.items() if reaction == "Bleeding")
        column = sum(n for (drug, _), n in table.items() if drug == "Drug A")
        expected = log_ratio(table["Drug A", "Bleeding"], row, column, sum(table.values()))
        for own in (first.original, first.released):
            assert own is not None
            assert own.log_lr == pytest.approx(expected)
            assert own.signal == (own.p_value <= 0.05)
        assert [null.n_drug for null in found.nulls] == [column, column]
        assert engine.likelihood("drug a", roles=["all"], draws=999, seed=3) == found
        some = engine.likelihood("drug a", roles=["all"], draws=99, min_age=40)
        known = {each.reaction: each.released.n for each in some.reactions if each.released}
        signal = engine.signals(drug="drug a", reaction="bleeding", roles=["all"], min_age=40)
        assert known["bleeding"] == signal.signals[0].released.a_known
        assert len([*likelihood_table(found)]) == 1 + 2 * len(found.reactions)
        assert any("once in 20" in part for part in likelihood_parts(found) if type(part) is str)
        with pytest.raises(SignalError, match="--draws 5: give a whole number from 99"):
            engine.likelihood("drug a", draws=5)
        with pytest.raises(SignalError, match="no case has the drug 'drug z'"):
            engine.likelihood("drug z")
