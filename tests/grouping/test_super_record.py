"""Super-records: hulls, ancestors, known QIDs and what drugs suggest."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from oracles.examples import REPEATABLE
from oracles.ms import inferred
from oracles.trees import Tree, trees

from srsql.schemas.hierarchy import build_hierarchy
from srsql.udfs.limits import WEIGHT_SCALES as SCALES

BOXES = "case_no INTEGER, position INTEGER, low BIGINT, high BIGINT"
Interval = tuple[int | None, int | None]

known = st.tuples(st.integers(0, 20), st.integers(0, 20)).map(lambda p: (min(p), max(p)))
interval = st.one_of(st.just((None, None)), known)


def super_record(sql: Any, boxes: list[tuple[Any, ...]]) -> dict[tuple[int, int], Interval]:
    name = sql.table("report_box", BOXES, boxes)
    return {row[:2]: row[2:] for row in sql.rows(f"FROM srsql.super_record({name})")}


@REPEATABLE
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), interval), max_size=20))
def test_a_super_record_spans_exactly_the_known_values_of_its_reports(
    sql: Any, reports: list[tuple[int, int, Interval]]
) -> None:
    expected: dict[tuple[int, int], Interval] = {}
    for case, position, _ in reports:
        values = [v for c, p, v in reports if (c, p) == (case, position) and v[0] is not None]
        lows, highs = [v[0] for v in values], [v[1] for v in values]
        expected[case, position] = (min(lows), max(highs)) if values else (None, None)
    assert super_record(sql, [(c, p, *v) for c, p, v in reports]) == expected


def test_a_value_that_one_report_knows_is_not_missing(sql: Any) -> None:
    boxes = [(7, 0, None, None), (7, 0, 37, 37), (7, 0, 39, 39), (7, 1, None, None)]
    assert super_record(sql, boxes) == {(7, 0): (37, 39), (7, 1): (None, None)}


@REPEATABLE
@given(st.data())
def test_the_enclosing_node_of_any_values_is_their_lowest_common_ancestor(
    sql: Any, data: st.DataObject
) -> None:
    forest = data.draw(st.lists(trees(), min_size=1, max_size=2))
    hierarchies = [build_hierarchy(tree.rows()) for tree in forest]
    boxes: list[tuple[int, int, int | None, int | None]] = []
    expected: dict[tuple[int, int], Interval] = {}
    for case in range(data.draw(st.integers(1, 6))):
        for position, (tree, numbered) in enumerate(zip(forest, hierarchies, strict=True)):
            labels = data.draw(st.lists(st.sampled_from(sorted(tree.above)), max_size=4))
            nodes = [numbered.number[label] for label in labels]
            hull = (
                (min(nodes), max(numbered.last[node] for node in nodes)) if nodes else (None, None)
            )
            boxes.append((case, position, *hull))
            expected[case, position] = _interval(tree, labels) if labels else (None, None)
    nodes_of = sql.table(
        "node",
        "position INTEGER, node VARCHAR, pre BIGINT, last BIGINT",
        [
            (position, label, number, numbered.last[number])
            for position, numbered in enumerate(hierarchies)
            for number, label in enumerate(numbered.labels)
        ],
    )
    hulls = sql.table("hull", BOXES, boxes)
    found = sql.rows(f"FROM srsql.enclosing_node({hulls}, {nodes_of})")
    assert {row[:2]: row[2:] for row in found} == expected
    assert len(found) == len(boxes)


def _interval(tree: Tree, labels: list[str]) -> Interval:
    """Preorder numbers under the lowest common ancestor, children in the order of the rows."""
    order: list[str] = []

    def visit(node: str) -> None:
        order.append(node)
        for child in tree.below(node):
            visit(child)

    visit(tree.root)
    top = tree.meeting(labels)
    return order.index(top), max(i for i, node in enumerate(order) if top in tree.path(node))


def test_numeric_intervals_are_not_widened_to_nodes_of_another_attribute(sql: Any) -> None:
    hulls = sql.table("hull", BOXES, [(0, 0, 1, 2), (0, 1, 1, 2)])
    nodes = sql.table(
        "node",
        "position INTEGER, node VARCHAR, pre BIGINT, last BIGINT",
        [(1, "Any", 0, 2), (1, "M", 1, 1), (1, "F", 2, 2)],
    )
    found = sql.rows(f"FROM srsql.enclosing_node({hulls}, {nodes}) ORDER BY position")
    assert found == [(0, 0, 1, 2), (0, 1, 0, 2)]


@REPEATABLE
@given(st.dictionaries(st.integers(0, 5), st.lists(interval, min_size=3, max_size=3)))
def test_known_qids_has_the_bit_of_a_position_exactly_where_it_is_known(
    sql: Any, cases: dict[int, list[Interval]]
) -> None:
    rows = [(c, p, *box) for c, boxes in cases.items() for p, box in enumerate(boxes)]
    name = sql.table("box", BOXES, rows)
    found = dict(sql.rows(f"FROM srsql.known_qids({name})"))
    assert {
        case: {position for position in range(3) if mask >> position & 1}
        for case, mask in found.items()
    } == {
        case: {position for position, box in enumerate(boxes) if box[0] is not None}
        for case, boxes in cases.items()
    }


@REPEATABLE
@given(st.lists(st.tuples(st.integers(0, 7), st.sampled_from(["", "g0", "g1", "want", "other"]))))
def test_refined_are_cases_with_a_group_and_those_that_have_none_for_want_of_one(
    sql: Any, cases: list[tuple[int, str]]
) -> None:
    """``""``: neither grouped nor withheld, as cases are that are left out of a release."""
    roles = [(c, known, c % 2 == 0, c % 3) for c, (known, _) in enumerate(cases)]
    grouped = [(c, int(at[1])) for c, (_, at) in enumerate(cases) if at.startswith("g")]
    withheld = [(c, at) for c, (_, at) in enumerate(cases) if at in ("want", "other")]
    made = [
        sql.table("role", "case_no INTEGER, known INTEGER, carrier BOOLEAN, kind INTEGER", roles),
        sql.table("grouped", "case_no INTEGER, group_no INTEGER", grouped),
        sql.table("withheld", "case_no INTEGER, reason VARCHAR", withheld),
    ]
    found = sql.rows(f"FROM srsql.cases_to_refine({', '.join(made)}, ?) ORDER BY 1", [["want"]])
    assert found == [
        (c, known, c % 2 == 0, c % 3, int(at[1]) if at.startswith("g") else -1)
        for c, (known, at) in enumerate(cases)
        if at in ("g0", "g1", "want")
    ]


def infer(
    sql: Any, drugs: dict[int, set[str]], knowledge: dict[str, list[str]], unit: int
) -> dict[tuple[int, str], int]:
    taken = sql.table(
        "case_drug",
        "case_no INTEGER, drug VARCHAR",
        [(c, d) for c, ds in drugs.items() for d in ds],
    )
    pairs = sql.table(
        "knowledge",
        "drug VARCHAR, disease VARCHAR, diseases BIGINT",
        [
            (d, disease, len(suggested))
            for d, suggested in knowledge.items()
            for disease in suggested
        ],
    )
    found = sql.rows(f"FROM srsql.inferred_terms({taken}, {pairs}, {unit})")
    assert len({row[:2] for row in found}) == len(found)
    return {row[:2]: row[2] for row in found}


drug_names = st.sampled_from("ABCDE")
disease_lists = st.lists(st.sampled_from("stuvwxyz"), min_size=1, max_size=6, unique=True)


@REPEATABLE
@given(
    drugs=st.dictionaries(st.integers(0, 4), st.sets(drug_names, max_size=5), max_size=5),
    knowledge=st.dictionaries(drug_names, disease_lists, max_size=4),
    unit=st.sampled_from([1, 2, 7, 1000, *SCALES]),
)
def test_inferred_weights_are_definition_1_in_units_rounded_up(
    sql: Any, drugs: dict[int, set[str]], knowledge: dict[str, list[str]], unit: int
) -> None:
    assert infer(sql, drugs, knowledge, unit) == {
        (case, disease): ceil(probability * unit)
        for case, taken in drugs.items()
        for disease, probability in inferred(taken, knowledge).items()
    }


@REPEATABLE
@given(
    knowledge=st.lists(
        st.tuples(st.sampled_from(["A", "a", "A.", "B", "b"]), st.sampled_from("stuv")), unique=True
    )
)
def test_of_a_united_drug_the_spelling_that_suggests_the_fewest_diseases_counts(
    sql: Any, knowledge: list[tuple[str, str]]
) -> None:
    """p(r, s) is the greatest over the spellings of a drug, whose diseases are not thrown together:
    E = {x} and {y} of two spellings would else make each of them half as likely."""
    sql.rows("DELETE FROM srsql.external_knowledge")
    for drug, disease in knowledge:
        row = [7, drug, disease, drug[0].lower(), disease]
        names = "release_id, drug, disease, drug_key, disease_key"
        sql.rows(f"INSERT INTO srsql.external_knowledge ({names}) VALUES (?, ?, ?, ?, ?)", row)
    listed: dict[str, set[str]] = {}
    for drug, disease in knowledge:
        listed.setdefault(drug, set()).add(disease)
    due: dict[tuple[str, str], int] = {}
    for drug, diseases in listed.items():
        for disease in diseases:
            key = drug[0].lower(), disease
            due[key] = min(due.get(key, len(diseases)), len(diseases))
    found = {(drug, disease): n for drug, disease, n in sql.rows("FROM srsql.known_diseases(7)")}
    sql.rows("DELETE FROM srsql.external_knowledge")
    assert found == due


def test_two_drugs_for_the_same_disease_make_it_likelier_than_one(sql: Any) -> None:
    knowledge = {"A": ["s", "t"], "B": ["s", "u", "v"], "C": ["s"]}
    found = infer(sql, {0: {"A"}, 1: {"A", "B"}, 2: {"A", "C"}}, knowledge, 6)
    assert [Fraction(found[case, "s"], 6) for case in range(3)] == [
        Fraction(1, 2), Fraction(2, 3), Fraction(1),
    ]  # fmt: skip


def test_products_of_unequal_breadths_do_not_depend_on_the_order_of_drugs(sql: Any) -> None:
    breadths: Callable[[int], list[str]] = lambda n: [f"s{i}" for i in range(n)]  # noqa: E731
    knowledge = {"A": breadths(3), "B": breadths(7), "C": breadths(11)}
    same = {0: {"A", "B", "C"}, 1: {"C", "B", "A"}}
    found = infer(sql, same, knowledge, SCALES[0])
    assert (
        found[0, "s0"] == found[1, "s0"] == ceil((1 - Fraction(2 * 6 * 10, 3 * 7 * 11)) * SCALES[0])
    )
