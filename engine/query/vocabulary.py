"""What a question may be made of: its syntax, its tables and columns, and where they are released.

Names are looked up without regard to case, innermost block first, as SQL does. Whatever the dataset
does not publish is refused by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Literal, TypeVar

from sqlglot import ErrorLevel, exp
from sqlglot.errors import SqlglotError

from srsql.engine.catalog.datasets import term_key
from srsql.engine.catalog.layout import key_column
from srsql.engine.catalog.levels import Level, name_of
from srsql.engine.errors import QueryError
from srsql.engine.store.statements import column, table
from srsql.schemas import Dataset, Qid, Table

QUARTER = "quarter"
Kind = Literal["text", "number", "id", "quarter"]
Node = TypeVar("Node", bound=exp.Expr)


@dataclass(frozen=True)
class Views:
    """Where the released rows of some quarters are."""

    schemas: Mapping[str, str]
    """Quarter -> schema of its release."""
    cumulative: str | None
    """Schema of all of them together; None: one quarter alone is asked."""
    pseudonym_series: str | None
    """The series, if its ids are pseudonyms."""
    every: tuple[str, ...] = ()
    """Schemas of all released quarters of the series, in which names are looked up; none: those of
    ``schemas``."""
    levels: tuple[Level, ...] = ()
    """Of columns whose values are asked by their names on a level."""
    term_key: int = 0
    """The version of the key by which terms are compared; 0: as rows spell them."""
    shows_keys: bool = False
    """The rows of every quarter have the keys of terms beside their spellings."""
    tells_items: bool = False
    """Terms are told as items of clusters, and no row has any."""

    def table(self, name: str, alias: str) -> exp.Expr:
        """One released table, with names on levels in the place of values."""
        (schema,) = [self.cumulative] if self.cumulative else self.schemas.values()
        return self.rows(schema, name, alias)

    def rows(self, schema: str, name: str, alias: str) -> exp.Expr:
        """The same of one release, by the schema of its views."""
        named = [each for each in self.levels if each.attribute.table == name]
        if not named:
            return table(schema, name, alias=alias)
        shown = [
            column("name", f"l{n}").as_(each.attribute.column, quoted=True)
            for n, each in enumerate(named)
        ]
        star = exp.Column(this=exp.Star(replace=shown), table=exp.to_identifier("v", quoted=True))
        rows = exp.select(star).from_(table(schema, name, alias="v"))
        for n, each in enumerate(named):
            rows = name_of(each, rows, column(each.attribute.column, "v"), f"l{n}")
        return exp.Subquery(
            this=rows, alias=exp.TableAlias(this=exp.to_identifier(alias, quoted=True))
        )

    def level(self, origin: tuple[str, str] | None) -> Level | None:
        """The level of a column, which is named by its table and its name; None: it has none."""
        same = (e for e in self.levels if (e.attribute.table, e.attribute.column) == origin)
        return next(same, None)

    def key(self, origin: tuple[str, str], alias: str) -> exp.Expr | None:
        """What a term of a row is compared by; None: as the row spells it.

        Args:
            origin: table and column of the term.
            alias: ours of the table.
        """
        spelled = column(origin[1], alias)
        if self.level(origin):  # names on a level are keys
            return spelled
        if not self.term_key or self.tells_items:
            return None
        if self.shows_keys:
            return column(key_column(origin[1]), alias)
        return term_key(spelled, self.term_key)

    def quarter(self, alias: str) -> exp.Expr:
        """The quarter of a row."""
        if self.cumulative:
            return column("quarter", alias)
        return exp.Literal.string(*self.schemas)


@dataclass(frozen=True)
class Item:
    """One table in a FROM clause."""

    alias: str
    """Ours; nothing of the question's text names anything in the rewritten statement."""
    given: str
    """How the question calls it, in lower case."""
    table: Table


@dataclass(frozen=True)
class Exact:
    """A column that is released as it was."""

    item: Item
    name: str
    kind: Kind


@dataclass(frozen=True)
class Generalized:
    """A quasi-identifier, which is released as a region."""

    position: int
    qid: Qid


class Links:
    """Which tables of a question speak of the same report, and which of the same case."""

    def __init__(self, outer: Links | None = None) -> None:
        self._report: dict[str, str] = dict(outer._report) if outer else {}
        self._case: dict[str, str] = dict(outer._case) if outer else {}

    def add(self, one: str, other: str, *, report: bool) -> None:
        """Both aliases speak of the same case, or of the same report of it."""
        for known in (self._case, self._report) if report else (self._case,):
            old, new = self._root(known, one), self._root(known, other)
            known[old] = new

    def same_case(self, one: str, other: str) -> bool:
        """Whether every row joins them on one case."""
        return self._root(self._case, one) == self._root(self._case, other)

    def same_report(self, one: str, other: str) -> bool:
        """Whether every row joins them on one report."""
        return self._root(self._report, one) == self._root(self._report, other)

    @staticmethod
    def _root(known: dict[str, str], alias: str) -> str:
        while known.get(alias, alias) != alias:
            alias = known[alias]
        return alias


@dataclass(frozen=True)
class Block:
    """One SELECT of a question: the outermost, or a subquery of its conditions."""

    items: tuple[Item, ...]
    outer: Block | None = None
    links: Links = field(default_factory=Links)

    def around(self) -> Iterator[Block]:
        """This block, then the ones it stands in."""
        block: Block | None = self
        while block is not None:
            yield block
            block = block.outer


class Names:
    """Looks names up in a dataset."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self._tables = {source.name: source for source in dataset.row_tables}

    def table(self, name: str) -> Table:
        """The published table of that name.

        Raises:
            QueryError: there is none, or nothing of it is published.
        """
        known = self._tables.get(name.lower())
        if known is None:
            hidden = any(table.name == name.lower() for table in self.dataset.tables)
            raise QueryError(
                f"table {name} is {'not published' if hidden else 'unknown'}: the tables are "
                f"{', '.join(self._tables)}"
            )
        return known

    def find(self, node: exp.Column, block: Block) -> Exact | Generalized:
        """What a column reference means.

        Raises:
            QueryError: it is unknown, ambiguous or not published.
        """
        if node.args.get("db") or not isinstance(node.this, exp.Identifier):
            raise QueryError(f"{excerpt(node)}: write a column as column or table.column")
        name, given = node.name.lower(), node.table.lower()
        for scope in block.around():
            items = [item for item in scope.items if not given or item.given == given]
            owners = [item for item in items if self._has(item.table, name)]
            if len(owners) > 1 and not self._same(name, owners, scope.links):
                raise QueryError(
                    f"column {node.name} is in several tables: write "
                    + " or ".join(f"{item.given}.{node.name}" for item in owners)
                )
            if owners:
                return self._named(owners[0], name)
            if items and given:
                break
        raise self._unknown(node, block)

    def id_owner(self, node: exp.Expr, block: Block) -> tuple[Item, str] | None:
        """The table and the name of an id column; None for anything else."""
        if not isinstance(node, exp.Column) or node.name.lower() not in self.dataset.id_columns:
            return None
        given = node.table.lower()
        for scope in block.around():
            items = [item for item in scope.items if not given or item.given == given]
            if items:
                name = node.name.lower()
                alone = len(items) == 1 or self._same(name, list(items), scope.links)
                return (items[0], name) if alone else None
        return None

    def _has(self, table: Table, name: str) -> bool:
        if name in self.dataset.id_columns or name == QUARTER or name in table.publish:
            return True
        return table.name == self.dataset.report_table and self._qid(name) is not None

    def _qid(self, name: str) -> Generalized | None:
        for key in ("name", "column"):
            for position, qid in enumerate(self.dataset.qid):
                if getattr(qid, key) == name:
                    return Generalized(position, qid)
        return None

    def _same(self, name: str, owners: list[Item], links: Links) -> bool:
        """Whether the column says the same whichever of the tables it is read from."""
        if name in (self.dataset.case_id, QUARTER):
            return True
        return name == self.dataset.report_id and all(
            links.same_report(owners[0].alias, item.alias) for item in owners
        )

    def _named(self, item: Item, name: str) -> Exact | Generalized:
        if name in self.dataset.id_columns:
            return Exact(item, name, "id")
        if name == QUARTER:
            return Exact(item, name, "quarter")
        if name in item.table.publish:
            return Exact(item, name, "text")
        found = self._qid(name)
        assert found is not None, name
        return found

    def _unknown(self, node: exp.Column, block: Block) -> QueryError:
        name, given = node.name.lower(), node.table.lower()
        items = [item for scope in block.around() for item in scope.items]
        if given and not any(item.given == given for item in items):
            return QueryError(f"{node.table}.{node.name}: FROM has no table {node.table}")
        for item in items:
            declared = {c.name for c in item.table.columns} | set(item.table.unpivot)
            if name in declared and (not given or item.given == given):
                return QueryError(f"column {item.table.name}.{name} is not published")
        homes = [table.name for table in self._tables.values() if self._has(table, name)]
        if homes and not given:
            return QueryError(f"column {name} is of table {' or '.join(homes)}: join it")
        for qid in self.dataset.qid:
            if name in (f"{qid.name}_low", f"{qid.name}_high"):
                return QueryError(f"column {name} is of the release: ask the original {qid.name}")
        return QueryError(f"column {node.name} is unknown")


def source_of(rows: exp.Subquery) -> str:
    """The table that ``Views.rows`` has names on levels of; empty: it is another subquery."""
    found = rows.this.args.get("from_") if isinstance(rows.this, exp.Select) else None
    return str(found.this.name) if found is not None else ""


def number(node: exp.Expr) -> Decimal:
    """The value of a number as written."""
    text = node.this.name if isinstance(node, exp.Neg) else node.name
    inner = node.this if isinstance(node, exp.Neg) else node
    if isinstance(inner, exp.Literal) and not inner.is_string:
        try:
            value = Decimal(text)
        except InvalidOperation:
            value = Decimal("nan")
        if value.is_finite() and abs(value) < 10**18 and value.adjusted() > -18:
            return -value if isinstance(node, exp.Neg) else value
    raise QueryError(f"{excerpt(node)} is not a number that can be compared with")


def only_parts(node: Node, *known: str) -> Node:
    """The node; refused if anything but the parts ``known`` is set."""
    for key, value in node.args.items():
        if key not in known and value:
            raise QueryError(f"{excerpt(node)}: {_part(key)} is not understood in a question")
    return node


def refusal(node: exp.Expr) -> QueryError:
    """Why an expression is not understood."""
    if isinstance(node, exp.Null):
        return QueryError("a comparison with NULL is never true: write IS NULL")
    if isinstance(node, (exp.AggFunc, exp.Window)):
        return QueryError(
            f"{excerpt(node)}: aggregates are COUNT with or without a FILTER, shares of two "
            "counts, AVG, MEDIAN, QUANTILE_CONT, QUANTILE_DISC, MIN and MAX, in the SELECT list"
        )
    return QueryError(f"{excerpt(node)} is not understood in a question")


def region_refusal(found: Generalized) -> QueryError:
    """Why a quasi-identifier cannot stand where a value is needed."""
    qid = found.qid
    is_number = qid.kind == "numeric"
    what = "numbers" if is_number else "values in quotes"
    computed = " other than + - * / // %, floor, ceil, round, trunc, abs and CAST" * is_number
    return QueryError(
        f"{qid.name} is released as a region: it can be compared with {what} only, without "
        "functions" + computed
    )


def excerpt(node: exp.Expr) -> str:
    """The start of an expression, for a message."""
    try:
        written = node.sql("duckdb", unsupported_level=ErrorLevel.IGNORE)
    except SqlglotError:  # the writer reads some of what it writes again, and cannot
        written = node.sql(unsupported_level=ErrorLevel.IGNORE)
    text = " ".join(written.split())
    return text if len(text) <= 60 else f"{text[:57]}..."


def _part(key: str) -> str:
    return key.strip("_").replace("_", " ").upper()
