"""Nodes of a parsed question: what they may consist of, and how they are named when refused."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import TypeVar

from sqlglot import ErrorLevel, exp

from srsql.engine.errors import QueryError

Node = TypeVar("Node", bound=exp.Expr)


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
    raise QueryError(f"{shown(node)} is not a number that can be compared with")


def only(node: Node, *known: str) -> Node:
    """The node; refused if anything but the parts ``known`` is set."""
    for key, value in node.args.items():
        if key not in known and value:
            raise QueryError(f"{shown(node)}: {_part(key)} is not understood in a question")
    return node


def refused(node: exp.Expr) -> QueryError:
    """Why an expression is not understood."""
    if isinstance(node, exp.Null):
        return QueryError("a comparison with NULL is never true: write IS NULL")
    if isinstance(node, (exp.AggFunc, exp.Window)):
        return QueryError(f"{shown(node)}: COUNT in the SELECT list is the only aggregate")
    return QueryError(f"{shown(node)} is not understood in a question")


def shown(node: exp.Expr) -> str:
    """The start of an expression, for a message."""
    text = " ".join(node.sql("duckdb", unsupported_level=ErrorLevel.IGNORE).split())
    return text if len(text) <= 60 else f"{text[:57]}..."


def _part(key: str) -> str:
    return key.strip("_").replace("_", " ").upper()
