"""The weeks of a year hold the reports of its quarters, each once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from srsql.engine.extras.synth import SynthError, quarter_range, synthesize


def content(folder: Path) -> dict[str, Counter[str]]:
    """Table -> its lines, of all archives together, headers aside."""
    found: dict[str, Counter[str]] = {}
    for file in sorted(folder.rglob("*.txt")):
        lines = file.read_text().splitlines()
        header = 0 if file.parent.name == "deleted" else 1
        found.setdefault(file.name[:4].lower(), Counter()).update(lines[header:])
    return found


@pytest.mark.thorough
def test_a_year_of_weeks_has_the_lines_of_its_quarters(tmp_path: Path) -> None:
    for name, ends in (("quarters", ("2024Q1", "2024Q4")), ("weeks", ("2024W01", "2024W52"))):
        synthesize(tmp_path / name, quarter_range(*ends), cases=120, seed=3, zipped=False)
    quarters, weeks = content(tmp_path / "quarters"), content(tmp_path / "weeks")
    assert weeks == quarters
    assert len(quarters["demo"]) == quarters["demo"].total() > 480
    received = {
        line.split("$")[7]
        for file in (tmp_path / "weeks" / "faers_ascii_2024w07").rglob("DEMO*.txt")
        for line in file.read_text().splitlines()[1:]
    }
    assert received <= {f"202402{day}" for day in range(12, 19)}
    assert received


def test_a_week_is_the_same_whatever_is_asked_for_beside_it(tmp_path: Path) -> None:
    (alone,) = synthesize(tmp_path / "one", ["2024W14"], cases=60, seed=3)
    many = synthesize(tmp_path / "more", quarter_range("2024W12", "2024W15"), cases=60, seed=3)
    assert alone.name == "faers_ascii_2024w14.zip"
    assert alone.read_bytes() == many[2].read_bytes()


def test_a_week_in_two_layouts_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(SynthError, match="lies in 2014Q2 and 2014Q3"):
        synthesize(tmp_path, ["2014W27"], cases=60)
