from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from support.command import Imported, srsql


@pytest.fixture(scope="session")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Imported]:
    """Import the quarters of a released table through the command line."""

    def build(table: Path, dataset: Path, quarters: Iterable[str], *more: object) -> Imported:
        db = tmp_path_factory.mktemp("golden") / "w.duckdb"
        for quarter in quarters:
            answer = srsql(
                "import-release", table, "--quarter", quarter, "--dataset", dataset, *more,
                "--db", db,
            )  # fmt: skip
            assert answer.code == 0, answer.err
        return Imported(db)

    return build
