"""Where real data is: the folder that ``SRSQL_REAL_DATA`` names, else ``../shared/data``.

Only ``tests/real`` reads it; without it these tests are skipped, and say what they miss.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

VARIABLE = "SRSQL_REAL_DATA"
CHECKOUT = Path(__file__).parents[2]
DATA = Path(os.environ.get(VARIABLE) or CHECKOUT.parent / "shared" / "data")


def needs(*names: str) -> pytest.MarkDecorator:
    """Skip unless these files and folders of the real data are there."""
    missing = ", ".join(name for name in names if not (DATA / name).exists())
    reason = f"no real data ({missing} in the folder that {VARIABLE} names, or in ../shared/data)"
    return pytest.mark.skipif(bool(missing), reason=reason)
