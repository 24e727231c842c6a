"""A year of monthly dumps made from VAERS 2004: late, changed, vanished and forgotten reports.

The period is the month of receipt (``RECVDATE``). A seeded delay of 0 to 6 months decides with
which dump a report comes. January 2005 closes the year, since two models need the next month.
"""

from __future__ import annotations

import csv
import io
import random
import shutil
import zipfile
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from support.real_data import DATA, needs

from srsql.engine.api.engine import Engine

pytestmark = [pytest.mark.thorough, needs("vaers")]
MONTHS = [*(f"2004-{month:02}" for month in range(1, 13)), "2005-01"]
FILES = ("VAERSDATA", "VAERSVAX", "VAERSSYMPTOMS")
LAGGING = {"ppms-alpha", "ppms-stay"}
K = 5


@dataclass
class Source:
    """What the regulator has of the year, and when each report comes, changes and goes."""

    headers: dict[str, list[str]] = field(default_factory=dict)
    rows: dict[str, dict[int, list[list[str]]]] = field(default_factory=dict)
    month: dict[int, int] = field(default_factory=dict)
    comes: dict[int, int] = field(default_factory=dict)
    changes: dict[int, int] = field(default_factory=dict)
    goes: dict[int, int] = field(default_factory=dict)

    def read(self, year: int) -> None:
        csv.field_size_limit(1 << 30)
        with zipfile.ZipFile(DATA / "vaers" / f"{year}VAERSData.zip") as archive:
            for name in FILES:
                (member,) = [n for n in archive.namelist() if name in n.upper()]
                text = archive.read(member).decode("cp1252")
                header, *rows = csv.reader(io.StringIO(text, newline=""))
                self.headers.setdefault(name, header)
                kept = self.rows.setdefault(name, defaultdict(list))
                for row in rows:
                    if row:
                        kept[int(row[0])].append(row)

    def plan(self, seed: int) -> None:
        luck = random.Random(seed)
        place = self.headers["VAERSDATA"].index("RECVDATE")
        for report, (row,) in sorted(self.rows["VAERSDATA"].items()):
            month, _, year = row[place].split("/")
            label = f"{year}-{month}"
            if label not in MONTHS:
                continue
            at = MONTHS.index(label)
            late = luck.randint(1, 6) if luck.random() < 0.25 else 0
            self.month[report] = at
            self.comes[report] = min(at + late, max(at, 11))
            if luck.random() < 0.02:
                self.changes[report] = luck.randint(self.comes[report] + 1, 14)
            if luck.random() < 0.01:
                self.goes[report] = luck.randint(self.comes[report] + 1, 14)

    def dump(self, number: int, folder: Path) -> Path:
        """Everything that has come, anew."""
        folder.mkdir()
        there = [
            r for r, came in self.comes.items() if came <= number < self.goes.get(r, len(MONTHS))
        ]
        for name in FILES:
            out = io.StringIO()
            lines = csv.writer(out)
            lines.writerow(self.headers[name])
            for report in there:
                lines.writerows(self.rows[name].get(report, []))
                if name == "VAERSSYMPTOMS" and self.changes.get(report, 99) <= number:
                    added = [str(report), "Symptom that was added", "7.0"]
                    lines.writerow([*added, *[""] * (len(self.headers[name]) - len(added))])
            (folder / f"2004{name}.csv").write_bytes(out.getvalue().encode("cp1252"))
        return folder


@pytest.fixture(scope="module")
def source() -> Source:
    made = Source()
    made.read(2004)
    made.read(2005)
    made.plan(11)
    return made


def dataset(folder: Path) -> Path:
    """The dataset that ships, with months for years."""
    shipped = resources.files("srsql.schemas")
    text = shipped.joinpath("vaers.toml").read_text(encoding="utf-8")
    shutil.copytree(str(shipped.joinpath("hierarchies")), folder / "hierarchies")
    target = folder / "months.toml"
    target.write_text(text.replace('kind = "year"', 'kind = "month"'))
    return target


@dataclass
class Year:
    """What became of the year in one series."""

    engine: Engine
    source: Source
    model: str
    out: dict[int, int] = field(default_factory=dict)
    forgotten: set[int] = field(default_factory=set)

    def live(self, folder: Path) -> None:
        schema = dataset(folder)
        lag = int(self.model in LAGGING)
        options: dict[str, Any] = {
            "model": self.model, "k": K, "theta": "0.5", "on_infeasible": "withhold", "seed": 1,
        }  # fmt: skip
        if self.model == "ppms-alpha":
            options["alpha"] = "1/2"
        for number in range(len(MONTHS)):
            path = self.source.dump(number, folder / f"{number:02}")
            (done,) = self.engine.ingest(
                [path], dataset=schema, cumulative=True, allow_incomplete=True
            )
            assert done.compared is not None
            assert done.compared.periods == (MONTHS[number],)
            place = number - lag
            if 0 <= place < 12:
                self.out[place] = number
                self.engine.release_range(f"{MONTHS[place]}:{MONTHS[place]}", **options)
            if number == 6:
                self.forget(options)

    def forget(self, options: dict[str, Any]) -> None:
        cases = sorted(r for r, came in self.source.comes.items() if came < 3)[::400]
        known = [r for r in cases if self.source.goes.get(r, 99) > 7]
        self.engine.forget([str(each) for each in known], reason="asked")
        self.forgotten = set(known)

    def members(self) -> dict[int, list[int]]:
        """Case -> places of the months that released it."""
        found: dict[int, list[int]] = defaultdict(list)
        for case, month in self.engine.sql(
            "SELECT m.case_id, r.quarter FROM srsql.member AS m JOIN srsql.release AS r "
            "USING (release_id) WHERE m.case_id NOT LIKE 'forgotten:%'"
        ):
            found[int(case)].append(MONTHS.index(month))
        return found

    def withheld(self) -> dict[int, list[tuple[int, str]]]:
        found: dict[int, list[tuple[int, str]]] = defaultdict(list)
        for case, month, reason in self.engine.sql(
            "SELECT w.case_id, r.quarter, w.reason FROM srsql.withheld AS w "
            "JOIN srsql.release AS r USING (release_id) WHERE w.case_id NOT LIKE 'forgotten:%'"
        ):
            found[int(case)].append((MONTHS.index(month), reason))
        return found

    def due(self, report: int) -> int:
        """The month of release by the rule: its own, or the first after it came."""
        own, came = self.source.month[report], self.source.comes[report]
        if came <= self.out[own]:
            return own
        return min(place for place, dump in self.out.items() if dump >= came)


@pytest.mark.parametrize("model", ["ppms++", "ppms-alpha", "ppms-stay"])
def test_a_year_of_dumps_releases_withholds_or_withdraws_every_report(
    tmp_path: Path, source: Source, model: str, record_property: Any
) -> None:
    with Engine(tmp_path / "w.duckdb") as engine:
        year = Year(engine, source, model)
        year.live(tmp_path)
        members, withheld = year.members(), year.withheld()
        told: Counter[str] = Counter()
        for report, month in source.month.items():
            if month == 12 or report in year.forgotten:
                told["forgotten"] += report in year.forgotten
                continue
            due, gone = year.due(report), source.goes.get(report, 99)
            told["late"] += due > month
            told["late and released"] += due > month and report in members
            places = members.get(report, [])
            assert len(places) <= 1, report  # a report is released once
            held = withheld.get(report, [])
            if gone <= year.out[due]:
                assert not places, report
                told["withdrawn before"] += 1
                continue
            assert (
                places == [due]
                or due in [at for at, _ in held]
                or (report in source.changes and places)
            ), (report, month, due, places, held)
            told["released" if places else "withheld"] += 1
            told["withdrawn after"] += bool(places) and gone < 13
        once = len(source.month) - sum(month == 12 for month in source.month.values())
        ends = ("released", "withheld", "withdrawn before", "forgotten")
        assert sum(told[end] for end in ends) == once
        assert told["late"] > 0.1 * once
        assert engine.audit.run().safe
        record_property("reports", str(dict(told) | {"once": once}))
        print(model, dict(told), once)
        oracle(year, members)


def oracle(year: Year, members: dict[int, list[int]]) -> None:
    """Every group keeps k new cases, and k for who knows that a case was late and since when."""
    groups: dict[tuple[int, int], set[int]] = defaultdict(set)
    for month, group, case in year.engine.sql(
        "SELECT r.quarter, m.group_id, m.case_id FROM srsql.member AS m "
        "JOIN srsql.release AS r USING (release_id)"
    ):
        own = int(case) if case.isdigit() else -hash(case)
        groups[MONTHS.index(month), group].add(own)
    windows = 0
    for (place, _), cases in groups.items():
        new = {case for case in cases if min(members.get(case, [place])) == place}
        assert len(new) >= K
        for case in cases & set(year.source.month):
            since = year.source.month[case]
            if since < place:
                left = [
                    c for c in cases if not any(since <= at < place for at in members.get(c, []))
                ]
                assert len(left) >= K
                windows += 1
    assert windows
    measured = year.engine.sql(
        "SELECT sum(q.violating), sum(q.total) FROM srsql.measure AS q "
        "WHERE q.measure = 'known_report_period'"
    )
    print("known_report_period:", measured, "windows:", windows)
