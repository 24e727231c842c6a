"""Kill -9 before each name that a command changes and before each COMMIT: the state of before or of
after, whatever command comes next; a rerun works, and nothing is left behind."""

from __future__ import annotations

import random
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from tempfile import gettempdir

import pytest
from support.amount import some_of
from support.kills import End, Kill, Server
from support.quarters import crowd, write_quarter

from srsql import Engine
from srsql.engine.warehouse.lake_upkeep import look_at_lake

COUNT = "SELECT count(*) FROM raw_faers.demo"
KINDS: dict[str, list[str]] = {
    "restore": ["restore", "--from", "safe.duckdb", "--db", "w.duckdb"],
    "restore to nothing": [
        "restore", "--from", "safe.duckdb", "--db", "new.duckdb", "--without-forgotten"
    ],
    "backup": ["backup", "--to", "other.duckdb", "--db", "w.duckdb"],
    "forget": ["forget", "100", "--reason", "asked", "--db", "w.duckdb"],
    "publish": [
        "publish", "--quarter", "2011Q3", "--to", "out", "--db", "w.duckdb", "--case-ids",
        "pseudonym", "--key-file", "key",
    ],
    "out": ["status", "--out", "ids.json", "--json", "--db", "w.duckdb"],
    "report": ["report", "--quarter", "2011Q3", "--out", "page.html", "--db", "w.duckdb"],
}  # fmt: skip
"""Commands that change more than one name, or leave one where others may read it."""
DIRECTED = ("restore", "restore to nothing", "backup", "out")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with a lake, and a backup of it with other rows."""
    folder = tmp_path_factory.mktemp("made")
    place = folder / "place"
    place.mkdir()
    with Engine(place / "w.duckdb") as engine:
        source = write_quarter(folder, "2011Q3", crowd(12))
        engine.ingest([source], lake=place / "lake")
        engine.release("2011Q3", k=3, theta="1", seed=1)
        engine.backup(place / "safe.duckdb")
        engine.ingest([write_quarter(folder / "more", "2011Q4", crowd(6, version=2))])
    shutil.copytree(place, folder / "kept")
    return place


def run(server: Server, place: Path, words: list[str], nth: int = 0) -> End:
    return server.run(Kill(str(place), words, window="step" if nth else "", nth=nth))


def names(place: Path) -> set[str]:
    """What is there, hidden things included, but for the files of lakes, which have new names."""
    return {
        str(path.relative_to(place))
        for path in place.rglob("*")
        if path.suffix != ".parquet" and "quarter=" not in path.name
    }


def of_ours(folder: Path) -> set[str]:
    """What commands of ours have in the folder of the system, but for the server's own."""
    return {e.name for e in folder.iterdir() if e.name.startswith(".srsql-")}


def whole(path: Path) -> int | None:
    """Rows of a warehouse with every file of its lake, byte by byte; None: there is none."""
    if not path.exists():
        return None
    look_at_lake(path, check=True)
    with Engine(path, read_only=True) as engine:
        ((rows,),) = engine.sql(COUNT)
    return int(rows)


def state(place: Path) -> tuple[set[str], list[int | None]]:
    files = ("w.duckdb", "safe.duckdb", "new.duckdb", "other.duckdb")
    return names(place), [whole(place / name) for name in files]


def killed_at(server: Server, place: Path, kind: str, nth: int) -> bool:
    """Kill a command before its nth step and look at what is there; whether it was killed."""
    shutil.rmtree(place)
    shutil.copytree(place.with_name("kept"), place)  # a copy elsewhere would be another lake
    if not before:
        before.append(state(place))
    temporary = of_ours(Path(gettempdir()))
    end = run(server, place, KINDS[kind], nth)
    killed = end.code == -signal.SIGKILL
    assert killed or end.code == 0, end.said
    assert run(server, place, ["config"]).code == 0  # the next command, whatever it is
    found = state(place)
    if found == before[0]:
        rerun = run(server, place, KINDS[kind])
        assert rerun.code == 0, rerun.said
        found = state(place)
    assert not [name for name in found[0] if Path(name).name.startswith(".")]
    assert of_ours(Path(gettempdir())) <= temporary
    assert found == finished.setdefault(kind, found)
    return killed


State = tuple[set[str], list[int | None]]
before: list[State] = []
"""What there is before any command: one."""
finished: dict[str, State] = {}
"""What there is after a command, however often it was killed and begun again."""


@pytest.mark.parametrize("kind", DIRECTED)
def test_a_command_killed_at_any_step_leaves_all_or_nothing_to_the_next_one(
    server: Server, made: Path, kind: str
) -> None:
    finished.pop(kind, None)
    assert not killed_at(server, made, kind, 10_000)  # what is to come of it
    nth = 1
    while killed_at(server, made, kind, nth):
        nth += 1
    assert nth > 3


def test_commands_killed_at_sampled_steps_leave_all_or_nothing_to_the_next_one(
    server: Server, made: Path
) -> None:
    rng, most = random.Random(49), dict.fromkeys(KINDS, 60)
    for _ in range(some_of(200)):
        kind = rng.choice(sorted(KINDS))
        nth = rng.randint(1, most[kind])
        if not killed_at(server, made, kind, nth):
            most[kind] = min(most[kind], nth)
