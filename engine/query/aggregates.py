"""The aggregates of a question: counts, shares, means and quantiles, read from its SELECT list.

A COUNT is of cases, reports or rows, with or without a FILTER, which may be written as a CASE in
the aggregate as well. A share divides such a COUNT by the one without the filter, or by the sum of
all groups. A mean or quantile is of a numeric quasi-identifier, of what the question counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from sqlglot import exp

from srsql.engine.errors import QueryError
from srsql.engine.query.expressions import Expressions
from srsql.engine.query.vocabulary import (
    Block,
    Generalized,
    excerpt,
    number,
    only_parts,
    refusal,
)
from srsql.schemas import Dataset

Counted = Literal["cases", "reports", "rows"]
Kind = Literal["count", "share", "value"]
_FLOATS = {exp.DType.DOUBLE, exp.DType.FLOAT, exp.DType.DECIMAL}
_QUANTILES = (exp.PercentileCont, exp.PercentileDisc, exp.Quantile)
_VALUES = (exp.Avg, exp.Median, exp.Min, exp.Max, *_QUANTILES)
_MOST_DIGITS = 15
_WHOLE = "divide a COUNT with a FILTER by the same COUNT without one, or by SUM(COUNT(...)) OVER ()"


@dataclass(frozen=True)
class Measure:
    """One aggregate of a question, of which each group has bounds."""

    label: str
    counted: Counted
    unit: str | None
    """Our alias of the table whose id is counted; None: rows are."""
    kind: Kind = "count"
    hit: exp.Expr | None = None
    """The filter; of a share that of its numerator."""
    of_groups: bool = False
    """A share of the sum over all groups."""
    factor: Fraction = Fraction(1)
    """By which a share is multiplied."""
    digits: int | None = None
    """To which the result is rounded."""
    position: int | None = None
    """The quasi-identifier of a mean or quantile."""
    quantile: Fraction | None = None
    """From 0 to 1; None: the mean."""
    interpolated: bool = False
    """A quantile lies between two values where none stands at its place."""

    @property
    def is_plain(self) -> bool:
        """Whether it counts all that meet the conditions of the question."""
        return self.kind == "count" and self.hit is None

    def same(self, other: Measure) -> bool:
        """Whether both are one aggregate, whatever it is called."""
        return replace(self, label="") == replace(other, label="")


def is_aggregate(node: exp.Expr) -> bool:
    """Whether an item of a SELECT list is an aggregate, or made of some."""
    called = isinstance(node, exp.Anonymous) and node.name.lower() == "mean"
    found = node.find(exp.AggFunc, exp.Window, exp.Filter)
    return called or found is not None


class Aggregates:
    """Reads aggregates.

    Args:
        dataset: the original schema.
        expressions: rebuilds what stands in them.
        block: the SELECT that they stand in.
    """

    def __init__(self, dataset: Dataset, expressions: Expressions, block: Block) -> None:
        self.dataset, self.expressions, self.block = dataset, expressions, block

    def all(self, nodes: Iterable[tuple[str, exp.Expr]]) -> list[Measure]:
        """The aggregates with their labels: means are of what the first COUNT counts, else of rows.

        Raises:
            QueryError: there is one that is not understood.
        """
        found = [self.measure(label, node) for label, node in nodes]
        counts = [each for each in found if each.kind != "value"]
        return [each if each.kind != "value" else counted_as(each, counts) for each in found]

    def measure(self, label: str, node: exp.Expr) -> Measure:
        """One aggregate; a mean of rows."""
        if isinstance(node, exp.Paren):
            return self.measure(label, only_parts(node, "this").this)
        if isinstance(node, exp.Round):
            only_parts(node, "this", "decimals")
            places = node.args.get("decimals")
            asked = Decimal(0) if places is None else number(places)
            if asked != int(asked) or abs(asked) > _MOST_DIGITS:
                raise QueryError(f"{excerpt(node)}: round to at most {_MOST_DIGITS} digits")
            digits = int(asked)
            return replace(self.measure(label, node.this), digits=digits)
        if isinstance(node, (exp.Mul, exp.Div)):
            return self._share(label, node)
        condition = None
        if isinstance(node, exp.Filter):
            where = only_parts(only_parts(node, "this", "expression").expression, "this")
            condition = self.expressions.predicate(where.this, self.block)
            node = node.this
        if isinstance(node, exp.Anonymous) and node.name.lower() == "mean":
            node = exp.Avg(this=node.expressions[0]) if len(node.expressions) == 1 else node
        if isinstance(node, _VALUES):
            built = self._average_of_case(label, node) or self._value(label, node)
        elif isinstance(node, (exp.Count, exp.CountIf, exp.Sum)):
            built = self._count(label, node)
        else:
            raise refusal(node)
        if condition is None:
            return built
        if built.kind == "share":
            raise QueryError(f"{excerpt(node)}: put the condition of the FILTER into WHERE")
        hit = condition if built.hit is None else exp.and_(condition, built.hit)
        return replace(built, hit=hit)

    def _count(self, label: str, node: exp.Expr) -> Measure:
        """A COUNT, its condition in a CASE or in ``count_if`` maybe."""
        condition: exp.Expr | None
        if isinstance(node, exp.CountIf):
            only_parts(node, "this", "big_int")
            condition = self.expressions.predicate(node.this, self.block)
            return Measure(label, "rows", None, hit=condition)
        if isinstance(node, exp.Sum):
            condition = self._indicator(only_parts(node, "this").this)
            if condition is None:
                raise refusal(node)
            return Measure(label, "rows", None, hit=condition)
        what = only_parts(node, "this", "expressions", "big_int").this
        if isinstance(what, (exp.Star, exp.Literal)):
            only_parts(what, "this", "is_string")
            return Measure(label, "rows", None)
        distinct = isinstance(what, exp.Distinct)
        inner = what.expressions if isinstance(what, exp.Distinct) else [what, *node.expressions]
        if len(inner) == 1:
            case = self._of_case(inner[0].unnest())
            counted = case[0] if case else inner[0]
            condition = case[1] if case else None
            if case and not distinct and isinstance(counted, exp.Literal):
                return Measure(label, "rows", None, hit=condition)
            if isinstance(counted, exp.Column):
                found = self.expressions.names.find(counted, self.block)
                if not isinstance(found, Generalized) and found.kind == "id":
                    if not distinct:
                        return Measure(label, "rows", None, hit=condition)
                    is_case = found.name == self.dataset.case_id
                    unit: Counted = "cases" if is_case else "reports"
                    return Measure(label, unit, found.item.alias, hit=condition)
        raise QueryError(
            f"{excerpt(node)}: cases, reports or rows are counted, with "
            f"COUNT(DISTINCT {self.dataset.case_id}), COUNT(DISTINCT {self.dataset.report_id}) or "
            "COUNT(*)"
        )

    def _of_case(self, node: exp.Expr) -> tuple[exp.Expr, exp.Expr] | None:
        """What ``CASE WHEN condition THEN it END`` gives, and the condition."""
        if not isinstance(node, (exp.Case, exp.If)):
            return None
        branches = node.args["ifs"] if isinstance(node, exp.Case) else [node]
        default = node.args.get("default" if isinstance(node, exp.Case) else "false")
        if node.args.get("this") is not None and isinstance(node, exp.Case):
            return None
        if len(branches) != 1 or not (default is None or isinstance(default, exp.Null)):
            return None
        condition = self.expressions.predicate(branches[0].this, self.block)
        return branches[0].args["true"].unnest(), condition

    def _indicator(self, node: exp.Expr) -> exp.Expr | None:
        """The condition of what is 1 where it is met, and else 0."""
        node = node.unnest()
        if isinstance(node, exp.Cast) and not isinstance(node.this.unnest(), exp.Column):
            return self.expressions.predicate(node.this, self.block)
        if isinstance(node, exp.If):
            node = exp.Case(
                ifs=[exp.If(this=node.this, true=node.args["true"])],
                default=node.args.get("false"),
            )
        if not isinstance(node, exp.Case) or node.args.get("this") or len(node.args["ifs"]) != 1:
            return None
        branch, default = node.args["ifs"][0], node.args.get("default")
        if not (_is_number(branch.args["true"], 1) and default and _is_number(default, 0)):
            return None
        return self.expressions.predicate(branch.this, self.block)

    def _average_of_case(self, label: str, node: exp.Expr) -> Measure | None:
        """The mean of 1 and 0 is a share of rows."""
        if not isinstance(node, exp.Avg):
            return None
        hit = self._indicator(only_parts(node, "this").this)
        return None if hit is None else Measure(label, "rows", None, "share", hit)

    def _value(self, label: str, node: exp.Expr) -> Measure:
        """A mean or quantile of a number."""
        only_parts(node, "this", "expression", "quantile")
        column = node.this.unnest()
        if isinstance(column, exp.Cast) and column.to.this in _FLOATS - {exp.DType.DECIMAL}:
            column = column.this.unnest()
        found = (
            self.expressions.names.find(column, self.block)
            if isinstance(column, exp.Column)
            else None
        )
        if not isinstance(found, Generalized) or found.qid.kind != "numeric":
            names = [qid.name for qid in self.dataset.qid if qid.kind == "numeric"]
            raise QueryError(
                f"{excerpt(node)}: means and quantiles are of "
                f"{' or '.join(names) or 'numbers, of which this dataset has none'}"
            )
        self.expressions.need_outermost(found, self.block)
        of = Measure(label, "rows", None, "value", position=found.position)
        if isinstance(node, exp.Avg):
            return of
        if isinstance(node, (exp.Min, exp.Max)):
            return replace(of, quantile=Fraction(int(isinstance(node, exp.Max))))
        if isinstance(node, exp.Median):
            return replace(of, quantile=Fraction(1, 2), interpolated=True)
        asked = node.args.get("quantile") or node.args.get("expression")
        if not isinstance(asked, exp.Literal):
            raise QueryError(f"{excerpt(node)}: give one number from 0 to 1")
        quantile = Fraction(number(asked))
        if not 0 <= quantile <= 1:
            raise QueryError(f"{excerpt(node)}: give a number from 0 to 1")
        interpolated = isinstance(node, exp.PercentileCont)
        return replace(of, quantile=quantile, interpolated=interpolated)

    def _share(self, label: str, node: exp.Expr) -> Measure:
        """A quotient of two counts, times numbers."""
        factor, counts = Fraction(1), list[list[exp.Expr]]()
        for inverse in (False, True):
            counts.append([])
            for each in _factors(node, inverse=inverse):
                if not isinstance(each, (exp.Literal, exp.Neg)):
                    counts[-1].append(each)
                    continue
                value = Fraction(number(each))
                if inverse and not value:
                    raise QueryError(f"{excerpt(node)} divides by 0")
                factor = factor / value if inverse else factor * value
        if len(counts[0]) != 1 or len(counts[1]) != 1 or factor <= 0:
            raise QueryError(f"{excerpt(node)} is no share: {_WHOLE}")
        part, whole = self.measure(label, counts[0][0]), counts[1][0]
        of_groups = isinstance(whole, exp.Window)
        if of_groups:
            whole = only_parts(whole, "this", "over").this
            if not isinstance(whole, exp.Sum):
                raise QueryError(f"{excerpt(node)} is no share: {_WHOLE}")
            whole = whole.this
        other = self.measure(label, whole)
        alike = (part.counted, part.unit) == (other.counted, other.unit)
        plain = part.is_plain if of_groups else part.kind == "count"
        if not (alike and plain and other.is_plain) or part.digits is not None:
            raise QueryError(f"{excerpt(node)} is no share: {_WHOLE}")
        hit = part.hit if of_groups or part.hit is not None else exp.true()
        return replace(part, kind="share", hit=hit, of_groups=of_groups, factor=factor)


def counted_as(value: Measure, counts: list[Measure]) -> Measure:
    """A mean or quantile of what a question counts first."""
    if not counts:
        return value
    return replace(value, counted=counts[0].counted, unit=counts[0].unit)


def _factors(node: exp.Expr, *, inverse: bool) -> Iterator[exp.Expr]:
    """What a product is made of above the line of the fraction, or below it."""
    is_float = isinstance(node, exp.Cast) and node.to.this in _FLOATS
    is_nullif = isinstance(node, exp.Nullif) and _is_number(node.expression, 0)
    if isinstance(node, exp.Paren) or is_float or is_nullif:
        yield from _factors(node.this, inverse=inverse)
    elif isinstance(node, exp.Mul):
        yield from _factors(node.left, inverse=inverse)
        yield from _factors(node.right, inverse=inverse)
    elif isinstance(node, exp.Div):
        yield from _factors(node.left, inverse=inverse)
        yield from _factors(node.right, inverse=not inverse)
    elif not inverse:
        yield node


def _is_number(node: exp.Expr, value: int) -> bool:
    node = node.unnest()
    if not isinstance(node, exp.Literal) or node.is_string:
        return False
    return re.fullmatch(rf"{value}(\.0*)?", node.name) is not None
