"""Rows on their way into a lake and out of it: the statements, composed for a dataset."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sqlglot import exp

from srsql.engine.catalog.layout import raw_columns, source_columns
from srsql.engine.store.lake_files import LakeFile
from srsql.engine.store.statements import column, create, scalar_macro, temporary
from srsql.schemas import Dataset, Table

ROWS, REPORT_BUCKET = "srsql_lake_row", "srsql_report_bucket"
BUCKET = "bucket of the case"
"""The column of ``ROWS`` with the bucket; no column of a dataset is called like that."""
INCOMING = "srsql_incoming"


def incoming_table(dataset: Dataset, name: str, alias: str | None = None) -> exp.Table:
    """Where the rows of the period that is taken in are until they are put into the lake."""
    assert dataset.table(name)
    return temporary(f"{INCOMING}_{name}", alias=alias)


def file_columns(dataset: Dataset, declared: Table) -> list[exp.Column]:
    """What a file has of the rows ``t`` of a raw table: the period is in its path alone."""
    return [column(name, "t") for name in list(raw_columns(dataset, declared))[1:]]


def _case_bucket(case_id: exp.Expr, buckets: int) -> exp.Expr:
    return scalar_macro("case_bucket", case_id, exp.convert(buckets))


def report_buckets(dataset: Dataset, buckets: int) -> str:
    """Fill ``srsql_report_bucket (report_id, bucket)``: a report lies where its case does."""
    bucket = exp.func("min", _case_bucket(column(dataset.case_id, "t"), buckets))
    rows = exp.select(column(dataset.report_id, "t").as_("report_id"), bucket.as_("bucket")).from_(
        incoming_table(dataset, dataset.report_table, alias="t")
    )
    return create(
        temporary(REPORT_BUCKET), rows.group_by(column(dataset.report_id, "t")), temp=True
    )


def bucketed_rows(dataset: Dataset, declared: Table, buckets: int) -> str:
    """Fill ``srsql_lake_row``: the rows with their buckets, in the order in which they were loaded.

    A row lies with the case of its report; one without a report with the case that it names itself,
    else with its own report id.
    """
    own, report = column(dataset.case_id, "t"), column(dataset.report_id, "t")
    rows = exp.select().from_(incoming_table(dataset, declared.name, alias="t"))
    if declared.name == dataset.report_table:
        bucket = _case_bucket(own, buckets)
    else:
        named = [own] if dataset.case_id in source_columns(declared) else []
        texts = [exp.cast(each, "VARCHAR") for each in (*named, report)]
        alone = exp.func("coalesce", *texts, exp.Literal.string(""))
        bucket = exp.func("coalesce", column("bucket", "r"), _case_bucket(alone, buckets))
        rows = rows.join(
            temporary(REPORT_BUCKET, alias="r"),
            on=column("report_id", "r").eq(report.copy()),
            join_type="left",
        )
    rows = rows.select(bucket.as_(BUCKET, quoted=True), *file_columns(dataset, declared))
    rows = rows.order_by(column(BUCKET), column("rowid", "t"))
    return create(temporary(ROWS), rows, temp=True)


def view_rows(
    folder: Path, dataset: Dataset, declared: Table, files: Iterable[LakeFile]
) -> exp.Select:
    """The rows that the view of a raw table has: those of the files that are listed of it.

    Args:
        folder: of the lake.
        dataset: of the table.
        declared: the table.
        files: what is listed, of this table and of others.
    """
    own = [e for e in files if (e.dataset, e.table) == (dataset.name, declared.name)]
    return rows_of(dataset, declared, [str(folder / each.file) for each in own])


def rows_of(dataset: Dataset, declared: Table, paths: list[str]) -> exp.Select:
    """The rows that files have of a raw table.

    Args:
        dataset: of the table.
        declared: the table.
        paths: of the files; none: no rows.
    """
    columns = raw_columns(dataset, declared)
    if paths:
        rows = exp.select(*(column(name, "t") for name in columns))
        return rows.from_(reader(paths))
    empty = (exp.cast(exp.null(), kind, dialect="duckdb") for kind in columns.values())
    shown = (each.as_(name, quoted=True) for each, name in zip(empty, columns, strict=True))
    return exp.select(*shown).where(exp.false())


def reader(paths: list[str]) -> exp.Table:
    """The rows of Parquet files as ``t``; their period is in their paths."""
    arguments: list[exp.Expr] = [
        exp.Array(expressions=[exp.Literal.string(path) for path in paths]),
        exp.EQ(this=exp.column("hive_partitioning"), expression=exp.true()),
        exp.EQ(this=exp.column("hive_types_autocast"), expression=exp.false()),
    ]
    return exp.Table(
        this=exp.Anonymous(this="read_parquet", expressions=arguments),
        db=exp.to_identifier("main", quoted=True),
        catalog=exp.to_identifier("system", quoted=True),
        alias=exp.TableAlias(this=exp.to_identifier("t", quoted=True)),
    )
