"""The modules of the benchmarks, which are not installed with the package."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from unittest import mock

from support.scripts import ROOT


def load(name: str) -> ModuleType:
    """``benchmarks.NAME`` of this repository."""
    with mock.patch.object(sys, "path", [str(ROOT), *sys.path]):
        return importlib.import_module(f"benchmarks.{name}")
