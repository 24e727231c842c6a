"""Cases that wait, and what else becomes of them: artifacts, corrections, persons, other series."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from oracles.hospital import toml
from support.persons import suspect
from support.quarters import Report, crowd, next_version, write_quarter

from srsql import verify
from srsql.engine.api.engine import Engine
from srsql.engine.artifact.format import Manifest
from srsql.engine.artifact.verify.contradictions import claim_faults
from srsql.engine.catalog.series import Series
from srsql.engine.errors import LinkableError, ReleaseError
from srsql.engine.models import make_model
from srsql.engine.release.features.feature import InSeries
from srsql.engine.release.features.table import refuse
from srsql.engine.release.request import Request
from srsql.schemas import load_dataset
from srsql.schemas.toml_file import parse_dataset

ONE, TWO, THREE = "2026W52", "2026W53", "2027W01"
OPTIONS: dict[str, Any] = {
    "model": "ppms++", "k": 3, "theta": "0.5", "seed": 1, "max_delay": 2, "ids": "pseudonym",
}  # fmt: skip
LAST = """
[[derived]]
name = "last_received"
rule = "period"
source = "demo.fda_dt"
step = "year"
claim = "sources withheld"
"""
SECRET = "Erythromelalgia"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine(tmp_path / "w.duckdb") as opened:
        yield opened


def bring(engine: Engine, label: str, reports: list[Report], gone: list[int] | None = None) -> None:
    folder = Path(str(engine.warehouse.path)).parent / label
    engine.ingest([write_quarter(folder, label, reports, gone or [])], replace=True)


def waiting(engine: Engine) -> list[tuple[Any, ...]]:
    return engine.sql(
        "SELECT r.quarter, r.status, w.case_id, w.since FROM srsql.waiting AS w "
        "JOIN srsql.release AS r USING (release_id) ORDER BY ALL"
    )


def released(engine: Engine, label: str) -> dict[str, bool]:
    """The cases of a release, and whether they carry its bounds."""
    return dict(
        engine.sql(
            "SELECT m.case_id, f.carrier FROM srsql.member AS m "
            "JOIN srsql.case_flag AS f USING (release_id, case_no) "
            "JOIN srsql.release AS r USING (release_id) "
            "WHERE r.quarter = ? AND r.status = 'released'",
            [label],
        )
    )


def proved(engine: Engine, label: str) -> dict[str, tuple[Any, ...]]:
    """The checks of a release: how many are wrong, of how many."""
    rows = engine.sql(
        "SELECT m.measure, m.violating, m.total FROM srsql.measure AS m "
        "JOIN srsql.release AS r USING (release_id) "
        "WHERE m.stage = 'check' AND r.quarter = ? AND r.status = 'released'",
        [label],
    )
    return {measure: tuple(figures) for measure, *figures in rows}


def unplaced(first: int, count: int) -> list[Report]:
    """Cases whom no group of ``crowd(3)`` has room for: its values are a third of it each."""
    return [
        Report(
            primaryid=10 * case,
            caseid=case,
            pt=("Reaction 01", "Reaction 02", "Reaction 03", f"{SECRET} {case}"),
            indi=(f"{SECRET} of {case}",),
            drugs=(f"{SECRET} drug {case}",),
        )
        for case in range(first, first + count)
    ]


def texts(folder: Path) -> bytes:
    """What all files of an artifact say, in capitals."""
    return b"\n".join(f.read_bytes() for f in folder.rglob("*") if f.is_file()).upper()


@pytest.mark.thorough
def test_what_waits_is_told_nowhere_in_an_artifact(engine: Engine, tmp_path: Path) -> None:
    bring(engine, ONE, [*crowd(3), *unplaced(7001, 2)])
    bring(engine, TWO, [])
    engine.release(ONE, **OPTIONS | {"theta": "1/3", "on_infeasible": "withhold"})
    assert {case for _, _, case, _ in waiting(engine)} == {"7001", "7002"}
    engine.publish(ONE, tmp_path / "out", format="csv")
    all_of_them = {"series": "all", "k": 2, "theta": "1", "model": "ms", "allow_linkable": True}
    engine.release(ONE, seed=1, **all_of_them)
    engine.publish(ONE, tmp_path / "all", format="csv", series="all", allow_linkable=True)
    assert SECRET.upper().encode() in texts(tmp_path / "all")
    assert SECRET.upper().encode() not in texts(tmp_path / "out")
    assert verify([tmp_path / "out"]).passed
    manifest = Manifest.model_validate_json((tmp_path / "out" / "manifest.json").read_text("utf-8"))
    told = manifest.parameters
    assert (told["waiting_cases"], manifest.counts.withheld_cases) == (2, 2)
    assert manifest.counts.released_cases == 3
    for forged, fault in (
        ({"waiting_cases": 3}, "3 cases wait, and 2 are withheld"),
        ({"waiting_reports": 1}, "2 cases wait, of 1 reports"),
        ({"max_delay": 0}, "of cases that wait it tells"),
    ):
        claims = manifest.model_copy(update={"parameters": told | forged})
        assert [found for found in claim_faults(claims) if fault in found]
    assert claim_faults(manifest) == []


@pytest.mark.thorough
def test_a_case_of_which_waiting_data_were_replaced_is_stale_in_the_period_that_has_it(
    engine: Engine,
) -> None:
    bring(engine, ONE, crowd(2))
    bring(engine, TWO, crowd(2, 3))
    engine.release_range(f"{ONE}:{TWO}", **OPTIONS)
    assert proved(engine, ONE)["check_waiting_rows"] == (0, 2)
    assert engine.stale() == []
    bring(engine, ONE, [replace(crowd(1)[0], pt=("Another",)), crowd(2)[1]])
    assert [(each.quarter, each.cases) for each in engine.stale()] == [(TWO, {"changed": 1})]
    made = engine.correct(TWO, if_needed=True)
    assert (made.withdrawn, made.kept_cases) == ({"changed": 1}, 0)
    assert engine.stale() == []


@pytest.mark.thorough
def test_a_case_waits_on_whose_first_report_was_taken_out_of_its_period(engine: Engine) -> None:
    bring(engine, ONE, crowd(2))
    engine.release(ONE, **OPTIONS)
    bring(engine, ONE, crowd(1, 2))
    bring(engine, TWO, [next_version(crowd(1)[0])])
    engine.release(TWO, **OPTIONS)
    assert [row[2:] for row in waiting(engine)] == [("1", ONE), ("2", ONE)] * 2
    assert proved(engine, TWO)["check_waiting_rows"] == (0, 2)
    bring(engine, THREE, crowd(2, 3))
    engine.release(THREE, **OPTIONS)
    assert set(released(engine, THREE)) == {"1", "2", "3", "4"}
    assert engine.audit().safe


@pytest.mark.thorough
def test_who_waits_goes_on_waiting_where_a_group_is_taken_out(engine: Engine) -> None:
    asked = OPTIONS | {"model": "ms", "theta": "1/3", "on_infeasible": "withhold"}
    bring(engine, ONE, [*crowd(3), *unplaced(7001, 2)])
    engine.release(ONE, **asked)
    bring(engine, TWO, unplaced(7003, 1), gone=[1, 7002])
    made = engine.correct(ONE)
    assert made.withdrawn == {"deleted": 1}
    assert waiting(engine) == [
        (ONE, "released", "7001", ONE),
        (ONE, "superseded", "7001", ONE),
        (ONE, "superseded", "7002", ONE),
    ]
    (text,) = engine.sql("SELECT r.private_manifest FROM srsql.release AS r WHERE status = ?",
                         ["released"])[0]  # fmt: skip
    assert [each["cases"] for each in json.loads(text)["waiting"].values()] == [1]
    (series,) = engine.status().series
    assert series["waiting"].startswith("1 cases wait;")
    after = engine.release(TWO, **asked)
    assert after.manifest["cases"]["released"] == 0
    assert waiting(engine)[-2:] == [(TWO, "released", "7001", ONE), (TWO, "released", "7003", TWO)]


@pytest.mark.thorough
def test_persons_wait_until_there_are_k_of_them(engine: Engine) -> None:
    """1 and 3 may be one person, and so may 9, who comes later: then 1 and 3 make nobody new."""
    for label, reports in ((ONE, crowd(2)), (TWO, crowd(2, 3)), (THREE, crowd(1, 8))):
        bring(engine, label, reports)
    suspect(engine, [("1", "3", 0.95)])
    options = OPTIONS | {"k": 4, "count": "persons"}
    made = engine.release_range(f"{ONE}:{THREE}", **options)
    assert [each.manifest["cases"]["released"] for each in made.released] == [0, 0, 5]
    assert set(released(engine, THREE)) == {"1", "2", "3", "4", "8"}
    checks = proved(engine, THREE)
    assert checks["check_delay"] == checks["check_delay_persons"] == (0, 2)  # since ONE, since TWO
    assert engine.audit().safe


@pytest.mark.thorough
def test_a_duplicate_of_a_released_case_that_waits_carries_no_bound(engine: Engine) -> None:
    weeks = ((ONE, crowd(4)), (TWO, [*crowd(1, 21), *crowd(2, 2)]), (THREE, crowd(3, 30)))
    for label, reports in weeks:
        bring(engine, label, reports)
    suspect(engine, [("1", "21", 0.95)])
    engine.release_range(f"{ONE}:{THREE}", **OPTIONS | {"count": "persons"})
    assert [row[2:] for row in waiting(engine)] == [("2", TWO), ("21", TWO), ("3", TWO)]
    placed = released(engine, THREE)
    assert {case for case, carries in placed.items() if carries} == {"30", "31", "32"}
    assert proved(engine, THREE).get("check_delay_persons", (0,))[0] == 0
    assert engine.audit().safe


@pytest.mark.thorough
def test_rows_that_waited_link_to_those_that_did_not(engine: Engine) -> None:
    bring(engine, ONE, crowd(2))
    bring(engine, TWO, crowd(2, 3))
    engine.release_range(f"{ONE}:{TWO}", **OPTIONS)
    plain = {"model": "ms", "k": 2, "theta": "0.5", "seed": 1, "series": "plain"}
    with pytest.raises(LinkableError, match=f"{TWO} of series main: 2"):
        engine.release(ONE, **plain)
    made = engine.release(ONE, **plain, allow_linkable=True)
    assert [(row.scope, row.violating) for row in made.links if row.violating] == [
        (f"{TWO} of series main", 2)
    ]


def test_published_dates_and_waiting_do_not_go_together() -> None:
    folder = resources.files("srsql.schemas")
    text = (folder / "faers_wide.toml").read_text(encoding="utf-8")
    told = text.replace("publish = []", 'publish = ["last_received"]', 1) + LAST
    series = Series("faers_wide", "main", "group", "faers_wide", None, "pseudonym")
    asked = Request(ONE, make_model("ms", k=3), max_delay=1)
    refuse(InSeries(asked, parse_dataset(text, folder), series, False))
    dated = parse_dataset(told, folder)
    refuse(InSeries(replace(asked, max_delay=None), dated, series, False))
    for one, waits in ((asked, False), (replace(asked, max_delay=None), True)):
        with pytest.raises(
            ReleaseError, match=r"publishes last_received .* tell which cases waited"
        ):
            refuse(InSeries(one, dated, series, waits))


@pytest.mark.parametrize(
    ("column", "told"),
    [
        ('ward = ["Received on"]', "ward"),
        ('ward = ["Ward", " received ON "]', "ward"),
        ("ward = []", ""),
    ],
)
def test_a_period_column_that_is_published_by_another_name_is_a_published_date(
    tmp_path: Path, column: str, told: str
) -> None:
    text = toml(visit_period='period_column = " Received on"').replace("ward = []", column, 1)
    file = tmp_path / "clinic.toml"
    file.write_text(text, encoding="utf-8")
    series = Series("clinic", "main", "group", "clinic", None, "pseudonym")
    asked = Request(ONE, make_model("ms", k=3), max_delay=1)
    if not told:
        refuse(InSeries(asked, load_dataset(file), series, False))
        return
    with pytest.raises(ReleaseError, match=f"publishes {told} .* tell which cases waited"):
        refuse(InSeries(asked, load_dataset(file), series, False))
