"""A dataset schema: that its parts fit together, and which of its columns are published.

A dataset is one TOML file (see ``toml_file``); ``roles`` has its parts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from itertools import combinations
from typing import Any, Literal, NamedTuple

from pydantic import Field, model_validator

from srsql.schemas.derived import Derived, Place
from srsql.schemas.derived_sources import check_derived, check_derived_together, places_read
from srsql.schemas.file_layout import (
    check_fallbacks,
    check_key,
    check_positions,
    check_same_file,
    check_split,
    need_column,
    read_from,
)
from srsql.schemas.hierarchy import Hierarchy
from srsql.schemas.roles import (
    LONGEST_TEXT,
    Name,
    Qid,
    QidSet,
    Sensitive,
    Signals,
    Source,
    Strict,
    Table,
)

MOST_LENGTH = 1_000_000
"""Characters that a published text can be declared to have at most."""

TERM_KEY = 1
"""The newest version of the key of a term."""


class Unused(NamedTuple):
    """Keys that a reader does not use."""

    source: tuple[str, ...]
    table: tuple[str, ...]


_OF_CSV, _OF_TEXT = ("delimiter", "quote", "escape"), ("encoding", "header")
_OF_FILES = ("period_pattern", "period_label", "deleted_files")
UNUSED_KEYS = {
    "csv": Unused((), ("relation", "period_column")),
    "dollar": Unused(_OF_CSV, ("relation", "period_column")),
    "parquet": Unused((*_OF_CSV, *_OF_TEXT), ("relation", "period_column", "names")),
    "table": Unused(
        (*_OF_CSV, *_OF_TEXT, *_OF_FILES), ("files", "required", "names", "key", "same_file")
    ),
}
"""Reader -> the keys of ``[source]`` and of ``[tables.NAME]`` that it does not use."""
_ALSO_CSV = {("dollar", key) for key in _OF_CSV}
"""``dollar`` is ``csv`` with the delimiter "$" and the quote ""."""


class Dataset(Strict):
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
    earlier_versions: tuple[int, ...] = ()
    """Versions before this one that differ from it in nothing but optional columns."""
    derived: tuple[Derived, ...] = ()
    """Coarse columns of the report table, made at ingestion."""
    qid: tuple[Qid, ...]
    qid_set: tuple[QidSet, ...] = ()
    """Sets of quasi-identifiers, each of which some attacker knows; none: one attacker knows all.
    """
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
    cluster_columns: tuple[str, ...] = Field(default=(), exclude=True)
    """What a row shows of its cluster, where whole rows are taken apart: a case has one row, with
    its region and its cluster."""
    counted: bool = Field(default=False, exclude=True)
    """Counts tell the items of cases: a case has one row, with its region alone."""
    noisy: bool = Field(default=False, exclude=True)
    """These counts have noise."""
    term_key: int = Field(default=TERM_KEY, exclude=True)
    """Version of the key by which terms are compared: 1 is the key of SPEC section 2, 0 the form of
    releases before it (visible text in upper case)."""
    raw_key: int = Field(default=TERM_KEY, exclude=True)
    """The version that the raw tables hold."""
    intake: str = Field(default="", exclude=True)
    """What temporary views with the raw rows of a series that holds cases back are called, before
    the names of the tables; empty: the raw tables are as they were ingested."""

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

        What signals count may differ, since they are counted afterwards. The other schema may
        declare groups where this one does not, but no other ones: releases are coded by them.
        """
        return (
            self._read() == other._read()
            and self.hierarchies == other.hierarchies
            and all(other.groups.get(name) == tree for name, tree in self.groups.items())
        )

    def _read(self) -> dict[str, Any]:
        """What decides how data are read and what of them is published."""
        dump = self.model_dump(exclude={"signals", "title", "version", "earlier_versions"})
        for qid in dump["qid"]:
            del qid["groups"]
        for table in dump["tables"]:
            del table["optional"]  # every column is read, and a series says what it shows
            del table["every_report"]  # it is checked, and changes nothing that is read
            del table["max_length"]  # a release with a longer text is refused
        del dump["source"]["row_counts"]
        for key in UNUSED_KEYS[self.source.reader].source:
            del dump["source"][key]
        return dump

    def unused_key(self) -> str | None:
        """What is wrong with the first key that the reader of the source does not use, or None.

        It is asked of a declaration that is new. One that a warehouse has from an earlier version
        may have such a key, which was always passed over.
        """
        reader, unused = self.source.reader, UNUSED_KEYS[self.source.reader]
        words = () if reader == "table" or self.source.row_period else ("period",)
        for key in (*unused.source, *words):
            if key in self.source.model_fields_set:
                csv = ', or give reader = "csv"' if (reader, key) in _ALSO_CSV else ""
                return f'key source.{key}: reader = "{reader}" does not use it: take it out{csv}'
        for table in self.tables:
            for key in unused.table:
                if key in table.model_fields_set:
                    where = f"tables.{table.name}.{key}"
                    return f'key {where}: reader = "{reader}" does not use it: take it out'
        return None

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

    def taken_from(self, intake: str) -> Dataset:
        """The same dataset with its raw rows from views of that name (see ``intake``)."""
        return self.model_copy(update={"intake": intake})

    def keyed(self, term_key: int) -> Dataset:
        """The same dataset with terms compared by that version of their key."""
        return self.model_copy(update={"term_key": term_key})

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

    def without_terms(self, attributes: Collection[str] | None, *, rows: bool) -> Dataset:
        """The same dataset where these columns are published apart from their records.

        No row of a table that has such a column is released; without ``rows``, none of any.
        ``attributes`` None: whole rows are taken apart, of which the report table shows the ids and
        the quasi-identifiers alone, and no other table has rows; what signals count is told of
        clusters.
        """
        if attributes is None:
            apart = [t.model_copy(update={"publish": ()}) for t in self.tables]
            update = {"tables": tuple(apart), "rows": rows, "cluster_columns": ("cluster",)}
            return self.model_copy(update=update)
        named = (*self.sensitive, *self.quasi_sensitive)
        affected = {a.table for a in named if a.column in attributes}
        told = {d.name for d in self.derived if any(name in affected for name, _ in d.sources)}
        counted = self.signals and {self.signals.drug_table, self.signals.reaction_table}
        signals = None if counted and (counted & affected or not rows) else self.signals
        if signals is not None and signals.indication_table in affected:
            signals = signals.model_copy(update={"indication_table": None, "indication": None})
        return self.model_copy(
            update={
                "tables": tuple(
                    t.model_copy(update={"publish": ()})
                    if t.name in affected or not rows
                    else t.model_copy(
                        update={"publish": tuple(name for name in t.publish if name not in told)}
                    )
                    if t.name == self.report_table
                    else t
                    for t in self.tables
                ),
                "signals": signals,
                "rows": rows,
            }
        )

    def with_counts(self, *, rows: bool = True, noisy: bool = False) -> Dataset:
        """The same dataset where counts tell items, and the report table shows the ids and the
        quasi-identifiers of cases alone; without ``rows``, counts of regions do; ``noisy``: the
        counts have noise."""
        bare = tuple(t.model_copy(update={"publish": ()}) for t in self.tables)
        return self.model_copy(
            update={"tables": bare, "rows": rows, "counted": True, "noisy": noisy}
        )

    def with_columns(self, columns: Iterable[str]) -> Dataset:
        """The same dataset with optional columns published as well, given as ``table.column``.

        Raises:
            ValueError: one of them is not optional.
        """
        wanted = tuple(dict.fromkeys(columns))
        known = self.optional_columns
        for each in wanted:
            if each not in known:
                raise ValueError(
                    f"{each!r} is no optional column of {self.name} (it has: "
                    f"{', '.join(known) or 'none'})"
                )
        if not wanted:
            return self
        shown = [
            t.model_copy(
                update={
                    "publish": (
                        *t.publish, *(n for n in t.optional if f"{t.name}.{n}" in wanted)
                    )
                }
            )
            for t in self.tables
        ]  # fmt: skip
        return self.model_copy(update={"tables": tuple(shown)})

    @property
    def published(self) -> set[Place]:
        """Table and column of what is published as it is."""
        return {(table.name, name) for table in self.row_tables for name in table.publish}

    @property
    def longest_term(self) -> int:
        """Characters of a term that is told apart from its row: it may be put together from two
        columns, such as a drug with its role."""
        declared = [most for table in self.tables for most in table.max_length.values()]
        return 2 * max(LONGEST_TEXT, *declared, 0)

    @property
    def optional_columns(self) -> list[str]:
        """What a series may ask for, as ``table.column``."""
        return [f"{table.name}.{name}" for table in self.tables for name in table.optional]

    @property
    def set_positions(self) -> dict[str, tuple[int, ...]]:
        """Name of each set of quasi-identifiers -> their positions among all."""
        places = {qid.name: position for position, qid in enumerate(self.qid)}
        return {each.name: tuple(sorted(places[n] for n in each.qids)) for each in self.qid_set}

    @property
    def sets_text(self) -> str:
        """The sets of quasi-identifiers as manifests tell them; empty: there are none."""
        return "; ".join(f"{each.name}: {', '.join(each.qids)}" for each in self.qid_set)

    def need_one_set(self, error: type[Exception], otherwise: str) -> None:
        """Refuse what is asked of all quasi-identifiers together where sets of them are protected.

        Args:
            error: that is raised.
            otherwise: why it cannot be answered, and what to do.
        """
        if self.qid_set:
            raise error(
                f"dataset {self.name} declares several sets of quasi-identifiers, {otherwise}"
            )

    def of_set(self, name: str) -> Dataset:
        """The same dataset with the quasi-identifiers of one set alone."""
        kept = set(self.set_positions[name])
        qids = tuple(qid for position, qid in enumerate(self.qid) if position in kept)
        return self.model_copy(update={"qid": qids, "qid_set": ()})

    def makes(self, table: str, column: str) -> bool:
        """Whether a column of a table is a derived one."""
        return table == self.report_table and self.derived_of(column) is not None

    def derived_of(self, name: str) -> Derived | None:
        """The derived column of that name, if there is one."""
        return next((each for each in self.derived if each.name == name), None)

    @property
    def told_derived(self) -> tuple[Derived, ...]:
        """The derived columns that a release shows: as a region, or as they are."""
        shown = {name for table, name in self.published if table == self.report_table}
        if self.regions:
            shown |= {qid.column for qid in self.qid}
        return tuple(each for each in self.derived if each.name in shown)

    @property
    def regions(self) -> bool:
        """Whether a release shows regions: of its rows, or of what is counted."""
        return self.rows or self.counted

    @property
    def signal_rows(self) -> bool:
        """Whether rows of cases show what signals count; where whole rows are taken apart, clusters
        or counts do."""
        return self.signals is not None and not (self.cluster_columns or self.counted)

    @property
    def reports_are_cases(self) -> bool:
        """Whether a report has the id of its case, of which there is one report a quarter then."""
        return self.report_id == self.case_id

    @property
    def id_columns(self) -> tuple[str, ...]:
        """Report id and case id; one name where they are the same column."""
        return tuple(dict.fromkeys((self.report_id, self.case_id)))

    @model_validator(mode="after")
    def _consistent(self) -> Dataset:
        if len({table.name for table in self.tables}) != len(self.tables):
            raise ValueError("two tables have the same name")
        for table in self.tables:
            self._check_names(table)
        if all(table.name != self.report_table for table in self.tables):
            raise ValueError(f"report_table {self.report_table!r} is not among the tables")
        self._check_roles()
        self._check_sets()
        for derived in self.derived:
            check_derived(self, derived)
        if self.signals is not None:
            self._check_signals(self.signals)
        self._check_reader()
        for table in self.tables:
            self._check_lengths(table)
            check_fallbacks(self, table)
            check_positions(self, table)
            check_key(self, table)
            check_split(self, table)
            if table.name != self.report_table:
                need_column(self, f"tables.{table.name}", table.name, self.report_id)
            self._check_every_report(table)
            for column in table.publish:
                self._check_published(table, column)
            for column in table.optional:
                self._check_optional(table, column)
        check_derived_together(self)
        self._check_sets_apart()
        return self

    def _check_roles(self) -> None:
        """Ids, quasi-identifiers and sensitive attributes are declared columns."""
        need_column(self, "report_id", self.report_table, self.report_id)
        need_column(self, "case_id", self.report_table, self.case_id)
        if not self.qid:
            raise ValueError("qid: declare at least one quasi-identifier")
        if len({q.name for q in self.qid}) != len(self.qid):
            raise ValueError("qid: two quasi-identifiers have the same name")
        for qid in self.qid:
            made = self.derived_of(qid.column)
            if made is None:
                need_column(self, f"qid.{qid.name}.column", self.report_table, qid.column)
            elif qid.kind == "numeric" and not made.number:
                raise ValueError(
                    f"qid.{qid.name}: the values of the derived column {made.name!r} are no "
                    'numbers: give kind = "categorical" with a hierarchy'
                )
            if made is not None and qid.unit_in_value:
                raise ValueError(
                    f"qid.{qid.name}.unit_in_value: the derived column {made.name!r} has no unit"
                )
            if qid.unit_column:
                need_column(self, f"qid.{qid.name}.unit_column", self.report_table, qid.unit_column)
        for key, attributes in (
            ("sensitive", self.sensitive),
            ("quasi_sensitive", self.quasi_sensitive),
        ):
            for attribute in attributes:
                need_column(self, key, attribute.table, attribute.column)

    def _check_sets(self) -> None:
        """Sets of quasi-identifiers hold each of them at least once, and none holds another."""
        known = {qid.name for qid in self.qid}
        if len({each.name for each in self.qid_set}) < len(self.qid_set):
            raise ValueError("qid_set: two sets have the same name")
        for each in self.qid_set:
            key, own = f"qid_set.{each.name}", set(each.qids)
            if unknown := [name for name in each.qids if name not in known]:
                raise ValueError(f"{key}: {unknown[0]!r} is no quasi-identifier")
            if len(own) < len(each.qids):
                raise ValueError(f"{key}: a quasi-identifier is named twice")
            for other in self.qid_set:
                if other is not each and own <= set(other.qids):
                    raise ValueError(
                        f"{key}: all of it is in {other.name}, which protects it: take it out"
                    )
        if len(self.qid_set) == 1:
            raise ValueError("qid_set: one set alone: give two or more, or none")
        if self.qid_set:
            lost = known.difference(*(each.qids for each in self.qid_set))
            if lost:
                raise ValueError(
                    f"qid_set: {min(lost)!r} is in no set, and nothing would protect it: name it "
                    "in one"
                )

    def _check_sets_apart(self) -> None:
        """Who knows one quasi-identifier of a column knows something of every other one, so that
        they are in the same sets: what rows show of another set would rule candidates out."""
        report = self.table(self.report_table)

        def places_of(column: str) -> set[Place]:
            return {(report.name, text) for text in read_from(report, column) or {column}}

        def columns_of(qid: Qid) -> set[Place]:
            made = self.derived_of(qid.column)
            if made is not None:
                return places_read(self, made)
            return places_of(qid.column)

        def units_of(qid: Qid) -> set[Place]:
            return set() if qid.unit_column is None else places_of(qid.unit_column)

        for first, second in combinations(self.qid if self.qid_set else (), 2):
            apart = [
                each.name for each in self.qid_set if (first.name in each.qids)
                is not (second.name in each.qids)
            ]  # fmt: skip
            one, other = columns_of(first), columns_of(second)
            if apart and (one & other or units_of(first) & other or units_of(second) & one):
                raise ValueError(
                    f"qid_set.{apart[0]}: {first.name} and {second.name} are made from one column, "
                    "so that who knows one knows something of the other: name both or neither"
                )

    def _check_published(self, table: Table, column: str) -> None:
        """A published column is declared, and neither is nor shows an id or a quasi-identifier."""
        key = f"tables.{table.name}.publish"
        is_report = table.name == self.report_table
        if not self.makes(table.name, column):
            need_column(self, key, table.name, column)
        if column in table.serial and is_report:
            raise ValueError(f"tables.{table.name}.serial: only child tables have one")
        guarded = {c for q in self.qid for c in (q.column, q.unit_column) if c}
        others = guarded if is_report else set()
        for other in sorted((others | set(self.id_columns)) - {column}):
            if read_from(table, column) & read_from(table, other):
                raise ValueError(
                    f"{key}: {column!r} may read the same place in the file as {other!r}, "
                    "which is not published: give them different names and aliases"
                )
        if column in self.id_columns:
            raise ValueError(f"{key}: {column!r} is an id, published anyway: take it out")
        if is_report and column in guarded:
            raise ValueError(
                f"{key}: {column!r} is a quasi-identifier, which is released as a region: "
                "take it out"
            )

    def _check_lengths(self, table: Table) -> None:
        """A length is declared of what can be published, and is one."""
        named = {
            a.column for a in (*self.sensitive, *self.quasi_sensitive) if a.table == table.name
        }
        shown = {*table.publish, *table.optional, *named}
        for column, most in table.max_length.items():
            key = f"tables.{table.name}.max_length.{column}"
            if column not in shown:
                raise ValueError(f"{key}: no published column has this name: take it out")
            if not 0 < most <= MOST_LENGTH:
                raise ValueError(f"{key}: give 1 to {MOST_LENGTH:,} characters")

    def _check_optional(self, table: Table, column: str) -> None:
        """An optional column could be published, and no series has it already."""
        key = f"tables.{table.name}.optional"
        if table.name == self.report_table:
            raise ValueError(f"{key}: only child tables have optional columns")
        if column in table.publish or table.optional.count(column) > 1:
            raise ValueError(f"{key}: {column!r} is named twice: a column is published or optional")
        named = (*self.sensitive, *self.quasi_sensitive)
        if any((a.table, a.column) == (table.name, column) for a in named):
            raise ValueError(f"{key}: {column!r} is sensitive: publish it or leave it out")
        if not table.publish:
            raise ValueError(f"{key}: no column of the table is published: publish one or none")
        try:
            self._check_published(table, column)
        except ValueError as error:
            raise ValueError(str(error).replace(".publish:", ".optional:", 1)) from None

    def _check_reader(self) -> None:
        """Files are named for the readers of files, tables for that of tables."""
        tables = self.source.reader == "table"
        for table in self.tables:
            key = f"tables.{table.name}"
            if tables and table.relation is None:
                raise ValueError(f'{key}.relation: name the table to read, such as "clinic.visits"')
            if tables and table.files:
                raise ValueError(f"{key}.files: tables are read, not files: take it out")
            if table.same_file is not None:
                check_same_file(self, table)
            elif not tables and "files" not in table.model_fields_set:
                raise ValueError(f"{key}.files: say which files fill this table")
            if not tables and (table.relation or table.period_column):
                raise ValueError(f'{key}: relation and period_column need reader = "table"')
        given = self.source.model_fields_set & {"period_pattern", "period_label", "deleted_files"}
        if tables and given:
            raise ValueError(f"source.{min(given)}: tables are read, not files: take it out")
        row_period = self.source.row_period
        if tables and row_period is not None:
            raise ValueError(
                'source.period: {column, kind} is for files: with reader = "table" say what '
                "period_column of the table holds"
            )
        if not tables and row_period is None and self.source.period != "label":
            raise ValueError('source.period: needs reader = "table", or {column, kind}')
        if row_period is not None:
            need_column(self, "source.period.column", self.report_table, row_period.column)

    def _check_every_report(self, table: Table) -> None:
        """Only a child table that must be there can be one in which each report has a row."""
        key = f"tables.{table.name}.every_report"
        if table.every_report and table.name == self.report_table:
            raise ValueError(f"{key}: the report table has each report: take it out")
        if table.every_report and not table.required:
            raise ValueError(f"{key}: the table must be there then: take required = false out")

    def _check_signals(self, signals: Signals) -> None:
        """What signals count must be sensitive terms, and published."""
        terms = {(a.table, a.column) for a in (*self.sensitive, *self.quasi_sensitive)}
        published = {(t.name, name) for t in self.child_tables for name in t.publish}
        for key, place in (
            ("drug", (signals.drug_table, signals.drug)),
            ("reaction", (signals.reaction_table, signals.reaction)),
            ("indication", (signals.indication_table, signals.indication)),
        ):
            if place == (None, None):
                continue
            if place not in terms:
                raise ValueError(
                    f"signals.{key}: {'.'.join(map(str, place))} is not a sensitive or "
                    "quasi-sensitive column"
                )
            if place not in published:
                raise ValueError(
                    f"signals.{key}: {'.'.join(map(str, place))} is not a published child column"
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
        names = [c.name for c in table.columns] + list(table.unpivot) + list(table.key)
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
