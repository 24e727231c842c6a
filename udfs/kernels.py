"""Loads the kernels that a release calls; those that were never compiled are compiled first.

Compiling takes several hundred MiB that LLVM does not give back, so it is done by a process of its
own, which leaves its kernels where the next one finds them. Where nothing can be kept, or no other
process can be started, this process compiles what it calls.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path

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

    Yields:
        What has to be called before one is needed: it waits for them, compiles those that were
        never compiled, and raises what went wrong.
    """
    with ThreadPoolExecutor(1) as beside:
        loading = beside.submit(_load_compiled, names)

        def loaded() -> None:
            if not loading.result():
                load_kernels(names)

        yield loaded


def _load_compiled(names: Sequence[str]) -> bool:
    """Load kernels if none of them has to be compiled; whether that is so."""
    marks = _marks(names)
    if not marks or not all(mark.exists() for mark in marks.values()):
        return False
    _load(names)
    return True


def compile_apart(names: Sequence[str]) -> None:
    """Have another process compile what was never compiled, and tell its kernels."""
    marks = _marks(names)
    missing = [name for name, mark in marks.items() if not mark.exists()]
    if not missing or not sys.executable:
        return
    with suppress(OSError):  # then this process compiles
        if _compiled_by_another(missing):
            for name in missing:
                marks[name].touch()


def _marks(names: Sequence[str]) -> dict[str, Path]:
    """Of each of the kernels the file that says that it is kept; none where nothing can be."""
    if not names:
        return {}
    from srsql.udfs.compiled import kept_in

    folder = kept_in()
    return {} if folder is None else {name: folder / _mark(name) for name in names}


def compile_here(names: str) -> None:
    """Compile kernels, their names with commas between them, and print each when it begins."""
    COMPILING.append(lambda kernel: print(kernel, flush=True))
    _load(names.split(","))


def _compiled_by_another(names: Sequence[str]) -> bool:
    process = subprocess.Popen(
        command_for(compile_here, ",".join(names)),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        encoding="utf-8",
    )  # fmt: skip
    try:
        for line in process.stdout or ():
            for tell in COMPILING:
                tell(line.strip())
        return process.wait() == 0
    finally:
        process.kill()
        process.communicate()


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
