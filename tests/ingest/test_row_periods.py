"""Files that hold several periods, and columns that are blank where another one has the value."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.command import srsql

from srsql import Engine
from srsql.engine.errors import IngestError
from srsql.engine.ingest import IngestedPeriod
from srsql.schemas import Dataset, SchemaError, load_dataset
from srsql.schemas.file_layout import read_from

TOML = """
name = "own"
report_table = "rep"
report_id = "id"
case_id = "id"
[source]
reader = "READER"
SOURCE
period = { column = "got", PERIOD }
[tables.rep]
files = ["rep.csv"]
columns = ["id", "got", "age", "cage", "sex"]
fallback = { age = "cage" }
REP
[tables.sub]
files = ["sub.csv"]
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
    "id,got,age,cage,sex",
    "1,2020-01-05,40,,F",
    "2,2020-02-05,,41,F",
    "3,2021-01-05,,,M",
    '4,2021-03-09,43,,"M',
    "5,2021-04-09,44,,M,x",
    "6,no date,45,,M",
    "7,2021-12-31, ,46,M",
]
CHILDREN = ["id,pt", "1,Rash", "2,Pain", "3,Rash", "3,Pain", "6,Rash", "7,Rash", "8,Rash"]


def declared(
    folder: Path,
    period: str = 'kind = "year"',
    reader: str = "csv",
    source: str = "",
    rep: str = "",
) -> Dataset:
    text = TOML.replace("READER", reader).replace("PERIOD", period).replace("SOURCE", source)
    if reader == "table":
        text = text.replace('files = ["rep.csv"]', 'relation = "rep"')
        text = text.replace('files = ["sub.csv"]', 'relation = "sub"')
    (folder / "own.toml").write_text(text.replace("REP", rep), encoding="utf-8")
    return load_dataset(folder / "own.toml")


def take(
    folder: Path,
    label: str | None,
    reports: list[str] = REPORTS,
    children: list[str] = CHILDREN,
    reader: str = "csv",
) -> tuple[IngestedPeriod, list[tuple[object, ...]], list[tuple[object, ...]]]:
    """What became of a period, the rows of reports, and what was rejected by file and line."""
    mark = "$" if reader == "dollar" else ","
    for name, lines in (("rep", reports), ("sub", children)):
        (folder / "in").mkdir(exist_ok=True)
        text = "\n".join(lines).replace(",", mark)
        (folder / "in" / f"{name}.csv").write_text(text, encoding="utf-8")
    with Engine(":memory:") as engine:
        (done,) = engine.ingest(
            [folder / "in"], dataset=folder / "own.toml", period=label, max_reject_rate=0.5
        )
        rows = engine.con.execute(
            "SELECT srsql_line, id, age, srsql_age FROM raw_own.rep ORDER BY 1"
        ).fetchall()
        rejected = engine.con.execute(
            "SELECT file, line, reason FROM srsql.reject WHERE kind = 'row' ORDER BY ALL"
        ).fetchall()
    return done, rows, rejected


@pytest.mark.parametrize("reader", ["csv", "dollar"])
def test_the_rows_of_the_period_are_taken_and_all_others_counted(
    tmp_path: Path, reader: str
) -> None:
    declared(tmp_path, reader=reader)
    done, rows, rejected = take(tmp_path, "2021", reader=reader)
    quotes = reader == "csv"
    assert rows == [
        (4, 3, None, None),
        *([] if quotes else [(5, 4, "43", 43)]),
        (8, 7, "46", 46),
    ]
    wide = "too many fields (a separator inside a value)"
    assert rejected == [
        *([("rep.csv", 5, "a quote is opened and never closed")] if quotes else []),
        ("rep.csv", 6, wide), ("rep.csv", 7, "no period"),
        ("sub.csv", 6, "no period"), ("sub.csv", 8, "no report has its key"),
    ]  # fmt: skip
    report, child = done.files
    lost = 3 if quotes else 2
    assert (report.records, report.loaded, report.rejected) == (5, 5 - lost, lost)
    assert (report.other_periods, child.other_periods) == (2, 2)
    assert (child.records, child.loaded, child.rejected, child.orphans) == (5, 3, 2, 0)
    assert (report.fallbacks, child.fallbacks) == ({"age": 1}, {})


@pytest.mark.slow
def test_every_record_of_a_file_is_of_one_of_its_periods_or_rejected_in_each(
    tmp_path: Path,
) -> None:
    declared(tmp_path)
    first, rows, _ = take(tmp_path, "2020")
    assert rows == [(2, 1, "40", 40), (3, 2, "41", 41)]
    assert first.files[0].fallbacks == {"age": 1}
    second, _, _ = take(tmp_path, "2021")
    for one, other, lines in zip(first.files, second.files, (7, 7), strict=True):
        assert one.records + one.other_periods == other.records + other.other_periods == lines
    assert first.files[0].loaded + second.files[0].loaded == 4


@pytest.mark.slow
def test_a_period_that_no_row_is_of_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    declared(tmp_path)
    with pytest.raises(IngestError, match=r"no rows of 2019 by its column got .*20 to 2021 \(2\)"):
        take(tmp_path, "2019")
    with pytest.raises(IngestError, match="give it with --period"):
        take(tmp_path, None)


@pytest.mark.slow
def test_a_file_of_which_too_many_rows_tell_no_period_is_refused(tmp_path: Path) -> None:
    declared(tmp_path)
    lines = [REPORTS[0], *(f"{n},{'2020-01-01' if n % 3 else '?'},1,,F" for n in range(1, 10))]
    with pytest.raises(IngestError, match="5 of 7 records tell no period"):
        take(tmp_path, "2020", [*lines[:1], *(f"{n},?,1,,F" for n in range(5)), *lines[1:3]], [])
    done, _, _ = take(tmp_path, "2020", lines, ["id,pt", "1,Rash", *["2,Pain"] * 3])
    assert (done.files[0].loaded, done.files[0].rejected) == (6, 3)


@pytest.mark.slow
def test_few_rows_without_a_period_do_not_refuse_a_small_period_of_a_large_file(
    tmp_path: Path,
) -> None:
    declared(tmp_path)
    lines = [REPORTS[0], "1,2019-01-01,1,,F", "2,?,1,,F", "3,?,1,,F"]
    lines += [f"{n},2020-01-01,1,,F" for n in range(4, 300)]
    for label, loaded in (("2019", 1), ("2020", 296)):
        done, _, _ = take(tmp_path, label, lines, ["id,pt", "1,Rash", "4,Pain"])
        assert (done.files[0].loaded, done.files[0].rejected) == (loaded, 2)


@pytest.mark.slow
def test_rows_without_a_report_are_counted_as_such_and_refuse_no_file(tmp_path: Path) -> None:
    declared(tmp_path)
    for name, lines in (("rep", REPORTS[:5]), ("sub", ["id,pt", "1,Rash", *["99,Pain"] * 50])):
        (tmp_path / f"{name}.csv").write_text("\n".join(lines[:4] if name == "rep" else lines))
    with Engine(":memory:") as engine:
        files = [tmp_path / "in"]
        files[0].mkdir()
        for name in ("rep", "sub"):
            (tmp_path / f"{name}.csv").rename(files[0] / f"{name}.csv")
        (done,) = engine.ingest(files, dataset=tmp_path / "own.toml", period="2020")
        (dump,) = engine.ingest(files, dataset=tmp_path / "own.toml", cumulative=True)
    child = done.files[1]
    assert (child.loaded, child.reasons) == (1, {"no report has its key": 50})
    assert (child.unknown_period, done.files[0].unknown_period) == (0, 0)
    assert dump.files[1].reasons == {"no report has its key": 50}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("period", "written", "label"),
    [
        ('kind = "quarter"', "20200405", "2020Q2"),
        ('kind = "month", format = "%d-%b-%y"', "31-JAN-26", "2026-01"),
        ('kind = "year", format = "%m/%d/%Y"', " 1/05/2004 ", "2004"),
        ('kind = "week", format = "%Y/%m/%d"', "2026/01/05", "2026W02"),
        ('kind = "label", words = { "・第一" = "Q1", "・第四" = "Q4" }', "2025・第四", "2025Q4"),
        ('kind = "label"', " spring ", "spring"),
    ],
)
def test_a_period_is_read_as_it_is_written(
    tmp_path: Path, period: str, written: str, label: str
) -> None:
    declared(tmp_path, period)
    lines = [REPORTS[0], f"1,{written},30,,F", "2,1/1/1,30,,F"]
    done, rows, _ = take(tmp_path, label, lines, ["id,pt", "1,Rash"])
    assert (done.quarter, rows) == (label, [(2, 1, "30", 30)])


@pytest.mark.slow
def test_undecodable_lines_of_other_periods_are_not_held_against_the_period(
    tmp_path: Path,
) -> None:
    declared(tmp_path, source='encoding = "utf-8"')
    children = ["id,pt", "3,Übelkeit", *["3,Rash"] * 150, "1,R\udcffsh", "7,Übelkeit"]
    (tmp_path / "in").mkdir()
    text = "\n".join(children)
    (tmp_path / "in" / "sub.csv").write_bytes(text.encode("utf-8", "surrogateescape"))
    (tmp_path / "in" / "rep.csv").write_text("\n".join([*REPORTS[:4], REPORTS[7]]))
    with Engine(":memory:") as engine:
        (done,) = engine.ingest([tmp_path / "in"], dataset=tmp_path / "own.toml", period="2021")
    (terms,) = done.files[1].columns
    assert (terms.filled, terms.unread, done.files[1].odd_lines) == (152, 0, 1)


@pytest.mark.parametrize(
    ("period", "reader", "source", "rep", "said"),
    [
        ('kind = "year"', "table", "", "", "is for files"),
        ('kind = "label", format = "%Y"', "csv", "", "", "is no date"),
        ('kind = "year", words = { a = "b" }', "csv", "", "", 'are for kind = "label"'),
        ('kind = "year", format = "Y"', "csv", "", "", "has no sign such as"),
        ('kind = "decade"', "csv", "", "", "source.period"),
        ('kind = "year"', "csv", "", 'publish = ["cage"]', "may read the same place"),
    ],
)
def test_a_declaration_of_row_periods_that_cannot_be_meant_is_refused(
    tmp_path: Path, period: str, reader: str, source: str, rep: str, said: str
) -> None:
    with pytest.raises(SchemaError) as caught:
        declared(tmp_path, period, reader, source, rep)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("fallback", "said"),
    [
        ('{ age = "other" }', "is not among columns"),
        ('{ id = "cage" }', "is an id"),
        ('{ age = "age" }', "has a fallback itself"),
        ('{ age = "cage", cage = "sex" }', "has a fallback itself"),
    ],
)
def test_a_fallback_that_cannot_be_one_is_refused(tmp_path: Path, fallback: str, said: str) -> None:
    dataset = declared(tmp_path)
    (tmp_path / "own.toml").write_text(dataset.text.replace('{ age = "cage" }', fallback))
    with pytest.raises(SchemaError, match=said):
        load_dataset(tmp_path / "own.toml")


def test_a_unit_in_another_column_takes_no_fallback(tmp_path: Path) -> None:
    text = declared(tmp_path).text.replace(
        "domain = [0, 120]", 'domain = [0, 120]\nunit_column = "sex"\nunits = { YR = 1 }'
    )
    (tmp_path / "own.toml").write_text(text)
    with pytest.raises(SchemaError, match="would be read with the value of the fallback"):
        load_dataset(tmp_path / "own.toml")


def test_a_column_reads_the_place_of_its_fallback_too(tmp_path: Path) -> None:
    table = declared(tmp_path).table("rep")
    assert read_from(table, "age") == {"age", "cage"}
    assert read_from(table, "cage") == {"cage"}


@pytest.mark.slow
def test_the_command_tells_what_was_left_out_and_what_was_taken(tmp_path: Path) -> None:
    declared(tmp_path)
    take(tmp_path, "2021")
    answer = srsql(
        "ingest", tmp_path / "in", "--dataset", tmp_path / "own.toml", "--period", "2021",
        "--db", tmp_path / "w.duckdb", "--max-reject-rate", "0.6",
    )  # fmt: skip
    assert answer.code == 0
    assert "rep.csv: 1 x age: blank, taken from its fallback" in answer.out
    assert "rep.csv: 2 records of other periods left out" in answer.out
