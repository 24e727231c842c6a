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
    ],
)  # fmt: skip
def test_sets_that_protect_nothing_are_refused(
    tmp_path: Path, change: tuple[str, str], told: str
) -> None:
    with pytest.raises(SchemaError) as caught:
        load_dataset(write_sets(tmp_path, change))
    assert told in str(caught.value)
