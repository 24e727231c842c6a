"""Who is left out of the benchmark beside the peers, and what is said of it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.peers import load

environment = load("environment")


def test_arx_is_left_out_where_nothing_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SRSQL_ARX_JAR", raising=False)
    with pytest.raises(environment.UnavailableError, match="SRSQL_ARX_JAR does not name its jar"):
        environment.arx(100)


def test_arx_is_left_out_where_there_is_no_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SRSQL_ARX_JAR", "arx.jar")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(environment.UnavailableError, match="no java"):
        environment.arx(100)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("javac") is None, reason="there is no JDK on PATH")
def test_a_jar_without_arx_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SRSQL_ARX_JAR", str(tmp_path))
    with pytest.raises(environment.UnavailableError, match=r"SRSQL_ARX_JAR=.*: .*Arx\.java"):
        environment.arx(100)
