"""The modules of the benchmark beside the peers, which are not installed with the package."""

from __future__ import annotations

from types import ModuleType

from support import scripts

PEERS = scripts.ROOT / "benchmarks" / "peers"


def load(name: str) -> ModuleType:
    """A module of the benchmark, which is not installed with the package."""
    return scripts.load(PEERS / f"{name}.py", f"peers_{name}")
