"""What DuckDB gets of the memory that a process may take."""

from __future__ import annotations

import pytest

from srsql.engine.store.database_file import Limits

MIB = 2**20


@pytest.mark.parametrize(
    ("limit", "share"),
    [
        ("512MiB", 212),  # at least so much
        ("1GiB", 1024 - 400),
        ("7GiB", 5 * 1024),
        ("21GiB", 15 * 1024),
    ],
)
def test_duckdb_gets_less_than_the_process_may_take(limit: str, share: int) -> None:
    assert Limits(memory_limit=limit).settings() == {"memory_limit": f"{share * MIB}B"}


def test_without_a_limit_duckdb_has_its_own() -> None:
    assert Limits(threads=2).settings() == {"threads": 2}
