"""How the files of a table are laid out, checked: columns, positions, composite keys, split cells.

Each function raises ``ValueError``, whose text names the key and what to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from srsql.schemas.roles import Qid, Source, Table


class Declared(Protocol):
    """What is asked of a dataset."""

    @property
    def source(self) -> Source:
        """How its files are read."""

    @property
    def report_table(self) -> str:
        """The name of the table of reports."""

    @property
    def report_id(self) -> str:
        """The column of their ids."""

    @property
    def tables(self) -> Sequence[Table]:
        """All of them."""

    @property
    def qid(self) -> Sequence[Qid]:
        """The quasi-identifiers."""

    @property
    def id_type(self) -> Any:
        """``integer`` or ``text``."""

    @property
    def id_columns(self) -> tuple[str, ...]:
        """The ids of reports and cases."""

    def table(self, name: str) -> Table:
        """One of them by its name."""


def need_column(dataset: Declared, key: str, table: str, column: str) -> None:
    """Refuse a column that no table declares."""
    if all(declared.name != table for declared in dataset.tables):
        raise ValueError(f"{key}: table {table!r} is not declared")
    declared = dataset.table(table)
    names = {*(c.name for c in declared.columns), *declared.unpivot, *declared.key}
    if column not in names:
        raise ValueError(f"{key}: column {column!r} is not declared in table {table!r}")


def read_from(table: Table, name: str) -> set[str]:
    """Names in the source, in lower case, that a column of a table may be read from."""
    return {
        text.strip().lower()
        for column in table.columns
        if column.name in (name, table.fallback.get(name), *table.key.get(name, ()))
        for text in (column.name, *column.aliases)
    } | {text.strip().lower() for text in table.unpivot.get(name, ())}


def check_positions(dataset: Declared, table: Table) -> None:
    """Of files without a header a table has the names of all columns."""
    key = f"tables.{table.name}.names"
    lowered = [name.strip().lower() for name in table.names]
    if dataset.source.header:
        if table.names:
            raise ValueError(f"{key}: the header has them: take it out, or give header = false")
        return
    if not table.names:
        raise ValueError(f"{key}: header = false: name all columns of its files in their order")
    if twice := [name for name in lowered if lowered.count(name) > 1]:
        raise ValueError(f"{key}: {twice[0]!r} is there twice: call one otherwise")
    wanted = {c.name: {c.name, *(a.lower() for a in c.aliases)} for c in table.columns}
    wanted |= {name: {name.lower()} for names in table.unpivot.values() for name in names}
    for name, spellings in wanted.items():
        if not spellings & set(lowered):
            raise ValueError(f"{key}: no column {name!r} among them: say where it stands")


def check_same_file(dataset: Declared, table: Table) -> None:
    """A table that is read from the file of another one has none of its own."""
    key = f"tables.{table.name}.same_file"
    other = next((each for each in dataset.tables if each.name == table.same_file), None)
    if other is None or other is table or other.same_file is not None:
        raise ValueError(f"{key}: {table.same_file!r} is no other table that has files")
    if table.files or "required" in table.model_fields_set:
        raise ValueError(f"{key}: the file is that of {other.name}: take files and required out")


def check_key(dataset: Declared, table: Table) -> None:
    """A composite key is made of plain columns, and its tables have the same first parts."""
    key, whole = f"tables.{table.name}.key", dataset.table(dataset.report_table)
    plain = {column.name for column in table.columns}
    for name, parts in table.key.items():
        if name not in dataset.id_columns:
            raise ValueError(f"{key}.{name}: it is no id: ids alone have parts")
        if dataset.id_type != "text":
            raise ValueError(f'{key}.{name}: its parts make a text: give id_type = "text"')
        if not parts or len(set(parts)) < len(parts):
            raise ValueError(f"{key}.{name}: name its parts, each once")
        if lost := [part for part in parts if part not in plain]:
            raise ValueError(f"{key}.{name}: column {lost[0]!r} is not among columns")
        if set(parts) & {*dataset.id_columns, *table.fallback, *table.split}:
            raise ValueError(f"{key}.{name}: a part is an id, or has a fallback or a split")
        if name not in whole.key or len(parts) > whole.parts(name):
            raise ValueError(f"{key}.{name}: the report table has fewer parts of it")
    if dataset.report_id in whole.key and dataset.report_id not in table.key:
        raise ValueError(f"{key}: {dataset.report_id!r} has parts: name those that this table has")


def check_split(dataset: Declared, table: Table) -> None:
    """Terms of a child table are split."""
    for name in table.split:
        key = f"tables.{table.name}.split.{name}"
        if table.name == dataset.report_table:
            raise ValueError(f"{key}: a report has one row: split cells in a child table")
        if name in {*dataset.id_columns, *table.fallback, *table.fallback.values()} or all(
            column.name != name for column in table.columns
        ):
            raise ValueError(f"{key}: it is an id, has a fallback, or is not among columns")


def check_fallbacks(dataset: Declared, table: Table) -> None:
    """A fallback is a plain column of the table, and neither is an id."""
    plain = {column.name for column in table.columns}
    for name, other in table.fallback.items():
        key = f"tables.{table.name}.fallback.{name}"
        for each in (name, other):
            if each in dataset.id_columns:
                raise ValueError(f"{key}: {each!r} is an id, which has no other column")
            if each not in plain:
                raise ValueError(f"{key}: column {each!r} is not among columns of the table")
        if other in table.fallback:
            raise ValueError(f"{key}: {other!r} has a fallback itself: name that one")
    for qid in dataset.qid if table.name == dataset.report_table else ():
        if qid.unit_column and {qid.column, qid.unit_column} & set(table.fallback):
            raise ValueError(
                f"tables.{table.name}.fallback: the unit of {qid.column!r} stands in another "
                "column, which would be read with the value of the fallback: take it out"
            )
