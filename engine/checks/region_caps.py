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

from srsql.engine.catalog.released_terms import Items, Reader

STEPS = 2_000_000
"""Products of terms that are looked at for one chunk; one that needs more is not proved."""
Kind = tuple[int, int]
"""The capped values that subrecords hold, as bits, and how many subrecords hold just these."""
Region = tuple[int, int, tuple[int, ...]]
"""The records of a region, how many regions have so many, and the cap of each value there."""
_Placements = list[tuple[tuple[int, ...], int]]
"""How many subrecords of each kind lie in a region, and in how many ways."""
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
    ways: list[_Placements] = []
    for cases, _, caps in regions:
        if prod(min(cases, count) + 1 for count in limits) > STEPS:
            return None
        ways.append([(part, _orders(part, cases)) for part in _parts(kinds, caps, cases)])
    packing = _Packing(limits)
    rests = _rests(ways, [number for _, number, _ in regions], packing)
    if rests is None:
        return None
    found: list[Weights] = []
    scale = lcm(*limits, empty or 1)
    for own, rest, (cases, _, _) in zip(ways, rests, regions, strict=True):
        whole, inside = 0, [0] * len(kinds)
        for part, orders in own:
            placements = orders * rest.get(packing.whole - packing.pack(part), 0)
            if placements:
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


class _Packing:
    """Numbers of subrecords of each kind as one integer, so that sums are sums of integers.

    Each number has a field of bits in which twice its limit fits.
    """

    def __init__(self, limits: Sequence[int]) -> None:
        self.width = max(limits, default=0).bit_length() + 1
        half = 1 << (self.width - 1)
        self.whole = self.pack(limits)
        self.over = self.pack([half] * len(limits))
        """The highest bit of each field: it is set, once ``room`` is added, where a number exceeds
        its limit."""
        self.room = self.pack([half - 1 - limit for limit in limits])

    def pack(self, part: Sequence[int]) -> int:
        """The integer of these numbers, none above its limit."""
        packed = 0
        for here in part:
            packed = packed << self.width | here
        return packed


def _rests(
    ways: Sequence[_Placements], numbers: Sequence[int], packing: _Packing
) -> list[dict[int, int]] | None:
    """For each size of a region, the placements in all regions but one of that size.

    Args:
        ways: the placements in one region of each size.
        numbers: of regions of each size.
        packing: of numbers of subrecords.

    Returns:
        Packed numbers of subrecords of each kind -> placements; None: it takes too many steps,
        where each size is charged for all its regions.
    """
    packed = [{packing.pack(part): orders for part, orders in own} for own in ways]
    rests: list[dict[int, int]] = []
    before, steps_before, steps = {0: 1}, 0, 0
    for own, number in enumerate(numbers):
        lone = _times(before, packed[own], number - 1, packing, STEPS - steps - steps_before)
        if lone is None:
            return None
        lone_rest, taken = lone
        steps += steps_before + taken
        rest = lone_rest
        for other in range(own + 1, len(numbers)):
            later = _times(rest, packed[other], numbers[other], packing, STEPS - steps)
            if later is None:
                return None
            rest, more = later
            steps += more
        rests.append(rest)
        if own + 1 < len(numbers):
            steps_before += taken
            whole = _times(lone_rest, packed[own], 1, packing, STEPS - steps - steps_before)
            if whole is None:
                return None
            before, more = whole
            steps_before += more
    return rests


def _times(
    rest: dict[int, int], ways: dict[int, int], number: int, packing: _Packing, most: int
) -> tuple[dict[int, int], int] | None:
    """The placements with so many further regions of one size, and the steps that they took.

    ``most``: steps; None: they would be more.
    """
    steps = 0
    for _ in range(number):
        steps += len(rest) * len(ways)
        if steps > most:
            return None
        rest = _product(rest, ways, packing)
    return rest, steps


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


def _product(one: dict[int, int], other: dict[int, int], packing: _Packing) -> dict[int, int]:
    """The placements in two parts of the regions, of no more subrecords than there are."""
    found: dict[int, int] = {}
    room, over, known = packing.room, packing.over, found.get
    for second, orders in other.items():
        for first, ways in one.items():
            both = first + second
            if not (both + room) & over:
                found[both] = known(both, 0) + ways * orders
    return found
