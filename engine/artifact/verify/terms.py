"""What the chunks of an artifact with disassociated terms show of k^m-anonymity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import duckdb
from sqlglot import exp

from srsql.engine.artifact.publish.layout import Manifest
from srsql.engine.artifact.verify.tables import loaded
from srsql.engine.artifact.verify.verdict import Check
from srsql.engine.checks.term_chunks import breaches, check_reconstructed, check_terms
from srsql.engine.warehouse.layout import CLUSTERS, COLUMNS
from srsql.engine.warehouse.released_terms import PublishedTerms
from srsql.engine.warehouse.statements import column, parsed, temporary

MACROS = tuple(
    f"disassociation_{topic}.sql" for topic in ("km", "checks", "structure", "originals")
)
TERM_CHECKS = ("terms",)


class _Reader:
    """A connection that is no warehouse, as the checks ask it."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self._con = con

    def run(self, query: str, parameters: Sequence[Any] = ()) -> None:
        """Execute one statement for its effect."""
        self._con.execute(query, list(parameters) or None)

    def rows(self, query: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        return self._con.execute(query, list(parameters) or None).fetchall()


def check_chunks(con: duckdb.DuckDBPyConnection, manifest: Manifest) -> list[Check]:
    """k^m of every chunk, and the rules without which k^m is not enough; none of other artifacts.

    Raises:
        ValueError: a table of them is missing.
    """
    if manifest.terms is None:
        return []
    known = {item.name: item.rows for item in manifest.tables}
    missing = COLUMNS.keys() - known.keys()
    if missing:
        raise ValueError(f"the manifest declares terms, and no table {min(missing)}")
    con.execute("CREATE SCHEMA IF NOT EXISTS srsql")
    for file in MACROS:
        for statement in parsed("srsql.sql_macros", file):
            con.execute(statement)
    tables = PublishedTerms(*(f"temp.main.{loaded(name)}" for name in COLUMNS))
    reader = _Reader(con)
    size = max(manifest.k, manifest.terms.diversity)
    rows = check_terms(reader, tables, 0, manifest.k, manifest.terms.m, cluster_size=size)
    rows += check_reconstructed(reader, tables, 0)
    broken = [row for row in rows if row.passed is False]
    faults = breaches(reader, tables, manifest.k, manifest.terms.m) if broken else []
    faults += [f"{row.measure} ({row.scope}): {row.violating:,.0f}" for row in broken]
    faults += _crowded(reader, manifest)
    return [Check("terms", faults, sum(known[name] for name in COLUMNS))]


def _crowded(reader: _Reader, manifest: Manifest) -> list[str]:
    """Clusters with more records than there are cases, in all or of their region."""
    clusters, cases = manifest.table(CLUSTERS), manifest.counts.released_cases
    ours = column("records", "c")
    records = exp.func("coalesce", exp.Sum(this=exp.cast(ours, "HUGEINT")), exp.Literal.number(0))
    source = temporary(loaded(CLUSTERS), alias="c")
    ((told,),) = reader.rows(exp.select(records).from_(source).sql("duckdb"))
    faults = [f"clusters have {told:,} records, and {cases:,} cases are released"]
    faults = faults if told > cases else []
    region = [shown.name for shown in clusters.columns if shown.attribute]
    if not region:
        return faults
    reports = manifest.reports
    case = next(c.name for c in reports.columns[::-1] if c.role in ("case id", "report id"))
    seen = (
        exp.select(*[column(name, "r") for name in region])
        .select(exp.Count(this=exp.Distinct(expressions=[column(case, "r")])).as_("cases"))
        .from_(temporary(loaded(reports.name), alias="r"))
        .group_by(*[column(name, "r") for name in region])
    )
    held = (
        exp.select(*[column(name, "c") for name in region])
        .select(records.as_("records"))
        .from_(source)
        .group_by(*[column(name, "c") for name in region])
    )
    same = [exp.NullSafeEQ(this=column(name, "h"), expression=column(name, "s")) for name in region]
    query = (
        exp.select(exp.Count(this=exp.Star()))
        .from_(held.subquery("h"))
        .join(seen.subquery("s"), on=exp.and_(*same), join_type="left")
        .where(
            exp.GT(
                this=column("records", "h"),
                expression=exp.func("coalesce", column("cases", "s"), exp.Literal.number(0)),
            )
        )
    )
    ((regions,),) = reader.rows(query.sql("duckdb"))
    if regions:
        faults.append(f"clusters of {regions:,} region(s) have more records than it has cases")
    return faults
