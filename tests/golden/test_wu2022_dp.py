"""Wu 2022, Examples 1 and 2: virtual merging, and the exponential mechanism with its errata."""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np
import pytest
from oracles import dp
from oracles.trees import Tree

import srsql
from srsql.schemas.hierarchy import Hierarchy, build_hierarchy
from srsql.udfs.choice import Tree as Paths
from srsql.udfs.choice import choice_of

GOLDEN = Path(__file__).parent / "wu2022"
AGES = Path(__file__).parents[2] / "schemas" / "hierarchies" / "age_groups.csv"


def table(name: str) -> list[dict[str, str]]:
    with (GOLDEN / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    opened = duckdb.connect()
    srsql.install(opened)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def ages() -> Hierarchy:
    with AGES.open(encoding="utf-8", newline="") as stream:
        return build_hierarchy(list(csv.DictReader(stream)))


def test_example_1_groups_of_equal_virtual_categories_are_one(
    con: duckdb.DuckDBPyConnection, ages: Hierarchy
) -> None:
    sexes = build_hierarchy(
        [{"node": "Any", "parent": ""}, *({"node": s, "parent": "Any"} for s in ("Male", "Female"))]
    )
    rows = table("groups_table2.csv")
    con.execute("CREATE TEMP TABLE grouped (case_no INTEGER, group_no INTEGER, pattern INTEGER)")
    con.execute(
        "CREATE TEMP TABLE ends (group_no INTEGER, position INTEGER, low BIGINT, high BIGINT)"
    )
    con.execute("CREATE TEMP TABLE nodes (position INTEGER, pre BIGINT, last BIGINT)")
    for position, tree in enumerate((sexes, ages)):
        con.executemany(
            "INSERT INTO nodes VALUES (?, ?, ?)",
            [(position, pre, last) for pre, last in enumerate(tree.last)],
        )
    hulls: dict[tuple[int, int], list[int]] = defaultdict(list)
    for case_no, row in enumerate(rows):
        group = int(row["group_id"]) - 1
        con.execute("INSERT INTO grouped VALUES (?, ?, 7)", [case_no, group])
        hulls[group, 0].append(sexes.number[row["sex"]])
        hulls[group, 1].append(ages.number[row["age_group"]])
    for (group, position), found in hulls.items():
        last = (sexes, ages)[position].last
        con.execute(
            "INSERT INTO ends VALUES (?, ?, ?, ?)",
            [group, position, min(found), max(last[node] for node in found)],
        )
    con.execute(
        "CREATE TEMP TABLE covering AS "
        "SELECT e.* FROM srsql.enclosing_node('temp.main.ends', 'temp.main.nodes') AS e"
    )
    assert con.execute(
        "SELECT m.group_no, m.merged_no "
        "FROM srsql.merged_groups('temp.main.grouped', 'temp.main.covering') AS m ORDER BY 1"
    ).fetchall() == [(0, 0), (1, 0)]


def test_example_2_scores_and_sensitivity_as_defined(ages: Hierarchy) -> None:
    dom = sorted({ages.number[row["age_group"]] for row in table("group_table3.csv")})
    assert [ages.labels[node] for node in dom] == ["Child", "In-school", "Adolescent"]
    choice = choice_of(Paths(np.array(ages.parent)), dom, "paper")
    assert {ages.labels[node] for node in choice.candidates} == {
        "Child", "In-school", "Adolescent", "Non-adult",
    }  # fmt: skip
    scores = dict(zip((ages.labels[n] for n in choice.candidates), choice.scores, strict=True))
    assert scores["Child"] == pytest.approx(0 + 1 / 3 + 2 / 3)  # the paper prints 1.5
    assert choice.sensitivity == 0.75  # the paper prints 0.25, from a minimum without u = v


def test_example_2_by_the_oracle(ages: Hierarchy) -> None:
    tree = Tree(
        {
            label: ages.labels[ages.parent[node]] if node else ""
            for node, label in enumerate(ages.labels)
        }
    )
    dom = ["Child", "In-school", "Adolescent"]
    assert dp.score(tree, dom, "Child") == 1
    assert dp.sensitivity(tree, dom) == Fraction(3, 4)
    chances = dp.paper_chances(tree, dom, Fraction(1, 10))
    assert chances["Child"] / chances["In-school"] == pytest.approx(
        math.exp(-0.1 * (1.0 - (1 / 3 + 0.75)) / 1.5)
    )
