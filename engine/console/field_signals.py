"""What `srsql signals` shows beside pairs: trends, interactions, tests over a drug, exports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from srsql.engine.console import Legend, Parts, Table, options, sections, typed
from srsql.engine.console.later import kept
from srsql.engine.console.measures import SIGNAL_COLUMNS
from srsql.engine.console.release import linked_lines
from srsql.engine.console.sections import long_name
from srsql.engine.console.session import OneCommand
from srsql.engine.errors import SignalError, printable
from srsql.engine.parameters import Parameter, arguments_of, option_name

if TYPE_CHECKING:
    from srsql.engine.console import Command
    from srsql.engine.signals.counted import Counted, Exported
    from srsql.engine.signals.interactions import Interaction, InteractionMeasures
    from srsql.engine.signals.likelihood import LikelihoodTest, Tested
    from srsql.engine.signals.trends import Trend

TREND_COLUMNS = ["period", "data", *SIGNAL_COLUMNS[2:-2], SIGNAL_COLUMNS[-1]]
INTERACTION_COLUMNS = [
    "data",
    "both",
    "expected",
    "Omega",
    "Omega025",
    "Omega975",
    "known Omega (Omega025)",
    "Omega025 bounds",
    "interaction",
]
LIKELIHOOD_COLUMNS = ["reaction", "data", "n", "expected", "log LR", "p", "signal"]
REACTIONS_SHOWN = 20
"""Reactions in the table; `--json` and CSV have all."""
_NOT_MEASURED = {"ebgm", "eb05", "eb95", "signal_eb05"}


@dataclass(frozen=True)
class Way:
    """One of the ways to ask `srsql signals` beside pairs."""

    option: str
    """That asks for it."""
    call: str
    """Of the engine."""
    mark: str
    """Help of the flag that asks for it; empty: its first option does."""
    own: tuple[str, ...]
    """Its options that no other way has."""
    parts: Callable[[Any], Parts]
    rows: Callable[[Any], Iterable[Sequence[Any]]]

    def ask(self, calls: Any, asked: Mapping[str, Any]) -> Any:
        """The answer.

        Args:
            calls: of an engine on signals, or an artifact.
            asked: the options of the command.

        Raises:
            SignalError: an option is given that this way does not take, or one lacks.
        """
        takes = _taken(self.call)
        every = {"every_pair"} if self.call == "export" else set()
        for name in typed(asked):
            if name not in takes and name not in every:
                raise SignalError(f"{self.option} takes no {_option(name)}: leave it out")
        given = {n: v for n, v in asked.items() if n in takes and v is not None}
        for name, told in takes.items():
            if told.required and name not in given:
                raise SignalError(f"{self.option} needs {told.option}")
        if self.call == "export" and bool(asked["every_pair"]) == ("drug" in given):
            raise SignalError("--export: give --all for pvda and openebgm, --drug for treescan")
        return getattr(calls, self.call)(**given)


PARTS: Mapping[str, tuple[str, str]] = {
    "pairs": ("find", "Pairs of a drug and a reaction: one, those of a file, or all."),
    "trend": ("trend", "A pair by period, and of all periods up to each."),
    "interaction": ("interaction", "Two drugs together with a reaction."),
    "likelihood": ("likelihood", "A drug tested over all reactions."),
    "export": ("export", "What is released, as files for another tool."),
}
"""Word behind ``srsql signals`` -> call of the engine, what it answers."""
_PART = "srsql.signals"


class SignalsCommand(OneCommand):
    """`srsql signals`, and behind it the word for one of the ways to ask; without one, options tell
    which way is meant."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments, the word first."""
        if args and args[0] in PARTS:
            word, *args = args
            ctx.meta[_PART] = word
            ctx.meta[sections.PART] = _part(word, self)
            args = [*_marks(word, args), *args]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """The pieces of the line of usage, with the word."""
        word = ctx.meta.get(_PART, f"[{'|'.join(PARTS)}]")
        return [word, *super().collect_usage_pieces(ctx)]

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the command, or the way to ask, answers."""
        if (word := ctx.meta.get(_PART)) is None:
            super().format_help_text(ctx, formatter)
            return
        with formatter.indentation():
            formatter.write_text(PARTS[word][1])

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the ways to ask, unless one was typed, and the options."""
        if _PART not in ctx.meta:
            with formatter.section("Ways to ask (srsql signals WAY --help)"):
                formatter.write_dl([(word, text) for word, (_, text) in PARTS.items()])
        super().format_options(ctx, formatter)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The words, where none is typed yet, and the options."""
        words = [CompletionItem(word) for word in PARTS if word.startswith(incomplete)]
        return [*(words if _PART not in ctx.meta else []), *super().shell_complete(ctx, incomplete)]


def _taken(call: str) -> dict[str, Parameter]:
    """What a call on signals takes."""
    from srsql.engine.console.later import call_of_engine

    return arguments_of(call_of_engine(f"signals.{call}"))


def _names(call: str) -> set[str]:
    """The options of a call, by their long names."""
    return set(kept("ways")[call])


def _part(word: str, command: click.Command) -> sections.Part:
    """The options of a way to ask, and those of the others alone."""
    call = PARTS[word][0]
    takes = _names(call) | ({"all"} if call == "export" else set())
    others = set[str]().union(*(_names(other) for other, _ in PARTS.values() if other != call))
    marks = {way.option.lstrip("-") for way in WAYS if way.mark}
    own = {option_name(name).lstrip("-") for way in WAYS if way.call == call for name in way.own}
    own = {"export" if name == "form" else name for name in own}
    named = {long_name(param) for param in command.params}
    return sections.Part(
        word, frozenset(own & takes), frozenset(named & ((others | marks) - takes))
    )


def _marks(word: str, args: Sequence[str]) -> list[str]:
    """What the word stands for among the options; the form of an export may stand behind it."""
    way = next((way for way in WAYS if way.call == PARTS[word][0]), None)
    if way is not None and way.mark:
        return [way.option]
    plain = word == "export" and args and not args[0].startswith("-")
    return [way.option] if way is not None and plain else []


def need_part(way: Way | None) -> None:
    """Refuse a word whose way to ask lacks the option that it cannot do without.

    Raises:
        SignalError: the text names it.
    """
    word = click.get_current_context().meta.get(_PART)
    if word is not None and PARTS[word][0] != (way.call if way else "find"):
        wanted = next((each.option for each in WAYS if each.call == PARTS[word][0]), None)
        said = f"needs {wanted}" if wanted else f"takes no {way.option}" if way else ""
        raise SignalError(f"signals {word} {said}: see srsql signals {word} --help")


def ways(command: Command) -> Command:
    """The options of all ways to ask."""
    for way in reversed(WAYS):
        told = _taken(way.call)
        command = options({n: replace(told[n], required=False) for n in way.own})(command)
        if way.mark:
            marked = click.option(way.option, way.call, is_flag=True, help=f"{way.mark}.")
            command = marked(command)
    return command


def way_of(asked: dict[str, Any]) -> Way | None:
    """The way that is asked for; its marks are taken out of the options.

    Raises:
        SignalError: several are, or an option of one that is not.
    """
    given = {w: asked.pop(w.call) if w.mark else asked[w.own[0]] is not None for w in WAYS}
    chosen = [way for way, mark in given.items() if mark]
    if len(chosen) > 1:
        raise SignalError(f"{chosen[0].option} and {chosen[1].option} exclude each other")
    way = chosen[0] if chosen else None
    for other in WAYS:
        for name in other.own:
            if other is not way:
                if name in typed(asked):
                    raise SignalError(f"{_option(name)} is of {other.option}: ask for both")
                asked.pop(name)
    return way


def _option(name: str) -> str:
    return option_name({"every_pair": "all", "form": "export"}.get(name, name))


def trend_parts(found: Trend) -> Parts:
    """What was counted, a table of each period by itself, and one of all periods up to each."""
    from srsql.engine.console.measures import condition_text, measure_cells

    condition = condition_text(found.counted.condition)
    yield printable(f"{found.drug}{condition} => {found.reaction}: {_latest(found)}")
    yield from counted_lines(found.counted)
    names = {"period": "by period", "cumulative": "all periods up to each"}
    for span, points in groupby(found.points, lambda point: point.span):
        rows = (
            [point.period if first else "", data, *cells[:-2], cells[-1]]
            for point in points
            for first, data, own in _sides(point.original, point.released)
            for cells in [measure_cells(own)]
        )
        yield Table(names[span], TREND_COLUMNS, rows)
    yield Legend(
        [
            "by period: every case that the period reports, as it has it; up to a period: every "
            "case once, in its latest state by then",
            "cells: expected cases (surely, which is known, .. possibly); intervals of 95 %; "
            "criteria with ? those that some values of the regions decide; -: undefined",
        ]
    )


def _latest(found: Trend) -> str:
    """PRR of all periods, in what is released."""
    from srsql.engine.console.measures import interval_text

    last = [point for point in found.points if point.span == "cumulative"][-1:]
    told = [point.released or point.original for point in last]
    return (
        "".join(
            f"PRR {interval_text(own.prr, own.prr_low, own.prr_high)} up to {point.period}"
            for point, own in zip(last, told, strict=True)
            if own is not None
        )
        or "nothing is counted"
    )


def _sides(original: Any, released: Any) -> Iterator[tuple[bool, str, Any]]:
    first = True
    for data, own in (("original", original), ("released", released)):
        if own is not None:
            yield first, data, own
            first = False


def trend_table(found: Trend) -> Iterator[list[Any]]:
    """Every point for a CSV file, a row for each of its data, the header first."""
    from srsql.engine.signals.results import Measures

    names = [f.name for f in fields(Measures) if f.name not in _NOT_MEASURED]
    yield ["drug", "reaction", "span", "period", "data", *names]
    for point in found.points:
        for _, data, own in _sides(point.original, point.released):
            cells = [getattr(own, name) for name in names]
            yield [found.drug, found.reaction, point.span, point.period, data, *cells]


def interaction_parts(found: Interaction) -> Parts:
    """The measures, the rates that they rest on, and how to read them."""
    from srsql.engine.console.measures import condition_text

    condition = condition_text(found.counted.condition)
    verdicts = "; ".join(f"{own.data}: {own.signal_omega}" for own in found.measures)
    yield printable(
        f"interaction of {found.drug} with {found.with_drug}{condition} => {found.reaction}: "
        f"{verdicts}"
    )
    yield from counted_lines(found.counted)
    rows = [_interaction_cells(own) for own in found.measures]
    yield Table("interaction", INTERACTION_COLUMNS, rows)
    columns = ["data", "reported with", "cases with the reaction", "cases without it"]
    groups = (
        ("11", "both drugs"),
        ("10", found.drug),
        ("01", found.with_drug),
        ("00", "neither drug"),
    )
    yield Table(
        "cases",
        columns,
        [
            [own.data if key == "11" else "", printable(name), *_group(own, key)]
            for own in found.measures
            for key, name in groups
        ],
    )
    yield Legend(
        [
            "expected: cases that would be reported if what each drug adds to the odds were added "
            "up; Omega: log2 of cases to expected ones, both + 1/2, with an interval of 95 %; "
            "bounds hold whatever values of the regions are true; an interaction is Omega025 > 0; "
            "-: undefined"
        ]
    )


def _group(own: InteractionMeasures, key: str) -> list[str]:
    from srsql.engine.console.measures import cell_text

    cells = [[getattr(own, f"n{key}{k}{end}") for end in ("", "_lower", "_upper")] for k in "10"]
    return [cell_text(*cell) for cell in cells]


def _interaction_cells(own: InteractionMeasures) -> list[str]:
    from srsql.engine.console.measures import cell_text, interval_text, number_text

    return [
        own.data,
        cell_text(own.n111, own.n111_lower, own.n111_upper),
        interval_text(own.e111, own.e111_lower, own.e111_upper)
        if own.e111_lower != own.e111_upper
        else number_text(own.e111),
        number_text(own.omega),
        number_text(own.omega025),
        number_text(own.omega975),
        f"{number_text(own.omega_known)} ({number_text(own.omega025_known)})",
        f"{number_text(own.omega025_lower)} .. {number_text(own.omega025_upper)}",
        own.signal_omega,
    ]


def interaction_table(found: Interaction) -> Iterator[list[Any]]:
    """A row for each of the data, the header first."""
    from srsql.engine.signals.interactions import InteractionMeasures

    names = [field.name for field in fields(InteractionMeasures)]
    yield ["drug", "with_drug", "reaction", *names]
    for own in found.measures:
        cells = [getattr(own, name) for name in names]
        yield [found.drug, found.with_drug, found.reaction, *cells]


def likelihood_parts(found: LikelihoodTest) -> Parts:
    """The strongest reactions, what they are compared with, and how to read them."""
    from srsql.engine.console.measures import condition_text, number_text

    rows = (
        [printable(each.reaction) if first else "", data, *_tested_cells(own)]
        for each in found.reactions[:REACTIONS_SHOWN]
        for first, data, own in _sides(each.original, each.released)
    )
    for null in found.nulls:
        tested = [getattr(each, null.data) for each in found.reactions]
        signals = sum(own.signal for own in tested if own is not None)
        yield (
            f"{null.data}: {signals:,} signals; largest log LR {number_text(null.largest)}, of "
            f"drawn tables above {number_text(null.critical)} once in 20; {null.n_drug:,} of "
            f"{null.n_all:,} counts, {null.reactions:,} reactions"
        )
    yield printable(
        f"{found.drug}{condition_text(found.counted.condition)}: p of each reaction from the "
        f"largest ratio of {found.draws:,} tables drawn with seed {found.seed}; signals have "
        "p <= 0.05, which any of them has by chance once in 20"
    )
    if condition_text(found.counted.condition):
        yield "counted are the cases whose region decides the condition (known)"
    yield from counted_lines(found.counted, "the test is without them")
    yield Table("reactions", LIKELIHOOD_COLUMNS, rows)
    if len(found.reactions) > REACTIONS_SHOWN:
        many = f"{REACTIONS_SHOWN} of {len(found.reactions):,}"
        yield f"{many} reactions are shown; --json and CSV give all"


def _tested_cells(own: Tested) -> list[str]:
    from srsql.engine.console.measures import number_text

    numbers = (own.expected, own.log_lr, own.p_value)
    return [f"{own.n:,}", *map(number_text, numbers), "yes" if own.signal else ""]


def likelihood_table(found: LikelihoodTest) -> Iterator[list[Any]]:
    """Every reaction, a row for each of its data, the header first."""
    from srsql.engine.signals.likelihood import Tested

    names = [field.name for field in fields(Tested)]
    yield ["drug", "reaction", "data", *names]
    for each in found.reactions:
        for _, data, own in _sides(each.original, each.released):
            yield [found.drug, each.reaction, data, *(getattr(own, name) for name in names)]


def export_parts(found: Exported) -> Parts:
    """Which files there are."""
    from srsql.engine.console.measures import condition_text

    for file in found.files:
        yield printable(f"{file.path}: {file.rows:,} rows")
    yield from linked_lines(found.links)
    yield from map(printable, found.stale)
    asked = ["the condition"] if condition_text(found.counted.condition) else []
    asked += [f"the stratum ({', '.join(found.strata)})"] if found.strata else []
    if asked:
        yield f"exported are the cases whose region decides {' and '.join(asked)} (known)"
    yield from counted_lines(found.counted, "files have them without it")


def export_table(found: Exported) -> Iterator[list[Any]]:
    """The files with their rows, the header first."""
    yield ["path", "rows"]
    yield from ([file.path, file.rows] for file in found.files)


def counted_lines(about: Counted, hidden: str = "") -> Iterator[str]:
    """What was counted, and what to make of it.

    Args:
        about: what was counted.
        hidden: what becomes of released cases with a reaction or a drug that no row shows, where
            there are no bounds; empty: these allow for them.
    """
    from srsql.engine.console.measures import condition_text, originals_lines, whose_text
    from srsql.engine.signals.counted import told_together

    yield whose_text(about)
    if about.without:
        yield printable(f"without the cases that have the {' or the '.join(about.without)}")
    if about.without_indications:
        yield "without reactions that the case has as an indication, too"
    yield from map(printable, (*about.levels, *about.unknown, *about.remarks))
    for cases, what in ((about.suppressed, "reaction"), (about.suppressed_drugs, "drug")):
        if cases:
            yield (
                f"{cases:,} released cases at most may have any one {what} although no row shows "
                f"it: {hidden or 'bounds allow for them, as far as manifests tell the truth of it'}"
            )
    if condition_text(about.condition) and not hidden:
        yield (
            "a missing value counts by the condition's share of the domain, and possibly meets it"
            if about.missing == "spread"
            else "cases of which a value is missing, or as released was given up, that the "
            "condition asks for are left out: bounds are of the others"
        )
        yield from told_together(about)
    if about.dropped:
        yield f"{about.dropped:,} cases were left out of the originals, too (--missing drop)"
    if about.perturbed:
        yield f"drawn at random in {', '.join(about.perturbed)}: no bounds of the truth there"
    yield from originals_lines(about)


WAYS = (
    Way(
        "--trend",
        "trend",
        "One pair by period, and cumulated",
        ("figure",),
        trend_parts,
        trend_table,
    ),
    Way("--with-drug", "interaction", "", ("with_drug",), interaction_parts, interaction_table),
    Way(
        "--likelihood",
        "likelihood",
        "Test --drug over all reactions (likelihood ratio, Huang 2011)",
        ("draws", "seed"),
        likelihood_parts,
        likelihood_table,
    ),
    Way(
        "--export",
        "export",
        "",
        ("form", "to", "tree", "max_linkable", "allow_linkable"),
        export_parts,
        export_table,
    ),
)
