"""The books of an ingestion: lines in = rows loaded + rows rejected, always."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from srsql.engine.errors import IngestError
from srsql.engine.ingest.tables import raw_table
from srsql.engine.warehouse.statements import column
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas.model import Dataset, Table

_JUDGED_ALONE_FROM = 1000
"""A table with this many records must keep below the reject rate by itself."""


@dataclass(frozen=True)
class IngestedFile:
    """What became of one file: ``records == loaded + rejected``."""

    table: str
    """The declared table, or ``deleted`` for a list of withdrawn cases."""
    file: str
    records: int
    loaded: int
    rejected: int
    values_rejected: int
    """Values of loaded records that count as missing because they are impossible."""
    repaired: int
    """Bytes that were not UTF-8, and NUL bytes."""
    orphans: int = 0
    """Loaded child records whose report is not there."""
    reasons: dict[str, int] = field(default_factory=dict)
    """Reason -> number of rejected records, or ``column: reason`` -> number of values."""
    sha256: str = ""


@dataclass(frozen=True)
class Ingested:
    """What became of one period."""

    quarter: str
    status: Literal["loaded", "unchanged", "replaced"]
    files: tuple[IngestedFile, ...]
    deleted_cases: int
    """Distinct cases that its lists withdraw."""


def loaded_records(warehouse: Warehouse, dataset: Dataset, table: str, quarter: str) -> int:
    """Records of one file in the warehouse, counted in the raw table where a record is a row."""
    if dataset.table(table).unpivot:
        query, parameters = "FROM temp.main.srsql_judged WHERE reason IS NULL", []
    else:
        target = raw_table(dataset, table).sql(dialect="duckdb")
        query, parameters = f"FROM {target} WHERE quarter = ?", [quarter]
    return int(warehouse.value(f"SELECT count(*) {query}", parameters))


def orphans(warehouse: Warehouse, dataset: Dataset, declared: Table, quarter: str) -> int:
    """Records of a child table whose report is not in the period's report table."""
    child = raw_table(dataset, declared.name, "child").sql(dialect="duckdb")
    report = raw_table(dataset, dataset.report_table, "report").sql(dialect="duckdb")
    key = [column(dataset.report_id, side).sql(dialect="duckdb") for side in ("child", "report")]
    count = warehouse.value(
        f"SELECT count(DISTINCT child.srsql_line) FROM {child} ANTI JOIN {report} "
        f"ON {key[0]} = {key[1]} AND report.quarter = $quarter WHERE child.quarter = $quarter",
        {"quarter": quarter},
    )
    return int(count)


def reasons(warehouse: Warehouse, ingestion: int, file: str) -> dict[tuple[str, str], int]:
    """(kind, reason) -> count of one file's rejects, the commonest first."""
    rows = warehouse.rows(
        "SELECT kind, CASE WHEN kind = 'value' THEN column_name || ': ' || reason ELSE reason END, "
        "count(*) FROM srsql.reject WHERE ingestion_id = ? AND file = ? "
        "GROUP BY 1, 2 ORDER BY 3 DESC, 2",
        [ingestion, file],
    )
    return {(kind, reason): count for kind, reason, count in rows}


def balanced(file: IngestedFile) -> IngestedFile:
    """``file`` itself.

    Raises:
        IngestError: its books do not balance, which would be a defect of ours.
    """
    if file.records != file.loaded + file.rejected:
        raise IngestError(
            f"{file.file}: {file.records} records, but {file.loaded} loaded and {file.rejected} "
            "rejected: a defect of srsql, please report it"
        )
    return file


def check_rates(
    warehouse: Warehouse, ingestion: int, files: Sequence[IngestedFile], highest: float
) -> None:
    """Refuse the period if too large a share of its records was rejected.

    Raises:
        IngestError: above ``highest``, over all tables or in one of 1,000 records or more.
    """
    counted = [file for file in files if file.table != "deleted"]
    alone = [
        [file] for file in files if file.table == "deleted" or file.records >= _JUDGED_ALONE_FROM
    ]
    for group in [*alone, counted]:
        # a blank line of a list of withdrawn cases withdraws nobody
        blank = warehouse.value(
            "SELECT count(*) FROM srsql.reject WHERE ingestion_id = ? AND reason = 'blank line' "
            "AND list_contains(?::VARCHAR[], file)",
            [ingestion, [file.file for file in group if file.table == "deleted"]],
        )
        records = sum(file.records for file in group) - blank
        rejected = sum(file.rejected for file in group) - blank
        if rejected > highest * records:
            names = [file.file for file in group]
            reason, file, line = warehouse.rows(
                "SELECT reason, arg_min(file, (file, line)), arg_min(line, (file, line)) "
                "FROM srsql.reject WHERE ingestion_id = ? AND kind = 'row' "
                "AND list_contains(?::VARCHAR[], file) "
                "GROUP BY reason ORDER BY reason = 'blank line', count(*) DESC, reason LIMIT 1",
                [ingestion, names],
            )[0]
            place = names[0] if len(names) == 1 else "the period"
            raise IngestError(
                f"{rejected:,} of {records:,} records of {place} are rejected "
                f"({rejected / records:.1%}), mostly: {reason} (as at {file}:{line}); nothing was "
                f"changed: mend the file, or raise --max-reject-rate (now {highest:g})"
            )


def record(warehouse: Warehouse, ingestion: int, files: Sequence[IngestedFile]) -> None:
    """Write one row a file into the catalog."""
    warehouse.con.executemany(
        "INSERT INTO srsql.ingested_file (ingestion_id, table_name, file, sha256, records, loaded, "
        "rejected, values_rejected, repaired, orphans) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            [
                ingestion,
                file.table,
                file.file,
                file.sha256,
                file.records,
                file.loaded,
                file.rejected,
                file.values_rejected,
                file.repaired,
                file.orphans,
            ]
            for file in files
        ],
    )


def recorded(
    warehouse: Warehouse,
    ingestion: int,
    quarter: str,
    status: Literal["loaded", "unchanged", "replaced"],
) -> Ingested:
    """An ingestion as the catalog tells it."""
    counts = ("records", "loaded", "rejected", "values_rejected", "repaired", "orphans")
    rows = warehouse.rows(
        f"SELECT table_name, file, sha256, {', '.join(counts)} FROM srsql.ingested_file "
        "WHERE ingestion_id = ? ORDER BY rowid",
        [ingestion],
    )
    files = tuple(
        IngestedFile(
            table=table,
            file=file,
            sha256=sha256,
            reasons={r: n for (_, r), n in reasons(warehouse, ingestion, file).items()},
            **dict(zip(counts, numbers, strict=True)),
        )
        for table, file, sha256, *numbers in rows
    )
    withdrawn = warehouse.value(
        "SELECT count(DISTINCT case_id) FROM srsql.deleted_case WHERE ingestion_id = ?", [ingestion]
    )
    return Ingested(quarter, status, files, int(withdrawn))
