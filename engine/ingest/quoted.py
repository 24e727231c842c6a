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
from srsql.schemas import Source

BLANK = f"{SPACES}*"
"""A regular expression that matches a blank record."""
BACKSLASH = "\\"
_NOTHING = r"[^\x{0}-\x{10ffff}]"
"""A regular expression that matches nothing."""
QUOTED_LINE = "srsql_quoted_line"
"""The temporary table of the lines that are no records by themselves."""


@dataclass(frozen=True)
class ReportIds:
    """What tells a record from a line of text: the id of its report."""

    names: tuple[str, ...]
    """What the column may be called in a header, in lower case."""
    integer: bool
    """Whether an id is a whole number; else it is any text that is not blank."""
    columns: tuple[str, ...] | None = None
    """The names of all columns, where the file has no header; None: line 1 is one."""

    def place(self, header: tuple[str, ...]) -> int | None:
        """The place of the ids among the columns of a header, from 1; None: it has none."""
        present = [name for name in self.names if name in header]
        return header.index(present[0]) + 1 if present else None


def need_delimiter(source: Source) -> None:
    """Raises unless delimiter and quotes can be told apart.

    Raises:
        DatasetError: one is not a single character, or two are the same.
    """
    signs = {"delimiter": source.delimiter}
    signs |= {"quote": source.quote} if source.quote else {}
    signs |= {"escape": source.escape} if source.escape is not None else {}
    for key, sign in signs.items():
        if len(sign) != 1 or sign in "\r\n":
            raise DatasetError(f"key source.{key}: {sign!r} is not one character")
    if source.delimiter in (source.quote, source.escape):
        raise DatasetError(
            f"key source.delimiter: {source.delimiter!r} is not one character, quotes aside"
        )
    if source.escape is not None and not source.quote:
        raise DatasetError('key source.escape: quote = "" knows no quoted text: take it out')


def quoting(delimiter: str, quote: str = '"', escape: str | None = None) -> dict[str, str]:
    """What steps take to read quotes: delimiter, quote, and regular expressions by their names.

    A quoted field ends with a quote that a delimiter or the end of the record follows; a doubled
    quote is one of its text, or any sign behind an escape is. A quote within an unquoted field is
    a character like any other, and so is what follows the closing quote of a field within one line,
    as in ``"ALPHA" 6 MG``. A field that goes over lines has to end with its quote.

    Args:
        delimiter: of fields, one character.
        quote: around fields, one character.
        escape: stands before a sign of a quoted field that is text; None, or the quote itself:
            quotes are doubled.

    Source: RFC 4180, section 2, rules 5 to 7; SPEC section 22.
    """
    mark, around = _sign(delimiter), _sign(quote)
    if escape is None or escape == quote:
        escaped, lone, completed = f"{around}({around})", _NOTHING, ""
        inner = f"(?:[^{around}]|{around}{around})*"
    else:
        before = _sign(escape)
        escaped = f"{before}((?s:.))"
        lone = f"((?:^|[^{before}])(?:{before}{before})*{before})$"
        completed = rf"\1{escape * 2 if escape == BACKSLASH else escape}"
        inner = f"(?:[^{around}{before}]|{before}(?s:.)|{before}$)*"
    more = f"(?:[^{around}{mark}][^{mark}]*)?"
    value = f"(?:{around}{inner}{around}{more}|[^{around}{mark}][^{mark}]*|)"
    neat = f"(?:{around}{inner}{around}|[^{around}{mark}]*)"
    return {
        "closed": f"^(?:{value}{mark})*{value}$",
        "neat": f"^(?:{neat}{mark})*{around}{inner}$",
        "stays": f"^{inner}(?:{around}(?:{mark}{value})*{mark}{around}{inner})?$",
        "closes": f"^{inner}{around}(?:{mark}{value})*$",
        "field": f"({value}){mark}",
        "inner_text": f"^{around}({inner}){around}",
        "behind": f"^{around}{inner}{around}((?s:.*))$",
        "escaped": escaped,
        "lone": lone,
        "completed": completed,
        "delimiter": delimiter,
        "quote": quote,
    }


def _sign(character: str) -> str:
    """One character, as a regular expression has it within a class or without."""
    return rf"\x{{{ord(character):x}}}"


def has_quotes(warehouse: Warehouse) -> bool:
    """Whether a line of the file that was just numbered holds a quote."""
    return bool(warehouse.value(query("ingest/records", "any_quote")))


def read_header(
    warehouse: Warehouse, source: Source, cleaning: dict[str, str]
) -> tuple[list[str], str | None]:
    """The fields of line 1, and why they are no header, if they are none.

    A header is one line: of more than one nothing would tell which of them are records.
    """
    asked = {**_quoting(source), **cleaning, "blank": BLANK}
    for name in ("neat", "stays", "closes", "lone", "completed"):
        del asked[name]
    fields, fault = warehouse.rows(query("ingest/records", "quoted_header"), asked)[0]
    return fields, fault


def _quoting(source: Source) -> dict[str, str]:
    return quoting(source.separator, source.quote, source.escape)


def split_quoted(
    warehouse: Warehouse,
    source: Source,
    header: tuple[str, ...],
    ids: ReportIds | None,
    cleaning: dict[str, str],
) -> None:
    """Make records of the numbered lines of a file.

    Args:
        warehouse: with the lines in ``srsql_record``, where the records go.
        source: says how their fields are parted and quoted.
        header: the names of the columns.
        ids: how a record is known by its report id; None: by its number of fields alone.
        cleaning: what ``srsql.without_controls`` takes, by the names that steps give it.
    """
    known: dict[str, Any] = {
        **_quoting(source),
        **cleaning,
        "width": len(header),
        "place": ids.place(header) if ids is not None else None,
        "integer": ids is not None and ids.integer,
        "blank": BLANK,
    }
    warehouse.run_step("ingest/quoted_lines", known)
    warehouse.run_step("ingest/csv_records", known)
    warehouse.drop_temporary_tables([QUOTED_LINE])
