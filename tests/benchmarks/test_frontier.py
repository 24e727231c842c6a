"""The frontier of whole rows: which releases it makes, and how it shows what they measure."""

from __future__ import annotations

from support.benchmark import load

from srsql.engine.extras.study.row_settings import row_setting

frontier = load("frontier")
HEAD, Setting = frontier.HEAD, frontier.Setting


def test_each_of_k_size_and_m_is_varied_around_the_middle() -> None:
    found = list(frontier.settings([3, 5, 10], [2, 4, 8], [1, 2, 3]))
    assert found[0] == Setting(5)
    assert "terms" not in found[0].options
    assert {(s.k, s.cases, s.m) for s in found[1:]} == {
        (3, 12, 2), (5, 20, 2), (10, 40, 2), (5, 10, 2), (5, 40, 2), (5, 20, 1), (5, 20, 3)
    }  # fmt: skip
    assert len(found) == 8


def test_a_grid_has_every_combination_and_whole_rows_of_each_k() -> None:
    found = list(frontier.settings([3, 5], [2, 4], [1, 2], grid=True))
    assert found[:2] == [Setting(3), Setting(5)]
    assert [(s.k, s.cases, s.m) for s in found[2:]] == [
        (3, 6, 1), (3, 6, 2), (3, 12, 1), (3, 12, 2), (5, 10, 1), (5, 10, 2), (5, 20, 1), (5, 20, 2)
    ]  # fmt: skip


def test_a_row_of_the_table_has_a_cell_for_each_column() -> None:
    rows = [
        {"measure": "are", "scope": "W1, 5 %", "ratio": 0.25},
        {"measure": "pairs_kept", "scope": "mhra", "violating": 1, "total": 2},
        {"measure": "pairs_gained", "scope": "mhra", "violating": 3},
    ]
    row = list(frontier.cells(row_setting(Setting(5, 20).options, rows)))
    assert len(row) == HEAD.count("|") - 1
    assert row[:3] == ["5", "20", "2"]
    assert row[5:7] == ["1 of 2 (50%)", "3"]
    assert "0.250" in row
    whole = list(frontier.cells(row_setting(Setting(5).options, [])))
    assert whole[:3] == ["5", "whole rows", ""]
