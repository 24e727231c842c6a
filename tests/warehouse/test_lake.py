"""A lake: what it holds and refuses, and that a release made of it is the release made without."""

from __future__ import annotations

import errno
import hashlib
import pickle
import shutil
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from oracles import clinic
from support.archives import faers, lines, pack
from support.command import srsql
from support.quarters import crowd, write_quarter
from support.released import exported

from srsql import Engine
from srsql.engine.catalog.datasets import registered_dataset
from srsql.engine.errors import DamagedError, ReleaseError, WarehouseError
from srsql.engine.extras.study.sample import count_cases, thin
from srsql.engine.lake import lake as lake_module
from srsql.engine.lake.lake import buckets_for
from srsql.engine.lake.lake_parts import BucketWork, buckets_of
from srsql.engine.store.definitions import LAYOUT
from srsql.engine.workers.carriers import Carrier, InProcess, LocalWorkers

TABLES = ("demo", "drug", "reac", "indi", "outc", "ther", "rpsr")
OWN = {"lake", "lake_dataset", "lake_file", "lake_leftover", "run"}
"""Tables of the catalog that tell where rows lie, or when a command ran."""
MODELS = {
    "ms": {"model": "ms"},
    "ppms++": {"model": "ppms++"},
    "ppms-alpha": {"model": "ppms-alpha", "assume_md": "all"},
    "disassociation": {"model": "disassociation"},
}
QUARTERS = ("2011Q3", "2011Q4")


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two quarters, the second with follow-ups of half of the cases of the first."""
    folder = tmp_path_factory.mktemp("sources")
    first, second = crowd(240, terms=60), crowd(240, first=121, terms=60, version=2)
    return [
        write_quarter(folder, quarter, reports)
        for quarter, reports in zip(QUARTERS, (first, second), strict=True)
    ]


@pytest.fixture(scope="module")
def kept(sources: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both quarters in ``plain.duckdb``, and in ``w.duckdb`` over ``lake``."""
    folder = tmp_path_factory.mktemp("kept")
    with Engine(folder / "plain.duckdb") as engine:
        engine.ingest(sources)
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest(sources, lake=folder / "lake")
    return folder


@pytest.fixture
def place(kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, in which the lake is where the catalog says."""
    folder = tmp_path / "place"
    shutil.copytree(kept, folder)
    assert srsql("lake", "--moved-to", folder / "lake", "--db", folder / "w.duckdb").code == 0
    monkeypatch.chdir(folder)
    return folder


def content(engine: Engine) -> dict[str, list[Any]]:
    """Every row of the catalog, and of the released rows in their order."""
    found: dict[str, list[Any]] = {}
    for schema, name in engine.sql(
        "SELECT t.schema_name, t.table_name FROM duckdb_tables() AS t "
        "WHERE t.schema_name IN ('srsql', 'srsql_data') ORDER BY ALL"
    ):
        if name not in OWN:
            rows = list(map(str, engine.sql(f'SELECT t.* FROM "{schema}"."{name}" AS t')))
            found[f"{schema}.{name}"] = rows if schema == "srsql_data" else sorted(rows)
    return found


def raw_rows(engine: Engine) -> dict[str, list[str]]:
    return {
        name: sorted(map(str, engine.sql(f"SELECT t.* FROM raw_faers.{name} AS t")))
        for name in TABLES
    }


def files(lake: Path) -> dict[str, str]:
    """Path -> digest of every Parquet file that lies there."""
    return {
        str(path.relative_to(lake)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in lake.rglob("*.parquet")
    }


def listed(engine: Engine) -> dict[str, str]:
    return dict(engine.sql("SELECT f.file, f.sha256 FROM srsql.lake_file AS f"))


def test_the_bucket_of_a_case_is_part_of_the_md5_of_its_id(sql: Any) -> None:
    golden = {"1": 0, "4711": 4, "7893695": 0, "ABC-é": 1, "": 1}
    for case, bucket in golden.items():
        assert int(hashlib.md5(case.encode()).hexdigest()[:8], 16) % 8 == bucket
    found = sql.rows(
        "SELECT srsql.case_bucket(u.id, 8) FROM (SELECT unnest(?) AS id) AS u", [list(golden)]
    )
    assert [bucket for (bucket,) in found] == list(golden.values())
    assert sql.rows("SELECT srsql.case_bucket(4711, 8)") == [(4,)]


@pytest.mark.parametrize(
    ("cases", "buckets"),
    [(0, 4), (262_144, 4), (262_145, 8), (400_000, 8), (1 << 22, 64), (1 << 30, 256)],
)
def test_a_period_is_cut_so_that_a_bucket_has_some_ten_thousand_cases(
    cases: int, buckets: int
) -> None:
    assert buckets_for(cases) == buckets


@pytest.mark.thorough
@pytest.mark.parametrize("model", MODELS)
def test_a_release_of_a_lake_is_the_release_of_the_file(
    place: Path, tmp_path: Path, model: str
) -> None:
    options = MODELS[model] | {"k": 4, "seed": 5, "ids": "original"}
    found, shown = [], []
    for db in ("plain.duckdb", "w.duckdb"):
        with Engine(place / db) as engine:
            if model == "disassociation":  # which shows no ids
                options = {name: value for name, value in options.items() if name != "ids"}
            for quarter in QUARTERS:
                engine.release(quarter, **options)
            series = None if model == "disassociation" else engine.audit()  # without regions
            assert series is None or series.releases
            shown.append([exported(engine.con, f"release_{q.lower()}", tmp_path) for q in QUARTERS])
            everything = content(engine)
            if model == "disassociation":  # its pseudonyms have a key of their own
                del everything["srsql.id_pseudonym"], everything["srsql.series"]
            found.append((everything, series))
            made = engine.publish(QUARTERS[1], tmp_path / db)
            assert made
    assert found[0] == found[1]
    assert shown[0] == shown[1]
    artifacts = [tmp_path / db for db in ("plain.duckdb", "w.duckdb")]
    names = [sorted(p.relative_to(each) for p in each.rglob("*")) for each in artifacts]
    assert names[0] == names[1]
    for name in names[0]:
        if (artifacts[0] / name).is_file():
            assert (artifacts[0] / name).read_bytes() == (artifacts[1] / name).read_bytes(), name


class Counted(InProcess):
    """Carries in this process, and counts the buckets."""

    buckets = 0

    def carry(self, work: Any, parts: Any) -> Iterator[pa.Table]:
        for found in super().carry(work, parts):
            self.buckets += isinstance(work, BucketWork)
            yield found


def merged(engine: Engine, **asked: Any) -> tuple[dict[str, Any], Any]:
    """All that the warehouse holds once both quarters are out, and the verdict on them."""
    for quarter in QUARTERS:
        engine.release(quarter, k=4, seed=5, ids="original", **asked)
    return content(engine), engine.audit()


def withdraw(engine: Engine) -> None:
    """A list withdraws three cases, one of them of both quarters."""
    engine.con.execute(
        "INSERT INTO srsql.deleted_case SELECT 'faers', u.id, 1 "
        "FROM (SELECT unnest(['7', '60', '130']) AS id) AS u"
    )


KNOWLEDGE = "drug,disease\nDrug 1,Reaction 05\nDrug 1,Disease 07\nDrug 4,Other\n"
MERGED = ("case_report", "case", "box", "case_term", "term", "report_value", "symptoms", "deleted",
          "attribute", "node")  # fmt: skip
CARRIED: dict[str, dict[str, Any]] = {
    "ms": {"model": "ms"},
    "ppms++": {"model": "ppms++"},
    "ppms-alpha": {"model": "ppms-alpha", "assume_md": "all"},
    "msdp-num": {"model": "msdp-num", "noise": "seeded"},
    "xy-anonymity": {"model": "xy-anonymity"},
}


@pytest.fixture
def followed_up(tmp_path: Path) -> Path:
    """A quarter in ``plain.duckdb``, and in ``w.duckdb`` over a lake: half of the cases have two
    reports, and a list withdrew three."""
    reports = [
        replace(report, age="") if report.caseid % 5 == 0 else report for report in crowd(90)
    ]
    later = crowd(90, first=46, terms=60, version=2)
    source = write_quarter(tmp_path, QUARTERS[0], [*reports, *later])
    for db, lake in (("plain.duckdb", None), ("w.duckdb", tmp_path / "lake")):
        with Engine(tmp_path / db) as engine:
            engine.ingest([source], lake=lake)
            withdraw(engine)
    return tmp_path


class EnoughError(Exception):
    """The cases are merged, and no more is wanted."""


def super_records(db: Path, carrier: Carrier | None) -> dict[str, list[str]]:
    """What the first stage of a release makes of the quarter."""
    found: dict[str, list[str]] = {}
    with Engine(db) as engine:

        def told(stage: str) -> None:
            if stage == "history":
                for name in MERGED:
                    rows = engine.sql(f"FROM (DESCRIBE temp.main.srsql_{name})")
                    rows += engine.sql(f"FROM temp.main.srsql_{name}")
                    found[name] = sorted(map(str, rows))
                raise EnoughError

        with pytest.raises(EnoughError):
            engine.release(QUARTERS[0], model="ms", seed=5, carrier=carrier, progress=told)
        assert engine.warehouse.temporary_tables() == set()
    return found


@pytest.mark.thorough
def test_super_records_made_by_bucket_are_those_that_are_made_at_once(followed_up: Path) -> None:
    with Counted() as carrier:
        found = super_records(followed_up / "w.duckdb", carrier)
    assert carrier.buckets == 4
    assert found == super_records(followed_up / "plain.duckdb", None)
    assert len(found["case"]) == 3 + 135 - 3
    assert len(found["deleted"]) == 2 + 4


@pytest.mark.thorough
@pytest.mark.parametrize("asked", CARRIED)
def test_super_records_by_bucket_are_those_of_the_quarter(place: Path, asked: str) -> None:
    found = []
    with Counted() as carrier:
        for db, given in (("plain.duckdb", {}), ("w.duckdb", {"carrier": carrier})):
            with Engine(place / db) as engine:
                withdraw(engine)
                found.append(merged(engine, **CARRIED[asked], **given))
                assert engine.warehouse.temporary_tables() == set()
    assert found[0] == found[1]
    assert carrier.buckets == 8


@pytest.mark.thorough
def test_what_is_suppressed_of_super_records_by_bucket_stays_suppressed(tmp_path: Path) -> None:
    crowds = crowd(120, terms=60), crowd(120, first=61, terms=60, version=2)
    sources = [
        write_quarter(tmp_path, quarter, [replace(r, pt=(*r.pt, "Everybody's")) for r in reports])
        for quarter, reports in zip(QUARTERS, crowds, strict=True)
    ]
    found = []
    for db, asked in (("plain.duckdb", {}), ("w.duckdb", {"carrier": InProcess()})):
        with Engine(tmp_path / db) as engine:
            engine.ingest(sources, lake=tmp_path / "lake" if asked else None)
            made = merged(engine, model="ms", theta="0.4", on_infeasible="suppress", **asked)
            del made[0]["srsql.ingestion"]  # which tells when it was
            found.append(made)
    assert found[0] == found[1]
    assert found[0][0]["srsql.suppressed"]


ODD_IDS = ("7", "07", "A7", "é1", "日本", "x'y", 'q"q', "1" + "0" * 40, "-3", "1.5", "1e3")
"""Texts that are numbers, look like some, or are none: the order of cases has to be the same."""
ODD_TERMS = (
    "Schmerz é",
    'It\'s "x"',
    "日本",
    "rash",
    "RASH",
    "ﬁ",
    "-- drop",
    "a;b",
    "%",
    "\ufeffa",
)


@pytest.mark.thorough
@pytest.mark.parametrize("buckets", [1, 16])
def test_ids_and_terms_of_any_text_come_back_from_buckets_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, buckets: int
) -> None:
    monkeypatch.setattr(lake_module, "BUCKETS", (buckets, buckets))
    (tmp_path / "clinic.toml").write_text(clinic.TOML)
    cases = (*ODD_IDS, *(f"P{case}" for case in range(40)), *map(str, range(60, 100)))
    sources = []
    for turn in range(2):
        visits = [
            (f"V'{case}.{turn}.{version}", case, 20 + place * 7 % 60, "MF"[place % 2], "w", "s")
            for place, case in enumerate(cases)
            for version in range(1 + (place + turn) % 3 // 2)
            if (place + turn) % 4
        ]
        findings = [
            (visit[0], term, "d", "doc")
            for place, visit in enumerate(visits)
            for term in (ODD_TERMS[place % len(ODD_TERMS)], f"term {place % 30}")
        ]
        strays = [("nobody's", "stray", "d", "doc"), ("", "stray", "d", "doc")]
        sources.append(clinic.write(tmp_path / f"{turn}", visits, [*findings, *strays]))
    found = []
    for lake, asked in ((None, {}), (tmp_path / "lake", {"carrier": Counted()})):
        db = tmp_path / f"{lake is None}.duckdb"
        with Engine(db, dataset=tmp_path / "clinic.toml") as engine:
            for source, quarter in zip(sources, QUARTERS, strict=True):
                engine.ingest([source], period=quarter, lake=lake)
            engine.con.execute(
                "INSERT INTO srsql.deleted_case "
                "SELECT 'clinic', unnest(['x''y', '07', 'P7', 'of nobody']), 1"
            )
            found.append(merged(engine, model="ppms++", on_infeasible="withhold", **asked))
    asked["carrier"].__exit__()
    assert asked["carrier"].buckets == 2 * buckets
    assert found[0] == found[1]
    assert found[0][0]["srsql.member"]


@pytest.mark.thorough
def test_super_records_by_bucket_know_what_drugs_suggest(place: Path, tmp_path: Path) -> None:
    (tmp_path / "known.csv").write_text(KNOWLEDGE)
    found = []
    with InProcess() as carrier:
        for db, given in (("plain.duckdb", {}), ("w.duckdb", {"carrier": carrier})):
            with Engine(place / db) as engine:
                found.append(merged(engine, model="ms", knowledge=tmp_path / "known.csv",
                                    theta="1", **given))  # fmt: skip
                inferred = engine.sql(
                    "SELECT count(*) FROM srsql.case_term AS t WHERE NOT t.direct"
                )
                assert inferred > [(100,)]
    assert found[0] == found[1]


@pytest.mark.thorough
def test_worker_processes_merge_buckets_to_the_same_release(place: Path) -> None:
    found = []
    for db, workers in (("plain.duckdb", 1), ("w.duckdb", 2)):
        with Engine(place / db) as engine:
            found.append(merged(engine, model="ppms++", workers=workers))
    assert found[0] == found[1]


@pytest.mark.thorough
def test_a_worker_that_is_killed_over_a_bucket_takes_the_release_back_whole(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    received = LocalWorkers._received

    def kill(self: LocalWorkers, process: Any) -> pa.Table:
        self._running[-1].kill()
        return received(self, process)

    with Engine(place / "w.duckdb") as engine:
        engine.release(QUARTERS[0], k=4, seed=5, model="ms")
        before = content(engine)
        with monkeypatch.context() as killing:
            killing.setattr(LocalWorkers, "_received", kill)
            with pytest.raises(WarehouseError, match="a worker process ended"):
                engine.release(QUARTERS[1], k=4, seed=5, model="ms", workers=2)
        assert content(engine) == before
        assert engine.release(QUARTERS[1], k=4, seed=5, model="ms", workers=2).rows["demo"] == 240


@pytest.mark.thorough
@pytest.mark.parametrize("wrong", ["missing", "shorter", "another's"])
def test_a_bucket_that_cannot_be_read_where_it_is_carried_is_told_in_one_line(
    place: Path, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Engine(place / "w.duckdb") as engine:
        dataset = registered_dataset(engine.warehouse, "faers")
        (first, *_) = buckets_of(engine.warehouse, dataset, QUARTERS[1])
    elsewhere = place / "elsewhere"
    if wrong != "missing":
        shutil.copytree(place / "lake", elsewhere)
    for path in elsewhere.rglob("*.parquet"):
        path.write_bytes(path.read_bytes()[:-1] if wrong == "shorter" else path.read_bytes())
    if wrong == "another's":
        monkeypatch.setattr(Path, "open", refused)
        monkeypatch.setattr(Path, "stat", refused)
    work = BucketWork(dataset, elsewhere, lambda own, told: None, "SELECT 1")
    told = r"elsewhere.* of the lake cannot be read here, or has another size: whoever"
    with InProcess() as carrier, pytest.raises(WarehouseError, match=told) as found:
        list(carrier.carry(work, [first]))
    assert "\n" not in str(found.value)


def refused(path: Path, *_: Any, **__: Any) -> Any:
    """A file, or the folder that it is in, is somebody else's."""
    raise PermissionError(errno.EACCES, "Permission denied", str(path))


@pytest.mark.thorough
def test_a_bucket_is_sent_without_the_others(place: Path) -> None:
    with Engine(place / "w.duckdb") as engine:
        engine.con.execute(
            "INSERT INTO srsql.deleted_case "
            "SELECT 'faers', r.range::VARCHAR, 1 FROM range(20_000) AS r"
        )
        dataset = registered_dataset(engine.warehouse, "faers")
        buckets = buckets_of(engine.warehouse, dataset, QUARTERS[1])
    assert len(buckets) == 4
    for bucket in buckets:
        alone = pa.Table.from_pylist(bucket.to_pylist(), schema=bucket.schema)
        assert len(pickle.dumps(bucket)) < 1.2 * len(pickle.dumps(alone))


def test_only_records_of_reports_are_no_reason_to_ask_a_carrier(place: Path) -> None:
    with Engine(place / "w.duckdb") as engine, pytest.raises(ReleaseError, match="is for parts"):
        engine.release(QUARTERS[0], model="k-anonymity", carrier=InProcess())


@pytest.mark.slow
def test_a_lake_has_the_rows_that_the_file_would_have(place: Path) -> None:
    with Engine(place / "plain.duckdb") as plain, Engine(place / "w.duckdb") as engine:
        assert raw_rows(engine) == raw_rows(plain)
        assert len(raw_rows(engine)["demo"]) == 480
        for name in TABLES:
            asked = f"DESCRIBE SELECT t.* FROM raw_faers.{name} AS t"
            assert engine.sql(asked) == plain.sql(asked)
        kinds = engine.sql("SELECT DISTINCT t.schema_name FROM duckdb_tables() AS t")
        assert ("raw_faers",) not in kinds
        assert files(place / "lake") == listed(engine)


@pytest.mark.slow
def test_every_row_lies_with_its_case_in_the_period_that_it_is_of(place: Path) -> None:
    with duckdb.connect() as con:
        for path in (place / "lake" / "faers").rglob("*.parquet"):
            table, period = path.parts[-3:-1]
            bucket = int(path.name.split("-")[0])
            rows = con.execute(f"SELECT caseid, primaryid FROM '{path}'").fetchall()
            assert rows
            assert table in TABLES
            for case, report in rows:
                assert int(hashlib.md5(str(case).encode()).hexdigest()[:8], 16) % 4 == bucket
                assert period == f"quarter={QUARTERS[report % 10 - 1]}"


@pytest.mark.thorough
def test_rows_without_a_report_lie_somewhere_and_none_is_lost(tmp_path: Path) -> None:
    drugs = lines("primaryid$drugname", "101$Aspirin", "999$Nobody's")
    source = pack(tmp_path / "q.zip", faers(drug=drugs))
    found = []
    for lake in (None, tmp_path / "lake"):
        with Engine(tmp_path / f"{lake is None}.duckdb") as engine:
            engine.ingest([source], allow_incomplete=True, lake=lake)
            found.append(raw_rows(engine))
    assert found[0] == found[1]
    assert len(found[1]["drug"]) == 2


@pytest.mark.slow
def test_folders_and_files_are_their_owners_alone(place: Path) -> None:
    lake = place / "lake"
    modes = {stat.S_IMODE(path.stat().st_mode) for path in lake.rglob("*") if path.is_file()}
    assert modes == {0o600}
    folders = [lake, *(path for path in lake.rglob("*") if path.is_dir())]
    assert {stat.S_IMODE(path.stat().st_mode) for path in folders} == {0o700}
    assert not list(lake.rglob(".*"))


@pytest.mark.thorough
def test_a_replaced_period_has_other_files_and_the_others_stay(place: Path, tmp_path: Path) -> None:
    other = write_quarter(tmp_path, "2011Q4", crowd(90, first=200, terms=60, version=2))
    found = []
    for db in ("plain.duckdb", "w.duckdb"):
        with Engine(place / db) as engine:
            before = listed(engine)
            done = engine.ingest([other], replace=True)
            found.append((raw_rows(engine), content(engine), done))
    assert found[0] == found[1]
    with Engine(place / "w.duckdb") as engine:
        after = listed(engine)
        assert files(place / "lake") == after
        same = before.items() & after.items()
        assert {file for file, _ in same} == {file for file in before if "2011Q3" in file}


@pytest.mark.slow
def test_who_is_forgotten_is_in_no_file_of_the_lake_and_other_files_stay(place: Path) -> None:
    found = []
    with duckdb.connect() as con:
        asked = f"SELECT count(*) FROM '{place}/lake/faers/*/*/*.parquet' WHERE caseid = 150"
        assert con.execute(asked).fetchall() != [(0,)]
        for db in ("plain.duckdb", "w.duckdb"):
            with Engine(place / db) as engine:
                before = listed(engine)
                dry = engine.forget(["150"], reason="asked", dry_run=True)
                assert listed(engine) == before
                receipt = engine.forget(["150"], reason="asked")
                assert receipt.erased == dry.erased
                assert receipt.rebuilt
                found.append((raw_rows(engine), receipt.erased))
        assert con.execute(asked).fetchall() == [(0,)]
    assert found[0] == found[1]
    assert found[1][1]["raw_faers.demo"] == 2
    with Engine(place / "w.duckdb") as engine:
        after = listed(engine)
        assert files(place / "lake") == after
        bucket = int(hashlib.md5(b"150").hexdigest()[:8], 16) % 4
        gone = {file for file in before if f"/{bucket}-" in file}
        assert {file for file, _ in before.items() - after.items()} == gone
        assert before.keys() - after.keys() == gone
        engine.release("2011Q4", k=4, seed=1)


@pytest.mark.thorough
def test_a_forgotten_case_that_a_file_brings_back_is_not_in_the_lake(
    place: Path, tmp_path: Path
) -> None:
    other = write_quarter(tmp_path, "2012Q1", crowd(90, first=150, terms=60, version=3))
    with Engine(place / "w.duckdb") as engine:
        engine.forget(["150"], reason="asked")
        engine.ingest([other])
        assert engine.sql("SELECT count(*) FROM raw_faers.demo WHERE caseid = 150") == [(0,)]
        assert engine.sql("SELECT count(*) FROM raw_faers.demo WHERE caseid = 151") == [(3,)]


@pytest.mark.thorough
def test_a_case_that_fills_a_file_alone_takes_the_file_with_it(tmp_path: Path) -> None:
    source = write_quarter(tmp_path, "2011Q4", crowd(1))
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([source], lake=tmp_path / "lake")
        engine.forget(["1"], reason="asked")
        assert engine.sql("SELECT count(*) FROM raw_faers.demo") == [(0,)]
        assert not files(tmp_path / "lake")
    with Engine(tmp_path / "w.duckdb") as engine:
        assert engine.status().lake is not None
        engine.ingest([write_quarter(tmp_path, "2012Q1", crowd(5, first=7))])
        assert engine.sql("SELECT count(*) FROM raw_faers.demo") == [(5,)]


@pytest.mark.thorough
def test_the_place_of_a_dataset_is_said_once(place: Path, sources: list[Path]) -> None:
    again = srsql("ingest", sources[0], "--db", "w.duckdb", "--lake", "other")
    assert (again.code, again.notes) == (
        2,
        [
            f"srsql: faers lies in the lake {place / 'lake'} since it was first ingested: leave "
            "--lake out, or use a warehouse of its own (--db)"
        ],
    )
    assert not (place / "other").exists()
    assert srsql("ingest", sources[0], "--db", "w.duckdb", "--lake", "lake").code == 0
    late = srsql("ingest", sources[0], "--db", "plain.duckdb", "--lake", "other")
    assert late.code == 2
    assert "faers is kept in the file of the warehouse since" in late.err
    told = srsql("status", "--db", "w.duckdb")
    assert f"lake {place / 'lake'}: 40 files" in told.out
    assert "faers in 4 buckets a period" in told.out
    assert srsql("status", "--db", "w.duckdb", "--json").json["lake"]["buckets"] == {"faers": 4}
    assert srsql("status", "--db", "plain.duckdb", "--json").json["lake"] is None
    alone = srsql("lake", "--db", "plain.duckdb")
    assert (alone.code, alone.notes) == (
        2, ["srsql: plain.duckdb has no lake: its raw rows are kept in the file"]
    )  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("folder", "why"),
    [
        ("lake", "is the lake of another warehouse"),
        ("full", "is not an empty folder"),
        ("plain.duckdb", "is not an empty folder"),
        ("sex=M", "cannot be a lake (its path has =)"),
        ("no/such/folder", "there is no folder"),
    ],
)
def test_a_folder_that_cannot_be_a_lake_is_refused_and_nothing_is_made(
    place: Path, sources: list[Path], folder: str, why: str
) -> None:
    (place / "full").mkdir()
    (place / "full" / "mine.txt").write_text("mine")
    before = sorted(place.rglob("*"))
    refused = srsql("ingest", sources[0], "--db", "new.duckdb", "--lake", folder)
    assert refused.code == 2
    (line,) = refused.notes
    assert why in line
    assert sorted(place.rglob("*")) == before


def test_a_warehouse_in_memory_has_no_lake(sources: list[Path], tmp_path: Path) -> None:
    with Engine(":memory:") as engine, pytest.raises(WarehouseError, match="in memory"):
        engine.ingest(sources, lake=tmp_path / "lake")
    assert not (tmp_path / "lake").exists()


@pytest.mark.thorough
def test_a_lake_belongs_to_a_database_file_of_the_callers_too(
    sources: list[Path], tmp_path: Path
) -> None:
    with duckdb.connect(str(tmp_path / "theirs.duckdb")) as con:
        con.execute("CREATE MACRO read_parquet(x) AS TABLE SELECT 'theirs' AS quarter")
        con.execute("CREATE MACRO md5(x) AS 'theirs'")
        engine = Engine(con)
        engine.ingest(sources, lake=tmp_path / "lake")
        assert con.execute("SELECT count(*) FROM raw_faers.demo").fetchall() == [(480,)]
        engine.forget(["150"], reason="asked")
        assert con.execute("SELECT count(*) FROM raw_faers.demo").fetchall() == [(478,)]


@pytest.mark.slow
def test_a_first_ingestion_that_fails_leaves_no_lake(tmp_path: Path) -> None:
    broken = pack(tmp_path / "q.zip", faers(demo=lines("primaryid$caseid", *["x"] * 50)))
    with Engine(tmp_path / "w.duckdb") as engine:
        with pytest.raises(Exception, match="reject"):
            engine.ingest([broken], lake=tmp_path / "lake")
        assert engine.status().lake is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["q.zip", "w.duckdb"]


@pytest.mark.thorough
def test_a_label_of_any_characters_is_a_period_of_a_lake(tmp_path: Path) -> None:
    (tmp_path / "clinic.toml").write_text(clinic.TOML)
    label = "Q1/2011 * [a]='%2F?'"
    for name, wanted in (("one", label), ("two", "__HIVE_DEFAULT_PARTITION__")):
        data = clinic.write(tmp_path / name, clinic.visits(), clinic.findings(["ache", "rash"]))
        with Engine(tmp_path / "w.duckdb", dataset=tmp_path / "clinic.toml") as engine:
            engine.ingest([data], period=wanted, lake=tmp_path / "lake")
            asked = "SELECT count(*) FROM raw_clinic.visit AS t WHERE t.quarter = ?"
            assert engine.sql(asked, [wanted]) == [(12,)]
    with Engine(tmp_path / "w.duckdb") as engine:
        assert engine.sql("SELECT count(*) FROM raw_clinic.visit") == [(24,)]
        engine.release(label, k=2, theta="1", seed=1)


@pytest.mark.thorough
def test_what_lies_in_the_folder_and_is_not_listed_is_nobodys_business(
    place: Path, tmp_path: Path
) -> None:
    own = next((place / "lake" / "faers" / "demo").rglob("0-*.parquet"))
    theirs = [own.with_name("0-0123456789abcdef.parquet"), own.with_name("mine.parquet")]
    for path in theirs:
        shutil.copy(own, path)
    (place / "lake" / "notes.txt").write_text("mine")
    with Engine(place / "w.duckdb") as engine:
        assert engine.sql("SELECT count(*) FROM raw_faers.demo") == [(480,)]
        engine.ingest([write_quarter(tmp_path, "2011Q4", crowd(9, version=2))], replace=True)
        engine.forget(["121"], reason="asked")
    assert all(path.exists() for path in (*theirs, place / "lake" / "notes.txt"))
    assert srsql("lake", "--check", "--db", "w.duckdb").code == 0


def test_empty_folders_go_after_a_change_that_was_killed_and_never_what_holds_something(
    tmp_path: Path,
) -> None:
    db, lake = tmp_path / "w.duckdb", tmp_path / "lake"
    with Engine(db) as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q4", crowd(6))], lake=lake)
    before = set(lake.rglob("*"))
    for empty in ("faers/demo/quarter=2012Q1", "faers/made", "other/demo/quarter=2012Q1", "third"):
        (lake / empty).mkdir(parents=True)
    (lake / ".held" / "rows").mkdir(parents=True)  # as files that are under way have them
    theirs = lake / "theirs" / "demo" / "quarter=2012Q1" / "notes.txt"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("mine")
    there = set(lake.rglob("*"))
    with Engine(db) as engine:  # no change was killed
        assert set(lake.rglob("*")) == there
        engine.con.execute("INSERT INTO srsql.lake_leftover VALUES ('0123456789abcdef', NULL)")
    Engine(db).close()
    stay = {path for path in (theirs, *theirs.parents) if lake in path.parents}
    assert set(lake.rglob("*")) == before | stay | {lake / ".held", lake / ".held" / "rows"}
    assert srsql("lake", "--check", "--db", db).code == 0


def damage(path: Path, how: str) -> None:
    """Take the file away, cut it off, or change one byte of it."""
    found = path.read_bytes()
    path.unlink()
    if how == "cut":
        path.write_bytes(found[: len(found) // 2])
    elif how == "byte":
        place = len(found) // 3
        path.write_bytes(found[:place] + bytes([found[place] ^ 1]) + found[place + 1 :])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "what", "commands"),
    [
        ("gone", "is missing", (["status"], ["lake"], ["release", "--quarter", "2011Q4"])),
        ("cut", "has other bytes than were written", (["status"], ["backup", "--to", "b.duckdb"])),
        pytest.param(
            "byte",
            "has other bytes than were written",
            (
                ["lake", "--check"],
                ["release", "--quarter", "2011Q4"],
                ["backup", "--to", "b.duckdb"],
                ["forget", "150", "--reason", "asked"],
            ),
            marks=pytest.mark.thorough,
        ),
    ],
)
def test_a_missing_or_damaged_file_is_told_in_one_line(
    place: Path, how: str, what: str, commands: tuple[list[str], ...]
) -> None:
    path = next((place / "lake" / "faers" / "demo" / "quarter=2011Q4").iterdir())
    damage(path, how)
    other = write_quarter(place / "other", "2011Q4", crowd(9, version=2))
    if how == "byte":  # what takes its place is compared with it
        commands = (*commands, ["ingest", str(other), "--replace"])
    before = files(place / "lake")
    for command in commands:
        answer = srsql(*command, "--db", "w.duckdb")
        assert answer.code == 5, (command, answer)
        (line,) = answer.notes
        assert line == (
            f"srsql: {path} of the lake {what}: put it back, or restore a backup "
            "('srsql restore --from BACKUP')"
        )
    assert files(place / "lake") == before
    assert not list(place.glob("b.duckdb*"))


@pytest.mark.parametrize("how", ["gone", "cut"])
def test_a_file_that_goes_while_the_warehouse_is_open_is_told_as_damage(
    place: Path, how: str
) -> None:
    with Engine(place / "w.duckdb", read_only=True) as engine:
        path = next((place / "lake" / "faers" / "reac").rglob("1-*.parquet"))
        damage(path, how)
        with pytest.raises(DamagedError, match=f"{path.name} of the lake"):
            engine.sql("SELECT count(DISTINCT pt) FROM raw_faers.reac")


@pytest.mark.thorough
def test_a_moved_lake_is_told_and_found_again(place: Path) -> None:
    (place / "lake").rename(place / "elsewhere")
    for command in (["status"], ["lake"], ["release", "--quarter", "2011Q3"]):
        answer = srsql(*command, "--db", "w.duckdb")
        assert (answer.code, answer.notes) == (
            5,
            [
                f"srsql: the lake of this warehouse is not at {place / 'lake'}: if it was moved, "
                "say where it is with 'srsql lake --moved-to DIR', else restore a backup ('srsql "
                "restore --from BACKUP')"
            ],
        )
    for wrong in ("nowhere", str(place)):
        answer = srsql("lake", "--moved-to", wrong, "--db", "w.duckdb")
        assert answer.code == 2
        assert "is no lake" in answer.notes[0]
    found = srsql("lake", "--moved-to", "elsewhere", "--db", "w.duckdb")
    assert found.code == 0
    assert found.out.splitlines() == [
        found.out.splitlines()[0],
        "that is where the warehouse looks for it from now on",
        "every file has the bytes that were written",
    ]
    with Engine(place / "w.duckdb") as engine, Engine(place / "plain.duckdb") as plain:
        assert raw_rows(engine) == raw_rows(plain)
        engine.release("2011Q3", k=4, seed=1)


def test_a_lake_that_was_moved_incompletely_is_not_taken_for_it(place: Path) -> None:
    shutil.copytree(place / "lake", place / "elsewhere")
    path = next((place / "elsewhere" / "faers" / "drug").rglob("*.parquet"))
    damage(path, "byte")
    answer = srsql("lake", "--moved-to", "elsewhere", "--db", "w.duckdb")
    assert answer.code == 5
    assert f"{path} of the lake has other bytes" in answer.notes[0]
    assert srsql("lake", "--db", "w.duckdb").code == 0


@pytest.mark.thorough
def test_a_backup_has_a_lake_of_its_own_and_is_restored_with_it(place: Path) -> None:
    made = srsql("backup", "--to", "safe.duckdb", "--db", "w.duckdb", "--json").json
    assert made["lake"] == "safe.duckdb.lake"
    assert files(place / "safe.duckdb.lake") == files(place / "lake")
    modes = [stat.S_IMODE(p.stat().st_mode) for p in (place / "safe.duckdb.lake").rglob("*")]
    assert set(modes) == {0o600, 0o700}
    with Engine(place / "safe.duckdb", read_only=True) as engine:
        assert engine.status().lake["folder"] == str(place / "safe.duckdb.lake")  # type: ignore[index]
        kept = raw_rows(engine)
    again = srsql("backup", "--to", "safe.duckdb", "--db", "w.duckdb")
    assert again.code == 2
    assert srsql("forget", "150", "--reason", "asked", "--db", "w.duckdb").code == 0
    shutil.rmtree(place / "lake" / "faers" / "drug")  # a lost disk
    restored = srsql("restore", "--from", "safe.duckdb", "--db", "w.duckdb")
    assert restored.code == 0, restored
    assert "1 cases of faers that were forgotten since were forgotten anew" in restored.out
    assert f"its lake is {place / 'lake'}" in restored.out
    assert (place / "lake.before-restore" / "srsql-lake.json").exists()
    with Engine(place / "w.duckdb") as engine:
        assert engine.sql("SELECT count(*) FROM raw_faers.demo WHERE caseid = 150") == [(0,)]
        assert files(place / "lake") == listed(engine)
        now = raw_rows(engine)
        assert {len(rows) - len(now[name]) for name, rows in kept.items()} <= {0, 1, 2}
    with Engine(place / "safe.duckdb", read_only=True) as engine:  # as it was
        assert raw_rows(engine) == kept
    assert not [path for path in place.iterdir() if path.name.startswith(".")]


@pytest.mark.thorough
def test_a_restored_warehouse_whose_place_is_empty_has_its_lake_beside(place: Path) -> None:
    assert srsql("backup", "--to", "safe.duckdb", "--db", "w.duckdb").code == 0
    shutil.rmtree(place / "lake")
    (place / "w.duckdb").unlink()
    (place / "shelf").mkdir()
    for name in ("safe.duckdb", "safe.duckdb.lake"):
        (place / name).rename(place / "shelf" / name)
    asked = ["restore", "--from", "shelf/safe.duckdb", "--db", "w.duckdb", "--without-forgotten"]
    (place / "shelf" / "safe.duckdb.lake").rename(place / "elsewhere")
    lost = srsql(*asked)
    assert lost.code == 5
    assert "'srsql lake --moved-to DIR --db shelf/safe.duckdb'" in lost.notes[0]
    assert not (place / "w.duckdb").exists()
    (place / "elsewhere").rename(place / "shelf" / "safe.duckdb.lake")
    made = srsql(*asked, "--json").json
    assert (made["lake"], made["kept_lake"]) == ("w.duckdb.lake", None)
    with Engine(place / "w.duckdb") as engine, Engine(place / "plain.duckdb") as plain:
        assert raw_rows(engine) == raw_rows(plain)


@pytest.mark.thorough
def test_a_copy_of_the_warehouse_that_lags_cannot_change_the_lake(
    place: Path, tmp_path: Path
) -> None:
    shutil.copy(place / "w.duckdb", place / "copy.duckdb")
    third = write_quarter(tmp_path, "2012Q1", crowd(9, version=3))
    with Engine(place / "w.duckdb") as engine:
        engine.ingest([third])
        after = listed(engine)
    with Engine(place / "copy.duckdb") as engine:
        assert engine.sql("SELECT count(*) FROM raw_faers.demo") == [(480,)]
        for attempt in (
            lambda: engine.ingest([third]),
            lambda: engine.forget(["150"], reason="asked"),
        ):
            with pytest.raises(WarehouseError, match="was changed by another copy"):
                attempt()
    assert files(place / "lake") == after
    with Engine(place / "w.duckdb") as engine:
        assert engine.sql("SELECT count(*) FROM raw_faers.demo") == [(489,)]


@pytest.mark.thorough
def test_a_sample_in_a_private_copy_leaves_the_lake_as_it_is(place: Path) -> None:
    before, counts, rows = files(place / "lake"), [], []
    for db in ("plain.duckdb", "w.duckdb"):
        shutil.copy(place / db, place / "copy.duckdb")
        with Engine(place / "copy.duckdb") as engine:
            dataset = engine.dataset()
            for quarter in QUARTERS:
                thin(engine.warehouse, dataset, quarter, 100, 7)
            counts.append([count_cases(engine.warehouse, dataset, q) for q in QUARTERS])
            rows.append(raw_rows(engine))
    assert counts == [[100, 100]] * 2
    assert rows[0] == rows[1]
    assert files(place / "lake") == before


@pytest.mark.thorough
def test_a_correction_and_a_draft_of_a_lake_are_checked_against_it(place: Path) -> None:
    with Engine(place / "w.duckdb") as engine:
        engine.release("2011Q3", k=4, seed=1)
        engine.release("2011Q4", k=4, seed=1, draft=True)
        engine.confirm("2011Q4")
        engine.forget(["150"], reason="asked")
        assert engine.correct("2011Q4").release_id
        engine.release("2011Q4", k=4, seed=1, series="other", draft=True, allow_linkable=True)
    damage(next((place / "lake" / "faers" / "demo" / "quarter=2011Q4").iterdir()), "byte")
    with Engine(place / "w.duckdb") as engine, pytest.raises(DamagedError):
        engine.release("2011Q4", k=4, seed=1, supersede=True)
    with Engine(place / "w.duckdb") as engine, pytest.raises(DamagedError):
        engine.confirm("2011Q4", series="other", allow_linkable=True)


@pytest.mark.thorough
def test_a_warehouse_of_layout_7_is_migrated_and_its_next_dataset_may_have_a_lake(
    place: Path,
) -> None:
    with duckdb.connect(str(place / "plain.duckdb")) as con:
        for name in ("lake", "lake_dataset", "lake_file", "lake_leftover"):
            con.execute(f"DROP TABLE srsql.{name}")
        con.execute("UPDATE srsql.warehouse SET layout = 7")
    refused = srsql("status", "--db", "plain.duckdb")
    assert (refused.code, "run 'srsql migrate'" in refused.err) == (2, True)
    migrated = srsql("migrate", "--db", "plain.duckdb", "--json").json
    assert (migrated["from_layout"], migrated["to_layout"]) == (7, LAYOUT)
    (place / "clinic.toml").write_text(clinic.TOML)
    data = clinic.write(place / "one", clinic.visits(), clinic.findings(["ache", "rash"]))
    with Engine(place / "plain.duckdb") as engine:
        engine.ingest(
            [data], dataset=place / "clinic.toml", period="2024", lake=place / "their lake"
        )
        assert engine.sql("SELECT count(*) FROM raw_clinic.visit") == [(12,)]
        assert engine.sql("SELECT count(*) FROM raw_faers.demo") == [(480,)]
        kinds = dict(
            engine.sql(
                "SELECT t.table_schema, min(t.table_type) FROM information_schema.tables AS t "
                "WHERE starts_with(t.table_schema, 'raw_') GROUP BY ALL"
            )
        )
        assert kinds == {"raw_faers": "BASE TABLE", "raw_clinic": "VIEW"}
