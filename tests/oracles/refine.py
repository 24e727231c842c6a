"""What a group may be, what it loses, and which changes are better, from the definitions alone.

Values that a case does not know are ``None``. Everything is counted anew from the members, in
exact fractions: k carriers (Huang 2021, Definition 4), sigma <= theta |carriers| (Definition 3,
unfloored, which for whole counts is the same), alpha in whatever may remain of a group
(Definition 7), and the loss of eq. (1) of Lin 2016, where a QID that some member does not know is
shown of nobody and costs 1 for each member that knows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import permutations

from oracles import ms, ppms

Outcome = tuple[int, Fraction]
"""Cases without a group, and what the others lose; the less, the better."""


@dataclass(frozen=True)
class World:
    """The cases of a quarter and what their groups have to keep."""

    problem: ppms.Problem

    @cached_property
    def everybody(self) -> range:
        return range(len(self.problem.cases))

    def value(self, r: int, i: int) -> ms.Interval | int | None:
        return self.problem.cases[r].record.values[i]

    def known(self, r: int) -> set[int]:
        """The QIDs that a case knows."""
        return {i for i in range(len(self.problem.attributes)) if self.value(r, i) is not None}

    def loss(self, members: Sequence[int]) -> Fraction:
        """IL of a group, and 1 for each known value that it cannot show."""
        shown = self.shown(members)
        total = Fraction(sum(len(self.known(r) - shown) for r in members))
        for i in shown:
            single = [
                ms.Record((self.value(r, i),), {})  # type: ignore[arg-type]
                for r in members
            ]
            total += ms.information_loss(single, [self.problem.attributes[i]])
        return total

    def broken(self, members: Sequence[int]) -> list[str]:
        """The bounds that these cases would break as a group."""
        found = []
        carriers = self.problem.carriers(members)
        if carriers < self.problem.k:
            found.append(f"{carriers} carriers")
            return found
        held: dict[ms.Value, Fraction] = {}
        for r in members:
            for term, p in self.problem.cases[r].record.sensitive.items():
                held[term] = held.get(term, Fraction(0)) + p
        for term, sigma in held.items():
            theta = self.problem.thetas[term]
            if theta < 1 and sigma > theta * carriers:
                found.append(f"{term}: {sigma} > {theta} x {carriers}")
        alpha = self.problem.model.alpha
        if alpha is not None:
            substantial = [r for r in members if self.problem.cases[r].substantial]
            carry = [r for r in substantial if self.problem.cases[r].carries(self.problem.model)]
            for others in range(len(substantial) - len(carry) + 1):
                if Fraction(len(carry) + others, carriers + others) > alpha:
                    found.append(f"alpha with {others} others")
        return found

    def outcome(self, group: Sequence[int]) -> Outcome:
        """What a grouping comes to."""
        return group.count(-1), sum(map(self.loss, self.groups(group)), Fraction(0))

    def groups(self, group: Sequence[int]) -> list[list[int]]:
        """The members of every group."""
        return [
            [r for r, g in enumerate(group) if g == number] for number in sorted(set(group) - {-1})
        ]

    def shown(self, members: Sequence[int]) -> set[int]:
        """The QIDs that a group shows: those that all its members know."""
        return set.intersection(*(self.known(r) for r in members))

    def better_changes(self, group: Sequence[int]) -> Iterator[str]:
        """Every single change that would be better.

        They are: a case without a group joins one of which it knows all that is shown; one moves to
        such a group, where no less is shown of it; two cases of groups that show the same change
        places.
        """
        groups = self.groups(group)
        for r in self.everybody:
            for to in groups:
                if group[r] < 0 and self.shown(to) <= self.known(r) and not self.broken([*to, r]):
                    yield f"place {r}"
        for of, to in permutations(groups, 2):
            now = self.loss(of) + self.loss(to)
            for r in of:
                rest = [m for m in of if m != r]
                fits = self.shown(of) <= self.shown(to) <= self.known(r)
                if fits and self._better(now, rest, [*to, r]):
                    yield f"move {r}"
                for t in to if self.shown(of) == self.shown(to) else ():
                    if self._better(now, [*rest, t], [*(m for m in to if m != t), r]):
                        yield f"swap {r} and {t}"

    def _better(self, now: Fraction, left: list[int], right: list[int]) -> bool:
        if not left or not right or self.loss(left) + self.loss(right) >= now:
            return False
        return not self.broken(left) and not self.broken(right)

    def best(self) -> Outcome:
        """The best of all groupings, by dynamic programming over the subsets of the cases."""
        n = len(self.problem.cases)
        loss: dict[int, Fraction] = {}
        for mask in range(1, 1 << n):
            members = [r for r in self.everybody if mask >> r & 1]
            if len(members) >= self.problem.k and not self.broken(members):
                loss[mask] = self.loss(members)
        best: list[Outcome] = [(0, Fraction(0))] * (1 << n)
        for mask in range(1, 1 << n):
            first = mask & -mask
            others, lost = best[mask ^ first]
            found = (others + 1, lost)
            rest = mask ^ first
            part = rest
            while True:
                own = loss.get(part | first)
                if own is not None:
                    others, lost = best[rest ^ part]
                    found = min(found, (others, lost + own))
                if part == 0:
                    break
                part = (part - 1) & rest
            best[mask] = found
        return best[(1 << n) - 1]
