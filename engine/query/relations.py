"""The tables of a question, how they are joined, and what their WHERE says.

Every table of a question, those of subqueries too, must speak of the same case in the same quarter:
the quasi-identifiers are the case's, so that one world decides them for the whole row.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from srsql.engine.errors import QueryError
from srsql.engine.query.expressions import Expressions
from srsql.engine.query.limits import Limits
from srsql.engine.query.vocabulary import (
    QUARTER,
    Block,
    Item,
    Links,
    Names,
    Views,
    excerpt,
    only_parts,
    refusal,
)
from srsql.engine.query.worlds import depends_on_world
from srsql.engine.store.statements import column
from srsql.schemas import Dataset

Joins = tuple[tuple[Item, exp.Expr | None], ...]
"""The tables, each with the exact condition it is joined on."""
WITH = "WITH in a subquery is refused: write it in front of the question"
_BOUNDS = "counts are known within bounds only"
_REASONS = {
    "having": "HAVING in a subquery is refused: a subquery counts nothing",
    "limit": "LIMIT in a subquery is refused: which rows come first is no fact of a case",
    "offset": "OFFSET in a subquery is refused: which rows come first is no fact of a case",
    "with_": WITH,
    "qualify": f"QUALIFY is refused: {_BOUNDS}",
    "distinct": "SELECT DISTINCT is refused: GROUP BY says what the rows are",
}


@dataclass(frozen=True)
class Rows:
    """What a FROM clause and its WHERE say."""

    block: Block
    joins: Joins
    conditions: tuple[exp.Expr, ...]
    """All must hold, beside the join conditions."""


def parts(select: exp.Select, *known: str) -> None:
    """Refuse a SELECT with other parts than these.

    Raises:
        QueryError: with the reason for the part.
    """
    for key, reason in _REASONS.items():
        if key not in known and select.args.get(key):
            raise QueryError(reason)
    only_parts(select, *known)


def add_tables(select: exp.Select, views: Views, joins: Joins) -> exp.Select:
    """Add the released tables of a question to a SELECT.

    Args:
        select: the statement, without FROM.
        views: where the released tables are.
        joins: the tables in their order, each with its exact condition.

    Returns:
        The statement with FROM and JOIN.
    """
    for n, (item, on) in enumerate(joins):
        source = views.table(item.table.name, item.alias)
        if n == 0:
            select = select.from_(source)
        else:
            select = select.join(source, on=on, join_type="" if on else "cross")
    return select


class Blocks:
    """Reads the blocks of one question."""

    def __init__(self, dataset: Dataset, views: Views) -> None:
        self.dataset, self.views = dataset, views
        self.names = Names(dataset)
        limits = Limits(dataset, views)
        self.expressions = Expressions(self.names, limits, views, self.subquery)
        self._tables = 0

    def subquery(self, node: exp.Expr, block: Block) -> exp.Expr:
        """EXISTS, or IN over ids, about the same case in the same quarter."""
        query = node.this if isinstance(node, exp.Exists) else node.args["query"]
        query = query.unnest()
        if not isinstance(query, exp.Select):
            raise QueryError(f"{query.key.upper()} in a subquery is refused")
        parts(query, "expressions", "from_", "joins", "where", "distinct")
        rows = self.rows(query, block, node if isinstance(node, exp.In) else None)
        for item in query.expressions:
            if not isinstance(item, (exp.Literal, exp.Star)):
                if not isinstance(item.unalias(), exp.Column):
                    raise refusal(item)
                self.names.find(item.unalias(), rows.block)
        built = add_tables(exp.select("1"), self.views, rows.joins)
        return exp.Exists(this=built.where(*rows.conditions))

    def rows(self, select: exp.Select, outer: Block | None, member: exp.In | None = None) -> Rows:
        """FROM, JOIN and WHERE of one SELECT.

        Args:
            select: the SELECT.
            outer: the block that it stands in; None for the question itself.
            member: the IN whose subquery it is, if it is one.

        Raises:
            QueryError: they are not understood, or join rows of different cases.
        """
        if select.args.get("from_") is None:
            raise QueryError("the question has no FROM")
        joined = [self._inner(join) for join in select.args.get("joins") or ()]
        sources = [select.args["from_"].this, *(join.this for join in joined)]
        block = Block(self._items(sources), outer, Links(outer.links if outer else None))
        conditions = [] if member is None else [self._member(member, select, block)]
        shared = [self._shared(join, block, n) for n, join in enumerate(joined, start=1)]
        facts = _conjuncts(select.args.get("where"))
        for fact in facts:
            self._link(fact, block)
        self._all_linked(block)
        conditions += self._same_quarter(block.items[0], block)
        joins: list[tuple[Item, exp.Expr | None]] = [(block.items[0], None)]
        for join, item, same in zip(joined, block.items[1:], shared, strict=True):
            built = [self.expressions.predicate(f, block) for f in _conjuncts(join.args.get("on"))]
            on = [
                *self._same_quarter(item, block),
                *same,
                *(f for f in built if not depends_on_world(f)),
            ]
            joins.append((item, exp.and_(*on) if on else None))
            conditions += [f for f in built if depends_on_world(f)]
        conditions += [self.expressions.predicate(fact, block) for fact in facts]
        return Rows(block, tuple(joins), tuple(conditions))

    def _inner(self, join: exp.Join) -> exp.Join:
        words = " ".join(str(join.args.get(key) or "") for key in ("method", "side", "kind"))
        if words.split() not in ([], ["INNER"], ["CROSS"]):
            raise QueryError(
                f"{' '.join(words.split())} JOIN is refused: only inner joins are answered"
            )
        only_parts(join, "this", "on", "using", "kind")
        return join

    def _items(self, sources: list[exp.Expr]) -> tuple[Item, ...]:
        items: list[Item] = []
        for node in sources:
            if not isinstance(node, exp.Table):
                raise QueryError("a subquery in FROM is refused: join the original tables")
            if node.args.get("db") or not isinstance(node.this, exp.Identifier):
                raise QueryError(
                    f"{excerpt(node)} in FROM is refused: the tables are those of the "
                    "original schema, without a schema name"
                )
            known = self.names.table(only_parts(node, "this", "alias").name)
            if node.args.get("alias"):
                only_parts(node.args["alias"], "this")
            given = node.alias_or_name.lower()
            if any(item.given == given for item in items):
                raise QueryError(f"FROM has {given} twice: give them aliases")
            if known.name == self.dataset.report_table and any(i.table == known for i in items):
                raise QueryError(f"table {known.name} is joined with itself")
            items.append(Item(f"t{self._tables}", given, known))
            self._tables += 1
        return tuple(items)

    def _shared(self, join: exp.Join, block: Block, number: int) -> list[exp.Expr]:
        """The equalities of USING."""
        built: list[exp.Expr] = []
        first, item = block.items[0], block.items[number]
        for identifier in join.args.get("using") or ():
            name = identifier.name.lower()
            if name == QUARTER:
                continue
            if name not in self.dataset.id_columns:
                raise QueryError(f"USING ({identifier.name}): join by {self._ids()}")
            report = name == self.dataset.report_id
            for other in block.items[1:number] if report else ():
                if not block.links.same_report(first.alias, other.alias):
                    raise QueryError(f"USING ({name}) is ambiguous: write ON ...")
            block.links.add(first.alias, item.alias, report=report)
            built.append(column(name, first.alias).eq(column(name, item.alias)))
        for fact in _conjuncts(join.args.get("on")):
            self._link(fact, block)
        return built

    def _member(self, node: exp.In, select: exp.Select, block: Block) -> exp.Expr:
        """The equality that IN (SELECT id ...) stands for."""
        assert block.outer is not None
        left = self.names.id_owner(node.this.unnest(), block.outer)
        chosen = select.expressions[0].unalias() if len(select.expressions) == 1 else exp.Star()
        right = self.names.id_owner(chosen, block)
        if left is None or right is None or left[1] != right[1]:
            raise QueryError(
                f"IN (SELECT ...) is answered for ids alone, the same on both sides: {self._ids()}"
            )
        report = left[1] == self.dataset.report_id
        block.links.add(left[0].alias, right[0].alias, report=report)
        return column(left[1], left[0].alias).eq(column(right[1], right[0].alias))

    def _link(self, fact: exp.Expr, block: Block) -> None:
        if not isinstance(fact, exp.EQ):
            return
        left, right = (self.names.id_owner(side, block) for side in (fact.left, fact.right))
        if left and right and left[1] == right[1]:
            report = left[1] == self.dataset.report_id
            block.links.add(left[0].alias, right[0].alias, report=report)

    def _all_linked(self, block: Block) -> None:
        """Every table must speak of one case, or rows would mix the regions of several."""
        anchor = block.outer.items[0] if block.outer else block.items[0]
        for item in block.items:
            if not block.links.same_case(anchor.alias, item.alias):
                raise QueryError(f"{item.given} is not joined to {anchor.given} by {self._ids()}")

    def _same_quarter(self, item: Item, block: Block) -> list[exp.Expr]:
        """Each quarter is asked on its own: joins do not cross quarters."""
        anchor = block.outer.items[0] if block.outer else block.items[0]
        if anchor is item or not self.views.cumulative:
            return []
        return [self.views.quarter(anchor.alias).eq(self.views.quarter(item.alias))]

    def _ids(self) -> str:
        return " or ".join(self.dataset.id_columns)


def _conjuncts(node: exp.Expr | None) -> list[exp.Expr]:
    """The conditions of a WHERE or ON, all of which must hold."""
    if node is None:
        return []
    if isinstance(node, (exp.Where, exp.Paren)):
        return _conjuncts(node.this)
    if isinstance(node, exp.And):
        return [*_conjuncts(node.left), *_conjuncts(node.right)]
    return [node]
