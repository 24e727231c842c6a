"""QID- and EAR-bounding in an audit: whether a region covers the earlier regions of its case.

Huang 2021 bounds the region of an old case by its earliest release (EAR) or by all of them (QID).
"""

from __future__ import annotations

from typing import Any

from hypothesis import given
from oracles.audit import covers
from oracles.examples import REPEATABLE
from support.histories import Series, histories, series


@REPEATABLE
@given(made=series())
def test_a_region_is_held_against_the_earliest_and_against_all_earlier_regions_of_its_case(
    sql: Any, made: Series
) -> None:
    for (place, case), row in histories(sql, made).items():
        region = made[place].region(case)
        assert region is not None
        earlier = [before for one in made[:place] if (before := one.region(case))]
        assert row["bounds_all"] == all(covers(region, before) for before in earlier)
        assert row["bounds_earliest"] == (not earlier or covers(region, earlier[0]))
