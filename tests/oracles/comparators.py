"""Oracles of the comparators of Lin 2016, from their definitions; everything is recomputed.

k-anonymity, (X, Y)-anonymity and (alpha, k)-anonymity are grown by the greedy clustering of the
paper (``oracles.ms``): the first two by least information loss alone, which is a privacy risk of 1,
since no record has a value that is bounded. Multi-sensitive l-diversity is made from the top down.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction

from oracles import ms

Values = Sequence[set[int]]
"""Of one record: its values of each sensitive attribute."""


def by_loss(
    records: Sequence[ms.Record], attributes: Sequence[ms.Attribute], k: int, first: int
) -> list[int]:
    """k-anonymity of reports, (X, Y)-anonymity of super-records: group numbers."""
    plain = [ms.Record(record.values, {}) for record in records]
    return ms.group(plain, attributes, k, {}, first)


def by_alpha(
    records: Sequence[ms.Record],
    attributes: Sequence[ms.Attribute],
    k: int,
    alpha: Fraction,
    first: int,
) -> list[int]:
    """(alpha, k)-anonymity: one threshold for every value; -1 where no group can take a record."""
    thetas = {value: alpha for record in records for value in record.sensitive}
    return ms.group(records, attributes, k, thetas, first)


def keeps_alpha(group: Iterable[set[Hashable]], alpha: Fraction) -> bool:
    """Wong et al. 2006: no value is held by more than alpha of the records."""
    held = [set(values) for values in group]
    counted = Counter(value for values in held for value in values)
    return all(Fraction(count, len(held)) <= alpha for count in counted.values())


def keeps_values(group: Sequence[Values], sensitive: int, least: int) -> bool:
    """l distinct values of each sensitive attribute, held by l records."""
    return len(group) >= least and all(
        len(set().union(*(values[a] for values in group))) >= least
        and sum(bool(values[a]) for values in group) >= least
        for a in range(sensitive)
    )


def from_top_down(
    records: Sequence[ms.Record],
    values: Sequence[Values],
    attributes: Sequence[ms.Attribute],
    sensitive: int,
    least: int,
) -> list[int]:
    """Multi-sensitive l-diversity: groups numbered by first record, all -1 if all are too few."""

    def diverse(part: Sequence[int]) -> bool:
        return keeps_values([values[r] for r in part], sensitive, least)

    def split(part: list[int]) -> list[list[int]]:
        inside = [records[r] for r in part]
        widths = {i: width(inside, i, attributes[i]) for i in range(len(attributes))}
        for i in sorted(widths, key=lambda i: (-widths[i], i)):
            parts = cut(part, i)
            if widths[i] and len(parts) > 1 and all(map(diverse, parts)):
                return [group for smaller in parts for group in split(smaller)]
        return [part]

    def cut(part: list[int], i: int) -> list[list[int]]:
        attribute, found = attributes[i], {r: records[r].values[i] for r in part}
        if isinstance(attribute, ms.Categorical):
            top = attribute.lowest_common_ancestor(found.values())
            below = {r: branch(attribute, node, top) for r, node in found.items()}
        else:
            points = {r: Fraction(sum(ends), 2) for r, ends in found.items()}
            median = sorted(points.values())[(len(part) - 1) // 2]
            last = max(points.values())
            below = {r: p > median if last > median else p >= median for r, p in points.items()}
        return [[r for r in part if below[r] == side] for side in sorted(set(below.values()))]

    everyone = list(range(len(records)))
    if not records or not diverse(everyone):
        return [-1] * len(records)
    found = [0] * len(records)
    for number, group in enumerate(sorted(split(everyone), key=min)):
        for r in group:
            found[r] = number
    return found


def width(group: Sequence[ms.Record], i: int, attribute: ms.Attribute) -> Fraction:
    """What QID i adds to the information loss of a member, Lin 2016, eq. (1)."""
    alone = [ms.Record((record.values[i],), {}) for record in group]
    return ms.information_loss(alone, [attribute]) / len(group)


def branch(tree: ms.Categorical, node: int, top: int) -> int:
    """The child of ``top`` on the way down to ``node``, or ``top`` itself."""
    path = tree.path(node)
    return path[path.index(top) - 1] if node != top else top


def dangerous(
    groups: Mapping[Hashable, Iterable[tuple[Hashable, set[str]]]], thetas: Mapping[str, Fraction]
) -> set[Hashable]:
    """Groups of (case, values) in which some value is held by more than theta of the cases."""
    found = set()
    for name, rows in groups.items():
        held: dict[Hashable, set[str]] = {}
        for case, values in rows:
            held.setdefault(case, set()).update(values)
        counted = Counter(value for values in held.values() for value in values)
        if any(Fraction(n, len(held)) > thetas[value] for value, n in counted.items()):
            found.add(name)
    return found
