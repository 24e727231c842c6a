"""Values of drugs and terms on a level of a dictionary: the one place where a term is mapped.

Nothing that is released changes: k, theta and what is published are of the values that reports
have. Names on a level are looked up when somebody asks, in the same way for original and released
values, which are the same texts; so every count of a level is as exact as one of its values.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from sqlglot import exp

from srsql.engine.catalog.datasets import term_key
from srsql.engine.errors import LevelError
from srsql.engine.measures import cell
from srsql.engine.store.frames import Rows
from srsql.engine.store.scratch import put_beside
from srsql.engine.store.statements import column, dotted, query, temporary, with_rows
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, Sensitive
from srsql.schemas.dataset import TERM_KEY
from srsql.schemas.dictionary import Dictionary, DictionaryError
from srsql.schemas.vocabularies import load_dictionaries, load_dictionary

TOPIC = "warehouse/levels"
TABLE, HELD = "srsql_level_name", "srsql_level_held"
WRITTEN = "COLUMN=LEVEL:FILE, such as drugname=ingredient:drugs.csv (no file: what ships)"


@dataclass(frozen=True)
class Level:
    """A column whose values are counted by their names on a level of a dictionary."""

    attribute: Sensitive
    name: str
    """As the dictionary calls the level."""
    dictionary: Dictionary
    term_key: int = TERM_KEY
    """The version of the key by which terms are compared, and names on the level too."""

    @property
    def key(self) -> str:
        """The column whose values it names, as ``table.column``."""
        return f"{self.attribute.table}.{self.attribute.column}"

    @cached_property
    def told(self) -> str:
        """What is counted, in words."""
        return f"{self.attribute.column} counts on level {self.name} of {self.dictionary.origin}"


def read_levels(dataset: Dataset, texts: Iterable[str]) -> tuple[Level, ...]:
    """Columns with levels as they are written: ``COLUMN=LEVEL[:FILE]``.

    Args:
        dataset: has the columns, as the series that is asked publishes them.
        texts: one for each column.

    Raises:
        LevelError: no such column, level or file, or a column is there twice.
    """
    found: list[Level] = []
    for text in texts:
        name, separator, rest = text.partition("=")
        wanted, named, file = rest.partition(":")
        if not separator or not name.strip() or not wanted.strip() or bool(named) != bool(file):
            raise LevelError(f"--level {text!r}: give {WRITTEN}")
        attribute = _attribute(dataset, name.strip().lower())
        if any(each.attribute == attribute for each in found):
            raise LevelError(f"--level names {attribute.column} twice: keep one")
        try:
            dictionary = load_dictionary(Path(file) if file else None)
            level = dictionary.level(wanted)
            found.append(Level(attribute, level, dictionary, dataset.term_key))
        except DictionaryError as error:
            raise LevelError(str(error)) from None
    return tuple(found)


def _attribute(dataset: Dataset, name: str) -> Sensitive:
    """The attribute with terms of that column, which may be called ``table.column``."""
    known = [
        each
        for each in (*dataset.sensitive, *dataset.quasi_sensitive)
        if dataset.rows and each.column in dataset.table(each.table).publish
    ]
    for each in known:
        if name in (each.column, f"{each.table}.{each.column}"):
            return each
    if dataset.cluster_columns:
        raise LevelError(
            "--level: a series of which whole rows are taken apart tells items of clusters, whose "
            "names on a level cannot be counted: ask another series"
        )
    listed = ", ".join(each.column for each in known) or "none"
    raise LevelError(
        f"--level: {name!r} is no column with terms that rows of {dataset.name} show "
        f"(they show: {listed})"
    )


def content_of_levels(texts: Iterable[str]) -> str:
    """What tells levels from others, wherever their dictionaries lie: columns, levels, a digest.

    Raises:
        LevelError: a dictionary cannot be read.
    """
    told = []
    for text in texts:
        asked, _, file = text.partition(":")
        try:
            table = list(load_dictionary(Path(file) if file else None).table())
        except DictionaryError as error:
            raise LevelError(str(error)) from None
        told.append(f"{asked}:{hashlib.sha256(repr(table).encode()).hexdigest()}")
    return ",".join(told)


@dataclass(frozen=True)
class LevelSize:
    """How much a level of a dictionary has."""

    level: str = field(metadata=cell("level"))
    terms: int = field(metadata=cell("terms", "count"))
    names: int = field(metadata=cell("names", "count"))


def dictionary_of(paths: Sequence[Path], to: Path | None = None) -> Rows[LevelSize]:
    """The levels of a dictionary, or of several as one, from fine to coarse.

    Args:
        paths: of the dictionaries; what a term is called in one is looked up in the next.
        to: a CSV file to make of them, which is read as a dictionary itself.

    Raises:
        LevelError: one of them is none, or the file is there already or cannot be written.
    """
    try:
        dictionary = load_dictionaries(paths)
    except DictionaryError as error:
        raise LevelError(str(error)) from None
    if to is not None:
        try:
            with (
                put_beside(to, over=False) as beside,
                beside.open("w", encoding="utf-8", newline="") as file,
            ):
                csv.writer(file, lineterminator="\n").writerows(dictionary.table())
        except FileExistsError:
            raise LevelError(f"--to {to}: is there already: give another file") from None
        except OSError as error:
            raise LevelError(f"--to {to}: cannot be written ({error.strerror})") from None
    return Rows(
        LevelSize(level, len(terms), len({name for names in terms.values() for name in names}))
        for level, terms in dictionary.names.items()
    )


@contextmanager
def names_dropped(warehouse: Warehouse) -> Iterator[None]:
    """Have no table of names, or of who holds what, left when this ends."""
    try:
        yield
    finally:
        for name in (TABLE, HELD):
            warehouse.run(f"DROP TABLE IF EXISTS {dotted('temp', 'main', name)}")


def make_names(warehouse: Warehouse) -> None:
    """Make the table of names, without rows."""
    warehouse.run(query(TOPIC, "make"))


def add_names(warehouse: Warehouse, level: Level, values: exp.Query) -> None:
    """Add the names of some values; see ``names_on_level``.

    Args:
        warehouse: where the table is.
        level: whose names.
        values: rows of one column ``value``, of which each is looked up once.
    """
    term = term_key(column("value", "v"), level.term_key)
    distinct = exp.select(column("value", "v"), term.as_("term")).from_(
        exp.select(column("value", "u")).distinct().from_(values.subquery("u")).subquery("v")
    )
    listed = exp.select(
        *[
            exp.Explode(this=exp.cast(exp.Placeholder(this=f"{name}s"), "VARCHAR[]")).as_(name)
            for name in ("term", "name")
        ]
    )
    entries = exp.select(
        *[term_key(column(n, "e"), level.term_key).as_(n) for n in ("term", "name")]
    ).from_(listed.subquery("e"))
    rows = with_rows(query(TOPIC, "names"), level_term=distinct, level_entry=entries)
    pairs = list(level.dictionary.pairs(level.name))
    into = temporary(TABLE).sql(dialect="duckdb")
    warehouse.run(
        f"INSERT INTO {into} {rows.sql(dialect='duckdb')}",
        {
            "attribute": level.key,
            "terms": [term for term, _ in pairs],
            "names": [name for _, name in pairs],
        },
    )


def name_of(level: Level, rows: exp.Select, value: exp.Expr, alias: str) -> exp.Select:
    """Rows joined with the names of a value of theirs, which are the column ``name`` of ``alias``.

    Args:
        level: whose names.
        rows: a SELECT with its FROM.
        value: which was among those of ``add_names``.
        alias: of the names.
    """
    same = exp.and_(
        column("attribute", alias).eq(exp.Literal.string(level.key)),
        column("value", alias).eq(value),
    )
    return rows.join(temporary(TABLE, alias=alias), on=same, join_type="left")


def value_with_several(warehouse: Warehouse, level: Level) -> str | None:
    """A value that has more than one name; None: there is none."""
    found = warehouse.rows(query(TOPIC, "several"), {"attribute": level.key})
    return str(found[0][0]) if found else None


def told_of_levels(warehouse: Warehouse, levels: Sequence[Level]) -> list[str]:
    """What a reader of counts is told of each level."""
    told = []
    for level in levels:
        ((lacking, found),) = warehouse.rows(query(TOPIC, "lacking"), {"attribute": level.key})
        how = "by the keys of terms" if level.term_key else "in upper case"
        text = f"{level.told}: names are compared {how}"
        if lacking:
            text += f"; {lacking:,} of {found:,} values are not in it and count as themselves"
        told.append(text)
    return told
