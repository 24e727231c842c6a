"""``--count persons``: k, theta and new or old are of persons, proved in plain Python."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from oracles.persons import clusters, persons
from support.persons import of_units, suspect
from support.quarters import crowd, write_quarter
from support.released import regions, terms_of

from srsql.engine.api.analyst import open_artifact
from srsql.engine.api.engine import Engine
from srsql.engine.artifact.verify.verify import verify
from srsql.engine.errors import ReleaseError
from srsql.engine.grouping.cases import Knowledge
from srsql.engine.store.warehouse import Warehouse

K = 3
THETA = Fraction(1, 2)
ASKED: dict[str, Any] = {
    "k": K, "theta": "1/2", "seed": 1, "on_infeasible": "withhold", "ids": "original"
}  # fmt: skip
PERSONS: dict[str, Any] = {**ASKED, "count": "persons"}
KNOWLEDGE = Knowledge("a test", (("DRUG 1", "DISEASE 1"),))


@pytest.fixture
def engine(tmp_path: Path) -> Any:
    with Engine(tmp_path / "w.duckdb") as opened:
        early = write_quarter(tmp_path, "2011Q3", crowd(120, terms=12))
        late = write_quarter(tmp_path, "2011Q4", crowd(110, first=61, terms=12, version=2))
        opened.ingest([early, late])
        yield opened


def look_alikes(engine: Engine, seed: int) -> list[tuple[str, str, float]]:
    """Pairs of cases that a release by cases puts into one group, and some of two quarters."""
    made = engine.release("2011Q3", **ASKED, series="look", draft=True)
    luck = random.Random(seed)
    found: list[tuple[str, str, float]] = []
    for cases in regions(engine.con, made.schema).values():
        one, other, *_ = sorted(map(str, cases))
        found.append((one, other, luck.choice([0.6, 0.92, 0.999])))
    crossing = [
        (str(luck.randrange(1, 60)), str(luck.randrange(121, 171)), 0.95) for _ in range(12)
    ]
    return found + crossing


def kept(engine: Engine, schema: str, one: dict[str, str], known: set[str]) -> None:
    """k new persons in every region, and no value held by too many, counted by persons and by
    cases."""
    terms = terms_of(engine.con, schema)
    for region, ids in regions(engine.con, schema).items():
        cases = {str(case) for case in ids}
        new = persons(cases, one) - known
        assert len(new) >= K, region
        fresh = {case for case in cases if one.get(case, case) not in known}
        for term in {term for case in ids for term in terms[case]}:
            holders = {str(case) for case in ids if term in terms[case]}
            assert len(persons(holders, one)) <= THETA * len(new), (region, term)
            assert len(holders) <= THETA * len(fresh), (region, term)


@pytest.mark.thorough
@pytest.mark.parametrize("model", ["ms", "ppms", "ppms-ear", "ppms++"])
@pytest.mark.parametrize("seed", [1, 2])
def test_every_region_keeps_k_new_persons_and_every_threshold(
    engine: Engine, model: str, seed: int
) -> None:
    pairs = look_alikes(engine, seed)
    suspect(engine, pairs)
    one = clusters(pairs, 0.9)
    known: set[str] = set()
    for quarter in ("2011Q3", "2011Q4"):
        made = engine.release(quarter, **PERSONS, model=model)
        assert made.manifest["cases"]["released"] > 60
        kept(engine, made.schema, one, known)
        assert {
            facts["reach_k_by_duplicates"]
            for scope, facts in made.manifest["persons"].items()
            if scope.endswith("match 0.9")
        } == {0}
        if model != "ms":
            known |= {
                one.get(str(case), str(case))
                for cases in regions(engine.con, made.schema).values()
                for case in cases
            }
    ((counted, match, least),) = engine.sql(
        f"SELECT counted, match_probability, k_by_persons_90_percent FROM {made.schema}.manifest"
    )
    assert (counted, match, least) == ("persons", "0.9", K)


@pytest.mark.slow
def test_cases_of_one_person_have_one_region(engine: Engine) -> None:
    pairs = look_alikes(engine, 1)
    suspect(engine, pairs)
    one = clusters(pairs, 0.9)
    made = engine.release("2011Q3", **PERSONS)
    places: dict[str, set[int]] = {}
    for number, cases in enumerate(regions(engine.con, made.schema).values()):
        for case in cases:
            places.setdefault(one.get(str(case), str(case)), set()).add(number)
    assert {len(found) for found in places.values()} == {1}
    gone = engine.sql(
        "SELECT case_id FROM srsql.withheld "
        "WHERE release_id = ? AND reason = 'suspected_duplicate'",
        [made.release_id],
    )
    assert all(case in one for (case,) in gone)


@pytest.mark.thorough
def test_the_artifact_verifies_by_cases(engine: Engine, tmp_path: Path) -> None:
    suspect(engine, look_alikes(engine, 1))
    engine.release("2011Q3", **PERSONS)
    engine.publish("2011Q3", tmp_path / "out", format="parquet")
    assert verify(tmp_path / "out").passed


@pytest.mark.thorough
def test_who_asks_for_values_is_told_that_persons_were_counted(
    engine: Engine, tmp_path: Path
) -> None:
    suspect(engine, look_alikes(engine, 1))
    engine.release("2011Q3", **PERSONS)
    engine.publish("2011Q3", tmp_path / "out")
    with open_artifact(tmp_path / "out") as artifact:
        for asker in (engine, artifact):
            asked = asker.query("SELECT count(DISTINCT caseid) FROM demo WHERE sex = 'F'")
            every = asker.query("SELECT count(DISTINCT caseid) FROM demo")
            by_sex = asker.query("SELECT sex, count(DISTINCT caseid) FROM demo GROUP BY sex")
            assert "suspected duplicates count as one person in 2011Q3" in " ".join(asked.notes)
            assert "count as one person in 2011Q3" in " ".join(by_sex.notes)
            assert "person" not in " ".join(every.notes)
            assert asker.signals(every_pair=True, sex="F").persons == ("2011Q3",)
    engine.release("2011Q3", **ASKED, series="cases", allow_linkable=True)
    assert engine.signals(every_pair=True, sex="F", series="cases").persons == ()
    of_cases = "SELECT count(DISTINCT caseid) FROM demo WHERE sex = 'F'"
    assert "person" not in " ".join(engine.query(of_cases, series="cases").notes)


@pytest.mark.thorough
def test_where_nobody_was_suspected_it_is_refused_in_one_line(engine: Engine) -> None:
    with pytest.raises(ReleaseError, match=r"2011Q3 was not searched .*: run 'srsql duplicates'"):
        engine.release("2011Q3", **PERSONS)
    suspect(engine, [])
    engine.con.execute("UPDATE srsql.duplicate_search SET ingestions = [1]")
    engine.release("2011Q3", **PERSONS)
    with pytest.raises(ReleaseError, match="2011Q4 was not searched"):
        engine.release("2011Q4", **PERSONS)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "ppms-alpha"}, "is for the models ms, ppms, ppms-ear, ppms.., and not for"),
        ({"leftovers": "suppress"}, "does not go with values that are suppressed"),
        ({"terms": "disassociate"}, "does not go with --terms"),
        ({"match": "0.3"}, "--match 0.3: pairs below 0.5 are not kept"),
        ({"knowledge": KNOWLEDGE}, "does not go with --knowledge"),
        ({"count": "people"}, "--count"),
    ],
)
def test_what_does_not_go_with_persons_is_one_line(
    engine: Engine, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ReleaseError, match=message) as refused:
        engine.release("2011Q3", **{**PERSONS, **options})
    assert "\n" not in str(refused.value)


@pytest.mark.thorough
def test_a_series_of_persons_goes_back_to_cases_only_with_a_yes(engine: Engine) -> None:
    suspect(engine, look_alikes(engine, 1))
    engine.release("2011Q3", **PERSONS)
    with pytest.raises(ReleaseError, match=r"promises less .*count cases, was persons"):
        engine.release("2011Q4", count="cases")
    assert engine.release("2011Q4").manifest["counted"] == "persons"


@pytest.mark.thorough
def test_a_series_of_cases_begins_to_count_persons_at_any_match(engine: Engine) -> None:
    """The match of a series that counted no persons protected nobody, so that none is weaker."""
    suspect(engine, look_alikes(engine, 1))
    engine.release("2011Q3", **{**PERSONS, "count": "cases"})
    engine.release("2011Q4", **{**PERSONS, "match": "0.95"}, change=True)
    with pytest.raises(ReleaseError, match=r"promises less .*match 0.97, was 0.95"):
        engine.set_series("main", match="0.97")


@pytest.mark.thorough
def test_a_release_and_a_correction_measure_persons_once(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = [("1", "2", 0.95), ("3", "4", 0.999), ("5", "6", 0.6)]
    suspect(engine, pairs)
    asked, rows = list[str](), Warehouse.rows

    def counted(self: Warehouse, text: str, *parameters: Any) -> Any:
        asked.append(text)
        return rows(self, text, *parameters)

    monkeypatch.setattr(Warehouse, "rows", counted)
    engine.release("2011Q3", **ASKED, model="ppms++")
    engine.forget([8], reason="asked for")
    suspect(engine, pairs)
    for release_id in (1, 2):
        if release_id == 2:
            engine.correct("2011Q3")
        assert sum("persons_of_groups" in text for text in asked) == release_id
        stored = engine.sql(
            "SELECT m.scope, m.ratio FROM srsql.measure AS m WHERE m.release_id = ? "
            "AND m.stage = 'metric' AND m.measure = 'least_persons' ORDER BY ALL",
            [release_id],
        )
        ((told,),) = engine.sql(
            "SELECT r.private_manifest->'persons' FROM srsql.release AS r WHERE r.release_id = ?",
            [release_id],
        )
        found = {scope: facts["least_persons"] for scope, facts in json.loads(told).items()}
        assert dict(stored) == found
        assert len(found) == 4


@pytest.mark.thorough
def test_no_suspects_no_difference(engine: Engine) -> None:
    suspect(engine, [])
    one = engine.release("2011Q3", **ASKED, series="a", draft=True)
    other = engine.release("2011Q3", **PERSONS, series="b", draft=True)
    assert regions(engine.con, one.schema).keys() == regions(engine.con, other.schema).keys()


@pytest.mark.thorough
def test_a_forgotten_case_is_a_token_among_persons(engine: Engine) -> None:
    suspect(engine, [("1", "2", 0.99), ("2", "3", 0.99)])
    engine.release("2011Q3", **PERSONS)
    engine.forget(["2"], reason="asked for it")
    ids = {case for (case,) in engine.sql("SELECT case_id FROM srsql.counted_person")}
    assert "2" not in ids
    assert len(ids) == 3


@pytest.mark.parametrize("seed", range(6))
def test_the_checks_count_persons_as_the_oracle_does(sql: Any, seed: int) -> None:
    luck = random.Random(seed)
    cases = [str(n) for n in range(24)]
    of = {case: luck.choice("ABCDEFGHIJ") for case in cases if luck.random() < 0.6}
    place = {case: f"region {luck.randrange(4)}" for case in cases}
    place |= {case: place[min(c for c in of if of[c] == of[case])] for case in of}  # of one person
    old = {p for p in "ABC" if luck.random() < 0.5}
    values = [(case, term) for case in cases for term in "xy" if luck.random() < 0.3]
    told = [(case, of.get(case, case), of.get(case, case) not in old) for case in cases]
    limits = sql.table(
        "limits", "term VARCHAR, theta_num BIGINT, theta_den BIGINT", [("x", 1, 2), ("y", 1, 3)]
    )
    least, broken = 0, 0
    for region in set(place.values()):
        here = {case for case in cases if place[case] == region}
        new = persons(here, of) - old
        least += len(new) < 4
        broken += any(
            len(persons({c for c, t in values if t == term and c in here}, of)) > share * len(new)
            for term, share in (("x", Fraction(1, 2)), ("y", Fraction(1, 3)))
        )
    seen = ([(place[case], case) for case in cases], values, told)
    assert of_units(sql, "check_k('unit_row', 4, 1)", *seen) == least
    assert of_units(sql, f"check_theta('unit_row', 'unit_value', {limits}, 1)", *seen) == broken


@pytest.mark.parametrize("seed", range(6))
def test_no_suspected_pair_is_told_apart_as_the_oracle_says(sql: Any, seed: int) -> None:
    luck = random.Random(seed)
    cases = [str(n) for n in range(30)]
    pairs = [tuple(luck.sample(cases, 2)) for _ in range(8)]
    whole = clusters([(a, b, 1.0) for a, b in pairs], 1)
    told = {case: person for case, person in whole.items() if luck.random() < 0.9}
    released = {case for case in cases if luck.random() < 0.4}
    near = [pair for pair in pairs if {*told, *released}.intersection(pair)]
    apart = [(a, b) for a, b in near if a not in told or told.get(b) != told[a]]
    pairs_of = sql.table("pair", "case_id VARCHAR, other_case_id VARCHAR", pairs)
    counted = sql.table("counted", "case_id VARCHAR, unit VARCHAR", list(told.items()))
    out = sql.table("out", "case_id VARCHAR", [(case,) for case in sorted(released)])
    ((_, _, _, violating, total, *_),) = sql.rows(
        f"SELECT c.* FROM srsql.check_persons({pairs_of}, {counted}, {out}, 1) AS c"
    )
    assert (violating, total) == (len(apart), len(near))
