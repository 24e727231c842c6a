"""What holds raw rows is its owner's alone, from its first byte on, and scratch does not stay."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.command import srsql
from support.quarters import crowd, write_quarter

from srsql.engine.api.engine import Engine
from srsql.engine.errors import WarehouseError
from srsql.engine.store import scratch
from srsql.engine.store.scratch import PrivateFolder, private_folder
from srsql.engine.store.warehouse import Warehouse

pytestmark = pytest.mark.slow

DEAD = 2**22 + 1
"""No process has that number."""


@pytest.fixture(autouse=True)
def open_to_all() -> Iterator[None]:
    """A process that gives everybody every right."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def modes(folder: Path) -> dict[str, int]:
    return {path.name: mode(path) for path in sorted(folder.iterdir())}


def test_a_new_warehouse_its_log_and_its_scratch_are_their_owners_alone(tmp_path: Path) -> None:
    with Warehouse(tmp_path / "w.duckdb") as warehouse:
        assert warehouse.scratch is not None
        for _ in range(2):  # the log is made anew after a checkpoint
            with warehouse.transaction():
                warehouse.run("CREATE OR REPLACE TABLE main.t AS FROM range(10)")
            assert modes(tmp_path) == {
                "w.duckdb": 0o600, "w.duckdb.wal": 0o600, warehouse.scratch.name: 0o700
            }  # fmt: skip
            warehouse.run("CHECKPOINT")
    assert modes(tmp_path) == {"w.duckdb": 0o600}


def test_the_rights_of_a_warehouse_are_kept_and_its_log_has_them(tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    Warehouse(db).close()
    db.chmod(0o660)
    with Warehouse(db) as warehouse, warehouse.transaction():
        warehouse.run("CREATE TABLE main.t AS FROM range(10)")
        assert mode(tmp_path / "w.duckdb.wal") == 0o660
    assert mode(db) == 0o660


@pytest.mark.thorough
def test_what_tells_of_originals_is_its_owners_alone_and_what_is_published_is_not(
    tmp_path: Path,
) -> None:
    db = tmp_path / "w.duckdb"
    with Engine(db) as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q3", crowd(30))])
        engine.release("2011Q3", model="ms", k=3, theta="1", seed=1)
        engine.publish("2011Q3", tmp_path / "out")
    with Engine(db, read_only=True) as engine:
        engine.backup(tmp_path / "backup.duckdb")
    for name, public in (("internal.html", ()), ("public.html", ("--public",))):
        asked = ("report", "--quarter", "2011Q3", *public, "--out", tmp_path / name, "--db", db)
        assert srsql(*asked).code == 0
    forget = ("forget", "7", "--reason", "asked for", "--receipt", tmp_path / "receipt.json")
    assert srsql(*forget, "--db", db).code == 0
    found = modes(tmp_path)
    for name in ("w.duckdb", "backup.duckdb", "internal.html", "receipt.json"):
        assert found[name] == 0o600, name
    assert found["public.html"] == 0o666
    assert found["out"] == 0o777
    assert set(modes(tmp_path / "out").values()) == {0o666}


def test_a_failed_first_ingestion_leaves_no_file(tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    answer = srsql("ingest", tmp_path / "none.zip", "--db", db)
    assert (answer.code, "none.zip" in answer.err) == (2, True)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "faers_ascii_2011Q3.zip").write_bytes(b"PK\3\4 and no more")
    assert srsql("ingest", tmp_path / "faers_ascii_2011Q3.zip", "--db", db).code == 5
    assert not db.exists()


def test_a_failed_second_quarter_leaves_the_first(tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    good = write_quarter(tmp_path, "2011Q3", crowd(30))
    bad = write_quarter(tmp_path, "2011Q4", crowd(30))
    bad.write_bytes(bad.read_bytes()[:-300] + bytes(300))
    assert srsql("ingest", good, "--db", db).code == 0
    assert srsql("ingest", bad, "--db", db).code == 5
    with Engine(db, read_only=True) as engine:
        assert [row["quarter"] for row in engine.status().quarters] == ["2011Q3"]


def left(folder: Path, name: str) -> Path:
    made = folder / name
    made.mkdir(mode=0o700)
    (made / "raw.txt").write_text("a patient")
    return made


def test_what_a_killed_process_left_goes_when_the_warehouse_opens_and_nothing_else_does(
    tmp_path: Path,
) -> None:
    db, elsewhere = tmp_path / "w.duckdb", tmp_path / "elsewhere"
    elsewhere.mkdir()
    Warehouse(db).close()
    gone = [
        left(tmp_path, f".w.duckdb.{DEAD}-0a1b.scratch"),
        left(tmp_path, ".w.duckdb.abc_d123.copying"),
        left(elsewhere, f".out.{DEAD}-0a1b.unfinished"),
    ]
    (gone[0] / "elsewhere").write_text(f'"{gone[2]}"\n"{elsewhere}"\n"{tmp_path}/.ssh"\nnoise\n')
    stays = [
        left(tmp_path, f".other.duckdb.{DEAD}-0a1b.scratch"),
        left(tmp_path, ".w.duckdb.notes"),
        left(tmp_path, ".ssh"),
        left(elsewhere, f".more.{DEAD}-0a1b.unfinished"),
    ]
    (tmp_path / f".w.duckdb.{DEAD}-ffff.scratch").symlink_to(stays[2])
    old = tmp_path / "w.duckdb.tmp"
    old.mkdir()
    left(old, f"ingest-{DEAD}-abc")
    with Warehouse(db, read_only=True):
        assert [path for path in gone if path.exists()] == []
        assert not old.exists()
        assert [path for path in stays if not (path / "raw.txt").exists()] == []


def test_a_folder_that_a_living_process_holds_stays(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from srsql.engine.store.scratch import *\n"
        "folder = PrivateFolder(Path(sys.argv[1])); print(folder.path, flush=True); input()"
    )
    db = tmp_path / "w.duckdb"
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(db)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert other.stdout is not None
    held = Path(other.stdout.readline().strip())
    mine = PrivateFolder(db)
    Warehouse(db).close()
    assert held.is_dir()
    assert mine.path.is_dir()
    other.kill()
    other.communicate()
    Warehouse(db).close()
    assert not held.exists()
    assert mine.path.is_dir()
    mine.remove()
    assert modes(tmp_path) == {"w.duckdb": 0o600}


def test_a_folder_elsewhere_is_noted_in_that_of_the_warehouse(tmp_path: Path) -> None:
    with Warehouse(tmp_path / "w.duckdb") as warehouse:
        assert warehouse.scratch is not None
        (tmp_path / "to").mkdir()
        with private_folder(tmp_path / "to" / "out", "unfinished") as folder:
            assert scratch._noted(warehouse.scratch / scratch._NOTES) == [folder]
            assert mode(folder) == 0o700


def test_where_the_folder_cannot_be_written_scratch_is_a_private_folder_of_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db, system = tmp_path / "w.duckdb", tmp_path / "system"
    system.mkdir()
    Warehouse(db).close()
    monkeypatch.setattr(scratch.tempfile, "gettempdir", lambda: str(system))
    made = scratch._made

    def only_there(target: Path, kind: scratch.Kind) -> tuple[Path, int]:
        if target.parent != system:
            raise PermissionError(13, "Permission denied")
        return made(target, kind)

    monkeypatch.setattr(scratch, "_made", only_there)
    with Warehouse(db, read_only=True) as warehouse:
        assert warehouse.scratch is not None
        assert warehouse.scratch.parent == system
        assert mode(warehouse.scratch) == 0o700
    assert list(system.iterdir()) == []


@pytest.mark.thorough
def test_a_folder_with_an_odd_name_works(tmp_path: Path) -> None:
    folder = tmp_path / 'a*b[1] it\'s; "q"\n%20~${HOME} Ünïcode'
    archive = write_quarter(folder, "2011Q3", crowd(30))
    db = folder / "w.duckdb"
    for command in (
        ("ingest", archive),
        ("release", "--quarter", "2011Q3", "--k", 3, "--theta", 1),
        ("publish", "--quarter", "2011Q3", "--to", folder / "out"),
        ("publish", "--quarter", "2011Q3", "--format", "duckdb", "--to", folder / "duck"),
        ("backup", "--to", folder / "b.duckdb"),
    ):
        answer = srsql(*command, "--db", db)
        assert (answer.code, answer.err) == (0, "")
    for made in ("out", "duck"):
        assert srsql("verify", folder / made).code == 0
    assert set(modes(folder)) == {archive.name, "b.duckdb", "duck", "out", "w.duckdb"}


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["a?b", "a\\b", "a\udcffb"])
def test_a_folder_whose_name_duckdb_would_read_as_another_is_refused_before_anything_is_written(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / name
    folder.mkdir()
    archive = write_quarter(tmp_path, "2011Q3", crowd(30))
    with pytest.raises(WarehouseError, match="cannot be the path of a database"):
        Engine(folder / "w.duckdb")
    monkeypatch.chdir(folder)
    with pytest.raises(WarehouseError, match="cannot be the path of a database"):
        Engine("w.duckdb")
    db = tmp_path / "w.duckdb"
    commands = [
        ("ingest", archive, "--db", folder / "w.duckdb"),
        ("import-release", archive, "--quarter", "2011Q3", "--db", folder / "w.duckdb"),
        ("demo", folder / "demo"),
        ("backup", "--to", folder / "b.duckdb", "--db", db),
        ("publish", "--quarter", "2011Q3", "--to", folder / "out", "--db", db),
        ("restore", "--from", db, "--without-forgotten", "--db", folder / "w.duckdb"),
    ]
    with Engine(db) as engine:
        engine.ingest([archive])
        engine.release("2011Q3", model="ms", k=3, theta="1", seed=1)
    for command in commands:
        answer = srsql(*command)
        assert (answer.code, answer.err.count("\n")) == (2, 1), command
        assert "give another" in answer.err
    assert list(folder.iterdir()) == []


def test_a_source_whose_names_are_not_text_is_read(tmp_path: Path) -> None:
    from srsql.engine.ingest import sources

    odd = tmp_path / "DEMO11\udcffQ3.txt"
    assert sources._text(odd.name) == "DEMO11\\xffQ3.txt"


def taken_once(below: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Whoever makes something in a folder finds the first one held by a process that cleans up."""
    others: list[int] = []
    flock = scratch.fcntl.flock

    def taken(handle: int, how: int) -> None:
        if not others and os.readlink(f"/proc/self/fd/{handle}").startswith(str(below)):
            others.append(os.open(f"/proc/self/fd/{handle}", os.O_RDONLY))
            flock(others[0], how)
        flock(handle, how)

    monkeypatch.setattr(scratch.fcntl, "flock", taken)
    return others


def test_what_a_cleaning_process_has_taken_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = taken_once(tmp_path, monkeypatch)
    with private_folder(tmp_path / "target") as folder:
        assert [path.name for path in tmp_path.iterdir() if path != folder] != []  # the cleaner's
        (folder / "file").touch()
        handle = os.open(folder, os.O_RDONLY)
        with pytest.raises(BlockingIOError):
            scratch.fcntl.flock(handle, scratch.fcntl.LOCK_EX | scratch.fcntl.LOCK_NB)
        os.close(handle)
    os.close(others.pop())


def test_a_file_that_a_cleaning_process_has_taken_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = taken_once(tmp_path, monkeypatch)
    with scratch.put_beside(tmp_path / "answer") as beside:
        for path in tmp_path.iterdir():
            if path != beside:
                path.unlink()  # what the cleaner does with what it has taken
        beside.write_text("whole")
    assert (tmp_path / "answer").read_text() == "whole"
    os.close(others.pop())
