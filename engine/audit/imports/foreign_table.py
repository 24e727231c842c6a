"""Somebody else's table, row by row in granules, nodes and normalized terms.

``read_table`` fills temporary tables whose names start with ``srsql_foreign`` (released rows) or
``srsql_original`` (the raw records behind them):

* ``..._row (line, case_id, group_label)``: the rows of the period;
* ``..._box (line, position, low, high)``: their quasi-identifiers, coded as in ``srsql.region``;
* ``..._value (line, attribute, term)``: their normalized sensitive values, of released rows only.

Everything after it knows no column of any file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from sqlglot import exp

from srsql.engine.audit.imports.column_roles import (
    WILDCARDS,
    ColumnRoles,
    aliased,
    concat,
    end_texts,
    match_columns,
    need_names,
    numeric_faults,
    renamed,
)
from srsql.engine.catalog.datasets import known_term, normalized, trimmed
from srsql.engine.errors import ImportReleaseError
from srsql.engine.ingest import cells, raw_tables, units
from srsql.engine.ingest.encodings import has_controls
from srsql.engine.ingest.records import (
    LONGEST_LINE,
    ExtractedFile,
    RecordTable,
    call,
    drop_temporary,
    extract_binary,
    extract_text,
    field_at,
    is_null,
    known,
    parquet_columns,
    read_records,
    text_of,
)
from srsql.engine.ingest.sources import Member
from srsql.engine.store.statements import column, create, query, temporary, union_all
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, Qid, Source

Kind = Literal["foreign", "original"]
RELEASED: Kind = "foreign"
ORIGINAL: Kind = "original"
PARQUET = (".parquet", ".pq")
DELIMITERS = ",;\t|"


@dataclass(frozen=True)
class ForeignFile:
    """One CSV or Parquet file of somebody else's, and how it is read."""

    path: Path
    kind: Kind
    quarter: str
    """The period whose rows are taken where the file has a column for it."""
    group_column: str | None = None
    """The column of the groups' labels; None: ``group_id`` if it is there."""
    separator: str = ";"
    """What stands between the values of one field."""
    max_unpacked: str | None = None
    """What the texts of a Parquet file may take."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Name -> column of the file, where the header has other names than the dataset."""
    suppressed: str | None = None
    """What every quasi-identifier of a row shows that is not taken, in any case."""

    @property
    def parquet(self) -> bool:
        """Whether it is read as Parquet."""
        return self.path.suffix.lower() in PARQUET

    def table(self, part: str) -> str:
        """The temporary table of a part of it, such as ``box``."""
        return f"srsql_{self.kind}_{part}"


@dataclass(frozen=True)
class ForeignTable:
    """What was read of one file."""

    file: str
    sha256: str
    rows: int
    """Rows of the period."""
    suppressed: int
    """Those beside them that are declared suppressed."""
    unread: tuple[str, ...]
    """Columns that have no role."""


def read_table(
    warehouse: Warehouse, dataset: Dataset, file: ForeignFile, folder: Path
) -> ForeignTable:
    """Read one file into the temporary tables of its kind.

    Args:
        warehouse: with ``srsql_node`` (see ``load_attributes``) and ``srsql_code`` filled.
        dataset: names the columns; its own files are not needed.
        file: the file.
        folder: a directory to unpack in.

    Returns:
        The digest of the file, and how many rows of the period it has.

    Raises:
        ImportReleaseError: a column is missing, or a row cannot be taken as it stands.
    """
    name, parquet = file.path.name, file.parquet
    extracted, records = read_file(warehouse, dataset.source.delimiter, file, folder)
    header = records.names
    if file.columns:
        need_names(dataset, file.columns)
        header = renamed(file.columns, name, header, some=file.kind == ORIGINAL)
    roles = match_columns(
        dataset,
        name,
        header,
        original=file.kind == ORIGINAL,
        group_column=file.group_column,
    )
    if parquet:
        _refuse_lists(warehouse, name, extracted.path, roles)
    statements = TableStatements(dataset, file, records, roles)
    suppressed = warehouse.value(statements.suppressed_rows()) if file.suppressed else 0
    warehouse.run(statements.parsed())
    refuse_fault(warehouse, name, query("audit/imports", "first_fault", row=file.table("parsed")))
    warehouse.run(statements.rows())
    warehouse.run(statements.boxes())
    if file.kind == RELEASED:
        warehouse.run(statements.values())
    rows = warehouse.value(query("audit/imports", "number_of_rows", row=file.table("row")))
    if not rows:
        raise ImportReleaseError(
            f"{name}: no row of {file.quarter} in it{_other_periods(warehouse, records, roles)}"
        )
    drop_temporary(warehouse, file.table("parsed"), records.table)
    unread = [n for place, n in enumerate(records.names, start=1) if place not in roles.places]
    return ForeignTable(name, extracted.sha256, rows, suppressed, tuple(unread))


def read_file(
    warehouse: Warehouse, delimiter: str, file: ForeignFile, folder: Path
) -> tuple[ExtractedFile, RecordTable]:
    """The records of one file as they are, in ``srsql_record``.

    Args:
        warehouse: where they go.
        delimiter: of CSV; where columns are named one by one, what the header has most of.
        file: the file.
        folder: a directory to unpack in.

    Raises:
        IngestError: the file cannot be read.
    """
    name = file.path.name
    target = folder / f"{file.kind}{'.parquet' if file.parquet else '.txt'}"
    extracted = (extract_binary if file.parquet else extract_text)(Member(name, file.path), target)
    if file.columns and not file.parquet:
        with target.open(encoding="utf-8") as opened:
            header = re.sub('"[^"]*"', "", opened.readline(LONGEST_LINE))
        delimiter = max(DELIMITERS, key=header.count)
    source = Source(reader="parquet" if file.parquet else "csv", delimiter=delimiter)
    verbatim = "\n" in file.separator or has_controls(file.separator.encode())
    return extracted, read_records(
        warehouse, name, extracted, source, file.max_unpacked, verbatim=verbatim
    )


def refuse_fault(warehouse: Warehouse, file: str, first_fault: str) -> None:
    """Stop at the first row that has a fault.

    Args:
        warehouse: where the rows are.
        file: the name of the file, for the message.
        first_fault: a query for one row (line, fault, how many faults there are), or none.

    Raises:
        ImportReleaseError: there is one; the header is line 1, of a Parquet file too.
    """
    rows = warehouse.rows(first_fault)
    if rows:
        line, fault, faults = rows[0]
        more = f" (and {faults - 1:,} more such faults)" if faults > 1 else ""
        raise ImportReleaseError(f"{file} line {line}: {fault}{more}; nothing was registered")


def _refuse_lists(warehouse: Warehouse, file: str, parquet: Path, roles: ColumnRoles) -> None:
    """A list of values would arrive as one text, so it is refused."""
    columns = parquet_columns(warehouse, parquet)
    for sensitive in roles.sensitive:
        name, kind = columns[sensitive.place - 1]
        if kind.endswith("]"):
            raise ImportReleaseError(
                f"{file}: column {name!r} is a list: write its values into one text (see "
                "--separator), as array_to_string does"
            )


def _other_periods(warehouse: Warehouse, records: RecordTable, roles: ColumnRoles) -> str:
    """The periods that a file has instead of the one asked for, for the message."""
    if roles.period is None:
        return ""
    listed = warehouse.rows(
        exp.select(aliased(trimmed(field_at(roles.period)), "period"))
        .distinct()
        .from_(temporary(records.table))
        .where("fault IS NULL")
        .order_by("1")
        .limit(9)
        .sql(dialect="duckdb")
    )
    return f" (it has: {', '.join(str(period) for (period,) in listed) or 'no row at all'})"


@dataclass(frozen=True)
class TableStatements:
    """The statements that read the records of one file, composed for its columns."""

    dataset: Dataset
    file: ForeignFile
    records: RecordTable
    roles: ColumnRoles

    def parsed(self) -> str:
        """``..._parsed``: one row for each record, with ``fault`` where it cannot be taken."""
        text = column("case text", "parsed")
        case_id = cells.identifier(self.dataset, text)
        rows = exp.select(
            column("line", "parsed"), aliased(case_id, "case_id"), column("group_label", "parsed")
        ).from_(self._granules().subquery("parsed"))
        fault = exp.Case().when(known(column("record fault")), column("record fault"))
        fault = fault.when(is_null(trimmed(text)), text_of("no case id"))
        fault = fault.when(
            is_null(case_id), concat(text_of("the case id is not an integer: "), text)
        )
        if self.roles.group:
            fault = fault.when(is_null(column("group_label")), text_of("no group"))
        for columns in self.roles.qids:
            if columns.qid.kind == "numeric":
                rows = rows.select(column(columns.part("low")), column(columns.part("high")))
                fault = numeric_faults(fault, columns)
            else:
                qid = columns.qid.model_copy(update={"column": columns.part("label text")})
                rows = raw_tables.code_join(rows, qid, "parsed")
                label, unknown = self._label(qid)
                rows = rows.select(aliased(label, columns.part("label")))
                sentence = concat(
                    text_of(f"{columns.qid.name}: no node of its hierarchy is called "),
                    column(qid.column, "parsed"),
                )
                fault = fault.when(unknown, sentence)
        for number in range(len(self.roles.sensitive)):
            rows = rows.select(column(f"value {number}", "parsed"))
        rows = rows.select(aliased(fault, "fault"))
        return create(exp.to_table(self.file.table("parsed")), rows, temp=True)

    def suppressed_rows(self) -> str:
        """How many records of the period are declared suppressed."""
        rows = exp.select("count(*)").from_(temporary(self.records.table))
        rows = rows.where(self._suppressed())
        if self.roles.period is not None:
            rows = rows.where(trimmed(field_at(self.roles.period)).eq(text_of(self.file.quarter)))
        return rows.sql(dialect="duckdb")

    def _suppressed(self) -> exp.Expression:
        """Whether all quasi-identifiers of a record show what stands for a suppressed one."""
        shown = normalized(text_of(str(self.file.suppressed)))
        ends = {place for c in self.roles.qids for place in (c.low, c.high) if place}
        alike = [normalized(field_at(place)).eq(shown.copy()) for place in sorted(ends)]
        return exp.Coalesce(this=exp.and_(*alike), expressions=[exp.false()])

    def rows(self) -> str:
        """``..._row`` from ``..._parsed``."""
        rows = exp.select("p.line", "p.case_id", "p.group_label").from_(self._parsed())
        return create(exp.to_table(self.file.table("row")), rows, temp=True)

    def boxes(self) -> str:
        """``..._box`` from ``..._parsed``."""
        parts: list[exp.Query] = []
        for columns in self.roles.qids:
            low, high = column(columns.part("low"), "p"), column(columns.part("high"), "p")
            position = exp.Literal.number(columns.position)
            part = exp.select("p.line", position.as_("position")).from_(self._parsed())
            if columns.qid.kind == "categorical":
                low, high = column("pre", "n"), column("last", "n")
                part = part.join(
                    temporary("srsql_node", alias="n"),
                    on=exp.and_(
                        column("position", "n").eq(columns.position),
                        column("node", "n").eq(column(columns.part("label"), "p")),
                    ),
                    join_type="left",
                )
            parts.append(part.select(aliased(low, "low"), aliased(high, "high")))
        return create(exp.to_table(self.file.table("box")), union_all(parts), temp=True)

    def values(self) -> str:
        """``..._value`` from ``..._parsed``."""
        parts: list[exp.Query] = []
        for number, sensitive in enumerate(self.roles.sensitive):
            value = column(f"value {number}", "p")
            listed = call("string_split", value, text_of(self.file.separator))
            split = exp.select("p.line", aliased(call("unnest", listed), "value"))
            term = known_term(self.dataset.term_key, sensitive.missing, "value", "split")
            attribute = aliased(text_of(sensitive.attribute), "attribute")
            parts.append(
                exp.select("split.line", attribute, aliased(term, "term"))
                .from_(split.from_(self._parsed()).subquery("split"))
                .where(known(term))
            )
        if not parts:
            texts = [aliased(text_of(""), name) for name in ("attribute", "term")]
            parts.append(exp.select("p.line", *texts).from_(self._parsed()).where(exp.false()))
        return create(exp.to_table(self.file.table("value")), union_all(parts), temp=True)

    def _parsed(self) -> exp.Table:
        return temporary(self.file.table("parsed"), alias="p")

    def _granules(self) -> exp.Select:
        """The records of the period with the ends of numeric intervals, or why there are none."""
        numeric = [c for c in self.roles.qids if c.qid.kind == "numeric"]
        ends = [end for c in numeric for end in c.ends]
        rows = exp.select("*").from_(units.with_granules(self._fields(), ends).subquery("granules"))
        for end in ends:
            granules, reason = units.granules_or_reason(end)
            rows = rows.select(aliased(granules, end.name), aliased(reason, f"{end.name} reason"))
        return rows

    def _fields(self) -> exp.Select:
        """The records of the period, their fields under names that no file can take."""
        width = call("len", column("field"))
        narrow = exp.NEQ(this=width, expression=exp.Literal.number(self.records.width))
        fault = exp.Case().when(known(column("fault")), column("fault"))
        wide = text_of(f" fields, but {self.records.width} columns in the header")
        fault = fault.when(narrow, concat(width.copy(), wide))
        rows = exp.select("line", aliased(field_at(self.roles.case), "case text"))
        rows = rows.from_(temporary(self.records.table))
        rows = rows.where(exp.NullSafeNEQ(this=column("fault"), expression=text_of("blank line")))
        if self.file.suppressed:
            rows = rows.where(exp.not_(self._suppressed()))
        if self.roles.period is not None:
            period = trimmed(field_at(self.roles.period))
            fault = fault.when(is_null(period), text_of("no period"))
            wanted = exp.EQ(this=period.copy(), expression=text_of(self.file.quarter))
            rows = rows.where(exp.or_(wanted, is_null(period.copy()), narrow.copy()))
        place = self.roles.group
        group = trimmed(field_at(place)) if place else exp.cast(exp.null(), "VARCHAR")
        rows = rows.select(aliased(group, "group_label"), aliased(fault, "record fault"))
        for columns in self.roles.qids:
            rows = rows.select(*end_texts(columns))
        for number, sensitive in enumerate(self.roles.sensitive):
            rows = rows.select(aliased(field_at(sensitive.place), f"value {number}"))
        return rows

    def _label(self, qid: Qid) -> tuple[exp.Expression, exp.Expression]:
        """Node of a categorical value (the root for a wildcard), and whether there is none.

        In a raw record the root says no more than a missing value does.
        """
        found, reason = raw_tables.node_label(qid, "parsed")
        root = self.dataset.hierarchies[qid.name].labels[0]
        names = dict.fromkeys((*WILDCARDS, root.strip().upper()))
        text = normalized(column(qid.column, "parsed"))
        anything = exp.In(this=text, expressions=[text_of(name) for name in names])
        wide = text_of(root) if self.file.kind == RELEASED else exp.null()
        label = exp.Case().when(known(found), found.copy()).when(anything, wide)
        other = exp.Not(this=exp.paren(anything.copy()))
        return label, exp.And(this=known(reason), expression=other)
