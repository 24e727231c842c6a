"""The benchmark of tasks tells each stage that has something carried, at each size."""

from __future__ import annotations

import pytest
from support.benchmark import load

from srsql.engine.grouping import parts
from srsql.engine.lake import lake

tasks = load("tasks")


@pytest.mark.thorough
def test_a_tiny_run_tells_buckets_parts_and_clusters(capsys: pytest.CaptureFixture[str]) -> None:
    kept = lake.BUCKETS, parts.LEAST
    tasks.command(["--cases", "400,1600", "--bucket", "100", "--part", "60"])
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert [row[:2] for row in rows] == [
        [cases, stage] for cases in ("400", "1600") for stage in ("cases", "grouping", "terms")
    ]
    assert [row[2] for row in rows if row[1] == "cases"] == ["4", "16"]
    assert all(int(row[2]) > 0 and float(row[4]) > 50 for row in rows)
    assert kept == (lake.BUCKETS, parts.LEAST)
