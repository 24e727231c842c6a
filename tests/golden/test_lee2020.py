"""Lee 2020: Tables 5 to 8, with the draws that make them, and what the tables lose."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from srsql.engine.catalog.dimensions import Dimension
from srsql.engine.catalog.dimensions import Node as Value
from srsql.engine.lattice.cube import Node, cube_counts, load_cube
from srsql.engine.store.warehouse import Warehouse
from srsql.udfs.lattice_node import (
    SUPPRESSED,
    PerturbedCounts,
    ValueChoice,
    assemble,
    key_count,
    loss_of,
    remaining_counts,
    size_changes,
    suppressed_classes,
)

FOLDER = Path(__file__).parent / "lee2020"
Row = tuple[str, ...]


def _table(name: str) -> list[Row]:
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
        return [tuple(row.values()) for row in csv.DictReader(stream)]


def _number(name: str, position: int, low: int, high: int, width: int) -> Dimension:
    """Single values, one level of intervals, and ``*``."""
    count = high - low + 1
    starts = range(low, high + 1, width)
    nodes = [Value(1, value, value) for value in range(low, high + 1)] + [Value(1)]
    nodes += [Value(width, start, start + width - 1) for start in starts] + [Value(1), Value(count)]
    first = count + 1
    middle = [first + place // width for place in range(count)]
    top = (len(nodes) - 1,) * (count + 1)
    return Dimension(
        name,
        position,
        tuple((value, value) for value in range(low, high + 1)),
        (tuple(range(count + 1)), (*middle, first + len(starts)), top),
        tuple(nodes),
    )


AGE = _number("age", 0, 0, 99, 10)
ZIP = _number("zipcode", 2, 20000, 89999, 10000)
SEX = Dimension(
    "sex",
    1,
    ((1, 1), (2, 2)),
    ((0, 1, 2), (3, 3, 3)),
    (Value(1, label="M"), Value(1, label="F"), Value(1), Value(2)),
)
DIMENSIONS = (AGE, SEX, ZIP)


def _shown(node: int, dimension: Dimension) -> str:
    value = dimension.nodes[node]
    if value.label is not None:
        return value.label
    return "*" if value.low is None else f"[{value.low} - {value.high}]"


def _rows(node: Node, counts: Iterator[tuple[int, int, int]], names: list[str]) -> Counter[Row]:
    found: Counter[Row] = Counter()
    for owner, value, count in counts:
        shown = ("*",) * len(DIMENSIONS)
        if owner != SUPPRESSED:
            shown = tuple(map(_shown, node.nodes[owner].tolist(), DIMENSIONS))
        found[*shown, names[value]] += count
    return found


@pytest.fixture(scope="module")
def table5(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Node, list[str]]]:
    """Table 5 at the node <age 1, sex 0, zipcode 1>."""
    with Warehouse(tmp_path_factory.mktemp("lee") / "w.duckdb") as warehouse:
        rows = _table("table5_original")
        warehouse.run("CREATE TEMP TABLE srsql_grouped AS SELECT unnest(range(7)) AS case_no")
        warehouse.run(
            "CREATE TEMP TABLE srsql_box"
            " (case_no INTEGER, position INTEGER, low BIGINT, high BIGINT)"
        )
        warehouse.run(
            "CREATE TEMP TABLE srsql_held_value (case_no INTEGER, term VARCHAR, spelling VARCHAR)"
        )
        for case, (age, sex, place, disease) in enumerate(rows):
            ends = (int(age), "?MF".index(sex), int(place))
            for position, end in enumerate(ends):
                warehouse.run(
                    "INSERT INTO temp.main.srsql_box VALUES (?, ?, ?, ?)",
                    [case, position, end, end],
                )
            warehouse.run(
                "INSERT INTO temp.main.srsql_held_value VALUES (?, upper(?), ?)",
                [case, disease, disease],
            )
        load_cube(warehouse, DIMENSIONS, seed=1)
        names = warehouse.rows("SELECT spelling FROM temp.main.srsql_informative ORDER BY value")
        yield cube_counts(warehouse, DIMENSIONS, (1, 0, 1)), [row[0] for row in names]


def _entries(part: PerturbedCounts) -> Iterator[tuple[int, int, int]]:
    return zip(part.owner.tolist(), part.value.tolist(), part.count.tolist(), strict=True)


def _made(node: Node, gains: list[int], values: list[int]) -> PerturbedCounts:
    """Table 7 or 8 by fixed draws: t = 2, threshold noise 0, and these counterfeits."""
    counts = node.counts
    hidden = suppressed_classes(counts.sizes, 2, np.zeros(3, np.int64))
    changes = size_changes(counts.sizes, hidden, np.array(gains))
    assert key_count(counts, changes) == 0
    left = remaining_counts(counts, changes, np.zeros(0, np.uint64))
    which = np.repeat(np.arange(3), np.maximum(changes, 0))
    return assemble(counts, left, hidden, which, np.array(values, dtype=np.int64))


def test_the_cube_rolled_up_at_the_node_is_table_6(table5: tuple[Node, list[str]]) -> None:
    node, names = table5
    counts = node.counts
    entries = zip(counts.owner, counts.value, counts.count, strict=True)
    assert _rows(node, iter(entries), names) == Counter(_table("table6_generalized"))
    assert counts.sizes.tolist() == [3, 3, 1]


def test_without_noise_t_2_suppresses_as_table_7(table5: tuple[Node, list[str]]) -> None:
    node, names = table5
    made = _made(node, [0, 0, 0], [])
    assert _rows(node, _entries(made), names) == Counter(_table("table7_suppressed"))


def test_one_counterfeit_for_each_class_makes_table_8(table5: tuple[Node, list[str]]) -> None:
    node, names = table5
    choice = ValueChoice(node.counts, Fraction(3, 10))
    # the first point of each class draws the value its first entry has
    drawn = choice.values(np.array([0, 1]), np.array([0, 0]))
    assert [names[value] for value in drawn] == ["Gastritis", "Anemia"]
    made = _made(node, [1, 1, 5], drawn.tolist())
    assert _rows(node, _entries(made), names) == Counter(_table("table8_inserted"))
    assert made.counterfeits.tolist() == [1, 1, 0]


def test_the_scores_are_those_of_equation_3(table5: tuple[Node, list[str]]) -> None:
    node, names = table5
    choice = ValueChoice(node.counts, Fraction(3, 10))
    starts = node.counts.starts
    first = choice.held_weight[
        starts[0] : starts[1]
    ]  # Gastritis 1/4, Pneumonia 2/4; 3 others: 1/12
    assert choice.absent.tolist() == [3, 3, 4]
    ratios = np.log([first[1] / first[0], first[0] / choice.absent_weight[0]])
    assert ratios == pytest.approx([0.15 * (2 / 4 - 1 / 4), 0.15 * (1 / 4 - 1 / 12)])
    others = sorted(set(range(5)) - set(node.counts.value[: starts[1]].tolist()))
    base = int(first.sum())
    points = np.array([base + place * int(choice.absent_weight[0]) for place in range(3)])
    assert choice.values(np.zeros(3, np.int64), points).tolist() == others
    assert choice.totals[0] == base + 3 * choice.absent_weight[0]
    assert len(names) == 5


def test_what_table_8_loses_is_as_equations_5_to_10_say(table5: tuple[Node, list[str]]) -> None:
    node, names = table5
    made = _made(node, [1, 1, 0], [names.index("Gastritis"), names.index("Anemia")])
    loss = loss_of(node.counts, made, node.penalties(), len(DIMENSIONS))
    kept = 8 * (10 / 100 + 0 + 10000 / 70000)  # ages and zipcodes generalized, sex is a leaf
    assert loss.ncp_printed == pytest.approx((kept + 3) / 9)
    assert loss.ncp == pytest.approx((kept + 3) / 27)
    before = {"Gastritis": 1, "Pneumonia": 2, "Anemia": 2, "Diabetes": 1, "Stroke": 1}
    after = {"Gastritis": 2, "Pneumonia": 2, "Anemia": 3, "Diabetes": 1, "Stroke": 1}
    emd = sum(abs(before[name] / 7 - after[name] / 9) for name in before) / 2
    assert loss.emd_records == pytest.approx(emd)
    # 1 Gastritis, 2 Pneumonia become 2, 2; 2 Anemia, 1 Diabetes become 3, 1; Stroke is suppressed
    young = (abs(1 / 3 - 2 / 4) + abs(2 / 3 - 2 / 4)) / 2
    grown = (abs(2 / 3 - 3 / 4) + abs(1 / 3 - 1 / 4)) / 2
    assert (young, grown) == (pytest.approx(1 / 6), pytest.approx(1 / 12))
    # and is a class of its own, of one record as it was
    assert loss.emd == pytest.approx((young + grown + 0) / 3)
    assert loss.rate == pytest.approx((1 / 4 + 1 / 4 + 0) / 3)
    assert loss.il == pytest.approx(loss.ncp + loss.emd + loss.rate)
