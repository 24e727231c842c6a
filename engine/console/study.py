"""What a terminal shows of studies: `compare`, `advise`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click
from click.core import ParameterSource

from srsql.engine.console import Legend, Parts, Table, options_of
from srsql.engine.console.later import Listed
from srsql.engine.errors import printable

if TYPE_CHECKING:
    from srsql.engine.api.engine import Engine
    from srsql.engine.catalog.series import Ids
    from srsql.engine.console import Command
    from srsql.engine.extras.study.grid import Rules
    from srsql.engine.extras.study.results import Compared
    from srsql.engine.extras.study.row_settings import RowSetting
    from srsql.engine.extras.study.settings import Advice, Setting
    from srsql.engine.store.database_file import Wait

SHOWN_ERRORS = 5
FIRST_STEPS = 3
"""Commands to go on with that a first run shows at once."""
ADVICE_COLUMNS = [
    "",
    "model",
    "k",
    "theta",
    "epsilon",
    "worst",
    "RR",
    "loss",
    "NIL*",
    "withheld",
    "suppressed",
    "smallest",
    "confidence",
    "DSR",
    "2 items",
    "frontier",
    "keeps",
]


ROW_COLUMNS = [
    "",
    "rows",
    "m",
    "below k",
    "told",
    "a",
    "PRR",
    "MHRA kept",
    "others",
    "EB05 kept",
    "others",
    "ARE W1",
    "ARE W2",
    "keeps",
]
RULES = {"rules": "file"} | {
    n: n for n in ("drug", "reaction", "min_age", "max_age", "sex", "level")
}
"""Option of `signals` that `compare` has as well -> its field of ``Rules``."""
rule_options = options_of("signals.find", *RULES)
"""Which signals a comparison looks for."""


def models_option(command: Command) -> Command:
    """Which models a comparison has."""
    from srsql.engine.models import MODELS

    return click.option(
        "--models",
        type=Listed(click.Choice(list(MODELS))),
        required=True,
        help="Models to compare, such as ms,alpha-k.",
    )(command)


LEGEND = (
    "worst: 1 / candidates left of the worst-placed target; RR: mean chance of picking a record",
    "loss: NIL*, a withheld case losing all; suppressed: values that no row shows of their cases; "
    "confidence: the greatest in a value with a threshold "
    "below 1; 2 items: cases that the region and two drugs or terms single out, which no setting "
    "bounds",
)
"""What the columns are; the page says more."""


ROW_LEGEND = (
    "rows: whole, or taken apart in clusters of at least so many cases; m: items that may be "
    "known; below k: cases for which some two known items leave fewer than k candidates; told: "
    "cases for which they let a further value follow with certainty",
    "a, PRR: median ratio of expected to original, of pairs of three cases or more; kept: of the "
    "pairs that meet the criterion; others: that meet it at expected counts alone; ARE: average "
    "relative error of counts of frequent sets (W1) and of others (W2)",
)
"""What the columns of whole rows are."""


class DemoRelease(Protocol):
    """One released quarter of a first run."""

    @property
    def quarter(self) -> str: ...  # noqa: D102
    @property
    def cases(self) -> int: ...  # noqa: D102
    @property
    def groups(self) -> int: ...  # noqa: D102
    @property
    def withheld(self) -> int: ...  # noqa: D102
    @property
    def nil(self) -> float: ...  # noqa: D102
    @property
    def dr(self) -> float: ...  # noqa: D102


class Demo(Protocol):
    """What a first run made, as a terminal shows it."""

    @property
    def db(self) -> str: ...  # noqa: D102
    @property
    def releases(self) -> Sequence[DemoRelease]: ...  # noqa: D102
    @property
    def audit(self) -> str: ...  # noqa: D102
    @property
    def report(self) -> str: ...  # noqa: D102
    @property
    def query(self) -> str: ...  # noqa: D102
    @property
    def paste(self) -> str: ...  # noqa: D102
    @property
    def next_steps(self) -> Sequence[str]: ...  # noqa: D102


def first_run(folder: Path, progress: Callable[[str], None], ids: Ids | None, wait: Wait) -> Demo:
    """The demo; what its first quarter waits for is compiled while the engine is imported, and
    after that the modules of its report, which Python compiles when it first imports them."""
    from srsql.udfs.kernels import LAST, begin_compiling

    begin_compiling(LAST if sys.dont_write_bytecode else (*LAST, "srsql.engine.report.report"))
    from srsql.engine.extras.demo.demo import run_demo

    return run_demo(folder, progress, ids, wait)


def demo_parts(made: Demo) -> Parts:
    """What a first run made, and what to do with it."""
    yield from made.audit.split("\n")
    rows = (
        [row.quarter, f"{row.cases:,}", f"{row.groups:,}", f"{row.withheld:,}"]
        + [f"{share:.4f}" for share in (row.nil, row.dr)]
        for row in made.releases
    )
    yield Table("released", ["quarter", "cases", "groups", "withheld", "NIL", "DR"], rows)
    yield from ("", f"Open in a browser: {made.report}", "", "Go on with:", "")
    yield from (f"  {line}" for line in made.next_steps[:FIRST_STEPS])
    yield from ("", f"The warehouse is {made.db}. Ask it something by pasting this line:", "")
    yield from made.paste.split("\n")
    yield from ("", "More to try:", "")
    yield from (f"  {line}" for line in made.next_steps[FIRST_STEPS:])


def rules_of(options: dict[str, Any]) -> Rules:
    """The rules whose signals `compare` measures, taken out of its options."""
    from srsql.engine.extras.study.grid import Rules

    return Rules(**{field: options.pop(name) for name, field in RULES.items()})


def compared_lines(made: Compared) -> list[str]:
    """What was run, what could not be, where it is."""
    span = made.quarters[0] + (f" to {made.quarters[-1]}" if len(made.quarters) > 1 else "")
    told = [
        f"{printable(span)} of {made.dataset}: {made.cells} cells, {made.already} of them finished "
        f"before, {made.rows:,} rows"
    ]
    told += [f"not run: {printable(text)}" for text in made.errors[:SHOWN_ERRORS]]
    if len(made.errors) > SHOWN_ERRORS:
        told.append(f"not run: {len(made.errors) - SHOWN_ERRORS} more, see the page")
    return told + [f"wrote {file}" for file in made.files]


def advice_parts(advice: Advice, audience: str | None = None) -> Parts:
    """The setting that is recommended, for whom, and why; then the settings that were tried."""
    lines = advice_lines(advice)
    yield next(lines)
    yield from _for_audience(advice, audience)
    yield from lines
    if advice.rows is not None:
        yield from row_lines(advice)
    if advice.sampled:
        rows = advice_rows(advice, advice.sampled)
        yield Table(sample_title(advice), ADVICE_COLUMNS, rows)
    yield Table(advice_title(advice), ADVICE_COLUMNS, advice_rows(advice, advice.settings))
    if advice.row_settings:
        title = f"whole rows, k = {advice.row_settings[0].k}: measured on all cases"
        yield Table(title, ROW_COLUMNS, row_setting_rows(advice))
    yield from (f"wrote {file}" for file in advice.files)
    yield Legend([*LEGEND, *(ROW_LEGEND if advice.row_settings else ())])


def _for_audience(advice: Advice, audience: str | None) -> Iterator[str]:
    """What the recommended release would be for an audience, unless its values are drawn."""
    from srsql.engine.models import make_model
    from srsql.engine.release.audiences import audience_sentences

    best = advice.recommended
    if audience is None or best is None or best.epsilon:
        return
    apart = advice.rows is not None and advice.rows.recommended is not None
    attacks = ",".join(make_model(best.model, k=best.k).defended_attacks) or "none"
    told = {"k": best.k, "model": best.model, "attacks": attacks}
    yield from audience_sentences(audience, told | ({"term_cases": best.k} if apart else {}))


def advice_title(advice: Advice) -> str:
    """What the settings of the table were measured on."""
    on = f"a sample of {advice.sample:,} of" if advice.quick else "all"
    quarter = printable(advice.quarter)
    return f"{quarter}, series {advice.series}: measured on {on} {advice.cases:,} cases"


def sample_title(advice: Advice) -> str:
    """The same, of the sample."""
    return f"tried on a sample of {advice.sample:,} cases"


def history(advice: Advice) -> str:
    """What was released in the series before."""
    if not advice.after:
        return "this release alone"
    span = dict.fromkeys((advice.after[0], advice.after[-1]))
    many = f"{len(advice.after)} releases" if len(advice.after) > 1 else "release"
    return f"the earlier {many} of the series as well ({printable(' to '.join(span))})"


def advice_rows(advice: Advice, settings: list[Setting]) -> Iterator[list[str]]:
    """The cells of ``ADVICE_COLUMNS``; the recommended setting is marked."""
    from srsql.engine.extras.study.choice import format_share

    for one in settings:
        if one.error:
            continue
        mark = "*" if one == advice.recommended else "~" if one == advice.nearest else ""
        yield [
            mark,
            one.model,
            str(one.k),
            printable(one.theta or ""),
            one.epsilon or "",
            format_share(one.risk) if one.risk_is == "worst" else "",
            format_share(one.rr),
            format_share(one.loss),
            format_share(one.nil_star),
            f"{one.withheld:,}",
            format_share(one.given_up),
            f"{one.smallest or 0:,}",
            format_share(one.confidence),
            format_share(one.dsr),
            format_share(one.singled_out),
            "yes" if one.frontier else "",
            _keeps_bounds(one) if settings is advice.settings else "",
        ]


def _keeps_bounds(one: Setting) -> str:
    return "NO" if not one.keeps else "yes" if one.risk_is == "worst" else "in the mean"


def advice_lines(advice: Advice) -> Iterator[str]:
    """What the tables do not say: the reason, what is withheld, what to run, refusals."""
    from srsql.engine.extras.study.choice import describe_withheld

    yield printable(advice.reason)
    told = advice.recommended or advice.nearest
    if told is not None:
        yield from (f"  {printable(line)}" for line in describe_withheld(told))
    if advice.recommended is not None:
        yield f"run: {shlex.join(advice.command or [])}"
    yield f"the attacker has {history(advice)}"
    for one in advice.settings:
        if one.error:
            yield f"not measured: {printable(f'{one.label}: {one.error}')}"


def row_setting_rows(advice: Advice) -> Iterator[list[str]]:
    """The cells of ``ROW_COLUMNS``; the recommended setting is marked."""
    from srsql.engine.extras.study.choice import format_share
    from srsql.engine.extras.study.row_settings import CRITERIA

    best = advice.rows.recommended if advice.rows else None
    for one in advice.row_settings:
        if not one.error:
            ratios = (
                "" if ratio is None else f"{ratio:.2f}" for ratio in (one.a_ratio, one.prr_ratio)
            )
            yield [
                "*" if one == best else "",
                "whole" if one.term_cases is None else one.size,
                str(one.m or ""),
                format_share(one.below_k),
                format_share(one.follows),
                *ratios,
                *(cell for name in CRITERIA for cell in kept_cells(one, name)),
                format_share(one.are_w1),
                format_share(one.are_w2),
                "yes" if one.keeps else "NO",
            ]


def kept_cells(one: RowSetting, criterion: str) -> tuple[str, str]:
    """How many pairs are signals still, and how many others have become some."""
    before, kept, others = (
        getattr(one, f"{criterion}_{name}") for name in ("before", "kept", "others")
    )
    return ("", "") if before is None else (f"{kept:,} of {before:,}", f"{others:,}")


def row_lines(advice: Advice) -> Iterator[str]:
    """Of whole rows: refusals, the reason, what to run."""
    assert advice.rows is not None
    for one in advice.row_settings:
        if one.error:
            yield f"not measured: {printable(f'{one.label}: {one.error}')}"
    yield printable(advice.rows.reason)
    if advice.rows.command:
        yield f"run: {shlex.join(advice.rows.command)}"


def advised(db: Path, engine: Engine, quarter: str, folder: Path, **options: Any) -> Advice:
    """An advice, with the warehouse in its commands where it was typed.

    Args:
        db: the warehouse.
        engine: on it.
        quarter: to be released.
        folder: for measurements, tables and page.
        options: of the call.
    """
    from srsql.engine.console.session import current_session

    context = click.get_current_context()
    typed = context.get_parameter_source("db") is ParameterSource.COMMANDLINE
    ending = ["--db", str(db)] if typed else []

    def note(text: str) -> None:
        more = f" {shlex.join(ending)}" if ending and ": srsql release " in text else ""
        current_session().note(text + more)

    made: Advice = engine.advise(quarter, folder, tell=note, **options)
    if made.command:
        made = replace(made, command=made.command + ending)
    if made.rows and made.rows.command:
        made = replace(made, rows=replace(made.rows, command=made.rows.command + ending))
    return made


def synth_options(command: Command) -> Command:
    """Where synthetic quarters go, which they are, and how many cases they have."""
    found = [
        click.option(
            "--out",
            "folder",
            required=True,
            type=click.Path(path_type=Path),
            help="Folder to write to.",
        ),
        click.option(
            "--from", "first", help="First quarter, such as 2011Q1, or ISO week, such as 2024W01."
        ),
        click.option("--to", "last", help="Last quarter or week."),
        click.option("--like", help="One quarter with the row counts of the real one."),
        click.option(
            "--cases", type=click.IntRange(1), help="New cases per quarter, also of weeks."
        ),
        click.option(
            "--scale",
            type=click.FloatRange(0, 10, min_open=True),
            help="Share of the real row counts.",
        ),
        click.option("--seed", type=int, default=0, show_default=True),
    ]
    for each in reversed(found):
        command = each(command)
    return command


def check_synthesis(
    first: str | None, last: str | None, like: str | None, cases: int | None, scale: float | None
) -> None:
    """Refuse options of `synth` that exclude each other.

    Args:
        first: the first quarter.
        last: the last one.
        like: the one that has the row counts of a real one.
        cases: new cases of a quarter.
        scale: share of the real row counts.

    Raises:
        UsageError: they do.
    """
    if bool(like) == bool(first) or bool(first) != bool(last) or (like and cases):
        raise click.UsageError(
            "give --from and --to with --cases or --scale, or --like with --scale"
        )
    if cases is not None and scale is not None:
        raise click.UsageError("--cases and --scale exclude each other")
