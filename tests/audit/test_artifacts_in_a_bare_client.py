"""Published artifacts are audited by one file of SQL, as import-release and srsql audit do."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Iterator, Sequence
from csv import DictReader
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest
from support.artifacts import make
from support.bare import answers
from support.command import srsql
from support.drawn_once import drawing
from support.people import ingest
from support.quarters import Report, next_version
from support.scripts import DOCS

from srsql.engine.api.engine import Engine
from srsql.engine.report.page import Page
from srsql.engine.store.printed import public_file

pytestmark = pytest.mark.slow

UNTOLD = {
    "outside", "u", "md", "other columns", "nil", "dr with E", "withheld", "rr, ar, singling out",
}  # fmt: skip
QUARTERS = ("2011Q1", "2011Q2", "2011Q3")
FORMS = ("parquet", "duckdb", "csv")
TERMS = ("Rash", "Cough", "Itch", "Fever", "Pain", "Fall", "Ache")
OPTIONS: dict[str, Any] = {
    "k": 3, "theta": "2/3", "seed": 1, "on_infeasible": "withhold", "refine": "off",
    "allow_linkable": True,
}  # fmt: skip
FIGURES = (
    "attacks", "not_evaluated", "groups", "dig", "dsg", "ssg", "persistence", "erasure",
    "erasure_series", "erasure_claimed", "outside",
)  # fmt: skip


def quarter(luck: random.Random, n: int, cases: list[int]) -> list[Report]:
    """Reports of a quarter: some cases have many terms, and some have two reports."""
    reports = [
        Report(
            10 * case + n, case, str(20 + case * 7 % 60), "MF"[case % 2], str(50 + case % 30),
            pt=tuple(luck.sample(TERMS, 5 if case % 11 == 0 else 1 + case % 2)),
            indi=(luck.choice(TERMS),),
        )
        for case in cases
    ]  # fmt: skip
    return [*reports, *map(next_version, reports[:4])]


@dataclass(frozen=True)
class Published:
    """A series, its artifacts, and a warehouse with nothing but an import of them."""

    db: Path
    folder: Path
    imported: Path

    def each(self, form: str) -> list[Path]:
        """The artifact of every quarter."""
        return [self.folder / f"{quarter}-{form}" for quarter in QUARTERS]

    def range(self, form: str) -> list[Path]:
        """The artifact of all quarters."""
        return [self.folder / f"range-{form}"]


@pytest.fixture(scope="module")
def plain_pages() -> Iterator[None]:
    """Reports of one line: drawing takes longer than all that is looked at beside them."""

    def page(_: Any, of_quarter: str) -> Page:
        return Page(f"<p>{of_quarter}</p>\n", ())

    with drawing(page):
        yield


@pytest.fixture(scope="module")
def published(plain_pages: None, tmp_path_factory: pytest.TempPathFactory) -> Published:
    folder = tmp_path_factory.mktemp("published")
    luck = random.Random(4)
    crowd = list(range(100, 190))
    found = Published(folder / "w.duckdb", folder, folder / "imported.duckdb")
    with Engine(found.db) as engine:
        there = {
            q: quarter(luck, n, sorted(luck.sample(crowd, 60)))
            for n, q in enumerate(QUARTERS, start=1)
        }
        ingest(engine, folder, there)
        engine.release.make_range("2011Q1:2011Q3", **OPTIONS)
    for form in FORMS:
        make(found.db, found.range(form)[0], "2011Q1:2011Q3", format=form)
        quarters = QUARTERS if form != "csv" else QUARTERS[:1]
        for q, to in zip(quarters, found.each(form), strict=False):
            make(found.db, to, q, format=form)
    for q, artifact in zip(QUARTERS, found.each("parquet"), strict=True):
        take_in(artifact, q, found.imported)
    return found


def take_in(artifact: Path, of_quarter: str, db: Path) -> None:
    """Import an artifact as one table, made of its own."""
    table = db.with_name(f"{of_quarter}.csv")
    with duckdb.connect() as con:
        con.execute(
            f"COPY (SELECT d.*, t.pt, i.indi_pt FROM '{artifact}/demo.parquet' AS d "
            f"LEFT JOIN (SELECT caseid, string_agg(pt, '|') AS pt FROM '{artifact}/reac.parquet' "
            "GROUP BY caseid) AS t ON d.caseid = t.caseid "
            "LEFT JOIN (SELECT caseid, string_agg(indi_pt, '|') AS indi_pt FROM "
            f"'{artifact}/indi.parquet' GROUP BY caseid) AS i ON d.caseid = i.caseid) TO '{table}'"
        )
    answer = srsql(
        "import-release", table, "--quarter", of_quarter, "--dataset", "faers", "--separator", "|",
        "--db", db,
    )  # fmt: skip
    assert answer.code == 0, answer.err


def audited(folders: Sequence[Path], *calls: str) -> list[Any]:
    """What a client without srsql says of artifacts, or why it does not read them."""
    named = [str(folder) for folder in folders]
    first, second, *found = answers(
        ":memory:", [f"SET VARIABLE artifacts = {named}", public_file(), *calls]
    )
    assert first == []
    return found if isinstance(second, list) else [second] * len(calls)


def same(rows: list[dict[str, Any]], due: Any) -> None:
    """Verdicts and figures are those of the command."""
    assert [(r["period"], r["scope"]) for r in rows] == [
        (r["quarter"], r["scope"]) for r in due["releases"]
    ]
    for row, told in zip(rows, due["releases"], strict=True):
        assert {name: row[name] for name in FIGURES} == {name: told[name] for name in FIGURES}
        assert row["leaving"] == (told["leaving"] and told["leaving"]["groups"])
    assert all(row["safe"] for row in rows) == due["safe"]


@pytest.mark.parametrize(
    ("k", "theta", "attacks", "alpha", "several", "single"),
    [
        # p takes half a minute; a client is held to it on a warehouse, and to b, f, l below
        *(
            pytest.param(*case, marks=pytest.mark.thorough)
            for case in (
                (3, "2/3", "b,f,l", None, "csv", "duckdb"),
                (9, "1/5", "b,f,l,md,p", None, None, "parquet"),
                (9, "1/5", "b,f,l,md,p", None, "duckdb", "parquet"),
            )
        ),
        (4, "1/2", "b,f,l,md,ss", "1/10", "parquet", "duckdb"),
    ],
)
def test_verdicts_are_those_of_an_import_and_its_audit(
    published: Published,
    k: int,
    theta: str,
    attacks: str,
    alpha: str | None,
    several: str | None,
    single: str,
) -> None:
    more = ("--alpha", alpha) if alpha else ()
    due = srsql(
        "audit", "--db", published.imported, "--k", k, "--theta", theta, "--attacks", attacks,
        *more, "--json",
    ).json  # fmt: skip
    call = f"FROM srsql.audit(k := {k}, theta := '{theta}', attacks := {attacks.split(',')}"
    call += f", alpha := '{alpha}')" if alpha else ")"
    for folders in (*([published.range(several)] if several else []), published.each(single)):
        (rows,) = audited(folders, call)
        same(rows, due)
    found = {name for row in due["releases"] for name in ("dig", "dsg", "ssg") if row[name]}
    assert found == (set() if k == 3 else {"dig", "dsg", "ssg"} if alpha else {"dig", "dsg"})


@pytest.mark.parametrize("form", FORMS)
def test_by_themselves_artifacts_are_held_to_their_own_bounds(
    published: Published, form: str, tmp_path: Path
) -> None:
    db = tmp_path / "imported.duckdb"
    shutil.copy(published.imported, db)
    with duckdb.connect(str(db)) as con:
        for q, artifact in zip(QUARTERS, published.each("parquet"), strict=True):
            con.execute(
                "UPDATE srsql.threshold AS t SET theta_num = v.theta_num, theta_den = v.theta_den "
                f"FROM '{artifact}/value-thresholds.csv' AS v, srsql.release AS r "
                f"WHERE t.term = v.value AND t.release_id = r.release_id AND r.quarter = '{q}'"
            )
        assert con.execute("SELECT count(*) FROM srsql.threshold WHERE theta_den = 0").fetchall() \
            == [(0,)]  # fmt: skip
    due = srsql("audit", "--db", db, "--k", 3, "--json").json
    own = srsql("audit", "--db", published.db, "--json").json
    (rows,) = audited(published.range(form), "FROM srsql.audit()")
    same(rows, due)
    assert due["safe"]
    assert own["safe"]
    assert {row["k"] for row in rows} == {3}
    assert {row["model"] for row in rows} == {"ppms++"}


def test_a_sharper_threshold_of_the_artifact_makes_it_unsafe(
    published: Published, tmp_path: Path
) -> None:
    (folder,) = (shutil.copytree(published.each("csv")[0], tmp_path / "it"),)
    path = folder / "value-thresholds.csv"
    path.write_text(path.read_text().replace('"2","3"', '"1","9"'))
    found, measured = audited([folder], "FROM srsql.audit()", "FROM srsql.danger()")
    assert any(row["dsg"] for row in found)
    assert not any(row["safe"] for row in found)
    assert {(r["scope"], r["violating"]) for r in measured if r["measure"] == "dsr"} == {
        (r["scope"], r["dsg"]) for r in found
    }
    (loss,) = audited([folder], "FROM srsql.metrics() WHERE measure = 'dr'")
    assert [row["violating"] for row in loss] == [max(row["dsg"] for row in found)]


@pytest.mark.parametrize("form", ["parquet", "duckdb"])
def test_a_group_below_k_is_unsafe(published: Published, form: str, tmp_path: Path) -> None:
    folder = shutil.copytree(published.each(form)[1], tmp_path / "it")
    alone = "SET age_low = 117, age_high = 117 WHERE caseid = (SELECT min(caseid) FROM demo)"
    with duckdb.connect(str(folder / "release.duckdb") if form == "duckdb" else ":memory:") as con:
        if form == "parquet":
            con.execute(f"CREATE TABLE demo AS FROM '{folder}/demo.parquet'")
        con.execute(f"UPDATE demo {alone}")
        if form == "parquet":
            con.execute(f"COPY demo TO '{folder}/demo.parquet'")
    others = [each for each in published.each(form) if each.name != published.each(form)[1].name]
    for folders in ([folder], [folder, *others]):
        rows, before = audited(folders, "FROM srsql.audit('2011Q2')", "FROM srsql.series()")
        assert [row["safe"] for row in rows] == [False, False]
        assert min(row["dig"] for row in rows) >= 1
        assert len(before) == len(folders)


ATTACKERS: tuple[tuple[dict[str, Any], dict[str, bool]], ...] = (
    ({"age": 41, "sex": "f"}, {}),
    ({"sex": "M", "wt": 60}, {"new": True, "stopped": True}),
    ({"age": 30}, {"stayed": True}),
)


@pytest.mark.parametrize(("qid", "known"), ATTACKERS)
def test_an_attacker_finds_what_srsql_attack_finds_in_an_import(
    published: Published, qid: dict[str, Any], known: dict[str, bool]
) -> None:
    words = [word for name, value in qid.items() for word in ("--qid", f"{name}={value}")]
    words += [f"--{name}" for name in known]
    call = f"('2011Q2', {qid}{''.join(f', {name} := true' for name in known)})"
    due = srsql(
        "attack", "--db", published.imported, "--quarter", "2011Q2", *words, "--json"
    ).json  # fmt: skip
    for folders in (published.range("duckdb"), published.each("parquet")):
        steps, cases = audited(folders, f"FROM srsql.attack{call}", f"FROM srsql.candidates{call}")
        assert [r["case_id"] for r in cases] == [c["case_id"] for c in due["candidates"]]
        assert [r["case_id"] for r in cases if not r["excluded_by"]] == due["remaining"]
        excluded = {r["name"]: r["cases"] for r in steps if r["step"] == "excluded"}
        assert excluded == {each["name"]: each["cases"] for each in due["exclusions"]}
        for step, key in (("inferred", "inferences"), ("united", "union")):
            found = [(r["name"], r["cases"]) for r in steps if r["step"] == step]
            assert found == [(each["term"], each["holders"]) for each in due[key]]
    assert due["candidates"]


def test_measures_are_those_of_an_import_and_danger_goes_by_published_thresholds(
    published: Published,
) -> None:
    folders = published.each("parquet")
    calls = [f"FROM srsql.metrics('{q}')" for q in QUARTERS]
    for q, folder, rows in zip(QUARTERS, folders, audited(folders, *calls), strict=True):
        told = srsql("metrics", "--db", published.imported, "--quarter", q, "--json").json
        due = {(m["measure"], m["scope"]): m["ratio"] for m in told}
        found = {(r["measure"], r["scope"]): r["ratio"] for r in rows}
        dr = found.pop(("dr", "without E"))
        assert found == pytest.approx(due)
        assert {"nil", "il_per_group", "group_size"} == {measure for measure, _ in found}
        assert dr == danger_by_hand(folder)
    (imported,) = answers(published.imported, ["FROM srsql.metrics('2011Q1')"])
    assert {row["measure"] for row in imported} == {"nil", "il_per_group", "group_size"}


def danger_by_hand(folder: Path) -> float:
    """Of regions, how many show a value of more cases than its threshold allows."""
    with duckdb.connect() as con:
        rows = con.execute(f"SELECT caseid, * EXCLUDE (caseid) FROM '{folder}/demo.parquet'")
        names = [column[0] for column in rows.description]
        shown = [i for i, n in enumerate(names) if n.endswith(("_low", "_high")) or n == "sex"]
        regions: dict[tuple[Any, ...], set[str]] = {}
        for row in rows.fetchall():
            regions.setdefault(tuple(row[i] for i in shown), set()).add(row[0])
        held: dict[str, set[str]] = {}
        for table, column in (("reac", "pt_key"), ("indi", "indi_pt_key")):
            for case, term in con.execute(
                f"SELECT caseid, {column} FROM '{folder}/{table}.parquet'"
            ).fetchall():
                held.setdefault(term, set()).add(case)
    with (folder / "value-thresholds.csv").open() as file:
        thetas = {r["value"]: (int(r["theta_num"]), int(r["theta_den"])) for r in DictReader(file)}
    dangerous = [
        cases
        for cases in regions.values()
        if any(
            len(cases & held[term]) * den > num * len(cases) for term, (num, den) in thetas.items()
        )
    ]
    return len(dangerous) / len(regions)


def test_how_numbers_are_rounded_is_asked_and_not_guessed(published: Published) -> None:
    """A manifest tells steps of whole kilograms, and not which one 60.5 becomes."""
    (told,) = audited(published.range("csv"), "FROM srsql.attack('2011Q1', {'wt': 60.5})")
    assert "how wt is rounded is not told: give a multiple of 1" in told


def test_what_is_absent_is_listed(published: Published) -> None:
    _, second, third = published.each("duckdb")
    names = "SELECT period, what, why FROM srsql.not_evaluated()"
    found, whole = audited([third], names, "FROM srsql.audit(attacks := ['b', 'md'])")
    assert [row["not_evaluated"] for row in whole] == [["md"]] * 2
    assert [r["what"] for r in found if "is not here" in r["why"]] == ["b, l, p", "b, l, p", "md"]
    (found,) = audited([second], names)
    assert [r["why"] for r in found if r["what"] == "b, l, p"] == [
        "the artifact of 2011Q1 is not here: what it adds is not counted"
    ]
    (found,) = audited(published.range("csv"), names)
    assert [(r["period"], r["what"]) for r in found if "not here" in r["why"]] == [
        ("2011Q1", "outside"), ("2011Q2", "outside"), ("2011Q3", "md"), ("2011Q3", "outside"),
    ]  # fmt: skip
    assert {r["what"] for r in found} == UNTOLD
    assert all("drug.drugname" in r["why"] for r in found if r["what"] == "other columns")


def test_every_macro_of_the_file_is_listed_with_its_comment(published: Published) -> None:
    (found,) = audited(published.range("parquet"), "FROM srsql.help()")
    names = [row["call"].split("(")[0] for row in found]
    assert names == [
        f"srsql.{name}"
        for name in (
            "attack", "audit", "candidates", "danger", "help", "metrics", "not_evaluated", "series",
        )
    ]  # fmt: skip
    assert all(row["what"] for row in found)


def forged(folder: Path, place: Sequence[str | int], value: Any) -> None:
    """Write something else into the manifest."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    part = manifest
    for step in place[:-1]:
        part = part[step]
    part[place[-1]] = value
    path.write_text(json.dumps(manifest))


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (("tables", 0, "file"), "../2011Q1-csv/demo.csv", "names no table, file or column"),
        (("tables", 0, "columns", 1, "name"), 'x" FROM t; --', "names no table, file or column"),
        (("tables", 0, "columns", 1, "role"), "derived", "without the case id of demo"),
        (("tables", 0, "columns", 3, "role"), "derived", "without the columns of age"),
        (("tables", 0, "columns", 7, "attribute"), "size", "without the columns of"),
        (("report_table",), "other", "without its table of reports"),
        (("report_table",), None, "has no rows of reports"),
        (("terms",), {"m": 2}, "tells terms apart from rows"),
        (("qid_sets",), [{"name": "a"}], "several sets of quasi-identifiers"),
        (("artifact_version",), 6, "published by another version"),
        (("tables", 2, "columns", 3, "role"), "derived", "has terms without keys (reac.pt)"),
    ],
)
def test_a_manifest_that_tells_less_than_an_audit_needs_is_refused(
    published: Published, tmp_path: Path, place: tuple[str | int, ...], value: Any, words: str
) -> None:
    folder = shutil.copytree(published.each("csv")[0], tmp_path / "it")
    forged(folder, place, value)
    (told,) = audited([folder], "FROM srsql.audit()")
    assert words in told
    assert "\n" not in told


def rewritten(folder: Path, table: str, change: str) -> None:
    """Change the rows of a Parquet table."""
    with duckdb.connect() as con:
        con.execute(f"CREATE TABLE it AS FROM '{folder}/{table}.parquet'")
        con.execute(change)
        con.execute(f"COPY it TO '{folder}/{table}.parquet'")


@pytest.mark.parametrize(
    ("table", "change", "words"),
    [
        ("demo", "DELETE FROM it", "has no report of 2011Q1"),
        ("demo", "DELETE FROM it WHERE caseid = (SELECT min(caseid) FROM it)",
         "has terms of a case without a report"),
        ("demo", "UPDATE it SET sex = 'X'", "sex: no node of its hierarchy is called X"),
        ("demo", "UPDATE it SET age_low = NULL", "age: one end of the interval"),
        ("demo", "UPDATE it SET age_low = age_high + 1", "age: low above high"),
        ("demo", "UPDATE it SET caseid = NULL", "has no case id"),
        ("demo", "INSERT INTO it SELECT * REPLACE (119 AS age_high, 1 AS age_low) FROM it "
         "WHERE caseid = (SELECT min(caseid) FROM it)", "is in two regions"),
    ],
)  # fmt: skip
def test_rows_that_cannot_be_taken_as_they_stand_are_refused(
    published: Published, tmp_path: Path, table: str, change: str, words: str
) -> None:
    folder = shutil.copytree(published.each("parquet")[0], tmp_path / "it")
    rewritten(folder, table, change)
    (told,) = audited([folder], "FROM srsql.audit()")
    assert words in told


def test_a_value_without_a_threshold_asks_for_one(published: Published, tmp_path: Path) -> None:
    folder = shutil.copytree(published.each("csv")[0], tmp_path / "it")
    path = folder / "value-thresholds.csv"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    told, found = audited([folder], "FROM srsql.audit()", "FROM srsql.audit(theta := '1/2')")
    assert "no thresholds are known: give theta := '1/3'" in told
    assert len(found) == 2


def test_folders_that_are_missing_or_name_a_period_twice_are_refused(published: Published) -> None:
    first, *_ = published.each("csv")
    assert "no artifact is named" in audited([], "FROM srsql.audit()")[0]
    nowhere = first.with_name("nowhere")
    assert "has a manifest.json" in audited([first, nowhere], "FROM srsql.audit()")[0]
    twice = [first, published.each("parquet")[0]]
    assert "2011Q1 of series main is there twice" in audited(twice, "FROM srsql.audit()")[0]


def test_a_client_that_goes_on_after_a_fault_has_nothing_to_audit(published: Published) -> None:
    twice = [str(published.each("csv")[0]), str(published.each("parquet")[0])]
    each = [statement.query for statement in duckdb.extract_statements(public_file())]
    first, *found, last = answers(
        ":memory:", [f"SET VARIABLE artifacts = {twice}", *each, "FROM srsql.audit()"]
    )
    assert first == []
    assert [told for told in found if "is there twice" in told]
    assert "audit does not exist" in last, "what is committed after a fault is nothing"


def test_a_client_with_a_catalog_of_its_own_is_left_alone() -> None:
    (told,) = answers(":memory:", ["CREATE SCHEMA srsql", public_file()])[1:]
    assert "already exists" in told


def test_the_statements_of_the_page_run(published: Published) -> None:
    page = (DOCS / "audit-in-sql.md").read_text(encoding="utf-8")
    texts = re.findall(r'^con\.sql\("(.*)"\)\.show', page, re.M)
    verdicts, untold = audited(published.range("duckdb"), *texts)
    assert [row["safe"] for row in verdicts] == [True] * 6
    assert {row["what"] for row in untold} == UNTOLD


def test_the_command_prints_the_file_and_lists_the_macros(tmp_path: Path) -> None:
    assert srsql("macros", "--public").out == public_file()
    assert srsql("macros", "--public", "--json").json == {"sql": public_file()}
    answer = srsql("macros", "--public", "--out", tmp_path / "audit.sql")
    assert answer.code == 0
    assert (tmp_path / "audit.sql").read_text(encoding="utf-8") == public_file()
    listed = srsql("macros", "--json").json["macros"]
    assert {"srsql.audit", "srsql.signals"} <= listed.keys()
    assert all(listed.values())
    assert "srsql.danger" in srsql("macros").out
