"""Artifacts, rules, levels, hierarchies and policies of a stranger: one line, and no other file.

Each is a valid one that was changed at random, hashes made anew or not, and goes through a command
that reads it. What lies elsewhere is a canary: it is never shown, nor opened.
"""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from artifact.conftest import OPTIONS
from support.amount import some_of
from support.artifacts import make
from support.command import Answer, srsql
from support.quarters import crowd, write_quarter

from srsql import Engine

pytestmark = pytest.mark.thorough

CANARY = "CANARY7f3a9"
FORMS = ("parquet", "csv", "duckdb")
QUESTION = "SELECT count(DISTINCT caseid) FROM demo WHERE age >= 40"
SAMPLE, ALL = range(24), range(24, 24 + some_of(300))
OPENED: list[str] | None = None
"""Files that Python opened, while that is looked at."""


def watch(event: str, arguments: tuple[Any, ...]) -> None:
    if OPENED is not None and event == "open" and isinstance(arguments[0], str | bytes):
        OPENED.append(str(arguments[0]))


sys.addaudithook(watch)


class Place:
    """Valid files of every kind, and a canary beside them that nothing names."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.db = folder / "w.duckdb"
        self.secret = folder / "elsewhere" / f"{CANARY}.csv"
        self.secret.parent.mkdir()
        self.secret.write_text(f"node,parent\n{CANARY},\n{CANARY}leaf,{CANARY}\n")
        with Engine(self.db) as engine:
            for number, quarter in enumerate(("2011Q3", "2011Q4")):
                reports = crowd(12, first=1 + 6 * number, terms=4, version=1 + number)
                engine.ingest([write_quarter(folder, quarter, reports)])
            for quarter in ("2011Q3", "2011Q4"):
                engine.release(quarter, **OPTIONS | {"theta": "1"})
        every = [(form, "2011Q3:2011Q4") for form in FORMS]
        self.artifacts = [
            make(self.db, folder / f"artifact-{number}", quarter, format=form)
            for number, (form, quarter) in enumerate([("duckdb", "2011Q3"), *every])
        ]
        schema = Path(__file__).parents[2] / "schemas"
        self.texts = {
            "rules": "drug,reaction,min_age,max_age,sex\nDRUG 1,REACTION 01,18,65,F\nA,B,,,\n",
            "levels": "value,theta\n*,0.4\nHEADACHE,0.2\nNAUSEA,1/3\n",
            "levels.toml": "default = 0.4\n[values]\nHEADACHE = 0.2\n[[group]]\ntheta = 1\n"
            'values = ["NAUSEA"]\n',
            "hierarchy": "node,parent,low,high\nAny,,,\nM,Any,,\nF,Any,,\n",
            "hierarchy.toml": '[[nodes]]\nnode = "Any"\n[[nodes]]\nnode = "M"\nparent = "Any"\n',
            "policy": "constraint,term\none,HEADACHE\none,NAUSEA\ntwo,RASH\n",
            "dataset": (schema / "faers.toml").read_text(),
        }

    def ask(self, kind: str, path: Path) -> Answer:
        """The command that reads a file of this kind, or an artifact."""
        good = ("--artifact", self.artifacts[0])
        db = ("--db", self.db)
        # refused in the end, since the quarter is out; the file is read before
        again = ("release", "--quarter", "2011Q4", *db)
        if kind == "verify":
            return srsql("verify", path)
        if kind == "artifact":
            return srsql("query", QUESTION, "--artifact", path)
        if kind == "rules":
            return srsql("signals", "--rules", path, *good)
        if kind.startswith("levels"):
            return srsql(*again, "--theta", f"levels:{path}")
        if kind == "policy":
            return srsql(*again, "--model", "disassociation", "--policy", path)
        if kind == "dataset":
            return srsql("query", QUESTION, *good, "--dataset", path)
        named = 'hierarchy = "hierarchies/sex.csv"'
        assert named in self.texts["dataset"]
        text = self.texts["dataset"].replace(named, f'hierarchy = "{path.name}"')
        own = path.parent / "own.toml"
        own.write_text(text)
        return srsql("query", QUESTION, *good, "--dataset", own)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("hostile"))


@pytest.fixture
def opened() -> Iterator[list[str]]:
    global OPENED
    OPENED = []
    yield OPENED
    OPENED = None


TOKENS = (
    "\x00", "\ufeff", '"', '""', "'; DROP TABLE demo; --", "1e999999999", "-1e-999999999", "nan",
    "1/0", "0/0", "[" * 5000, "{" * 5000, "\r", "\n\n", "," * 300, "=", "../", "/etc/passwd", "*",
    "\x1b[2J", "\u202e", "A" * 200_000, "9" * 400, "\ud7ff", "null", "'''", "levels:levels:x",
)  # fmt: skip


def broken(rng: random.Random, content: bytes, secret: Path) -> bytes:
    """The bytes, changed at a few random places."""
    made = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 5, 20))):
        at = rng.randrange(len(made) + 1)
        kind = rng.randrange(6)
        if kind == 0 and made:
            made[min(at, len(made) - 1)] = rng.randrange(256)
        elif kind == 1:
            del made[at : at + rng.randrange(1, 40)]
        elif kind == 2:
            made[at:at] = rng.choice((*TOKENS, str(secret))).encode("utf-8", "surrogatepass")
        elif kind == 3:
            made[at:at] = made[max(0, at - 30) : at]
        elif kind == 4:
            made[at:at] = rng.randbytes(rng.randrange(1, 9))
        else:
            del made[at:]
    return bytes(made)


def hashed(folder: Path) -> None:
    """The hashes of the files as they are now, as far as the manifest can still be read."""
    manifest = folder / "manifest.json"
    if manifest.is_symlink():
        return
    unlisted = {"manifest.json", "SHA256SUMS", "SHA256SUMS.sig"}
    digests = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.iterdir()
        if path.name not in unlisted and path.is_file()
    }
    try:
        told = json.loads(manifest.read_bytes())
        told["files"] = digests
        manifest.write_text(json.dumps(told))
    except (OSError, ValueError, TypeError, RecursionError):
        pass
    if manifest.is_file():
        digests["manifest.json"] = hashlib.sha256(manifest.read_bytes()).hexdigest()
    lines = [f"{digests[name]}  {name}\n" for name in sorted(digests)]
    if not (folder / "SHA256SUMS").is_symlink():  # what it leads to is not ours
        (folder / "SHA256SUMS").write_text("".join(lines))


def bytes_of_a_file(rng: random.Random, folder: Path, secret: Path) -> None:
    path = rng.choice(sorted(folder.iterdir()))
    path.write_bytes(broken(rng, path.read_bytes(), secret))


def a_value_of_the_manifest(rng: random.Random, folder: Path, secret: Path) -> None:
    """Any value of it becomes something else."""
    told = json.loads((folder / "manifest.json").read_text())
    at: Any = told
    while True:
        keys = list(at) if isinstance(at, dict) else range(len(at))
        key = rng.choice(list(keys))
        if isinstance(at[key], dict | list) and at[key] and rng.random() < 0.9:
            at = at[key]
            continue
        values = [None, -1, 2**70, 1.5, "", [], {}, True, "release_2011q3", [[[]]], "demo.csv",
                  str(secret), f"../elsewhere/{secret.name}", *TOKENS]  # fmt: skip
        at[key] = rng.choice(values)
        break
    (folder / "manifest.json").write_text(json.dumps(told))


def a_link(rng: random.Random, folder: Path, secret: Path) -> None:
    path = rng.choice(sorted(folder.iterdir()))
    path.unlink()
    path.symlink_to(rng.choice((secret, Path("..") / "elsewhere" / secret.name, folder)))


def a_file_less_or_more(rng: random.Random, folder: Path, secret: Path) -> None:
    path = rng.choice(sorted(folder.iterdir()))
    if rng.random() < 0.5:
        path.unlink()
    else:
        names = ("release.duckdb.wal", "x.parquet", "demo.csv.gz", "a\nb", "-x", "*.csv")
        (folder / rng.choice(names)).write_bytes(rng.randbytes(100))


def objects_of_a_duckdb_file(rng: random.Random, folder: Path, secret: Path) -> None:
    """Views and macros that read elsewhere; tables that are views; columns that are computed."""
    file = folder / "release.duckdb"
    if not file.exists():
        return bytes_of_a_file(rng, folder, secret)
    with duckdb.connect(str(file)) as con:
        found = con.execute("SELECT schema_name, table_name FROM duckdb_tables()").fetchall()
        schema, name = rng.choice(found)
        view = f"SELECT * FROM read_csv('{secret}')"
        rng.choice(
            (
                lambda: con.execute(f"CREATE VIEW main.peep AS {view}"),
                lambda: con.execute(f"CREATE MACRO main.peep() AS TABLE {view}"),
                lambda: (
                    con.execute(f"DROP TABLE {schema}.{name}"),
                    con.execute(f"CREATE VIEW {schema}.{name} AS {view}"),
                ),
                lambda: con.execute(f"COMMENT ON TABLE {schema}.{name} IS '{CANARY[:5]}'"),
                lambda: con.execute(f"ALTER TABLE {schema}.{name} ADD COLUMN more VARCHAR"),
                lambda: con.execute(f"DELETE FROM {schema}.{name}"),
            )
        )()
    return None


MUTATIONS: tuple[Callable[[random.Random, Path, Path], None], ...] = (
    bytes_of_a_file,
    a_value_of_the_manifest,
    a_value_of_the_manifest,
    a_link,
    a_file_less_or_more,
    objects_of_a_duckdb_file,
)


def attacked(rng: random.Random, place: Place, scratch: Path) -> tuple[str, Path]:
    """What is read, and the path of it."""
    kinds = ["verify", "artifact", "artifact", *place.texts]
    kind = rng.choice(kinds)
    if kind in place.texts:
        end = ".toml" if kind.endswith("toml") or kind == "dataset" else ".csv"
        path = scratch / f"file{end}"
        path.write_bytes(broken(rng, place.texts[kind].encode(), place.secret))
        return kind, path
    folder = shutil.copytree(rng.choice(place.artifacts), scratch / "artifact")
    rng.choice(MUTATIONS)(rng, folder, place.secret)
    if rng.random() < 0.8:
        hashed(folder)
    return kind, folder


def check(number: int, place: Place, scratch: Path, opened: list[str]) -> None:
    rng = random.Random(f"hostile {number}")
    kind, path = attacked(rng, place, scratch)
    opened.clear()
    found = place.ask(kind, path)
    about = (number, kind, found)
    printed = found.out + found.err
    assert found.code in (0, 1, 2, 3), about
    assert "Traceback" not in printed, about
    assert "unexpected" not in found.err, about
    assert "unfinished step" not in found.err, about  # an error that nobody looked for
    assert len(found.err.splitlines()) == (1 if found.code > 1 else 0), about
    assert f"{CANARY}leaf" not in printed, about
    assert not [name for name in opened if place.secret.name in name], about


@pytest.mark.parametrize("kind", ["rules", "levels", "levels.toml", "policy", "dataset",
                                  "hierarchy", "hierarchy.toml"])  # fmt: skip
def test_a_file_that_cannot_be_read_is_named(kind: str, place: Place, tmp_path: Path) -> None:
    """So each command reads its file before it refuses anything else."""
    end = ".toml" if kind.endswith("toml") or kind == "dataset" else ".csv"
    path = tmp_path / f"broken{end}"
    path.write_bytes(b"\xff\x00[[")
    found = place.ask(kind, path)
    assert found.code == 2
    named = "own.toml: key qid.sex.hierarchy" if kind.startswith("hierarchy") else path.name
    assert named in found.err


@pytest.mark.parametrize("name", ["../elsewhere/{}", "{0.parent}/{0.name}", "link.csv"])
def test_a_dataset_names_no_hierarchy_outside_its_folder(
    name: str, place: Place, tmp_path: Path, opened: list[str]
) -> None:
    """Not by an absolute path, nor by one that leads up, nor by a link."""
    folder = place.folder / "dataset"
    folder.mkdir(exist_ok=True)
    if not (folder / "link.csv").is_symlink():
        (folder / "link.csv").symlink_to(place.secret)
    told = name.format(place.secret if "parent" in name else place.secret.name)
    text = place.texts["dataset"].replace('"hierarchies/sex.csv"', f'"{told}"')
    (folder / "own.toml").write_text(text)
    opened.clear()
    found = srsql("query", QUESTION, "--artifact", place.artifacts[0], "--dataset",
                  folder / "own.toml")  # fmt: skip
    assert found.code == 2
    assert "lies outside the folder of the dataset" in found.err
    assert not [name for name in opened if place.secret.name in name]


@pytest.mark.parametrize("number", SAMPLE)
def test_a_hostile_file_ends_in_one_line_and_opens_no_other(
    number: int, place: Place, tmp_path: Path, opened: list[str]
) -> None:
    check(number, place, tmp_path, opened)


@pytest.mark.parametrize("number", ALL)
def test_many_hostile_files_end_in_one_line_and_open_no_other(
    number: int, place: Place, tmp_path: Path, opened: list[str]
) -> None:
    check(number, place, tmp_path, opened)
