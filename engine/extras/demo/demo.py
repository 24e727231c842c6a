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
FIGURES = """\
SELECT r.quarter,
       (r.private_manifest ->> '$.cases.released')::BIGINT,
       (r.private_manifest ->> '$.groups')::BIGINT,
       (r.private_manifest ->> '$.cases.withheld')::BIGINT,
       (r.private_manifest ->> '$.metrics."nil (release)"')::DOUBLE,
       (r.private_manifest ->> '$.metrics."dr (without E)"')::DOUBLE
FROM srsql.release AS r ORDER BY r.quarter"""


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
    report: str
    """The HTML page of the last quarter, internal edition."""
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
    with loading_kernels((*MODELS[DEFAULT_MODEL](k=K).kernels, *MEASURES), 2 * CASES):
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
        # each quarter is taken in while the one before is released
        made = engine.release.make_range(
            f"{FIRST}:{LAST}", sources=files, k=K, seed=SEED, ids=ids, progress=progress
        )
        releases = _released(engine)
        progress("auditing")
        audited = engine.audit.run(evidence=0, kept=made.audit is not None)
        progress("reporting")
        report = _report(engine, folder)
    statement = " ".join(QUERY.split())
    code = f"import duckdb; print(duckdb.connect({str(db)!r}, read_only=True).sql({statement!r}))"
    quoted = shlex.quote(code) if set(code) & set('"$`\\!') else f'"{code}"'
    return Demo(
        db=str(db),
        releases=releases,
        audit=_verdict(audited),
        report=report,
        query=QUERY + ";",
        paste=f"{shlex.quote(sys.executable)} -c {quoted}",
        next_steps=[
            f"srsql metrics --db {shlex.quote(str(db))} --quarter {LAST}",
            f"srsql audit --db {shlex.quote(str(db))}",
            f"srsql attack --db {shlex.quote(str(db))} --quarter {FIRST} --qid age=44 --qid sex=M",
            f"srsql report --db {shlex.quote(str(db))} --quarter {LAST} --public",
            f"srsql status --db {shlex.quote(str(db))}",
            "srsql release --help",
        ],
    )


def _report(engine: Engine, folder: Path) -> str:
    """Write the page of the last quarter."""
    from srsql.engine.report.report import file_name, write_report

    made = engine.artifact.report(LAST)
    file = folder / file_name(made)
    write_report(made, file)
    return str(file)


def _verdict(audited: Audit) -> str:
    attacks = ", ".join(a.upper() for a in audited.releases[0].attacks)
    groups = sum(row.groups for row in audited.releases if row.scope == SCOPES[0])
    dangerous = sum(row.dig + row.dsg + row.ssg for row in audited.releases)
    return (
        f"Every case of every release attacked ({attacks}-attacks), within its group and among all "
        f"that match: {dangerous:,} of {groups:,} groups in danger."
    )


def _released(engine: Engine) -> list[DemoRelease]:
    """What the private manifests tell."""
    return [DemoRelease(*row) for row in engine.sql(FIGURES)]
