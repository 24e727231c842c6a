"""The measure that all tools are judged by, against its definition row by row."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.peers import load

pytestmark = pytest.mark.thorough

SPANS = {"age": 120, "wt": 400}


judge, theirs = load("judge"), load("theirs")

Row = dict[str, Any]


def table(rows: list[Row], columns: list[str]) -> pd.DataFrame:
    numbers = [c for c in columns if c not in ("row", "sex", "term")]
    made = pd.DataFrame(rows, columns=columns)
    return made.astype({**dict.fromkeys(numbers, "float64"), "sex": "object", "term": "object"})


def verdict(people: list[Row], released: list[Row]) -> Any:
    return judge.judge(
        table(people, ["row", "age", "wt", "sex", "term"]),
        table(released, ["row", *judge.REGION, "term"]),
    )


def cell(own: Any, low: Any, high: Any, span: int | None) -> Fraction:
    """Loss of one value, from its definition; ``span`` None for a category."""
    if own is None:
        return Fraction(0 if low is None else 1)
    if low is None:
        return Fraction(1)
    if span is None:
        return Fraction(0 if own == low else 1)
    return Fraction(high - low, span) if low <= own <= high else Fraction(1)


@st.composite
def releases(draw: st.DrawFn) -> tuple[list[Row], list[Row]]:
    """A table, and regions that may be true, too wide, missing, untrue or not there."""
    people, released = [], []
    sexes = st.sampled_from([None, "M", "F"])
    for number in range(draw(st.integers(1, 8))):
        row: Row = {"row": number, "sex": draw(sexes), "term": draw(st.sampled_from("abc"))}
        shown: Row = {"row": number, "sex": draw(sexes), "term": row["term"]}
        for name in SPANS:
            row[name] = draw(st.none() | st.integers(0, 4))
            low = draw(st.none() | st.integers(0, 3))
            high = None if low is None else low + draw(st.integers(0, 2))
            shown |= {f"{name}_low": low, f"{name}_high": high}
        people.append(row)
        if draw(st.integers(0, 3)):
            released.append(shown)
    return people, released


@settings(max_examples=60)
@given(releases())
def test_loss_and_bounds_are_those_of_the_definitions(case: tuple[list[Row], list[Row]]) -> None:
    people, released = case
    by_row = {shown["row"]: shown for shown in released}
    losses, kept, known, told, untrue = [], [], [], 0, 0
    for row in people:
        shown = by_row.get(row["row"])
        if shown is None:
            losses += [Fraction(1)] * 3
            continue
        cells = [
            (row[n], cell(row[n], shown[f"{n}_low"], shown[f"{n}_high"], span))
            for n, span in SPANS.items()
        ]
        cells.append((row["sex"], cell(row["sex"], shown["sex"], None, None)))
        losses += [lost for _, lost in cells]
        kept += [lost for _, lost in cells]
        known += [lost for own, lost in cells if own is not None]
        told += any(own is None and lost == 1 for own, lost in cells)
        outside = [
            row[n] is not None
            and shown[f"{n}_low"] is not None
            and not shown[f"{n}_low"] <= row[n] <= shown[f"{n}_high"]
            for n in SPANS
        ]
        untrue += any(outside) or (None not in (row["sex"], shown["sex"]) and lost_sex(row, shown))
    regions: dict[tuple[Any, ...], Counter[str]] = {}
    for shown in released:
        regions.setdefault(tuple(shown[c] for c in judge.REGION), Counter())[shown["term"]] += 1
    found = verdict(people, released)
    assert (found.rows, found.released) == (len(people), len(released))
    assert found.with_missing == sum(None in row.values() for row in people)
    assert found.with_missing_released == sum(
        None in row.values() for row in people if row["row"] in by_row
    )
    assert (found.told_as_known, found.untrue) == (told, untrue)
    for value, expected in (
        (found.loss, losses), (found.loss_released, kept), (found.loss_known, known),
    ):  # fmt: skip
        assert value == pytest.approx(float(sum(expected) / len(expected)) if expected else 1)
    assert found.k == min((c.total() for c in regions.values()), default=0)
    assert found.l == min((len(c) for c in regions.values()), default=0)
    shares = [max(c.values()) / c.total() for c in regions.values()]
    assert found.alpha == pytest.approx(max(shares, default=0.0))


def lost_sex(row: Row, shown: Row) -> bool:
    return bool(row["sex"] != shown["sex"])


PERSON: Row = {"row": 0, "age": 30, "wt": None, "sex": "M", "term": "a"}
REGION: Row = {
    "row": 0, "age_low": 30, "age_high": 36, "wt_low": None, "wt_high": None, "sex": None,
    "term": "a",
}  # fmt: skip


@pytest.mark.parametrize(
    "released",
    [[REGION, REGION], [REGION | {"row": 1}], [REGION | {"term": "b"}]],
    ids=["twice", "nobody's", "another's term"],
)
def test_a_release_that_is_not_of_the_table_is_not_judged(released: list[Row]) -> None:
    with pytest.raises(ValueError, match="released row"):
        verdict([PERSON], released)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("30.0-44.0", (30, 44)),
        ("30.0", (30, 30)),
        ("[30, 35)", (30, 34)),
        ("nan", (None, None)),
        ("*", (None, None)),
    ],
)
def test_ends_of_a_region_are_read_as_inclusive(text: str, expected: tuple[Any, Any]) -> None:
    assert theirs.ends(text) == expected


@pytest.mark.parametrize(("text", "expected"), [("F", "F"), ("F,M", None), ("F,nan", None)])
def test_a_set_of_categories_is_their_common_ancestor(text: str, expected: str | None) -> None:
    assert theirs.leaf(text) == expected


def test_rows_get_the_region_of_the_group_that_holds_them() -> None:
    people = table(
        [PERSON | {"row": n, "term": t} for n, t in enumerate("abac")],
        ["row", "age", "wt", "sex", "term"],
    )
    answer = pd.DataFrame(
        [
            ["30-36", "nan", "M", "a", 2],
            ["30-36", "nan", "M", "c", 1],
            ["40", "5-6", "F,M", "b", 1],
        ],
        columns=["age", "wt", "sex", "term", "count"],
    )
    rows = theirs.rows_of_groups(people, [[0, 2, 3], [1]], answer)
    assert rows["row"].tolist() == [0, 2, 3, 1]
    assert rows["age_high"].tolist() == [36, 36, 36, 40]
    assert rows["term"].tolist() == list("aacb")


@pytest.mark.parametrize(
    "groups", [[[0, 1, 2]], [[0], [1, 2, 3]], [[0, 2, 3, 1]]], ids=["fewer", "other", "united"]
)
def test_an_answer_that_does_not_follow_the_groups_is_refused(groups: list[list[int]]) -> None:
    people = table([PERSON | {"row": n} for n in range(4)], ["row", "age", "wt", "sex", "term"])
    answer = pd.DataFrame(
        [["30-36", "nan", "M", "a", 3], ["40", "5-6", "F,M", "b", 1]],
        columns=["age", "wt", "sex", "term", "count"],
    )
    with pytest.raises(ValueError, match="the answer"):
        theirs.rows_of_groups(people, groups, answer)


@pytest.mark.parametrize("suppressed", [False, True])
def test_rows_that_a_table_leaves_out_are_told_from_those_it_keeps(suppressed: bool) -> None:
    people = table([PERSON | {"row": 7 + n} for n in range(3)], ["row", "age", "wt", "sex", "term"])
    answer = pd.DataFrame({"age": ["[30, 35)", "*"], "wt": "*", "sex": ["M", "*"], "term": "a"})
    if suppressed:  # rows 0 and 2 are left, and their places are told
        answer.insert(0, "index", [0, 2])
    rows = theirs.rows_of_table(people, answer)
    assert rows["row"].tolist() == ([7, 9] if suppressed else [7, 8])
    assert rows["age_high"].tolist()[0] == 34
    assert rows[["age_low", "wt_low", "sex"]].isna().sum().tolist() == [1, 2, 1]


def test_every_level_of_a_hierarchy_lies_within_the_next() -> None:
    values = pd.Series([0, 4, 5, 39, 40, 119])
    for name, steps in theirs.STEPS.items():
        tree = theirs.hierarchy(values, steps)
        assert tree[0].tolist() == values.tolist(), name
        assert set(tree[len(steps) + 1]) == {"*"}
        for finer, coarser in zip(list(tree)[:-1], list(tree)[1:], strict=True):
            above = dict(zip(tree[finer], tree[coarser], strict=True))
            assert all(above[f] == c for f, c in zip(tree[finer], tree[coarser], strict=True))
