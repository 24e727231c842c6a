"""The tables of a pair over time, from the words of the definition alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from oracles.signals import Case, Condition, contingency
from oracles.suppression import Hidden, moved


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
    suppressed: Mapping[str, Hidden],
) -> dict[tuple[str, str], Cells]:
    """(span, period) -> cell -> its lower, expected and upper number of cases."""
    found = {}
    for number, period in enumerate(periods):
        own = [state.told for state in states if state.period == period]
        found["period", period] = _table(own, pair, conditions, suppressed[period])
        latest: dict[int, Case] = {}
        for before in periods[: number + 1]:  # a later state takes the place of an earlier one
            latest |= {state.case: state.told for state in states if state.period == before}
        each = [suppressed[before] for before in periods[: number + 1]]
        hidden = sum(reactions for reactions, _ in each), sum(drugs for _, drugs in each)
        found["cumulative", period] = _table([*latest.values()], pair, conditions, hidden)
    return found


def _table(
    cases: Sequence[Case],
    pair: tuple[str, str],
    conditions: Mapping[int, Condition],
    hidden: Hidden,
) -> Cells:
    cells = contingency(cases, *pair, conditions)
    least = moved([cells[cell][0] for cell in "abcd"], hidden)
    most = moved([cells[cell][2] for cell in "abcd"], hidden)
    return {
        cell: (min(t[n] for t in least), float(cells[cell][1]), max(t[n] for t in most))
        for n, cell in enumerate("abcd")
    }
