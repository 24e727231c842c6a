"""Expressions over the fields of a staged file: the texts of a QID, and what is wrong with them."""

from __future__ import annotations

from sqlglot import exp

from srsql.engine.audit.imports.columns import Ends
from srsql.engine.warehouse.catalog import trimmed
from srsql.engine.warehouse.statements import column

_NUMBER = r"[+-]?(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+)"
_INTERVAL = rf"^\[?\s*({_NUMBER})\s*(?:[-–~,]\s*({_NUMBER}))?\s*\]?$"


def texts(at: Ends) -> list[exp.Expression]:
    """The fields of a quasi-identifier; one such as ``46-50`` gives both ends."""
    if at.qid.kind == "categorical":
        return [named(field_at(at.low), at.named("label text"))]
    ends = [field_at(at.low), field_at(at.high or at.low)]
    if at.high is None:
        interval = exp.Array(expressions=[text_of("low"), text_of("high")])
        text = trimmed(field_at(at.low))
        parts = call("regexp_extract", text, text_of(_INTERVAL), interval)
        low, high = (call("struct_extract", parts.copy(), text_of(e)) for e in ("low", "high"))
        high = call("coalesce", exp.Nullif(this=high, expression=text_of("")), low.copy())
        fits = call("regexp_full_match", text.copy(), text_of(_INTERVAL))
        ends = [exp.Case().when(fits.copy(), end).else_(text.copy()) for end in (low, high)]
    fields = [
        named(end, at.named(f"{name} text"))
        for name, end in zip(("low", "high"), ends, strict=True)
    ]
    return fields + ([named(field_at(at.unit), at.named("unit"))] if at.unit else [])


def numeric_faults(
    fault: exp.Case,
    at: Ends,
    low: tuple[exp.Expression, exp.Expression],
    high: tuple[exp.Expression, exp.Expression],
) -> exp.Case:
    """``fault`` with what can be wrong about the bounds of one numeric quasi-identifier."""
    texts = [column(at.named(f"{end} text")) for end in ("low", "high")]
    for (_, reason), text in zip((low, high), texts, strict=True):
        told = concat(text_of(f"{at.qid.name}: "), text, text_of(" is "), exp.paren(reason.copy()))
        fault = fault.when(known(reason), told)
    half = exp.NEQ(this=exp.paren(is_null(low[0])), expression=exp.paren(is_null(high[0])))
    fault = fault.when(half, text_of(f"{at.qid.name}: one end of the interval is missing"))
    swapped = exp.GT(this=exp.paren(low[0].copy()), expression=exp.paren(high[0].copy()))
    told = concat(
        text_of(f"{at.qid.name}: low above high ("),
        texts[0],
        text_of(" > "),
        texts[1],
        text_of(")"),
    )
    return fault.when(swapped, told)


def field_at(place: int) -> exp.Expression:
    """One field of ``srsql_record``."""
    return call("list_extract", column("field"), exp.Literal.number(place))


def named(value: exp.Expression, name: str) -> exp.Expression:
    """A value under a quoted name."""
    return exp.Alias(this=value.copy(), alias=exp.to_identifier(name, quoted=True))


def text_of(value: str) -> exp.Expression:
    """A string literal."""
    return exp.Literal.string(value)


def concat(*parts: exp.Expression) -> exp.Expression:
    """The parts as one text."""
    return call("concat", *[part.copy() for part in parts])


def known(value: exp.Expression) -> exp.Expression:
    """Whether a value is there."""
    return exp.Not(this=is_null(value))


def is_null(value: exp.Expression) -> exp.Expression:
    """Whether a value is missing."""
    return exp.Is(this=exp.paren(value.copy()), expression=exp.null())


def call(name: str, *arguments: exp.Expression) -> exp.Expression:
    """A function of DuckDB."""
    return exp.Anonymous(this=name, expressions=list(arguments))
