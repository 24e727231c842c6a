"""Derived columns as a dataset declares them: what is claimed of their sources is so."""

from __future__ import annotations

from pathlib import Path

import pytest

from srsql.schemas import Dataset, SchemaError, load_dataset
from srsql.schemas.derived import claim_text, rule_text

TOML = """
name = "ward"
report_table = "visit"
report_id = "visit_id"
case_id = "patient_id"

[source]
reader = "csv"

[tables.visit]
files = ["visit*.csv"]
publish = ["ward", "onset", "many"]
[tables.visit.columns]
visit_id = []
patient_id = []
age = []
seen = []
told = []
ward = []
again = ["age"]
no = ["patient_id"]

[tables.taken]
files = ["taken*.csv"]
publish = ["drug", "code"]
optional = ["route"]
columns = ["visit_id", "patient_id", "drug", "begun", "code", "route", "start", "lot"]

[tables.finding]
files = ["finding*.csv"]
publish = ["finding"]
columns = ["visit_id", "patient_id", "finding"]

[[derived]]
name = "seen_year"
rule = "period"
source = "visit.seen"
step = "year"
claim = "sources withheld"

[[derived]]
name = "onset"
rule = "elapsed"
start = "taken.begun"
end = "visit.told"
classes = [7, 30]
claim = "sources withheld"

[[derived]]
name = "many"
rule = "number"
source = "taken.drug"
classes = [2, 5]
claim = "sources published"

[[qid]]
name = "age"
kind = "numeric"
column = "age"
domain = [0, 120]

[[qid]]
name = "year"
kind = "numeric"
column = "seen_year"
domain = [2000, 2039]

[[sensitive]]
table = "finding"
column = "finding"

[[quasi_sensitive]]
table = "taken"
column = "drug"
"""


def load(folder: Path, *changes: tuple[str, str]) -> Dataset:
    text = TOML
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    (folder / "ward.toml").write_text(text, encoding="utf-8")
    return load_dataset(folder / "ward.toml")


def refusal(folder: Path, *changes: tuple[str, str]) -> str:
    with pytest.raises(SchemaError) as caught:
        load(folder, *changes)
    text = str(caught.value)
    assert "\n" not in text
    return text.removeprefix("ward.toml: key ")


def test_a_rule_is_told_in_words_with_what_is_claimed_of_its_sources(tmp_path: Path) -> None:
    dataset = load(tmp_path)
    told = {d.name: (rule_text(d), claim_text(d, dataset.published)) for d in dataset.told_derived}
    assert told == {
        "seen_year": ("year of visit.seen", "visit.seen is not published"),
        "onset": (
            "days from taken.begun to visit.told in classes: before the start, 0-6 days, "
            "7-29 days, 30 days or more",
            "taken.begun and visit.told are not published",
        ),
        "many": (
            "number of different taken.drug in classes: 0-1, 2-4, 5 or more",
            "protects nothing of taken.drug, published in the same release",
        ),
    }


def test_what_is_told_of_drugs_goes_where_drugs_are_told_apart(tmp_path: Path) -> None:
    dataset = load(tmp_path)
    apart = dataset.without_terms(["drug"], rows=True)
    assert apart.table("visit").publish == ("ward",)  # onset is made from rows of drugs, too
    assert [d.name for d in apart.told_derived] == ["seen_year"]
    assert dataset.without_terms(["finding"], rows=True).table("visit") == dataset.table("visit")
    assert dataset.without_terms(None, rows=True).table("visit").publish == ()


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ([('publish = ["ward", ', 'publish = ["ward", "told", ')],
         "schema: derived.onset.claim: visit.told is or may be published, as visit.told: dates "
         "that a column is made from never are, take it out there"),
        ([('publish = ["ward", ', 'publish = ["ward", "seen", ')],
         "schema: derived.seen_year.claim: visit.seen is or may be published"),
        ([('optional = ["route"]', 'optional = ["begun"]')],
         "schema: derived.onset.claim: taken.begun is or may be published, as taken.begun"),
        ([('ward = []', 'ward = ["SEEN "]')],
         "schema: derived.seen_year.claim: visit.seen is or may be published, as visit.w"),
        ([('step = "year"\nclaim = "sources withheld"',
           'step = "year"\nclaim = "sources published"')],
         'schema: derived.seen_year.claim: dates are never published: claim "sources withheld"'),
        ([('classes = [2, 5]\nclaim = "sources published"',
           'classes = [2, 5]\nclaim = "sources withheld"')],
         "schema: derived.many.claim: taken.drug is or may be published, as taken.drug: claim"),
        ([('rule = "number"\nsource = "taken.drug"', 'rule = "number"\nsource = "taken.begun"')],
         "schema: derived.many.claim: taken.begun is not published: claim"),
        ([('step = "year"', 'step = "day"')], "derived.0.period.step: "),
        ([('classes = [7, 30]', 'classes = [1, 2, 3]')],
         "derived.1.elapsed: classes: from 0 to below 1 are fewer than 7 days"),
        ([('classes = [7, 30]', 'classes = [30, 7]')],
         "derived.1.elapsed: classes: from 30 to below 7 are fewer than 7 days"),
        ([('classes = [2, 5]', 'classes = [1, 2]')],
         "derived.2.number: classes: from 0 to below 1 are fewer than 2 numbers"),
        ([('source = "visit.seen"', 'source = "visit.visit_id"')],
         "schema: derived.seen_year: visit.visit_id is an id: a column is made from"),
        ([('source = "visit.seen"', 'source = "visit.no"')],
         "schema: derived.seen_year: visit.no is an id, by the name of 'patient_id' in the file"),
        ([('source = "visit.seen"', 'source = "visit.age"')],
         "schema: derived.seen_year: visit.age is a quasi-identifier"),
        ([('source = "visit.seen"', 'source = "visit.again"')],
         "schema: derived.seen_year: visit.again is a quasi-identifier, by the name of 'age'"),
        ([('rule = "number"\nsource = "taken.drug"',
           'rule = "number"\nsource = "finding.finding"')],
         "schema: derived.many: finding.finding is sensitive"),
        ([('rule = "number"\nsource = "taken.drug"\nclasses = [2, 5]',
           'rule = "occurs"\nsource = "taken.drug"')],
         "schema: derived.many: taken.drug is quasi-sensitive"),
        ([('source = "visit.seen"', 'source = "visit.nothing"')],
         "schema: derived.seen_year: column 'nothing' is not declared in table 'visit'"),
        ([('source = "visit.seen"', 'source = "seen"')],
         "derived.0.period.source: 'seen' does not name a column: write table.column"),
        ([('name = "onset"', 'name = "ward"')],
         "schema: derived.ward: the report table has a column of that name"),
        ([('name = "onset"', 'name = "many"')],
         "schema: derived.many: two derived columns have this name"),
        ([('end = "visit.told"', 'end = "taken.begun"')],
         "schema: derived.onset: both dates are the same column: give two"),
        ([('rule = "elapsed"', 'rule = "elapsed"\nhours = 3')], "derived.1.elapsed.hours: "),
        ([('rule = "elapsed"', 'rule = "between"')], "derived.1: "),
        ([('step = "year"', 'step = "quarter"')],
         "schema: qid.year: the values of the derived column 'seen_year' are no numbers"),
        ([('publish = ["ward", ', 'publish = ["ward", "seen_year", ')],
         "schema: tables.visit.publish: 'seen_year' is a quasi-identifier"),
        ([('name = "onset"\nrule = "elapsed"\nstart = "taken.begun"\nend = "visit.told"\n'
           'classes = [7, 30]', 'name = "onset"\nrule = "period"\nsource = "visit.seen"\n'
           'step = "month"')],
         "schema: derived.onset: seen_year and onset are made from one column, and one of them is "
         "a quasi-identifier"),
        ([('name = "many"\nrule = "number"\nsource = "taken.drug"\nclasses = [2, 5]\n'
           'claim = "sources published"', 'name = "many"\nrule = "elapsed"\n'
           'start = "taken.begun"\nend = "visit.told"\nclasses = [10, 20]\n'
           'claim = "sources withheld"')],
         "schema: derived.many: onset tells the same in other classes"),
        ([('name = "many"\nrule = "number"\nsource = "taken.drug"\nclasses = [2, 5]\n'
           'claim = "sources published"', 'name = "many"\nrule = "elapsed"\n'
           'start = "taken.start"\nend = "visit.ward"\nclasses = [10, 20]\n'
           'claim = "sources withheld"'),
          ('publish = ["ward", "onset"', 'publish = ["onset"'), ('ward = []', 'ward = ["told"]')],
         "schema: derived.many: onset tells the same in other classes"),
        ([('name = "many"\nrule = "number"\nsource = "taken.drug"\nclasses = [2, 5]\n'
           'claim = "sources published"', 'name = "many"\nrule = "occurs"\n'
           'source = "visit.told"\nvalues = ["20221014"]\nclaim = "sources withheld"')],
         "schema: derived.many: onset and many are made from one column, which is a date to one"),
        ([('name = "many"\nrule = "number"\nsource = "taken.drug"\nclasses = [2, 5]\n'
           'claim = "sources published"', 'name = "many"\nrule = "occurs"\n'
           'source = "taken.lot"\nvalues = ["A"]\nclaim = "sources withheld"\n\n[[derived]]\n'
           'name = "other"\nrule = "occurs"\nsource = "taken.lot"\nvalues = ["B"]\n'
           'claim = "sources withheld"'), ('"onset", "many"]', '"onset", "many", "other"]')],
         "schema: derived.other: many tells the same in other classes"),
        ([('optional = ["route"]', 'optional = ["drug"]')],
         "schema: tables.taken.optional: 'drug' is named twice"),
        ([('optional = ["route"]', 'optional = ["patient_id"]')],
         "schema: tables.taken.optional: 'patient_id' is an id"),
        ([('publish = ["ward", ', 'optional = ["ward"]\npublish = [')],
         "schema: tables.visit.optional: only child tables have optional columns"),
        ([('publish = ["finding"]', 'optional = ["finding"]')],
         "schema: tables.finding.optional: 'finding' is sensitive"),
    ],
)  # fmt: skip
def test_what_would_tell_more_than_it_claims_is_refused(
    tmp_path: Path, changes: list[tuple[str, str]], told: str
) -> None:
    assert refusal(tmp_path, *changes).startswith(told)


def test_every_class_of_a_category_is_a_node_of_its_hierarchy(tmp_path: Path) -> None:
    (tmp_path / "onset.csv").write_text("node,parent\nAny,\n0-6 days,Any\n7-29 days,Any\n")
    qid = '[[qid]]\nname = "o"\nkind = "categorical"\ncolumn = "onset"\nhierarchy = "onset.csv"\n'
    changes = [
        ('publish = ["ward", "onset", ', 'publish = ["ward", '),
        ("[[qid]]", qid + "[[qid]]"),
    ]
    assert refusal(tmp_path, *changes).startswith(
        "qid.o.hierarchy: no node 'before the start', which is a class of the derived column"
    )


def test_optional_columns_are_published_where_they_are_asked_for(tmp_path: Path) -> None:
    dataset = load(tmp_path)
    assert dataset.table("taken").publish == ("drug", "code")
    assert dataset.with_columns(["taken.route"]).table("taken").publish == ("drug", "code", "route")
    with pytest.raises(ValueError, match=r"'taken.begun' is no optional column of ward \(it has: "):
        dataset.with_columns(["taken.begun"])
    assert dataset.reads_as(load(tmp_path, ('optional = ["route"]\n', "")))
