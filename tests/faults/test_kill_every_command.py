"""200 kills over the commands, many of them while a change is committed: nothing is half done, no
raw byte is left where others can read it, and the same command works afterwards.

A quarter of them, unless ``SRSQL_IN_FULL`` is set.
"""

from __future__ import annotations

import gzip
import random
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.amount import some_of
from support.kills import End, Kill, Server
from support.quarters import crowd, write_quarter
from support.released import content

from srsql import verify
from srsql.engine.api.engine import Engine
from srsql.engine.store.database_file import attached
from srsql.engine.store.scratch import remove_leftovers

pytestmark = pytest.mark.thorough

RAW = b"MFR-"
"""In every raw report, and in nothing that is released."""
OLD = Path(__file__).parents[1] / "fixtures" / "release_0_1" / "warehouse.duckdb.gz"
SOURCES = "../sources"
FORGET = ["forget", "8", "--reason", "asked for", "--receipt", "receipt.json"]


@dataclass(frozen=True)
class Command:
    """A command that is killed."""

    name: str
    arguments: list[str]
    anywhere: int
    """Kills at any time."""
    window: str = ""
    inside: int = 0
    """Kills while a change is committed or a file gets its name."""
    target: str = ""
    """What it makes beside the warehouse: whole, or not at all."""


COMMANDS = [
    Command("ingest", ["ingest", f"{SOURCES}/faers_ascii_2012Q1.zip"], 12, "commit", 8),
    Command("replace", ["ingest", "--replace", f"{SOURCES}/new/faers_ascii_2011Q4.zip"], 12,
            "commit", 8),
    Command("release", ["release", "--quarter", "2011Q4", "--seed", "1", "--allow-linkable"], 16,
            "commit", 8),
    Command("correct", ["correct", "--quarter", "2011Q3"], 12, "commit", 8),
    Command("forget", FORGET, 12, "commit", 8),
    Command("rebuild", ["forget", "--rebuild"], 8, "swap", 4),
    Command("series set", ["series", "set", "main", "--k", "5"], 8, "commit", 8),
    Command("publish", ["publish", "--quarter", "2011Q3", "--stale", "--to", "out"], 12, "swap", 6,
            target="out"),
    Command("compare", ["compare", "--quarters", "2011Q3", "--models", "k-anonymity", "--k", "3,4",
                        "--jobs", "1", "--out", "compared"], 12),
    Command("backup", ["backup", "--to", "copy.duckdb"], 12, "swap", 6, target="copy.duckdb"),
    Command("restore", ["restore", "--from", f"{SOURCES}/backup.duckdb"], 12, "swap", 8),
    Command("migrate", ["migrate", "--db", "old.duckdb"], 10, "swap", 8),
]  # fmt: skip
AGAIN = 3
"""After every third kill that left nothing the command is run again."""
TORN = 3
"""Of the kills inside a commit, how many tear a write."""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with one quarter out and one to be released, and what the commands read."""
    folder = tmp_path_factory.mktemp("base")
    sources = folder / "sources"
    start = folder / "start"
    start.mkdir()
    first = write_quarter(sources, "2011Q3", crowd(60))
    second = write_quarter(sources, "2011Q4", crowd(60, first=31, version=2), deleted=[7])
    write_quarter(sources, "2012Q1", crowd(60, first=61, version=3))
    write_quarter(sources / "new", "2011Q4", crowd(50, first=41, version=4), deleted=[7])
    with Engine(start / "w.duckdb") as engine:
        engine.ingest([first])
        engine.release("2011Q3", model="ms", k=3, theta="0.5", seed=1, allow_linkable=True)
        engine.ingest([second])  # with a list of who left
        engine.backup(sources / "backup.duckdb")
        engine.set_series("main", k=4)
    with gzip.open(OLD) as packed, (start / "old.duckdb").open("wb") as file:
        shutil.copyfileobj(packed, file)
    (start / "old.duckdb").chmod(0o600)
    return folder


@dataclass(frozen=True)
class Known:
    """What a command changes when nobody disturbs it."""

    before: dict[str, Any]
    after: dict[str, int]
    changes: bool
    end: End


def fresh(base: Path, command: Command, work: Path) -> Path:
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    name = "old.duckdb" if command.name == "migrate" else "w.duckdb"
    shutil.copy(base / "start" / name, work)
    return work


def arguments(command: Command) -> list[str]:
    usual = [] if "--db" in command.arguments else ["--db", "w.duckdb"]
    return [*command.arguments, *usual]


def warehouse_of(command: Command, work: Path) -> Path:
    return work / ("old.duckdb" if command.name == "migrate" else "w.duckdb")


def seen(command: Command, work: Path) -> dict[str, Any]:
    """All that is in the warehouse, which opens whatever happened."""
    file = warehouse_of(command, work)
    if command.name == "migrate":
        remove_leftovers(file)  # as any command that opens it does, before it sees the layout
        con = attached(file)
        try:
            layout = con.execute("SELECT layout FROM srsql.warehouse").fetchall()
            return content(con) | {"layout": layout}
        finally:
            con.close()
    with Engine(file) as engine:
        return content(engine.con)


def counts(found: dict[str, Any]) -> dict[str, int]:
    told = {name: len(rows) for name, rows in found.items()}
    return told | {"layout": found["layout"][0][0]} if "layout" in found else told


def undisturbed(base: Path, command: Command, server: Server, work: Path) -> Known:
    before = seen(command, fresh(base, command, work))
    fresh(base, command, work)
    end = server.run(Kill(str(work), arguments(command), window=command.window))
    assert end.code == 0, end.said
    after = seen(command, work)
    assert before != after or command.target or command.name in ("rebuild", "compare")
    return Known(before, counts(after), before != after, end)


def kills(command: Command, known: Known, work: Path) -> Iterator[Kill]:
    """When the command is killed: spread over its time, and over the windows."""
    rng = random.Random(command.name)
    given = arguments(command)
    for number in range(anywhere := some_of(command.anywhere)):
        share = (number + rng.random()) / anywhere
        yield Kill(str(work), given, delay=0.02 + share * known.end.seconds)
    windows = known.end.windows
    for number in range(inside := some_of(command.inside)):
        nth = len(windows) - number % min(2, len(windows))  # the last ones are the command's
        if command.window == "commit" and number < some_of(TORN):
            yield Kill(str(work), given, window="commit", nth=nth, torn=(0, 100, 5000)[number])
            continue
        share = (number + rng.random()) / inside
        yield Kill(str(work), given, window=command.window, nth=nth,
                   delay=share * windows[nth - 1])  # fmt: skip


def need_no_raw(work: Path) -> None:
    """Whatever is raw is its owner's alone, or in a folder that is."""
    for path in work.rglob("*"):
        try:
            if not path.is_file():
                continue
            raw = path.read_bytes()
        except FileNotFoundError:  # a worker that ends
            continue
        if RAW not in raw and raw[8:12] != b"DUCK" and path.suffix != ".wal":
            continue
        holders = [path, *(p for p in path.parents if p.is_relative_to(work) and p != work)]
        assert any(holder.stat().st_mode & 0o077 == 0 for holder in holders), path


def need_whole(command: Command, work: Path) -> bool:
    """Whether what the command makes is there, which is then whole."""
    target = work / command.target
    if not target.exists():
        return False
    if command.name == "publish":
        assert verify(target).passed
    else:
        with Engine(target, read_only=True) as engine:
            assert engine.sql("SELECT count(*) FROM srsql.release") == [(1,)]
    return True


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_whatever_is_killed_leaves_all_or_nothing_and_works_again(
    base: Path, command: Command, server: Server, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    (tmp_path / "sources").symlink_to(base / "sources")
    known = undisturbed(base, command, server, work)
    told = {"killed": 0, "in time": 0, "done": 0}
    for number, kill in enumerate(kills(command, known, work)):
        fresh(base, command, work)
        end = server.run(kill)
        told["killed" if end.code < 0 else "in time"] += 1
        need_no_raw(work)
        if command.name == "compare":
            time.sleep(0.3)  # its worker sees that nobody reads any more
        now = seen(command, work)
        done = now != known.before
        assert not done or counts(now) == known.after, kill
        assert not [p for p in work.iterdir() if p.name.startswith(".")], kill
        if command.target:
            done = need_whole(command, work)
        told["done"] += done
        if not done and number % AGAIN == 0:
            if command.name == "forget":
                (work / "receipt.json").unlink(missing_ok=True)
            again = server.run(Kill(str(work), arguments(command)))
            assert again.code == 0, (kill, again.said)
            assert counts(seen(command, work)) == known.after
        assert done or end.code != 0 or not (known.changes or command.target), kill
    print(command.name, told)
    tried = told["killed"] + told["in time"]
    assert told["killed"] >= tried // 4  # a busy machine is late


def test_there_are_200_kills_and_40_of_them_while_something_is_committed() -> None:
    assert sum(command.anywhere + command.inside for command in COMMANDS) >= 200
    assert sum(command.inside for command in COMMANDS) >= 40
