"""Random groups and targets for the sets that remain, and the tables that an audit has of them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

TERMS = range(-1, 3)
"""-1 stands for substantially many symptoms."""
UNIT = 12


@dataclass(frozen=True)
class Case:
    old: bool
    """It is in an earlier release."""
    in_next_quarter: bool
    """It is in the next quarter."""
    in_previous_quarter: bool
    """It is in the previous quarter."""
    held: dict[int, int]
    """Value -> weight, of ``UNIT``."""


@dataclass(frozen=True)
class Target:
    group: int
    old: bool
    in_next_quarter: bool
    in_previous_quarter: bool
    b: frozenset[int]
    f: frozenset[int]
    """Numbers of cases whose earlier and later regions do not cover it."""


@dataclass(frozen=True)
class Groups:
    groups: tuple[tuple[Case, ...], ...]
    targets: tuple[Target, ...]
    bounds: dict[int, Fraction]

    def cases(self, group: int) -> dict[int, Case]:
        """Number -> case; cases are numbered over all groups."""
        start = sum(map(len, self.groups[:group]))
        return dict(enumerate(self.groups[group], start))

    def excluded(self, target: Target) -> dict[str, set[int]]:
        cases = self.cases(target.group)
        return {
            "b": set(target.b & cases.keys()),
            "f": set(target.f & cases.keys()),
            "l": {n for n, case in cases.items() if case.old and not target.old},
            "md": {
                n
                for n, case in cases.items()
                if case.in_next_quarter and not target.in_next_quarter
            },
        }

    def remaining(self, target: Target) -> dict[int, Case]:
        gone = set().union(*self.excluded(target).values())
        return {n: case for n, case in self.cases(target.group).items() if n not in gone}

    def shares(self, number: int) -> dict[int, Fraction]:
        """Value -> share of those who remain for a target; values of its group with a bound."""
        target = self.targets[number]
        left = self.remaining(target).values()
        present = {t for case in self.groups[target.group] for t in case.held} & self.bounds.keys()
        if not left:
            return {}
        return {
            term: Fraction(sum(case.held.get(term, 0) for case in left), len(left) * UNIT)
            for term in present
        }


def _case(
    old: bool, in_next_quarter: bool, in_previous_quarter: bool, held: dict[int, int]
) -> Case:
    return Case(old or in_previous_quarter, in_next_quarter, in_previous_quarter, held)


@st.composite
def groups(draw: st.DrawFn) -> Groups:
    """One to three groups of one to five cases; whoever came from the last quarter is old."""
    held = st.dictionaries(st.sampled_from(TERMS), st.integers(1, UNIT), max_size=2)
    flag = st.booleans()
    case = st.builds(_case, flag, flag, flag, held)
    made = tuple(
        tuple(group)
        for group in draw(st.lists(st.lists(case, min_size=1, max_size=5), min_size=1, max_size=3))
    )
    everyone = frozenset(range(sum(map(len, made))))
    some = st.frozensets(st.sampled_from(sorted(everyone)), max_size=3)
    targets = []
    for _ in range(draw(st.integers(1, 5))):
        old, in_next_quarter, in_previous_quarter = draw(flag), draw(flag), draw(flag)
        targets.append(
            Target(draw(st.integers(0, len(made) - 1)), old or in_previous_quarter, in_next_quarter,
                   in_previous_quarter, draw(some), draw(some))
        )  # fmt: skip
    thetas = st.sampled_from([Fraction(1, 2), Fraction(1, 3), Fraction(1, 5)])
    return Groups(made, tuple(targets), draw(st.dictionaries(st.sampled_from(TERMS), thetas)))


class Tables:
    """The tables of an audit of the groups, by name as SQL text."""

    def __init__(self, sql: Any, world: Groups) -> None:
        self.sql, self.world = sql, world
        self.targets = sql.table(
            "audit_target",
            "target_no INTEGER, group_id INTEGER, case_no INTEGER, is_new BOOLEAN,"
            " stopped BOOLEAN, in_next_quarter BOOLEAN, in_previous_quarter BOOLEAN",
            [
                (
                    n,
                    t.group,
                    n,
                    not t.old,
                    not t.in_next_quarter,
                    t.in_next_quarter,
                    t.in_previous_quarter,
                )
                for n, t in enumerate(world.targets)
            ],
        )
        self.crowds = sql.table(
            "audit_crowd",
            "group_id INTEGER, cases BIGINT, of_l BIGINT, of_md BIGINT, of_both BIGINT,"
            " next_cases BIGINT, next_l BIGINT, previous_cases BIGINT, previous_md BIGINT",
            [self._crowd(g) for g in range(len(world.groups))],
        )
        self.pairs = sql.table(
            "audit_pair",
            "target_no INTEGER, case_no INTEGER, b BOOLEAN, f BOOLEAN, otherwise BOOLEAN,"
            " in_next_quarter BOOLEAN, in_previous_quarter BOOLEAN",
            [row for n, target in enumerate(world.targets) for row in self._pairs(n, target)],
        )
        self.loads = sql.table(
            "audit_load",
            "group_id INTEGER, term_no INTEGER, weight BIGINT, of_l BIGINT, of_md BIGINT,"
            " of_both BIGINT",
            [row for g in range(len(world.groups)) for row in self._loads(g)],
        )
        self.held = sql.table(
            "audit_held",
            "case_no INTEGER, term_no INTEGER, weight BIGINT",
            [
                (n, term, weight)
                for g in range(len(world.groups))
                for n, case in world.cases(g).items()
                for term, weight in case.held.items()
            ],
        )
        self.bounds = sql.table(
            "audit_bound",
            "term_no INTEGER, theta_num BIGINT, theta_den BIGINT",
            [(term, t.numerator, t.denominator) for term, t in world.bounds.items()],
        )

    def of_shares(self, chosen: str) -> str:
        """The arguments of ``srsql.remaining_shares`` and ``srsql.greatest_share``."""
        tables = (chosen, self.targets, self.loads, self.pairs, self.held, self.bounds)
        return f"({', '.join(tables)}, {UNIT})"

    def _crowd(self, group: int) -> tuple[int, ...]:
        cases = self.world.groups[group]
        stays = [case for case in cases if case.in_next_quarter]
        in_previous_quarter = [case for case in cases if case.in_previous_quarter]
        return (
            group,
            len(cases),
            sum(case.old for case in cases),
            len(stays),
            sum(case.old for case in stays),
            len(stays),
            sum(case.old for case in stays),
            len(in_previous_quarter),
            sum(case.in_next_quarter for case in in_previous_quarter),
        )

    def _pairs(self, number: int, target: Target) -> list[tuple[Any, ...]]:
        sets = self.world.excluded(target)
        cases = self.world.cases(target.group)
        return [
            (number, n, n in sets["b"], n in sets["f"], n in sets["l"] | sets["md"],
             cases[n].in_next_quarter, cases[n].in_previous_quarter)
            for n in sorted(sets["b"] | sets["f"])
        ]  # fmt: skip

    def _loads(self, group: int) -> list[tuple[int, ...]]:
        cases = self.world.groups[group]

        def load(term: int, chosen: list[Case]) -> int:
            return sum(case.held.get(term, 0) for case in chosen)

        return [
            (group, term, load(term, list(cases)), load(term, [c for c in cases if c.old]),
             load(term, [c for c in cases if c.in_next_quarter]),
             load(term, [c for c in cases if c.old and c.in_next_quarter]))
            for term in sorted({t for case in cases for t in case.held})
        ]  # fmt: skip
