"""Twenty quasi-identifiers from files to answers: release, checks, audit, query, artifact."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.wide import QUARTERS, released_wide

from srsql import Engine
from srsql.engine.artifact.verify.verify import verify

pytestmark = pytest.mark.thorough

QIDS = 20


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return released_wide(tmp_path_factory.mktemp("wide"), QIDS, 160)


def regions(engine: Engine, quarter: str) -> dict[Any, tuple[Any, ...]]:
    """Case -> its region, as released."""
    rows = engine.sql(f'SELECT * FROM "release_{quarter}".visit')
    return {row[1]: row[3:] for row in rows}


def test_every_region_is_shared_by_k_cases(db: Path) -> None:
    with Engine(db, read_only=True) as engine:
        for quarter in QUARTERS:
            found = regions(engine, quarter)
            assert len(found) > 100
            assert min(Counter(found.values()).values()) >= 4
            assert {len(region) for region in found.values()} == {7 * 2 + 13}


def test_the_series_is_safe_in_a_full_audit(db: Path) -> None:
    with Engine(db, read_only=True) as engine:
        assert engine.audit(attacks="b,f,l").safe


def test_a_question_on_three_of_them_has_bounds_around_the_truth(db: Path) -> None:
    asked = "SELECT count(DISTINCT patient_id) FROM visit WHERE q0 > 30 AND q4 = 'A' AND q19 = 'B'"
    with Engine(db, read_only=True) as engine:
        answer = engine.query(asked, quarter="2020")
        (truth,) = engine.sql(
            "SELECT count(*) FROM raw_wide.visit AS t WHERE t.quarter = '2020' AND t.srsql_q0 > 30 "
            "AND t.srsql_q4 = 'A' AND t.srsql_q19 = 'B'"
        )[0]
    bounds = dict(zip(answer.columns, answer.rows[0], strict=True))
    assert bounds["lower"] <= truth <= bounds["upper"]


def test_an_artifact_passes(db: Path, tmp_path: Path) -> None:
    with Engine(db, read_only=True) as engine:
        engine.publish("2020:2021", tmp_path / "out")
    assert verify(tmp_path / "out").passed
