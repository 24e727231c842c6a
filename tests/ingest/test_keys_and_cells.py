"""Composite keys, tables that share a file, and cells that hold several terms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from srsql import Engine
from srsql.engine.ingest import IngestedPeriod
from srsql.schemas import SchemaError, load_dataset

DEVICES = """
name = "own"
report_table = "patient"
report_id = "patient_key"
case_id = "patient_key"
id_type = "text"
[source]
reader = "csv"
delimiter = "|"
quote = ""
SOURCE
[tables.patient]
files = ["patient.txt"]
key = { patient_key = ["report", "seq"] }
columns = ["report", "seq", "age", "got"]
[tables.device]
files = ["device.txt"]
key = { patient_key = ["report"] }
columns = ["report", "brand"]
publish = ["brand"]
[tables.problem]
files = ["problem.txt"]
key = { patient_key = ["report", "seq"] }
columns = ["report", "seq", "problem"]
publish = ["problem"]
[[qid]]
name = "age"
kind = "numeric"
column = "age"
domain = [0, 120]
unit_in_value = true
units = { YR = 1, MO = "1/12" }
[[sensitive]]
table = "problem"
column = "problem"
[[quasi_sensitive]]
table = "device"
column = "brand"
"""
FILES = {
    "patient": [
        "report|seq|age|got", "1|1|40 YR|2020", "1|2|6 MO|2020", "2|1|50 YR|2020",
        "3|1|60 YR|2021", "1|2|9 YR|2020", "4||1 YR|2020", "5:1|1|2 YR|2020", "6|1:1|2 YR|2020",
    ],
    "device": ["report|brand", '1|PUMP 6" LONG', "2|STENT", "3|LEAD", "9|LOST", "|NONE"],
    "problem": ["report|seq|problem", "1|1|Pain", "1|2|Fever", " 2 | 1 |Bleeding", "3|1|Pain"],
}  # fmt: skip


def take(
    engine: Engine, folder: Path, toml: str, files: dict[str, list[str]], **options: Any
) -> IngestedPeriod:
    (folder / "in").mkdir(exist_ok=True)
    (folder / "own.toml").write_text(toml, encoding="utf-8")
    for name, lines in files.items():
        (folder / "in" / f"{name}.txt").write_text("\n".join(lines), encoding="utf-8")
    asked = {"period": "2020", "max_reject_rate": 1, **options}
    (done,) = engine.ingest([folder / "in"], dataset=folder / "own.toml", **asked)
    return done


def test_a_case_of_two_parts_has_the_rows_of_both_and_those_of_its_first_part(
    tmp_path: Path,
) -> None:
    with Engine(":memory:") as engine:
        done = take(engine, tmp_path, DEVICES.replace("SOURCE", ""), FILES)
        ask = engine.con.execute
        reports = ask("SELECT srsql_line, patient_key, srsql_age FROM raw_own.patient").fetchall()
        devices = ask("SELECT srsql_line, patient_key, brand FROM raw_own.device ORDER BY 1, 2")
        found = devices.fetchall()
        problems = ask("SELECT patient_key, problem FROM raw_own.problem").fetchall()
        rejected = ask(
            "SELECT file, line, reason, record FROM srsql.reject WHERE kind = 'row' ORDER BY ALL"
        ).fetchall()
    assert reports == [(2, "1:1", 40), (3, "1:2", 1), (4, "2:1", 50), (5, "3:1", 60)]
    assert found == [
        (2, "1:1", 'PUMP 6" LONG'), (2, "1:2", 'PUMP 6" LONG'), (3, "2:1", "STENT"),
        (4, "3:1", "LEAD"),
    ]  # fmt: skip
    assert problems == [("1:1", "Pain"), ("1:2", "Fever"), ("2:1", "Bleeding"), ("3:1", "Pain")]
    part = "no report id: a part of it is blank, or holds ':'"
    assert [row[:3] for row in rejected] == [
        ("device.txt", 5, "no report has its key"),
        ("device.txt", 6, part),
        ("patient.txt", 6, "duplicate report id"),
        *(("patient.txt", line, part) for line in (7, 8, 9)),
    ]
    assert not any(char.isalnum() for *_, record in rejected for char in record)
    assert [(f.records, f.loaded, f.rejected, f.orphans) for f in done.files] == [
        (8, 4, 4, 0), (5, 3, 2, 0), (4, 4, 0, 0),
    ]  # fmt: skip


@pytest.mark.slow
def test_a_forgotten_case_of_two_parts_does_not_come_back_by_any_of_its_tables(
    tmp_path: Path,
) -> None:
    toml = DEVICES.replace("SOURCE", "")
    files = {**FILES, "patient": FILES["patient"][:5]}
    with Engine(tmp_path / "w.duckdb") as engine:
        take(engine, tmp_path, toml, files)
        engine.forget(["1:2", "2:1"], dataset="own", reason="asked")
        files["device"] = [*files["device"], "3|LEAD"]
        take(engine, tmp_path, toml, files, replace=True)
        ask = engine.con.execute
        for table in ("patient", "device", "problem"):
            ids = ask(f"SELECT DISTINCT patient_key FROM raw_own.{table} ORDER BY 1").fetchall()
            assert ids == [("1:1",), ("3:1",)]
        texts = ask("SELECT DISTINCT record FROM srsql.reject").fetchall()
        assert not any("STENT" in (record or "") for (record,) in texts)


@pytest.mark.slow
def test_rows_of_a_part_of_the_key_are_of_the_periods_of_its_reports(tmp_path: Path) -> None:
    toml = DEVICES.replace("SOURCE", 'period = { column = "got", kind = "year" }')
    files = {**FILES, "device": FILES["device"][:4], "patient": FILES["patient"][:6]}
    with Engine(":memory:") as engine:
        done = take(engine, tmp_path, toml, files, period="2021")
        found = engine.con.execute("SELECT patient_key, brand FROM raw_own.device").fetchall()
    assert found == [("3:1", "LEAD")]
    assert [(f.loaded, f.rejected, f.other_periods) for f in done.files] == [
        (1, 0, 4), (1, 0, 2), (1, 0, 3),
    ]  # fmt: skip


LISTING = """
name = "own"
report_table = "reports"
report_id = "id"
case_id = "id"
id_type = "text"
[source]
reader = "csv"
[tables.reports]
files = ["*.txt"]
columns = ["id", "sex"]
[tables.reactions]
same_file = "reports"
columns = { id = [], reaction = ["Reaction List"] }
publish = ["reaction"]
split = { reaction = { by = ",<BR><BR>", take = '^(.*?) \\([^()]*\\)$' } }
[tables.drugs]
same_file = "reports"
columns = ["id", "drug"]
publish = ["drug"]
split = { drug = { by = ";" } }
[[qid]]
name = "sex"
kind = "categorical"
column = "sex"
hierarchy = "hierarchies/sex.csv"
[[sensitive]]
table = "reactions"
column = "reaction"
[[quasi_sensitive]]
table = "drugs"
column = "drug"
"""
LINES = [
    "id,sex,Reaction List,drug",
    'A1,M,"Rash (2d - Recovered - ),<BR><BR>Pain (x) NOS (n/a - , - )",ALPHA; BETA ;',
    "A2,F,Pyrexia,GAMMA",
    "A3,F,,",
    'A4,M,"open,DELTA',
]


def test_tables_share_a_file_and_a_cell_of_several_terms_is_as_many_rows(tmp_path: Path) -> None:
    with Engine(":memory:") as engine:
        done = take(engine, tmp_path, LISTING, {"listing": LINES})
        ask = engine.con.execute
        reactions = ask("SELECT srsql_line, id, reaction FROM raw_own.reactions").fetchall()
        drugs = ask("SELECT srsql_line, id, drug FROM raw_own.drugs").fetchall()
        rejected = ask("SELECT file, line FROM srsql.reject ORDER BY ALL").fetchall()
    assert reactions == [(2, "A1", "Rash"), (2, "A1", "Pain (x) NOS"), (3, "A2", "Pyrexia")]
    assert drugs == [(2, "A1", "ALPHA"), (2, "A1", " BETA "), (3, "A2", "GAMMA")]
    names = ["listing.txt", "listing.txt (reactions)", "listing.txt (drugs)"]
    assert [(f.file, f.records, f.loaded, f.rejected) for f in done.files] == [
        (name, 4, 3, 1) for name in names
    ]
    assert rejected == [(name, 5) for name in sorted(names)]


@given(terms=st.lists(st.text(alphabet="ab ();", max_size=4), max_size=4))
def test_the_parts_of_a_cell_are_its_terms_without_blank_ones(sql: Any, terms: list[str]) -> None:
    ((found,),) = sql.rows("SELECT srsql.cell_parts(?, '|', '')", ["|".join(terms)])
    assert found == [term for term in terms if term.strip(" ")]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('same_file = "reports"', 'same_file = "reactions"', "is no other table that has files"),
        ('same_file = "reports"', 'same_file = "reports"\nrequired = true', "take files and req"),
        ('take = \'^(.*?) \\([^()]*\\)$\'', "take = '^.*$'", "has no group"),
        ('take = \'^(.*?) \\([^()]*\\)$\'', "take = '('", "is not a regular expression"),
        ('by = ";"', 'by = ""', "split"),
        ("split = { drug", "split = { id", "it is an id"),
        ('columns = ["id", "sex"]', 'columns = ["id", "sex"]\nsplit = { sex = { by = ";" } }',
         "a report has one row"),
        ('columns = ["id", "sex"]', 'columns = ["id", "sex"]\nkey = { x = ["sex"] }', "no id"),
        ('id_type = "text"', "", ""),
    ],
)  # fmt: skip
def test_a_declaration_of_cells_that_cannot_be_meant_is_refused(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    assert old in LISTING
    (tmp_path / "own.toml").write_text(LISTING.replace(old, new, 1), encoding="utf-8")
    if not said:
        assert load_dataset(tmp_path / "own.toml").id_type == "integer"
        return
    with pytest.raises(SchemaError) as caught:
        load_dataset(tmp_path / "own.toml")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('id_type = "text"', "", "its parts make a text"),
        ('["report"] }', '["report", "other"] }', "'other' is not among columns"),
        ('["report", "seq"] }', '["report"] }', "the report table has fewer parts"),
        ('key = { patient_key = ["report"] }', "", "name those that this table has"),
        ('["report", "seq"] }', '["report", "report"] }', "each once"),
        ('columns = ["report", "brand"]\npublish = ["brand"]',
         'columns = ["report", "brand"]\npublish = ["report", "brand"]', "may read the same place"),
    ],
)  # fmt: skip
def test_a_key_that_cannot_be_one_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    text = DEVICES.replace("SOURCE", "")
    assert old in text
    (tmp_path / "own.toml").write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(SchemaError) as caught:
        load_dataset(tmp_path / "own.toml")
    assert said in str(caught.value)
