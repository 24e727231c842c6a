"""Whether two drugs together are reported with a reaction more often than each would make it.

The measure of interaction with shrinkage (Noren, Sundberg, Bate and Edwards 2008) is in
``sql_macros/signals/interaction.sql``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from srsql.engine.errors import SignalError
from srsql.engine.signals.asked import ask
from srsql.engine.signals.cases import load_wanted
from srsql.engine.signals.counted import Counted, counted
from srsql.engine.signals.results import Verdict
from srsql.engine.signals.rules import USUAL, Condition, Counting, Rule
from srsql.engine.signals.run import weighed
from srsql.engine.store.frames import Framed
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset


@dataclass(frozen=True)
class InteractionMeasures:
    """One table and its measures; see ``interaction_measures`` for each. None: undefined.

    ``nijk`` is the expected number of cases with (1) or without (0) the drug, the other drug and
    the reaction, its ``_lower`` counts those that surely meet the condition, which are those that
    are known to, its ``_upper`` those that may. ``_lower`` and ``_upper`` of measures hold whatever
    values of the regions are true.
    """

    data: str
    """``original`` or ``released``."""
    n111: float
    n110: float
    n101: float
    n100: float
    n011: float
    n010: float
    n001: float
    n000: float
    n111_lower: int
    n110_lower: int
    n101_lower: int
    n100_lower: int
    n011_lower: int
    n010_lower: int
    n001_lower: int
    n000_lower: int
    n111_upper: int
    n110_upper: int
    n101_upper: int
    n100_upper: int
    n011_upper: int
    n010_upper: int
    n001_upper: int
    n000_upper: int
    e111: float | None
    """Cases with both drugs and the reaction that would be reported without interaction."""
    e111_known: float | None
    e111_lower: float | None
    e111_upper: float | None
    omega: float | None
    omega025: float | None
    omega975: float | None
    omega_known: float | None
    omega025_known: float | None
    omega_lower: float | None
    omega_upper: float | None
    omega025_lower: float | None
    omega025_upper: float | None
    signal_omega: Verdict


@dataclass(frozen=True)
class Interaction(Framed):
    """Two drugs and a reaction, in the originals, if they were read, and as released."""

    _tables: ClassVar[tuple[str, ...]] = ("measures",)

    drug: str
    with_drug: str
    reaction: str
    measures: tuple[InteractionMeasures, ...]
    counted: Counted


def interaction(
    warehouse: Warehouse,
    dataset: Dataset,
    series: str,
    asked_for: tuple[str, str, str, Condition],
    *,
    quarter: str | None = None,
    released_only: bool = False,
    counting: Counting = USUAL,
) -> Interaction:
    """Compute the interaction of two drugs; nothing is changed.

    Args:
        warehouse: may be read-only.
        dataset: says which columns are drug, reaction and role.
        series: whose releases.
        asked_for: the two drugs, the reaction, and the condition that cases meet.
        quarter: only this one; None: all that are released, each case as its latest has it.
        released_only: read no raw table, compare with nothing.
        counting: how cases are counted; strata are not.

    Raises:
        SignalError: see ``signals``; or the drugs are one, or clusters tell drugs and reactions.
    """
    drug, other, reaction, condition = asked_for
    rules = [Rule(drug, reaction, condition), Rule(other, reaction, condition)]
    asked = ask(warehouse, dataset, series, rules, quarter=quarter,
                released_only=released_only, counting=counting)  # fmt: skip
    asked.scope.told.need_rows("--with-drug")
    found = []
    with weighed(warehouse, asked, condition, counting) as run:
        load_wanted(warehouse, asked.scope, [0, 1], [(rule.drug, rule.reaction) for rule in rules])
        for side in asked.sides:
            statement = run.of_side("interaction", side, "weight", "drug", "reaction")
            one, two, _, *row = warehouse.rows(statement, run.hidden(side).parameters())[0]
            if one == two:
                raise SignalError(f"--with-drug {other!r} is the drug itself: give another one")
            found.append(InteractionMeasures(side, *row))
    about = counted(warehouse, series, asked, condition, counting)
    return Interaction(drug, other, reaction, tuple(found), about)
