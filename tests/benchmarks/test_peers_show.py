"""What the benchmark beside the peers prints of one run."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from support.peers import load

judge, show = load("judge"), load("show")
CONTEST: Any = SimpleNamespace(promise="k", k=5, l=1, alpha=1.0)


def outcome(seconds: float, loss: float, k: int, **changes: Any) -> Any:
    verdict = judge.Verdict(10, 9, 4, 2, 1, 0, loss, loss, loss, k, 2, 0.5)
    cost = {"seconds": seconds, "peak_mib": 100 * seconds}
    told = {"cost": cost, "verdict": verdict, "failed": "", "complete": ""}
    return SimpleNamespace(**(told | changes))


def test_a_row_has_ratios_to_the_first_and_marks_what_breaks_its_promise(
    capsys: pytest.CaptureFixture[str],
) -> None:
    first, other = outcome(2.0, 0.01, 5), outcome(1.0, 0.25, 4)
    show.outcome(CONTEST, "ours", first, first)
    show.outcome(CONTEST, "theirs", other, first)
    ours, theirs = (line.split() for line in capsys.readouterr().out.splitlines())
    assert ours[1:6] == ["2.00", "1.00", "200", "1.00", "0.0100"]
    assert theirs[1:7] == ["1.00", "0.50", "100", "0.50", "0.2500", "25"]
    assert (ours[-3], theirs[-3]) == ("5", "4!")
    assert "2/4" in theirs


def test_a_run_that_did_not_end_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    stopped = outcome(1.0, 0.0, 5, cost=None, verdict=None, failed="over 120 s")
    show.outcome(CONTEST, "theirs", stopped, outcome(1.0, 0.0, 5))
    assert capsys.readouterr().out.split() == ["theirs", "over", "120", "s"]
