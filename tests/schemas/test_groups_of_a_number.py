"""Groups of a number: a tree over ranges that the models with noise take it as."""

from __future__ import annotations

from pathlib import Path

import pytest

from srsql.engine.catalog.datasets import register_dataset, registered_dataset
from srsql.engine.errors import DatasetError
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, SchemaError, load_dataset, parse_dataset

TREE = "node,parent,low,high\nAny,,,\nYoung,Any,0,17\nOld,Any,18,120\n"


def parsed(folder: Path, tree: str = TREE, **lines: str) -> Dataset:
    """The shipped schema with a tree of its own for age."""
    (folder / "ages.csv").write_text(tree)
    text = load_dataset("faers").text.replace("hierarchies/age_groups.csv", "ages.csv")
    for old, new in lines.items():
        text = text.replace(*{"domain": ("domain = [0, 120]", new)}[old])
    return parse_dataset(text, folder)


def test_a_number_with_groups_becomes_a_category_of_ranges(tmp_path: Path) -> None:
    dataset = parsed(tmp_path)
    age = dataset.with_categories().qid[0]
    assert (dataset.qid[0].kind, age.kind, age.ranged, age.bounded) == (
        "numeric", "categorical", True, True,
    )  # fmt: skip
    assert [tuple(map(int, ends)) for ends in dataset.groups["age"].ranges] == [
        (0, 120), (0, 17), (18, 120),
    ]  # fmt: skip
    assert dataset.fingerprint == dataset.with_categories().fingerprint


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ("node,parent,low,high\nAny,,,\nYoung,Any,0,17\nOld,Any,19,120\n", "begins at 19"),
        ("node,parent,low,high\nAny,,,\nYoung,Any,0,17\nOld,Any,17,120\n", "begins at 17"),
        ("node,parent,low,high\nAny,,,\nYoung,Any,0,17\nOld,Any,18,99\n", "ends at 99"),
        ("node,parent,low,high\nAny,,,\nOld,Any,18,120\nYoung,Any,0,17\n", "begins at 18"),
        ("node,parent,low,high\nAny,,,\nYoung,Any,0,17.5\nOld,Any,18.5,120\n", "multiple of 1"),
        ("node,parent,low,high\nAny,,,\nYoung,Any,,\nOld,Any,0,120\n", "has no range"),
        (TREE.replace("Old,Any,18,120", "Old,Any,,\nAged,Old,18,120"), "only child"),
    ],
)
def test_leaves_that_do_not_tile_the_domain_are_refused(
    tmp_path: Path, tree: str, message: str
) -> None:
    with pytest.raises(SchemaError, match=message):
        parsed(tmp_path, tree)


def test_groups_need_a_declared_domain(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="declared domain"):
        parsed(tmp_path, domain='domain = "observed"')


def test_groups_may_be_added_to_a_dataset_with_data_but_not_changed(tmp_path: Path) -> None:
    new = parsed(tmp_path)
    text = "\n".join(line for line in new.text.splitlines() if not line.startswith("groups"))
    bare = parse_dataset(text, tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    changed = parsed(other, TREE.replace("17", "19").replace("18", "20"))
    with Warehouse(tmp_path / "w.duckdb") as warehouse:
        with warehouse.transaction():
            register_dataset(warehouse, bare, "faers")
            warehouse.run(
                "INSERT INTO srsql.ingestion VALUES (1, 'faers', '2011Q4', '', '', '', false)"
            )
        with warehouse.transaction():
            register_dataset(warehouse, new, "faers")
        stored = registered_dataset(warehouse, "faers")
        assert (stored.groups, stored.fingerprint) == (new.groups, new.fingerprint)
        for refused in (changed, bare):
            with pytest.raises(DatasetError, match="another schema"), warehouse.transaction():
                register_dataset(warehouse, refused, "faers")
