"""No text of others steers the terminal: sent through every command, it comes out written out."""

from __future__ import annotations

import json
import time
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from oracles import clinic
from oracles.source_records import cleaned
from support.command import Answer, srsql

from srsql import Engine
from srsql.cli import cli
from srsql.engine import console
from srsql.engine.errors import json_text, printable

pytestmark = pytest.mark.thorough

HOSTILE = "\x1b]0;owned\x07\rover\u202e\x9b31m\nseries main: safe\u2028\x7f"
STAYS = "\u202eowned\u200b\U000e0001"
"""What steers a terminal and is no control character, so that ingestion leaves it in texts."""
WRITTEN, STAYS_WRITTEN = "\\x1b]0;owned\\x07", "\\u202e"
QUARTER, NEXT = f"2011Q1 {STAYS}", f"2011Q2 {STAYS}"
SIGNALS = """
[signals]
drug_table = "finding"
drug = "drug"
reaction_table = "finding"
reaction = "finding"
"""
STEERING = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def steering(text: str) -> set[str]:
    """What of a text steers a terminal, line ends aside."""
    return {char for char in text if unicodedata.category(char) in STEERING} - {"\n"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a warehouse of a hostile clinic, one quarter released, and another quarter."""
    folder = tmp_path_factory.mktemp("clinic")
    for part, first in (("one", 0), ("two", 6)):
        visits = [(*v[:4], f"ward {HOSTILE}", HOSTILE) for v in clinic.visits(18)[first:]]
        findings = clinic.findings([f"ache {HOSTILE}", f"{HOSTILE} rash", "itch"], 18)[first:]
        data = clinic.write(folder / part, visits, findings)
        (data / "visit.csv").rename(data / f"visit {HOSTILE}.csv")
        (folder / "clinic.toml").write_text(clinic.TOML + SIGNALS)
        (folder / "names.csv").write_text(f'name,group\nitch,"skin {HOSTILE}"\n')
    with Engine(folder / "w.duckdb", dataset=folder / "clinic.toml") as engine:
        engine.ingest([folder / "one" / "data"], period=QUARTER)
        engine.release(QUARTER, k=2, theta="1", seed=1)
    return folder


@pytest.fixture
def here(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(place)
    monkeypatch.setenv("SRSQL_DB", "w.duckdb")
    return place


Case = tuple[str, ...]
ASKED = ("--quarter", QUARTER)
CASES: dict[Case, list[Case]] = {
    ("ingest",): [
        (f"no {HOSTILE}.zip",),
        ("two/data", "--dataset", "clinic.toml", "--period", NEXT),
        ("two/data", "--dataset", "clinic.toml", "--period", HOSTILE),
        ("two/data", "--dataset", f"{HOSTILE}.toml"),
        ("two/data", "--dataset", "clinic.toml", "--period", NEXT, "--lake",
         f"lake {HOSTILE}", "--db", "lake.duckdb"),
    ],
    ("release",): [
        ("--quarter", HOSTILE),
        (*ASKED, "--theta", HOSTILE),
        (*ASKED, "--theta", f"levels:{HOSTILE}"),
        (*ASKED, "--model", HOSTILE),
        (*ASKED, "--series", "b", "--k", "2", "--theta", "1", "--allow-linkable"),
        ("--quarter", NEXT, "--k", "2", "--theta", "1"),
    ],
    ("series", "create"): [(HOSTILE,)],
    ("series", "show"): [(HOSTILE,), ()],
    ("series", "set"): [(HOSTILE, "--k", "3")],
    ("correct",): [(*ASKED,), ("--quarter", HOSTILE)],
    ("lookup",): [(HOSTILE,), (HOSTILE, "--series", "b")],
    ("forget",): [(HOSTILE, "--reason", HOSTILE, "--dry-run"), ("V01", "--file", HOSTILE)],
    ("backup",): [("--to", f"{HOSTILE}/no.duckdb"), ("--to", f"copy {HOSTILE}.duckdb")],
    ("restore",): [("--from", HOSTILE, "--db", "other.duckdb")],
    ("metrics",): [(*ASKED,), ("--quarter", HOSTILE), (*ASKED, "--medical", HOSTILE)],
    ("report",): [("--quarter", HOSTILE), (*ASKED, "--public", "--out", f"{HOSTILE}.html")],
    ("status",): [(), ("--db", HOSTILE)],
    ("migrate",): [(), ("--db", HOSTILE)],
    ("lake",): [(), ("--moved-to", HOSTILE), ("--db", HOSTILE)],
    ("publish",): [
        ("--quarter", HOSTILE, "--to", "out"),
        (*ASKED, "--to", f"out {HOSTILE}", "--allow-linkable"),
        (*ASKED, "--to", "other", "--license", HOSTILE),
        (*ASKED, "--to", "other", "--thesaurus", f"finding.finding {HOSTILE}"),
    ],
    ("verify",): [(HOSTILE,), (f"out {HOSTILE}",), ("--page", f"no {HOSTILE}/page.html"),
                  ("--page", f"page {HOSTILE}.html")],
    ("import-release",): [
        (HOSTILE, "--quarter", HOSTILE, "--map", f"age={HOSTILE}"),
        (f"one/data/visit {HOSTILE}.csv", "--quarter", HOSTILE, "--map", f"age={HOSTILE}"),
        (f"one/data/visit {HOSTILE}.csv", "--quarter", HOSTILE, "--map", "case=patient_id",
         "--map", "age=age", "--map", "ward=ward", "--map", "term=surname", "--db", "new.duckdb"),
    ],
    ("attack",): [
        (*ASKED, "--qid", f"age={HOSTILE}"),
        (*ASKED, "--qid", "age=20"),
        ("--quarter", HOSTILE),
    ],
    ("audit",): [(), ("--quarter", HOSTILE), ("--series", HOSTILE), ("--attacks", HOSTILE)],
    ("signals",): [
        ("--all",),
        ("--drug", HOSTILE, "--reaction", HOSTILE),
        ("--drug", HOSTILE, "--reaction", HOSTILE, "--allow-unknown"),
        ("--rules", HOSTILE),
        ("--all", "--sex", HOSTILE),
        ("--all", "--level", "drug=group:names.csv"),
        ("--all", "--level", f"drug={HOSTILE}"),
        ("--all", "--strata", HOSTILE),
        ("--all", "--strata", "period", "--without-drug", HOSTILE, "--allow-unknown"),
        ("--all", "--without-reaction", HOSTILE),
        ("--drug", HOSTILE, "--reaction", HOSTILE, "--allow-unknown", "--trend"),
        ("--drug", HOSTILE, "--reaction", HOSTILE, "--with-drug", f"{HOSTILE} 2"),
        ("--drug", HOSTILE, "--likelihood", "--allow-unknown"),
        ("--all", "--export", "pvda", "--to", f"pairs {HOSTILE}"),
        ("--drug", HOSTILE, "--export", "treescan", "--tree", HOSTILE, "--to", f"tree {HOSTILE}"),
    ],
    ("query",): [
        ("SELECT finding, count(*) FROM finding GROUP BY finding",),
        (f"SELECT count(*) FROM finding WHERE finding = '{HOSTILE}'",),
        (f"SELECT count(*) FROM \"{HOSTILE}\"",),
        ("SELECT count(DISTINCT patient_id) FROM visit", "--show-sql"),
        ("SELECT finding, count(*) FROM finding GROUP BY finding", "--level",
         "finding=group:names.csv"),
    ],
    ("duplicates",): [
        ("--event-date", HOSTILE, "--country", "ward", "--dataset", "clinic.toml"),
        ("--event-date", "ward", "--country", HOSTILE, "--dataset", "clinic.toml"),
        ("--dataset", f"{HOSTILE}.toml"),
        ("--db", HOSTILE),
    ],
    ("drugs",): [
        ("--level", HOSTILE),
        ("--level", f"finding=x:{HOSTILE}"),
        ("--level", f"finding={HOSTILE}:names.csv"),
        ("--level", "finding=group:names.csv"),
        ("--level", "finding=group:names.csv", "--released-only", "--unmatched"),
        ("--level", "drug=group:names.csv", "--quarter", HOSTILE),
    ],
    ("spellings",): [
        (), ("--column", HOSTILE), ("--quarter", HOSTILE), ("--series", HOSTILE, "--released-only"),
    ],
    ("dictionary",): [
        (HOSTILE,), ("names.csv",), ("names.csv", "--to", f"{HOSTILE}/no.csv"),
        ("names.csv", "--to", f"made {HOSTILE}.csv"), ("names.csv", "names.csv"),
    ],
    ("compare",): [("--quarters", HOSTILE, "--models", "ms")],
    ("advise",): [("--quarter", HOSTILE), (*ASKED, "--terms", "--series", HOSTILE)],
    ("synth",): [("--out", HOSTILE, "--from", HOSTILE, "--to", HOSTILE)],
    ("demo",): [(f"one/data/visit {HOSTILE}.csv",)],
    ("config",): [(HOSTILE,)],
    ("explain",): [
        ("--case", HOSTILE, *ASKED),
        ("--case", "V01", "--quarter", HOSTILE),
        ("--case", "V01", *ASKED),
        ("--case", "V01", *ASKED, "--series", HOSTILE),
    ],
}  # fmt: skip
"""Command -> its calls with a text of others in each place that takes or shows one."""
SHOWING = {
    ("ingest", *CASES["ingest",][1]), ("signals", "--all"), ("query", *CASES["query",][0]),
    ("status",), ("audit",), ("attack", *CASES["attack",][1]),
}  # fmt: skip
"""Calls whose answers show some."""


def commands() -> Iterator[Case]:
    """Every command by its words."""
    for name, command in cli.commands.items():
        if isinstance(command, click.Group):
            yield from ((name, inner) for inner in command.commands)
        else:
            yield (name,)


def test_every_command_has_a_case_here() -> None:
    assert set(CASES) == set(commands())


@pytest.mark.parametrize("command", CASES, ids=" ".join)
def test_a_text_of_others_steers_no_terminal_in_any_command(command: Case, here: Path) -> None:
    for case in CASES[command]:
        answer = srsql(*command, *case)
        assert steering(answer.out + answer.err) == set(), case
        assert len(answer.err.splitlines()) <= 2, answer.err  # one line, and what series main shows
        assert "unexpected" not in answer.err, answer.err
        if (*command, *case) in SHOWING:
            written = WRITTEN if command == ("ingest",) else STAYS_WRITTEN
            assert written in answer.out.replace("\n", ""), case


@pytest.mark.parametrize(
    "case",
    [
        ("status",), ("audit",), ("signals", "--all"), ("attack", *ASKED, "--qid", "age=20"),
        ("query", "SELECT finding, count(*) FROM finding GROUP BY finding"), ("series", "show"),
    ],
    ids=lambda case: str(case[0]),
)  # fmt: skip
def test_json_is_one_document_in_which_nothing_steers_a_terminal(here: Path, case: Case) -> None:
    answer = srsql(*case, "--json")
    assert steering(answer.out) == set()
    assert any("\u202e" in text for text in _texts(answer.json)), answer.out[:500]


def _texts(document: Any) -> Iterator[str]:
    if isinstance(document, dict):
        for key, value in document.items():
            yield from (key, *_texts(value))
    elif isinstance(document, list):
        for value in document:
            yield from _texts(value)
    elif isinstance(document, str):
        yield document


def test_json_text_gives_back_what_went_in() -> None:
    every = "".join(chr(n) for n in range(0x2100) if not 0xD800 <= n < 0xE000) + "\U000e0001é💊"
    text = json_text([every, {"\x9b": "\u202e"}])
    assert json.loads(text) == [every, {"\x9b": "\u202e"}]
    assert steering(text) == set()
    assert "é💊" in text


@pytest.mark.parametrize("text", ["plain", "頭痛 💊 é", HOSTILE, "\\x1b", "\udcff", "\U000e0001"])
def test_what_is_written_out_stays_as_it_is(text: str) -> None:
    assert steering(printable(text)) == set()
    assert printable(printable(text)) == printable(text)


def test_csv_on_stdout_stays_data(here: Path) -> None:
    """Texts as they were ingested; where values are grouped, these are keys of terms."""
    text = cleaned(f"ward {HOSTILE}")
    assert "\u202e" in text
    answer = srsql(
        "query", "SELECT ward, count(DISTINCT patient_id) FROM visit GROUP BY ward", "--csv", "-"
    )
    assert answer.out.splitlines()[1].startswith(f"{text},")


def test_help_errors_and_tracebacks_steer_no_terminal(
    here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    told = json.dumps(HOSTILE)
    (tmp_path / "srsql.toml").write_text(f"[signals]\nmissing = {told}\n[audit]\nno = {told}\n")
    wrong = srsql("signals", "--help")
    assert steering(wrong.out + wrong.err) == set()
    (tmp_path / "srsql.toml").write_text(f"[signals]\nmissing = {told}\n")
    shown = srsql("signals", "--help")
    assert WRITTEN in shown.out
    assert steering(shown.out) == set()
    for case in ((f"--{HOSTILE}",), (HOSTILE,), ("signals", f"--{HOSTILE}"), ("--debug", HOSTILE)):
        answer = srsql(*case)
        assert answer.code == 2
        assert steering(answer.out + answer.err) == set()
    traced: Answer = srsql("--debug", "status", "--db", HOSTILE)
    assert "Traceback" in traced.err
    assert traced.code == 2
    assert steering(traced.err) == set()


def test_progress_on_a_terminal_is_neither_steered_nor_marked_up(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console.err, "_force_terminal", True)
    monkeypatch.setattr(console.err, "is_interactive", True)
    with console.progress_shown() as say:
        say(f"{HOSTILE} [/bold]")
        time.sleep(0.5)  # until it is drawn
    shown = capsys.readouterr().err
    assert "[/bold]" in shown
    assert not {"\x07", "\u202e", "\x9b", "\u2028", "\x7f"} & set(shown)
    assert "\x1b]" not in shown


def test_the_pages_hold_no_control_character_and_no_markup_of_others(here: Path) -> None:
    assert srsql("report", *ASKED, "--public", "--out", "page.html").code == 0
    page = (here / "page.html").read_text(encoding="utf-8")
    assert {char for char in page if unicodedata.category(char) == "Cc"} <= {"\n", "\t"}
    assert f"<bdi>{QUARTER}</bdi>" in page  # which turns nothing outside of it
