"""Kill -9 before each name that a command changes and before each COMMIT: the state of before or of
after, whatever command comes next; a rerun works, and nothing is left behind.

The commands have caches of their own but for the kernels: what an account's first command keeps
there, and what others of the account clear away, are steps as well, which differ from run to run.
"""

from __future__ import annotations

import gzip
import hashlib
import random
import shutil
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from support.amount import IN_FULL, some_of
from support.kills import End, Kill, Server
from support.quarters import crowd, write_quarter
from support.released import content

from srsql import Engine
from srsql.engine.lake.lake_upkeep import look_at_lake
from srsql.engine.store.database_file import attached
from srsql.engine.store.definitions import LAYOUT
from srsql.udfs.caches import cache_folder

OLD = Path(__file__).parents[1] / "fixtures" / "release_0_1" / "warehouse.duckdb.gz"
THEIRS = "age_low,age_high,sex,adr,group_id\n20,40,M,a,1\n20,40,M,b,1\n20,40,M,c,1\n"
SOURCES = "../sources"
SPLIT = "x.db"
"""The public file; in the order of names it comes after its warehouse, which is opened first."""
PAIR = ["--drug", "drug 1", "--reaction", "reaction 01"]


@dataclass(frozen=True)
class Kind:
    """A command that is killed."""

    words: list[str]
    bases: tuple[str, ...] = ("file", "lake")
    """On a warehouse whose raw rows lie in the file, or in a lake."""
    on: str = "w.duckdb"
    """The warehouse, where the command takes one."""
    between: tuple[str, ...] = ()
    """What may be there of a command that was killed: it makes several things, each of them whole,
    and a rerun makes the rest."""
    several: bool = False
    """It commits several times, and a rerun does the rest."""
    cold: bool = False
    """It is the first one of its account, whose caches it fills."""


FORGET = ["forget", "8", "--reason", "asked", "--receipt", "receipt.json"]
RELEASE = ["release", "--quarter", "2011Q4", "--seed", "1", "--allow-linkable"]
KINDS: dict[str, Kind] = {
    "restore": Kind(["restore", "--from", "safe.duckdb"]),
    "restore to nothing": Kind(
        ["restore", "--from", "safe.duckdb", "--without-forgotten"], on="new.duckdb"
    ),
    "backup": Kind(["backup", "--to", "other.duckdb"]),
    "migrate": Kind(["migrate"], ("old",), on="old.duckdb"),
    "lake": Kind(["lake", "--moved-to", "lake2"], ("lake",)),
    "ingest": Kind(["ingest", f"{SOURCES}/faers_ascii_2012Q1.zip"]),
    "replace": Kind(["ingest", "--replace", f"{SOURCES}/new/faers_ascii_2011Q4.zip"]),
    "ingest to nothing": Kind(
        ["ingest", f"{SOURCES}/faers_ascii_2012Q1.zip"], ("file",), "new.duckdb", ("new.duckdb",)
    ),
    "first of an account": Kind(
        ["ingest", f"{SOURCES}/faers_ascii_2012Q1.zip"], ("file",), "new.duckdb", ("new.duckdb",),
        cold=True,
    ),
    "ingest a dump": Kind(
        ["ingest", "--cumulative", "--max-vanished", "0.5",
         f"{SOURCES}/dumped/faers_ascii_2011Q3.zip"], ("dumps",),
    ),
    "ingest to a new lake": Kind(
        ["ingest", f"{SOURCES}/faers_ascii_2012Q1.zip", "--lake", "lake3"],
        ("file",), "new.duckdb", ("new.duckdb", "lake3", "lake3/srsql-lake.json"),
    ),
    "release": Kind(RELEASE),
    "draft": Kind([*RELEASE, "--draft"]),
    "confirm": Kind(
        ["release", "--quarter", "2011Q3", "--series", "draft", "--confirm", "--allow-linkable"]
    ),
    "release of a range": Kind(
        ["release", "--quarter", "2011Q4:2012Q1", "--seed", "1", "--allow-linkable", "--ingest",
         f"{SOURCES}/faers_ascii_2012Q1.zip"], several=True,
    ),
    "correct": Kind(["correct", "--quarter", "2011Q3"]),
    "forget": Kind(FORGET, several=True),
    "rebuild": Kind(["forget", "--rebuild"], several=True),
    "split": Kind(["split", "--to", SPLIT], ("file",), between=(SPLIT,)),
    "stop": Kind(["split", "--stop"], ("split",)),
    "release, split": Kind(RELEASE, ("split",)),
    "confirm, split": Kind(
        ["release", "--quarter", "2011Q3", "--series", "draft", "--confirm", "--allow-linkable"],
        ("split",),
    ),
    "correct, split": Kind(["correct", "--quarter", "2011Q3"], ("split",)),
    "forget, split": Kind(FORGET, ("split",), several=True),
    "restore, split": Kind(["restore", "--from", "safe.duckdb"], ("split",)),
    "series create": Kind(["series", "create", "another", "--k", "4"]),
    "series set": Kind(["series", "set", "main", "--k", "4"]),
    "duplicates": Kind(["duplicates", "--seed", "1"], ("file",)),
    "publish": Kind(["publish", "--quarter", "2011Q3", "--stale", "--to", "out"]),
    "publish as duckdb": Kind(
        ["publish", "--quarter", "2011Q3", "--stale", "--to", "out", "--format", "duckdb"],
        ("file",),
    ),
    "publish with a key": Kind(
        ["publish", "--quarter", "2011Q3", "--stale", "--to", "out", "--case-ids", "pseudonym",
         "--key-file", "key"], ("file",), between=("key",),
    ),
    "import-release": Kind(
        ["import-release", f"{SOURCES}/theirs.csv", "--quarter", "2011Q1"], ("file",),
        "new.duckdb", ("new.duckdb",),
    ),
    "signals": Kind(
        ["signals", *PAIR, "--csv", "signals.csv", "--out", "out.json", "--json"], ("file",),
        between=("signals.csv", "out.json"),
    ),
    "trend": Kind(
        ["signals", *PAIR, "--trend", "--figure", "trend.svg", "--out", "out.json", "--json"],
        ("file",), between=("trend.svg", "out.json"),
    ),
    "export": Kind(
        ["signals", "--export", "treescan", "--drug", "drug 1", "--to", "out"], ("file",)
    ),
    "query": Kind(
        ["query", "SELECT count(DISTINCT caseid) FROM demo WHERE age > 40", "--out", "out.csv"],
    ),
    "attack": Kind(
        ["attack", "--quarter", "2011Q3", "--qid", "age=41", "--qid", "sex=M", "--out", "out.json",
         "--json"], ("file",),
    ),
    "audit": Kind(["audit", "--out", "out.json", "--json"], ("file",)),
    "metrics": Kind(["metrics", "--quarter", "2011Q3", "--out", "out.json", "--json"], ("file",)),
    "out": Kind(["status", "--out", "out.json", "--json"]),
    "report": Kind(["report", "--quarter", "2011Q3", "--out", "page.html"]),
    "figures": Kind(
        ["report", "--quarter", "2011Q3", "--out", "page.html", "--figures", "figures"], ("file",),
        between=("page.html", "figures"),
    ),
    "compare": Kind(
        ["compare", "--quarters", "2011Q3", "--models", "k-anonymity", "--k", "3", "--jobs", "1",
         "--out", "out"], ("file",), between=("out",),
    ),
    "page": Kind(["verify", "--page", "page.html"], ("file",), ""),
    "verify": Kind(["verify", f"{SOURCES}/artifact", "--out", "out.json", "--json"], ("file",), ""),
    "dictionary": Kind(["dictionary", f"{SOURCES}/names.csv", "--to", "d.csv"], ("file",), ""),
    "synth": Kind(
        ["synth", "--out", "out", "--from", "2011Q1", "--to", "2011Q2", "--cases", "20"],
        ("file",), "", ("out",),
    ),
}  # fmt: skip
RELEASED: dict[str, Any] = {"k": 3, "theta": "1", "seed": 1, "allow_linkable": True}
NAMED = ("commit", "link", "replace", "rename")
"""The steps before each of which a command is killed; of the others, which remove what nobody
needs, some are taken."""
LEAST_KILLED = 0.5
"""Of the runs; others end before the step that they were to be killed at."""
EVERY = [(name, base) for name, kind in KINDS.items() for base in kind.bases]
SAMPLE = [
    pytest.param("restore", "lake", marks=pytest.mark.thorough),
    pytest.param("forget", "file", marks=pytest.mark.thorough),
    pytest.param("correct, split", "split", marks=pytest.mark.thorough),
    ("export", "file"),
    ("page", "file"),
    ("release, split", "split"),
]


@dataclass
class State:
    """What is in a folder."""

    names: set[str]
    """Hidden things included, but for the files of lakes, which have new names."""
    warehouses: dict[str, dict[str, Any]]
    """Each with all its rows; every file of its lake is whole, byte by byte."""

    def counts(self) -> tuple[set[str], dict[str, dict[str, int]]]:
        """What is the same however often a command is run anew."""
        told = {
            name: {table: len(rows) for table, rows in found.items()}
            for name, found in self.warehouses.items()
        }
        return self.names, told


@dataclass
class World:
    """A folder in which commands are killed, as it was before."""

    server: Server
    folder: Path
    temporary: Path
    caches: Path
    known: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Rows of a file by its bytes, which the same file has again and again."""
    told: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    """By command and base: its points, the kills, and the runs that ended before their step."""

    def fresh(self, base: str, *, cold: bool = False) -> Path:
        """The folder of a base as it was; a copy elsewhere would have another lake. ``cold``: there
        is nothing in the account's caches but kernels."""
        place = self.folder / base
        if not place.exists():
            make(base, self.folder)
        shutil.rmtree(place)
        shutil.copytree(self.folder / "kept" / base, place)
        for kept in self.caches.iterdir() if cold else ():
            if not kept.is_symlink():
                shutil.rmtree(kept)
        return place

    def run(self, place: Path, kind: Kind, nth: int = 10_000) -> End:
        """Run a command, killed before its nth step."""
        return self.server.run(Kill(str(place), self.words(kind), window="step", nth=nth))

    def words(self, kind: Kind) -> list[str]:
        """What stands on the command line."""
        return [*kind.words, *(["--db", kind.on] if kind.on else [])]

    def state(self, place: Path) -> State:
        """What is in the folder after the next command, whatever it is, and nothing is left."""
        next_one = self.server.run(Kill(str(place), ["config"]))
        assert next_one.code == 0, next_one.said
        own = [kept for kept in self.caches.iterdir() if not kept.is_symlink()]
        cached = [path for kept in own for path in kept.rglob("*")]
        there = (*place.rglob("*"), *self.temporary.iterdir(), *cached)
        assert not [path for path in there if path.name.startswith(".")]
        assert not list((self.caches / "running").iterdir())
        found = {
            path.name: self.rows(path) for path in sorted(place.iterdir()) if is_database(path)
        }
        names = {
            str(path.relative_to(place))
            for path in place.rglob("*")
            if path.suffix != ".parquet" or "quarter=" not in str(path)
            if "quarter=" not in path.name
        }
        return State(names, found)

    def rows(self, path: Path) -> dict[str, Any]:
        """All rows of a file, which opens whatever happened, and as the next command leaves it; a
        file whose bytes were seen before, with those of the lakes beside it, is not opened anew."""
        wal = path.with_name(f"{path.name}.wal")
        lakes = [each for each in sorted(path.parent.rglob("*.parquet")) if each.is_file()]
        digest = hashlib.sha256(str(lakes).encode())
        for each in (path, *([wal] if wal.exists() else []), *lakes):
            digest.update(each.read_bytes())
        known = digest.hexdigest()
        if known in self.known and not wal.exists():
            return self.known[known]
        if path.suffix == ".duckdb" and layout_of(path) == LAYOUT:
            Engine(path).close()
            with Engine(path, read_only=True) as engine:
                lake = engine.warehouse.lake
                if lake is not None:
                    need_no_orphans(engine)
            if lake is not None:
                look_at_lake(path, check=True)
        with attached(path, read_only=path.suffix != ".duckdb") as con:
            self.known[known] = content(con)
        assert not wal.exists()  # whoever opened it last closed it
        return self.known[known]


def layout_of(path: Path) -> int:
    """The layout of a warehouse; 0: nothing is in it yet."""
    with attached(path, read_only=True) as con:
        named = con.execute("SELECT 1 FROM duckdb_tables() WHERE table_name = 'warehouse'")
        if not named.fetchall():
            return 0
        ((layout,),) = con.execute("SELECT layout FROM srsql.warehouse").fetchall()
        return int(layout)


def is_database(path: Path) -> bool:
    return path.is_file() and path.read_bytes()[8:12] == b"DUCK"


def need_no_orphans(engine: Engine) -> None:
    """Every file of a lake is listed in the catalog, and nothing is to be removed any more."""
    lake = engine.warehouse.lake
    assert lake is not None
    there = {str(p.relative_to(lake.folder)) for p in lake.folder.rglob("*.parquet")}
    assert there == {each.file for each in lake.files}
    assert engine.sql("SELECT count(*) FROM srsql.lake_leftover") == [(0,)]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("made")
    sources, temporary = folder / "sources", folder / "temporary"
    temporary.mkdir()
    caches = folder / "caches" / "srsql"
    caches.mkdir(mode=0o700, parents=True)
    if (kernels := cache_folder("kernels")) is not None:
        (caches / "kernels").symlink_to(kernels)
    write_quarter(sources, "2011Q3", crowd(24))
    write_quarter(sources, "2011Q4", crowd(24, first=13, version=2), deleted=[7])
    write_quarter(sources, "2012Q1", crowd(24, first=25, version=3))
    write_quarter(sources / "new", "2011Q4", crowd(20, first=15, version=4), deleted=[7])
    changed = [replace(report, pt=(*report.pt, "Rash")) for report in crowd(6, first=4)]
    later = [*changed, *crowd(18, first=10)]  # without the first three, and with new ones
    write_quarter(sources / "dumped", "2011Q3", later)
    (sources / "theirs.csv").write_text(THEIRS)
    (sources / "names.csv").write_text("term,ingredient\nDrug 1,drug one\n")
    made = World(Server(temporary, caches.parent), folder, temporary, caches)
    yield made
    made.server.close()
    for name, (points, kills, ended) in made.told.items():
        print(f"{name}: {points} points, {kills} kills, {ended} runs had fewer steps")
    print(f"{sum(kills for _, kills, _ in made.told.values())} kills")


def make(base: str, folder: Path) -> None:
    """A warehouse with a lake, or without: two quarters, one of them out and stale, a draft, and a
    backup of before the second; or a dump, which is out; or one of version 0.1."""
    place, sources = folder / base, folder / "sources"
    place.mkdir()
    if base == "old":
        with gzip.open(OLD) as packed, (place / "old.duckdb").open("wb") as file:
            shutil.copyfileobj(packed, file)
        (place / "old.duckdb").chmod(0o600)
    elif base == "dumps":
        with Engine(place / "w.duckdb") as engine:
            engine.ingest([sources / "faers_ascii_2011Q3.zip"], cumulative=True)
            engine.release("2011Q3", **RELEASED)
    else:
        with Engine(place / "w.duckdb") as engine:
            engine.ingest([sources / "faers_ascii_2011Q3.zip"],
                          lake=place / "lake" if base == "lake" else None)  # fmt: skip
            engine.release("2011Q3", **RELEASED)
            engine.backup(place / "safe.duckdb")
            engine.ingest([sources / "faers_ascii_2011Q4.zip"])
            # after the case is deleted that makes the release stale: a draft would be refused then
            engine.release("2011Q3", **RELEASED, series="draft", draft=True)
            if base == "split":
                engine.steward.split(place / SPLIT)
            if base == "file":
                engine.publish("2011Q3", sources / "artifact", stale=True)
    if base == "lake":
        shutil.copytree(place / "lake", place / "lake2")
    shutil.copytree(place, folder / "kept" / base)


def parts(found: State, kind: Kind, before: State, after: State) -> bool:
    """Whether what is there is that of before and some of what the command makes, each whole."""
    new = found.names - before.names
    return (
        found.names >= before.names
        and new <= after.names
        and all(name.split("/")[0] in kind.between or name in kind.between for name in new)
    )


def kill_everywhere(world: World, name: str, base: str, most: int) -> None:
    """Kill a command before each of its steps, or before so many of them."""
    kind = KINDS[name]
    before = world.state(world.fresh(base))
    first = world.run(world.fresh(base), kind)  # the steps of the next one fill no cache any more
    assert first.code == 0, first.said
    after = world.state(world.folder / base)
    whole = world.run(world.fresh(base, cold=kind.cold), kind)
    assert whole.code == 0, whole.said
    assert world.state(world.folder / base).counts() == after.counts()
    points = [n for n, step in enumerate(whole.steps, 1) if step.split()[0] in NAMED]
    others = [n for n, step in enumerate(whole.steps, 1) if step.split()[0] not in NAMED]
    taken = [*spread(points, most), *spread(others, 3 if IN_FULL else 1)]
    ended = 0
    for nth in taken:
        place = world.fresh(base, cold=kind.cold)
        end = world.run(place, kind, nth)
        step = f"{name}, {base}: {nth} of {len(whole.steps)}, {whole.steps[nth - 1]}"
        found = world.state(place)
        done = found.counts() == after.counts()
        if end.code == 0 and len(end.steps) < nth:
            assert done, step
            ended += 1
            continue
        assert end.code == -signal.SIGKILL, (step, end.said)
        if not done:
            assert found == before or kind.several or parts(found, kind, before, after), step
            again = world.run(place, kind)
            assert again.code == 0, (step, again.said)
            assert world.state(place).counts() == after.counts(), step
    world.told[f"{name}, {base}"] = (len(points), len(taken) - ended, ended)
    assert ended <= (1 - LEAST_KILLED) * len(taken), f"{name}, {base}: most runs had fewer steps"


def spread(points: list[int], most: int) -> list[int]:
    """So many of them, the last one included."""
    return points if len(points) <= most else [points[-1 - len(points) * i // most]
                                               for i in range(most)]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("name", "base"), SAMPLE)
def test_a_command_killed_at_some_steps_leaves_all_or_nothing_to_the_next_one(
    world: World, name: str, base: str
) -> None:
    kill_everywhere(world, name, base, some_of(8))


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "base"), EVERY)
def test_a_command_killed_at_any_step_leaves_all_or_nothing_to_the_next_one(
    world: World, name: str, base: str
) -> None:
    kill_everywhere(world, name, base, 10_000 if IN_FULL else 3)


LIFE = (
    Kind(["ingest", f"{SOURCES}/faers_ascii_2011Q3.zip", "--lake", "lake"],
         between=("w.duckdb", "lake", "lake/srsql-lake.json")),
    Kind(["release", "--quarter", "2011Q3", "--k", "3", "--theta", "1", "--seed", "1",
          "--allow-linkable"]),
    KINDS["publish with a key"],
    Kind(["backup", "--to", "safe.duckdb"]),
    Kind(["ingest", f"{SOURCES}/faers_ascii_2011Q4.zip"]),
    Kind(RELEASE),
    Kind(["correct", "--quarter", "2011Q3"]),
    Kind(FORGET, several=True),
    Kind(["backup", "--to", "later.duckdb"]),
    Kind(["restore", "--from", "safe.duckdb"]),
    Kind(["lake", "--check"]),
)  # fmt: skip
"""Commands as they follow each other."""
MOST_KILLS = 3
"""Of one command, before it is left alone."""


@pytest.mark.thorough
def test_a_series_of_commands_killed_at_sampled_moments_comes_to_what_it_is_undisturbed(
    world: World,
) -> None:
    """Half of the kills are before a step, half at any time; what is there is never half of it."""
    rng, place = random.Random(49), world.folder / "life"
    place.mkdir()
    known: list[tuple[End, State]] = []
    for kind in LIFE:
        end = world.run(place, kind)
        assert end.code == 0, (kind.words, end.said)
        known.append((end, world.state(place)))
    kills = due = some_of(200)
    while due > 0:
        shutil.rmtree(place)
        place.mkdir()
        before = world.state(place)
        for kind, (usual, after) in zip(LIFE, known, strict=True):
            done = False
            for _ in range(rng.randint(0, MOST_KILLS)):
                if rng.random() < 0.5:
                    end = world.run(place, kind, rng.randint(1, len(usual.steps) or 1))
                else:
                    words, moment = world.words(kind), rng.random() * usual.seconds
                    end = world.server.run(Kill(str(place), words, delay=moment))
                assert end.code in (0, -signal.SIGKILL), (kind.words, end.said)
                due -= end.code != 0
                found = world.state(place)
                done = found.counts() == after.counts()
                if done:
                    break
                whole = found.counts() == before.counts() or kind.several
                assert whole or parts(found, kind, before, after), kind.words
            if not done:
                end = world.run(place, kind)
                assert end.code == 0, (kind.words, end.said)
            before = world.state(place)
            assert before.counts() == after.counts(), kind.words
    print(f"{kills - due} kills over series of {len(LIFE)} commands")
