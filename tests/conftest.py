"""Before the tests: the kernels are compiled once, not by every worker at the same time."""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        from srsql.udfs import greedy, nearest, partition

        greedy.warm_up()
        nearest.warm_up()
        partition.warm_up()
