"""The modules of the benchmarks, which are not installed with the package."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from unittest import mock

REPOSITORY = Path(__file__).parents[2]


def load(name: str) -> ModuleType:
    """``benchmarks.NAME`` of this repository."""
    with mock.patch.object(sys, "path", [str(REPOSITORY), *sys.path]):
        return importlib.import_module(f"benchmarks.{name}")
