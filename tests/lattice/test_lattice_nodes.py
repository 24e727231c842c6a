"""The levels of dimensions, and what SQL makes of the cube at every node, against plain Python."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from oracles.lattice import smallest

from srsql.engine.api.engine import Engine
from srsql.engine.catalog.dimensions import Dimension, Node, dimensions_of
from srsql.engine.errors import ReleaseError
from srsql.engine.lattice.cube import cube_counts, lattice, load_cube, smallest_class
from srsql.schemas import Dataset, load_dataset


@pytest.fixture(scope="module")
def faers() -> Dataset:
    return load_dataset("faers").with_categories()


def _value(node: Node) -> tuple[object, ...]:
    return node.leaves, node.low, node.high, node.label


def test_a_number_with_groups_is_cut_at_the_depths_of_their_tree(faers: Dataset) -> None:
    (age,) = dimensions_of(faers, ["age"])
    assert age.top == 3
    shown = [[_value(age.nodes[n])[1:3] for n in dict.fromkeys(level)] for level in age.maps]
    assert shown[0][:4] == [(0, 1), (2, 5), (6, 12), (13, 18)]
    assert shown[1][:4] == [(0, 1), (2, 12), (13, 18), (19, 24)]  # Infant has no finer cut
    assert shown[2] == [(0, 18), (19, 120), (None, None)]
    assert shown[3] == [(None, None)]
    assert age.penalties()[list(age.maps[3])].tolist() == [1.0] * (len(age.ends) + 1)
    assert age.penalties()[list(age.maps[0])].tolist() == [0.0] * (len(age.ends) + 1)


def test_a_number_without_groups_has_intervals_that_double(faers: Dataset) -> None:
    (weight,) = dimensions_of(faers, ["wt"])
    widths = [weight.nodes[level[57]] for level in weight.maps]
    assert [(n.low, n.high) for n in widths] == [
        (57, 57), (55, 59), (50, 59), (40, 59), (40, 79), (0, 79), (0, 159), (0, 319), (None, None)
    ]  # fmt: skip
    assert _value(weight.nodes[weight.maps[2][400]]) == (1, 400, 400, None)  # cut at the domain


def test_every_level_is_a_coarsening_of_the_one_below(faers: Dataset) -> None:
    for dimension in dimensions_of(faers, []):
        for fine, coarse in zip(dimension.maps, dimension.maps[1:], strict=False):
            pairs = set(zip(fine, coarse, strict=True))
            assert len(pairs) == len(set(fine))


def test_an_unknown_dimension_is_refused_by_name(faers: Dataset) -> None:
    with pytest.raises(ReleaseError, match="height: faers has the quasi-identifiers age, wt, sex"):
        dimensions_of(faers, ["height"])


def _small() -> tuple[Dimension, ...]:
    first = Dimension(
        "a", 0, ((0, 0), (1, 1), (2, 2)),
        ((0, 1, 2, 3), (4, 4, 5, 6), (7, 7, 7, 7)), tuple(Node(1) for _ in range(8)),
    )  # fmt: skip
    second = Dimension(
        "b", 2, ((5, 6), (7, 7)), ((0, 1, 2), (3, 3, 3)), tuple(Node(1) for _ in range(4))
    )
    return first, second


def test_every_node_has_the_counts_of_the_records_generalized_one_by_one(tmp_path: Path) -> None:
    rng = random.Random(11)
    dimensions = _small()
    rows = [(rng.randint(0, 3), rng.randint(0, 2), rng.choice("pqr")) for _ in range(40)]
    with Engine(tmp_path / "w.duckdb") as engine:
        warehouse = engine.warehouse
        warehouse.run("CREATE TEMP TABLE srsql_grouped AS SELECT unnest(range(40)) AS case_no")
        warehouse.run(
            "CREATE TEMP TABLE srsql_box (case_no INT, position INT, low BIGINT, high BIGINT)"
        )
        warehouse.run("CREATE TEMP TABLE srsql_held_value (case_no INT, term TEXT, spelling TEXT)")
        for case, (a, b, term) in enumerate(rows):
            ends = {0: (a, a) if a < 3 else (0, 2), 2: [(5, 6), (7, 7), (5, 7)][b], 1: (1, 1)}
            for position, (low, high) in ends.items():
                if low != 0 or high != 2 or case % 2:  # else the row is missing altogether
                    warehouse.run(
                        "INSERT INTO srsql_box VALUES (?, ?, ?, ?)", [case, position, low, high]
                    )
            warehouse.run("INSERT INTO srsql_held_value VALUES (?, ?, ?)", [case, term, term])
        load_cube(warehouse, dimensions, seed=None)
        for levels in lattice(dimensions):
            node = cube_counts(warehouse, dimensions, levels)
            found = Counter()
            for o, v, n in zip(node.counts.owner, node.counts.value, node.counts.count,
                               strict=True):  # fmt: skip
                found[*node.nodes[o].tolist(), int(v)] = int(n)
            due = Counter(
                (dimensions[0].maps[levels[0]][a], dimensions[1].maps[levels[1]][b], "pqr".index(t))
                for a, b, t in rows
            )
            assert found == due
            least = smallest([row[:2] for row in rows], [d.maps for d in dimensions], levels)
            assert smallest_class(warehouse, dimensions, levels) == least
