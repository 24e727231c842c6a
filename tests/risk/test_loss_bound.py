"""The bound of NIL: never above what the best of all groupings loses, and as it is defined."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles.examples import REPEATABLE
from oracles.releases import Case, Group, Release, releases
from oracles.trees import Tree

from srsql import Engine
from srsql.engine.errors import WarehouseError

SEX = Tree({"Any": "", "M": "Any", "F": "Any"})


def group(cases: Sequence[Case]) -> Group:
    """Cases in one group, which shows what all of them know: to show less only loses more."""
    known = range(len(cases[0].values))
    return Group(
        tuple(cases), sum(1 << q for q in known if all(c.values[q] is not None for c in cases))
    )


def partitions(cases: Sequence[Case], k: int) -> Iterator[list[list[Case]]]:
    """Every way to put cases into groups of k and more."""

    def every(rest: Sequence[Case]) -> Iterator[list[list[Case]]]:
        if not rest:
            yield []
            return
        for found in every(rest[1:]):
            yield [[rest[0]], *found]
            for n, block in enumerate(found):
                yield [*found[:n], [rest[0], *block], *found[n + 1 :]]

    yield from (found for found in every(cases) if all(len(block) >= k for block in found))


def loss(qids: Any, blocks: Sequence[Sequence[Case]]) -> Fraction:
    """NIL times cases and QIDs of a grouping."""
    return sum(Release(qids, tuple(map(group, blocks))).losses(), Fraction(0))


def bound(sql: Any, release: Release) -> dict[str, Any]:
    release.store(sql, 1)
    (row,) = sql.records("FROM srsql.loss_bound(1)")
    return dict(row)


@REPEATABLE
@given(releases(), st.integers(1, 4))
def test_no_grouping_loses_less(sql: Any, release: Release, k: int) -> None:
    cases = release.cases[:7]
    assume(cases)
    small = replace(release, groups=(group(cases),), k=k)
    found = bound(sql, small)
    possible = [loss(small.qids, each) for each in partitions(cases, k)]
    assert found["total"] == len(cases) * len(small.qids)
    if possible:
        assert found["violating"] <= min(possible)


@REPEATABLE
@given(releases(), st.integers(1, 4))
def test_each_case_loses_what_its_neighbours_cost(sql: Any, release: Release, k: int) -> None:
    asked = replace(release, k=k)
    cases = asked.cases
    least = Fraction(0)
    for n, case in enumerate(cases):
        costs = sorted(
            sum(Release(asked.qids, (group([case, other]),)).losses()[: len(asked.qids)])
            for m, other in enumerate(cases)
            if m != n
        )
        alone = sum(Release(asked.qids, (group([case]),)).losses())
        least += max([alone, *costs[: k - 1]])
    found = bound(sql, asked)["violating"]
    assert found == pytest.approx(float(least), rel=1e-9, abs=1e-12)
    assert found <= least


def test_bound_is_kept_where_neighbours_are_pairs(sql: Any) -> None:
    cases = [Case(((low, low), sex)) for low, sex in ((1, "M"), (2, "M"), (8, "F"), (9, "F"))]
    release = Release((10, SEX), (group(cases[:2]), group(cases[2:])), k=2)
    found = bound(sql, release)
    assert found["violating"] == pytest.approx(4 * 0.1)
    assert found["violating"] == pytest.approx(float(sum(release.losses())))


def test_metrics_tell_it_beside_the_loss(db: Path) -> None:
    with Engine(db) as engine:
        engine.release.make("2011Q3", model="k-anonymity", k=3, seed=1)
        rows = {row.measure: row for row in engine.audit.metrics("2011Q3", bound=True)}
        assert 0 < rows["nil_bound"].ratio <= rows["nil"].ratio
        assert rows["nil_bound"].total == rows["nil"].total
        assert "nil_bound" not in {row.measure for row in engine.audit.metrics("2011Q3")}
        engine.release.make("2011Q4", model="msdp-num", k=3, epsilon="1", seed=1, series="noise")
        with pytest.raises(WarehouseError, match="--bound"):
            engine.audit.metrics("2011Q4", bound=True, series="noise")
