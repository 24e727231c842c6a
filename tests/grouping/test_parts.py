"""What a pattern is cut into, what goes to whoever carries a part, who may join whom at last."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.examples import REPEATABLE

from srsql.engine.errors import ReleaseError
from srsql.engine.models import make_model

Interval = tuple[int, int] | None
MemberRow = tuple[int, int, bool, tuple[Interval, ...]]
"""Case, pattern, carrier and boxes."""


def cut(
    rows: Sequence[MemberRow], spans: Sequence[int], chosen: int, most: int | None, least: int
) -> dict[int, int]:
    """The parts in plain Python, from the words of the rule."""
    here = [row for row in rows if row[1] == chosen]
    known = [p for p in range(len(spans)) if chosen >> p & 1]
    if not here or not known:
        return {}

    def fewest(positions: list[int]) -> int | None:
        values = {p: len({row[3][p][0] for row in here if row[3][p]}) for p in positions}
        return min(positions, key=lambda p: (values[p], p), default=None)

    category = fewest([p for p in known if spans[p] == 0])
    number = fewest([p for p in known if spans[p] > 0])

    def node(row: MemberRow) -> int:
        box = None if category is None else row[3][category]
        return -1 if box is None else box[0]

    def place(row: MemberRow) -> int:
        box = None if number is None else row[3][number]
        return 0 if box is None else box[0] + box[1]

    carriers = Counter[int]()
    for row in here:
        carriers[node(row)] += row[2]
    frequent = sorted(v for v in carriers if v >= 0 and carriers[v] >= least)
    few = sum(n for v, n in carriers.items() if v not in frequent)
    others = -1
    if frequent and few < least:
        others = min(frequent, key=lambda v: (carriers[v], v))
    section = {row[0]: node(row) if node(row) in frequent else others for row in here}
    if most is not None and len(set(section.values())) > most:
        section = dict.fromkeys(section, -1)
    size = least if most is None else max(least, -(-sum(row[2] for row in here) // most))
    found = {}
    for row in here:
        beside = [other for other in here if section[other[0]] == section[row[0]]]
        total = sum(other[2] for other in beside)
        ranges = max(1, total // size)
        below = sum(other[2] for other in beside if place(other) < place(row))
        found[row[0]] = (section[row[0]], min(ranges - 1, below * ranges // total) if total else 0)
    order = sorted(set(found.values()))
    return {case: order.index(key) for case, key in found.items()}


def interval(high: int) -> st.SearchStrategy[tuple[int, int]]:
    return st.tuples(st.integers(0, high), st.integers(0, high)).map(lambda p: (min(p), max(p)))


@st.composite
def cuttings(draw: st.DrawFn) -> tuple[list[MemberRow], list[int]]:
    spans = draw(st.lists(st.sampled_from([0, 0, 9, 120]), min_size=1, max_size=3))
    rows = []
    for case in range(draw(st.integers(0, 25))):
        pattern = draw(st.sampled_from([2 ** len(spans) - 1, 2 ** len(spans) - 1, 1, 0]))
        boxes = tuple(
            draw(interval(spans[p] or 3)) if pattern >> p & 1 else None for p in range(len(spans))
        )
        rows.append((case, pattern, draw(st.booleans()), boxes))
    return rows, spans


def tables(sql: Any, rows: Sequence[MemberRow], spans: Sequence[int]) -> tuple[str, str, str]:
    profiles = sql.table(
        "profile",
        "case_no INTEGER, pattern INTEGER, carrier BOOLEAN, kind INTEGER",
        [(*row[:3], 0) for row in rows][::-1],
    )
    boxes = sql.table(
        "box",
        "case_no INTEGER, position INTEGER, low BIGINT, high BIGINT",
        [(row[0], p, *(box or (None, None))) for row in rows for p, box in enumerate(row[3])][::-1],
    )
    attributes = sql.table(
        "attribute",
        "position INTEGER, span BIGINT, parent BIGINT[], last BIGINT[], height BIGINT[]",
        [(p, span, [], [], []) for p, span in enumerate(spans)],
    )
    return profiles, boxes, attributes


@pytest.mark.slow
@REPEATABLE
@given(
    world=cuttings(), most=st.sampled_from([None, 1, 2, 3, 5]), least=st.sampled_from([1, 2, 4, 30])
)
def test_a_pattern_is_cut_as_the_rule_says(
    sql: Any, world: tuple[list[MemberRow], list[int]], most: int | None, least: int
) -> None:
    rows, spans = world
    profiles, boxes, attributes = tables(sql, rows, spans)
    for chosen in {row[1] for row in rows}:
        found = dict(
            sql.rows(
                f"FROM srsql.parts_of({profiles}, {boxes}, {attributes}, ?, ?::INTEGER, ?)",
                [chosen, most, least],
            )
        )
        assert found == cut(rows, spans, chosen, most, least)
        assert len(set(found.values())) <= (most or len(rows))


def test_a_category_is_cut_before_a_number_and_equal_values_stay_together(sql: Any) -> None:
    people = [(case, 3, True, ((case % 2, case % 2), (case // 8, case // 8))) for case in range(80)]
    profiles, boxes, attributes = tables(sql, people, [0, 100])
    found = dict(
        sql.rows(f"FROM srsql.parts_of({profiles}, {boxes}, {attributes}, 3, NULL::INTEGER, 10)")
    )
    of_sex: dict[int, set[int]] = defaultdict(set)
    of_age: dict[tuple[int, int], set[int]] = defaultdict(set)
    for case, part in found.items():
        of_sex[case % 2].add(part)
        of_age[case % 2, case // 8].add(part)
    assert of_sex == {0: {0, 1, 2, 3}, 1: {4, 5, 6, 7}}
    assert all(len(parts) == 1 for parts in of_age.values())
    assert min(Counter(found.values()).values()) >= 8


def test_the_row_of_a_part_has_its_cases_and_their_boxes_and_values(sql: Any) -> None:
    members = sql.table(
        "member",
        "part INTEGER, case_no INTEGER, known INTEGER, carrier BOOLEAN, kind INTEGER,"
        " group_no INTEGER",
        [(1, 8, 3, True, 0, 2), (1, 7, 3, True, 0, -1), (2, 9, 1, False, 4, 5)],
    )
    boxes = sql.table(
        "box",
        "case_no INTEGER, position INTEGER, low BIGINT, high BIGINT",
        [(9, 1, None, None), (9, 0, 2, 2), (7, 1, 4, 6), (8, 0, 1, 1), (3, 0, 1, 1)],
    )
    terms = sql.table(
        "case_term", "case_no INTEGER, term_no INTEGER, weight BIGINT", [(7, 5, 1), (8, 2, 3)]
    )
    first, second = sql.rows(f"FROM srsql.part_rows({members}, {boxes}, {terms}) ORDER BY part")

    def values(structs: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
        return [tuple(struct.values()) for struct in structs]

    assert (first[0], values(first[1])) == (1, [(7, 3, True, 0, -1), (8, 3, True, 0, 2)])
    assert sorted(values(first[2])) == [(7, 1, 4, 6), (8, 0, 1, 1)]
    assert sorted(values(first[3])) == [(7, 5, 1), (8, 2, 3)]
    assert (second[0], values(second[1])) == (2, [(9, 1, False, 4, 5)])
    assert values(second[2]) == [(9, 0, 2, 2)]
    assert second[3] is None


@pytest.mark.thorough
@REPEATABLE
@given(
    ages=st.lists(st.integers(0, 30), min_size=6, max_size=18),
    held=st.lists(st.integers(0, 3), min_size=18, max_size=18),
    left=st.sets(st.integers(0, 17), max_size=5),
)
def test_leftovers_join_the_group_of_least_loss_that_has_room(
    sql: Any, ages: list[int], held: list[int], left: set[int]
) -> None:
    """Value 0 may be held by half a group, the others by all; groups begin as runs of ages."""
    order = sorted(range(len(ages)), key=lambda c: (ages[c], c))
    standing = {c: i // 3 for i, c in enumerate(order) if c not in left}
    standing = {c: g for c, g in standing.items() if fits(standing, g, held, None)}
    sizes = Counter(standing.values())
    standing = {c: g for c, g in standing.items() if sizes[g] >= 2}
    number = {g: i for i, g in enumerate(sorted(set(standing.values())))}
    standing = {c: number[g] for c, g in standing.items()}
    if not standing:
        return
    rows = [(c, 1, True, ((age, age),)) for c, age in enumerate(ages)]
    profiles, boxes, _ = tables(sql, rows, [30])
    terms = sql.table(
        "case_term",
        "case_no INTEGER, term_no INTEGER, weight BIGINT",
        [(c, held[c], 1) for c in range(len(ages))],
    )
    thetas = sql.table(
        "theta",
        "term_no INTEGER, theta_num BIGINT, theta_den BIGINT",
        [(0, 1, 2), (1, 1, 1), (2, 1, 1), (3, 1, 1)],
    )
    stand = sql.table("standing", "case_no INTEGER, group_no INTEGER", list(standing.items()))
    rules = {"core_only": False, "after_join": False, "from_last": False, "more_seeds": 0,
             "alpha_num": 1, "alpha_den": 1}  # fmt: skip
    found = dict(
        sql.rows(
            f"FROM srsql.group_onto({profiles}, {stand}, {boxes}, {terms}, 'temp.main.attribute',"
            f" {thetas}, 1, 1, 2, 0, 'withhold', ?)",
            [rules],
        )
    )
    assert found == joined(standing, ages, held)


def fits(groups: dict[int, int], g: int, held: list[int], one_more: int | None) -> bool:
    members = [c for c, other in groups.items() if other == g]
    members += [] if one_more is None else [one_more]
    return sum(held[c] == 0 for c in members) <= max(2, len(members)) // 2


def joined(standing: dict[int, int], ages: list[int], held: list[int]) -> dict[int, int]:
    """Lin 2016, Algorithm 2, with PR of eq. (5) and (6), by case number."""
    groups = dict(standing)
    for case in range(len(ages)):
        if case in groups:
            continue
        options = []
        for g in sorted(set(standing.values())):
            members = [c for c, other in groups.items() if other == g]
            if not fits(groups, g, held, case):
                continue
            low, high = min(ages[c] for c in members), max(ages[c] for c in members)
            wide = max(high, ages[case]) - min(low, ages[case])
            loss = Fraction((len(members) + 1) * wide - len(members) * (high - low), 30)
            theta = [Fraction(1, 2), 1, 1, 1][held[case]]
            room = int(max(2, len(members) + 1) * theta)
            sigma = sum(held[c] == held[case] for c in members)
            risk = 1 + Fraction(sigma, room - sigma)
            options.append((loss * risk, risk, loss, g))
        groups[case] = min(options)[-1] if options else -1
    return groups


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "some", "", "AUTO", "1000000"])
def test_what_is_no_number_of_parts_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(ReleaseError, match=r"--parts .*: give auto, or a whole number from 1"):
        make_model("ms", parts=text)


def test_parts_are_remembered_as_they_are_written() -> None:
    assert make_model("ms", parts=" 04 ").parts == make_model("ms", parts=4).parts == "4"
    assert make_model("ppms++", parts="auto").parts == "auto"
    assert make_model("ms").parts == "1"
    assert "parts" not in make_model("ms").public_facts
    assert make_model("ms", parts="auto").public_facts["parts"] == "auto"


@pytest.mark.parametrize("model", ["l-diversity", "disassociation", "ipa"])
def test_a_model_that_cuts_nothing_takes_no_parts(model: str) -> None:
    with pytest.raises(ReleaseError, match="parts"):
        make_model(model, parts="auto")


def test_a_number_of_one_value_cannot_be_cut(sql: Any) -> None:
    same = [(case, 1, True, ((5, 5),)) for case in range(40)]
    profiles, boxes, attributes = tables(sql, same, [100])
    found = sql.rows(
        f"SELECT DISTINCT part FROM srsql.parts_of({profiles}, {boxes}, {attributes}, 1, 4, 10)"
    )
    assert np.array(found).tolist() == [[0]]
