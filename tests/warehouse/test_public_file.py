"""A warehouse that is split: its public file has what is out, now, and nothing else ever."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest
from support.command import srsql
from support.quarters import Report, crowd, next_version, write_quarter
from support.sets import write_rows, write_sets

from srsql import Engine, open_artifact
from srsql.engine.errors import PublishError, SrsqlError, WarehouseError
from srsql.engine.steward import public_file
from srsql.engine.steward.migrate import migrate
from srsql.engine.steward.restore import restore
from srsql.engine.store.definitions import LAYOUT

pytestmark = pytest.mark.slow

OPTIONS: dict[str, Any] = {"k": 3, "theta": "1", "seed": 1, "allow_linkable": True}
SECRET = "ZQ9FX7LMPW3TTKH5VBN2RD8YC4JG6SE1"
"""A text that no compression shortens."""
CASE, REPORT = 900_000_007, 9_000_000_071


TERMS = (("reac", "pt"), ("indi", "indi_pt"), ("drug", "drugname"))
FIRST = 7_000_001
UNSEEN = Report(
    90000000811, 9000000081, age="50", sex="F", wt="60", pt=("Unseen reaction",),
    drugs=("Unseen drug",),
)  # fmt: skip
"""What no release shows that the public file has."""


def quarter() -> list[Report]:
    """Forty cases, and one whose reaction nobody else has."""
    rare = Report(REPORT, CASE, age="44", sex="M", wt="70", pt=(SECRET,), drugs=("Drug 1",))
    return [*crowd(40, FIRST), rare]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two quarters, the first of which is out, and split; a backup of before."""
    folder = tmp_path_factory.mktemp("split")
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest([write_quarter(folder, "2011Q3", quarter())])
        engine.release.make("2011Q3", **OPTIONS)
        later = [*crowd(40, FIRST + 20, version=2), next_version(quarter()[-1]), UNSEEN]
        engine.ingest([write_quarter(folder, "2011Q4", later)])
    return folder


@pytest.fixture
def place(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "here")
    return tmp_path / "here"


def cells(file: Path) -> dict[str, list[str]]:
    """Every column of every table of a file, by name, with the texts of its values."""
    with duckdb.connect(file, read_only=True) as con:
        names = con.execute(
            "SELECT schema_name, table_name, column_name FROM duckdb_columns() WHERE NOT internal "
            "AND database_name = current_database() AND (schema_name, table_name) IN "
            "(SELECT (schema_name, table_name) FROM duckdb_tables())"
        ).fetchall()
        return {
            f"{schema}.{table}.{column}": [
                text
                for (text,) in con.execute(
                    f'SELECT DISTINCT "{column}"::VARCHAR FROM "{schema}"."{table}" '
                    f'WHERE "{column}" IS NOT NULL'
                ).fetchall()
            ]
            for schema, table, column in names
        }


def quarters_in(file: Path) -> list[str]:
    with duckdb.connect(file, read_only=True) as con:
        return [q for (q,) in con.execute("SELECT period FROM srsql.series()").fetchall()]


def view(file: Path, statement: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(file, read_only=True) as con:
        return con.execute(statement).fetchall()


def test_every_column_of_the_public_file_has_what_is_out_alone(place: Path) -> None:
    """No id of the source, no number of a manufacturer, no value that no row shows; no link."""
    private, public = place / "w.duckdb", place / "public.duckdb"
    with Engine(private) as engine:
        engine.release.make("2011Q4", **OPTIONS, draft=True)
        (kept,) = engine.steward.split(public)
        assert (kept.quarters, kept.held, kept.made) == (["2011Q3"], 0, True)
        reports = engine.sql("SELECT primaryid::VARCHAR, caseid::VARCHAR FROM raw_faers.demo")
        shown = {
            key
            for name, column in (
                ("reac", "pt_key"),
                ("indi", "indi_pt_key"),
                ("drug", "drugname_key"),
            )
            for (key,) in engine.sql(f"SELECT DISTINCT {column} FROM release_2011q3.{name}")
        }
        every = {
            key
            for name, column in (("reac", "pt"), ("indi", "indi_pt"), ("drug", "drugname"))
            for (key,) in engine.sql(f"SELECT DISTINCT srsql_{column} FROM raw_faers.{name}")
        }
        pseudonyms = {
            text
            for pair in engine.sql("SELECT primaryid::VARCHAR, caseid::VARCHAR FROM released.demo")
            for text in pair
        }
    ids = {text for pair in reports for text in pair if len(text) > 5}
    found = cells(public)
    filled = {name for name, texts in found.items() if texts}
    tables = {name.rpartition(".")[0] for name in filled}
    assert tables == {
        "srsql.attribute", "srsql.case_flag", "srsql.case_term", "srsql.dataset",
        "srsql.dataset_key", "srsql.defended_attack", "srsql.hierarchy", "srsql.measure",
        "srsql.member", "srsql.node", "srsql.public_origin", "srsql.region", "srsql.release",
        "srsql.release_key", "srsql.series", "srsql.ss_rule", "srsql.threshold", "srsql.warehouse",
        "srsql_data.latest_released",
        *(f"srsql_data.release_1_{n}" for n in ("demo", "drug", "indi", "manifest", "outc")),
        "srsql_data.release_1_reac",
    }  # fmt: skip
    assert len(every - shown) > 0
    for name, texts in found.items():
        words = {word for text in texts for word in re.split(r"\W+", text)}
        assert not ids & words, name
        assert not {text.lower() for text in texts} & {t.lower() for t in every - shown}, name
    assert set(found["srsql.member.case_id"]) <= pseudonyms
    assert found["srsql.series.pseudonym_key"] == [""]
    assert not [t for t in found["srsql.release.private_manifest"] if "seed" in t]
    assert b"MFR-" not in public.read_bytes()


def test_what_others_ask_of_the_public_file_is_what_an_artifact_answers(place: Path) -> None:
    private, public = place / "w.duckdb", place / "public.duckdb"
    with Engine(private) as engine:
        engine.release.make("2011Q4", **OPTIONS)
        engine.steward.split(public)
        engine.artifact.publish("2011Q3:2011Q4", place / "out", allow_linkable=True)
    asked = "SELECT count(DISTINCT caseid) FROM demo WHERE age > 50 AND sex = 'F'"
    with Engine(public, read_only=True) as split, open_artifact(place / "out") as artifact:
        assert split.query.ask(asked).rows == artifact.query(asked).rows
        assert (
            split.signals.find(every_pair=True).signals == artifact.signals(every_pair=True).signals
        )
        ours, theirs = split.audit.metrics("2011Q4"), artifact.metrics("2011Q4")
        assert [row[1:] for row in map(_values, ours)] == [row[1:] for row in map(_values, theirs)]
        assert split.sql("FROM released.demo ORDER BY ALL") == artifact.sql(
            "FROM released.demo ORDER BY ALL"
        )
        assert split.audit.run().safe
        verdict = split.audit.run()
    with duckdb.connect(public, read_only=True) as con:
        macros = con.execute("SELECT period, scope, safe, dig, dsg, groups FROM srsql.audit()")
        assert macros.fetchall() == [
            (row.quarter, row.scope, row.safe, row.dig, row.dsg, row.groups)
            for row in sorted(verdict.releases, key=lambda row: (row.quarter, row.scope))
        ]


def _values(row: Any) -> tuple[Any, ...]:
    return tuple(vars(row).values())


def test_the_public_file_follows_releases_drafts_corrections_and_stops(place: Path) -> None:
    private, public = place / "w.duckdb", place / "public.duckdb"
    with Engine(private) as engine:
        engine.steward.split(public)
        assert quarters_in(public) == ["2011Q3"]
        engine.release.make("2011Q4", **OPTIONS, draft=True)
        assert quarters_in(public) == ["2011Q3"]
        before = public.stat().st_ino
        engine.release.confirm("2011Q4", allow_linkable=True)
        assert quarters_in(public) == ["2011Q3", "2011Q4"]
        assert public.stat().st_ino != before
        standing = public.stat().st_mtime_ns
        engine.series.set("main", k=4)  # which changes nothing that is out
        assert public.stat().st_mtime_ns == standing
        (gone,) = engine.steward.split(stop=True)
        assert (gone.kept, public.exists()) == (False, True)
        with pytest.raises(WarehouseError, match="has no public file"):
            engine.steward.split(stop=True)


def test_nothing_of_a_forgotten_case_is_left_in_the_bytes_of_the_public_file(place: Path) -> None:
    """The quarter that shows the case is held back whole, and comes back corrected."""
    private, public = place / "w.duckdb", place / "public.duckdb"
    with Engine(private) as engine:
        engine.steward.split(public)
        assert SECRET.encode() in public.read_bytes()
        engine.steward.forget([str(CASE)], reason="asked")
        (kept,) = engine.steward.split()
        assert (kept.quarters, kept.held) == ([], 1)
        assert SECRET.encode() not in public.read_bytes()
        assert SECRET.lower().encode() not in public.read_bytes()
        engine.release.correct("2011Q3")
        (kept,) = engine.steward.split()
        assert (kept.quarters, kept.held) == (["2011Q3"], 0)
    assert SECRET.lower().encode() not in public.read_bytes().lower()
    assert view(public, f"SELECT count(*) FROM released.reac WHERE pt = '{SECRET}'") == [(0,)]
    assert view(public, "SELECT count(*) > 0 FROM released.reac") == [(True,)]


def test_a_quarter_of_which_nobody_could_be_released_is_empty_there(
    made: Path, tmp_path: Path
) -> None:
    private, public = tmp_path / "w.duckdb", tmp_path / "public.duckdb"
    shutil.copy(made / "w.duckdb", private)
    few = write_quarter(tmp_path, "2012Q1", crowd(2, FIRST + 90, version=5))
    with Engine(private) as engine:
        engine.ingest([few])
        usual = {**OPTIONS, "on_infeasible": "withhold", "series": "other"}
        engine.release.make_range("2011Q3:2012Q1", **usual)
        engine.steward.split(public, series="other")
    assert quarters_in(public) == ["2011Q3", "2011Q4", "2012Q1"]
    assert view(public, "SELECT count(*) FROM release_other_2012q1.demo") == [(0,)]
    with Engine(public, read_only=True) as engine:
        found = engine.audit.run(series="other").releases
        assert {row.quarter: row.groups > 0 for row in found} == {
            "2011Q3": True, "2011Q4": True, "2012Q1": False
        }  # fmt: skip


def test_the_public_file_is_of_a_storage_version_that_older_clients_read(place: Path) -> None:
    public = place / "public.duckdb"
    with Engine(place / "w.duckdb") as engine:
        engine.steward.split(public)
    asked = "SELECT tags['storage_version'] FROM duckdb_databases() WHERE NOT internal"
    ((version,),) = view(public, asked)
    assert version.startswith(public_file.STORAGE.rpartition(".")[0])


def test_a_reader_sees_the_old_state_until_the_file_is_opened_anew(place: Path) -> None:
    private, public = place / "w.duckdb", place / "public.duckdb"
    with Engine(private) as engine:
        engine.steward.split(public)
        with duckdb.connect(public, read_only=True) as reader:
            engine.release.make("2011Q4", **OPTIONS)
            assert reader.execute("SELECT count(*) FROM srsql.release").fetchall() == [(1,)]
            assert reader.execute("SELECT count(*) > 0 FROM released.demo").fetchall() == [(True,)]
    assert quarters_in(public) == ["2011Q3", "2011Q4"]


def test_a_public_file_that_is_missing_or_stale_is_made_anew_by_the_next_command(
    place: Path,
) -> None:
    private, public = place / "w.duckdb", place / "public.duckdb"
    with Engine(private) as engine:
        engine.steward.split(public)
    stale = public.read_bytes()
    with Engine(private) as engine:
        engine.release.make("2011Q4", **OPTIONS)
    public.write_bytes(stale)
    public.chmod(0o444)
    Engine(private).close()
    assert quarters_in(public) == ["2011Q3", "2011Q4"]
    assert public.stat().st_mode & 0o777 == 0o444  # as whoever shares it has set it
    public.unlink()
    log = public.with_name("public.duckdb.wal")
    log.write_bytes(b"of a file that is gone")
    assert srsql("split", "--db", private).code == 0
    assert quarters_in(public) == ["2011Q3", "2011Q4"]
    assert not log.exists()


@pytest.mark.parametrize("what", ["another warehouse's", "a warehouse", "a text", "a folder"])
def test_what_took_the_place_of_a_public_file_is_never_overwritten(place: Path, what: str) -> None:
    private, public = place / "w.duckdb", place / "public.duckdb"
    with Engine(private) as engine:
        engine.steward.split(public)
    public.unlink()
    if what == "another warehouse's":
        shutil.copy(private, place / "other.duckdb")
        with Engine(place / "other.duckdb") as engine:
            engine.steward.split(stop=True)
            engine.steward.split(place / "theirs.duckdb")
        shutil.copy(place / "theirs.duckdb", public)
    elif what == "a warehouse":
        Engine(public).close()
    elif what == "a text":
        public.write_text("minutes of the meeting")
    else:
        public.mkdir()
    before = public.read_bytes() if public.is_file() else b""
    with (
        Engine(private) as engine,
        pytest.raises(WarehouseError, match="is not the public file that this warehouse wrote"),
    ):
        engine.release.make("2011Q4", **OPTIONS)
    line = srsql("release", "--quarter", "2011Q4", "--db", private, "--seed", "1").err
    assert "move it away" in line
    assert line.count("\n") == 1
    assert (public.read_bytes() if public.is_file() else b"") == before
    assert srsql("status", "--db", private).code == 0  # who reads is not concerned
    assert srsql("split", "--stop", "--db", private).code == 0
    with Engine(private) as engine:
        engine.release.make("2011Q4", **OPTIONS)


def test_a_copy_of_the_warehouse_never_writes_the_public_file(place: Path) -> None:
    """A warehouse that was moved says so once more."""
    private, public, copy = (place / f"{name}.duckdb" for name in ("w", "public", "copy"))
    with Engine(private) as engine:
        engine.steward.split(public)
        engine.steward.backup(copy)
    before = public.read_bytes()
    with Engine(copy) as engine:
        with pytest.raises(WarehouseError, match=r"is kept by the warehouse at .*a copy"):
            engine.release.make("2011Q4", **OPTIONS)
        assert engine.sql("SELECT count(*) FROM srsql.release") == [(1,)]
        with pytest.raises(WarehouseError, match="is kept by the warehouse at"):
            engine.steward.split()
    shutil.copy(copy, place / "moved.duckdb")
    with Engine(copy) as engine:
        engine.steward.split(stop=True)
        engine.release.make("2011Q4", **OPTIONS)
    assert public.read_bytes() == before
    with Engine(place / "moved.duckdb") as engine:
        engine.steward.split(public)
        engine.release.make("2011Q4", **OPTIONS)
    assert quarters_in(public) == ["2011Q3", "2011Q4"]


def test_a_release_is_out_although_its_public_file_cannot_be_written(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private, folder = place / "w.duckdb", place / "shared"
    folder.mkdir()
    public = folder / "public.duckdb"
    with Engine(private) as engine:
        engine.steward.split(public)
        with monkeypatch.context() as broken:
            broken.setattr(public_file, "_fill", _full)
            with pytest.raises(WarehouseError, match=r"not up to date .*No space left.*anew"):
                engine.release.make("2011Q4", **OPTIONS)
        assert engine.sql("SELECT count(*) FROM srsql.release") == [(2,)]
        assert quarters_in(public) == ["2011Q3"]
    assert os.listdir(folder) == ["public.duckdb"]
    Engine(private).close()
    assert quarters_in(public) == ["2011Q3", "2011Q4"]


def _full(*_: Any) -> None:
    raise OSError(28, os.strerror(28))


def test_split_that_fails_leaves_the_warehouse_as_it_was(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private, public = place / "w.duckdb", place / "public.duckdb"
    with Engine(private) as engine:
        with monkeypatch.context() as broken:
            broken.setattr(public_file, "_fill", _full)
            with pytest.raises(WarehouseError, match="No space left"):
                engine.steward.split(public)
        assert not public.exists()
        assert list(engine.steward.split()) == []
        public.write_text("minutes")
        with pytest.raises(WarehouseError, match="is there already"):
            engine.steward.split(public)
        with pytest.raises(WarehouseError, match="there is no folder"):
            engine.steward.split(place / "nowhere" / "x.duckdb")
        with pytest.raises(WarehouseError, match="there is no series 'x'"):
            engine.steward.split(place / "x.duckdb", series="x")
        engine.release.make("2011Q3", series="open", ids="original", **OPTIONS)
        with pytest.raises(WarehouseError, match="shows the ids of the source"):
            engine.steward.split(place / "x.duckdb", series="open")
        engine.steward.split(place / "y.duckdb")
        with pytest.raises(WarehouseError, match="has its public file at"):
            engine.steward.split(place / "z.duckdb")


def test_a_restored_warehouse_keeps_its_public_file(place: Path) -> None:
    """Also where the backup is of before the split."""
    private, public, safe = (place / name for name in ("w.duckdb", "public.duckdb", "safe.duckdb"))
    with Engine(private) as engine:
        engine.steward.backup(safe)
        engine.steward.split(public)
        engine.release.make("2011Q4", **OPTIONS)
        engine.steward.forget([str(CASE)], reason="asked")
    assert srsql("restore", "--from", safe, "--db", private).code == 0
    assert quarters_in(public) == []  # the one release of then shows who was forgotten since
    assert SECRET.encode() not in public.read_bytes()
    with Engine(private) as engine:
        engine.release.correct("2011Q3")
    assert quarters_in(public) == ["2011Q3"]
    with pytest.raises(WarehouseError, match="is the public file of a warehouse"):
        restore(public, safe, without_forgotten=True)
    with pytest.raises(WarehouseError, match="is the public file of a warehouse"):
        restore(place / "new.duckdb", public, without_forgotten=True)


ORIGINALS = (
    ("explain", "--quarter", "2011Q3", "--case", "7"),
    ("lookup", "7"),
    ("publish", "--quarter", "2011Q3", "--to", "out"),
    ("report", "--quarter", "2011Q3"),
    ("backup", "--to", "b.duckdb"),
    ("audit", "--all-series"),
    ("audit", "--kept"),
    ("advise", "--quarter", "2011Q3"),
    ("compare", "--quarters", "2011Q3", "--models", "ms", "--k", "3"),
    ("metrics", "--quarter", "2011Q3", "--medical", "m.csv"),
)
WRITING = (
    ("forget", "7", "--reason", "x"),
    ("release", "--quarter", "2011Q3"),
    ("correct", "--quarter", "2011Q3"),
    ("series", "set", "main", "--k", "4"),
    ("duplicates",),
    ("migrate",),
    ("split",),
    ("split", "--to", "another.duckdb"),
)


def test_what_needs_originals_or_writes_is_refused_in_one_line(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    public = place / "public.duckdb"
    monkeypatch.chdir(place)
    with Engine(place / "w.duckdb") as engine:
        engine.steward.split(public)
    before = public.read_bytes()
    for words in ORIGINALS:
        found = srsql(*words, "--db", public)
        assert found.code == 2, (words, found.err)
        assert "which a public file does not hold" in found.err, words
        assert found.err.count("\n") == 1
    for words in WRITING:
        found = srsql(*words, "--db", public)
        assert found.code == 2, (words, found.err)
        assert "is written with the warehouse alone" in found.err, words
        assert found.err.count("\n") == 1
    assert public.read_bytes() == before
    with Engine(public, read_only=True) as engine, pytest.raises(SrsqlError, match="originals"):
        engine.query.age_groups("2011Q3")


APART = "told apart from rows"
WHOLE = {"terms": "disassociate", "term_attributes": "all", "model": "ms"}


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"terms": "disassociate"}, APART),
        (WHOLE, "told of clusters, and not of cases"),
        ({"model": "ppms-dp-all", "epsilon": "1"}, "drawn at random"),
        ({"model": "disassociation"}, "releases terms alone"),
    ],
    ids=["terms apart", "whole rows", "drawn values", "terms alone"],
)
def test_every_kind_of_release_can_be_split_and_no_audit_of_it_is_empty(
    made: Path, tmp_path: Path, options: dict[str, Any], why: str
) -> None:
    private, public = tmp_path / "w.duckdb", tmp_path / "public.duckdb"
    shutil.copy(made / "w.duckdb", private)
    usual = {"k": 3, "seed": 1, "allow_linkable": True} | options
    with Engine(private) as engine:
        engine.release.make("2011Q3", series="other", **usual)
        engine.steward.split(public, series="other")
    split_as_released(private, public, "release_other_2011q3")
    not_audited_here(public, why, "other")


def split_as_released(private: Path, public: Path, schema: str) -> None:
    """The public file has every view of a release, with the rows that the warehouse has."""
    named = f"SELECT view_name FROM duckdb_views() WHERE schema_name = '{schema}'"
    names = {name for (name,) in view(private, named)}
    assert {"manifest"} < names == {name for (name,) in view(public, named)}
    for name in names:
        rows = f'FROM {schema}."{name}" ORDER BY ALL'
        assert view(public, rows) == view(private, rows), name


def not_audited_here(public: Path, why: str, series: str) -> None:
    """Neither srsql nor a macro gives a verdict on what rows alone do not tell."""
    with Engine(public, read_only=True) as engine, pytest.raises(SrsqlError, match=why):
        engine.audit.run(series=series)
    with duckdb.connect(public, read_only=True) as con, pytest.raises(duckdb.Error, match="verify"):
        con.execute(f"FROM srsql.audit(series := '{series}')").fetchall()


def test_a_release_by_several_sets_of_quasi_identifiers_is_split_as_released(
    tmp_path: Path,
) -> None:
    private, public = tmp_path / "w.duckdb", tmp_path / "public.duckdb"
    dataset = str(write_sets(tmp_path))
    with Engine(private) as engine:
        rows = write_rows(tmp_path / "rows", 1, 300)
        engine.ingest([rows], dataset=dataset, period="2020")
        engine.release.make("2020", **OPTIONS | {"model": "ms"})
        engine.steward.split(public)
    split_as_released(private, public, "release_2020")
    with duckdb.connect(public, read_only=True) as con:
        for call in ("audit()", "danger()"):
            with pytest.raises(duckdb.Error, match="verify"):
                con.execute(f"FROM srsql.{call}").fetchall()


REFUSED = (
    ({"model": "k-anonymity"}, "was released by k-anonymity, which counts reports"),
    ({"model": "cba"}, "a comparator, made to be measured against"),
    ({"model": "full-domain"}, "prove no bound by themselves"),
    ({"model": "ipa", "epsilon": "1"}, "prove no bound by themselves"),
    ({"model": "ms", "terms": "tables"}, "counts, which neither a public file nor an export holds"),
    ({"model": "msdp-all", "noise": "seeded"}, "is marked not for publication"),
)


@pytest.mark.parametrize(("options", "why"), REFUSED, ids=[o["model"] for o, _ in REFUSED])
def test_what_is_not_published_is_not_split_and_joins_no_public_file(
    made: Path, tmp_path: Path, options: dict[str, Any], why: str
) -> None:
    """By one rule for artifacts, exports and public files; also where the release comes later."""
    private, public = tmp_path / "w.duckdb", tmp_path / "public.duckdb"
    shutil.copy(made / "w.duckdb", private)
    usual = {"k": 3, "seed": 1, "allow_linkable": True, "series": "other"} | options
    with Engine(private) as engine:
        engine.release.make("2011Q3", **usual, draft="terms" not in options)
        if "terms" not in options:
            (kept,) = engine.steward.split(public, series="other")
            assert kept.quarters == []
            engine.release.confirm("2011Q3", series="other", allow_linkable=True)
            (kept,) = engine.steward.split()
            assert kept.quarters == []
            engine.steward.split(series="other", stop=True)
        with pytest.raises(WarehouseError, match=why):
            engine.steward.split(tmp_path / "new.duckdb", series="other")
        assert list(engine.steward.split()) == []
        if "terms" not in options:  # artifacts hold counts
            with pytest.raises(PublishError, match=why):
                engine.artifact.publish(
                    "2011Q3", tmp_path / "out", series="other", allow_linkable=True
                )
    assert not (tmp_path / "new.duckdb").exists()


@pytest.mark.parametrize("migrated", ["by a command", "in Python"])
def test_a_warehouse_of_an_earlier_layout_keeps_its_public_file_when_it_is_migrated(
    place: Path, migrated: str
) -> None:
    private, public = place / "w.duckdb", place / "public.duckdb"
    with Engine(private) as engine:
        engine.steward.split(public)
    before = view(public, "FROM released.demo ORDER BY ALL")
    public.unlink()
    with duckdb.connect(private) as con:
        con.execute("UPDATE srsql.warehouse SET layout = layout - 1, definitions = 'of before'")
    line = srsql("release", "--quarter", "2011Q4", "--db", private).err
    assert "srsql migrate" in line
    if migrated == "by a command":
        assert srsql("migrate", "--db", private).code == 0
    else:
        assert migrate(private).from_layout == LAYOUT - 1
        assert not public.exists()
        Engine(private).close()
    assert view(public, "FROM released.demo ORDER BY ALL") == before
    with Engine(private) as engine:
        engine.release.make("2011Q4", **OPTIONS)
    assert quarters_in(public) == ["2011Q3", "2011Q4"]
