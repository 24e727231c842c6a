"""The frontier of whole rows: which releases it makes, and which signals it calls kept."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from support.benchmark import load

frontier = load("frontier")
HEAD, Kept, Setting = frontier.HEAD, frontier.Kept, frontier.Setting


def table(prr: float, a: float, chi2: float, eb05: float | None) -> Any:
    return SimpleNamespace(prr=prr, a=a, chi2=chi2, eb05=eb05)


def test_each_of_k_size_and_m_is_varied_around_the_middle() -> None:
    found = list(frontier.settings([3, 5, 10], [2, 4, 8], [1, 2, 3]))
    assert found[0] == Setting(5)
    assert "terms" not in found[0].options
    assert {(s.k, s.cases, s.m) for s in found[1:]} == {
        (3, 12, 2), (5, 20, 2), (10, 40, 2), (5, 10, 2), (5, 40, 2), (5, 20, 1), (5, 20, 3)
    }  # fmt: skip
    assert len(found) == 8


def test_signals_are_judged_at_expected_counts() -> None:
    holds, fails = table(2.5, 4, 5, 2.1), table(2.5, 2.9, 5, None)
    pairs: Any = [
        SimpleNamespace(original=one, released=other, bias=None)
        for one, other in ((holds, holds), (holds, fails), (fails, holds), (fails, fails))
    ]
    for criterion in ("mhra", "eb05"):
        assert Kept.of(pairs, criterion) == Kept(before=2, kept=1, others=1)
    row = list(frontier.cells(Setting(5, 20), pairs, {("are", "W1, 5 %"): 0.25}))
    assert len(row) == HEAD.count("|") - 2
    assert row[5:8] == ["1 of 2 (50%)", "1", "1 of 2 (50%)"]
    assert "0.250" in row
