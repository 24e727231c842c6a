"""Which values to suppress, and which tables suppressed ones leave possible: by trying them all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product

Pair = tuple[int, str]
"""A case and a value."""
Reports = Mapping[int, Sequence[frozenset[str]]]
"""Case -> the values of each attribute of each of its reports."""

Hidden = tuple[int, int]
"""So many cases may have a reaction, and a drug, that no row shows."""


def moved(cells: Sequence[int], hidden: Hidden) -> list[tuple[int, int, int, int]]:
    """Every table (a, b, c, d) that a shown one may stand for."""
    a, b, c, d = cells
    reactions, drugs = hidden
    found = []
    for from_b, from_c in product(range(min(reactions, b) + 1), range(min(drugs, c) + 1)):
        for both, reaction, drug in product(range(d + 1), repeat=3):
            if both + reaction + drug > d:
                continue
            if from_b + both + reaction <= reactions and from_c + both + drug <= drugs:
                found.append((a + from_b + from_c + both, b - from_b + drug,
                              c - from_c + reaction, d - both - reaction - drug))  # fmt: skip
    return found


def keeps_last_values(gone: Iterable[Pair], reports: Reports) -> bool:
    """Whether every attribute of a report that has values keeps one."""
    lost = set(gone)
    return all(
        not slot or any((case, value) not in lost for value in slot)
        for case, slots in reports.items()
        for slot in slots
    )


def sums(
    cases: Collection[int], weights: Mapping[Pair, Fraction], gone: Mapping[Pair, Fraction]
) -> Counter[str]:
    """sigma of each value over cases; ``gone``: what remains of the weight of suppressed pairs."""
    found: Counter[str] = Counter()
    for (case, value), weight in weights.items():
        if case in cases:
            found[value] += gone.get((case, value), weight)  # type: ignore[assignment]
    return found


def least_suppressed(
    cases: Collection[int],
    carriers: int,
    weights: Mapping[Pair, Fraction],
    losable: Mapping[Pair, Fraction],
    theta: Mapping[str, Fraction],
    reports: Reports,
    values: Collection[str],
) -> int | None:
    """The least number of pairs without which each value is within theta of the carriers.

    Args:
        cases: whose values count.
        carriers: against whose number they count.
        weights: p(r, s) of the pairs.
        losable: pairs that may be suppressed, and what their drugs suggest of them still.
        theta: of each value; 1 bounds nothing.
        reports: bind the values of a case.
        values: that have to be within their bounds.

    Returns:
        None: no set of pairs will do.
    """
    able = [pair for pair in losable if pair[0] in cases and pair[1] in values]
    for size in range(len(able) + 1):
        for chosen in combinations(able, size):
            if not keeps_last_values(chosen, reports):
                continue
            sigma = sums(cases, weights, {pair: losable[pair] for pair in chosen})
            if all(theta[v] >= 1 or sigma[v] <= theta[v] * carriers for v in values):
                return size
    return None
