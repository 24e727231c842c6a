"""CBA by its definition, on sets: what the kernel must give.

Algorithm 1 of Loukides and Gkoulalas-Divanis: while a set that an attacker may know is held by
fewer than k records, unite one of its generalized terms with another of the same utility
constraint, the pair whose union loses least; where no constraint has such a pair, suppress. A
constraint says what may be united, so that a term in none is united with nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

Term = int
Node = frozenset[int]


def supports(records: Sequence[frozenset[Node]], size: int) -> Counter[tuple[Node, ...]]:
    """How many records hold each set of ``size`` generalized terms that one of them holds."""
    return Counter(
        known for record in records for known in combinations(sorted(record, key=min), size)
    )


def is_km(records: Sequence[frozenset[Node]], k: int, m: int) -> bool:
    return all(n >= k for i in range(1, m + 1) for n in supports(records, i).values())


def loss(node: Node, records: int) -> float:
    return (2.0 ** min(len(node), 1000) - 1.0) * records


class Cba:
    """The state of one anonymization: the generalized terms that are left."""

    def __init__(
        self, baskets: Sequence[frozenset[Term]], constraints: Sequence[frozenset[Term]]
    ) -> None:
        self.baskets = baskets
        terms = frozenset().union(*baskets)
        named = frozenset().union(*constraints)
        self.constraints = [*constraints, *(frozenset({term}) for term in terms - named)]
        self.nodes = {frozenset({term}) for term in terms}

    def records(self) -> list[frozenset[Node]]:
        return [frozenset(n for n in self.nodes if n & basket) for basket in self.baskets]

    def holders(self, *nodes: Node) -> int:
        return sum(all(n & basket for n in nodes) for basket in self.baskets)

    def peers(self, node: Node) -> list[Node]:
        (own,) = (u for u in self.constraints if node <= u)
        return [n for n in self.nodes if n <= own and n != node]

    def protect(self, known: frozenset[Term], k: int) -> None:
        while True:
            now = {n for n in self.nodes if n & known}
            if frozenset().union(*now) >= known and self.holders(*now) < k:
                pairs = [
                    (loss(n | p, self.holders(n | p)), min(n), min(p), n, p)
                    for n in now
                    for p in self.peers(n)
                ]
                if pairs:
                    *_, one, other = min(pairs, key=lambda pair: pair[:3])
                    self.nodes = (self.nodes - {one, other}) | {one | other}
                    continue
                self.nodes.remove(min(now, key=lambda n: (self.holders(n), len(n), min(n))))
            return


def generalized(
    baskets: Sequence[frozenset[Term]], constraints: Sequence[frozenset[Term]], k: int, m: int
) -> set[Node]:
    """The generalized terms that are published; terms in none are suppressed."""
    made = Cba(baskets, constraints)
    for size in range(1, m + 1):
        rare = [(known, n) for known, n in supports(made.records(), size).items() if n < k]
        rare.sort(key=lambda found: (-found[1], tuple(min(n) for n in found[0])))
        for known, _ in rare:
            made.protect(frozenset(min(n) for n in known), k)
    return made.nodes
