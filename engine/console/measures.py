"""What a terminal shows of figures from released data: `metrics`, `status`, `signals`, `query`."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from dataclasses import fields
from decimal import Decimal
from heapq import nlargest
from typing import TYPE_CHECKING, Any

from srsql.engine.console import Legend, Parts, Table, out, result_table
from srsql.engine.console.forms import asked, too_narrow
from srsql.engine.errors import printable
from srsql.engine.measures import MeasureRow

if TYPE_CHECKING:
    from srsql.engine.catalog.levels import LevelSize
    from srsql.engine.query.answer import Answer
    from srsql.engine.query.coverage import Coverage, Spellings
    from srsql.engine.release.series import Status
    from srsql.engine.signals.counted import Counted
    from srsql.engine.signals.results import Measures, Shrinkage, Signal, Signals, Stratified
    from srsql.engine.signals.rules import Condition
    from srsql.engine.store.frames import Rows
    from srsql.schemas.glossary import Term

SHOWN_PAIRS = 10
"""Of all pairs, those in the table; `--json` and `Engine.signals.find` give all."""
SIGNAL_COLUMNS = [
    "rule",
    "data",
    "a",
    "b",
    "c",
    "d",
    "PRR",
    "ROR",
    "chi2",
    "IC",
    "IC shrunk",
    "EBGM",
    "criteria",
]
STRATIFIED_COLUMNS = [
    "rule",
    "data",
    "strata",
    "cases",
    "expected",
    "PRR (MH)",
    "PRR known, bounds",
    "ROR (MH)",
    "ROR known, bounds",
    "EBGM",
    "EBGM known, bounds",
    "criteria",
]
COMPLETE = ", complete"
"""After the data of which cases without a value that a condition asks for are left out."""
QUANTILE_COLUMNS = ["bias", "pairs", "least", "5 %", "25 %", "median", "75 %", "95 %", "most"]
_NAMES = {
    "a_bias": "a, released / original",
    "prr_bias": "PRR, released / original",
    "ror_bias": "ROR, released / original",
    "ebgm_bias": "EBGM, released / original",
    "ic_shift": "IC, released - original",
    "ic_shrunk_shift": "IC shrunk, released - original",
}
_CRITERIA = (
    ("signal_prr", "PRR"),
    ("signal_mhra", "MHRA"),
    ("signal_ror", "ROR"),
    ("signal_ic", "IC"),
    ("signal_eb05", "EB05"),
)
HOW_TO_READ = ("lower:", "lower and upper of")
"""How the note begins that says what the bounds of an answer are."""
SHOWN_ANSWERS = 200
"""Rows in the table; `--json` and `Engine.query.ask` give all."""


def metrics_parts(rows: list[MeasureRow], title: str) -> Parts:
    """Whether bounds are kept, what is not protected, a warning where noise left nothing, and every
    measure as one row: those that fail first."""
    from srsql.engine.shapes.drawn_values import shares_at_ends, worthless_values

    judged = [row for row in rows if row.passed is not None]
    failed = [row for row in judged if not row.passed]
    if failed:
        named = ", ".join(dict.fromkeys(row.measure for row in failed))
        yield f"{title}: NOT kept are {len(failed):,} of {len(judged):,} bounds: {named}"
    else:
        yield f"{title}: {_kept_text(len(judged))}; {len(rows):,} measures"
    yield from _unprotected(rows)
    yield from worthless_values(shares_at_ends(rows))
    others = [row for row in rows if row not in failed]
    yield result_table("measures", MeasureRow, (*failed, *others))
    yield Legend([f"{told.term}: {told.short}" for told in _measured_terms(rows)])


def _kept_text(bounds: int) -> str:
    return f"all {bounds:,} bounds are kept" if bounds else "no bound is measured"


def _unprotected(rows: list[MeasureRow]) -> Iterator[str]:
    """Whom drugs and terms tell beside the region, which no bound is about."""
    found = {
        row.scope: row.ratio
        for row in rows
        if row.measure == "candidates_below_k" and row.ratio is not None
    }
    worst = {scope: share for scope, share in found.items() if scope.endswith(", worst")}
    for what in ("drugs or terms", "drugs", "terms"):
        one, two = (worst.get(f"{n} of the {what}, worst") for n in (1, 2))
        if one is not None and two is not None:
            yield (
                f"not protected: with the region, one of the {what} leaves fewer than k candidates "
                f"for {one:.1%} of the cases at worst, two for {two:.1%}"
            )
            return


def _measured_terms(rows: list[MeasureRow]) -> Iterator[Term]:
    """What the glossary has of these measures."""
    from srsql.schemas.glossary import term

    for name in dict.fromkeys(row.measure for row in rows):
        with contextlib.suppress(KeyError):
            yield term(name)


RUN_COLUMNS = ["run", "command", "asked", "started", "seconds", "ended", "by"]


def status_parts(found: Status) -> Parts:
    """What the warehouse holds."""
    from srsql.engine.console.upkeep import lake_line

    yield f"{found.path}: {found.bytes_on_disk / 2**20:,.1f} MiB"
    yield from map(printable, found.incomplete)
    yield from found.stale
    if found.lake:
        yield lake_line(found.lake)
    if len(found.runs) > 1:
        yield Table("runs", RUN_COLUMNS, map(_run_row, found.runs))
    elif found.runs:
        number, command, _, started, seconds, ended, _ = _run_row(found.runs[0])
        took = f" after {seconds}" if seconds else ""
        yield f"last run ({number}): {command}, {started}, {ended}{took} (all: srsql status --runs)"
    tables = [("quarters", found.quarters), ("releases", found.releases)]
    tables += [("series", found.series)] if found.series else []
    tables += [("budget", found.budget)] if found.budget else []
    for title, rows in tables:
        if rows:
            yield Table(
                title, list(rows[0]), [list(map(_status_cell, row.values())) for row in rows]
            )
        else:
            yield f"no {title} yet"


def _run_row(run: dict[str, Any]) -> list[str]:
    """The cells of ``RUN_COLUMNS``."""
    asked = " ".join(f"{name}={value}" for name, value in run["parameters"].items())
    return [
        str(run["run_id"]),
        printable(run["command"]),
        printable(asked),
        run["started"],
        "" if run["seconds"] is None else f"{run['seconds']:,.1f} s",
        "no end: it was killed" if run["ended"] is None else f"exit {run['exit_code']}",
        printable(f"pid {run['pid']} on {run['host']}, srsql {run['software']}"),
    ]


def _status_cell(value: Any) -> str:
    if isinstance(value, dict):  # what has left a release, by reason
        return ", ".join(reason if n is None else f"{n:,} {reason}" for reason, n in value.items())
    return f"{value:,}" if isinstance(value, int) else str(value or "")


def signals_parts(found: Signals) -> Parts:
    """What was counted and found, the bias over all pairs, the signals, and how to read them."""
    yield from signal_lines(found)
    if found.quantiles:
        yield Table("bias", QUANTILE_COLUMNS, quantile_rows(found))
    rows = list(signal_rows(found))
    if (asked().form, asked().file) == (None, None) and too_narrow(out, SIGNAL_COLUMNS, rows):
        for table in tall_tables(found):
            yield from _parts_that_fit(table)
    else:
        named = asked().form == "records"
        yield Table("signals", SIGNAL_COLUMNS, _each_named(rows) if named else rows)
    if found.strata:
        title = f"over strata of {', '.join(found.strata)}"
        yield Table(title, STRATIFIED_COLUMNS, stratified_rows(found))
    yield from map(prior_text, found.priors)
    yield Legend(list(_signal_legend(found)))


def _each_named(rows: list[list[str]]) -> Iterator[list[str]]:
    """The rows, each with the rule that stands above it."""
    rule = ""
    for row in rows:
        rule = row[0] or rule
        yield [rule, *row[1:]]


def _parts_that_fit(table: Table) -> Iterator[Table]:
    """The table, or where a terminal is too narrow those with and those without missing values."""
    rows = [list(row) for row in table.rows]
    whole = Table(table.title, table.columns, rows)
    if len(table.columns) < 5 or not too_narrow(out, table.columns, rows):
        yield whole
        return
    for first in (1, 2):
        columns = [table.columns[0], *table.columns[first::2]]
        yield Table(table.title, columns, [[row[0], *row[first::2]] for row in rows])


def tall_tables(found: Signals) -> Iterator[Table]:
    """For a narrow terminal: a table of each signal, with the data side by side."""
    listed: list[list[list[str]]] = []
    for row in signal_rows(found):
        if row[0]:
            listed.append([])
        listed[-1].append(row)
    for rows in listed:
        cells = zip(SIGNAL_COLUMNS[2:], *(row[2:] for row in rows), strict=True)
        yield Table(printable(rows[0][0]), ["", *(row[1] for row in rows)], cells)


def signal_rows(found: Signals) -> Iterator[list[str]]:
    """The cells of ``SIGNAL_COLUMNS``; of all pairs, those whose PRR changes most."""
    for signal in _most_changed(found) if found.every_pair else found.signals:
        name = f"{signal.drug}{condition_text(signal.condition)} => {signal.reaction}"
        left_out = "" if found.missing == "spread" else COMPLETE
        for data, measures in (
            (f"original{left_out}", signal.original),
            (f"original{COMPLETE}", signal.original_complete),
            (f"released{left_out}", signal.released),
            (f"released{COMPLETE}", signal.released_complete),
        ):
            if measures is not None:
                yield [name, data, *measure_cells(measures)]
                name = ""


def stratified_rows(found: Signals) -> Iterator[list[str]]:
    """The cells of ``STRATIFIED_COLUMNS`` of the signals that ``signal_rows`` shows."""
    for signal in _most_changed(found) if found.every_pair else found.signals:
        name = f"{signal.drug}{condition_text(signal.condition)} => {signal.reaction}"
        for data, own in (
            ("original", signal.original_stratified),
            ("released", signal.released_stratified),
        ):
            if own is not None:
                yield [name, data, str(own.strata), *_stratified(own)]


def _stratified(own: Stratified) -> Iterator[str]:
    yield cell_text(own.n, own.n_lower, own.n_upper)
    yield f"{number_text(own.e)}{_between(own.e_known, own.e_lower, own.e_upper)}"
    for name, low, high in (
        ("prr", "prr_low", "prr_high"),
        ("ror", "ror_low", "ror_high"),
        ("ebgm", "eb05", "eb95"),
    ):
        ends = [getattr(own, each) for each in (low, high)]
        yield interval_text(getattr(own, name), *ends)
        bounds = [getattr(own, f"{name}_{end}") for end in ("known", "lower", "upper")]
        exact = "-" if getattr(own, name) is None else "exact"
        yield _between(*bounds).strip() or exact
    marks = {"holds": "", "undecided": "?"}
    met = [
        f"{label}{marks[verdict]}"
        for field, label in (("signal_prr", "PRR"), ("signal_ror", "ROR"), ("signal_eb05", "EB05"))
        if (verdict := getattr(own, field)) in marks
    ]
    yield ",".join(met)


def _between(known: float | None, lower: float | None, upper: float | None) -> str:
    """What the known cases alone have, and the bounds; nothing where all are the same."""
    if known == lower == upper:
        return ""
    return f" {number_text(known)} ({number_text(lower)} .. {number_text(upper)})"


def signal_table(found: Signals) -> Iterator[list[Any]]:
    """Every signal for a CSV file, a row for each of its data, the header first."""
    from srsql.engine.signals.results import Bias, Measures, Stratified

    names = [field.name for field in fields(Measures)]
    biases = [field.name for field in fields(Bias)]
    parted = [field.name for field in fields(Stratified)] if found.strata else []
    strata = [f"stratified_{name}" for name in parted]
    asked = ["drug", "reaction", "min_age", "max_age", "sex"]
    yield [*asked, "data", "missing", *names, *biases, *strata]
    for signal in found.signals:
        where = signal.condition
        rule = [signal.drug, signal.reaction, where.min_age, where.max_age, where.sex]
        for data, missing, measures, own in (
            ("original", found.missing, signal.original, signal.original_stratified),
            ("original", "exclude", signal.original_complete, None),
            ("released", found.missing, signal.released, signal.released_stratified),
            ("released", "exclude", signal.released_complete, None),
        ):
            if measures is not None:
                bias = signal.bias if measures is signal.released else None
                yield [
                    *rule,
                    data,
                    missing,
                    *(getattr(measures, name) for name in names),
                    *(getattr(bias, name, None) for name in biases),
                    *(getattr(own, name, None) for name in parted),
                ]


def quantile_rows(found: Signals) -> Iterator[list[str]]:
    """The cells of ``QUANTILE_COLUMNS``."""
    for row in found.quantiles:
        amounts = (row.least, row.p05, row.p25, row.median, row.p75, row.p95, row.most)
        yield [_NAMES[row.measure], f"{row.pairs:,}", *(number_text(amount) for amount in amounts)]


def signal_lines(found: Signals) -> Iterator[str]:
    """What was found and counted, and what it does not tell."""
    from srsql.engine.signals.counted import told_together
    from srsql.engine.store.doors import lacking

    if found.every_pair:
        yield _agreement(found)
    else:
        yield from map(_verdict, found.signals[:SHOWN_PAIRS])
    yield whose_text(found, ", each as its latest quarter has it")
    yield from originals_lines(found)
    if found.without:
        which = " or the ".join(found.without)
        yield printable(f"without the cases that have the {which}: {found.masked:,} released ones")
    if found.without_indications:
        yield "without reactions that the case has as an indication, too"
    if found.of_clusters:
        yield (
            "released drugs and reactions are told of clusters and of no row: (surely .. possibly) "
            "holds for every dataset that fits; expected takes all of them for equally likely; "
            "PRR and ROR have such bounds in the place of intervals, other measures have none"
        )
    yield from map(printable, found.levels)
    same = found.signals[:1] if found.every_pair else found.signals  # all pairs have one condition
    if any(_is_restricted(signal.condition) for signal in same):
        yield from _missing_lines(found)
        yield from told_together(found)
    yield from map(printable, (*found.unknown, *found.remarks))
    if found.dropped:
        yield (
            f"compared with the originals that were kept: {found.dropped:,} cases were left out "
            "for want of a value (--missing drop)"
        )
    if not found.priors:
        yield lacking("scipy", "EBGM")
    if found.perturbed:
        yield (
            f"drawn at random in {', '.join(found.perturbed)}: there (surely .. possibly) is what "
            "the drawn values decide, and no bound of the truth"
        )


def _verdict(signal: Signal) -> str:
    """Which criteria a pair meets in what is released."""
    own = signal.released or signal.original
    assert own is not None
    met = [label for name, label in _CRITERIA if getattr(own, name) == "holds"]
    may = [label for name, label in _CRITERIA if getattr(own, name) == "undecided"]
    pair = printable(f"{signal.drug}{condition_text(signal.condition)} => {signal.reaction}")
    told = f"a signal by {', '.join(met)}" if met else "no signal"
    undecided = f", undecided by {', '.join(may)}" if may else ""
    return f"{pair}: {told}{undecided}; PRR {interval_text(own.prr, own.prr_low, own.prr_high)}"


def _signal_legend(found: Signals) -> Iterator[str]:
    """How to read the tables."""
    yield (
        "cells: expected cases (surely, which is known, .. possibly); intervals of 95 %, of EBGM "
        "90 % (EB05 .. EB95); criteria of Lin 2016, Table 2, and EB05 >= 2 that hold whatever "
        "values of the regions are true, with ? those that some decide; -: undefined"
    )
    if found.strata:
        yield (
            "over strata: Mantel-Haenszel PRR and ROR, EBGM of cases expected within strata; "
            "known: of the cases whose region decides the stratum; (lower .. upper): whatever "
            "values of the regions are true; the crude measures are of all cases together"
        )


def whose_text(about: Signals | Counted, each: str = "") -> str:
    """Whose cases were counted; ``each``: in which state, behind a comma."""
    first, last = about.quarters[0], about.quarters[-1]
    when = first if first == last else f"{first} to {last}"
    roles = f"roles {', '.join(about.roles)}" if about.roles else "every role"
    return f"{about.dataset}, series {about.series}, {when}; cases{each}; {roles}"


def originals_lines(about: Signals | Counted) -> Iterator[str]:
    """What is to be known of the originals that were compared."""
    if about.changed_since:
        yield f"raw rows replaced since the release: {', '.join(about.changed_since)}"
    if not about.released_only:
        yield "computed with the originals: not for publication (--released-only is)"


def _is_restricted(condition: Condition) -> bool:
    from srsql.engine.signals.rules import Condition

    return condition != Condition()


def _missing_lines(found: Signals) -> Iterator[str]:
    """What became of the cases without a value that a condition asks for."""
    if found.missing == "exclude" or not found.every_pair:
        yield (
            "complete: without the cases of which a value is missing, or as released was given up, "
            "that the condition asks for; the originals are then what the usual tools count"
        )
    if found.missing == "spread":
        yield (
            "a missing value counts by the condition's share of the domain, and possibly meets it; "
            "--missing exclude leaves such cases out, of EBGM too"
        )


def prior_text(prior: Shrinkage) -> str:
    """The prior of EBGM, or why there is none."""
    parted = f", over strata of {', '.join(prior.strata)}" if prior.strata else ""
    where = f"{prior.data} data{condition_text(prior.condition)}{parted}"
    text = f"EBGM, {where}: {prior.pairs:,} pairs"
    if not prior.pairs:  # what fits priors takes half a second to import
        return f"{text}, too few to fit a prior"
    from srsql.udfs.shrinkage import MAX_PARAMETER, MIN_PAIRS, MIN_PARAMETER

    parts = (prior.alpha1, prior.beta1, prior.alpha2, prior.beta2)
    parameters = [part for part in parts if part is not None]
    if prior.p is None or not parameters:
        return f"{text}, {'too few' if prior.pairs < MIN_PAIRS else 'not enough'} to fit a prior"
    limit = ""
    if max(parameters) >= MAX_PARAMETER * (1 - 1e-9):
        limit = f" (at the limit of {MAX_PARAMETER:g})"
    elif min(parameters) <= MIN_PARAMETER * (1 + 1e-9):
        limit = f" (at the limit of {MIN_PARAMETER:.2g})"
    return (
        f"{text}; prior {prior.p:.3g} x gamma({prior.alpha1:.4g}, {prior.beta1:.4g}) + "
        f"{1 - prior.p:.3g} x gamma({prior.alpha2:.4g}, {prior.beta2:.4g}){limit}"
    )


def _agreement(found: Signals) -> str:
    """How many pairs there are, and how many meet the criteria in which data."""
    from srsql.engine.signals.results import agreements
    from srsql.engine.signals.run import LEAST_CASES

    surely = "possibly" if found.released_only else "surely"
    if found.of_clusters and found.released_only:
        surely = "expectedly"
    text = f"{len(found.signals):,} pairs of {surely} at least {LEAST_CASES} cases"
    criteria = _CRITERIA if found.priors else _CRITERIA[:-1]
    each = agreements(found.signals, [name for name, _ in criteria])
    for (_, label), told in zip(criteria, each, strict=True):
        text += f"; {label}: {told.after:,} signals, {told.open:,} undecided"
        if not found.released_only:
            text += (
                f" (of {told.before:,} before {told.kept:,} kept, {told.lost:,} lost, "
                f"{told.undecided:,} undecided; {told.gained:,} gained)"
            )
    return text


def _most_changed(found: Signals) -> list[Signal]:
    """Strongest change of PRR first; without originals, the most cases first."""
    from srsql.engine.signals.results import Pairs

    pairs = found.signals
    if isinstance(pairs, Pairs):
        biases = pairs.of_all("bias", "prr_bias")
    else:
        biases = [signal.bias.prr_bias if signal.bias else None for signal in pairs]
    changes = [abs(math.log(bias)) if bias else 0.0 for bias in biases]
    places = nlargest(SHOWN_PAIRS, range(len(pairs)), key=changes.__getitem__)
    return [pairs[place] for place in places]


def condition_text(condition: Condition) -> str:
    """A condition behind the name of a drug, each part after a comma."""
    parts = []
    if condition.min_age is not None:
        parts.append(f"age >= {condition.min_age}")
    if condition.max_age is not None:
        parts.append(f"age <= {condition.max_age}")
    if condition.sex is not None:
        parts.append(f"sex {condition.sex}")
    return "".join(f", {part}" for part in parts)


def measure_cells(m: Measures) -> list[str]:
    """The cells of ``SIGNAL_COLUMNS`` behind the data."""
    return [
        cell_text(m.a, m.a_lower, m.a_upper),
        cell_text(m.b, m.b_lower, m.b_upper),
        cell_text(m.c, m.c_lower, m.c_upper),
        cell_text(m.d, m.d_lower, m.d_upper),
        interval_text(m.prr, m.prr_low, m.prr_high),
        interval_text(m.ror, m.ror_low, m.ror_high),
        number_text(m.chi2),
        interval_text(m.ic, m.ic_low, m.ic_high),
        interval_text(m.ic_shrunk, m.ic025, m.ic975),
        interval_text(m.ebgm, m.eb05, m.eb95),
        ",".join(
            f"{label}{'' if met == 'holds' else '?'}"
            for name, label in _CRITERIA
            if (met := getattr(m, name)) in ("holds", "undecided")
        ),
    ]


def cell_text(expected: float, lower: int, upper: int) -> str:
    """An expected number of cases with its bounds, if they differ."""
    if lower == upper:
        return f"{lower:,}"
    return f"{expected:,.1f} ({lower:,} .. {upper:,})"


def interval_text(point: float | None, low: float | None, high: float | None) -> str:
    """A measure with its interval, if it has one."""
    if point is None or low is None or high is None:
        return number_text(point)
    return f"{number_text(point)} ({number_text(low)} .. {number_text(high)})"


def number_text(value: float | None) -> str:
    """A number in four digits; - where there is none."""
    return "-" if value is None else f"{value:,.4g}"


def coverage_parts(found: Coverage) -> Parts:
    """How much of the data the dictionary has, and the values by cases with their names."""
    from srsql.engine.query.coverage import Value

    source = "raw tables" if found.series is None else f"released, series {found.series}"
    yield (
        f"{found.dataset}, {source}: {found.dictionary} has {found.found - found.lacking:,} of "
        f"{found.found:,} values; {found.covered:,} of {found.holders:,} cases have no other"
    )
    yield from _with_originals(found.series)
    title = f"{found.column} on level {found.level}"
    yield result_table(title, Value, found.values[:SHOWN_ANSWERS])
    if len(found.values) > SHOWN_ANSWERS:
        yield f"{SHOWN_ANSWERS:,} of {len(found.values):,} values are shown; --json gives all"


def _with_originals(series: str | None) -> Iterator[str]:
    if series is None:
        yield "computed with the originals: not for publication (--released-only is)"


def spellings_parts(found: Spellings) -> Parts:
    """How many terms have several spellings, and which, by cases."""
    from srsql.engine.query.coverage import Spelling

    source = "raw tables" if found.series is None else f"released, series {found.series}"
    yield (
        f"{found.dataset}, {source}: {found.terms:,} terms of {', '.join(found.columns)} have "
        f"several spellings with one key (term_key {found.term_key})"
    )
    yield from _with_originals(found.series)
    yield result_table("spellings", Spelling, found.spellings[:SHOWN_ANSWERS])
    if len(found.spellings) > SHOWN_ANSWERS:
        yield f"{SHOWN_ANSWERS:,} of {len(found.spellings):,} rows are shown; --json gives all"


def dictionary_parts(found: Rows[LevelSize]) -> Parts:
    """The levels of a dictionary."""
    from srsql.engine.catalog.levels import LevelSize

    yield result_table("levels, from fine to coarse", LevelSize, found)


def answer_parts(answer: Answer, *, show_sql: bool = False) -> Parts:
    """The count with its bounds, what it is of, the rows and, if asked for, the statement; how to
    read bounds stands in the legend."""
    yield _answer_text(answer)
    yield from (note for note in answer_lines(answer) if not note.startswith(HOW_TO_READ))
    yield Table("answer", answer_columns(answer), answer_rows(answer))
    if show_sql:
        yield Legend(["", *f"{answer.sql};".split("\n")], asked=True)
    yield Legend([note for note in answer.notes if note.startswith(HOW_TO_READ)])


def _answer_text(answer: Answer) -> str:
    """The result in a line."""
    from srsql.engine.query.answer import BOUNDS

    if len(answer.rows) != 1 or len(answer.columns) > len(BOUNDS):
        rows = "1 row" if len(answer.rows) == 1 else f"{len(answer.rows):,} rows"
        return f"{rows}: lower, expected and upper {_asked(answer)}"
    lower, expected, upper, known = answer.rows[0]
    if lower is None or upper is None or not isinstance(lower, int):
        (what,) = answer.aggregates
        shown = [_cell(value) for value in (expected, lower, upper)]
        return f"{printable(what)}: {shown[0]} expected, at least {shown[1]}, at most {shown[2]}"
    if lower == upper:
        return f"{lower:,} {answer.counted}, exactly"
    return (
        f"{expected:,.1f} {answer.counted} expected, surely {lower:,}, at most {upper:,} "
        f"({known:,} known)"
    )


def _asked(answer: Answer) -> str:
    """What each row has bounds of."""
    from srsql.engine.query.answer import BOUNDS

    last = len(answer.columns) - answer.has_certain - len(BOUNDS)
    if len(answer.aggregates) == 1 and all(isinstance(row[last], int) for row in answer.rows):
        return f"{answer.counted} of each"
    return f"of {printable(', '.join(answer.aggregates))}"


def _cell(value: Any) -> str:
    """A bound, or that there is none."""
    return "-" if value is None else f"{value:,.4g}" if value < 1 else f"{value:,.2f}"


def answer_columns(answer: Answer) -> list[str]:
    """The headings of ``answer_rows``."""
    return [printable(name) for name in answer.columns]


def answer_rows(answer: Answer) -> Iterator[list[str]]:
    """The cells of ``Answer.columns``."""
    from srsql.engine.query.answer import BOUNDS

    groups, size = len(answer.group_columns), len(BOUNDS)
    for row in answer.rows[:SHOWN_ANSWERS]:
        cells = ["-" if key is None else printable(_key_text(key)) for key in row[:groups]]
        for start in range(groups, groups + size * len(answer.aggregates), size):
            lower, expected, upper, known = row[start : start + size]
            if isinstance(lower, int):
                point = f"{expected:,.0f}" if lower == upper else f"{expected:,.1f}"
                cells += [f"{lower:,}", point, f"{upper:,}", f"{known:,}"]
            else:
                cells += [*map(_cell, (lower, expected, upper)), f"{known:,}"]
        yield [*cells, *row[groups + size * len(answer.aggregates) :]]


def _key_text(key: object) -> str:
    """A value that is grouped by; a whole number of any type, such as a decade, as such."""
    if isinstance(key, float | Decimal) and -1e15 < key < 1e15 and key == int(key):
        return str(int(key))
    return str(key)


def answer_lines(answer: Answer) -> Iterator[str]:
    """What was counted over what, and how to read it."""
    quarters = answer.quarters
    when = quarters[0] if len(quarters) == 1 else f"{quarters[0]} to {quarters[-1]}"
    yield f"{answer.counted} of {answer.dataset}, series {answer.series}, {when}"
    if len(answer.rows) > SHOWN_ANSWERS:
        yield f"{SHOWN_ANSWERS:,} of {len(answer.rows):,} rows are shown; --json gives all"
    yield from map(printable, answer.notes)
