"""Names that change as one: whenever their process is killed, all of them have changed or none, for
whatever looks there next; and what dead processes left goes."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from srsql.engine.store import scratch
from srsql.engine.store.scratch import (
    clear_after_dead_processes,
    private_folder,
    put_beside,
    remove_leftovers,
    renames,
)

KILLED = ("link", "replace", "rename", "unlink", "mkdir", "write", "fsync", "open")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(scratch, "_register", {})
    return tmp_path / "cache" / "srsql" / "running"


def killed_before(work: Callable[[], object], nth: int) -> bool:
    """Do it in a fork, which is killed before its nth call of the system; whether it was."""
    child = os.fork()
    if child == 0:
        runs = [0]

        def stepped(call: Callable[..., Any]) -> Callable[..., Any]:
            def run(*arguments: Any, **named: Any) -> Any:
                runs[0] += 1
                if runs[0] == nth:
                    os.kill(os.getpid(), signal.SIGKILL)
                return call(*arguments, **named)

            return run

        for name in KILLED:
            setattr(os, name, stepped(getattr(os, name)))
        work()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in (0, -signal.SIGKILL)
    return code != 0


def listing(place: Path) -> dict[str, str]:
    return {
        str(path.relative_to(place)): path.read_text() if path.is_file() else "folder"
        for path in sorted(place.rglob("*"))
    }


def fill(place: Path) -> None:
    shutil.rmtree(place, ignore_errors=True)
    (place / "lake").mkdir(parents=True)
    (place / "lake" / "rows").write_text("old rows")
    (place / "w").write_text("old")
    (place / "w.wal").write_text("old log")


def restore(place: Path, *, over: bool = True) -> None:
    """As a warehouse with a lake and a log is replaced by another one with a lake."""
    target = place / "w" if over else place / "new"
    with private_folder(target, "copying") as folder:
        made, copy = folder / "w", folder / "lake"
        made.write_text("new")
        copy.mkdir()
        (copy / "rows").write_text("new rows")
        with renames(made, target) as names:
            if over:
                names.move(place / "lake", place / "lake.before")
            names.put(copy, place / ("lake" if over else "new.lake"))
            if over:
                names.keep(place / "w", place / "w.before")
                names.move(place / "w.wal", place / "w.before.wal")
            names.finish(over=over)


@pytest.mark.parametrize("over", [True, False])
@pytest.mark.parametrize("seen_by", ["the next one there", "any command"])
def test_a_kill_at_any_step_leaves_all_names_or_none_and_nothing_else(
    tmp_path: Path, cache: Path, over: bool, seen_by: str
) -> None:
    place = tmp_path / "place"
    fill(place)
    before = listing(place)
    restore(place, over=over)
    after = listing(place)
    assert before != after
    nth, ends = 1, set()
    while True:
        fill(place)
        killed = killed_before(lambda: restore(place, over=over), nth)
        if seen_by == "any command":
            clear_after_dead_processes()
        else:
            remove_leftovers(place / ("w" if over else "new"))
        found = listing(place)
        assert found in (before, after), nth
        ends.add(found == after)
        if not killed:
            break
        nth += 1
    assert ends == {True, False}
    assert nth >= 20  # 31 where names are replaced
    clear_after_dead_processes()
    assert [each for each in cache.iterdir() if not each.name.startswith(f"{os.getpid()}-")] == []


@pytest.mark.thorough
def test_an_undoing_that_is_killed_is_begun_again(tmp_path: Path) -> None:
    place = tmp_path / "place"
    fill(place)
    before = listing(place)

    def broken() -> None:
        with private_folder(place / "w", "copying") as folder:
            (folder / "w").write_text("new")
            (folder / "lake").mkdir()
            (folder / "lake" / "rows").write_text("new rows")
            names = scratch.Renames(folder / "w", place / "w")
            names.move(place / "lake", place / "lake.before")
            names.put(folder / "lake", place / "lake")
            names.keep(place / "w", place / "w.before")
            os._exit(0)

    for nth in range(1, 40):
        fill(place)
        child = os.fork()
        if child == 0:
            broken()
        os.waitpid(child, 0)
        assert listing(place).keys() > before.keys()
        killed_before(lambda: remove_leftovers(place / "w"), nth)
        remove_leftovers(place / "w")
        assert listing(place) == before, nth


def fail(folder: Path, place: Path) -> None:
    with renames(folder / "w", place / "w") as names:
        names.move(place / "lake", place / "lake.before")
        names.put(folder / "lake", place / "lake")
        names.keep(place / "absent", place / "w.before")


def test_what_fails_is_undone_at_once(tmp_path: Path) -> None:
    place = tmp_path / "place"
    fill(place)
    before = listing(place)
    with private_folder(place / "w", "copying") as folder:
        (folder / "w").write_text("new")
        (folder / "lake").mkdir()
        with pytest.raises(FileNotFoundError):
            fail(folder, place)
    assert listing(place) == before


def test_half_an_answer_of_a_dead_process_goes_wherever_it_is_and_one_of_a_living_stays(
    tmp_path: Path,
) -> None:
    place = tmp_path / "place"
    place.mkdir()

    def half() -> None:
        with put_beside(place / "ids.json") as beside:
            beside.write_text("case 4711")
            os.kill(os.getpid(), signal.SIGKILL)

    for clear in (clear_after_dead_processes, lambda: remove_leftovers(place / "ids.json")):
        child = os.fork()
        if child == 0:
            half()
        os.waitpid(child, 0)
        assert [path.read_text() for path in place.iterdir()] == ["case 4711"]
        clear()
        assert list(place.iterdir()) == []
    with put_beside(place / "ids.json") as beside:
        beside.write_text("whole")
        clear_after_dead_processes()
        remove_leftovers(place / "ids.json")
        assert beside.read_text() == "whole"
    assert listing(place) == {"ids.json": "whole"}


def test_notes_that_name_anything_else_remove_nothing(tmp_path: Path, cache: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("kept")
    (tmp_path / ".link.1-00000000").symlink_to(victim)
    cache.mkdir(parents=True, mode=0o700)
    lines = [victim, tmp_path, tmp_path / ".link.1-00000000", tmp_path / "cache"]
    (cache / "4194305-00000000").write_text("".join(f'"{each}"\n' for each in lines) + '"cut o')
    clear_after_dead_processes()
    assert victim.read_text() == "kept"
    assert (tmp_path / ".link.1-00000000").is_symlink()
    assert list(cache.iterdir()) == []
