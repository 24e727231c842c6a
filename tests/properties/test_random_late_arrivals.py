"""Random dumps of a cumulative source, released quarter by quarter, and attacked with what is out.

The rule of late arrivals (SPEC section 22) is kept here once more, from the definitions: which
report comes with which dump, and into which release it goes. The attackers have the released views
and know of their target the release, the period of receipt, or both. ``SRSQL_SERIES=50 pytest -m
""`` runs so many histories; ``SRSQL_SERIES_FROM`` is the seed of the first.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from oracles.audit import Group, covers
from support.quarters import Report, write_quarter
from support.random_world import Seen, World, assert_safe, seen
from support.released import rows

from srsql.engine.api.engine import Engine

QUARTERS = ("2020Q1", "2020Q2", "2020Q3", "2020Q4")
MODELS = ("ppms++", "ppms-alpha", "ppms-stay", "ppms", "ppms-ear")
LAGGING = {"ppms-alpha", "ppms-stay"}
SERIES = int(os.environ.get("SRSQL_SERIES", "5"))
FIRST = int(os.environ.get("SRSQL_SERIES_FROM", "0"))


@dataclass
class Stored:
    """A text of a report as some dump brought it first."""

    report: Report
    received: int
    dump: int
    release: int | None = None
    """The place of the quarter that took it."""


@dataclass
class Dumps:
    """A random history: what the source publishes, and what the releases make of it."""

    folder: Path
    seed: int
    model: str
    stored: list[Stored] = field(default_factory=list)
    out: dict[int, int] = field(default_factory=dict)
    """Place of a quarter that is out -> the last dump before it was."""
    released: dict[str, list[int]] = field(default_factory=dict)
    """Case -> places of the quarters that have it."""
    late: dict[int, dict[str, int]] = field(default_factory=dict)
    """Place of a quarter -> its late cases, and the place of the quarter that received them."""
    series: list[Seen] = field(default_factory=list)
    met: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        self.world = World(self.rng)
        self.engine = Engine(self.folder / "w.duckdb")
        self.options: dict[str, Any] = {
            "model": self.model,
            "k": self.rng.randint(2, 3),
            "theta": self.rng.choice(["0.5", "frequency"]),
            "on_infeasible": "withhold",
            "seed": self.rng.randrange(99),
        }
        if self.model == "ppms-alpha":
            self.options["alpha"] = "1/2"

    def live(self) -> None:
        lag = int(self.model in LAGGING)
        for quarter in QUARTERS:
            self.world.arrive(quarter)
        self.delays = {
            report.primaryid: self.rng.choice([0, 0, 0, 1, 1, 2])
            for quarter in QUARTERS
            for report in self.world.quarters[quarter]
        }
        self.source = {quarter: list(self.world.quarters[quarter]) for quarter in QUARTERS}
        for dump in range(len(QUARTERS)):
            self.publish(dump)
            if dump >= lag:
                self.release(dump - lag, dump)

    def publish(self, dump: int) -> None:
        """Everything that was received and has come, anew; some of it changed or gone."""
        for place, quarter in enumerate(QUARTERS[: dump + 1]):
            reports = [
                report
                for report in self.source[quarter]
                if place + self.delays[report.primaryid] <= dump
                and report.caseid not in self.world.deleted
            ]
            known = [s.report.primaryid for s in self.stored]
            for n, report in enumerate(reports):
                if report.primaryid in known and self.rng.random() < 0.05:
                    reports[n] = replace(report, pt=(*report.pt, f"Added {dump}"))
            moved = {report.primaryid: report for report in reports}
            self.source[quarter] = [moved.get(r.primaryid, r) for r in self.source[quarter]]
            self.keep(place, dump, reports)
            path = write_quarter(self.folder / f"{dump}-{place}", quarter, reports)
            self.engine.ingest([path], cumulative=True, max_vanished=1.0, allow_incomplete=True)
        self.vanish()

    def keep(self, place: int, dump: int, reports: list[Report]) -> None:
        """Store the texts that are not there yet."""
        newest = {each.report.primaryid: each.report for each in self.stored}
        for report in reports:
            if newest.get(report.primaryid) != report:
                self.stored.append(Stored(report, place, dump))
                self.met["changed"] += report.primaryid in newest

    def vanish(self) -> None:
        """From the next dump on the source has nothing of a case."""
        cases = sorted({each.report.caseid for each in self.stored} - self.world.deleted)
        if cases and self.rng.random() < 0.5:
            self.gone = {self.rng.choice(cases)}
            self.world.deleted |= self.gone

    def batch(self, place: int, dump: int) -> list[Report]:
        """What the release of a quarter takes, by the rule."""
        waiting = [each for each in self.stored if each.release is None]
        own = [each for each in waiting if each.received == place]
        reported = {each.report.caseid for each in own}
        taken = list(own)
        for each in waiting:
            case = str(each.report.caseid)
            if each.received < place and (
                each.report.caseid in reported or case not in self.released
            ):
                assert each.dump > self.out[each.received]  # it came when its quarter was out
                taken.append(each)
                if case not in self.released and each.report.caseid not in self.withdrawn():
                    since = self.late.setdefault(place, {})
                    since[case] = min(since.get(case, each.received), each.received)
        for each in taken:
            each.release = place
        return list({each.report.primaryid: each.report for each in taken}.values())

    def release(self, place: int, dump: int) -> None:
        quarter = QUARTERS[place]
        batch = self.batch(place, dump)
        self.out[place] = dump
        self.world.quarters[quarter] = batch
        withdrawn = self.withdrawn()
        made = self.engine.release_range(f"{quarter}:{quarter}", **self.options).released[0]
        there = self.world.deleted
        self.world.deleted = withdrawn  # the last dump has not told of the others
        shown = seen(self.engine, made.schema, self.world, quarter)
        self.series.append(shown)
        held = self.engine.sql(
            "SELECT w.case_id, w.reason FROM srsql.withheld AS w WHERE w.release_id = ?",
            [made.release_id],
        )
        told = {case for case, _ in held}
        assert shown.ids | told == {str(report.caseid) for report in batch}
        assert not shown.ids & told
        assert {c for c, reason in held if reason == "deleted"} == told & set(map(str, withdrawn))
        released = rows(self.engine.con, f'FROM "{made.schema}".demo')
        assert len(released) == sum(str(report.caseid) in shown.ids for report in batch)
        late = set(self.late.get(place, {})) & shown.ids
        (facts,) = rows(self.engine.con, f'FROM "{made.schema}".manifest')
        least = self.options["k"]
        assert facts["late_cases"] == (
            str(len(late)) if len(late) >= least else f"fewer than {least}"
        )
        self.met["late"] += len(late)
        self.met["versions"] += sum(
            each.release == place > each.received and str(each.report.caseid) in self.released
            for each in self.stored
        )
        for case in shown.ids:
            self.released.setdefault(case, []).append(place)
        self.world.deleted = there

    def withdrawn(self) -> set[int]:
        """The cases that a dump so far lacked: all that are gone but those of the last moment."""
        found = self.engine.sql("SELECT d.case_id FROM srsql.deleted_case AS d")
        assert {int(case) for (case,) in found} <= self.world.deleted
        return {int(case) for (case,) in found}

    def judge(self) -> Counter[str]:
        after = {str(s.report.caseid) for s in self.stored if s.received == len(self.series)}
        self.met += assert_safe(self.series, after)
        for place, own in enumerate(self.series):
            for case, since in self.late.get(place, {}).items():
                if case in own.ids:
                    self.attack(place, own, case, since)
        assert self.engine.audit.run().safe
        return self.met

    def attack(self, place: int, own: Seen, case: str, since: int) -> None:
        """Who knows the receipt alone, and who knows receipt and release."""
        raw = self.world.raw(own.quarter)[case]
        spread = [g for r in self.series[since : place + 1] for g in r.groups]
        for group in spread:
            if covers(group.region, raw):
                self.keeps(own, group, {each.case_id for each in group.cases})
        meanwhile = {c for r in self.series[since:place] for c in r.ids}
        for group in own.groups:
            if covers(group.region, raw) or case in {each.case_id for each in group.cases}:
                left = {each.case_id for each in group.cases} - meanwhile
                self.keeps(own, group, left)
                self.met["windows"] += 1

    def keeps(self, own: Seen, group: Group, left: set[str]) -> None:
        assert len(left) >= own.k
        if group not in own.groups:
            return
        cases = [each for each in group.cases if each.case_id in left]
        counts = Counter(term for each in cases for term in each.terms)
        assert all(Fraction(n, len(cases)) <= own.thetas[term] for term, n in counts.items())


def history(folder: Path, seed: int, model: str) -> Counter[str]:
    folder.mkdir()
    run = Dumps(folder, seed, model)
    try:
        run.live()
        return run.judge()
    finally:
        run.engine.close()


@pytest.mark.thorough
def test_late_cases_are_released_once_and_no_group_is_in_danger(tmp_path: Path) -> None:
    met: Counter[str] = Counter()
    for seed in range(FIRST, FIRST + SERIES):
        met += history(tmp_path / str(seed), seed, MODELS[seed % len(MODELS)])
    for kind in ("late", "windows", "changed", "versions"):
        assert met[kind], kind
