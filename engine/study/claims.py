"""What a claim of a paper is, and how it is judged on the table of a comparison.

A claim holds where every comparison that the table allows for agrees (or most of them, where the
paper says "in general"); it cannot be told where the grid has none. Comparisons are within one
quarter and one setting of the parameters that the models share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import fmean
from typing import Any, Literal

Row = Mapping[str, Any]
Outcome = Literal["holds", "does not hold", "cannot be told"]
Key = tuple[Any, ...]
SHARED = (
    "quarter", "theta", "k", "l", "alpha", "epsilon", "calibration", "m", "policy",
    "term_attributes", "suppress_below", "informative", "dimensions", "cases", "scope",
)  # fmt: skip
"""Columns by which two models are compared, each that both have."""


@dataclass(frozen=True)
class Verdict:
    """What was measured of a claim."""

    outcome: Outcome
    agreeing: int
    """Comparisons that agree."""
    comparisons: int
    measured: str
    """Figures of the comparisons, in words."""


@dataclass(frozen=True)
class Claim:
    """One sentence of a paper."""

    paper: str
    place: str
    """Figure or section."""
    words: str
    rule: str
    """When a comparison agrees."""
    judge: Callable[[Sequence[Row]], Verdict]


@dataclass(frozen=True)
class Side:
    """One side of a comparison: models, a measure, and which of their rows."""

    models: tuple[str, ...]
    measure: str
    scope: str = "release"
    where: Callable[[Row], bool] = lambda _: True
    value: str = "ratio"
    """Column that is compared."""

    def values(self, rows: Iterable[Row], by: Sequence[str]) -> dict[Key, float]:
        """Value of each setting, by the columns ``by`` and then the model: the mean of several.

        Settings that differ in the seed alone have several.
        """
        found: dict[Key, list[float]] = {}
        for row in rows:
            if (
                row["model"] in self.models
                and row["measure"] == self.measure
                and (self.scope == "*" or row.get("scope") == self.scope)
                and row.get(self.value) is not None
                and self.where(row)
            ):
                key = (*(row.get(name) for name in by), row["model"])
                found.setdefault(key, []).append(row[self.value])
        return {key: fmean(values) for key, values in found.items()}


def each(
    left: Side,
    right: Side,
    agrees: Callable[[float, float], bool],
    by: Sequence[str] = SHARED,
    need: float = 1.0,
) -> Callable[[Sequence[Row]], Verdict]:
    """Every pair of both sides that shares the columns ``by``; ``need``: share that must agree."""

    def judge(rows: Sequence[Row]) -> Verdict:
        others = right.values(rows, by)
        pairs = [
            (x, y)
            for key, x in left.values(rows, by).items()
            for other, y in others.items()
            if all(
                a == b or a is None or b is None for a, b in zip(key[:-1], other[:-1], strict=True)
            )
        ]
        return verdict([agrees(x, y) for x, y in pairs], _ranges(left, right, pairs), need)

    return judge


def along(
    side: Side,
    column: str,
    agrees: Callable[[float, float], bool],
) -> Callable[[Sequence[Row]], Verdict]:
    """The least against the greatest value of a column, all other parameters the same."""
    by = [name for name in SHARED if name != column]

    def judge(rows: Sequence[Row]) -> Verdict:
        lines: dict[Key, dict[Any, float]] = {}
        for key, value in side.values(rows, (*by, column)).items():
            if key[-2] is not None:
                lines.setdefault((*key[:-2], key[-1]), {})[key[-2]] = value
        pairs = [
            (line[min(line, key=_size)], line[max(line, key=_size)])
            for line in lines.values()
            if len(line) > 1
        ]
        words = _span([x for x, _ in pairs]), _span([y for _, y in pairs])
        told = f"at the least {column} {words[0]}, at the greatest {words[1]}" if pairs else ""
        return verdict([agrees(x, y) for x, y in pairs], told)

    return judge


def all_of(side: Side, agrees: Callable[[float], bool]) -> Callable[[Sequence[Row]], Verdict]:
    """Every value of one side."""

    def judge(rows: Sequence[Row]) -> Verdict:
        found = list(side.values(rows, SHARED).values())
        return verdict([agrees(x) for x in found], f"{_name(side)} {_span(found)}" if found else "")

    return judge


def some_of(side: Side, agrees: Callable[[float], bool]) -> Callable[[Sequence[Row]], Verdict]:
    """At least one value of one side."""

    def judge(rows: Sequence[Row]) -> Verdict:
        found = list(side.values(rows, SHARED).values())
        told = f"{_name(side)} {_span(found)}" if found else ""
        return verdict([agrees(x) for x in found], told, 1 / len(found) if found else 1.0)

    return judge


def verdict(agreed: Sequence[bool], measured: str, need: float = 1.0) -> Verdict:
    """The verdict on comparisons of which a share ``need`` must agree."""
    if not agreed:
        return Verdict("cannot be told", 0, 0, "the grid has nothing to compare")
    held = sum(agreed)
    holds = held >= need * len(agreed) - 1e-9
    return Verdict("holds" if holds else "does not hold", held, len(agreed), measured)


def kind(row: Row) -> str:
    """Which policy the thresholds of a row follow: uniform, levels, frequency; empty: none."""
    theta = row.get("theta")
    if theta is None:
        return ""
    return theta if theta == "frequency" else "levels" if theta.startswith("levels:") else "uniform"


def number(row: Row) -> Fraction | None:
    """The uniform threshold of a row."""
    return Fraction(row["theta"]) if kind(row) == "uniform" else None


def near(x: float, y: float, share: float, least: float = 0.01) -> bool:
    """Whether two values differ by at most ``share`` of the larger, or by ``least``."""
    return abs(x - y) <= max(share * max(abs(x), abs(y)), least)


def _size(value: Any) -> Any:
    return Fraction(value) if isinstance(value, str) else value


def _name(side: Side) -> str:
    return f"{side.measure} of {', '.join(side.models)}:"


def _ranges(left: Side, right: Side, pairs: Sequence[tuple[float, float]]) -> str:
    if not pairs:
        return ""
    return (
        f"{_name(left)} {_span([x for x, _ in pairs])}; {_name(right)} "
        f"{_span([y for _, y in pairs])}"
    )


def _span(values: Sequence[float]) -> str:
    if not values:
        return ""
    low, high = min(values), max(values)
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
