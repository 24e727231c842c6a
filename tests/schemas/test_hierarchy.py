"""Hierarchies are numbered so that generalization is interval containment."""

from __future__ import annotations

import csv
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from oracles.examples import REPEATABLE
from oracles.trees import Tree, trees

from srsql.schemas import Hierarchy, load_dataset, load_hierarchy
from srsql.schemas.hierarchy import HierarchyError, build_hierarchy


@REPEATABLE
@given(trees())
def test_the_intervals_contain_each_other_exactly_along_the_paths(tree: Tree) -> None:
    found = build_hierarchy(tree.rows())
    assert set(found.labels) == set(tree.above)
    for node, label in enumerate(found.labels):
        for other, above in enumerate(found.labels):
            contains = other <= node and found.last[node] <= found.last[other]
            assert contains == (above in tree.path(label))


@REPEATABLE
@given(trees())
def test_ancestors_are_the_path_to_the_root_nearest_first(tree: Tree) -> None:
    found = build_hierarchy(tree.rows())
    for node, label in enumerate(found.labels):
        assert [found.labels[n] for n in found.ancestors(node)] == tree.path(label)
        assert found.depth[node] == len(tree.path(label)) - 1


@REPEATABLE
@given(trees())
def test_height_is_the_longest_way_down_and_leaves_are_counted(tree: Tree) -> None:
    found = build_hierarchy(tree.rows())
    for node, label in enumerate(found.labels):
        assert found.height[node] == tree.height(label)
        assert found.leaf_count[node] == len(tree.leaves(label))


@REPEATABLE
@given(trees())
def test_siblings_keep_the_order_of_the_file(tree: Tree) -> None:
    found = build_hierarchy(tree.rows())
    for label in tree.above:
        numbers = [found.number[child] for child in tree.below(label)]
        assert numbers == sorted(numbers)


def test_csv_and_toml_give_the_same_hierarchy(tmp_path: Path) -> None:
    (tmp_path / "ages.csv").write_text(
        "node,parent,low,high\nAny,,,\nChild,Any,0,17.5\nAdult,Any,18,120\n"
    )
    (tmp_path / "ages.toml").write_text(
        '[[nodes]]\nnode = "Any"\n'
        '[[nodes]]\nnode = "Child"\nparent = "Any"\nlow = 0\nhigh = 17.5\n'
        '[[nodes]]\nnode = "Adult"\nparent = "Any"\nlow = 18\nhigh = 120\n'
    )
    from_csv = load_hierarchy(tmp_path / "ages.csv")
    assert from_csv == load_hierarchy(tmp_path / "ages.toml")
    assert from_csv.high == (None, Decimal("17.5"), Decimal(120))


def test_labels_are_trimmed_and_a_byte_order_mark_is_no_part_of_them(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_bytes("\ufeffnode,parent\r\n Any ,\r\nM, Any\r\n".encode())
    assert load_hierarchy(tmp_path / "h.csv").labels == ("Any", "M")


def test_a_label_may_hold_anything_a_csv_field_can(tmp_path: Path) -> None:
    labels = ["Any", "a, b", 'say "x"', "x'; DROP TABLE t; --", "Übelkeit"]
    with (tmp_path / "h.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            [["node", "parent"], ["Any", ""], *([n, "Any"] for n in labels[1:])]
        )
    assert list(load_hierarchy(tmp_path / "h.csv").labels) == labels


@pytest.mark.parametrize("sign", ["\n", "\x1b", "\x7f", "\x9b", "\u2029"])
def test_a_label_with_a_control_character_is_refused_since_no_release_could_show_it(
    sign: str,
) -> None:
    with pytest.raises(HierarchyError, match="line end or another control character: remove it"):
        build_hierarchy([{"node": "Any"}, {"node": f"a{sign}b", "parent": "Any"}])


def test_a_chain_of_ten_thousand_nodes_is_numbered() -> None:
    """Deeper than Python recurses."""
    rows = [{"node": f"n{i}", "parent": f"n{i - 1}" if i else ""} for i in range(10_000)]
    found = build_hierarchy(rows)
    assert found.height[0] == found.depth[-1] == 9_999
    assert set(found.last) == {9_999}


def paths(tree: Hierarchy) -> dict[str, list[str]]:
    return {n: [tree.labels[a] for a in tree.ancestors(i)] for i, n in enumerate(tree.labels)}


def test_the_age_groups_meet_where_lin_2016_says() -> None:
    """Young Adult and Adult are both grown-ups; Adolescent and Young Adult share only the root."""
    tree = load_hierarchy(Path(__file__).parents[2] / "schemas" / "hierarchies" / "age_groups.csv")
    above = paths(tree)

    def meeting(one: str, other: str) -> int:
        return tree.height[tree.number[next(n for n in above[one] if n in above[other])]]

    assert meeting("Young Adult", "Adult") < meeting("Adolescent", "Young Adult")
    assert meeting("Adolescent", "Young Adult") == tree.height[0]


def test_every_us_state_of_vaers_is_a_leaf_under_one_root() -> None:
    tree = load_dataset("vaers").hierarchies["state"]
    leaves = [label for node, label in enumerate(tree.labels) if tree.height[node] == 0]
    assert {"CA", "NY", "PR", "Foreign"} <= set(leaves)
    assert tree.leaf_count[0] == len(leaves)


def test_lines_that_are_shorter_than_the_header_have_blanks_behind_them(tmp_path: Path) -> None:
    text = "parent,node,low,high\n,Any\nAny,Child,0,17\n\nAny,Adult,18,120,more\n"
    (tmp_path / "h.csv").write_text(text)
    tree = load_hierarchy(tmp_path / "h.csv")
    assert (tree.labels, tree.parent) == (("Any", "Child", "Adult"), (-1, 0, 0))
    assert tree.low == (None, Decimal(0), Decimal(18))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "0 nodes have no parent"),
        ("label,parent\nAny,\n", "a row has no node label"),
        ("node,parent\nAny,\nA,Any\nA ,Any\n", "node 'A' is listed twice"),
        ("node,parent\nAny,\nA,B\n", "parent 'B' is not a node"),
        ("node,parent\nAny,\nA,B\nB,A\n", "node 'A' is not reachable from the root"),
        ("node,parent,low\nAny,,\nA,Any,1\n", "node 'A' has a range that is not two numbers"),
        ("node,parent,low,high\nAny,,0,9\nA,Any,0,9\n", "inner node 'Any' has a range"),
        ("node,parent,low,high\nAny,,,\nA,Any,9,0\n", "node 'A' has low above high"),
    ],
)
def test_what_is_no_tree_is_named(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "h.csv").write_text(text)
    with pytest.raises(HierarchyError, match=told):
        load_hierarchy(tmp_path / "h.csv")
