"""The likelihood-ratio test of a drug over all reactions (Huang, Zalkikar and Tiwari 2011).

Under the null hypothesis the drug is reported with every reaction at the rate of all drugs: given
its total, its counts are multinomial with the shares of the reactions among all reports. The
largest likelihood ratio is compared with those of tables that are drawn so; each reaction is
compared with the same distribution, which keeps the chance of any false one at the level.

The test is of whole cases: of released ones, those whose region decides the condition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from srsql.engine.parameters import DRAWS
from srsql.engine.signals.asked import ask
from srsql.engine.signals.cases import ORIGINAL, RELEASED, load_wanted
from srsql.engine.signals.counted import Counted, counted
from srsql.engine.signals.rules import USUAL, Counting, Rule
from srsql.engine.signals.run import weighed
from srsql.engine.store.frames import Framed
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

LEVEL = 0.05
"""Of p-values up to which a reaction is a signal."""
_AT_ONCE = 2_000_000
"""Cells of tables that are drawn at once."""


@dataclass(frozen=True)
class Tested:
    """A reaction on one side."""

    n: int
    """Cases with both; a case counts in each pair of one of its drugs and its reactions."""
    expected: float
    """The row's total times the column's, over all."""
    log_lr: float
    log_lr_poisson: float
    """The same where the expected count is taken for known, as pvLRT has it; p is of ``log_lr``."""
    p_value: float
    signal: bool
    """p is at most 0.05."""


@dataclass(frozen=True)
class TestedReaction:
    """A reaction that is reported with the drug."""

    reaction: str
    original: Tested | None
    """None where only released data were asked for, or the originals do not have the pair."""
    released: Tested | None
    """None where nothing released has the pair."""


@dataclass(frozen=True)
class Null:
    """What the largest ratio of one side is compared with."""

    data: str
    """``original`` or ``released``."""
    reactions: int
    """That a case has."""
    n_drug: int
    """The column's total: pairs of a case of the drug and a reaction of it."""
    n_all: int
    """The total of the table: triples of a case, a drug and a reaction of it."""
    critical: float
    """The largest ratio of a drawn table is above it once in twenty."""
    largest: float


@dataclass(frozen=True)
class LikelihoodTest(Framed):
    """The reactions of a drug, the strongest first (as released)."""

    _tables: ClassVar[tuple[str, ...]] = ("reactions",)

    drug: str
    reactions: tuple[TestedReaction, ...]
    nulls: tuple[Null, ...]
    draws: int
    """Tables that were drawn."""
    seed: int
    counted: Counted


def likelihood(
    warehouse: Warehouse,
    dataset: Dataset,
    series: str,
    rule: Rule,
    drawing: tuple[int, int] = (DRAWS, 1),
    *,
    asking: tuple[str | None, bool] = (None, False),
    counting: Counting = USUAL,
) -> LikelihoodTest:
    """Test a drug over all reactions; nothing is changed.

    Args:
        warehouse: may be read-only.
        dataset: says which columns are drug, reaction and role.
        series: whose releases.
        rule: the drug, and the condition that cases meet; its reaction is not looked at.
        drawing: how many tables, and the seed.
        asking: the quarter (None: all that are released), and whether only released rows are read.
        counting: how cases are counted; strata are not.

    Raises:
        SignalError: see ``signals``; or clusters tell drugs and reactions.
    """
    draws, seed = drawing
    quarter, released_only = asking
    asked = ask(warehouse, dataset, series, [rule], quarter=quarter,
                released_only=released_only, counting=counting)  # fmt: skip
    asked.scope.told.need_rows("--likelihood")
    rows: dict[str, list[_Ratio]] = {}
    with weighed(warehouse, asked, rule.condition, counting) as run:
        load_wanted(warehouse, asked.scope, [0], [(rule.drug, "")])
        for side in asked.sides:
            statement = run.of_side("likelihood", side, "weight", "drug", "reaction")
            rows[side] = [_Ratio(*row) for row in warehouse.rows(statement)]
    nulls, found = [], {}
    for side, told in rows.items():
        of_drug, of_all = (told[0].n_drug, told[0].n_all) if told else (0, 0)
        drawn = null_distribution([row.n_reaction for row in told], of_drug, draws, seed)
        found[side] = {row.reaction: _tested(row, drawn) for row in told if row.n > 0}
        critical = float(np.quantile(drawn, 1 - LEVEL))
        largest = max((row.log_lr for row in told), default=0.0)
        nulls.append(Null(side, len(told), of_drug, of_all, critical, largest))
    released, original = found[RELEASED], found.get(ORIGINAL, {})
    names = [*released, *(name for name in original if name not in released)]
    return LikelihoodTest(
        rule.drug,
        tuple(TestedReaction(name, original.get(name), released.get(name)) for name in names),
        tuple(nulls),
        draws,
        seed,
        counted(warehouse, series, asked, rule.condition, counting),
    )


class _Ratio(NamedTuple):
    """A row of the statement ``likelihood``."""

    reaction: str
    n: int
    n_reaction: int
    n_drug: int
    n_all: int
    expected: float
    log_lr: float
    log_lr_poisson: float


def _tested(row: _Ratio, drawn: npt.NDArray[np.float64]) -> Tested:
    # equal ratios differ by rounding, of logarithms that are added up before they cancel
    least = row.log_lr - 1e-9 * max(1, row.log_lr)
    p = (1 + int(np.count_nonzero(drawn >= least))) / (1 + len(drawn))
    return Tested(row.n, row.expected, row.log_lr, row.log_lr_poisson, p, p <= LEVEL)


def null_distribution(
    totals: Sequence[int], of_drug: int, draws: int, seed: int
) -> npt.NDArray[np.float64]:
    """The largest logarithm of a likelihood ratio of each table that is drawn.

    Args:
        totals: of each reaction, in the table of all drugs and reactions.
        of_drug: the total of the drug.
        draws: how many tables.
        seed: of the generator.

    Returns:
        One number for each table; 0 where no reaction is reported more often than others.

    Source: Huang, Zalkikar and Tiwari 2011.
    """
    largest = np.zeros(draws)
    rows = np.asarray(totals, np.float64)
    if not of_drug or not len(rows):
        return largest
    everything, luck = rows.sum(), np.random.default_rng(seed)
    some = max(1, _AT_ONCE // len(rows))
    for first in range(0, draws, some):
        size = min(some, draws - first)
        table = luck.multinomial(of_drug, rows / everything, size=size)
        place, reaction = np.nonzero(table)
        ratios = log_ratios(table[place, reaction], rows[reaction], of_drug, everything)
        np.maximum.at(largest, first + place, ratios)
    return largest


def log_ratios(
    n: npt.NDArray[Any], totals: npt.NDArray[np.float64], of_drug: int, everything: float
) -> npt.NDArray[np.float64]:
    """The logarithms of the likelihood ratios of ``srsql.likelihood_ratios``, of counts above 0."""
    rest = of_drug - n
    with np.errstate(divide="ignore", invalid="ignore"):
        others = np.where(rest > 0, rest * np.log(rest / (everything - totals)), 0)
    found = n * np.log(n / totals) + others - of_drug * np.log(of_drug / everything)
    more: npt.NDArray[np.float64] = np.where(n * (everything - totals) > rest * totals, found, 0)
    return more
