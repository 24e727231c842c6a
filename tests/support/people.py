"""Series of quarters in which each case has a reaction of its own, so that only k matters."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from support.quarters import Report, write_quarter

from srsql.engine.api.engine import Engine
from srsql.engine.audit.audit import Audit

PERIODICAL = ("ppms", "ppms-ear", "ppms++", "ppms-alpha")
OPTIONS: dict[str, Any] = {"k": 3, "theta": "0.5", "seed": 1, "allow_linkable": True}
ORIGINAL = OPTIONS | {"ids": "original"}
"""Of a series whose cases ``shown`` finds by the ids of the source."""


def person(case: int, quarter: int = 1, **changes: Any) -> Report:
    """The report of a case in a quarter; the same values in each but for the changes."""
    usual: dict[str, Any] = {
        "age": str(20 + case * 7 % 60),
        "sex": "MF"[case % 2],
        "wt": str(50 + case * 13 % 50),
        "pt": (f"Of case {case}",),
    }
    return Report(10 * case + quarter, case, **(usual | changes))


def people(cases: Iterable[int], quarter: int = 1, **changes: Any) -> list[Report]:
    return [person(case, quarter, **changes) for case in cases]


def ingest(engine: Engine, folder: Path, quarters: dict[str, list[Report]], **options: Any) -> None:
    engine.ingest(
        [write_quarter(folder, q, r) for q, r in quarters.items()], **options, allow_incomplete=True
    )


def reasons(engine: Engine, release_id: int) -> dict[str, set[int]]:
    """Reason -> the cases withheld for it."""
    found: dict[str, set[int]] = {}
    for reason, case in engine.sql(
        "SELECT w.reason, w.case_id FROM srsql.withheld AS w WHERE w.release_id = ?", [release_id]
    ):
        found.setdefault(reason, set()).add(int(case))
    return found


def new_cases(engine: Engine, release_id: int) -> set[int]:
    """The released cases that counted as new."""
    return {
        int(case)
        for (case,) in engine.sql(
            "SELECT m.case_id FROM srsql.member AS m WHERE m.release_id = ? AND m.is_new",
            [release_id],
        )
    }


def shown(engine: Engine, schema: str) -> dict[int, dict[str, Any]]:
    """Case -> one of its released rows."""
    cursor = engine.con.execute(f'SELECT * FROM "{schema}".demo')
    names = [column[0] for column in cursor.description]
    rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    return {row["caseid"]: row for row in rows}


def audited(engine: Engine, **options: Any) -> Audit:
    """The audit of the series at both scopes under what its releases promise; it must be safe."""
    found = engine.audit(**options)
    assert found.safe, [e for e in found.evidence if e.dig or e.dsg or e.ssg][:3]
    return found
