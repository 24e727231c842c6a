"""Random series by ``ppms-stay`` through the engine, attacked by the oracle of persistence.

The audit that ends every release is left out, so that what is found safe is so by its making, not
because else it was refused. Cases stay, stop, return after a gap, change their values, have several
reports, and are deleted after the quarter before was released, some with a correction of it.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from oracles.stay import Quarter, broken_rules, too_little_is_left
from support.quarters import write_quarter
from support.who_stays import LEVELS, QUARTERS, World, seen

from srsql.engine.api.engine import Engine
from srsql.engine.checks import registry

pytestmark = pytest.mark.thorough


def live(folder: Path, seed: int) -> tuple[list[Quarter], int, Counter[str]]:
    """One series; k, and why cases were withheld."""
    luck = random.Random(seed)
    world = World(luck)
    world.fill(luck.choice([60, 120]))
    levels = folder / "levels.csv"
    lines = [f"{value},{share}" for value, share in LEVELS.items()]
    levels.write_text("\n".join(["value,theta", *lines]) + "\n")
    k = luck.choice([2, 3])
    options: dict[str, Any] = {
        "model": "ppms-stay", "k": k, "theta": f"levels:{levels}", "on_infeasible": "withhold",
        "refine": luck.choice(["off", "fast"]), "seed": seed, "ids": "original",
    }  # fmt: skip
    series: list[Quarter] = []
    gone: set[int] = set()
    with Engine(folder / "w.duckdb") as engine:
        for at, quarter in enumerate(QUARTERS):
            lost = luck.sample(sorted(world.values[quarter]), luck.choice([0, 0, 1, 3]))
            gone |= set(lost)
            name = folder / str(at)
            engine.ingest(
                [write_quarter(name, quarter, world.quarters[quarter], lost)], allow_incomplete=True
            )
            if at == 0:
                continue
            own, after = QUARTERS[at - 1], set(world.values[quarter])
            if at > 1 and lost and luck.random() < 0.5:
                engine.correct(QUARTERS[at - 2], series="main")
            made = engine.release_range(f"{own}:{own}", **options).released[0]
            values = {c: v for c, v in world.values[own].items() if c not in gone}
            series.append(Quarter(
                values, {c: t for c, t in world.terms(own).items() if c in values},
                frozenset(after - gone), seen(engine, made.schema, made.release_id),
            ))  # fmt: skip
        reasons = engine.sql("SELECT reason, count(*) FROM srsql.withheld GROUP BY reason")
    return series, k, Counter(dict(reasons))


def test_a_series_by_the_model_that_stays_leaves_k_and_theta_to_every_attack(
    tmp_path: Path,
) -> None:
    thetas = defaultdict(lambda: LEVELS["*"], LEVELS)
    met: Counter[str] = Counter()
    plain = [check for check in registry.CHECKS if check.stage != "audit"]
    with mock.patch.object(registry, "CHECKS", tuple(plain)):
        for seed in range(4):
            folder = tmp_path / str(seed)
            folder.mkdir()
            series, k, reasons = live(folder, seed)
            assert too_little_is_left(series, k, thetas) == [], seed
            every = {term: thetas[term] for quarter in series for held in quarter.terms.values()
                     for term in held if thetas[term] < 1}  # fmt: skip
            assert broken_rules(series, k, every) == [], seed
            met += reasons
            for before, quarter in pairwise(series):
                met["in both"] += len(before.released & quarter.released)
            met["released"] += sum(len(quarter.released) for quarter in series)
    assert met["released"] > 200
    assert met["in both"] > 20
