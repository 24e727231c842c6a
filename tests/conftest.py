"""Before the tests: thorough is slow, too; kernels are compiled once, not by every worker."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command does, before numpy is imported

import pytest
from hypothesis import settings
from support import kernels
from support.amount import IN_FULL
from support.drawn_once import each_page_once, every_page
from support.sql import own_sql, sql

from srsql.engine.console import progress
from srsql.engine.store import database_file

__all__ = ["each_page_once", "every_page", "own_sql", "sql"]
settings.register_profile("srsql", deadline=None)  # no test fails because a machine is busy
settings.load_profile("srsql")
LONGEST = (
    "test_foreign_account.py",
    "test_guides.py",
    "test_kept_verdicts.py",
    "test_hostile_sources.py",
)
"""What takes minutes begins first, so that no worker waits for it at the end."""


RELEASED_ON = "2026-11-20"
"""The day that every release of the tests tells, so that none is made on another at midnight."""


def pytest_configure(config: pytest.Config) -> None:
    midnight = datetime.fromisoformat(RELEASED_ON).replace(tzinfo=UTC)
    os.environ["SOURCE_DATE_EPOCH"] = f"{midnight.timestamp():.0f}"
    progress.EVERY = 3600.0  # on a busy machine no command's stderr has lines on how far it is
    if hasattr(config, "workerinput"):
        database_file.OWN["threads"] = 1  # there are as many workers as processors
        return
    if getattr(config.option, "numprocesses", None):  # as many processors as that are free now
        compiling = [  # side by side, and not here, where lines may be counted
            subprocess.Popen(
                [sys.executable, "-m", "support.kernels", share], cwd=Path(__file__).parent
            )
            for share in kernels.SHARES
        ]
        ended = [each.wait() for each in compiling]
        if any(ended):
            raise pytest.UsageError("the kernels cannot be compiled: see above")
    else:
        kernels.compile_share("refining")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is marked thorough is slow, too.

    What is tried on a part of its examples elsewhere is thorough in full.

    Where lines are counted they are not in slow tests, which would take half as long again.
    """
    counted = bool(items) and items[0].config.pluginmanager.hasplugin("_cov")
    for item in items:
        known = vars(item.module) if isinstance(item, pytest.Function) else {}
        if IN_FULL and (item.path.parent.name == "properties" or "some_of" in known):
            item.add_marker("thorough")
        if item.get_closest_marker("thorough"):
            item.add_marker("slow")
        if counted and item.get_closest_marker("slow"):
            item.add_marker("no_cover")
    items.sort(key=lambda item: item.path.name not in LONGEST)


def pytest_collection_finish() -> None:
    """Every collection would walk through all tests and modules, which stay to the end anyway."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Let the interpreter end with nothing left: Hypothesis measures collections by a callback.

    A callback of the collector outlives every module, and with it what its test reached: the
    binding of DuckDB would close the run with a page of notes about that.
    """
    gc.callbacks.clear()
    gc.unfreeze()  # what was left out of collections is taken apart like all else
