"""A patient is forgotten: erased from the tables and from the file, counted by audits as before."""

from __future__ import annotations

import hashlib
import hmac
import json
import shutil
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import duckdb
import pytest
from oracles import clinic
from support.archives import unpack, vaers
from support.command import srsql
from support.quarters import Report, crowd, next_version, write_quarter

from srsql.engine.api.engine import Engine
from srsql.engine.catalog.layout import NAMES_CASES
from srsql.engine.console.upkeep import kept_receipt, receipt_parts
from srsql.engine.errors import ForgetError, LookUpError, WarehouseError
from srsql.engine.steward import backup
from srsql.engine.steward.copies import Copy
from srsql.engine.steward.forget import Receipt
from srsql.engine.steward.restore import restore

pytestmark = pytest.mark.slow

OPTIONS: dict[str, Any] = {
    "model": "ms", "k": 3, "theta": "1", "seed": 1, "allow_linkable": True, "ids": "original"
}  # fmt: skip
SECRET = "ZQ9FX7LMPW3TTKH5VBN2RD8YC4JG6SE1"
"""A text that no compression shortens."""
CASE, REPORT = 900_000_007, 900_000_007_1
KEY = bytes(range(64))


def quarter(wt: str = "70") -> list[Report]:
    """Forty cases, and one whose reaction nobody else has."""
    rare = Report(REPORT, CASE, age="44", sex="M", wt=wt, pt=(SECRET,), drugs=("Drug 1",))
    return [*crowd(40), rare]


def released(engine: Engine, folder: Path, **options: Any) -> None:
    engine.ingest([write_quarter(folder, "2011Q3", quarter())])
    engine.release("2011Q3", **OPTIONS | options)
    later = [*crowd(40, first=21, version=2), next_version(quarter()[-1])]
    engine.ingest([write_quarter(folder, "2011Q4", later)])
    engine.release("2011Q4", **OPTIONS | options)


def holders(engine: Engine, *texts: str) -> set[str]:
    """The tables of the warehouse that have a text, or its key, somewhere in a row."""
    places = engine.sql(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE NOT temporary "
        "AND database_name = current_database()"
    )
    found = set()
    for schema, name in places:
        rows = engine.sql(f'SELECT t::VARCHAR FROM "{schema}"."{name}" AS t')
        if any(text.lower() in row.lower() for (row,) in rows for text in texts):
            found.add(f"{schema}.{name}")
    return found


def test_a_token_is_the_keyed_hash_of_the_id(sql: Any) -> None:
    pads = [bytes(b ^ pad for b in KEY) for pad in (0x36, 0x5C)]
    ((found,),) = sql.rows("SELECT srsql.forgotten_token(?::BLOB, ?::BLOB, ?)", [*pads, "ü7"])
    assert found == "forgotten:" + hmac.new(KEY, "ü7".encode(), hashlib.sha256).hexdigest()


def test_nothing_of_a_forgotten_case_is_left_but_what_is_out(
    engine: Engine, tmp_path: Path
) -> None:
    released(engine, tmp_path)
    engine.release("2011Q4", **OPTIONS, supersede=True, weaker=True)
    before = holders(engine, str(CASE), SECRET)
    assert {f"srsql_data.release_{number}_demo" for number in (1, 2, 3)} < before
    assert {"raw_faers.demo", "raw_faers.reac", "srsql.member"} < before
    receipt = engine.forget([CASE], reason="asked for")
    left = holders(engine, str(CASE), str(REPORT), SECRET)
    out = {name for name in left if name.startswith("srsql_data.")}
    assert left - out == {"srsql.threshold"}
    assert not any(name.startswith("srsql_data.release_2_") for name in out)
    assert [each.quarter for each in receipt.stale] == ["2011Q3", "2011Q4"]
    assert [each["status"] for each in receipt.exposed] == ["released", "superseded", "released"]
    assert receipt.rebuilt
    assert receipt.not_found == []


@pytest.mark.thorough
def test_what_no_release_shows_any_more_leaves_the_file_too(tmp_path: Path) -> None:
    """Text ids and values are searched for in the bytes of the file."""
    visits, findings = clinic.visits(), clinic.findings(["Flu", "Gout", "Rash"])
    patient = SECRET[::-1]
    visits[4] = (visits[4][0], patient, *visits[4][2:])
    findings[4] = (findings[4][0], SECRET, *findings[4][2:])
    data = clinic.write(tmp_path / "clinic", visits, findings)
    db = tmp_path / "w.duckdb"
    with Engine(db, dataset=str(tmp_path / "clinic" / "clinic.toml")) as engine:
        engine.ingest([data], period="2020")
        options = OPTIONS | {"k": 2}
        for _ in range(2):
            engine.release("2020", **options, supersede=True, weaker=True)
        engine.con.execute("CHECKPOINT")
        assert patient.encode() in db.read_bytes()
        assert SECRET.encode() in db.read_bytes()
        receipt = engine.forget([patient], reason="asked for")
        assert receipt.rebuilt
        out = {each.release_id for each in receipt.stale}
        shown = holders(engine, patient, SECRET)
        assert all(name.startswith(f"srsql_data.release_{max(out)}_") or name in {
            "srsql_data.latest_released", "srsql.threshold"} for name in shown)  # fmt: skip
        # once it is replaced by a version without the case, nothing shows it
        engine.release("2020", **options, supersede=True, weaker=True)
        engine.rebuild()
        assert holders(engine, patient, SECRET) == set()
        assert patient.encode() not in db.read_bytes()
        assert SECRET.lower().encode() not in db.read_bytes().lower()
    assert [file.name for file in tmp_path.glob("w.duckdb*")] == [db.name]
    assert patient.encode() not in db.read_bytes()


@pytest.mark.thorough
def test_audits_of_earlier_releases_count_a_forgotten_case_but_as_a_target(
    engine: Engine, tmp_path: Path
) -> None:
    """Groups in danger for a forgotten target alone are the one figure that can fall."""
    released(engine, tmp_path)
    before = engine.audit()
    engine.forget([1, 25], reason="asked for")
    after = engine.audit()
    for old, new in zip(before.releases, after.releases, strict=True):
        same = ("quarter", "scope", "attacks", "groups", "qid_bounding", "outside", "internal")
        assert [getattr(old, name) for name in same] == [getattr(new, name) for name in same]
        for name in ("dig", "dsg", "ssg", "union", "persistence"):
            fallen = (getattr(old, name) or 0) - (getattr(new, name) or 0)
            assert fallen in ((0, 1) if old.quarter == "2011Q3" else (0, 1, 2))
    sizes = {(e.quarter, e.scope, e.group_id, e.candidates) for e in before.evidence}
    assert {(e.quarter, e.scope, e.group_id, e.candidates) for e in after.evidence} <= sizes
    assert not any(str(e.case_id).startswith("forgotten:") for e in after.evidence)
    assert any(row.dig for row in after.releases)


@pytest.mark.thorough
def test_measures_run_and_count_a_forgotten_case_in_its_group(
    engine: Engine, tmp_path: Path
) -> None:
    released(engine, tmp_path)
    before = {(r.measure, r.scope): r for r in engine.metrics("2011Q4")}
    engine.forget([25], reason="asked for")
    after = {(r.measure, r.scope): r for r in engine.metrics("2011Q4")}
    assert before.keys() == after.keys()
    for name in ("group_size", "dr", "dir", "withheld"):
        for key in (key for key in before if key[0] == name):
            assert after[key] == before[key]
    assert after["nil", "release"].total == before["nil", "release"].total
    suppressed = [key for key in before if key[0] == "suppressed"]
    assert all(after[key].total == (before[key].total or 0) - 1 for key in suppressed)


@pytest.mark.thorough
def test_a_file_that_brings_a_forgotten_case_back_is_recognized(
    engine: Engine, tmp_path: Path
) -> None:
    engine.ingest([write_quarter(tmp_path, "2011Q3", quarter())])
    receipt = engine.forget([CASE, 12345], reason="asked for")
    assert receipt.not_found == ["12345"]
    twice = [*quarter(), quarter()[-1], replace(crowd(1)[0], caseid=12345, primaryid=777)]
    path = write_quarter(tmp_path / "again", "2011Q3", twice, deleted=[CASE, 8])
    (made,) = engine.ingest([path], replace=True, max_reject_rate=0.0)
    for file in made.files:
        assert file.records == file.loaded + file.rejected
        expected = {"forgotten_case": 1 if file.table == "deleted" else 3}
        if file.table == "indi":
            expected = {"forgotten_case": 1}
        assert file.reasons == expected, file.table
    assert made.deleted_cases == 1
    assert holders(engine, str(CASE), str(REPORT), SECRET, "12345") == set()
    released = engine.release("2011Q3", **OPTIONS)
    assert released.manifest["cases"]["released"] + released.manifest["cases"]["withheld"] == 40
    assert engine.stale() == []


def test_a_rejected_record_of_a_forgotten_case_keeps_its_reason_alone(
    engine: Engine, tmp_path: Path
) -> None:
    rare = quarter("999")[-1]  # an impossible weight
    path = write_quarter(tmp_path, "2011Q3", [*crowd(300), rare, rare])
    engine.ingest([path], max_reject_rate=0.5)
    assert "srsql.reject" in holders(engine, SECRET, str(CASE))
    engine.forget([CASE], reason="asked for")
    assert holders(engine, SECRET, str(CASE)) == set()
    kept = engine.sql("SELECT reason, record, value FROM srsql.reject WHERE kind = 'row'")
    assert kept
    assert {row[1:] for row in kept} == {(None, None)}
    values = engine.sql("SELECT value FROM srsql.reject WHERE kind = 'value'")
    assert values == [(None,)]


def test_a_line_with_a_broken_quote_is_known_by_its_quoted_id(
    engine: Engine, tmp_path: Path
) -> None:
    def year(name: str, *rows: str) -> Path:
        header = "VAERS_ID,STATE,AGE_YRS,SEX,SYMPTOM_TEXT\n"
        return unpack(tmp_path / name, vaers(header + "".join(f"{row}\n" for row in rows), name))

    broken = f'"{CASE}","CT","44","F","{SECRET}, said he'
    engine.ingest(
        [year("2004", "1,CT,9,M,x", f"{CASE},CT,44,F,{SECRET}")],
        dataset="vaers",
        allow_incomplete=True,
    )
    engine.ingest(
        [year("2005", "1,CT,9,M,x", broken)],
        dataset="vaers",
        max_reject_rate=0.9,
        allow_incomplete=True,
    )
    assert "srsql.reject" in holders(engine, SECRET)
    engine.forget([str(CASE)], dataset="vaers", reason="asked for")
    assert holders(engine, SECRET, str(CASE)) == set()
    engine.ingest(
        [year("2006", "1,CT,9,M,x", broken)],
        dataset="vaers",
        max_reject_rate=0.9,
        allow_incomplete=True,
    )
    assert holders(engine, SECRET, str(CASE)) == set()
    rows = engine.sql("SELECT quarter, line, reason FROM srsql.reject WHERE kind = 'row'")
    assert sorted(rows) == [
        (name, 3, "a quote is opened and never closed") for name in ("2005", "2006")
    ]


@pytest.mark.thorough
def test_a_dry_run_says_the_same_and_changes_nothing(engine: Engine, tmp_path: Path) -> None:
    released(engine, tmp_path)
    before = holders(engine, str(CASE), SECRET)
    dry = engine.forget([CASE], reason="asked for", dry_run=True)
    assert dry.dry_run
    assert holders(engine, str(CASE), SECRET) == before
    assert engine.sql("SELECT count(*) FROM srsql.forgotten_case") == [(0,)]
    done = engine.forget([CASE], reason="asked for")
    assert (dry.erased, dry.renamed, dry.exposed) == (done.erased, done.renamed, done.exposed)


@pytest.mark.thorough
@pytest.mark.parametrize("ids", ["original", "pseudonym", "per-quarter"])
def test_a_superseded_release_keeps_the_rows_of_the_others(
    engine: Engine, tmp_path: Path, ids: str
) -> None:
    engine.ingest([write_quarter(tmp_path, "2011Q3", crowd(40))])
    for _ in range(2):
        engine.release("2011Q3", **OPTIONS | {"ids": ids}, supersede=True, weaker=True)
    engine.release("2011Q3", **OPTIONS | {"ids": ids}, series="two", draft=True)
    old = dict(engine.sql("SELECT caseid, primaryid FROM srsql_data.release_1_demo"))
    receipt = engine.forget([7], reason="asked for")
    assert receipt.drafts == ["2011Q3 in series two"]
    kept = dict(engine.sql("SELECT caseid, primaryid FROM srsql_data.release_1_demo"))
    assert len(kept) == len(old) - 1
    assert kept.items() < old.items()
    assert receipt.erased["srsql_data.release_1_demo"] == 1
    if ids == "original":
        assert old.keys() - kept.keys() == {7}
        return
    with pytest.raises(LookUpError):
        engine.lookup(["7"], case=True)
    (gone,) = old.keys() - kept.keys()
    with pytest.raises(LookUpError):
        engine.lookup([str(gone)])


def test_every_table_of_the_catalog_that_names_cases_is_looked_at(engine: Engine) -> None:
    named = engine.sql(
        "SELECT DISTINCT c.schema_name || '.' || c.table_name FROM duckdb_columns() AS c "
        "SEMI JOIN duckdb_tables() AS t ON c.table_name = t.table_name "
        "WHERE c.schema_name = 'srsql' AND c.column_name = 'case_id' "
        "AND c.database_name = current_database()"
    )
    assert {name for (name,) in named} == {
        *(f"srsql.{name}" for name in NAMES_CASES),
        "srsql.id_pseudonym",
        "srsql.suspected_duplicate",
    }


@pytest.mark.parametrize(
    ("table", "row"),
    [
        ("member", "(1, 999, '999', 1, 1, true)"),
        pytest.param("withheld", "(1, 999, '999', 1, 'no_group_fits')", marks=pytest.mark.thorough),
        pytest.param("counted_person", "(1, '999', 1)", marks=pytest.mark.thorough),
        pytest.param("waiting", "(1, '999', '2011Q3')", marks=pytest.mark.thorough),
        pytest.param("taken_case", "(1, '999', '2011Q2', 1)", marks=pytest.mark.thorough),
    ],
)
def test_a_case_that_one_table_of_releases_alone_names_is_found(
    engine: Engine, tmp_path: Path, table: str, row: str
) -> None:
    """Its reports may have been replaced since, so that no raw table has it any more."""
    engine.ingest([write_quarter(tmp_path, "2011Q3", crowd(40))])
    engine.release("2011Q3", **OPTIONS)
    engine.con.execute(f"INSERT INTO srsql.{table} VALUES {row}")
    for name in {"srsql.member", "srsql.withheld"} - {f"srsql.{table}"}:
        assert engine.sql(f"SELECT count(*) FROM {name} WHERE case_id = '999'") == [(0,)]
    receipt = engine.forget([999, 998], reason="asked for")
    assert (receipt.not_found, receipt.renamed) == (["998"], {f"srsql.{table}": 1})


@pytest.mark.thorough
def test_a_case_that_another_dataset_alone_counts_is_not_found(
    engine: Engine, tmp_path: Path
) -> None:
    engine.ingest([write_quarter(tmp_path, "2011Q3", crowd(40))])
    engine.release("2011Q3", **OPTIONS)
    engine.con.execute("UPDATE srsql.release SET dataset = 'other'")
    engine.con.execute("INSERT INTO srsql.waiting VALUES (1, '999', '2011Q3')")
    assert engine.forget([999], reason="asked for").not_found == ["999"]


@pytest.mark.thorough
def test_a_caller_is_told_how_the_file_is_written_anew(tmp_path: Path) -> None:
    db = tmp_path / "theirs.duckdb"
    with duckdb.connect(str(db)) as con:
        con.execute(f"CREATE TABLE theirs AS SELECT '{SECRET[:8]}' AS kept")
        engine = Engine(con)
        engine.ingest([write_quarter(tmp_path, "2011Q3", quarter())])
        con.execute("CHECKPOINT")
        receipt = engine.forget([CASE], reason="asked for")
        assert not receipt.rebuilt
        assert receipt.commands == ["srsql forget --rebuild"]
        assert holders(engine, SECRET) == set()
        con.execute("CHECKPOINT")
    assert SECRET.encode() in db.read_bytes()
    answer = srsql("forget", "--rebuild", "--db", db)
    assert answer.code == 0, answer.err
    assert SECRET.lower().encode() not in db.read_bytes().lower()
    with duckdb.connect(str(db)) as con:
        assert con.execute("FROM theirs").fetchall() == [(SECRET[:8],)]


@pytest.mark.thorough
def test_a_file_that_cannot_be_written_anew_is_as_it_was(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cases are forgotten all the same, and the message says how to go on."""
    engine.ingest([write_quarter(tmp_path, "2011Q3", quarter())])

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(backup.os, "replace", full)
        with pytest.raises(WarehouseError, match=r"are forgotten, but .*No space left") as refused:
            engine.forget([CASE], reason="asked for")
    assert "srsql forget --rebuild" in str(refused.value)
    assert sorted(file.name for file in tmp_path.glob(".*.copying")) == []
    assert holders(engine, SECRET) == set()
    assert engine.sql("SELECT count(*) FROM raw_faers.demo") == [(40,)]
    db = tmp_path / "w.duckdb"
    assert SECRET.encode() in db.read_bytes()
    killed = tmp_path / ".w.duckdb.x1.copying"
    killed.mkdir()
    (killed / "w.duckdb").write_text(SECRET)
    engine.rebuild()
    assert SECRET.lower().encode() not in db.read_bytes().lower()
    assert not killed.exists()


@pytest.mark.thorough
def test_a_forgotten_case_is_in_no_later_release_and_not_new_there(
    engine: Engine, tmp_path: Path
) -> None:
    engine.ingest([write_quarter(tmp_path, "2011Q3", quarter())])
    engine.release("2011Q3", **OPTIONS)
    engine.forget([CASE, 5], reason="asked for")
    again = [*crowd(40, version=2), next_version(quarter()[-1]), *crowd(10, first=50)]
    engine.ingest([write_quarter(tmp_path, "2011Q4", again)])
    made = engine.release("2011Q4", **OPTIONS)
    assert made.manifest["cases"] == {"released": 49, "new": 10, "old": 39, "withheld": 0}
    assert {5, CASE}.isdisjoint(c for (c,) in engine.sql("SELECT caseid FROM release_2011q4.demo"))


def test_what_makes_no_sense_is_refused_in_one_line(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(ForgetError, match="nothing of dataset"):
        engine.forget([1], reason="x", dataset="faers")
    engine.ingest([write_quarter(tmp_path, "2011Q3", crowd(3))])
    for cases, reason, text in (
        ([], "asked for", "no case id is given"),
        (["one"], "asked for", "'one' is no case id"),
        ([1], "", "--reason"),
        ([1], "case 1 asked", "names a case"),
    ):
        with pytest.raises(ForgetError, match=text):
            engine.forget(cases, reason=reason)
    assert engine.sql("SELECT count(*) FROM srsql.forgotten_case") == [(0,)]


@pytest.mark.thorough
def test_the_command_reads_a_file_and_writes_a_receipt(tmp_path: Path) -> None:
    db, ids, receipt = (tmp_path / name for name in ("w.duckdb", "ids.txt", "receipt.json"))
    with Engine(db) as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q3", crowd(30))])
        engine.release("2011Q3", **OPTIONS)
    ids.write_text("7\n\n 8 \n")
    answer = srsql("forget", "9", "--file", ids, "--reason", "asked", "--receipt", receipt,
                   "--db", db, "--json")  # fmt: skip
    assert answer.code == 0, answer.err
    assert len(answer.json["tokens"]) == 3
    assert answer.json["commands"] == ["srsql correct --quarter 2011Q3", "srsql forget --rebuild"]
    assert receipt.stat().st_mode & 0o777 == 0o600
    again = srsql("forget", "9", "--reason", "asked", "--receipt", receipt, "--db", db)
    assert (again.code, again.err.count("\n")) == (2, 1)
    assert "is there already" in again.err
    shown = srsql("forget", "1", "--reason", "asked", "--dry-run", "--db", db)
    assert "would be forgotten" in shown.out
    assert "what stays:" in shown.out
    wrong = srsql("forget", "1", "--rebuild", "--db", db)
    assert (wrong.code, wrong.err.count("\n")) == (2, 1)


@pytest.mark.thorough
def test_who_leaves_two_quarters_is_told_how_few_are_left_and_the_audit_finds_as_many(
    engine: Engine, tmp_path: Path
) -> None:
    released(engine, tmp_path, ids="pseudonym")
    groups = engine.sql(
        "SELECT m.release_id, list(o.case_id) FROM srsql.member AS m "
        "JOIN srsql.member AS o USING (release_id, group_id) WHERE m.case_id = ? GROUP BY ALL",
        [str(CASE)],
    )
    removed = {release_id: set(cases) for release_id, cases in groups}
    rows = engine.sql("SELECT m.release_id, m.case_id FROM srsql.member AS m")
    stay = {case for release_id, case in rows if case not in removed[release_id]}
    fewest = min(len(cases - stay) for cases in removed.values())
    receipt = engine.forget([CASE], reason="asked for")
    (told,) = receipt.together
    assert told == {"series": "main", "cases": 1, "below_k": int(fewest < 3), "fewest": fewest,
                    "k": 3}  # fmt: skip
    said = "\n".join(map(str, receipt_parts(receipt)))
    assert (f"as few as {fewest} (k = 3)" in said) is (fewest < 3)
    for label in ("2011Q3", "2011Q4"):
        engine.correct(label)
    found = engine.audit(scopes=("group",)).releases
    leaving = [row.leaving.fewest for row in found if row.leaving and row.status == "superseded"]
    assert min(leaving) == fewest


@pytest.mark.thorough
def test_copies_beside_the_warehouse_that_hold_a_forgotten_case_are_to_be_deleted(
    tmp_path: Path,
) -> None:
    db, other, stranger = (tmp_path / f"{name}.duckdb" for name in ("w", "other", "stranger"))
    with Engine(db) as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q3", crowd(30))])
        engine.backup(other)
    with Engine(stranger) as engine:
        engine.ingest([write_quarter(tmp_path / "else", "2011Q4", crowd(9, first=500))])
    with duckdb.connect(str(tmp_path / "theirs.duckdb")) as con:
        con.execute("CREATE TABLE demo AS SELECT 7 AS caseid")
    kept = shutil.copy(other, tmp_path / "w.duckdb.before-restore")
    (tmp_path / "w.duckdb.layout-3").write_bytes(b"what nobody can read")
    (tmp_path / "w.duckdb.layout-x").write_bytes(b"what nobody can read")
    told = srsql("forget", "7", "8", "--reason", "asked", "--db", db)
    assert told.code == 0, told.err
    _, todo = told.out.split("to do, in this order:\n")
    listed = takewhile(lambda line: line.startswith("  "), todo.splitlines())
    assert [line.strip() for line in listed] == [
        f"delete {other}, or forget them in it as well: it holds 2 of the 2 cases",
        f"delete {kept}: it holds 2 of the 2 cases",
        f"delete {tmp_path / 'w.duckdb.layout-3'}: it may hold the 2 cases",
    ]
    with Engine(other) as engine:
        engine.forget(["7", "8"], reason="asked")
    (tmp_path / "w.duckdb.layout-3").unlink()
    with Engine(db) as engine:
        again = engine.forget(["7", "8"], reason="asked")
    assert (again.forgotten_before, again.erased) == (2, {})
    assert again.copies == [Copy(str(kept), 2, True)]  # kept as it was, whatever its tables say
    with Engine(kept) as engine:
        engine.forget(["7", "8"], reason="asked")
        assert engine.forget(["7"], reason="asked").copies == []
    with Engine(db) as engine:
        assert engine.forget(["7"], reason="asked").copies == [Copy(str(kept), 0, True)]


def test_copies_with_a_lake_may_hold_a_forgotten_case(tmp_path: Path) -> None:
    db, safe, lake = (tmp_path / name for name in ("w.duckdb", "safe.duckdb", "lake"))
    with Engine(db) as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q3", crowd(12))], lake=lake)
        engine.backup(safe)
    restore(db, safe)
    with Engine(db) as engine:
        copies = engine.forget(["7"], reason="asked").copies
    assert copies == [
        Copy(str(lake.with_name("lake.before-restore")), None, True),
        Copy(str(safe), None, False),
        Copy(f"{safe}.lake", None, False),
        Copy(f"{db}.before-restore", None, True),
    ]


def test_a_receipt_that_cannot_be_written_is_told_before_anybody_is_forgotten(
    tmp_path: Path,
) -> None:
    db, nowhere = tmp_path / "w.duckdb", tmp_path / "nowhere" / "receipt.json"
    with Engine(db) as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q3", crowd(30))])
    told = srsql("forget", "7", "--reason", "asked", "--receipt", nowhere, "--db", db)
    assert (told.code, told.err.count("\n")) == (2, 1)
    assert told.err.endswith("(No such file or directory): nobody was forgotten\n")
    with Engine(db, read_only=True) as engine:
        assert engine.sql("SELECT count(*) FROM srsql.forgotten_case") == [(0,)]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "faers_ascii_2011Q3.zip", "w.duckdb",
    ]  # fmt: skip


def test_a_receipt_whose_name_was_taken_meanwhile_is_made_by_a_second_run(
    tmp_path: Path,
) -> None:
    db, receipt, other = (tmp_path / n for n in ("w.duckdb", "receipt.json", "other.json"))
    with Engine(db) as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q3", crowd(30))])
    made: list[Receipt] = []

    def forget_while_the_name_is_taken() -> None:
        with kept_receipt(receipt) as keep, Engine(db) as engine:
            made.append(engine.forget(["7"], reason="asked"))
            keep(made[0])
            receipt.write_text("somebody else's")

    with pytest.raises(ForgetError, match="are forgotten, run it again with another --receipt"):
        forget_while_the_name_is_taken()
    assert receipt.read_text() == "somebody else's"
    told = srsql("forget", "7", "--reason", "asked", "--receipt", other, "--db", db)
    assert told.code == 0, told.err
    written = json.loads(other.read_text())
    assert written["tokens"] == made[0].tokens
    assert written["forgotten_before"] == 1
