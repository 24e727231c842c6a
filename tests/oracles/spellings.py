"""Terms in several spellings, and what bounds of the terms mean, without any rule of folding.

Which spellings are one term is written down here by hand, so that nothing is derived from them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction

SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "crohn": ("Crohn's disease", "CROHN^S DISEASE", "Crohn\u2019s  disease", "crohn`s disease."),
    "thalassaemia": ("Beta-thalassaemia", "BETA \u2013 THALASSAEMIA", "beta- thalassaemia"),
    "naive": ("Naive", "Na\u00efve", "NAI\u0308VE"),
    "and/or": ("Pain and/or fever", "PAIN AND / OR FEVER.."),
    "strasse": ("Strasse", "Stra\u00dfe"),
    "plain": ("Headache",),
}
"""Term -> its spellings."""
TERM_OF = {spelling: term for term, listed in SPELLINGS.items() for spelling in listed}


def term_of(spelling: str) -> str:
    """The term of a spelling; another text is a term of its own."""
    return TERM_OF.get(spelling.strip(), spelling.strip().lower())


def regions_above(
    placed: Iterable[tuple[Hashable, Hashable]],
    held: Iterable[tuple[Hashable, str]],
    theta: Fraction,
) -> tuple[int, int]:
    """How many regions hold a term beyond a threshold, and how many there are.

    Args:
        placed: (region, case).
        held: (case, spelling).
        theta: of every term.
    """
    terms: dict[Hashable, set[str]] = defaultdict(set)
    for case, spelling in held:
        terms[case].add(term_of(spelling))
    crowds: dict[Hashable, set[Hashable]] = defaultdict(set)
    for region, case in placed:
        crowds[region].add(case)
    above = 0
    for cases in crowds.values():
        every = {term for case in cases for term in terms[case]}
        shares = (Fraction(sum(t in terms[c] for c in cases), len(cases)) for t in every)
        above += any(share > theta for share in shares)
    return above, len(crowds)
