"""Random series of weekly batches that hold cases back, attacked with released views and raw files.

The pool is kept here once more, from raw files and released views: who waits, since when, and in
which batch each report ends. ``SRSQL_SERIES=50 pytest -m ""`` runs so many; ``SRSQL_SERIES_FROM``
is the seed of the first.
"""

from __future__ import annotations

import math
import os
import random
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from oracles.audit import covers
from support.quarters import Report, write_quarter
from support.random_world import Seen, World, assert_safe, seen
from support.released import rows

from srsql.engine.api.engine import Engine
from srsql.engine.errors import ReleaseError

WEEKS = ("2020W51", "2020W52", "2020W53", "2021W01", "2021W02", "2021W03")
MODELS = ("ms", "ppms", "ppms-ear", "ppms++", "ppms-alpha")
NAME = "pool"
SERIES = int(os.environ.get("SRSQL_SERIES", "5"))
FIRST = int(os.environ.get("SRSQL_SERIES_FROM", "0"))
OPTIONS: dict[str, Any] = {"max_delay": 2, "k": 2, "theta": "0.5", "ids": "pseudonym"}
WAITABLE = {
    "no_group_fits", "pattern_too_small", "pattern_infeasible", "too_few_new_cases", "infeasible",
}  # fmt: skip


@dataclass
class Wait:
    """A case of the pool: the place of the week since which it waits, and its reports."""

    since: int
    reports: list[Report]


@dataclass
class Pool:
    """A random history of one series, and what became of every case and report of it."""

    folder: Path
    seed: int
    model: str
    waiting: dict[str, Wait] = field(default_factory=dict)
    waited: dict[str, dict[str, int]] = field(default_factory=dict)
    """Week -> case that it released after a wait -> the place of the week since which it waited."""
    ends: Counter[int] = field(default_factory=Counter)
    """How often a report was released, or withheld for good."""
    came: dict[str, list[Report]] = field(default_factory=dict)
    """The reports that came in each week, in the weeks that are out."""
    series: list[Seen] = field(default_factory=list)
    public_reports: list[Any] = field(default_factory=list)
    met: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        self.world = World(self.rng)
        self.most = self.rng.randint(1, 3)
        self.engine = Engine(self.folder / "w.duckdb")
        self.options: dict[str, Any] = {
            "k": self.rng.randint(2, 4),
            "theta": self.rng.choice(["0.5", "1/3", "frequency"]),
            "on_infeasible": "withhold",
            "missing": self.rng.choice(["keep", "keep", "drop"]),
            "max_delay": self.most,
            "series": NAME,
            "seed": self.rng.randrange(99),
        }
        if self.model == "ppms-alpha":
            self.options["alpha"] = "1/2"

    def ingest(self, week: str, gone: list[int]) -> None:
        files = self.folder / week
        self.engine.ingest(
            [write_quarter(files, week, self.world.quarters[week], gone)], allow_incomplete=True
        )
        self.world.deleted |= set(gone)

    def live(self) -> None:
        self.world.arrive(WEEKS[0])
        self.ingest(WEEKS[0], [])
        for at, week in enumerate(WEEKS[:-1]):
            self.world.arrive(WEEKS[at + 1])
            known = range(len(self.world.homes))
            gone = self.rng.sample(known, 2) if len(known) > 2 and self.rng.random() < 0.3 else []
            self.ingest(WEEKS[at + 1], gone)
            self.release(at, week)
        held = [report.primaryid for wait in self.waiting.values() for report in wait.reports]
        arrived = [r.primaryid for week in self.came for r in self.came[week]]
        self.ends.update(held)
        assert self.ends == Counter(arrived)  # each in one end: released, withheld, or it waits

    def release(self, at: int, week: str) -> None:
        own = self.world.quarters[week]
        self.came[week] = own
        carried = dict(self.waiting)
        batch = [*own, *(r for wait in carried.values() for r in wait.reports)]
        self.world.quarters[week] = batch
        draft = self.rng.random() < 0.3
        made = self.engine.release(week, model=self.model, draft=draft, **self.options)
        if draft:
            made = self.engine.confirm(week, series=NAME)
        shown = seen(self.engine, made.schema, self.world, week)
        self.series.append(shown)
        self.waiting, self.waited[week] = {}, {}
        reasons = dict(
            self.engine.sql(
                "SELECT w.case_id, w.reason FROM srsql.withheld AS w WHERE w.release_id = ?",
                [made.release_id],
            )
        )
        delays = []
        for case in {str(report.caseid) for report in batch}:
            reports = [report for report in batch if str(report.caseid) == case]
            since = carried[case].since if case in carried else at
            assert (case in shown.ids) != (case in reasons), (week, case)
            if case in reasons and reasons[case] in WAITABLE and at - since < self.most:
                self.waiting[case] = Wait(since, reports)
                continue
            self.ends.update(report.primaryid for report in reports)
            if case in reasons:
                self.met["withheld for good"] += case in carried
                assert at - since <= self.most
                continue
            delays.append(at - since)
            self.met["released after a wait"] += at > since
            if at > since:
                self.waited[week][case] = since
        self.compare(made, shown, batch, delays)

    def compare(self, made: Any, shown: Seen, batch: list[Report], delays: list[int]) -> None:
        """What the release tells of itself, with what happened."""
        engine, waiting = self.engine, set(self.waiting)
        told = engine.sql(
            "SELECT w.case_id FROM srsql.waiting AS w WHERE w.release_id = ?", [made.release_id]
        )
        assert {case for (case,) in told} == waiting
        (facts,) = rows(engine.con, f'FROM "{made.schema}".manifest')
        assert facts["waiting_cases"] == len(waiting)
        held = [wait.reports for wait in self.waiting.values()]
        assert facts["waiting_reports"] == sum(map(len, held))
        assert facts["max_delay"] == self.most
        told_why = made.manifest["waiting"].values()
        assert sum(each["cases"] for each in told_why) == len(waiting)
        released = rows(engine.con, f'SELECT * FROM "{made.schema}".demo')
        assert {row["quarter"] for row in released} <= {made.quarter}
        assert len(released) == sum(str(report.caseid) in shown.ids for report in batch)
        self.public_reports += [row["primaryid"] for row in released]
        measured = {
            (row.measure, row.scope): row
            for row in engine.metrics(made.quarter, series=NAME)
            if row.measure in ("delay", "waiting")
        }
        ordered = sorted(delays)
        for scope, share in (("median", 0.5), ("95 %", 0.95)):
            row = measured["delay", scope]
            assert (row.violating, row.total) == (sum(d > 0 for d in delays), len(delays))
            place = max(0, math.ceil(share * len(ordered)) - 1)
            assert row.ratio == (ordered[place] if ordered else None)
        assert measured["waiting", "cases"].violating == len(waiting)

    def judge(self) -> Counter[str]:
        assert len(self.public_reports) == len(set(self.public_reports))  # nothing is out twice
        if self.model != "ms":
            own = {str(report.caseid) for report in self.world.quarters[WEEKS[-1]]}
            self.met += assert_safe(self.series, own - {str(c) for c in self.world.deleted})
            self.who_waited_is_among_k()
            assert self.engine.audit(series=NAME).safe  # ms promises nothing to who joins releases
        return self.met

    def who_waited_is_among_k(self) -> None:
        """Of those who may be the one that waited, some were released meanwhile and are ruled out.

        The attacker knows since when, or only that it waited: from any of the weeks before.
        """
        places = {own.quarter: own for own in self.series}
        for at, own in enumerate(self.series):
            for case, since in self.waited[own.quarter].items():
                raw = self.world.raw(own.quarter)[case]
                meanwhile = set().union(*(places[week].ids for week in WEEKS[since:at]))
                assert case not in meanwhile
                for group in own.groups:
                    if case not in {each.case_id for each in group.cases} and not covers(
                        group.region, raw
                    ):
                        continue
                    left = [each for each in group.cases if each.case_id not in meanwhile]
                    assert len(left) >= own.k
                    counts = Counter(term for each in left for term in each.terms)
                    assert all(Fraction(n, len(left)) <= own.thetas[t] for t, n in counts.items())
                    self.met["windows"] += 1


def history(folder: Path, seed: int) -> Counter[str]:
    folder.mkdir()
    run = Pool(folder, seed, MODELS[seed % len(MODELS)])
    try:
        run.live()
        return run.judge()
    finally:
        run.engine.close()


@pytest.mark.thorough
def test_a_series_that_holds_back_publishes_no_group_in_danger_and_nobody_twice(
    tmp_path: Path,
) -> None:
    met: Counter[str] = Counter()
    for seed in range(FIRST, FIRST + SERIES):
        met += history(tmp_path / str(seed), seed)
    for kind in ("released after a wait", "windows"):
        assert met[kind], kind


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"model": "k-anonymity"}, "does not group cases"),
        ({"model": "ppms-dp-num"}, "does not tell how many"),
        ({"model": "ppms-stay"}, "consecutive releases"),
        ({"model": "disassociation"}, "does not group cases"),
        ({"terms": "disassociate"}, "told apart from rows"),
        ({"ids": "original"}, "original ids"),
        ({"supersede": True}, "--supersede"),
        ({"max_delay": 0}, "--max-delay"),
    ],
)
def test_what_cannot_hold_back_says_so(tmp_path: Path, options: dict[str, Any], told: str) -> None:
    world = World(random.Random(1))
    world.arrive(WEEKS[0])
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest(
            [write_quarter(tmp_path / "a", WEEKS[0], world.quarters[WEEKS[0]])],
            allow_incomplete=True,
        )
        with pytest.raises(ReleaseError, match=told) as refused:
            engine.release(WEEKS[0], **OPTIONS | options)
    assert "\n" not in str(refused.value)
