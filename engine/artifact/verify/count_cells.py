"""Told counts by stratum, and where the holders of a sensitive item may be that are told of a wide
stratum only (rule G2 by told counts, decision 49)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property

from srsql.engine.artifact.verify.count_strata import Strata

Item = tuple[str, str | None]
Key = tuple[Item, ...]
"""Its items in order; none: all units."""
Theta = Mapping[Item, tuple[int, int]]


def item_place(item: Item) -> tuple[bytes, bool, bytes]:
    """Where an item stands in a key: by the bytes of its texts."""
    return item[0].encode(), item[1] is None, (item[1] or "").encode()


class Cells:
    """The told cells of all keys, and what follows of wider strata."""

    def __init__(self, strata: Strata, told: Mapping[Key, Mapping[str, int]]) -> None:
        self.strata, self.told = strata, told
        self.sums: dict[Key, dict[str, int]] = {}
        for key, cells in told.items():
            found: dict[str, int] = defaultdict(int)
            for node, cases in cells.items():
                for above in strata.paths[node]:
                    found[above] += cases
            self.sums[key] = dict(found)

    def of(self, key: Key, node: str) -> int | None:
        """How many units of a stratum hold a key; None: not known."""
        if key not in self.told:
            return None
        if (found := self.sums[key].get(node)) is not None:
            return found
        cells = self.told[key]
        return None if any(above in cells for above in self.strata.paths[node]) else 0

    @cached_property
    def items(self) -> list[Item]:
        """Every told item."""
        return [key[0] for key in self.told if len(key) == 1]


def lies_elsewhere(cells: Cells, item: Item, other: Item, node: str, k: int, theta: Theta) -> bool:
    """Whether the holders of the other item can lie in a stratum so that it and the pair are told
    of no part of it, that no leaf forces both on anybody, and that the threshold is kept.

    Where the leaves are not told, as many as the told strata allow are taken to have a place.

    Args:
        cells: told ones.
        item: the known one.
        other: with a threshold.
        node: of which the pair is told.
        k: units of a count, at least.
        theta: thresholds of told items.
    """
    bearers = cells.told[(other,)].get(node)
    closed = {one[0] for one in cells.items if one[1] is None}
    if bearers is None or {item[0], other[0]} & closed:
        return False
    key = next(key for key in ((item, other), (other, item)) if key in cells.told)
    first, second = cells.strata.children[node]
    return all(
        _has_a_place(cells, item, at, (part, rest), (cells.told[key][node], bearers), k,
                     theta[other])
        for part, rest in ((first, second), (second, first))
        for at in cells.told[(item,)]
        if part in cells.strata.paths[at]
    )  # fmt: skip


def _has_a_place(
    cells: Cells, item: Item, at: str, halves: tuple[str, str], sizes: tuple[int, int], k: int,
    theta: tuple[int, int],
) -> bool:  # fmt: skip
    """Whether some number of the bearers in the first half leaves one of the halves 1 to k - 1.

    Args:
        cells: told ones.
        item: the known one.
        at: a stratum within the first half that tells it.
        halves: of the stratum of which the pair is told.
        sizes: who holds both, and who bears the other item, in that stratum.
        k: units of a count, at least.
        theta: of the other item.
    """
    both, bearers = sizes

    def free(node: str) -> int:
        """Who does not hold the known item."""
        return (cells.of((), node) or 0) - (cells.of((item,), node) or 0)

    def room(node: str, *, less: str | None = None) -> int:
        """Who may hold both where nobody must, without those of a part."""
        return sum(
            min(cases, (cells.of((), told) or 0) - cases)
            for told, cases in cells.told[(item,)].items()
            if node in cells.strata.paths[told] and told != less
        )

    part, rest = halves
    num, den = theta
    for here in range(1, bearers):
        there = bearers - here
        if min(here, there) >= k or here > free(part) or there > free(rest):
            continue
        inside = max(0, both - min(room(rest), there))
        beside = room(part, less=at)
        if (
            inside <= min(here, room(part))
            and (inside - beside) * den <= cells.told[(item,)][at] * num
        ):
            return True
    return False
