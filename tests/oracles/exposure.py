"""What known items leave of every case and what follows from them: SPEC section 18, set by set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

Ends = tuple[int | None, int | None]
KINDS = ("drugs", "terms", "drugs or terms")


@dataclass(frozen=True)
class Patient:
    """A case: its quasi-identifiers, its published region (None: missing), and its items."""

    own: tuple[Ends, ...]
    region: tuple[Ends, ...]
    drugs: frozenset[str]
    terms: frozenset[tuple[str, str]]
    """(attribute, term)"""

    def items(self, kind: str) -> list[tuple[str, str]]:
        """Its items of a kind, in any fixed order."""
        drugs = [] if kind == "terms" else [("drug", name) for name in self.drugs]
        return sorted(drugs + ([] if kind == "drugs" else list(self.terms)))

    def values(self) -> set[str]:
        """Its sensitive values, whatever attribute tells them."""
        return {term for _, term in self.terms}


@dataclass(frozen=True)
class Left:
    """What the sets of a case leave."""

    fewest: int
    below_k: Fraction
    alone: Fraction
    certain: Fraction
    likely: Fraction
    """Shares of the sets."""


def may_be(target: Patient, other: Patient, empty: str = "anything") -> bool:
    """Whether the other's region covers the target: only a missing end covers a missing value.

    Who takes an empty value for "not known" looks for a row that is empty just where the target's
    own row is."""
    if empty == "not known" and [low is None for low, _ in target.region] != [
        low is None for low, _ in other.region
    ]:
        return False
    return all(
        low is None or (own[0] is not None and low <= own[0] and own[1] <= high)
        for own, (low, high) in zip(target.own, other.region, strict=True)
    )


def exposed(
    patients: Sequence[Patient], kind: str, known: int | None, k: int, empty: str
) -> list[Left | None]:
    """Of each case, knowing so many items (None: all); None where it has none of the kind."""
    found: list[Left | None] = []
    for target in patients:
        own = target.items(kind)
        if known != 0 and not own:
            found.append(None)
            continue
        size = len(own) if known is None else min(known, len(own))
        sets = [_left(patients, target, set(chosen), empty) for chosen in combinations(own, size)]
        found.append(
            Left(
                min(k, *(len(s[0]) for s in sets)) if sets else k,
                _share(len(s[0]) < k for s in sets),
                _share(len(s[0]) == 1 for s in sets),
                _share(s[1] == 1 for s in sets),
                _share(s[1] >= Fraction(9, 10) for s in sets),
            )
        )
    return found


def _left(
    patients: Sequence[Patient], target: Patient, chosen: set[tuple[str, str]], empty: str
) -> tuple[list[Patient], Fraction]:
    """The candidates, and the share of them that have the likeliest further value of the target."""
    candidates = [
        other
        for other in patients
        if may_be(target, other, empty) and chosen <= set(other.items("drugs or terms"))
    ]
    further = target.values() - {term for attribute, term in chosen if attribute != "drug"}
    held = [sum(value in c.values() for c in candidates) for value in further]
    return candidates, Fraction(max(held, default=0), len(candidates))


def _share(flags: object) -> Fraction:
    values = list(flags)  # type: ignore[call-overload]
    return Fraction(sum(values), len(values))
