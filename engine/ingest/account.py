"""The books of an ingestion: lines in = rows loaded + rows rejected, always.

What is rejected is counted by ``rejects``; here it is balanced with what was loaded, held against
the highest share that may be rejected, and written to the catalog.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal

from sqlglot import exp

from srsql.engine.catalog.datasets import trimmed
from srsql.engine.catalog.layout import derived, raw_table
from srsql.engine.errors import IngestError
from srsql.engine.ingest.cells import read_field, spreads
from srsql.engine.ingest.completeness import RequiredTable
from srsql.engine.ingest.raw_tables import Place, loadable
from srsql.engine.ingest.records import RecordTable, is_null, known
from srsql.engine.ingest.rejects import count_rejects
from srsql.engine.ingest.understood import TOPIC as UNDERSTOOD
from srsql.engine.ingest.understood import ColumnCount
from srsql.engine.measures import cell
from srsql.engine.store.statements import column, query
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, Table

WITHDRAWN = "deleted"
"""What the catalog calls the table of a list of withdrawn cases."""
FALLBACK, OTHER = "fallback", "other period"
"""What the catalog calls values that were taken from another column, and records left out."""
Status = Literal["loaded", "unchanged", "replaced", "compared"]
_JUDGED_ALONE_FROM = 1000
"""A table with this many records must keep below the reject rate by itself."""


@dataclass(frozen=True)
class IngestedFile:
    """What became of one file: ``records == loaded + rejected``."""

    table: str = field(metadata=cell("table"))
    """The declared table, or ``deleted`` for a list of withdrawn cases."""
    file: str = field(metadata=cell("file"))
    records: int = field(metadata=cell("records", "count"))
    loaded: int = field(metadata=cell("loaded", "count"))
    rejected: int = field(metadata=cell("rejected", "count"))
    values_rejected: int = field(metadata=cell("values set missing", "count"))
    """Values of loaded records that count as missing because they are impossible."""
    repaired: int
    """Bytes that do not fit the encoding, and NUL bytes."""
    orphans: int = field(default=0, metadata=cell("orphans", "count"))
    """Loaded child records whose report is not there."""
    reasons: dict[str, int] = field(default_factory=dict)
    """Reason -> number of rejected records, or ``column: reason`` -> number of values."""
    sha256: str = ""
    encoding: str = ""
    """By which a text file was read; empty: it is none."""
    odd_lines: int = 0
    """Lines that do not fit the encoding; of UTF-8, their stray bytes were read as cp1252."""
    columns: tuple[ColumnCount, ...] = ()
    """What was understood of the columns of quasi-identifiers and sensitive attributes."""
    cleaned: dict[str, int] = field(default_factory=dict)
    """Column -> values of loaded records that lost control characters or line ends."""
    fallbacks: dict[str, int] = field(default_factory=dict)
    """Column -> its values that were blank and taken from another column."""
    other_periods: int = 0
    """Records that are of other periods, and were left out; ``records`` has none of them."""
    unknown_period: int = 0
    """Rejected records that tell no period, in a file that holds several."""


@dataclass(frozen=True)
class Compared:
    """What became of the reports of a dump of a cumulative source."""

    periods: tuple[str, ...]
    """That it loaded first."""
    new: int
    """Reports of these periods."""
    late: int
    """New reports of periods that were loaded before."""
    changed: int
    """Known reports with other values, whose new text is kept beside the old one."""
    unchanged: int
    vanished: int
    """Known reports that it lacks."""
    withdrawn: int
    """Cases that are withdrawn, and in it; they stay withdrawn."""


@dataclass(frozen=True)
class IngestedPeriod:
    """What became of one period."""

    quarter: str
    status: Status
    files: tuple[IngestedFile, ...]
    deleted_cases: int
    """Distinct cases that its lists withdraw."""
    required: tuple[RequiredTable, ...] = ()
    """Tables in which each report must have a row, and some have none."""
    warnings: tuple[str, ...] = ()
    """What is far from the period before, or from the regulator's figures, when it was loaded."""
    compared: Compared | None = None
    """Of a dump of a cumulative source."""


def count_loaded(
    warehouse: Warehouse,
    dataset: Dataset,
    declared: Table,
    quarter: str,
    records: str,
    place: Place = raw_table,
) -> int:
    """Records of one file in the warehouse, counted in the raw table where a record is a row.

    Args:
        warehouse: with the records of the file judged and loaded.
        dataset: the dataset.
        declared: the table that the file fills.
        quarter: the period of the file.
        records: the temporary table or view that has its records.
        place: where its rows were loaded into.
    """
    number = exp.Count(this=exp.Star())
    if declared.unpivot or declared.split or spreads(dataset, declared):
        return int(warehouse.value(loadable(records).select(number).sql(dialect="duckdb")))
    rows = exp.select(number).from_(place(dataset, declared.name))
    rows = rows.where(column("quarter").eq(exp.Placeholder()))
    return int(warehouse.value(rows.sql(dialect="duckdb"), [quarter]))


def count_cleaned(
    warehouse: Warehouse, declared: Table, places: Mapping[str, int], records: RecordTable
) -> dict[str, int]:
    """Values of the loaded records of one file that lost control characters or line ends.

    Args:
        warehouse: with the records of the file judged.
        declared: the table that the file fills.
        places: where its columns are in the file.
        records: the records of the file.

    Returns:
        Column of the raw table -> number of its values, where there are any.
    """
    if not records.cleaned:
        return {}
    listed = loadable(records.table).select(
        exp.alias_(exp.Anonymous(this="unnest", expressions=[column("cleaned", "r")]), "place")
    )
    counted = exp.select("place", exp.Count(this=exp.Star())).from_(listed.subquery("listed"))
    found = dict(warehouse.rows(counted.group_by("place").sql(dialect="duckdb")))
    targets = {source: name for name, many in declared.unpivot.items() for source in many}
    cleaned: dict[str, int] = {}
    for name, place in places.items():
        if place in found:
            target = targets.get(name, name)
            cleaned[target] = cleaned.get(target, 0) + found[place]
    return cleaned


def count_fallbacks(
    warehouse: Warehouse,
    dataset: Dataset,
    declared: Table,
    places: Mapping[str, int],
    records: RecordTable,
) -> dict[str, int]:
    """Values of the loaded records of one file that were blank and taken from another column.

    Args:
        warehouse: with the records of the file judged.
        dataset: says which words mean blank.
        declared: the table that the file fills.
        places: where its columns are in the file.
        records: the records of the file.

    Returns:
        Column -> number of its values.
    """
    taken: dict[str, exp.Expr] = {}
    for name, other in declared.fallback.items():
        if other in places:
            there = known(trimmed(read_field(dataset, places[other], "r")))
            own = read_field(dataset, places[name], "r") if name in places else exp.null()
            taken[name] = exp.and_(there, is_null(trimmed(own)))
    if not taken:
        return {}
    counts = [exp.func("count_if", condition) for condition in taken.values()]
    found = warehouse.rows(loadable(records.table).select(*counts).sql(dialect="duckdb"))[0]
    return dict(zip(taken, map(int, found), strict=True))


def count_orphans(
    warehouse: Warehouse,
    dataset: Dataset,
    declared: Table,
    quarter: str,
    place: Place = raw_table,
) -> int:
    """Records of a child table whose report is not in the period's report table.

    Args:
        warehouse: with all files of the period loaded.
        dataset: names the report table and its id.
        declared: the child table.
        quarter: the period.
        place: where its rows were loaded into.
    """
    statement = orphans_statement(dataset, declared, place)
    return int(warehouse.value(statement, {"quarter": quarter}))


def orphans_statement(dataset: Dataset, declared: Table, place: Place = raw_table) -> str:
    """The number of records of a child table that have no report in the period $quarter."""
    period = exp.Parameter(this="quarter")
    report_ids = [column(dataset.report_id, side) for side in ("child", "report")]
    lines = exp.Distinct(expressions=[column(derived("line"), "child")])
    orphans = (
        exp.select(exp.Count(this=lines))
        .from_(place(dataset, declared.name, "child"))
        .join(
            place(dataset, dataset.report_table, "report"),
            on=exp.and_(
                exp.EQ(this=report_ids[0], expression=report_ids[1]),
                exp.EQ(this=column("quarter", "report"), expression=period),
            ),
            join_type="anti",
        )
        .where(exp.EQ(this=column("quarter", "child"), expression=period.copy()))
    )
    return orphans.sql(dialect="duckdb")


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

    Args:
        warehouse: with the rejects of the ingestion.
        ingestion: the ingestion.
        files: what became of its files.
        highest: the largest share that may be rejected, 0 to 1.

    Raises:
        IngestError: the share is above ``highest``, over all tables or in one of 1,000 records or
            more.
    """
    tables = [file for file in files if file.table != WITHDRAWN]
    alone = [
        [file] for file in files if file.table == WITHDRAWN or file.records >= _JUDGED_ALONE_FROM
    ]
    for group in [*alone, tables]:
        lists = [file.file for file in group if file.table == WITHDRAWN]
        names = [file.file for file in group]
        aside = warehouse.value(
            query("ingest/rejects", "not_judged"),
            {"ingestion": ingestion, "files": names, "lists": lists},
        )
        aside += sum(file.unknown_period for file in group)  # asked of the whole file
        records = sum(file.records for file in group) - aside
        rejected = sum(file.rejected for file in group) - aside
        if rejected > highest * records:
            reason, file, line = warehouse.rows(
                query("ingest/rejects", "commonest"), {"ingestion": ingestion, "files": names}
            )[0]
            place = names[0] if len(names) == 1 else "the period"
            raise IngestError(
                f"{rejected:,} of {records:,} records of {place} are rejected "
                f"({rejected / records:.1%}), mostly: {reason} (as at {file}:{line}); nothing was "
                f"changed: mend the file, or raise --max-reject-rate (now {highest:g})"
            )


def record(warehouse: Warehouse, ingestion: int, files: Sequence[IngestedFile]) -> None:
    """Write one row a file into the catalog.

    Args:
        warehouse: where the catalog is.
        ingestion: the ingestion.
        files: what became of its files.
    """
    for file in files:
        warehouse.run(
            query("ingest/account", "store_file"),
            {
                "ingestion": ingestion,
                "table": file.table,
                "file": file.file,
                "sha256": file.sha256,
                "records": file.records,
                "loaded": file.loaded,
                "rejected": file.rejected,
                "values_rejected": file.values_rejected,
                "repaired": file.repaired,
                "orphans": file.orphans,
            },
        )
        if file.encoding:
            warehouse.run(
                query(UNDERSTOOD, "store_text"),
                {
                    "ingestion": ingestion,
                    "file": file.file,
                    "encoding": file.encoding,
                    "odd_lines": file.odd_lines,
                },
            )
        for count in file.columns:
            warehouse.run(
                query(UNDERSTOOD, "store_column"),
                {
                    "ingestion": ingestion,
                    "table": count.table,
                    "name": count.column,
                    "filled": count.filled,
                    "unread": count.unread,
                },
            )
        for name, cleaned in file.cleaned.items():
            warehouse.run(
                query("ingest/account", "store_cleaned"),
                {"ingestion": ingestion, "file": file.file, "name": name, "cleaned": cleaned},
            )
        counted = {(FALLBACK, name): number for name, number in file.fallbacks.items()}
        counted |= {(OTHER, ""): file.other_periods} if file.other_periods else {}
        for (what, name), number in counted.items():
            named = {"ingestion": ingestion, "file": file.file, "counted": what, "name": name}
            warehouse.run(query("ingest/account", "store_count"), {**named, "number": number})


def record_required(
    warehouse: Warehouse, ingestion: int, required: Sequence[RequiredTable]
) -> None:
    """Write into the catalog which tables lack rows.

    Args:
        warehouse: where the catalog is.
        ingestion: the ingestion.
        required: these tables.
    """
    for each in required:
        stored = {"ingestion": ingestion, **asdict(each)}
        warehouse.run(query(UNDERSTOOD, "store_required"), stored)


def read_account(
    warehouse: Warehouse,
    ingestion: int,
    quarter: str,
    status: Status,
    warnings: Sequence[str] = (),
) -> IngestedPeriod:
    """An ingestion as the catalog has it.

    Args:
        warehouse: where the catalog is.
        ingestion: the ingestion.
        quarter: its period.
        status: what happened just now.
        warnings: what is far from figures that it was compared with.
    """
    key = {"ingestion": ingestion}
    texts = {file: read for file, *read in warehouse.rows(query(UNDERSTOOD, "texts"), key)}
    columns = [ColumnCount(*row) for row in warehouse.rows(query(UNDERSTOOD, "columns"), key)]
    required = [RequiredTable(*row) for row in warehouse.rows(query(UNDERSTOOD, "required"), key)]
    counted: dict[str, dict[tuple[str, str], int]] = {}
    for file, what, name, number in warehouse.rows(query("ingest/account", "counts"), key):
        counted.setdefault(file, {})[what, name] = number
    counts = ("records", "loaded", "rejected", "values_rejected", "repaired", "orphans")
    files = tuple(
        IngestedFile(
            table=table,
            file=file,
            sha256=sha256,
            reasons={r: n for (_, r), n in count_rejects(warehouse, ingestion, file).items()},
            cleaned=dict(warehouse.rows(query("ingest/account", "cleaned"), {**key, "file": file})),
            **dict(zip(counts, numbers, strict=True)),
            **dict(zip(("encoding", "odd_lines"), texts.get(file, ("", 0)), strict=True)),
            columns=tuple(each for each in columns if each.table == table),
            fallbacks={n: m for (w, n), m in counted.get(file, {}).items() if w == FALLBACK},
            other_periods=counted.get(file, {}).get((OTHER, ""), 0),
        )
        for table, file, sha256, *numbers in warehouse.rows(query("ingest/account", "files"), key)
    )
    withdrawn = warehouse.value(query("ingest/account", "withdrawn_cases"), key)
    return IngestedPeriod(quarter, status, files, int(withdrawn), tuple(required), tuple(warnings))
