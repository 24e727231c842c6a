"""The tables of a pair over time, from the words of the definition alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from oracles.signals import Case, Condition, contingency


@dataclass(frozen=True)
class State:
    """What one period reports of a case."""

    case: int
    period: str
    told: Case


Cells = dict[str, tuple[float, float, float]]


def trend(
    states: Sequence[State],
    periods: Sequence[str],
    pair: tuple[str, str],
    conditions: Mapping[int, Condition],
    suppressed: Mapping[str, int],
) -> dict[tuple[str, str], Cells]:
    """(span, period) -> cell -> its lower, expected and upper number of cases."""
    found = {}
    for number, period in enumerate(periods):
        own = [state.told for state in states if state.period == period]
        found["period", period] = _table(own, pair, conditions, suppressed[period])
        latest: dict[int, Case] = {}
        for before in periods[: number + 1]:  # a later state takes the place of an earlier one
            latest |= {state.case: state.told for state in states if state.period == before}
        hidden = sum(suppressed[before] for before in periods[: number + 1])
        found["cumulative", period] = _table([*latest.values()], pair, conditions, hidden)
    return found


def _table(
    cases: Sequence[Case],
    pair: tuple[str, str],
    conditions: Mapping[int, Condition],
    hidden: int,
) -> Cells:
    """Any ``hidden`` of those who are not shown with the reaction may have it."""
    cells = contingency(cases, *pair, conditions)
    found: Cells = {}
    for with_it, without_it in (("a", "b"), ("c", "d")):
        lower, expected, upper = cells[with_it]
        other_lower, other_expected, other_upper = cells[without_it]
        found[with_it] = lower, float(expected), upper + min(hidden, other_upper)
        found[without_it] = max(0, other_lower - hidden), float(other_expected), other_upper
    return found
