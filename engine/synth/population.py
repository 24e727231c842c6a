"""Who is reported when: cases, their versions over the quarters, and what is known of a person.

A case's schedule follows from its id alone, so a quarter is made without the quarters before it:
the cases that began up to ``HORIZON`` quarters earlier are asked whether they return in it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from srsql.engine.synth.draws import Bools, Draws, Floats, Ints, Keys, pick
from srsql.engine.synth.quarters import LEGACY_END, Plan, followup_share, same_quarter_share
from srsql.engine.synth.vocabulary import CELLS, RULE_DRUGS

HORIZON = 8
"""A case returns at most so many quarters after it began."""

MOST_VERSIONS = 9
"""One digit: caseid followed by caseversion never names two reports."""

DELETING_SINCE = 2019 * 4
"""First quarter whose archive carries a list of deleted cases."""

_DELETED_SHARE = 0.0075
_RULE_SHARES = [0.020, 0.012, 0.006, 0.008, 0.007]
_AGAIN = 0.42
_SURPLUS = 1.35
"""Follow-ups planned per one needed where the rows are fixed; what is too many is not written."""


@dataclass(frozen=True)
class Reports:
    """The reports of one quarter, column by column, one element a report."""

    index: int
    case: Ints
    version: Ints
    born: Ints
    """Number of the quarter in which the case began."""
    progress: Floats
    """When in the quarter the report came, in [0, 1)."""
    keys: Keys

    def __len__(self) -> int:
        """Return the number of reports."""
        return len(self.case)

    def take(self, rows: Ints | Bools) -> Reports:
        """Return some of the reports, in the order asked for."""
        names = ("case", "version", "born", "progress", "keys")
        return replace(self, **{name: getattr(self, name)[rows] for name in names})


def reports_of(plan: Plan, draws: Draws, index: int) -> Reports:
    """Return the reports of a quarter, ordered as its archive lists them.

    Args:
        plan: how many there are.
        draws: the random function.
        index: the number of the quarter.
    """
    known = [_returning(plan, draws, born, index) for born in range(index - HORIZON, index + 1)]
    rows, births = plan.rows(index), plan.births(index)
    later = np.concatenate(known)
    if rows is not None:
        order = np.argsort(draws.bits(draws.keys(later[:, 0]), "kept", later[:, 1] + index * 10))
        later = later[np.sort(order[: rows - births])]
        births = rows - len(later)
    new = np.empty((births, 4), dtype=np.int64)
    new[:, 0] = _case_ids(plan, index, births)
    new[:, 1:] = (1, index, 0)
    case, version, born, nth = np.concatenate([later, new]).T
    keys = draws.keys(case)
    progress = 1 - (1 - draws.unit(keys, "day", index)) * 0.6**nth
    found = Reports(index, case, version, born, progress, keys)
    by = (version, progress) if index < LEGACY_END else (version, case)
    return found.take(np.lexsort(by))


def deleted_cases(plan: Plan, draws: Draws, index: int) -> Ints:
    """Return the cases that began in the four quarters before and are deleted in this one.

    Args:
        plan: how many cases begin.
        draws: the random function.
        index: the number of the quarter.
    """
    if index < DELETING_SINCE:
        return np.empty(0, dtype=np.int64)
    found = []
    for born in range(index - 4, index):
        case = _case_ids(plan, born, plan.births(born))
        found.append(case[_deleted_in(draws, draws.keys(case), born) == index])
    return np.sort(np.concatenate(found))


def _case_ids(plan: Plan, index: int, count: int) -> Ints:
    first, owned = plan.first_case(index)
    slots = plan.rows(index) or count
    return first + np.arange(count, dtype=np.int64) * owned // max(slots, count)


def _deleted_in(draws: Draws, keys: Keys, born: int) -> Ints:
    u = draws.unit(keys, "deleted") / _DELETED_SHARE
    return np.where(u < 1, born + 1 + (u * 4).astype(np.int64), np.iinfo(np.int64).max)


def _returning(plan: Plan, draws: Draws, born: int, index: int) -> Ints:
    """Return (case, version, born, how many versions before it in this quarter) of follow-ups."""
    case = _case_ids(plan, born, plan.births(born))
    share = followup_share(born)
    surplus = 0.95 if plan.scale is None else _SURPLUS
    start = surplus * share / (1 - share) * (1 - _AGAIN)
    same = same_quarter_share(born)
    keys = draws.keys(case)
    weight = np.clip(1 + 0.5 * draws.normal(keys, "load"), 0.1, 2.5)
    alive = np.flatnonzero(draws.unit(keys, "return") < start * weight)
    case, keys = case[alive], keys[alive]
    at, nth = np.full(len(case), born), np.zeros(len(case), dtype=np.int64)
    found = [np.empty((0, 4), dtype=np.int64)]
    for version in range(2, MOST_VERSIONS + 1):
        u = draws.unit(keys, "delay", version)
        wait = np.where(u < same, 0, 1 + np.floor(-np.log2(np.maximum(1 - u, 1e-12) / (1 - same))))
        at, nth = at + wait.astype(np.int64), np.where(wait > 0, 0, nth + 1)
        due = (at == index) & (at < _deleted_in(draws, keys, born))
        columns = (case, np.full(len(case), version), np.full(len(case), born), nth)
        found.append(np.stack(columns, axis=1)[due])
        going = (at <= min(index, born + HORIZON)) & (draws.unit(keys, "again", version) < _AGAIN)
        case, keys, at, nth = case[going], keys[going], at[going], nth[going]
    return np.concatenate(found)


@dataclass(frozen=True)
class Person:
    """What is true of each report's person and of the latent profile of the case."""

    cell: Ints
    """Latent profile, 0 to ``CELLS`` - 1."""
    place: Floats
    """Place of the case's main disease on the line of indications."""
    rule: Ints
    """Index into ``RULE_DRUGS``, or -1."""
    age: Floats
    """Years."""
    female: Bools
    weight: Floats
    """Kilograms."""


def persons(draws: Draws, reports: Reports) -> Person:
    """Return the person behind each report."""
    keys = reports.keys
    rest = 1 - sum(_RULE_SHARES)
    rule = (pick([rest, *_RULE_SHARES], draws.unit(keys, "rule")) - 1).astype(np.int64)
    place = draws.unit(keys, "place")
    homes = (17 + 36 * np.arange(len(RULE_DRUGS))) / CELLS
    place = np.where(rule >= 0, homes[rule] + place / CELLS, place)
    cell = (place * CELLS).astype(np.int64)
    habits = np.random.default_rng(20040105).standard_normal((2, CELLS))
    female_share = np.clip(0.61 + 0.13 * habits[0], 0.08, 0.95)[cell]
    female_share = np.where(rule == RULE_DRUGS.index("ZELNORM"), 0.85, female_share)
    female = draws.unit(keys, "female") < female_share
    age = _ages(draws, keys, habits[1][cell], rule)
    return Person(cell, place, rule, age, female, _weights(draws, keys, age, female))


def _ages(draws: Draws, keys: Keys, habit: Floats, rule: Ints) -> Floats:
    """Children, the middle-aged and the old; the profile moves the mixture."""
    u, z = draws.unit(keys, "age group"), draws.normal(keys, "age")
    child = np.clip(0.06 - 0.04 * habit, 0.005, 0.4)
    child = np.select(
        [rule == RULE_DRUGS.index("REVATIO"), rule >= 0], [np.full(len(u), 0.4), 0.004], child
    )
    old = np.where(rule == RULE_DRUGS.index("WARFARIN"), 0.75, np.clip(0.66 + 0.12 * habit, 0, 1))
    young = 18 * draws.unit(keys, "child age") ** 1.15
    grown = np.where((u - child) / (1 - child) < old, 66 + 11 * z, 41 + 12 * z)
    return np.where(u < child, young, np.clip(np.abs(grown - 16) + 16, 16, 104))


def _weights(draws: Draws, keys: Keys, age: Floats, female: Bools) -> Floats:
    """Growth to 18 years, then the adults' skewed spread by sex, falling in old age."""
    grown = np.where(female, 69.0, 82.0) - np.clip(age - 70, 0, 30) * 0.4
    years = [0, 0.25, 1, 2, 5, 10, 14, 18]
    share = np.interp(age, years, [0.045, 0.08, 0.13, 0.165, 0.25, 0.44, 0.72, 1.0])
    spread = np.where(age < 18, 0.16, 0.22)
    return np.clip(grown * share * np.exp(spread * draws.normal(keys, "weight")), 0.4, 310)
