"""What has been released, in a database of its own that holds nothing else.

The public edition is made there: whatever its statements say, there is no raw table and no private
catalog that they could reach.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
from sqlglot import exp

from srsql.engine.release.views import create_views, series_views
from srsql.engine.warehouse.catalog import normalized, register_dataset
from srsql.engine.warehouse.layout import region_columns, store_of
from srsql.engine.warehouse.statements import STORE, column, create, dotted, table, union_all
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset

MEMBER, REGION, HELD, THETA, CONFIDENCE = (
    f"srsql_report_{name}" for name in ("member", "region", "held", "theta", "confidence")
)
"""Temporary tables that the macros of ``report/report.sql`` read."""


@dataclass(frozen=True)
class Released:
    """Released views and public manifests of one series, and nothing else."""

    warehouse: Warehouse
    dataset: Dataset
    series: str
    schemas: dict[str, str]
    """Quarter -> schema of its views."""

    def manifest(self, quarter: str) -> dict[str, Any]:
        """The one row of the public manifest."""
        source = table(self.schemas[quarter], "manifest", alias="m").sql("duckdb")
        cursor = self.warehouse.con.execute(f"SELECT m.* FROM {source}")
        names = [item[0] for item in cursor.description or ()]
        return dict(zip(names, cursor.fetchall()[0], strict=True))


@contextmanager
def released_only(
    warehouse: Warehouse, dataset: Dataset, series: str, schemas: dict[str, str], views: set[str]
) -> Iterator[Released]:
    """Copy released views into a database in memory, which is gone afterwards.

    Args:
        warehouse: has the views; nothing else of it is read.
        dataset: for their names.
        series: whose they are.
        schemas: quarter -> schema of its views, oldest first.
        views: which of them are needed, beside the manifest.
    """
    limits = warehouse.rows("SELECT current_setting('memory_limit'), current_setting('threads')")[0]
    with TemporaryDirectory(prefix="srsql-report-") as spill, duckdb.connect() as con:
        con.execute("SET python_enable_replacements = false")
        con.execute("SET enable_progress_bar = false")
        for name, value in zip(("memory_limit", "threads"), limits, strict=True):
            con.execute(f"SET {name} = ?", [value])
        con.execute("SET temp_directory = ?", [spill])
        own = Warehouse(con)
        with own.transaction():
            register_dataset(own, dataset, "released")
        with own.guarded():
            for number, schema in enumerate(schemas.values(), start=1):
                stores = {view: store_of(number, view) for view in sorted(views | {"manifest"})}
                for view, store in stores.items():
                    _copy(warehouse, own, schema, view, store)
                create_views(own, schema, stores)
            _announce(own, dataset, series, schemas, views)
            yield Released(own, dataset, series, schemas)


def _copy(source: Warehouse, target: Warehouse, schema: str, view: str, store: str) -> None:
    reader = source.con.sql(f"SELECT v.* FROM {dotted(schema, view)} AS v").to_arrow_reader(100_000)
    target.con.register("srsql_incoming", reader)
    target.run(f"CREATE TABLE {dotted(STORE, store)} AS SELECT i.* FROM srsql_incoming AS i")
    target.con.unregister("srsql_incoming")


def _announce(
    own: Warehouse, dataset: Dataset, series: str, schemas: dict[str, str], views: set[str]
) -> None:
    """The catalog rows by which the engine finds released views: names, and nothing private."""
    cumulative = "released"
    own.run(
        "INSERT INTO srsql.series VALUES (?, ?, 'released', ?, NULL)",
        [dataset.name, series, cumulative],
    )
    for number, (quarter, schema) in enumerate(schemas.items(), start=1):
        own.run(
            "INSERT INTO srsql.release VALUES (?, ?, ?, ?, 'released', 'released', 0, 0, 1, ?,"
            " NULL, '{}')",
            [number, dataset.name, series, quarter, schema],
        )
    if {t.name for t in dataset.row_tables} <= views:
        releases = [(quarter, number) for number, quarter in enumerate(schemas, start=1)]
        series_views(own, dataset, cumulative, releases)


def load_regions(released: Released, quarter: str) -> None:
    """Fill the tables of members and regions from the published rows of one quarter."""
    dataset, schema = released.dataset, released.schemas[quarter]
    names = region_columns(dataset)
    ranked = exp.Window(
        this=exp.Anonymous(this="dense_rank"),
        order=exp.Order(expressions=[exp.Ordered(this=column(name, "v")) for name in names]),
    )
    numbered = exp.select(
        column(dataset.case_id, "v").as_("case_id"),
        *[column(name, "v") for name in names],
        ranked.as_("group_id"),
    ).from_(table(schema, dataset.report_table, alias="v"))
    rows = exp.to_table("srsql_report_row")
    released.warehouse.run(create(rows, numbered, temp=True))
    members = exp.select("r.case_id", "r.group_id").distinct().from_("temp.main.srsql_report_row r")
    released.warehouse.run(create(exp.to_table(MEMBER), members, temp=True))
    released.warehouse.run(create(exp.to_table(REGION), _regions(dataset), temp=True))


def _regions(dataset: Dataset) -> exp.Query:
    """(group_id, position, width) as the catalog's: granules, or height of the node."""
    parts: list[exp.Query] = []
    for position, qid in enumerate(dataset.qid):
        query = exp.select(
            column("group_id", "r"), exp.Literal.number(position).as_("position")
        ).from_("temp.main.srsql_report_row r")
        width: exp.Expr
        if qid.kind == "numeric":
            extent = exp.Paren(
                this=exp.Sub(
                    this=column(f"{qid.name}_high", "r"), expression=column(f"{qid.name}_low", "r")
                )
            )
            size = exp.Literal.number(format(qid.granularity.normalize(), "f"))
            width = exp.func("round", exp.Div(this=extent, expression=size))
        else:
            width = column("height", "n")
            query = query.join(
                table("srsql", "node", alias="n"),
                on=exp.and_(
                    column("dataset", "n").eq(exp.Literal.string(dataset.name)),
                    column("attribute", "n").eq(exp.Literal.string(qid.name)),
                    column("node", "n").eq(column(qid.name, "r")),
                ),
                join_type="left",
            )
        parts.append(query.select(exp.cast(width, "DOUBLE").as_("width")).distinct())
    return union_all(parts)


def load_confidences(released: Released, quarter: str) -> None:
    """Fill the table of confidences from the published values and thresholds; after the regions."""
    dataset, schema = released.dataset, released.schemas[quarter]
    run = released.warehouse.run
    run(create(exp.to_table(HELD), _held(dataset, schema), temp=True))
    manifest = table(schema, "manifest", alias="m").sql("duckdb")
    run(
        f"CREATE OR REPLACE TEMP TABLE {THETA} AS "
        "SELECT t.told.value AS term, t.told.theta AS theta "
        f"FROM (SELECT unnest(m.thresholds) AS told FROM {manifest}) AS t"
    )
    run(
        f"CREATE OR REPLACE TEMP TABLE {CONFIDENCE} AS SELECT s.* FROM srsql.report_shares("
        f"'temp.main.{MEMBER}', 'temp.main.{HELD}', 'temp.main.{THETA}') AS s"
    )


def _held(dataset: Dataset, schema: str) -> exp.Query:
    """Distinct (case, normalized value) of the published sensitive columns."""
    parts: list[exp.Query] = []
    for attribute in dict.fromkeys((a.table, a.column) for a in dataset.sensitive):
        name, value = attribute
        if value not in dataset.table(name).publish:
            continue
        term = normalized(column(value, "v"))
        parts.append(
            exp.select(column(dataset.case_id, "v").as_("case_id"), term.as_("term"))
            .from_(table(schema, name, alias="v"))
            .where(term.copy().is_(exp.null()).not_())
        )
    if not parts:
        nothing = exp.cast(exp.null(), "VARCHAR").as_("term")
        source = table(schema, dataset.report_table, alias="v")
        parts = [
            exp.select(column(dataset.case_id, "v").as_("case_id"), nothing)
            .from_(source)
            .where(exp.false())
        ]
    joined = union_all(parts).subquery("u")
    return exp.select("u.case_id", "u.term").distinct().from_(joined)


def sensitive_views(dataset: Dataset) -> set[str]:
    """The views that a quarter's report reads."""
    return {t.name for t in dataset.row_tables}
