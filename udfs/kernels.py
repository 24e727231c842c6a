"""Loads the kernels that a release calls; those that were never compiled are compiled first.

Compiling takes several hundred MiB that LLVM does not give back, so it is done by other processes,
which leave their kernels where the next one finds them. Where nothing can be kept, or no other
process can be started, this process compiles what it calls.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue

from srsql.udfs.caches import COMPILING

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
def loading_kernels(names: Sequence[str]) -> Iterator[Callable[[], None]]:
    """Load kernels as ``load_kernels`` does, while the caller goes on with what needs none.

    What was never compiled is begun at once, by other processes, and given up if the caller fails.

    Yields:
        What has to be called before one is needed: it waits for them, compiles what no other
        process could, and raises what went wrong.
    """
    with ThreadPoolExecutor(1) as beside:
        loading = beside.submit(_load_or_begin, names)

        def loaded() -> None:
            if not loading.result():
                load_kernels(names)

        try:
            yield loaded
        except BaseException:
            wait([loading])  # what it begins has begun
            _give_up()
            raise


def _load_or_begin(names: Sequence[str]) -> bool:
    """Load kernels if none of them has to be compiled, whether that is so; else begin to compile.

    Numba is imported for that, which takes as long as the first stages of a release.
    """
    marks = _marks(names)
    if not marks or not all(mark.exists() for mark in marks.values()):
        begin_compiling(names)
        return False
    _load(names)
    return True


_UNDER_WAY: dict[str, Future[None]] = {}
"""Kernels that other processes compile for this one, or wait for."""
_STARTED: list[subprocess.Popen[str]] = []
_LINES: SimpleQueue[str] = SimpleQueue()
"""Names of kernels that are being compiled, until somebody tells them."""


def begin_compiling(names: Sequence[str]) -> None:
    """Have other processes compile what was never compiled, as many at a time as there are
    processors; whoever needs them waits for them (``load_kernels``)."""
    missing = {name: mark for name, mark in _marks(names).items() if not mark.exists()}
    begun = [name for name in missing if name not in _UNDER_WAY] if sys.executable else []
    pool = ThreadPoolExecutor(os.cpu_count() or 1)
    for name in begun:
        _UNDER_WAY[name] = pool.submit(_compile_by_another, name, missing[name])
    pool.shutdown(wait=False)


def compile_apart(names: Sequence[str]) -> None:
    """Have other processes compile what was never compiled, and tell its kernels."""
    begin_compiling(names)
    awaited = [_UNDER_WAY[name] for name in names if name in _UNDER_WAY]
    try:
        while not all(each.done() for each in awaited):
            wait(awaited, timeout=0.1)
            while not _LINES.empty():
                line = _LINES.get()
                for tell in COMPILING:
                    tell(line)
    except BaseException:
        _give_up()
        raise
    for name in names:
        _UNDER_WAY.pop(name, None)


def _give_up() -> None:
    """End the other processes; what they have not finished is compiled when it is asked for."""
    for each in _UNDER_WAY.values():
        each.cancel()
    while wait(_UNDER_WAY.values(), timeout=0.1).not_done:
        for process in list(_STARTED):  # one may just have been started
            process.kill()
    _UNDER_WAY.clear()


def _marks(names: Sequence[str]) -> dict[str, Path]:
    """Of each of the kernels the file that says that it is kept; none where nothing can be."""
    if not names:
        return {}
    from srsql.udfs.compiled import kept_in

    folder = kept_in()
    return {} if folder is None else {name: folder / _mark(name) for name in names}


def compile_here(name: str) -> None:
    """Compile kernels, and print each when it begins."""
    COMPILING.append(lambda kernel: print(kernel, flush=True))
    _load([name])


def _compile_by_another(name: str, mark: Path) -> None:
    with suppress(OSError):  # then the process that needs them compiles them
        process = subprocess.Popen(
            command_for(compile_here, name),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )  # fmt: skip
        _STARTED.append(process)
        try:
            for line in process.stdout or ():
                _LINES.put(line.strip())
            if process.wait() == 0:
                mark.touch()
        finally:
            process.kill()
            process.communicate()
            _STARTED.remove(process)


def _load(names: Sequence[str]) -> None:
    for name in names:
        _warm_up(name)()


def _warm_up(name: str) -> Callable[[], None]:
    module, _, function = name.partition(":")
    found: Callable[[], None] = getattr(import_module(module), function or "warm_up")
    return found


def _mark(name: str) -> Path:
    """The empty file that says that these kernels are kept, for this interpreter and processor."""
    import numba
    from llvmlite import binding

    where = (
        f"{sys.implementation.cache_tag}-numba-{numba.__version__}-{binding.get_host_cpu_name()}"
    )
    return Path(f"{name.replace(':', '-')}.{where}.compiled")
