"""Artifacts forged as a whole: rows, documents, report and hashes made anew, by the program itself.

Each is refused by the check that has to see it, or what that check cannot see stands in the list of
what no artifact shows. The table is that of docs/artifacts.md.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from artifact.conftest import OPTIONS, WITHHELD
from oracles.term_key import term_key
from support.artifacts import manifest_of, read_csv, rehash, thresholds_of, write_csv
from support.node import NODE, opened_in_node
from support.quarters import Report, crowd, write_quarter

from srsql import verify
from srsql.engine.api.engine import Engine

pytestmark = pytest.mark.thorough

QUARTER = "2011Q3"
Change = Callable[[dict[str, Any]], None]
Forge = Callable[[Path], None]


def name(value: object) -> str:
    """Of a forgery, for its test."""
    return getattr(value, "__name__", "")


def people() -> list[Report]:
    """200 values that two cases hold each, one that 20 hold, and a case that is withheld."""
    cases = [
        replace(report, primaryid=report.primaryid + 10**7, caseid=report.caseid + 10**6)
        for report in crowd(200, terms=100)
    ]
    cases[::10] = [replace(report, pt=(*report.pt, "Frequent")) for report in cases[::10]]
    return [*cases, WITHHELD]


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Model -> its artifact, with thresholds by frequency; "upper": before terms had keys."""
    folder = tmp_path_factory.mktemp("published")
    found = {}
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest([write_quarter(folder, QUARTER, people())])
        for name, model in (("ms", "ms"), ("msdp-all", "msdp-all"), ("upper", "ms")):
            options = OPTIONS | {"theta": "frequency", "model": model, "series": name}
            options |= {"term_key": 0} if name == "upper" else {}
            if model != "ms":
                options["seed"] = None
            engine.release(QUARTER, **options, allow_linkable=True)
            engine.publish(QUARTER, folder / name, series=name, format="csv", allow_linkable=True)
            found[name] = folder / name
    return found


def rewritten(folder: Path, change: Change, *, report: bool = True, counts: bool = False) -> None:
    """Change the manifest, then everything that follows from it."""
    told = manifest_of(folder)
    change(told)
    (folder / "manifest.json").write_text(json.dumps(told))
    rehash(folder, counts=counts, report=report, series=told["series"])


def put_thresholds(folder: Path, thresholds: dict[str, tuple[int, int]]) -> None:
    rows = [f'"{value}","{num}","{den}"\n' for value, (num, den) in sorted(thresholds.items())]
    text = "".join(['"value","theta_num","theta_den"\n', *rows])
    (folder / "value-thresholds.csv").write_text(text, encoding="utf-8")


def loosened(folder: Path) -> None:
    """No value is bounded any more, and what follows from it is told so."""
    put_thresholds(folder, dict.fromkeys(thresholds_of(folder), (1, 1)))
    told = manifest_of(folder)
    rehash(folder, counts=True, parameters=told["parameters"] | {"k_effective": told["k"]})


def all_thresholds_one(folder: Path) -> None:
    loosened(folder)
    rehash(folder, report=True)


def all_thresholds_one_for_a_million_withheld(folder: Path) -> None:
    loosened(folder)
    rewritten(folder, lambda told: told["counts"].update(withheld_cases=10**6))


def all_thresholds_one_and_nothing_told(folder: Path) -> None:
    loosened(folder)
    rewritten(folder, lambda told: told["counts"].update(withheld_cases=None))


def all_thresholds_one_by_external_knowledge(folder: Path) -> None:
    loosened(folder)
    rewritten(folder, lambda told: told["parameters"].update(external_knowledge="yes"))


def all_thresholds_one_by_a_file(folder: Path) -> None:
    loosened(folder)
    rewritten(folder, lambda told: told["parameters"].update(theta="levels"))


def all_thresholds_one_by_no_policy(folder: Path) -> None:
    loosened(folder)
    rewritten(folder, lambda told: told["parameters"].update(theta="as seen fit"))


def all_thresholds_one_and_not_kept(folder: Path) -> None:
    loosened(folder)
    rewritten(folder, lambda told: told["parameters"].update(theta="not kept"))


def rare_values_set_free(folder: Path) -> None:
    """The frequent value bounded by 1/5, and a rare one that was so bounded not at all."""
    thresholds = thresholds_of(folder)
    rare = next(value for value, theta in thresholds.items() if theta == (1, 5))
    put_thresholds(folder, thresholds | {rare: (1, 1), "frequent": (1, 5)})
    rehash(folder, report=True)


def with_role(told: dict[str, Any], table: str, column: str, role: str) -> None:
    for item in told["tables"]:
        for shown in item["columns"]:
            if (item["name"], shown["name"]) == (table, column):
                shown["role"] = role


def reactions_as_they_are(folder: Path) -> None:
    terms = {row["indi_pt"] for row in read_csv(folder, "indi")}
    kept = {term_key(str(term)) for term in terms}
    known = thresholds_of(folder)
    put_thresholds(folder, {value: known[value] for value in known if value in kept})
    rewritten(
        folder, lambda told: with_role(told, "reac", "pt", "published as it is"), report=False
    )


def reactions_as_they_are_of_another_dataset(folder: Path) -> None:
    reactions_as_they_are(folder)
    loosened(folder)
    rows = [{n: row[n] for n in row if n != "pt_key"} for row in read_csv(folder, "reac")]

    def change(told: dict[str, Any]) -> None:
        for item in told["tables"]:
            item["columns"] = [c for c in item["columns"] if c["name"] != "pt_key"]
        told["dataset"] = "clinic"
        told["parameters"]["theta"] = "1"

    rewritten(folder, change, report=False)
    write_csv(folder, "reac", rows)
    rehash(folder, counts=True)


def reactions_as_they_are_of_another_version(folder: Path) -> None:
    reactions_as_they_are(folder)
    other = {"software_version": "9.0", "report_written_by": "srsql 9.0"}
    rewritten(folder, lambda told: told.update(other), report=False)


def weights_as_they_are(folder: Path) -> None:
    """Weight is no quasi-identifier any more, and published exactly."""
    column = {"name": "wt", "type": "VARCHAR", "role": "published as it is", "attribute": None}

    def change(told: dict[str, Any]) -> None:
        told["attributes"] = [a for a in told["attributes"] if a["name"] != "wt"]
        reports = told["tables"][0]
        shown = [c for c in reports["columns"] if c["attribute"] != "wt"]
        reports["columns"] = [*shown, column]

    rows = read_csv(folder, "demo")
    told = manifest_of(folder)
    change(told)
    (folder / "manifest.json").write_text(json.dumps(told))
    for row, report in zip(rows, cycle(people()[:-1]), strict=False):
        del row["wt_low"], row["wt_high"]
        row["wt"] = report.wt
    write_csv(folder, "demo", rows)
    rehash(folder, counts=True)


def ages_to_a_thousand(folder: Path) -> None:
    rewritten(folder, lambda told: told["attributes"][0].update(high="1000"), report=False)


def a_sex_more(folder: Path) -> None:
    with (folder / "value-hierarchies.csv").open("a") as file:
        file.write('"sex","Other","Any"\n')
    rehash(folder, report=True)


def of_a_later_declaration(folder: Path) -> None:
    changes = {"dataset_version": 3, "dataset_fingerprint": "0" * 64}
    rewritten(folder, lambda told: told.update(changes), report=False)


def of_an_earlier_declaration(folder: Path) -> None:
    """Whose number alone is another one."""
    rewritten(folder, lambda told: told.update(dataset_version=1), report=False)


def ages_to_a_thousand_in_version_1(folder: Path) -> None:
    def change(told: dict[str, Any]) -> None:
        told.update(dataset_version=1, dataset_fingerprint="0" * 64)
        told["attributes"][0].update(high="1000")

    rewritten(folder, change, report=False)


def with_another_fingerprint(folder: Path) -> None:
    rewritten(folder, lambda told: told.update(dataset_fingerprint="0" * 64))


def another_report(folder: Path) -> None:
    page = (folder / "report.html").read_text(encoding="utf-8")
    (folder / "report.html").write_text(page.replace("k</td>", "k </td>") + "<p>All is well.</p>")
    rehash(folder)


def another_report_by_another_program(folder: Path) -> None:
    another_report(folder)
    rewritten(folder, lambda told: told.update(report_written_by="srsql 0.2.0"), report=False)


def a_file_more(folder: Path) -> None:
    (folder / "originals.csv").write_text("caseid,age\n1,37\n")
    rehash(folder)


def a_file_less(folder: Path) -> None:
    (folder / "report.html").unlink()
    rehash(folder)


def exact_values_as_drawn_ones(folder: Path) -> None:
    """The artifact of msdp-all, with the quasi-identifiers as they were reported."""
    rows = read_csv(folder, "demo")
    for row, report in zip(rows, cycle(people()[:-1]), strict=False):
        row.update(age_low=report.age, age_high=report.age, sex=report.sex)
        row.update(wt_low=report.wt, wt_high=report.wt)
    write_csv(folder, "demo", rows)
    rehash(folder, counts=True, report=True)


def one_value_in_many_spellings(folder: Path) -> None:
    """All cases of one region hold the same term, as many terms that look the same."""
    demo = read_csv(folder, "demo")
    region = [value for name, value in demo[0].items() if name.startswith(("age", "wt", "sex"))]
    crowded = [
        row["primaryid"]
        for row in demo
        if [v for name, v in row.items() if name.startswith(("age", "wt", "sex"))] == region
    ]
    rows, thresholds = read_csv(folder, "reac"), thresholds_of(folder)
    for row in rows:
        if row["primaryid"] in crowded:
            place = crowded.index(row["primaryid"])
            row["pt"] = "Reaction 00".replace(" ", " " + "\u2060" * place)
            if "pt_key" in row:
                row["pt_key"] = "reaction 00"
            else:
                thresholds[str(row["pt"]).upper()] = thresholds["REACTION 00"]
    write_csv(folder, "reac", rows)
    shown = {row.get("pt_key") or str(row["pt"]).strip().upper() for row in rows}
    indications = read_csv(folder, "indi")
    shown |= {row.get("indi_pt_key") or str(row["indi_pt"]).strip().upper() for row in indications}
    put_thresholds(folder, {value: t for value, t in thresholds.items() if value in shown})
    rehash(folder, counts=True)


def one_value_in_many_spellings_of_version_1(folder: Path) -> None:
    one_value_in_many_spellings(folder)

    def change(told: dict[str, Any]) -> None:
        told.update(artifact_version=1, report_written_by=None, every_term_published=None)
        told["counts"]["withheld_cases"] = 1000

    rewritten(folder, change, report=False, counts=True)


def one_value_with_many_keys(folder: Path) -> None:
    """Spellings of one term that are told to be as many terms."""
    one_value_in_many_spellings(folder)
    rows, thresholds = read_csv(folder, "reac"), thresholds_of(folder)
    for row in rows:
        if row["pt_key"] == "reaction 00":
            row["pt_key"] = str(row["pt"]).lower()
            thresholds[row["pt_key"]] = thresholds["reaction 00"]
    write_csv(folder, "reac", rows)
    put_thresholds(folder, thresholds)
    rehash(folder, counts=True)


def two_values_with_one_key(folder: Path) -> None:
    """Two terms that are told to be one, so that a reader counts one."""
    rows = read_csv(folder, "reac")
    for row in rows:
        if row["pt_key"] == "reaction 01":
            row["pt_key"] = "reaction 00"
    write_csv(folder, "reac", rows)
    rehash(folder, counts=True)


def keys_of_nothing(folder: Path) -> None:
    rows = read_csv(folder, "reac")
    rows[0]["pt_key"] = None
    write_csv(folder, "reac", rows)
    rehash(folder, counts=True)


def upper_case_for_keys(folder: Path) -> None:
    rows = read_csv(folder, "indi")
    for row in rows:
        row["indi_pt_key"] = str(row["indi_pt"]).upper()
    write_csv(folder, "indi", rows)
    rehash(folder, counts=True)


def no_keys_of_drugs(folder: Path) -> None:
    told, rows = manifest_of(folder), read_csv(folder, "drug")
    for item in told["tables"]:
        item["columns"] = [c for c in item["columns"] if c["name"] != "drugname_key"]
    (folder / "manifest.json").write_text(json.dumps(told))
    for row in rows:
        del row["drugname_key"]
    write_csv(folder, "drug", rows)
    rehash(folder, counts=True)


def a_rule_of_another_version(folder: Path) -> None:
    rewritten(folder, lambda told: told["parameters"].update(term_key=2))


def no_rule(folder: Path) -> None:
    rewritten(folder, lambda told: told["parameters"].pop("term_key"))


def a_table_more(folder: Path) -> None:
    """Raw therapies, declared and hashed as any other table."""
    columns = [
        {"name": "primaryid", "type": "BIGINT", "role": "report id", "attribute": None},
        {"name": "caseid", "type": "BIGINT", "role": "case id", "attribute": None},
        {"name": "start_dt", "type": "VARCHAR", "role": "published as it is", "attribute": None},
    ]
    told = manifest_of(folder)
    table = {"name": "ther", "file": "ther.csv", "rows": 0, "content_sha256": "0" * 64}
    told["tables"].append(table | {"columns": columns})
    (folder / "manifest.json").write_text(json.dumps(told))
    first = read_csv(folder, "demo")[0]
    ids = {name: first[name] for name in ("primaryid", "caseid")}
    write_csv(folder, "ther", [ids | {"start_dt": "20110704"}])
    rehash(folder, counts=True)


def with_drug(folder: Path, name: str) -> None:
    """The first drug of the first row has another name; all else follows from that."""
    rows = read_csv(folder, "drug")
    rows[0] |= {"drugname": name, "drugname_key": term_key(name)}
    write_csv(folder, "drug", rows)
    rehash(folder, counts=True, report=True)


def lines_of_others_in_a_drug(folder: Path) -> None:
    others = "|".join(str(value) for value in read_csv(folder, "demo")[7].values())
    with_drug(folder, f"Ada\n{others}")


def a_line_separator_in_a_drug(folder: Path) -> None:
    with_drug(folder, "Ada\u2028Bor")


def an_escape_in_a_drug(folder: Path) -> None:
    with_drug(folder, "Ada\x1b[2J")


def too_long_a_drug(folder: Path) -> None:
    with_drug(folder, "Ada " * 126)


def another_report_in_a_drug(folder: Path) -> None:
    with_drug(folder, f"Ada ({read_csv(folder, 'demo')[7]['primaryid']})")


def another_case_in_a_drug(folder: Path) -> None:
    with_drug(folder, f"Ada/{read_csv(folder, 'demo')[7]['caseid']}/5 MG")


def another_report_that_is_said_to_be_none(folder: Path) -> None:
    """Of pseudonyms, which no number in a text is by chance."""
    number = str(read_csv(folder, "demo")[7]["primaryid"])

    def change(told: dict[str, Any]) -> None:
        told["parameters"].update(not_ids=number, ids="pseudonym")

    another_report_in_a_drug(folder)
    rewritten(folder, change, report=False)


def another_report_as_a_number(folder: Path) -> None:
    """Of ids of the source, which a number may be by chance."""
    number = str(read_csv(folder, "demo")[7]["primaryid"])
    another_report_in_a_drug(folder)
    facts = {"not_ids": number, "ids": "original"}
    rewritten(folder, lambda told: told["parameters"].update(facts))


def longer_drugs_declared(folder: Path) -> None:
    too_long_a_drug(folder)

    def change(told: dict[str, Any]) -> None:
        for item in told["tables"]:
            for shown in item["columns"]:
                if shown["name"] == "drugname":
                    shown["max_length"] = 1000

    rewritten(folder, change)


REFUSED = [
    (
        lines_of_others_in_a_drug,
        "texts",
        "drug.drugname: 1 text(s) with a line end or another control character",
    ),
    (a_line_separator_in_a_drug, "texts", "drug.drugname: 1 text(s) with a line end or another"),
    (an_escape_in_a_drug, "texts", "drug.drugname: 1 text(s) with a line end or another control"),
    (too_long_a_drug, "texts", "drug.drugname: 1 text(s) of more than 500 characters"),
    (another_report_in_a_drug, "texts", "drug.drugname: 1 text(s) with the id of another report"),
    (another_case_in_a_drug, "texts", "drug.drugname: 1 text(s) with the id of another report or"),
    (another_report_that_is_said_to_be_none, "texts", "drugname: 1 text(s) with the id of another"),
    (longer_drugs_declared, "declaration", "texts of drug.drugname may have 1,000 characters, not"),
    (all_thresholds_one, "policy", "are the tenths of no ranking by frequency (none is withheld)"),
    (all_thresholds_one_and_nothing_told, "manifest", "withheld_cases is not told"),
    (all_thresholds_one_by_no_policy, "thresholds", "'as seen fit', which is no policy"),
    (all_thresholds_one_and_not_kept, "manifest", "theta is not kept, and ms keeps it"),
    (rare_values_set_free, "policy", "the more frequent value has the higher one"),
    (
        reactions_as_they_are,
        "declaration",
        "reac.pt is published as it is (VARCHAR), not sensitive",
    ),
    (reactions_as_they_are_of_another_version, "declaration", "reac.pt is published as it is"),
    (weights_as_they_are, "declaration", "demo.wt is published as it is (VARCHAR), not absent"),
    (ages_to_a_thousand, "declaration", "age has another kind, unit, granularity or domain"),
    (ages_to_a_thousand_in_version_1, "declaration", "age has another kind, unit, granularity or"),
    (a_sex_more, "declaration", "the hierarchy of sex is another one"),
    (of_a_later_declaration, "declaration", "ships no version 3 of dataset 'faers'"),
    (of_an_earlier_declaration, "declaration", "declaration of this fingerprint is version 2"),
    (a_table_more, "declaration", "table ther is not released"),
    (another_report, "report", "report.html is not what the released rows"),
    (a_file_more, "manifest", "originals.csv is no file of an artifact"),
    (a_file_less, "manifest", "report.html is missing"),
    (one_value_in_many_spellings, "theta", "hold reaction 00, its threshold is"),
    (one_value_with_many_keys, "term keys", "rows of reac have a key that is not that of their"),
    (two_values_with_one_key, "term keys", "rows of reac have a key that is not that of their"),
    (keys_of_nothing, "term keys", "rows of reac have a key that is not that of their spelling"),
    (upper_case_for_keys, "term keys", "rows of indi have a key that is not that of their"),
    (no_keys_of_drugs, "manifest", "drug has no column drugname_key with the keys of terms"),
    (a_rule_of_another_version, "manifest", "parameter term_key is 2, this srsql knows 0 and 1"),
    (no_rule, "manifest", "drug.drugname_key is told to have keys, and is beside no column"),
]
"""How an artifact is forged, the check that refuses it, and what it says."""
LISTED = [
    (another_report_as_a_number, "that 1 number(s) in texts, which are ids of other reports"),
    (exact_values_as_drawn_ones, "that noise was added, as its model, msdp-all, says"),
    (all_thresholds_one_for_a_million_withheld, "values are held by them alone"),
    (all_thresholds_one_by_external_knowledge, "external knowledge added values to cases"),
    (all_thresholds_one_by_a_file, "it is in a file that is not published"),
    (reactions_as_they_are_of_another_dataset, "dataset 'clinic' does not ship with srsql"),
    (with_another_fingerprint, "how values were read, such as placeholders"),
    (another_report_by_another_program, "that report.html says what the released rows say"),
    (one_value_in_many_spellings_of_version_1, "counts terms that differ in invisible characters"),
]
"""How an artifact is forged that passes, and what is then said not to be shown."""


MADE_OF: dict[Forge, str] = {
    exact_values_as_drawn_ones: "msdp-all",
    one_value_in_many_spellings_of_version_1: "upper",
}
"""What is forged of another artifact than that of ms: a name of ``published``."""
IN_THE_PAGE = [
    (one_value_in_many_spellings, "theta"),
    *((forge, check) for forge, check, _ in REFUSED if check == "term keys"),
    *((forge, "manifest") for forge in (no_keys_of_drugs, a_rule_of_another_version, no_rule)),
]


def forged(published: dict[str, Path], tmp_path: Path, forge: Forge) -> Path:
    model = MADE_OF.get(forge, "ms")
    folder = Path(shutil.copytree(published[model], tmp_path / "out"))
    forge(folder)
    return folder


def test_what_is_forged_passes_before_it_is(published: dict[str, Path]) -> None:
    for folder in published.values():
        assert verify(folder).passed


@pytest.mark.parametrize(("forge", "check", "said"), REFUSED, ids=name)
def test_a_forgery_is_refused_by_the_check_that_has_to_see_it(
    published: dict[str, Path], tmp_path: Path, forge: Forge, check: str, said: str
) -> None:
    found = verify(forged(published, tmp_path, forge))
    assert not found.passed
    faults = {c.name: " ".join(c.faults) for c in found.checks if c.faults}
    assert "files" not in faults, "the hashes are consistent"
    assert said in faults[check]


@pytest.mark.parametrize(("forge", "said"), LISTED, ids=name)
def test_a_forgery_that_no_check_can_see_is_listed_as_not_shown(
    published: dict[str, Path], tmp_path: Path, forge: Forge, said: str
) -> None:
    found = verify(forged(published, tmp_path, forge))
    assert found.failures == []
    assert found.passed
    told = [text for text in found.cannot_show if said in text]
    assert len(told) == 1
    assert told[0].startswith(f"{QUARTER}: ")


@pytest.mark.skipif(NODE is None, reason="no node on PATH")
@pytest.mark.parametrize(("forge", "check"), IN_THE_PAGE, ids=name)
def test_the_page_refuses_keys_that_are_forged(
    published: dict[str, Path], tmp_path: Path, forge: Forge, check: str
) -> None:
    told = opened_in_node(tmp_path, forged(published, tmp_path, forge))
    assert not told["passed"]
    failed = {each["name"] for each in told["checks"] if each["count"]}
    assert check in failed
    assert "files" not in failed


@pytest.mark.skipif(NODE is None, reason="no node on PATH")
def test_the_page_passes_what_verify_passes_by_either_version_of_the_key(
    published: dict[str, Path], tmp_path: Path
) -> None:
    for name, due in (("ms", True), ("upper", False)):
        told = opened_in_node(tmp_path, published[name])
        assert told["passed"], told
        assert ("term keys" in {each["name"] for each in told["checks"]}) == due


def test_an_artifact_from_before_terms_had_keys_tells_nothing_of_them(
    published: dict[str, Path],
) -> None:
    folder = published["upper"]
    assert manifest_of(folder)["artifact_version"] == 4
    for path in folder.iterdir():
        if path.name != "report.html":
            assert b"_key" not in path.read_bytes().replace(b"key_id", b""), path.name
    assert "compare it in upper case" in (folder / "README.md").read_text().replace("\n", " ")
    assert "term keys" not in {check.name for check in verify(folder).checks}


def test_the_documents_tell_by_what_terms_are_compared(published: dict[str, Path]) -> None:
    rule = "Two spellings with the same key are one term; count and compare by the `_key` columns."
    folder = published["ms"]
    assert manifest_of(folder)["artifact_version"] == 5
    for name in ("README.md", "datapackage.json", "croissant.json", "dcat.jsonld"):
        text = " ".join((folder / name).read_text().split())
        assert rule in text, name
        assert "has version 1" in text, name
    assert "counted and compared by their key" in (folder / "methods.md").read_text()
    meanings = (folder / "data-dictionary.csv").read_text()
    for column in ("drugname", "pt", "indi_pt"):
        assert f"key of {column}: two spellings with the same key are one term" in meanings


@pytest.mark.skipif(NODE is None, reason="no node on PATH")
@pytest.mark.parametrize(
    ("forge", "said"), [(f, said) for f, check, said in REFUSED if check == "texts"], ids=name
)
def test_the_page_for_browsers_refuses_such_texts_in_the_same_words(
    published: dict[str, Path], tmp_path: Path, forge: Forge, said: str
) -> None:
    told = opened_in_node(tmp_path, forged(published, tmp_path, forge))
    assert not told["passed"]
    (check,) = [each for each in told["checks"] if each["name"] == "texts"]
    assert any(said in place for place in check["places"])


@pytest.mark.skipif(NODE is None, reason="no node on PATH")
def test_the_page_says_that_it_takes_the_publishers_word_for_a_number(
    published: dict[str, Path], tmp_path: Path
) -> None:
    whole = opened_in_node(tmp_path, published["ms"])
    told = opened_in_node(tmp_path, forged(published, tmp_path, another_report_as_a_number))
    (check,) = [each for each in told["checks"] if each["name"] == "texts"]
    assert check["count"] == 0
    said = [any("numbers in texts" in text for text in each["notShown"]) for each in (whole, told)]
    assert said == [False, True]
