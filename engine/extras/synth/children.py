"""The child tables: drugs, reactions, indications, outcomes, sources and therapies of reports.

The i-th drug or reaction of a case is the same in all its versions; later versions have more.
Row counts are exact: sizes are scaled to the total, or the most likely rows are taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from srsql.engine.extras.synth.archives import Coded, Column, coded, dates, decimals, quarter_start
from srsql.engine.extras.synth.draws import Draws, Floats, Ints, Keys, fields, pick, to_unit
from srsql.engine.extras.synth.population import Person, Reports
from srsql.engine.extras.synth.quarters import LEGACY_END
from srsql.engine.extras.synth.vocabulary import (
    DEATH,
    RULE_DRUGS,
    RULE_REACTIONS,
    drugs,
    indications,
    reactions,
)

MOST_DRUGS, MOST_REACTIONS = 422, 200
_AVANDIA, _TYSABRI, _ZELNORM, _WARFARIN, _REVATIO = range(len(RULE_DRUGS))
_MI, _, _STROKE, _PML = range(len(RULE_REACTIONS))

_OUTCOME_RATES = [1.6, 0.51, 0.098, 0.046, 0.027, 0.0037, 1e-9]
_SOURCE_RATES = [0.70, 0.30, 0.005, 1e-9, 1e-9, 1e-9, 1e-9, 1e-9]


@dataclass(frozen=True)
class Rows:
    """Child rows: the report of each, its place within the report, and the case's key."""

    report: Ints
    place: Ints
    keys: Keys

    def take(self, rows: Ints) -> Rows:
        """Return some of the rows."""
        return Rows(self.report[rows], self.place[rows], self.keys[rows])


def loads(draws: Draws, reports: Reports) -> tuple[Floats, Floats]:
    """Return how much each report says of drugs and of reactions: heavy-tailed, growing."""
    common, growth = draws.normal(reports.keys, "load"), 1 + 0.12 * (reports.version - 1)
    own = draws.normal(reports.keys, "drug load"), draws.normal(reports.keys, "reaction load")
    drug, reaction = (0.65 * common + 0.76 * z for z in own)
    return np.exp(1.30 * drug) * growth, np.exp(1.12 * reaction) * growth


def exact_sizes(load: Floats, total: int, most: int) -> Ints:
    """Return sizes of at least one in proportion to a load.

    Args:
        load: one positive number for each set.
        total: what the sizes add up to; at least the number of sets.
        most: the largest size.
    """
    room = max(total - len(load), 0)
    low, high = 0.0, float(total)
    for _ in range(60):
        middle = (low + high) / 2
        fits = np.minimum(np.floor(middle * load), most - 1).sum() <= room
        low, high = (middle, high) if fits else (low, middle)
    extra = np.minimum(np.floor(low * load), most - 1)
    missing = int(room - extra.sum())
    extra[np.argsort(low * load % 1, kind="stable")[len(load) - missing :]] += 1
    return extra.astype(np.int64) + 1


def expand(reports: Reports, sizes: Ints) -> Rows:
    """Return one row for each element of the reports' sets."""
    report = np.repeat(np.arange(len(sizes)), sizes)
    starts = np.cumsum(sizes) - sizes
    return Rows(report, np.arange(len(report)) - starts[report], reports.keys[report])


def reaction_terms(draws: Draws, person: Person, rows: Rows) -> Ints:
    """Return a term for each reaction row: the rules' first, then by profile; repeats are rare.

    Args:
        draws: the random function.
        person: the person behind each report.
        rows: the reaction rows.
    """
    terms, cell = reactions(), person.cell[rows.report]
    words = draws.bits(rows.keys, "reaction", rows.place)
    found = terms.draw(cell, fields(words, 1)[0] < terms.lean, to_unit(words))
    ruled = _rule_reactions(draws, person, rows)
    found = np.where(ruled >= 0, ruled, found)
    for attempt in range(3):
        repeated = _repeats(rows.report, found, len(terms.words))
        again = draws.unit(rows.keys[repeated], "again", rows.place[repeated] * 4 + attempt)
        found[repeated] = terms.anywhere(again)
    twice, which = fields(draws.bits(rows.keys, "twice", rows.place), 2)
    twin = np.flatnonzero((rows.place > 0) & (twice < np.where(rows.place < 10, 0.003, 0.03)))
    found[twin] = found[twin - np.ceil(which[twin] * rows.place[twin]).clip(1).astype(np.int64)]
    return found


def _repeats(report: Ints, term: Ints, size: int) -> Ints:
    """Return the rows whose term an earlier row of the same report already has."""
    order = np.argsort(report * size + term, kind="stable")
    same = (np.diff(report[order]) == 0) & (np.diff(term[order]) == 0)
    repeated: Ints = order[1:][same]
    return repeated


def _rule_reactions(draws: Draws, person: Person, rows: Rows) -> Ints:
    """Return the reaction a rule puts in a row, or -1: the rule's k-th in the k-th place."""
    rule, age = person.rule[rows.report], person.age[rows.report]
    female, place = person.female[rows.report], rows.place
    u = draws.unit(rows.keys, "rule reaction", place)
    rules: list[tuple[int, int, int, Floats | float]] = [
        (_AVANDIA, 0, _MI, 0.26),
        (_AVANDIA, 1, _STROKE, 0.20),
        (_AVANDIA, 2, DEATH, 0.26),
        (_TYSABRI, 0, _PML, 0.09),
        (_ZELNORM, 0, _STROKE, np.where(female, 0.12, 0.05)),
        (_WARFARIN, 0, _MI, np.where(age >= 60, 0.14, 0.05)),
        (_REVATIO, 0, DEATH, np.where(age < 18, 0.40, 0.16)),
    ]
    found = np.full(len(rule), -1)
    for drug, at, reaction, share in rules:
        found[(rule == drug) & (place == at) & (u < share)] = reaction
    index = reactions().positions(RULE_REACTIONS)
    return np.where(found >= 0, index[found], -1)


def drug_names(draws: Draws, person: Person, rows: Rows) -> tuple[Ints, Ints]:
    """Return each drug row's name, and the place of the first row of the same product.

    The first drug is the primary suspect. Long lists repeat products (one row per dose).

    Args:
        draws: the random function.
        person: the person behind each report.
        rows: the drug rows.
    """
    names, cell = drugs().names, person.cell[rows.report]
    repeat, where = fields(draws.bits(rows.keys, "repeat", rows.place), 2)
    source = np.where(
        repeat < np.where(rows.place < 6, 0.07, 0.45),
        np.floor(where**2 * rows.place).astype(np.int64),
        rows.place,
    )
    words = draws.bits(rows.keys, "drug", source)
    lean = np.where(source == 0, 0.75, 0.25)
    found = names.draw(cell, fields(words, 1)[0] < lean, to_unit(words))
    rule = person.rule[rows.report]
    return np.where((rule >= 0) & (source == 0), drugs().rules[rule], found), source


def drug(draws: Draws, reports: Reports, rows: Rows, name: Ints) -> Mapping[str, Column]:
    """Return the columns of DRUG except the keys.

    Args:
        draws: the random function.
        reports: the reports of the quarter.
        rows: their drug rows.
        name: the index of each row's name among ``drugs().names``.
    """
    legacy = reports.index < LEGACY_END
    a, b, c, d = fields(draws.bits(rows.keys, "product", rows.place), 4)
    role = np.where(rows.place == 0, 0, pick([0.42, 0.57, 0.01], a) + 1)
    routes = ["", "Unknown", "Oral", "Subcutaneous", "Intravenous (not otherwise specified)"]
    routes += ["Intramuscular", "Topical"]
    forms = ["", "Tablet", "Injection, Solution", "Unknown", "Capsule", "Film-coated tablet"]
    amounts = ["5", "10", "20", "25", "40", "50", "100", "200", "300", "400", "500"]
    amount = (fields(name.astype(np.uint64) * np.uint64(40_503), 1)[0] * 11).astype(np.int64)
    dosed = b < 0.43
    units = pick([0.9, 0.035, 0.025, 0.02, 0.02], c)
    routing = pick([0.45, 0.05, 0.35, 0.05, 0.1] if legacy else [0.24, 0.29, 0.22, 0.15, 0.1], d)
    suspect = role < 2
    habit = fields(name.astype(np.uint64) * np.uint64(25_214_903_917), 1)[0]
    variants = 0 * role if legacy else pick([0.82, 0.12, 0.06], np.where(c < 0.004, a, habit))
    size = len(drugs().names.words)
    return {
        "role_cod": coded(["PS", "SS", "C", "I"], role),
        "drugname": Coded(drugs().spellings, name + size * variants),
        "prod_ai": Coded(drugs().ingredients, drugs().ingredient[name]),
        "val_vbm": coded(["1", "2"], (d > (0.8 if legacy else 0.993)).astype(np.int64)),
        "route": coded([r.upper() for r in routes] if legacy else routes, routing),
        "dose_vbm": coded([f"{x} MG" for x in amounts], amount, dosed | (b > 0.85)),
        "cum_dose_chr": coded([f"{x}00" for x in amounts], amount, c < 0.016),
        "cum_dose_unit": coded(["MG"], 0 * role, c < 0.016),
        "dechal": coded(["U", "D", "Y", "N"], pick([0.75, 0.1, 0.1, 0.05], d), suspect & (c < 0.8)),
        "rechal": coded(["U", "N", "Y"], pick([0.95, 0.03, 0.02], d), suspect & (c < 0.2)),
        "lot_num": coded([*"ABCDEFGH", "UNKNOWN"], pick([0.05] * 8, c), suspect & (a < 0.15)),
        "exp_dt": "",
        "nda_num": Coded(drugs().approvals, np.where(suspect & (b < 0.55), name, -1)),
        "dose_amt": coded(amounts, amount, dosed),
        "dose_unit": coded(["MG", "GM", "UG", "IU", "ML"], units, dosed),
        "dose_form": coded(forms, pick([0.46, 0.25, 0.1, 0.05, 0.06], a)),
        "dose_freq": coded(["", "QD", "BID", "/WK", "QOW"], pick([0.73, 0.15, 0.05, 0.04], c)),
    }


def most_likely(score: Floats, count: int) -> Ints:
    """Return the rows of the ``count`` least scores, in their order."""
    count = min(count, score.size)
    return np.sort(np.argsort(score, axis=None, kind="stable")[:count])


def indication_rows(draws: Draws, rows: Rows, reports: Reports, count: int) -> Ints:
    """Return which drug rows have an indication; a few have two and come twice.

    Args:
        draws: the random function.
        rows: the drug rows.
        reports: the reports of the quarter.
        count: how many indications there are.
    """
    own = draws.unit(rows.keys, "indicated", rows.place)
    score = 0.65 * draws.unit(reports.keys, "indicated")[rows.report] + 0.35 * own
    twice = round(0.02 * count)
    once = most_likely(score - 0.3 * (rows.place == 0), count - twice)
    second = once[most_likely(draws.unit(rows.keys[once], "second", rows.place[once]), twice)]
    return np.sort(np.concatenate([once, second]))


def indication_terms(
    draws: Draws, reports: Reports, person: Person, rows: Rows, source: Ints
) -> Ints:
    """Return a term for each indication row, -1 for the marker of an unknown one.

    Most known indications of a case are its main disease; other drugs have their own.

    Args:
        draws: the random function.
        reports: the reports of the quarter.
        person: the person behind each of them.
        rows: the indication rows (see ``indication_rows``).
        source: for each, the place of the first drug row of its product (see ``drug_names``).
    """
    terms = indications()
    second = np.concatenate([[False], (np.diff(rows.report) == 0) & (np.diff(rows.place) == 0)])
    ask = source * 2 + second
    a, b, c = fields(draws.bits(rows.keys, "indication", ask), 3)
    other = terms.draw(
        person.cell[rows.report], c < terms.lean, draws.unit(rows.keys, "indication term", ask)
    )
    main = (a < np.where(source == 0, 0.92, 0.42)) & ~second
    found = np.where(main, terms.at(person.place)[rows.report], other)
    share = unknown_share(reports.index)
    silent = draws.unit(reports.keys, "silent")[rows.report] < 0.6 * share
    return np.where(silent | (b < 0.4 * share / (1 - 0.6 * share)), -1, found)


def unknown_share(index: int) -> float:
    """Return the share of indications that only say they are unknown: 41 % of 2022Q4, 0 of 2004Q1.

    A straight line between the two samples, at its end from 2016 on.
    """
    return min(max(0.034 * (index - 2004 * 4) / 4, 0.0), 0.41)


def outcomes(draws: Draws, reports: Reports, dead: Ints, count: int) -> tuple[Ints, Column]:
    """Return the report of each OUTC row and its code.

    Args:
        draws: the random function.
        reports: the reports of the quarter.
        dead: those that have the reaction Death.
        count: how many rows there are.
    """
    codes = ["OT", "HO", "DE", "LT", "DS", "CA", "RI"]
    legacy = reports.index < LEGACY_END
    rates = [0.55, 0.65, 0.22, 0.16, 0.04, 0.015, 0.06] if legacy else _OUTCOME_RATES
    score = _waits(draws, reports, "outcome", rates, serious=0.75 if legacy else 0.5)
    score[dead, 2] = -1
    report, code = np.divmod(most_likely(score, count), len(codes))
    return report, coded(codes, code)


def sources(draws: Draws, reports: Reports, count: int) -> tuple[Ints, Column]:
    """Return the report of each RPSR row and its code.

    Args:
        draws: the random function.
        reports: the reports of the quarter.
        count: how many rows there are.
    """
    codes = ["HP", "CSM", "FGN", "OTH", "SDY", "CR", "LIT", "UF"]
    legacy = reports.index < LEGACY_END
    rates = [0.41, 0.22, 0.17, 0.16, 0.09, 0.09, 0.04, 0.01] if legacy else _SOURCE_RATES
    score = _waits(draws, reports, "source", rates, serious=0.7)
    report, code = np.divmod(most_likely(score, count), len(codes))
    return report, coded(codes, code)


def _waits(
    draws: Draws, reports: Reports, purpose: str, rates: list[float], serious: float
) -> Floats:
    """Return exponential waiting times per report and code: the least of them are the rows.

    Reports that are not among the ``serious`` wait 20 times as long for each of their codes.
    """
    codes = np.arange(len(rates))
    slow = np.where(draws.unit(reports.keys, purpose, 99) < serious, 1.0, 20.0)
    u = draws.unit(reports.keys[:, None], purpose, codes)
    return np.asarray(-np.log(1 - u) * slow[:, None] / np.asarray(rates))


def therapy_rows(draws: Draws, rows: Rows, reports: Reports, count: int) -> Ints:
    """Return which drug rows have a therapy.

    Args:
        draws: the random function.
        rows: the drug rows.
        reports: the reports of the quarter.
        count: how many therapies there are.
    """
    own = draws.unit(rows.keys, "therapy", rows.place)
    score = 0.6 * draws.unit(reports.keys, "therapy")[rows.report] + 0.4 * own
    return most_likely(score - 0.2 * (rows.place == 0), count)


def therapy(draws: Draws, reports: Reports, rows: Rows) -> Mapping[str, Column]:
    """Return the columns of THER except the keys.

    Args:
        draws: the random function.
        reports: the reports of the quarter.
        rows: the drug rows that have a therapy.
    """
    a, b, c, d = fields(draws.bits(rows.keys, "therapy dates", rows.place), 4)
    born = quarter_start(reports.born)[rows.report]
    start = born - 30 - (-400 * np.log(1 - a)).astype(np.int64)
    length = 1 + np.floor(-60 * np.log(1 - d))
    precision = pick([0.75, 0.11, 0.14], c)
    lasting = (a + b) % 1 < 0.30
    return {
        "start_dt": dates(start, b < 0.937, precision),
        "end_dt": dates(start + length.astype(np.int64) - 1, (b > 0.60) & (b < 0.96), precision),
        "dur": decimals(length, lasting),
        "dur_cod": coded(["DAY", "YR", "MON", "HR"], pick([0.75, 0.17, 0.07], c), lasting),
    }
