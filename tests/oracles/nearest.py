"""NIL*, RR, AR_rev and what medical knowledge changes, record by record from the definitions.

Wu 2022, sections IV.C and V; SPEC sections 2 and 10. Everything is an exact fraction, and every
original is compared with every published record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from oracles.releases import Case, Group, Qid, Release, Value
from oracles.trees import Tree

Tuple = tuple[Value, ...]
Knowledge = Mapping[str, Sequence[Mapping[int, Value]]]
"""Disease -> its rows, which are alternatives: what each says of some QIDs."""


@dataclass(frozen=True)
class Published:
    """A case, and what is published of it."""

    own: Tuple
    shown: Tuple
    terms: frozenset[str]


def region(release: Release, group: Group, q: int) -> Value:
    """What the group's cases are generalized to."""
    values, qid = [case.values[q] for case in group.cases], release.qids[q]
    if not group.pattern >> q & 1:
        return None
    if isinstance(qid, Tree):
        return qid.meeting(values)
    return min(v[0] for v in values), max(v[1] for v in values)


def published(release: Release, noise: Mapping[tuple[int, int], Value]) -> list[Published]:
    """The cases in order; ``noise``: (number of the case, QID) -> what is published instead."""
    found = []
    for group in release.groups:
        for case in group.cases:
            regions = (region(release, group, q) for q in range(len(release.qids)))
            shown = tuple(noise.get((len(found), q), value) for q, value in enumerate(regions))
            found.append(Published(case.values, shown, own_terms(case)))
    return found


def own_terms(case: Case) -> frozenset[str]:
    """The values that the case has itself."""
    return frozenset(term for term, p in case.terms.items() if p == 1)


def mean_distance(v: Fraction, low: int, high: int) -> Fraction:
    """The integral of |x - v| from L to U over U - L, by the antiderivative (x - v)|x - v| / 2."""
    if low == high:
        return abs(low - v)
    ends = [(x - v) * abs(x - v) / 2 for x in (high, low)]
    return (ends[0] - ends[1]) / (high - low)


def value_loss(qid: Qid, own: Value, shown: Value) -> Fraction:
    """IL* of one value."""
    if own is None or shown is None:
        return Fraction(own is not shown)
    if isinstance(qid, Tree):
        first, second = set(qid.path(own)), set(qid.path(shown))
        return Fraction(len(first | second) - len(first & second), len(first | second))
    return mean_distance(Fraction(own[0] + own[1], 2), *shown) / qid


def loss(qids: Sequence[Qid], own: Tuple, shown: Tuple) -> Fraction:
    """IL* of an original and a published record."""
    parts = (value_loss(*values) for values in zip(qids, own, shown, strict=True))
    return sum(parts, Fraction(0))


def nearest(qids: Sequence[Qid], own: Tuple, shown: Sequence[Tuple]) -> list[int]:
    """G: the records of least difference."""
    losses = [loss(qids, own, one) for one in shown]
    return [n for n, one in enumerate(losses) if one == min(losses)]


def fits(qids: Sequence[Qid], own: Tuple, row: Mapping[int, Value]) -> bool:
    """Whether a patient may be one of whom the row speaks, as far as the attacker knows."""
    for q, value in row.items():
        qid, known = qids[q], own[q]
        if known is None or value is None:
            continue
        if isinstance(qid, Tree):
            if value not in qid.path(known) and known not in qid.path(value):
                return False
        elif known[1] < value[0] or known[0] > value[1]:
            return False
    return True


def plausible(qids: Sequence[Qid], own: Tuple, terms: frozenset[str], knowledge: Knowledge) -> bool:
    """Whether a record of these terms may be that of the patient."""
    return all(
        any(fits(qids, own, row) for row in knowledge[term]) for term in terms if term in knowledge
    )


def risks(
    qids: Sequence[Qid], records: Sequence[Published], knowledge: Knowledge
) -> tuple[Fraction, Fraction]:
    """The sums of Pr and of Ar over all records."""
    identified = inferred = Fraction(0)
    shown = [record.shown for record in records]
    for number, record in enumerate(records):
        candidates = [
            n
            for n in nearest(qids, record.own, shown)
            if plausible(qids, record.own, records[n].terms, knowledge)
        ]
        if number not in candidates:
            continue
        size = Fraction(1, len(candidates))
        identified += size
        values = {term for n in candidates for term in records[n].terms}
        if values:
            chances = [
                max(size, sum((size for n in candidates if s in records[n].terms), Fraction(0)))
                for s in values
            ]
            inferred += sum(chances) / len(values)
    return identified, inferred
