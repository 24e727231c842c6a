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
