"""How a pair of a drug and a reaction went over time: by period, and of all periods up to it.

A case counts in every period that reports it, as that period has it, and once in all periods up to
one, in its latest state by then. The last cumulative table is therefore that of ``srsql signals``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import ClassVar, Literal

from sqlglot import exp

from srsql.engine.signals.asked import ask
from srsql.engine.signals.cases import (
    ORIGINAL,
    RELEASED,
    Suppressed,
    load_wanted,
    side_table,
    suppressed_of,
)
from srsql.engine.signals.counted import Counted, counted
from srsql.engine.signals.results import Measures
from srsql.engine.signals.rules import USUAL, Counting, Rule
from srsql.engine.signals.run import weighed
from srsql.engine.store.frames import Framed
from srsql.engine.store.statements import column, temporary
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

Span = Literal["period", "cumulative"]


@dataclass(frozen=True)
class TrendPoint:
    """The pair in one period, or in all periods up to it; measures have no EBGM."""

    period: str
    span: Span
    original: Measures | None
    """None where only released data were asked for."""
    released: Measures


@dataclass(frozen=True)
class Trend(Framed):
    """A pair over time: first every period by itself, then all up to each, the oldest first."""

    _tables: ClassVar[tuple[str, ...]] = ("points",)

    drug: str
    reaction: str
    points: tuple[TrendPoint, ...]
    counted: Counted


def trend(
    warehouse: Warehouse,
    dataset: Dataset,
    series: str,
    rule: Rule,
    *,
    quarter: str | None = None,
    released_only: bool = False,
    counting: Counting = USUAL,
) -> Trend:
    """Compute the trend of one pair; nothing is changed.

    Args:
        warehouse: may be read-only.
        dataset: says which columns are drug, reaction and role.
        series: whose releases.
        rule: the pair, and the condition that cases meet.
        quarter: only this one; None: all that are released.
        released_only: read no raw table, compare with nothing.
        counting: how cases are counted; strata are not.

    Raises:
        SignalError: see ``signals``; or clusters tell drugs and reactions.
    """
    asked = ask(warehouse, dataset, series, [rule], quarter=quarter,
                released_only=released_only, counting=counting)  # fmt: skip
    asked.scope.told.need_rows("--trend")
    scope, measured = replace(asked.scope, states=True), {}
    hidden = [
        suppressed_of(warehouse, replace(scope, releases={period: release}))
        for period, release in scope.releases.items()
    ]
    # the tables of periods allow for what is suppressed
    by_state = replace(asked, scope=scope, suppressed=Suppressed())
    with weighed(warehouse, by_state, rule.condition, counting) as run:
        load_wanted(warehouse, asked.scope, [0], [(rule.drug, rule.reaction)])
        for side in asked.sides:
            names = ("contingency", "case", "weight", "drug", "reaction")
            shown = hidden if side == RELEASED else [Suppressed()] * len(hidden)
            warehouse.run(
                run.of_side("trend", side, *names),
                {
                    "periods": list(scope.releases),
                    "suppressed": [each.reactions for each in shown],
                    "suppressed_drugs": [each.drugs for each in shown],
                },
            )
            statement = run.of_side("measure", side, "measure", "contingency")
            warehouse.run(statement, run.shown(side, run.prior[side]))
            rows = warehouse.rows(measured_of(side).sql(dialect="duckdb"))
            measured[side] = {(period, span): Measures(*row) for period, span, *row in rows}
    spans: Sequence[Span] = ("period", "cumulative")
    points = [
        TrendPoint(
            period,
            span,
            measured[ORIGINAL][period, span] if ORIGINAL in measured else None,
            measured[RELEASED][period, span],
        )
        for span in spans
        for period in scope.releases
    ]
    about = counted(warehouse, series, asked, rule.condition, counting)
    return Trend(rule.drug, rule.reaction, tuple(points), about)


def measured_of(side: str) -> exp.Select:
    """Period, span and ``Measures`` of the wanted pair on a side."""
    names = ["period", "span", *(field.name for field in fields(Measures))]
    found = exp.select(*[column(name, "m") for name in names])
    return found.from_(temporary(side_table(side, "measure"), alias="m"))
