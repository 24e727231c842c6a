"""`srsql query`: what it prints, what it refuses in one line, and what nobody can make it do."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import ClassVar
from unittest import mock

import duckdb
import pytest
from support.command import Answer, srsql
from support.quarters import crowd, write_quarter

from srsql.engine.api.analyst import open_artifact
from srsql.engine.api.engine import Engine
from srsql.engine.errors import QueryError, WarehouseError
from srsql.engine.models import MODELS, Ms
from srsql.engine.shapes import DrawnValues, Shape

pytestmark = pytest.mark.slow

CASES = "SELECT COUNT(DISTINCT caseid) FROM demo"
ADULTS = f"{CASES} WHERE age >= 40 AND sex = 'F'"


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("query")
    with Engine(folder / "w.duckdb") as engine:
        quarters = {"2011Q3": crowd(60, terms=3), "2011Q4": crowd(50, first=41, version=2, terms=3)}
        for label, reports in quarters.items():
            engine.ingest([write_quarter(folder, label, reports)])
            engine.release(label, k=3, theta="1", seed=1)
    return folder / "w.duckdb"


@pytest.fixture(scope="module")
def engine(db: Path) -> Iterator[Engine]:
    with Engine(db, read_only=True) as opened:
        yield opened


def query(db: Path, *arguments: object) -> Answer:
    return srsql("query", "--db", db, *arguments)


def test_an_answer_is_a_table_and_lines_that_say_what_was_counted(db: Path) -> None:
    answer = query(db, "SELECT sex, COUNT(DISTINCT caseid) FROM demo WHERE age < 50 GROUP BY sex")
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert lines[0] == "2 rows: lower, expected and upper cases of each"
    assert lines[-3].split() == ["sex", "lower", "expected", "upper", "known"]
    assert [line.split()[0] for line in lines[-2:]] == ["F", "M"]
    assert "cases of faers, series main, 2011Q3 to 2011Q4" in answer.out
    assert "WITH asked" not in answer.out
    assert "lower: those who meet" not in answer.out
    explained = query(db, ADULTS, "--explain").out
    assert explained.splitlines()[-1].startswith("lower: those who meet")


@pytest.mark.parametrize(
    ("band", "shown"),
    [("FLOOR(age / 10) * 10", "20 30 40"), ("age // 10 * 10", "20 30 40"),
     ("FLOOR(age / 5) / 2", "2 2.5 3")],
)  # fmt: skip
def test_a_band_that_is_a_whole_number_is_shown_as_one(db: Path, band: str, shown: str) -> None:
    answer = query(db, f"SELECT {band} AS band, COUNT(DISTINCT caseid) FROM demo GROUP BY 1")
    lines = [line.split() for line in answer.out.splitlines()]
    first = lines.index(["band", "lower", "expected", "upper", "known"]) + 1
    assert [line[0] for line in lines[first:]][:3] == shown.split()


def test_json_is_one_document_and_its_sql_runs_in_plain_duckdb(db: Path) -> None:
    answer = query(db, ADULTS, "--json")
    assert (answer.code, answer.err, len(answer.out.splitlines())) == (0, "", 1)
    assert answer.json["columns"] == ["lower", "expected", "upper", "known"]
    with duckdb.connect(str(db), read_only=True) as con:
        assert [list(row) for row in con.execute(answer.json["sql"]).fetchall()] == answer.json[
            "rows"
        ]
    printed = query(db, ADULTS, "--show-sql").out
    assert printed.endswith(f"{answer.json['sql']};\n")


def test_what_no_quasi_identifier_decides_is_exact(engine: Engine) -> None:
    found = engine.query(
        "SELECT pt, COUNT(DISTINCT demo.caseid) AS cases FROM demo JOIN reac USING (primaryid) "
        "JOIN drug d ON d.primaryid = demo.primaryid WHERE upper(d.drugname) = 'DRUG 1' "
        "GROUP BY pt ORDER BY cases DESC"
    )
    assert found.rows
    assert all(len({*counts}) == 1 for _, *counts in found.rows)
    assert [row[2] for row in found.rows] == sorted((row[2] for row in found.rows), reverse=True)


def test_known_counts_those_whose_region_answers_every_comparison(tmp_path: Path) -> None:
    people = [replace(report, age="" if n < 8 else report.age, sex="MF"[n % 2])
              for n, report in enumerate(crowd(60, terms=3))]  # fmt: skip
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q4", people)])
        engine.release("2011Q4", k=2, theta="1", seed=1)
        no_value, known = (
            engine.query(f"{CASES} WHERE age IS {word}NULL AND sex IS NOT NULL").rows[0]
            for word in ("", "NOT ")
        )
        either, both = (
            engine.query(f"{CASES} WHERE age >= 0 {word} sex = 'F'").rows[0]
            for word in ("OR", "AND")
        )
        spread = engine.query(f"{CASES} WHERE age >= 40").rows[0]
        left_out = engine.query(f"{CASES} WHERE age >= 40 AND age IS NOT NULL").rows[0]
    assert no_value == (8, 8.0, 8, 8)
    assert known == (52, 52.0, 52, 52)
    # of the eight without an age the four women surely meet the first, whatever their age
    assert (either[0], either[3]) == (56, 52)
    assert both[0] == both[3] == 26
    assert left_out[0] == left_out[3] == spread[0] == spread[3]
    assert spread[1] == pytest.approx(left_out[1] + 8 * 81 / 121)
    assert spread[2] == left_out[2] + 8


def test_case_keeps_its_meaning_wherever_it_stands(engine: Engine) -> None:
    band = "CASE WHEN age < 40 THEN 'young' WHEN sex = 'F' THEN 'woman' ELSE 'man' END"
    groups = {row[0]: row[1:] for row in engine.query(
        f"SELECT {band} AS g, COUNT(DISTINCT caseid) FROM demo GROUP BY g").rows}  # fmt: skip
    for name, counts in groups.items():
        assert engine.query(f"{CASES} WHERE {band} = '{name}'").rows == (counts,)
    by_value = "CASE sex WHEN 'F' THEN age >= 40 WHEN 'M' THEN false END"
    assert engine.query(f"{CASES} WHERE {by_value}").rows == (groups["woman"],)
    nested = "CASE WHEN age >= 40 THEN CASE sex WHEN 'M' THEN 'man' ELSE 'woman' END END"
    assert engine.query(f"{CASES} WHERE {nested} = 'woman'").rows == (groups["woman"],)


def test_limit_shows_what_surely_comes_first(engine: Engine) -> None:
    asked = (
        "SELECT pt, COUNT(DISTINCT demo.caseid) AS n FROM demo JOIN reac USING (caseid) "
        "GROUP BY pt ORDER BY n DESC, pt"
    )
    every = engine.query(asked).rows
    for limit, offset in ((1, 0), (2, 1), (9, 0), (1, 2), (0, 0)):
        found = engine.query(f"{asked} LIMIT {limit} OFFSET {offset}")
        assert found.rows == every[offset : offset + limit]
        assert tuple(engine.con.execute(found.sql).fetchall()) == found.rows
    band = "CASE WHEN age < 25 THEN 'young' ELSE 'other' END"
    apart = f"SELECT {band} AS g, COUNT(*) FROM demo GROUP BY g"
    (most,) = engine.query(f"{apart} ORDER BY 2 DESC LIMIT 1").rows
    assert most[0] == "other"
    assert most[1] < most[3]
    for cut in ("LIMIT 1", "OFFSET 1"):
        with pytest.raises(QueryError, match="leave LIMIT and OFFSET out"):
            engine.query(f"{apart} {cut}", include_withheld=True)


def test_limit_and_having_say_which_groups_are_certain(engine: Engine, db: Path) -> None:
    band = "CASE WHEN age < 50 THEN 'a' ELSE 'b' END AS g"
    asked = f"SELECT {band}, COUNT(DISTINCT caseid) FROM demo GROUP BY g"
    every = {row[0]: row[1:] for row in engine.query(asked).rows}
    first = engine.query(f"{asked} ORDER BY 2 LIMIT 1")
    assert first.columns == ("g", "lower", "expected", "upper", "known", "certain")
    assert {row[0]: row[-1] for row in first.rows} == {"a": "possible", "b": "possible"}
    least = min(lower for lower, *_ in every.values())
    sure = engine.query(f"{asked} HAVING COUNT(DISTINCT caseid) >= {least}")
    assert sure.columns == ("g", "lower", "expected", "upper", "known")
    assert not engine.query(f"{asked} HAVING COUNT(DISTINCT caseid) < 1").rows
    printed = query(db, f"{asked} HAVING COUNT(DISTINCT caseid) > {every['a'][0]}")
    assert printed.code == 0
    assert printed.out.splitlines()[-1].split()[-1] in ("certain", "possible")
    assert "possible: those that they leave for some of them" in printed.out


def test_several_aggregates_have_columns_of_their_own(engine: Engine, db: Path) -> None:
    text = (
        "SELECT sex, COUNT(DISTINCT caseid) AS cases, AVG(age) AS mean, 100.0 * COUNT(DISTINCT "
        "CASE WHEN age >= 40 THEN caseid END) / COUNT(DISTINCT caseid) AS share FROM demo "
        "GROUP BY sex ORDER BY mean DESC"
    )
    found = engine.query(text)
    assert found.aggregates == ("cases", "mean", "share")
    assert found.columns[:6] == (
        "sex", "cases_lower", "cases_expected", "cases_upper", "cases_known", "mean_lower",
    )  # fmt: skip
    assert [row[6] for row in found.rows] == sorted((r[6] for r in found.rows), reverse=True)
    alone = {row[0]: row[1:] for row in engine.query(
        "SELECT sex, COUNT(DISTINCT caseid) FROM demo GROUP BY sex").rows}  # fmt: skip
    assert {row[0]: row[1:5] for row in found.rows} == alone
    table = found.arrow()
    assert table.column_names == list(found.columns)
    answer = query(db, text, "--json")
    assert [tuple(row) for row in answer.json["rows"]] == list(found.rows)
    assert "means and quantiles of age in years are of each case once" in query(db, text).out


def test_why_bounds_are_wide_is_one_sentence(tmp_path: Path) -> None:
    people = [replace(report, age="" if n < 8 else report.age) for n, report in
              enumerate(crowd(60, terms=3))]  # fmt: skip
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q4", people)])
        engine.release("2011Q4", k=2, theta="1", seed=1)
        answer = engine.query(f"{CASES} WHERE age >= 43")
        ((lower, _, upper, _),) = answer.rows
        straddling = upper - lower - 8
        assert answer.notes[0].startswith(f"of {upper - lower:,} uncertain cases 8 have no age")
        assert ("straddle" in answer.notes[0]) is bool(straddling)
        averaged = engine.query("SELECT AVG(age) FROM demo")
        assert any("of 60 rows 8 have no age in the release and may have any from 0 to 120" in note
                   for note in averaged.notes)  # fmt: skip
        known = engine.query("SELECT AVG(age) FROM demo WHERE age IS NOT NULL")
        assert averaged.rows[0][0] < known.rows[0][0] <= known.rows[0][2] < averaged.rows[0][2]
        for asked in ("SELECT AVG(age) FROM demo", f"{CASES} HAVING COUNT(*) > 3"):
            with pytest.raises(QueryError, match="leave"):
                engine.query(asked, include_withheld=True)


def test_a_mean_of_cases_takes_each_by_its_newest_quarter(engine: Engine) -> None:
    text = "SELECT AVG(wt) AS mean, COUNT(DISTINCT caseid) AS n FROM demo WHERE wt IS NOT NULL"
    shown = engine.con.execute(
        "SELECT caseid, wt_low, wt_high FROM released.demo WHERE wt_low IS NOT NULL "
        "ORDER BY quarter"
    ).fetchall()
    newest = {case: (low, high) for case, low, high in shown}
    oldest = {case: (low, high) for case, low, high in reversed(shown)}
    means = [
        [sum(ends) / len(ends) for ends in zip(*ends_of, strict=True)]
        for ends_of in (newest.values(), oldest.values(), [row[1:] for row in shown])
    ]
    assert means[0] != means[1]
    ((lower, _, upper, known, *_),) = engine.query(text).rows
    assert ([lower, upper], known) == (pytest.approx(means[0]), len(newest))
    ((lower, _, upper, known),) = engine.query(
        text.replace(", COUNT(DISTINCT caseid) AS n", "")
    ).rows
    assert ([lower, upper], known) == (pytest.approx(means[2]), len(shown))


def test_named_rows_are_what_they_were_made_of(engine: Engine) -> None:
    plain = (
        "SELECT age // 10 * 10 AS decade, COUNT(DISTINCT demo.caseid) AS n FROM demo JOIN reac "
        "ON demo.primaryid = reac.primaryid WHERE pt = 'Reaction 01' AND sex = 'F' GROUP BY 1"
    )
    wanted = engine.query(plain).rows
    assert wanted
    for text in (
        "WITH women AS (SELECT primaryid, caseid, age // 10 * 10 AS decade FROM demo WHERE "
        "sex = 'F') SELECT decade, COUNT(DISTINCT women.caseid) AS n FROM women JOIN reac USING "
        "(primaryid) WHERE pt = 'Reaction 01' GROUP BY decade",
        "WITH women AS (SELECT * FROM demo AS d WHERE d.sex = 'F'), both AS (SELECT w.caseid, "
        "w.age, r.pt FROM women w JOIN reac r ON w.primaryid = r.primaryid) SELECT age // 10 * 10 "
        "AS decade, COUNT(DISTINCT caseid) AS n FROM both WHERE pt = 'Reaction 01' GROUP BY ALL",
        "SELECT x.age // 10 * 10 AS decade, COUNT(DISTINCT caseid) AS n FROM reac JOIN (SELECT "
        "caseid, primaryid, age FROM demo WHERE sex = 'F') AS x USING (primaryid) WHERE "
        "pt = 'Reaction 01' GROUP BY decade",
        "WITH ill AS (SELECT DISTINCT primaryid FROM reac WHERE pt = 'Reaction 01') SELECT "
        "age // 10 * 10 AS decade, COUNT(DISTINCT caseid) AS n FROM demo WHERE sex = 'F' AND "
        "primaryid IN (SELECT primaryid FROM ill) GROUP BY decade",
    ):
        assert engine.query(text).rows == wanted, text


def test_an_artifact_answers_as_its_warehouse(engine: Engine, db: Path, tmp_path: Path) -> None:
    shutil.copy(db, tmp_path / "w.duckdb")
    with Engine(tmp_path / "w.duckdb") as writing:
        for quarter in ("2011Q3", "2011Q4"):
            writing.publish(quarter, to=tmp_path / quarter)
    folders = [tmp_path / quarter for quarter in ("2011Q3", "2011Q4")]
    with open_artifact(*folders) as artifact:
        for text in (
            "SELECT age // 20 AS a, COUNT(*), MEDIAN(wt) AS w FROM demo GROUP BY a ORDER BY w",
            "SELECT sex, AVG(age) FROM demo GROUP BY sex HAVING COUNT(*) > 20",
            "SELECT pt, COUNT(*) / SUM(COUNT(*)) OVER () AS s FROM reac GROUP BY pt ORDER BY s "
            "DESC LIMIT 2",
        ):
            assert artifact.query(text).rows == engine.query(text).rows


def test_a_name_that_no_released_row_has_is_refused_with_those_like_it(
    db: Path, tmp_path: Path
) -> None:
    typo = "SELECT COUNT(*) FROM drug WHERE upper(drugname) = 'DRUGG 1'"
    answer = query(db, typo)
    assert (answer.code, answer.out) == (2, "")
    assert "no released row has drugname 'DRUGG 1': did you mean 'DRUG 1'" in answer.err
    allowed = query(db, typo, "--allow-unknown")
    assert (allowed.code, allowed.out.splitlines()[-1].split()) == (0, ["0"] * 4)
    assert "it counts as none" in allowed.out
    nothing = query(db, "SELECT COUNT(*) FROM reac WHERE pt IN ('Reaction 01', 'Zzz')")
    assert "'Zzz', and none like it" in nothing.err
    # a name that is released, but of nobody who is asked about, is no mistake
    none = query(db, "SELECT COUNT(*) FROM demo JOIN drug USING (caseid) "
                     "WHERE drugname = 'Drug 1' AND age < 1", "--json")  # fmt: skip
    assert none.json["rows"] == [[0, 0.0, 0, 0]]


def test_subqueries_may_join_and_stand_in_each_other(engine: Engine) -> None:
    inner = "SELECT primaryid FROM reac WHERE pt = 'Reaction 01'"
    found = engine.query(
        "SELECT COUNT(DISTINCT caseid) FROM demo JOIN outc USING (primaryid) WHERE EXISTS ("
        "SELECT 1 FROM drug d JOIN indi i ON i.primaryid = d.primaryid AND "
        "i.indi_drug_seq = d.drug_seq WHERE d.primaryid = demo.primaryid AND d.drugname = 'Drug 1' "
        f"AND d.primaryid IN ({inner})) AND primaryid IN ({inner})"
    )
    cases = [c for c in range(1, 91) if c % 9 == 1 and c % 3 == 1]
    assert found.rows == ((len(cases), float(len(cases)), len(cases), len(cases)),)


def test_one_quarter_is_asked_of_its_own_views(engine: Engine) -> None:
    found = engine.query(f"{CASES} WHERE quarter = '2011Q4'", quarter="2011Q4")
    assert found.rows == engine.query(CASES, quarter="2011Q4").rows
    assert found.rows == engine.query(f"{CASES} WHERE quarter = '2011Q4'").rows
    assert '"release_2011q4"."demo"' in found.sql
    by_quarter = engine.query("SELECT quarter, COUNT(*) FROM demo GROUP BY quarter").rows
    assert [row[0] for row in by_quarter] == ["2011Q3", "2011Q4"]


@pytest.mark.thorough
def test_another_audience_asks_its_own_series(tmp_path: Path, db: Path) -> None:
    shutil.copy(db, tmp_path / "w.duckdb")
    with Engine(tmp_path / "w.duckdb") as writing:
        writing.release("2011Q4", k=3, theta="1", seed=1, series="partners", allow_linkable=True)
        own = writing.query(ADULTS, series="partners")
        assert writing.query(ADULTS, quarter="2011Q4", series="partners").rows == own.rows
    assert own.quarters == ("2011Q4",)


def test_a_warehouse_without_originals_and_catalog_rows_of_cases_answers_the_same(
    tmp_path: Path, db: Path, engine: Engine
) -> None:
    shutil.copy(db, tmp_path / "w.duckdb")
    with Engine(tmp_path / "w.duckdb") as bare:
        bare.con.execute("DROP SCHEMA raw_faers CASCADE")
        for table in ("case_qid", "case_term", "member", "region", "withheld"):
            bare.con.execute(f"DELETE FROM srsql.{table}")
        assert bare.query(ADULTS, include_withheld=True) == engine.query(
            ADULTS, include_withheld=True
        )


REFUSED = [
    # what a release does not tell
    (f"{CASES} WHERE sex = 'unk'", "means not known: write sex IS NULL"),
    (f"{CASES} WHERE sex = 'X'", "sex has no value 'X': it has Any, M, F"),
    (f"{CASES} WHERE sex > 'F'", "sex has no order"),
    (f"{CASES} WHERE age > wt", "age and wt are released as regions"),
    (f"{CASES} WHERE age + wt > 18", "age is released as a region"),
    (f"{CASES} WHERE sqrt(age) > 4", "without functions other than + - * / // %, floor"),
    (f"{CASES} WHERE 1 // age = 1", "1 // age = 1 has no result where age is 0: leave it out"),
    (f"{CASES} WHERE CAST(age AS DATE) = 1", "CAST to DATE is not understood"),
    (f"{CASES} WHERE age // 1e1 = 1", "1e1: write the number with digits"),
    ("SELECT 1 // age AS x, COUNT(*) FROM demo GROUP BY x", "has no result where age is 0"),
    (f"{CASES} WHERE age > '18'", "it can be compared with numbers only"),
    (f"{CASES} WHERE upper(sex) = 'F'", "it can be compared with values in quotes only"),
    (f"{CASES} WHERE age IN (SELECT 1)", "age is released as a region"),
    (f"{CASES} WHERE age = NULL", "write IS NULL"),
    (f"{CASES} WHERE age > 1e99", "1e99 is not a number"),
    (f"{CASES} WHERE mfr_num = 'x'", "column demo.mfr_num is not published"),
    (f"{CASES} WHERE age_cod = 'YR'", "column demo.age_cod is not published"),
    (f"{CASES} WHERE age_low = 3", "is of the release: ask the original age"),
    (f"{CASES} WHERE pt = 'x'", "column pt is of table reac: join it"),
    (f"{CASES} WHERE nonsense = 1", "column nonsense is unknown"),
    ("SELECT COUNT(*) FROM ther", "table ther is not published"),
    ("SELECT COUNT(*) FROM nowhere", "table nowhere is unknown: the tables are demo, drug"),
    (
        "SELECT COUNT(*) FROM indi WHERE indi_pt = 'Product used for unknown indication'",
        "means not known and is published as missing",
    ),
    ("SELECT COUNT(*) FROM drug WHERE drug_seq = 1", "drug_seq and 1 are of different types"),
    # what is undecided between the bounds
    (f"{CASES} HAVING AVG(age) > 3", "HAVING compares COUNT with numbers"),
    (f"{CASES} HAVING COUNT(*) > COUNT(DISTINCT caseid)", "HAVING compares COUNT with numbers"),
    (
        "SELECT sex, COUNT(*) / SUM(COUNT(*)) OVER () FROM demo GROUP BY sex HAVING COUNT(*) > 3",
        "sums the groups that HAVING leaves",
    ),
    (f"{CASES} LIMIT '1'", "give a whole number"),
    (f"{CASES} LIMIT 10 %", "is not understood"),
    (
        f"{CASES} WHERE EXISTS (SELECT 1 FROM reac WHERE reac.caseid = demo.caseid LIMIT 1)",
        "LIMIT in a subquery is refused",
    ),
    (f"{CASES} QUALIFY 1 = 1", "QUALIFY is refused"),
    ("SELECT age, COUNT(*) FROM demo GROUP BY age", "or by ranges, such as CASE WHEN age"),
    # what is no count
    ("SELECT AVG(sex) FROM demo", "means and quantiles are of age or wt"),
    ("SELECT SUM(age) FROM demo", "aggregates are COUNT with or without a FILTER"),
    ("SELECT AVG(DISTINCT age) FROM demo", "means and quantiles are of age or wt"),
    ("SELECT QUANTILE_CONT(age, 1.5) FROM demo", "give a number from 0 to 1"),
    ("SELECT QUANTILE_CONT(age, [0.1, 0.2]) FROM demo", "give one number from 0 to 1"),
    ("SELECT COUNT(*) / COUNT(DISTINCT caseid) FROM demo", "is no share: divide a COUNT"),
    ("SELECT 1.0 / COUNT(*) FROM demo", "is no share"),
    ("SELECT COUNT(DISTINCT AVG(x -> 1), mode(x -> 1)) FROM demo", "cases, reports or rows are"),
    ("SELECT COUNT(*) / 0 / COUNT(*) FROM demo", "divides by 0"),
    ("SELECT COUNT(age) FROM demo", "cases, reports or rows are counted"),
    ("SELECT COUNT(DISTINCT pt) FROM reac", "cases, reports or rows are counted"),
    ("SELECT COUNT(*) OVER () FROM demo", "aggregates are COUNT"),
    ("SELECT caseid FROM demo", "a COUNT or another aggregate in its SELECT list"),
    ("SELECT DISTINCT COUNT(*) FROM demo", "SELECT DISTINCT is refused"),
    ("SELECT pt, COUNT(*) FROM reac", "pt is neither counted nor in GROUP BY"),
    ("SELECT pt, COUNT(*) FROM reac GROUP BY 7", "the SELECT list has no item 7"),
    # how tables are joined
    ("SELECT COUNT(*) FROM demo, drug", "drug is not joined to demo by primaryid or caseid"),
    ("SELECT COUNT(*) FROM demo JOIN drug USING (drug_seq)", "join by primaryid or caseid"),
    ("SELECT COUNT(*) FROM demo LEFT JOIN drug USING (caseid)", "LEFT JOIN is refused"),
    ("SELECT COUNT(*) FROM demo NATURAL JOIN drug", "NATURAL JOIN is refused"),
    ("SELECT COUNT(*) FROM demo a JOIN demo b USING (caseid)", "demo is joined with itself"),
    ("SELECT COUNT(*) FROM drug JOIN drug USING (caseid)", "drug twice: give them aliases"),
    ("SELECT COUNT(*) FROM (SELECT * FROM demo LIMIT 3) x", "x: LIMIT: rows that are named"),
    ("SELECT COUNT(*) FROM (SELECT sex, COUNT(*) AS n FROM demo GROUP BY sex) x", "x: GROUP: "),
    ("SELECT COUNT(*) FROM (SELECT DISTINCT sex FROM demo) x", "of rows that are DISTINCT"),
    ("WITH x AS (SELECT 1) SELECT COUNT(*) FROM demo", "rows that are named, by WITH or in FROM"),
    ("WITH x AS (SELECT MAX(age) AS m FROM demo) SELECT COUNT(*) FROM x", "x: MAX(age): "),
    ("WITH x AS (SELECT age FROM demo) SELECT COUNT(*) FROM x WHERE wt > 3", "x has no column wt"),
    ("WITH RECURSIVE x AS (SELECT age FROM demo) SELECT COUNT(*) FROM x", "WITH RECURSIVE"),
    (
        "SELECT COUNT(*) FROM demo JOIN drug USING (caseid) WHERE primaryid = 1",
        "column primaryid is in several tables",
    ),
    (
        f"{CASES} WHERE caseid IN (SELECT caseid FROM demo WHERE age > 3)",
        "age stands in a subquery",
    ),
    (f"{CASES} WHERE caseid IN (SELECT primaryid FROM drug)", "the same on both sides"),
    (f"{CASES} WHERE EXISTS (SELECT 1 FROM drug)", "drug is not joined to demo"),
    (
        f"{CASES} WHERE EXISTS (SELECT COUNT(*) FROM drug WHERE drug.caseid = demo.caseid)",
        "aggregates are COUNT",
    ),
    ("SELECT COUNT(DISTINCT caseid) FROM drug WHERE age > 3", "age is of table demo: join it"),
    # what is no question, or wants more than an answer
    ("", "a question is one SELECT"),
    ("SELECT (", "not understood as SQL"),
    ("DROP TABLE demo", "a question is one SELECT"),
    ("SELECT COUNT(*) FROM demo; DROP TABLE demo", "several statements"),
    ("COPY demo TO '/tmp/x'", "a question is one SELECT"),
    ("ATTACH 'x.duckdb'", "a question is one SELECT"),
    ("PRAGMA database_list", "a question is one SELECT"),
    ("SELECT COUNT(*) FROM demo UNION SELECT 1", "UNION is refused"),
    ("SELECT COUNT(*) FROM raw_faers.demo", "without a schema name"),
    ("SELECT COUNT(*) FROM srsql.withheld", "without a schema name"),
    ("SELECT COUNT(*) FROM read_csv('/etc/passwd')", "in FROM is refused"),
    ("SELECT COUNT(*) FROM '/etc/passwd'", "table /etc/passwd is unknown"),
    ("SELECT COUNT(*) FROM demo FOR UPDATE", "is not understood"),
    ("SELECT COUNT(*) FROM demo TABLESAMPLE 10%", "SAMPLE is not understood"),
    ("SELECT COUNT(*) FROM drug WHERE getenv(drugname) = 'x'", "is not understood"),
    ("SELECT COUNT(*) FROM drug WHERE main.upper(drugname) = 'x'", "is not understood"),
    ("SELECT COUNT(*) FROM drug WHERE drugname = $x", "is not understood"),
    ("SELECT COUNT(* EXCLUDE caseid) FROM demo", "is not understood"),
    ("SELECT COUNT(*) FROM drug WHERE drugname = '\ud800'", "is not UTF-8 text"),
    (f"{CASES} WHERE {'(' * 5000}age > 1{')' * 5000}", "nested too deeply"),
    (f"{CASES} WHERE age IN ({'1, ' * 9000}1)", "longer than 20,000 characters"),
    (
        f"{CASES} WHERE " + " OR ".join(f"(age = {n} AND wt = {n})" for n in range(90)),
        "more than 4,096 combinations",
    ),
]


def test_not_like_is_the_negation_of_like(engine: Engine) -> None:
    for test in ("pt {} LIKE '%1'", "pt {} ILIKE 'reaction 01'"):
        counts = {
            sql: engine.query(f"SELECT COUNT(*) FROM reac WHERE {sql}").rows
            for sql in (test.format("NOT"), f"NOT {test.format('')}", test.format(""))
        }
        denied, negated, met = counts.values()
        assert denied == negated != met


@pytest.mark.thorough
def test_csv_holds_what_json_does_whatever_is_in_the_names(db: Path, tmp_path: Path) -> None:
    label = 'a "quoted", name\nof two lines'
    text = label.replace('"', '""')
    sql = f"SELECT pt AS \"{text}\", COUNT(*) FROM reac WHERE pt LIKE 'R%' GROUP BY 1"
    file = tmp_path / "answer.csv"
    assert query(db, sql, "--csv", file).code == 0
    with file.open(newline="", encoding="utf-8") as stream:
        header, *rows = csv.reader(stream)
    told = query(db, sql, "--json").json
    assert header == [label, "lower", "expected", "upper", "known"]
    assert [[row[0], *map(float, row[1:])] for row in rows] == told["rows"]
    assert query(db, sql, "--csv", "-").out == file.read_text(encoding="utf-8")


@pytest.mark.thorough
def test_what_steers_a_terminal_is_written_out(db: Path) -> None:
    label = "\x1b[31mred\u202e"
    answer = query(db, f'SELECT pt AS "{label}", COUNT(*) FROM reac GROUP BY 1')
    assert "\\x1b[31mred\\u202e" in answer.out
    refusal = query(db, f"{CASES} WHERE nonsense(caseid) = '\x1b[31m'")
    assert refusal.code == 2
    assert "\x1b" not in answer.out + refusal.err
    asked = f"SELECT CASE WHEN caseid > 0 THEN '{label}' END AS g, COUNT(*) FROM demo GROUP BY g"
    assert "\x1b" not in query(db, asked).out
    assert query(db, asked, "--json").json["rows"][0][0] == label


def test_a_database_attached_under_the_name_of_a_release_is_one_line(
    tmp_path: Path, db: Path
) -> None:
    shutil.copy(db, tmp_path / "w.duckdb")
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.con.execute("ATTACH ':memory:' AS release_2011q3")
        engine.con.execute("CREATE TABLE release_2011q3.main.manifest (model VARCHAR)")
        with pytest.raises(WarehouseError, match=r"attached as .release_2011q3") as refusal:
            engine.query(CASES)
    assert len(str(refusal.value).splitlines()) == 1


@pytest.mark.parametrize(("sql", "words"), REFUSED, ids=[sql[:60] for sql, _ in REFUSED])
def test_what_cannot_be_answered_soundly_is_refused_with_the_reason(
    engine: Engine, sql: str, words: str
) -> None:
    with pytest.raises(QueryError) as refusal:
        engine.query(sql)
    assert words in str(refusal.value)


@pytest.mark.parametrize(
    "sql", ["SELECT (", "SELECT COUNT(*) FROM demo FOR UPDATE", "DROP TABLE x"]
)
def test_a_refusal_exits_2_with_one_line(db: Path, sql: str) -> None:
    answer = query(db, sql)
    assert (answer.code, answer.out) == (2, "")
    assert len(answer.err.splitlines()) == 1


def test_scopes_that_hold_nothing_are_refused(engine: Engine) -> None:
    with pytest.raises(QueryError, match="2099Q1 is not released"):
        engine.query(CASES, quarter="2099Q1", dataset="faers")
    with pytest.raises(QueryError, match="series 'other' of faers has no releases"):
        engine.query(CASES, series="other")
    with pytest.raises(QueryError, match="rows of a join are withheld"):
        engine.query("SELECT COUNT(*) FROM demo JOIN drug USING (primaryid)", include_withheld=True)


def test_names_and_texts_of_an_attacker_are_data(db: Path, engine: Engine) -> None:
    hostile = ["'; DROP SCHEMA released CASCADE; --", 'x" OR 1=1 --', "\\'", "a\0b", "Ünïcode'"]
    for text in hostile:
        quoted = text.replace("'", "''")
        sql = f"SELECT COUNT(*) FROM drug WHERE drugname = '{quoted}'"
        with pytest.raises(QueryError, match="no released row has drugname"):
            engine.query(sql)
        assert engine.query(sql, allow_unknown=True).rows == ((0, 0.0, 0, 0),)
        name = text.replace('"', '""').replace("\0", "")
        labelled = engine.query(f'SELECT pt AS "{name}", COUNT(*) FROM reac GROUP BY 1')
        assert labelled.columns[0] == text.replace("\0", "")
        assert len(labelled.rows) == 3
    assert engine.query(CASES).rows[0][0] == 90


def test_regions_that_need_not_hold_the_original_are_refused(tmp_path: Path, db: Path) -> None:
    class Noisy(Ms):
        name: ClassVar[str] = "noisy"
        shape: ClassVar[Shape] = DrawnValues()

    shutil.copy(db, tmp_path / "w.duckdb")
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.con.execute("UPDATE srsql_data.release_2_manifest SET model = 'noisy'")
        for models in ({}, {"noisy": Noisy}):
            with mock.patch.dict(MODELS, models), pytest.raises(QueryError, match="by noisy"):
                engine.query(CASES)
        assert engine.query(CASES, quarter="2011Q3").rows
