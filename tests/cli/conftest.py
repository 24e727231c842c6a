from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.fixtures import db, kept

from srsql.cli import main

__all__ = ["db", "inside", "kept", "srsql"]

Run = Callable[..., subprocess.CompletedProcess[str]]
SRSQL = Path(sys.executable).with_name("srsql")


@pytest.fixture
def srsql(tmp_path: Path) -> Run:
    """The installed command, run in ``tmp_path`` on its ``w.duckdb``."""

    def run(
        *arguments: object, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        chosen = {"SRSQL_DB": "w.duckdb"} if env is None else env
        environment = {k: v for k, v in os.environ.items() if k != "SRSQL_DB"} | chosen
        return subprocess.run(
            [str(SRSQL), *map(str, arguments)],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run


@pytest.fixture
def inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """The same within this process, which is faster."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SRSQL_DB", "w.duckdb")

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        texts = [str(argument) for argument in arguments]
        monkeypatch.setattr(sys, "argv", ["srsql", *texts])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return subprocess.CompletedProcess(texts, ended.value.code, printed.out, printed.err)

    return run
