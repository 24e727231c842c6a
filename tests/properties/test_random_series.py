"""Random series through the engine, attacked with their released views and the raw files alone."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from oracles.audit import Attacker, Box, Case, Finding, Group, Interval, Release, covers
from support.quarters import Report, write_quarter
from support.released import region, rows

from srsql.engine.api.engine import Engine
from srsql.engine.errors import NothingToReleaseError

MODELS = ("ppms", "ppms-ear", "ppms++", "ppms-alpha")
QUARTERS = ("2011Q1", "2011Q2", "2011Q3", "2011Q4", "2012Q1")
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
                terms[row["caseid"]].add(row["term"].strip().upper())
    crowds: dict[Box, dict[str, int]] = defaultdict(dict)
    for row in rows(con, f'SELECT * FROM "{schema}".demo'):
        low, high, light, heavy, sex = region(row)
        box = (pair(low, high), pair(light, heavy), SEXES.get(sex))
        (name,) = [t for t in terms[row["caseid"]] if t.startswith(NAMED)]
        crowds[box][name.removeprefix(NAMED)] = row["caseid"]
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


class Run:
    """One random history of a warehouse, released in one series per model."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.rng = random.Random(seed)
        self.world = World(self.rng)
        self.folder, self.files = folder, 0
        self.engine = Engine(folder / "w.duckdb")
        self.series: dict[str, list[Seen]] = {model: [] for model in MODELS}
        levels = folder / "levels.csv"
        levels.write_text("value,theta\nCommon 0,1\nCommon 1,1/3\n*,1/2\n")
        theta = self.rng.choice(["0.5", "1/3", "frequency", f"levels:{levels}"])
        self.options: dict[str, Any] = {
            "k": self.rng.randint(2, 4),
            "theta": theta,
            "on_infeasible": "withhold",
            "leftovers": self.rng.choice(["withhold", "withhold", "merge"]),
            "missing": self.rng.choice(["keep", "keep", "drop"]),
        }
        self.skipped = self.rng.choice([None, None, QUARTERS[1]])

    def ingest(self, quarter: str, deleted: list[int] | None = None) -> None:
        self.files += 1
        archive = write_quarter(
            self.folder / str(self.files), quarter, self.world.quarters[quarter], deleted or []
        )
        self.world.deleted |= set(deleted or [])
        self.engine.ingest([archive], replace=True)

    def release(self, model: str, quarter: str, **options: Any) -> None:
        options = self.options | options | {"seed": self.rng.randrange(99), "allow_linkable": True}
        options |= {"change": True, "weaker": True}  # alpha is another one in every quarter
        if model == "ppms-alpha":
            options["alpha"] = self.rng.choice(["1/2", "1/3"])
        name = model.replace("+", "p")
        try:
            made = self.engine.release(quarter, model=model, series=name, **options)
        except NothingToReleaseError:
            if options.get("supersede") or self.rng.random() < 0.5:
                return
            made = self.engine.release_range(
                f"{quarter}:{quarter}", model=model, series=name, **options
            ).released[0]
        self.series[model].append(seen(self.engine, made.schema, self.world, quarter))
        self.series[model].sort(key=lambda own: own.quarter)

    def correct(self, model: str, quarter: str) -> None:
        made = self.engine.correct(quarter, series=model.replace("+", "p"))
        if made.release_id is not None:
            self.series[model].append(seen(self.engine, made.schema, self.world, quarter))
            self.series[model].sort(key=lambda own: own.quarter)

    def live(self) -> None:
        """Release all quarters but the last, which is there for those who ask who stops."""
        world, rng = self.world, self.rng
        world.arrive(QUARTERS[0])
        self.ingest(QUARTERS[0])
        for at, quarter in enumerate(QUARTERS[:-1]):
            following = QUARTERS[at + 1]
            world.arrive(following)
            gone = rng.sample(range(len(world.homes)), 2) if rng.random() < 0.4 else []
            self.ingest(following, gone)
            if quarter == self.skipped:
                continue
            for model in MODELS:
                self.release(model, quarter)
            if rng.random() < 0.3:  # some who were thought to have stopped turn up after all
                world.add(following, rng.sample(range(len(world.homes)), 4))
                self.ingest(following)
            if at and rng.random() < 0.3:
                self.remake(QUARTERS[rng.randrange(at)])
        if self.skipped:
            self.remake(self.skipped)

    def remake(self, quarter: str) -> None:
        """An earlier quarter, with cases that are new, and some that came later.

        Where it is out it can only be corrected: the groups of deleted cases leave it.
        """
        later = self.rng.sample(range(len(self.world.homes)), 3)
        self.world.add(quarter, [*later, *self.world.newcomers(12)])
        self.ingest(quarter)
        for model in MODELS:
            if any(own.quarter == quarter for own in self.series[model]):
                self.correct(model, quarter)
            else:
                self.release(model, quarter, supersede=True, weaker=True)

    def judge(self) -> Counter[str]:
        """Attack each series as it stands, and compare with what its audit says."""
        met: Counter[str] = Counter()
        for model, series in self.series.items():
            if not series:
                continue
            newest = series[-1].quarter
            following = self.world.ids(QUARTERS[QUARTERS.index(newest) + 1])
            found = assert_safe(series, following)
            audit = self.engine.audit(series=model.replace("+", "p"))
            assert audit.safe
            told = [row for row in audit.releases if row.scope == "group"]
            assert [row.quarter for row in told] == [own.quarter for own in series]
            assert all(row.outside == 0 for row in told)
            reported = sum(row.persistence or 0 for row in told)
            assert bool(reported) >= bool(found["persistent"])
            met += found
        return met


def history(folder: Path, seed: int) -> Counter[str]:
    folder.mkdir()
    run = Run(folder, seed)
    try:
        run.live()
        return run.judge()
    finally:
        run.engine.close()


def test_no_periodical_model_publishes_a_group_in_danger(tmp_path: Path) -> None:
    """And the examples are no idle ones: every attack rules somebody out in some of them."""
    met: Counter[str] = Counter()
    for seed in (3, 5):
        met += history(tmp_path / str(seed), seed)
    assert met["groups"] > 30
    for kind in ("b", "f", "l", "md", "persistent"):
        assert met[kind], kind
