"""The page on the papers' figures has the commands and verdicts that stand beside their claims."""

from pathlib import Path

import pytest
from support.benchmark import load

MADE = {"model": "ms", "scope": "release", "quarter": "2011Q4", "threshold_policy": "uniform"}


@pytest.mark.parametrize("name", ["grids", "verdicts"])
def test_the_page_has_what_stands_beside_the_claims(name: str) -> None:
    builder = load("papers.table")
    text = builder.PAGE.read_text(encoding="utf-8")
    assert text.count(builder.BEGIN.format(name)) == text.count(builder.END.format(name)) == 1
    assert builder.page(text) == text


def test_a_verdict_is_kept_by_data_and_claim(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = load("papers.recorded")
    monkeypatch.setattr(recorded, "FILE", tmp_path / "verdicts.toml")
    measured = {"measure": "nil", "theta": "0.2", "k": 5}
    rows = [
        MADE | measured | {"model": "ms", "ratio": 0.3},
        MADE | measured | {"model": "k-anonymity", "ratio": 0.2},
        MADE | measured | {"model": "xy-anonymity", "ratio": 0.4},
    ]
    assert recorded.keep("one", rows) == recorded.keep('two, "quoted"', rows[:2]) + 1
    claim = "k-anonymity-nil-below-ms"
    kept = recorded.kept()
    assert kept["one"][claim] == "does not hold (1 of 2)"
    assert kept["two, 'quoted'"][claim] == "holds (1 of 1)"
    recorded.keep("one", rows[:2])
    dotted = {each.id: "holds (1 of 1)" for each in recorded.CLAIMS if "." in each.id}
    assert dotted
    recorded.FILE.write_text(recorded._text(recorded.kept() | {"dots": dotted}))
    assert recorded.kept()["dots"] == dotted
    assert recorded.kept()["one"][claim] == "holds (1 of 1)"
    assert "k-anonymity-nil-like-xy-anonymity" in recorded.kept()["one"]  # of the table before
    (line,) = [each for each in recorded.table().splitlines() if "lose less than MS-b" in each]
    assert line.endswith("| holds (1 of 1) | holds (1 of 1) |  |")
