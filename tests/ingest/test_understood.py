"""What ingestion understood is counted by column; a file of which too little was is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.command import srsql

from srsql import Engine
from srsql.engine.errors import IngestError
from srsql.engine.ingest import IngestedPeriod, IngestOptions, ingest
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import load_dataset

TOML = """
name = "own"
report_table = "rep"
report_id = "id"
case_id = "id"
[source]
reader = "csv"
delimiter = ";"
SOURCE
[tables.rep]
files = ["*.csv"]
columns = ["id", "age", "unit", "sex", "pt"]
[[qid]]
name = "age"
kind = "numeric"
column = "age"
unit = "years"
domain = [0, 120]
granularity = 1
rounding = "floor"
missing = ["UNK"]
AGE
[[qid]]
name = "sex"
kind = "categorical"
column = "sex"
hierarchy = "hierarchies/sex.csv"
missing = ["0"]
aliases = { 8507 = "M", 8532 = "F" }
[[sensitive]]
table = "rep"
column = "pt"
"""
UNITS = 'unit_in_value = true\nunits = { YR = 1, MONTHS = "1/12" }'
Put = Callable[..., IngestedPeriod]


@pytest.fixture
def put(warehouse: Warehouse, tmp_path: Path) -> Put:
    """Ingest reports of these (age, sex, term), by the dataset with these keys."""

    def put(
        rows: list[tuple[str, str, str]], source: str = "", age: str = "", **options: Any
    ) -> IngestedPeriod:
        toml, file = tmp_path / "own.toml", tmp_path / "rep.csv"
        toml.write_text(TOML.replace("SOURCE", source).replace("AGE", age), encoding="utf-8")
        lines = [f"{n};{a};;{s};{t}\n" for n, (a, s, t) in enumerate(rows, 1)]
        file.write_text("id;age;unit;sex;pt\n" + "".join(lines), encoding="utf-8")
        chosen = IngestOptions(period="2024", replace=True, **options)
        (done,) = ingest(warehouse, [file], load_dataset(toml), chosen)
        return done

    return put


def refused(put: Put, rows: list[tuple[str, str, str]], source: str = "", age: str = "") -> str:
    with pytest.raises(IngestError) as caught:
        put(rows, source, age)
    text = str(caught.value)
    assert "\n" not in text
    assert "--max-unread" in text
    assert "nothing was changed" in text
    return text


def test_decimal_commas_are_refused_with_three_examples_and_the_key(
    put: Put, warehouse: Warehouse
) -> None:
    text = refused(put, [(f"{n},5", "M", "Rash") for n in range(20, 220)])
    assert "200 of 200 values of column age (100.0%)" in text
    assert "'20,5' in line 2, '21,5' in line 3, '22,5' in line 4" in text
    assert 'decimal = ","' in text
    assert warehouse.value("SELECT count(*) FROM srsql.ingestion") == 0


def test_with_the_decimal_comma_declared_every_age_is_read_and_no_point_is_one(
    put: Put, warehouse: Warehouse
) -> None:
    rows = [(f"{n},75", "M", "Rash") for n in range(20, 120)] + [("3.5", "M", "Rash")]
    done = put(rows, 'decimal = ","')
    assert [(c.column, c.filled, c.unread) for c in done.files[0].columns] == [
        ("age", 101, 1), ("sex", 101, 0), ("pt", 101, 0),
    ]  # fmt: skip
    found = warehouse.rows("SELECT srsql_age FROM raw_own.rep ORDER BY srsql_line")
    assert [age for (age,) in found] == [*range(20, 120), None]


def test_value_and_unit_of_one_field_are_refused_with_the_key_that_reads_them(put: Put) -> None:
    assert "unit_in_value = true" in refused(
        put, [("36 YR", "M", "Rash"), ("5Months", "F", "Rash")]
    )


def test_a_unit_in_the_field_that_is_not_declared_is_refused_with_the_key(put: Put) -> None:
    assert "key qid.age.units" in refused(put, [("7 WK", "M", "Rash")], age=UNITS)


def test_with_its_unit_in_the_field_a_value_is_read_and_an_unknown_unit_is_rejected(
    put: Put, warehouse: Warehouse
) -> None:
    written = ["36 YR", "36yr", "30 months", "18.5 MONTHS", "7 WK", "7", "YR", "", "UNK"]
    done = put([(text, "M", "Rash") for text in written], age=UNITS, max_unread=1)
    found = warehouse.rows("SELECT srsql_age FROM raw_own.rep ORDER BY srsql_line")
    assert [age for (age,) in found] == [36, 36, 2, 1, None, None, None, None, None]
    assert done.files[0].reasons == {
        "age: unknown unit": 1, "age: no unit": 1, "age: not a number": 1,
    }  # fmt: skip
    assert (done.files[0].columns[0].filled, done.files[0].columns[0].unread) == (8, 3)


def test_codes_of_digits_are_known_as_floats_and_others_are_refused_with_the_keys(
    put: Put, warehouse: Warehouse
) -> None:
    put([("40", "8507.0", "Rash"), ("40", "8532", "Rash"), ("40", "0.0", "Rash")])
    assert [sex for (sex,) in warehouse.rows("SELECT srsql_sex FROM raw_own.rep")] == [
        "M", "F", None,
    ]  # fmt: skip
    text = refused(put, [("40", "homme", "Rash"), ("40", "M", "Rash")])
    assert "unknown code ('homme' in line 2)" in text
    assert "qid.sex.aliases" in text


def test_null_words_are_blank_in_every_column_and_in_no_other_spelling(
    put: Put, warehouse: Warehouse
) -> None:
    rows = [("null", "NULL", " Null "), ("N/A", "M", "Nullity"), ("40", "F", "n/a")]
    done = put(rows, 'null = ["NULL", "N/A"]')
    assert [(c.column, c.filled, c.unread) for c in done.files[0].columns] == [
        ("age", 1, 0), ("sex", 2, 0), ("pt", 1, 0),
    ]  # fmt: skip
    assert warehouse.rows("SELECT age, sex, pt, srsql_pt FROM raw_own.rep ORDER BY srsql_line") == [
        (None, None, None, None), (None, "M", "Nullity", "nullity"), ("40", "F", None, None),
    ]  # fmt: skip


def test_a_null_word_that_is_not_declared_is_refused_with_the_key(put: Put) -> None:
    assert 'null = ["NULL"]' in refused(put, [("NULL", "M", "Rash")])


def test_a_report_id_of_a_null_word_is_blank_and_a_float_is_refused_with_the_reason(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    toml, file = tmp_path / "own.toml", tmp_path / "rep.csv"
    text = TOML.replace("SOURCE", 'null = ["NULL"]').replace("AGE", "")
    toml.write_text(text.replace('case_id = "id"', 'case_id = "id"\nid_type = "text"'))
    file.write_text("id;age;unit;sex;pt\nNULL;40;;M;Rash\nA1;40;;M;Rash\n")
    options = IngestOptions(period="2024", max_reject_rate=1)
    (done,) = ingest(warehouse, [file], load_dataset(toml), options)
    assert done.files[0].reasons == {"blank report id": 1}
    file.write_text("id;age;unit;sex;pt\n123.0;40;;M;Rash\n")
    with Warehouse(tmp_path / "other.duckdb") as other:
        toml.write_text(text)
        with pytest.raises(IngestError, match="report id is a float: write integers"):
            ingest(other, [file], load_dataset(toml), IngestOptions(period="2024"))


def test_a_term_that_lost_its_letters_is_not_understood(put: Put) -> None:
    text = refused(put, [("40", "M", "H\ufffdmatome"), ("40", "M", "Rash")])
    assert "1 of 2 values of column pt" in text
    assert "'H\ufffdmatome' in line 2" in text


def test_exactly_five_percent_is_taken_in_and_is_shown(put: Put, tmp_path: Path) -> None:
    rows = [("x", "M", "Rash")] + [("40", "M", "Rash")] * 19
    assert put(rows).files[0].columns[0].share == pytest.approx(0.05)
    refused(put, [("x", "M", "Rash"), *rows[:15]])
    run = srsql(
        "ingest", tmp_path / "rep.csv", "--dataset", tmp_path / "own.toml", "--period", "2024",
        "--max-unread", "0.5", "--db", tmp_path / "other.duckdb",
    )  # fmt: skip
    assert "values of age not understood" in run.out


@pytest.mark.slow
def test_what_was_understood_is_kept_in_the_catalog_and_told_by_the_manifest(
    tmp_path: Path,
) -> None:
    toml, file = tmp_path / "own.toml", tmp_path / "rep.csv"
    toml.write_text(TOML.replace("SOURCE", "").replace("AGE", ""))
    rows = [f"{n};{'x' if n == 1 else 40 + n % 3};;M;Rash{n % 9}\n" for n in range(1, 61)]
    file.write_text("id;age;unit;sex;pt\n" + "".join(rows))
    with Engine(tmp_path / "w.duckdb") as engine:
        (done,) = engine.ingest([file], dataset=toml, period="2024")
        kept = "SELECT table_name, column_name, filled, unread FROM srsql.ingested_column"
        assert engine.sql(kept) == [
            ("rep", "age", 60, 1), ("rep", "sex", 60, 0), ("rep", "pt", 60, 0),
        ]  # fmt: skip
        (again,) = engine.ingest([file], dataset=toml, period="2024")
        assert again.files == done.files
        made = engine.release("2024", theta=1, k=2, model="ms", seed=1)
        assert made.manifest["unread_columns"] == [
            {"table": "rep", "column": "age", "filled": 60, "unread": 1}
        ]


@pytest.mark.slow
@pytest.mark.parametrize("reader", ["parquet", "table"])
def test_every_reader_counts_its_columns(tmp_path: Path, reader: str) -> None:
    text = TOML.replace("SOURCE", 'null = ["NULL"]').replace("AGE", "")
    text = text.replace('delimiter = ";"\n', "").replace('"csv"', f'"{reader}"', 1)
    values = "(1, 'NULL', NULL, 'M', 'Rash'), (2, 'x', NULL, 'F', 'NULL')"
    rows = f"(VALUES {values}) t(id, age, unit, sex, pt)"
    file, con = tmp_path / "rep.parquet", duckdb.connect()
    if reader == "parquet":
        con.execute(f"COPY (FROM {rows}) TO '{file}'")
        text = text.replace('"*.csv"', '"*.parquet"')
    else:
        con.execute(f"CREATE TABLE people AS FROM {rows}")
        text = text.replace('files = ["*.csv"]', 'relation = "people"')
    (tmp_path / "own.toml").write_text(text)
    engine = Engine(con, dataset=tmp_path / "own.toml")
    sources = [file] if reader == "parquet" else []
    with pytest.raises(IngestError, match="1 of 1 values of column age"):
        engine.ingest(sources, period="2024")
    (done,) = engine.ingest(sources, period="2024", max_unread=1)
    assert [(c.column, c.filled, c.unread) for c in done.files[0].columns] == [
        ("age", 1, 1), ("sex", 2, 0), ("pt", 1, 0),
    ]  # fmt: skip


NUMBERS = st.from_regex(r"[0-9]{1,3}([.,][0-9]{1,3})?", fullmatch=True)
VALUES = st.one_of(
    NUMBERS,
    st.builds(lambda n, gap, unit: n + gap + unit, NUMBERS, st.sampled_from(["", " ", "  "]),
              st.sampled_from(["YR", "yr", "Months", "WK", "."])),
    st.sampled_from(["", " ", "UNK", "YR", "1 000", "-3 YR", "1,2,3 YR", "NULL", "null "]),
)  # fmt: skip


def plain_age(text: str, decimal: str, *, with_unit: bool) -> tuple[bool, int | None]:
    """By definition: whether a value is filled, and the completed years that it says."""
    word = text.strip().upper()
    if word in ("", "NULL"):
        return False, None
    factor = Fraction(1)
    if with_unit:
        place = next((at for at, sign in enumerate(word) if sign.isalpha()), len(word))
        word, unit = word[:place].strip(), word[place:]
        if unit not in ("YR", "MONTHS"):
            return True, None
        factor = Fraction(1, 12) if unit == "MONTHS" else factor
    if not re.fullmatch(rf"-?[0-9]+(\{decimal}[0-9]+)?", word):
        return True, None
    years = Fraction(word.replace(decimal, ".")) * factor
    return True, int(years) if years >= 0 and int(years) <= 120 else None


@pytest.mark.thorough
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    values=st.lists(VALUES, min_size=1, max_size=12),
    decimal=st.sampled_from([".", ","]),
    with_unit=st.booleans(),
)
def test_numbers_of_any_form_are_those_of_the_definition(
    tmp_path_factory: pytest.TempPathFactory, values: list[str], decimal: str, with_unit: bool
) -> None:
    folder = tmp_path_factory.mktemp("numbers")
    toml, file = folder / "own.toml", folder / "rep.csv"
    source = f'decimal = "{decimal}"\nnull = ["NULL"]'
    text = TOML.replace("SOURCE", source).replace("AGE", UNITS if with_unit else "")
    toml.write_text(text, encoding="utf-8")
    rows = "".join(f"{n};{value};;M;Rash\n" for n, value in enumerate(values, 1))
    file.write_text("id;age;unit;sex;pt\n" + rows, encoding="utf-8")
    with Warehouse(":memory:") as warehouse:
        options = IngestOptions(period="2024", max_unread=1)
        (done,) = ingest(warehouse, [file], load_dataset(toml), options)
        found = warehouse.rows("SELECT srsql_age FROM raw_own.rep ORDER BY srsql_line")
    expected = [plain_age(value, decimal, with_unit=with_unit) for value in values]
    assert [age for (age,) in found] == [age for _, age in expected]
    unknown = [value.strip().upper() == "UNK" for value in values]
    count = done.files[0].columns[0]
    assert count.filled == sum(filled for filled, _ in expected)
    assert count.unread == sum(
        filled and age is None and not missing
        for (filled, age), missing in zip(expected, unknown, strict=True)
    )
