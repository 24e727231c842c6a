"""The claims of the papers: what is compared, and how that is judged on the table of a comparison.

Each paper's claims stand in ``PAPER.toml``. A claim holds where every comparison that the
table allows for agrees (or as large a share of them as its rule says, where the paper says "in
general"); it cannot be told where the grid has none. Comparisons are within one quarter and one
setting of the parameters that the models share.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from statistics import fmean, stdev
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from srsql.engine.extras.study.figures import figures_of
from srsql.engine.extras.study.results import Column, Conditions, Row, hold
from srsql.engine.store.doors import installed, lacking

PAPERS = ("lin_2016", "huang_2021", "wu_2022", "loukides_2014", "lee_2020")
"""Files of claims and figures, in the order in which they are shown."""
SHARED = (
    "quarter", "theta", "k", "l", "alpha", "epsilon", "calibration", "m", "policy",
    "term_attributes", "suppress_below", "share_suppression", "share_insertion", "share_value",
    "share_candidates", "informative", "dimensions", "cases", "scope",
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
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


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
        return {
            key: fmean(each for draw in seeds.values() for each in draw)
            for key, seeds in self._by_seed(rows, by).items()
        }

    def draws(self, rows: Iterable[Row], by: Sequence[str]) -> dict[Key, list[float]]:
        """The value of each setting by each of its seeds."""
        found = self._by_seed(rows, by)
        return {key: [fmean(draw) for draw in seeds.values()] for key, seeds in found.items()}

    def _by_seed(self, rows: Iterable[Row], by: Sequence[str]) -> dict[Key, dict[Any, list[float]]]:
        found: dict[Key, dict[Any, list[float]]] = {}
        for row in rows:
            if (
                row["model"] in self.models
                and row["measure"] == self.measure
                and self.scope in ("*", row.get("scope"))
                and row.get(self.value) is not None
                and hold(self.where, row)
            ):
                key = (*(row.get(name) for name in by), row["model"])
                found.setdefault(key, {}).setdefault(row.get("seed"), []).append(row[self.value])
        return found

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

    def decided(self, x: Sequence[float], y: Sequence[float] = ()) -> bool | None:
        """Whether means over seeds agree; None: not all do that lie within their intervals."""
        found = {self.agrees(a, b) for a in interval(x) for b in (interval(y) if y else (None,))}
        return found.pop() if len(found) == 1 else None


def interval(draws: Sequence[float]) -> tuple[float, ...]:
    """The mean of draws, and of several the ends of its 95 % interval by Student's t."""
    middle, n = fmean(draws), len(draws)
    if n < 2 or not installed("scipy"):
        return (middle,)
    from scipy.special import stdtrit

    half = float(stdtrit(n - 1, 0.975)) * stdev(draws) / math.sqrt(n)
    return (middle - half, middle, middle + half)


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
        others = self.right.draws(rows, by)
        pairs = [
            (x, y)
            for key, x in self.left.draws(rows, by).items()
            for other, y in others.items()
            if all(
                a == b or a is None or b is None for a, b in zip(key[:-1], other[:-1], strict=True)
            )
        ]
        left, right = (_span([fmean(pair[n]) for pair in pairs]) for n in (0, 1))
        words = f"{self.left.name} {left}; {self.right.name} {right}"
        return verdict([self.relation.decided(x, y) for x, y in pairs], words, self.need)


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
        lines: dict[Key, dict[Any, list[float]]] = {}
        for key, value in self.side.draws(rows, (*by, self.along)).items():
            if key[-2] is not None:
                lines.setdefault((*key[:-2], key[-1]), {})[key[-2]] = value
        pairs = [
            (line[max(line, key=_size)], line[min(line, key=_size)])
            for line in lines.values()
            if len(line) > 1
        ]
        greatest, least = (_span([fmean(pair[n]) for pair in pairs]) for n in (0, 1))
        words = f"at the least {self.along} {least}, at the greatest {greatest}"
        return verdict([self.relation.decided(x, y) for x, y in pairs], words)


class ValuesClaim(Claim):
    """About every value of one side, or about at least one of them."""

    compare: Literal["every", "some"]
    side: Side
    relation: Relation

    def judge(self, rows: Sequence[Row]) -> Verdict:
        """The verdict on a table."""
        found = list(self.side.draws(rows, SHARED).values())
        agreed = [self.relation.decided(each) for each in found]
        told = sum(each is not None for each in agreed)
        need = 1 / told if told and self.compare == "some" else 1.0
        return verdict(agreed, f"{self.side.name} {_span([*map(fmean, found)])}", need)


class WelchClaim(Claim):
    """About pairs of means of two sides: the left one is less, and not by chance.

    Welch's t-test of the errors of the queries of a workload, from their mean, their standard
    deviation (the measure called ``..._deviation``) and their number (its ``total``). Every seed is
    a comparison of its own: the queries of several are the same ones and would count for more than
    they are. A workload of fewer than two queries on a side is not compared.
    """

    compare: Literal["welch"]
    left: Side
    right: Side
    level: float = 0.01
    """Of p, two-sided, below which a difference is significant."""

    def judge(self, rows: Sequence[Row]) -> Verdict:
        """The verdict on a table."""
        if not installed("scipy"):
            return Verdict("cannot be told", 0, 0, lacking("scipy", "Welch's t-test"))
        by = [*SHARED, "seed"]
        others = _samples(self.right, rows, by)
        agreed, chances = [], []
        for key, ours in _samples(self.left, rows, by).items():
            for other, theirs in others.items():
                if any(
                    a != b and a is not None and b is not None
                    for a, b in zip(key[:-1], other[:-1], strict=True)
                ):
                    continue
                p = welch(ours, theirs)
                if p is not None:
                    agreed.append(ours.mean < theirs.mean and p < self.level)
                    chances.append(p)
        return verdict(agreed, f"p of Welch's t-test {_span(chances)}")


class NamedClaim(Claim):
    """About more than a relation of two values expresses: judged by a function of ``NAMED``."""

    compare: Literal["named"]
    function: Literal[
        "gap_grows_with_level",
        "seconds_grow_below_square",
        "emd_and_rate_grow_with_noise",
        "keeps_as_many_constraints_as_cba",
    ]

    def judge(self, rows: Sequence[Row]) -> Verdict:
        """The verdict on a table."""
        return NAMED[self.function](rows)


@dataclass(frozen=True)
class Sample:
    """Mean, standard deviation and size of a sample."""

    mean: float
    deviation: float
    size: float


def welch(one: Sample, other: Sample) -> float | None:
    """The chance, were both means the same, of a difference as large or larger: two-sided p.

    Two samples of unequal variances (B. L. Welch, Biometrika 34, 1947), with the degrees of freedom
    of Welch and Satterthwaite. None where a sample has fewer than two values. Where neither varies,
    equal means have a chance of 1, others of 0.
    """
    if min(one.size, other.size) < 2:
        return None
    parts = [sample.deviation**2 / sample.size for sample in (one, other)]
    if sum(parts) == 0:
        return float(one.mean == other.mean)
    from scipy.special import stdtr

    t = (one.mean - other.mean) / math.sqrt(sum(parts))
    sizes = (one.size, other.size)
    freedom = sum(parts) ** 2 / sum(v**2 / (n - 1) for v, n in zip(parts, sizes, strict=True))
    return float(2 * stdtr(freedom, -abs(t)))


def _samples(side: Side, rows: Sequence[Row], by: Sequence[str]) -> dict[Key, Sample]:
    """What each setting measured of the queries."""
    means = side.values(rows, by)
    spread = side.model_copy(update={"measure": f"{side.measure}_deviation"})
    deviations = spread.values(rows, by)
    sizes = spread.model_copy(update={"value": "total"}).values(rows, by)
    return {
        key: Sample(mean, deviations[key], sizes[key])
        for key, mean in means.items()
        if key in deviations and key in sizes
    }


def verdict(agreed: Sequence[bool | None], measured: str, need: float = 1.0) -> Verdict:
    """The verdict on comparisons.

    Args:
        agreed: for each comparison, whether it agrees; None: it does by some seeds alone.
        measured: the figures, in words.
        need: the share of the comparisons that must agree.
    """
    if not agreed:
        return Verdict("cannot be told", 0, 0, "the grid has nothing to compare")
    told = [each for each in agreed if each is not None]
    if len(told) < len(agreed):
        measured += f"; {len(agreed) - len(told)} more differ by seed"
    if not told:
        return Verdict("cannot be told", 0, 0, measured)
    held = sum(told)
    holds = held >= need * len(told) - 1e-9
    return Verdict("holds" if holds else "does not hold", held, len(told), measured)


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


def keeps_as_many_constraints_as_cba(rows: Sequence[Row]) -> Verdict:
    """Whether disassociation keeps at least the share of the constraints within 5 % that CBA keeps.

    The words name every setting in which CBA keeps more (Loukides 2014, section 6.3, which leaves
    CBA out of Figs. 19 to 25 "having established that our method outperforms" it).
    """
    by = [name for name in SHARED if name != "scope"]
    ours, theirs = (
        {key[:-1]: share for key, share in
         _side(model, "mre_within_5", scope="constraint").values(rows, by).items()}
        for model in ("disassociation", "cba")
    )  # fmt: skip
    both = [key for key in ours if key in theirs]
    better = [key for key in both if theirs[key] > ours[key]]
    words = []
    for key in sorted(better, key=lambda key: ours[key] - theirs[key]):
        told = dict(zip(by, key, strict=True))
        setting = [f"{name} {told[name]}" for name in ("policy", "k", "m", "cases") if told[name]]
        words.append(f"{', '.join(setting)}: cba {theirs[key]:.3g}, Dis {ours[key]:.3g}")
    if not better:
        words = [f"{_span(list(ours.values()))}; cba {_span(list(theirs.values()))}"]
    return verdict([key not in better for key in both], "; ".join(words))


NAMED: Mapping[str, Callable[[Sequence[Row]], Verdict]] = {
    function.__name__: function
    for function in (
        gap_grows_with_level,
        seconds_grow_below_square,
        emd_and_rate_grow_with_noise,
        keeps_as_many_constraints_as_cba,
    )
}
"""The comparisons that a claim names."""


@cache
def document(paper: str) -> dict[str, Any]:
    """One of the files of claims and figures, as TOML tells it."""
    file = Path(__file__).with_name(f"{paper}.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))


Judged = PairsClaim | TrendClaim | ValuesClaim | WelchClaim | NamedClaim
_ENTRY: TypeAdapter[Judged] = TypeAdapter(Annotated[Judged, Field(discriminator="compare")])
CLAIMS: tuple[Judged, ...] = tuple(
    _ENTRY.validate_python({"paper": paper["paper"], **entry})
    for paper in map(document, PAPERS)
    for entry in paper["claim"]
)


FIGURES = tuple(figure for paper in map(document, PAPERS) for figure in figures_of(paper))


class PaperGrid(_Entry):
    """What a comparison has to vary so that some figures of a paper, and their claims, are told."""

    paper: str
    places: tuple[str, ...]
    """Of the figures."""
    options: str
    """Of ``srsql compare``, beside the quarters and the folder."""

    @property
    def command(self) -> str:
        """As it is typed, over quarters from A to B."""
        return f"srsql compare --quarters A:B {self.options} --out compared"


GRIDS: tuple[PaperGrid, ...] = tuple(
    PaperGrid.model_validate({"paper": paper["paper"], **entry})
    for paper in map(document, PAPERS)
    for entry in paper["grid"]
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
