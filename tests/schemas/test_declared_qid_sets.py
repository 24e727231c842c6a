"""Sets of quasi-identifiers as a dataset declares them."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.sets import write_sets

from srsql.schemas import SchemaError, load_dataset

ANOTHER = '[[qid_set]]\nname = "{}"\nqids = [{}]\n\n[[sensitive]]'


def test_sets_have_positions_and_a_dataset_of_their_own(tmp_path: Path) -> None:
    dataset = load_dataset(write_sets(tmp_path))
    assert dataset.set_positions == {"clinic": (0, 1, 2), "work": (0, 3, 4)}
    assert [qid.name for qid in dataset.of_set("work").qid] == ["age", "country", "job"]
    assert dataset.sets_text == "clinic: age, sex, wt; work: country, job, age"
    assert dataset.reads_as(load_dataset(write_sets(tmp_path)))
    other = load_dataset(write_sets(tmp_path, ('"job", "age"]', '"job", "age", "sex"]')))
    assert not dataset.reads_as(other)


def test_two_periods_of_one_date_are_in_the_same_sets(tmp_path: Path) -> None:
    made = "".join(
        f'[[derived]]\nname = "{name}"\nrule = "period"\nsource = "visit.seen"\nstep = "{step}"\n'
        'claim = "sources withheld"\n\n'
        for name, step in (("year_seen", "year"), ("quarter_seen", "quarter"))
    )
    changes = (
        ('"country", "job"]\n\n[tables.finding]', '"country", "job", "seen"]\n\n[tables.finding]'),
        (
            '[[qid]]\nname = "age"\nkind = "numeric"\ncolumn = "age"\ndomain = [0, 120]',
            made + '[[qid]]\nname = "age"\nkind = "numeric"\ncolumn = "age"\ndomain = [0, 120]\n\n'
            '[[qid]]\nname = "year"\nkind = "numeric"\ncolumn = "year_seen"\ndomain = [2000, 2030]',
        ),
        ('column = "job"\nhierarchy = "job.csv"', 'column = "quarter_seen"\nhierarchy = "job.csv"'),
        ('qids = ["age", "sex", "wt"]', 'qids = ["age", "sex", "wt", "year"]'),
    )
    with pytest.raises(SchemaError, match="year and job are made from one column"):
        load_dataset(write_sets(tmp_path, *changes))
    both = ('"job", "age"]', '"job", "age", "year"]')
    one = ('qids = ["age", "sex", "wt", "year"]', 'qids = ["age", "sex", "wt"]')
    assert load_dataset(write_sets(tmp_path, *changes, one, both)).qid_set


def test_a_column_that_tells_a_unit_tells_of_what_it_measures(tmp_path: Path) -> None:
    """Whoever knows an age in months knows what its unit is, which another set must not show."""
    units = 'column = "age"\nunit_column = "job"\nunits = {MD = 1, PH = 1, CN = 1}\n'
    with pytest.raises(SchemaError, match="wt and job are made from one column"):
        load_dataset(write_sets(tmp_path, ('column = "wt"\n', units.replace('"age"', '"wt"'))))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (('qids = ["age", "sex", "wt"]', 'qids = ["age", "sex"]'), "'wt' is in no set"),
        (('qids = ["age", "sex", "wt"]', 'qids = ["age", "sex", "weight"]'),
         "qid_set.clinic: 'weight' is no quasi-identifier"),
        (('qids = ["age", "sex", "wt"]', 'qids = ["age", "sex", "wt", "wt"]'),
         "qid_set.clinic: a quasi-identifier is named twice"),
        (('name = "work"', 'name = "clinic"'), "two sets have the same name"),
        (("[[sensitive]]", ANOTHER.format("third", '"age", "job"')),
         "qid_set.third: all of it is in work"),
        (('[[qid_set]]\nname = "work"\nqids = ["country", "job", "age"]', ""), "one set alone"),
        (('qids = ["age", "sex", "wt"]', 'qids = []'), "qid_set.0.qids"),
        (('qids = ["age", "sex", "wt"]', 'knows = ["age"]'), "qid_set.0"),
        (('[[qid]]\nname = "sex"\nkind = "categorical"\ncolumn = "sex"',
          '[[qid]]\nname = "sex"\nkind = "categorical"\ncolumn = "job"'),
         "qid_set.clinic: sex and job are made from one column"),
    ],
)  # fmt: skip
def test_sets_that_protect_nothing_are_refused(
    tmp_path: Path, change: tuple[str, str], told: str
) -> None:
    with pytest.raises(SchemaError) as caught:
        load_dataset(write_sets(tmp_path, change))
    assert told in str(caught.value)
