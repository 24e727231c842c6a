"""MD of the newest release, once the period that follows is taken in and before it is released."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.quarters import crowd, write_quarter

from srsql.engine.api.engine import Engine
from srsql.engine.audit.audit import AuditRow
from srsql.engine.console.audit import audit_lines

pytestmark = pytest.mark.slow

K = 3
FIRST, NEXT = "2011Q3", "2011Q4"
COMING = crowd(40, first=41, version=2)
"""Reports of the period that follows, of which some cases are in the first one."""


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("md")
    with Engine(folder / "w.duckdb") as opened:
        opened.ingest([write_quarter(folder, FIRST, crowd(60))])
        opened.release(FIRST, model="ppms-ear", k=K, theta="1", seed=1)
        yield opened


def judged(engine: Engine) -> AuditRow:
    (row,) = engine.audit(attacks=("md",), scopes=("group",)).releases
    return row


def printed(engine: Engine) -> list[str]:
    return list(audit_lines(engine.audit(attacks=("b", "md")), "audited in full"))


def test_md_of_the_newest_release_is_judged_once_the_next_period_is_taken_in(
    engine: Engine, tmp_path: Path
) -> None:
    before = judged(engine)
    assert (before.attacks, before.not_evaluated) == ((), ("md",))
    assert any(line.startswith(f"{FIRST}: MD is not judged") for line in printed(engine))
    engine.ingest([write_quarter(tmp_path, NEXT, COMING)])
    coming = {str(report.caseid) for report in COMING}
    groups: dict[int, set[str]] = defaultdict(set)
    for group, case in engine.con.execute("SELECT group_id, case_id FROM srsql.member").fetchall():
        groups[group].add(case)
    in_danger = [cases for cases in groups.values() if 0 < len(cases - coming) < K]
    after = judged(engine)
    assert (after.attacks, after.not_evaluated) == (("md",), ())
    assert after.dig == len(in_danger) > 0
    assert not any("is not judged" in line for line in printed(engine))
    assert engine.audit(attacks=("b", "f", "l"), scopes=("group",)).safe
