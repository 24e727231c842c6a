"""Answers as tables, records, CSV and JSON: on terminals of any width, in pipes, in files."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console
from support.command import srsql
from support.files import copied
from support.printed import print_table
from support.quarters import crowd

from srsql.cli import cli
from srsql.engine.api.engine import Engine
from srsql.engine.console import FORMS, SCREEN, forms, result_table
from srsql.engine.console.measures import SIGNAL_COLUMNS, signals_parts
from srsql.engine.measures import CELL, cell

pytestmark = pytest.mark.slow

PAIR = ("--drug", "Drug 1", "--reaction", "Reaction 01")
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with one released quarter."""
    folder = tmp_path_factory.mktemp("forms")
    path = copied(folder / "kept", folder / "w.duckdb", {"2011Q4": crowd(60)})
    with Engine(path) as engine:
        engine.release("2011Q4", model="ppms++", k=3, theta="1/2", seed=1)
    return path


def asked(path: Path, *words: object) -> Any:
    answer = srsql(*words, "--db", path)
    assert answer.code in (0, 1), answer.err
    return answer


def printed(width: int, columns: list[str], rows: list[list[str]]) -> list[str]:
    """A table on a terminal, without its colours."""
    terminal = Console(
        width=width, force_terminal=True, markup=False, emoji=False, soft_wrap=True, highlight=False
    )
    with terminal.capture() as shown:
        print_table(terminal, "title", columns, rows)
    return ESCAPES.sub("", shown.get()).splitlines()


COLUMNS = ["rule", "data", "a"]
ROWS = [["ASPIRIN => GASTROINTESTINAL HAEMORRHAGE", "original", "12"], ["B", "released", ""]]


def test_a_table_that_fits_the_terminal_is_a_table() -> None:
    assert printed(80, COLUMNS, ROWS) == [
        "title",
        "rule                                     data      a",
        "ASPIRIN => GASTROINTESTINAL HAEMORRHAGE  original  12",
        "B                                        released",
    ]


@pytest.mark.parametrize("width", [20, 40, 52])
def test_a_table_that_does_not_is_shown_as_records_and_no_word_is_broken(width: int) -> None:
    lines = printed(width, COLUMNS, ROWS)
    text = " ".join(lines)
    for word in " ".join(each for row in ROWS for each in row).split():
        assert word in text
    assert max(map(cell_len, lines)) <= max(width, len("GASTROINTESTINAL") + 6)
    assert lines[-2:] == ["rule: B", "data: released"], "an empty value has no line"
    assert lines.count("") == 1


def test_wide_letters_count_twice() -> None:
    assert printed(80, ["x", "y"], [["不良反應", "1"], ["ab", "2"]])[2:] == [
        "不良反應  1",
        "ab        2",
    ]


@pytest.mark.thorough
def test_one_signal_of_80_columns_has_no_broken_word(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Console(width=80, force_terminal=True, soft_wrap=True, highlight=False)
    monkeypatch.setattr("srsql.engine.console.measures.out", terminal)
    with Engine(made) as engine:
        found = engine.signals(drug="Drug 1", reaction="Reaction 01", min_age=40)
    tables = [part for part in signals_parts(found) if not isinstance(part, str)]
    assert [list(table.columns) for table in tables] == [
        ["", "original", "released"],
        ["", "original, complete", "released, complete"],
    ] or len(tables) == 1  # as wide as the figures are
    with terminal.capture() as shown:
        for table in tables:
            print_table(terminal, table.title, table.columns, table.rows)
    text = ESCAPES.sub("", shown.get())
    assert max(map(len, text.splitlines())) <= 80
    assert len(text.splitlines()) <= len(tables) * 13
    words = {word for table in tables for row in table.rows for c in row for word in c.split()}
    assert words <= set(text.split())


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "column"),
    [
        (("metrics", "--quarter", "2011Q4"), "measure"),
        (("signals", *PAIR), "drug"),
        (("query", "SELECT count(*) FROM demo"), "expected"),
        (("audit",), "quarter"),
        (("status",), "quarter"),
        (("attack", "--quarter", "2011Q4", "--qid", "sex=M"), "term"),
        (("series", "show"), "series"),
        (("explain", "--case", "1", "--quarter", "2011Q4"), "attribute"),
    ],
)
def test_what_has_rows_has_every_form_on_stdout_and_in_a_file(
    made: Path, tmp_path: Path, words: tuple[str, ...], column: str
) -> None:
    text = asked(made, *words, "--format", "csv").out
    rows = list(csv.DictReader(io.StringIO(text)))
    assert rows
    assert column in rows[0]
    file = tmp_path / "out.txt"
    for form in forms.FORMS:
        whole = ["--whole" if words[0] == "signals" else "--all"]
        shown = asked(made, *words, *whole, "--format", form).out
        written = asked(made, *words, "--format", form, "--out", file)
        assert written.out == ""
        assert file.read_text(encoding="utf-8") == shown
        assert "\x1b" not in shown
    assert json.loads(asked(made, *words, "--format", "json").out) == json.loads(
        asked(made, *words, "--json").out
    )
    assert asked(made, *words, "--format", "table").out == asked(made, *words).out


@pytest.mark.thorough
def test_csv_has_the_values_and_not_how_they_are_shown(made: Path) -> None:
    document = asked(made, "metrics", "--quarter", "2011Q4", "--json").json
    text = asked(made, "metrics", "--quarter", "2011Q4", "--format", "csv").out
    for row, told in zip(csv.DictReader(io.StringIO(text)), document, strict=True):
        assert row["measure"] == told["measure"]
        assert row["ratio"] == ("" if told["ratio"] is None else repr(told["ratio"]))
        assert row["passed"] == {None: "", True: "true", False: "false"}[told["passed"]]


def test_csv_of_an_answer_with_several_tables_says_on_stderr_where_the_others_are(
    made: Path,
) -> None:
    answer = asked(made, "status", "--format", "csv")
    assert answer.err == ("srsql: the CSV has releases; quarters, series: --format json\n")


@pytest.mark.parametrize(
    ("words", "first"),
    [
        (("metrics", "--quarter", "2011Q4"), "2011Q4, series main: all 12 bounds are kept"),
        (("audit",), "Safe: "),
        (("attack", "--quarter", "2011Q4", "--qid", "sex=M"), "remain; no value exceeds"),
        (("query", "SELECT count(*) FROM demo WHERE age > 40"), " rows expected, surely "),
        (("signals", *PAIR), "Drug 1 => Reaction 01: "),
        (("signals", "--all"), " pairs of surely at least 3 cases"),
        (("status",), "w.duckdb: "),
    ],
)
def test_the_result_stands_first_and_an_answer_takes_a_screen(
    made: Path, words: tuple[str, ...], first: str
) -> None:
    lines = asked(made, *words).out.splitlines()
    assert first in lines[0]
    assert len(lines) <= SCREEN
    whole = "--whole" if words[0] == "signals" else "--all"
    every = asked(made, *words, whole).out.splitlines()
    if len(every) > SCREEN:
        assert lines == [*every[: SCREEN - 1], f"... {len(every) - SCREEN + 1} more lines: {whole}"]
    else:
        assert lines == every


def test_what_is_not_protected_stays_on_the_first_screen(made: Path) -> None:
    assert "not protected: " in asked(made, "metrics", "--quarter", "2011Q4").out
    assert "does not defend against md, ss, nor against P" in asked(made, "audit").out
    answer = asked(made, "signals", "--all")
    assert "not for publication" in answer.out.splitlines()[2]


def test_a_legend_is_told_where_it_is_asked_for_and_never_cut(made: Path) -> None:
    for words in (("metrics", "--quarter", "2011Q4"), ("audit",), ("signals", *PAIR)):
        plain, told = asked(made, *words).out, asked(made, *words, "--explain").out
        assert told.startswith(plain)
        assert len(told) > len(plain)


def test_a_column_with_nothing_in_it_is_left_out() -> None:
    assert printed(80, COLUMNS, [["A", "", "1"], ["B", " ", ""]])[1:] == ["rule  a", "A     1", "B"]


def test_records_of_signals_name_the_rule_in_each_block(made: Path) -> None:
    text = asked(made, "signals", *PAIR, "--format", "records", "--whole").out
    blocks = [b for b in text.split("\n\n") if "PRR:" in b]
    assert len(blocks) == 2
    assert all("rule:" in block for block in blocks)
    assert all(f"{name}:" in text for name in SIGNAL_COLUMNS[:6])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("status", "--json", "--format", "csv"), "--json and --format csv exclude each other"),
        (("status", "--format", "xml"), "--format"),
        (("backup", "--to", "x", "--format", "csv"), "--format"),
        (("status", "--out", "nowhere/out.csv"), "give a file in a folder that is there"),
        (("signals", *PAIR, "--csv", "x.csv", "--format", "csv"), "leave it out"),
    ],
)
def test_forms_that_cannot_be_are_refused_in_one_line_before_anything_is_done(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = srsql(*words, "--db", made)
    assert answer.code == 2
    assert ("error" in json.loads(answer.out)) if "--json" in words else not answer.out
    assert told in answer.err
    assert len(answer.err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_typed_form_stands_before_the_one_of_the_file_of_defaults(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("srsql.toml").write_text("[status]\nas_json = true\n", encoding="utf-8")
    assert asked(made, "status").json["releases"]
    assert "quarter" in asked(made, "status", "--format", "table").out.splitlines()[2]


def test_every_command_that_prints_a_document_takes_a_form() -> None:
    commands = [*cli.commands.values(), *cli.commands["series"].commands.values()]  # type: ignore[attr-defined]
    for command in commands:
        options = {name for param in command.params for name in param.opts}
        if "--json" in options:
            assert "--format" in options, command.name
            assert "--out" in options or command.name == "publish", command.name


def test_what_steers_a_terminal_is_written_out_in_titles_cells_and_lines(capsys: Any) -> None:
    from srsql.engine.console import Table, show

    show(None, False, ["a\x1b[31mline", Table("t\x1b]0;x\x07", ["c\x9b1m"], [["v\x1b[0m\u202e"]])])
    printed = capsys.readouterr().out
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(printed)
    assert "a\\x1b[31mline" in printed


@dataclass(frozen=True)
class Weighed:
    """A result with a column of every form, and a field that is none."""

    hidden: str
    name: str = field(metadata=cell("the name"))
    cases: int | None = field(metadata=cell("cases", "count"))
    share: float | None = field(metadata=cell("share", "number"))
    terms: tuple[str, ...] = field(metadata=cell("terms", "names"))
    default: object = field(metadata=cell("default", "setting"))
    kept: bool | None = field(metadata=cell("kept", "verdict"))


def test_a_table_has_the_fields_that_results_declare_as_columns_in_their_order() -> None:
    rows = [
        Weighed("x", "a", 1200, 0.123456789, ("b", "c"), ["d", 1], True),
        Weighed("x", "a", None, None, (), True, False),
        Weighed("x", "a", 0, 1234567.0, ("b",), "e", None),
    ]
    table = result_table("weighed", Weighed, rows)
    assert (table.title, table.columns) == (
        "weighed",
        ["the name", "cases", "share", "terms", "default", "kept"],
    )
    assert [list(row) for row in table.rows] == [
        ["a", "1,200", "0.123457", "b; c", "d, 1", "yes"],
        ["a", "", "", "-", "yes", "NO"],
        ["a", "0", "1.23457e+06", "b", "e", ""],
    ]
    assert {form for each in fields(Weighed)[1:] for form in [each.metadata[CELL][1]]} == {*FORMS}
