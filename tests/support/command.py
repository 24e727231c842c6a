"""The command line within this process, and series imported through it."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from srsql.cli import main


@dataclass(frozen=True)
class Answer:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def notes(self) -> list[str]:
        """The lines beside the answer, without those that tell how far a slow machine is."""
        return [line for line in self.err.splitlines() if " elapsed" not in line]


Srsql = Callable[..., Answer]


def srsql(*arguments: object) -> Answer:
    """Run a command within this process."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["srsql", *map(str, arguments)]),
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.raises(SystemExit) as ended,
    ):
        main()
    code = ended.value.code
    return Answer(code if isinstance(code, int) else 1, out.getvalue(), err.getvalue())


@dataclass(frozen=True)
class Imported:
    """A warehouse into which a published series was imported."""

    db: Path

    def run(self, command: str, *arguments: object) -> Answer:
        return srsql(command, *arguments, "--db", self.db, "--json")

    def attack(self, quarter: str, *arguments: object) -> Any:
        answer = self.run("attack", "--quarter", quarter, *arguments)
        assert answer.code == 0, answer.err
        return answer.json

    def audit(self, *arguments: object) -> Any:
        """The audit's document, with its exit code as ``code``."""
        answer = self.run("audit", *arguments)
        assert answer.code in (0, 1), answer.err
        return answer.json | {"code": answer.code}
