"""A release that cases have left since it was made is stale, and every command says so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.command import srsql
from support.quarters import crowd, write_quarter

from srsql.engine.api.engine import Engine
from srsql.engine.errors import PublishError, ReleaseError

pytestmark = pytest.mark.thorough

OPTIONS: dict[str, Any] = {
    "model": "ms", "k": 3, "theta": "1", "seed": 1, "allow_linkable": True
}  # fmt: skip


@pytest.fixture
def stale(engine: Engine, tmp_path: Path) -> Engine:
    """2011Q3 is out; of its cases two were forgotten, one deleted, one changed, two are absent."""
    engine.ingest([write_quarter(tmp_path / "old", "2011Q3", crowd(40))])
    engine.release("2011Q3", **OPTIONS)
    assert engine.stale() == []
    new = [replace(r, age="99") if r.caseid == 5 else r for r in crowd(38)]
    engine.ingest([write_quarter(tmp_path / "new", "2011Q3", new, deleted=[6])], replace=True)
    engine.forget([1, 2], reason="asked for")
    return engine


COUNTS = {"absent": 2, "changed": 1, "deleted": 1, "forgotten": 2}
TOLD = "2 absent, 1 changed, 1 deleted, 2 forgotten"
LINE = f"2011Q3 in series main is stale ({TOLD}): run 'srsql correct --quarter 2011Q3'"


def test_status_tells_what_has_left_by_reason(stale: Engine) -> None:
    found = stale.status()
    assert [row["stale"] for row in found.releases] == [COUNTS]
    assert found.stale == [LINE]
    (one,) = stale.stale(quarter="2011Q3")
    assert (one.cases, one.command) == (COUNTS, "srsql correct --quarter 2011Q3")
    assert stale.stale(quarter="2011Q4") == []


def test_audit_metrics_and_the_internal_report_say_it_in_one_line(stale: Engine) -> None:
    db = stale.warehouse.path
    page = stale.report("2011Q3").html
    assert page.index("is stale (2 absent") < page.index("<nav")
    assert "is stale (2 absent" in stale.report().html
    stale.close()
    for command in (["audit", "--scope", "group"], ["metrics", "--quarter", "2011Q3"]):
        answer = srsql(*command, "--db", db)
        assert answer.err == f"warning: {LINE}\n"
    answer = srsql("status", "--db", db)
    assert LINE in answer.out
    assert TOLD in answer.out


def test_a_stale_release_is_published_on_request_alone(stale: Engine, tmp_path: Path) -> None:
    with pytest.raises(PublishError, match=r"is stale .* give --stale"):
        stale.publish("2011Q3", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    made = stale.publish("2011Q3", tmp_path / "out", stale=True)
    assert made.stale == LINE
    for file in (tmp_path / "out").iterdir():
        assert b"forgotten" not in file.read_bytes()
        assert b"is stale" not in file.read_bytes()


def test_a_stale_draft_is_not_exposed(engine: Engine, tmp_path: Path) -> None:
    engine.ingest([write_quarter(tmp_path, "2011Q3", crowd(40))])
    engine.release("2011Q3", **OPTIONS, draft=True)
    engine.con.execute("INSERT INTO srsql.deleted_case VALUES ('faers', '4', 1)")
    assert [each.status for each in engine.stale()] == ["draft"]
    with pytest.raises(ReleaseError, match="make the draft again"):
        engine.confirm("2011Q3")


def test_data_that_were_replaced_without_a_comparison_make_a_release_stale(
    engine: Engine, tmp_path: Path
) -> None:
    engine.ingest([write_quarter(tmp_path / "old", "2011Q3", crowd(40))])
    engine.release("2011Q3", **OPTIONS)
    engine.ingest([write_quarter(tmp_path / "new", "2011Q3", crowd(41))], replace=True)
    assert engine.stale() == []
    engine.con.execute("DELETE FROM srsql.compared_ingestion")  # as an earlier version left it
    (one,) = engine.stale()
    assert (one.cases, one.text) == ({"replaced": None}, "data replaced")
    assert one.command == "srsql correct --quarter 2011Q3"
