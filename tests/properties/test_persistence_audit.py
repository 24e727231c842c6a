"""The audit under persistence finds in any series what trying every attack finds."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path

import pytest
from oracles.stay import Known, Quarter, attacks
from support.quarters import write_quarter
from support.who_stays import LEVELS, QUARTERS, World, seen

from srsql.engine.api.engine import Engine

pytestmark = pytest.mark.thorough

THETAS = defaultdict(lambda: LEVELS["*"], LEVELS)


def released(folder: Path, seed: int, model: str) -> tuple[Engine, list[Quarter]]:
    """Four quarters by a model that does not withstand persistence."""
    world = World(random.Random(seed))
    world.fill(80)
    levels = folder / "levels.csv"
    lines = [f"{value},{share}" for value, share in LEVELS.items()]
    levels.write_text("\n".join(["value,theta", *lines]) + "\n")
    engine, series = Engine(folder / "w.duckdb"), list[Quarter]()
    for quarter in QUARTERS[:4]:
        engine.ingest(
            [write_quarter(folder, quarter, world.quarters[quarter])], allow_incomplete=True
        )
        made = engine.release(
            quarter, model=model, k=2, theta=f"levels:{levels}", on_infeasible="withhold",
            seed=seed, ids="original", allow_linkable=True,
        )  # fmt: skip
        series.append(Quarter(
            world.values[quarter], world.terms(quarter), frozenset(),
            seen(engine, made.schema, made.release_id),
        ))  # fmt: skip
    return engine, series


def dangers(series: list[Quarter], i: int, scope: str) -> tuple[set[int], set[int], set[int]]:
    """Groups in which k or a threshold breaks, and cases that their own values exclude.

    What such a case's attacker knows of persistence is counted for nobody; what joining releases
    leaves of it is, as in the papers.
    """
    below, told, own = set[int](), set[int](), set[int]()
    for known in attacks(series):
        if (known.quarter, known.scope) != (i, scope):
            continue
        group = series[i].group_of(known.target)
        assert group is not None
        place = series[i].groups.index(group)
        if known.self_excluded:
            own.add(known.target)
            if known.window != "none":
                continue
        if len(known.remaining) < 2:
            below.add(place)
        if exceeds(series[i], known):
            told.add(place)
    return below, told, own


def exceeds(quarter: Quarter, known: Known) -> bool:
    held = Counter(term for case in known.remaining for term in quarter.terms[case])
    return any(Fraction(n, len(known.remaining)) > THETAS[term] for term, n in held.items())


@pytest.mark.parametrize("model", ["ms", "ppms++"])
@pytest.mark.parametrize("seed", range(3))
def test_an_audit_under_persistence_is_that_of_the_oracle(
    tmp_path: Path, seed: int, model: str
) -> None:
    engine, series = released(tmp_path, seed, model)
    with engine:
        found = engine.audit(attacks="b,f,l,p")
    assert len(found.releases) == 2 * len(series)
    met: Counter[str] = Counter()
    for row in found.releases:
        i = QUARTERS.index(row.quarter)
        below, told, own = dangers(series, i, row.scope)
        assert (row.dig, row.dsg) == (len(below), len(told)), (row.quarter, row.scope)
        assert row.self_excluded == len(own), (row.quarter, row.scope)
        met.update(below=len(below), told=len(told), own=len(own))
    assert met["below"] > 0
    assert met["told"] > 0
