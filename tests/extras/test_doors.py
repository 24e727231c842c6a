"""The core names what is extra and loads none of it before somebody asks."""

from __future__ import annotations

import subprocess
import sys

import pytest

from srsql.engine.store.doors import DOORS, opened

LOADED = """
import sys
import srsql.engine.api.analyst, srsql.engine.api.engine
print(*[name for name in sys.modules if name.startswith("srsql.engine.extras")])
"""


@pytest.mark.parametrize("door", DOORS)
def test_behind_every_door_is_what_it_is_called_for(door: str) -> None:
    assert opened(door).__name__ == DOORS[door].rpartition(":")[2]


def test_an_engine_loads_no_extra_before_it_is_asked() -> None:
    command = [sys.executable, "-c", LOADED]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
