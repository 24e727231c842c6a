"""Who is reported when: cases, their versions over the quarters, what DEMO says of a person.

A case's schedule follows from its id alone, so a quarter is made without the quarters before it:
the cases that began up to ``HORIZON`` quarters earlier are asked whether they return in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from srsql.engine.extras.synth.archives import Column, Joined, coded, dates, decimals, quarter_start
from srsql.engine.extras.synth.draws import Bools, Draws, Floats, Ints, Keys, fields, pick, to_unit
from srsql.engine.extras.synth.quarters import LEGACY_END, Plan, followup_share, same_quarter_share
from srsql.engine.extras.synth.vocabulary import (
    CELLS,
    COUNTRIES,
    COUNTRY_NAMES,
    COUNTRY_SHARES,
    RULE_DRUGS,
    makers,
)

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
PATTERNS = ((1, 1, 1), (1, 0, 1), (0, 0, 1), (0, 0, 0), (0, 1, 1), (1, 0, 0), (0, 1, 0), (1, 1, 0))
"""(age, weight, sex) known or not, in the order of the shares below."""
CURRENT_SHARES = [0.263, 0.4555, 0.117, 0.1185, 0.0405, 0.0040, 0.0005, 0.0010]
LEGACY_SHARES = [0.279, 0.4320, 0.185, 0.0500, 0.0230, 0.0200, 0.0030, 0.0080]
_FILLED_IN = 0.12
_UNITS = ["YR", "MON", "WK", "DY", "HR", "DEC", "XX", ""]
_PER_YEAR = np.array([1, 12, 365.25 / 7, 365.25, 8766, 0.1, 1, 1])
_GROUPS = ["N", "I", "C", "T", "A", "E"]


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


def demo(draws: Draws, reports: Reports, person: Person, isr: Ints) -> Mapping[str, Column]:
    """Return the columns of DEMO by their current names (and the legacy ones of their own).

    Args:
        draws: the random function.
        reports: the reports of the quarter.
        person: the person behind each of them.
        isr: their report numbers.
    """
    known = _known(draws, reports)
    columns = {
        **_age(draws, reports, person, known[0]),
        **_weight(draws, reports, person, known[1]),
    }
    columns["sex"] = _sex(draws, reports, person, known[2])
    columns |= _when(draws, reports, isr) | _who(draws, reports, isr)
    return columns


def _known(draws: Draws, reports: Reports) -> list[Bools]:
    """Which of age, weight and sex are known: a joint pattern, filled in by later versions."""
    legacy = reports.born < LEGACY_END
    u = draws.unit(reports.keys, "pattern")
    pattern = np.where(legacy, pick(LEGACY_SHARES, u), pick(CURRENT_SHARES, u))
    waits = fields(draws.bits(reports.keys, "fill"), 3)
    found = []
    for item, wait in enumerate(waits):
        filled = 2 + np.floor(np.log(1 - wait) / np.log(1 - _FILLED_IN))
        shown = np.array([row[item] for row in PATTERNS], dtype=bool)[pattern]
        found.append(shown | (reports.version >= filled))
    return found


def _changed(reports: Reports, u: Floats, share: float) -> Bools:
    """Whether a follow-up says otherwise than the first version."""
    return (reports.version > 1) & (u < share)


def _age(draws: Draws, reports: Reports, person: Person, known: Bools) -> dict[str, Column]:
    words = draws.bits(reports.keys, "age told")
    u, tenth, grouped, changed = fields(words, 4)
    years = np.where(
        _changed(reports, changed, 0.05), np.abs(person.age + np.sign(u - 0.5)), person.age
    )
    infant = np.select(
        [years < 2 / 365, years < 1 / 12, years < 1, years < 2],
        [
            pick([0, 0.1, 0, 0.5, 0.4], u),
            pick([0, 0.1, 0.25, 0.65], u),
            pick([0, 0.7, 0.15, 0.15], u),
            pick([0.6, 0.4], u),
        ],
        default=pick([0.985, 0.0035, 0.0005, 0.007, 0, 0.004], u),
    )
    odd = draws.unit(reports.keys, "age blemish")
    unit = np.select([odd < 0.0002, odd < 0.0003], [6, 7], infant)
    value = np.floor(years * _PER_YEAR[unit])
    legacy = reports.index < LEGACY_END
    value = np.where((tenth < 0.003) & (unit == 0) & legacy, np.floor(years * 10) / 10, value)
    value = np.where((odd > 0.9998) & known, np.floor(150 + 1800 * tenth), value)
    group = np.searchsorted([28 / 365.25, 2, 12, 18, 65], years, side="right")
    return {
        "age": decimals(value, known),
        "age_cod": coded(_UNITS, unit, known),
        "age_grp": coded(_GROUPS, group, grouped < np.where(known, 0.20, 0.12)),
    }


def _weight(draws: Draws, reports: Reports, person: Person, known: Bools) -> dict[str, Column]:
    u, digits, changed, odd = fields(draws.bits(reports.keys, "weight told"), 4)
    kilograms = person.weight * np.where(_changed(reports, changed, 0.04), 0.93 + 0.12 * u, 1.0)
    pounds = 0.22 if reports.index < LEGACY_END else 0.05 if reports.index < 2015 * 4 else 0.0
    unit = np.where(person.age < 0.5, pick([0.75, 0.05, 0.20], u), (u < pounds).astype(np.int64))
    value = kilograms * np.array([1, 1 / 0.45359237, 1000])[unit]
    places = np.where(unit == 0, pick([0.64, 0.19, 0.12, 0.05], digits), 0)
    places = np.where((value < 12) & (unit == 0), np.maximum(places, 2), places)
    value = np.floor(value * 10.0**places + 0.5) / 10.0**places
    value = np.where(odd < 0.0002, 999 * np.floor(u + 0.5), value)
    return {"wt": decimals(value, known), "wt_cod": coded(["KG", "LBS", "GMS"], unit, known)}


def _sex(draws: Draws, reports: Reports, person: Person, known: Bools) -> Column:
    u, changed = fields(draws.bits(reports.keys, "sex told"), 2)
    female = person.female ^ _changed(reports, changed, 0.004)
    unknown = [0.6, 0.3, 0.1] if reports.index < LEGACY_END else [0.94, 0.05, 0.01]
    code = np.where(known, np.where(female, 3, 4), pick(unknown, u))
    return coded(["", "UNK", "NS", "F", "M"], code)


def _when(draws: Draws, reports: Reports, isr: Ints) -> dict[str, Column]:
    begun = 90 * draws.unit(reports.keys, "day", reports.born)
    first = quarter_start(reports.born) + begun.astype(np.int64)
    received = received_on(reports)
    a, b, c, d = fields(draws.bits(reports.keys, "dates"), 4)
    lag = fields(draws.bits(reports.keys, "lag", reports.version), 2)
    event = first - 3 - (-150 * np.log(1 - a)).astype(np.int64)
    everyone = np.ones(len(reports), dtype=bool)
    from_maker = ~_direct(draws, reports)
    return {
        "event_dt": dates(event, b < 0.66, pick([0.86, 0.08, 0.06], c)),
        "mfr_dt": dates(received - 3 - (15 * lag[0]).astype(np.int64), from_maker),
        "init_fda_dt": dates(np.minimum(first, received), everyone),
        "fda_dt": dates(received, everyone),
        "rept_dt": dates(received - (3 * lag[1]).astype(np.int64), everyone),
        "death_dt": dates(event + 5, d < 0.004),
        "image": Joined((isr, "-", coded([*"0123456789X"], isr % 11))),
    }


def received_on(reports: Reports) -> Ints:
    """Return the day on which each report came (see ``quarter_start``)."""
    return quarter_start(reports.index) + (90 * reports.progress).astype(np.int64)


def _direct(draws: Draws, reports: Reports) -> Bools:
    return draws.unit(reports.keys, "direct") < (0.08 if reports.index < LEGACY_END else 0.04)


def _who(draws: Draws, reports: Reports, isr: Ints) -> dict[str, Column]:
    legacy = reports.index < LEGACY_END
    a, b, c, d = fields(draws.bits(reports.keys, "who"), 4)
    direct = _direct(draws, reports)
    maker = np.minimum(300 * to_unit(draws.bits(reports.keys, "maker")) ** 2.6, 299)
    sender = coded(makers().tolist(), maker.astype(np.int64), ~direct)
    country = pick(COUNTRY_SHARES, a)
    urgent = np.where(direct, 2, pick([0.62, 0.38], b))
    occupations = ["MD", "CN", "OT" if legacy else "HP", "PH", "LW", ""]
    serial = reports.case % 10_000_000
    origin = coded(COUNTRIES, country)
    papers = [f"SYNTHETIC AUTHOR {n}. CASE SERIES {n}." for n in range(400)]
    published = (d > 0.94) & ~direct
    share = [0.33, 0.26, 0.17, 0.06, 0.03, 0.15] if legacy else [0.31, 0.38, 0.22, 0.03, 0.05, 0.01]
    return {
        "i_f_code": coded(["I", "F"], (reports.version > 1).astype(np.int64)),
        "foll_seq": _followup_number(reports, c),
        "rept_cod": coded(["EXP", "PER", "DIR"], urgent),
        "auth_num": Joined((coded(COUNTRIES, country, (c < 0.03) & ~direct), "-", serial)),
        "mfr_num": Joined((origin, "-", sender, "-", reports.born // 4, serial)),
        "mfr_sndr": sender,
        "lit_ref": coded(papers, (a * 400).astype(np.int64), published),
        "e_sub": coded(["Y", "N"], (d > (0.45 if legacy else 0.96)).astype(np.int64)),
        "to_mfr": coded(["N", "Y"], (c > 0.8).astype(np.int64), direct),
        "confid": coded(["N", "Y"], (d > 0.8).astype(np.int64), direct),
        "occp_cod": coded(occupations, pick(share, c)),
        "reporter_country": coded(list(COUNTRY_NAMES.values()) if legacy else COUNTRIES, country),
        "occr_country": coded(COUNTRIES, country, d > 0.08),
    }


def _followup_number(reports: Reports, u: Floats) -> Column:
    return coded([*"012345678"], reports.version - 1, (reports.version > 1) & (u < 0.3))
