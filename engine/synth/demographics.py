"""The DEMO table: what each version of a report says about the person and the report itself."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from srsql.engine.synth.archives import Column, Joined, coded, dates, decimals, quarter_start
from srsql.engine.synth.draws import Bools, Draws, Floats, Ints, fields, pick, to_unit
from srsql.engine.synth.population import Person, Reports
from srsql.engine.synth.quarters import LEGACY_END
from srsql.engine.synth.vocabulary import makers

PATTERNS = ((1, 1, 1), (1, 0, 1), (0, 0, 1), (0, 0, 0), (0, 1, 1), (1, 0, 0), (0, 1, 0), (1, 1, 0))
"""(age, weight, sex) known or not, in the order of the shares below."""

CURRENT_SHARES = [0.263, 0.4555, 0.117, 0.1185, 0.0405, 0.0040, 0.0005, 0.0010]
LEGACY_SHARES = [0.279, 0.4320, 0.185, 0.0500, 0.0230, 0.0200, 0.0030, 0.0080]

_FILLED_IN = 0.12
_UNITS = ["YR", "MON", "WK", "DY", "HR", "DEC", "XX", ""]
_PER_YEAR = np.array([1, 12, 365.25 / 7, 365.25, 8766, 0.1, 1, 1])
_GROUPS = ["N", "I", "C", "T", "A", "E"]
_COUNTRY = {
    "US": "UNITED STATES", "CA": "CANADA", "DE": "GERMANY", "JP": "JAPAN", "GB": "UNITED KINGDOM",
    "FR": "FRANCE", "BR": "BRAZIL", "IT": "ITALY", "ES": "SPAIN", "CO": "COLOMBIA",
    "AU": "AUSTRALIA", "PL": "POLAND", "PT": "PORTUGAL", "IN": "INDIA", "NL": "NETHERLANDS",
    "CN": "CHINA", "SE": "SWEDEN", "AR": "ARGENTINA", "MX": "MEXICO", "CH": "SWITZERLAND",
}  # fmt: skip
_COUNTRIES = list(_COUNTRY)
_COUNTRY_SHARES = [0.56, 0.10, 0.055, 0.05, 0.05, 0.04, 0.02, 0.018, 0.015, 0.01, 0.01, 0.008]


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
    received = quarter_start(reports.index) + (90 * reports.progress).astype(np.int64)
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


def _direct(draws: Draws, reports: Reports) -> Bools:
    return draws.unit(reports.keys, "direct") < (0.08 if reports.index < LEGACY_END else 0.04)


def _who(draws: Draws, reports: Reports, isr: Ints) -> dict[str, Column]:
    legacy = reports.index < LEGACY_END
    a, b, c, d = fields(draws.bits(reports.keys, "who"), 4)
    direct = _direct(draws, reports)
    maker = np.minimum(300 * to_unit(draws.bits(reports.keys, "maker")) ** 2.6, 299)
    sender = coded(makers().tolist(), maker.astype(np.int64), ~direct)
    country = pick([*_COUNTRY_SHARES, *[0.008] * 8], a)
    urgent = np.where(direct, 2, pick([0.62, 0.38], b))
    occupations = ["MD", "CN", "OT" if legacy else "HP", "PH", "LW", ""]
    serial = reports.case % 10_000_000
    origin = coded(_COUNTRIES, country)
    papers = [f"SYNTHETIC AUTHOR {n}. CASE SERIES {n}." for n in range(400)]
    published = (d > 0.94) & ~direct
    share = [0.33, 0.26, 0.17, 0.06, 0.03, 0.15] if legacy else [0.31, 0.38, 0.22, 0.03, 0.05, 0.01]
    return {
        "i_f_code": coded(["I", "F"], (reports.version > 1).astype(np.int64)),
        "foll_seq": _followup_number(reports, c),
        "rept_cod": coded(["EXP", "PER", "DIR"], urgent),
        "auth_num": Joined((coded(_COUNTRIES, country, (c < 0.03) & ~direct), "-", serial)),
        "mfr_num": Joined((origin, "-", sender, "-", reports.born // 4, serial)),
        "mfr_sndr": sender,
        "lit_ref": coded(papers, (a * 400).astype(np.int64), published),
        "e_sub": coded(["Y", "N"], (d > (0.45 if legacy else 0.96)).astype(np.int64)),
        "to_mfr": coded(["N", "Y"], (c > 0.8).astype(np.int64), direct),
        "confid": coded(["N", "Y"], (d > 0.8).astype(np.int64), direct),
        "occp_cod": coded(occupations, pick(share, c)),
        "reporter_country": coded(list(_COUNTRY.values()) if legacy else _COUNTRIES, country),
        "occr_country": coded(_COUNTRIES, country, d > 0.08),
    }


def _followup_number(reports: Reports, u: Floats) -> Column:
    return coded([*"012345678"], reports.version - 1, (reports.version > 1) & (u < 0.3))
