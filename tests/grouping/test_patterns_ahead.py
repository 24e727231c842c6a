"""Patterns that are grouped at a time have the groups that they have one after the other."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from support.quarters import Report, write_quarter

from srsql import Engine
from srsql.engine.grouping import patterns
from srsql.engine.grouping.parts import Parts
from srsql.engine.models import base


def some_cases(seed: int, complete: int) -> list[Report]:
    """Cases of all patterns; ``complete``: those that know every QID, 2 of which are too few."""
    rng = random.Random(seed)
    known = [7] * complete + [rng.choice([1, 2, 3, 3, 5, 6, 0]) for _ in range(90)]
    return [
        Report(
            primaryid=10 * case + 1,
            caseid=case,
            age=str(rng.randint(1, 90)) if pattern & 1 else "",
            wt=str(rng.randint(40, 120)) if pattern & 2 else "",
            sex=rng.choice("MF") if pattern & 4 else "",
            pt=tuple({f"R{rng.randint(0, 30)}" for _ in range(2)}),
            drugs=("A",),
        )
        for case, pattern in enumerate(known, start=1)
    ]


def members(tmp_path: Path, cases: list[Report], **options: Any) -> list[tuple[Any, ...]]:
    """Group, pattern and region of each case, and who is withheld, of a release of them."""
    db = tmp_path / "w.duckdb"
    db.unlink(missing_ok=True)
    with Engine(db, threads=2) as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q4", cases)])
        made = engine.release("2011Q4", seed=1, ids="original", allow_linkable=True, **options)
        rows = engine.sql(
            "SELECT caseid, age_low, age_high, wt_low, wt_high, sex FROM release_2011q4.demo "
            "ORDER BY ALL"
        )
        held = engine.sql("SELECT case_no, group_id FROM srsql.member ORDER BY ALL")
        return [*rows, *held, *made.manifest["withheld"].items()]


@pytest.mark.parametrize(
    ("seed", "complete", "k", "theta"),
    [
        (1, 30, 3, "0.5"),
        pytest.param(2, 2, 4, "0.5", marks=pytest.mark.thorough),
        pytest.param(3, 1, 5, "0.21", marks=pytest.mark.thorough),
    ],
)
def test_the_groups_are_those_of_one_pattern_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, complete: int, k: int, theta: str
) -> None:
    cases = some_cases(seed, complete)
    options = {"k": k, "theta": theta, "refine": "off", "on_infeasible": "withhold"}
    begun: list[int] = []
    group_ahead = Parts.group_ahead

    def seen(self: Parts, parameters: list[dict[str, Any]]) -> patterns.Group:
        begun.extend(each["pattern"] for each in parameters)
        return group_ahead(self, parameters)

    with monkeypatch.context() as patch:
        patch.setattr(Parts, "group_ahead", seen)
        found = members(tmp_path, cases, **options)
    assert len(begun) > 1

    def one_after_the_other(grouping: Any, least: int, group: Any, ahead: Any) -> None:
        patterns.group_by_pattern(grouping, least, group)

    monkeypatch.setattr(base, "group_by_pattern", one_after_the_other)
    assert members(tmp_path, cases, **options) == found


@pytest.mark.thorough
def test_a_pattern_that_takes_cases_of_another_is_grouped_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[int] = []
    groups_of = Parts.group

    def group(self: Parts, parameters: dict[str, Any]) -> None:
        taken.append(parameters["pattern"])
        groups_of(self, parameters)

    monkeypatch.setattr(Parts, "group", group)
    found = members(tmp_path, some_cases(2, 2), k=4, theta="0.5", refine="off")
    assert taken  # somebody had to wait for the two who know everything
    released = {row[0] for row in found if len(row) == 6}
    assert {"1", "2"} <= {str(case) for case in released}
