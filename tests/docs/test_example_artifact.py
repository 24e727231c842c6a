"""The artifact that ships as an example passes its checks and answers without a warehouse."""

from __future__ import annotations

from pathlib import Path

from support.command import srsql

from srsql import verify

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "demo-2011Q4"


def test_the_example_passes_every_check() -> None:
    assert verify(EXAMPLE).passed


def test_the_example_is_small() -> None:
    assert sum(path.stat().st_size for path in EXAMPLE.iterdir()) < 700_000


def test_counts_and_signals_come_from_the_example_alone() -> None:
    asked = "SELECT count(DISTINCT caseid) FROM demo WHERE age > 65"
    counted = srsql("query", "--artifact", EXAMPLE, asked)
    assert counted.code == 0
    assert "cases expected, surely" in counted.out.split("\n", 1)[0]
    listed = srsql("signals", "--artifact", EXAMPLE, "--all")
    assert listed.code == 0
