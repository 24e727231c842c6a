"""A file becomes records: unpacked, clean lines (``encodings``), then one row for each record.

Every reader leaves a temporary table or view of records (line, lines, field, fault, cleaned): the
record's first physical line, how many lines it takes, its fields as a list, why it cannot be read
at all (or NULL), and the places of the fields that lost control characters or line ends (or NULL).
A header is line 1 and no record; a Parquet file counts as having one. No file is read into memory
as one piece.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import duckdb
from sqlglot import exp

from srsql.engine.errors import IngestError, one_line
from srsql.engine.ingest.encodings import RETURN, SEPARATOR, UTF_8, Cleaner, OddLines
from srsql.engine.ingest.quoted import (
    BLANK,
    ReportIds,
    has_quotes,
    need_delimiter,
    read_header,
    split_quoted,
)
from srsql.engine.ingest.sources import CHUNK, Member, Unpacking, most_unpacked
from srsql.engine.store.scratch import private_folder
from srsql.engine.store.statements import (
    SPACE,
    SPACES,
    column,
    create,
    query,
    scalar_macro,
    temporary,
)
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, Source, Table

RECORD = "srsql_record"
"""The temporary table that the records of a file are read into."""
SPLIT_LINE = "srsql_split_line"
"""The view of the records of FAERS ASCII, of whose lines the table is: splitting a line where it is
read takes less time than storing its fields and reading these."""
LONGEST_LINE = 8 << 20
CONTROLS = r"[\x{0}-\x{1f}\x{7f}-\x{9f}\x{2028}\x{2029}]"
"""Control characters (C0, DEL, C1) and line ends, as a class of a regular expression of DuckDB: no
value holds one."""
_NOTHING = r"[^\x{0}-\x{10ffff}]"
"""A regular expression that matches nothing."""

_PLAIN_TYPE = re.compile(
    "(?:U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|DECIMAL.*|DOUBLE|FLOAT|BOOLEAN|UUID|DATE|TIME.*)"
)
"""Types of DuckDB whose values as text hold no control character."""


@dataclass(frozen=True)
class ExtractedFile:
    """One file, ready to be read."""

    path: Path
    sha256: str
    """Of the original bytes."""
    lines: int
    """Physical lines; a missing final newline makes no difference. 0 for a binary file."""
    repaired: int
    """Bytes that do not fit the encoding (of UTF-8: now read as cp1252), NUL bytes (dropped),
    noncharacters."""
    returns: bool
    """Whether some line holds a carriage return that does not end it."""
    odd: OddLines = field(default_factory=lambda: OddLines(UTF_8))
    """The encoding by which it was read, and the lines that do not fit it."""
    marked: bool = False
    """A byte order mark said the encoding."""
    controls: bool = False
    """Whether some line holds another control character, or U+2028 or U+2029."""


@dataclass(frozen=True)
class RecordTable:
    """The records of one file or table, and what its header promises."""

    table: str
    """The temporary table or view that has them."""
    names: tuple[str, ...]
    """Column names, trimmed, lower-cased; without the empty one a trailing separator makes."""
    width: int
    """Fields every record must have: the names, or one more where the file's records end in a
    separator."""
    count: int
    """How many there are, counted by the reader."""
    supposed: bool = False
    """The width is that of the first record: the others are looked at where they are judged."""
    cleaned: bool = False
    """A value may have lost control characters or line ends."""


@contextmanager
def workspace(warehouse: Warehouse) -> Iterator[Path]:
    """A private folder for raw text, in that of the warehouse; of a connection of the caller's in
    the folder of the system for what is temporary."""
    if warehouse.scratch is None:
        with private_folder(Path(tempfile.gettempdir()) / "srsql") as folder:
            yield folder
        return
    with tempfile.TemporaryDirectory(prefix="ingest-", dir=warehouse.scratch) as place:
        yield Path(place)


def extract_binary(member: Member, target: Path) -> ExtractedFile:
    """Copy ``member`` as it is."""
    sha = hashlib.sha256()
    with member.open() as source, target.open("wb") as copy:
        while chunk := source.read(CHUNK):
            member.take(len(chunk))
            sha.update(chunk)
            copy.write(chunk)
    return ExtractedFile(target, sha.hexdigest(), lines=0, repaired=0, returns=False)


def extract_text(member: Member, target: Path, encoding: str | None = None) -> ExtractedFile:
    """Copy ``member`` to ``target`` as clean UTF-8 lines.

    Args:
        member: the file.
        target: where the lines go.
        encoding: what the dataset declares; None: it declares none.

    Raises:
        IngestError: a line is longer than 8 MB, so that this is no text file.
    """
    sha, cleaner = hashlib.sha256(), Cleaner(encoding)
    unfinished = 0
    with member.open() as source, target.open("wb") as copy:
        while True:
            chunk = source.read(CHUNK)
            member.take(len(chunk))
            sha.update(chunk)
            try:
                clean = cleaner.feed(chunk, final=not chunk)
            except UnicodeError as error:  # such as UTF-16 without a byte order mark
                raise IngestError(
                    f"{member.name} is not {encoding} ({one_line(error)}): mend key "
                    "source.encoding (without a byte order mark: utf-16-le or utf-16-be)"
                ) from None
            copy.write(clean)
            last = clean.rfind(b"\n")
            unfinished = unfinished + len(clean) if last < 0 else len(clean) - last - 1
            if unfinished > LONGEST_LINE:
                raise IngestError(
                    f"{member.name}: line {cleaner.lines + 1} is longer than "
                    f"{LONGEST_LINE >> 20} MB: is it a text file?"
                )
            if not chunk:
                break
    lines = cleaner.lines + (unfinished > 0)
    return ExtractedFile(
        target,
        sha.hexdigest(),
        lines,
        cleaner.repaired,
        cleaner.returns,
        cleaner.odd,
        cleaner.marked,
        cleaner.controls,
    )


def report_ids(dataset: Dataset, declared: Table) -> ReportIds:
    """How a record of a table is known by the id of its report."""
    first = declared.key.get(dataset.report_id, (dataset.report_id,))[0]
    spellings = next(c for c in declared.columns if c.name == first)
    names = (spellings.name, *spellings.aliases)
    columns = None if dataset.source.header else tuple(map(plain_name, declared.names))
    lowered = tuple(name.lower() for name in names)
    return ReportIds(lowered, dataset.id_type == "integer", columns)


def read_records(
    warehouse: Warehouse,
    file: str,
    extracted: ExtractedFile,
    source: Source,
    max_unpacked: str | None = None,
    *,
    ids: ReportIds | None = None,
    verbatim: bool = False,
) -> RecordTable:
    """Read the records of one extracted file, and its header.

    Args:
        warehouse: where the records go.
        file: the name of the file, for messages.
        extracted: the file.
        source: how it is read.
        max_unpacked: what the texts of a Parquet file may take (see ``most_unpacked``).
        ids: how a record is known by its report id; None: by its number of fields alone.
        verbatim: control characters and line ends within values stay.

    Returns:
        The records, every physical line of the file in one of them.

    Raises:
        IngestError: the file is empty, its header is no record of one line, its lines end in bare
            carriage returns, or it is a Parquet file that takes too much unpacked.
        DatasetError: the delimiter is not one character.
    """
    if source.reader == "parquet":
        with _parquet_explained(file, extracted.path):
            unpacking = Unpacking(file, most_unpacked(max_unpacked))
            return _read_parquet(warehouse, extracted, unpacking, verbatim=verbatim)
    if extracted.lines == 0:
        raise IngestError(f"{file} is empty, without even a header: get the file again")
    if extracted.returns and extracted.lines == 1:
        raise IngestError(f"{file}: its lines end in bare carriage returns: convert them to LF")
    csv = source.reader == "csv"
    if csv:
        need_delimiter(source)
    odd = (extracted.returns or extracted.controls) and not verbatim
    marks = {"quote": source.quote or None if csv else None, "odd": odd, "controls": CONTROLS}
    warehouse.run_step("ingest/line_records", {**line_parameters(extracted), **marks})
    clean = {"controls": _NOTHING if verbatim else CONTROLS, "ends": SPACES}
    quoted = csv and has_quotes(warehouse)
    names = ids.columns if ids is not None else None
    by_position = names is not None
    if names is None:
        names = _names(warehouse, file, source, clean, quoted=quoted)
    name = RECORD
    if quoted:
        split_quoted(warehouse, source, names, ids, clean)
    else:
        lines = _split_lines(source.separator, odd=odd)
        name = RECORD if csv else SPLIT_LINE
        kind = "TABLE" if csv else "VIEW"
        warehouse.run(create(temporary(name), lines, kind, temp=True))
    found = _table(warehouse, file, name, names, (1 if by_position else 2, extracted.lines))
    if by_position and ids is not None:
        _need_no_header(warehouse, file, found, ids)
    return replace(found, cleaned=found.cleaned and not verbatim)


def _names(
    warehouse: Warehouse, file: str, source: Source, clean: dict[str, str], *, quoted: bool
) -> tuple[str, ...]:
    """The names in line 1, which is taken away from the lines."""
    if quoted:
        fields, fault = read_header(warehouse, source, clean)
    else:
        asked = {**clean, "delimiter": source.separator, "blank": BLANK}
        fields, fault = warehouse.rows(query("ingest/records", "header"), asked)[0]
    warehouse.run(query("ingest/records", "without_header"))
    return _header(file, fields, fault)


def _table(
    warehouse: Warehouse, file: str, name: str, names: tuple[str, ...], ends: tuple[int, int]
) -> RecordTable:
    """The records with what their names promise, if they have all lines from one to another."""
    first, last = ends
    ((covered, count, width, cleaned),) = warehouse.rows(
        query("ingest/records", "extent", record=name), {"first": first}
    )
    if covered != last - first + 1:
        raise IngestError(f"{file}: lines {first} to {last}, but {covered} in records: a defect")
    found = RecordTable(name, names, len(names), count, cleaned=cleaned)
    if name == SPLIT_LINE and width == len(names):
        return replace(found, supposed=True)
    plain, trailing = warehouse.rows(
        query("ingest/records", "widths", record=name), {"width": len(names)}
    )[0]
    return replace(found, width=len(names) + (trailing > plain))


def _need_no_header(warehouse: Warehouse, file: str, records: RecordTable, ids: ReportIds) -> None:
    """Refuse a header where none is declared: its names would be a report.

    Raises:
        IngestError: line 1 has the name of the report id in its place.
    """
    asked = {"names": list(ids.names), "place": ids.place(records.names)}
    found = warehouse.rows(query("ingest/records", "names_again", record=records.table), asked)
    if found and found[0][0]:
        raise IngestError(
            f"{file}: line 1 is a header, though header = false: take that and names out of the "
            "dataset"
        )


def _header(file: str, fields: list[str] | None, fault: str | None) -> tuple[str, ...]:
    """The names in a header, without the empty one that a trailing separator makes.

    Raises:
        IngestError: it is no header.
    """
    if fault is not None:
        raise IngestError(f"{file}: no header in line 1 ({fault})")
    names = [plain_name(name) for name in fields or []]
    if len(names) > 1 and not names[-1]:
        names.pop()
    return tuple(names)


def _split_lines(delimiter: str, *, odd: bool) -> exp.Select:
    """The records of a file without quotes: a line is one, a delimiter separates fields.

    Args:
        delimiter: "$" of FAERS ASCII, in which no quote means anything.
        odd: some line holds a control character.

    Source: SPEC section 6 (srsql ingest), section 16 (a malformed line has a fault), section 22.
    """
    blank = call("regexp_full_match", column("text"), text_of(BLANK))
    field = call("string_split", column("text"), text_of(delimiter))
    cleaned: exp.Expression = exp.cast(exp.null(), "BIGINT[]")
    if odd:
        ends = [text_of(CONTROLS), text_of(SPACES)]
        plain, marked = field, column("marked")
        clean = scalar_macro("fields_without_controls", plain.copy(), *ends)
        places = scalar_macro("fields_with_controls", plain.copy(), ends[0].copy())
        field = exp.Case().when(marked, clean).else_(plain)
        cleaned = exp.Case().when(marked.copy(), places)
    return exp.select(
        "line",
        exp.alias_(exp.Literal.number(1), "lines"),
        exp.alias_(field, "field"),
        exp.alias_(exp.Case().when(blank, text_of("blank line")), "fault"),
        exp.alias_(cleaned, "cleaned"),
    ).from_(temporary(RECORD))


def line_parameters(extracted: ExtractedFile) -> dict[str, str | bool]:
    """What ``srsql.physical_lines`` takes, by the names that steps give it."""
    return {
        "path": _glob(extracted.path),
        "returns": extracted.returns,
        "return_mark": RETURN,
        "separator": SEPARATOR,
    }


def parquet_columns(warehouse: Warehouse, path: Path) -> list[tuple[str, str]]:
    """Name and type of every column of a Parquet file."""
    empty = warehouse.con.execute(query("ingest/records", "parquet_header"), {"path": _glob(path)})
    described = [(str(entry[0]), str(entry[1])) for entry in empty.description or []]
    empty.fetchall()  # an unread result would hold up the next statement
    return described


@contextmanager
def _parquet_explained(file: str, path: Path) -> Iterator[None]:
    """Say which file is damaged, by its own name."""
    try:
        yield
    except (duckdb.OutOfMemoryException, duckdb.InterruptException):
        raise
    except duckdb.Error as error:
        if isinstance(error, duckdb.IOException) and "Could not read" not in str(error):
            raise
        why = one_line(error).replace(str(path), file)
        raise IngestError(
            f"{file} could not be loaded, it is damaged, cut off or no Parquet file ({why}): get "
            "it again; nothing was changed"
        ) from None


def _read_parquet(
    warehouse: Warehouse, extracted: ExtractedFile, unpacking: Unpacking, *, verbatim: bool
) -> RecordTable:
    path = _glob(extracted.path)
    count = int(warehouse.value(query("ingest/records", "parquet_rows"), {"path": path}))
    types = dict(parquet_columns(warehouse, extracted.path))
    columns = list(types)
    values = [exp.cast(column(name, "file"), "VARCHAR") for name in columns]
    reader = exp.Anonymous(
        this="read_parquet",
        expressions=[
            exp.Literal.string(path),
            exp.EQ(this=exp.column("hive_partitioning"), expression=exp.false()),
        ],
    )
    file = exp.Table(this=reader, alias=exp.TableAlias(this=exp.to_identifier("file")))
    unpacking.take(count * len(columns))  # a few bytes can stand for very many equal values
    sizes = [
        call("coalesce", exp.Sum(this=call("strlen", value.copy())), exp.Literal.number(0))
        for value in values
    ]
    texts = [value for value, kind in zip(values, types.values(), strict=True) if _has_text(kind)]
    facts = exp.select(*sizes, _any_control(texts)).from_(file.copy())
    *found, odd = warehouse.rows(facts.sql(dialect="duckdb"))[0]
    for size in found:
        unpacking.take(int(size))
    line = exp.Add(this=column("file_row_number", "file"), expression=exp.Literal.number(2))
    records = exp.select(
        exp.alias_(line, "line"),
        exp.alias_(exp.Literal.number(1), "lines"),
        exp.alias_(exp.Array(expressions=values), "field"),
        exp.alias_(exp.cast(exp.null(), "VARCHAR"), "fault"),
        exp.alias_(exp.cast(exp.null(), "BIGINT[]"), "cleaned"),
    ).from_(file)
    warehouse.run(create(temporary(RECORD), records, temp=True))
    cleaned = odd and not verbatim
    if cleaned:
        warehouse.run_step("ingest/clean_records", {"controls": CONTROLS, "ends": SPACES})
    names = tuple(map(plain_name, columns))
    return RecordTable(RECORD, names, len(columns), count, cleaned=cleaned)


def _has_text(kind: str) -> bool:
    """Whether values of a type of DuckDB may hold a control character, as text."""
    return _PLAIN_TYPE.fullmatch(kind) is None


def _any_control(texts: Sequence[exp.Expression]) -> exp.Expression:
    """Whether one of some texts in some row holds a control character: one look at all of a row
    takes less time than one at each."""
    if not texts:
        return exp.false()
    joined = call("concat_ws", text_of(""), *(text.copy() for text in texts))
    some = call("bool_or", call("regexp_matches", joined, text_of(CONTROLS)))
    return call("coalesce", some, exp.false())


def _glob(path: Path) -> str:
    """``path`` as a glob that matches this file only."""
    return "".join(f"[{c}]" if c in "[*?" else c for c in str(path))


def plain_name(name: str) -> str:
    """The name of a column as names are compared: trimmed, in lower case."""
    return name.strip(SPACE).lower()


def drop_temporary(warehouse: Warehouse, *names: str) -> None:
    """Drop the temporary tables of these names that there are."""
    for name in names:
        warehouse.run(query("ingest/records", "drop", table=name))


def drop_records(warehouse: Warehouse, records: str) -> None:
    """Drop the table or view of the records of a file, and the lines that it is a view of."""
    if records == SPLIT_LINE:
        warehouse.run(query("ingest/records", "drop_view", view=records))
        records = RECORD
    drop_temporary(warehouse, records)


def field_at(place: int, source: str | None = None) -> exp.Expression:
    """One field of a record, by its place from 1; ``source``: the alias of the records."""
    return call("list_extract", column("field", source), exp.Literal.number(place))


def call(name: str, *arguments: exp.Expression) -> exp.Expression:
    """A function of DuckDB."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def text_of(value: str) -> exp.Expression:
    """A string literal."""
    return exp.Literal.string(value)


def is_null(value: exp.Expression) -> exp.Expression:
    """Whether a value is missing."""
    return exp.Is(this=exp.paren(value.copy()), expression=exp.null())


def known(value: exp.Expression) -> exp.Expression:
    """Whether a value is there."""
    return exp.Not(this=is_null(value))
