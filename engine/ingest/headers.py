"""The header of a file: where the declared columns are, and why one may not be found."""

from __future__ import annotations

import re
from collections.abc import Sequence

from srsql.engine.errors import IngestError
from srsql.engine.ingest.records import RecordTable
from srsql.schemas import Dataset, Table

_MARKS = ";,|\t$"
"""What separates columns in files of others."""


def column_places(
    file: str, dataset: Dataset, declared: Table, records: RecordTable, fault: str = ""
) -> dict[str, int]:
    """Where the declared columns of a table are in a file.

    Args:
        file: the name of the file, for messages.
        dataset: declares which columns are ids, without which nothing can be loaded.
        declared: the table.
        records: the records of the file.
        fault: why its header may be illegible, and what to do; empty: nothing points to that.

    Returns:
        Column (declared, or a source of an unpivoted one) -> its place, from 1.

    Raises:
        IngestError: an id column is missing, or a declared column is there twice.
    """
    wanted = {c.name: (c.name, *c.aliases) for c in declared.columns}
    wanted |= {name: (name,) for sources in declared.unpivot.values() for name in sources}
    found: dict[str, int] = {}
    for name, spellings in wanted.items():
        present = [s.lower() for s in spellings if s.lower() in records.names]
        if present and records.names.count(present[0]) > 1:
            raise IngestError(f"{file}: column {present[0]} is in the header twice: rename one")
        if present:
            found[name] = records.names.index(present[0]) + 1
    needed = {dataset.report_id}
    if declared.name == dataset.report_table:
        needed.add(dataset.case_id)
    keys = [declared.key.get(name, (name,)) for name in dataset.id_columns if name in needed]
    for name in (part for parts in keys for part in parts):
        if name not in found:
            raise IngestError(
                f"{file}: no column {' or '.join(wanted[name])} in its header: "
                f"{fault or _header_fault(dataset, records.names)}"
            )
    return found


def _header_fault(dataset: Dataset, names: Sequence[str]) -> str:
    """Why a header may lack a column, and what to do."""
    excel = re.fullmatch("sep=(.?)", names[0]) if names else None
    if excel is not None:
        mark = excel[1] or dataset.source.delimiter
        return (
            f"line 1 is for Excel: take it out of the file, and give delimiter = {mark!r} under "
            "[source] of the dataset"
        )
    marks = [mark for mark in _MARKS if len(names) == 1 and mark in names[0]]
    if marks and dataset.source.reader in ("csv", "dollar"):
        mark = max(marks, key=names[0].count)
        if mark == dataset.source.separator:
            return "the whole header stands in quotes: export the file without quotes around lines"
        way = f'delimiter = "{mark}"'.replace("\t", "\\t")
        reader = "" if dataset.source.reader == "csv" else 'reader = "csv" and '
        if mark == "$":
            return 'it is separated by "$": give reader = "dollar" under [source] of the dataset'
        return f"it is one column with {mark!r} in it: give {reader}{way} under [source]"
    return (
        "is line 1 the header, and the dataset the right one? Of files without one say header = "
        "false under [source]"
    )
