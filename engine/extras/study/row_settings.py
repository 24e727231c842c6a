"""Whole rows that are taken apart: what each way of it hides and keeps, and which one is best.

A setting is a release by ``MODEL`` whose rows are taken apart (``--terms disassociate
--term-attributes all``), in clusters of so many cases and against so many known items; or one whose
rows stay whole, to compare with. ``srsql advise --terms`` chooses among them, and
``python -m benchmarks frontier`` prints them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from srsql.engine.extras.study.results import Row
from srsql.engine.signals.results import Measures, Signal

MODEL = "ms"
"""Pseudonyms of such rows are per quarter, so that no model has earlier quarters to reckon with."""
TIMES = (2, 4, 8)
"""Cases of a cluster, at least, in multiples of k: sizes that are tried."""
KNOWN = (1, 2)
"""Items that an attacker may know (m) which are tried."""
TWO = "2 of the drugs or terms, worst"
"""Scope of what some two known items of a case do."""
ERRORS = {"are_w1": "W1, 5 %", "are_w2": "W2 held, all"}
"""Field -> scope of the measure ``are``."""
CRITERIA = ("mhra", "eb05")
DIGITS = 4
"""Shares that look equal in so many are equal to the recommendation."""


@dataclass(frozen=True)
class RowSetting:
    """One release, and what it measures; shares are those of released cases, None: not measured."""

    label: str
    k: int
    term_cases: int | None
    """Cases of a cluster, at least; None: the rows are whole."""
    m: int | None
    error: str | None = None
    """Why there is no release with these options."""
    looked_at: int = 0
    """Cases whose candidates were counted: all, or a sample of them."""
    below_k: float | None = None
    """Of them, those for which some two known items leave fewer than k candidates."""
    follows: float | None = None
    """Those for which some two known items let a further value follow with certainty."""
    are_w1: float | None = None
    """Average relative error of counts of frequent sets of items; None of whole rows, and where
    there are too many such sets."""
    are_w2: float | None = None
    """The same of random sets that some case holds."""
    a_ratio: float | None = None
    """Median ratio of expected to original cases, of the pairs of a drug and a reaction with three
    original cases or more."""
    prr_ratio: float | None = None
    mhra_before: int | None = None
    """Pairs that meet the criterion at their original counts; None: the dataset declares none."""
    mhra_kept: int | None = None
    """Of them, those that do at expected counts."""
    mhra_others: int | None = None
    """Pairs that do at expected counts alone."""
    eb05_before: int | None = None
    eb05_kept: int | None = None
    eb05_others: int | None = None
    seconds: float | None = None
    keeps: bool = False
    """Whether no more cases than allowed are left with fewer than k candidates."""

    @property
    def size(self) -> str:
        """Of its clusters, in words."""
        return "whole rows" if self.term_cases is None else f"{self.term_cases:,} cases"

    def share(self, criterion: str) -> float | None:
        """Of the signals by a criterion, those that are kept; None: there are none."""
        before, kept = getattr(self, f"{criterion}_before"), getattr(self, f"{criterion}_kept")
        return kept / before if before else None

    @property
    def signals_kept(self) -> float | None:
        """The mean of these shares over the criteria that some pair meets; None: none does."""
        shares = [share for name in CRITERIA if (share := self.share(name)) is not None]
        return sum(shares) / len(shares) if shares else None


@dataclass(frozen=True)
class RowAdvice:
    """How whole rows are best taken apart."""

    series: str
    """Of the recommended release."""
    max_singled_out: float
    recommended: RowSetting | None
    reason: str
    command: list[str] | None


@dataclass(frozen=True)
class KeptPairs:
    """What became of the pairs that meet a criterion, judged at expected counts."""

    before: int
    kept: int
    others: int


def meets(measures: Measures | None, criterion: str) -> bool:
    """Whether a table of expected counts meets the criterion, as one of whole cases would."""
    if measures is None:
        return False
    if criterion == "eb05":
        return (measures.eb05 or 0) >= 2
    prr, chi2 = measures.prr or 0, measures.chi2 or 0
    return prr >= 2 and measures.a >= 3 and chi2 >= 4


def kept_pairs(signals: Iterable[Signal], criterion: str) -> KeptPairs:
    """Of all pairs that are given, those that meet a criterion before, and after."""
    found = [(meets(s.original, criterion), meets(s.released, criterion)) for s in signals]
    before, both = sum(was for was, _ in found), sum(was and now for was, now in found)
    return KeptPairs(before, both, sum(now for _, now in found) - both)


def pair_rows(signals: Sequence[Signal]) -> Iterator[dict[str, Any]]:
    """What became of pairs, as rows of a worker: ratios and criteria."""
    biases = [each.bias for each in signals if each.bias is not None]
    for measure, values in (
        ("a_ratio", [bias.a_bias for bias in biases]),
        ("prr_ratio", [bias.prr_bias for bias in biases]),
    ):
        known = [value for value in values if value is not None]
        yield {"measure": measure, "scope": "median", "total": len(known),
               "ratio": median(known) if known else None}  # fmt: skip
    for criterion in CRITERIA:
        found = kept_pairs(signals, criterion)
        yield {"measure": "pairs_kept", "scope": criterion, "violating": found.kept,
               "total": found.before}  # fmt: skip
        yield {"measure": "pairs_gained", "scope": criterion, "violating": found.others}


def row_setting(
    options: Mapping[str, Any], rows: Sequence[Row], error: str | None = None
) -> RowSetting:
    """A setting with its figures.

    Args:
        options: of its release.
        rows: of the worker: uniform rows of metrics, ``pair_rows`` and the seconds.
        error: why there are none.
    """
    cases, m = options.get("term_cases"), options.get("m")
    size = "whole rows" if cases is None else f"term_cases={cases} m={m}"
    base: dict[str, Any] = {
        "label": f"{MODEL} k={options['k']} {size}", "k": options["k"], "term_cases": cases, "m": m
    }  # fmt: skip
    error = error or next(
        (row["error"] for row in rows if row["measure"] == "release" and row.get("error")), None
    )
    if error:
        return RowSetting(**base, error=error)
    found = {(row["measure"], row.get("scope")): row for row in rows}

    def told(measure: str, scope: str | None, column: str = "ratio") -> Any:
        return found.get((measure, scope), {}).get(column)

    pairs = {
        f"{criterion}_{name}": told(measure, criterion, column)
        for criterion in CRITERIA
        for name, measure, column in (
            ("before", "pairs_kept", "total"),
            ("kept", "pairs_kept", "violating"),
            ("others", "pairs_gained", "violating"),
        )
    }
    return RowSetting(
        **base,
        **pairs,
        looked_at=int(told("candidates_below_k", TWO, "total") or 0),
        below_k=told("candidates_below_k", TWO),
        follows=told("certain_term", TWO),
        a_ratio=told("a_ratio", "median"),
        prr_ratio=told("prr_ratio", "median"),
        seconds=told("release", None, "seconds"),
        **{name: told("are", scope) for name, scope in ERRORS.items()},
    )


def judge_rows(settings: Sequence[RowSetting], bound: float) -> list[RowSetting]:
    """The same, marked as leaving at most such a share of cases with fewer than k candidates."""
    return [replace(one, keeps=one.below_k is not None and one.below_k <= bound)
            for one in settings]  # fmt: skip


def recommend_rows(settings: Sequence[RowSetting]) -> list[RowSetting]:
    """The settings that keep the bound, the recommended one first.

    First is what keeps most signals; where that looks equal, what makes fewer of pairs that are
    none, then what errs less in counts of frequent sets and of others, then the larger m.
    """
    return sorted((one for one in settings if one.keeps), key=_rank)


def _rank(one: RowSetting) -> tuple[object, ...]:
    far = float("inf")
    errors = (far if error is None else round(error, DIGITS) for error in (one.are_w1, one.are_w2))
    others = sum(getattr(one, f"{name}_others") or 0 for name in CRITERIA)
    whole = one.term_cases is not None  # whole rows have no such error
    return (-round(one.signals_kept or 0, DIGITS), others, whole, *errors, -(one.m or 0), one.label)


def rows_reason(settings: Sequence[RowSetting], bound: float) -> str:
    """Why the recommended setting is, or why there is none, in words."""
    keeping, measured = recommend_rows(settings), [one for one in settings if not one.error]
    whole = next((one for one in measured if one.term_cases is None), None)
    claim = f"leave at most {bound:.1%} of the cases with fewer than k candidates"
    if not keeping:
        least = min((one for one in measured if one.below_k is not None),
                    key=lambda one: one.below_k or 0, default=None)  # fmt: skip
        near = "" if least is None else f" Nearest: {least.label}, {least.below_k:.2%}."
        return f"No way of taking rows apart would {claim}, whoever knows two items.{near}"
    best = keeping[0]
    kept = _kept(best)
    if len(keeping) == 1:
        text = f"{best.label} is the only setting to {claim}, whoever knows two items: {kept}."
    else:
        text = (f"{best.label} keeps most signals of the {len(keeping)} settings that {claim}, "
                f"whoever knows two items: {kept}.")  # fmt: skip
        text += f" Runner-up: {keeping[1].label}, {_kept(keeping[1])}."
    if best.follows:
        text += f" Of {best.follows:.1%} of the cases two known items tell a further value."
    if whole is not None and whole is not best and whole.below_k is not None:
        text += (f" Rows left whole: {_kept(whole)}, and {whole.below_k:.1%} of the cases have "
                 "fewer than k candidates.")  # fmt: skip
    return text


def _kept(one: RowSetting) -> str:
    shares = {name.upper(): one.share(name) for name in CRITERIA}
    told = [f"{share:.1%} of those by {name}" for name, share in shares.items()
            if share is not None]  # fmt: skip
    if told:
        return " and ".join(told)
    errors = [f"{name} {value:.3f}" for name, value in (("W1", one.are_w1), ("W2", one.are_w2))
              if value is not None]  # fmt: skip
    return f"no pair is a signal, ARE {', '.join(errors)}" if errors else "no pair is a signal"
