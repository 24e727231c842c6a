"""Decisions can be cited: each has a number of its own that stays, and a date."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "decisions.md"
DECISION = re.compile(r"^\* D(\d+), (\d{4}-\d{2}-\d{2})\. \S")


def test_every_decision_has_a_number_of_its_own_and_a_date() -> None:
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line[:2] == "* "]
    found = [DECISION.match(line) for line in lines]
    without = [line for line, match in zip(lines, found, strict=True) if match is None]
    assert without == []
    numbers = sorted(int(match[1]) for match in found if match)
    assert numbers == list(range(1, len(lines) + 1))
    assert all(date.fromisoformat(match[2]) for match in found if match)
