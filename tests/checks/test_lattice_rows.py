"""The checks of rows over a lattice, against rows that Python counts; and what its nodes lose."""

from __future__ import annotations

from collections import Counter
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.examples import REPEATABLE
from support.published_terms import fill

CLASSES = ("shown VARCHAR[]", "row_count BIGINT")
SHOWN = ("number INTEGER", "place INTEGER", "shown VARCHAR")
values = st.lists(st.tuples(st.sampled_from("ab*"), st.sampled_from("xy")), min_size=1, max_size=12)


def put(sql: Any, rows: list[tuple[str, str]]) -> str:
    """Published rows as text, numbered from 1 on."""
    return fill(sql, "seen_value", SHOWN, [
        (n, place, text) for n, row in enumerate(rows, 1) for place, text in enumerate(row)
    ])  # fmt: skip


@REPEATABLE
@given(rows=values, fewest=st.integers(1, 4))
def test_every_class_has_as_many_rows_as_is_claimed(
    sql: Any, rows: list[tuple[str, str]], fewest: int
) -> None:
    sizes = Counter(rows)
    small = sum(size < fewest for size in sizes.values())
    seen = [(list(shown), count) for shown, count in Counter(rows[1:]).items()]
    name = fill(sql, "seen_class", CLASSES, [(list(rows[0]), 1), *seen])
    (row,) = sql.records(f"FROM srsql.check_row_classes('{name}', {fewest}, 9)")
    assert row == {
        "release": 9,
        "measure": "check_row_classes",
        "scope": "class",
        "violating": small,
        "total": len(sizes),
        "ratio": small / len(sizes),
        "threshold": fewest,
        "passed": small == 0,
    }


@REPEATABLE
@given(rows=values, allowed=st.sets(st.tuples(st.integers(0, 1), st.sampled_from("abxy*"))))
def test_every_value_is_one_of_its_level(
    sql: Any, rows: list[tuple[str, str]], allowed: set[tuple[int, str]]
) -> None:
    level = fill(sql, "level_value", SHOWN[1:], sorted(allowed))
    wrong = sum((place, text) not in allowed for row in rows for place, text in enumerate(row))
    (row,) = sql.records(f"FROM srsql.check_row_levels('{put(sql, rows)}', '{level}', 9)")
    assert (row["violating"], row["total"], row["passed"]) == (wrong, 2 * len(rows), wrong == 0)


@REPEATABLE
@given(
    rows=st.lists(
        st.tuples(st.one_of(st.none(), st.integers(0, 6)), st.sampled_from([None, "p", "q"])),
        min_size=1,
        max_size=6,
    )
)
def test_rows_have_the_numbers_from_1_on_and_a_value(
    sql: Any, rows: list[tuple[int | None, str | None]]
) -> None:
    times = Counter(number for number, _ in rows)
    wrong = sum(
        number is None or not 1 <= number <= len(rows) or times[number] > 1 or value is None
        for number, value in rows
    )
    name = fill(sql, "seen_number", ("number INTEGER", "informative VARCHAR"), rows)
    (row,) = sql.records(f"FROM srsql.check_row_numbers('{name}', 9)")
    assert (row["violating"], row["total"], row["passed"]) == (wrong, len(rows), wrong == 0)


Losses = tuple[float, float, float, float | None, float | None]
Nodes = list[tuple[list[int], Losses, tuple[int, int, int, int]]]
share = st.integers(0, 100).map(lambda n: n / 100)
counts = st.tuples(st.integers(1, 9), st.integers(1, 50), st.integers(0, 5), st.integers(0, 5))


@REPEATABLE
@given(
    nodes=st.lists(
        st.tuples(st.lists(st.integers(0, 2), min_size=2, max_size=2),
                  st.tuples(share, share, share, st.none() | share, st.none() | share), counts),
        min_size=1, max_size=6,
    )
)  # fmt: skip
def test_losses_are_those_of_the_node_taken_and_their_means_by_height(
    sql: Any, nodes: Nodes
) -> None:
    """The first node is the one that was taken; (classes, records, suppressed, counterfeits).

    Of a node before layout 9 EMD over the classes is not known, nor its probability.
    """
    sql.rows("DELETE FROM srsql.lattice_node")
    stored = [
        (8 + (release == "ours"), levels, n == 0 and release == "ours", *losses, *amounts)
        for release in ("another", "ours")
        for n, (levels, losses, amounts) in enumerate(nodes)
    ]
    names = (
        "release_id, levels, chosen, ncp, emd, rate, emd_classes, probability, classes, records, "
        "suppressed, counterfeits"
    )
    for row in stored:
        sql.rows(
            f"INSERT INTO srsql.lattice_node ({names}) VALUES ({', '.join('?' * len(row))})", row
        )

    def losses(
        ncp: float, emd: float, rate: float, of_classes: float | None, _: float | None
    ) -> dict[str, float]:
        mean = emd if of_classes is None else of_classes
        return {"il": ncp + mean + rate, "ncp": ncp, "emd": mean, "rate": rate,
                "il (all records)": ncp + emd + rate, "emd (all records)": emd,
                "ncp (eq. 6)": 2 * ncp}  # fmt: skip

    _, lost, (classes, records, suppressed, counterfeits) = nodes[0]
    expected = {(m, "chosen"): (None, classes, x) for m, x in losses(*lost).items()}
    expected["suppressed", "chosen"] = (suppressed, classes, suppressed / classes)
    expected["counterfeits", "chosen"] = (counterfeits, records, counterfeits / records)
    chances = [lost[4] for _, lost, _ in nodes]
    if None not in chances:
        for measure in losses(*nodes[0][1]):
            mean = sum(p * losses(*lost)[measure] for p, (_, lost, _) in zip(chances, nodes,
                       strict=True))  # fmt: skip
            expected[measure, "expected"] = (None, len(nodes), mean)
    for height in {sum(levels) for levels, _, _ in nodes}:
        same = [losses(*lost) for levels, lost, _ in nodes if sum(levels) == height]
        for measure in same[0]:
            mean = fmean(one[measure] for one in same)
            expected[measure, f"height {height}"] = (None, len(same), mean)
    rows = sql.records("FROM srsql.lattice_loss(9)")
    assert {(row["measure"], row["scope"]) for row in rows} == expected.keys()
    for row in rows:
        violating, total, ratio = expected[row["measure"], row["scope"]]
        assert (row["violating"], row["total"]) == (violating, total)
        assert row["ratio"] == pytest.approx(ratio)
