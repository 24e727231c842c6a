"""What a release tells of persons, compared with persons counted in plain Python."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from oracles.persons import clusters, persons
from support.command import srsql
from support.persons import suspect
from support.quarters import crowd, write_quarter

from srsql.engine.api.engine import Engine
from srsql.engine.console.release import person_lines, release_lines

AT = (0.9, 0.99)


def pairs_of(engine: Engine, seed: int) -> list[tuple[str, str, float]]:
    """Pairs within the groups of a release, and of cases of two quarters."""
    made = engine.release("2011Q3", k=3, theta="1", seed=1, series="look", draft=True)
    luck = random.Random(seed)
    found = []
    for cases in groups_of(engine, made.release_id).values():
        one, other, *_ = sorted(cases)
        found.append((one, other, luck.choice([0.6, 0.92, 0.999])))
    return [*found, ("3", "140", 0.95), ("5", "141", 0.999), ("141", "142", 0.999)]


def groups_of(engine: Engine, release_id: int) -> dict[int, dict[str, tuple[bool, bool]]]:
    """Group -> case -> whether it carries, whether it is new."""
    found: dict[int, dict[str, tuple[bool, bool]]] = {}
    for group, case, carrier, new in engine.sql(
        "SELECT m.group_id, m.case_id, f.carrier, m.is_new FROM srsql.member AS m "
        "JOIN srsql.case_flag AS f USING (release_id, case_no) WHERE release_id = ?",
        [release_id],
    ):
        found.setdefault(group, {})[case] = (carrier, new)
    return found


def expected(
    groups: dict[int, dict[str, tuple[bool, bool]]],
    one_person: dict[str, str],
    k: int,
    known: set[str] | None,
) -> tuple[int, int, int, int]:
    """Groups of k cases and fewer persons, groups, fewest cases and persons."""
    counted = []
    for cases in groups.values():
        if known is None:
            counted.append((len(cases), len(persons(cases.keys(), one_person))))
            continue
        carriers = {case for case, (carrier, _) in cases.items() if carrier}
        counted.append((len(carriers), len(persons(carriers, one_person) - known)))
    reached = sum(1 for n, p in counted if n >= k > p)
    return reached, len(counted), min(n for n, _ in counted), min(p for _, p in counted)


@pytest.fixture
def engine(tmp_path: Path) -> Any:
    with Engine(tmp_path / "w.duckdb") as opened:
        early = write_quarter(tmp_path, "2011Q3", crowd(120))
        late = write_quarter(tmp_path, "2011Q4", crowd(90, first=61, version=2))
        opened.ingest([early, late])
        yield opened


@pytest.mark.thorough
@pytest.mark.parametrize("model", ["ms", "ppms++"])
def test_groups_that_reach_k_through_duplicates_are_counted(engine: Engine, model: str) -> None:
    pairs = pairs_of(engine, seed=3)
    suspect(engine, pairs)
    asked: dict[str, Any] = {"model": model, "k": 3, "theta": "1", "seed": 1}
    first = engine.release("2011Q3", **asked)
    second = engine.release("2011Q4", **asked)
    earlier = {case for cases in groups_of(engine, first.release_id).values() for case in cases}
    for made, out in ((first, set()), (second, earlier)):
        groups = groups_of(engine, made.release_id)
        for at in AT:
            one = clusters(pairs, at)
            known = {one[case] for case in out if case in one}
            kinds: dict[str, set[str] | None] = {"groups": None}
            if model == "ppms++":
                kinds["carriers"] = known
            for kind, before in kinds.items():
                told = made.manifest["persons"][f"{kind}, match {at:g}"]
                names = ("reach_k_by_duplicates", "groups", "least_cases", "least_persons")
                found = tuple(told[name] for name in names)
                assert found == expected(groups, one, 3, before), (kind, at)
            name = f"k_by_persons_{at * 100:g}_percent"
            least = expected(groups, one, 3, list(kinds.values())[-1])[3]
            ((shown,),) = engine.sql(f"SELECT {name} FROM {made.schema}.manifest")
            assert shown == min(3, least)
    assert any(facts["reach_k_by_duplicates"] for facts in second.manifest["persons"].values()), (
        "the planted pairs make no difference"
    )


@pytest.mark.thorough
def test_without_a_search_nothing_is_said_of_persons(engine: Engine) -> None:
    made = engine.release("2011Q3", k=3, theta="1", seed=1)
    assert "persons" not in made.manifest
    names = {
        name for (name,) in engine.sql(f"SELECT column_name FROM (DESCRIBE {made.schema}.manifest)")
    }
    assert not [name for name in names if "persons" in name]
    assert not [row for row in engine.metrics("2011Q3") if "person" in row.measure]


@pytest.mark.thorough
def test_a_search_of_other_data_says_nothing(engine: Engine) -> None:
    suspect(engine, pairs_of(engine, seed=3))
    engine.con.execute("UPDATE srsql.duplicate_search SET ingestions = [99]")
    assert "persons" not in engine.release("2011Q3", k=3, theta="1", seed=1).manifest


@pytest.mark.thorough
def test_the_first_screen_says_what_is_left_of_k(engine: Engine, tmp_path: Path) -> None:
    suspect(engine, pairs_of(engine, seed=3))
    engine.close()
    told = srsql("release", "--db", tmp_path / "w.duckdb", "--quarter", "2011Q3", "--k", 3,
                 "--theta", 1, "--seed", 1)  # fmt: skip
    assert "suspected duplicates (match 0.9): " in told.out
    assert "reach k through them alone" in told.out
    measured = srsql("metrics", "--db", tmp_path / "w.duckdb", "--quarter", "2011Q3", "--json").json
    assert {r["scope"] for r in measured if r["measure"] == "least_persons"} == {
        f"{kind}, match {at}" for kind in ("groups", "carriers") for at in ("0.9", "0.99")
    }


@pytest.mark.thorough
def test_the_first_screen_says_where_nobody_searched(engine: Engine, tmp_path: Path) -> None:
    """Of a model that claims no k of cases there is nothing to search for."""
    suspect(engine, pairs_of(engine, seed=3))
    engine.ingest([write_quarter(tmp_path / "again", "2011Q4", crowd(89, first=61))], replace=True)
    unseen = "SELECT u.quarter FROM srsql.unsearched_periods({}) AS u"
    of_groups = "SELECT r.k, r.in_series FROM srsql.release_of_groups({}) AS r"
    first = engine.release("2011Q3", k=3, theta="1", seed=1)
    second = engine.release("2011Q4", k=3, theta="1", seed=1)
    shuffled = engine.release("2011Q4", model="dp-histogram", series="rows", noise="seeded", seed=1)
    assert engine.sql(unseen.format(first.release_id)) == []
    assert engine.sql(unseen.format(second.release_id)) == [("2011Q4",)]
    assert engine.sql(unseen.format(shuffled.release_id)) == []
    assert engine.sql(of_groups.format(second.release_id)) == [(3, True)]
    assert engine.sql(of_groups.format(shuffled.release_id)) == []
    assert "persons" not in second.manifest
    assert second.manifest["persons_not_searched"] == ["2011Q4"]
    said = "so that k is of case ids, and nobody knows of how many people: 'srsql duplicates'"
    line = f"  suspected duplicates: not searched for in 2011Q4, {said}"
    assert line in list(release_lines(second))
    assert not [each for each in release_lines(shuffled) if "duplicates" in each]
    assert list(person_lines({}, ["2011Q3", "2011Q4"])) == [line.replace("Q4,", "Q4 and 1 more,")]


@pytest.mark.thorough
def test_a_model_with_noise_tells_persons_to_the_steward_alone(engine: Engine) -> None:
    suspect(engine, pairs_of(engine, seed=3))
    made = engine.release("2011Q3", model="ppms-dp-num", k=3, theta="1", noise="seeded", seed=1)
    assert made.manifest["persons"]
    assert not [name for name in made.manifest if name.startswith("k_by_persons")]


def test_persons_of_a_release_that_is_not_there(sql: Any) -> None:
    assert sql.rows("SELECT g.* FROM srsql.group_persons(1, 0.9) AS g") == []
    assert sql.rows("SELECT p.* FROM srsql.persons_of_groups(1) AS p") == []
