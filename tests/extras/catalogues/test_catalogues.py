"""What catalogues are told of an artifact, against its rows, by csv, json and hashlib alone."""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from artifact.conftest import OPTIONS, Artifacts, Warehouses
from support.artifacts import make, manifest_of, read_csv, rehash, rehash_range, tables_of
from support.command import srsql
from support.quarters import crowd, write_quarter

from srsql import Engine, verify
from srsql.engine.artifact.format import Manifest
from srsql.engine.catalog.periods import days_of
from srsql.engine.errors import PublishError
from srsql.engine.extras.catalogues.about import About

pytestmark = pytest.mark.thorough

FIRST = Path(__file__).parents[2] / "fixtures" / "release_0_1" / "artifact-csv"
"""Written by version 0.1.0."""
DOCUMENTS = ("datapackage.json", "croissant.json", "dcat.jsonld", "prov.jsonld", "methods.md")
STATED: dict[str, Any] = {
    "publisher": "Agency of Medicines",
    "contact": "releases@example.org",
    "license": "CC-BY-4.0",
    "cite_as": "Agency of Medicines (2026): Reports of 2011Q3.",
    "landing_page": "https://example.org/reports",
    "access": "public",
    "access_body": "Health Data Access Body",
    "legislation": ["http://data.europa.eu/eli/reg/2025/327/oj"],
    "thesaurus": ["reac.pt=MedDRA 14.0", "indi.indi_pt=MedDRA 14.0"],
}
Change = Callable[[Any], None]


def told(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text(encoding="utf-8"))


def faults(folder: Path) -> dict[str, list[str]]:
    """Check -> its faults, of a verification that must fail."""
    found = verify(folder)
    assert not found.passed
    return {check.name: list(check.faults) for check in found.checks if check.faults}


@pytest.fixture(scope="module")
def stated(warehouses: Warehouses, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The artifact of 2011Q3 under ms, with everything that can be stated; not to be changed."""
    to = tmp_path_factory.mktemp("stated") / "out"
    return make(warehouses["ms"], to, "2011Q3", format="csv", **STATED)


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_documents_are_in_every_artifact_and_its_closed_list(artifact: Path) -> None:
    assert {*DOCUMENTS} <= {path.name for path in artifact.iterdir()}
    assert {*DOCUMENTS} <= manifest_of(artifact)["files"].keys()
    assert manifest_of(artifact)["artifact_version"] == 5
    found = verify(artifact)
    assert found.passed
    assert {"catalogues", "keys"} <= {check.name for check in found.checks}


def test_the_same_release_gives_the_same_documents(
    stated: Path, warehouses: Warehouses, tmp_path: Path
) -> None:
    again = make(warehouses["ms"], tmp_path / "again", "2011Q3", format="csv", **STATED)
    for name in DOCUMENTS:
        assert (again / name).read_bytes() == (stated / name).read_bytes()


def test_the_data_package_tells_files_types_and_keys_as_the_rows_have_them(stated: Path) -> None:
    package = told(stated, "datapackage.json")
    rows = {name: read_csv(stated, name) for name in ("demo", "drug", "reac", "indi", "outc")}
    resources = {each["name"]: each for each in package["resources"]}
    for name, found in rows.items():
        resource = resources[name]
        path = stated / resource["path"]
        assert resource["hash"] == f"sha256:{sha256(path)}"
        assert resource["bytes"] == path.stat().st_size
        fields = {each["name"]: each for each in resource["schema"]["fields"]}
        assert list(fields) == list(found[0])
        for row in found:
            for column, value in row.items():
                if fields[column]["type"] == "integer" and value is not None:
                    bounds = fields[column].get("constraints", {})
                    low, high = bounds.get("minimum", -(2**53)), bounds.get("maximum", 2**53)
                    assert low <= int(value) <= high
        for key in resource["schema"].get("foreignKeys", []):
            other = rows[key["reference"]["resource"]]
            known = {tuple(row[n] for n in key["reference"]["fields"]) for row in other}
            assert {tuple(row[n] for n in key["fields"]) for row in found} <= known
    assert resources["demo"]["schema"]["primaryKey"] == ["primaryid"]
    ids = [row["primaryid"] for row in rows["demo"]]
    assert len(set(ids)) == len(ids)
    assert [n for n, each in resources.items() if each["schema"].get("foreignKeys")] == [
        "drug", "reac", "indi", "outc",
    ]  # fmt: skip
    assert package["licenses"] == [
        {"path": "https://spdx.org/licenses/CC-BY-4.0", "name": "CC-BY-4.0"}
    ]
    assert package["contributors"][0]["email"] == STATED["contact"]


def test_domains_are_the_declared_ones_and_never_those_of_the_rows(stated: Path) -> None:
    demo = told(stated, "datapackage.json")["resources"][0]
    bounds = {f["name"]: f.get("constraints") for f in demo["schema"]["fields"]}
    assert bounds["age_low"] == bounds["age_high"] == {"minimum": 0, "maximum": 120}
    assert bounds["wt_low"] == {"minimum": 0, "maximum": 400}
    assert max(int(row["age_high"] or 0) for row in read_csv(stated, "demo")) < 120


def test_croissant_tells_the_same_files_and_columns(stated: Path) -> None:
    found = told(stated, "croissant.json")
    assert found["conformsTo"] == "http://mlcommons.org/croissant/1.1"
    for file in found["distribution"]:
        assert file["sha256"] == sha256(stated / file["contentUrl"])
    sets = {each["name"]: [f["name"] for f in each["field"]] for each in found["recordSet"]}
    assert sets == {name: list(read_csv(stated, name)[0]) for name in sets}
    assert found["license"] == "https://spdx.org/licenses/CC-BY-4.0"
    assert found["citeAs"] == STATED["cite_as"]


def test_dcat_counts_released_cases_and_reports_alone(stated: Path) -> None:
    found, rows = told(stated, "dcat.jsonld"), read_csv(stated, "demo")
    assert found["healthdcatap:numberOfRecords"]["@value"] == str(len(rows))
    cases = len({row["caseid"] for row in rows})
    assert found["healthdcatap:numberOfUniqueIndividuals"]["@value"] == str(cases)
    assert found["dct:temporal"]["dcat:startDate"]["@value"] == "2011-07-01"
    assert found["dct:temporal"]["dcat:endDate"]["@value"] == "2011-09-30"
    assert found["dct:publisher"]["foaf:name"] == STATED["publisher"]
    assert found["dcat:contactPoint"]["vcard:hasEmail"] == {"@id": "mailto:releases@example.org"}


@pytest.mark.parametrize(
    ("label", "days"),
    [
        ("2011", ("2011-01-01", "2011-12-31")),
        ("2012Q1", ("2012-01-01", "2012-03-31")),
        ("2012-02", ("2012-02-01", "2012-02-29")),
        ("2012M12", ("2012-12-01", "2012-12-31")),
        ("spring", None),
    ],
)
def test_a_period_has_its_days_where_its_label_tells_them(
    label: str, days: tuple[str, str] | None
) -> None:
    assert days_of(label) == days


def test_methods_count_how_exactly_cases_are_shown_as_the_rows_do(stated: Path) -> None:
    text = (stated / "methods.md").read_text(encoding="utf-8")
    regions = {row["caseid"]: row for row in read_csv(stated, "demo")}
    for name in ("age", "wt"):
        how = Counter(
            "any" if row[f"{name}_low"] is None
            else "single" if row[f"{name}_low"] == row[f"{name}_high"]
            else "several"
            for row in regions.values()
        )  # fmt: skip
        line = next(line for line in text.splitlines() if f"| {name} |" in line)
        counted = [int(cell.split()[0]) for cell in line.split("|")[3:6]]
        assert counted == [how["single"], how["several"], how["any"]]
    counts = manifest_of(stated)["counts"]
    withheld = f"{counts['withheld_cases']} cases in {counts['withheld_reports']} reports were"
    assert (withheld if counts["withheld_cases"] else "no case was withheld") in text
    for said in ("reac.pt, indi.indi_pt: MedDRA 14.0.", "| 5b | exclusions |", STATED["cite_as"]):
        assert said in text


def test_what_is_not_stated_is_said_to_be_not_told(csv_artifact: Path) -> None:
    assert "licenses" not in told(csv_artifact, "datapackage.json")
    assert "license" not in told(csv_artifact, "croissant.json")
    assert "dct:publisher" not in told(csv_artifact, "dcat.jsonld")
    text = (csv_artifact / "methods.md").read_text(encoding="utf-8")
    assert "With which thesaurus and version terms are coded is not told" in text
    assert told(csv_artifact, "dcat.jsonld")["@id"].startswith("urn:uuid:")


def edited(folder: Path, name: str, change: Change, **manifest: Any) -> Path:
    """One document changed by a forger who hashes everything anew."""
    document = told(folder, name)
    change(document)
    (folder / name).write_text(json.dumps(document), encoding="utf-8")
    rehash(folder, reworded=False, **manifest)
    return folder


def more_cases(document: Any) -> None:
    document["healthdcatap:numberOfUniqueIndividuals"]["@value"] = "61"


def another_licence(document: Any) -> None:
    for file in document["dcat:distribution"]:
        file["dct:license"]["@id"] = "https://spdx.org/licenses/CC0-1.0"


def another_publisher(document: Any) -> None:
    document["dct:publisher"]["foaf:name"] = "Somebody else"


def another_hash(document: Any) -> None:
    document["distribution"][0]["sha256"] = "0" * 64


def a_field_less(document: Any) -> None:
    document["recordSet"][0]["field"].pop()


def a_least_age(document: Any) -> None:
    """The least bound of the rows, which tells of its cases."""
    field = document["resources"][0]["schema"]["fields"][3]
    assert field["name"] == "age_low"
    field["constraints"]["minimum"] = 20


def another_type(document: Any) -> None:
    document["resources"][0]["schema"]["fields"][0]["type"] = "string"


def a_wrong_primary_key(document: Any) -> None:
    document["resources"][2]["schema"]["primaryKey"] = ["pt"]


def a_foreign_key_to_terms(document: Any) -> None:
    """Not every drug is named like a reaction."""
    key = {"fields": ["primaryid"], "reference": {"resource": "reac", "fields": ["caseid"]}}
    document["resources"][1]["schema"]["foreignKeys"] = [key]


def a_file_more(document: Any) -> None:
    document["resources"].append(document["resources"][0] | {"name": "raw", "path": "raw.csv"})


def an_earlier_release(document: Any) -> None:
    base = document["@graph"][0]["@id"].partition("-software-")[0]
    document["@graph"].append({"@id": f"{base}-release-2011Q2-v1", "@type": "prov:Entity"})


def a_raw_table(document: Any) -> None:
    base = document["@graph"][0]["@id"].partition("-software-")[0]
    document["@graph"].append({"@id": f"{base}-software-raw", "@type": "prov:Entity"})


def no_ingestion(document: Any) -> None:
    for node in document["@graph"]:
        if "-reports-" in node["@id"]:
            del node["prov:wasGeneratedBy"]


FORGERIES: list[tuple[str, Change, str]] = [
    ("datapackage.json", a_least_age, "demo.age_low is bounded otherwise"),
    ("prov.jsonld", an_earlier_release, "it tells of other releases than manifest.json"),
    ("dcat.jsonld", more_cases, "another number of cases than manifest.json: 61, not 60"),
    ("dcat.jsonld", another_licence, "another licence"),
    ("dcat.jsonld", another_publisher, "another publisher"),
    ("croissant.json", another_hash, "demo.csv has another hash"),
    ("croissant.json", a_field_less, "demo has other fields, types or sources"),
    ("datapackage.json", another_type, "demo has other fields or types"),
    ("datapackage.json", a_wrong_primary_key, "key(s) of reac are missing or not there once"),
    ("datapackage.json", a_foreign_key_to_terms, "drug leads to columns that reac does not have"),
    ("datapackage.json", a_file_more, "not each file of rows once"),
    ("prov.jsonld", a_raw_table, "which are no steps of a release"),
    ("prov.jsonld", no_ingestion, "its release does not follow from what it was made of"),
]


@pytest.mark.parametrize(("name", "change", "said"), FORGERIES)
def test_a_forged_document_is_refused_whichever_version_is_said_to_have_written_it(
    stated: Path, tmp_path: Path, name: str, change: Change, said: str
) -> None:
    folder = shutil.copytree(stated, tmp_path / "out")
    ours = faults(edited(folder, name, change))
    assert f"{name} does not say what manifest.json says" in ours["manifest"]
    others = faults(edited(folder, name, lambda _: None, software_version="9.9"))
    assert "manifest" not in others
    found = others.get("catalogues", []) + others.get("keys", [])
    assert any(said in why for why in found), found


@pytest.mark.parametrize(
    "text", ["", "[]", "[" * 100_000, '{"a": 1, "a": 2}', "{}", '{"@graph":1}']
)
@pytest.mark.parametrize("name", DOCUMENTS[:4])
def test_a_document_that_is_none_is_named(
    stated: Path, tmp_path: Path, name: str, text: str
) -> None:
    from srsql.engine.artifact.verify.catalogue_checks import catalogue_check

    folder = shutil.copytree(stated, tmp_path / "out")
    (folder / name).write_text(text)
    check = catalogue_check(folder, Manifest.model_validate(manifest_of(folder)))
    assert check is not None
    assert [fault for fault in check.faults if not fault.startswith(f"{name}: ")] == []
    assert check.faults


def test_other_words_of_another_version_are_listed_as_not_shown(
    stated: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(stated, tmp_path / "out")
    (folder / "methods.md").write_text("We used all reports.")
    rehash(folder, reworded=False, report=True, software_version="9.9")
    found = verify(folder)
    assert found.passed
    assert [text for text in found.cannot_show if "wording of its documents for cat" in text]
    rehash(folder, reworded=False, software_version=manifest_of(stated)["software_version"])
    assert faults(folder)["manifest"] == ["methods.md does not say what manifest.json says"]


def test_counts_of_exact_cases_that_the_rows_do_not_have_are_refused(csv_artifact: Path) -> None:
    shown = manifest_of(csv_artifact)["shown"]
    shown[0]["single"], shown[0]["several"] = shown[0]["several"], shown[0]["single"]
    rehash(csv_artifact, shown=shown)
    (why,) = faults(csv_artifact)["manifest"]
    assert why.startswith("age is shown by")
    rehash(csv_artifact, shown=shown[1:])
    assert "not of each quasi-identifier" in faults(csv_artifact)["manifest"][0]


def test_an_artifact_of_the_first_version_has_none_of_it_and_is_verified_as_it_was_written(
    tmp_path: Path,
) -> None:
    folder = shutil.copytree(FIRST, tmp_path / "out")
    assert not {*DOCUMENTS} & {path.name for path in folder.iterdir()}
    found = verify(folder)
    assert found.passed
    assert not {"catalogues", "keys"} & {check.name for check in found.checks}
    assert [t for t in found.cannot_show if "that its README, its data dictionary" in t]
    document = manifest_of(folder) | {"stated": {"license": "CC0-1.0"}}
    (folder / "manifest.json").write_text(json.dumps(document))
    assert any("in version 1" in text for text in faults(folder)["manifest"])


def test_what_supersedes_what_is_in_the_chain(tmp_path: Path) -> None:
    with Engine(tmp_path / "w.duckdb") as engine:
        for number, quarter in enumerate(("2011Q2", "2011Q3")):
            reports = crowd(40, first=1 + 20 * number, version=1 + number)
            engine.ingest([write_quarter(tmp_path, quarter, reports)])
            engine.release(quarter, model="ms", **OPTIONS)
        engine.release("2011Q3", model="ms", **OPTIONS, supersede=True, allow_linkable=True)
        engine.publish("2011Q3", tmp_path / "out", format="csv", allow_linkable=True)
    nodes = {node["@id"].rpartition("#faers-main-")[2]: node
             for node in told(tmp_path / "out", "prov.jsonld")["@graph"]}  # fmt: skip
    releases = {name for name in nodes if name.startswith("release-")}
    assert releases == {"release-2011Q2-v1", "release-2011Q3-v1", "release-2011Q3-v2"}
    before = nodes["release-2011Q3-v2"]["prov:wasRevisionOf"]["@id"]
    assert before.endswith("#faers-main-release-2011Q3-v1")
    used = [
        link["@id"].rpartition("#faers-main-")[2]
        for link in nodes["releasing-2011Q3-v2"]["prov:used"]
    ]
    assert used == ["reports-2011Q3-v2", "release-2011Q2-v1", "release-2011Q3-v1"]
    assert told(tmp_path / "out", "croissant.json")["version"] == "2.0.0"

    def forget_the_first(document: Any) -> None:
        for node in document["@graph"]:
            node.pop("prov:wasRevisionOf", None)

    folder = edited(tmp_path / "out", "prov.jsonld", forget_the_first, software_version="9.9")
    (why,) = faults(folder)["catalogues"]
    assert "2011Q3, version 2, does not supersede what it supersedes" in why


@pytest.mark.parametrize("form", ["csv", "duckdb"])
def test_keys_of_several_quarters_have_the_quarter(
    warehouses: Warehouses, tmp_path: Path, form: str
) -> None:
    folder = make(warehouses["ppms++"], tmp_path / "out", "2011Q3:2011Q4", format=form)
    package = told(folder, "datapackage.json")
    schemas = (
        {each["name"]: each["schema"] for each in package["resources"][0]["tables"]}
        if form == "duckdb"
        else {each["name"]: each["schema"] for each in package["resources"]}
    )
    assert schemas["demo"]["primaryKey"] == ["quarter", "primaryid"]
    assert schemas["drug"]["foreignKeys"][0]["fields"] == ["quarter", "primaryid", "caseid"]
    records = told(folder, "dcat.jsonld")["healthdcatap:numberOfRecords"]["@value"]
    parts = manifest_of(folder)["quarters"]
    assert records == str(sum(part["counts"]["released_reports"] for part in parts))
    individuals = told(folder, "dcat.jsonld")["healthdcatap:numberOfUniqueIndividuals"]["@value"]
    assert individuals == str(manifest_of(folder)["released_cases"])
    assert "#faers-main-release-2011Q4-v1" in (folder / "prov.jsonld").read_text()
    if form == "csv":
        rehash_range(folder)
        assert verify(folder).passed


def test_terms_apart_have_keys_of_clusters(tmp_path: Path) -> None:
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q3", crowd(40))])
        engine.release("2011Q3", model="disassociation", k=3, seed=1)
        engine.publish(
            "2011Q3", tmp_path / "out", format="csv", thesaurus=["indi.indi_pt=MedDRA 14.0"]
        )
    schemas = {each["name"]: each["schema"]
               for each in told(tmp_path / "out", "datapackage.json")["resources"]}  # fmt: skip
    assert schemas["clusters"]["primaryKey"] == ["cluster"]
    assert schemas["record_chunk"]["foreignKeys"][0]["reference"]["resource"] == "clusters"
    clusters = [row["cluster"] for row in read_csv(tmp_path / "out", "clusters")]
    assert len(set(clusters)) == len(clusters)
    chunks = {row["cluster"] for row in read_csv(tmp_path / "out", "record_chunk")}
    assert chunks <= set(clusters)
    found = verify(tmp_path / "out")
    assert found.passed, found.failures
    assert "counts of term sets" in (tmp_path / "out" / "methods.md").read_text()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"license": "public domain"}, "--license 'public domain': give an identifier of SPDX"),
        ({"contact": "me"}, "--contact 'me': give an e-mail address or a page"),
        ({"landing_page": "ftp://example.org"}, "--landing-page 'ftp://example.org': give a page"),
        ({"cite_as": "two\nlines"}, "--cite-as 'two\\nlines': give a text of one line"),
        ({"thesaurus": ["demo.age=MedDRA 1"]}, "--thesaurus 'demo.age=MedDRA 1': give a published"),
        ({"thesaurus": ["reac.pt"]}, "--thesaurus 'reac.pt': give a published column and what"),
        ({"legislation": ["a law"]}, "--legislation ('a law',): give pages"),
    ],
)
def test_what_cannot_be_stated_is_refused_in_one_line(
    warehouses: Warehouses, tmp_path: Path, options: dict[str, Any], said: str
) -> None:
    with Engine(warehouses["ms"], read_only=True) as engine, pytest.raises(PublishError) as error:
        engine.publish("2011Q3", tmp_path / "out", **options)
    assert said in str(error.value)
    assert not (tmp_path / "out").exists()


def test_srsql_toml_tells_licence_contact_and_citation(
    warehouses: Warehouses, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "srsql.toml").write_text(
        "[publish]\nformat = 'csv'\nlicense = 'https://example.org/terms'\n"
        "contact = 'https://example.org/contact'\ncite-as = 'Cite, us'\naccess = 'restricted'\n"
        "thesaurus = ['reac.pt=MedDRA 14.0']\n"
    )
    made = srsql("publish", "--quarter", "2011Q3", "--to", "out", "--db", warehouses["ms"],
                 "--allow-linkable", "--quiet")  # fmt: skip
    assert (made.code, made.err) == (0, "")
    out = tmp_path / "out"
    assert told(out, "croissant.json")["license"] == "https://example.org/terms"
    assert told(out, "croissant.json")["citeAs"] == "Cite, us"
    assert told(out, "dcat.jsonld")["dct:accessRights"]["@id"].endswith("/access-right/RESTRICTED")
    assert manifest_of(out)["stated"]["thesauri"] == [
        {"columns": ["reac.pt"], "name": "MedDRA 14.0"}
    ]
    readme = (out / "README.md").read_text(encoding="utf-8")
    assert "Licence: https://example.org/terms. Cite as: Cite, us." in readme


def test_names_in_the_documents_do_not_change_with_the_form_of_the_tables(
    kept_artifacts: Artifacts,
) -> None:
    def base(form: str) -> str:
        told_ = manifest_of(kept_artifacts["ms", form])
        return About(Manifest.model_validate(told_), {}).iri

    assert base("csv") == base("parquet") == base("duckdb")


def test_no_document_has_a_value_of_a_row(stated: Path) -> None:
    """Ids, terms and bounds: whatever is in a row and not declared."""
    values = {
        str(value)
        for rows in tables_of(stated).values()
        for row in rows
        for name, value in row.items()
        if name in ("primaryid", "caseid", "drugname", "pt", "indi_pt")
    }
    for name in DOCUMENTS:
        text = (stated / name).read_text(encoding="utf-8")
        assert [value for value in values if len(value) > 3 and value in text] == []
    with (stated / "value-thresholds.csv").open(encoding="utf-8") as file:
        assert sum(1 for _ in csv.reader(file)) > 2
