"""What a release with counts tells of women of 65 and more, and one of whole rows taken apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from srsql import Engine
from srsql.engine.signals.results import Signal

OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "counts": {"terms": "tables"},
    "whole rows": {"terms": "disassociate", "term_attributes": ["all"]},
}
"""Kind of release -> what it is asked for beside model, k and thresholds."""


def women_of_releases(
    engine: Engine, dataset: str, quarter: str, k: int, **options: Any
) -> Iterator[tuple[str, dict[str, object]]]:
    """Of pairs of a drug and a reaction that 3 women of 65 and more have: how well each is told.

    Both releases are of the same cases, which only a benchmark may ask for. Counts are of suspect
    drugs; whole rows tell no role, and are asked for the same pairs by drugs of any role.

    Args:
        engine: with the quarter, ingested.
        dataset: its name.
        quarter: to release.
        k: of the groups, and at least of a count.
        options: of both releases, such as ``theta``.
    """
    asked: set[tuple[str, str]] = set()
    for number, (kind, more) in enumerate(OPTIONS.items()):
        series = kind.replace(" ", "-")
        engine.release.make(
            quarter, dataset=dataset, series=series, model="ms", k=k, seed=1,
            allow_linkable=number > 0, **more, **options,
        )  # fmt: skip
        found = engine.signals.find(
            every_pair=True,
            dataset=dataset,
            series=series,
            quarter=quarter,
            sex="F",
            min_age=65,
            missing="exclude",
        ).signals
        asked = asked or {(each.drug, each.reaction) for each in found}
        yield kind, _told([each for each in found if (each.drug, each.reaction) in asked])


def _told(found: Sequence[Signal]) -> dict[str, object]:
    exact = pairs = wrong = cases = told_cases = sure = 0
    excess: list[float] = []
    for signal in found:
        ours, truth = signal.released, signal.original
        assert truth is not None
        pairs += 1
        cases += int(truth.a)
        sure += ours.a_lower
        wrong += not ours.a_lower <= truth.a <= ours.a_upper
        if ours.a_lower == ours.a_upper:
            exact += 1
            told_cases += int(truth.a)
        else:
            excess.append(ours.a_upper / truth.a)
    return {
        "pairs": pairs,
        "exact": exact,
        "wrong": wrong,
        "share exact": round(exact / max(1, pairs), 4),
        "share of cases exact": round(told_cases / max(1, cases), 4),
        "share of cases that lower bounds count": round(sure / max(1, cases), 4),
        "median upper bound to truth, else": round(median(excess), 2) if excess else None,
    }
