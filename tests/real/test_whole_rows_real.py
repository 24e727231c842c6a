"""Whole rows of real quarters and years that are taken apart: brute force finds nobody below k."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from oracles.whole_rows import Candidates
from support.real_data import needs
from support.whole_rows import FAERS, VAERS, Source, released

from srsql.engine.api.engine import Engine
from srsql.engine.artifact.verify.verify import verify

Real = Callable[[str, Path], Path]
SAMPLE = 500
"""Targets of which every set of three items is looked at."""
QUARTER = needs("faers/faers_ascii_2022Q4.zip")
YEARS = needs("vaers")
ALL = [
    *(pytest.param(FAERS, "2022Q4", k, marks=QUARTER, id=f"2022Q4-{k}") for k in (3, 5, 10)),
    *(
        pytest.param(VAERS, year, k, marks=YEARS, id=f"vaers{year}-{k}")
        for year in ("2004", "2005", "2006")
        for k in (3, 5, 10)
    ),
]


@pytest.mark.parametrize(("source", "period", "k"), ALL)
def test_brute_force_over_every_target_and_two_of_its_items_leaves_k_candidates(
    source: Source, period: str, k: int, tmp_path: Path, real: Real
) -> None:
    with Engine(opened(source, tmp_path, real), dataset=source.name) as engine:
        shown, clusters, targets = released(engine, source, period, k, 2)
        items = [*(t for own in clusters.chunks.values() for s in own for r in s for t in r),
                 *(t for alone in clusters.items.values() for t in alone)]  # fmt: skip
        assert {item.partition(":")[0] for item in items} == source.terms.keys()
        assert len(targets) > 1000
        left = Candidates(shown, clusters).left(targets, 2, k)
        assert left.fewest >= k
        assert not left.lost
        engine.publish(period, to=tmp_path / "out")
    assert verify(tmp_path / "out").passed


@pytest.mark.parametrize(("source", "period", "k"), ALL)
def test_every_set_of_three_items_of_a_sample_of_targets_leaves_k_candidates(
    source: Source, period: str, k: int, tmp_path: Path, real: Real
) -> None:
    with Engine(opened(source, tmp_path, real), dataset=source.name) as engine:
        shown, clusters, targets = released(engine, source, period, k, 3)
    drawn = random.Random(k).sample(sorted(targets, key=str), SAMPLE)
    left = Candidates(shown, clusters).left({each: targets[each] for each in drawn}, 3, k)
    assert left.fewest >= k
    assert not left.lost


def opened(source: Source, folder: Path, real: Real) -> Path:
    return real("vaers" if source is VAERS else "2022Q4", folder / "w.duckdb")
