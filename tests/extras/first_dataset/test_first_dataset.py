"""`srsql init`: a first declaration from files or tables, in layouts as regulators write them."""

from __future__ import annotations

import gzip
import random
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.command import srsql

from srsql.engine.errors import SrsqlError
from srsql.engine.extras.first_dataset import FirstDataset, write_first_dataset
from srsql.schemas import load_dataset

N = 120
TERMS = ["Nausea", "Headache", "Rash", "Dizziness", "Fatigue", "Pain"]
Writer = Callable[[Path], list[Path]]


def write(folder: Path, files: dict[str, list[str]], encoding: str = "utf-8") -> list[Path]:
    folder.mkdir(exist_ok=True)
    for name, lines in files.items():
        (folder / name).write_bytes("".join(f"{line}\r\n" for line in lines).encode(encoding))
    return [folder]


def own(folder: Path) -> list[Path]:
    """Semicolons, decimal commas, NULL, all in one file."""
    rows = [f"{n};{20 + n % 60},5;{'MF'[n % 2] if n % 9 else 'NULL'};DRUG{n % 4};{TERMS[n % 6]}"
            for n in range(N)]  # fmt: skip
    return [*write(folder, {"own.csv": ["id;age;sex;drug;pt", *rows]})]


def bars(folder: Path) -> list[Path]:
    """Bars, inch signs, cp1252, two patients of a report, value and unit in one field."""
    patient = ["MDR_REPORT_KEY|PATIENT_SEQUENCE_NUMBER|DATE_RECEIVED|PATIENT_AGE|PATIENT_SEX"]
    device = ["MDR_REPORT_KEY|DEVICE_EVENT_KEY|BRAND_NAME"]
    problem = ["MDR_REPORT_KEY|PATIENT_SEQUENCE_NO|PROBLEM_CODE"]
    for n in range(N):
        device.append(f"{n}||{['STENT', 'PUMP 6' + chr(34) + ' É'][n % 2]}")
        for place in range(1, 3 if n % 10 == 0 else 2):
            sex = ["Male", "Female", "Unknown"][n % 3]
            patient.append(f"{n}|{place}|2026/0{1 + n % 6}/05|{20 + n % 60} YR|{sex}")
            problem.append(f"{n}|{place}|{2000 + n % 7}")
    files = {"patient.txt": patient, "foidev.txt": device, "patientproblemcode.txt": problem}
    return write(folder, files, "cp1252")


def japanese(folder: Path) -> list[Path]:
    """cp932, and headers that are no names of a dataset."""
    demo = ["識別番号,報告回数,性別,年齢,状況"]
    drug = ["識別番号,報告回数,医薬品連番,医薬品の関与,医薬品（一般名）"]
    reac = ["識別番号,報告回数,有害事象連番,有害事象,転帰"]
    for n in range(N):
        demo.append(f"AB-{n},1,{['男性', '女性', '不明'][n % 3]},{2 + n % 7}0歳代,調査完了")
        drug.append(f"AB-{n},1,1,被疑薬,薬{n % 3}")
        reac += [f"AB-{n},1,{place},事象{(n + place) % 5},回復" for place in (1, 2)]
    return write(folder, {f"{t}202604.csv": x for t, x in
                          (("demo", demo), ("drug", drug), ("reac", reac))}, "cp932")  # fmt: skip


def headless(folder: Path) -> list[Path]:
    """Quoted fields with dollars between them, and no header."""

    def quoted(*values: object) -> str:
        return "$".join(f'"{value}"' for value in values)  # fmt: skip

    reports = [quoted(n, f"{n:09}", "15-JAN-26", ["Male", "Female"][n % 2], 20 + n % 60)
               for n in range(1, N + 1)]  # fmt: skip
    reactions = [quoted(1000 + 2 * n + place, n, TERMS[(n + place) % 6])
                 for n in range(1, N + 1) for place in (0, 1)]  # fmt: skip
    return write(folder, {"reports.txt": reports, "reactions.txt": reactions})


def listing(folder: Path) -> list[Path]:
    """Several terms in a cell, each with what is told of it in brackets."""
    rows = [
        f"EU-{n},2026-01-05 00:00:00,18-64 Years,{['Male', 'Female'][n % 2]},"
        f'"{TERMS[n % 6]} (2d - Unknown),<BR>{TERMS[(n + 1) % 6]} (n/a - Recovered)"'
        for n in range(N)
    ]
    head = "EU Local Number,EV Gateway Receipt Date,Patient Age Group,Patient Sex,Reaction List PT"
    return write(folder, {"Run Line Listing.csv": [head, *rows]})


def vaccines(folder: Path) -> list[Path]:
    """Columns that each hold a term, and years in the names of files."""
    data = ["VAERS_ID,STATE,AGE_YRS,SEX,SYMPTOM_TEXT"]
    symptoms = ["VAERS_ID,SYMPTOM1,SYMPTOMVERSION1,SYMPTOM2,SYMPTOMVERSION2"]
    vax = ["VAERS_ID,VAX_TYPE,VAX_LOT,VAX_NAME"]
    for n in range(1000, 1000 + N):
        told = f'"secret ""story"" {n}, and\r\nmore of it"'
        data.append(f"{n},{['CA', 'NY', 'TX', ''][n % 4]},{n % 90},{'MFU'[n % 3]},{told}")
        symptoms.append(f"{n},{TERMS[n % 6]},23.1,{TERMS[(n + 1) % 6]},23.1")
        vax.append(f"{n},FLU,L{n},VACCINE {n % 3}")
    files = {"DATA": data, "SYMPTOMS": symptoms, "VAX": vax}
    return write(folder, {f"2024VAERS{name}.csv": lines for name, lines in files.items()})


def parquet(folder: Path) -> list[Path]:
    folder.mkdir()
    with duckdb.connect() as con:
        for name, rows in TABLES.items():
            con.execute(f"COPY ({rows}) TO '{folder / name}.parquet'")
    return [folder]


def database(folder: Path) -> list[Path]:
    folder.mkdir()
    with duckdb.connect(folder / "hospital.duckdb") as con:
        con.execute("CREATE SCHEMA clinic")
        for name, rows in TABLES.items():
            con.execute(f'CREATE TABLE clinic."{name}" AS {rows}')
    return [folder / "hospital.duckdb"]


TABLES = {
    "visits": f"SELECT i AS id, i % 80 AS age, CASE WHEN i % 2 = 0 THEN 'Male' ELSE 'Female' END "
    f"AS sex, DATE '2026-01-05' + (i % 60)::INTEGER AS received FROM range({N}) AS t (i)",
    "Adverse Events": f"SELECT i % {N} AS id, concat('Term ', i % 11) AS reaction "
    f"FROM range({2 * N}) AS t (i)",
}
LAYOUTS: dict[str, tuple[Writer, dict[str, Any], int, int]] = {
    "own": (own, {"delimiter": ";", "decimal": ",", "null": ["NULL"]}, N, N),
    "bars": (bars, {"delimiter": "|", "quote": "", "encoding": "cp1252"}, 64, 64),
    "japanese": (japanese, {"encoding": "cp932"}, N, 2 * N),
    "headless": (headless, {"delimiter": "$", "header": False}, N, 2 * N),
    "listing": (listing, {"delimiter": ","}, N, 2 * N),
    "vaccines": (vaccines, {"period_label": "{0}"}, N, 2 * N),
    "parquet": (parquet, {"reader": "parquet"}, N, 2 * N),
    "database": (database, {"reader": "table", "period": "quarter"}, N, 2 * N),
}
"""Layout -> its files, keys of ``[source]``, reports and rows with reactions that are loaded."""


def first(folder: Path, paths: list[Path], name: str = "first") -> FirstDataset:
    folder.mkdir(exist_ok=True)
    return write_first_dataset(paths, folder / f"{name}.toml")


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
def test_files_are_ingested_whole_by_the_declaration_that_is_guessed_from_them(
    tmp_path: Path, layout: str
) -> None:
    make, source, reports, reactions = LAYOUTS[layout]
    made = first(tmp_path / "out", make(tmp_path / "in"))
    assert made.loads
    declared = tomllib.loads(Path(made.file).read_text(encoding="utf-8"))
    assert {key: declared["source"].get(key, "absent") for key in source} == source
    dataset = load_dataset(made.file)
    assert {qid.name for qid in dataset.qid} >= {"sex"}
    words = [word.replace("PERIOD", "2026Q1") for word in made.next.split()[1:]]
    db = tmp_path / "w.duckdb"
    if "--db" not in words:
        words += ["--db", str(db)]
    else:
        db = Path(words[words.index("--db") + 1])
    answer = srsql(*words, "--quiet", "--json")
    assert answer.code == 0, answer.err
    sensitive = next(each for each in dataset.sensitive)
    with duckdb.connect(db) as con:
        place = f'raw_first."{dataset.report_table}"'
        assert con.execute(f"SELECT count(*) FROM {place}").fetchall() == [(reports,)]
        known = f"SELECT count(*) FROM {place} WHERE srsql_sex IN ('M', 'F')"
        assert con.execute(known).fetchall()[0][0] >= 0.6 * reports
        terms = f'SELECT count("{sensitive.column}") FROM raw_first."{sensitive.table}"'
        assert con.execute(terms).fetchall() == [(reactions,)]


@pytest.mark.slow
def test_what_is_guessed_goes_from_files_to_a_published_artifact(tmp_path: Path) -> None:
    made = first(tmp_path / "out", vaccines(tmp_path / "in"))
    db = ("--db", tmp_path / "w.duckdb")
    for words in (
        ("ingest", tmp_path / "in", "--dataset", made.file),
        ("release", "--quarter", "2024", "--dataset", made.file, "--theta", "0.8", "--seed", 1),
        ("publish", "--quarter", "2024", "--dataset", "first", "--to", tmp_path / "art"),
    ):
        answer = srsql(*words, "--quiet", *db)
        assert answer.code == 0, answer.err
    assert srsql("verify", tmp_path / "art").code == 0


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_guess_stands_in_the_file_as_one_and_on_the_screen(
    tmp_path: Path, layout: str
) -> None:
    paths = LAYOUTS[layout][0](tmp_path / "in")
    answer = srsql("init", *paths, "--to", tmp_path / "first.toml", "--all")
    assert answer.code == 0, answer.err
    text = (tmp_path / "first.toml").read_text(encoding="utf-8")
    (again := tmp_path / "again").mkdir()
    made = srsql("init", *paths, "--to", again / "first.toml", "--json").json
    assert (again / "first.toml").read_text(encoding="utf-8") == text
    told = [line for line in text.splitlines() if "  # guess: " in line]
    assert len(told) == len(made["guesses"]) > 4
    for guess, line in zip(made["guesses"], told, strict=True):
        assert line == f"{guess['key'].split('.')[-1]} = {guess['value']}  # guess: {guess['why']}"
        assert guess["why"] in answer.out
    for asked in made["fill_in"]:
        assert f"# FILL IN: {asked}" in text
        assert f"fill in: {asked}" in answer.out
    assert "secret" not in text + answer.out  # no value of a report but codes of categories


def test_the_roles_of_columns_are_those_that_their_names_and_values_say(tmp_path: Path) -> None:
    made = first(tmp_path / "out", bars(tmp_path / "in"))
    dataset = load_dataset(made.file)
    report = dataset.table("patient")
    assert report.key == {"report_key": ("mdr_report_key", "patient_sequence_number")}
    assert dataset.table("foidev").key == {"report_key": ("mdr_report_key",)}
    assert dataset.table("patientproblemcode").key == {
        "report_key": ("mdr_report_key", "patient_sequence_no")
    }
    ages, sexes = dataset.qid
    assert (ages.name, ages.unit_in_value, str(ages.units["MO"])) == ("age", True, "1/12")
    assert (sexes.aliases, sexes.missing) == ({"Male": "M", "Female": "F"}, ("UNKNOWN",))
    assert [(s.table, s.column) for s in dataset.sensitive] == [
        ("patientproblemcode", "problem_code")
    ]
    assert [(s.table, s.column) for s in dataset.quasi_sensitive] == [("foidev", "brand_name")]
    period = dataset.source.row_period
    assert period is not None
    assert (period.column, period.kind, period.format) == ("date_received", "quarter", "%Y/%m/%d")
    assert "--period 2026Q2" in made.next
    assert dataset.signals is not None
    assert (dataset.signals.drug, dataset.signals.reaction) == ("brand_name", "problem_code")


@pytest.mark.parametrize(
    ("reports", "terms", "drugs"),
    [
        ("meldung_nr;fall_nr;alter_jahre;geschlecht;eingang", "reaktion", "arzneimittel"),
        ("report_id;fallnummer;alter;geschlecht;received", "nebenwirkungen", "wirkstoff"),
        ("report_id;caso;edad;sexo;received", "reacción", "medicamento"),
        ("report_id;cas;âge;sexe;received", "effet_indésirable", "médicament"),
    ],
)
def test_german_spanish_and_french_tables_are_known_by_their_names(
    tmp_path: Path, reports: str, terms: str, drugs: str
) -> None:
    key, case = reports.split(";")[:2]
    people = [f"{n};{5000 + n // 2};{20 + n % 60};{'MF'[n % 2]};2024-0{1 + n % 3}-11"
              for n in range(1, 81)]  # fmt: skip
    files = write(tmp_path / "in", {
        "meldungen.csv": [reports, *people],
        "terms.csv": [f"{key};{terms}", *(f"{n};{TERMS[n % 6]}" for n in range(1, 81))],
        "drugs.csv": [f"{key};{drugs}", *(f"{n};Mittel {n % 9}" for n in range(1, 81))],
    })  # fmt: skip
    dataset = load_dataset(first(tmp_path / "out", files).file)
    assert (dataset.report_id, dataset.case_id) == (key, case)
    assert {qid.name for qid in dataset.qid} == {"age", "sex"}
    assert [each.table for each in dataset.sensitive] == ["terms"]
    assert [each.table for each in dataset.quasi_sensitive] == ["drugs"]


def test_columns_of_one_name_become_rows_and_free_text_and_lots_are_not_read(
    tmp_path: Path,
) -> None:
    dataset = load_dataset(first(tmp_path / "out", vaccines(tmp_path / "in")).file)
    assert dataset.table("vaerssymptoms").unpivot == {"symptom": ("symptom1", "symptom2")}
    assert {c.name for c in dataset.table("vaersdata").columns} == {
        "vaers_id", "state", "age_yrs", "sex",
    }  # fmt: skip
    assert dataset.table("vaersvax").publish == ("vax_name",)
    assert {qid.name: qid.hierarchy for qid in dataset.qid}["state"] == "hierarchies/us_states.csv"


def test_a_cell_of_terms_is_split_and_what_is_told_of_them_in_brackets_stays(
    tmp_path: Path,
) -> None:
    made = first(tmp_path / "out", listing(tmp_path / "in"))
    (split,) = load_dataset(made.file).table("run_line_listing_reaction").split.values()
    assert split.by == ",<BR>"
    db = tmp_path / "w.duckdb"
    srsql(*made.next.split()[1:], "--db", db, "--quiet")
    with duckdb.connect(db) as con:
        found = con.execute(
            "SELECT DISTINCT reaction_list_pt FROM raw_first.run_line_listing_reaction"
        ).fetchall()
    assert sorted(term for (term,) in found) == sorted(TERMS)


def test_a_cell_that_tells_more_than_terms_is_not_published_but_asked_for(tmp_path: Path) -> None:
    rows = [f"{n},{n % 80},{'MF'[n % 2]},Rash (since {n % 9} days; worse)" for n in range(N)]
    paths = write(tmp_path / "in", {"one.csv": ["id,age,sex,reaction", *rows]})
    made = first(tmp_path / "out", paths)
    assert load_dataset(made.file).table("one").publish == ()
    assert any("'reaction' tells more than terms" in text for text in made.fill_in)


def test_a_category_gets_a_hierarchy_of_its_values_beside_the_file(tmp_path: Path) -> None:
    rows = [f"{n},{n % 80},{['North', 'South', 'east'][n % 3]},Rash" for n in range(N)]
    paths = write(tmp_path / "in", {"one.csv": ["id,age,region,reaction", *rows]})
    made = first(tmp_path / "out", paths)
    (file,) = map(Path, made.hierarchies)
    assert file.read_text() == "node,parent\nAny,\nNorth,Any\nSouth,Any\neast,Any\n"
    assert file.stat().st_mode & 0o777 == 0o600  # it has values of reports
    assert load_dataset(made.file).hierarchies["state"].labels == ("Any", "North", "South", "east")


@pytest.mark.parametrize("there", ["first.toml", "first_state.csv"])
def test_nothing_is_overwritten_and_nothing_is_left_of_what_is_refused(
    tmp_path: Path, there: str
) -> None:
    rows = [f"{n},{['North', 'South'][n % 2]},Rash" for n in range(N)]
    paths = write(tmp_path / "in", {"one.csv": ["id,region,reaction", *rows]})
    (tmp_path / there).write_text("mine")
    answer = srsql("init", *paths, "--to", tmp_path / "first.toml")
    assert answer.code == 2
    assert f"{there} is there already" in answer.err
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(["in", there])
    assert (tmp_path / there).read_text() == "mine"


def test_what_cannot_be_decided_is_a_line_that_says_what_to_fill_in(tmp_path: Path) -> None:
    rows = [f"{n % 7};{n % 3}" for n in range(N)]
    made = first(tmp_path / "out", write(tmp_path / "in", {"one.csv": ["a;b", *rows]}))
    assert not made.loads
    assert [text.split(":")[0] for text in made.fill_in] == ["report_table, report_id, case_id"]
    text = Path(made.file).read_text()
    assert f"# FILL IN: {made.fill_in[0]}" in text
    keys = 'report_table = "one"\nreport_id = "a"\ncase_id = "a"'
    filled = text.replace('name = "first"', f'name = "first"\n{keys}', 1)
    rest = '\n[[qid]]\nname = "b"\nkind = "numeric"\ncolumn = "b"\ndomain = [0, 9]\n'
    (tmp_path / "out" / "filled.toml").write_text(
        filled + rest + '[[sensitive]]\ntable = "one"\ncolumn = "b"\n'
    )
    assert load_dataset(tmp_path / "out" / "filled.toml").report_id == "a"


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"a.csv": ["sep=;", "id;age"]}, "line 1 is for Excel"),
        ({"a.csv": ["id,age,pt,pt", *(f"{n},1,Rash,Pain" for n in range(9))]},
         "column pt is in the header twice: rename one"),
        ({"a.csv": ["id,age", "1,2"], "b.csv": ["id|pt", "1|Rash"]}, "differ in delimiter"),
        ({"a.csv": []}, "a.csv, which is empty"),
        ({"a.txt": ["Read me first.", "This is no table."]}, "by no delimiter"),
        ({}, "no file with records in it"),
    ],
)  # fmt: skip
def test_what_is_no_table_of_one_layout_is_refused_in_one_line(
    tmp_path: Path, files: dict[str, list[str]], told: str
) -> None:
    answer = srsql("init", *write(tmp_path / "in", files), "--to", tmp_path / "first.toml")
    assert (answer.code, answer.out) == (2, "")
    assert told in answer.err
    assert len(answer.notes) == 1
    assert not (tmp_path / "first.toml").exists()


def test_a_document_beside_the_tables_is_named_and_left_out(tmp_path: Path) -> None:
    files = {"a.csv": ["id,age,pt", *(f"{n},{n},Rash" for n in range(30))], "faq.txt": ["What?"]}
    paths = write(tmp_path / "in", files)
    (tmp_path / "in" / "old.csv.gz").write_bytes(gzip.compress(b"id,age\n1,2\n"))
    made = first(tmp_path / "out", paths)
    assert made.loads
    text = Path(made.file).read_text()
    assert "# not read: faq.txt, whose lines" in text
    assert "# not read: old.csv.gz, which is packed" in text


@pytest.mark.parametrize("name", ["1st.toml", "first.csv", "Fïrst.toml"])
def test_the_name_of_the_file_is_that_of_a_dataset(tmp_path: Path, name: str) -> None:
    (source,) = own(tmp_path / "in")
    answer = srsql("init", source, "--to", tmp_path / name)
    assert answer.code == 2
    assert "give a name such as clinic.toml" in answer.err


@settings(max_examples=60, deadline=None)
@given(
    header=st.lists(
        st.text(st.characters(blacklist_categories=["Cs"]), max_size=12), min_size=1, max_size=6
    ),
    seed=st.integers(0, 999),
    delimiter=st.sampled_from(",;\t|$"),
)
def test_whatever_a_file_holds_the_answer_is_valid_toml_or_one_line(
    tmp_path_factory: pytest.TempPathFactory, header: list[str], seed: int, delimiter: str
) -> None:
    luck = random.Random(seed)
    folder = tmp_path_factory.mktemp("any")
    values = ["M", "F", "1", "02", "2026-01-05", 'x"y', "", "36 YR", "Rash", "NULL", "'", "\\"]
    lines = [delimiter.join(header)]
    lines += [delimiter.join(luck.choice(values) for _ in header) for _ in range(30)]
    (folder / "any.csv").write_text("\n".join(lines), encoding="utf-8", newline="")
    made = None
    told = ""
    try:
        made = write_first_dataset([folder / "any.csv"], folder / "any.toml")
    except SrsqlError as error:
        told = str(error)
    if made is None:
        assert told
        assert "\n" not in told
        return
    text = Path(made.file).read_text(encoding="utf-8")
    assert tomllib.loads(text)["name"] == "any"
    assert made.loads or made.fill_in
