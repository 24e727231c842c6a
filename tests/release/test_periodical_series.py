"""The life of a periodical series: turns, drafts, ranges, and cases that come, go and change."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from support.command import srsql
from support.files import copied
from support.people import (
    OPTIONS,
    ORIGINAL,
    PERIODICAL,
    audited,
    ingest,
    new_cases,
    people,
    person,
    reasons,
    shown,
)
from support.quarters import write_quarter
from support.released import content, exported, rows, schemas

from srsql.engine.api.engine import Engine
from srsql.engine.errors import (
    CheckFailedError,
    NothingToReleaseError,
    ReleaseError,
    SrsqlError,
)

pytestmark = pytest.mark.slow

BFL = (*(pytest.param(m, marks=pytest.mark.thorough) for m in ("ppms", "ppms-ear")), "ppms++")
EACH = (*BFL, pytest.param("ppms-alpha", marks=pytest.mark.thorough))
SERIES = {
    "2011Q1": people(range(1, 21)),
    "2011Q2": people(range(11, 31), 2),
    "2011Q3": people(range(26, 46), 3),
    "2011Q4": people([*range(1, 6), *range(41, 61)], 4),
}


@pytest.fixture
def db(kept: Path, tmp_path: Path) -> Path:
    """Four quarters of some twenty cases; new ones that stop in each; the first five come back."""
    return copied(kept / "people", tmp_path / "w.duckdb", SERIES)


@pytest.fixture
def loaded(db: Path) -> Iterator[Engine]:
    with Engine(db) as opened:
        yield opened


@pytest.mark.parametrize("model", EACH)
def test_quarters_come_out_in_order_once_and_the_series_is_safe(loaded: Engine, model: str) -> None:
    first = loaded.release("2011Q1", model=model, **OPTIONS)
    second = loaded.release("2011Q2", model=model, **OPTIONS)
    assert new_cases(loaded, first.release_id) <= set(range(1, 21))
    assert new_cases(loaded, second.release_id) <= set(range(21, 31))
    before = content(loaded.con)
    with pytest.raises(ReleaseError, match=r"2011Q2 is already released .*immutable"):
        loaded.release("2011Q2", model=model, **OPTIONS)
    with pytest.raises(ReleaseError, match="2011Q1 is already released"):
        loaded.release("2011Q1", model=model, **OPTIONS)
    assert content(loaded.con) == before
    audited(loaded)


@pytest.mark.thorough
def test_the_models_of_the_family_can_follow_each_other(loaded: Engine) -> None:
    for quarter, model in zip(SERIES, ("ppms-ear", "ppms-alpha", "ppms", "ppms++"), strict=True):
        loaded.release(quarter, model=model, change=True, weaker=True, **OPTIONS)
    assert {row.model for row in audited(loaded).releases} == set(PERIODICAL)


# --supersede


@pytest.mark.thorough
@pytest.mark.parametrize("model", PERIODICAL)
def test_a_quarter_that_is_out_is_not_grouped_anew_and_the_way_out_is_named(
    loaded: Engine, model: str
) -> None:
    loaded.release("2011Q1", model=model, **OPTIONS)
    before = content(loaded.con)
    for options in ({}, {"draft": True}, {"k": 5}):
        with pytest.raises(
            ReleaseError, match=r"'srsql correct --quarter 2011Q1'.*another --series"
        ):
            loaded.release("2011Q1", model=model, **OPTIONS | options, supersede=True)
    assert content(loaded.con) == before


@pytest.mark.thorough
@pytest.mark.parametrize("model", BFL)
def test_a_case_first_published_later_stays_out_of_an_earlier_quarter_that_is_made_late(
    loaded: Engine, tmp_path: Path, model: str
) -> None:
    loaded.release("2011Q2", model=model, **OPTIONS)
    again = people([*range(1, 11), 21, 22, 23, *range(101, 111)])
    ingest(loaded, tmp_path / "more", {"2011Q1": again}, replace=True)
    made = loaded.release("2011Q1", model=model, **OPTIONS, supersede=True)
    assert reasons(loaded, made.release_id)["released_later"] == {21, 22, 23}
    assert new_cases(loaded, made.release_id) == {*range(1, 11), *range(101, 111)}
    audited(loaded)


# drafts


@pytest.mark.thorough
@pytest.mark.parametrize("model", EACH)
def test_a_draft_is_no_appearance_and_confirmed_it_is_the_release_made_at_once(
    loaded: Engine, kept: Path, tmp_path: Path, model: str
) -> None:
    loaded.release("2011Q1", model=model, **ORIGINAL)
    for seed in (7, 1):
        draft = loaded.release("2011Q2", model=model, **ORIGINAL | {"seed": seed}, draft=True)
    assert new_cases(loaded, draft.release_id) <= set(range(21, 31))
    assert {row.quarter for row in audited(loaded).releases} == {"2011Q1"}
    confirmed = loaded.confirm("2011Q2")
    with Engine(copied(kept / "people", tmp_path / "other.duckdb", SERIES)) as other:
        for quarter in ("2011Q1", "2011Q2"):
            made = other.release(quarter, model=model, **ORIGINAL)
        assert exported(loaded.con, confirmed.schema, tmp_path / "a") == exported(
            other.con, made.schema, tmp_path / "b"
        )
    assert {row.quarter for row in audited(loaded).releases} == {"2011Q1", "2011Q2"}


@pytest.mark.thorough
def test_a_draft_is_stale_once_an_earlier_quarter_was_corrected(loaded: Engine) -> None:
    loaded.release("2011Q1", **OPTIONS)
    loaded.release("2011Q2", **OPTIONS, draft=True)
    loaded.con.execute("INSERT INTO srsql.deleted_case VALUES ('faers', '1', 1)")
    loaded.correct("2011Q1")
    before = content(loaded.con)
    with pytest.raises(ReleaseError, match="2011Q1 was released after this draft of 2011Q2"):
        loaded.confirm("2011Q2")
    assert content(loaded.con) == before
    loaded.release("2011Q2", **OPTIONS, draft=True)
    loaded.confirm("2011Q2")
    audited(loaded)


@pytest.mark.thorough
def test_a_draft_is_stale_once_its_source_was_replaced_or_a_case_of_it_deleted(
    loaded: Engine, tmp_path: Path
) -> None:
    loaded.release("2011Q1", **OPTIONS)
    loaded.release("2011Q2", **OPTIONS, draft=True)
    ingest(loaded, tmp_path / "a", {"2011Q2": people(range(11, 32), 2)}, replace=True)
    with pytest.raises(ReleaseError, match="source was replaced or cases of it were deleted"):
        loaded.confirm("2011Q2")
    loaded.release("2011Q2", **OPTIONS, draft=True)
    loaded.ingest([write_quarter(tmp_path / "b", "2012Q1", people(range(60, 65)), deleted=[25])])
    with pytest.raises(ReleaseError, match="source was replaced or cases of it were deleted"):
        loaded.confirm("2011Q2")
    made = loaded.release("2011Q2", **OPTIONS, draft=True)
    assert made.manifest["withheld"]["deleted"]["cases"] == 1
    assert loaded.confirm("2011Q2").status == "released"


@pytest.mark.thorough
def test_a_draft_is_audited_again_before_it_is_exposed(loaded: Engine, tmp_path: Path) -> None:
    """All but one who were counted as stopping are in the next quarter by now."""
    loaded.release("2011Q1", model="ppms-alpha", **OPTIONS, draft=True)
    ingest(loaded, tmp_path / "more", {"2011Q2": people(range(2, 31), 2)}, replace=True)
    before = content(loaded.con)
    with pytest.raises(CheckFailedError, match="2011Q1 failed its own audit"):
        loaded.confirm("2011Q1")
    assert content(loaded.con) == before


# ranges


def with_an_empty_quarter(engine: Engine, folder: Path) -> None:
    """2011Q2 has two cases, fewer than k."""
    ingest(engine, folder, SERIES | {"2011Q2": people([11, 99], 2)})


@pytest.mark.thorough
@pytest.mark.parametrize("model", BFL)
def test_a_range_releases_each_quarter_and_an_empty_one_where_nothing_can_be(
    engine: Engine, tmp_path: Path, model: str
) -> None:
    with_an_empty_quarter(engine, tmp_path)
    made = engine.release_range("2011Q1:2011Q4", model=model, **OPTIONS)
    assert [r.quarter for r in made.released] == list(SERIES)
    assert made.already == []
    empty = made.released[1]
    assert (empty.manifest["groups"], empty.manifest["cases"]["released"]) == (0, 0)
    assert reasons(engine, empty.release_id) == {"too_few_new_cases": {11, 99}}
    assert set(empty.rows.values()) == {0}
    (facts,) = rows(engine.con, "FROM release_2011q2.manifest")
    assert (facts["model"], facts["released_cases"], facts["thresholds"]) == (model, 0, [])
    assert "2011Q2" not in {q for (q,) in engine.sql("SELECT quarter FROM released.demo")}
    assert {row.quarter for row in audited(engine).releases} == set(SERIES)


@pytest.mark.thorough
def test_a_range_goes_on_where_one_stopped(db: Path, tmp_path: Path, kept: Path) -> None:
    """Half of it, a stop in the middle of a quarter, then the whole range once more."""

    def stop(said: str) -> None:
        if said == "0 of 2 quarters; 2011Q3: regions":
            raise KeyboardInterrupt

    with Engine(db) as engine:
        assert len(engine.release_range("2011Q1:2011Q2", **ORIGINAL).released) == 2
        before = content(engine.con)
        with pytest.raises(KeyboardInterrupt):
            engine.release_range("2011Q1:2011Q4", **ORIGINAL, progress=stop)
        assert content(engine.con) == before
    with Engine(db) as engine:
        made = engine.release_range("2011Q1:2011Q4", **ORIGINAL)
        assert made.already == ["2011Q1", "2011Q2"]
        assert [r.quarter for r in made.released] == ["2011Q3", "2011Q4"]
        again = engine.release_range("2011Q1:2011Q4", **ORIGINAL)
        assert (again.released, again.already) == ([], list(SERIES))
        resumed = content(engine.con)
    with Engine(copied(kept / "people", tmp_path / "other.duckdb", SERIES)) as other:
        other.release_range("2011Q1:2011Q2", **ORIGINAL)
        other.sql("SELECT nextval('srsql.release_ids')")  # the number of what was stopped is gone
        other.release_range("2011Q1:2011Q4", **ORIGINAL)
        assert content(other.con) == resumed


@pytest.mark.thorough
def test_the_quarters_before_the_one_that_is_refused_stay_out(loaded: Engine) -> None:
    with pytest.raises(ReleaseError, match="needs the cases of the quarter after 2011Q4"):
        loaded.release_range("2011Q1:2011Q4", model="ppms-alpha", **OPTIONS)
    assert schemas(loaded.con) == {"release_2011q1", "release_2011q2", "release_2011q3"}
    audited(loaded)


@pytest.mark.thorough
def test_a_range_does_not_fill_a_gap_before_what_is_out(loaded: Engine) -> None:
    loaded.release("2011Q2", **OPTIONS)
    before = content(loaded.con)
    with pytest.raises(ReleaseError, match="2011Q1 comes before 2011Q2"):
        loaded.release_range("2011Q1:2011Q3", **OPTIONS)
    assert content(loaded.con) == before


@pytest.mark.parametrize(
    ("quarters", "options", "words"),
    [
        ("2011Q1:2012Q1", {}, "2012Q1 of dataset faers is not in the warehouse"),
        ("2010Q4:2011Q2", {}, "2010Q4 of dataset faers is not in the warehouse"),
        ("2011Q3:2011Q1", {}, "2011Q3 comes after 2011Q1"),
        ("2011Q1:", {}, "FIRST:LAST"),
        (":2011Q2", {}, "FIRST:LAST"),
        ("2011Q1:2011Q2:2011Q3", {}, "FIRST:LAST"),
        ("2011Q1:2011Q2", {"draft": True}, "take one quarter, not a range"),
        ("2011Q1:2011Q2", {"supersede": True}, "take one quarter, not a range"),
    ],
)
def test_what_is_no_range_is_refused_and_nothing_changes(
    loaded: Engine, quarters: str, options: dict[str, Any], words: str
) -> None:
    before = content(loaded.con)
    with pytest.raises(ReleaseError, match=words):
        loaded.release_range(quarters, **OPTIONS, **options)
    assert content(loaded.con) == before


@pytest.mark.thorough
def test_a_range_from_the_command_line(db: Path) -> None:
    options = ("--db", db, "--k", 3, "--theta", "0.5", "--seed", 1, "--ids", "pseudonym")
    first = srsql("release", "--quarter", "2011Q1:2011Q2", *options)
    assert (first.code, first.err) == (0, "")
    *rows, audited = first.out.splitlines()[2:]
    assert [line.split()[0] for line in rows] == ["2011Q1", "2011Q2"]
    assert "then the whole series in full (2 releases" in audited
    assert audited.endswith(": safe")
    told = srsql("release", "--quarter", "2011Q1:2011Q3", *options, "--json").json
    assert (told["already"], [r["quarter"] for r in told["released"]]) == (
        ["2011Q1", "2011Q2"],
        ["2011Q3"],
    )
    done = srsql("release", "--quarter", "2011Q1:2011Q3", *options)
    assert "nothing to do" in done.out
    refused = srsql("release", "--quarter", "2011Q1:2011Q3", *options, "--confirm")
    assert (refused.code, refused.out) == (2, "")
    assert srsql("audit", "--db", db, "--json").code == 0


# nothing to release


@pytest.mark.thorough
def test_a_quarter_in_which_nothing_can_be_released_says_so_and_changes_nothing(
    engine: Engine, tmp_path: Path
) -> None:
    with_an_empty_quarter(engine, tmp_path)
    engine.release("2011Q1", **OPTIONS)
    before = content(engine.con)
    with pytest.raises(NothingToReleaseError, match="nothing of 2011Q2 can be released"):
        engine.release("2011Q2", **OPTIONS)
    assert content(engine.con) == before
    db = engine.warehouse.path
    engine.close()
    answer = srsql("release", "--quarter", "2011Q2", "--k", 3, "--theta", "0.5", "--db", db)
    assert (answer.code, answer.out) == (3, "")
    (line,) = answer.err.splitlines()
    assert "nothing of 2011Q2 can be released" in line
    assert "too_few_new_cases 2" in line
    with Engine(str(db)) as again:
        assert content(again.con) == before
        assert again.release("2011Q3", **OPTIONS).status == "released"


# cases that go, change and come back


@pytest.mark.thorough
@pytest.mark.parametrize("model", BFL)
def test_a_case_withdrawn_in_the_middle_of_a_series_stays_out_from_then_on(
    engine: Engine, tmp_path: Path, model: str
) -> None:
    for quarter, reports in SERIES.items():
        deleted = [12, 15] if quarter == "2011Q2" else []
        source = write_quarter(tmp_path, quarter, reports, deleted=deleted)
        engine.ingest([source], allow_incomplete=True)
        made = engine.release(quarter, model=model, **ORIGINAL)
        assert reasons(engine, made.release_id).get("deleted", set()) == set(deleted)
    assert {12, 15} <= set(shown(engine, "release_2011q1"))
    assert {12, 15}.isdisjoint(shown(engine, "release_2011q2"))
    audited(engine)


def span(engine: Engine, quarter: str, case: int, name: str = "age") -> tuple[int, int]:
    row = shown(engine, f"release_{quarter.lower()}")[case]
    return row[f"{name}_low"], row[f"{name}_high"]


def covers(outer: tuple[int, int], inner: tuple[int, int]) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


@pytest.mark.thorough
@pytest.mark.parametrize("model", EACH)
def test_the_region_of_a_case_whose_age_changes_covers_its_earlier_ones(
    engine: Engine, tmp_path: Path, model: str
) -> None:
    """Young in the first and third quarter, said to be ninety in the second."""
    first = people(range(1, 21), age="25")
    second = [*people([1, 2], 2, age="90"), *people(range(21, 33), 2)]
    third = [*people([1, 2], 3, age="25"), *people(range(33, 45), 3)]
    quarters = {"2011Q1": first, "2011Q2": second, "2011Q3": third}
    ingest(engine, tmp_path, quarters | {"2011Q4": people(range(60, 70))})
    for quarter in quarters:
        engine.release(quarter, model=model, **ORIGINAL)
    for case in {1, 2} & shown(engine, "release_2011q2").keys():
        ages = [span(engine, q, case) for q in ("2011Q1", "2011Q2")]
        assert covers(ages[1], ages[0])
        assert ages[1][1] >= 90
    back = {1, 2} & shown(engine, "release_2011q2").keys() & shown(engine, "release_2011q3").keys()
    assert back
    for case in back:
        ages = [span(engine, q, case) for q in quarters]
        assert covers(ages[2], ages[0])
        assert covers(ages[2], ages[1]) == (model == "ppms")
    rows_of = {row.quarter: row for row in audited(engine, scopes=["group"]).releases}
    assert rows_of["2011Q3"].qid_bounding_earliest == 0
    assert (rows_of["2011Q3"].qid_bounding == 0) == (model == "ppms")


@pytest.mark.thorough
@pytest.mark.parametrize("model", EACH)
def test_an_age_that_was_missing_in_an_earlier_release_is_published_as_missing(
    engine: Engine, tmp_path: Path, model: str
) -> None:
    first = [*people(range(1, 11)), *people(range(11, 21), age="")]
    second = [*people(range(11, 15), 2, age="33"), *people(range(21, 33), 2),
              *people(range(33, 37), 2, age="")]  # fmt: skip
    ingest(engine, tmp_path, {"2011Q1": first, "2011Q2": second, "2011Q3": people([90])})
    for quarter in ("2011Q1", "2011Q2"):
        engine.release(quarter, model=model, **ORIGINAL)
    found = shown(engine, "release_2011q2")
    assert found.keys() & set(range(11, 15))
    for case in found.keys() & set(range(11, 15)):
        assert (found[case]["age_low"], found[case]["age_high"]) == (None, None)
    audited(engine)


@pytest.mark.thorough
@pytest.mark.parametrize("model", EACH)
def test_a_case_that_lacks_a_value_in_a_later_quarter_is_published_without_it(
    engine: Engine, tmp_path: Path, model: str
) -> None:
    second = [*people(range(11, 15), 2, age=""), *people(range(21, 33), 2),
              *people(range(33, 37), 2, age="")]  # fmt: skip
    quarters = {"2011Q1": people(range(1, 21)), "2011Q2": second, "2011Q3": people([90])}
    ingest(engine, tmp_path, quarters)
    for quarter in ("2011Q1", "2011Q2"):
        engine.release(quarter, model=model, **ORIGINAL)
    found = shown(engine, "release_2011q2")
    assert found.keys() & set(range(11, 15))
    for case in found.keys() & set(range(11, 15)):
        assert (found[case]["age_low"], found[case]["age_high"]) == (None, None)
    audited(engine)


@pytest.mark.thorough
@pytest.mark.parametrize("model", BFL)
def test_a_quarter_that_withheld_a_case_is_no_appearance_of_it(
    engine: Engine, tmp_path: Path, model: str
) -> None:
    levels = tmp_path / "levels.csv"
    levels.write_text("value,theta\nSecret,0\n*,0.5\n")
    first = [*people(range(1, 21)), person(30, pt=("Secret",), age="90")]
    ingest(engine, tmp_path, {"2011Q1": first, "2011Q2": people([*range(11, 21), *range(30, 43)])})
    options: dict[str, Any] = OPTIONS | {"theta": f"levels:{levels}", "on_infeasible": "withhold"}
    made = engine.release("2011Q1", model=model, **options)
    assert reasons(engine, made.release_id) == {"infeasible": {30}}
    made = engine.release("2011Q2", model=model, **options)
    assert 30 in new_cases(engine, made.release_id)
    audited(engine)


@pytest.mark.thorough
@pytest.mark.parametrize("model", EACH)
def test_a_case_that_returns_after_a_gap_is_old_and_its_region_covers_the_first(
    loaded: Engine, tmp_path: Path, model: str
) -> None:
    ingest(loaded, tmp_path / "next", {"2012Q1": people(range(60, 70))})
    for quarter in SERIES:
        made = loaded.release(quarter, model=model, **ORIGINAL)
    assert new_cases(loaded, made.release_id).isdisjoint(range(1, 6))
    back = set(range(1, 6)) & shown(loaded, "release_2011q4").keys()
    back &= shown(loaded, "release_2011q1").keys()
    assert back
    for case in back:
        assert covers(span(loaded, "2011Q4", case), span(loaded, "2011Q1", case))
    audited(loaded)


# ppms-alpha


@pytest.mark.thorough
def test_ppms_alpha_needs_the_next_quarter_or_leave_to_assume(loaded: Engine) -> None:
    before = content(loaded.con)
    with pytest.raises(ReleaseError, match=r"ingest it first, or give --assume-md all .*MD-attack"):
        loaded.release("2011Q4", model="ppms-alpha", **OPTIONS)
    assert content(loaded.con) == before
    made = loaded.release("2011Q4", model="ppms-alpha", assume_md="all", **OPTIONS)
    (facts,) = rows(loaded.con, "FROM release_2011q4.manifest")
    assert (facts["assume_md"], facts["attacks"], facts["alpha"]) == ("all", "b,f,l,ss", "1/2")
    assert "stops after one" in facts["guarantee"]
    assert "medication-discontinuation" not in facts["guarantee"]
    assert made.manifest["assume_md"] == "all"
    for row in audited(loaded).releases:
        assert (row.attacks, row.undefended) == (("b", "f", "l", "ss"), ("md", "p"))


@pytest.mark.thorough
def test_who_stops_is_told_by_the_quarter_just_after_and_not_by_the_next_one_that_is_there(
    engine: Engine, tmp_path: Path
) -> None:
    third = people([*range(1, 21), *range(70, 101)], 3)
    ingest(engine, tmp_path, {"2011Q1": people(range(1, 41)), "2011Q3": third})
    with pytest.raises(ReleaseError, match="needs the cases of the quarter after 2011Q1"):
        engine.release("2011Q1", model="ppms-alpha", **OPTIONS)
    ingest(engine, tmp_path / "more", {"2011Q2": people(range(31, 61), 2)})
    engine.release("2011Q1", model="ppms-alpha", **OPTIONS)
    made = engine.release("2011Q3", model="ppms++", change=True, weaker=True, **OPTIONS)
    assert made.manifest["gap"] == "2011Q2 is missing between 2011Q1 and 2011Q3"
    assert "promised_absent" not in reasons(engine, made.release_id)
    found = audited(engine)
    assert found.gaps == ("2011Q2 is missing between 2011Q1 and 2011Q3",)
    assert found.without_calendar == ()


@pytest.mark.thorough
def test_the_audit_of_an_assumption_leaves_md_out_and_finds_it_open_when_asked(
    engine: Engine, tmp_path: Path
) -> None:
    """All of the first quarter but one go on, so the one is not hidden among others who stop."""
    quarters = {"2011Q1": people(range(1, 21)), "2011Q2": people(range(2, 41), 2)}
    ingest(engine, tmp_path, quarters)
    for quarter in quarters:
        engine.release(quarter, model="ppms-alpha", assume_md="all", **OPTIONS)
    db = engine.warehouse.path
    engine.close()
    usual = srsql("audit", "--db", db, "--quarter", "2011Q1", "--json")
    assert usual.code == 0
    assert {tuple(row["attacks"]) for row in usual.json["releases"]} == {("b", "f", "l", "ss")}
    asked = srsql("audit", "--db", db, "--quarter", "2011Q1", "--attacks", "b,f,l,md")
    assert asked.code == 1
    assert "MD" in asked.out


@pytest.mark.thorough
@pytest.mark.parametrize("model", EACH)
def test_a_case_that_was_counted_as_stopping_stays_out_of_the_next_quarter(
    loaded: Engine, tmp_path: Path, model: str
) -> None:
    loaded.release("2011Q1", model="ppms-alpha", **ORIGINAL)
    ingest(loaded, tmp_path, {"2011Q2": people([3, 4, *range(11, 31)], 2)}, replace=True)
    other: dict[str, Any] = {"model": model, "change": True, "weaker": True}
    made = loaded.release("2011Q2", **other, **ORIGINAL)
    stopped = {3, 4} & shown(loaded, "release_2011q1").keys()
    assert stopped
    assert reasons(loaded, made.release_id)["promised_absent"] == stopped
    audited(loaded)
    third = loaded.release("2011Q3", **other, **ORIGINAL)
    assert "promised_absent" not in reasons(loaded, third.release_id)
    audited(loaded)


@pytest.mark.thorough
def test_a_case_that_was_withheld_as_promised_absent_may_return_a_quarter_later(
    loaded: Engine, tmp_path: Path
) -> None:
    loaded.release("2011Q1", model="ppms-alpha", **OPTIONS)
    ingest(loaded, tmp_path, {"2011Q3": people([3, 4, *range(26, 46)], 3)}, replace=True)
    loaded.release("2011Q2", model="ppms-alpha", **OPTIONS)
    third = loaded.release("2011Q3", model="ppms-alpha", **OPTIONS)
    assert "promised_absent" not in reasons(loaded, third.release_id)
    assert {3, 4}.isdisjoint(new_cases(loaded, third.release_id))
    audited(loaded)


@pytest.mark.thorough
@pytest.mark.parametrize(("alpha", "many"), [("1/2", 4), ("1/4", 4), ("0.25", 10)])
def test_no_group_shows_substantial_symptoms_more_often_than_alpha(
    engine: Engine, tmp_path: Path, alpha: str, many: int
) -> None:
    first = people(range(1, 41))
    for n in range(many):
        first[n] = person(n + 1, pt=tuple(f"Symptom {n} {i}" for i in range(9)))
    ingest(engine, tmp_path, {"2011Q1": first, "2011Q2": people(range(50, 60))})
    made = engine.release("2011Q1", model="ppms-alpha", alpha=alpha, **OPTIONS)
    worst = engine.sql(
        "SELECT max(ss / cases) FROM (SELECT count(*) AS cases, count(*) FILTER (t.is_ss) AS ss "
        "FROM srsql.member AS m INNER JOIN srsql.case_flag AS t USING (release_id, case_no) "
        "GROUP BY m.group_id)"
    )[0][0]
    assert 0 < worst <= Fraction(alpha)
    assert made.manifest["k_effective"] == max(3, 1 / Fraction(alpha))
    assert {row.alpha for row in audited(engine).releases} == {str(Fraction(alpha))}


@pytest.mark.thorough
def test_weights_counted_in_parts_of_alpha_stay_within_64_bits(
    engine: Engine, tmp_path: Path
) -> None:
    knowledge = tmp_path / "knowledge.csv"
    knowledge.write_text("drug,disease\nX,Gout\nX,Migraine\nX,Asthma\n")
    quarters = {"2011Q1": people(range(1, 401), drugs=("X",)), "2011Q2": people([500])}
    ingest(engine, tmp_path, quarters)
    made = engine.release(
        "2011Q1", model="ppms-alpha", alpha="4986/9973", knowledge=knowledge, **OPTIONS
    )
    one = engine.sql("SELECT weight_scale FROM srsql.release")[0][0]
    assert one * 9973 * 400 < 2**62
    assert made.manifest["cases"]["released"] == 400


# families, options, the rule for substantial symptoms


@pytest.mark.thorough
@pytest.mark.parametrize(("first", "second"), [("ms", "ppms"), ("ppms++", "ms")])
def test_a_series_belongs_to_one_family_of_models(loaded: Engine, first: str, second: str) -> None:
    loaded.release("2011Q1", model=first, **OPTIONS)
    before = content(loaded.con)
    with pytest.raises(ReleaseError, match=r"holds \w+ releases and cannot take .*--series"):
        loaded.release("2011Q2", model=second, **OPTIONS)
    assert content(loaded.con) == before
    assert loaded.release("2011Q2", model=second, **OPTIONS, series="other").status == "released"


@pytest.mark.parametrize("model", ["ms", *BFL])
@pytest.mark.parametrize(
    ("option", "name"), [({"alpha": "0.5"}, "--alpha"), ({"assume_md": "all"}, "--assume-md")]
)
def test_an_option_of_ppms_alpha_is_refused_by_the_other_models(
    loaded: Engine, model: str, option: dict[str, Any], name: str
) -> None:
    with pytest.raises(ReleaseError, match=f"{name} does not apply to the model"):
        loaded.release("2011Q1", model=model, **OPTIONS, **option)


@pytest.mark.parametrize(
    "alpha", ["0", "1.5", "-1", "half", "1/0", "0.33333", "1/10007", "0.3333333333333333333333"]
)
def test_an_alpha_that_is_no_share_is_refused_in_one_line(loaded: Engine, alpha: str) -> None:
    with pytest.raises(SrsqlError, match="--alpha") as caught:
        loaded.release("2011Q1", model="ppms-alpha", alpha=alpha, **OPTIONS)
    assert "\n" not in str(caught.value)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("rule", "cutoffs", "found"),
    [
        ("mean+sd", {"pt": 3, "indi_pt": 1}, {1, 2, 3, 4}),
        ("Mean + SD", {"pt": 3, "indi_pt": 1}, {1, 2, 3, 4}),
        ("mean+2sd", {"pt": 4, "indi_pt": 2}, {1, 4}),
        ("mean + 1.5 * sd", {"pt": 4, "indi_pt": 1}, {1, 3, 4}),
        ("pt>=4", {"pt": 4, "indi_pt": None}, {1}),
        ("PT >= 3, indi_pt>=2", {"pt": 3, "indi_pt": 2}, {1, 2, 4}),
        ("indi_pt>=3", {"pt": None, "indi_pt": 3}, set()),
    ],
)
def test_the_rule_for_substantial_symptoms_counts_values_per_attribute(
    engine: Engine, tmp_path: Path, rule: str, cutoffs: dict[str, int | None], found: set[int]
) -> None:
    """20 cases: pt 6, 3 and else 1 (mean 1.35, sd 1.15), indi_pt 2, 1 and else 0 (0.15, 0.48)."""
    first = people(range(1, 21))
    for case, pt, indi in ((1, 6, 0), (2, 3, 0), (3, 1, 1), (4, 1, 2)):
        first[case - 1] = person(
            case,
            pt=tuple(f"R {case} {i}" for i in range(pt)),
            indi=tuple(f"D {case} {i}" for i in range(indi)),
        )
    ingest(engine, tmp_path, {"2011Q1": first})
    made = engine.release("2011Q1", **OPTIONS, ss_rule=rule)
    assert made.manifest["ss_rule"] == rule
    told = dict(engine.sql("SELECT attribute, cutoff FROM srsql.ss_rule"))
    assert told == cutoffs
    substantial = engine.sql(
        "SELECT m.case_id FROM srsql.case_flag AS t "
        "INNER JOIN srsql.member AS m USING (release_id, case_no) WHERE t.is_ss"
    )
    assert {int(case) for (case,) in substantial} == found


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("often", "--ss-rule 'often'"),
        ("", "--ss-rule ''"),
        ("pt>3", "mean[+]sd, mean[+]2sd, or counts"),
        ("pt>=3,", "--ss-rule 'pt>=3,'"),
        ("mean+xsd", "--ss-rule"),
        ("age>=3", "'age' is no sensitive attribute .it has: "),
    ],
)
def test_a_rule_that_is_none_is_refused_in_one_line(loaded: Engine, rule: str, words: str) -> None:
    before = content(loaded.con)
    with pytest.raises(ReleaseError, match=words) as caught:
        loaded.release("2011Q1", **OPTIONS, ss_rule=rule)
    assert "\n" not in str(caught.value)
    assert content(loaded.con) == before


# what the manifests and metrics say


@pytest.mark.thorough
@pytest.mark.parametrize("model", EACH)
def test_the_public_manifest_says_what_the_model_withstands(loaded: Engine, model: str) -> None:
    loaded.release("2011Q1", model=model, **OPTIONS)
    (facts,) = rows(loaded.con, "FROM release_2011q1.manifest")
    with_md = model == "ppms-alpha"
    assert (facts["model"], facts["k"], facts["theta"]) == (model, 3, "1/2")
    assert facts["attacks"] == ("b,f,l,md,ss" if with_md else "b,f,l")
    assert (facts.get("alpha"), facts.get("assume_md")) == (
        ("1/2", "none") if with_md else (None, None)
    )
    assert "backward, forward and latest attacks" in facts["guarantee"]
    assert "consecutive quarters" in facts["guarantee"]
    assert ("stops after one" in facts["guarantee"]) == (not with_md)
    assert not {"seed", "ss_rule", "metrics", "new", "old"} & facts.keys()


@pytest.mark.thorough
@pytest.mark.parametrize("model", ["ms", *EACH])
def test_dir_dsr_and_ssgr_are_measured_and_kept_in_the_private_manifest(
    loaded: Engine, model: str
) -> None:
    loaded.release("2011Q1", model=model, **OPTIONS)
    made = loaded.release("2011Q2", model=model, **OPTIONS)
    promised = made.manifest["attacks"]
    asked = "b,f,l" if promised == "none" else promised
    told = made.manifest["metrics"]
    measures = ["dir", "dsr", "ssgr"] if model == "ppms-alpha" else ["dir", "dsr"]
    for scope in ("group", "match"):
        names = {name for name in told if name.endswith(f"({scope}: {asked})")}
        assert names == {f"{m} ({scope}: {asked})" for m in measures}
        if model != "ms":
            assert {told[name] for name in names} == {0}
    assert "nil (release)" in told
    assert any(name.startswith("dr (") for name in told)
    found = [r for r in loaded.metrics("2011Q2") if r.measure in ("dir", "dsr", "ssgr")]
    assert sorted({r.measure for r in found}) == ["dir", "dsr", "ssgr"]
    gated = {r.measure for r in found if r.passed is not None}
    assert gated == (set() if model == "ms" else set(measures))
    assert all(r.passed is not False for r in found)
