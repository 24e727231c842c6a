"""The modules of the benchmark beside the peers, which are not installed with the package."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

PEERS = Path(__file__).parents[2] / "benchmarks" / "peers"


def load(name: str) -> ModuleType:
    """A module of the benchmark, which is not installed with the package."""
    spec = importlib.util.spec_from_file_location(f"peers_{name}", PEERS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # a dataclass looks its module up
    spec.loader.exec_module(module)
    return module
