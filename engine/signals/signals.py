"""Signals of disproportionate reporting: the originals against what was released of them.

Only the steward's form reads raw tables; ``released_only`` reads the released views, since
differences from the originals disclose what was withheld.
"""

from __future__ import annotations

from collections.abc import Sequence

from srsql.engine.errors import SignalError
from srsql.engine.models import MODELS
from srsql.engine.signals.cases import ORIGINAL, RELEASED, Scope
from srsql.engine.signals.results import Signals
from srsql.engine.signals.rules import Condition, Rule
from srsql.engine.signals.run import Run
from srsql.engine.warehouse.series import IMPORTED, find_series
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset


def signals(
    warehouse: Warehouse,
    dataset: Dataset,
    series: str,
    rules: Sequence[Rule] | Condition,
    *,
    quarter: str | None = None,
    roles: Sequence[str] | None = None,
    released_only: bool = False,
) -> Signals:
    """Compute the signals; nothing is changed.

    Args:
        warehouse: may be read-only.
        dataset: says which columns are drug, reaction and role.
        series: whose releases.
        rules: what to compute, or the condition under which to compute all pairs.
        quarter: only this one; default: all released quarters, each case as its latest has it.
        roles: roles of the drug; default: the dataset's suspect roles; empty: every role.
        released_only: read no raw table, compare with nothing.

    Raises:
        SignalError: nothing is released, or the dataset has no such columns.
    """
    scope = _scope(warehouse, dataset, series, quarter, roles)
    every = isinstance(rules, Condition)
    run = Run(warehouse, scope, (RELEASED,) if released_only else (ORIGINAL, RELEASED))
    try:
        if isinstance(rules, Condition):
            found, quantiles = run.all_pairs(rules)
        else:
            found, quantiles = run.rules(rules), ()
    finally:
        run.close()
    return Signals(
        dataset=dataset.name,
        series=series,
        quarters=tuple(scope.releases),
        roles=scope.roles,
        released_only=released_only,
        every_pair=every,
        changed_since=() if released_only else _changed(warehouse, scope),
        perturbed=_perturbed(warehouse, scope),
        signals=found,
        quantiles=quantiles,
        priors=tuple(run.priors),
    )


def _scope(
    warehouse: Warehouse,
    dataset: Dataset,
    series: str,
    quarter: str | None,
    roles: Sequence[str] | None,
) -> Scope:
    declared = dataset.signals
    if declared is None:
        raise SignalError(
            f"dataset {dataset.name} does not say what a drug and a reaction are: its schema needs "
            "a [signals] section"
        )
    if roles and declared.role is None:
        raise SignalError(f"dataset {dataset.name} has no roles of drugs: leave --roles out")
    found = find_series(warehouse, dataset, series)
    if found is not None and found.family == IMPORTED:
        raise SignalError(f"series {series!r} is imported, without drugs: signals need your own")
    releases = dict(
        warehouse.rows(
            "SELECT r.quarter, r.release_id FROM srsql.release AS r WHERE r.dataset = ? "
            "AND r.series = ? AND r.status = 'released' ORDER BY r.quarter",
            [dataset.name, series],
        )
    )
    if found is None or not releases:
        raise SignalError(
            f"series {series!r} of {dataset.name} has no releases: run 'srsql release' first"
        )
    if quarter is not None:
        if quarter not in releases:
            raise SignalError(
                f"{quarter} is not released in series {series!r} (it has: {min(releases)} to "
                f"{max(releases)}): give another --quarter or --series"
            )
        releases = {quarter: releases[quarter]}
    chosen = declared.suspect if roles is None else roles
    return Scope(
        dataset,
        declared,
        found.cumulative_schema,
        releases,
        tuple(role.strip().upper() for role in chosen if role.strip()),
    )


def _perturbed(warehouse: Warehouse, scope: Scope) -> tuple[str, ...]:
    models = warehouse.rows(
        "SELECT r.quarter, r.model FROM srsql.release AS r "
        "WHERE list_contains(?::INTEGER[], r.release_id) ORDER BY r.quarter",
        [list(scope.releases.values())],
    )
    return tuple(
        quarter for quarter, name in models if (model := MODELS.get(name)) and model.perturbs_values
    )


def _changed(warehouse: Warehouse, scope: Scope) -> tuple[str, ...]:
    return tuple(
        quarter
        for (quarter,) in warehouse.rows(
            "SELECT r.quarter FROM srsql.release AS r "
            "INNER JOIN srsql.ingestion AS i ON r.ingestion_id = i.ingestion_id "
            "WHERE i.replaced AND list_contains(?::INTEGER[], r.release_id) ORDER BY 1",
            [list(scope.releases.values())],
        )
    )
