"""The benchmark of buckets prints a line for each size, and one with the smallest one's buckets."""

from __future__ import annotations

import pytest
from support.benchmark import load

from srsql.engine.lake import lake

pytestmark = pytest.mark.thorough

buckets = load("buckets")


def test_a_tiny_run_prints_each_size(capsys: pytest.CaptureFixture[str]) -> None:
    kept = lake.BUCKETS
    buckets.command(["--cases", "200,800", "--bucket", "50"])
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert [row[:2] for row in rows] == [["200", "4"], ["800", "16"], ["800", "4"]]
    assert all(float(row[3]) > 50 for row in rows)
    assert kept == lake.BUCKETS
