"""What told counts alone show of the rules by which they are told (SPEC section 19).

Where the rules ask for counts that are not told, the widest bounds are taken that the told ones
leave: what breaks a rule for every such count is a fault, and the rest is not shown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

from srsql.engine.artifact.verify.count_cells import (
    Cells,
    Item,
    Key,
    Theta,
    item_place,
    lies_elsewhere,
)


def key_words(key: Key) -> str:
    """A key in words."""
    if not key:
        return "the number of cases"
    return " and ".join(f"{a} {'none that is told' if t is None else repr(t)}" for a, t in key)


def cell_faults(cells: Cells) -> Iterator[str]:
    """Strata of a key that lie in each other; columns of one value a case that are not told
    whole (rules R2 and R3)."""
    for key, told in cells.told.items():
        for node in told:
            for above in cells.strata.paths[node][1:]:
                if above in told:
                    yield f"{key_words(key)} is told of {node!r} and of {above!r}, which it lies in"
    closed = {item[0] for item in cells.items if item[1] is None}
    for attribute in sorted(closed):
        wholes: dict[Key, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for key in cells.told:
            for item in key:
                if item[0] == attribute:
                    others = tuple(each for each in key if each != item)
                    for node, cases in cells.sums[key].items():
                        wholes[others][node] += cases
        for others, sums in wholes.items():
            if len(others) and others not in cells.sums:
                continue
            for node, cases in sums.items():
                due = cells.of(others, node)
                if due != cases:
                    yield (
                        f"the values of {attribute} of {node!r}, of which a case has one, are "
                        f"{cases:,} in all beside {key_words(others)}, not {due}"
                    )


def share_faults(cells: Cells, theta: Theta, k: int) -> Iterator[str]:
    """Counts that are more than what they are part of allows (rule R2)."""
    for key, told in cells.told.items():
        for node, cases in told.items():
            for item in key:
                others = tuple(each for each in key if each != item)
                whole = cells.of(others, node)
                words = f"{key_words(key)} of {node!r} is {cases:,}"
                if whole is None:
                    yield f"{words}, and {key_words(others)} is not told of it"
                    continue
                num, den = theta.get(item, (1, 1))
                if cases > whole:
                    yield f"{words}, of {whole:,} with {key_words(others)}"
                elif cases * den > whole * num:
                    yield f"{words} of {whole:,} with {key_words(others)}: theta is {num}/{den}"
                elif len(key) == 1 and 0 < whole - cases < k:
                    yield f"{words} of {whole:,}: fewer than {k} do not hold it"
            if len(key) == 2:
                units, *sizes = (cells.of(of, node) for of in ((), (key[0],), (key[1],)))
                least = sum(size or 0 for size in sizes) - (units or 0)
                if units is not None and cases < least:
                    yield f"{key_words(key)} of {node!r} is {cases:,}, at least {least:,} have both"


@dataclass(frozen=True)
class _Both:
    """Between which numbers units of a stratum hold two told items, by what is told of each."""

    cells: Cells
    one: Item
    other: Item

    @cached_property
    def meets(self) -> dict[str, tuple[int, int]]:
        """The finest strata of which both are known, with the number of each, neither 0."""
        found: dict[str, tuple[int, int]] = {}
        for told, item, other in (
            (self.cells.told[(self.one,)], self.one, self.other),
            (self.cells.told[(self.other,)], self.other, self.one),
        ):
            for node, cases in told.items():
                if beside := self.cells.of((other,), node):
                    found[node] = (cases, beside) if item == self.one else (beside, cases)
        return found

    def around(self, node: str) -> str | None:
        """The stratum of which both are known, and that a stratum is a part of."""
        return next((at for at in self.cells.strata.paths[node][1:] if at in self.meets), None)

    def least(self, node: str) -> int:
        """So many hold both."""
        found = 0
        for at, (one, other) in self.meets.items():
            if node in self.cells.strata.paths[at]:
                found += max(0, one + other - (self.cells.of((), at) or 0))
        return found

    def most(self, node: str) -> int:
        """No more hold both."""
        if (at := self.around(node)) is not None:
            known = [self.cells.of((item,), node) for item in (self.one, self.other)]
            return min(
                whole if part is None else part
                for part, whole in zip(known, self.meets[at], strict=True)
            )
        return sum(
            min(numbers)
            for at, numbers in self.meets.items()
            if node in self.cells.strata.paths[at]
        )

    def most_beside(self, node: str, part: str) -> int:
        """No more of a stratum hold both without those of a part that tells the first item."""
        at = self.around(part)
        if at is None:
            return self.most(node) - self.most(part)
        own = self.cells.of((self.one,), part) or 0
        if node in self.cells.strata.paths[at]:
            one, other = self.meets[at]
            return self.most(node) - min(one, other) + min(one - own, other)
        return min((self.cells.of((self.one,), node) or 0) - own, self.meets[at][1])


def way_out_faults(
    cells: Cells, theta: Theta, k: int, pairs: Collection[tuple[str, str]]
) -> tuple[list[str], int, int]:
    """Where rules G1 and G2 leave no data set in which a threshold holds; how many told counts of
    two items do not show it of the finest strata, and how many there are."""
    faults = list(_crowded(cells, theta, k, pairs))
    coarse, total, known = 0, 0, dict[tuple[Item, Item], _Both]()
    finest = cells.told.get((), {})
    for key, told in cells.told.items():
        if len(key) != 2 or any((item,) not in cells.told for item in key):
            continue
        for node, cases in told.items():
            parts = cells.strata.children.get(node, [])
            total += 1
            if not parts or node in finest:
                continue
            coarse += any(
                at not in finest
                for item in key
                for at in cells.told[(item,)]
                if at in cells.strata.paths[node] or node in cells.strata.paths[at]
            )
            for item, other in (key, key[::-1]):
                num, den = theta.get(other, (1, 1))
                if num == den:
                    continue
                both = known.setdefault((item, other), _Both(cells, item, other))
                forced = list(_forced(both, node, cases, k, (num, den)))
                if forced and lies_elsewhere(cells, item, other, node, k, theta):
                    continue
                faults += [
                    f"{key_words(key)} is told of {cases:,} cases of {node!r} and not of parts: "
                    f"so more than {num}/{den} of those of {at!r} with {key_words((item,))} hold "
                    f"{key_words((other,))}"
                    for at in forced
                ]
    return faults, coarse, total


def _forced(both: _Both, node: str, cases: int, k: int, theta: tuple[int, int]) -> Iterator[str]:
    """The told strata of an item, in a part of a stratum, in which no number of those who hold both
    keeps to the threshold and the stratum unsplit (rule G2)."""
    cells, (num, den) = both.cells, theta
    first, second = cells.strata.children[node]
    for part, rest in ((first, second), (second, first)):
        least = max(both.least(part), cases - both.most(rest))
        most = min(both.most(part), cases - both.least(rest))
        here = max(least, 1)
        if here >= k:
            here = max(least, cases - k + 1)
        splits = here > most or (here >= k and here >= cases)
        for at, holders in cells.told[(both.one,)].items():
            if part not in cells.strata.paths[at] or both.most(at) == 0:
                continue
            there = max(both.least(at), here - both.most_beside(part, at))
            if splits or there * den > holders * num:
                yield at


def _crowded(
    cells: Cells, theta: Theta, k: int, pairs: Collection[tuple[str, str]]
) -> Iterator[str]:
    """Items told of strata in which so many hold them and a sensitive one that k of them must hold
    both, or more than a threshold allows (rule G1)."""
    kinds = {pair for one, other in pairs for pair in ((one, other), (other, one))}
    bounded = [item for item, (num, den) in theta.items() if num < den]
    greatest: dict[str, int] = defaultdict(int)
    for item in bounded:
        for node, cases in cells.sums[(item,)].items():
            greatest[node] = max(greatest[node], cases)
    for item in cells.items:
        crowd = [
            node
            for node, cases in cells.sums[(item,)].items()
            if cases + greatest[node] > (cells.of((), node) or 0)
        ]
        if not crowd:
            continue
        for other in bounded:
            if (item[0], other[0]) not in kinds:
                continue
            both, (num, den) = _Both(cells, item, other), theta[other]
            for node, cases in cells.told[(item,)].items():
                forced = both.least(node)
                if forced >= k or forced * den > cases * num:
                    yield (
                        f"{forced:,} of the {cases:,} cases of {node!r} with {key_words((item,))} "
                        f"must hold {key_words((other,))}"
                    )


def bridge_faults(cells: Cells, theta: Theta) -> tuple[list[str], int, int]:
    """Two told partners that force a sensitive item on more of those who hold both than its
    threshold allows (rule G3); how many are not shown, and how many were looked at."""
    partners: dict[tuple[Item, str], list[tuple[int, Item]]] = defaultdict(list)
    for key, sums in cells.sums.items():
        for item, other in (key, key[::-1]) if len(key) == 2 else ():
            num, den = theta.get(item, (1, 1))
            if num < den and (item,) in cells.sums:
                for node, cases in sums.items():
                    partners[item, node].append((cases, other))
    faults, unknown, total = list[str](), 0, 0
    for (item, node), found in partners.items():
        holders = cells.of((item,), node)
        if holders is None or len(found) < 2:
            continue
        num, den = theta[item]
        found.sort(key=lambda each: -each[0])
        for place, (cases, one) in enumerate(found):
            if 2 * cases <= holders:
                break
            for beside, other in found[place + 1 :]:
                forced = cases + beside - holders
                if forced <= 0:
                    break
                total += 1
                joint = tuple(sorted((one, other), key=item_place))
                most = cells.of(joint, node)
                if most is None:
                    unknown += 1
                    known = [cells.of((each,), node) for each in joint]
                    most = min((each for each in known if each is not None), default=holders)
                if forced * den > most * num:
                    faults.append(
                        f"{forced:,} of at most {most:,} cases of {node!r} with {key_words(joint)} "
                        f"must hold {key_words((item,))}, the threshold is {num}/{den}"
                    )
    return faults, unknown, total
