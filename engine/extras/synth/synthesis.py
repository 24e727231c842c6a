"""Quarters and weeks as archives: cases, their terms and their layout put together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from srsql.engine.catalog.periods import days_of, named_period
from srsql.engine.extras.synth import children, population
from srsql.engine.extras.synth.archives import (
    Coded,
    Column,
    Sink,
    archive,
    day_number,
    lines,
    quarter_start,
    some_rows,
)
from srsql.engine.extras.synth.draws import Bools, Draws, Floats, Ints
from srsql.engine.extras.synth.population import Person, Reports, deleted_cases, persons, reports_of
from srsql.engine.extras.synth.quarters import (
    LEGACY_END,
    Plan,
    SynthError,
    archive_name,
    byte_order_mark,
    columns_of,
    headers,
    index_of,
    is_week,
    label_of,
    member_name,
    quarters_in,
    real_counts,
)
from srsql.engine.extras.synth.vocabulary import (
    DEATH,
    RULE_REACTIONS,
    Words,
    indications,
    reactions,
)
from srsql.engine.parameters import strict

_UNKNOWN = ("Product used for unknown indication", "Drug use for unknown indication")
"""What an indication says that says nothing: now, and in the legacy quarters."""
_CASE_VARIANTS = 0.0005
_FIRST_DRUG_SEQ = 1_004_490_000
_DRUG_SEQ_PER_REPORT = 5
TABLES_IN_TURN = ("demo", "drug", "indi", "ther", "reac", "outc", "rpsr")
"""Tables as ``_tables`` makes them, the reports first."""

Table = tuple[str, Mapping[str, Column], int]
"""A table's name, its columns by name, and its number of rows."""


@strict(SynthError)
def synthesize(
    out: str | Path,
    quarters: Sequence[str],
    *,
    cases: int | None = None,
    scale: float | None = None,
    seed: int = 0,
    zipped: bool = True,
    progress: Callable[[str], None] | None = None,
) -> list[Path]:
    """Write one archive per quarter, or ISO week; an equal archive that exists is kept.

    A period is the same bytes whatever other periods are asked for. The weeks of a quarter have its
    reports, each once: the reports of a week are those of its quarters that came in it.

    Args:
        out: the folder of the archives.
        quarters: their labels, such as 2011Q4, or those of weeks, such as 2024W07.
        cases: how many new cases every quarter has, plus the follow-ups of earlier ones.
        scale: instead of ``cases``: each quarter has its real row counts times ``scale``, exactly.
        seed: what every draw depends on.
        zipped: whether archives are zips, not folders.
        progress: told how many quarters are written, of how many, and the label of the next.

    Returns:
        The paths of the archives.

    Raises:
        SynthError: quarters or sizes cannot be made, or a different archive of the name is there.
    """
    places = [quarters_in(p) if is_week(p) else [index_of(p)] for p in quarters]
    labels = [
        named_period(label, ()) if is_week(label) else label_of(place[0])
        for label, place in zip(quarters, places, strict=True)
    ]
    plan = _checked(
        Plan(seed, cases, scale), sorted({index for place in places for index in place})
    )
    made: dict[int, list[Table]] = {}
    written = []
    for number, (label, indexes) in enumerate(zip(labels, places, strict=True)):
        if progress is not None:
            what = "weeks" if is_week(label) else "quarters"
            progress(f"{number} of {len(labels)} {what}; {label}")
        if is_week(label):
            written.append(_write_week(Path(out), plan, label, indexes, made, zipped=zipped))
        else:
            written.append(_write(Path(out), plan, indexes[0], zipped=zipped))
    return written


def _checked(plan: Plan, indexes: list[int]) -> Plan:
    if (plan.cases is None) == (plan.scale is None):
        raise SynthError("give either cases or scale")
    if plan.cases is not None and plan.cases < 1:
        raise SynthError(f"cases must be at least 1, not {plan.cases}")
    if plan.scale is not None:
        if not 0 < plan.scale <= 100:
            raise SynthError(f"scale must be above 0 and at most 100, not {plan.scale}")
        for index in indexes:
            if index not in real_counts():
                raise SynthError(f"{label_of(index)} has no real row counts; give cases instead")
    return plan


def _write(out: Path, plan: Plan, index: int, *, zipped: bool) -> Path:
    label = label_of(index)
    target = out / (archive_name(index, label) + (".zip" if zipped else ""))
    draws, legacy = Draws(plan.seed), index < LEGACY_END
    with archive(target, zipped=zipped) as sink:
        for table, columns, rows in _tables(_quarter(plan, draws, index)):
            header = headers(index)[table]
            wanted: list[Column] = [columns[name] for name in columns_of(header)]
            start = byte_order_mark(index, table) + header.encode()
            sink.add(member_name(index, label, table), lines(start, wanted, rows, trailing=legacy))
        _add_deleted(sink, deleted_cases(plan, draws, index), member_name(index, label, "delete"))
    return target


def _add_deleted(sink: Sink, deleted: Ints, name: str) -> None:
    if deleted.size:
        text = "".join(f"{case}\r\n" for case in np.sort(deleted).tolist())
        sink.add(name, [text.encode()])


def _write_week(
    out: Path,
    plan: Plan,
    label: str,
    indexes: list[int],
    made: dict[int, list[Table]],
    *,
    zipped: bool,
) -> Path:
    """Write the reports of a week: those rows of its quarters whose reports came in it.

    The list of deleted cases of a quarter comes with the first week that begins in it.

    Args:
        out: the folder of the archives.
        plan: how many reports quarters have.
        label: of the week, such as 2024W07.
        indexes: the numbers of the quarters that it lies in.
        made: tables of quarters, kept from one week to the next; others than these go.
        zipped: whether archives are zips.
    """
    monday, sunday = map(day_number, days_of(label) or ("", ""))
    draws, last = Draws(plan.seed), indexes[-1]
    for index in set(made) - set(indexes):
        del made[index]
    for index in set(indexes) - set(made):
        made[index] = list(_tables(_quarter(plan, draws, index)))
    target = out / (archive_name(last, label) + (".zip" if zipped else ""))
    with archive(target, zipped=zipped) as sink:
        for place, table in enumerate(TABLES_IN_TURN):
            header = headers(last)[table]
            text: list[bytes] = []
            for index in indexes:
                reports = made[index][0][1]
                came = np.asarray(reports["received"])
                inside = np.asarray(reports["primaryid"])[(came >= monday) & (came <= sunday)]
                name, columns, _ = made[index][place]
                assert name == table
                rows = np.flatnonzero(np.isin(np.asarray(columns["primaryid"]), inside))
                wanted = [some_rows(columns[name], rows) for name in columns_of(header)]
                start = byte_order_mark(index, table) + header.encode() if not text else b""
                text += lines(start, wanted, len(rows), trailing=last < LEGACY_END)
            sink.add(member_name(last, label, table), text)
        if monday - int(quarter_start(last)) in range(7):
            name = member_name(last, label, "delete")
            _add_deleted(sink, deleted_cases(plan, draws, last), name)
    return target


@dataclass(frozen=True)
class _Quarter:
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


def _quarter(plan: Plan, draws: Draws, index: int) -> _Quarter:
    """Return the reports of a quarter, the people behind them, and the reports' numbers."""
    reports = reports_of(plan, draws, index)
    isr = plan.first_isr(index) + np.arange(len(reports))
    primaryid = isr if index < LEGACY_END else reports.case * 10 + reports.version
    return _Quarter(plan, draws, reports, persons(draws, reports), primaryid, isr)


def _tables(quarter: _Quarter) -> Iterator[Table]:
    """Yield the seven tables one after another, so that only one is in memory as text."""
    reports, everyone = quarter.reports, np.arange(len(quarter.reports))
    demo = population.demo(quarter.draws, reports, quarter.person, quarter.isr)
    counted = {"caseversion": reports.version, "received": population.received_on(reports)}
    yield "demo", {**quarter.ids(everyone), **counted, **demo}, len(reports)
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


def _drug_tables(quarter: _Quarter, load: Floats) -> Iterator[Table]:
    """Yield the tables of drugs, of their indications and of their therapies."""
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
    indicated = children.indication_rows(draws, rows, reports, quarter.count("indi"))
    some = rows.take(indicated)
    term = children.indication_terms(draws, reports, quarter.person, some, source[indicated])
    keys = quarter.ids(some.report) | {"drug_seq": seq[indicated]}
    yield "indi", {**keys, "indi_pt": _indication(quarter, term)}, len(indicated)
    treated = children.therapy_rows(draws, rows, reports, quarter.count("ther"))
    some = rows.take(treated)
    keys = quarter.ids(some.report) | {"drug_seq": seq[treated]}
    yield "ther", {**keys, **children.therapy(draws, reports, some)}, len(treated)


def _reac(quarter: _Quarter, rows: children.Rows, term: Ints) -> dict[str, Column]:
    """Return the columns of REAC."""
    u = quarter.draws.unit(rows.keys, "spelling", rows.place)
    words = reactions().words
    term_text = _spelled(words, term, quarter.legacy, u < _CASE_VARIANTS)
    return {
        **quarter.ids(rows.report),
        "pt": term_text,
        "drug_rec_act": Coded(words, np.where(u > 0.9991, term, -1)),
    }


def _indication(quarter: _Quarter, term: Ints) -> Coded:
    """Return the terms of INDI; a negative one is the marker of an unknown indication."""
    words = indications().words
    marker = _UNKNOWN[1 if quarter.legacy else 0]
    return _spelled(
        np.append(words, marker),
        np.where(term < 0, len(words), term),
        quarter.legacy,
        np.zeros(len(term), dtype=bool),
    )


def _spelled(words: Words, term: Ints, upper: bool, other: Bools) -> Coded:
    """Return terms in the era's case, and in the other case where ``other``."""
    both = np.array([*words, *(word.upper() for word in words)], dtype=object)
    return Coded(both, term + len(words) * (other ^ upper))
