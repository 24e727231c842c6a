"""Files without a header: line 1 is a record, and every line keeps its own number."""

from __future__ import annotations

from pathlib import Path

import pytest

from srsql import Engine
from srsql.engine.errors import DatasetError, IngestError
from srsql.schemas import SchemaError, load_dataset

TOML = """
name = "own"
report_table = "rep"
report_id = "id"
case_id = "id"
id_type = "TYPE"
[source]
reader = "csv"
delimiter = "$"
header = false
SOURCE
[tables.rep]
files = ["rep.txt"]
names = ["ID", "Got", "AGE_Y", "Sex"]
columns = { id = [], age = ["age_y"], sex = [] }
[tables.sub]
files = ["sub.txt"]
names = ["id", "lang", "pt"]
columns = ["id", "pt"]
publish = ["pt"]
[[qid]]
name = "age"
kind = "numeric"
column = "age"
domain = [0, 120]
[[sensitive]]
table = "sub"
column = "pt"
"""
REPORTS = [
    '"1"$"a"$"40"$"F"',
    '2$b$"41$M',
    '3$"c',
    'still c"$42$M',
    "x$d$43$F",
    "5$e$44",
    "6$f$45$F$extra",
    "",
    '7$"g ""h"""$46$F',
]
CHILDREN = ["1$en$Rash", '3$en$"Pain', "7$fr$Démangeaison"]


def declare(folder: Path, source: str = "", kind: str = "integer") -> Path:
    file = folder / "own.toml"
    file.write_text(TOML.replace("SOURCE", source).replace("TYPE", kind), encoding="utf-8")
    return file


def write(
    folder: Path, reports: list[str] = REPORTS, children: list[str] = CHILDREN, end: str = "\n"
) -> Path:
    source = folder / "in"
    source.mkdir(exist_ok=True)
    for name, lines in (("rep", reports), ("sub", children)):
        text = "".join(f"{line}{end}" for line in lines)
        (source / f"{name}.txt").write_text(text, encoding="utf-8-sig", newline="")
    return source


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_1_is_a_record_and_rejects_name_the_lines_of_the_file(
    tmp_path: Path, end: str
) -> None:
    toml, source = declare(tmp_path), write(tmp_path, end=end)
    with Engine(":memory:") as engine:
        (done,) = engine.ingest([source], dataset=toml, period="2026", max_reject_rate=1)
        rows = engine.con.execute("SELECT srsql_line, id, age, sex FROM raw_own.rep").fetchall()
        rejected = engine.con.execute(
            "SELECT file, line, reason, record FROM srsql.reject ORDER BY ALL"
        ).fetchall()
        terms = engine.con.execute("SELECT srsql_line, id, pt FROM raw_own.sub").fetchall()
    assert rows == [(1, 1, "40", "F"), (3, 3, "42", "M"), (9, 7, "46", "F")]
    short = "too few fields (a short row, or a line end inside a value)"
    leak = "a quoted field goes on to line 3, where text follows its closing quote"
    assert [(file, line, reason) for file, line, reason, _ in rejected] == [
        ("rep.txt", 2, leak),
        ("rep.txt", 5, "report id is not an integer"),
        ("rep.txt", 6, short),
        ("rep.txt", 7, "too many fields (a separator inside a value)"),
        ("rep.txt", 8, "blank line"),
        ("sub.txt", 2, "a quote is opened and never closed"),
    ]
    assert rejected[1][3] == "x$d$43$F"
    assert terms == [(1, 1, "Rash"), (3, 7, "Démangeaison")]
    assert [(f.records, f.loaded, f.rejected) for f in done.files] == [(8, 3, 5), (3, 2, 1)]


def test_a_header_where_none_is_declared_is_no_report(tmp_path: Path) -> None:
    toml = declare(tmp_path, kind="text")
    source = write(tmp_path, ["ID$Got$AGE_Y$Sex", "a$b$40$F"], ["a$en$Rash"])
    with Engine(":memory:") as engine, pytest.raises(IngestError, match="line 1 is a header"):
        engine.ingest([source], dataset=toml, period="2026")


@pytest.mark.slow
def test_a_file_of_one_record_and_a_separator_at_the_end_of_each_is_read(tmp_path: Path) -> None:
    toml, source = declare(tmp_path), write(tmp_path, ["1$a$40$F$"], ["1$en$Rash$"])
    with Engine(":memory:") as engine:
        (done,) = engine.ingest([source], dataset=toml, period="2026")
    assert [(f.records, f.loaded) for f in done.files] == [(1, 1), (1, 1)]
    (source / "rep.txt").write_text("")
    with Engine(":memory:") as engine, pytest.raises(IngestError, match=r"rep\.txt is empty"):
        engine.ingest([source], dataset=toml, period="2026")


@pytest.mark.slow
def test_quotes_mean_nothing_or_are_other_signs_where_that_is_declared(tmp_path: Path) -> None:
    for source, line, wanted in (
        ('quote = ""', '1$"a$40$F"', 'F"'),
        ('quote = "\'"', "1$a$40$'F $ ''x'''", "F $ 'x'"),
        ('quote = "\'"\nescape = "\\\\"', r"1$a$40$'F $ \'x\\'", "F $ 'x\\"),
    ):
        toml, files = declare(tmp_path, source), write(tmp_path, [line], ["1$en$Rash"])
        with Engine(":memory:") as engine:
            engine.ingest([files], dataset=toml, period="2026")
            assert engine.con.execute("SELECT sex FROM raw_own.rep").fetchall() == [(wanted,)]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("header = false", "", "the header has them"),
        ('names = ["id", "lang", "pt"]', "", "name all columns of its files"),
        ('"lang"', '"ID"', "'id' is there twice"),
        ('"lang", "pt"', '"lang", "term"', "no column 'pt' among them"),
        ('reader = "csv"\ndelimiter = "$"', 'reader = "parquet"', "source.header"),
        ('delimiter = "$"', 'delimiter = "$"\nheder = true', "heder"),
        ('reader = "csv"', 'reader = "dollar"', 'or give reader = "csv"'),
    ],
)
def test_a_declaration_of_positions_that_cannot_be_meant_is_refused(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    toml = declare(tmp_path)
    text = toml.read_text(encoding="utf-8")
    assert old in text
    toml.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(SchemaError) as caught:
        load_dataset(toml)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ('quote = "$"', "quotes aside"),
        ('quote = "ab"', "source.quote: 'ab' is not one character"),
        ('escape = "$"', "quotes aside"),
        ('quote = ""\nescape = "x"', "knows no quoted text"),
    ],
)
def test_signs_that_cannot_be_told_apart_are_refused(
    tmp_path: Path, source: str, said: str
) -> None:
    with Engine(":memory:") as engine, pytest.raises((DatasetError, SchemaError)) as caught:
        engine.ingest([write(tmp_path)], dataset=declare(tmp_path, source), period="2026")
    assert said in str(caught.value)
