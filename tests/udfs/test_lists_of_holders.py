"""Lists from rows in any order, against sets of Python."""

from __future__ import annotations

import numpy as np
import pytest

from srsql.udfs.risk.holders import BLOCK, Lists, lists_of, values_of


def as_sets(found: Lists) -> list[list[int]]:
    return [found.entry[a:b].tolist() for a, b in zip(found.start, found.start[1:], strict=False)]


@pytest.mark.parametrize("entries", [3, BLOCK - 1, 5 * BLOCK], ids=["few", "a block", "many"])
def test_lists_ascend_and_have_each_entry_once(entries: int) -> None:
    luck = np.random.default_rng(entries)
    owner, entry = luck.integers(0, 40, 20 * entries), luck.integers(0, entries, 20 * entries)
    owner[luck.random(len(owner)) < 0.5] = 7  # one has many
    found = as_sets(lists_of(owner, entry, 50))
    assert found == [sorted(set(entry[owner == one].tolist())) for one in range(50)]
    assert len(found[7]) == entries
    value = luck.integers(-1, max(entries // 2, 1), entries)
    told = as_sets(values_of(lists_of(owner, entry, 50), value))
    wanted = [{int(value[item]) for item in items} - {-1} for items in found]
    assert told == [sorted(values) for values in wanted]
