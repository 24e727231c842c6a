"""A number and its unit become granules, by exact integer arithmetic: here a unit is converted.

A number is its digits as a HUGEINT, a unit factor a fraction over the common denominator of the
attribute's units, so that 7305 days are 20 years exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from sqlglot import exp

from srsql.engine.catalog.datasets import normalized
from srsql.engine.errors import DatasetError
from srsql.engine.store.statements import SPACES, column
from srsql.schemas import Qid

NOT_A_NUMBER, NO_UNIT, UNKNOWN_UNIT = "not a number", "no unit", "unknown unit"
"""Reasons for which a value counts as missing."""
_HUGEINT_DIGITS = 38
_NUMBER = r"[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)"
_PARTS = r"^([+]|-|)0*([0-9]*)(?:[.]([0-9]*))?$"
_VALUE_AND_UNIT = rf"^([^\pL%]*?){SPACES}*([\pL%].*)?$"
_PART_NAMES = exp.Array(
    expressions=[exp.Literal.string(name) for name in ("sign", "whole", "fraction")]
)


@dataclass(frozen=True)
class Scale:
    """How the values of one numeric QID become granules, in integers that fit HUGEINT."""

    factors: dict[str, int]
    """Unit code -> granules in one unit, times ``common``; one entry ``""`` without units."""
    common: int
    low: int | None
    """Lowest possible number of granules, or None; ``high`` likewise."""
    high: int | None
    digits: int
    """Digits before the point that a possible value may have."""
    decimals: int
    """Digits after the point that count; further ones are cut off."""


def scale_of(qid: Qid) -> Scale:
    """The exact arithmetic of ``qid``.

    Raises:
        DatasetError: its factors are not positive, or too fine for exact numbers.
    """
    granularity = Fraction(qid.granularity)
    units = qid.units or {"": Fraction(1)}
    shares = {code.strip().upper(): factor / granularity for code, factor in units.items()}
    if min(shares.values()) <= 0:
        raise DatasetError(f"key qid.{qid.name}.units: a factor is not above 0")
    common = math.lcm(*(share.denominator for share in shares.values()))
    factors = {code: int(share * common) for code, share in shares.items()}
    low: int | None = 0
    high: int | None = None
    digits = 15
    bounds = possible_range(qid)
    if bounds is not None:
        low, high = math.ceil(bounds[0] / granularity), math.floor(bounds[1] / granularity)
        largest = max(abs(low), abs(high)) + 1
        digits = len(str(math.ceil(largest / min(shares.values()))))
    decimals = min(
        18,
        _HUGEINT_DIGITS - 1 - digits - len(str(2 * max(factors.values()))),
        _HUGEINT_DIGITS - 2 - len(str(2 * common)),
    )
    if decimals < 3:
        raise DatasetError(f"key qid.{qid.name}: units and domain are too wide for exact numbers")
    return Scale(factors, common, low, high, digits, decimals)


def possible_range(qid: Qid) -> tuple[Fraction, Fraction] | None:
    """The range outside which a value is impossible; None where only negatives are."""
    pair = qid.limits if qid.domain == "observed" else qid.domain
    return (Fraction(pair[0]), Fraction(pair[1])) if isinstance(pair, tuple) else None


def with_granules(rows: exp.Select, qids: Iterable[Qid], decimal: str = ".") -> exp.Select:
    """Rows with the columns that ``granules_or_reason`` works on, in two layers.

    Args:
        rows: a query that has the column of each QID, and of its unit where there is one.
        qids: the quasi-identifiers; those that are not numeric are passed over.
        decimal: the decimal sign.

    Returns:
        The rows with ``text``, ``number``, ``part``, ``unit``, ``digits``, ``factor`` and
        ``granules`` of each QID: number is the text without its unit, with a decimal point; digits
        times factor is the number in units of 1 / (``common`` 10^``decimals``) granules (see
        ``Scale``), and granules that number, rounded as the QID says.

    Source:
        SPEC section 4 (values are brought to the declared granularity at ingestion).
    """
    parts: list[exp.Expression] = []
    numbers: list[exp.Expression] = []
    granules: list[exp.Expression] = []
    for qid in qids:
        if qid.kind != "numeric":
            continue
        scale, name = scale_of(qid), qid.name
        text = normalized(column(qid.column, "rows"))
        number, unit = _number_and_unit(qid, text, decimal)
        found = _call("regexp_extract", number.copy(), _text(_PARTS), _PART_NAMES.copy())
        parts += [_named(text, "text", name), _named(number, "number", name)]
        parts.append(_named(found, "part", name))
        factor: exp.Expression = _huge(scale.factors.get("", 1))
        if unit is not None:
            parts.append(_named(unit, "unit", name))
            factor = exp.Case(this=_work("unit", name))
            for code, share in scale.factors.items():
                factor = factor.when(_text(code), _huge(share))
        numbers += [_named(_digits(name, scale), "digits", name), _named(factor, "factor", name)]
        product = exp.Mul(this=_work("digits", name), expression=_work("factor", name))
        granule = scale.common * 10**scale.decimals
        value = _rounded(product, granule, half_up=qid.rounding == "half_up")
        granules.append(_named(value, "granules", name))
    inner = exp.select("*", *parts).from_(rows.subquery("rows"), copy=False)
    middle = exp.select("*", *numbers).from_(inner.subquery("parts", copy=False), copy=False)
    return exp.select("*", *granules).from_(middle.subquery("numbers", copy=False), copy=False)


def _number_and_unit(
    qid: Qid, text: exp.Expression, decimal: str
) -> tuple[exp.Expression, exp.Expression | None]:
    """The number of a value with a decimal point, and its unit; None: the QID has no units."""
    number, unit = text.copy(), None
    if qid.unit_in_value:
        number, unit = (
            _call("regexp_extract", text.copy(), _text(_VALUE_AND_UNIT), exp.Literal.number(part))
            for part in (1, 2)
        )
        unit = exp.Nullif(this=unit, expression=_text(""))
    elif qid.unit_column is not None:
        unit = normalized(column(qid.unit_column, "rows"))
    if decimal != ".":  # a point is no decimal sign then, and must not become one
        number = _call("translate", number, _text(f"{decimal}."), _text(f".{decimal}"))
    return number, unit


def granules_or_reason(qid: Qid) -> tuple[exp.Expression, exp.Expression]:
    """Granules of a numeric QID, and why a value that is there counts as missing (or NULL).

    Both are expressions over the rows of ``with_granules``; the first is NULL wherever the second
    is not.
    """
    scale, name = scale_of(qid), qid.name
    text, number, digits, granules = (
        _work(part, name) for part in ("text", "number", "digits", "granules")
    )
    blanks: list[exp.Expression] = [_is_null(text)]
    if qid.missing:
        codes = [normalized(_text(code)) for code in qid.missing]
        blanks.append(exp.In(this=text, expressions=codes))
    reason = exp.Case().when(exp.or_(*blanks), exp.null())
    reason = reason.when(exp.Not(this=_matches(number, _NUMBER)), _text(NOT_A_NUMBER))
    if qid.units:
        reason = reason.when(_is_null(_work("unit", name)), _text(NO_UNIT))
        reason = reason.when(_is_null(_work("factor", name)), _text(UNKNOWN_UNIT))
    if scale.low is not None and scale.low >= 0:
        below = exp.LT(this=digits, expression=_huge(0))
        reason = reason.when(below, _text("negative"))
    outside = [_is_null(granules)]
    if scale.low is not None:
        outside.append(exp.LT(this=granules, expression=_huge(scale.low)))
    if scale.high is not None:
        outside.append(exp.GT(this=granules, expression=_huge(scale.high)))
    reason = reason.when(exp.or_(*outside), _text(_range_text(qid)))
    usable = exp.and_(_is_null(exp.paren(reason.copy())), exp.Not(this=exp.paren(exp.or_(*blanks))))
    granule = exp.TryCast(this=granules, to=exp.DataType.build("BIGINT"))
    return exp.Case().when(usable, granule), reason


def _digits(name: str, scale: Scale) -> exp.Expression:
    """The number times 10^decimals as a HUGEINT; NULL if it has too many digits or is none."""

    def part(key: str) -> exp.Expression:
        return _call("struct_extract", _work("part", name), _text(key))

    length = exp.Literal.number(scale.decimals)
    fraction = _call("rpad", _call("left", part("fraction"), length), length, _text("0"))
    digits = _call("concat", part("sign"), part("whole"), fraction)
    number = exp.TryCast(this=digits, to=exp.DataType.build("HUGEINT", dialect="duckdb"))
    fits = exp.LTE(this=_call("length", part("whole")), expression=exp.Literal.number(scale.digits))
    return exp.Case().when(exp.and_(_matches(_work("number", name), _NUMBER), fits), number)


def _rounded(product: exp.Expression, unit: int, *, half_up: bool) -> exp.Expression:
    """``product / unit`` rounded down, or to the nearest with halves up; exact below zero too."""
    numerator: exp.Expression = exp.paren(product)
    if half_up:
        doubled = exp.Mul(this=numerator, expression=_huge(2))
        numerator = exp.paren(exp.Add(this=doubled, expression=_huge(unit)))
        unit *= 2
    rest = exp.paren(exp.Mod(this=numerator.copy(), expression=_huge(unit)))
    positive = exp.paren(exp.Add(this=rest, expression=_huge(unit)))
    floor_rest = exp.paren(exp.Mod(this=positive, expression=_huge(unit)))
    return exp.IntDiv(
        this=exp.paren(exp.Sub(this=numerator, expression=floor_rest)), expression=_huge(unit)
    )


def _range_text(qid: Qid) -> str:
    pair = qid.limits if qid.domain == "observed" else qid.domain
    if not isinstance(pair, tuple):
        return "too large"
    low, high = (format(Decimal(bound).normalize(), "f") for bound in pair)
    return f"outside {low} to {high} {qid.unit}".rstrip()


def _work(part: str, name: str) -> exp.Column:
    return column(f"{part} {name}")


def _named(value: exp.Expression, part: str, name: str) -> exp.Expression:
    return exp.Alias(this=value, alias=exp.to_identifier(f"{part} {name}", quoted=True))


def _is_null(value: exp.Expression) -> exp.Expression:
    return exp.Is(this=value, expression=exp.null())


def _huge(value: int) -> exp.Expression:
    kind = exp.DataType.build("HUGEINT", dialect="duckdb")
    return exp.Cast(this=exp.Literal.string(str(value)), to=kind)


def _text(value: str) -> exp.Expression:
    return exp.Literal.string(value)


def _matches(text: exp.Expression, pattern: str) -> exp.Expression:
    return _call("regexp_full_match", text.copy(), _text(pattern))


def _call(name: str, *arguments: exp.Expression) -> exp.Expression:
    return exp.Anonymous(this=name, expressions=list(arguments))
