"""Labels, terms and the caller's own objects are data: none of them becomes SQL of ours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest
from oracles import clinic
from oracles.term_key import term_key

from srsql import Engine
from srsql.engine.errors import ReleaseError, SrsqlError
from srsql.engine.store.statements import dotted

pytestmark = pytest.mark.thorough

QUARTER = "x'; DROP TABLE t; --"
TERMS = [
    "it's a rash", 'the "worst" ache', "x'; DROP TABLE main.t; --", "a; b; c", "$1 $$ ${x} %s {0}",
    "Übelkeit", "頭痛", "💊 pain", "back\\slash", "/* comment", "-- dash", "?", "NULL",
    "two\nlines", "Infinity",
]  # fmt: skip
PRIZED = [("keep me",)]


def ingest(engine: Engine, folder: Path, terms: Sequence[str], period: str = "2011Q1") -> None:
    count = max(12, len(terms))
    data = clinic.write(folder, clinic.visits(count), clinic.findings(terms, count))
    engine.con.execute("CREATE TABLE IF NOT EXISTS main.t AS SELECT 'keep me' AS x")
    engine.ingest([data], dataset=folder / "clinic.toml", period=period)


def rows(engine: Engine, schema: str, name: str) -> list[tuple[Any, ...]]:
    return engine.sql(f"SELECT * FROM {dotted(schema, name)} ORDER BY ALL")


def test_a_quarter_label_that_is_an_injection_is_only_a_label(tmp_path: Path) -> None:
    with Engine(duckdb.connect()) as engine, engine.con:
        ingest(engine, tmp_path, ["ache", "rash", "itch"], QUARTER)
        released = engine.release(QUARTER, k=2, theta="1", seed=1)
        assert released.schema == "release_" + QUARTER.lower()
        visits = rows(engine, released.schema, "visit")
        assert len(visits) == 12
        assert {row[2] for row in visits} == {QUARTER}
        assert rows(engine, "released", "visit") == visits
        assert len(rows(engine, released.schema, "finding")) == 12
        assert {row[0] for row in rows(engine, "released", "finding")} == {QUARTER}
        assert len(rows(engine, "released", "case_latest")) == 12
        assert engine.metrics(QUARTER)
        assert engine.sql("FROM main.t") == PRIZED


def test_a_draft_of_a_hostile_quarter_is_confirmed_under_its_own_name(tmp_path: Path) -> None:
    with Engine(duckdb.connect()) as engine, engine.con:
        ingest(engine, tmp_path, ["ache", "rash", "itch"], QUARTER)
        draft = engine.release(QUARTER, k=2, theta="1", seed=1, draft=True)
        again = engine.release(QUARTER, k=2, theta="1", seed=1, draft=True)
        assert draft.schema == again.schema == "draft_" + QUARTER.lower()
        confirmed = engine.confirm(QUARTER)
        assert confirmed.schema == "release_" + QUARTER.lower()
        assert len(rows(engine, confirmed.schema, "visit")) == 12
        assert engine.sql("FROM main.t") == PRIZED


def test_hostile_terms_and_drug_names_are_released_as_they_were_written(tmp_path: Path) -> None:
    """But for line ends, of which ingestion makes blanks."""
    with Engine(duckdb.connect()) as engine, engine.con:
        ingest(engine, tmp_path, TERMS)
        released = engine.release("2011Q1", k=2, theta="1", seed=1, ids="original")
        count = max(12, len(TERMS))
        written = {
            row[0]: tuple(name.replace("\n", " ") for name in row[1:3])
            for row in clinic.findings(TERMS, count)
        }
        found = engine.sql("SELECT f.visit_id, f.finding, f.drug FROM release_2011q1.finding AS f")
        assert {row[0]: row[1:] for row in found} == written
        assert released.rows["finding"] == count
        terms = engine.sql("SELECT t.term FROM srsql.threshold AS t")
        assert {term for (term,) in terms} == {term_key(name) for name in TERMS}
        assert engine.sql("FROM main.t") == PRIZED


def test_hostile_terms_get_the_thresholds_and_the_knowledge_given_for_them(tmp_path: Path) -> None:
    levels, knowledge = tmp_path / "levels.toml", tmp_path / "knowledge.csv"
    levels.write_text('default = 1\n[values]\n"x\'; drop table main.t; --" = 0.5\n')
    knowledge.write_text('drug,disease\n"it\'s a rash","x\'; drop table main.t; --"\n')
    with Engine(duckdb.connect()) as engine, engine.con:
        ingest(engine, tmp_path / "files", TERMS)
        engine.release(
            "2011Q1", k=2, theta=f"levels:{levels}", knowledge=knowledge, seed=1,
            on_infeasible="withhold",
        )  # fmt: skip
        strict = engine.sql("SELECT t.term FROM srsql.threshold AS t WHERE t.theta_den <> 1")
        assert strict == [("x'; drop table main.t;--",)]
        assert engine.sql("SELECT e.drug, e.disease FROM srsql.external_knowledge AS e") == [
            ("it's a rash", "x'; drop table main.t; --")
        ]
        assert engine.sql("FROM main.t") == PRIZED


def test_an_infeasible_hostile_term_is_named_in_the_refusal_and_runs_nothing(
    tmp_path: Path,
) -> None:
    with Engine(duckdb.connect()) as engine, engine.con:
        ingest(engine, tmp_path, ["x'; DROP TABLE main.t; --"])
        with pytest.raises(SrsqlError, match=r"DROP TABLE main\.t"):
            engine.release("2011Q1", k=2, theta="1/2", seed=1)
        assert engine.sql("FROM main.t") == PRIZED
        assert engine.sql("FROM srsql.release") == []


@pytest.mark.parametrize("series", ["a'b", 'a"b', "a;b", "a b", "", "../x", "a.b", "ä"])
def test_a_series_name_that_is_not_a_plain_word_is_refused(tmp_path: Path, series: str) -> None:
    with Engine(duckdb.connect()) as engine, engine.con:
        ingest(engine, tmp_path, ["ache"])
        with pytest.raises(ReleaseError, match="--series"):
            engine.release("2011Q1", k=2, theta="1", seed=1, series=series)
        assert engine.sql("FROM srsql.series") == []


DECOYS = [
    "CREATE TABLE main.demo AS SELECT 1 AS primaryid",
    "CREATE TABLE main.visit AS SELECT 'evil' AS visit_id, 'evil' AS patient_id",
    "CREATE TABLE main.finding AS SELECT 'evil' AS finding",
    "CREATE TABLE main.srsql_case_report AS SELECT 'evil' AS report_id, 'evil' AS case_id",
    "CREATE TABLE main.srsql_identity AS SELECT 'evil' AS report_id",
    "CREATE TABLE main.srsql_public_region AS SELECT 0 AS group_no",
    "CREATE TABLE main.release AS SELECT 1 AS release_id",
    "CREATE TABLE main.member AS SELECT 1 AS release_id",
    "CREATE TABLE main.threshold AS SELECT 'evil' AS term, 0 AS theta_num, 1 AS theta_den",
    "CREATE VIEW main.node AS SELECT 'evil' AS node",
    "CREATE MACRO main.sha256(x) AS 'ffffffffffffffffffff'",
    "CREATE MACRO main.md5(x) AS 'ffffffffffffffffffff'",
    "CREATE MACRO main.check_k(a, b, c) AS TABLE SELECT true AS passed",
    "CREATE MACRO main.group_cases(a, b, c, d, e, f, g, h, i, j, k) AS TABLE "
    "SELECT 0 AS case_no, 0 AS group_no",
    "CREATE MACRO main.super_record(x) AS TABLE SELECT 0 AS case_no",
]


def exported(folder: Path, decoys: Sequence[str], search_path: str | None = None) -> dict[str, Any]:
    """Everything that leaves the house, and what the steward is told, of the same release."""
    with duckdb.connect() as con:
        con.execute("CREATE SCHEMA evil")
        for decoy in decoys:
            con.execute(decoy)
            con.execute(decoy.replace(" main.", " evil."))
        if search_path is not None:
            con.execute("SET search_path = ?", [search_path])
        with Engine(con) as engine:
            ingest(engine, folder, ["ache", "rash", "itch", "ache"])
            done = engine.release(
                "2011Q1", k=2, theta="1/2", on_infeasible="withhold", seed=1, ids="original"
            )
            result: dict[str, Any] = {n: engine.sql(f"FROM release_2011q1.{n}") for n in done.rows}
            for name in ("visit", "finding", "case_latest"):
                result[f"released.{name}"] = rows(engine, "released", name)
            result["metrics"] = [repr(row) for row in engine.metrics("2011Q1")]
        if search_path is not None:
            ((now,),) = con.execute("SELECT current_setting('search_path')").fetchall()
            assert now.replace("memory.", "") == search_path
        assert con.execute("FROM main.t").fetchall() == PRIZED
        return result


def test_tables_and_macros_of_the_caller_with_our_names_do_not_change_a_release(
    tmp_path: Path,
) -> None:
    assert exported(tmp_path / "a", DECOYS) == exported(tmp_path / "b", [])


def test_a_search_path_of_the_caller_does_not_change_a_release(tmp_path: Path) -> None:
    assert exported(tmp_path / "a", DECOYS, "evil,main") == exported(tmp_path / "b", [])


def test_released_views_mean_the_same_under_another_search_path(tmp_path: Path) -> None:
    with Engine(duckdb.connect()) as engine, engine.con:
        ingest(engine, tmp_path, ["ache", "rash", "itch"])
        released = engine.release("2011Q1", k=2, theta="1", seed=1)
        names = [*released.rows, "visit"]
        before = [rows(engine, released.schema, name) for name in names]
        together = rows(engine, "released", "visit")
        engine.con.execute("CREATE SCHEMA evil")
        for name in ("visit", "finding", "release_1_visit", "release_1_finding"):
            engine.con.execute(f"CREATE TABLE evil.{name} AS SELECT 'evil' AS visit_id")
        engine.con.execute("SET search_path = 'evil'")
        assert [rows(engine, released.schema, name) for name in names] == before
        assert rows(engine, "released", "visit") == together


@pytest.mark.parametrize("name", ["srsql", "released", "release_2011q1", "raw_clinic"])
def test_a_warehouse_file_may_be_named_like_a_schema(tmp_path: Path, name: str) -> None:
    with Engine(tmp_path / f"{name}.duckdb") as engine:
        ingest(engine, tmp_path / "files", ["ache", "rash", "itch"])
        engine.release("2011Q1", k=2, theta="1", seed=1)
        assert len(rows(engine, "release_2011q1", "visit")) == 12


@pytest.mark.parametrize(
    "shadow",
    ["upper(x) AS 'EVIL'", "count() AS 7, (x) AS 7", "len(x) AS 1", "nullif(x, y) AS '1'"],
)
def test_a_macro_with_the_name_of_a_function_does_not_change_a_release(
    tmp_path: Path, shadow: str
) -> None:
    decoy = f"CREATE MACRO main.{shadow}"
    assert exported(tmp_path / "a", [decoy]) == exported(tmp_path / "b", [])
