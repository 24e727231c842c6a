"""Signals of pairs: `srsql signals`."""

from __future__ import annotations

from collections.abc import Sequence

from srsql.engine.signals.asked import ask
from srsql.engine.signals.counted import about
from srsql.engine.signals.results import Signals
from srsql.engine.signals.rules import (
    USUAL,
    Condition,
    Counting,
    Rule,
)
from srsql.engine.signals.run import Run, Sifted
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset


def signals(
    warehouse: Warehouse,
    dataset: Dataset,
    series: str,
    rules: Sequence[Rule] | Condition | Sifted,
    *,
    quarter: str | None = None,
    released_only: bool = False,
    counting: Counting = USUAL,
) -> Signals:
    """Compute the signals; nothing is changed.

    Args:
        warehouse: may be read-only.
        dataset: says which columns are drug, reaction and role.
        series: whose releases.
        rules: what to compute, or the condition under which to compute all pairs.
        quarter: only this one; default: all released quarters, each case as its latest has it.
        released_only: read no raw table, compare with nothing.
        counting: which roles count, what becomes of missing values and unknown names, what cases
            are parted by, and what is left out of them.

    Returns:
        One signal per rule, in the order of the rules, or every pair, the most cases first.

    Raises:
        SignalError: nothing is released, or the dataset has no such columns; or no case has a drug
            or reaction of that name. Who reads released views only is told of released names only.
    """
    rules = Sifted(rules) if isinstance(rules, Condition) else rules
    every = isinstance(rules, Sifted)
    asked = ask(
        warehouse, dataset, series, () if isinstance(rules, Sifted) else rules,
        quarter=quarter, released_only=released_only, counting=counting,
    )  # fmt: skip
    scope, sides, suppressed = asked.scope, asked.sides, asked.suppressed
    run = Run(warehouse, scope, sides, counting, suppressed)
    try:
        if isinstance(rules, Sifted):
            found, quantiles = run.all_pairs(rules)
        else:
            found, quantiles = run.rules(rules), ()
    finally:
        run.close()
    return Signals(
        every_pair=every,
        signals=found,
        quantiles=quantiles,
        priors=tuple(run.priors),
        strata=counting.strata,
        masked=run.masked,
        of_clusters=scope.told.of_clusters,
        **about(warehouse, series, asked, counting),
    )
