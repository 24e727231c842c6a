"""A signal ends a command in one line: what was not finished is rolled back, scratch is removed.

SIGTERM, SIGHUP and Ctrl-C raise :class:`Interruption` in the main thread. What is under way then
unwinds: transactions roll back, folders go. Code that does not come back in time (a kernel, a
statement of DuckDB) is not waited for: after ``GRACE`` seconds a thread removes what is listed in
``LEFT`` and ends the process, which the warehouse bears like a kill. DuckDB and some callers turn
the exception into one of their own, so that whoever explains an error asks :func:`interrupted`.

Nothing heavy is imported here: signals are taken before the rest of the package is loaded.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
GRACE = 5.0
"""Seconds in which a command ends by itself."""
LEFT: set[str] = set()
"""Folders and files with scratch of this process, which are removed if it is ended without
unwinding."""
JOURNAL = "journal"
"""In a folder: several names are changed as one, which the next command finishes or undoes."""
_received: list[int] = []
_told: list[int] = []


class Interruption(BaseException):
    """A signal asked this command to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = 128 + number


def interrupted() -> tuple[str, int] | None:
    """What ended the command, as one line that is shown now, with the exit code; None: nothing."""
    if not _received:
        return None
    number = _received[0]
    _told.append(number)
    name = "Ctrl-C" if number == signal.SIGINT else signal.Signals(number).name
    return f"interrupted by {name}; what was not finished was rolled back", 128 + number


@contextmanager
def signals_taken() -> Iterator[None]:
    """While this lasts, signals end the process in one line; within another one nothing changes.

    A signal that is ignored stays so, as under ``nohup``. Who is not the main thread takes none.
    """
    taken = {
        number: signal.getsignal(number)
        for number in SIGNALS
        if signal.getsignal(number) not in (signal.SIG_IGN, None, _raise)
    }
    if threading.current_thread() is not threading.main_thread() or not taken:
        yield
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    for number in taken:
        signal.signal(number, _raise)
    threading.Thread(target=_watch, args=(reading,), daemon=True).start()
    try:
        yield
    except BaseException:
        if not _received:
            raise
    finally:
        if _received:
            _end()
        for number, handler in taken.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(before)
        os.close(writing)  # which ends the thread


def _raise(number: int, _: FrameType | None) -> None:
    """Interrupt the main thread, once: what unwinds is not to be interrupted again."""
    if not _received:
        _received.append(number)
        raise Interruption(number)


def _watch(reading: int) -> None:
    """End the process if it has not ended by itself some time after a signal."""
    while heard := os.read(reading, 1):
        if heard[0] in SIGNALS and signal.getsignal(heard[0]) is _raise:
            time.sleep(GRACE)
            if not _received:
                _received.append(heard[0])
            _end()
    os.close(reading)


def _end() -> None:
    """Leave at once, without what else would run at exit: it could wait for what was given up."""
    told = bool(_told)
    line, code = interrupted() or ("", 1)
    if not told:
        shown = "\r\x1b[K\x1b[?25h" if os.isatty(2) else ""  # in the place of a spinner
        with suppress(OSError):
            os.write(2, f"{shown}srsql: {line}\n".encode())
    for folder in list(LEFT):
        if not os.path.isdir(folder):
            with suppress(OSError):
                os.unlink(folder)
        elif not os.path.lexists(os.path.join(folder, JOURNAL)):
            shutil.rmtree(folder, ignore_errors=True)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)
