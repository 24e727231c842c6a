"""Reads an analyst's question: one SELECT of aggregates over the original schema.

What is read is a list of what is understood; everything else is refused with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from srsql.engine.errors import QueryError
from srsql.engine.query.aggregates import Aggregates, Counted, Measure, counted_as, is_aggregate
from srsql.engine.query.expressions import Expressions
from srsql.engine.query.having import Having, read_having
from srsql.engine.query.limits import Lookup
from srsql.engine.query.relations import Blocks, Joins, parts
from srsql.engine.query.table_expressions import inlined
from srsql.engine.query.vocabulary import Block, Views, excerpt, only_parts
from srsql.engine.query.worlds import Atom, Band
from srsql.schemas import Dataset

LONGEST = 20_000
"""Characters of a question."""


@dataclass(frozen=True)
class Order:
    """One key of ORDER BY."""

    group: int | None
    """Number of the group column; None: what is expected of an aggregate."""
    descending: bool
    nulls_first: bool
    measure: int = 0
    """Number of that aggregate."""


@dataclass(frozen=True)
class Question:
    """A question that can be answered."""

    counted: Counted
    """By its first aggregate."""
    unit: str | None
    """Our alias of the table whose id is counted; None: rows are."""
    joins: Joins
    conditions: tuple[exp.Expr, ...]
    """All must hold."""
    groups: tuple[tuple[str, exp.Expr], ...]
    """Label and expression."""
    order: tuple[Order, ...]
    atoms: tuple[Atom, ...]
    labelled: frozenset[int]
    blanked: tuple[str, ...]
    """Columns among the groups whose rows without a value are left out."""
    lookups: tuple[Lookup, ...] = ()
    """Names that the question compares columns of terms with."""
    limit: int | None = None
    """Groups that are shown; None: all."""
    offset: int = 0
    """Groups that are passed over first."""
    tested: frozenset[int] = frozenset()
    """Quasi-identifiers that IS NULL asks about."""
    by_keys: bool = False
    """Terms are compared or grouped by their keys."""
    bands: tuple[Band, ...] = ()
    """What is computed from numbers and grouped by."""
    measures: tuple[Measure, ...] = ()
    """Its aggregates; those that HAVING and ORDER BY alone name come last."""
    shown: int = 1
    """So many of them are columns of the answer."""
    having: Having | None = None

    @property
    def compared(self) -> set[int]:
        """The quasi-identifiers that it compares or groups by."""
        atoms, bands = ({part.position for part in parts} for parts in (self.atoms, self.bands))
        return atoms | bands | self.labelled

    @property
    def used(self) -> set[int]:
        """Those, and the ones it has means or quantiles of."""
        means = {each.position for each in self.measures if each.position is not None}
        return self.compared | means

    @property
    def is_count(self) -> bool:
        """Whether one count is asked, of all that meet the conditions."""
        return all(measure.is_plain for measure in self.measures) and len(self.measures) == 1


def read_question(dataset: Dataset, views: Views, text: str) -> Question:
    """The question of an SQL text.

    Raises:
        QueryError: it is no SQL, or not a question that can be answered soundly.
    """
    return _Reader(dataset, views).question(inlined(_parse(text)))


def _parse(text: str) -> exp.Select:
    if len(text) > LONGEST:
        raise QueryError(f"the question is longer than {LONGEST:,} characters")
    try:
        kinds = [token.token_type.name for token in sqlglot.tokenize(text, read="duckdb")]
        while kinds and kinds[-1] == "SEMICOLON":
            kinds.pop()
        if "SEMICOLON" in kinds:
            raise QueryError("several statements: ask one question at a time")
        if kinds[:1] not in (["SELECT"], ["WITH"]):
            raise QueryError(
                "a question is one SELECT, such as SELECT COUNT(DISTINCT ...) FROM ..."
            )
        (tree,) = (t for t in sqlglot.parse(text, read="duckdb") if t is not None)
    except SqlglotError as error:
        raise QueryError(f"not understood as SQL: {_fault(error)}") from None
    if not isinstance(tree, exp.Select):
        raise QueryError(f"{tree.key.upper()} is refused: write the question as one SELECT")
    return tree


def _fault(error: SqlglotError) -> str:
    for item in getattr(error, "errors", ()):
        what = (
            item["description"] if "<class" not in item["description"] else "something is missing"
        )
        return f"{what} (line {item['line']}, column {item['col']})"
    return " ".join(str(error).split())[:200]


class _Reader:
    def __init__(self, dataset: Dataset, views: Views) -> None:
        self.dataset = dataset
        self.blocks = Blocks(dataset, views)
        self.names, self.expressions = self.blocks.names, self.blocks.expressions

    def question(self, select: exp.Select) -> Question:
        parts(select, "expressions", "from_", "joins", "where", "group", "having", "order",
              "limit", "offset")  # fmt: skip
        rows = self.blocks.rows(select, None)
        listed = [(item.alias, item.unalias()) for item in select.expressions]
        reader = Aggregates(self.dataset, self.expressions, rows.block)
        aggregates = [n for n, (_, node) in enumerate(listed) if is_aggregate(node)]
        if not aggregates:
            raise QueryError(
                "a question has a COUNT or another aggregate in its SELECT list, such as "
                f"COUNT(DISTINCT {self.dataset.case_id}), beside what it is grouped by"
            )
        named = [(listed[n][0] or _label(listed[n][1]), listed[n][1]) for n in aggregates]
        measures = reader.all(named)
        places: dict[int, Place] = {n: ("measure", number) for number, n in enumerate(aggregates)}
        groups: list[tuple[str, exp.Expr]] = []
        for n, (alias, node) in enumerate(listed):
            if n not in places:
                places[n] = ("group", len(groups))
                built = self.expressions.group(node, rows.block)
                groups.append((alias or _label(node), built))
        keys = _Keys(listed, places, groups, measures, reader, self.expressions, rows.block)
        self._grouped(select, groups, keys)
        order = tuple(self._order(select, keys))
        having = read_having(select.args.get("having"), keys.count)
        first = measures[0]
        return Question(
            first.counted,
            first.unit,
            rows.joins,
            (*rows.conditions, *map(_known, self.expressions.blanked)),
            tuple(groups),
            order,
            tuple(self.expressions.atoms),
            frozenset(self.expressions.labelled),
            tuple(dict.fromkeys(self.expressions.blanked.values())),
            tuple(self.expressions.limits.lookups),
            _whole_number(select.args.get("limit")),
            _whole_number(select.args.get("offset")) or 0,
            frozenset(self.expressions.tested),
            self.expressions.by_keys,
            tuple(self.expressions.bands),
            tuple(measures),
            len(aggregates),
            having,
        )

    def _grouped(self, select: exp.Select, groups: list[tuple[str, exp.Expr]], keys: _Keys) -> None:
        """GROUP BY must name what the SELECT list shows."""
        group = select.args.get("group")
        if group is None:
            if groups:
                raise QueryError(f"{groups[0][0]} is neither counted nor in GROUP BY")
            return
        only_parts(group, "expressions", "all")
        if group.args.get("all"):
            return
        wanted = {("group", n) for n in range(len(groups))}
        if {keys.place(node) for node in group.expressions} != wanted:
            raise QueryError("the SELECT list beside aggregates and GROUP BY must be the same")

    def _order(self, select: exp.Select, keys: _Keys) -> Iterator[Order]:
        order = select.args.get("order")
        for ordered in only_parts(order, "expressions").expressions if order else ():
            only_parts(ordered, "this", "desc", "nulls_first")
            kind, number = keys.place(ordered.this)
            yield Order(
                number if kind == "group" else None,
                bool(ordered.args.get("desc")),
                bool(ordered.args.get("nulls_first")),
                number if kind == "measure" else 0,
            )


Place = tuple[Literal["group", "measure"], int]
"""A group column or an aggregate, by its number."""


@dataclass
class _Keys:
    """What the keys of GROUP BY, ORDER BY and HAVING mean."""

    listed: list[tuple[str, exp.Expr]]
    """The SELECT list: alias and item."""
    places: dict[int, Place]
    groups: list[tuple[str, exp.Expr]]
    measures: list[Measure]
    """More are added as keys name them."""
    reader: Aggregates
    expressions: Expressions
    block: Block

    def place(self, node: exp.Expr) -> Place:
        """The column that a key means."""
        if isinstance(node, exp.Literal) and not node.is_string:
            place = int(node.name) - 1 if node.name.isdigit() else -1
            if place not in self.places:
                raise QueryError(f"the SELECT list has no item {node.name}")
            return self.places[place]
        if (found := self._listed(node)) is not None:
            return found
        if is_aggregate(node):
            return "measure", self._added(node)
        built = self.expressions.group(node, self.block)
        for n, (_, known) in enumerate(self.groups):
            if known == built:
                return "group", n
        raise QueryError(f"{excerpt(node)} is not in the SELECT list")

    def count(self, node: exp.Expr) -> int:
        """The number of the COUNT that HAVING means.

        Raises:
            QueryError: it means something else.
        """
        found = self._listed(node)
        if found is None and is_aggregate(node):
            found = "measure", self._added(node)
        if found is None or found[0] != "measure" or self.measures[found[1]].kind != "count":
            raise QueryError(
                f"HAVING {excerpt(node)}: HAVING compares COUNT with numbers; conditions on "
                "columns go into WHERE"
            )
        return found[1]

    def _listed(self, node: exp.Expr) -> Place | None:
        """The item of the SELECT list of that alias, or that is written so."""
        if isinstance(node, exp.Column) and not node.table:
            for n, (alias, _) in enumerate(self.listed):
                if alias and alias.lower() == node.name.lower():
                    return self.places[n]
        for n, (_, item) in enumerate(self.listed):
            if item == node:
                return self.places[n]
        return None

    def _added(self, node: exp.Expr) -> int:
        measure = self.reader.measure("", node)
        if measure.kind == "value":
            measure = counted_as(measure, [m for m in self.measures if m.kind != "value"])
        for n, known in enumerate(self.measures):
            if known.same(measure):
                return n
        self.measures.append(measure)
        return len(self.measures) - 1


def _whole_number(part: exp.Expr | None) -> int | None:
    """The number of LIMIT or OFFSET; None where there is none."""
    if part is None:
        return None
    node = only_parts(part, "expression").expression
    if isinstance(node, exp.Literal) and not node.is_string and node.name.isdigit():
        if len(node.name) > 18:
            raise QueryError(f"{excerpt(part)}: leave it out")
        return int(node.name)
    raise QueryError(f"{excerpt(part)}: give a whole number")


def _known(value: exp.Expr) -> exp.Expr:
    return exp.not_(exp.Is(this=value.copy(), expression=exp.null()))


def _label(node: exp.Expr) -> str:
    return node.name if isinstance(node, exp.Column) else excerpt(node)
