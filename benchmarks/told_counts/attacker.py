"""What all told cells say of pairs that are not told: bounds for every pair of told items.

Not the least and the greatest count, which would take a program of whole numbers over all items,
but what is true of every data set that fits: bounds of Fréchet by the items, sums of parts and
wholes (the shuttle), and bounds by a third item, which are the best for three items of one stratum.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.told_counts.tables import Tree, nodes_of

STEPS = ("items", "parts and wholes", "third items")
Bounds = tuple[np.ndarray, np.ndarray]
"""The least and the greatest count: of each key (rows) in each stratum (columns)."""


@dataclass
class Found:
    """Pairs of told items by stratum, in which both are known and the pair is not."""

    untold: int = 0
    few: int = 0
    """Known to be 1 to k - 1."""
    pinned: int = 0
    """Known exactly, and not 0."""
    pinned_few: int = 0
    above_theta: int = 0
    """By a lower bound, of the holders of the other item."""


class Strata:
    """The tree by numbers of its strata."""

    def __init__(self, tree: Tree) -> None:
        nodes = nodes_of(tree)
        self.number = {node: place for place, node in enumerate(nodes)}
        self.split = [
            (self.number[node], [self.number[child] for child in tree[node]])
            for node in nodes if node in tree
        ]  # fmt: skip

    def below(self, place: int) -> list[int]:
        """A stratum and all within it."""
        found = [place]
        for node in found:
            found += next((children for parent, children in self.split if parent == node), [])
        return found

    def known(self, cells: dict[str, int]) -> tuple[np.ndarray, np.ndarray]:
        """Of a told key: the counts by stratum, and where they are known."""
        counts = np.zeros(len(self.number), dtype=np.int64)
        sure = np.ones(len(self.number), dtype=bool)
        for stratum, cases in cells.items():
            counts[self.number[stratum]] = cases
            sure[self.below(self.number[stratum])[1:]] = False
        for parent, children in reversed(self.split):
            counts[parent] += counts[children].sum()
        return counts, sure

    def shuttle(self, low: np.ndarray, high: np.ndarray) -> None:
        """Tighten bounds: a whole is the sum of its parts."""
        for _ in range(2):
            for parent, children in reversed(self.split):
                low[:, parent] = np.maximum(low[:, parent], low[:, children].sum(axis=1))
                high[:, parent] = np.minimum(high[:, parent], high[:, children].sum(axis=1))
            for parent, children in self.split:
                for child in children:
                    rest = [other for other in children if other != child]
                    least = low[:, parent] - high[:, rest].sum(axis=1)
                    most = high[:, parent] - low[:, rest].sum(axis=1)
                    low[:, child] = np.maximum(low[:, child], least)
                    high[:, child] = np.minimum(high[:, child], most)


def attacked(con: Any, tree: Tree, k: int) -> dict[str, Found]:
    """What is found by each kind of bounds, those before it included.

    Raises:
        AssertionError: a bound does not hold the true count.
    """
    strata = Strata(tree)
    cells: dict[tuple[int, ...], dict[str, int]] = defaultdict(dict)
    for one, other, stratum, cases in con.execute(
        "SELECT item_no, other_no, stratum, cases FROM temp.main.cell"
    ).fetchall():
        cells[tuple(each for each in (one, other) if each is not None)][stratum] = cases
    everyone, sure_of = strata.known(cells[()])
    fewest, units = np.where(sure_of, everyone, 0), np.where(sure_of, everyone, everyone[0])
    strata.shuttle(fewest[None, :], units[None, :])
    items = sorted(key[0] for key in cells if len(key) == 1)
    place = {item: row for row, item in enumerate(items)}
    told = [strata.known(cells[item,]) for item in items]
    counts, sure = (np.array([each[part] for each in told]) for part in (0, 1))
    low, high = np.where(sure, counts, 0), np.where(sure, counts, units)
    strata.shuttle(low, high)
    pairs = {
        (place[key[0]], place[key[1]]): strata.known(found)
        for key, found in cells.items() if len(key) == 2
    }  # fmt: skip
    partners: dict[int, dict[int, tuple[np.ndarray, np.ndarray]]] = defaultdict(dict)
    for (one, other), found in pairs.items():
        partners[one][other] = partners[other][one] = found
    truths = _true(con, strata, place)
    theta = {no: (num, den) for no, num, den in con.execute(
        "SELECT item_no, theta_num, theta_den FROM temp.main.counted_item").fetchall()}  # fmt: skip
    results = {step: Found() for step in STEPS}
    for rows in _kinds(con, place):
        sensitive = rows[1]
        ratio = np.array([theta[items[row]] for row in sensitive])
        for one in rows[0]:
            bounds = (
                np.maximum(0, low[one] + low[sensitive] - units),
                np.minimum(high[one], high[sensitive]),
            )
            known = np.zeros(bounds[0].shape, dtype=bool)
            for row, other in enumerate(sensitive):
                if other in partners[one]:
                    is_told, known[row] = partners[one][other]
                    bounds[0][row][known[row]] = is_told[known[row]]
                    bounds[1][row][known[row]] = is_told[known[row]]
            asked = sure[one] & sure[sensitive] & ~known
            true = np.array([truths.get((one, o), np.zeros(len(units))) for o in sensitive])
            for step in STEPS:
                if step == STEPS[2]:
                    _by_third(bounds, one, sensitive, partners, counts, sure)
                if step != STEPS[0]:
                    strata.shuttle(*bounds)
                assert (bounds[0] <= true).all(), step
                assert (true <= bounds[1]).all(), step
                _add(results[step], bounds, asked, counts[one], ratio, k)
    return results


def _add(
    found: Found, bounds: Bounds, asked: np.ndarray, holders: np.ndarray, ratio: np.ndarray, k: int
) -> None:
    low, high = bounds
    pinned = asked & (low == high) & (low > 0)
    found.untold += int(asked.sum())
    found.few += int((asked & (low > 0) & (high < k)).sum())
    found.pinned += int(pinned.sum())
    found.pinned_few += int((pinned & (low < k)).sum())
    above = low * ratio[:, 1:2] > holders * ratio[:, 0:1]
    found.above_theta += int((asked & (holders > 0) & above).sum())


def _by_third(
    bounds: Bounds, one: int, sensitive: np.ndarray,
    partners: dict[int, dict[int, tuple[np.ndarray, np.ndarray]]],
    counts: np.ndarray, sure: np.ndarray,
) -> None:  # fmt: skip
    """Of three items with all but one pair told: the bounds of the last."""
    places = {other: row for row, other in enumerate(sensitive)}
    for third, (with_one, sure_one) in partners[one].items():
        for other, (with_other, sure_other) in partners[third].items():
            if other in places and other != one:
                row = places[other]
                where = sure_one & sure_other & sure[third] & sure[one] & sure[other]
                least = with_one + with_other - counts[third]
                apart = np.minimum(counts[one] - with_one, counts[other] - with_other)
                most = np.minimum(with_one, with_other) + apart
                bounds[0][row] = np.where(where, np.maximum(bounds[0][row], least), bounds[0][row])
                bounds[1][row] = np.where(where, np.minimum(bounds[1][row], most), bounds[1][row])


def _kinds(con: Any, place: dict[int, int]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The told items of each two attributes whose pairs are counted."""
    of = dict(con.execute("SELECT item_no, attribute FROM temp.main.told_item").fetchall())
    for one, other in con.execute("FROM temp.main.counted_kind ORDER BY ALL").fetchall():
        rows = [
            np.array([row for item, row in place.items() if of[item] == name], dtype=np.int64)
            for name in (one, other)
        ]
        if len(rows[0]) and len(rows[1]):
            yield rows[0], rows[1]


def _true(
    con: Any, strata: Strata, place: dict[int, int]
) -> dict[tuple[int, int], np.ndarray]:  # fmt: skip
    """The true counts, which every bound holds."""
    found: dict[tuple[int, int], dict[str, int]] = defaultdict(dict)
    for one, other, leaf, cases in con.execute(
        "SELECT a.item_no, b.item_no, u.leaf, count(*) FROM temp.main.unit_item AS a "
        "INNER JOIN temp.main.unit_item AS b ON a.unit = b.unit INNER JOIN "
        "temp.main.unit_stratum AS u ON a.unit = u.unit INNER JOIN temp.main.told_item AS i "
        "ON a.item_no = i.item_no INNER JOIN temp.main.told_item AS o ON b.item_no = o.item_no "
        "INNER JOIN temp.main.counted_kind AS k ON i.attribute = k.attribute "
        "AND o.attribute = k.other GROUP BY ALL"
    ).fetchall():
        if one in place and other in place:
            found[place[one], place[other]][leaf] = cases
    return {key: strata.known(cells)[0] for key, cells in found.items()}
