"""``.ci/integrations`` fails where a step's tests fail, are skipped or cannot be run."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / ".ci" / "integrations"
FUNCTIONS = ("step", "skip", "tested")


def function(name: str) -> str:
    """The text of a function of the script."""
    lines = SCRIPT.read_text().splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith(f"{name}() {{"))
    end = next(i for i in range(begin, len(lines)) if lines[i] == "}")
    return "\n".join(lines[begin : end + 1])


@pytest.mark.parametrize(
    ("said", "code", "fails"),
    [
        ("== 3 passed in 0.1s ==", 0, False),
        ("== 1 failed, 2 passed in 0.1s ==", 1, True),
        ("== 2 passed, 1 skipped in 0.1s ==", 0, True),
        ("== no tests ran in 0.1s ==", 5, True),
    ],
)
def test_a_step_fails_with_its_tests(tmp_path: Path, said: str, code: int, fails: bool) -> None:
    python = tmp_path / "own" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/usr/bin/env bash\necho '{said}'\nexit {code}\n")
    python.chmod(0o755)
    script = "\n".join(
        [
            "set -euo pipefail",
            f"work={tmp_path}",
            'touch "$work/failed" "$work/skipped"',
            *map(function, FUNCTIONS),
            "step some tested own tests",
            'cat "$work/failed"',
        ]
    )
    ran = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert (ran.stdout.splitlines()[-1] == " some") == fails, ran.stdout


def test_what_failed_is_the_last_word_and_the_exit_code() -> None:
    last = SCRIPT.read_text().splitlines()[-2:]
    assert "exit 1" in last[0]
    assert last[1] == 'echo "all that ran passed"'
