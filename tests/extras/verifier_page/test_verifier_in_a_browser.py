"""The verifier's page in headless Chromium: on good artifacts, on forged ones, asked as `query` is.

Nothing of the page is taken apart: it is opened from its file with its policy, a folder is given to
it as a reader would, and what it shows is read.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from oracles.signals import measures
from support.artifacts import edit, manifest_of, read_csv, rehash, tables_of, write_csv
from support.browser import BROWSER, Tab, tab
from support.node import NO_PARQUET_READER, PARQUET_READER
from support.quarters import Report, crowd, next_version, write_quarter
from support.sets import SETS, give_one_finding, move_case, write_series, write_sets

from srsql import Engine, open_artifact, verify, write_verifier_page

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium on PATH"),
]
SOURCES = Path(__file__).parents[3] / "engine" / "extras" / "verifier_page" / "page"
PAGE_CHECK = Path(__file__).parents[2] / "report" / "page_check.js"
FIRST = Path(__file__).parents[2] / "fixtures" / "release_0_1"
MARKUP = "<img src=x onerror='hacked=1'><script>hacked=1</script>"
FORMULA = "=HYPERLINK(0)"
Q3, Q4 = "2011Q3", "2011Q4"
MS: dict[str, Any] = {"model": "ppms++", "k": 3, "theta": "0.5", "seed": 7}
READ = """(() => {
  const text = id => document.getElementById(id).textContent;
  const rows = id => [...document.getElementById(id).rows].map(row =>
    [...row.cells].map(cell => cell.textContent));
  const list = id => [...document.getElementById(id).children].map(item => item.textContent);
  const shown = id => !document.getElementById(id).hidden;
  const wrong = [...document.querySelectorAll("[aria-invalid]")].map(each => each.dataset.field);
  return {status: text("status"), told: text("told"), wrong, asked: text("question"),
    stale: shown("stale"), warnings: list("warnings"), unprotected: list("unprotected"),
    ordered: text("ordered"), outcome: text("outcome"), why: text("why"), sql: text("sql"),
    checks: rows("checks"), counts: rows("counts"), unseen: list("unseen"), notes: list("notes"),
    artifacts: rows("artifacts"), each: shown("each"), ratios: rows("ratios"),
    ratio: shown("ratio"),
    facts: text("facts"), ask: shown("ask"), answer: shown("answer"), verdict: shown("verdict"),
    strange: document.querySelectorAll("img, iframe, object, a, script:not([id])").length - 1,
    hacked: typeof hacked !== "undefined" || "polluted" in {}};
})()"""
Question = dict[str, str]


def report(n: int, version: int = 1) -> Report:
    """Some lack an age or a sex; some have terms that a careless page would run."""
    (usual,) = crowd(1, first=n, version=version)
    terms = ("Reaction 00", MARKUP, FORMULA, "Straße, 'ß' \u1fb3", '"quoted"', "__proto__")
    return replace(
        usual,
        age="" if n % 9 == 0 else usual.age,
        sex="" if n % 8 == 0 else usual.sex,
        pt=(*usual.pt, terms[n % 6]),
        drugs=(f"Drug {n % 3}", MARKUP) if n % 5 else (f"Drug {n % 3}", "constructor"),
    )


def reports() -> dict[str, list[Report]]:
    first = [report(n) for n in range(1, 73)]
    second = [report(n, 2) for n in range(40, 112)]
    return {Q3: first, Q4: [*second, *(next_version(next_version(r)) for r in second[:6])]}


@pytest.fixture(scope="module")
def made(plain_pages: None, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Artifacts of one warehouse, and of the first version of the format; not to be changed."""
    folder = tmp_path_factory.mktemp("made")
    linked: dict[str, Any] = {"allow_linkable": True}
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest([write_quarter(folder, q, r) for q, r in reports().items()])
        for quarter in (Q3, Q4):
            engine.release(quarter, **MS)
        given = MS | {"model": "ms", "theta": "0.34"}
        engine.release(Q3, **given, series="few", on_infeasible="suppress", leftovers="suppress",
                       **linked)  # fmt: skip
        given = MS | {"model": "ms", "theta": "2/3", "terms": "disassociate"}
        engine.release(Q3, **given, term_attributes="all", series="apart", **linked)
        csv: dict[str, Any] = {"format": "csv"} | linked
        engine.publish(Q3, folder / "one", **csv, csv_safe=True)
        engine.publish(f"{Q3}:{Q4}", folder / "all", **csv)
        engine.publish(Q3, folder / "few", **csv, series="few")
        engine.publish(Q3, folder / "apart", **csv, series="apart")
        engine.publish(Q3, folder / "file", **csv | {"format": "duckdb"})
        engine.publish(Q4, folder / "packed", **linked)
        engine.publish(f"{Q3}:{Q4}", folder / "packed all", **linked)
    names = ("one", "all", "few", "apart", "file", "packed", "packed all")
    return {
        **{name: folder / name for name in names},
        "first": FIRST / "artifact-csv",
        "first packed": FIRST / "artifact-parquet",
    }


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    folder = tmp_path_factory.mktemp("browser")
    file = write_verifier_page(folder / "page.html", PARQUET_READER)
    with tab(folder) as opened:
        opened.open(file)
        yield opened
        assert {url.split(":")[0] for url in opened.requests} <= {"file", "blob"}
        assert opened.complaints == []


def settled(page: Tab, line: str = "status") -> dict[str, Any]:
    """What the page shows when it has done its work, which it says in a line of its own."""
    done = f"document.getElementById('{line}').textContent !== ''"
    page.wait(f"main.getAttribute('aria-busy') === 'false' && {done}")
    found: dict[str, Any] = page.value(READ)
    assert not found["hacked"]
    assert found["strange"] == 0
    return found


def shown(page: Tab, folder: Path) -> dict[str, Any]:
    """What the page shows of a folder; Parquet needs the reader."""
    if PARQUET_READER is None and any(folder.rglob("*.parquet")):
        pytest.skip(NO_PARQUET_READER)
    page.value("status_ = document.getElementById('status'), status_.textContent = ''")
    page.choose("#folder", folder)
    return settled(page)


def failed(found: dict[str, Any]) -> set[str]:
    return {re.sub(r" \(.*", "", row[0]) for row in found["checks"] if row[1] == "NO"}


def counted(page: Tab, question: Question, button: str = "#questions button") -> dict[str, Any]:
    """What the page shows when a reader fills the form so and sends it."""
    filled = page.value(f"""(() => {{
      const asked = new Map(Object.entries({json.dumps(question)}));
      for (const each of document.querySelectorAll("[data-field]")) {{
        const value = asked.get(each.dataset.field);
        if (each.type === "checkbox") each.checked = value === "yes";
        else each.value = value ?? (each.dataset.field === "most" ? "1000" : "");
        if (asked.delete(each.dataset.field) && value && each.type !== "checkbox"
            && each.value !== value) return each.dataset.field;
      }}
      document.getElementById("told").textContent = "";
      document.querySelector("{button}").click();
      return [...asked.keys()].join();
    }})()""")
    assert filled == ""
    return settled(page, "told")


@pytest.mark.parametrize(
    "name", ["one", "all", "few", "first", "packed", "packed all", "first packed"]
)
def test_a_good_artifact_passes_and_the_page_counts_what_verify_counts(
    page: Tab, made: dict[str, Path], name: str
) -> None:
    found = shown(page, made[name])
    assert failed(found) == set(), found["checks"]
    assert "passed" in found["outcome"]
    assert found["ask"]
    judged = verify(made[name])
    assert judged.passed
    totals = {
        (check.name, check.artifact.partition(", ")[2]): check.total for check in judged.checks
    }
    compared = 0
    for row in found["checks"]:
        check, _, quarter = row[0].partition(" (")
        key = check, quarter.rstrip(")")
        if check not in ("files", "manifest", "columns", "declaration"):
            assert int(row[2].replace(",", "")) == totals[key], key
            compared += 1
    assert compared == (26 if name.endswith("all") else 11)
    assert any("who made it" in text for text in found["unseen"])


def test_what_the_page_cannot_check_it_says(page: Tab, made: dict[str, Path]) -> None:
    apart = shown(page, made["apart"])
    assert failed(apart) == set(), apart["checks"]
    assert not apart["ask"]
    assert "told of clusters and not of cases" in apart["why"]
    assert any("k^m-anonymous" in text for text in apart["unseen"])
    database = shown(page, made["file"])
    assert "FAILED" in database["outcome"]
    assert "srsql publish --format csv" in database["why"]
    assert failed(database) == set()
    assert {row[0] for row in database["checks"] if row[1] == "not run"} >= {"k", "theta"}


def change(folder: Path, table: str, edit: Callable[[list[dict[str, Any]]], None]) -> None:
    """Edit the rows of a table and make counts and hashes agree with them."""
    rows = read_csv(folder, table)
    edit(rows)
    write_csv(folder, table, rows)
    rehash(folder, counts=True)


def region(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("age_low", "age_high", "wt_low", "wt_high", "sex"))


def a_case_in_another_region(rows: list[dict[str, Any]]) -> None:
    sizes = [region(row) for row in rows]
    one = next(row for row in rows if sizes.count(region(row)) == 3)
    other = next(row for row in rows if region(row) != region(one))
    one.update({name: other[name] for name in one if name not in ("primaryid", "caseid")})


def a_region_narrowed_for_one_case(rows: list[dict[str, Any]]) -> None:
    one = next(row for row in rows if row["age_low"] and row["age_low"] != row["age_high"])
    one["age_low"] = one["age_high"]


def a_value_of_a_neighbour(folder: Path) -> None:
    """All cases of a region have one reaction."""
    regions: dict[tuple[Any, ...], list[str]] = {}
    for row in read_csv(folder, "demo"):
        regions.setdefault(region(row), []).append(row["caseid"] or "")
    cases = next(iter(regions.values()))

    def edit(rows: list[dict[str, Any]]) -> None:
        value = next(row["pt"] for row in rows if row["caseid"] == cases[0])
        for case in cases:
            next(row for row in rows if row["caseid"] == case)["pt"] = value

    change(folder, "reac", edit)


def first(rows: list[dict[str, Any]], **values: str) -> None:
    rows[0].update(values)


def told(folder: Path, edit: Callable[[dict[str, Any]], None]) -> None:
    """Edit the manifest and make the list of hashes agree with it."""
    manifest = manifest_of(folder)
    edit(manifest)
    write(folder, "manifest.json", json.dumps(manifest))


def write(folder: Path, name: str, text: str) -> None:
    """A file of the artifact, hashed anew where its hash stands."""
    (folder / name).write_text(text, encoding="utf-8", newline="")
    manifest = json.loads((folder / "manifest.json").read_text("utf-8")) if name[0] != "m" else None
    if manifest is not None:
        manifest["files"][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        (folder / "manifest.json").write_text(json.dumps(manifest))
    listed = sorted(p for p in folder.iterdir() if p.name != "SHA256SUMS" and p.is_file())
    lines = [f"{hashlib.sha256(p.read_bytes()).hexdigest()}  {p.name}\n" for p in listed]
    (folder / "SHA256SUMS").write_text("".join(lines))


def as_it_is(manifest: dict[str, Any]) -> None:
    reac = next(table for table in manifest["tables"] if table["name"] == "reac")
    next(c for c in reac["columns"] if c["name"] == "pt")["role"] = "published as it is"


def other_column(manifest: dict[str, Any]) -> None:
    manifest["tables"][0]["columns"][0]["name"] = "__proto__"


def markup_in_the_model(manifest: dict[str, Any]) -> None:
    manifest.update(model=MARKUP, k=9)
    manifest["parameters"]["k_effective"] = 9


def polluting(folder: Path) -> None:
    text = (folder / "manifest.json").read_text()
    evil = '{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}},'
    write(folder, "manifest.json", evil + text.lstrip()[1:])


def lines_of(folder: Path, table: str) -> str:
    return (folder / f"{table}.csv").read_text("utf-8")


FORGED: dict[str, tuple[Callable[[Path], Any], str]] = {
    "a case in another region":
        (lambda f: change(f, "demo", a_case_in_another_region), "k"),
    "a region narrowed for one case":
        (lambda f: change(f, "demo", a_region_narrowed_for_one_case), "k"),
    "a value that a whole region has": (a_value_of_a_neighbour, "theta"),
    "a value without a threshold":
        (lambda f: change(f, "reac", lambda rows: first(rows, pt="Plague")), "theta"),
    "a row changed, its file hashed anew":
        (lambda f: write(f, "drug.csv", lines_of(f, "drug").replace("Drug 1", "Drug 2", 1)),
         "content"),
    "a row more":
        (lambda f: write(f, "outc.csv", lines_of(f, "reac").split("\n")[0] + "\n"), "columns"),
    "a file more": (lambda f: (f / "more.txt").write_text("x"), "files"),
    "a file more that is listed": (lambda f: write(f, "more.txt", "x"), "manifest"),
    "a folder": (lambda f: (f / "in").mkdir() or (f / "in" / "x.csv").write_text("x"), "files"),
    "a file less": (lambda f: (f / "reac.csv").unlink(), "files"),
    "a wrong hash": (lambda f: (f / "README.md").write_text("x"), "files"),
    "a sensitive column told as another": (lambda f: told(f, as_it_is), "declaration"),
    "a threshold of all": (lambda f: told(f, lambda m: m["parameters"].update(theta="1/3")),
                           "thresholds"),
    "drawn at random": (lambda f: told(f, lambda m: m.update(perturbed=True)), "manifest"),
    "a path": (lambda f: told(f, lambda m: m["tables"][0].update(file="../demo.csv")), "manifest"),
    "a column of every object": (lambda f: told(f, other_column), "manifest"),
    "keys of every object": (polluting, "manifest"),
    "a number that is none":
        (lambda f: write(f, "manifest.json",
                         (f / "manifest.json").read_text().replace('"k": 3', '"k": 3e400')),
         "manifest"),
    "a number that is too long":
        (lambda f: change(f, "demo", lambda rows: first(rows, age_high="9" * 400)), "columns"),
    "a number above the domain":
        (lambda f: change(f, "demo", lambda rows: first(rows, age_high="9" * 15)), "bounds"),
    "nested without end": (lambda f: write(f, "manifest.json", "[" * 100_000), "manifest"),
    "a quotation mark without end":
        (lambda f: write(f, "demo.csv", lines_of(f, "demo") + '"' + "x," * 2_000_000), "columns"),
    "a formula": (lambda f: change(f, "drug", lambda rows: first(rows, drugname="=1+cmd|x")),
                  "columns"),
    "no UTF-8": (lambda f: (f / "value-hierarchies.csv").write_bytes(b"\xff\xfe"), "files"),
    "a hierarchy that goes round":
        (lambda f: write(f, "value-hierarchies.csv",
                         '"attribute","node","parent"\n"sex","Any","F"\n"sex","M","Any"\n'
                         '"sex","F","Any"\n'), "bounds"),
    "markup in the model": (lambda f: told(f, markup_in_the_model), "k"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_artifact_fails_the_check_that_has_to_see_it(
    page: Tab, made: dict[str, Path], tmp_path: Path, name: str
) -> None:
    folder = tmp_path / "forged"
    shutil.copytree(made["one"], folder)
    forge, check = FORGED[name]
    forge(folder)
    found = shown(page, folder)
    assert "FAILED" in found["outcome"]
    assert check in failed(found), found["checks"]
    assert found["verdict"]


PLAGUE = "SELECT * REPLACE (if(pt = 'Reaction 03', 'Plague', pt) AS pt) FROM t"
NARROWED = """SELECT * EXCLUDE (n) REPLACE (if(n = 1, age_high, age_low) AS age_low) FROM (
    SELECT *, row_number() OVER (ORDER BY age_low = age_high OR age_low IS NULL) AS n FROM t
) ORDER BY primaryid"""


def packed(folder: Path, table: str, rows: str) -> None:
    """Other rows in a Parquet file, its digest and its counts as they are now."""
    edit(folder, table, rows)
    rehash(folder, counts=True)


FORGED_PACKED: dict[str, tuple[Callable[[Path], Any], str, str]] = {
    "a region narrowed for one case":
        (lambda f: packed(f, "demo", NARROWED), "k", "is shared by"),
    "a value without a threshold":
        (lambda f: packed(f, "reac", PLAGUE), "theta", "which has no threshold"),
    "a column more": (lambda f: (edit(f, "reac", "SELECT *, 1 AS more FROM t"), rehash(f)),
                      "columns", "has 4 columns, not 3"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED_PACKED)
def test_a_forged_parquet_artifact_fails_the_check_that_has_to_see_it(
    page: Tab, made: dict[str, Path], tmp_path: Path, name: str
) -> None:
    folder = tmp_path / "forged"
    shutil.copytree(made["packed"], folder)
    forge, check, told = FORGED_PACKED[name]
    forge(folder)
    found = shown(page, folder)
    assert "FAILED" in found["outcome"]
    assert check in failed(found), found["checks"]
    assert any(told in row[3] for row in found["checks"] if row[0] == check), found["checks"]


def together(made: dict[str, Path], tmp_path: Path, *names: str) -> Path:
    """A folder with the folders of several artifacts, and a note beside them."""
    folder = tmp_path / "series"
    for name in names:
        shutil.copytree(made[name], folder / name)
    (folder / "note.txt").write_text("x")
    return folder


def test_a_folder_of_artifacts_has_a_verdict_of_each_and_of_all(
    page: Tab, made: dict[str, Path], tmp_path: Path
) -> None:
    """One quarter as CSV, the next as Parquet; what verify finds of both together."""
    folder = together(made, tmp_path, "one", "packed")
    found = shown(page, folder)
    assert failed(found) == set(), found["checks"]
    assert "of 2 artifacts" in found["outcome"]
    assert [row[1:] for row in found["artifacts"]] == [[Q3, "yes"], [Q4, "yes"]]
    judged = verify([made["one"], made["packed"]])
    assert judged.passed
    due = {check.name: check.total for check in judged.checks if check.artifact == "series"}
    told = {row[0].removesuffix(" (series)"): int(row[2].replace(",", ""))
            for row in found["checks"] if row[0].endswith("(series)")}  # fmt: skip
    assert told == due
    assert set(told) == {"series", "new k", "new theta", "cover"}
    assert not any("what joining releases tells" in text for text in found["unseen"])
    assert any("note.txt" in text for text in found["unseen"])
    one, other = (
        {int(row["caseid"]) for row in tables_of(made[name])["demo"]} for name in ("one", "packed")
    )
    due_cases = f"{len(one | other)}, of which {len(one & other)} are in more than one"
    assert due_cases in found["facts"]
    asked = [{"low age": "65", "node sex": "F", "group": "reac pt"}, {"group": "quarter"}]
    with open_artifact(made["one"], made["packed"]) as artifact:
        for question in asked:
            counts = counted(page, question)
            answer = artifact.query(counts["sql"]).rows
            due_rows = {row[0]: (row[-4], row[-2], row[-1]) for row in answer if row[0] is not None}
            assert {
                row[0]: (int(row[1]), int(row[4]), int(row[2])) for row in counts["counts"]
            } == (due_rows)
    alone = shown(page, made["packed"])
    assert any("what joining releases tells" in text for text in alone["unseen"])
    assert not alone["each"]


def a_later_region_that_does_not_cover(folder: Path) -> None:
    """All cases of a region of the second quarter with a returning case are made very old."""
    old = {int(row["caseid"] or 0) for row in read_csv(folder / "one", "demo")}
    listed = ", ".join(map(str, old))
    packed(
        folder / "packed",
        "demo",
        f"""WITH moved AS (
        SELECT age_low AS a, age_high AS b, wt_low AS c, wt_high AS d, sex AS e FROM t
        WHERE caseid IN ({listed}) AND age_low <> age_high LIMIT 1
    )
    SELECT t.* REPLACE (if(m.e IS NULL, t.age_low, 120) AS age_low,
                        if(m.e IS NULL, t.age_high, 120) AS age_high)
    FROM t LEFT JOIN moved AS m ON t.age_low = m.a AND t.age_high = m.b AND t.wt_low IS NOT DISTINCT
        FROM m.c AND t.wt_high IS NOT DISTINCT FROM m.d AND t.sex = m.e ORDER BY t.primaryid""",
    )


FORGED_SERIES: dict[str, tuple[Callable[[Path], Any], str, str]] = {
    "a later region that does not cover":
        (a_later_region_that_does_not_cover, "cover (series)", "age does not cover"),
    "a quarter twice": (lambda f: shutil.copytree(f / "packed", f / "again"), "series (series)",
                        f"{Q4} is given twice"),
    "an earlier release that is not told":
        (lambda f: (told(f / "packed", lambda m: m.update(earlier_releases=[]))), "series (series)",
         "does not tell of the earlier release(s)"),
    "a series of another name":
        (lambda f: (told(f / "packed", lambda m: m.update(series="other"))), "series (series)",
         "has another series than"),
    "one of them forged":
        (lambda f: told(f / "one", as_it_is), "declaration (series/one)", "is told as"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED_SERIES)
def test_what_artifacts_show_together_fails_where_each_passes(
    page: Tab, made: dict[str, Path], tmp_path: Path, name: str
) -> None:
    folder = together(made, tmp_path, "one", "packed")
    forge, check, why = FORGED_SERIES[name]
    forge(folder)
    found = shown(page, folder)
    assert "FAILED" in found["outcome"]
    (row,) = [row for row in found["checks"] if row[0] == check]
    assert row[1] == "NO"
    assert why in row[3]
    verdicts = {row[0]: row[2] for row in found["artifacts"]}
    assert verdicts["series/one"] == ("NO" if name == "one of them forged" else "yes")
    assert verdicts["series/packed"] == "yes"
    if check == "series (series)":
        assert not found["ask"]


@pytest.fixture(scope="module")
def by_set(plain_pages: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Artifacts of a dataset that protects two sets of quasi-identifiers, of two quarters."""
    folder = tmp_path_factory.mktemp("sets")
    dataset, periods = write_sets(folder), ("2020", "2021")
    write_series(folder / "rows", 1, 90, periods)
    with Engine(folder / "w.duckdb") as engine:
        for period in periods:
            engine.ingest([folder / "rows" / period], dataset=str(dataset), period=period)
            engine.release(period, **MS | {"theta": "1/2"}, on_infeasible="withhold")
            engine.publish(period, folder / "out" / period, format="csv")
    return folder / "out"


def test_sets_of_quasi_identifiers_are_judged_each_by_itself(
    page: Tab, by_set: Path, tmp_path: Path
) -> None:
    found = shown(page, by_set)
    assert failed(found) == set(), found["checks"]
    judged = verify([by_set / "2020", by_set / "2021"])
    assert judged.passed
    totals = {(check.name, check.artifact): check.total for check in judged.checks}
    told = {row[0]: int(row[2].replace(",", "")) for row in found["checks"]}
    for name in ("new k", "new theta", "cover"):
        assert told[f"{name} (series)"] == totals[name, "series"]
    work = ("country", "job", "age_low", "age_high")
    for name, forge, check, fault in (
        ("k", lambda folder: move_case(folder, ("country",)), "k", "set clinic: region"),
        ("theta", lambda folder: give_one_finding(folder, work), "theta", "set work: region"),
    ):
        assert set(SETS) == {"clinic", "work"}
        folder = tmp_path / name
        shutil.copytree(by_set / "2020", folder)
        forge(folder)
        found = shown(page, folder)
        assert check in failed(found), found["checks"]
        assert any(fault in row[3] for row in found["checks"] if row[0] == check), found["checks"]
        due = {each.name: each.total for each in verify(folder).checks}
        (row,) = [row for row in found["checks"] if row[0] == check]
        assert int(row[2].replace(",", "")) == due[check]


PAIRS: list[tuple[str, Question, dict[str, Any]]] = [
    ("one", {}, {}),
    ("one", {"low age": "40", "node sex": "F"}, {"min_age": 40, "sex": "F"}),
    ("packed", {"high age": "50", "term drug role_cod": "PS"}, {"max_age": 50, "roles": ["PS"]}),
    ("packed all", {"low age": "30"}, {"min_age": 30}),
    ("few", {"low age": "50"}, {"min_age": 50}),
]


@pytest.mark.parametrize(("name", "question", "options"), PAIRS)
def test_prr_of_two_names_is_that_of_signals_with_bounds_of_every_table(
    page: Tab, made: dict[str, Path], name: str, question: Question, options: dict[str, Any]
) -> None:
    assert shown(page, made[name])["ask"]
    names = {"term drug drugname": "drug 1", "term reac pt": "reaction 00"}
    found = counted(page, names | question, "#compare")
    assert found["ratio"], found["told"]
    with open_artifact(made[name]) as artifact:
        asked: dict[str, Any] = {"drug": "Drug 1", "reaction": "Reaction 00", "roles": ["all"]}
        (signal,) = artifact.signals(**asked | options).signals
    own, cells = signal.released, []
    for row, cell in zip(found["counts"], "abcd", strict=True):
        lower, known, expected, upper = (float(text.replace(",", "")) for text in row[1:])
        assert (lower, known, upper) == tuple(
            getattr(own, f"{cell}_{end}") for end in ("lower", "known", "upper")
        )
        assert expected == pytest.approx(getattr(own, cell), abs=0.00501)
        cells.append((int(lower), int(known), int(upper)))
    ratios = {row[0]: [None if text == "-" else float(text) for text in row[1:]]
              for row in found["ratios"]}  # fmt: skip
    assert ratios["expected"] == pytest.approx([own.prr, own.prr_low, own.prr_high], abs=5.01e-5)
    known = measures(*(float(cell[1]) for cell in cells))
    due = [known[name] for name in ("prr", "prr_low", "prr_high")]
    assert ratios["known"] == pytest.approx(due, abs=5.01e-5)
    worlds = itertools.product(*({cell[0], cell[2]} for cell in cells))
    defined = [prr for world in worlds if (prr := measures(*map(float, world))["prr"]) is not None]
    _, low, high = ratios["bounds"]
    assert low == pytest.approx(min(defined), abs=5.01e-5)
    if cells[2][0]:
        assert high == pytest.approx(max(defined), abs=5.01e-5)
    else:
        assert high is None
    if name == "few":
        assert any("although no row says so" in note for note in found["notes"])


def test_prr_needs_two_names(page: Tab, made: dict[str, Path]) -> None:
    shown(page, made["one"])
    found = counted(page, {"term reac pt": "Reaction 00"}, "#compare")
    assert "PRR is of two names in two tables" in found["told"]
    assert not found["answer"]


def test_prr_by_quarter_is_that_of_each_quarter_and_no_other_grouping_is_taken(
    page: Tab, made: dict[str, Path]
) -> None:
    shown(page, made["all"])
    names = {"term drug drugname": "drug 1", "term reac pt": "reaction 00", "low age": "30"}
    alone = {quarter: counted(page, names | {"quarter": quarter}, "#compare")
             for quarter in (Q3, Q4)}  # fmt: skip
    found = counted(page, names | {"group": "quarter"}, "#compare")
    assert found["told"] == "compared by quarter"
    kinds = ("expected", "known", "bounds")
    assert [row[0] for row in found["ratios"]] == [f"{q}, {k}" for k in kinds for q in (Q3, Q4)]
    for what in ("ratios", "counts"):
        due = {f"{quarter}, {row[0]}": row[1:]
               for quarter, each in alone.items() for row in each[what]}  # fmt: skip
        assert {row[0]: row[1:] for row in found[what]} == due
    for quarter, each in alone.items():
        with open_artifact(made["all"]) as artifact:
            (signal,) = artifact.signals(drug="Drug 1", reaction="Reaction 00", roles=["all"],
                                         min_age=30, quarter=quarter).signals  # fmt: skip
        own = signal.released
        ratio = [None if text == "-" else float(text) for text in each["ratios"][0][1:]]
        assert quarter != Q3 or None not in ratio
        assert ratio == pytest.approx([own.prr, own.prr_low, own.prr_high], abs=5.01e-5)
    refused = counted(page, names | {"group": "indi indi_pt"}, "#compare")
    assert "PRR is of all cases or of each quarter" in refused["told"]
    assert refused["wrong"] == ["group"]
    refused = counted(page, names | {"withheld": "yes"}, "#compare")
    assert refused["wrong"] == ["withheld"]


@pytest.mark.parametrize("name", ["nothing", "something else"])
def test_what_is_no_artifact_is_refused_in_one_line(page: Tab, tmp_path: Path, name: str) -> None:
    if name == "something else":
        (tmp_path / "letter.txt").write_text("x")
        found = shown(page, tmp_path)
        assert found["status"].startswith("this is no artifact")
    else:
        page.value("status_ = document.getElementById('status'), status_.textContent = ''")
        page.value("document.getElementById('files').dispatchEvent(new Event('change'))")
        found = settled(page)
        assert found["status"].startswith("nothing was chosen")
    assert not found["verdict"]
    assert "\n" not in found["status"]


QUESTIONS: list[Question] = [
    {},
    {"low age": "65"},
    {"low age": "30", "high age": "59", "node sex": "F"},
    {"low age": "65", "node sex": "F", "group": "reac pt"},
    {"high wt": "70.5", "group": "drug drugname"},
    {"term drug drugname": "drug 1", "group": "reac pt"},
    {"term drug drugname": "Drug 2", "term drug role_cod": "PS", "node sex": "M"},
    {"term reac pt": MARKUP, "low age": "40"},
    {"term reac pt": "STRAẞE, 'ß' \u1fbc"},
    {"term indi indi_pt": "Disease 03", "term drug drugname": "CONSTRUCTOR"},
    {"term reac pt": "__proto__", "group": "indi indi_pt", "high age": "50"},
    {"low age": "0", "high age": "500", "node sex": "M", "withheld": "yes"},
    {"term reac pt": FORMULA, "term indi indi_pt": "Disease 06"},
    {"low age": "200"},
]
OF_ALL: list[Question] = [
    {"low age": "65", "node sex": "F", "group": "quarter"},
    {"low age": "33", "term drug drugname": "Drug 1", "group": "reac pt"},
    {"quarter": Q4, "high age": "44", "group": "drug drugname"},
]


def compare(page: Tab, folder: Path, questions: list[Question]) -> None:
    assert shown(page, folder)["ask"]
    with open_artifact(folder) as artifact:
        for question in questions:
            found = counted(page, question)
            assert found["answer"], (question, found["told"])
            options: dict[str, Any] = {"include_withheld": question.get("withheld") == "yes"}
            if "quarter" in question:
                options["quarter"] = question["quarter"]
            due = [
                (row[0] if "group" in question else "cases", *row[-4:])
                for row in artifact.query(found["sql"], **options).rows
                if row[0] is not None
            ]
            told = [(row[0], *(n.replace(",", "") for n in row[1:])) for row in found["counts"]]
            assert len(told) == len(due) > 0
            answers = {row[0]: row[1:] for row in due}
            for key, lower, known, expected, upper in told:
                low, part, high, sure = answers[key]
                assert (int(lower), int(upper), int(known)) == (low, high, sure), (question, key)
                assert float(expected) == pytest.approx(part, abs=0.00501)
            if question.get("group") == "quarter":
                assert [row[0] for row in told] == sorted(answers)
            elif "group" in question:
                order = [float(row[3]) for row in told]
                assert order == sorted(order, reverse=True)


@pytest.mark.parametrize(
    ("name", "questions"),
    [
        ("one", QUESTIONS),
        ("few", QUESTIONS[3:8]),
        ("all", OF_ALL),
        ("packed", QUESTIONS[2:6]),
        ("packed all", OF_ALL),
    ],
)
def test_counts_have_the_bounds_that_query_gives(
    page: Tab, made: dict[str, Path], name: str, questions: list[Question]
) -> None:
    if name == "few":
        assert manifest_of(made[name])["parameters"]["suppressed_cases_per_10000"] > 0
    compare(page, made[name], questions)


def test_a_list_is_cut_and_says_so(page: Tab, made: dict[str, Path]) -> None:
    shown(page, made["one"])
    found = counted(page, {"group": "reac pt", "most": "3", "low age": "50"})
    assert len(found["counts"]) == 3
    assert any("which come first is undecided" in note for note in found["notes"])
    exact = counted(page, {"group": "reac pt", "most": "3"})
    names = {(row["pt"] or "").upper() for row in read_csv(made["one"], "reac")} - {""}
    due = f"3 of {len(names)} groups shown"
    assert exact["told"] == f"counted: {due}"
    assert any(note.startswith(due) for note in exact["notes"])
    assert not any("undecided" in note for note in exact["notes"])
    whole = counted(page, {"group": "reac pt"})["notes"][0]
    assert whole == f"{len(names)} of {len(names)} groups shown"


REFUSED: list[tuple[Question, str, list[str]]] = [
    ({"low age": "1e5"}, "age: 1e5 is no number", ["low age"]),
    ({"high age": "-1"}, "age: -1 is below 0", ["high age"]),
    ({"low age": "60", "high age": "50"}, "the first number is above the second",
     ["low age", "high age"]),
    ({"term drug drugname": "DRUG"}, "no released row has drugname 'DRUG': did you mean",
     ["term drug drugname"]),
    ({"term reac pt": "zzz"}, "no released row has pt 'zzz', and none like it", ["term reac pt"]),
]  # fmt: skip


@pytest.mark.parametrize(("question", "message", "fields"), REFUSED)
def test_a_question_that_cannot_be_answered_is_refused_where_it_was_asked(
    page: Tab, made: dict[str, Path], question: Question, message: str, fields: list[str]
) -> None:
    """In one line within the window, with the fields that are wrong; the verdict stays."""
    before = shown(page, made["one"])
    found = counted(page, question)
    assert message in found["told"]
    assert "\n" not in found["told"]
    assert found["wrong"] == fields
    assert page.value("document.activeElement.dataset.field") == fields[0]
    assert found["status"] == before["status"] == "The artifact passed every check of this page."
    assert not found["answer"]
    box = "document.getElementById('told').getBoundingClientRect()"
    assert page.value(f"(box => box.top >= 0 && box.bottom <= innerHeight)({box})")
    mended = counted(page, {})
    assert mended["wrong"] == []
    assert mended["answer"]


def test_an_answer_to_an_earlier_question_is_marked(page: Tab, made: dict[str, Path]) -> None:
    shown(page, made["one"])
    first = counted(page, {"low age": "40", "group": "reac pt"})
    assert not first["stale"]
    field = "document.querySelector('[data-field=\"low age\"]')"
    page.value(f"{field}.dispatchEvent(new Event('input', {{bubbles: true}}))")
    assert page.value(READ)["stale"]
    refused = counted(page, {"low age": "-40"})
    assert refused["answer"]
    assert refused["stale"]
    assert refused["counts"] == first["counts"]
    assert not counted(page, {"low age": "41"})["stale"]


def test_an_answer_says_what_was_asked_and_a_name_may_have_spaces_around_it(
    page: Tab, made: dict[str, Path]
) -> None:
    shown(page, made["all"])
    question = {"low age": "40", "node sex": "F", "term drug role_cod": "PS"}
    names = {"term drug drugname": "  drug 1 ", "term reac pt": "reaction 00"}
    conditions = "age from 40 years; sex F; drugname DRUG 1 (drug); role_cod PS (drug)"
    found = counted(page, names | question, "#compare")
    due = f"Asked: PRR; {conditions}; pt REACTION 00 (reac); quarters {Q3} to {Q4}"
    assert sorted(found["asked"].split("; ")) == sorted(due.split("; "))
    assert any(note.startswith("lower: cases that meet") for note in found["notes"])
    assert any("Count counts it if any of its quarters" in note for note in found["notes"])
    found = counted(page, names | question | {"quarter": Q3, "group": "indi indi_pt"})
    due = f"Asked: {conditions}; pt REACTION 00 (reac); quarter {Q3}; grouped by indi_pt (indi)"
    assert sorted(found["asked"].split("; ")) == sorted(due.split("; "))
    found = counted(page, {"group": "quarter", "most": "1"})
    assert [row[0] for row in found["counts"]] == [Q3, Q4]
    assert found["ordered"] == "Cases, the earliest quarter first"
    found = counted(page, names)
    assert any("PRR counts it as its latest quarter has it" in note for note in found["notes"])


def test_the_page_says_what_is_not_protected(page: Tab, made: dict[str, Path]) -> None:
    found = shown(page, made["all"])
    quarters = manifest_of(made["all"])["quarters"]
    protected, published, one, two, every = found["unprotected"]  # no value has a threshold of 1
    assert "age, wt, sex alone" in protected
    for name in quarters[0]["parameters"]["published_verbatim"].split(", "):
        assert name in published
    for text, key in ((one, "1_item"), (two, "2_items"), (every, "all_items")):
        shares = {m["parameters"][f"one_candidate_percent_{key}"] for m in quarters}
        assert f"with one candidate in {min(shares)}" in text
        assert f"{max(shares)} % of the cases" in text
    cases = sum(m["counts"]["released_cases"] for m in quarters)
    assert f"released{cases:,} cases" in found["facts"]
    assert "counted once in each quarter" in found["facts"]


def test_k_and_theta_tell_what_comes_closest(page: Tab, made: dict[str, Path]) -> None:
    found = shown(page, made["one"])
    texts = {row[0]: row[3] for row in found["checks"]}
    regions: dict[tuple[Any, ...], set[str]] = {}
    for row in read_csv(made["one"], "demo"):
        regions.setdefault(region(row), set()).add(row["caseid"] or "")
    least = min(len(cases) for cases in regions.values())
    assert f"the smallest region has {least} cases, k is 3" in texts["k"]
    held: dict[tuple[Any, ...], set[str]] = {}
    for row in read_csv(made["one"], "reac"):
        of = next(key for key, cases in regions.items() if row["caseid"] in cases)
        held.setdefault((of, row["pt"]), set()).add(row["caseid"] or "")
    largest = max(len(cases) / len(regions[key[0]]) for key, cases in held.items())
    told = re.search(r"held by (\d+) of (\d+) cases of a region \(threshold 1/2\)", texts["theta"])
    assert told is not None
    assert int(told[1]) / int(told[2]) >= largest  # of all sensitive columns


@pytest.mark.parametrize("name", [".DS_Store", "Thumbs.db"])
def test_what_a_system_leaves_in_a_folder_is_a_warning_unless_it_is_listed(
    page: Tab, made: dict[str, Path], tmp_path: Path, name: str
) -> None:
    folder = tmp_path / "looked at"
    shutil.copytree(made["one"], folder)
    (folder / name).write_text("x")
    found = shown(page, folder)
    assert "passed" in found["outcome"]
    assert len(found["warnings"]) == 1
    assert f"{name} was left by the system" in found["warnings"][0]
    write(folder, "README.md", (folder / "README.md").read_text("utf-8"))  # lists what is there
    assert name in (folder / "SHA256SUMS").read_text()
    assert "files" in failed(shown(page, folder))


def test_a_folder_can_be_dropped_and_the_work_be_stopped(page: Tab, made: dict[str, Path]) -> None:
    shown(page, made["one"])
    page.value("status_.textContent = ''")
    page.value("document.getElementById('drop').scrollIntoView()")  # others scrolled
    box = "document.getElementById('drop').getBoundingClientRect()"
    place = page.value(f"(box => ({{x: box.x + 9, y: box.y + 9}}))({box})")
    data = {"items": [], "files": [str(made["all"])], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        page.call("Input.dispatchDragEvent", type=kind, data=data, **place)
    found = settled(page)
    assert failed(found) == set()
    assert f"{Q3} to {Q4}" in found["facts"]
    page.value("document.getElementById('stop').click()")
    assert page.value("status_.textContent") == "stopped: choose the folder again"
    assert "passed" in shown(page, made["one"])["outcome"]


@pytest.mark.parametrize(("width", "scheme"), [(400, "dark"), (1400, "light")])
def test_the_page_fits_its_window_and_can_be_read_by_anybody(
    page: Tab, made: dict[str, Path], width: int, scheme: str
) -> None:
    """Nothing is wider than the window, too pale, or lacks a name; every control has a label."""
    page.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1,
              mobile=False)  # fmt: skip
    page.call(
        "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}]
    )
    shown(page, made["one"])
    counted(page, {"group": "reac pt", "low age": "50"})
    check = PAGE_CHECK.read_text("utf-8").replace("parent.postMessage", "post")
    measured = json.loads(page.value(f"(() => {{ let told; const post = text => told = text;{check}"
                                     "return told; })()"))  # fmt: skip
    measured.pop("loads")
    fits = "each => each.scrollWidth <= each.clientWidth"
    assert page.value(f"[...document.querySelectorAll('.counts')].every({fits})")
    assert measured == {
        "wide": 0, "out": [], "pale": [], "unnamed": [], "headings": [], "long": [], "white": [],
    }  # fmt: skip
    controls = "[...document.querySelectorAll('input, select')]"
    assert page.value(f"{controls}.length") > 10
    assert page.value(f"{controls}.filter(each => !each.labels.length).length") == 0
    page.call("Emulation.clearDeviceMetricsOverride")


def test_hashes_and_numbers_are_computed_right_without_the_browser_too(page: Tab) -> None:
    """The plain SHA-256 against hashlib, over lengths around the blocks; exact decimals."""
    source = "".join((SOURCES / name).read_text("utf-8") for name in ("bytes.js", "rows.js"))
    lengths = [*range(0, 130), 1000, 65_537]
    found = page.value(f"""(() => {{ {source}
      const bytes = n => Uint8Array.from({{length: n}}, (_, i) => i * 7 % 251);
      const pieces = n => {{
        const sha = new Sha256(), all = bytes(n);
        for (let at = 0; at < n; at += 13) sha.update(all.subarray(at, at + 13));
        return sha.hex();
      }};
      const over = (a, b) => {{
        const found = Decimal.of(a).over(Decimal.of(b));
        return [found.floor, found.exact];
      }};
      return {{whole: {lengths}.map(n => new Sha256().update(bytes(n)).hex()),
        pieces: {lengths}.map(pieces),
        over: [over("-5", "2"), over("0.3", "0.1"), over("7", "0.25"), over("65.5", "1")],
        none: [Decimal.of("1e3"), Decimal.of(""), Decimal.of("9".repeat(19)), Decimal.of("NaN")]}};
    }})()""")
    due = [hashlib.sha256(bytes(i * 7 % 251 for i in range(n))).hexdigest() for n in lengths]
    assert found["whole"] == found["pieces"] == due
    assert found["over"] == [[-3, False], [3, True], [28, True], [65, False]]
    assert found["none"] == [None] * 4
