"""A random world of reports, and its releases as an attacker has them."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from oracles.audit import Attacker, Box, Case, Finding, Group, Interval, Release, covers
from support.quarters import Report
from support.released import region, rows

from srsql.engine.api.engine import Engine

SEXES: dict[str, Interval] = {"M": (1, 1), "F": (2, 2)}
NAMED = "CASE "


class Seen(Release):
    """A release as its views show it."""

    @cached_property
    def places(self) -> dict[str, Box]:
        return {case.case_id: group.region for group in self.groups for case in group.cases}

    @cached_property
    def ids(self) -> set[str]:  # type: ignore[override]
        return set(self.places)

    def region_of(self, case_id: str) -> Box | None:
        return self.places.get(case_id)


@dataclass
class World:
    """Reports that come in, quarter by quarter; cases return, change, lose and gain values."""

    rng: random.Random
    quarters: dict[str, list[Report]] = field(default_factory=dict)
    homes: dict[int, dict[str, str]] = field(default_factory=dict)
    deleted: set[int] = field(default_factory=set)
    reports: int = 0

    def __post_init__(self) -> None:
        self.ages = self.rng.sample(range(1, 90), self.rng.choice([3, 8, 30]))
        self.gaps = self.rng.choice([0.0, 0.1, 0.3])
        self.moves = self.rng.choice([0.05, 0.3])
        self.returns = self.rng.choice([0.2, 0.4])
        self.common = self.rng.choice([0.1, 0.3])

    def value(self) -> dict[str, str]:
        rng = self.rng
        known = {
            "age": str(rng.choice(self.ages)),
            "sex": rng.choice("MF"),
            "wt": str(rng.choice([50, 60, 90])),
        }
        if rng.random() < 0.1:
            return dict.fromkeys(known, "")  # all missing
        return {name: "" if rng.random() < self.gaps else text for name, text in known.items()}

    def report(self, case: int) -> Report:
        rng = self.rng
        if case not in self.homes or rng.random() < self.moves:
            self.homes[case] = self.value()
        self.reports += 1
        shared = [f"Common {i}" for i in range(3) if rng.random() < self.common]
        shared += [f"Rare {rng.randrange(30)}" for _ in range(rng.choice([0, 0, 1, 9]))]
        cut = rng.randint(0, len(shared))
        names = (f"{NAMED.title()}{case}", *shared[:cut])
        return Report(self.reports, case, **self.homes[case], pt=names, indi=tuple(shared[cut:]))

    def arrive(self, quarter: str) -> None:
        known = len(self.homes)
        present = [c for c in range(known) if self.rng.random() < self.returns]
        present += range(known, known + self.rng.randint(0, 24))
        self.quarters[quarter] = [self.report(case) for case in present]
        again = [case for case in present if self.rng.random() < 0.1]
        self.quarters[quarter] += [self.report(case) for case in again]

    def add(self, quarter: str, cases: list[int]) -> None:
        """More reports for a quarter that is ingested anew."""
        inside = {report.caseid for report in self.quarters[quarter]}
        self.quarters[quarter] += [self.report(case) for case in cases if case not in inside]

    def newcomers(self, count: int) -> list[int]:
        return list(range(len(self.homes), len(self.homes) + count))

    def ids(self, quarter: str) -> set[str]:
        return {str(r.caseid) for r in self.quarters[quarter] if r.caseid not in self.deleted}

    def raw(self, quarter: str) -> dict[str, Box]:
        """The super-record of every case: the hull of what its reports tell."""
        told: dict[str, list[Report]] = defaultdict(list)
        for report in self.quarters[quarter]:
            told[str(report.caseid)].append(report)
        return {
            case: (
                hull(r.age for r in reports),
                hull(r.wt for r in reports),
                only({r.sex for r in reports} - {""}),
            )
            for case, reports in told.items()
        }

    def substantial(self, quarter: str) -> set[str]:
        """At least mean + sd values of an attribute, over the super-records of the quarter."""
        found = set()
        for attribute in ("pt", "indi"):
            held: dict[str, set[str]] = {case: set() for case in self.ids(quarter)}
            for report in self.quarters[quarter]:
                if str(report.caseid) in held:
                    held[str(report.caseid)].update(getattr(report, attribute))
            counts = {case: len(terms) for case, terms in held.items()}
            mean = Fraction(sum(counts.values()), max(1, len(counts)))
            variance = sum((n - mean) ** 2 for n in counts.values()) / max(1, len(counts))
            if variance:
                found |= {c for c, n in counts.items() if n > mean and (n - mean) ** 2 >= variance}
        return found


def hull(texts: Iterator[str]) -> Interval:
    known = [int(text) for text in texts if text]
    return (min(known), max(known)) if known else None


def only(sexes: set[str]) -> Interval:
    """Two sexes, or none, are published like a missing one."""
    return SEXES[sexes.pop()] if len(sexes) == 1 else None


def seen(engine: Engine, schema: str, world: World, quarter: str) -> Seen:
    """The release as an attacker reads it; pseudonyms are told apart by a term of each case."""
    con = engine.con
    terms: dict[int, set[str]] = defaultdict(set)
    for view, column in (("reac", "pt"), ("indi", "indi_pt")):
        for row in rows(con, f'SELECT caseid, {column} AS term FROM "{schema}".{view}'):
            if row["term"] is not None:
                terms[row["caseid"]].add(row["term"].strip().lower())
    crowds: dict[Box, dict[str, int]] = defaultdict(dict)
    for row in rows(con, f'SELECT * FROM "{schema}".demo'):
        low, high, light, heavy, sex = region(row)
        box = (pair(low, high), pair(light, heavy), SEXES.get(sex))
        (name,) = [t for t in terms[row["caseid"]] if t.startswith(NAMED.lower())]
        crowds[box][name.removeprefix(NAMED.lower())] = row["caseid"]
    raw, many = world.raw(quarter), world.substantial(quarter)
    (facts,) = rows(con, f'FROM "{schema}".manifest')
    return Seen(
        quarter,
        tuple(
            Group(
                box,
                tuple(
                    Case(case, raw[case], dict.fromkeys(terms[public], 1), case in many)
                    for case, public in cases.items()
                ),
            )
            for box, cases in crowds.items()
        ),
        facts["k"],
        {t["value"]: Fraction(t["theta"]).limit_denominator(1000) for t in facts["thresholds"]},
        Fraction(facts.get("alpha", "1")),
        status=facts["attacks"],
    )


def pair(low: int | None, high: int | None) -> Interval:
    return None if low is None or high is None else (low, high)


def assert_safe(series: list[Seen], next_ids: set[str]) -> Counter[str]:
    """No case is in danger in any release, under what it says it withstands; what was met."""
    met: Counter[str] = Counter()
    for i, own in enumerate(series):
        attacks = tuple(own.status.split(","))
        by_group = {}
        for scope in ("group", "match"):
            attacker = Attacker(series, i, attacks, scope, next_ids)
            for finding in attacker.findings():
                danger = finding.dig or finding.dsg or finding.ssg
                assert not danger, (own.quarter, finding)
                met["targets"] += 1
                followed = own.quarter < series[-1].quarter
                met["persistent"] += finding.persistent and followed and scope == "group"
                met.update(attack for attack in attacks if finding.excluded.get(attack))
                if scope == "group":
                    by_group[finding.target.case_id] = finding
                else:
                    assert by_group[finding.target.case_id].remaining <= finding.remaining
                    assert_every_covering_group_keeps_its_bounds(own, finding, attacker)
        met["groups"] += len(own.groups)
    return met


def assert_every_covering_group_keeps_its_bounds(
    own: Seen, finding: Finding, attacker: Attacker
) -> None:
    """Why safety at scope=group implies safety at scope=match."""
    for group in own.groups:
        if covers(group.region, finding.target.raw):
            left = [case for case in group.cases if case.case_id in finding.remaining]
            assert len(left) >= own.k
            counts = Counter(term for case in left for term in case.terms)
            for term, count in counts.items():
                assert Fraction(count, len(left)) <= own.thetas[term]
            if "ss" in attacker.attacks:
                assert Fraction(sum(case.ss for case in left), len(left)) <= own.alpha
