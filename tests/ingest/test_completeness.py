"""A period in which reports lack rows is refused unless that is allowed; figures are compared."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.amount import some_of
from support.archives import demo, faers, lines, pack
from support.command import srsql

from srsql import Engine
from srsql.engine.errors import IngestError
from srsql.engine.ingest import IngestedPeriod, IngestOptions, ingest
from srsql.engine.ingest.completeness import warnings
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import load_dataset

pytestmark = pytest.mark.slow

Take = Callable[..., IngestedPeriod]


def quarter(
    reports: int, without: Mapping[str, int], period: str = "21Q1", drugs: int = 1
) -> dict[str, str | bytes]:
    """A quarter of so many reports, the last of which have no row in a table."""
    ids = [f"{n}1" for n in range(1, reports + 1)]
    having = {name: ids[: reports - without.get(name, 0)] for name in ("drug", "reac")}
    return faers(
        period,
        demo=demo(*(f"{n}${n[:-1]}$1$I${20 + i % 40}$YR$M$70$KG$US" for i, n in enumerate(ids))),
        drug=lines(
            "primaryid$caseid$drug_seq$role_cod$drugname",
            *(f"{n}${n[:-1]}${d}$PS$Drug{d}" for n in having["drug"] for d in range(drugs)),
        ),
        reac=lines("primaryid$caseid$pt", *(f"{n}${n[:-1]}$Rash{n[-3:]}" for n in having["reac"])),
        indi=lines("primaryid$caseid$indi_drug_seq$indi_pt"),
        outc=lines("primaryid$caseid$outc_cod"),
    )


def test_a_table_that_is_cut_off_is_refused_with_its_name_the_figure_and_the_option(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    archive = pack(tmp_path / "q.zip", quarter(150, {"reac": 50}))
    with pytest.raises(IngestError) as caught:
        ingest(warehouse, [archive], load_dataset("faers"))
    text = str(caught.value)
    assert "50 of 150 reports have no row in reac" in text
    assert "--allow-incomplete" in text
    assert "\n" not in text
    assert warehouse.value("SELECT count(*) FROM srsql.ingestion") == 0
    assert warehouse.value("SELECT count(*) FROM srsql.ingested_column") == 0


def test_one_in_a_hundred_may_lack_a_row_and_is_counted(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    archive = pack(tmp_path / "q.zip", quarter(200, {"reac": 2}))
    (done,) = ingest(warehouse, [archive], load_dataset("faers"))
    assert [(r.table, r.reports, r.without_row, r.allowed) for r in done.required] == [
        ("reac", 200, 2, False)
    ]
    (again,) = ingest(warehouse, [archive], load_dataset("faers"))
    assert again.required == done.required


@pytest.mark.thorough
def test_what_is_allowed_is_told_by_command_status_manifests_and_both_pages(
    tmp_path: Path,
) -> None:
    archive, db = pack(tmp_path / "q.zip", quarter(150, {"reac": 50})), tmp_path / "w.duckdb"
    lacking = "50 of 150 reports have no row in reac"
    run = srsql("ingest", archive, "--allow-incomplete", "--db", db)
    assert (run.code, f"  {lacking} (--allow-incomplete)" in run.out) == (0, True)
    assert f"faers 2021Q1: {lacking} (--allow-incomplete)" in srsql("status", "--db", db).out
    told = json.loads(srsql("status", "--db", db, "--json").out)
    assert told["incomplete"] == [f"faers 2021Q1: {lacking} (--allow-incomplete)"]
    public = "50 of 150 reports of the source have no row in reac"
    with Engine(db) as engine:
        made = engine.release("2021Q1", theta=1, k=2, model="ms", seed=1)
        assert made.manifest["incomplete"] == [{"table": "reac", "reports": 150, "without_row": 50}]
        assert engine.sql("SELECT incomplete_source FROM release_2021q1.manifest") == [(public,)]
        for is_public in (True, False):
            assert public in engine.report("2021Q1", public=is_public).html
        assert "reports of the source without a row in reac" in engine.report("2021Q1").html


@pytest.mark.thorough
def test_a_release_with_noise_tells_no_figure_of_the_source(tmp_path: Path) -> None:
    archive = pack(tmp_path / "q.zip", quarter(150, {"reac": 50}))
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([archive], allow_incomplete=True)
        engine.release("2021Q1", model="msdp-num", epsilon=1, k=5, theta=1, seed=1)
        assert engine.sql("SELECT incomplete_source FROM release_2021q1.manifest") == [
            ("reports of the source have no row in reac",)
        ]


def test_a_whole_quarter_has_no_such_entry(tmp_path: Path) -> None:
    archive = pack(tmp_path / "q.zip", quarter(150, {}))
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([archive])
        made = engine.release("2021Q1", theta=1, k=2, model="ms", seed=1)
        assert {"incomplete", "unread_columns", "incomplete_source"}.isdisjoint(made.manifest)
        assert engine.status().incomplete == []


@pytest.mark.thorough
def test_a_range_that_is_taken_in_on_the_way_is_as_strict(tmp_path: Path) -> None:
    pack(tmp_path / "faers_ascii_2021q1.zip", quarter(60, {}))
    pack(tmp_path / "faers_ascii_2021q2.zip", quarter(60, {"drug": 30}, "21Q2"))
    with Engine(tmp_path / "w.duckdb") as engine, pytest.raises(IngestError, match="30 of 60"):
        engine.release_range("2021Q1:2021Q2", sources=[tmp_path], theta=1, k=2, seed=1)


@pytest.mark.thorough
def test_a_replacement_forgets_what_the_first_source_lacked(tmp_path: Path) -> None:
    cut = pack(tmp_path / "cut.zip", quarter(150, {"reac": 50}))
    whole = pack(tmp_path / "whole.zip", quarter(150, {}))
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([cut], allow_incomplete=True)
        (done,) = engine.ingest([whole], replace=True)
        assert (done.required, engine.status().incomplete) == ((), [])


@pytest.mark.thorough
def test_reports_in_a_lake_are_held_to_the_same(tmp_path: Path) -> None:
    archive = pack(tmp_path / "q.zip", quarter(150, {"reac": 50}))
    with Engine(tmp_path / "w.duckdb") as engine:
        with pytest.raises(IngestError, match="50 of 150 reports have no row in reac"):
            engine.ingest([archive], lake=tmp_path / "lake")
        engine.ingest([archive], lake=tmp_path / "lake", allow_incomplete=True)
        assert len(engine.status().incomplete) == 1


@pytest.mark.thorough
def test_rows_a_report_far_from_the_quarter_before_are_a_warning(tmp_path: Path) -> None:
    before = pack(tmp_path / "a.zip", quarter(150, {}, "21Q1", drugs=4))
    same = pack(tmp_path / "b.zip", quarter(300, {}, "21Q2", drugs=3))
    less = pack(tmp_path / "c.zip", quarter(150, {}, "21Q3", drugs=1))
    with Engine(tmp_path / "w.duckdb") as engine:
        assert [period.warnings for period in engine.ingest([before, same])] == [(), ()]
        (far,) = engine.ingest([less])
    assert far.warnings == (
        "drug has 1.00 rows a report, and had 3.00 in 2021Q2: is the file complete?",
    )
    run = srsql("ingest", less, "--replace", "--db", tmp_path / "other.duckdb")
    assert "warning" not in run.out


def test_totals_are_held_against_the_regulators_own_where_the_source_is_no_sample(
    warehouse: Warehouse,
) -> None:
    dataset = load_dataset("faers")
    real = {"demo": 65902, "drug": 235361, "reac": 264410, "indi": 78639, "outc": 57592}
    assert warnings(warehouse, dataset, "2004Q1", real) == []
    assert warnings(warehouse, dataset, "2004Q1", real | {"drug": 150_000}) == [
        "drug has 150,000 rows, and 235,361 by the regulator's own figures of 2004Q1: is the file "
        "complete?"
    ]
    sample = {name: count // 3 for name, count in real.items()} | {"drug": 1}
    assert warnings(warehouse, dataset, "2004Q1", sample) == []
    assert warnings(warehouse, dataset, "1999Q1", real | {"drug": 1}) == []
    assert warnings(warehouse, load_dataset("vaers"), "2004Q1", {"demo": 65902}) == []


@settings(max_examples=some_of(10), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    reports=st.integers(1, 12),
    rows=st.fixed_dictionaries(
        {name: st.lists(st.integers(1, 15), max_size=20) for name in ("drug", "reac")}
    ),
)
def test_reports_without_a_row_are_those_of_plain_python(
    tmp_path_factory: pytest.TempPathFactory, reports: int, rows: dict[str, list[int]]
) -> None:
    files = faers(
        demo=demo(*(f"{n}${n}$1$I$40$YR$M$$$US" for n in range(1, reports + 1))),
        drug=lines("primaryid$drugname", *(f"{n}$A" for n in rows["drug"])),
        reac=lines("primaryid$pt", *(f"{n}$Rash" for n in rows["reac"])),
    )
    archive = pack(tmp_path_factory.mktemp("q") / "q.zip", files)
    options = IngestOptions(allow_incomplete=True, max_reject_rate=1)
    with Warehouse(":memory:") as warehouse:
        (done,) = ingest(warehouse, [archive], load_dataset("faers"), options)
    expected = {name: len(set(range(1, reports + 1)) - set(ids)) for name, ids in rows.items()}
    assert {r.table: r.without_row for r in done.required} == {
        name: count for name, count in expected.items() if count
    }
    assert all(r.allowed == (100 * r.without_row > reports) for r in done.required)
