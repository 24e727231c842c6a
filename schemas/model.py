"""The dataset schema: which columns play which role (SPEC section 4).

A dataset is one TOML file. A column that the file does not declare under ``publish`` (or as a
quasi-identifier or id) is not published.
"""

from __future__ import annotations

import csv
import hashlib
import re
import tomllib
from collections.abc import Collection
from decimal import Decimal
from fractions import Fraction
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from srsql.schemas.hierarchy import Hierarchy, load_hierarchy
from srsql.schemas.relation import Relation


class SchemaError(ValueError):
    """A dataset schema is wrong; the text names the file and the key."""


_NAME = re.compile(r"[a-z][a-z0-9_]*")


def _name(value: object) -> object:
    if isinstance(value, str) and not _NAME.fullmatch(value):
        raise ValueError(f"{value!r} is not a name (lower-case letters, digits, underscore)")
    return value


Name = Annotated[str, BeforeValidator(_name)]


def _exact(value: object) -> Fraction:
    try:
        return Fraction(str(value).replace(" ", ""))
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"{value!r} is not a number or a fraction such as 1/12") from None


Exact = Annotated[Fraction, BeforeValidator(_exact)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class Source(_Strict):
    """How the files of one period look, or which rows of a table are of one period."""

    reader: Literal["dollar", "csv", "parquet", "table"]
    """``dollar``: FAERS/AERS ASCII, no quoting; ``csv``: quoted CSV; ``parquet``; ``table``: tables
    or views that the connection has already."""
    delimiter: str = ","
    period_pattern: str | None = None
    """Regular expression on a file's name whose groups give the period (see ``period_label``)."""
    period_label: str = "{0}"
    """Format of the label from the groups, e.g. ``20{0}Q{1}``; four-digit years stay."""
    deleted_files: tuple[str, ...] = ()
    """Globs of files that list withdrawn case ids, one a line, without header."""
    period: Literal["label", "year", "quarter", "month"] = "label"
    """What a table's ``period_column`` holds: the label itself, or a date, from which it is made
    (2022, 2022Q4, 2022-10)."""

    @model_validator(mode="after")
    def _pattern_and_label(self) -> Source:
        if self.period_pattern is not None:
            try:
                groups = re.compile(self.period_pattern).groups
            except re.error as error:
                raise ValueError(f"period_pattern is not a regular expression: {error}") from None
            try:
                self.period_label.format(*("x" * groups))
            except (IndexError, KeyError, ValueError):
                raise ValueError(
                    f"period_label {self.period_label!r} asks for more than the {groups} group(s) "
                    "of period_pattern"
                ) from None
        return self


class Column(_Strict):
    """One source column and the other names it goes by."""

    name: Name
    aliases: tuple[str, ...] = ()


class Table(_Strict):
    """One source table."""

    name: Name
    files: tuple[str, ...] = ()
    """File-name globs, matched without regard to case."""
    relation: Relation | None = None
    """The table or view to read, as SQL writes its name: up to database, schema, table."""
    period_column: str | None = None
    """Its column that tells the period of a row; without one, a child row is of its report's."""
    columns: tuple[Column, ...]
    unpivot: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Target column -> source columns that each become a row of their own."""
    required: bool = True
    publish: tuple[Name, ...] = ()
    """Columns that leave the house as they are (child tables: the released child columns)."""
    serial: dict[Name, Name] = Field(default_factory=dict)
    """Published column that numbers things of a report -> name of the numbering, which tables may
    share. Series with pseudonyms publish 1, 2, 3 ... instead, since some sources number across all
    reports (legacy AERS drug_seq), which is as good as a report id."""


class Qid(_Strict):
    """One quasi-identifier of the report table."""

    name: Name
    kind: Literal["numeric", "categorical"]
    column: Name
    domain: tuple[Decimal, Decimal] | Literal["observed"] | None = None
    """Numeric: inclusive bounds in ``unit``; a value outside is impossible."""
    limits: tuple[Decimal, Decimal] | None = None
    """Numeric with an observed domain: what is possible at all."""
    unit: str = ""
    granularity: Decimal = Decimal(1)
    rounding: Literal["floor", "half_up"] = "half_up"
    unit_column: Name | None = None
    units: dict[str, Exact] = Field(default_factory=dict)
    """Unit code -> factor to ``unit``, exact (a fraction such as 1/12 is a string)."""
    hierarchy: str | None = None
    """Categorical: file, relative to the dataset file (or one that ships)."""
    missing: tuple[str, ...] = ()
    """Codes that mean "not known", beside blank."""
    aliases: dict[str, str] = Field(default_factory=dict)
    """Source code -> node label (codes are compared trimmed, upper-cased)."""
    groups: str | None = None
    """Numeric: hierarchy file whose leaves' ranges tile the domain; the models of differential
    privacy take the number as a category over it."""

    @property
    def ranged(self) -> bool:
        """Whether it is a category whose nodes stand for ranges of a number."""
        return self.kind == "categorical" and self.groups is not None

    @property
    def bounded(self) -> bool:
        """Whether it is published as two bounds, not as a label."""
        return self.kind == "numeric" or self.ranged

    @model_validator(mode="after")
    def _consistent(self) -> Qid:
        if self.kind == "numeric":
            if self.domain is None:
                raise ValueError(f"numeric QID {self.name!r} needs a domain")
            for key in ("domain", "limits"):
                bounds = getattr(self, key)
                if isinstance(bounds, tuple) and not bounds[0] < bounds[1]:
                    raise ValueError(f"{key} of QID {self.name!r} must be [low, high], low < high")
            if self.granularity <= 0:
                raise ValueError(f"granularity of QID {self.name!r} must be above 0")
            if bool(self.unit_column) != bool(self.units):
                raise ValueError(f"QID {self.name!r} needs unit_column and units together")
            if self.groups is not None and not isinstance(self.domain, tuple):
                raise ValueError(f"groups of QID {self.name!r} need a declared domain to tile")
        elif self.hierarchy is None:
            raise ValueError(f"categorical QID {self.name!r} needs a hierarchy")
        elif self.groups is not None:
            raise ValueError(f"QID {self.name!r} is categorical already: groups are for numbers")
        return self


class Sensitive(_Strict):
    """A sensitive or quasi-sensitive attribute, multi-valued where its table is a child."""

    table: Name
    column: Name
    missing: tuple[str, ...] = ()
    """Terms that stand for "not known" (compared trimmed, upper-cased), beside blank."""


class Signals(_Strict):
    """Which columns tell what was taken and what happened, for signals (SPEC section 14)."""

    drug_table: Name
    drug: Name
    reaction_table: Name
    reaction: Name
    role: Name | None = None
    """Column of the drug table with the role of the drug in the event."""
    suspect: tuple[str, ...] = ()
    """Roles that count by default (compared trimmed, upper-cased)."""

    @model_validator(mode="after")
    def _roles(self) -> Signals:
        if bool(self.role) != bool(self.suspect):
            raise ValueError("role and suspect go together: which column, and what it must say")
        return self


class Dataset(_Strict):
    """One dataset schema; see ``schemas/faers.toml`` for an example with every key."""

    name: Name
    title: str = ""
    version: int = 1
    report_table: Name
    report_id: Name
    case_id: Name
    id_type: Literal["integer", "text"] = "integer"
    source: Source
    tables: tuple[Table, ...]
    qid: tuple[Qid, ...]
    sensitive: tuple[Sensitive, ...]
    quasi_sensitive: tuple[Sensitive, ...] = ()
    signals: Signals | None = None
    hierarchies: dict[str, Hierarchy] = Field(default_factory=dict, exclude=True)
    """QID name -> its hierarchy (filled by ``parse_dataset``)."""
    groups: dict[str, Hierarchy] = Field(default_factory=dict, exclude=True)
    """The same for the numbers that declare groups."""
    text: str = Field(default="", exclude=True)
    """The TOML text the schema was read from."""
    rows: bool = Field(default=True, exclude=True)
    """Rows are released under ids of cases (see :meth:`without_terms`)."""

    @property
    def fingerprint(self) -> str:
        """SHA-256 over the TOML text and every hierarchy."""
        digest = hashlib.sha256(self.text.encode())
        trees = self.hierarchies | self.groups
        for name in sorted(trees):
            tree = trees[name]
            digest.update(repr((name, tree.labels, tree.parent, tree.low, tree.high)).encode())
        return digest.hexdigest()

    def reads_as(self, other: Dataset) -> bool:
        """Whether both read the same data into the same tables, and publish the same of it.

        What signals count may differ: it is asked of the data afterwards. The other schema may
        declare groups where this one does not, but no other ones: releases are coded by them.
        """
        return (
            self._read() == other._read()
            and self.hierarchies == other.hierarchies
            and all(other.groups.get(name) == tree for name, tree in self.groups.items())
        )

    def _read(self) -> dict[str, Any]:
        """What decides how data are read and what of them is published."""
        dump = self.model_dump(exclude={"signals", "title", "version"})
        for qid in dump["qid"]:
            del qid["groups"]
        return dump

    def with_categories(self) -> Dataset:
        """The same dataset with every number that declares groups as a category over them."""
        return self.model_copy(
            update={
                "qid": tuple(
                    qid.model_copy(update={"kind": "categorical"}) if qid.groups else qid
                    for qid in self.qid
                ),
                "hierarchies": self.hierarchies | self.groups,
            }
        )

    def table(self, name: str) -> Table:
        """The table of that name."""
        return next(table for table in self.tables if table.name == name)

    @property
    def child_tables(self) -> tuple[Table, ...]:
        """Tables that have published columns, without the report table."""
        return tuple(t for t in self.tables if t.name != self.report_table and t.publish)

    @property
    def row_tables(self) -> tuple[Table, ...]:
        """Tables of which rows are released under their ids, the report table first."""
        return (self.table(self.report_table), *self.child_tables) if self.rows else ()

    def without_terms(self, attributes: Collection[str], *, rows: bool) -> Dataset:
        """The same dataset where these columns are told apart from their records.

        No row of a table that has such a column is released; without ``rows``, none of any.
        """
        named = (*self.sensitive, *self.quasi_sensitive)
        gone = {a.table for a in named if a.column in attributes}
        told = self.signals and {self.signals.drug_table, self.signals.reaction_table}
        return self.model_copy(
            update={
                "tables": tuple(
                    t.model_copy(update={"publish": ()}) if t.name in gone or not rows else t
                    for t in self.tables
                ),
                "signals": None if told and (told & gone or not rows) else self.signals,
                "rows": rows,
            }
        )

    @property
    def id_columns(self) -> tuple[str, ...]:
        """Report id and case id; one name where they are the same column."""
        return tuple(dict.fromkeys((self.report_id, self.case_id)))

    @model_validator(mode="after")
    def _references(self) -> Dataset:
        columns = {t.name: {c.name for c in t.columns} | set(t.unpivot) for t in self.tables}
        if len(columns) != len(self.tables):
            raise ValueError("two tables have the same name")
        for table in self.tables:
            self._check_names(table)
        if self.report_table not in columns:
            raise ValueError(f"report_table {self.report_table!r} is not among the tables")

        def need(key: str, table: str, column: str) -> None:
            if table not in columns:
                raise ValueError(f"{key}: table {table!r} is not declared")
            if column not in columns[table]:
                raise ValueError(f"{key}: column {column!r} is not declared in table {table!r}")

        need("report_id", self.report_table, self.report_id)
        need("case_id", self.report_table, self.case_id)
        if not self.qid:
            raise ValueError("qid: declare at least one quasi-identifier")
        if len({q.name for q in self.qid}) != len(self.qid):
            raise ValueError("qid: two quasi-identifiers have the same name")
        for qid in self.qid:
            need(f"qid.{qid.name}.column", self.report_table, qid.column)
            if qid.unit_column:
                need(f"qid.{qid.name}.unit_column", self.report_table, qid.unit_column)
        for key, attributes in (
            ("sensitive", self.sensitive),
            ("quasi_sensitive", self.quasi_sensitive),
        ):
            for attribute in attributes:
                need(key, attribute.table, attribute.column)
        if self.signals is not None:
            self._check_signals(self.signals)
        self._check_reader()
        guarded = {c for q in self.qid for c in (q.column, q.unit_column) if c}
        for table in self.tables:
            if table.name != self.report_table:
                need(f"tables.{table.name}", table.name, self.report_id)
            for column in table.publish:
                key = f"tables.{table.name}.publish"
                need(key, table.name, column)
                if column in table.serial and table.name == self.report_table:
                    raise ValueError(f"tables.{table.name}.serial: only child tables have one")
                others = guarded if table.name == self.report_table else set()
                for other in sorted((others | set(self.id_columns)) - {column}):
                    if _sources(table, column) & _sources(table, other):
                        raise ValueError(
                            f"{key}: {column!r} may read the same place in the file as {other!r}, "
                            "which is not published: give them different names and aliases"
                        )
                if column in self.id_columns:
                    raise ValueError(f"{key}: {column!r} is an id, published anyway: take it out")
                if table.name == self.report_table and column in guarded:
                    raise ValueError(
                        f"{key}: {column!r} is a quasi-identifier, which is released as a region: "
                        "take it out"
                    )
        return self

    def _check_reader(self) -> None:
        """Files are named for the readers of files, tables for that of tables."""
        tables = self.source.reader == "table"
        for table in self.tables:
            key = f"tables.{table.name}"
            if tables and table.relation is None:
                raise ValueError(f'{key}.relation: name the table to read, such as "clinic.visits"')
            if tables and table.files:
                raise ValueError(f"{key}.files: tables are read, not files: take it out")
            if not tables and "files" not in table.model_fields_set:
                raise ValueError(f"{key}.files: say which files fill this table")
            if not tables and (table.relation or table.period_column):
                raise ValueError(f'{key}: relation and period_column need reader = "table"')
        given = self.source.model_fields_set & {"period_pattern", "period_label", "deleted_files"}
        if tables and given:
            raise ValueError(f"source.{min(given)}: tables are read, not files: take it out")
        if not tables and self.source.period != "label":
            raise ValueError('source.period: needs reader = "table"')

    def _check_signals(self, signals: Signals) -> None:
        """What signals count must be sensitive terms, and published."""
        terms = {(a.table, a.column) for a in (*self.sensitive, *self.quasi_sensitive)}
        published = {(t.name, name) for t in self.child_tables for name in t.publish}
        for key, place in (
            ("drug", (signals.drug_table, signals.drug)),
            ("reaction", (signals.reaction_table, signals.reaction)),
        ):
            if place not in terms:
                raise ValueError(
                    f"signals.{key}: {'.'.join(place)} is not a sensitive or quasi-sensitive column"
                )
            if place not in published:
                raise ValueError(
                    f"signals.{key}: {'.'.join(place)} is not a published child column"
                )
        if signals.role and (signals.drug_table, signals.role) not in published:
            raise ValueError(
                f"signals.role: {signals.drug_table}.{signals.role} is not a published child column"
            )

    def _check_names(self, table: Table) -> None:
        """Names within one table, and where they would meet those of the views."""
        key = f"tables.{table.name}"
        if table.name in ("manifest", "case_latest"):
            raise ValueError(f"{key}: a view of every release has this name: call it otherwise")
        names = [c.name for c in table.columns] + list(table.unpivot)
        for kind, listed in (("declared", names), ("published", list(table.publish))):
            twice = [name for name in listed if listed.count(name) > 1]
            if twice:
                raise ValueError(f"{key}: column {twice[0]!r} is {kind} twice")
        if {"quarter", "srsql_line"} & set(names):
            raise ValueError(f"{key}: no column may be called quarter or srsql_line: alias it")
        regions = {name for q in self.qid for name in (q.name, f"{q.name}_low", f"{q.name}_high")}
        taken = sorted(regions & set(table.publish))
        if table.name == self.report_table and taken:
            raise ValueError(
                f"{key}.publish: {taken[0]!r} is a column of the released region: take it out"
            )


def _sources(table: Table, name: str) -> set[str]:
    """Names in the file, in lower case, that a column of a table may be read from."""
    return {
        text.strip().lower()
        for column in table.columns
        if column.name == name
        for text in (column.name, *column.aliases)
    }


def builtin_names() -> list[str]:
    """Names of the dataset schemas that ship."""
    folder = resources.files("srsql.schemas")
    return sorted(f.name[:-5] for f in folder.iterdir() if f.name.endswith(".toml"))


def load_dataset(name_or_path: str | Path) -> Dataset:
    """Load a dataset schema that ships (by name) or a user's own (by path to a TOML file).

    Raises:
        SchemaError: unknown name, unreadable file, or a key that is missing or wrong.
    """
    if str(name_or_path) in builtin_names():
        folder: Path | Traversable = resources.files("srsql.schemas")
        file = folder / f"{name_or_path}.toml"
    else:
        path = Path(name_or_path)
        if not path.is_file():
            names = ", ".join(builtin_names())
            raise SchemaError(f"no dataset {str(path)!r}: give one of {names}, or a TOML file")
        folder, file = path.parent, path
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SchemaError(f"{file.name}: cannot be read ({error})") from None
    return parse_dataset(text, folder, origin=file.name)


def parse_dataset(text: str, folder: Path | Traversable, origin: str = "dataset") -> Dataset:
    """Validate the TOML ``text``; hierarchy files are looked up in ``folder``, then the shipped."""
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SchemaError(f"{origin}: not valid TOML: {error}") from None
    dataset = _validated(_named_tables(raw), text)
    if isinstance(dataset, str):
        raise SchemaError(f"{origin}: {dataset}")
    trees: dict[str, dict[str, Hierarchy]] = {"hierarchy": {}, "groups": {}}
    for qid in dataset.qid:
        for key in trees:
            file = getattr(qid, key)
            if file is None:
                continue
            try:
                tree = load_hierarchy(_find(file, folder))
                if key == "groups":
                    _check_groups(qid, tree)
            except (OSError, ValueError, csv.Error) as error:
                raise SchemaError(f"{origin}: key qid.{qid.name}.{key}: {error}") from None
            trees[key][qid.name] = tree
    return dataset.model_copy(update={"hierarchies": trees["hierarchy"], "groups": trees["groups"]})


def _validated(raw: dict[str, Any], text: str) -> Dataset | str:
    """The dataset, or what is wrong with the first wrong key.

    pydantic's error never becomes the context of another one: it holds the tracebacks of the
    validators, hence every caller's variables, in a way that Python's garbage collector cannot see,
    so that a connection among them would never be freed.
    """
    try:
        return Dataset(**raw, text=text)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "schema"
        return f"key {key}: {first['msg'].removeprefix('Value error, ')}"


def _check_groups(qid: Qid, tree: Hierarchy) -> None:
    """Every value of the domain must lie in one leaf, and every range belong to one node.

    Raises:
        ValueError: the text names the node.
    """
    if not isinstance(qid.domain, tuple):
        return
    expected, top = qid.domain
    if expected % qid.granularity:
        raise ValueError(f"the domain does not begin on a multiple of {qid.granularity}")
    for node, label in enumerate(tree.labels):
        if tree.parent.count(node) == 1:
            raise ValueError(f"node {label!r} has the same range as its only child: drop one")
        if tree.height[node]:
            continue
        low, high = tree.low[node], tree.high[node]
        if low is None or high is None:
            raise ValueError(f"leaf {label!r} has no range")
        if low != expected:
            raise ValueError(
                f"leaf {label!r} begins at {low}, not at {expected}: leaves must tile the domain "
                "in the order of the file"
            )
        if (high - low) % qid.granularity:
            raise ValueError(f"leaf {label!r} does not end on a multiple of {qid.granularity}")
        expected = high + qid.granularity
    if expected != top + qid.granularity:
        raise ValueError(f"the last leaf ends at {expected - qid.granularity}, not at {top}")


def _named_tables(raw: dict[str, object]) -> dict[str, object]:
    """Bring ``[tables.NAME]``, columns as table or list, into the shape of the model."""
    tables = raw.get("tables")
    if not isinstance(tables, dict):
        return raw
    shaped = []
    for name, table in tables.items():
        entry = dict(table) if isinstance(table, dict) else {}
        columns = entry.get("columns", [])
        if isinstance(columns, dict):
            entry["columns"] = [{"name": k, "aliases": v} for k, v in columns.items()]
        elif isinstance(columns, list):
            entry["columns"] = [{"name": c} for c in columns]
        shaped.append({"name": name, **entry})
    return {**raw, "tables": shaped}


def _find(name: str, folder: Path | Traversable) -> Path | Traversable:
    local = folder / name
    if local.is_file():
        return local
    return resources.files("srsql.schemas") / name
