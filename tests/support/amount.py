"""How much is tried: a quarter of what there is, everything where ``SRSQL_IN_FULL`` is set."""

from __future__ import annotations

import os

IN_FULL = bool(os.environ.get("SRSQL_IN_FULL"))


def some_of(number: int) -> int:
    """So many of a number of tries."""
    return number if IN_FULL else -(-number // 4)
