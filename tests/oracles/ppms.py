"""Brute-force oracle of PPMS(k, θ*)- and PPMS(k, θ, α)-bounding, from the text of Huang 2021.

Shares with the MS oracle what the papers share: IL, ΔIL and the distance of seeds. Everything else
is recomputed from the members of a group at every step, in exact fractions; the four views' MSAVR
and N are counted anew from the records in the order they joined. An infinite risk is ``None``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from oracles.ms import (
    WHOLE,
    Attribute,
    Gain,
    Record,
    Value,
    delta_il,
    distance,
    eta,
    information_loss,
    sigma,
)

VIEWS = (1, 2, 3, 4)


@dataclass(frozen=True)
class Model:
    """What tells ppms, ppms++ and ppms-alpha apart."""

    core_only: bool = False
    """NCC grouping: groups are grown on carriers alone."""
    alpha: Fraction | None = None
    """Also: the next seed is farthest from the record added last."""


@dataclass(frozen=True)
class Case:
    """A record with what the series and the number of its symptoms say of it."""

    record: Record
    new: bool = True
    stops: bool = True
    substantial: bool = False

    def carries(self, model: Model) -> bool:
        """Whether it counts towards k and θ: a new case; with α one of GV1."""
        return self.new and (self.stops or model.alpha is None)

    def views(self) -> set[int]:
        """GV1 new and stopping, GV2 new, GV3 stopping, GV4 all."""
        return {
            view
            for view, inside in zip(
                VIEWS, (self.new and self.stops, self.new, self.stops, True), strict=True
            )
            if inside
        }


@dataclass
class Group:
    """Members by index, in the order in which they joined."""

    members: list[int]
    core: frozenset[int] | None = None
    """Those that joined before the group was completed; None until then."""
    merged: int = 1
    """How many groups it was made of: each has reserved k places."""


@dataclass(frozen=True)
class Problem:
    cases: Sequence[Case]
    attributes: Sequence[Attribute]
    k: int
    thetas: Mapping[Value, Fraction]
    model: Model
    unit: Fraction = WHOLE
    """In which σ is counted."""

    def carriers(self, members: Sequence[int]) -> int:
        return sum(self.cases[m].carries(self.model) for m in members)

    def risk(self, members: Sequence[int], r: int) -> Fraction | None:
        """PR(G ∪ t), eqs. (2)-(3): σ and η with the record in the group; θ = 1 bounds nothing."""
        together = [*members, r]
        records = [self.cases[m].record for m in together]
        total = Fraction(1)
        for value in self.cases[r].record.sensitive:
            held = sigma(records, value)
            allowed = eta(self.carriers(together), self.k, self.thetas[value], self.unit)
            if held > allowed and self.thetas[value] < 1:
                return None
            total += held / (max(allowed - held, 0) + 1)
        return total

    def gain(self, members: Sequence[int], r: int) -> Gain | None:
        """ΔPRIL(G, t), eq. (4), with what breaks its ties."""
        risk = self.risk(members, r)
        if risk is None:
            return None
        inside = [self.cases[m].record for m in members]
        loss = delta_il(inside, self.cases[r].record, self.attributes)
        return Gain(loss * risk, risk, loss)

    def judge(self, group: Group, r: int) -> bool:
        """Judge_α_bounding: MSAVR_x / N_x <= α in the four views after Update_Group (proc. 2-3)."""
        if self.model.alpha is None:
            return True
        for view in VIEWS:
            symptoms, room = 0, self.k * group.merged
            for m in [*group.members, r]:
                case = self.cases[m]
                remaining = group.core is not None and m not in group.core
                reserved = case.new and case.stops and not remaining
                if case.substantial and view in case.views():
                    symptoms += 1
                    room += not reserved
            if Fraction(symptoms, room) > self.model.alpha:
                return False
        return True


def group(problem: Problem, first: int, leftovers: str = "withhold") -> list[int]:
    """Group number of every case by procedure 1; -1 where none fits.

    ``first`` counts among the cases that groups are grown on. Leftovers join in case order, those
    that carry the bounds first.
    """
    cases, model = problem.cases, problem.model
    growers = [r for r, c in enumerate(cases) if c.carries(model) or not model.core_only]
    groups: list[Group] = []
    if sum(c.carries(model) for c in cases) >= problem.k:
        groups = _create(problem, growers, growers[first])
    inside = {m for g in groups for m in g.members}
    rest = [r for r in range(len(cases)) if r not in inside]
    if groups:
        rest.sort(key=lambda r: (not cases[r].carries(model), r))
        rest = [r for r in rest if not _join(problem, groups, r)]
        if leftovers == "merge":
            for r in rest:
                while not _join(problem, groups, r) and len(groups) > 1:
                    _merge(problem, groups, r)
    numbers = [-1] * len(cases)
    for number, found in enumerate(groups):
        for m in found.members:
            numbers[m] = number
    return numbers


def _create(problem: Problem, growers: list[int], seed: int) -> list[Group]:
    """Procedure 1, lines 1-24."""
    groups: list[Group] = []
    rest = list(growers)
    while True:
        members = [seed]
        rest.remove(seed)
        last = seed
        while problem.carriers(members) < problem.k:
            fitting = [r for r in rest if problem.judge(Group(members), r)]
            gains = {r: problem.gain(members, r) for r in fitting}
            finite = [r for r in fitting if gains[r] is not None]
            if not finite:
                return groups
            last = min(finite, key=lambda r: (gains[r], r))
            members.append(last)
            rest.remove(last)
        groups.append(Group(members, core=frozenset(members)))
        if not rest:
            return groups
        origin = problem.cases[last if problem.model.alpha is not None else seed].record
        seed = min(
            rest,
            key=lambda r: (-distance(origin, problem.cases[r].record, problem.attributes), r),
        )


def _join(problem: Problem, groups: list[Group], r: int) -> bool:
    """Procedure 1, lines 25-30, but never against a bound."""
    choices = []
    for number, found in enumerate(groups):
        cost = problem.gain(found.members, r) if problem.judge(found, r) else None
        if cost is not None:
            choices.append((cost, number))
    if choices:
        groups[min(choices)[1]].members.append(r)
    return bool(choices)


def _merge(problem: Problem, groups: list[Group], r: int) -> None:
    """Merge the group nearest to a case with the one that adds the least information loss."""

    def records(found: Group) -> list[Record]:
        return [problem.cases[m].record for m in found.members]

    def growth(number: int) -> Fraction:
        parts = [records(groups[n]) for n in (nearest, number)]
        together = information_loss(parts[0] + parts[1], problem.attributes)
        return together - sum(information_loss(part, problem.attributes) for part in parts)

    record = problem.cases[r].record
    nearest = min(
        range(len(groups)),
        key=lambda n: (delta_il(records(groups[n]), record, problem.attributes), n),
    )
    partner = min((n for n in range(len(groups)) if n != nearest), key=lambda n: (growth(n), n))
    kept, spent = sorted((nearest, partner))
    gone = groups.pop(spent)
    into = groups[kept]
    into.members += gone.members
    into.merged += gone.merged
    assert into.core is not None
    assert gone.core is not None
    into.core |= gone.core


def worst_share(problem: Problem, members: Sequence[int]) -> Fraction:
    """Largest share of substantial cases in what may remain of a group, by enumeration.

    Carriers cannot be excluded; whichever others an attacker excludes, the worst choice keeps all
    others with substantial symptoms and nobody else.
    """
    cases = [problem.cases[m] for m in members]
    core = [c for c in cases if c.carries(problem.model)]
    others = [c for c in cases if not c.carries(problem.model)]
    shares = []
    for keep in range(1 << len(others)):
        rest = core + [c for i, c in enumerate(others) if keep >> i & 1]
        shares.append(Fraction(sum(c.substantial for c in rest), len(rest)))
    return max(shares)
