"""The first records of files and tables, and the layout in which the files are written."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath

import duckdb

from srsql.engine.errors import IngestError, one_line
from srsql.engine.ingest.encodings import RETURN, UTF_8, Cleaner
from srsql.engine.ingest.sources import CHUNK, Member, members_at
from srsql.engine.store.database_file import OWN
from srsql.engine.store.statements import table

RECORDS = 20_000
"""Records of a file or table that are looked at."""
BYTES = 32 << 20
"""Bytes of a file that are read for them."""
TRIED = 2_000
"""Records by which a delimiter is found."""
DELIMITERS = ",;\t|$^~\x01"
_EXCEL = re.compile("sep=(.?)", re.IGNORECASE)
_DUCKDB = b"DUCK"
_PACKED = (b"PK\x03\x04", b"\x1f\x8b")
_OUR_SCHEMAS = re.compile(r"srsql.*|raw_.*|release_.*|released.*|information_schema|pg_catalog")
_WHOLE_LINES = 0.9
"""The least share of records that have as many fields as the header."""


@dataclass(frozen=True)
class Layout:
    """How a file is written, in the words of ``[source]``."""

    reader: str
    delimiter: str = ","
    quote: str = '"'
    escape: str | None = None
    encoding: str | None = None
    header: bool = True


@dataclass(frozen=True)
class Sample:
    """The first records of a file or table."""

    name: str
    """Of the file without folders, or of the table with its schema."""
    source: str
    """The path that was given."""
    layout: Layout
    header: tuple[str, ...]
    """Names of the columns; empty texts where the file has no header."""
    rows: tuple[tuple[str, ...], ...]
    """Trimmed texts; the empty text where nothing stands."""
    whole: bool
    """Whether there are no further records."""


class NoTableError(IngestError):
    """A file is not written as records of several fields."""


def read_samples(paths: Sequence[Path]) -> tuple[list[Sample], list[str]]:
    """The samples of every file and table at some paths, and why a file has none.

    Args:
        paths: files, folders, zips, and DuckDB files whose tables are read.

    Raises:
        IngestError: nothing can be read there, or the files are not written in one way.
    """
    found: list[Sample] = []
    skipped: list[str] = []
    for path in paths:
        for read in _samples_at(path):
            try:
                found.append(read())
            except NoTableError as error:
                skipped.append(str(error))
    if not found:
        told = skipped[0] if skipped else f"{paths[0]}: no file with records in it"
        raise IngestError(f"{told}: give files with records, or folders of them")
    readers = {sample.layout.reader for sample in found}
    if len(readers) > 1:
        raise IngestError(
            f"{' and '.join(sorted(readers))} files together: one dataset reads one kind, so give "
            "them apart"
        )
    return _of_one_layout(found), skipped


def _samples_at(path: Path) -> Iterator[Callable[[], Sample]]:
    members = members_at(path)
    if path.is_file() and len(members) == 1:
        with members[0].open() as file:
            begin = file.read(16)
        if begin[8:12] == _DUCKDB:
            yield from (partial(_same, sample) for sample in _of_database(path))
            return
    for member in members:
        parquet = member.base.lower().endswith(".parquet")
        yield partial(_of_parquet if parquet else _of_text, member)


def _same(sample: Sample) -> Sample:
    return sample


def _of_one_layout(samples: list[Sample]) -> list[Sample]:
    """The samples with one layout, since ``[source]`` says it once.

    A file in which nothing is quoted reads the same by the quotes of the others.
    """
    first = samples[0]
    encodings = {s.layout.encoding for s in samples if s.layout.encoding}
    if len(encodings) > 1:
        raise IngestError(
            f"files in {' and '.join(sorted(encodings))}: one dataset has one encoding, so convert "
            "one of them, or give them apart"
        )
    for sample in samples:
        for what in ("delimiter", "header"):
            one, other = getattr(first.layout, what), getattr(sample.layout, what)
            if one != other:
                raise IngestError(
                    f"{first.name} and {sample.name} differ in {what} ({one!r} and {other!r}): one "
                    "dataset reads one layout, so give them apart"
                )
    escapes = {s.layout.escape for s in samples if s.layout.escape}
    quotes = {s.layout.quote for s in samples}
    layout = replace(
        first.layout,
        encoding=next(iter(encodings), None),
        escape=next(iter(escapes), None),
        quote="" if "" in quotes else first.layout.quote,
    )
    return [replace(sample, layout=layout) for sample in samples]


def _of_text(member: Member) -> Sample:
    text, encoding, whole = _beginning(member)
    lines = text.split("\n")
    excel = _EXCEL.fullmatch(lines[0].strip())
    if excel is not None:
        raise IngestError(
            f"{member.name}: line 1 is for Excel ({lines[0].strip()}): take it out of the file"
        )
    layout, records = _layout(lines, text, member.name)
    layout = replace(layout, encoding=encoding)
    width = len(records[0])
    if width > 1 and not records[0][-1] and layout.header:
        width -= 1  # a trailing separator makes no column
    header = tuple(records[0][:width]) if layout.header else ("",) * width
    lowered = [name.lower() for name in header]
    if twice := [name for name in lowered if name and lowered.count(name) > 1]:
        raise IngestError(f"{member.name}: column {twice[0]} is in the header twice: rename one")
    rows = records[1:] if layout.header else records
    kept = [tuple(row[:width]) for row in rows if len(row) in (width, width + 1)]
    whole = whole and len(records) <= RECORDS
    return Sample(member.base, str(member.path), layout, header, tuple(kept[:RECORDS]), whole)


def _beginning(member: Member) -> tuple[str, str | None, bool]:
    """The first lines of a file, the encoding to declare, and whether they are all."""
    with member.open() as stream:
        begin = stream.read(BYTES)
        whole = not stream.read(1)
    if not begin.strip():
        raise NoTableError(f"{member.name}, which is empty")
    if begin.startswith(_PACKED):
        raise NoTableError(f"{member.name}, which is packed: unpack it, or give it alone")
    clean, cleaner = _cleaned(begin, None)
    likely = cleaner.odd.likely() if cleaner.odd.numbers and not cleaner.marked else None
    if likely is not None:
        clean, _ = _cleaned(begin, likely)
    text = clean.decode(UTF_8, "replace").replace(RETURN, " ")
    if not whole:
        text = text[: text.rfind("\n") + 1] or text
    return text, likely, whole


def _cleaned(begin: bytes, encoding: str | None) -> tuple[bytes, Cleaner]:
    cleaner = Cleaner(encoding)
    pieces = [
        cleaner.feed(begin[at : at + CHUNK], final=False) for at in range(0, len(begin), CHUNK)
    ]
    return b"".join([*pieces, cleaner.feed(b"", final=True)]), cleaner


def _layout(lines: list[str], text: str, name: str) -> tuple[Layout, list[list[str]]]:
    """The layout under which most records have as many fields as the first, and the more fields."""
    best: tuple[tuple[float, int, int], Layout] | None = None
    for delimiter in DELIMITERS:
        if delimiter not in lines[0]:
            continue
        quote = _quote(lines[:TRIED], delimiter)
        layout = Layout("csv", delimiter, quote, _escape(lines[:TRIED], quote))
        records = list(islice(_records("\n".join(lines[: TRIED + 1]), layout), TRIED))
        below = records[1:] or records
        width, count = Counter(map(len, below)).most_common(1)[0]
        fits = abs(len(records[0]) - width) <= 1
        score = (round(count / len(below), 1) if fits else 0.0, width, int(quote == '"'))
        if width > 1 and (best is None or score > best[0]):
            best = score, layout
    if best is None or best[0][0] < _WHOLE_LINES:
        raise NoTableError(f"{name}, whose lines have as many fields as line 1 by no delimiter")
    layout = best[1]
    records = list(islice(_records(text, layout), RECORDS + 1))
    layout = replace(layout, header=_has_header(records))
    if layout.delimiter == "$" and not layout.quote and layout.header:
        layout = replace(layout, reader="dollar")
    return layout, records


def _quote(lines: list[str], delimiter: str) -> str:
    """The sign that stands around fields, such as begins and ends about as many of them; or none.

    A field may go over several lines, so that its two signs need not stand in one.
    """
    mark = re.escape(delimiter)
    text = "\n".join(lines)
    for quote in "\"'":
        begins = len(re.findall(f"(?m)(?:^|{mark}){quote}", text))
        ends = len(re.findall(f"(?m){quote}(?={mark}|$)", text))
        if begins and begins <= 2 * ends and ends <= 2 * begins:
            return quote
    return "" if '"' in text or delimiter == "$" else '"'


def _escape(lines: list[str], quote: str) -> str | None:
    """The backslash, where it stands before quotes within fields and quotes are not doubled."""
    if not quote:
        return None
    escaped = sum(line.count(f"\\{quote}") for line in lines)
    return "\\" if escaped and not any(f"{quote}{quote}" in line for line in lines) else None


def _records(text: str, layout: Layout) -> Iterator[list[str]]:
    """The records of a text, blank ones left out, their fields trimmed."""
    csv.field_size_limit(BYTES)
    if layout.escape is not None:  # what stands outside of quotes is no escape, as the \\N of MySQL
        mark = re.escape(layout.delimiter)
        text = re.sub(rf"(?m)(^|{mark})\\(?=[^{mark}\n]*(?:{mark}|$))", r"\1\\\\", text)
    found = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=layout.delimiter,
        quotechar=layout.quote or None,
        quoting=csv.QUOTE_MINIMAL if layout.quote else csv.QUOTE_NONE,
        escapechar=layout.escape,
        doublequote=layout.escape is None,
    )
    for record in found:
        fields = [field.strip() for field in record]
        if any(fields):
            yield fields


def _has_header(records: list[list[str]]) -> bool:
    """Whether line 1 has names: texts that differ, are no numbers, and are no values below."""
    first = [field for field in records[0] if field]
    if len(first) < len(records[0]) - 1:
        return False
    if any(re.fullmatch(r"[\d\s.,:/+-]+", field) for field in first):
        return False
    below = records[1:TRIED]
    again = sum(
        any(place < len(row) and row[place] == name for row in below)
        for place, name in enumerate(records[0])
        if name
    )
    twice = len(first) - len({field.lower() for field in first})
    return (again + twice) * 4 <= len(first)


def _of_parquet(member: Member) -> Sample:
    if member.inside is not None:
        raise IngestError(f"{member.name} lies in a zip: unpack it, so that it can be read")
    with duckdb.connect(config=dict(OWN)) as con:
        try:
            rows = con.execute(
                "SELECT * FROM read_parquet(?) LIMIT ?", [str(member.path), RECORDS + 1]
            )
            return _sample(member.base, str(member.path), Layout("parquet"), rows)
        except duckdb.Error as error:
            raise IngestError(f"{member.name} cannot be read ({one_line(error)})") from None


def _of_database(path: Path) -> Iterator[Sample]:
    """The tables and views of a DuckDB file, without those that srsql made."""
    try:
        with duckdb.connect(str(path), read_only=True, config=dict(OWN)) as con:
            places = con.execute(
                "SELECT table_schema, table_name FROM information_schema.tables "
                "WHERE table_catalog = current_database() ORDER BY ALL"
            ).fetchall()
            for schema, name in places:
                if _OUR_SCHEMAS.fullmatch(schema):
                    continue
                shown = name if schema == "main" else f"{schema}.{name}"
                source = table(schema, name).sql(dialect="duckdb")
                rows = con.execute(f"SELECT * FROM {source} LIMIT {RECORDS + 1}")
                yield _sample(shown, str(path), Layout("table"), rows)
    except duckdb.Error as error:
        raise IngestError(f"{path} cannot be read ({one_line(error)})") from None


def _sample(name: str, source: str, layout: Layout, rows: duckdb.DuckDBPyConnection) -> Sample:
    header = tuple(str(entry[0]) for entry in rows.description or [])
    found = rows.fetchall()
    texts = tuple(
        tuple("" if value is None else str(value).strip() for value in row)
        for row in found[:RECORDS]
    )
    return Sample(name, source, layout, header, texts, whole=len(found) <= RECORDS)


def stem_of(sample: Sample) -> str:
    """The name of a file without what comes after its last point; of a table, its name."""
    if sample.layout.reader == "table":
        return sample.name.rpartition(".")[2]
    return PurePosixPath(sample.name).stem
