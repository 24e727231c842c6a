"""A threshold of a patient holds for each value of theirs, and nothing published tells whose."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import pytest
from oracles.own_thresholds import broken
from support.quarters import Report, write_quarter
from support.released import regions, rows, terms_of

from srsql import verify
from srsql.engine.api.engine import Engine
from srsql.engine.errors import CheckFailedError, ReleaseError
from srsql.engine.grouping.own_thresholds import lower_thresholds

Q3, Q4 = "2011Q3", "2011Q4"
OPTIONS: dict[str, Any] = {
    "k": 4, "theta": "1/2", "on_infeasible": "withhold", "seed": 1, "own_theta": "lit_ref",
    "ids": "original",
}  # fmt: skip


@pytest.fixture
def engine() -> Iterator[Engine]:
    con = duckdb.connect()
    with Engine(con) as opened:
        yield opened
    con.close()


def reports(draw: random.Random, cases: range, version: int = 1) -> list[Report]:
    """Cases with two of forty values each, the first of them more often."""
    return [
        Report(
            10 * case + version, case, age=str(draw.randint(20, 80)), sex=draw.choice("MF"),
            wt=str(draw.randint(50, 90)), drugs=("Drug",),
            pt=tuple({f"V{int(40 * draw.random() ** 2)}" for _ in range(2)}),
        )
        for case in cases
    ]  # fmt: skip


def ask(engine: Engine, own: Mapping[int, str]) -> None:
    """Write them into the column; what the quarter was ingested with stays otherwise."""
    for case, text in own.items():
        engine.con.execute("UPDATE raw_faers.demo SET lit_ref = ? WHERE caseid = ?", [text, case])


def catalogued(engine: Engine) -> dict[str, Fraction]:
    found = engine.con.execute("SELECT term, theta_num, theta_den FROM srsql.threshold").fetchall()
    return {term: Fraction(num, den) for term, num, den in found}


@pytest.mark.parametrize("seed", range(6))
def test_no_value_of_a_patient_is_concluded_with_more_than_their_own_threshold(
    engine: Engine, tmp_path: Path, seed: int
) -> None:
    draw = random.Random(seed)
    engine.ingest([write_quarter(tmp_path, Q4, reports(draw, range(1, 121)))])
    texts = {case: draw.choice(["1/4", "0.25", "1/3", ".4"]) for case in range(1, 121, 7)}
    ask(engine, texts)
    engine.release(Q4, model="ms", **OPTIONS)
    own = {case: Fraction(text) for case, text in texts.items()}
    groups, values = (
        regions(engine.con, "release_2011q4").values(),
        terms_of(engine.con, "release_2011q4"),
    )
    shown = own.keys() & set().union(*groups)
    assert shown
    assert not broken(groups, values, own)
    thresholds = {term.lower(): theta for term, theta in catalogued(engine).items()}
    assert all(thresholds[value] <= own[case] for case in shown for value in values[case])


def test_the_same_holds_of_what_attacks_on_a_series_leave(engine: Engine, tmp_path: Path) -> None:
    """New cases alone carry the bounds of later quarters; audits take the lowered thresholds."""
    draw = random.Random(3)
    first, second = reports(draw, range(1, 101)), reports(draw, range(61, 181), version=2)
    engine.ingest([write_quarter(tmp_path, Q3, first), write_quarter(tmp_path, Q4, second)])
    own = dict.fromkeys(range(5, 181, 11), "1/4")
    ask(engine, own)
    for quarter in (Q3, Q4):
        engine.release(quarter, model="ppms++", **OPTIONS)
    assert engine.audit().safe
    schema = "release_2011q4"
    groups = regions(engine.con, schema).values()
    fractions = {case: Fraction(text) for case, text in own.items()}
    new = {case for group in groups for case in group if case > 100}
    assert fractions.keys() & new
    assert not broken(groups, terms_of(engine.con, schema), fractions, new)


@pytest.mark.parametrize("model", ["ms", "ppms++"])
def test_who_asked_once_need_not_ask_again(engine: Engine, tmp_path: Path, model: str) -> None:
    """Reports of the later quarter are silent; of cases withheld in the first one, too."""
    draw = random.Random(1)
    first, second = reports(draw, range(1, 101)), reports(draw, range(1, 201), version=2)
    engine.ingest([write_quarter(tmp_path, Q3, first), write_quarter(tmp_path, Q4, second)])
    ask(engine, dict.fromkeys(range(1, 101, 5), "1/4"))
    engine.con.execute("UPDATE raw_faers.demo SET lit_ref = '' WHERE quarter = ?", [Q4])
    for quarter in (Q3, Q4):
        engine.release(quarter, model=model, **OPTIONS)
    groups = regions(engine.con, "release_2011q4").values()
    own = dict.fromkeys(range(1, 101, 5), Fraction(1, 4))
    assert own.keys() & set().union(*groups)
    assert not broken(groups, terms_of(engine.con, "release_2011q4"), own)
    ((total,),) = engine.sql(
        "SELECT m.total FROM srsql.measure AS m WHERE m.measure = 'check_own_theta' "
        "AND m.release_id = 2 AND m.scope = 'value of a region'"
    )
    assert total, "the check looked"


def test_a_maker_that_forgets_them_is_found_by_the_rows_alone(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    same = [
        Report(10 * n + 1, n, age="40", sex="M", wt="70", pt=(f"V{n % 8}",)) for n in range(1, 33)
    ]
    engine.ingest([write_quarter(tmp_path, Q4, same)], allow_incomplete=True)
    ask(engine, {1: "1/20"})

    def forgets(*given: Any) -> None:
        lower_thresholds(*given)
        engine.con.execute("DELETE FROM temp.main.srsql_withheld")
        engine.con.execute(
            "INSERT INTO temp.main.srsql_profile SELECT c.case_no, 7, 7, true, 0 "
            "FROM temp.main.srsql_case AS c WHERE c.case_id = 1"
        )

    monkeypatch.setattr("srsql.engine.release.stages.cases.lower_thresholds", forgets)
    with pytest.raises(CheckFailedError, match="check_own_theta"):
        engine.release(Q4, model="ms", **OPTIONS)


def test_who_asks_for_more_than_groups_can_keep_is_withheld_and_nobody_else_pays(
    engine: Engine, tmp_path: Path
) -> None:
    """1/4 of 40 cases hold V0, and k = 4: neither 0.3 nor 1/10 can be had."""
    same = [
        Report(10 * n + 1, n, age="40", sex="M", wt="70", pt=(f"V{n % 4}", f"Own {n}"))
        for n in range(1, 41)
    ]
    engine.ingest([write_quarter(tmp_path, Q4, same)], allow_incomplete=True)
    ask(engine, {4: "0.3", 5: "1/10", 6: "0"})
    engine.release(Q4, model="ms", **OPTIONS)
    found = engine.con.execute(
        "SELECT w.case_id, w.reason FROM srsql.withheld AS w ORDER BY 1"
    ).fetchall()
    assert found == [(case, "own_threshold") for case in "456"]
    assert set(catalogued(engine).values()) == {Fraction(1, 2)}


def test_neither_thresholds_nor_who_asked_are_published_and_verification_says_so(
    engine: Engine, tmp_path: Path
) -> None:
    draw = random.Random(1)
    engine.ingest([write_quarter(tmp_path, Q4, reports(draw, range(1, 121)))])
    ask(engine, dict.fromkeys(range(1, 121, 9), "0.25"))
    engine.release(Q4, model="ms", **OPTIONS)
    assert Fraction(1, 4) in catalogued(engine).values()
    (told,) = rows(engine.con, "SELECT * FROM release_2011q4.manifest")
    assert {each["theta"] for each in told["thresholds"]} == {0.5}
    assert told["own_theta"] == "lit_ref"
    assert engine.con.execute("SELECT count(*) FROM srsql.asked_threshold").fetchone() != (0,)
    folder = tmp_path / "out"
    engine.publish(Q4, to=folder)
    for one, other in pairwise((folder / "value-thresholds.csv").read_text().splitlines()[1:]):
        assert one.rsplit(",", 2)[1:] == other.rsplit(",", 2)[1:]
    verdict = verify([folder])
    assert verdict.passed
    assert any(
        "patients asked for of their own, in lit_ref" in text for text in verdict.cannot_show
    )


@pytest.mark.parametrize("theta", ["1/2", "frequency"])
def test_a_draft_of_them_is_confirmed_and_a_forgotten_patient_taken_out(
    engine: Engine, tmp_path: Path, theta: str
) -> None:
    """What the policy gave is told of each version, and what patients lowered stays so."""
    draw = random.Random(1)
    engine.ingest([write_quarter(tmp_path, Q4, reports(draw, range(1, 121)))])
    ask(engine, dict.fromkeys(range(1, 121, 9), "0.25"))
    engine.release(Q4, model="ms", draft=True, **{**OPTIONS, "theta": theta})
    engine.release.confirm(Q4)
    before = catalogued(engine)
    assert Fraction(1, 4) in before.values()
    (case,) = rows(engine.con, "SELECT case_id FROM srsql.member LIMIT 1")
    engine.steward.forget([case["case_id"]], reason="asked")
    assert engine.release.correct(Q4).version == 2
    assert catalogued(engine).items() <= before.items()
    (told,) = rows(engine.con, "SELECT * FROM release_2011q4.manifest")
    assert 0.25 not in {each["theta"] for each in told["thresholds"]}


def test_a_draft_is_not_confirmed_once_its_patients_ask_for_more(
    engine: Engine, tmp_path: Path
) -> None:
    engine.ingest([write_quarter(tmp_path, Q4, reports(random.Random(1), range(1, 121)))])
    ask(engine, {1: "0.25"})
    engine.release(Q4, model="ms", draft=True, **OPTIONS)
    ask(engine, dict.fromkeys(range(1, 121), "1/10"))
    with pytest.raises(CheckFailedError, match="check_own_theta"):
        engine.release.confirm(Q4)


@pytest.mark.parametrize("wrong", ["theta_num + 1", "theta_num - 1"])
def test_another_threshold_than_the_policy_gave_is_found_of_lowered_values_too(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    engine.ingest([write_quarter(tmp_path, Q4, reports(random.Random(1), range(1, 121)))])
    ask(engine, dict.fromkeys(range(1, 121, 9), "0.25"))

    def lies(*given: Any) -> None:
        lower_thresholds(*given)
        engine.con.execute(
            f"UPDATE temp.main.srsql_asked_theta SET theta_num = {wrong}, theta_den = 3"
        )

    monkeypatch.setattr("srsql.engine.release.stages.cases.lower_thresholds", lies)
    with pytest.raises(CheckFailedError, match="check_asked"):
        engine.release(Q4, model="ms", **OPTIONS)


def test_a_text_that_is_no_threshold_is_refused_without_being_told(
    engine: Engine, tmp_path: Path
) -> None:
    engine.ingest([write_quarter(tmp_path, Q4, reports(random.Random(2), range(1, 41)))])
    ask(engine, {1: "secret", 2: "1.5", 3: "1/0", 4: "0.2"})
    with pytest.raises(ReleaseError, match="3 reports have a text there") as error:
        engine.release(Q4, model="ms", **OPTIONS)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    "text", ["0", "1", "0.2", ".25", "1/3", " 2/7 ", "0.123456789", "1.0", "999999999/999999999"]
)
def test_a_threshold_is_read_as_the_fraction_that_it_is(engine: Engine, text: str) -> None:
    (found,) = engine.con.execute("SELECT srsql.own_fraction(?)", [text]).fetchall()[0]
    assert Fraction(found["num"], found["den"]) == Fraction(text.strip())


@pytest.mark.parametrize("text", ["", "x", "1.1", "2/1", "1/0", "-0.1", "1e-3", "nan", "0.1.2"])
def test_anything_else_is_no_threshold(engine: Engine, text: str) -> None:
    assert engine.con.execute("SELECT srsql.own_fraction(?)", [text]).fetchall() == [(None,)]


@pytest.mark.parametrize("seed", range(40))
def test_the_check_finds_what_the_definition_finds(sql: Any, seed: int) -> None:
    draw = random.Random(seed)
    cases = range(draw.randint(3, 25))
    region = {case: draw.choice("ab") for case in cases}
    carries = {case: draw.random() < 0.8 for case in cases}
    values = {case: {draw.choice("stuv") for _ in range(draw.randint(0, 2))} for case in cases}
    own = {case: Fraction(draw.randint(0, 6), 6) for case in cases if draw.random() < draw.random()}
    rows_of = sql.table(
        "rows_of", "region VARCHAR, case_id INTEGER, carries BOOLEAN",
        [(region[case], case, carries[case]) for case in cases],
    )  # fmt: skip
    values_of = sql.table(
        "values_of", "case_id INTEGER, term VARCHAR",
        [(case, value) for case in cases for value in values[case]],
    )  # fmt: skip
    own_of = sql.table(
        "own_of", "case_id INTEGER, own DOUBLE", [(case, float(t)) for case, t in own.items()]
    )
    found = sql.rows(
        f"SELECT scope, violating FROM srsql.check_own_theta({rows_of}, {values_of}, {own_of}, 1)"
    )
    groups = {name: {case for case in cases if region[case] == name} for name in "ab"}
    carrying = {case for case in cases if carries[case]}
    due = {
        (name, value)
        for name, group in groups.items()
        for _, value in broken([group], values, own, carrying)
    }
    assert dict(found)["value of a region"] == len(due)
    held = {value for case in own for value in values[case]}
    assert dict(found)["threshold of a value"] == len(held)  # none is in the catalog
