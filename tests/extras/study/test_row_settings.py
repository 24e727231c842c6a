"""How whole rows are taken apart: what is measured, which way is recommended, where it is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.advice import OPTIONS, advice, rows_advice
from support.pages import Page

from srsql.engine.api.engine import Engine
from srsql.engine.console.study import row_lines, row_setting_rows
from srsql.engine.extras.study.advise_page import page, table_of_rows
from srsql.engine.extras.study.compare_page import draw_rows
from srsql.engine.extras.study.row_settings import (
    RowSetting,
    judge_rows,
    kept_pairs,
    pair_rows,
    recommend_rows,
    row_setting,
    rows_reason,
)
from srsql.engine.extras.study.settings import Setting, Sweep, row_cells
from srsql.engine.extras.study.worker import row_figures
from srsql.schemas import load_dataset

APART = {"k": 5, "term_cases": 20, "m": 2}


def table(prr: float, a: float, chi2: float, eb05: float | None) -> Any:
    return SimpleNamespace(prr=prr, a=a, chi2=chi2, eb05=eb05)


def made(
    cases: int | None, m: int | None, kept: int, below: float = 0.0, **more: Any
) -> RowSetting:
    found = RowSetting(f"{cases} {m}", 5, cases, m, below_k=below, mhra_before=10, mhra_kept=kept,
                       mhra_others=0, looked_at=99)  # fmt: skip
    return replace(found, **more)


def test_signals_are_judged_at_expected_counts() -> None:
    holds, fails = table(2.5, 4, 5, 2.1), table(2.5, 2.9, 5, None)
    pairs: Any = [
        SimpleNamespace(original=one, released=other, bias=None)
        for one, other in ((holds, holds), (holds, fails), (fails, holds), (fails, fails))
    ]
    for criterion in ("mhra", "eb05"):
        found = kept_pairs(pairs, criterion)
        assert (found.before, found.kept, found.others) == (2, 1, 1)
    one = row_setting(APART, list(pair_rows(pairs)))
    assert (one.mhra_before, one.mhra_kept, one.mhra_others) == (2, 1, 1)
    assert (one.signals_kept, one.a_ratio) == (0.5, None)


def test_ratios_are_medians_over_the_pairs_that_have_one() -> None:
    pairs: Any = [
        SimpleNamespace(original=None, released=None, bias=SimpleNamespace(a_bias=a, prr_bias=prr))
        for a, prr in ((0.5, None), (0.7, 0.1), (0.9, 0.3))
    ]
    one = row_setting(APART, list(pair_rows(pairs)))
    assert (one.a_ratio, one.prr_ratio) == (0.7, pytest.approx(0.2))


def test_a_release_that_is_refused_is_a_setting_with_the_reason() -> None:
    refused = row_setting(APART, [{"measure": "release", "error": "no"}])
    assert (refused.error, refused.below_k) == ("no", None)
    assert row_setting(APART, [], "the worker failed").error == "the worker failed"
    # a metric that cannot be told is no reason to leave the setting out
    assert row_setting(APART, [{"measure": "are", "error": "x"}]).error is None


@pytest.mark.parametrize(
    ("found", "bound", "best"),
    [
        ([made(None, None, 10, 0.97), made(10, 1, 4), made(20, 1, 6)], 0.0, 2),
        ([made(None, None, 10, 0.97), made(10, 1, 4), made(20, 1, 6)], 1.0, 0),
        ([made(10, 1, 4, 0.02), made(20, 1, 3, 0.01)], 0.01, 1),
        ([made(10, 1, 4, 0.02), made(20, 1, 3, 0.01)], 0.0, None),
        ([made(10, 1, 4, mhra_others=2), made(10, 2, 4, mhra_others=1)], 0.0, 1),
        ([made(10, 1, 4, are_w1=0.3), made(20, 1, 4, are_w1=0.2)], 0.0, 1),
        ([made(10, 1, 4), made(10, 2, 4)], 0.0, 1),
        ([made(10, 1, 9, below_k=None), made(20, 2, 4)], 0.0, 1),
    ],
)
def test_recommended_is_what_keeps_most_signals_of_those_within_the_bound(
    found: list[RowSetting], bound: float, best: int | None
) -> None:
    judged = judge_rows(found, bound)
    keeping = recommend_rows(judged)
    assert (keeping[0].label if keeping else None) == (None if best is None else found[best].label)
    reason = rows_reason(judged, bound)
    assert (found[best].label in reason) if best is not None else "No way" in reason


def test_where_nothing_is_a_signal_counts_of_items_decide() -> None:
    none = {"mhra_before": 0, "mhra_kept": 0}
    judged = judge_rows([made(10, 1, 0, are_w1=0.3, **none), made(20, 1, 0, are_w1=0.1, **none)], 0)
    assert recommend_rows(judged)[0].term_cases == 20
    assert "no pair is a signal, ARE W1 0.100" in rows_reason(judged, 0)


def test_settings_are_whole_rows_and_each_size_and_m_with_the_k_that_is_recommended() -> None:
    best = Setting("ppms++ k=4", "ppms++", 4, "0.4", None, "quarter", leftovers="suppress",
                   on_infeasible="suppress", refine="off")  # fmt: skip
    whole, *apart = (
        dict(cell.options) for cell in row_cells(Sweep(on_infeasible="suppress"), best)
    )
    assert "terms" not in whole
    assert {(o["term_cases"], o["m"]) for o in apart} == {
        (c, m) for c in (8, 16, 32) for m in (1, 2)
    }
    for options in (whole, *apart):
        assert (options["model"], options["k"], options["theta"]) == ("ms", 4, "0.4")
        assert (options["leftovers"], options["on_infeasible"]) == ("withhold", "withhold")
    assert not any(cell.refused for cell in row_cells(Sweep(), best))


@pytest.mark.thorough
def test_figures_are_those_of_the_real_release(db: Path) -> None:
    options: Mapping[str, Any] = OPTIONS | {"model": "ms", "k": 3}
    apart = options | {"terms": "disassociate", "term_attributes": "all", "term_cases": 6, "m": 1}
    with Engine(db) as engine:
        one = row_setting(apart, row_figures(engine, "2011Q4", dict(apart), lambda _: None))
        told = {
            (row.measure, row.scope): row.ratio
            for row in engine.metrics("2011Q4", series="compared")
        }
        found = engine.signals(every_pair=True, quarter="2011Q4", series="compared", roles=["all"])
        whole = row_setting(options, row_figures(engine, "2011Q4", dict(options), lambda _: None))
    assert one.error is None
    two = "2 of the drugs or terms, worst"
    assert one.below_k == told["candidates_below_k", two] == 0
    assert one.follows == told.get(("certain_term", two))
    assert one.are_w2 == told["are", "W2 held, all"]
    kept = kept_pairs(found.signals, "mhra")
    assert (one.mhra_before, one.mhra_kept) == (kept.before, kept.kept)
    assert whole.below_k is not None
    assert whole.below_k > 0.5
    assert whole.mhra_kept == whole.mhra_before == one.mhra_before
    assert (whole.are_w2, whole.a_ratio) == (None, None if one.a_ratio is None else 1)


@pytest.mark.slow
def test_terminal_page_and_table_show_every_setting_and_the_command() -> None:
    found = rows_advice(advice())
    assert found.rows is not None
    shown = list(row_setting_rows(found))
    assert [row[0] for row in shown] == ["", "*", ""]
    assert shown[0][1] == "whole"
    lines = list(row_lines(found))
    assert any(line.startswith("not measured: ms k=5 term_cases=40 m=2: ") for line in lines)
    assert lines[-1] == "run: srsql release --term-cases 20 --series 'a b'"
    text = page(load_dataset("faers"), found)
    seen = Page(text)
    assert found.rows.reason in seen.within("rows-reason")
    assert len(seen.tables["rows-settings"].rows) == 3
    assert "srsql" in seen.within("rows-command")
    assert "term_cases=40 m=2" in text
    rows = table_of_rows(found).to_pylist()
    assert [row["recommended"] for row in rows] == [False, True, False, False]
    assert rows[1]["mhra_kept"] == 6


@pytest.mark.thorough
def test_the_figure_says_what_it_shows_and_is_the_same_for_the_same_settings() -> None:
    found = [made(None, None, 10, 0.97), made(10, 1, 4), made(20, 2, 6)]
    image = draw_rows(found)
    assert "whole rows, k = 5: MHRA 100%, below k 97%" in image.label
    assert image.svg_file() == draw_rows(found).svg_file()
    assert b"<script" not in image.svg_file()
    assert draw_rows([]).svg_file()
