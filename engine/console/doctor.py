"""`srsql doctor`: what is installed and compiled, how much room there is, what lacks."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from srsql.engine.console import Parts, Table
from srsql.engine.errors import printable
from srsql.engine.store.doors import EXTRAS, installed
from srsql.version import __version__

PACKAGE = "srsql"
LEAST_DISK = 1 << 30
"""Bytes that compiled kernels and a small warehouse take, with what is spilled beside it."""
LEAST_MEMORY = 1 << 30
_NAME = re.compile(r"[A-Za-z0-9._-]+")
COLUMNS = ["", "what", "found", "what to do"]
MARKS = {"fine": "", "lacks": "LACKS", "optional": "-"}


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    part: str
    """``package``, ``kernels``, ``memory``, ``disk`` or ``extra``."""
    what: str
    found: str
    state: str
    """``fine``, ``lacks``: nothing works without it, or ``optional``: something does."""
    advice: str = ""
    """What to do; empty: nothing."""


def look(folder: Path) -> list[Finding]:
    """What there is on this machine; nothing is opened or changed, but that the folder of kernels
    is made.

    Args:
        folder: where the warehouse is to be.
    """
    return [*_packages(), _kernels(), _memory(), *_disks(folder), *_extras()]


def _packages() -> Iterator[Finding]:
    yield Finding("package", PACKAGE, __version__, "fine")
    yield Finding("package", "Python", f"{platform.python_version()} ({sys.executable})", "fine")
    for name in _needed():
        version = _version(name)
        advice = "" if version else f"pip install {name}"
        yield Finding("package", name, version or "none", "fine" if version else "lacks", advice)


def _needed() -> list[str]:
    """The packages that the installation asks for, without those of extras."""
    try:
        asked = metadata.requires(PACKAGE) or []
    except metadata.PackageNotFoundError:  # it runs from its sources
        return []
    named = (_NAME.match(line) for line in asked if "extra ==" not in line)
    return sorted(match[0] for match in named if match)


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _kernels() -> Finding:
    """Whether the kernels are compiled, and where they are kept."""
    from srsql.udfs.caches import UNSAFE, kept_in

    folder = kept_in()
    if folder is None:
        why = "; ".join(UNSAFE.values()) or "no folder can be written"
        advice = "every command compiles anew: set XDG_CACHE_HOME to a folder of your own"
        return Finding("kernels", "compiled kernels", f"not kept: {why}", "optional", advice)
    marks = len(list(folder.glob("*.compiled")))
    if not marks:
        advice = "the first release compiles them, about a minute: srsql demo"
        return Finding("kernels", "compiled kernels", f"none yet in {folder}", "optional", advice)
    return Finding("kernels", "compiled kernels", f"{marks} sets in {folder}", "fine")


def _memory() -> Finding:
    from srsql.engine.extras.study.run import available_memory

    free = available_memory()
    few = free < LEAST_MEMORY
    advice = f"{LEAST_MEMORY >> 30} GiB are needed: end other work" if few else ""
    found = f"{free / 2**30:,.1f} GiB free, {os.cpu_count() or 1} processors"
    return Finding("memory", "memory", found, "lacks" if few else "fine", advice)


def _disks(of_warehouse: Path) -> Iterator[Finding]:
    """The room where the warehouse is, and where is spilled to."""
    for what, folder in (
        ("warehouse", of_warehouse.absolute()),
        ("temporary files", Path(tempfile.gettempdir())),
    ):
        there = next((each for each in (folder, *folder.parents) if each.is_dir()), Path("/"))
        free = shutil.disk_usage(there).free
        found = f"{free / 2**30:,.1f} GiB free in {printable(str(there))}"
        if not os.access(there, os.W_OK):
            state, advice = "lacks", "it cannot be written: give another folder (--db, or TMPDIR)"
        elif free < LEAST_DISK:
            state, advice = "lacks", f"{LEAST_DISK >> 30} GiB are needed: make room"
        else:
            state, advice = "fine", ""
        yield Finding("disk", what, found, state, advice)


def _extras() -> Iterator[Finding]:
    for package, extra in EXTRAS.items():
        there = installed(package)
        advice = "" if there else f"pip install 'srsql[{extra}]'"
        found = (_version(package) or "there") if there else "not installed"
        what = f"extra {extra} ({package})"
        yield Finding("extra", what, found, "fine" if there else "optional", advice)


def is_ready(found: list[Finding]) -> bool:
    """Whether nothing lacks that is needed."""
    return all(each.state != "lacks" for each in found)


def doctor_parts(found: list[Finding]) -> Parts:
    """Whether srsql can run here, what lacks, and everything that was looked at."""
    lacking = [each for each in found if each.state == "lacks"]
    optional = [each.what for each in found if each.state == "optional"]
    if lacking:
        yield f"NOT ready: {', '.join(each.what for each in lacking)}"
    else:
        more = f"; without what is optional: {', '.join(optional)}" if optional else ""
        yield f"ready: srsql {__version__} can run here{more}"
    order = sorted(found, key=lambda each: (each.state == "fine", each.state == "optional"))
    rows = [[MARKS[each.state], each.what, printable(each.found), each.advice] for each in order]
    yield Table("what there is", COLUMNS, rows)
