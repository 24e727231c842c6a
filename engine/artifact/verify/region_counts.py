"""Counts of regions in the place of rows: what an artifact shows of them.

There is no id, and no row is a case's: the cases of a region are one number. So k and the sums are
looked at in that number; that no case is in an earlier release, nothing in an artifact can show.
"""

from __future__ import annotations

from typing import Any

import duckdb
from sqlglot import exp

from srsql.engine.artifact.format import REGION_CELLS, Manifest
from srsql.engine.artifact.verify.contradictions import model_of
from srsql.engine.artifact.verify.reading import loaded
from srsql.engine.artifact.verify.verdict import Check
from srsql.engine.store.statements import column, temporary

NAME = "regions"
NO_ROWS = "rows_of_cases"
"""Parameter that says that there are no rows."""
SHOWN_FIGURES = ("k_effective", "released_cases", "released_reports")
"""Figures of the manifest that follow from the counts of regions."""
WITHOUT_IDS = (
    "{quarter}: that counts are of the cases that no earlier release has: no row is a case's, and "
    "no id is published"
)


def alone_faults(manifest: Manifest) -> list[str]:
    """Where the manifest says of rows of cases what its tables, or its model, do not."""
    promised = manifest.parameters.get(NO_ROWS) == "none"
    model = model_of(manifest)
    known = isinstance(model, str) or (NO_ROWS in model.public_facts) == promised
    if promised == manifest.counts_alone and known:
        return []
    there = "are none" if manifest.counts_alone else "are some"
    return [f"{NO_ROWS} is {manifest.parameters.get(NO_ROWS)!r}, and by its tables rows {there}"]


def region_count_check(con: duckdb.DuckDBPyConnection, manifest: Manifest) -> Check:
    """Every region counts k cases or more and is there once; together they are the released ones.

    Args:
        con: into which the tables were loaded.
        manifest: that declares a table of them.
    """
    item = manifest.table(REGION_CELLS)
    rows = exp.select(*[column(c.name, "t") for c in item.columns])
    rows = rows.from_(temporary(loaded(item.name), alias="t"))
    found = con.execute(rows.sql("duckdb")).fetchall()
    faults, seen, total = list[str](), set[tuple[object, ...]](), 0
    names = [c.name for c in item.columns[:-1]]
    for *region, cases in found:
        words = ", ".join(f"{name} {value}" for name, value in zip(names, region, strict=True))
        if cases is None or cases < manifest.k:
            faults.append(f"region {words} counts {cases} cases, and k is {manifest.k}")
        if tuple(region) in seen:
            faults.append(f"region {words} is there twice")
        seen.add(tuple(region))
        total += cases or 0
    if found != sorted(found, key=_place):
        faults.append(
            "rows are not in the order of their columns, so that their order may tell more"
        )
    counts = manifest.counts
    if not counts.released_cases == counts.released_reports == total:
        faults.append(
            f"regions count {total:,} cases, the manifest tells {counts.released_cases:,} cases "
            f"and {counts.released_reports:,} reports, which are cases here"
        )
    if manifest.parameters.get("k_effective") != manifest.k:
        faults.append(f"k_effective is not k, {manifest.k}, which groups without items keep")
    return Check(NAME, faults, len(found))


def _place(row: tuple[Any, ...]) -> list[tuple[bool, Any]]:
    """Where a row stands: texts by their bytes, what is missing last."""
    return [(v is None, v.encode() if isinstance(v, str) else v or 0) for v in row]
