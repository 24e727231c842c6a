"""Reads an analyst's question: one SELECT of a COUNT over the original schema.

What is read is a list of what is understood; everything else is refused with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, total_ordering
from typing import Any, Literal

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from srsql.engine.errors import QueryError
from srsql.engine.query.limits import Lookup
from srsql.engine.query.relations import WITH, Blocks, Joins, parts
from srsql.engine.query.vocabulary import Block, Generalized, Views, excerpt, only_parts, refusal
from srsql.engine.query.worlds import Atom
from srsql.schemas import Dataset

Counted = Literal["cases", "reports", "rows"]
LONGEST = 20_000
"""Characters of a question."""


@dataclass(frozen=True)
class Order:
    """One key of ORDER BY."""

    group: int | None
    """Number of the group column; None: the expected count."""
    descending: bool
    nulls_first: bool


@dataclass(frozen=True)
class Question:
    """A question that can be answered."""

    counted: Counted
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


def read_question(dataset: Dataset, views: Views, text: str) -> Question:
    """The question of an SQL text.

    Raises:
        QueryError: it is no SQL, or not a question that can be answered soundly.
    """
    return _Reader(dataset, views).question(_parse(text))


def _parse(text: str) -> exp.Select:
    if len(text) > LONGEST:
        raise QueryError(f"the question is longer than {LONGEST:,} characters")
    try:
        kinds = [token.token_type.name for token in sqlglot.tokenize(text, read="duckdb")]
        while kinds and kinds[-1] == "SEMICOLON":
            kinds.pop()
        if "SEMICOLON" in kinds:
            raise QueryError("several statements: ask one question at a time")
        if kinds[:1] == ["WITH"]:
            raise QueryError(WITH)
        if kinds[:1] != ["SELECT"]:
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
        parts(select, "expressions", "from_", "joins", "where", "group", "order", "limit", "offset")
        rows = self.blocks.rows(select, None)
        listed = [(item.alias, item.unalias()) for item in select.expressions]
        counts = [n for n, (_, node) in enumerate(listed) if isinstance(node, exp.Count)]
        if len(counts) != 1:
            others = [node for _, node in listed if isinstance(node, (exp.AggFunc, exp.Window))]
            if others and not counts:
                raise refusal(others[0])
            raise QueryError(
                "a question has one COUNT in its SELECT list, such as "
                f"COUNT(DISTINCT {self.dataset.case_id}), beside what it is grouped by"
            )
        counted, unit = self._counted(listed[counts[0]][1], rows.block)
        numbers: dict[int, int | None] = {counts[0]: None}
        groups: list[tuple[str, exp.Expr]] = []
        for n, (alias, node) in enumerate(listed):
            if n not in counts:
                numbers[n] = len(groups)
                built = self.expressions.group(node, rows.block)
                groups.append((alias or _label(node), built))
        key = partial(self._key, listed, numbers, groups, rows.block)
        self._grouped(select, groups, key)
        return Question(
            counted,
            unit,
            rows.joins,
            (*rows.conditions, *map(_known, self.expressions.blanked)),
            tuple(groups),
            tuple(self._order(select, key)),
            tuple(self.expressions.atoms),
            frozenset(self.expressions.labelled),
            tuple(dict.fromkeys(self.expressions.blanked.values())),
            tuple(self.expressions.limits.lookups),
            _whole_number(select.args.get("limit")),
            _whole_number(select.args.get("offset")) or 0,
            frozenset(self.expressions.tested),
            self.expressions.by_keys,
        )

    def _counted(self, node: exp.Expr, block: Block) -> tuple[Counted, str | None]:
        """What is counted, and our alias of the table whose id it is."""
        what = only_parts(node, "this", "expressions", "big_int").this
        if isinstance(what, (exp.Star, exp.Literal)):
            only_parts(what, "this", "is_string")
            return "rows", None
        distinct = isinstance(what, exp.Distinct)
        inner = what.expressions if isinstance(what, exp.Distinct) else [what, *node.expressions]
        if len(inner) == 1 and isinstance(inner[0], exp.Column):
            found = self.names.find(inner[0], block)
            if not isinstance(found, Generalized) and found.kind == "id":
                if not distinct:
                    return "rows", None
                counted: Counted = "cases" if found.name == self.dataset.case_id else "reports"
                return counted, found.item.alias
        raise QueryError(
            f"{excerpt(node)}: cases, reports or rows are counted, with "
            f"COUNT(DISTINCT {self.dataset.case_id}), COUNT(DISTINCT {self.dataset.report_id}) or "
            "COUNT(*)"
        )

    def _grouped(
        self,
        select: exp.Select,
        groups: list[tuple[str, exp.Expr]],
        key: Callable[[exp.Expr], int | None],
    ) -> None:
        """GROUP BY must name what the SELECT list shows."""
        group = select.args.get("group")
        if group is None:
            if groups:
                raise QueryError(f"{groups[0][0]} is neither counted nor in GROUP BY")
            return
        only_parts(group, "expressions", "all")
        if group.args.get("all"):
            return
        if {key(node) for node in group.expressions} != set(range(len(groups))):
            raise QueryError("the SELECT list beside COUNT and GROUP BY must be the same")

    def _key(
        self,
        listed: list[tuple[str, exp.Expr]],
        numbers: dict[int, int | None],
        groups: list[tuple[str, exp.Expr]],
        block: Block,
        node: exp.Expr,
    ) -> int | None:
        """The SELECT item that a key of GROUP BY or ORDER BY means; None: the count."""
        if isinstance(node, exp.Literal) and not node.is_string:
            place = int(node.name) - 1 if node.name.isdigit() else -1
            if place not in numbers:
                raise QueryError(f"the SELECT list has no item {node.name}")
            return numbers[place]
        if isinstance(node, exp.Column) and not node.table:
            for n, (alias, _) in enumerate(listed):
                if alias and alias.lower() == node.name.lower():
                    return numbers[n]
        for n, (_, item) in enumerate(listed):
            if item == node:
                return numbers[n]
        built = self.expressions.group(node, block)
        for n, (_, known) in enumerate(groups):
            if known == built:
                return n
        raise QueryError(f"{excerpt(node)} is not in the SELECT list")

    def _order(self, select: exp.Select, key: Callable[[exp.Expr], int | None]) -> Iterator[Order]:
        order = select.args.get("order")
        for ordered in only_parts(order, "expressions").expressions if order else ():
            only_parts(ordered, "this", "desc", "nulls_first")
            found = key(ordered.this)
            yield Order(
                found, bool(ordered.args.get("desc")), bool(ordered.args.get("nulls_first"))
            )


def undecided_groups(
    question: Question, rows: Sequence[tuple[Any, ...]], end: int
) -> Iterator[tuple[tuple[Any, ...], int, int]]:
    """The groups of which the bounds do not tell whether they are among the first ``end``.

    The first ones must surely exist, and the last of them must come before the first of the others
    whatever is true of both: with counts at their ends, where the order is by them.

    Args:
        question: has the order.
        rows: of all groups in that order, the bounds last, as ``Answer.rows``.
        end: so many come first.

    Yields:
        Key, lower and upper count.
    """
    size = len(question.groups)
    first, rest = rows[:end], rows[end:]
    if not first or not rest:
        return
    count = Order(None, False, False)
    keys = [*question.order]
    keys += [replace(count, group=n) for n in range(size) if n not in {k.group for k in keys}]

    def place(row: tuple[Any, ...], *, late: bool) -> list[_Place]:
        """Where a group stands at the latest, or at the earliest."""
        lower, _, upper, _ = row[size:]
        counted = {key: (lower if key.descending is late else upper) for key in keys}
        return [
            _Place.of(counted[key] if key.group is None else row[key.group], key) for key in keys
        ]

    latest = max(place(row, late=True) for row in first)
    earliest = min(place(row, late=False) for row in rest)
    for row in first:
        if row[size] == 0 or place(row, late=True) > earliest:
            yield row[:size], row[size], row[size + 2]
    for row in rest:
        if place(row, late=False) < latest:
            yield row[:size], row[size], row[size + 2]


@total_ordering
@dataclass(frozen=True)
class _Place:
    """Where a value stands in an order that may be descending, and has NULL at one of its ends."""

    value: Any
    descending: bool
    end: int
    """-1, 1: before or after all values, being NULL; 0: a value."""

    @classmethod
    def of(cls, value: Any, key: Order) -> _Place:
        return cls(value, key.descending, (-1 if key.nulls_first else 1) if value is None else 0)

    def __lt__(self, other: _Place) -> bool:
        if self.end or other.end:
            return self.end < other.end
        one, two = (other, self) if self.descending else (self, other)
        return bool(one.value < two.value)


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
