"""Disassociation by the definitions alone: everything is enumerated, nothing is clever."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product

from support.published_terms import Place, Published, Subrecord, project


def is_km_anonymous(subrecords: Sequence[Subrecord], k: int, m: int) -> bool:
    """Every combination of at most m terms that occurs in a subrecord occurs in at least k."""
    seen = {
        frozenset(c)
        for s in subrecords
        for size in range(1, m + 1)
        for c in combinations(sorted(s), size)
    }
    return all(sum(c <= s for s in subrecords) >= k for c in seen)


def covers_its_records(published: Published, cluster: int, k: int, m: int) -> bool:
    """With an item chunk always; else there are |P| + k (min(m, v) - 1) subrecords or more."""
    chunks = [s for (owner, _), s in published.own.items() if owner == cluster]
    spare = k * (max(1, min(m, len(chunks))) - 1)
    filled = sum(map(len, chunks))
    return bool(published.items.get(cluster)) or filled >= published.records[cluster] + spare


def disassociate(records: Sequence[Subrecord], member: Sequence[int], k: int, m: int) -> Published:
    """A valid publication of clusters of k records or more: greedy, with one joint cluster."""
    by_cluster = {c: [r for r, p in zip(records, member, strict=True) if p == c] for c in member}
    places: dict[tuple[int, str], Place] = {}
    for cluster, held in by_cluster.items():
        places |= {(cluster, t): p for t, p in _vertical(held, cluster, k, m).items()}
    everywhere = frozenset(by_cluster)
    if len(everywhere) > 1:
        hidden = [
            {t for (c, t), p in places.items() if c == o and p[0] == "item"} for o in by_cluster
        ]
        refined: list[str] = []
        for term in sorted(set.intersection(*hidden)):
            taken = [*refined, term]
            moved = places | {(c, t): ("shared", 1, 1) for c in everywhere for t in taken}
            made = project(records, member, {1: everywhere}, moved)
            if is_km_anonymous(made.shared[1, 1], k, m) and all(
                covers_its_records(made, c, k, m) for c in everywhere
            ):
                refined, places = taken, moved
    return project(records, member, {1: everywhere}, places)


def _vertical(held: list[Subrecord], cluster: int, k: int, m: int) -> dict[str, Place]:
    support = Counter(t for r in held for t in r)
    order = sorted(support, key=lambda t: (-support[t], t))
    waiting = [t for t in order if support[t] >= k]
    places: dict[str, Place] = {t: ("item", cluster, 0) for t in order if support[t] < k}
    chunk = 0
    while waiting:
        chunk += 1
        taken: list[str] = []
        for term in waiting:
            parts = [r & {*taken, term} for r in held if r & {*taken, term}]
            if is_km_anonymous(parts, k, m):
                taken.append(term)
        places |= dict.fromkeys(taken, ("own", cluster, chunk))
        waiting = [t for t in waiting if t not in taken]
    pairs = {(cluster, t): p for t, p in places.items()}
    if not covers_its_records(project(held, [cluster] * len(held), {}, pairs), cluster, k, m):
        places[order[-1]] = ("item", cluster, 0)
    return places


def random_places(
    luck: random.Random,
    records: Sequence[Subrecord],
    member: Sequence[int],
    joints: dict[int, frozenset[int]],
) -> dict[tuple[int, str], Place]:
    """Some place for every term of every cluster, such that no term has two."""
    places: dict[tuple[int, str], Place] = {}
    terms = sorted(set().union(*records))
    for term in terms:
        for cluster in sorted(set(member)):
            places[cluster, term] = luck.choice(
                [("own", cluster, 1), ("own", cluster, 2), ("item", cluster, 0)]
            )
        for joint in sorted(joints, key=lambda j: len(joints[j])):  # larger ones have the last word
            if luck.random() < 0.4:
                chunk = luck.choice([1, 2])
                places |= {(c, term): ("shared", joint, chunk) for c in joints[joint]}
    return places


def count_range(
    published: Published, asked: frozenset[str], item_cases: int | None = None
) -> tuple[int, Fraction, int]:
    """Fewest, mean and most records that hold the set, over all ways the chunks can meet.

    Of each chunk only the part of the set matters that it has: which records get a subrecord with
    the whole part. All choices of these records are tried, in all chunks at once. ``item_cases``:
    an item term lies on so many records of its cluster at most; None: on any number.
    """
    everyone = [(c, i) for c, n in published.records.items() for i in range(n)]
    parts: dict[Place, set[str]] = {}
    needs: dict[int, list[tuple[Place, str | None]]] = {}
    for cluster in published.records:
        places = published.places(cluster)
        if asked <= places.keys():
            needs[cluster] = []
            for term in sorted(asked):
                place = places[term]
                named = term if place[0] == "item" else None
                needs[cluster].append((place, named))
                if named is None:
                    parts.setdefault(place, set()).add(term)
    variables: dict[tuple[Place, str | None], list[frozenset[tuple[int, int]]]] = {}
    for cluster, wanted in needs.items():
        for place, named in wanted:
            kind, owner, chunk = place
            if kind == "item":
                crowd = [e for e in everyone if e[0] == cluster]
                most = min(len(crowd), item_cases or len(crowd))
                variables[place, named] = _subsets(crowd, range(1, most + 1))
            else:
                inside = {owner} if kind == "own" else published.joints[owner]
                chunks = published.own if kind == "own" else published.shared
                carriers = sum(parts[place] <= s for s in chunks[owner, chunk])
                crowd = [e for e in everyone if e[0] in inside]
                variables[place, named] = _subsets(crowd, [carriers])
    names = list(variables)
    counts: list[int] = []
    likely: list[int] = []
    for choice in product(*variables.values()):
        chosen = dict(zip(names, choice, strict=True))
        count = sum(
            all(e in chosen[need] for need in needs[e[0]]) for e in everyone if e[0] in needs
        )
        counts.append(count)
        if all(len(chosen[n]) == 1 for n in names if n[0][0] == "item"):
            likely.append(count)
    return min(counts), Fraction(sum(likely), len(likely)), max(counts)


def _subsets(
    crowd: list[tuple[int, int]], sizes: Sequence[int] | range
) -> list[frozenset[tuple[int, int]]]:
    return [frozenset(c) for size in sizes for c in combinations(crowd, size)]


def match_mean(published: Published, asked: frozenset[str], luck: random.Random) -> int:
    """Records of one reconstructed dataset that hold a term of the set or more."""
    return sum(bool(record & asked) for record in reconstruct(published, luck))


def reconstruct(published: Published, luck: random.Random) -> list[Subrecord]:
    """A dataset that the release stands for, every one as likely as any other."""
    everyone = [(c, i) for c, n in published.records.items() for i in range(n)]
    made: dict[tuple[int, int], set[str]] = {e: set() for e in everyone}
    chunks = [({owner}, s) for (owner, _), s in published.own.items()]
    chunks += [(set(published.joints[owner]), s) for (owner, _), s in published.shared.items()]
    for inside, subrecords in chunks:
        crowd = [e for e in everyone if e[0] in inside]
        for who, subrecord in zip(luck.sample(crowd, len(subrecords)), subrecords, strict=True):
            made[who] |= subrecord
    for cluster, terms in published.items.items():
        for term in sorted(terms):
            made[luck.choice([e for e in everyone if e[0] == cluster])].add(term)
    return [frozenset(made[e]) for e in everyone]


def possible_records(published: Published, cluster: int) -> Iterator[list[Subrecord]]:
    """Every dataset of a cluster without joint clusters: all ways to hand out its subrecords."""
    size = published.records[cluster]
    chunks = [s for (owner, _), s in published.own.items() if owner == cluster]
    ways = [set(_arrangements([*s, *[frozenset()] * (size - len(s))])) for s in chunks]
    items = sorted(published.items.get(cluster, ()))
    spots = [s for n in range(1, size + 1) for s in combinations(range(size), n)]
    for choice in product(*ways):
        for given in product(spots, repeat=len(items)):
            records = [frozenset().union(*(c[i] for c in choice)) for i in range(size)]
            yield [
                r | {t for t, who in zip(items, given, strict=True) if i in who}
                for i, r in enumerate(records)
            ]


def _arrangements(pieces: list[Subrecord]) -> Iterator[tuple[Subrecord, ...]]:
    if not pieces:
        yield ()
    for piece in set(pieces):
        rest = list(pieces)
        rest.remove(piece)
        yield from ((piece, *tail) for tail in _arrangements(rest))


def witness(published: Published, cluster: int, asked: frozenset[str], k: int) -> list[Subrecord]:
    """A dataset of I(D_A) in which k records of the cluster hold the set (Guarantee 1).

    The first k records of the cluster are given subrecords with the set's parts, in every chunk;
    what is left goes first to records that have nothing yet. Records come in the order of clusters.

    Raises:
        AssertionError: a chunk has fewer than k subrecords with the set's part.
    """
    everyone = [(c, i) for c, n in published.records.items() for i in range(n)]
    made: dict[tuple[int, int], set[str]] = {e: set() for e in everyone}
    first = [(cluster, i) for i in range(k)]
    places = published.places(cluster)
    chunks = [(("own", *key), {key[0]}, s) for key, s in published.own.items()]
    chunks += [
        (("shared", *key), set(published.joints[key[0]]), s) for key, s in published.shared.items()
    ]
    for where, inside, subrecords in chunks:
        part = {t for t in asked if places[t] == where}
        left = sorted(subrecords, key=sorted)
        free = [e for e in everyone if e[0] in inside]
        if part:
            carriers = [s for s in left if part <= s][:k]
            assert len(carriers) == k, (where, part)
            for who, subrecord in zip(first, carriers, strict=True):
                made[who] |= subrecord
                left.remove(subrecord)
                free.remove(who)
        free.sort(key=lambda e: (e in first, bool(made[e])))
        for who, subrecord in zip(free, left, strict=False):
            made[who] |= subrecord
    for owner, terms in published.items.items():
        for e in everyone:
            if e[0] == owner:
                made[e] |= terms
    return [frozenset(made[e]) for e in everyone]


def worlds(published: Published) -> Iterator[list[Subrecord]]:
    """Every dataset that the release stands for: all ways to hand out all subrecords."""
    everyone = [(c, i) for c, n in published.records.items() for i in range(n)]
    chunks = [({owner}, s) for (owner, _), s in published.own.items()]
    chunks += [(set(published.joints[owner]), s) for (owner, _), s in published.shared.items()]
    ways: list[list[dict[tuple[int, int], Subrecord]]] = []
    for inside, subrecords in chunks:
        crowd = [e for e in everyone if e[0] in inside]
        filled = [*subrecords, *[frozenset()] * (len(crowd) - len(subrecords))]
        ways.append([dict(zip(crowd, way, strict=True)) for way in set(_arrangements(filled))])
    for cluster, terms in published.items.items():
        crowd = [e for e in everyone if e[0] == cluster]
        for term in sorted(terms):
            ways.append(
                [
                    dict.fromkeys(holders, frozenset([term]))
                    for holders in _subsets(crowd, range(1, len(crowd) + 1))
                ]
            )
    for choice in product(*ways):
        yield [frozenset().union(*(way.get(e, ()) for way in choice)) for e in everyone]


def told_by(published: Published, terms: Iterable[str]) -> dict[Subrecord, Subrecord]:
    """What each set of one or two terms tells: the terms of all its holders, in every dataset."""
    known = [frozenset(s) for size in (1, 2) for s in combinations(sorted(terms), size)]
    told: dict[Subrecord, Subrecord] = {}
    for world in worlds(published):
        for asked in known:
            for record in world:
                if asked <= record:
                    told[asked] = told.get(asked, record) & record
    return {asked: together - asked for asked, together in told.items()}
