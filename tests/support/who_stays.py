"""A small world of cases that stay, stop, return after a gap and change their values, and how the
oracle of persistence reads what was released of it."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass, field
from fractions import Fraction

from oracles.stay import Box, Group, Point
from support.quarters import Report
from support.released import region, rows

from srsql.engine.api.engine import Engine

QUARTERS = ("2011Q1", "2011Q2", "2011Q3", "2011Q4", "2012Q1", "2012Q2")
FAR = 10**6
"""A value that is missing; only a region whose value is missing reaches so far."""
ANY = (-FAR, FAR)
SEXES = {"M": 1, "F": 2, "": FAR}
LEVELS = {"common": Fraction(1), "usual": Fraction(2, 3), "*": Fraction(1, 2)}


@dataclass
class World:
    """Who reports what in each quarter."""

    luck: random.Random
    quarters: dict[str, list[Report]] = field(default_factory=dict)
    values: dict[str, dict[int, Point]] = field(default_factory=dict)

    def fill(self, cases: int) -> None:
        luck = self.luck
        stays, moves, gaps = luck.choice([0.5, 0.8]), luck.choice([0.0, 0.1]), luck.choice([0, 0.1])
        homes = {case: self.home(gaps) for case in range(1, cases + 1)}
        present = dict.fromkeys(homes, False)
        for quarter in QUARTERS:
            reports, values = [], {}
            for case in homes:
                present[case] = luck.random() < (stays if present[case] else 0.25)
                if luck.random() < moves:
                    homes[case] = self.home(gaps)
                if not present[case]:
                    continue
                age, weight, sex = homes[case]
                values[case] = (
                    int(age) if age else FAR, int(weight) if weight else FAR, SEXES[sex]
                )  # fmt: skip
                for number in range(luck.choice([1, 1, 1, 2, 3])):
                    terms = [t for t in ("Common", "Usual") if luck.random() < 0.3]
                    terms.append(f"Rare {luck.randrange(60)}")
                    reports.append(Report(
                        1_000_000 * QUARTERS.index(quarter) + 10 * case + number, case, age=age,
                        wt=weight, sex=sex, pt=tuple(terms[:2]), indi=tuple(terms[2:]),
                    ))  # fmt: skip
            self.quarters[quarter], self.values[quarter] = reports, values

    def home(self, gaps: float) -> tuple[str, str, str]:
        luck = self.luck
        told = (str(luck.choice([20, 22, 25, 40, 43, 70])), str(luck.choice([50, 60, 90])),
                luck.choice("MF"))  # fmt: skip
        known = [text if luck.random() >= gaps else "" for text in told]
        return known[0], known[1], known[2]

    def terms(self, quarter: str) -> dict[int, frozenset[str]]:
        held: dict[int, set[str]] = defaultdict(set)
        for report in self.quarters[quarter]:
            held[report.caseid].update(t.lower() for t in (*report.pt, *report.indi))
        return {case: frozenset(terms) for case, terms in held.items()}


def interval(low: int | None, high: int | None) -> tuple[int, int]:
    return ANY if low is None or high is None else (low, high)


def seen(engine: Engine, schema: str, release_id: int) -> list[Group]:
    """Regions as the view of the release shows them, by the groups of the catalog."""
    boxes: dict[int, Box] = {}
    for row in rows(engine.con, f'SELECT * FROM "{schema}".demo'):
        low, high, light, heavy, sex = region(row)
        code = SEXES.get(sex or "", FAR)
        boxes[int(row["caseid"])] = (
            interval(low, high), interval(light, heavy), ANY if code == FAR else (code, code)
        )  # fmt: skip
    crowds: dict[int, list[int]] = defaultdict(list)
    for group, case in engine.sql(
        "SELECT group_id, case_id::INTEGER FROM srsql.member WHERE release_id = ?", [release_id]
    ):
        crowds[group].append(case)
    found = []
    for cases in crowds.values():
        (box,) = {boxes[case] for case in cases}
        found.append(Group(box, frozenset(cases)))
    return found
