"""Quoted CSV: which physical lines make a record, by the quotes in them.

A line read from outside quotes is a record, or opens a quoted field that goes on in the next lines,
or is neither. What is made of that stands in ``sql_macros/ingest/steps/quoted_lines.sql``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from srsql.engine.errors import DatasetError
from srsql.engine.store.statements import SPACES, query
from srsql.engine.store.warehouse import Warehouse

QUOTED_LINE = "srsql_quoted_line"
"""The temporary table of the lines that are no records by themselves."""


@dataclass(frozen=True)
class ReportIds:
    """What tells a record from a line of text: the id of its report."""

    names: tuple[str, ...]
    """What the column may be called in a header, in lower case."""
    integer: bool
    """Whether an id is a whole number; else it is any text that is not blank."""

    def place(self, header: tuple[str, ...]) -> int | None:
        """The place of the ids among the columns of a header, from 1; None: it has none."""
        present = [name for name in self.names if name in header]
        return header.index(present[0]) + 1 if present else None


def need_delimiter(delimiter: str) -> None:
    """Raises unless this can separate the fields of quoted CSV.

    Raises:
        DatasetError: the delimiter is not one character.
    """
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise DatasetError(
            f"key source.delimiter: {delimiter!r} is not one character, quotes aside"
        )


def quoting(delimiter: str) -> dict[str, str]:
    """What steps take to read quotes: the delimiter, and regular expressions by their names there.

    A quoted field ends with a quote that a delimiter or the end of the record follows; a doubled
    quote is one of its text. A quote within an unquoted field is a character like any other, and so
    is what follows the closing quote of a field within one line, as in ``"ALPHA" 6 MG``. A field
    that goes over lines has to end with its quote.

    Args:
        delimiter: of fields, one character.

    Source: RFC 4180, section 2, rules 5 to 7; SPEC section 22.
    """
    mark = rf"\x{{{ord(delimiter):x}}}"
    inner = '(?:[^"]|"")*'
    more = rf'(?:[^"{mark}][^{mark}]*)?'
    value = rf'(?:"{inner}"{more}|[^"{mark}][^{mark}]*|)'
    neat = rf'(?:"{inner}"|[^"{mark}]*)'
    return {
        "closed": rf"^(?:{value}{mark})*{value}$",
        "neat": rf'^(?:{neat}{mark})*"{inner}$',
        "stays": rf'^{inner}(?:"(?:{mark}{value})*{mark}"{inner})?$',
        "closes": rf'^{inner}"(?:{mark}{value})*$',
        "field": rf"({value}){mark}",
        "delimiter": delimiter,
    }


def has_quotes(warehouse: Warehouse) -> bool:
    """Whether a line of the file that was just numbered holds a quote."""
    return bool(warehouse.value(query("ingest/records", "any_quote")))


def read_header(
    warehouse: Warehouse, delimiter: str, cleaning: dict[str, str]
) -> tuple[list[str], str | None]:
    """The fields of line 1, and why they are no header, if they are none.

    A header is one line: of more than one nothing would tell which of them are records.
    """
    asked = {**quoting(delimiter), **cleaning}
    del asked["neat"], asked["stays"], asked["closes"]
    fields, fault = warehouse.rows(query("ingest/records", "quoted_header"), asked)[0]
    return fields, fault


def split_quoted(
    warehouse: Warehouse,
    delimiter: str,
    header: tuple[str, ...],
    ids: ReportIds | None,
    cleaning: dict[str, str],
) -> None:
    """Make records of the numbered lines of a file.

    Args:
        warehouse: with the lines in ``srsql_record``, where the records go.
        delimiter: of their fields.
        header: the names of the columns.
        ids: how a record is known by its report id; None: by its number of fields alone.
        cleaning: what ``srsql.without_controls`` takes, by the names that steps give it.
    """
    known: dict[str, Any] = {
        **quoting(delimiter),
        **cleaning,
        "width": len(header),
        "place": ids.place(header) if ids is not None else None,
        "integer": ids is not None and ids.integer,
        "blank": f"{SPACES}*",
    }
    warehouse.run_step("ingest/quoted_lines", known)
    warehouse.run_step("ingest/csv_records", known)
    warehouse.drop_temporary_tables([QUOTED_LINE])
