"""Cases that may be one person: planted ones are found, clusters are those of the oracle."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from oracles.persons import clusters
from support.command import srsql
from support.quarters import Report, crowd, write_quarter

from srsql.engine.api.engine import Engine
from srsql.engine.errors import DamagedError, DuplicatesError
from srsql.engine.store import doors as extras


def people(count: int, seed: int = 1) -> list[Report]:
    """Cases with three drugs and reactions each, out of many."""
    luck = random.Random(seed)
    return [
        replace(
            report,
            pt=tuple(f"Reaction {luck.randrange(200)}" for _ in range(4)),
            drugs=tuple(f"Drug {luck.randrange(200)}" for _ in range(3)),
        )
        for report in crowd(count)
    ]


def with_duplicates(reports: list[Report], count: int) -> list[Report]:
    """The reports, and of the first ones another case each, which lacks the weight."""
    twins = [
        replace(r, caseid=r.caseid + 1000, primaryid=r.primaryid + 10_000, wt="")
        for r in reports[:count]
    ]
    return reports + twins


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("splink")
    folder = tmp_path_factory.mktemp("duplicates")
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest(
            [write_quarter(folder, "2011Q4", with_duplicates(people(300), 20))],
            allow_incomplete=True,
        )
        engine.duplicates()
    return folder / "w.duckdb"


PAIRS = "SELECT case_id, other_case_id, probability FROM srsql.suspected_duplicate ORDER BY ALL"


@pytest.mark.thorough
def test_planted_duplicates_are_found_and_hardly_anything_else(db: Path) -> None:
    with Engine(db, read_only=True) as engine:
        found = {(one, other) for one, other, p in engine.sql(PAIRS) if p >= 0.99}
    planted = {tuple(sorted((str(case), str(case + 1000)))) for case in range(1, 21)}
    assert planted <= found
    assert len(found - planted) <= 2


@pytest.mark.thorough
def test_a_second_search_finds_the_same_to_the_last_digit(db: Path) -> None:
    with Engine(db) as engine:
        before = engine.sql(PAIRS)
        made = engine.duplicates()
        assert engine.sql(PAIRS) == before
        assert made.pairs == len(before)
        for at in made.at:
            sizes: dict[str, int] = {}
            for person in clusters(before, at.threshold).values():
                sizes[person] = sizes.get(person, 0) + 1
            assert (at.clusters, at.cases) == (len(sizes), sum(sizes.values()))
            assert at.largest == max(sizes.values())


@pytest.mark.thorough
def test_the_command_tells_both_thresholds(db: Path) -> None:
    told = srsql("duplicates", "--db", db)
    assert told.code == 0
    assert "0.99" in told.out
    assert "suspected, not proved" in told.out


@pytest.mark.thorough
def test_a_forgotten_case_is_in_no_pair(db: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.duckdb"
    copy.write_bytes(db.read_bytes())
    with Engine(copy) as engine:
        engine.forget(["7"], reason="asked for it")
        assert not [row for row in engine.sql(PAIRS) if "7" in row[:2]]
        assert engine.sql(PAIRS)


@pytest.mark.thorough
def test_an_unknown_column_is_one_line_that_names_those_there_are(db: Path) -> None:
    with (
        Engine(db) as engine,
        pytest.raises(DuplicatesError, match=r"--country 'land': .* it has age, .*occr_country"),
    ):
        engine.duplicates(country="land")


@pytest.mark.thorough
def test_too_few_cases_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("splink")
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q4", crowd(5))], allow_incomplete=True)
        with pytest.raises(DuplicatesError, match="has 5 cases, of which nothing can be estimated"):
            engine.duplicates()


@pytest.mark.thorough
def test_without_splink_one_line_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda package: None)
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q4", crowd(30))], allow_incomplete=True)
        with pytest.raises(DuplicatesError, match=r"pip install 'srsql\[persons\]'"):
            engine.duplicates()


@pytest.mark.parametrize("seed", range(8))
def test_clusters_are_the_connected_components(sql: Any, seed: int) -> None:
    luck = random.Random(seed)
    pairs = [
        (str(luck.randrange(60)), str(luck.randrange(60)), luck.choice([0.5, 0.9, 0.95, 1.0]))
        for _ in range(50)
    ]
    pairs = [(min(a, b), max(a, b), p) for a, b, p in pairs if a != b]
    named = sql.table("pair", "case_id VARCHAR, other_case_id VARCHAR, probability DOUBLE", pairs)
    for at_least in (0.5, 0.9, 0.99):
        found = sql.rows(f"SELECT c.* FROM srsql.person_clusters({named}, {at_least}) AS c")
        assert dict(found) == clusters(pairs, at_least)


def test_a_long_chain_of_pairs_is_one_person(sql: Any) -> None:
    """Every case is linked to the next one alone, in no order of their ids."""
    cases = [f"{n:04d}" for n in range(400)]
    random.Random(1).shuffle(cases)
    pairs = [(min(a, b), max(a, b), 0.95) for a, b in itertools.pairwise(cases)]
    named = sql.table("pair", "case_id VARCHAR, other_case_id VARCHAR, probability DOUBLE", pairs)
    found = sql.rows(f"SELECT c.* FROM srsql.person_clusters({named}, 0.9) AS c")
    assert dict(found) == dict.fromkeys(cases, "0000")


@pytest.mark.thorough
def test_a_withdrawn_case_is_searched_too_since_it_may_be_out(tmp_path: Path) -> None:
    """Or else the other case of that person would be new in the next quarter."""
    pytest.importorskip("splink")
    reports = with_duplicates(people(120), 5)
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([
            write_quarter(tmp_path, "2011Q3", reports[:120]),
            write_quarter(tmp_path, "2011Q4", reports[120:], deleted=[1]),
        ], allow_incomplete=True)  # fmt: skip
        engine.duplicates()
        assert ("1", "1001") in {(one, other) for one, other, _ in engine.sql(PAIRS)}


@pytest.mark.thorough
@pytest.mark.parametrize("missing", ["terms", "values", "nothing"])
def test_cases_of_which_hardly_anything_is_known_or_all_are_alike_can_be_searched(
    tmp_path: Path, missing: str
) -> None:
    pytest.importorskip("splink")
    reports = people(40)
    if missing == "terms":
        reports = [replace(r, pt=(), drugs=(), indi=()) for r in reports]
    elif missing == "values":
        reports = [replace(r, age="", sex="", wt="") for r in reports]
    else:
        terms = tuple(f"Rare {n}" for n in range(6))
        reports = [
            replace(
                r, age="30", sex="F", wt="60", pt=(*terms[r.caseid % 2 :: 2], f"P {r.caseid // 2}")
            )
            for r in reports
        ]
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q4", reports)], allow_incomplete=True)
        made = engine.duplicates()
        assert made.cases == 40
        assert made.pairs <= 40 * 39 // 2


@pytest.mark.thorough
def test_in_a_lake_the_same_is_found_and_changed_bytes_are_refused(
    db: Path, tmp_path: Path
) -> None:
    source = write_quarter(tmp_path, "2011Q4", with_duplicates(people(300), 20))
    with Engine(tmp_path / "w.duckdb") as engine, Engine(db, read_only=True) as plain:
        engine.ingest([source], lake=tmp_path / "lake", allow_incomplete=True)
        engine.duplicates()
        assert engine.sql(PAIRS) == plain.sql(PAIRS)
        file = next(path for path in (tmp_path / "lake").rglob("*.parquet"))
        file.write_bytes(file.read_bytes()[:-1] + b"x")
        with pytest.raises(DamagedError):
            engine.duplicates()
