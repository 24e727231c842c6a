"""A threshold of 1 bounds nothing, although old cases hold a value that few carriers do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.persons import of_units, suspect
from support.quarters import Report, write_quarter

from srsql.engine.api.engine import Engine

Q1, Q2 = "2011Q1", "2011Q2"
OPTIONS: dict[str, Any] = {"model": "ppms++", "k": 3, "theta": "1", "seed": 1}


def told(case: int, quarter: int) -> Report:
    """All alike, and all have the same reaction."""
    return Report(10 * case + quarter, case, age="40", sex="F", wt="70", pt=("Common",))


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """Four cases, and three more in the next quarter; cases 1 and 2, 5 and 8 are suspected."""
    with Engine(tmp_path / "w.duckdb") as opened:
        opened.ingest([
            write_quarter(tmp_path, Q1, [told(case, 1) for case in range(1, 5)]),
            write_quarter(tmp_path, Q2, [told(case, 2) for case in range(1, 9)]),
        ], allow_incomplete=True)  # fmt: skip
        suspect(opened, [("1", "2", 0.95), ("5", "8", 0.95)])
        yield opened


@pytest.mark.thorough
def test_persons_who_are_old_may_share_what_the_new_ones_have(engine: Engine) -> None:
    for quarter, cases in ((Q1, 4), (Q2, 8)):
        made = engine.release(quarter, **OPTIONS, count="persons")
        assert made.manifest["cases"]["released"] == cases
        assert not made.manifest["withheld"]
    assert engine.audit().safe


@pytest.mark.thorough
def test_the_remainder_of_such_a_group_is_kept(engine: Engine) -> None:
    for quarter in (Q1, Q2):
        engine.release(quarter, **OPTIONS)
    engine.forget(["1"], reason="asked")
    corrected = engine.correct(Q2, keep_remainder=True)
    assert (corrected.kept_cases, corrected.remainders) == (7, 1)


@pytest.mark.parametrize(("share", "broken"), [((1, 1), 0), ((2, 3), 1)])
def test_a_region_breaks_no_threshold_of_one(sql: Any, share: tuple[int, int], broken: int) -> None:
    """Three persons have the value, two of whom carry the bounds."""
    limits = sql.table(
        "limits", "term VARCHAR, theta_num BIGINT, theta_den BIGINT", [("x", *share)]
    )
    wrong = of_units(
        sql,
        f"check_theta('unit_row', 'unit_value', {limits}, 1)",
        [("r", case) for case in "abc"],
        [(case, "x") for case in "abc"],
        [(case, case, case < "c") for case in "abc"],
    )
    assert wrong == broken
