"""The same inputs, parameters and seed make the same release, to the byte."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.quarters import Report, crowd, write_quarter
from support.released import exported, regions, terms_of

from srsql.engine.api.engine import Engine

pytestmark = pytest.mark.thorough

VIEWS = {"demo", "drug", "indi", "manifest", "outc", "reac"}


def cases() -> list[Report]:
    """600 cases, many of them twins in every QID, some incomplete, some with two versions."""
    base = [
        replace(
            r,
            age="" if r.caseid % 11 == 0 else r.age,
            wt="" if r.caseid % 5 == 0 else r.wt,
            indi=(*r.indi, f"disease {r.caseid % 17:02d}"),
        )
        for r in crowd(600, terms=90)
    ]
    later = [replace(r, primaryid=r.primaryid + 1, age="33") for r in base[::40]]
    return base + later


def released(
    folder: Path, reports: list[Report], *, seed: int = 5, threads: int = 1, **options: Any
) -> tuple[dict[str, str], list[frozenset[int]]]:
    """Hash of every view, and the groups."""
    folder.mkdir()
    with Engine(folder / "w.duckdb", threads=threads) as engine:
        engine.ingest([write_quarter(folder, "2011Q4", reports)])
        made = engine.release("2011Q4", k=4, seed=seed, ids="original", **options)
        found = exported(engine.con, made.schema, folder / "csv")
        assert found.keys() == VIEWS
        check_bounds(engine, made.schema)
        groups = sorted(map(frozenset, regions(engine.con, made.schema).values()), key=min)
        return found, groups


def check_bounds(engine: Engine, schema: str) -> None:
    (thresholds,) = engine.sql(f"SELECT thresholds FROM {schema}.manifest")[0]
    theta = {t["value"]: t["theta"] for t in thresholds}
    shown = terms_of(engine.con, schema)
    for members in regions(engine.con, schema).values():
        assert len(members) >= 4
        for term in set().union(*(shown[case] for case in members)):
            assert sum(term in shown[case] for case in members) <= theta[term] * len(members) + 1e-9


def test_the_number_of_threads_changes_no_byte_of_any_view(tmp_path: Path) -> None:
    one, _ = released(tmp_path / "one", cases(), threads=1)
    two, _ = released(tmp_path / "two", cases(), threads=2)
    assert one == two


def test_the_order_of_the_source_records_changes_no_byte_of_any_view(tmp_path: Path) -> None:
    shuffled = cases()
    random.Random(3).shuffle(shuffled)
    one, _ = released(tmp_path / "one", cases())
    two, _ = released(tmp_path / "two", shuffled)
    assert one == two


def test_the_order_of_ingestion_changes_no_byte_of_any_view(tmp_path: Path) -> None:
    digests = []
    for order in (("2011Q3", "2011Q4"), ("2011Q4", "2011Q3")):
        folder = tmp_path / order[0]
        with Engine(folder.with_suffix(".duckdb")) as engine:
            for quarter in order:
                later = quarter == "2011Q4"
                reports = crowd(200, first=51 if later else 1, version=2 if later else 1)
                engine.ingest([write_quarter(folder, quarter, reports)])
            for quarter in sorted(order):
                engine.release(quarter, k=4, seed=5, ids="original")
            digests.append(
                [exported(engine.con, f"release_{q.lower()}", folder) for q in sorted(order)]
            )
    assert digests[0] == digests[1]


def test_another_seed_makes_other_groups_within_the_same_bounds(tmp_path: Path) -> None:
    groupings = [released(tmp_path / str(seed), cases(), seed=seed)[1] for seed in (5, 6)]
    assert groupings[0] != groupings[1]


def test_without_a_seed_each_release_draws_its_own(tmp_path: Path) -> None:
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q4", crowd(60))])
        seeds = {
            engine.release("2011Q4", k=3, theta="0.5", draft=True).manifest["seed"]
            for _ in range(3)
        }
    assert len(seeds) == 3
