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
from functools import cache, lru_cache
from itertools import combinations, permutations, product
from math import comb, lcm, perm, prod

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
    most = Counter({value: number * item_rows for value, number in hidden.items()})
    for chunk in cluster.chunks:
        for held in chunk:
            most.update({values[t] for t in held if t in values})
    reached = {
        v for v, n in most.items() if any(min(n, g) > cap(theta[v], g) for g in cluster.regions)
    }  # no region has more holders than rows
    return [
        _place(cluster, values, theta, value, _Told(told, hidden, reached, item_rows), m)
        for value in sorted(told.keys() | hidden.keys())
    ]


@dataclass(frozen=True)
class _Told:
    """Where a cluster tells its values."""

    chunks: Mapping[str, list[int]]
    hidden: Counter[str]
    """How many items without a count a value has."""
    reached: set[str]
    """The values of which some region could have more holders than its cap."""
    item_rows: int


def _place(
    cluster: Cluster, values: Values, theta: Mapping[str, Fraction], value: str, told: _Told, m: int
) -> Place:  # fmt: skip
    hidden, reached, rows = told.hidden, told.reached, sum(cluster.regions)
    chunks = told.chunks.get(value, [])
    places = len(chunks) + hidden[value]
    densest = max(Fraction(cap(theta[value], g), g) for g in cluster.regions)
    if value in reached and (places > 1 or not chunks):
        lone = all(values.get(t) == value for c in chunks for s in cluster.chunks[c] for t in s)
        within = densest if lone else None
        return Place(value, within, within)
    single = {v for v in reached if len(told.chunks.get(v, [])) + hidden[v] == 1}

    def probability(capped: set[str]) -> Fraction | None:
        best = Fraction(0)
        for own_rows in sorted(set(cluster.regions)):
            miss = [(1 - Fraction(min(told.item_rows, rows), rows)) ** hidden[value]] * (m + 1)
            for c in chunks:
                shares = _shares(
                    cluster, cluster.chunks[c], own_rows, values, theta, value, capped, m
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
    cluster: Cluster, chunk: tuple[Subrecord, ...], own: int, values: Values,
    theta: Mapping[str, Fraction], value: str, capped: set[str], m: int,
) -> list[Fraction] | None:  # fmt: skip
    """[m + 1] the largest probability in a region of ``own`` rows, where so many items of the chunk
    are known."""
    kinds = [frozenset(values[t] for t in s if t in values) & capped for s in chunk]
    likely = _likely(
        tuple(sorted(cluster.regions)), own,
        tuple(sorted(Counter(tuple(sorted(k)) for k in kinds).items())),
        tuple(sorted((v, theta[v]) for v in capped.intersection(*[set().union(*kinds)]))),
    )  # fmt: skip
    if likely is None:
        return None
    one = lcm(*(chance.denominator for chance in likely.values()))
    chances = tuple(int(likely[tuple(sorted(kind))] * one) for kind in kinds)
    whole = _holding(chunk, chances, m)
    part: Counter[Subrecord] = Counter()
    for held, chance in zip(chunk, chances, strict=True):
        if any(values.get(t) == value for t in held):
            for known in _sets([t for t in held if values.get(t) != value], m):
                part[known] += chance
    best = [Fraction(0)] * (m + 1)
    for known, chance in part.items():
        # a row may hold none of the chunk's subrecords
        among = whole[known] if known else one
        for size in range(len(known), m + 1):
            if chance * best[size].denominator > best[size].numerator * among:
                best[size] = Fraction(chance, among)
    return best


@lru_cache(maxsize=64)
def _holding(chunk: tuple[Subrecord, ...], chances: tuple[int, ...], m: int) -> Counter[Subrecord]:
    """How likely one row holds each set of at most m items, in the unit of the chances."""
    found: Counter[Subrecord] = Counter()
    for held, chance in zip(chunk, chances, strict=True):
        for known in _sets(list(held), m):
            found[known] += chance
    return found


@cache
def _likely(
    regions: tuple[int, ...], own: int, kinds: tuple[tuple[tuple[str, ...], int], ...],
    theta: tuple[tuple[str, Fraction], ...],
) -> dict[tuple[str, ...], Fraction] | None:  # fmt: skip
    """Kind -> how likely one row of a region of ``own`` rows holds one subrecord of it."""
    sizes = list(regions)
    sizes.remove(own)
    sizes.insert(0, own)  # first, so that what the others can take is counted once for all kinds
    room = tuple((size, tuple((v, cap(t, size)) for v, t in theta)) for size in sizes)
    names = tuple(kind for kind, _ in kinds)
    counts = tuple(count for _, count in kinds)
    all_ways = placements(room, names, counts)
    if not all_ways:
        return None
    found: dict[tuple[str, ...], Fraction] = {}
    for n, kind in enumerate(names):
        caps = tuple((v, c - (v in kind)) for v, c in room[0][1])
        fewer = ((own - 1, caps), *room[1:])
        left = tuple(c - (i == n) for i, c in enumerate(counts))
        ways = placements(fewer, names, left) if min((c for _, c in caps), default=0) >= 0 else 0
        found[kind] = Fraction(ways, all_ways)
    return found


Room = tuple[tuple[int, tuple[tuple[str, int], ...]], ...]
"""The rows of each region, and how many of them may hold each value."""


def placements(room: Room, kinds: tuple[tuple[str, ...], ...], counts: tuple[int, ...]) -> int:
    """In how many ways subrecords, which are told apart, lie on the rows of regions within caps."""
    capped = [n for n, kind in enumerate(kinds) if kind]
    sizes = [size for size, _ in room]
    rows, held = sum(sizes), sum(counts[n] for n in capped)
    if rows < sum(counts):
        return 0
    # kinds that share no value are bound by the rows of the regions alone
    found = {(0,) * len(room): 1}
    for together in _sharing(kinds, capped):
        values = {value for n in together for value in kinds[n]}
        caps = tuple(tuple((v, most) for v, most in own if v in values) for _, own in room)
        splits = _splits(
            caps, tuple(kinds[n] for n in together), tuple(counts[n] for n in together)
        )
        both: dict[tuple[int, ...], int] = defaultdict(int)
        for used, ways in found.items():
            for part, more in splits.items():
                total = tuple(map(int.__add__, used, part))
                if all(map(int.__le__, total, sizes)):
                    both[total] += ways * more
        found = both
    lain = sum(ways * prod(map(perm, sizes, used)) for used, ways in found.items())
    # what holds none of the values lies anywhere on the rows that are left
    return lain * perm(rows - held, sum(counts) - held)


def _sharing(kinds: Sequence[tuple[str, ...]], capped: Sequence[int]) -> list[list[int]]:
    """The kinds, by number, in sets of which no two have a value in common."""
    sets: list[tuple[set[str], list[int]]] = []
    for n in capped:
        values, numbers = set(kinds[n]), [n]
        apart = []
        for each in sets:
            if each[0] & values:
                values |= each[0]
                numbers += each[1]
            else:
                apart.append(each)
        sets = [*apart, (values, numbers)]
    return [sorted(numbers) for _, numbers in sets]


Caps = tuple[tuple[tuple[str, int], ...], ...]
"""By region, how many of its rows may hold each value."""


@lru_cache(maxsize=1 << 16)
def _splits(
    caps: Caps, kinds: tuple[tuple[str, ...], ...], counts: tuple[int, ...]
) -> dict[tuple[int, ...], int]:
    """Subrecords that each region takes, in how many ways they are dealt out to the regions."""
    left = {((0,) * len(caps), caps): 1}
    for kind, count in zip(kinds, counts, strict=True):
        further: dict[tuple[tuple[int, ...], Caps], int] = defaultdict(int)
        for (used, room), ways in left.items():
            most = [min(n for v, n in own if v in kind) for own in room]
            for part, more in _dealt(count, most):
                total = tuple(map(int.__add__, used, part))
                rest = tuple(
                    tuple((v, n - here * (v in kind)) for v, n in own)
                    for own, here in zip(room, part, strict=True)
                )
                further[total, rest] += ways * more
        left = further
    found: dict[tuple[int, ...], int] = defaultdict(int)
    for (used, _), ways in left.items():
        found[used] += ways
    return found


def _dealt(count: int, most: Sequence[int]) -> Iterator[tuple[tuple[int, ...], int]]:
    """How many of so many subrecords each region takes, and in how many ways."""
    if len(most) == 1:
        if count <= most[0]:
            yield (count,), 1
        return
    for here in range(min(count, most[0]) + 1):
        for part, ways in _dealt(count - here, most[1:]):
            yield (here, *part), comb(count, here) * ways
