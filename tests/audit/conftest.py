from __future__ import annotations

from pathlib import Path

import pytest
from support.command import Srsql
from support.command import srsql as command


@pytest.fixture
def srsql(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Srsql:
    """The command within this process, run in ``tmp_path`` on its ``w.duckdb``."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SRSQL_DB", "w.duckdb")
    return command
