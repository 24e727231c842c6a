"""The claims of the papers: what is compared, and how that is judged on the table of a comparison.

Each paper's claims stand in ``claims/PAPER.toml``. A claim holds where every comparison that the
table allows for agrees (or as large a share of them as its rule says, where the paper says "in
general"); it cannot be told where the grid has none. Comparisons are within one quarter and one
setting of the parameters that the models share.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib import resources
from statistics import fmean
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from srsql.engine.study.results import Column, Conditions, Row, hold

PAPERS = ("lin_2016", "huang_2021", "wu_2022", "loukides_2014", "lee_2020")
"""Files of claims and figures, in the order in which they are shown."""
SHARED = (
    "quarter", "theta", "k", "l", "alpha", "epsilon", "calibration", "m", "policy",
    "term_attributes", "suppress_below", "informative", "dimensions", "cases", "scope",
)  # fmt: skip
"""Columns by which two models are compared, each that both have."""
IL_PARTS = ("ncp", "emd", "rate")
Outcome = Literal["holds", "does not hold", "cannot be told"]
Key = tuple[Any, ...]
_SHOWN = 3
"""Pairs of a named comparison that are shown."""


@dataclass(frozen=True)
class Verdict:
    """What was measured of a claim."""

    outcome: Outcome
    agreeing: int
    """Comparisons that agree."""
    comparisons: int
    measured: str
    """Figures of the comparisons, in words."""


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Side(_Entry):
    """One side of a comparison: models, a measure, and which of their rows."""

    models: tuple[str, ...]
    measure: str
    scope: str = "release"
    """``*``: any."""
    where: Conditions = {}
    value: Column = "ratio"
    """What is compared."""

    def values(self, rows: Iterable[Row], by: Sequence[str]) -> dict[Key, float]:
        """Value of each setting, by the columns ``by`` and then the model: the mean of several.

        Settings that differ in the seed alone have several.
        """
        found: dict[Key, list[float]] = {}
        for row in rows:
            if (
                row["model"] in self.models
                and row["measure"] == self.measure
                and self.scope in ("*", row.get("scope"))
                and row.get(self.value) is not None
                and hold(self.where, row)
            ):
                key = (*(row.get(name) for name in by), row["model"])
                found.setdefault(key, []).append(row[self.value])
        return {key: fmean(values) for key, values in found.items()}

    @property
    def name(self) -> str:
        """In a few words, before its values."""
        return f"{self.measure} of {', '.join(self.models)}:"


class Relation(_Entry):
    """When a value x agrees with another, y, or with a constant, which then is y."""

    kind: Literal[
        "less_than", "at_most", "more_than", "at_least", "near", "zero", "times",
        "magnitude_at_most", "magnitude_at_least",
    ] = Field(alias="is")  # fmt: skip
    y: float = 0.0
    """The constant, where only one value is looked at."""
    factor: float = 1.0
    """Of y in less_than, at_most, more_than and at_least."""
    relative: float = 0.0
    """near: x and y differ by at most this share of the larger, ..."""
    absolute: float = 0.01
    """... or by this much."""
    times: tuple[float, float] = (1.0, 1.0)
    """times: x is between these multiples of y."""

    def agrees(self, x: float, y: float | None = None) -> bool:
        """Whether x stands in the relation to y, or to the constant."""
        y = self.y if y is None else y
        match self.kind:
            case "less_than":
                return x < self.factor * y
            case "at_most":
                return x <= self.factor * y
            case "more_than":
                return x > self.factor * y
            case "at_least":
                return x >= self.factor * y
            case "near":
                return abs(x - y) <= max(self.relative * max(abs(x), abs(y)), self.absolute)
            case "zero":
                return x == 0
            case "times":
                return self.times[0] * y <= x <= self.times[1] * y
            case "magnitude_at_most":
                return abs(x) <= abs(y)
            case "magnitude_at_least":
                return abs(x) >= abs(y)


class Claim(_Entry):
    """One sentence of a paper."""

    id: str
    paper: str
    place: str
    """Figure, table or section."""
    sentence: str
    rule: str
    """When a comparison agrees, in words."""


class PairsClaim(Claim):
    """About every pair of the values of two sides that share the columns ``by``."""

    compare: Literal["pairs"]
    left: Side
    right: Side
    relation: Relation
    """Of a value on the left to one on the right."""
    by: tuple[Column, ...] = SHARED
    across: tuple[Column, ...] = ()
    """Columns of ``by`` in which the two may differ nevertheless."""
    same_model: bool = False
    need: float = 1.0
    """The share of the comparisons that must agree."""

    def judge(self, rows: Sequence[Row]) -> Verdict:
        """The verdict on a table."""
        by = [name for name in self.by if name not in self.across]
        by += ["model"] if self.same_model else []
        others = self.right.values(rows, by)
        pairs = [
            (x, y)
            for key, x in self.left.values(rows, by).items()
            for other, y in others.items()
            if all(
                a == b or a is None or b is None for a, b in zip(key[:-1], other[:-1], strict=True)
            )
        ]
        left, right = (_span([pair[n] for pair in pairs]) for n in (0, 1))
        words = f"{self.left.name} {left}; {self.right.name} {right}"
        return verdict([self.relation.agrees(x, y) for x, y in pairs], words, self.need)


class TrendClaim(Claim):
    """About the greatest against the least value of a column, all other parameters the same."""

    compare: Literal["trend"]
    side: Side
    along: Column
    relation: Relation
    """Of the value at the greatest to the value at the least."""

    def judge(self, rows: Sequence[Row]) -> Verdict:
        """The verdict on a table."""
        by = [name for name in SHARED if name != self.along]
        lines: dict[Key, dict[Any, float]] = {}
        for key, value in self.side.values(rows, (*by, self.along)).items():
            if key[-2] is not None:
                lines.setdefault((*key[:-2], key[-1]), {})[key[-2]] = value
        pairs = [
            (line[max(line, key=_size)], line[min(line, key=_size)])
            for line in lines.values()
            if len(line) > 1
        ]
        greatest, least = (_span([pair[n] for pair in pairs]) for n in (0, 1))
        words = f"at the least {self.along} {least}, at the greatest {greatest}"
        return verdict([self.relation.agrees(x, y) for x, y in pairs], words)


class ValuesClaim(Claim):
    """About every value of one side, or about at least one of them."""

    compare: Literal["every", "some"]
    side: Side
    relation: Relation

    def judge(self, rows: Sequence[Row]) -> Verdict:
        """The verdict on a table."""
        found = list(self.side.values(rows, SHARED).values())
        agreed = [self.relation.agrees(x) for x in found]
        need = 1 / len(found) if found and self.compare == "some" else 1.0
        return verdict(agreed, f"{self.side.name} {_span(found)}", need)


class NamedClaim(Claim):
    """About more than a relation of two values expresses: judged by a function of ``NAMED``."""

    compare: Literal["named"]
    function: Literal[
        "gap_grows_with_level", "seconds_grow_below_square", "emd_and_rate_grow_with_noise"
    ]

    def judge(self, rows: Sequence[Row]) -> Verdict:
        """The verdict on a table."""
        return NAMED[self.function](rows)


def verdict(agreed: Sequence[bool], measured: str, need: float = 1.0) -> Verdict:
    """The verdict on comparisons.

    Args:
        agreed: for each comparison, whether it agrees.
        measured: the figures, in words.
        need: the share of the comparisons that must agree.
    """
    if not agreed:
        return Verdict("cannot be told", 0, 0, "the grid has nothing to compare")
    held = sum(agreed)
    holds = held >= need * len(agreed) - 1e-9
    return Verdict("holds" if holds else "does not hold", held, len(agreed), measured)


def gap_grows_with_level(rows: Sequence[Row]) -> Verdict:
    """Whether ARE(CBA) - ARE(disassociation) grows with the level of a hierarchy-based policy.

    Of each query of the workload W1, the greatest level against the least (Loukides 2014, Fig. 13).
    """
    by = [name for name in SHARED if name != "policy"]
    where = {"policy_kind": "level", "support": {"known": True}}
    ours = _side("disassociation", "are", scope="*", where=where)
    theirs = _side("cba", "are_released", scope="*", where=where)
    errors = {key[:-1]: value for key, value in theirs.values(rows, (*by, "policy")).items()}
    gaps: dict[Key, dict[int, float]] = {}
    for (*setting, policy, _), error in ours.values(rows, (*by, "policy")).items():
        if (*setting, policy) in errors:
            level = int(str(policy).partition(":")[2])
            gaps.setdefault(tuple(setting), {})[level] = errors[*setting, policy] - error
    pairs = [(gap[min(gap)], gap[max(gap)]) for gap in gaps.values() if len(gap) > 1]
    words = [f"{x:.4g} at the least level, {y:.4g} at the greatest" for x, y in pairs[:_SHOWN]]
    return verdict([y > x for x, y in pairs], "; ".join(words))


def seconds_grow_below_square(rows: Sequence[Row]) -> Verdict:
    """Whether the seconds of disassociation grow by less than the square of the number of cases.

    The largest sample against the smallest (Loukides 2014, Fig. 15(c)).
    """
    by = [name for name in SHARED if name not in ("scope", "cases")]
    side = _side("disassociation", "stage", scope="terms", value="seconds")
    lines: dict[Key, dict[int, float]] = {}
    for (*setting, cases, _), seconds in side.values(rows, (*by, "cases")).items():
        if cases is not None:
            lines.setdefault(tuple(setting), {})[cases] = seconds
    pairs = [
        (line[max(line)] / line[min(line)], (max(line) / min(line)) ** 2)
        for line in lines.values()
        if len(line) > 1 and line[min(line)] > 0
    ]
    words = [f"{x:.3g} times the seconds, {y:.3g} the squares" for x, y in pairs[:_SHOWN]]
    return verdict([x < y for x, y in pairs], "; ".join(words))


def emd_and_rate_grow_with_noise(rows: Sequence[Row]) -> Verdict:
    """Whether EMD and Rate together are a larger part of IL at the least ε than at the greatest.

    IL = NCP + EMD + Rate, summed over the heights of the lattice (Lee 2020, Fig. 8).
    """
    by = [name for name in SHARED if name not in ("scope", "epsilon")]
    sums: dict[Key, dict[float, dict[str, float]]] = {}
    for part in IL_PARTS:
        side = _side("ipa", part, scope="*", where={"height": {"known": True}})
        found = side.values(rows, (*by, "scope", "epsilon"))
        for (*setting, _, epsilon, _), value in found.items():
            of_epsilon = sums.setdefault(tuple(setting), {})
            of_epsilon.setdefault(epsilon, dict.fromkeys(IL_PARTS, 0.0))[part] += value
    pairs = []
    for line in sums.values():
        share = {
            epsilon: 1 - parts["ncp"] / sum(parts.values())
            for epsilon, parts in line.items()
            if sum(parts.values()) > 0
        }
        if len(share) > 1:
            pairs.append((share[min(share)], share[max(share)]))
    words = [f"{x:.3g} at the least epsilon, {y:.3g} at the greatest" for x, y in pairs[:_SHOWN]]
    return verdict([x > y for x, y in pairs], "; ".join(words))


NAMED: Mapping[str, Callable[[Sequence[Row]], Verdict]] = {
    function.__name__: function
    for function in (gap_grows_with_level, seconds_grow_below_square, emd_and_rate_grow_with_noise)
}
"""The comparisons that a claim names."""


@cache
def document(paper: str) -> dict[str, Any]:
    """One of the files of claims and figures, as TOML tells it."""
    file = resources.files("srsql.engine.study") / "claims" / f"{paper}.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))


Judged = PairsClaim | TrendClaim | ValuesClaim | NamedClaim
_ENTRY: TypeAdapter[Judged] = TypeAdapter(Annotated[Judged, Field(discriminator="compare")])
CLAIMS: tuple[Judged, ...] = tuple(
    _ENTRY.validate_python({"paper": paper["paper"], **entry})
    for paper in map(document, PAPERS)
    for entry in paper["claim"]
)


def _side(model: str, measure: str, **more: Any) -> Side:
    return Side.model_validate({"models": (model,), "measure": measure, **more})


def _size(value: Any) -> Any:
    return Fraction(value) if isinstance(value, str) else value


def _span(values: Sequence[float]) -> str:
    if not values:
        return ""
    low, high = min(values), max(values)
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
