"""Random series by ``ppms-stay`` through the engine, attacked by the oracle of persistence.

The audit that ends every release is left out, so that what is found safe is so by its making, not
because else it was refused. Cases stay, stop, return after a gap, change their values, have several
reports, and are deleted after the quarter before was released, some with a correction of it.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest import mock

from oracles.stay import Box, Group, Point, Quarter, broken_rules, too_little_is_left
from support.quarters import Report, write_quarter
from support.released import region, rows

from srsql.engine.api.engine import Engine
from srsql.engine.checks import registry

QUARTERS = ("2011Q1", "2011Q2", "2011Q3", "2011Q4", "2012Q1", "2012Q2")
FAR = 10**6
"""A value that is missing; only a region whose value is missing reaches so far."""
ANY = (-FAR, FAR)
SEXES = {"M": 1, "F": 2, "": FAR}
LEVELS = {"COMMON": Fraction(1), "USUAL": Fraction(2, 3), "*": Fraction(1, 2)}


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
            held[report.caseid].update(t.upper() for t in (*report.pt, *report.indi))
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


def live(folder: Path, seed: int) -> tuple[list[Quarter], int, Counter[str]]:
    """One series; k, and why cases were withheld."""
    luck = random.Random(seed)
    world = World(luck)
    world.fill(luck.choice([60, 120]))
    levels = folder / "levels.csv"
    lines = [f"{value},{share}" for value, share in LEVELS.items()]
    levels.write_text("\n".join(["value,theta", *lines]) + "\n")
    k = luck.choice([2, 3])
    options: dict[str, Any] = {
        "model": "ppms-stay", "k": k, "theta": f"levels:{levels}", "on_infeasible": "withhold",
        "refine": luck.choice(["off", "fast"]), "seed": seed, "ids": "original",
    }  # fmt: skip
    series: list[Quarter] = []
    gone: set[int] = set()
    with Engine(folder / "w.duckdb") as engine:
        for at, quarter in enumerate(QUARTERS):
            lost = luck.sample(sorted(world.values[quarter]), luck.choice([0, 0, 1, 3]))
            gone |= set(lost)
            name = folder / str(at)
            engine.ingest([write_quarter(name, quarter, world.quarters[quarter], lost)])
            if at == 0:
                continue
            own, after = QUARTERS[at - 1], set(world.values[quarter])
            if at > 1 and lost and luck.random() < 0.5:
                engine.correct(QUARTERS[at - 2], series="main")
            made = engine.release_range(f"{own}:{own}", **options).released[0]
            values = {c: v for c, v in world.values[own].items() if c not in gone}
            series.append(Quarter(
                values, {c: t for c, t in world.terms(own).items() if c in values},
                frozenset(after - gone), seen(engine, made.schema, made.release_id),
            ))  # fmt: skip
        reasons = engine.sql("SELECT reason, count(*) FROM srsql.withheld GROUP BY reason")
    return series, k, Counter(dict(reasons))


def test_a_series_by_the_model_that_stays_leaves_k_and_theta_to_every_attack(
    tmp_path: Path,
) -> None:
    thetas = defaultdict(lambda: LEVELS["*"], LEVELS)
    met: Counter[str] = Counter()
    plain = [check for check in registry.CHECKS if check.stage != "audit"]
    with mock.patch.object(registry, "CHECKS", tuple(plain)):
        for seed in range(4):
            folder = tmp_path / str(seed)
            folder.mkdir()
            series, k, reasons = live(folder, seed)
            assert too_little_is_left(series, k, thetas) == [], seed
            every = {term: thetas[term] for quarter in series for held in quarter.terms.values()
                     for term in held if thetas[term] < 1}  # fmt: skip
            assert broken_rules(series, k, every) == [], seed
            met += reasons
            for before, quarter in pairwise(series):
                met["in both"] += len(before.released & quarter.released)
            met["released"] += sum(len(quarter.released) for quarter in series)
    assert met["released"] > 200
    assert met["in both"] > 20
