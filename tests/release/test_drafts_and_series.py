"""Drafts, superseded releases, series and what each lets out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.files import copied
from support.quarters import Report, crowd, write_quarter
from support.released import content, rows, schemas, terms_of, views

from srsql.engine.api.engine import Engine
from srsql.engine.errors import CheckFailedError, ReleaseError

pytestmark = pytest.mark.slow

OPTIONS: dict[str, Any] = {"model": "ms", "k": 3, "theta": "0.5", "seed": 1, "allow_linkable": True}
ORIGINAL = OPTIONS | {"ids": "original"}
"""Of a series whose cases are told apart, or whose rows are compared with those of another."""


def unique(reports: list[Report]) -> list[Report]:
    """The same reports with one reaction that only their case has."""
    return [replace(r, pt=(f"Of case {r.caseid}",), indi=()) for r in reports]


@pytest.fixture
def db(kept: Path, tmp_path: Path) -> Path:
    """2011Q3 with cases 1-40, 2011Q4 with 21-60: twenty cases come back in a later version."""
    quarters = {"2011Q3": unique(crowd(40)), "2011Q4": unique(crowd(40, first=21, version=2))}
    return copied(kept / "series", tmp_path / "w.duckdb", quarters)


@pytest.fixture
def loaded(db: Path) -> Iterator[Engine]:
    with Engine(db) as opened:
        yield opened


def ids(engine: Engine, view: str) -> set[int]:
    return {case for (case,) in engine.sql(f"SELECT caseid FROM {view}")}


@pytest.mark.thorough
def test_a_draft_is_not_in_the_released_views_and_not_in_a_release_schema(loaded: Engine) -> None:
    loaded.release("2011Q3", **ORIGINAL)
    before = ids(loaded, "released.demo")
    made = loaded.release("2011Q4", **ORIGINAL, draft=True)
    assert (made.status, made.schema) == ("draft", "draft_2011q4")
    assert schemas(loaded.con) == {"release_2011q3", "draft_2011q4"}
    assert ids(loaded, "released.demo") == before == set(range(1, 41))
    assert loaded.sql("SELECT max(quarter) FROM released.case_latest") == [("2011Q3",)]


@pytest.mark.thorough
def test_a_draft_can_be_made_again_and_leaves_no_trace_of_the_first(
    loaded: Engine, kept: Path, tmp_path: Path
) -> None:
    loaded.release("2011Q3", **ORIGINAL | {"seed": 5}, draft=True)
    first = content(loaded.con)
    loaded.release("2011Q3", **ORIGINAL, draft=True)
    with Engine(copied(kept / "series", tmp_path / "fresh.duckdb", {})) as fresh:
        fresh.sql("SELECT nextval('srsql.release_ids')")  # the number of the first is gone with it
        fresh.release("2011Q3", **ORIGINAL, draft=True)
        assert content(loaded.con) == content(fresh.con) != first


@pytest.mark.thorough
def test_a_confirmed_draft_is_the_release_that_would_have_been_made_at_once(
    loaded: Engine,
) -> None:
    loaded.release("2011Q3", **ORIGINAL, draft=True)
    confirmed = loaded.confirm("2011Q3")
    assert (confirmed.status, confirmed.schema) == ("released", "release_2011q3")
    assert schemas(loaded.con) == {"release_2011q3"}
    assert ids(loaded, "released.demo") == set(range(1, 41))
    shown = {v: rows(loaded.con, f"FROM release_2011q3.{v}") for v in views_of(loaded)}
    loaded.release("2011Q3", **ORIGINAL, supersede=True)
    assert {v: rows(loaded.con, f"FROM release_2011q3.{v}") for v in views_of(loaded)} == shown


def views_of(engine: Engine, schema: str = "release_2011q3") -> list[str]:
    found = views(engine.con, schema)
    assert found == ["demo", "drug", "indi", "manifest", "outc", "reac"]
    return found


def test_confirming_without_a_draft_is_refused(loaded: Engine) -> None:
    loaded.release("2011Q3", **OPTIONS, draft=True)
    loaded.confirm("2011Q3")
    before = content(loaded.con)
    for quarter, series in (("2011Q3", "main"), ("2011Q4", "main"), ("2011Q3", "other")):
        with pytest.raises(ReleaseError, match=r"no draft of .*--draft"):
            loaded.confirm(quarter, series=series)
    assert content(loaded.con) == before


@pytest.mark.thorough
def test_a_draft_is_stale_once_the_series_went_on(loaded: Engine) -> None:
    loaded.release("2011Q3", **OPTIONS, draft=True)
    loaded.release("2011Q4", **OPTIONS)
    with pytest.raises(ReleaseError, match="2011Q4 was released after this draft"):
        loaded.confirm("2011Q3")
    assert schemas(loaded.con) == {"draft_2011q3", "release_2011q4"}


@pytest.mark.thorough
def test_a_release_takes_the_place_of_its_draft(loaded: Engine) -> None:
    loaded.release("2011Q3", **OPTIONS, draft=True)
    loaded.release("2011Q3", **OPTIONS)
    assert schemas(loaded.con) == {"release_2011q3"}
    assert loaded.sql("SELECT status FROM srsql.release") == [("released",)]
    with pytest.raises(ReleaseError, match="no draft"):
        loaded.confirm("2011Q3")


@pytest.mark.thorough
def test_a_draft_that_was_changed_fails_its_check_when_it_is_confirmed(loaded: Engine) -> None:
    made = loaded.release("2011Q3", **OPTIONS, draft=True)
    loaded.con.execute(f"UPDATE srsql_data.release_{made.release_id}_reac SET pt = 'Of case 1'")
    before = content(loaded.con)
    with pytest.raises(CheckFailedError, match="check_theta"):
        loaded.confirm("2011Q3")
    assert content(loaded.con) == before


@pytest.mark.thorough
def test_a_superseded_release_stays_in_the_catalog_and_the_views_show_the_new_one(
    loaded: Engine,
) -> None:
    first = loaded.release("2011Q3", **OPTIONS)
    kept = {
        name: rows(loaded.con, f"SELECT * FROM srsql.{name} WHERE release_id = 1 ORDER BY ALL")
        for name in ("member", "region", "threshold", "case_qid", "case_term", "withheld")
    }
    second = loaded.release("2011Q3", **OPTIONS | {"k": 6}, supersede=True, change=True)
    assert (first.release_id, second.release_id) == (1, 2)
    assert loaded.sql("SELECT release_id, status FROM srsql.release ORDER BY 1") == [
        (1, "superseded"),
        (2, "released"),
    ]
    for name, before in kept.items():
        assert before == rows(
            loaded.con, f"SELECT * FROM srsql.{name} WHERE release_id = 1 ORDER BY ALL"
        )
    assert loaded.sql("SELECT k FROM release_2011q3.manifest") == [(6,)]
    assert loaded.sql("SELECT count(*) FROM released.demo") == [(40,)]


@pytest.mark.thorough
def test_a_case_of_a_superseded_release_is_an_old_case_afterwards(loaded: Engine) -> None:
    loaded.release("2011Q3", **OPTIONS)
    loaded.release("2011Q3", **OPTIONS | {"seed": 9}, supersede=True)
    made = loaded.release("2011Q4", **OPTIONS)
    assert (made.manifest["cases"]["old"], made.manifest["cases"]["new"]) == (20, 20)


@pytest.mark.thorough
def test_a_released_quarter_and_an_earlier_one_are_refused_and_nothing_changes(
    loaded: Engine,
) -> None:
    loaded.release("2011Q4", **OPTIONS)
    before = content(loaded.con)
    for options in ({}, {"draft": True}):
        with pytest.raises(ReleaseError, match=r"2011Q4 is already released .*--supersede"):
            loaded.release("2011Q4", **OPTIONS, **options)
        with pytest.raises(ReleaseError, match="2011Q3 comes before 2011Q4"):
            loaded.release("2011Q3", **OPTIONS, **options)
    assert content(loaded.con) == before


def pseudonyms(engine: Engine, schema: str) -> dict[str, tuple[int, int]]:
    """Unique term of a case -> its published case id and report id."""
    return {
        term: (case, report)
        for term, case, report in engine.sql(f"SELECT pt, caseid, primaryid FROM {schema}.reac")
    }


@pytest.mark.thorough
def test_a_named_series_publishes_pseudonyms_that_are_stable_over_its_quarters(
    loaded: Engine,
) -> None:
    for quarter in ("2011Q3", "2011Q4"):
        loaded.release(quarter, **OPTIONS, series="journal")
    third = pseudonyms(loaded, "release_journal_2011q3")
    fourth = pseudonyms(loaded, "release_journal_2011q4")
    both = third.keys() & fourth.keys()
    assert len(both) == 20
    assert all(third[term][0] == fourth[term][0] for term in both)
    assert all(third[term][1] != fourth[term][1] for term in both)  # another report of the case
    assert len({case for case, _ in third.values()}) == len(third) == 40
    assert loaded.sql(
        "SELECT count(*), count(DISTINCT caseid) FROM released_journal.case_latest"
    ) == [(60, 60)]


def test_no_view_of_a_named_series_shows_an_original_id(loaded: Engine) -> None:
    loaded.release("2011Q3", **OPTIONS, series="journal")
    real = {r.caseid for r in crowd(40)} | {r.primaryid for r in crowd(40)}
    for view in ("demo", "drug", "reac", "indi", "outc"):
        for row in rows(loaded.con, f"FROM release_journal_2011q3.{view}"):
            assert real.isdisjoint((row["caseid"], row["primaryid"]))
    order = [row["primaryid"] for row in rows(loaded.con, "FROM release_journal_2011q3.demo")]
    assert order == sorted(order)


@pytest.mark.thorough
def test_two_series_publish_the_same_case_under_ids_that_do_not_meet(loaded: Engine) -> None:
    for series in ("journal", "industry"):
        loaded.release("2011Q3", **OPTIONS, series=series)
    one = pseudonyms(loaded, "release_journal_2011q3")
    two = pseudonyms(loaded, "release_industry_2011q3")
    assert one.keys() == two.keys()
    assert {c for pair in one.values() for c in pair}.isdisjoint(
        c for pair in two.values() for c in pair
    )


@pytest.mark.thorough
def test_a_series_is_released_on_its_own_turn(loaded: Engine) -> None:
    loaded.release("2011Q4", **OPTIONS)
    made = loaded.release("2011Q3", **OPTIONS, series="journal")
    assert made.manifest["cases"] == {"released": 40, "new": 40, "old": 0, "withheld": 0}
    assert schemas(loaded.con) == {"release_2011q4", "release_journal_2011q3"}


@pytest.mark.parametrize("series", ["a b", "", "../x", 'a"; DROP SCHEMA srsql; --', "é"])
def test_a_series_name_that_is_no_name_is_refused(loaded: Engine, series: str) -> None:
    before = content(loaded.con)
    with pytest.raises(ReleaseError, match="--series"):
        loaded.release("2011Q3", **OPTIONS, series=series)
    assert content(loaded.con) == before


@pytest.mark.thorough
def test_series_names_that_differ_in_case_only_are_two_series(
    loaded: Engine,
) -> None:
    loaded.release("2011Q3", **OPTIONS, series="journal")
    shown = rows(loaded.con, "FROM release_journal_2011q3.demo")
    other = loaded.release("2011Q3", **OPTIONS, series="Journal")
    assert other.schema.lower() != "release_journal_2011q3"
    assert rows(loaded.con, "FROM release_journal_2011q3.demo") == shown


@pytest.mark.thorough
def test_two_datasets_with_the_same_period_can_both_be_released(
    loaded: Engine, tmp_path: Path
) -> None:
    toml = loaded.sql("SELECT toml FROM srsql.dataset")[0][0]
    (tmp_path / "hierarchies").mkdir()
    (tmp_path / "hierarchies" / "sex.csv").write_text("node,parent\nAny,\nM,Any\nF,Any\n")
    mine = tmp_path / "mine.toml"
    mine.write_text(toml.replace('name = "faers"', 'name = "mine"', 1))
    loaded.ingest([write_quarter(tmp_path, "2011Q3", crowd(40))], dataset=mine)
    first = loaded.release("2011Q3", **OPTIONS, dataset="faers")
    second = loaded.release("2011Q3", **OPTIONS, dataset="mine")
    assert first.schema != second.schema
    assert len(rows(loaded.con, f'FROM "{second.schema}".demo')) == 40


def test_the_public_manifest_shows_thresholds_of_released_values_only_and_no_seed(
    loaded: Engine, tmp_path: Path
) -> None:
    levels = tmp_path / "secret-levels.csv"
    levels.write_text("value,theta\nOf case 7,0\nNever reported,0.3\n*,0.5\n")
    seed = 987654321987
    made = loaded.release(
        "2011Q3",
        model="ms",
        k=3,
        theta=f"levels:{levels}",
        seed=seed,
        on_infeasible="withhold",
    )
    (facts,) = rows(loaded.con, "FROM release_2011q3.manifest")
    released = set().union(*terms_of(loaded.con, "release_2011q3").values())
    assert {t["value"] for t in facts["thresholds"]} == released
    assert "OF CASE 7" not in released
    text = repr(facts)
    for secret in (str(seed), "Of case 7", "OF CASE 7", "NEVER REPORTED", "secret-levels"):
        assert secret not in text
    assert made.manifest["seed"] == seed
    assert (facts["model"], facts["k"], facts["theta"]) == ("ms", 3, "levels")
    assert (facts["released_cases"], facts["withheld_cases"], facts["demo_rows"]) == (39, 1, 39)
    assert facts["released_reports"] == 39
    assert "at least 3 distinct cases" in facts["guarantee"]


def test_no_released_view_quotes_the_seed_or_shows_a_group_or_an_undeclared_column(
    loaded: Engine,
) -> None:
    loaded.release("2011Q3", **OPTIONS | {"seed": 987654321987})
    shown = {
        view: [d[0] for d in loaded.con.execute(f"FROM release_2011q3.{view}").description]
        for view in views_of(loaded)
    }
    ids = ["primaryid", "caseid"]
    assert shown["demo"] == [
        *ids, "quarter", "age_low", "age_high", "wt_low", "wt_high", "sex",
    ]  # fmt: skip
    assert shown["drug"] == [*ids, "drug_seq", "role_cod", "drugname", "drugname_key"]
    assert shown["reac"] == [*ids, "pt", "pt_key"]
    assert shown["indi"] == [*ids, "indi_drug_seq", "indi_pt", "indi_pt_key"]
    assert shown["outc"] == [*ids, "outc_cod"]
    texts = loaded.sql("SELECT sql FROM duckdb_views() WHERE schema_name LIKE 'release%'")
    assert not any("987654321987" in text for (text,) in texts)


@pytest.mark.thorough
def test_a_deleted_case_is_left_out_of_every_release_made_after_its_list_came(
    engine: Engine, tmp_path: Path
) -> None:
    engine.ingest([write_quarter(tmp_path, "2011Q3", crowd(40))])
    engine.release("2011Q3", **ORIGINAL)
    again = [*crowd(40, first=21, version=2), *crowd(1, first=30, version=3)]
    engine.ingest([write_quarter(tmp_path, "2011Q4", again, deleted=[1, 30, 999])])
    made = engine.release("2011Q4", **ORIGINAL)
    assert made.manifest["withheld"] == {"deleted": {"cases": 1, "reports": 2}}
    assert 30 not in ids(engine, "release_2011q4.demo")
    assert {1, 30} <= ids(engine, "release_2011q3.demo")  # released before the list
    made = engine.release("2011Q3", **ORIGINAL, supersede=True)
    assert made.manifest["withheld"] == {"deleted": {"cases": 2, "reports": 2}}
    assert {1, 30}.isdisjoint(ids(engine, "release_2011q3.demo"))


@pytest.mark.thorough
def test_the_cumulative_views_hold_each_quarter_and_each_cases_latest(loaded: Engine) -> None:
    loaded.release("2011Q3", **ORIGINAL)
    loaded.release("2011Q4", **ORIGINAL)
    assert loaded.sql("SELECT quarter, count(*) FROM released.demo GROUP BY 1 ORDER BY 1") == [
        ("2011Q3", 40),
        ("2011Q4", 40),
    ]
    assert loaded.sql("SELECT quarter, count(*) FROM released.reac GROUP BY 1 ORDER BY 1") == [
        ("2011Q3", 40),
        ("2011Q4", 40),
    ]
    latest = dict(loaded.sql("SELECT caseid, quarter FROM released.case_latest"))
    assert latest == {c: "2011Q3" if c <= 20 else "2011Q4" for c in range(1, 61)}
