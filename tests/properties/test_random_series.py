"""Random series through the engine, attacked with their released views and the raw files alone."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.quarters import write_quarter
from support.random_world import Seen, World, assert_safe, seen

from srsql.engine.api.engine import Engine
from srsql.engine.errors import NothingToReleaseError

pytestmark = pytest.mark.thorough

MODELS = ("ppms", "ppms-ear", "ppms++", "ppms-alpha")
QUARTERS = ("2011Q1", "2011Q2", "2011Q3", "2011Q4", "2012Q1")


class Run:
    """One random history of a warehouse, released in one series per model."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.rng = random.Random(seed)
        self.world = World(self.rng)
        self.folder, self.files = folder, 0
        self.engine = Engine(folder / "w.duckdb")
        self.series: dict[str, list[Seen]] = {model: [] for model in MODELS}
        levels = folder / "levels.csv"
        levels.write_text("value,theta\nCommon 0,1\nCommon 1,1/3\n*,1/2\n")
        theta = self.rng.choice(["0.5", "1/3", "frequency", f"levels:{levels}"])
        self.options: dict[str, Any] = {
            "k": self.rng.randint(2, 4),
            "theta": theta,
            "on_infeasible": "withhold",
            "leftovers": self.rng.choice(["withhold", "withhold", "merge"]),
            "missing": self.rng.choice(["keep", "keep", "drop"]),
        }
        self.skipped = self.rng.choice([None, None, QUARTERS[1]])

    def ingest(self, quarter: str, deleted: list[int] | None = None) -> None:
        self.files += 1
        archive = write_quarter(
            self.folder / str(self.files), quarter, self.world.quarters[quarter], deleted or []
        )
        self.world.deleted |= set(deleted or [])
        self.engine.ingest([archive], replace=True, allow_incomplete=True)

    def release(self, model: str, quarter: str, **options: Any) -> None:
        options = self.options | options | {"seed": self.rng.randrange(99), "allow_linkable": True}
        options |= {"change": True, "weaker": True}  # alpha is another one in every quarter
        if model == "ppms-alpha":
            options["alpha"] = self.rng.choice(["1/2", "1/3"])
        name = model.replace("+", "p")
        try:
            made = self.engine.release(quarter, model=model, series=name, **options)
        except NothingToReleaseError:
            if options.get("supersede") or self.rng.random() < 0.5:
                return
            made = self.engine.release_range(
                f"{quarter}:{quarter}", model=model, series=name, **options
            ).released[0]
        self.series[model].append(seen(self.engine, made.schema, self.world, quarter))
        self.series[model].sort(key=lambda own: own.quarter)

    def correct(self, model: str, quarter: str) -> None:
        made = self.engine.correct(quarter, series=model.replace("+", "p"))
        if made.release_id is not None:
            self.series[model].append(seen(self.engine, made.schema, self.world, quarter))
            self.series[model].sort(key=lambda own: own.quarter)

    def live(self) -> None:
        """Release all quarters but the last, which is there for those who ask who stops."""
        world, rng = self.world, self.rng
        world.arrive(QUARTERS[0])
        self.ingest(QUARTERS[0])
        for at, quarter in enumerate(QUARTERS[:-1]):
            following = QUARTERS[at + 1]
            world.arrive(following)
            gone = rng.sample(range(len(world.homes)), 2) if rng.random() < 0.4 else []
            self.ingest(following, gone)
            if quarter == self.skipped:
                continue
            for model in MODELS:
                self.release(model, quarter)
            if rng.random() < 0.3:  # some who were thought to have stopped turn up after all
                world.add(following, rng.sample(range(len(world.homes)), 4))
                self.ingest(following)
            if at and rng.random() < 0.3:
                self.remake(QUARTERS[rng.randrange(at)])
        if self.skipped:
            self.remake(self.skipped)

    def remake(self, quarter: str) -> None:
        """An earlier quarter, with cases that are new, and some that came later.

        Where it is out it can only be corrected: the groups of deleted cases leave it.
        """
        later = self.rng.sample(range(len(self.world.homes)), 3)
        self.world.add(quarter, [*later, *self.world.newcomers(12)])
        self.ingest(quarter)
        for model in MODELS:
            if any(own.quarter == quarter for own in self.series[model]):
                self.correct(model, quarter)
            else:
                self.release(model, quarter, supersede=True, weaker=True)

    def judge(self) -> Counter[str]:
        """Attack each series as it stands, and compare with what its audit says."""
        met: Counter[str] = Counter()
        for model, series in self.series.items():
            if not series:
                continue
            newest = series[-1].quarter
            following = self.world.ids(QUARTERS[QUARTERS.index(newest) + 1])
            found = assert_safe(series, following)
            audit = self.engine.audit(series=model.replace("+", "p"))
            assert audit.safe
            told = [row for row in audit.releases if row.scope == "group"]
            assert [row.quarter for row in told] == [own.quarter for own in series]
            assert all(row.outside == 0 for row in told)
            reported = sum(row.persistence or 0 for row in told)
            assert bool(reported) >= bool(found["persistent"])
            met += found
        return met


def history(folder: Path, seed: int) -> Counter[str]:
    folder.mkdir()
    run = Run(folder, seed)
    try:
        run.live()
        return run.judge()
    finally:
        run.engine.close()


def test_no_periodical_model_publishes_a_group_in_danger(tmp_path: Path) -> None:
    """And the examples are no idle ones: every attack rules somebody out in some of them."""
    met: Counter[str] = Counter()
    for seed in (3, 5):
        met += history(tmp_path / str(seed), seed)
    assert met["groups"] > 30
    for kind in ("b", "f", "l", "md", "persistent"):
        assert met[kind], kind
