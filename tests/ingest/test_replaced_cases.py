"""What a source that takes the place of another one lacks, or has otherwise, case by case."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from support.quarters import Report, crowd, next_version, write_quarter

from srsql.engine.api.engine import Engine


def read(reports: list[Report]) -> dict[int, list[tuple[object, ...]]]:
    """What a release reads of each case, in no order."""
    found: dict[int, list[tuple[object, ...]]] = {}
    for r in reports:
        rows: list[tuple[object, ...]] = [("demo", r.primaryid, r.age, r.sex, r.wt)]
        rows += [("drug", r.primaryid, place, name) for place, name in enumerate(r.drugs)]
        rows += [("reac", r.primaryid, name) for name in r.pt]
        rows += [("indi", r.primaryid, place, name) for place, name in enumerate(r.indi)]
        found.setdefault(r.caseid, []).extend(rows)
    return {case: sorted(rows, key=repr) for case, rows in found.items()}


def changed(reports: list[Report], rng: random.Random) -> list[Report]:
    """Some reports are gone, new, or have other values; the rest stands in another order."""
    made = []
    for r in reports:
        match rng.randrange(9):
            case 0:
                continue
            case 1:
                made.append(replace(r, age=str(rng.randrange(20, 80))))
            case 2:
                made.append(replace(r, pt=(*r.pt, rng.choice(["Pain", "Rash"]))))
            case 3:
                made.append(replace(r, drugs=("Another",)))
            case 4:
                made += [r, next_version(r)]
            case 5:
                made.append(replace(r, pt=r.pt[1:]))
            case _:
                made.append(r)
    made += crowd(3, first=500)
    rng.shuffle(made)
    return made


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in (1, 2, 3))]
)
def test_absent_and_changed_cases_are_those_of_plain_python(
    engine: Engine, tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)
    old = [replace(r, pt=("Pain", "Itch", "Pain")[: rng.randrange(1, 4)]) for r in crowd(60)]
    old += [next_version(r) for r in old if rng.random() < 0.2]
    new = changed(old, rng)
    engine.ingest([write_quarter(tmp_path / "old", "2011Q3", old)])
    assert engine.sql("SELECT count(*) FROM srsql.compared_ingestion") == [(0,)]
    engine.ingest(
        [write_quarter(tmp_path / "new", "2011Q3", new)], replace=True, allow_incomplete=True
    )
    before, after = read(old), read(new)
    expected = {
        (str(case), "absent" if case not in after else "changed")
        for case in before
        if after.get(case) != before[case]
    }
    assert expected
    found = engine.sql("SELECT case_id, change FROM srsql.replaced_case")
    assert len(found) == len(expected)
    assert set(found) == expected
    assert engine.sql("FROM srsql.compared_ingestion") == [(2,)]


@pytest.mark.thorough
def test_a_source_with_the_same_cases_changes_none(engine: Engine, tmp_path: Path) -> None:
    reports = crowd(20)
    engine.ingest([write_quarter(tmp_path / "old", "2011Q3", reports)])
    engine.ingest([write_quarter(tmp_path / "new", "2011Q3", reports[::-1])], replace=True)
    assert engine.sql("SELECT * FROM srsql.replaced_case") == []
