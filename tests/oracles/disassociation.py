"""Disassociation from its definitions: sets and combinations, one cluster after the other.

Loukides 2014, section 4, with the decisions of SPEC section 11. Terms are numbers; a basket is a
set of terms; a policy is a list of disjoint sets of terms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

Basket = frozenset[int]
Policy = Sequence[frozenset[int]]
ALL = 10**9
"""Terms that a chunk may have where nothing limits them."""
Leaves = list["list[int] | Leaves"]
"""Records of a leaf, or the leaves of a chain of splits."""


def support(baskets: Iterable[Basket]) -> Counter[int]:
    return Counter(t for basket in baskets for t in basket)


def is_km(subrecords: Iterable[Basket], k: int, m: int) -> bool:
    """Every combination of at most m terms that occurs, occurs k times (Definition 1)."""
    seen = Counter(
        together
        for subrecord in subrecords
        for size in range(1, min(m, len(subrecord)) + 1)
        for together in combinations(sorted(subrecord), size)
    )
    return all(count >= k for count in seen.values())


# --- HORPART -------------------------------------------------------------------------------------


def horpart(
    baskets: Sequence[Basket],
    parts: Sequence[int],
    policy: Policy,
    kept_apart: frozenset[int],
    max_size: int,
    least: int,
    *,
    by_terms: bool = False,
) -> list[frozenset[int]]:
    """The records of every cluster, in the order of the splits.

    ``by_terms``: what is too small is pooled record by record, in the order of the terms.
    """
    rank = _ranks(baskets)
    clusters: list[list[int]] = []
    for part in sorted(set(parts)):
        records = [r for r in range(len(baskets)) if parts[r] == part]
        tree = fig_8(records, baskets, policy, kept_apart, max_size)
        leaves = _chain(tree, frozenset())
        if by_terms:
            usable = [sorted(rank[t] for t in b - kept_apart) for b in baskets]
            leaves = _loosened(leaves, least, lambda r, ranks=usable: (ranks[r], r))
        made: list[list[int]] = []
        rest = _pooled(leaves, least, made)
        if rest:
            made[-1] += rest
        order = {r: i for i, r in enumerate(_flat(leaves))}
        clusters += sorted(made, key=lambda cluster: min(order[r] for r in cluster))
    return [frozenset(cluster) for cluster in clusters]


@dataclass(frozen=True)
class Split:
    """D1 and D2 of a part; D2 may be empty."""

    term: int
    first: Split | list[int]
    second: Split | list[int]


def fig_8(
    records: list[int],
    baskets: Sequence[Basket],
    policy: Policy,
    kept_apart: frozenset[int],
    max_size: int,
    ignore: frozenset[int] = frozenset(),
    u: frozenset[int] = frozenset(),
) -> Split | list[int]:
    """HORPART, line by line; ``kept_apart`` are the sensitive terms of section 7.2."""
    domain = {t for r in records for t in baskets[r]} - kept_apart  # T
    if len(records) < max_size or not domain - ignore:  # line 2: it is a cluster
        return records
    of_u = domain & u - ignore
    of_any = domain & frozenset().union(*policy) - ignore
    choices = of_u or of_any or domain - ignore  # lines 4, 6, 9
    holders = {t: [r for r in records if t in baskets[r]] for t in choices}
    a = min(choices, key=lambda t: (-len(holders[t]), t))
    without = [r for r in records if a not in baskets[r]]
    own = next((c for c in policy if a in c), frozenset())
    # section 5: "an empty ignore set and no utility constraint are given ... when it is applied
    # to D2"
    return Split(
        a,
        fig_8(holders[a], baskets, policy, kept_apart, max_size, ignore | {a}, own),
        fig_8(without, baskets, policy, kept_apart, max_size),
    )


def clusters_of(tree: Split | list[int]) -> list[frozenset[int]]:
    """The clusters that Fig. 8 returns, before any is merged."""
    if isinstance(tree, list):
        return [frozenset(tree)] if tree else []
    return clusters_of(tree.first) + clusters_of(tree.second)


def _chain(tree: Split | list[int], parted_by: frozenset[int]) -> Leaves:
    """What a part is split into, D2 after D2; each D1 a list of its own (ours: what is pooled).

    A split by a term that the part was split off by parts nothing, and makes no list.
    """
    if isinstance(tree, list):
        return [tree] if tree else []
    if tree.term in parted_by:
        return _chain(tree.first, parted_by)
    return [_chain(tree.first, parted_by | {tree.term}), *_chain(tree.second, parted_by)]


def _ranks(baskets: Sequence[Basket]) -> dict[int, int]:
    """The place of every term by falling support, ties by number."""
    count = support(baskets)
    return {t: i for i, t in enumerate(sorted(count, key=lambda t: (-count[t], t)))}


def _loosened(chain: Leaves, least: int, key: Callable[[int], Any]) -> Leaves:
    """The same with the records of the chain's small leaves sorted, each a leaf of its own."""
    inner = [_alone(each) for each in chain]
    small = [each for each in inner if each and isinstance(each[0], int) and len(each) < least]
    records = iter(sorted((r for leaf in small for r in leaf), key=key))
    found: Leaves = []
    for each in inner:
        if each in small:
            found += [[next(records)] for _ in each]
        elif each and isinstance(each[0], list):
            found.append(_loosened(each, least, key))
        else:
            found.append(each)
    return found


def _alone(chain: Any) -> Any:
    """What a chain of one part is made of."""
    while len(chain) == 1 and isinstance(chain[0], list):
        (chain,) = chain
    return chain


def _pooled(chain: Leaves, least: int, made: list[list[int]]) -> list[int]:
    """Clusters of a chain go to ``made``; the records that are left over."""
    pool: list[int] = []
    for leaf in chain:
        if not leaf:
            continue
        if isinstance(leaf[0], int) and len(leaf) >= least:
            made.append(list(leaf))
            continue
        pool += leaf if isinstance(leaf[0], int) else _pooled(leaf, least, made)
        if len(pool) >= least:
            made.append(pool)
            pool = []
    return pool


def _flat(chain: Leaves) -> list[int]:
    return [r for leaf in chain for r in ([leaf] if isinstance(leaf, int) else _flat(leaf))]


# --- VERPART -------------------------------------------------------------------------------------


def chunk_order(terms: Iterable[int], count: Counter[int], policy: Policy) -> list[int]:
    """Line 5: constraints by their most frequent term, then the terms of none."""
    left = set(terms)
    groups = [sorted(left & u, key=lambda t: (-count[t], t)) for u in policy if left & u]
    groups.sort(key=lambda group: (-count[group[0]], group[0]))
    free = left.difference(*policy) if policy else left
    return [t for group in groups for t in group] + sorted(free, key=lambda t: (-count[t], t))


def verpart(
    baskets: Sequence[Basket], terms: Iterable[int], policy: Policy, k: int, m: int,
    most: int = ALL,
) -> list[frozenset[int]]:  # fmt: skip
    """Lines 5 to 20 over terms that occur k times each: the terms of each chunk, a few at most."""
    remain = chunk_order(terms, support(baskets), policy)
    chunks = []
    while remain:
        current: list[int] = []
        for t in remain:
            if len(current) < most and is_km((b & {*current, t} for b in baskets), k, m):
                current.append(t)
        own = next((u for u in policy if current[0] in u), frozenset())
        torn = [u for u in policy if u != own and u & set(remain) - set(current)]
        current = [t for t in current if not any(t in u for u in torn)]
        chunks.append(frozenset(current))
        remain = [t for t in remain if t not in current]
    return chunks


def enough(subrecords: Sequence[Sequence[Basket]], records: int, k: int, m: int) -> bool:
    """Rule 3: whether the item chunk of a cluster with these record chunks may be empty."""
    filled = sum(1 for chunk in subrecords for subrecord in chunk if subrecord)
    return bool(subrecords) and filled >= records + k * (min(m, len(subrecords)) - 1)


@dataclass
class Cluster:
    records: frozenset[int]
    items: set[int]
    chunks: list[frozenset[int]]


def vertical(
    baskets: Sequence[Basket],
    records: frozenset[int],
    policy: Policy,
    kept_apart: frozenset[int],
    k: int,
    m: int,
    most: int = ALL,
) -> Cluster:
    """Fig. 9 and rule 3."""
    own = [baskets[r] for r in sorted(records)]
    count = support(own)
    frequent = {t for t in count if count[t] >= k and t not in kept_apart}
    chunks = verpart([b & frequent for b in own], frequent, policy, k, m, most)
    items = set(count) - frequent
    if not items and not enough([[b & c for b in own] for c in chunks], len(own), k, m):
        rarest = min(frequent, key=lambda t: (count[t], t))
        items = {rarest}
        chunks = [c - items for c in chunks if c - items]
    return Cluster(records, items, chunks)


# --- Refining ------------------------------------------------------------------------------------


@dataclass
class Node:
    members: tuple[int, ...]
    barred: frozenset[int]


@dataclass
class Disassociated:
    clusters: list[Cluster]
    joints: list[tuple[tuple[int, ...], list[frozenset[int]]]] = field(default_factory=list)
    """Members (indices of clusters) and shared chunks of each joint cluster."""


def refine(
    made: Disassociated,
    baskets: Sequence[Basket],
    policy: Policy,
    kept_apart: frozenset[int],
    k: int,
    m: int,
    limit: int,
    most: int = ALL,
    partners: int = 0,
) -> None:
    """Passes until one joins nothing: over neighbours, or over so many partners of each term."""
    everywhere = support(baskets)
    nodes = [Node((i,), frozenset().union(*c.chunks)) for i, c in enumerate(made.clusters)]
    new = list(nodes)

    def offered(node: Node) -> set[int]:
        items = set().union(*(made.clusters[i].items for i in node.members))
        return items - node.barred - kept_apart

    def content(node: Node) -> tuple[list[tuple[int, int]], int]:
        return sorted((-everywhere[t], t) for t in offered(node)), min(node.members)

    def records(*some: Node) -> list[int]:
        return [r for node in some for i in node.members for r in made.clusters[i].records]

    def meeting(nodes: list[Node]) -> list[tuple[Node, Node]]:
        """Pairs that share a term, those of which the largest share of records is told first."""
        counts = [
            Counter({t: n for t, n in support(baskets[r] for r in records(node)).items()
                     if t in offered(node)})
            for node in nodes
        ]  # fmt: skip
        sizes = [len(records(node)) for node in nodes]
        is_new = [any(node is other for other in new) for node in nodes]
        pairs: dict[tuple[int, int], tuple[Fraction, tuple[Node, Node]]] = {}
        for term in sorted(set().union(*counts)):
            # ``nodes`` stand in the order of their content
            listed = sorted((i for i, c in enumerate(counts) if term in c),
                            key=lambda i, term=term: -counts[i][term])  # fmt: skip
            for place, i in enumerate(listed):
                for j in listed[place + 1 : place + 1 + partners]:
                    fits = sizes[i] + sizes[j] <= limit and counts[i][term] + counts[j][term] >= k
                    if fits and (is_new[i] or is_new[j]):
                        both = [counts[i][t] + counts[j][t] for t in counts[i].keys() & counts[j]]
                        told = Fraction(sum(n for n in both if n >= k), sizes[i] + sizes[j])
                        first = sorted((min(nodes[i].members), min(nodes[j].members)))
                        pairs[first[0], first[1]] = (told, (nodes[i], nodes[j]))
        return [pairs[key][1] for key in sorted(pairs, key=lambda key: (-pairs[key][0], key))]

    joined = True
    while joined:
        nodes = sorted((n for n in nodes if offered(n)), key=content)
        pairs = meeting(nodes) if partners else list(pairwise(nodes))
        gone: list[Node] = []
        after = []
        for pair in pairs:
            if any(n is one for n in gone for one in pair):
                continue
            both = tuple(j for node in pair for j in node.members)
            terms = frozenset()
            if len(records(*pair)) <= limit:
                terms = _refining(made, baskets, both, offered(pair[0]) & offered(pair[1]),
                                  kept_apart, k, m)  # fmt: skip
            if not terms:
                continue
            union = [baskets[r] & terms for j in both for r in made.clusters[j].records]
            made.joints.append((both, verpart(union, terms, policy, k, m, most)))
            for j in both:
                made.clusters[j].items -= terms
            after.append(Node(both, pair[0].barred | pair[1].barred | terms))
            gone += pair
        joined = bool(after)
        new = after
        nodes = after + [n for n in nodes if all(n is not other for other in gone)]


def _refining(
    made: Disassociated,
    baskets: Sequence[Basket],
    both: tuple[int, ...],
    common: set[int],
    kept_apart: frozenset[int],
    k: int,
    m: int,
) -> frozenset[int]:
    """R; empty where the nodes are not to be joined."""
    clusters = [made.clusters[j] for j in both]
    count = support(baskets[r] & common for c in clusters for r in c.records)
    terms = {t for t in common if count[t] >= k}
    while losing := set().union(
        *(c.items & terms for c in clusters if c.items <= terms and not _room(c, baskets, k, m))
    ):
        terms.discard(min(losing, key=lambda t: (count[t], t)))
    if not terms:
        return frozenset()
    offering = [c for c in clusters if c.items & terms]
    promised = Fraction(
        sum(len(c.items & terms) for c in offering), sum(len(c.records) for c in offering)
    )
    known = Fraction(sum(count[t] for t in terms), sum(len(c.records) for c in clusters))
    return frozenset(terms) if known > promised else frozenset()


def _room(cluster: Cluster, baskets: Sequence[Basket], k: int, m: int) -> bool:
    own = [baskets[r] for r in cluster.records]
    return enough([[b & c for b in own] for c in cluster.chunks], len(own), k, m)


def disassociated(
    baskets: Sequence[Basket],
    k: int,
    m: int,
    *,
    parts: Sequence[int] | None = None,
    policy: Policy = (),
    kept_apart: frozenset[int] = frozenset(),
    max_size: int,
    least: int,
    limit: int,
    partners: int = 0,
    by_terms: bool = False,
    passed: Callable[[Disassociated], None] = lambda _: None,
) -> Disassociated:
    """The whole model; ``passed`` sees what there is before refining."""
    parts = parts or [0] * len(baskets)
    clusters = horpart(baskets, parts, policy, kept_apart, max_size, least, by_terms=by_terms)
    made = Disassociated([vertical(baskets, c, policy, kept_apart, k, m) for c in clusters])
    passed(made)
    refine(made, baskets, policy, kept_apart, k, m, limit, partners=partners)
    return made
