"""What every command pays before it does anything."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.quarters import crowd, write_quarter

HEAVY = {"matplotlib", "numba", "opendp", "pandas", "scipy"}


@pytest.mark.slow
def test_a_command_that_needs_no_kernel_noise_or_figure_does_not_load_them() -> None:
    code = f"import sys, srsql.cli; print(sorted({HEAVY} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


HELPS = """
import sys
from contextlib import redirect_stdout, suppress
from io import StringIO
from srsql.cli import cli
from srsql.engine.console.session import each_command
helps = [words.split() for words, _ in each_command(cli)]
helps += [["release", "--model", "ms"], ["series", "set", "--model", "cba"], ["signals", "trend"]]
for words in [[], *helps]:
    for asked in ("--help", "--help-all")[: 2 if words else 1]:
        with redirect_stdout(StringIO()) as shown:
            cli([*words, asked], standalone_mode=False)
        assert "Usage:" in shown.getvalue(), words
        print(*words, asked, *sorted(set(sys.argv[1:]) & set(sys.modules)))
"""
OF_THE_ENGINE = {"duckdb", "numba", "numpy", "pandas", "pyarrow", "pydantic", "sqlglot"}


def test_no_help_of_any_command_loads_what_runs_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HELPS, *OF_THE_ENGINE], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) > 60
    assert [line for line in lines if not line.split()[-1].startswith("--help")] == []


RELEASED = """
import sys
from pathlib import Path
from srsql import Engine
source, db = map(Path, sys.argv[1:])
with Engine(db) as engine:
    engine.ingest([source])
    engine.release("2011Q4", k=3, theta="1", seed=1)
    engine.audit()
    assert "pandas" not in sys.modules, "of a release"
    assert len(engine.metrics("2011Q4").df()) > 10
    assert "pandas" in sys.modules
"""


@pytest.mark.slow
def test_pandas_is_loaded_by_a_frame_and_by_nothing_before_it(tmp_path: Path) -> None:
    source = write_quarter(tmp_path, "2011Q4", crowd(60, terms=3))
    for code, arguments in (
        ("import sys, srsql; assert 'pandas' not in sys.modules", ()),
        (
            "import sys\nfrom srsql.cli import cli\ncli(['release', '--help'], "
            "standalone_mode=False)\nassert 'pandas' not in sys.modules",
            (),
        ),
        (RELEASED, (source, tmp_path / "w.duckdb")),
    ):
        done = subprocess.run(
            [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
