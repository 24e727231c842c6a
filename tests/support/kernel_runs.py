"""Releases of small quarters, in the process that is asked: what they show, as one digest each.

``python -m support.kernel_runs FOLDER NAME ...`` prints a line a name. Kernels run as the
environment says: compiled, with checked indices (``NUMBA_BOUNDSCHECK=1``), or interpreted
(``NUMBA_DISABLE_JIT=1``).
"""

from __future__ import annotations

import hashlib
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from support.quarters import crowd, write_quarter

from srsql.engine.api.engine import Engine

QUARTERS = ("2011Q3", "2011Q4")
GROUPS: dict[str, Any] = {"k": 3, "theta": "1/2", "on_infeasible": "withhold"}
LATTICE: dict[str, Any] = {"informative": "pt", "dimensions": "age,sex"}
NOISE: dict[str, Any] = {"noise": "seeded", "epsilon": "1"}
TERMS: dict[str, Any] = {"k": 3, "m": 2}
RUNS: dict[str, dict[str, Any]] = {
    "ms": {"model": "ms", **GROUPS, "refine": "full"},
    "ppms": {"model": "ppms", **GROUPS},
    "ppms-ear": {"model": "ppms-ear", **GROUPS},
    "ppms++": {"model": "ppms++", **GROUPS},
    "ppms-alpha": {"model": "ppms-alpha", **GROUPS, "alpha": "1/2"},
    "ppms-stay": {"model": "ppms-stay", **GROUPS},
    "suppression": {"model": "ms", **GROUPS, "theta": "1/4", "leftovers": "suppress"},
    "ppms-dp-num": {"model": "ppms-dp-num", **GROUPS, **NOISE},
    "ppms-dp-all": {"model": "ppms-dp-all", **GROUPS, **NOISE},
    "disassociation": {"model": "disassociation", **TERMS},
    "chunks": {"model": "ms", **GROUPS, "terms": "disassociate", "m": 2},
    "whole rows": {"model": "ms", **GROUPS, "terms": "disassociate", "term_attributes": "all",
                   "m": 2},
    "k-anonymity": {"model": "k-anonymity", "k": 3},
    "xy-anonymity": {"model": "xy-anonymity", "k": 3},
    "l-diversity": {"model": "l-diversity", "l": 2},
    "alpha-k": {"model": "alpha-k", "k": 3, "alpha": "1/2"},
    "full-domain": {"model": "full-domain", "k": 3, **LATTICE},
    "ipa": {"model": "ipa", **NOISE, **LATTICE},
    "dp-histogram": {"model": "dp-histogram", **NOISE, **LATTICE},
}  # fmt: skip
"""By name, the options of a release; one that is of a series has both quarters."""
DRAWN = ("primaryid", "caseid", "row")
OF_SERIES = ("ppms", "ppms-ear", "ppms++", "ppms-dp-num", "ppms-dp-all")


def sources(folder: Path) -> list[Path]:
    """Two quarters, of which the second has follow-ups of the first."""
    first = crowd(44)
    again = [replace(report, primaryid=report.primaryid + 1) for report in first[10:24]]
    return [
        write_quarter(folder, quarter, reports)
        for quarter, reports in zip(QUARTERS, (first, [*again, *crowd(30, 60)]), strict=True)
    ]


def digest(engine: Engine, schema: str) -> str:
    """Of all rows that the views of a release show, but for what is drawn securely: ids, the
    numbers of rows, clusters and subrecords of a chunk, and so what is reconstructed from them."""
    views = engine.con.execute(
        "SELECT view_name FROM duckdb_views() WHERE schema_name = ? "
        "AND view_name NOT IN ('manifest', 'reconstructed') ORDER BY view_name",
        [schema],
    ).fetchall()
    found = [(view, row) for (view,) in views for row in _rows(engine, schema, view)]
    within: dict[int, list[str]] = defaultdict(list)  # cluster -> all that is told of it
    for view, row in found:
        if "cluster" in row:
            within[row["cluster"]].append(repr((view, row | {"cluster": None})))
    clusters = {number: _told(lines) for number, lines in within.items()}
    return _told(repr((view, row | {"cluster": clusters.get(row.get("cluster"))}))
                 for view, row in found)  # fmt: skip


def _rows(engine: Engine, schema: str, view: str) -> list[dict[str, Any]]:
    """Rows of a view, by column, without ids; the terms of a subrecord are one of them."""
    shown = engine.con.execute(f'SELECT * FROM "{schema}"."{view}"')
    columns = [each[0] for each in shown.description]
    rows = [dict(zip(columns, row, strict=True)) for row in shown.fetchall()]
    if "subrecord" not in columns:
        return [{n: v for n, v in row.items() if n not in DRAWN} for row in rows]
    chunks: dict[tuple[Any, ...], list[str]] = defaultdict(list)
    for row in rows:
        chunks[tuple(v for n, v in row.items() if n != "term")].append(row["term"])
    names = [each for each in columns if each != "term"]
    return [
        dict(zip(names, key, strict=True)) | {"subrecord": sorted(terms)}
        for key, terms in chunks.items()
    ]


def _told(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()


def run(folder: Path, names: list[str]) -> dict[str, str]:
    """Digest of the releases of each name."""
    found = {}
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest(sources(folder))
        for number, name in enumerate(names):
            own = {"seed": 5, "series": f"s{number}", "allow_linkable": True}
            quarters = QUARTERS if name in OF_SERIES else QUARTERS[:1]
            made = [engine.release(quarter, **RUNS[name], **own) for quarter in quarters]
            found[name] = "".join(digest(engine, each.schema) for each in made)
    return found


if __name__ == "__main__":
    for told_of, what in run(Path(sys.argv[1]), sys.argv[2:]).items():
        print(f"{told_of}\t{what}")
