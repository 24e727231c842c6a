"""A warehouse answers in any DuckDB client, as srsql does: see docs/audit-in-sql.md."""

from __future__ import annotations

import random
import re
import tomllib
from pathlib import Path
from typing import Any

import duckdb
import pytest
from support.bare import answers
from support.command import srsql
from support.people import ingest
from support.quarters import Report
from support.scripts import DOCS, load

from srsql.engine.api.engine import Engine
from srsql.engine.store.comments import COLUMNS, EVERY
from srsql.engine.store.definitions import described
from srsql.engine.store.statements import source

pytestmark = pytest.mark.slow

PAGE = DOCS / "audit-in-sql.md"
HUANG = Path(__file__).parents[1] / "golden" / "huang2021"
QUARTERS = ("2011Q1", "2011Q2", "2011Q3", "2011Q4")
OPTIONS: dict[str, Any] = {
    "k": 3, "theta": "2/3", "seed": 1, "on_infeasible": "withhold", "refine": "off",
    "allow_linkable": True,
}  # fmt: skip
TERMS = ("Rash", "Cough", "Itch", "Fever", "Pain", "Fall", "Ache")
COMING = "CREATE TEMP VIEW coming AS SELECT caseid AS case_id, quarter FROM raw_faers.demo"
VIEWS = (
    "CREATE TEMP VIEW signal_case AS SELECT caseid AS case_id, "
    "unnest(srsql.meets(age_low, age_high, 50, 120, 0, 120)) "
    "FROM released.demo SEMI JOIN released.case_latest USING (caseid, quarter)",
    "CREATE TEMP VIEW signal_drug AS SELECT caseid AS case_id, drugname_key AS drug "
    "FROM released.drug SEMI JOIN released.case_latest USING (caseid, quarter)",
    "CREATE TEMP VIEW signal_reaction AS SELECT caseid AS case_id, pt_key AS reaction "
    "FROM released.reac SEMI JOIN released.case_latest USING (caseid, quarter)",
)


def quarter(luck: random.Random, n: int, cases: list[int]) -> list[Report]:
    return [
        Report(
            10 * case + n, case, str(20 + case * 7 % 60), "MF"[case % 2], str(50 + case % 30),
            pt=(luck.choice(TERMS), f"Of case {case}"),
            drugs=(luck.choice(["ASPIRIN", "X-Pill."]),),
        )
        for case in cases
    ]  # fmt: skip


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Series main, of which a quarter was corrected, series stay, which withstands P and MD, and
    a quarter that none of them has released."""
    folder = tmp_path_factory.mktemp("bare")
    luck = random.Random(4)
    crowd = list(range(100, 190))
    with Engine(folder / "w.duckdb") as engine:
        there = {
            q: quarter(luck, n, sorted(luck.sample(crowd, 60)))
            for n, q in enumerate(QUARTERS, start=1)
        }
        ingest(engine, folder, there)
        engine.release_range("2011Q1:2011Q3", **OPTIONS)
        engine.release_range("2011Q1:2011Q3", series="stay", model="ppms-stay", **OPTIONS)
        ((gone,),) = engine.sql(
            "SELECT min(m.case_id) FROM srsql.member AS m JOIN srsql.release AS r "
            "ON m.release_id = r.release_id WHERE r.series = 'main' AND r.quarter = '2011Q2'"
        )
        engine.con.execute("INSERT INTO srsql.deleted_case VALUES ('faers', ?, 1)", [gone])
        engine.correct("2011Q2", series="main")
    return folder / "w.duckdb"


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Huang's Table 2 without the originals."""
    path = tmp_path_factory.mktemp("foreign") / "w.duckdb"
    for period in QUARTERS[:3]:
        answer = srsql(
            "import-release", HUANG / "released_table2.csv", "--quarter", period,
            "--dataset", HUANG / "huang.toml", "--db", path,
        )  # fmt: skip
        assert answer.code == 0, answer.err
    return path


def same(rows: list[dict[str, Any]], found: Any) -> None:
    """Verdicts and figures are those of the command."""
    assert [(r["release_id"], r["scope"]) for r in rows] == [
        (r["release_id"], r["scope"]) for r in found["releases"]
    ]
    for row, due in zip(rows, found["releases"], strict=True):
        names = ("attacks", "not_evaluated", "undefended", "groups", "dig", "dsg", "ssg",
                 "persistence", "erasure", "erasure_series", "erasure_claimed",
                 "outside")  # fmt: skip
        assert {name: row[name] for name in names} == {name: due[name] for name in names}
        assert row["leaving"] == (due["leaving"] and due["leaving"]["groups"])
    assert all(row["safe"] for row in rows) == found["safe"]


@pytest.mark.parametrize("series", ["main", "stay"])
def test_the_verdict_on_a_series_is_that_of_srsql_audit(db: Path, series: str) -> None:
    found = srsql("audit", "--db", db, "--series", series, "--json").json
    _, rows, told = answers(
        db,
        [COMING, f"FROM srsql.audit(series := '{series}')",
         f"FROM srsql.audit(series := '{series}', reports := 'coming')"],
    )  # fmt: skip
    assert rows == told, told
    assert not any(row["why"] for row in rows)
    same(rows, found)
    assert {row["status"] for row in rows} >= {"released"}
    assert series == "stay" or any(row["erasure_claimed"] for row in rows)
    assert series == "main" or all("p" in row["attacks"] for row in rows)


@pytest.mark.parametrize("attacks", [pytest.param("b,f,l", marks=pytest.mark.thorough), "b,f,l,md"])
def test_the_verdict_on_a_foreign_series_is_that_of_srsql_audit(
    foreign: Path, attacks: str
) -> None:
    asked = ("--k", 3, "--theta", "1/3", "--attacks", attacks)
    found = srsql("audit", "--db", foreign, *asked, "--json").json
    call = f"attacks := {attacks.split(',')}, k := 3, theta := '1/3'"
    rows, unknown = answers(foreign, [f"FROM srsql.audit({call})", "FROM srsql.audit()"])
    same(rows, found)
    assert "2011Q1 cannot be judged: no k is known: give k := 5" in unknown
    why = "md: 2011Q3 is a foreign release, whose ids need not be those of the reports: "
    for row in rows:
        newest = row["period"] == "2011Q3" and "md" in attacks
        assert [text.startswith(why) for text in row["why"]] == [True] * newest


def test_a_verdict_that_the_release_keeps_stands_beside_and_is_compared(
    db: Path, tmp_path: Path
) -> None:
    (rows,) = answers(db, ["FROM srsql.audit('2011Q3')"])
    assert [(row["kept_safe"], row["agrees"]) for row in rows] == [(True, True)] * 2
    other = tmp_path / "other.duckdb"
    other.write_bytes(db.read_bytes())
    with duckdb.connect(str(other)) as con:
        con.execute("UPDATE srsql.verdict SET groups = groups + 1 WHERE scope = 'group'")
    (rows,) = answers(other, ["FROM srsql.audit('2011Q3')"])
    assert {row["scope"]: row["agrees"] for row in rows} == {"group": False, "match": True}


@pytest.mark.parametrize(
    ("known", "words"), [({}, ()), ({"new": True, "stopped": True}, ("--new", "--stopped"))]
)
def test_an_attacker_finds_what_srsql_attack_finds(
    db: Path, known: dict[str, bool], words: tuple[str, ...]
) -> None:
    qid = {"age": 41, "sex": "f"}
    told = [word for name, value in qid.items() for word in ("--qid", f"{name}={value}")]
    found = srsql("attack", "--db", db, "--quarter", "2011Q2", *told, *words, "--json").json
    more = "".join(f", {name} := true" for name in known)
    call = f"('2011Q2', {qid}{more})"
    steps, cases = answers(db, [f"FROM srsql.attack{call}", f"FROM srsql.candidates{call}"])
    assert [r["case_id"] for r in cases] == [c["case_id"] for c in found["candidates"]]
    assert [r["case_id"] for r in cases if not r["excluded_by"]] == found["remaining"]
    by_step: dict[str, list[tuple[Any, ...]]] = {}
    for row in steps:
        by_step.setdefault(row["step"], []).append((row["name"], row["cases"]))
    assert dict(by_step["excluded"]) == {e["name"]: e["cases"] for e in found["exclusions"]}
    for step, key in (("inferred", "inferences"), ("united", "union")):
        due = [(i["term"], i["holders"]) for i in found[key]]
        assert by_step.get(step, []) == due
    due = [(p["quarter"], p["cases"]) for p in found["persistence"]]
    assert sorted(by_step.get("persistent", [])) == sorted(due)


def test_a_name_or_a_value_that_there_is_not_is_named_with_those_that_there_are(db: Path) -> None:
    found = answers(db, [
        "FROM srsql.attack('2011Q2', {'size': 41})",
        "FROM srsql.attack('2011Q2', {'sex': 'X'})",
        "FROM srsql.attack('2011Q2', {'age': 'old'})",
        "FROM srsql.attack('2012Q2', {'age': 41})",
        "FROM srsql.attack('2011Q2', {'age': 41}, stayed := true, gone := true)",
        "FROM srsql.metrics('2012Q2')",
    ])  # fmt: skip
    for text, words in zip(found, (
        "size is no quasi-identifier: give some of age, wt, sex",
        "X is no value of sex: give one of Any, M, F",
        "age is a number, and old is none",
        "no release of 2012Q2: FROM srsql.series()",
        "a target that stayed has neither stopped nor gone",
        "no release of 2012Q2 is out: FROM srsql.series()",
    ), strict=True):  # fmt: skip
        assert words in text


def test_cells_and_measures_of_a_pair_are_those_of_srsql_signals(db: Path) -> None:
    asked = ("--drug", "x-pill", "--reaction", "Rash", "--min-age", 50, "--released-only")
    found = srsql("signals", "--db", db, *asked, "--json").json
    due = found["signals"][0]["released"]
    views = "cases := 'signal_case', drugs := 'signal_drug', reactions := 'signal_reaction'"
    *_, (row,), cells, every, mixed = answers(db, [
        *VIEWS, f"FROM srsql.signals('X-Pill', 'rash', {views})",
        f"FROM srsql.pair('X-Pill', 'rash', {views})", f"FROM srsql.signals_all(1, {views})",
        "FROM srsql.signals('X-Pill', 'rash', cases := 'signal_case')",
    ])  # fmt: skip
    assert mixed == [row]
    for cell in "abcd":
        (own,) = [c for c in cells if c["cell"] == cell]
        assert (own["lower"], own["upper"]) == (due[f"{cell}_lower"], due[f"{cell}_upper"])
        assert row[cell] == own["expected"] == pytest.approx(due[cell])
    for name in ("prr", "prr_low", "prr_high", "ror", "ic", "chi2"):
        assert row[name] == pytest.approx(due[name])
    assert row["prr_least"] <= row["prr"] <= row["prr_most"]
    assert row in every


@pytest.mark.parametrize("series", ["main", "stay"])
def test_without_views_of_the_reader_pairs_count_all_cases_and_suspect_drugs(
    db: Path, series: str
) -> None:
    asked = ("--drug", "x-pill", "--reaction", "Rash", "--released-only", "--series", series)
    due = srsql("signals", "--db", db, *asked, "--json").json["signals"][0]["released"]
    call = f"'X-Pill', 'rash', series := '{series}'"
    (row,), every = answers(db, [
        f"FROM srsql.signals({call})", f"FROM srsql.signals_all(1, series := '{series}')"
    ])  # fmt: skip
    assert row["a"] > 0
    for cell in "abcd":
        assert (row[f"{cell}_lower"], row[f"{cell}_upper"]) == (
            due[f"{cell}_lower"], due[f"{cell}_upper"]
        )  # fmt: skip
    assert row["prr"] == pytest.approx(due["prr"])
    assert row in every


def test_a_case_that_counts_in_two_states_is_refused(db: Path) -> None:
    views = [view.replace("SEMI JOIN released.case_latest USING (caseid, quarter)", "")
             for view in VIEWS]  # fmt: skip
    own = "cases := 'signal_case', drugs := 'signal_drug', reactions := 'signal_reaction'"
    *_, told = answers(db, [*views, f"FROM srsql.signals('X-Pill', 'rash', {own})"])
    assert "a case has two states: take each as its latest period has it" in told


def test_a_node_meets_a_condition_by_its_leaves(db: Path) -> None:
    (rows,) = answers(db, [
        "SELECT m.node, unnest(m.met) FROM (SELECT s.node, "
        "srsql.meets_node(s.node, 'F', 'faers', 'sex') AS met "
        "FROM (VALUES ('Any'), ('F'), ('M')) AS s (node)) AS m"
    ])  # fmt: skip
    found = {r["node"]: (r["lower"], float(r["expected"]), r["upper"], r["known"]) for r in rows}
    assert found == {"Any": (0, 0.5, 1, False), "F": (1, 1, 1, True), "M": (0, 0, 0, True)}


def test_measures_computed_now_are_those_that_the_release_keeps(db: Path) -> None:
    (rows,) = answers(db, ["FROM srsql.metrics()"])
    assert {row["period"] for row in rows} == set(QUARTERS[:3])
    computed = [row for row in rows if row["agrees"] is not None]
    assert {row["measure"] for row in computed} >= {"nil", "dr", "withheld", "suppressed"}
    assert all(row["agrees"] for row in computed)
    (danger,) = answers(db, ["FROM srsql.danger('2011Q3', attacks := ['b', 'f', 'l'])"])
    kept = {(r["measure"], r["scope"]): r["ratio"] for r in danger}
    shown = {(r["measure"], r["scope"].split(":")[0]): r["kept_ratio"] for r in rows
             if r["period"] == "2011Q3" and r["measure"] in ("dir", "dsr")}  # fmt: skip
    assert shown
    assert {key: kept[key] for key in shown} == shown


def test_the_series_and_the_macros_are_listed(db: Path) -> None:
    series, macros, named = answers(db, [
        "FROM srsql.series()", "FROM srsql.help()",
        "SELECT DISTINCT function_name, comment FROM duckdb_functions() "
        "WHERE schema_name LIKE 'srsql%' AND NOT internal",
    ])  # fmt: skip
    assert [r["period"] for r in series if r["series"] == "main"] == [
        "2011Q1", "2011Q2", "2011Q2", "2011Q3"
    ]  # fmt: skip
    public = [each for each in described() if each.public and each.kind.startswith("MACRO")]
    assert len(public) <= 40
    assert {r["call"].split("(")[0] for r in macros} == {f"srsql.{each.name}" for each in public}
    assert all(r["what"] for r in macros)
    assert [r["function_name"] for r in named if not r["comment"]] == []
    assert not any(each.kernels for each in public)


def test_every_table_and_view_and_each_of_their_columns_has_a_comment(db: Path) -> None:
    """Of the catalog, of the views of readers, and of what is released."""
    shown = "schema_name IN ('srsql', 'srsql_reader') OR schema_name LIKE 'release%'"
    tables, columns = answers(db, [
        "SELECT schema_name || '.' || table_name AS name, comment FROM duckdb_tables() "
        f"WHERE {shown} UNION ALL "
        "SELECT schema_name || '.' || view_name, comment FROM duckdb_views() "
        f"WHERE {shown}",
        "SELECT schema_name || '.' || table_name || '.' || column_name AS name, comment "
        f"FROM duckdb_columns() WHERE {shown}",
    ])  # fmt: skip
    names = {row["name"] for row in tables}
    assert {
        "srsql_reader.report",
        "srsql.member",
        "released.demo",
        "release_2011q3.manifest",
    } <= names
    texts = {row["name"]: row["comment"] for row in columns}
    assert {f"{name}." for name in names} == {name.rpartition(".")[0] + "." for name in texts}
    assert [row["name"] for row in tables if not row["comment"]] == []
    assert [name for name, text in texts.items() if not text] == []
    assert texts["released.demo.age_low"] == (
        "Lower end of the region of age, inclusive, in years."
    )
    assert texts["released.reac.pt_key"] == "Key of pt, one for all its spellings."


def test_each_column_text_is_of_a_column_that_there_is(db: Path) -> None:
    (rows,) = answers(db, [
        "SELECT table_name, column_name FROM duckdb_columns() "
        "WHERE schema_name IN ('srsql', 'srsql_reader')"
    ])  # fmt: skip
    texts = tomllib.loads(source("srsql.engine.store", COLUMNS))
    of_every = texts.pop(EVERY)
    own = {(name, column) for name, found in texts.items() for column in found}
    assert set(of_every) == {row["column_name"] for row in rows}
    assert own <= {(row["table_name"], row["column_name"]) for row in rows}


def test_attached_it_answers_where_it_is_in_use_or_on_the_search_path(db: Path) -> None:
    verdict = "SELECT bool_and(safe) AS safe FROM srsql.audit('2011Q3')"
    found = answers(":memory:", [
        f"ATTACH '{db}' AS w (READ_ONLY)", "FROM w.srsql.audit('2011Q3')",
        "SELECT count(*) AS n FROM w.released.demo", "USE w", verdict,
        "USE memory", "SET search_path = 'w.srsql,memory.main'", verdict,
    ])  # fmt: skip
    assert "does not exist" in found[1]
    assert found[2][0]["n"] > 0
    assert found[4] == found[7] == [{"safe": True}]


def statements() -> list[str]:
    return re.findall(r"^```sql\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)


def test_the_page_has_at_most_ten_statements_of_at_most_five_lines() -> None:
    texts = statements()
    assert 0 < len(texts) <= 10
    assert max(len(text.splitlines()) for text in texts) <= 5


@pytest.mark.thorough
def test_the_statements_of_the_page_run_on_the_demo_and_agree(tmp_path: Path) -> None:
    guides = load(DOCS / "run_guides.py")
    guides.make_demo(tmp_path)
    db = tmp_path / "srsql-demo" / "demo.duckdb"
    found = answers(db, statements())
    assert not [each for each in found if isinstance(each, str)]
    assert found[2] == [{"safe": True, "agrees": True}]
    same(answers(db, ["FROM srsql.audit()"])[0], srsql("audit", "--db", db, "--json").json)


def test_the_table_of_macros_is_the_one_that_the_code_generates() -> None:
    builder = load(DOCS / "build_macros.py")
    assert builder.PAGE.read_text(encoding="utf-8") == builder.page()
