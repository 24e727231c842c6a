"""How likely a case of a region holds a value, if every region of a cluster keeps its thresholds.

An attacker knows a row's region and cluster and some of its items. They take every placement of a
cluster's subrecords on its rows for equally likely in which no region has more holders of any value
than its threshold allows. ``by_force`` lists the placements; ``by_counting`` finds the same of real
clusters, chunk by chunk.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations, product
from math import comb

Subrecord = frozenset[str]
Values = Mapping[str, str]
"""Item -> its sensitive value; other items have none."""


@dataclass(frozen=True)
class Cluster:
    """What is published of one cluster."""

    regions: tuple[int, ...]
    """How many rows each region has."""
    chunks: tuple[tuple[Subrecord, ...], ...]
    """The subrecords of each chunk that are not empty."""
    items: frozenset[str]
    """Those without a count."""


def cap(theta: Fraction, rows: int) -> int:
    """Most holders of a value among so many rows."""
    return int(theta * rows)


def by_force(
    cluster: Cluster, values: Values, theta: Mapping[str, Fraction], held: Mapping[str, int], m: int
) -> dict[str, Fraction]:
    """Value -> the largest probability, over regions and at most m known items of other values.

    ``held``: by how many rows each item without a count is held; none of it is published.
    """
    rows = sum(cluster.regions)
    region_of = [g for g, size in enumerate(cluster.regions) for _ in range(size)]
    ways = [set(permutations([*c, *[frozenset[str]()] * (rows - len(c))])) for c in cluster.chunks]
    ways += [
        {tuple(frozenset([t]) if n in chosen else frozenset[str]() for n in range(rows))
         for chosen in combinations(range(rows), held[t])}
        for t in sorted(cluster.items)
    ]  # fmt: skip
    seen: dict[tuple[int, str, Subrecord], list[int]] = defaultdict(lambda: [0, 0])
    told = sorted({values[t] for c in (*cluster.chunks, [cluster.items]) for s in c for t in s
                   if t in values})  # fmt: skip
    for placement in product(*ways):
        records = [frozenset().union(*(chunk[n] for chunk in placement)) for n in range(rows)]
        having = [{values[t] for t in r if t in values} for r in records]
        if not _keeps(cluster.regions, region_of, having, theta):
            continue
        for n, record in enumerate(records):
            for value in told:
                for known in _sets([t for t in record if values.get(t) != value], m):
                    count = seen[region_of[n], value, known]
                    count[0] += value in having[n]
                    count[1] += 1
    worst: dict[str, Fraction] = {}
    for (_, value, _), (part, whole) in seen.items():
        worst[value] = max(worst.get(value, Fraction(0)), Fraction(part, whole))
    return worst


def _keeps(
    regions: Sequence[int], region_of: Sequence[int], having: Sequence[Collection[str]],
    theta: Mapping[str, Fraction],
) -> bool:  # fmt: skip
    holders = Counter((region_of[n], value) for n, held in enumerate(having) for value in held)
    return all(count <= cap(theta[v], regions[g]) for (g, v), count in holders.items())


def _sets(items: Sequence[str], m: int) -> Iterator[Subrecord]:
    for size in range(m + 1):
        yield from map(frozenset, combinations(sorted(items), size))


@dataclass(frozen=True)
class Place:
    """What is told of one value in one cluster."""

    value: str
    all_caps: Fraction | None
    """The largest probability within the caps of all values; None: no placement keeps them, or the
    value is told in several chunks that tell of others too."""
    own_cap: Fraction | None
    """Within the cap of the value alone."""

    def worst(self) -> Fraction:
        """Of the two; 1 where one of them is not known."""
        return max(Fraction(1) if p is None else p
                   for p in (self.all_caps, self.own_cap))  # fmt: skip


def by_counting(
    cluster: Cluster, values: Values, theta: Mapping[str, Fraction], item_rows: int, m: int
) -> list[Place]:
    """The same of every value, by counting placements; ``item_rows``: most rows of an item.

    A placement of a chunk is a table of how many subrecords of each kind a region has, a kind being
    the capped values that a subrecord holds. How likely one row holds one subrecord is the share of
    the placements that are left once it is put there.
    """
    told: dict[str, list[int]] = defaultdict(list)
    for number, chunk in enumerate(cluster.chunks):
        for value in sorted({values[t] for s in chunk for t in s if t in values}):
            told[value].append(number)
    hidden = Counter(values[t] for t in cluster.items if t in values)
    return [
        _place(cluster, values, theta, value, told, hidden, item_rows, m)
        for value in sorted(told.keys() | hidden.keys())
    ]


def _place(
    cluster: Cluster, values: Values, theta: Mapping[str, Fraction], value: str,
    told: Mapping[str, list[int]], hidden: Counter[str], item_rows: int, m: int,
) -> Place:  # fmt: skip
    most = {
        v: sum(sum(any(values.get(t) == v for t in s) for s in cluster.chunks[c])
               for c in told.get(v, [])) + hidden[v] * item_rows
        for v in told.keys() | hidden.keys()
    }  # fmt: skip
    reached = {v for v, n in most.items() if any(n > cap(theta[v], g) for g in cluster.regions)}
    chunks = told.get(value, [])
    places = len(chunks) + hidden[value]
    densest = max(Fraction(cap(theta[value], g), g) for g in cluster.regions)
    if value in reached and (places > 1 or not chunks):
        lone = all(values.get(t) == value for c in chunks for s in cluster.chunks[c] for t in s)
        within = densest if lone else None
        return Place(value, within, within)
    single = {v for v in reached if len(told.get(v, [])) + hidden[v] == 1}

    def probability(capped: set[str]) -> Fraction | None:
        best = Fraction(0)
        for region in range(len(cluster.regions)):
            miss = [(1 - Fraction(min(item_rows, sum(cluster.regions)), sum(cluster.regions)))
                    ** hidden[value]] * (m + 1)  # fmt: skip
            for c in chunks:
                shares = _shares(
                    cluster, cluster.chunks[c], region, values, theta, value, capped, m
                )
                if shares is None:
                    return None
                miss = [min(miss[n - i] * (1 - shares[i]) for i in range(n + 1))
                        for n in range(m + 1)]  # fmt: skip
            best = max(best, 1 - miss[m])
        return best

    own = single & {value}
    within = probability(single)
    return Place(value, within, within if own == single else probability(own))


def _shares(
    cluster: Cluster, chunk: Sequence[Subrecord], region: int, values: Values,
    theta: Mapping[str, Fraction], value: str, capped: set[str], m: int,
) -> list[Fraction] | None:  # fmt: skip
    """[m + 1] the largest probability in a region, where so many items of the chunk are known."""
    kinds = [frozenset(values[t] for t in s if t in values) & capped for s in chunk]
    likely = _likely(
        tuple(sorted(cluster.regions)), cluster.regions[region],
        tuple(sorted(Counter(tuple(sorted(k)) for k in kinds).items())),
        tuple(sorted((v, theta[v]) for v in capped.intersection(*[set().union(*kinds)]))),
    )  # fmt: skip
    if likely is None:
        return None
    part: Counter[Subrecord] = Counter()
    whole: Counter[Subrecord] = Counter()
    for held, kind in zip(chunk, kinds, strict=True):
        chance = likely[tuple(sorted(kind))]
        has = any(values.get(t) == value for t in held)
        for known in _sets([t for t in held if values.get(t) != value], m):
            part[known] += chance * has
            whole[known] += chance
    whole[frozenset()] = Fraction(1)  # a row may hold none of the chunk's subrecords
    best = [Fraction(0)] * (m + 1)
    for known, chance in whole.items():
        for size in range(len(known), m + 1):
            if chance:
                best[size] = max(best[size], part[known] / chance)
    return best


@cache
def _likely(
    regions: tuple[int, ...], own: int, kinds: tuple[tuple[tuple[str, ...], int], ...],
    theta: tuple[tuple[str, Fraction], ...],
) -> dict[tuple[str, ...], Fraction] | None:  # fmt: skip
    """Kind -> how likely one row of a region of ``own`` rows holds one subrecord of it."""
    room = tuple((size, tuple((v, cap(t, size)) for v, t in theta)) for size in regions)
    names = tuple(kind for kind, _ in kinds)
    counts = tuple(count for _, count in kinds)
    all_ways = placements(room, names, counts)
    if not all_ways:
        return None
    found: dict[tuple[str, ...], Fraction] = {}
    at = regions.index(own)
    for n, kind in enumerate(names):
        caps = tuple((v, c - (v in kind)) for v, c in room[at][1])
        fewer = (*room[:at], *room[at + 1 :], (own - 1, caps))
        left = tuple(c - (i == n) for i, c in enumerate(counts))
        ways = placements(fewer, names, left) if min((c for _, c in caps), default=0) >= 0 else 0
        found[kind] = Fraction(ways, all_ways)
    return found


def placements(
    room: tuple[tuple[int, tuple[tuple[str, int], ...]], ...],
    kinds: tuple[tuple[str, ...], ...],
    counts: tuple[int, ...],
) -> int:
    """In how many ways subrecords, which are told apart, lie on the rows of regions within caps."""

    @cache
    def ways(region: int, left: tuple[int, ...]) -> int:
        if region == len(room):
            return int(not any(left))
        rows, caps = room[region]
        return sum(
            count * ways(region + 1, rest) for count, rest in _filled(rows, dict(caps), kinds, left)
        )

    return ways(0, counts)


def _filled(
    rows: int, caps: Mapping[str, int], kinds: Sequence[tuple[str, ...]], left: tuple[int, ...]
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """How a region can be filled: ways, and what is left of each kind."""
    if not kinds:
        yield 1, ()
        return
    most = min([left[0], rows, *(caps[v] for v in kinds[0] if v in caps)])
    for here in range(most + 1):
        fewer = {v: c - here * (v in kinds[0]) for v, c in caps.items()}
        # which subrecords, and on which rows in which order
        chosen = comb(left[0], here)
        for row in range(here):
            chosen *= rows - row
        for ways, rest in _filled(rows - here, fewer, kinds[1:], left[1:]):
            yield chosen * ways, (left[0] - here, *rest)
