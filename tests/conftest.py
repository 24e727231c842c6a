"""Before the tests: their lanes are marked, and kernels are compiled once, not by every worker."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from support import kernels
from support.amount import IN_FULL
from support.sql import own_sql, sql

from srsql.engine.catalog import series as warehouse_series
from srsql.engine.console import progress
from srsql.engine.store import database_file

__all__ = ["own_sql", "sql"]
settings.register_profile("srsql", deadline=None)  # no test fails because a machine is busy
settings.load_profile("srsql")
LANES = ("slow", "thorough")
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
    """Mark what ``slow.txt`` and ``thorough.txt`` list; what is thorough is slow, too.

    Properties are tried on a part of their examples elsewhere, and so are thorough in full.

    Where lines are counted they are not in slow tests, which would take half as long again.
    """
    lanes = {lane: listed(lane) for lane in LANES}
    counted = bool(items) and items[0].config.pluginmanager.hasplugin("_cov")
    for item in items:
        file, test = item.path.name, getattr(item, "originalname", item.name)
        for lane, lines in lanes.items():
            if not lines.isdisjoint({file, f"{file}::{test}", f"{file}::{item.name}"}):
                item.add_marker(lane)
        if IN_FULL and item.path.parent.name == "properties":
            item.add_marker("thorough")
        if item.get_closest_marker("thorough"):
            item.add_marker("slow")
        if counted and item.get_closest_marker("slow"):
            item.add_marker("no_cover")
    items.sort(key=lambda item: item.path.name not in LONGEST)


def listed(lane: str) -> set[str]:
    """The lines of a lane's list: a file, one test of it, or one with these parameters."""
    lines = Path(__file__).with_name(f"{lane}.txt").read_text(encoding="utf-8").splitlines()
    return {line for line in lines if line and not line.startswith("#")}


def pytest_unconfigure() -> None:
    """Let the interpreter end with nothing left: Hypothesis measures collections by a callback.

    A callback of the collector outlives every module, and with it what its test reached: the
    binding of DuckDB would close the run with a page of notes about that.
    """
    gc.callbacks.clear()


MakeSeries = Callable[..., Any]


@pytest.fixture(scope="session", autouse=True)
def original_ids() -> Iterator[MakeSeries]:
    """The main series has original ids where a test asks for none: tests tell cases by them.

    Other series have what they have without this. What makes a series without it is given back.
    """
    make = warehouse_series.make_series

    def made(
        warehouse: Any, dataset: Any, name: str, family: str, ids: Any = None
    ) -> warehouse_series.Series:
        usual = "original" if name == warehouse_series.MAIN else None
        return make(warehouse, dataset, name, family, ids or usual)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(warehouse_series, "make_series", made)
        yield make


@pytest.fixture
def usual_ids(original_ids: MakeSeries, monkeypatch: pytest.MonkeyPatch) -> None:
    """The main series gets what it gets without a test."""
    monkeypatch.setattr(warehouse_series, "make_series", original_ids)
