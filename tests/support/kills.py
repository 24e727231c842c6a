"""Commands that are killed: each is a fork of a process that has everything loaded.

Run as ``python -m support.kills``: a task is a line of JSON on stdin (``Kill`` as a document), the
answer a line with how the process ended and how long it took.
"""

from __future__ import annotations

import atexit
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parents[1]


@dataclass(frozen=True)
class Kill:
    """A command, and when it is killed; without ``delay`` it is not."""

    folder: str
    arguments: list[str]
    delay: float | None = None
    """Seconds after the command began, or after the window opened."""
    window: str = ""
    """``commit``: DuckDB is told to commit; ``swap``: a file is to get its name; ``step``: either
    of them, or any other name changes, and the process is killed right before it."""
    nth: int = 1
    """Which window of the command."""
    torn: int | None = None
    """Instead of a delay: the process is killed by what it writes beyond so many bytes."""


@dataclass(frozen=True)
class End:
    """How a process ended: by a signal (negative), or with an exit code."""

    code: int
    seconds: float
    said: str
    windows: list[float] = field(default_factory=list)
    """Seconds that each window was open."""
    steps: list[str] = field(default_factory=list)
    """What each ``step`` was, and of what, in their order, such as ``unlink w.duckdb.wal``."""


class Server:
    """The process that forks.

    Args:
        temporary: the folder of the system for what is temporary, as the commands see it; None:
            the one that there is, where others work as well.
        caches: the folder of the account's caches, likewise.
    """

    def __init__(self, temporary: Path | None = None, caches: Path | None = None) -> None:
        named = {"TMPDIR": temporary, "XDG_CACHE_HOME": caches}
        own = {name: str(folder) for name, folder in named.items() if folder is not None}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "support.kills"], cwd=HERE, text=True, env=os.environ | own,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def run(self, kill: Kill) -> End:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asdict(kill)) + "\n")
        self._process.stdin.flush()
        return End(**json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        self._process.communicate(timeout=60)


def _die_after(delay: float) -> None:
    def die() -> None:
        time.sleep(delay)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=die, daemon=True).start()


def _tear(size: int) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def _watched(call: Callable[..., Any], kill: Kill, windows: Path) -> Callable[..., Any]:
    """The call, in whose nth run the process is killed; how long each takes goes to a file."""
    runs = [0]

    def run(*arguments: Any, **named: Any) -> Any:
        runs[0] += 1
        if runs[0] == kill.nth and kill.torn is not None:
            _tear(kill.torn)
        elif runs[0] == kill.nth and kill.delay is not None:
            _die_after(kill.delay)
        began = time.perf_counter()
        try:
            return call(*arguments, **named)
        finally:
            with windows.open("a") as file:
                file.write(f"{time.perf_counter() - began}\n")

    return run


def _step(name: str, kill: Kill, runs: list[int], steps: Path) -> None:
    """Have the process killed before the nth run, counted with all others, of a function of
    ``os``, or of a commit; which one each was goes to a file."""
    from srsql.engine.store import database_file

    where: Any = database_file if name == "commit" else os
    call = getattr(where, name)

    def run(*arguments: Any, **named: Any) -> Any:
        runs[0] += 1
        if runs[0] == kill.nth:
            os.kill(os.getpid(), signal.SIGKILL)
        of = "" if name == "commit" else f" {os.path.basename(os.fspath(arguments[0]))}"
        with steps.open("a") as file:
            file.write(f"{name}{of}\n")
        return call(*arguments, **named)

    setattr(where, name, run)


def _do(kill: Kill, said: Path, windows: Path) -> None:
    """The command, in a process of its own."""
    from srsql.engine.store import warehouse

    os.umask(0)  # what is private is so by itself
    os.chdir(kill.folder)
    handle = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    sys.argv = ["srsql", *kill.arguments]
    if kill.window == "commit":
        warehouse._commit = _watched(warehouse._commit, kill, windows)
    elif kill.window == "swap":
        os.link = _watched(os.link, kill, windows)
        os.replace = _watched(os.replace, kill, windows)
    elif kill.window == "step":
        runs = [0]
        for name in ("commit", "link", "replace", "rename", "unlink", "rmdir"):
            _step(name, kill, runs, windows.with_suffix(".steps"))
    elif kill.delay is not None:
        _die_after(kill.delay)
    from srsql.cli import main

    main()


def serve() -> None:
    """Fork a process for each task, one after the other."""
    from support import kernels

    import srsql.cli
    import srsql.engine.report

    assert srsql.cli.main
    for share in kernels.SHARES:  # all: else the first run keeps some, which are steps as well
        kernels.compile_share(share)
    scratch = Path(f"/tmp/srsql-kills-{os.getpid()}")
    for line in sys.stdin:
        kill = Kill(**json.loads(line))
        said, windows = scratch.with_suffix(".said"), scratch.with_suffix(".windows")
        steps = scratch.with_suffix(".steps")
        windows.write_text("")
        steps.write_text("")
        began = time.perf_counter()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                _do(kill, said, windows)
            except SystemExit as ended:
                code = ended.code if isinstance(ended.code, int) else 1
            finally:
                atexit._run_exitfuncs()  # as in a process that was not forked
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        _, status = os.waitpid(child, 0)
        end = End(
            os.waitstatus_to_exitcode(status),
            time.perf_counter() - began,
            said.read_text(errors="replace")[-2000:],
            [float(each) for each in windows.read_text().split()],
            steps.read_text().splitlines(),
        )
        print(json.dumps(asdict(end)), flush=True)
    for file in (said, windows, steps):
        file.unlink(missing_ok=True)


if __name__ == "__main__":
    serve()
