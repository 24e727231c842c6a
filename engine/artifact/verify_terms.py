"""What the chunks of an artifact with disassociated terms show of k^m-anonymity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import duckdb

from srsql.engine.artifact.layout import Manifest
from srsql.engine.artifact.verdict import Check
from srsql.engine.artifact.verify_tables import loaded
from srsql.engine.statements import statements
from srsql.engine.terms.build import COLUMNS
from srsql.engine.terms.checks import breaches, check_reconstructed, check_terms
from srsql.engine.terms.published import PublishedTerms

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
        for statement in statements("srsql.sql_macros", file):
            con.execute(statement)
    tables = PublishedTerms(*(f"temp.main.{loaded(name)}" for name in COLUMNS))
    reader = _Reader(con)
    size = max(manifest.k, manifest.terms.diversity)
    rows = check_terms(reader, tables, 0, manifest.k, manifest.terms.m, cluster_size=size)
    rows += check_reconstructed(reader, tables, 0)
    broken = [row for row in rows if row.passed is False]
    faults = breaches(reader, tables, manifest.k, manifest.terms.m) if broken else []
    faults += [f"{row.measure} ({row.scope}): {row.violating:,.0f}" for row in broken]
    return [Check("terms", faults, sum(known[name] for name in COLUMNS))]
