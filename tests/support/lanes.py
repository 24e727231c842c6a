"""Some cases of a test for the usual lanes, the others for the thorough one."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def thorough_but(usual: Collection[tuple[Any, ...]], cases: Iterable[tuple[Any, ...]]) -> list[Any]:
    """What a test of such cases is parametrized with: all are thorough but the usual ones."""
    all_of_them = list(cases)
    assert [case for case in usual if case not in all_of_them] == []
    return [
        case if case in usual else pytest.param(*case, marks=pytest.mark.thorough)
        for case in all_of_them
    ]
