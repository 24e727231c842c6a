"""What the first run does, and what it found."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from srsql.engine.api.engine import Engine
from srsql.engine.audit.audit import Audit
from srsql.engine.catalog.series import Ids
from srsql.engine.errors import WarehouseError
from srsql.engine.extras.synth import quarter_range, synthesize
from srsql.engine.models import DEFAULT_MODEL, MODELS
from srsql.engine.parameters import SCOPES
from srsql.engine.risk import singling_out
from srsql.engine.store.database_file import NOW, Wait, need_usable
from srsql.udfs.kernels import loading_kernels

FIRST, LAST = "2011Q1", "2011Q4"
CASES = 2000
SEED = 2011
K = 5
MEASURES = (singling_out.KERNELS, "srsql.udfs.risk.nearest_records")
"""Kernels of what is measured of a release."""

QUERY = """\
SELECT g.drugname, r.pt, count(DISTINCT r.caseid) AS cases
FROM released.drug AS g JOIN released.reac AS r USING (primaryid, quarter)
GROUP BY ALL ORDER BY cases DESC, g.drugname, r.pt LIMIT 5"""


@dataclass(frozen=True)
class DemoRelease:
    """One released quarter of the demo."""

    quarter: str
    cases: int
    groups: int
    withheld: int
    nil: float
    dr: float


@dataclass(frozen=True)
class Demo:
    """What the demo made, and what to do with it."""

    db: str
    releases: list[DemoRelease]
    audit: str
    """The verdict of the audit of the series, in one line."""
    reports: list[str]
    """HTML files: the last quarter, internal and public, and the series."""
    query: str
    paste: str
    next_steps: list[str]


def run_demo(
    folder: Path, progress: Callable[[str], None], ids: Ids | None = None, wait: Wait = NOW
) -> Demo:
    """Write a series of four quarters below ``folder``, ingest, release, measure, audit and
    report it.

    A second run finds the same files and releases and changes nothing.

    Args:
        folder: of its own.
        progress: told each step.
        ids: which ids the series has; None: what a new series has.
        wait: how long for another process that has its warehouse.

    Raises:
        WarehouseError: the folder holds something else.
    """
    data, db = folder / "data", folder / "demo.duckdb"
    need_usable(db)
    if folder.exists() and any(folder.iterdir()) and not (db.exists() or data.exists()):
        raise WarehouseError(f"{folder} is not empty: give the demo a folder of its own")
    data.mkdir(parents=True, exist_ok=True)
    with loading_kernels((*MODELS[DEFAULT_MODEL](k=K).kernels, *MEASURES)):
        return _made(folder, data, db, progress, ids, wait)


def _made(
    folder: Path, data: Path, db: Path, progress: Callable[[str], None], ids: Ids | None, wait: Wait
) -> Demo:
    quarters = quarter_range(FIRST, LAST)
    progress("writing synthetic quarters")
    files = synthesize(data, quarters, cases=CASES, seed=SEED)
    told = {"folder": str(folder), "ids": ids}
    with (
        Engine(db, wait=wait.seconds, progress=wait.told) as engine,
        engine.recorded("demo", told),
    ):
        progress("ingesting")
        engine.ingest(files, progress=progress)
        engine.release.make_range(f"{FIRST}:{LAST}", k=K, seed=SEED, ids=ids, progress=progress)
        releases = [_measured(engine, quarter) for quarter in quarters]
        progress("auditing")
        audited = engine.audit.run(evidence=0)
        progress("reporting")
        reports = _reports(engine, folder)
    statement = " ".join(QUERY.split())
    code = f"import duckdb; print(duckdb.connect({str(db)!r}, read_only=True).sql({statement!r}))"
    quoted = shlex.quote(code) if set(code) & set('"$`\\!') else f'"{code}"'
    return Demo(
        db=str(db),
        releases=releases,
        audit=_verdict(audited),
        reports=reports,
        query=QUERY + ";",
        paste=f"{shlex.quote(sys.executable)} -c {quoted}",
        next_steps=[
            f"srsql metrics --db {shlex.quote(str(db))} --quarter {LAST}",
            f"srsql audit --db {shlex.quote(str(db))}",
            f"srsql attack --db {shlex.quote(str(db))} --quarter {FIRST} --qid age=44 --qid sex=M",
            f"srsql report --db {shlex.quote(str(db))} --quarter {FIRST} --public",
            f"srsql status --db {shlex.quote(str(db))}",
            "srsql release --help",
        ],
    )


def _reports(engine: Engine, folder: Path) -> list[str]:
    """Write the last quarter's two editions and the series' internal one."""
    from srsql.engine.report.report import file_name, write_report

    files = []
    for quarter, public in ((LAST, False), (LAST, True), (None, False)):
        made = engine.artifact.report(quarter, public=public)
        file = folder / file_name(made)
        write_report(made, file)
        files.append(str(file))
    return files


def _verdict(audited: Audit) -> str:
    attacks = ", ".join(a.upper() for a in audited.releases[0].attacks)
    groups = sum(row.groups for row in audited.releases if row.scope == SCOPES[0])
    dangerous = sum(row.dig + row.dsg + row.ssg for row in audited.releases)
    return (
        f"Every case of every release attacked ({attacks}-attacks), within its group and among all "
        f"that match: {dangerous:,} of {groups:,} groups in danger."
    )


def _measured(engine: Engine, quarter: str) -> DemoRelease:
    rows = engine.audit.metrics(quarter)
    ratio = {(row.measure, row.scope): row.ratio or 0.0 for row in rows}
    manifest = next(r for r in engine.status().releases if r["quarter"] == quarter)
    groups = next(int(r.total or 0) for r in rows if r.measure == "dr")
    return DemoRelease(
        quarter=quarter,
        cases=manifest["released_cases"],
        groups=groups,
        withheld=manifest["withheld_cases"],
        nil=ratio["nil", "release"],
        dr=ratio["dr", "without E"],
    )
