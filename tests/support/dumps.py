"""Dumps of a cumulative source of small quarters, and what became of the cases in them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from support.quarters import Report, write_quarter

from srsql.engine.api.engine import Engine
from srsql.engine.ingest.account import Compared

Q1, Q2, Q3 = "2021Q1", "2021Q2", "2021Q3"
OPTIONS: dict[str, Any] = {"model": "ppms++", "k": 3, "theta": "0.5", "seed": 1}


def dump(engine: Engine, quarter: str, reports: Sequence[Report], **options: Any) -> Compared:
    """Ingest what a source publishes of a quarter now, all of it anew."""
    folder = Path(str(engine.warehouse.path)).parent / "dumps"
    number = len(list(folder.glob("*"))) if folder.exists() else 0
    usual = {"cumulative": True, "allow_incomplete": True, "max_vanished": 0.5}
    path = write_quarter(folder / f"{number:03}", quarter, reports)
    (done,) = engine.ingest([path], **usual | options)
    assert done.compared is not None
    return done.compared


def members(engine: Engine, quarter: str, series: str = "main") -> set[int]:
    """The cases of the newest version of a quarter that is out."""
    return {
        int(case)
        for (case,) in engine.sql(
            "SELECT m.case_id FROM srsql.member AS m JOIN srsql.release AS r USING (release_id) "
            "WHERE r.quarter = ? AND r.series = ? AND r.status = 'released'",
            [quarter, series],
        )
    }


def withheld(engine: Engine, quarter: str, series: str = "main") -> dict[int, str]:
    """The cases that a quarter withholds, and why."""
    return {
        int(case): reason
        for case, reason in engine.sql(
            "SELECT w.case_id, w.reason FROM srsql.withheld AS w JOIN srsql.release AS r "
            "USING (release_id) WHERE r.quarter = ? AND r.series = ? AND r.status = 'released'",
            [quarter, series],
        )
    }


def measured(engine: Engine, quarter: str, name: str) -> list[tuple[Any, ...]]:
    """Violating and total of a measure, by its scope."""
    return engine.sql(
        "SELECT q.scope, q.violating, q.total FROM srsql.measure AS q "
        "JOIN srsql.release AS r USING (release_id) WHERE r.quarter = ? AND q.measure = ? "
        "ORDER BY r.release_id DESC, q.scope LIMIT 1",
        [quarter, name],
    )
