"""A key that the reader does not use is refused where it is declared, and not where it is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from srsql import Engine
from srsql.engine.errors import IngestError
from srsql.schemas import SchemaError, load_dataset, parse_dataset

TOML = """
name = "own"
report_table = "rep"
report_id = "id"
case_id = "id"
[source]
reader = "READER"
SOURCE
[tables.rep]
WHERE
columns = ["id", "age", "pt"]
[tables.sub]
CHILD
columns = ["id", "pt"]
[[qid]]
name = "age"
kind = "numeric"
column = "age"
domain = [0, 120]
QID
[[sensitive]]
table = "rep"
column = "pt"
"""
FILES = ('files = ["rep.csv"]', 'files = ["sub.csv"]\nrequired = false')
RELATIONS = ('relation = "rep"', 'relation = "sub"')


def declared(reader: str, source: str = "", rep: str = "", sub: str = "", qid: str = "") -> str:
    where, child = RELATIONS if reader == "table" else FILES
    text = TOML.replace("READER", reader).replace("SOURCE", source).replace("QID", qid)
    return text.replace("WHERE", f"{where}\n{rep}").replace("CHILD", f"{child}\n{sub}")


def refusal(folder: Path, text: str) -> str:
    (folder / "own.toml").write_text(text, encoding="utf-8")
    with pytest.raises(SchemaError) as caught:
        load_dataset(folder / "own.toml")
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("reader", "key", "value"),
    [
        ("dollar", "delimiter", '"|"'), ("parquet", "delimiter", '","'),
        ("table", "delimiter", '","'), ("parquet", "encoding", '"cp932"'),
        ("table", "encoding", '"cp932"'), ("table", "deleted_files", '["x"]'),
        ("table", "period_pattern", '"(x)"'),
        ("dollar", "period", '"label"'), ("parquet", "period", '"label"'),
    ],
)  # fmt: skip
def test_a_key_of_the_source_that_its_reader_does_not_use_is_refused_by_name(
    tmp_path: Path, reader: str, key: str, value: str
) -> None:
    text = refusal(tmp_path, declared(reader, f"{key} = {value}"))
    assert f"source.{key}" in text
    assert "take it out" in text


def test_a_key_of_a_table_that_the_reader_does_not_use_is_refused_by_name(tmp_path: Path) -> None:
    text = refusal(tmp_path, declared("table", sub="required = true"))
    assert 'key tables.sub.required: reader = "table" does not use it' in text


@pytest.mark.parametrize("reader", ["csv", "dollar", "parquet", "table"])
def test_null_words_and_the_decimal_sign_are_of_every_reader(tmp_path: Path, reader: str) -> None:
    (tmp_path / "own.toml").write_text(declared(reader, 'null = ["NA"]\ndecimal = ","'))
    assert load_dataset(tmp_path / "own.toml").source.null == ("NA",)


def test_a_registered_dataset_keeps_a_key_that_was_passed_over_and_takes_files_without_it(
    tmp_path: Path,
) -> None:
    old = parse_dataset(declared("dollar", 'delimiter = "|"'), tmp_path)
    (tmp_path / "rep.csv").write_text("id$age$pt\n1$40$Rash\n")
    (tmp_path / "new.csv").write_text("id$age$pt\n2$41$Rash\n")
    toml = tmp_path / "own.toml"
    toml.write_text(declared("dollar"))
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([tmp_path / "rep.csv"], dataset=toml, period="2024")
        engine.con.execute("UPDATE srsql.dataset SET toml = ?", [old.text])
        assert engine.dataset("own").source.delimiter == "|"
        source = tmp_path / "second"
        source.mkdir()
        (tmp_path / "new.csv").rename(source / "rep.csv")
        (done,) = engine.ingest([source / "rep.csv"], dataset=toml, period="2025")
        assert done.files[0].loaded == 1
        assert engine.dataset("own").text == toml.read_text()


@pytest.mark.parametrize(
    ("source", "qid"),
    [
        ('null = ["NA"]', ""), ('decimal = ","', ""), ('encoding = "cp932"', ""),
        ("", 'unit_in_value = true\nunits = { YR = 1 }'),
    ],
)  # fmt: skip
def test_a_key_that_changes_what_is_read_makes_another_schema(source: str, qid: str) -> None:
    plain = parse_dataset(declared("csv"), Path())
    other = parse_dataset(declared("csv", source, qid=qid), Path())
    assert not plain.reads_as(other)
    assert not other.reads_as(plain)


def test_what_is_only_checked_leaves_the_schema_what_it_reads() -> None:
    child = declared("csv").replace("required = false", "every_report = true")
    plain = parse_dataset(declared("csv").replace("required = false", ""), Path())
    counts = 'row_counts = "faers_row_counts.csv"'
    assert plain.reads_as(parse_dataset(child, Path()))
    assert parse_dataset(declared("csv", counts), Path()).source.row_counts is not None
    assert parse_dataset(declared("csv"), Path()).reads_as(
        parse_dataset(declared("csv", counts), Path())
    )


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (declared("csv", rep="every_report = true"), "the report table has each report"),
        (declared("csv", sub="every_report = true"), "take required = false out"),
        (declared("csv", 'row_counts = "mine.csv"'), "no file 'mine.csv' ships"),
        (declared("csv", 'row_counts = "../faers_row_counts.csv"'), "no file"),
        (declared("csv", 'decimal = ";"'), "decimal"),
        (declared("csv", qid="unit_in_value = true"), "needs unit_column and units together"),
        (
            declared("csv", qid='unit_in_value = true\nunit_column = "pt"\nunits = { A = 1 }'),
            "give one of unit_column and unit_in_value",
        ),
    ],
)
def test_a_declaration_that_contradicts_itself_is_refused(
    tmp_path: Path, changed: str, said: str
) -> None:
    assert said in refusal(tmp_path, changed)


@pytest.mark.parametrize(
    ("reader", "source", "header", "said"),
    [
        ("csv", "", "id;age;pt", 'delimiter = ";"'),
        ("csv", "", "id|age|pt", 'delimiter = "|"'),
        ("csv", "", "id\tage\tpt", 'delimiter = "\\t"'),
        ("csv", "", "id$age$pt", 'reader = "dollar"'),
        ("csv", "", '"id,age,pt"', "the whole header stands in quotes"),
        ("csv", "", "sep=;\nid;age;pt", "delimiter = ';'"),
        ("csv", 'delimiter = ";"', "sep=;\nid;age;pt", "take it out of the file"),
        ("dollar", "", "id|age|pt", 'reader = "csv" and delimiter = "|"'),
        ("csv", "", "number,age,pt", "is line 1 the header"),
    ],
)
def test_a_header_by_another_delimiter_is_named_with_what_to_declare(
    tmp_path: Path, reader: str, source: str, header: str, said: str
) -> None:
    (tmp_path / "own.toml").write_text(declared(reader, source))
    (tmp_path / "rep.csv").write_text(f"{header}\n1,40,Rash\n")
    with Engine(tmp_path / "w.duckdb") as engine, pytest.raises(IngestError) as caught:
        engine.ingest([tmp_path / "rep.csv"], dataset=tmp_path / "own.toml", period="2024")
    assert "no column id in its header" in str(caught.value)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
