"""Readers: a file becomes ``srsql_record``, one row a record with its fields as a list.

Every reader leaves the temp table ``srsql_record (line, lines, field, fault)``: the record's first
physical line, how many lines it takes, its fields, and why it cannot be read at all (or NULL).
The header is the record of line 1; a Parquet file counts as having one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from srsql.engine.errors import DatasetError, IngestError
from srsql.engine.ingest.extract import RETURN, SEPARATOR, Extracted
from srsql.engine.ingest.sources import StagedRows
from srsql.engine.warehouse.catalog import SPACE, SPACES
from srsql.engine.warehouse.statements import column, create, dotted, statements, temporary
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas.model import Dataset, Source

RECORD = temporary("srsql_record")


@dataclass(frozen=True)
class Layout:
    """What a file's header promises."""

    names: tuple[str, ...]
    """Column names, trimmed, lower-cased; without the empty one a trailing separator makes."""
    width: int
    """Fields every record must have: the names, or one more where the file's records end in a
    separator."""
    records: int
    """Records below the header, counted by the reader."""


def stage(warehouse: Warehouse, file: str, extracted: Extracted, dataset: Dataset) -> Layout:
    """Fill ``srsql_record`` from one extracted file and read its header.

    Raises:
        IngestError: an empty file, or one whose lines end in bare carriage returns.
    """
    if dataset.source.reader == "parquet":
        return _stage_parquet(warehouse, extracted)
    if extracted.lines == 0:
        raise IngestError(f"{file} is empty, without even a header: get the file again")
    stage_lines(warehouse, extracted)
    _RECORDS[dataset.source.reader](warehouse, dataset.source)
    warehouse.run("DROP TABLE temp.main.srsql_line")
    header, lines, fault = warehouse.rows(
        "SELECT field, lines, fault FROM temp.main.srsql_record WHERE line = 1"
    )[0]
    if extracted.returns and lines == extracted.lines:
        raise IngestError(f"{file}: its lines end in bare carriage returns: convert them to LF")
    if fault is not None:
        raise IngestError(f"{file}: no header in line 1 ({fault})")
    names = [name.strip(SPACE).lower() for name in header]
    if len(names) > 1 and not names[-1]:
        names.pop()
    records, plain, trailing = warehouse.rows(
        "SELECT count(*), count(*) FILTER (len(field) = $width), "
        "count(*) FILTER (len(field) = $width + 1 AND list_extract(field, $width + 1) = '') "
        "FROM temp.main.srsql_record WHERE line > 1",
        {"width": len(names)},
    )[0]
    covered = warehouse.value("SELECT sum(lines) FROM temp.main.srsql_record")
    if covered != extracted.lines:
        raise IngestError(f"{file}: {extracted.lines} lines, but {covered} in records: a defect")
    return Layout(tuple(names), len(names) + (trailing > plain), records)


def take_staged(warehouse: Warehouse, rows: StagedRows) -> Layout:
    """Make the staged rows of a table ``srsql_record``."""
    store = dotted("temp", "main", rows.store)
    warehouse.run(f"ALTER TABLE {store} RENAME TO srsql_record")
    return Layout(rows.columns, len(rows.columns), rows.records)


def stage_lines(warehouse: Warehouse, extracted: Extracted) -> None:
    """Fill the temp table ``srsql_line (line, text)``."""
    (statement,) = statements("srsql.schemas", "stage_lines.sql")
    warehouse.run(
        statement,
        {
            "path": _glob(str(extracted.path)),
            "returns": extracted.returns,
            "return_mark": RETURN,
            "separator": SEPARATOR,
        },
    )


def _dollar_records(warehouse: Warehouse, _: Source) -> None:
    (statement,) = statements("srsql.schemas", "dollar_records.sql")
    warehouse.run(statement, {"blank": f"{SPACES}*"})


def _csv_records(warehouse: Warehouse, source: Source) -> None:
    delimiter = source.delimiter
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise DatasetError(
            f"key source.delimiter: {delimiter!r} is not one character, quotes aside"
        )
    mark = re.escape(delimiter)
    after = rf'(?:[^"{mark}][^{mark}]*)?'
    quoted = rf'"(?:[^"]|"")*"{after}'
    value = rf'(?:{quoted}|[^"{mark}][^{mark}]*|)'
    opening = '"(?:[^"]|"")*'
    (statement,) = statements("srsql.schemas", "csv_records.sql")
    warehouse.run(
        statement,
        {
            "opens": rf"^(?:{value}{mark})*{opening}$",
            "stays": rf'^(?:[^"]|"")*(?:"{after}(?:{mark}{value})*{mark}{opening})?$',
            "field": rf"({value}){mark}",
            "delimiter": delimiter,
            "blank": f"{SPACES}*",
        },
    )


_RECORDS: dict[str, Callable[[Warehouse, Source], None]] = {
    "dollar": _dollar_records,
    "csv": _csv_records,
}


def _stage_parquet(warehouse: Warehouse, extracted: Extracted) -> Layout:
    path = _glob(str(extracted.path))
    described = warehouse.rows(
        "SELECT column_name FROM (DESCRIBE FROM read_parquet($path, hive_partitioning = false))",
        {"path": path},
    )
    columns = [name for (name,) in described]
    values = [exp.cast(column(name, "file"), "VARCHAR") for name in columns]
    reader = exp.Anonymous(
        this="read_parquet",
        expressions=[
            exp.Literal.string(path),
            exp.EQ(this=exp.column("hive_partitioning"), expression=exp.false()),
        ],
    )
    records = exp.select(
        exp.alias_(
            exp.Add(this=column("file_row_number", "file"), expression=exp.Literal.number(2)),
            "line",
        ),
        exp.alias_(exp.Literal.number(1), "lines"),
        exp.alias_(exp.Array(expressions=values), "field"),
        exp.alias_(exp.cast(exp.null(), "VARCHAR"), "fault"),
    ).from_(exp.Table(this=reader, alias=exp.TableAlias(this=exp.to_identifier("file"))))
    warehouse.run(create(RECORD, records, temp=True))
    promised = warehouse.value(
        "SELECT sum(num_rows) FROM parquet_file_metadata($path)", {"path": path}
    )
    names = tuple(name.strip(SPACE).lower() for name in columns)
    return Layout(names, len(names), int(promised or 0))


def _glob(path: str) -> str:
    """``path`` as a glob that matches this file only."""
    return "".join(f"[{c}]" if c in "[*?" else c for c in path)
