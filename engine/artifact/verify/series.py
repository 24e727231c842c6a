"""What several artifacts of one series show together: that joining them excludes no new case."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import duckdb
from sqlglot import exp

from srsql.engine.artifact.format import HIERARCHIES, Manifest
from srsql.engine.artifact.verify.rows import hierarchy_nodes, prepare, region_text
from srsql.engine.artifact.verify.tables import connection, loaded, read_tables, text
from srsql.engine.artifact.verify.verdict import Check
from srsql.engine.errors import VerifyError
from srsql.engine.warehouse.statements import column, parsed, temporary, union_all

SERIES_CHECKS = ("series", "new k", "new theta", "cover")
_TABLES = (
    "srsql_seen (artifact INTEGER, case_id VARCHAR, region VARCHAR)",
    "srsql_seen_box (artifact INTEGER, region VARCHAR, attribute VARCHAR, low DECIMAL(38, 18),"
    " high DECIMAL(38, 18), node VARCHAR)",
    "srsql_seen_value (artifact INTEGER, case_id VARCHAR, value VARCHAR)",
    "srsql_seen_theta (artifact INTEGER, value VARCHAR, theta_num BIGINT, theta_den BIGINT)",
    "srsql_seen_claim (artifact INTEGER, quarter VARCHAR, k BIGINT)",
    "srsql_above (attribute VARCHAR, node VARCHAR, ancestor VARCHAR)",
)


def check_series(given: list[tuple[Path, Manifest]]) -> tuple[list[Check], list[Manifest]]:
    """The checks across artifacts, and those of which the history is not all given.

    Each artifact passed its own loading; nothing else is taken for granted.
    """
    faults = _strangers([manifest for _, manifest in given])
    series = Check("series", faults, len(given))
    if faults:
        return [series], []
    joined = [n for n, (_, manifest) in enumerate(given) if "b" in manifest.attacks]
    known = _known_history([manifest for _, manifest in given])
    whole = [n for n in joined if n < known]
    unknown = [given[n][1] for n in joined if n >= known]
    if not whole:
        return [series], unknown
    with connection() as con:
        for declaration in _TABLES:
            con.execute(f"CREATE TEMP TABLE {declaration}")
        for number, (folder, manifest) in enumerate(given):
            unread = read_tables(con, folder, manifest)
            if unread:
                raise VerifyError(f"{folder} was changed while it was verified: {unread[0]}")
            prepare(con, folder, manifest)
            _collect(con, number, manifest, claims=number in whole)
        con.execute(
            "INSERT INTO temp.main.srsql_above SELECT unnest(?), unnest(?), unnest(?)",
            [list(names) for names in _above(given[0][0])],
        )
        for statement in parsed("srsql.sql_macros", "artifact/steps/verify_series.sql"):
            con.execute(statement)
        found = dict(
            con.execute(
                "SELECT f.check_name, list(f.place ORDER BY f.place) "
                "FROM temp.main.srsql_fault AS f GROUP BY f.check_name"
            ).fetchall()
        )
        totals = con.execute("SELECT t.check_name, t.total FROM temp.main.srsql_total AS t")
        return [
            series,
            *(Check(name, found.get(name, []), total) for name, total in totals.fetchall()),
        ], unknown


def _known_history(manifests: list[Manifest]) -> int:
    """How many artifacts from the first on have exactly those before them as their history.

    After one that has not, such as one that supersedes a release, nobody knows which cases are new.
    """
    quarters = [manifest.quarter for manifest in manifests]
    for number, manifest in enumerate(manifests):
        if manifest.earlier_releases != tuple(quarters[:number]):
            return number
    return len(manifests)


def _strangers(manifests: list[Manifest]) -> list[str]:
    """What keeps artifacts from being compared."""
    faults = []
    first = manifests[0]
    for before, after in pairwise(manifests):
        if after.quarter <= before.quarter:
            faults.append(f"{after.quarter} is given after {before.quarter}: oldest first")
        lost = {*before.earlier_releases, before.quarter} - set(after.earlier_releases)
        if lost and after.quarter > before.quarter:
            faults.append(
                f"{after.quarter} does not tell of the earlier release(s) of "
                f"{', '.join(sorted(lost))}, which {before.quarter} shows"
            )
    for other in manifests[1:]:
        for what, one, two in (
            ("dataset", first.dataset, other.dataset),
            ("series", first.series, other.series),
            ("kind of case ids", first.case_ids, other.case_ids),
            ("key of the pseudonyms", first.key_id, other.key_id),
            ("quasi-identifiers", first.attributes, other.attributes),
            ("hierarchies", first.files[HIERARCHIES], other.files[HIERARCHIES]),
        ):
            if one != two:
                faults.append(f"{other.quarter} has another {what} than {first.quarter}")
    return faults


def _collect(
    con: duckdb.DuckDBPyConnection, number: int, manifest: Manifest, *, claims: bool
) -> None:
    """Add one artifact, as ``prepare`` laid it out, to the tables of the step."""
    for target, names, source in (
        ("srsql_seen", "case_id::VARCHAR, q.region", "srsql_place"),
        ("srsql_seen_value", "case_id::VARCHAR, q.value", "srsql_value"),
        ("srsql_seen_theta", "value, q.theta_num, q.theta_den", "srsql_theta"),
    ):
        con.execute(
            f"INSERT INTO temp.main.{target} SELECT ?, q.{names} FROM temp.main.{source} AS q",
            [number],
        )
    boxes = exp.insert(_boxes(number, manifest), temporary("srsql_seen_box"))
    con.execute(boxes.sql("duckdb"))
    if claims:
        con.execute(
            "INSERT INTO temp.main.srsql_seen_claim VALUES (?, ?, ?)",
            [number, manifest.quarter, manifest.k],
        )


def _boxes(number: int, manifest: Manifest) -> exp.Query:
    """One row per region and quasi-identifier."""
    parts: list[exp.Query] = []
    reports = manifest.reports
    for attribute in manifest.attributes:
        ends: list[exp.Expr] = [
            column(c.name, "t") for c in reports.columns if c.attribute == attribute.name
        ]
        values = [*ends, exp.null()] if attribute.kind == "numeric" else [exp.null()] * 2 + ends
        parts.append(
            exp.select(
                exp.Literal.number(number),
                region_text(reports),
                text(attribute.name),
                *[value.copy() for value in values],
            )
            .distinct()
            .from_(temporary(loaded(reports.name), alias="t"))
        )
    return union_all(parts)


def _above(folder: Path) -> tuple[list[str], list[str], list[str]]:
    """Attributes, nodes and ancestors side by side, each node above itself."""
    attributes: list[str] = []
    nodes: list[str] = []
    ancestors: list[str] = []
    for attribute, parents in hierarchy_nodes(folder).items():
        for node in parents:
            above, seen = node, set[str]()
            while above and above not in seen:
                seen.add(above)
                attributes.append(attribute)
                nodes.append(node)
                ancestors.append(above)
                above = parents.get(above, "")
    return attributes, nodes, ancestors
