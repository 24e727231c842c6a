"""Boxes that are told row by row, as the kernels take them."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest

from srsql.udfs.exact_search import boxes_by_case

Row = tuple[int, int, int, int]
NAMES = ("case_no", "position", "low", "high")
KINDS = (pa.int32(), pa.int32(), pa.int64(), pa.int64())


def _structs(rows: list[Row]) -> pa.StructArray:
    columns = [pa.array([row[i] for row in rows], kind) for i, kind in enumerate(KINDS)]
    return pa.StructArray.from_arrays(columns, names=list(NAMES))


@pytest.mark.parametrize("step", [1, 3, 1000], ids=["dense", "table", "looked up"])
@pytest.mark.parametrize("seed", range(4))
def test_every_box_is_in_the_row_of_its_case_and_the_column_of_its_position(
    seed: int, step: int
) -> None:
    luck = random.Random(seed)
    cases = [7 + step * place + (luck.randrange(step) if step > 1 else 0) for place in range(40)]
    positions = sorted(luck.sample(range(9), 4))
    told = {
        (case, position): (low := luck.randrange(-50, 50), low + luck.randrange(9))
        for case in cases
        for position in positions
        if luck.random() < 0.6
    }
    rows = [(*place, *ends) for place, ends in told.items()]
    luck.shuffle(rows)
    low, high = boxes_by_case(_structs(rows), np.array(cases), np.array(positions))
    for i, case in enumerate(cases):
        for j, position in enumerate(positions):
            assert (low[i, j], high[i, j]) == told.get((case, position), (0, 0))


@pytest.mark.parametrize("step", [1, 3, 1000], ids=["dense", "table", "looked up"])
@pytest.mark.parametrize(("case", "position"), [(-1, 1), (0, 2), (999_999, 1), (None, 1)])
def test_a_box_of_no_case_or_position_is_refused(
    step: int, case: int | None, position: int
) -> None:
    cases = np.arange(20) * step
    if case is None:  # a number between two cases
        if step == 1:
            return
        case = step + 1
    with pytest.raises(ValueError, match="not among the cases"):
        boxes_by_case(_structs([(0, 1, 2, 3), (case, position, 2, 3)]), cases, np.array([1, 3]))


def test_no_boxes_and_no_cases() -> None:
    none, one = np.empty(0, np.int64), np.array([4])
    assert boxes_by_case(_structs([]), none, one)[0].shape == (0, 1)
    assert boxes_by_case(_structs([]), one, none)[1].shape == (1, 0)
    with pytest.raises(ValueError, match="not among the cases"):
        boxes_by_case(_structs([(4, 1, 0, 0)]), none, one)


@pytest.mark.parametrize("step", [1, 3, 1000], ids=["dense", "table", "looked up"])
def test_boxes_of_others_and_of_what_a_case_does_not_know_do_not_count(step: int) -> None:
    luck = random.Random(step)
    everybody = [step * place for place in range(60)]
    cases = sorted(luck.sample(everybody, 40))
    known = [luck.randrange(8) for _ in cases]
    rows = [(case, position, case + position, 99) for case in everybody for position in range(3)]
    luck.shuffle(rows)
    low, high = boxes_by_case(_structs(rows), np.array(cases), np.arange(3), np.array(known))
    for i, case in enumerate(cases):
        for j in range(3):
            counts = known[i] >> j & 1
            assert (low[i, j], high[i, j]) == ((case + j, 99) if counts else (0, 0))


def test_a_box_that_counts_has_to_be_there_once() -> None:
    cases, places, known = np.array([4, 6]), np.array([0, 2]), np.array([0b101, 0b001])
    rows: list[Row] = [(4, 0, 1, 1), (4, 2, 1, 1), (6, 0, 1, 1)]
    boxes_by_case(_structs(rows), cases, places, known)
    for wrong in (rows[1:], [*rows, rows[0]]):
        with pytest.raises(ValueError, match="no box of, or more than one"):
            boxes_by_case(_structs(wrong), cases, places, known)
    with pytest.raises(ValueError, match="not among the cases"):
        boxes_by_case(_structs([*rows, (4, 1, 1, 1)]), cases, places, np.array([0b111, 0b001]))
