"""What can be proved from the rows of one artifact: shape, domains, k and theta."""

from __future__ import annotations

import csv
import io
from decimal import Decimal
from pathlib import Path

import duckdb
from sqlglot import exp

from srsql.engine.artifact.publish.layout import HIERARCHIES, THRESHOLDS, Attribute, Manifest, Table
from srsql.engine.artifact.verify.claims import Trees, hierarchy_faults, uniform_faults
from srsql.engine.artifact.verify.tables import loaded, text
from srsql.engine.artifact.verify.verdict import Check
from srsql.engine.models import MODELS
from srsql.engine.warehouse.statements import column, create, parsed, temporary, union_all

ONE_REGION = "one region"
ROW_CHECKS = ("ids", "order", "period", "counts", ONE_REGION, "k", "theta", "thresholds")
OF_GROUPS = ("k", "theta")
"""What a published region shows of the groups, unless it was drawn at random."""


def check_rows(con: duckdb.DuckDBPyConnection, folder: Path, manifest: Manifest) -> list[Check]:
    """Every check on the loaded tables.

    Raises:
        ValueError: the thresholds or the hierarchies cannot be read.
    """
    if manifest.report_table is None:
        return []
    prepare(con, folder, manifest)
    faults = con.execute(
        "SELECT f.check_name, list(f.place ORDER BY f.place) FROM temp.main.srsql_fault AS f "
        "GROUP BY f.check_name"
    ).fetchall()
    totals = con.execute("SELECT t.check_name, t.total FROM temp.main.srsql_total AS t").fetchall()
    found, counted = dict(faults), dict(totals)
    shown = [name for name in ROW_CHECKS if name not in not_claimed(manifest)]
    found["thresholds"] = [
        *found.get("thresholds", []),
        *uniform_faults(*_thresholds(folder), manifest.parameters.get("theta")),
    ]
    checks = [Check(name, found.get(name, []), counted[name]) for name in shown]
    return [*checks, _bounds(con, folder, manifest)]


def not_claimed(manifest: Manifest) -> set[str]:
    """The checks of what the artifact does not claim of its regions."""
    if manifest.perturbed:
        return set(OF_GROUPS)
    kind = MODELS.get(manifest.model)
    if kind is None:
        return set()
    whole = set() if kind.record_unit == "case" else {ONE_REGION}
    return {name for name in OF_GROUPS if name not in kind.guaranteed_bounds} | whole


def prepare(con: duckdb.DuckDBPyConnection, folder: Path, manifest: Manifest) -> None:
    """Run ``artifact/steps/verify_rows.sql`` on the loaded tables.

    Raises:
        ValueError: the thresholds cannot be read.
    """
    _views(con, manifest)
    con.execute(
        "CREATE OR REPLACE TEMP TABLE srsql_theta (value VARCHAR, theta_num BIGINT,"
        " theta_den BIGINT)"
    )
    con.execute(
        "INSERT INTO temp.main.srsql_theta SELECT unnest(?), unnest(?), unnest(?)",
        list(_thresholds(folder)),
    )
    con.execute(
        "CREATE OR REPLACE TEMP TABLE srsql_claim (k BIGINT, period VARCHAR, cases BIGINT,"
        " reports BIGINT)"
    )
    con.execute(
        "INSERT INTO temp.main.srsql_claim VALUES (?, ?, ?, ?)",
        [
            manifest.k,
            manifest.quarter,
            manifest.counts.released_cases,
            manifest.counts.released_reports,
        ],
    )
    for statement in parsed("srsql.sql_macros", "artifact/steps/verify_rows.sql"):
        con.execute(statement)


def hierarchy_nodes(folder: Path) -> dict[str, dict[str, str]]:
    """Attribute -> node -> its parent ("" for the root).

    Raises:
        ValueError: the file is not as it was written.
    """
    return {attribute: dict(rows) for attribute, rows in _trees(folder).items()}


def _trees(folder: Path) -> Trees:
    trees: Trees = {}
    for attribute, node, parent in _rows(folder / HIERARCHIES, ["attribute", "node", "parent"]):
        trees.setdefault(attribute, []).append((node, parent))
    return trees


def _views(con: duckdb.DuckDBPyConnection, manifest: Manifest) -> None:
    """The tables of ``artifact/steps/verify_rows.sql``, from the columns the manifest declares."""
    reports = manifest.reports
    named = {c.role: c.name for c in reports.columns}
    report_id = named["report id"]
    case_id = named.get("case id", report_id)
    query = exp.select(
        _position().as_("position"),
        column(report_id, "t").as_("report_id"),
        column(case_id, "t").as_("case_id"),
        column(named["period"], "t").as_("period"),
        region_text(reports).as_("region"),
    ).from_(temporary(loaded(reports.name), alias="t"))
    con.execute(create(exp.to_table("srsql_report"), query, temp=True))
    ids = exp.select(column("report_id", "r"), column("case_id", "r"))
    none = ids.from_(temporary("srsql_report", alias="r")).where(exp.false())
    children: list[exp.Query] = [
        none.copy().select(text("").as_("table_name"), column("position", "r"))
    ]
    held: list[exp.Query] = [
        exp.select(column("case_id", "r"), exp.cast(exp.null(), "VARCHAR").as_("spelling"))
        .from_(temporary("srsql_report", alias="r"))
        .where(exp.false())
    ]
    for item in manifest.tables:
        source = temporary(loaded(item.name), alias="t")
        if item.name != reports.name and any(c.role == "report id" for c in item.columns):
            children.append(
                exp.select(
                    column(report_id, "t"),
                    column(case_id, "t"),
                    text(item.name).as_("table_name"),
                    _position().as_("position"),
                ).from_(source.copy())
            )
        held += [
            exp.select(column(case_id, "t"), column(c.name, "t"))
            .from_(source.copy())
            .where(column(c.name, "t").is_(exp.null()).not_())
            for c in item.columns
            if c.role == "sensitive"
        ]
    con.execute(create(exp.to_table("srsql_child"), union_all(children), temp=True))
    con.execute(create(exp.to_table("srsql_held"), union_all(held), temp=True))


def region_text(reports: Table) -> exp.Expr:
    """The region of a row of the report table, the same text for the same region only."""
    pairs: list[exp.Expr] = []
    for c in reports.columns:
        if c.attribute:
            pairs += [text(c.name), column(c.name, "t")]
    return exp.cast(exp.Anonymous(this="json_object", expressions=pairs), "VARCHAR")


def _position() -> exp.Expr:
    """The place of a row in its file, from 0: a window without an order keeps that of the rows."""
    number = exp.Window(this=exp.RowNumber())
    return exp.Sub(this=number, expression=exp.Literal.number(1))


def _bounds(con: duckdb.DuckDBPyConnection, folder: Path, manifest: Manifest) -> Check:
    """Each distinct interval or node of each quasi-identifier."""
    trees = hierarchy_nodes(folder)
    reports = manifest.reports
    faults, total = hierarchy_faults(_trees(folder), manifest), 0
    for attribute in manifest.attributes:
        columns = [c for c in reports.columns if c.attribute == attribute.name]
        query = (
            exp.select(*[column(c.name, "t") for c in columns])
            .distinct()
            .from_(temporary(loaded(reports.name), alias="t"))
            .order_by(*[column(c.name, "t") for c in columns])
        )
        for values in con.execute(query.sql("duckdb")).fetchall():
            total += 1
            fault = (
                _interval_fault(attribute, *values)
                if attribute.kind == "numeric"
                else _node_fault(attribute, values[0], trees.get(attribute.name, {}))
            )
            if fault:
                faults.append(fault)
    return Check("bounds", faults, total)


def _interval_fault(
    attribute: Attribute, low: int | Decimal | None, high: int | Decimal | None
) -> str | None:
    interval = f"{attribute.name} {low} to {high}"
    if low is None or high is None:
        return None if low is None and high is None else f"{interval}: one end is missing"
    if low > high:
        return f"{interval}: it ends before it begins"
    if attribute.low is not None and low < attribute.low:
        return f"{interval} begins below the domain, which begins at {attribute.low}"
    if attribute.high is not None and high > attribute.high:
        return f"{interval} ends above the domain, which ends at {attribute.high}"
    if attribute.granularity and any(end % attribute.granularity for end in (low, high)):
        return f"{interval} is finer than the granularity, {attribute.granularity}"
    return None


def _node_fault(attribute: Attribute, node: str | None, tree: dict[str, str]) -> str | None:
    return None if node in tree else f"{attribute.name} {node!r} is no node of its hierarchy"


def _thresholds(folder: Path) -> tuple[list[str], list[int], list[int]]:
    values, nums, dens = [], [], []
    for value, num, den in _rows(folder / THRESHOLDS, ["value", "theta_num", "theta_den"]):
        values.append(value)
        nums.append(int(num))
        dens.append(int(den))
    return values, nums, dens


def _rows(path: Path, header: list[str]) -> list[list[str]]:
    """The rows of one of the small files.

    Raises:
        ValueError: it has another header, or a row of another width.
    """
    try:
        rows = list(csv.reader(io.StringIO(path.read_bytes().decode()), strict=True))
    except (csv.Error, UnicodeDecodeError, OSError) as error:
        raise ValueError(f"{path.name} cannot be read: {error}") from None
    if rows[:1] != [header] or any(len(row) != len(header) for row in rows):
        raise ValueError(f"{path.name} has not the columns {', '.join(header)} in every row")
    return rows[1:]
