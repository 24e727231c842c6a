"""Before the tests: the kernels are compiled once, not by every worker at the same time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.sql import own_sql, sql

__all__ = ["own_sql", "sql"]


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        return
    others = None
    if getattr(config.option, "numprocesses", None):  # as many processors as that are free now
        others = subprocess.Popen(
            [sys.executable, "-m", "support.kernels"], cwd=Path(__file__).parent
        )
    from srsql.udfs.grouping import greedy

    greedy.warm_up()
    if others is not None and others.wait():
        raise pytest.UsageError("the kernels cannot be compiled: see above")
