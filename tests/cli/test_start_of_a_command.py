"""What every command pays before it does anything."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"matplotlib", "numba", "opendp", "pandas", "scipy"}


@pytest.mark.slow
def test_a_command_that_needs_no_kernel_noise_or_figure_does_not_load_them() -> None:
    code = f"import sys, srsql.cli; print(sorted({HEAVY} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
