"""Loads the kernels that a release calls; those that were never compiled are compiled first.

Compiling takes several hundred MiB that LLVM does not give back, so it is done by other processes,
which leave their kernels where the next one finds them. Where nothing can be kept, or no other
process can be started, this process compiles what it calls.

Compiling takes a minute, whatever it is for. So a few cases do not wait for it: kernels are
interpreted for them (``INTERPRETED``), with the same result, and compiled only where that takes
longer than it is worth (``PATIENCE``): another processor that compiles slows this one down.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread, Timer
from time import monotonic
from typing import Any, TypeVar

from srsql.udfs import caches
from srsql.udfs.caches import COMPILING

Made = TypeVar("Made")

INTERPRETED = {"srsql.udfs.grouping.greedy": 5_000, "srsql.udfs.grouping.refine": 5_000}
"""Kernels, by name -> cases up to which they are interpreted rather than waited for. Of 2,500 cases
of the demo that takes 1 s and 3 s; compiling takes 40 s and more each, whatever it is for."""
SECONDS = 20.0
"""Processor time of this process that interpreting may take; then it is given up for what is
compiled meanwhile. Cases of which no two are alike take ten times as long as those of the demo."""
PATIENCE = 40.0
"""Seconds of interpreting, in all, after which this process has what it interprets compiled beside
it: half of what compiling takes. A series of many small quarters is soon past it, and the demo
ends before."""
LAST = ("srsql.udfs.risk.singling_out", "srsql.udfs.risk.nearest_records")
"""Kernels that are called after all others, and waited for only then. Interpreted they take longer
than compiling does, so that they are compiled first, while others are interpreted."""

_CALL = (
    "import sys; from importlib import import_module; module, function, argument = sys.argv[1:4]; "
    "sys.path[:] = sys.argv[4:]; getattr(import_module(module), function)(argument)"
)


def command_for(function: Callable[[str], None], argument: str) -> list[str]:
    """What another interpreter is started with to call a function of a module; it finds modules
    where this one does."""
    named = [function.__module__, function.__name__]
    return [sys.executable, "-P", "-c", _CALL, *named, argument, *sys.path]


def load_kernels(names: Sequence[str]) -> None:
    """Load kernels, or on the first use of an installation compile them.

    Args:
        names: modules with a function ``warm_up``, or ``module:function``; it calls each kernel
            with the types that the engine calls it with.
    """
    compile_apart(names)
    _load(names)


@contextmanager
def loading_kernels(
    names: Sequence[str], cases: int | None = None
) -> Iterator[Callable[[int | None], None]]:
    """Load kernels as ``load_kernels`` does, while the caller goes on with what needs none.

    What was never compiled is begun at once, by other processes, and given up if the caller fails.

    Args:
        names: as ``load_kernels`` takes them.
        cases: at most how many they will be called with, as far as is known; those that are
            interpreted for so many are not begun. None: nobody knows.

    Yields:
        What has to be called before one is needed, with how many cases there are, as ``called``
        takes them: it waits for those that are not interpreted for so many, compiles what no other
        process could, and raises what went wrong. Those of ``LAST`` are not waited for.
    """
    with ThreadPoolExecutor(1) as beside:
        loading = beside.submit(_load_or_begin, names, cases)

        def loaded(cases: int | None) -> None:
            loading.result()
            load_kernels([name for name in names if _awaited(name, cases)])

        try:
            yield loaded
        except BaseException:
            wait([loading])  # what it begins has begun
            _COMPILERS.give_up()
            raise


def _awaited(name: str, cases: int | None) -> bool:
    return name not in _LOADED and name not in LAST and not _is_few(name, cases)


def _is_few(name: str, cases: int | None) -> bool:
    """Whether a kernel is interpreted for so many cases while it is not compiled."""
    return cases is not None and cases <= INTERPRETED.get(name, -1)


def _load_or_begin(names: Sequence[str], cases: int | None) -> None:
    """Load the kernels that are kept, and begin to compile the others that are waited for.

    Numba, which either way needs, takes as long to import as the first stages of a release.
    """
    marks = _marks(names)
    begin_compiling([name for name in names if not _is_few(name, cases)])
    import_module("srsql.udfs.interpreted")
    _load([name for name, mark in marks.items() if mark.exists()])


def running(name: str, module: str = "") -> Any:
    """A module of kernels, which this process compiles if no other one is about to.

    Args:
        name: of the kernels, as ``load_kernels`` takes them.
        module: the module, where it is another one whose kernels these have.
    """
    if name not in _LOADED:
        _COMPILERS.wait_for([name])
    return import_module(module or name.partition(":")[0])


def called(name: str, cases: int | None, call: Callable[[Callable[[str], Any]], Made]) -> Made:
    """Call kernels compiled, or interpreted while they are not and there are few cases.

    Args:
        name: of the kernels.
        cases: how many cases they are called with; None: too much is done with them.
        call: calls them, and changes nothing that it is given; it gets what gives a module by its
            name. Where interpreting takes longer than ``SECONDS`` it is called again.
    """
    if name not in _LOADED and not _is_kept(name):
        if _is_few(name, cases):
            from srsql.udfs import interpreted

            with (
                _compiled_when_it_takes_long(),
                suppress(interpreted.TookLongError),
                interpreted.limited_to(SECONDS),
            ):
                return call(interpreted.interpreted)
        load_kernels([name])
    return call(import_module)


@contextmanager
def _compiled_when_it_takes_long() -> Iterator[None]:
    """Interpret, and have compiled what is interpreted once that has taken ``PATIENCE`` in all."""
    begun = monotonic()
    late = Timer(max(0.0, PATIENCE - _INTERPRETING[0]), begin_compiling, [tuple(INTERPRETED)])
    late.daemon = True
    late.start()
    try:
        yield
    finally:
        late.cancel()
        _INTERPRETING[0] += monotonic() - begun


def _is_kept(name: str) -> bool:
    mark = _marks([name]).get(name)
    return mark is not None and mark.exists()


class _Compilers:
    """Other processes that compile, one kernel after the other, and who waits for what.

    One processor is left to this process, until it waits.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._queue: list[tuple[str, Path]] = []
        self._under_way: dict[str, Future[None]] = {}
        """Kernels that other processes compile for this one, or will."""
        self._processes: list[subprocess.Popen[str]] = []
        self._lines: SimpleQueue[str] = SimpleQueue()
        """Names of kernels that are being compiled, until somebody tells them."""
        self._at_work = self._waiting = 0

    def begin(self, missing: dict[str, Path]) -> None:
        """Compile what is not under way already; name -> the file that says that it is kept."""
        with self._lock:
            for name, mark in missing.items():
                if name not in self._under_way:
                    self._under_way[name] = Future()
                    self._queue.append((name, mark))
            self._hire()

    def wait_for(self, names: Sequence[str]) -> None:
        """Wait for those that are under way, which come first now, and tell what they compile."""
        awaited = [self._under_way[name] for name in names if name in self._under_way]
        if not awaited:
            return
        with self._lock:
            self._waiting += 1
            self._queue.sort(key=lambda each: each[0] not in names)
            self._hire()
        try:
            while not all(each.done() for each in awaited):
                wait(awaited, timeout=0.1)
                while not self._lines.empty():
                    line = self._lines.get()
                    for tell in COMPILING:
                        tell(line)
        except BaseException:
            self.give_up()
            raise
        finally:
            with self._lock:
                self._waiting -= 1
                for name in names:
                    self._under_way.pop(name, None)

    def give_up(self) -> None:
        """End the other processes; what they have not finished is compiled when asked for."""
        with self._lock:
            dropped, begun = [name for name, _ in self._queue], dict(self._under_way)
            self._queue.clear()
            self._under_way.clear()
        for name in dropped:
            begun.pop(name).set_result(None)
        while wait(begun.values(), timeout=0.1).not_done:
            for process in list(self._processes):  # one may just have been started
                process.kill()

    def _room(self) -> int:
        return max(1, (os.cpu_count() or 1) - (0 if self._waiting else 1))

    def _hire(self) -> None:
        """Start as many threads as there is room and work for; called with the lock."""
        for _ in range(min(self._room() - self._at_work, len(self._queue))):
            self._at_work += 1
            Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        while (job := self._next()) is not None:
            name, mark, done = job
            try:
                self._compile(name, mark)
            except BaseException:
                with self._lock:
                    self._at_work -= 1  # else nobody takes what is left in the queue
                raise
            finally:
                done.set_result(None)

    def _next(self) -> tuple[str, Path, Future[None]] | None:
        with self._lock:
            if self._queue and self._at_work <= self._room():
                name, mark = self._queue.pop(0)
                return name, mark, self._under_way[name]
            self._at_work -= 1
            return None

    def _compile(self, name: str, mark: Path) -> None:
        with suppress(OSError):  # then the process that needs them compiles them
            process = subprocess.Popen(
                command_for(compile_here, name),
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                encoding="utf-8", errors="replace", env=os.environ | _FOR_COMPILING,
            )  # fmt: skip
            self._processes.append(process)
            try:
                for line in process.stdout or ():
                    self._lines.put(line.strip())
                if process.wait() == 0:
                    mark.touch()
            finally:
                process.kill()
                process.communicate()
                self._processes.remove(process)


_FOR_COMPILING = {"NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING": "1"}
"""Else numba imports what colours messages, which nobody reads."""
_INTERPRETING = [0.0]
"""Seconds that this process has interpreted kernels."""
_LOADED: set[str] = set()
"""Kernels that this process has called."""
_COMPILERS = _Compilers()
atexit.register(_COMPILERS.give_up)  # nobody waits for what nobody needs any more


def begin_compiling(names: Sequence[str]) -> None:
    """Have other processes compile what was never compiled, as many at a time as there are
    processors but one; whoever needs them waits for them (``load_kernels``)."""
    if sys.executable:
        marks = _marks(sorted(names, key=lambda name: name not in LAST))
        _COMPILERS.begin({name: mark for name, mark in marks.items() if not mark.exists()})


def compile_apart(names: Sequence[str]) -> None:
    """Have other processes compile what was never compiled, and tell its kernels."""
    begin_compiling(names)
    _COMPILERS.wait_for(names)


def _marks(names: Sequence[str]) -> dict[str, Path]:
    """Of each of the kernels the file that says that it is kept; none where nothing can be."""
    if not names:
        return {}
    folder = caches.kept_in()
    return {} if folder is None else {name: folder / _mark(name) for name in names}


def compile_here(name: str) -> None:
    """Compile kernels, and print each when it begins."""
    COMPILING.append(lambda kernel: print(kernel, flush=True))
    _load([name])


def _load(names: Sequence[str]) -> None:
    for name in names:
        if name not in _LOADED:
            _warm_up(name)()
            _LOADED.add(name)


def _warm_up(name: str) -> Callable[[], None]:
    module, _, function = name.partition(":")
    found: Callable[[], None] = getattr(import_module(module), function or "warm_up")
    return found


def _mark(name: str) -> Path:
    """The empty file that says that these kernels are kept, for this interpreter and processor."""
    from llvmlite import binding  # and no numba, which takes a second to import

    where = f"{sys.implementation.cache_tag}-numba-{version('numba')}-{binding.get_host_cpu_name()}"
    return Path(f"{name.replace(':', '-')}.{where}.compiled")
