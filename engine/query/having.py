"""HAVING: comparisons of counts with numbers, which bounds of the counts decide or leave open."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from srsql.engine.errors import QueryError
from srsql.engine.query.vocabulary import excerpt, number, only_parts

_TESTS: dict[type[exp.Expr], Callable[[Fraction, Fraction], bool]] = {
    exp.EQ: lambda a, b: a == b,
    exp.NEQ: lambda a, b: a != b,
    exp.LT: lambda a, b: a < b,
    exp.LTE: lambda a, b: a <= b,
    exp.GT: lambda a, b: a > b,
    exp.GTE: lambda a, b: a >= b,
}
_MIRRORED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GT, exp.LTE: exp.GTE, exp.GT: exp.LT, exp.GTE: exp.LTE
}  # fmt: skip
_TRIES = 100_000
"""Combinations of counts that are tried for a group."""
Counts = Mapping[int, int]
"""Number of an aggregate -> a count."""


@dataclass(frozen=True)
class Having:
    """A condition on the counts of a group."""

    holds: Callable[[Counts], bool]
    limits: Mapping[int, frozenset[Fraction]]
    """Number of an aggregate -> what it is compared with."""

    def outcomes(self, bounds: Mapping[int, tuple[int, int]]) -> set[bool]:
        """What the condition may come to, where each count lies within its bounds.

        Between two neighbours among the limits all counts decide alike, so few are tried.

        Args:
            bounds: of each aggregate of ``limits``.
        """
        tried = {n: sorted(self._tried(n, *bounds[n])) for n in self.limits}
        if math.prod(map(len, tried.values())) > _TRIES:
            raise QueryError("HAVING compares too many counts: ask several questions")
        return {
            self.holds(dict(zip(tried, chosen, strict=True)))
            for chosen in itertools.product(*tried.values())
        }

    def _tried(self, number: int, low: int, high: int) -> set[int]:
        near = {low, high}
        for limit in self.limits[number]:
            below, above = math.floor(limit), math.ceil(limit)
            near |= {below - 1, below, above, above + 1}
        return {count for count in near if low <= count <= high}


def read_having(node: exp.Expr | None, count: Callable[[exp.Expr], int]) -> Having | None:
    """The condition of HAVING.

    Args:
        node: the clause; None: there is none.
        count: the number of the COUNT that an expression means.

    Raises:
        QueryError: it is no comparison of counts with numbers, or AND, OR, NOT of such.
    """
    return None if node is None else _read(only_parts(node, "this").this, count)


def _read(node: exp.Expr, count: Callable[[exp.Expr], int]) -> Having:
    if isinstance(node, exp.Paren):
        return _read(only_parts(node, "this").this, count)
    if isinstance(node, exp.Not):
        inner = _read(node.this, count)
        return Having(lambda counts: not inner.holds(counts), inner.limits)
    if isinstance(node, (exp.And, exp.Or)):
        join = all if isinstance(node, exp.And) else any
        sides = [_read(node.left, count), _read(node.right, count)]
        return Having(
            lambda counts: join(side.holds(counts) for side in sides),
            {n: frozenset().union(*(s.limits.get(n, ()) for s in sides))
             for side in sides for n in side.limits},
        )  # fmt: skip
    if isinstance(node, exp.Between):
        only_parts(node, "this", "low", "high")
        low = exp.GTE(this=node.this, expression=node.args["low"])
        return _read(exp.and_(low, exp.LTE(this=node.this, expression=node.args["high"])), count)
    if isinstance(node, exp.In) and not node.args.get("query"):
        only_parts(node, "this", "expressions")
        return _read(exp.or_(*(exp.EQ(this=node.this, expression=e) for e in node.expressions)),
                     count)  # fmt: skip
    if isinstance(node, exp.Binary) and type(node) in _TESTS:
        return _compared(node, count)
    raise QueryError(f"HAVING {excerpt(node)}: HAVING compares COUNT with numbers")


def _compared(node: exp.Binary, count: Callable[[exp.Expr], int]) -> Having:
    operator: type[exp.Expr] = type(node)
    left, right = node.left.unnest(), node.right.unnest()
    if isinstance(left, (exp.Literal, exp.Neg)):
        operator, left, right = _MIRRORED.get(operator, operator), right, left
    if not isinstance(right, (exp.Literal, exp.Neg)):
        raise QueryError(f"HAVING {excerpt(node)}: HAVING compares COUNT with numbers")
    which, limit, test = count(left), Fraction(number(right)), _TESTS[operator]
    return Having(lambda counts: test(Fraction(counts[which]), limit), {which: frozenset({limit})})
