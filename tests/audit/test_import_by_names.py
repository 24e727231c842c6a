"""A foreign series in one command: the columns are named, and the names make the dataset."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest
from support.command import Answer, srsql
from support.foreign import dataset, table

from srsql import Engine
from srsql.engine.errors import SrsqlError

pytestmark = pytest.mark.thorough

GERMAN = """Quartal;Fallnummer;Alter;Geschlecht;Reaktion;PLZ
2011Q1;1;46-50;m;Ausschlag|Husten;12
2011Q1;7;46-50;m;Fieber;12
2011Q1;3;[46, 50];männlich;Schwindel;12
2011Q2;1;48–53;M;Ausschlag;12
2011Q2;11;48–53;M;Fieber;12
2011Q2;3;*;*;Schwindel;13
"""
MAP = {"case": "Fallnummer", "age": "Alter", "sex": "Geschlecht", "quarter": "Quartal",
       "term": "Reaktion"}  # fmt: skip
MAPPED = [text for name, column in MAP.items() for text in ("--map", f"{name}={column}")]


@pytest.fixture
def german(tmp_path: Path) -> Path:
    file = tmp_path / "theirs.csv"
    file.write_text(GERMAN, encoding="utf-8")
    return file


def run(folder: Path, *arguments: object) -> Answer:
    return srsql(*arguments, "--db", folder / "w.duckdb")


def regions(db: Path | duckdb.DuckDBPyConnection) -> dict[str, list[tuple[Any, ...]]]:
    with Engine(db, **({"read_only": True} if isinstance(db, Path) else {})) as engine:
        found: dict[str, list[tuple[Any, ...]]] = {}
        for case, *box in engine.sql(
            "SELECT m.case_id, a.attribute, r.low, r.high FROM srsql.member AS m "
            "INNER JOIN srsql.region AS r USING (release_id, group_id) "
            "INNER JOIN srsql.attribute AS a USING (release_id, position) ORDER BY ALL"
        ):
            found.setdefault(case, []).append(tuple(box))
    return found


def test_a_series_is_imported_and_audited_without_a_file_of_ours(german: Path) -> None:
    folder = german.parent
    first = run(
        folder, "import-release", german, "--quarter", "2011Q1", "--separator", "|", *MAPPED
    )
    assert first.code == 0, first.err
    lines = first.out.splitlines()
    assert lines[0].startswith("2011Q1 imported into series main of foreign: 3 rows, 3 cases")
    assert "  an attacker may know age: a number, 0 to 120 years" in lines
    assert "  an attacker may know sex: a category, 2 nodes side by side below Any" in lines
    assert "  an attacker may infer term" in lines
    assert "  not read, as if no attacker knew it: plz" in lines
    second = run(folder, "import-release", german, "--quarter", "2011Q2", "--separator", "|",
                 *MAPPED)  # fmt: skip
    assert second.code == 0, second.err
    assert "3 rows, 3 cases (1 new)" in second.out
    audited = run(folder, "audit", "--k", "3", "--theta", "1/2")
    assert audited.code == 1
    assert "series main of foreign: NOT safe" in audited.out
    assert run(folder, "attack", "--quarter", "2011Q1", "--qid", "age=48").code == 0
    assert run(folder, "audit", "--k", "2", "--theta", "1", "--quarter", "2011Q1").code in (0, 1)


def test_the_interval_notations_of_the_reader_are_those_of_a_dataset_file(
    tmp_path: Path,
) -> None:
    rows = [("1", "30-39", "F", "a"), ("2", "[30 ~ 39]", "F", "b"), ("3", "30", "M", "c")]
    names = table(tmp_path / "names.csv", "id years gender what", rows)
    plain = table(tmp_path / "plain.csv", "case_id age sex adr disease", [(*r, "") for r in rows])
    with Engine(tmp_path / "names.duckdb") as engine:
        engine.import_release(
            names, "1", columns={"case": "id", "age": "YEARS", "sex": "gender", "term": "what"}
        )
    with Engine(tmp_path / "plain.duckdb") as engine:
        engine.import_release(plain, "1", dataset=dataset(tmp_path))
    assert regions(tmp_path / "names.duckdb") == regions(tmp_path / "plain.duckdb")


def put(
    con: duckdb.DuckDBPyConnection, folder: Path, header: str, rows: Iterable[Sequence[Any]],
    columns: dict[str, str], **options: Any,
) -> Any:  # fmt: skip
    with Engine(con) as engine:
        file = table(folder / "t.csv", header, rows)
        return engine.import_release(file, "1", columns=columns, **options)


@pytest.fixture
def con() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


def test_other_quasi_identifiers_are_numbers_where_all_values_are_else_categories(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    rows = [(1, "1.5-2.25", "rot", "x"), (2, "3", "Rot", "y"), (3, "*", "blau", "z")]
    made = put(con, tmp_path, "case bmi colour term", rows, {"bmi": "bmi", "colour": "colour"})
    assert made.quasi_identifiers == {
        "bmi": "a number, in steps of 0.01",
        "colour": "a category, 2 nodes side by side below Any",
    }
    found = regions(con)
    assert found["1"] == [("bmi", 150, 225), ("colour", 1, 1)]
    assert found["2"] == [("bmi", 300, 300), ("colour", 1, 1)]
    assert found["3"][1] == ("colour", 2, 2)
    assert made.sensitive == []


def test_bounds_in_two_columns_are_named_once_or_each(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    rows = [(1, 30, 39, 50, 60, "a"), (2, 30, 39, 50, 60, "b")]
    header = "caseid Alter_low Alter_high von bis r"
    made = put(con, tmp_path, header, rows,
               {"age": "Alter", "dose_low": "von", "dose_high": "bis", "term": "r"})  # fmt: skip
    assert list(made.quasi_identifiers) == ["age", "dose"]
    assert regions(con)["1"] == [("age", 30, 39), ("dose", 50, 60)]


def test_without_a_sensitive_column_an_audit_counts_candidates_and_the_import_says_so(
    tmp_path: Path,
) -> None:
    file = table(tmp_path / "t.csv", "case Alter", [(n, "30-39") for n in range(5)])
    made = run(tmp_path, "import-release", file, "--quarter", "1", "--map", "age=Alter")
    assert "no column of sensitive values (--map term=COLUMN)" in made.out
    assert run(tmp_path, "audit", "--k", "5", "--theta", "1").code == 0
    assert run(tmp_path, "audit", "--k", "6", "--theta", "1").code == 1


def test_the_names_of_a_dataset_rename_columns_for_it(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    other = dataset(tmp_path)
    rows = [(1, 30, "M", "a", "b")]
    named = {"case_id": "Fall", "age": "Alter", "sex": "Geschlecht", "reaction": "R"}
    made = put(con, tmp_path, "Fall Alter Geschlecht R disease", rows, named, dataset=other)
    assert made.dataset == "other"
    assert made.unread == []
    with pytest.raises(SrsqlError, match="nothing of dataset other is called weight: it has"):
        put(con, tmp_path, "Fall Alter", rows, {"weight": "Alter"}, dataset=other, series="b")


def test_originals_are_read_by_the_same_names_where_they_have_the_columns(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    raw = table(tmp_path / "raw.csv", "case_id Alter", [(1, 31), (2, 35)])
    made = put(con, tmp_path, "case_id Alter R", [(1, "30-39", "a"), (2, "30-39", "b")],
               {"age": "Alter", "term": "R"}, originals=raw)  # fmt: skip
    assert made.originals


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"case": "id"}, "--map names no quasi-identifier"),
        ({"age": "Alter"}, "no column 'Alter' for age .--map. in its header: it has id, years, x"),
        ({"age": "years", "wt": "years"}, "column 'years' is given for age and wt"),
        ({"Age!": "years"}, "a name has lower-case letters"),
        ({"age": "years"}, "no column case_id or caseid or case for the case id"),
        ({"case": "id", "age": "x"}, "age: a is not a number"),
        ({"case": "id", "z_low": "x"}, "z_low or z_high alone: give both"),
    ],
)
def test_a_wrong_name_is_refused_in_one_line_and_nothing_is_registered(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, columns: dict[str, str], said: str
) -> None:
    with pytest.raises(SrsqlError, match=said) as refused:
        put(con, tmp_path, "id years x", [(1, 30, "a")], columns)
    assert "\n" not in str(refused.value)
    with Engine(con) as engine:
        assert engine.sql("SELECT * FROM srsql.release") == []
        assert engine.sql("SELECT table_name FROM duckdb_tables() WHERE temporary") == []


def test_a_column_that_only_has_the_name_is_not_read(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    put(con, tmp_path, "case age real", [(1, 99, 30)], {"age": "real"})
    assert regions(con)["1"] == [("age", 30, 30)]


def test_a_value_that_an_earlier_quarter_had_not_is_told(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    put(con, tmp_path, "case colour", [(1, "red")], {"colour": "colour"})
    with pytest.raises(SrsqlError, match="colour: no node of its hierarchy is called blue"):
        put(con, tmp_path, "case colour", [(1, "blue")], {"colour": "colour"}, supersede=True)


@pytest.mark.parametrize(
    "given", [("--map", "age"), ("--map", "=x"), ("--map", "a=b", "--map", "a=c")]
)
def test_a_text_that_names_no_column_is_refused(german: Path, given: tuple[str, ...]) -> None:
    answer = run(german.parent, "import-release", german, "--quarter", "1", *given)
    assert answer.code == 2
    assert "--map takes NAME=COLUMN" in answer.err


SUPPRESSED = """case;age;sex;zip;diagnosis
1;20-50;F;81***;Flu
2;20-50;F;81***;Cold
3;*;*;*;HIV
4;20-50;F;81***;Gout
5;20-50;*;81***;Acne
6;20-50;*;81***;Flu
"""
NAMED = ["--map", "case=case", "--map", "age=age", "--map", "sex=sex", "--map", "zip=zip"]


@pytest.fixture
def suppressing(tmp_path: Path) -> Path:
    file = tmp_path / "out.csv"
    file.write_text(SUPPRESSED, encoding="utf-8")
    return file


def test_rows_declared_suppressed_are_left_out_and_told(suppressing: Path) -> None:
    folder = suppressing.parent
    named = [*NAMED, "--map", "term=diagnosis"]
    judged = ["audit", "--k", 2, "--theta", "1/2"]
    assert run(folder, "import-release", suppressing, "--quarter", "2024", *named).code == 0
    assert run(folder, *judged).code == 1
    again = [*named, "--suppressed", " * ", "--supersede"]
    answer = run(folder, "import-release", suppressing, "--quarter", "2024", *again)
    assert "5 rows, 5 cases (5 new) in 2 groups" in answer.out
    assert "not published: 1." in answer.out
    other = [*named, "--suppressed", "*", "--series", "other"]
    assert run(folder, "import-release", suppressing, "--quarter", "2024", *other).code == 0
    answer = run(folder, *judged, "--series", "other")
    assert answer.code == 0, answer.out
    assert "2024: rows declared suppressed, judged as if they were not published: 1." in answer.out
    with Engine(folder / "w.duckdb") as engine:
        (row, *_) = engine.audit.run(series="other", k=2, theta="1/2").releases
    assert row.suppressed == 1


def test_what_stands_for_a_suppressed_row_must_not_be_blank(suppressing: Path) -> None:
    found = run(
        suppressing.parent, "import-release", suppressing, "--quarter", "1", *NAMED,
        "--suppressed", " ",
    )  # fmt: skip
    assert found.code == 2
    assert "--suppressed is blank" in found.err


def test_cases_are_counted_without_a_column_of_sensitive_values(suppressing: Path) -> None:
    found = run(suppressing.parent, "import-release", suppressing, "--quarter", "2024", *NAMED)
    assert "6 rows, 6 cases (6 new) in 3 groups" in found.out


def test_all_columns_that_are_missing_are_told_at_once_with_those_there_are(
    suppressing: Path,
) -> None:
    table = suppressing.with_name("commas.csv")
    table.write_text(SUPPRESSED.replace(";", ","), encoding="utf-8")
    found = run(suppressing.parent, "import-release", table, "--quarter", "2024", "--dataset",
                "vaers")  # fmt: skip
    assert found.code == 2
    for text in ("vaers_id for the case id", "for the QID state", "case, age, sex, zip, diagnosis"):
        assert text in found.err
    assert "for the QID age" not in found.err


def test_all_bounds_that_are_missing_are_told_at_once(suppressing: Path) -> None:
    folder = suppressing.parent
    named = [*NAMED, "--map", "term=diagnosis"]
    run(folder, "import-release", suppressing, "--quarter", "2024", *named)
    found = run(folder, "audit", "--attacks", "b,ss")
    assert "no k and no thresholds and no alpha: give --k and --theta and --alpha" in found.err
