"""What a call counts: everything that it names is there, and nothing is asked that is not told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from srsql.engine.catalog.datasets import normalized_texts, term_keys
from srsql.engine.catalog.releases import (
    counting_together,
    not_released,
    shows_keys,
    without_releases,
)
from srsql.engine.catalog.series import FOREIGN, PER_QUARTER, find_series
from srsql.engine.errors import SignalError
from srsql.engine.models import made_shape
from srsql.engine.shapes import shape_of
from srsql.engine.shapes.regions import ROWS, Told
from srsql.engine.signals.cases import (
    ORIGINAL,
    RELEASED,
    Scope,
    Suppressed,
    indication_of,
    load_names,
    suppressed_cases,
    suppressed_of,
    unknown_names,
)
from srsql.engine.signals.rules import (
    Condition,
    Counting,
    Rule,
)
from srsql.engine.store.statements import query
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

_RELEASES = "signals/releases"


@dataclass(frozen=True)
class Asked:
    """What a call counts, once everything that it names is known to be there."""

    scope: Scope
    sides: tuple[str, ...]
    unknown: tuple[str, ...]
    """Names that no case has, in words; they count as none."""
    suppressed: Suppressed


def ask(
    warehouse: Warehouse,
    dataset: Dataset,
    series: str,
    rules: Sequence[Rule],
    *,
    quarter: str | None,
    released_only: bool,
    counting: Counting,
) -> Asked:
    """What is counted, and of whom.

    Args:
        warehouse: may be read-only.
        dataset: says which columns are drug, reaction and role.
        series: whose releases.
        rules: whose names must be known; an empty one is none.
        quarter: only this one; None: all released ones.
        released_only: read no raw table.
        counting: how cases are counted.

    Raises:
        SignalError: see ``signals``.
    """
    scope = scope_of(warehouse, dataset, series, quarter, counting)
    sides = (RELEASED,) if released_only else (ORIGINAL, RELEASED)
    if scope.levels:
        load_names(warehouse, scope, sides)
    _check_names(warehouse, scope, rules, counting)
    allowed = counting.allow_unknown
    unknown = unknown_names(warehouse, scope, sides[0], rules, allowed=allowed) if rules else []
    masks = Rule(counting.without_drug or "", counting.without_reaction or "", Condition())
    if masks.drug or masks.reaction:
        unknown += unknown_names(warehouse, scope, sides[0], [masks], allowed=allowed)
    suppressed = suppressed_of(warehouse, scope)
    scope.told.need_strata(counting.strata, bands=bool(counting.bands), compared=ORIGINAL in sides)
    _need_told_by_rows(warehouse, scope, counting, suppressed)
    return Asked(scope, sides, tuple(unknown), suppressed)


def _check_names(
    warehouse: Warehouse, scope: Scope, rules: Sequence[Rule], counting: Counting
) -> None:
    """That names are names, and none of them of cases that are left out.

    Raises:
        SignalError: one is blank, or left out.
    """
    for what in ("drug", "reaction"):
        left = getattr(counting, f"without_{what}")
        asked = [name for rule in rules if (name := getattr(rule, what))]
        names = asked if left is None else [left, *asked]
        found = term_keys(warehouse, names, scope.dataset.term_key)
        keys = dict(zip(names, found, strict=True))
        for name, visible in zip(names, normalized_texts(warehouse, names), strict=True):
            if keys[name] is None or visible is None:  # a key keeps a text of no visible sign
                raise SignalError(f"{name!r} is no name of a {what}: give one")
        for name in asked:
            if left is not None and keys[name] == keys[left]:
                raise SignalError(f"the {what} {name!r} is left out by --without-{what}")


def left_out(counting: Counting) -> tuple[str, ...]:
    """The dominant drugs and reactions whose cases are left out, in words."""
    named = (("drug", counting.without_drug), ("reaction", counting.without_reaction))
    return tuple(f"{what} {name}" for what, name in named if name)


def _need_told_by_rows(
    warehouse: Warehouse, scope: Scope, counting: Counting, suppressed: Suppressed
) -> None:
    """That rows of cases tell what is asked for.

    Raises:
        SignalError: clusters tell it, or rows may lack it.
    """
    asked = {
        "--without-drug": counting.without_drug is not None,
        "--without-reaction": counting.without_reaction is not None,
        "--without-indications": counting.without_indications,
    }
    given = [option for option, wanted in asked.items() if wanted]
    if given:
        scope.told.need_rows(given[0])
    indications = counting.without_indications and (
        suppressed.reactions or suppressed_cases(warehouse, scope, indication_of(scope))
    )
    unseen = {
        "--without-drug": ("drugs", suppressed.drugs),
        "--without-reaction": ("reactions", suppressed.reactions),
        "--without-indications": ("reactions", indications),
    }
    for option, (what, hidden) in unseen.items():
        if asked[option] and hidden:
            raise SignalError(
                f"some released cases have {what} that no row shows, which {option} cannot tell: "
                "leave it out"
            )


def scope_of(
    warehouse: Warehouse,
    dataset: Dataset,
    series: str,
    quarter: str | None,
    counting: Counting,
) -> Scope:
    """Which rows count.

    Args:
        warehouse: may be read-only.
        dataset: says which columns are drug, reaction and role.
        series: whose releases.
        quarter: only this one; None: all released ones.
        counting: which roles and levels count.

    Raises:
        SignalError: nothing is released, or the dataset has no such columns, roles or levels.
    """
    declared, roles, shape = dataset.signals, counting.roles, shape_of(dataset)
    if declared is None:
        raise SignalError(
            f"dataset {dataset.name} does not say what a drug and a reaction are: its schema needs "
            "a [signals] section"
        )
    if roles and declared.role is None:
        raise SignalError(f"dataset {dataset.name} has no roles of drugs: leave --roles out")
    found = find_series(warehouse, dataset, series)
    if found is not None and found.family in FOREIGN:
        raise SignalError(f"series {series!r} is imported, without drugs: signals need your own")
    releases = dict(
        warehouse.rows(
            query(_RELEASES, "released_quarters"), {"dataset": dataset.name, "series": series}
        )
    )
    if found is None or not releases:
        raise SignalError(without_releases(warehouse, dataset.name, series))
    if quarter is not None:
        if quarter not in releases:
            raise SignalError(not_released(warehouse, dataset.name, series, quarter))
        releases = {quarter: releases[quarter]}
    elif len(releases) > 1:
        if found.ids == PER_QUARTER:
            raise SignalError(
                f"series {series!r} has other ids in every quarter, so cases cannot be counted "
                "over several: give --quarter"
            )
        shape.need_one_quarter(series, SignalError)
    told = Told(dataset, found.cumulative_schema, ROWS, roles)
    told = shape.told_pairs(warehouse, told, releases)
    dataset, roles = told.dataset, told.roles
    chosen = declared.suspect if roles is None else roles
    counted = {(declared.drug_table, declared.drug), (declared.reaction_table, declared.reaction)}
    for level in counting.levels:
        if (level.attribute.table, level.attribute.column) not in counted:
            raise SignalError(
                f"--level {level.key}: signals count {declared.drug} and {declared.reaction} alone"
            )
    return Scope(
        dataset,
        declared,
        told.schema,
        releases,
        tuple(role.strip().upper() for role in chosen if role.strip()),
        told.pairs,
        tuple(counting.levels),
        shows_keys=dataset.term_key > 0 and shows_keys(warehouse, releases.values()),
    )


def perturbed_quarters(warehouse: Warehouse, scope: Scope) -> tuple[str, ...]:
    """The quarters whose released values were drawn at random."""
    models = warehouse.rows(query(_RELEASES, "models"), {"releases": list(scope.releases.values())})
    return tuple(drawn for each, name in models for drawn in made_shape(name).drawn_in(each))


def quarters_together(warehouse: Warehouse, scope: Scope) -> tuple[str, ...]:
    """The quarters whose releases count several cases as one."""
    rows = warehouse.rows(query(_RELEASES, "schemas"), {"releases": list(scope.releases.values())})
    return counting_together(warehouse, {quarter: schema for schema, quarter in rows})


def replaced_quarters(warehouse: Warehouse, scope: Scope) -> tuple[str, ...]:
    """The quarters whose raw rows were replaced after their release."""
    rows = warehouse.rows(
        query(_RELEASES, "replaced_quarters"), {"releases": list(scope.releases.values())}
    )
    return tuple(quarter for (quarter,) in rows)


def dropped_cases(warehouse: Warehouse, scope: Scope) -> int:
    """Cases of the originals that releases were asked to leave out for want of a value."""
    releases = list(scope.releases.values())
    return int(warehouse.value(query(_RELEASES, "dropped_cases"), {"releases": releases}))
