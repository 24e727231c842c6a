"""Where the subrecords of a chunk may lie, if every region of the cluster keeps its thresholds.

Rows that are taken apart show their region and cluster. What is promised of them is not only that
a dataset fits the chunks: in each region of a cluster, too, no sensitive value is held by more
cases than its threshold allows, floor(theta * n) of n, since such cases are whole groups. So not
every placement of subrecords is possible, and where some regions can take few holders of a value,
the others have more of them.

*Claim*: ``spread`` is the mean, over all placements of a chunk's subrecords on the records of a
cluster that keep the caps, each as likely as any other, of how many subrecords lie in a region.

*Proof.* Subrecords that hold the same capped values are of one kind; a cap counts kinds alone. A
placement gives each region of n records a number a_t of every kind t, and n! / (a_1! a_2! ...)
placements of it give the same numbers, the records without any included. So the placements within
the caps are counted by a product of polynomials, one for each region, with a variable for each
kind. Within a kind each subrecord is as likely to be there as any other.

Values of several chunks are capped together. They are looked at apart where the cap can never be
reached, and else each chunk with them has to have no other value (see ``whole_rows``).

Shares nothing with what makes a release.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from math import factorial, lcm, prod

from srsql.engine.warehouse.released_terms import Items, Reader

STEPS = 2_000_000
"""Products of terms that are looked at for one chunk; one that needs more is not proved."""
Kind = tuple[int, int]
"""The capped values that subrecords hold, as bits, and how many subrecords hold just these."""
Region = tuple[int, int, tuple[int, ...]]
"""The records of a region, how many regions have so many, and the cap of each value there."""
Weights = tuple[dict[int, int], int]
"""Capped values as bits -> how likely a subrecord with these lies in the region; and the sum over
all records of the cluster."""


@dataclass(frozen=True)
class Promise:
    """What a release promises of its rows, beside what its chunks tell."""

    items: Items
    """Which items stand for which sensitive value."""
    thresholds: Mapping[str, Fraction]
    """Of the values."""
    cells: Mapping[int, Counter[int]]
    """Cluster -> cases -> how many of its regions have so many cases in it."""
    item_cases: int
    """Cases of its cluster that hold an item without a count, at most."""

    def cap(self, value: str, cases: int) -> int:
        """How many of so many cases of a region may hold a value; without a threshold, all."""
        return cap(self.thresholds.get(value, Fraction(1)), cases)

    def room(self, cluster: int, value: str) -> int:
        """How many cases of a cluster may hold a value, over all its regions."""
        cells = tuple(self.cells.get(cluster, Counter()).items())
        return _room(self.thresholds.get(value, Fraction(1)), cells)

    def densest(self, cluster: int, value: str) -> Fraction:
        """The largest share of a region of a cluster that may hold a value."""
        return _densest(self.thresholds.get(value, Fraction(1)), tuple(self.cells[cluster]))

    def weights(
        self, cluster: int, bits: Sequence[int], records: int, capped: Sequence[str]
    ) -> list[Weights] | None:
        """For each size of a region, how likely the kinds of subrecords lie in one of that size.

        Args:
            cluster: of the chunk.
            bits: the capped values that each subrecord of the chunk holds; without empty ones.
            records: of the cluster.
            capped: the values of which the caps count, in the order of their bits.

        Returns:
            None: no placement keeps the caps, or it is not provable within the steps.
        """
        kinds = Counter(bits)
        empty = records - len(bits) + kinds.pop(0, 0)
        regions = tuple(
            (cases, number, tuple(self.cap(value, cases) for value in capped))
            for cases, number in sorted(self.cells[cluster].items())
        )
        return spread(tuple(sorted(kinds.items())), empty, regions)


@cache
def cap(theta: Fraction, cases: int) -> int:
    """How many of so many cases of a region may hold a value with this threshold."""
    return theta.numerator * cases // theta.denominator


@cache
def _room(theta: Fraction, cells: tuple[tuple[int, int], ...]) -> int:
    return sum(cap(theta, cases) * regions for cases, regions in cells)


@cache
def _densest(theta: Fraction, sizes: tuple[int, ...]) -> Fraction:
    return max(Fraction(cap(theta, cases), cases) for cases in sizes)


def read_cells(reader: Reader, rows: str) -> dict[int, Counter[int]]:
    """Cluster -> cases -> regions, of rows (region, case_id, cluster).

    Args:
        reader: in which they are.
        rows: a query of them.
    """
    found: dict[int, Counter[int]] = {}
    for cluster, cases in reader.rows(
        f"SELECT v.cluster, count(DISTINCT v.case_id) FROM ({rows}) AS v "
        "GROUP BY v.cluster, v.region"
    ):
        found.setdefault(cluster, Counter())[cases] += 1
    return found


@lru_cache(maxsize=1 << 14)
def spread(
    kinds: tuple[Kind, ...], empty: int, regions: tuple[Region, ...]
) -> list[Weights] | None:
    """For each size of a region, how likely each kind of subrecord lies in one of that size.

    Args:
        kinds: of subrecords with a capped value.
        empty: records without any.
        regions: of the cluster, each size once.

    Returns:
        Aligned with ``regions``; None: nothing keeps the caps, or it takes too many steps.
    """
    limits = tuple(count for _, count in kinds)
    ways: list[dict[tuple[int, ...], int]] = []
    steps = 0
    for cases, _, caps in regions:
        if prod(min(cases, count) + 1 for count in limits) > STEPS:
            return None
        ways.append({part: _orders(part, cases) for part in _parts(kinds, caps, cases)})
    found: list[Weights] = []
    scale = lcm(*limits, empty or 1)
    for own, (cases, _, _) in enumerate(regions):
        rest = {(0,) * len(kinds): 1}
        for other, (_, number, _) in enumerate(regions):
            for _ in range(number - (other == own)):
                steps += len(rest) * len(ways[other])
                if steps > STEPS:
                    return None
                rest = _product(rest, ways[other], limits)
        whole, inside = 0, [0] * len(kinds)
        for part, orders in ways[own].items():
            beyond = tuple(count - here for count, here in zip(limits, part, strict=True))
            placements = orders * rest.get(beyond, 0)
            whole += placements
            for at, here in enumerate(part):
                inside[at] += placements * here
        if not whole:
            return None
        weights = {
            bits: total * (scale // count)
            for (bits, count), total in zip(kinds, inside, strict=True)
        }
        weights[0] = (cases * whole - sum(inside)) * (scale // empty) if empty else 0
        found.append((weights, cases * whole * scale))
    return found


def _parts(kinds: Sequence[Kind], caps: Sequence[int], cases: int) -> Iterator[tuple[int, ...]]:
    """How many subrecords of each kind a region of so many cases may have."""
    if not kinds:
        yield ()
        return
    bits, count = kinds[0]
    most = min(count, cases, *(cap for bit, cap in enumerate(caps) if bits >> bit & 1))
    for here in range(most + 1):
        left = [cap - here * (bits >> bit & 1) for bit, cap in enumerate(caps)]
        for others in _parts(kinds[1:], left, cases - here):
            yield (here, *others)


def _orders(part: Sequence[int], cases: int) -> int:
    """In how many ways so many subrecords of each kind lie on the records of a region."""
    return factorial(cases) // prod(map(factorial, (*part, cases - sum(part))))


def _product(
    one: Mapping[tuple[int, ...], int], other: Mapping[tuple[int, ...], int],
    limits: Sequence[int],
) -> dict[tuple[int, ...], int]:  # fmt: skip
    """The placements in two parts of the regions, of no more subrecords than there are."""
    found: Counter[tuple[int, ...]] = Counter()
    for first, ways in one.items():
        for second, orders in other.items():
            both = tuple(map(int.__add__, first, second))
            if all(a <= b for a, b in zip(both, limits, strict=True)):
                found[both] += ways * orders
    return found
