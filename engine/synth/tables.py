"""One quarter's seven tables, put together from reports, persons and their children."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from srsql.engine.synth import children, demographics
from srsql.engine.synth.columns import Coded, Column
from srsql.engine.synth.draws import Draws, Ints
from srsql.engine.synth.population import Person, Reports, persons, reports_of
from srsql.engine.synth.quarters import LEGACY_END, Plan
from srsql.engine.synth.tails import Words
from srsql.engine.synth.vocabulary import DEATH, RULE_REACTIONS, indications, reactions

UNKNOWN = ("Product used for unknown indication", "Drug use for unknown indication")
"""What an indication says that says nothing: now, and in the legacy quarters."""

_CASE_VARIANTS = 0.0005
_FIRST_DRUG_SEQ = 1_004_490_000
_DRUG_SEQ_PER_REPORT = 5

Table = tuple[str, Mapping[str, Column], int]
"""A table's name, its columns by name, and its number of rows."""


@dataclass(frozen=True)
class Quarter:
    """What the tables of one quarter share."""

    plan: Plan
    draws: Draws
    reports: Reports
    person: Person
    primaryid: Ints
    isr: Ints

    @property
    def legacy(self) -> bool:
        """Whether the quarter has the legacy layout."""
        return self.reports.index < LEGACY_END

    def count(self, table: str) -> int:
        """Return the exact number of rows of a child table."""
        return self.plan.children(self.reports.index, table, len(self.reports))

    def ids(self, report: Ints) -> dict[str, Column]:
        """Return the key columns of rows that belong to these reports."""
        return {"primaryid": self.primaryid[report], "caseid": self.reports.case[report]}


def quarter_of(plan: Plan, draws: Draws, index: int) -> Quarter:
    """Return the reports of a quarter, the people behind them, and the reports' numbers."""
    reports = reports_of(plan, draws, index)
    isr = plan.first_isr(index) + np.arange(len(reports))
    primaryid = isr if index < LEGACY_END else reports.case * 10 + reports.version
    return Quarter(plan, draws, reports, persons(draws, reports), primaryid, isr)


def tables(quarter: Quarter) -> Iterator[Table]:
    """Yield the seven tables one after another, so that only one is in memory as text."""
    reports, everyone = quarter.reports, np.arange(len(quarter.reports))
    demo = demographics.demo(quarter.draws, reports, quarter.person, quarter.isr)
    yield "demo", {**quarter.ids(everyone), "caseversion": reports.version, **demo}, len(reports)
    loads = children.loads(quarter.draws, reports)
    yield from _drug_tables(quarter, loads[0])
    sizes = children.exact_sizes(loads[1], quarter.count("reac"), children.MOST_REACTIONS)
    rows = children.expand(reports, sizes)
    term = children.reaction_terms(quarter.draws, quarter.person, rows)
    yield "reac", _reac(quarter, rows, term), len(term)
    death = reactions().positions([RULE_REACTIONS[DEATH]])
    dead = np.unique(rows.report[term == death])
    report, code = children.outcomes(quarter.draws, reports, dead, quarter.count("outc"))
    yield "outc", {**quarter.ids(report), "outc_cod": code}, len(report)
    report, code = children.sources(quarter.draws, reports, quarter.count("rpsr"))
    yield "rpsr", {**quarter.ids(report), "rpsr_cod": code}, len(report)


def _drug_tables(quarter: Quarter, load: np.ndarray) -> Iterator[Table]:
    draws, reports = quarter.draws, quarter.reports
    sizes = children.exact_sizes(load, quarter.count("drug"), children.MOST_DRUGS)
    rows = children.expand(reports, sizes)
    name, source = children.drug_names(draws, quarter.person, rows)
    seq = rows.place + 1
    if quarter.legacy:
        first = quarter.plan.first_isr(reports.index) * _DRUG_SEQ_PER_REPORT
        seq = _FIRST_DRUG_SEQ + first + np.arange(len(seq))
    keys = quarter.ids(rows.report) | {"drug_seq": seq}
    yield "drug", {**keys, **children.drug(draws, reports, rows, name)}, len(seq)
    kept = children.indication_rows(draws, rows, reports, quarter.count("indi"))
    some = rows.take(kept)
    term = children.indication_terms(draws, reports, quarter.person, some, source[kept])
    keys = quarter.ids(some.report) | {"drug_seq": seq[kept]}
    yield "indi", {**keys, "indi_pt": _indication(quarter, term)}, len(kept)
    kept = children.therapy_rows(draws, rows, reports, quarter.count("ther"))
    some = rows.take(kept)
    keys = quarter.ids(some.report) | {"drug_seq": seq[kept]}
    yield "ther", {**keys, **children.therapy(draws, reports, some)}, len(kept)


def _reac(quarter: Quarter, rows: children.Rows, term: Ints) -> dict[str, Column]:
    u = quarter.draws.unit(rows.keys, "spelling", rows.place)
    words = reactions().words
    term_text = _spelled(words, term, quarter.legacy, u < _CASE_VARIANTS)
    return {
        **quarter.ids(rows.report),
        "pt": term_text,
        "drug_rec_act": Coded(words, np.where(u > 0.9991, term, -1)),
    }


def _indication(quarter: Quarter, term: Ints) -> Coded:
    words = indications().words
    marker = UNKNOWN[1 if quarter.legacy else 0]
    return _spelled(
        np.append(words, marker),
        np.where(term < 0, len(words), term),
        quarter.legacy,
        np.zeros(len(term), dtype=bool),
    )


def _spelled(words: Words, term: Ints, upper: bool, other: np.ndarray) -> Coded:
    """Return terms in the era's case, and in the other case where told."""
    both = np.array([*words, *(word.upper() for word in words)], dtype=object)
    return Coded(both, term + len(words) * (other ^ upper))
