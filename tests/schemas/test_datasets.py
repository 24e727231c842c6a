"""Dataset schemas: the shipped ones load, and every mistake in one's own names its key."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from srsql.schemas import Dataset, SchemaError, builtin_names, load_dataset

TOML = """
name = "clinic"
report_table = "visit"
report_id = "visit_id"
case_id = "patient_id"
id_type = "text"

[source]
reader = "csv"

[tables.visit]
files = ["visit*.csv"]
publish = ["ward"]
columns = ["visit_id", "patient_id", "age", "age_unit", "sex", "ward"]

[tables.finding]
files = ["finding*.csv"]
publish = ["finding"]
columns = ["visit_id", "patient_id", "finding"]

[[qid]]
name = "age"
kind = "numeric"
column = "age"
domain = [0, 120]
granularity = 1
unit_column = "age_unit"
units = { YR = 1, MON = "1/12" }

[[qid]]
name = "sex"
kind = "categorical"
column = "sex"
hierarchy = "sexes.csv"

[[sensitive]]
table = "finding"
column = "finding"
"""
SEXES = "node,parent\nAny,\nM,Any\nF,Any\n"


def load(folder: Path, toml: str = TOML, hierarchy: str | bytes = SEXES) -> Dataset:
    data = hierarchy if isinstance(hierarchy, bytes) else hierarchy.encode()
    (folder / "sexes.csv").write_bytes(data)
    (folder / "clinic.toml").write_text(toml, encoding="utf-8")
    return load_dataset(folder / "clinic.toml")


def refusal(folder: Path, toml: str = TOML, hierarchy: str | bytes = SEXES) -> str:
    with pytest.raises(SchemaError) as caught:
        load(folder, toml, hierarchy)
    text = str(caught.value)
    assert "\n" not in text
    assert text.startswith("clinic.toml: ")
    return text


@pytest.mark.parametrize(
    "name",
    ["aems", "canada", "eudravigilance", "faers", "faers_wide", "jader", "maude", "omop", "vaers"],
)
def test_the_dataset_schemas_that_ship_load_by_name(name: str) -> None:
    assert name in builtin_names()
    dataset = load_dataset(name)
    assert dataset.name == name
    assert {q.name for q in dataset.qid if q.kind == "categorical"} == set(dataset.hierarchies)


def test_faers_has_the_roles_of_the_papers() -> None:
    faers = load_dataset("faers")
    assert [(q.name, q.kind) for q in faers.qid] == [
        ("age", "numeric"), ("wt", "numeric"), ("sex", "categorical"),
    ]  # fmt: skip
    assert {(a.table, a.column) for a in faers.sensitive} == {("indi", "indi_pt"), ("reac", "pt")}
    assert [(a.table, a.column) for a in faers.quasi_sensitive] == [("drug", "drugname")]
    assert {table.name: table.publish for table in faers.child_tables} == {
        "drug": ("drug_seq", "role_cod", "drugname"), "reac": ("pt",),
        "indi": ("indi_drug_seq", "indi_pt"), "outc": ("outc_cod",),
    }  # fmt: skip
    assert faers.table("demo").publish == ()


@pytest.mark.parametrize(
    ("qid", "domain", "units"),
    [
        ("age", (0, 120), {"DEC": 10, "MON": Fraction(1, 12), "DY": Fraction(4, 1461)}),
        ("wt", (0, 400), {"LBS": Fraction(45359237, 10**8), "GMS": Fraction(1, 1000)}),
    ],
)
def test_the_domains_and_unit_factors_of_faers_are_exact(
    qid: str, domain: tuple[int, int], units: dict[str, Fraction]
) -> None:
    (found,) = [q for q in load_dataset("faers").qid if q.name == qid]
    assert found.domain == tuple(map(Decimal, domain))
    assert {unit: found.units[unit] for unit in units} == units


def test_a_schema_of_ones_own_loads_with_its_hierarchy(tmp_path: Path) -> None:
    dataset = load(tmp_path)
    assert dataset.hierarchies["sex"].labels == ("Any", "M", "F")
    assert dataset.id_columns == ("visit_id", "patient_id")
    assert [table.name for table in dataset.child_tables] == ["finding"]


def test_an_id_that_is_report_and_case_at_once_is_one_column(tmp_path: Path) -> None:
    dataset = load(tmp_path, TOML.replace('case_id = "patient_id"', 'case_id = "visit_id"'))
    assert dataset.id_columns == ("visit_id",)


def test_an_unknown_dataset_is_answered_with_the_names_there_are() -> None:
    with pytest.raises(SchemaError, match=r"'fears'.*faers, faers_wide, jader, maude, omop, vaers"):
        load_dataset("fears")


def test_text_that_is_not_toml_is_refused_with_the_line(tmp_path: Path) -> None:
    assert "not valid TOML" in (text := refusal(tmp_path, 'name = "x"\nreport_table = demo\n'))
    assert "line 2" in text


def test_a_schema_file_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(TOML.replace("clinic", "clínic").encode("latin-1"))
    with pytest.raises(SchemaError, match=r"latin\.toml: cannot be read"):
        load_dataset(tmp_path / "latin.toml")


@pytest.mark.parametrize(
    "key", ["name", "report_table", "report_id", "case_id", "tables", "qid", "sensitive", "source"]
)
def test_a_missing_key_is_named(tmp_path: Path, key: str) -> None:
    blocks = {"tables": "[tables.", "qid": "[[qid]]", "sensitive": "[[sensitive]]",
              "source": "[source]"}  # fmt: skip
    parts = ["\n" + block for block in TOML.strip().split("\n\n")]
    if key in blocks:
        parts = [part for part in parts if not part.strip().startswith(blocks[key])]
    else:
        parts[0] = "\n".join(s for s in parts[0].splitlines() if not s.startswith(f"{key} ="))
    assert f"key {key}: " in refusal(tmp_path, "\n".join(parts))


MISTAKES = {
    "the report id published by a child": (
        'publish = ["finding"]',
        'publish = ["visit_id"]',
        "tables.finding.publish",
    ),
    "the case id published by a child": (
        'publish = ["finding"]',
        'publish = ["patient_id"]',
        "tables.finding.publish",
    ),
    "a column published twice": (
        'publish = ["finding"]',
        'publish = ["finding", "finding"]',
        "tables.finding",
    ),
    "a column declared twice": (
        '"patient_id", "finding"]',
        '"patient_id", "finding", "finding"]',
        "tables.finding",
    ),
    "a published column named like a bound": (
        'publish = ["ward"]\ncolumns = ["visit_id",',
        'publish = ["age_low"]\ncolumns = ["age_low", "visit_id",',
        "age_low",
    ),
    "a column named quarter": ('"sex", "ward"]', '"sex", "ward", "quarter"]', "quarter"),
    "a unit factor over zero": ('MON = "1/12"', 'MON = "1/0"', "qid.0.units.MON:"),
    "a broken period pattern": (
        'reader = "csv"',
        'reader = "csv"\nperiod_pattern = "(20"',
        "period_pattern",
    ),
    "unknown key": ('id_type = "text"', 'colour = "red"', "key colour:"),
    "unknown key of a table": ('files = ["visit*.csv"]', 'files = []\npath = ""', "path:"),
    "unknown key of a qid": ("granularity = 1", "granule = 1", "granule:"),
    "missing key of a table": ('files = ["visit*.csv"]\n', "", "tables.visit.files:"),
    "missing key of a qid": ('kind = "numeric"\n', "", "qid.0.kind:"),
    "missing key of a sensitive": (
        '[[sensitive]]\ntable = "finding"',
        "[[sensitive]]",
        "sensitive.0.table:",
    ),
    "unknown id type": ('id_type = "text"', 'id_type = "uuid"', "key id_type:"),
    "unknown reader": ('reader = "csv"', 'reader = "xml"', "key source.reader:"),
    "unknown kind": ('kind = "numeric"', 'kind = "ordinal"', "qid.0.kind:"),
    "unknown rounding": ("granularity = 1", 'rounding = "up"', "qid.0.rounding:"),
    "a name that is none": ('name = "clinic"', 'name = "Clinic; DROP"', "key name:"),
    "a column name that is none": (
        '"sex", "ward"]',
        '"sex", "ward", "a b"]',
        "tables.0.columns.6.name:",
    ),
    "report table not declared": (
        'report_table = "visit"',
        'report_table = "demo"',
        "report_table 'demo'",
    ),
    "report id not a column": (
        'report_id = "visit_id"',
        'report_id = "isr"',
        "report_id: column 'isr'",
    ),
    "case id not a column": (
        'case_id = "patient_id"',
        'case_id = "case"',
        "case_id: column 'case'",
    ),
    "qid not a column": ('column = "age"', 'column = "years"', "qid.age.column: column 'years'"),
    "unit column not a column": (
        'unit_column = "age_unit"',
        'unit_column = "u"',
        "qid.age.unit_column: column 'u'",
    ),
    "sensitive table not declared": (
        'table = "finding"',
        'table = "reac"',
        "sensitive: table 'reac'",
    ),
    "sensitive not a column": ('column = "finding"', 'column = "pt"', "sensitive: column 'pt'"),
    "published not a column": (
        'publish = ["finding"]',
        'publish = ["pt"]',
        "tables.finding.publish: column 'pt'",
    ),
    "child without the report id": (
        'columns = ["visit_id", "patient_id", "finding"]',
        'columns = ["finding"]',
        "tables.finding: column 'visit_id'",
    ),
    "two qids of one name": ('name = "sex"', 'name = "age"', "qid: two quasi-identifiers"),
    "domain upside down": ("domain = [0, 120]", "domain = [120, 0]", "domain of QID 'age'"),
    "domain of one point": ("domain = [0, 120]", "domain = [7, 7]", "domain of QID 'age'"),
    "domain of one bound": ("domain = [0, 120]", "domain = [0]", "qid.0.domain"),
    "domain not numbers": ("domain = [0, 120]", 'domain = ["young", "old"]', "qid.0.domain"),
    "domain not finite": ("domain = [0, 120]", "domain = [0, inf]", "qid.0.domain"),
    "domain not a known word": ("domain = [0, 120]", 'domain = "any"', "qid.0.domain"),
    "no domain": ("domain = [0, 120]\n", "", "numeric QID 'age' needs a domain"),
    "limits upside down": (
        "domain = [0, 120]",
        'domain = "observed"\nlimits = [9, 1]',
        "limits of QID 'age'",
    ),
    "granularity zero": ("granularity = 1", "granularity = 0", "granularity of QID 'age'"),
    "granularity negative": ("granularity = 1", "granularity = -1", "granularity of QID 'age'"),
    "units without their column": (
        'unit_column = "age_unit"\n',
        "",
        "QID 'age' needs unit_column and units",
    ),
    "unit column without units": (
        'units = { YR = 1, MON = "1/12" }\n',
        "",
        "QID 'age' needs unit_column and units",
    ),
    "unit factor not a number": ('MON = "1/12"', 'MON = "a twelfth"', "qid.0.units.MON:"),
    "categorical without hierarchy": (
        'hierarchy = "sexes.csv"',
        "",
        "categorical QID 'sex' needs a hierarchy",
    ),
    "a numeric qid published": (
        'publish = ["ward"]',
        'publish = ["age"]',
        "tables.visit.publish: 'age'",
    ),
    "a categorical qid published": (
        'publish = ["ward"]',
        'publish = ["sex"]',
        "tables.visit.publish: 'sex'",
    ),
    "a unit column published": (
        'publish = ["ward"]',
        'publish = ["age_unit"]',
        "tables.visit.publish: 'age_unit'",
    ),
    "the report id published": (
        'publish = ["ward"]',
        'publish = ["visit_id"]',
        "tables.visit.publish: 'visit_id'",
    ),
    "the case id published": (
        'publish = ["ward"]',
        'publish = ["patient_id"]',
        "tables.visit.publish: 'patient_id'",
    ),
}


@pytest.mark.parametrize(("old", "new", "named"), MISTAKES.values(), ids=list(MISTAKES))
def test_a_mistake_in_a_schema_of_ones_own_names_the_key(
    tmp_path: Path, old: str, new: str, named: str
) -> None:
    assert TOML.count(old) == 1
    assert named in refusal(tmp_path, TOML.replace(old, new))


BROKEN_HIERARCHIES = {
    "range not a number": ("node,parent,low,high\nAny,,,\nM,Any,nan,1\n", "'M' has"),
    "no root": ("node,parent\nAny,M\nM,Any\n", "0 nodes have no parent"),
    "empty": ("", "0 nodes have no parent"),
    "two roots": ("node,parent\nAny,\nM,Any\nAll,\n", "2 nodes have no parent"),
    "a cycle": ("node,parent\nAny,\nM,F\nF,M\n", "'M' is not reachable"),
    "its own parent": ("node,parent\nAny,\nM,M\n", "'M' is not reachable"),
    "unknown parent": ("node,parent\nAny,\nM,Anyone\n", "parent 'Anyone' is not a node"),
    "duplicate": ("node,parent\nAny,\nM,Any\nM,Any\n", "'M' is listed twice"),
    "no label": ("node,parent\nAny,\n,Any\n", "no node label"),
    "half a range": ("node,parent,low,high\nAny,,,\nM,Any,3,\n", "'M' has a range"),
    "range not numbers": ("node,parent,low,high\nAny,,,\nM,Any,a,b\n", "'M' has a range"),
    "range upside down": ("node,parent,low,high\nAny,,,\nM,Any,9,1\n", "'M' has low above high"),
    "range of an inner node": ("node,parent,low,high\nAny,,0,9\nM,Any,,\n", "inner node 'Any'"),
}


@pytest.mark.parametrize(
    ("text", "named"), BROKEN_HIERARCHIES.values(), ids=list(BROKEN_HIERARCHIES)
)
def test_a_hierarchy_that_is_not_one_tree_is_refused_under_its_key(
    tmp_path: Path, text: str, named: str
) -> None:
    message = refusal(tmp_path, hierarchy=text)
    assert "key qid.sex.hierarchy: " in message
    assert named in message


def test_a_hierarchy_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    text = refusal(tmp_path, TOML.replace("sexes.csv", "genders.csv"))
    assert "key qid.sex.hierarchy: " in text
    assert "genders.csv" in text


def test_the_fingerprint_changes_with_the_hierarchy_and_with_the_schema(tmp_path: Path) -> None:
    prints = [
        load(tmp_path, toml, hierarchy).fingerprint
        for toml, hierarchy in [
            (TOML, SEXES),
            (TOML, SEXES + "X,Any\n"),
            (TOML, SEXES.replace("F,Any", "F,M")),
            (TOML, "node,parent\nAny,\nF,Any\nM,Any\n"),
            (TOML, "node,parent,low,high\nAny,,,\nM,Any,0,1\nF,Any,2,3\n"),
            (TOML.replace("[0, 120]", "[0, 130]"), SEXES),
        ]
    ]
    assert len(set(prints)) == len(prints)


def test_the_same_schema_and_hierarchy_have_the_same_fingerprint(tmp_path: Path) -> None:
    first = load(tmp_path).fingerprint
    same = load(tmp_path, hierarchy=SEXES.replace("\n", "\r\n") + "\r\n")
    assert same.fingerprint == first


def test_eight_quasi_identifiers_of_the_same_files_are_a_dataset() -> None:
    wide, faers = load_dataset("faers-wide"), load_dataset("faers")
    assert wide.name == "faers_wide"
    assert [q.name for q in wide.qid] == [
        "age", "wt", "sex", "country", "occupation", "report_type", "event", "received",
    ]  # fmt: skip
    assert wide.tables == faers.tables
    assert wide.hierarchies["country"].leaf_count[0] == 249
    assert [d.name for d in wide.told_derived] == ["event_year", "first_received"]


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ("{ other = 9 }", "tables.finding.max_length.other: no published column has this name"),
        ("{ visit_id = 9 }", "tables.finding.max_length.visit_id: no published column has"),
        ("{ finding = 0 }", "tables.finding.max_length.finding: give 1 to 1,000,000 characters"),
        ("{ finding = 1000001 }", "max_length.finding: give 1 to 1,000,000 characters"),
    ],
)
def test_a_length_is_declared_of_published_texts(tmp_path: Path, declared: str, said: str) -> None:
    table = 'publish = ["finding"]\n'
    (tmp_path / "x.toml").write_text(TOML.replace(table, f"{table}max_length = {declared}\n"))
    with pytest.raises(SchemaError, match=re.escape(said)):
        load_dataset(tmp_path / "x.toml")


def test_texts_have_500_characters_at_most_unless_another_length_is_declared(
    tmp_path: Path,
) -> None:
    table = 'publish = ["finding"]\n'
    (tmp_path / "sexes.csv").write_text("node,parent\nAny,\nM,Any\nF,Any\n")
    (tmp_path / "x.toml").write_text(TOML)
    (tmp_path / "y.toml").write_text(
        TOML.replace(table, f"{table}max_length = {{ finding = 9 }}\n")
    )
    usual, short = (load_dataset(tmp_path / f"{name}.toml") for name in "xy")
    assert [d.table("finding").longest("finding") for d in (usual, short)] == [500, 9]
    assert [d.longest_term for d in (usual, short)] == [1000, 1000]
    assert usual.reads_as(short), "it decides what is refused, not what is read"
