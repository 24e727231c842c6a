from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.catalog import Region, publish
from support.command import Srsql
from support.command import srsql as command


@pytest.fixture
def srsql(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Srsql:
    """The command within this process, run in ``tmp_path`` on its ``w.duckdb``."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SRSQL_DB", "w.duckdb")
    return command


@pytest.fixture
def exposed_series(own_sql: Any) -> Any:
    """Case a in two groups over time, b and c beside it, d in a draft and in another series."""
    anywhere: Region = ((None, None), (0, 2))
    publish(own_sql, 1, "2011Q1", {0: (((10, 20), (1, 1)), "a"), 1: (anywhere, "b")})
    publish(own_sql, 2, "2011Q2", {0: (((15, 25), (1, 1)), "abc"), 1: (((40, 50), (2, 2)), "d")},
            status="superseded")  # fmt: skip
    publish(own_sql, 3, "2011Q2", {0: (((15, 25), (0, 2)), "abcd")})
    publish(own_sql, 4, "2011Q3", {0: (((24, 26), (1, 1)), "ac")})
    publish(own_sql, 5, "2011Q3", {0: (((0, 1), (1, 1)), "abcd")}, status="draft")
    publish(own_sql, 6, "2011Q3", {0: (((0, 1), (1, 1)), "abcd")}, series="other")
    own_sql.table("knows", "position INTEGER, low BIGINT, high BIGINT", [(0, 18, 18), (1, 1, 1)])
    own_sql.rows(
        "CREATE OR REPLACE TEMP TABLE found AS SELECT * FROM "
        "srsql.attack_candidates('temp.main.knows', 3)"
    )
    return own_sql


@pytest.fixture
def reasons(exposed_series: Any) -> dict[str, list[tuple[Any, ...]]]:
    """Exclusion set -> (case, release, position, low, high) of whatever rules a case out."""
    rows = exposed_series.rows(
        "SELECT e.exclusion, f.case_id, e.release_id, e.position, e.low, e.high "
        "FROM srsql.attack_exclusions('temp.main.knows', 'temp.main.found', 3) AS e "
        "INNER JOIN found AS f USING (case_no) ORDER BY ALL"
    )
    assert {row[0] for row in rows} == {"B", "F", "G", "L", "MD", "P"}
    return {name: [row[1:] for row in rows if row[0] == name] for name in ("B", "F", "L", "MD")}
