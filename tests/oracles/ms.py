"""Brute-force oracle of MS(k, θ*)-bounding, written from the equations of Lin 2016.

Everything is recomputed from the members of a group at every step, in exact fractions. What the
paper leaves open (ties, leftovers, boxes, external knowledge) follows section 7 of the
specification. An infinite privacy risk is ``None``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import floor
from typing import NamedTuple


@dataclass(frozen=True)
class Numeric:
    """A numeric QID, measured in granules."""

    span: int
    """max(N) - min(N) over the whole data set."""


@dataclass(frozen=True)
class Categorical:
    """A categorical QID with its generalization hierarchy."""

    parent: tuple[int | None, ...]
    """Parent of every node; None for the root."""

    def path(self, node: int) -> list[int]:
        """The node and its ancestors, the root last."""
        above = self.parent[node]
        return [node] if above is None else [node, *self.path(above)]

    def lowest_common_ancestor(self, nodes: Iterable[int]) -> int:
        """The deepest node that lies on the path of every given node."""
        first, *others = (self.path(node) for node in set(nodes))
        return next(node for node in first if all(node in path for path in others))

    def height(self, node: int) -> int:
        """Longest way from a node down to a leaf."""
        below = [child for child, above in enumerate(self.parent) if above == node]
        return max((1 + self.height(child) for child in below), default=0)

    def relative_height(self, node: int) -> Fraction:
        """h(node) / h(root), the share of generalization; 0 in a tree of one node."""
        return _relative_height(self, node)


@cache
def _relative_height(tree: Categorical, node: int) -> Fraction:
    root_height = tree.height(tree.parent.index(None))
    return Fraction(tree.height(node), root_height) if root_height else Fraction(0)


Attribute = Numeric | Categorical
Interval = tuple[int, int]
Value = int | str


@dataclass(frozen=True)
class Record:
    """A super-record: its region and the probability of every sensitive value it may have."""

    values: tuple[Interval | int, ...]
    """An interval per numeric QID, a node per categorical one."""

    sensitive: Mapping[Value, Fraction]
    """S_r with p(r, s) > 0; without external knowledge every p is 1."""


class Gain(NamedTuple):
    """What a record costs a group, in the order in which choices are compared."""

    refined: Fraction
    """ΔIL', eq. (7)."""
    risk: Fraction
    """PR, eq. (6)."""
    loss: Fraction
    """ΔIL, eq. (2)."""


def information_loss(group: Sequence[Record], attributes: Sequence[Attribute]) -> Fraction:
    """IL(g), Lin 2016, eq. (1)."""
    total = Fraction(0)
    for i, attribute in enumerate(attributes):
        values = [record.values[i] for record in group]
        if isinstance(attribute, Numeric):
            highest, lowest = max(high for _, high in values), min(low for low, _ in values)
            total += Fraction(highest - lowest, attribute.span)
        else:
            total += attribute.relative_height(attribute.lowest_common_ancestor(values))
    return len(group) * total


def delta_il(group: Sequence[Record], record: Record, attributes: Sequence[Attribute]) -> Fraction:
    """ΔIL(g, r), Lin 2016, eq. (2)."""
    return information_loss([*group, record], attributes) - information_loss(group, attributes)


WHOLE = Fraction(1)
"""The unit in which σ is counted without external knowledge."""


def eta(size: int, k: int, theta: Fraction, unit: Fraction = WHOLE) -> Fraction:
    """η_s, Lin 2016, eq. (4): how many of ``size`` records may have s.

    The floor is for whole counts; where σ is a sum of probabilities, it is cut off at their unit.
    """
    return floor(max(k, size) * theta / unit) * unit


def sigma(group: Sequence[Record], value: Value) -> Fraction:
    """σ_s(g): the number of records that have s, in expectation under external knowledge."""
    return sum((record.sensitive.get(value, Fraction(0)) for record in group), Fraction(0))


def privacy_risk(
    group: Sequence[Record],
    record: Record,
    k: int,
    thetas: Mapping[Value, Fraction],
    unit: Fraction = WHOLE,
) -> Fraction | None:
    """PR(g, r), Lin 2016, eqs. (5) and (6): σ counted before r joins, η after; None is ∞.

    For p(r, s) = 1 the condition σ + p <= η is the paper's η > σ.
    """
    risk = Fraction(1)
    for value, probability in record.sensitive.items():
        present, allowed = sigma(group, value), eta(len(group) + 1, k, thetas[value], unit)
        if present + probability > allowed:
            return None
        if present:
            risk += present / (allowed - present)
    return risk


def gain(
    group: Sequence[Record],
    record: Record,
    attributes: Sequence[Attribute],
    k: int,
    thetas: Mapping[Value, Fraction],
    unit: Fraction = WHOLE,
) -> Gain | None:
    """ΔIL'(g, r) = ΔIL × PR, Lin 2016, eq. (7), with what breaks its ties; None is ∞."""
    risk = privacy_risk(group, record, k, thetas, unit)
    if risk is None:
        return None
    loss = delta_il(group, record, attributes)
    return Gain(loss * risk, risk, loss)


def distance(one: Record, other: Record, attributes: Sequence[Attribute]) -> Fraction:
    """How far two seeds are apart: between midpoints, or by the height at which they meet."""
    total = Fraction(0)
    for attribute, a, b in zip(attributes, one.values, other.values, strict=True):
        if isinstance(attribute, Numeric):
            total += Fraction(abs(sum(a) - sum(b)), 2 * attribute.span)
        else:
            total += attribute.relative_height(attribute.lowest_common_ancestor([a, b]))
    return total


def group(
    records: Sequence[Record],
    attributes: Sequence[Attribute],
    k: int,
    thetas: Mapping[Value, Fraction],
    first: int,
    leftovers: str = "withhold",
    unit: Fraction = WHOLE,
) -> list[int]:
    """Group number of every record by Lin 2016, Algorithms 1 and 2; -1 where none fits.

    Groups are numbered in the order in which they were opened. ``leftovers`` says what happens
    to a record for which every ΔIL' is ∞: ``withhold`` it, or ``merge`` groups until it fits.
    """
    if not records:
        return []

    def fits(r: int) -> bool:
        return _join(r, groups, records, attributes, k, thetas, unit)

    groups, rest = _build_groups(records, attributes, k, thetas, first, unit)
    unplaced = [r for r in rest if not fits(r)]
    if leftovers == "merge":
        for r in unplaced:
            while not fits(r) and len(groups) > 1:
                _merge_once(r, groups, records, attributes)
    numbers = [-1] * len(records)
    for number, members in enumerate(groups):
        for r in members:
            numbers[r] = number
    return numbers


Groups = list[list[int]]


def _build_groups(
    records: Sequence[Record],
    attributes: Sequence[Attribute],
    k: int,
    thetas: Mapping[Value, Fraction],
    first: int,
    unit: Fraction,
) -> tuple[Groups, list[int]]:
    """Algorithm 1, lines 3-24: the groups of k and the records left over, by index."""
    groups: Groups = []
    rest = list(range(len(records)))
    seed = first
    while True:
        members = [seed]
        rest.remove(seed)
        while len(members) < k:
            inside = [records[r] for r in members]
            gains = {r: gain(inside, records[r], attributes, k, thetas, unit) for r in rest}
            finite = [r for r in rest if gains[r] is not None]
            if not finite:
                return groups, sorted(rest + members)
            best = min(finite, key=lambda r: (gains[r], r))
            members.append(best)
            rest.remove(best)
        groups.append(members)
        if not rest:
            return groups, []
        seed = min(rest, key=lambda r: (-distance(records[seed], records[r], attributes), r))


def _join(
    r: int,
    groups: Groups,
    records: Sequence[Record],
    attributes: Sequence[Attribute],
    k: int,
    thetas: Mapping[Value, Fraction],
    unit: Fraction,
) -> bool:
    """Algorithm 2, lines 2-3: put a record into its group of least ΔIL', if one is finite."""
    choices = []
    for number, members in enumerate(groups):
        cost = gain([records[m] for m in members], records[r], attributes, k, thetas, unit)
        if cost is not None:
            choices.append((cost, number))
    if choices:
        groups[min(choices)[1]].append(r)
    return bool(choices)


def _merge_once(
    r: int, groups: Groups, records: Sequence[Record], attributes: Sequence[Attribute]
) -> None:
    """Merge the group nearest to a record with the one that adds the least information loss."""

    def members(number: int) -> list[Record]:
        return [records[m] for m in groups[number]]

    def growth(number: int) -> Fraction:
        together = information_loss(members(nearest) + members(number), attributes)
        apart = [information_loss(members(n), attributes) for n in (nearest, number)]
        return together - sum(apart)

    nearest = min(
        range(len(groups)), key=lambda n: (delta_il(members(n), records[r], attributes), n)
    )
    partner = min((n for n in range(len(groups)) if n != nearest), key=lambda n: (growth(n), n))
    kept, spent = sorted((nearest, partner))
    groups[kept] += groups.pop(spent)


def inferred(drugs: Iterable[str], knowledge: Mapping[str, Sequence[str]]) -> dict[str, Fraction]:
    """p(r, s) = 1 - Π (1 - 1/|E(d)|) over the record's drugs d with s in E(d)."""
    probability: dict[str, Fraction] = {}
    for diseases in (knowledge[drug] for drug in set(drugs) if drug in knowledge):
        for disease in diseases:
            missed = (1 - probability.get(disease, Fraction(0))) * (1 - Fraction(1, len(diseases)))
            probability[disease] = 1 - missed
    return probability


def confidence(group: Sequence[Record], value: Value) -> Fraction:
    """conf(q → s, E), Lin 2016, Definition 1: the expected share of cases that have s."""
    return sigma(group, value) / len(group)
