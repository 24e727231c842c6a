"""How far long work is: counted, timed, silent where nobody wants it."""

from __future__ import annotations

import io
import os
import pty
import re
import time
from contextlib import redirect_stderr, suppress

import click
import pytest
from rich.console import Console

from srsql.engine.console import progress, progress_shown
from srsql.engine.console.progress import Progress, shown_on
from srsql.engine.console.session import Session

ESCAPES = re.compile("\x1b\\[[0-9;?]*[a-zA-Z]")
"""What steers a terminal."""


class Clock:
    """Seconds that a test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_the_pace_of_what_is_done_tells_what_remains() -> None:
    clock = Clock()
    shown = Progress(clock)
    shown.step("0 of 4 quarters; 2011Q1: cases")
    clock.now += 30
    assert shown.line == "0:30 elapsed, 0 %: 0 of 4 quarters; 2011Q1: cases"
    shown.step("1 of 4 quarters; 2011Q2: cases")
    assert shown.remaining == 90
    clock.now += 10
    assert shown.line == "0:40 elapsed, 25 %, about 1:20 left: 1 of 4 quarters; 2011Q2: cases"
    clock.now += 3600
    assert shown.remaining is None, "it takes longer than what was done: nobody can tell"
    assert shown.line.startswith("1:00:40 elapsed, 25 %: 1 of 4")


def test_a_step_that_counts_nothing_ends_the_count() -> None:
    clock = Clock()
    shown = Progress(clock)
    shown.step("1,000 of 2,000 cells; a")
    clock.now += 10
    shown.step("1,500 of 2,000 cells; a")
    assert shown.remaining == 10
    shown.step("writing the page")
    assert shown.line == "0:10 elapsed: writing the page"


def test_other_work_begins_anew() -> None:
    clock = Clock()
    shown = Progress(clock)
    shown.step("on the sample: 1 of 3 cells; x")
    clock.now += 10
    shown.step("on the sample: 3 of 3 cells; x")
    shown.step("on the quarter: 0 of 3 cells; x")
    assert shown.remaining is None


def test_what_steers_a_terminal_is_written_out() -> None:
    shown = Progress()
    shown.step("a\x1b[31mfile")
    assert "\x1b" not in shown.line


def test_a_pipe_gets_a_line_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.02)
    pipe = io.StringIO()
    with redirect_stderr(pipe), shown_on(Console(file=io.StringIO())) as step:
        step("2 of 5 files; a")
        time.sleep(0.2)
    lines = pipe.getvalue().splitlines()
    assert len(lines) >= 2
    assert all(line == "0:00 elapsed, 40 %: 2 of 5 files; a" for line in lines)
    time.sleep(0.1)
    assert len(pipe.getvalue().splitlines()) == len(lines), "nothing comes after the end"


def test_work_of_a_moment_says_nothing() -> None:
    pipe = io.StringIO()
    with redirect_stderr(pipe), shown_on(Console(file=io.StringIO())) as step:
        step("1 of 1 files; a")
    assert pipe.getvalue() == ""


def test_a_terminal_has_one_line_that_changes() -> None:
    text = io.StringIO()
    with shown_on(Console(file=text, force_terminal=True, width=80)) as step:
        step("2 of 5 files; a")
        time.sleep(0.3)
    assert "elapsed, 40 %: 2 of 5 files; a" in text.getvalue()


def _all_of(terminal: int) -> str:
    """What was written to the other side of a terminal, which is closed there: one read gives no
    more than what has arrived."""
    pieces = []
    with suppress(OSError):  # what a terminal says at its end
        while piece := os.read(terminal, 1 << 16):
            pieces.append(piece)
    return b"".join(pieces).decode()


def test_the_line_of_a_terminal_is_redrawn_in_its_place_however_narrow_it_is() -> None:
    ours, theirs = pty.openpty()
    with open(theirs, "w", encoding="utf-8") as terminal:
        console = Console(file=terminal, width=40)
        assert console.is_terminal
        with shown_on(console) as step:
            for done in (1, 2):
                step(f"{done} of 4 quarters; [bold]2011Q2: a stage that does not fit the line")
                time.sleep(0.3)
    written = _all_of(ours)
    os.close(ours)
    drawn, _, at_end = written.partition("\n")
    assert "25 %: 1 of 4 quarters" in drawn
    assert "50 %" in drawn
    assert max(len(ESCAPES.sub("", each)) for each in drawn.split("\r")) <= 40
    assert at_end.endswith("\x1b[1A\x1b[2K"), "one line in all, and it is gone at the end"
    assert ESCAPES.sub("", at_end).strip() == ""


def test_a_quiet_command_shows_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.01)
    pipe = io.StringIO()
    asked = click.Context(click.Command("x"), obj=Session(quiet=True))
    with redirect_stderr(pipe), asked, progress_shown() as step:
        step("2 of 5 files; a")
        time.sleep(0.1)
    assert pipe.getvalue() == ""
