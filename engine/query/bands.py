"""What is computed from one number, such as the decade of an age: DuckDB says it of each value.

An expression is read anew from the constructs that are understood, and evaluated for every value
that ingestion lets through, so that division and rounding are DuckDB's own. It becomes the values
for which a condition holds, or the bands by which a question groups. A value is an integer, or a
decimal where the granularity has digits behind the point.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import duckdb
from sqlglot import exp

from srsql.engine.catalog.layout import in_units
from srsql.engine.errors import QueryError, one_line
from srsql.engine.query.vocabulary import Block, Generalized, Names, excerpt, only_parts
from srsql.engine.query.worlds import (
    FARTHEST_VALUE,
    WORLDS_AT_MOST,
    Band,
    Span,
    possible_span,
    union,
    value_column,
)
from srsql.engine.store.statements import column
from srsql.schemas import Dataset, Qid

MOST_VALUES = 100_000
"""Values for which an expression is evaluated."""
_PARTS: dict[type[exp.Expr], tuple[str, ...]] = {
    **dict.fromkeys((exp.Paren, exp.Neg, exp.Floor, exp.Ceil, exp.Abs, exp.Trunc), ("this",)),
    **dict.fromkeys((exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.DPipe),
                    ("this", "expression")),
    **dict.fromkeys((exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE), ("this", "expression")),
    exp.Round: ("this", "decimals"),
    exp.Cast: ("this", "to"),
    exp.Least: ("this", "expressions"),
    exp.Greatest: ("this", "expressions"),
    exp.Concat: ("expressions",),
    exp.In: ("this", "expressions"),
}  # fmt: skip
"""What is understood, and of which parts it is made."""
_SETTINGS = {"typed", "safe", "coalesce", "ignore_nulls"}
"""What the parser notes of a dialect and is written as it was read."""
_TYPES = {
    exp.DType.BIGINT, exp.DType.INT, exp.DType.SMALLINT, exp.DType.TINYINT, exp.DType.DOUBLE,
    exp.DType.FLOAT, exp.DType.DECIMAL, exp.DType.TEXT, exp.DType.VARCHAR,
}  # fmt: skip


def computed_from(names: Names, node: exp.Expr, block: Block) -> Generalized | None:
    """The number that an expression is computed from; None: from none, from more, or otherwise."""
    if isinstance(node.unnest(), exp.Column):
        return None
    found: Generalized | None = None
    for inner in node.walk():
        if isinstance(inner, exp.Column):
            each = names.find(inner, block)
            if not isinstance(each, Generalized) or each.qid.kind != "numeric":
                return None
            if found is not None and found != each:
                return None
            found = each
        elif not isinstance(inner, (*_PARTS, exp.Literal, exp.Identifier, exp.DataType)) and not (
            isinstance(inner, exp.DataTypeParam)
        ):
            return None
    return found


def read_condition(dataset: Dataset, found: Generalized, node: exp.Expr) -> tuple[Span, ...]:
    """The values for which a condition on what is computed holds.

    Raises:
        QueryError: it is not understood, or neither TRUE nor FALSE for a value.
    """
    held = exp.cast(_rebuilt(node, _of_values(found.qid)), "BOOLEAN")
    outcomes = _outcomes(dataset, found, node, held)
    return union([spans for value, spans in outcomes if value])


def read_band(
    dataset: Dataset, found: Generalized, node: exp.Expr, block: Block
) -> tuple[Band, exp.Expr]:
    """What a question groups by, and the expression of it over worlds.

    Raises:
        QueryError: it is not understood, has no result for a value, or has too many.
    """
    outcomes = _outcomes(dataset, found, node, _rebuilt(node, _of_values(found.qid)))
    if len(outcomes) >= WORLDS_AT_MOST:
        raise QueryError(
            f"{excerpt(node)} has {len(outcomes):,} results: group by fewer, at most "
            f"{WORLDS_AT_MOST:,}"
        )
    shown = _rebuilt(node, lambda: in_units(found.qid, value_column(found.qid)))
    return Band(found.position, tuple(spans for _, spans in outcomes)), shown


def _of_values(qid: Qid) -> Callable[[], exp.Expr]:
    return lambda: in_units(qid, column("granule", "v"))


def _rebuilt(node: exp.Expr, value: Callable[[], exp.Expr]) -> exp.Expr:
    """The expression, over ``value`` in the place of its column."""
    if isinstance(node, exp.Column):
        return exp.paren(value())
    if isinstance(node, exp.Literal):
        if node.is_string:
            return exp.Literal.string(node.name)
        if not re.fullmatch(r"\d{1,15}(\.\d{1,15})?", node.name):
            raise QueryError(f"{excerpt(node)}: write the number with digits and a point alone")
        return exp.Literal.number(node.name)
    if isinstance(node, exp.DataType):
        if node.this not in _TYPES:
            raise QueryError(f"CAST to {excerpt(node)} is not understood in a question")
        sizes = [exp.DataTypeParam(this=_rebuilt(p.this, value)) for p in node.expressions]
        return exp.DataType(this=node.this, expressions=sizes)
    parts = _PARTS[type(node)]
    only_parts(node, *parts, *_SETTINGS)
    built = type(node)(**{k: v for k, v in node.args.items() if k in _SETTINGS})
    for key in parts:
        part = node.args.get(key)
        if isinstance(part, list):
            built.set(key, [_rebuilt(each, value) for each in part])
        elif part is not None:
            built.set(key, _rebuilt(part, value))
    return built


def _outcomes(
    dataset: Dataset, found: Generalized, node: exp.Expr, built: exp.Expr
) -> Sequence[tuple[Any, tuple[Span, ...]]]:
    """What an expression comes to, and for which values."""
    qid = found.qid
    low, high = possible_span(dataset, qid)
    if high - low >= MOST_VALUES or FARTHEST_VALUE in (-low, high):
        raise QueryError(
            f"{excerpt(node)}: {qid.name} may have more than {MOST_VALUES:,} values, so nothing is "
            "computed from it: compare it with numbers, and group by CASE"
        )
    values = exp.select(exp.column("range").as_("granule")).from_(
        exp.func("range", exp.convert(low), exp.convert(high + 1))
    )
    query = exp.select(column("granule", "v"), built.as_("result")).from_(values.subquery("v"))
    text = query.order_by(column("granule", "v")).sql("duckdb")
    try:
        with duckdb.connect() as own:
            own.execute("SET error_on_division_by_zero = false")
            rows = own.execute(text).fetchall()
    except duckdb.Error as error:
        raise QueryError(f"{excerpt(node)}: {one_line(error)}") from None
    results: dict[Any, list[Span]] = {}
    for granule, result in rows:
        if result is None or (isinstance(result, float) and not math.isfinite(result)):
            raise QueryError(
                f"{excerpt(node)} has no result where {qid.name} is "
                f"{granule * qid.granularity}: leave it out"
            )
        results.setdefault(result, []).append((granule, granule))
    return [(result, union([tuple(spans)])) for result, spans in results.items()]
