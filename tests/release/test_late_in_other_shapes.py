"""Late reports where columns are made from dates, persons are counted, or rows are taken apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from support.dumps import OPTIONS, Q1, Q2, Q3, dump, measured, members, withheld
from support.persons import suspect
from support.quarters import crowd, next_version
from support.released import rows

from srsql.engine.api.engine import Engine
from srsql.engine.errors import ReleaseError

pytestmark = pytest.mark.slow
DERIVED = """
[[derived]]
name = "event_year"
rule = "period"
source = "demo.event_dt"
step = "year"
claim = "sources withheld"
"""


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine(tmp_path / "w.duckdb") as opened:
        yield opened


def dated(folder: Path) -> Path:
    """FAERS with the year of the event published beside the region."""
    shipped = resources.files("srsql.schemas")
    text = shipped.joinpath("faers.toml").read_text(encoding="utf-8")
    text = text.replace('name = "faers"', 'name = "dated"', 1)
    text = text.replace("publish = []", 'publish = ["event_year"]', 1)
    (folder / "dated.toml").write_text(text + DERIVED, encoding="utf-8")
    return folder / "dated.toml"


def test_a_series_that_publishes_a_column_made_from_dates_withholds_late_cases(
    engine: Engine, tmp_path: Path
) -> None:
    own = {"dataset": dated(tmp_path)}
    made: dict[str, Any] = OPTIONS | {"dataset": "dated"}
    first = crowd(8)
    dump(engine, Q1, first, **own)
    engine.release.make(Q1, **made)
    assert "event_year" in rows(engine.con, "SELECT * FROM release_2021q1.demo")[0]
    dump(engine, Q1, [*first, *crowd(4, 30), replace(next_version(first[0]), pt=("Rash",))], **own)
    dump(engine, Q2, [*crowd(6, 50), replace(first[0], primaryid=9001)], **own)
    engine.release.make(Q2, **made)
    assert withheld(engine, Q2) == dict.fromkeys(range(30, 34), "late_not_released")
    assert members(engine, Q2) == {1, *range(50, 56)}
    shown = [pt for (pt,) in engine.sql("SELECT pt FROM release_2021q2.reac")]
    assert "Rash" not in shown  # nor is a late report of a case that is in it
    assert measured(engine, Q2, "check_late") == [("reports", 0, 0)]
    (manifest,) = rows(engine.con, "SELECT * FROM release_2021q2.manifest")
    assert manifest["late_cases"] == "fewer than 3"
    dump(engine, Q3, crowd(6, 80), **own)
    engine.release.make(Q3, **made)
    assert members(engine, Q3) == set(range(80, 86))
    assert engine.audit.run(dataset="dated").safe


def test_a_late_case_of_a_person_who_is_out_already_is_old_and_k_new_persons_stay(
    engine: Engine,
) -> None:
    made = OPTIONS | {"count": "persons"}
    pairs = [("30", "1", 0.99), ("31", "32", 0.99)]
    dump(engine, Q1, crowd(9))
    suspect(engine, pairs)
    engine.release.make(Q1, **made)
    dump(engine, Q1, [*crowd(9), *crowd(6, 30)])
    dump(engine, Q2, crowd(9, 50))
    with pytest.raises(ReleaseError, match="2021Q1, 2021Q2 were not searched as it is now"):
        engine.release.make(Q2, **made)
    unsearched = "SELECT u.quarter FROM srsql.unsearched_periods(1) AS u"
    assert engine.sql(unsearched) == [(Q1,)]  # late reports are data like any other
    suspect(engine, pairs)
    assert engine.sql(unsearched) == []
    engine.release.make(Q2, **made)
    released = members(engine, Q2)
    assert released | set(withheld(engine, Q2)) == {*range(30, 36), *range(50, 59)}
    assert {33, 34, 35} <= released  # late cases of persons of their own
    person = {case: case for case in released} | {30: 1, 32: 31}
    groups: dict[int, set[int]] = {}
    for group, case in engine.sql(
        "SELECT m.group_id, m.case_id FROM srsql.member AS m JOIN srsql.release AS r "
        "USING (release_id) WHERE r.quarter = ?",
        [Q2],
    ):
        groups.setdefault(int(group), set()).add(person[int(case)])
    assert all(len(persons - set(range(1, 10))) >= 3 for persons in groups.values())
    (check,) = measured(engine, Q2, "check_late")
    assert check[1] == 0
    assert check[2] >= 3
    assert engine.audit.run().safe


@pytest.mark.thorough
def test_whole_rows_that_are_taken_apart_show_late_cases_as_any_other(engine: Engine) -> None:
    made = OPTIONS | {
        "theta": "1", "terms": "disassociate", "term_attributes": "all", "series": "rows",
    }  # fmt: skip
    first = crowd(15, terms=4)
    dump(engine, Q1, first)
    engine.release.make(Q1, **made)
    late = [*crowd(4, 30, terms=4), replace(next_version(first[0]), pt=("Rash",))]
    dump(engine, Q1, [*first, *late])
    dump(engine, Q2, crowd(12, 50, terms=4))
    engine.release.make(Q2, **made)
    assert members(engine, Q1, "rows") == set(range(1, 16))
    assert members(engine, Q2, "rows") == {*range(30, 34), *range(50, 62)}
    (manifest,) = rows(engine.con, "SELECT * FROM release_rows_2021q2.manifest")
    assert manifest["late_cases"] == "4"
    assert measured(engine, Q2, "check_late") == [("reports", 0, 4)]
    items = str(rows(engine.con, "SELECT * FROM release_rows_2021q2.item_chunk")).upper()
    assert "DRUG" in items
    assert "RASH" not in items  # case 1 has no report of the quarter
    assert engine.audit.run(series="rows").safe
