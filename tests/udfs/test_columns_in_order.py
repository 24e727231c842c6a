"""Columns are brought into the order of the first of them, whether its numbers are near or far."""

from __future__ import annotations

import numpy as np
import pytest

from srsql.udfs.columns import by_first


@pytest.mark.parametrize("factor", [1, 3, 1000], ids=["dense", "near", "far apart"])
@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_columns_are_in_the_order_of_the_first(factor: int, twice: bool, kind: type) -> None:
    luck = np.random.default_rng(factor)
    first = (luck.permutation(200) * factor - 50).astype(kind)
    if twice:
        first[luck.integers(0, 200, 40)] = first[0]
    rows = np.arange(200)
    ordered = by_first([first, rows, -rows])
    wanted = sorted(zip(first.tolist(), rows.tolist(), (-rows).tolist(), strict=True),
                    key=lambda row: row[0])  # fmt: skip
    assert list(zip(*(column.tolist() for column in ordered), strict=True)) == wanted
    assert all(column.dtype == np.int64 for column in ordered)


def test_columns_in_order_and_none_at_all_stay_as_they_are() -> None:
    rows = np.array([1, 1, 4])
    assert by_first([rows, rows[::-1]])[1].tolist() == [4, 1, 1]
    assert by_first([rows[:0]])[0].tolist() == []
