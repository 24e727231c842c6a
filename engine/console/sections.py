"""Help that people can read: sections of options, groups of commands, at most a screen first.

What stands where is declared in ``sections.toml``; what a model takes, in ``options.json``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import click

from srsql.engine.console.later import kept

OPTIONS_SHOWN = 16
"""Options of a help, itself and ``--help-all`` among them."""
ALL = "srsql.help_all"
"""In ``Context.meta``: every option is shown."""
WORDS = "srsql.words"
"""In ``Context.meta``: what was typed after the name of the command."""
PART = "srsql.part"
"""In ``Context.meta``: the ``Part`` of the command that was typed."""
HELP_ALL = "--help-all"
FURTHER = "Further"
"""Section of what no list names; a test keeps it empty."""
Record = tuple[str, str]
"""An option as it is typed, and what it is."""


@dataclass(frozen=True)
class Part:
    """What a word behind the name of a command chooses of its options."""

    word: str
    own: frozenset[str]
    """Those that no other part has, which its first help shows."""
    without: frozenset[str]
    """Those of other parts alone."""


@dataclass(frozen=True)
class Told:
    """What ``sections.toml`` says."""

    groups: dict[str, dict[str, str]]
    """Heading -> command -> what it is for, in a line."""
    sections: dict[str, list[str]]
    """Heading -> names of options, or of one command's ("release --quarter")."""
    rare: frozenset[str]
    """Options that no first help shows, unless the command names them."""
    words: dict[str, list[str]]
    """What people may call a command -> commands that do it."""
    often: dict[str, list[str]]
    """By command: the options of its first help; of a command that is not named, all others."""

    def section(self, words: str, name: str) -> str:
        """The heading of an option of a command; what is said of that command alone wins."""
        for key in (f"{words} --{name}", name):
            for heading, names in self.sections.items():
                if key in names:
                    return heading
        return FURTHER

    def is_shown(self, words: str, name: str) -> bool:
        """Whether the first help of the command has the option."""
        often = self.often.get(words)
        return name not in self.rare if often is None else name in often


@cache
def told() -> Told:
    """The groups and sections, read once."""
    text = resources.files(__package__).joinpath("sections.toml").read_text(encoding="utf-8")
    read = tomllib.loads(text)
    rare = frozenset(read["rare"]["options"])
    return Told(read["groups"], read["sections"], rare, read["words"], read["often"])


def help_all_option() -> click.Option:
    """The option that shows every option."""

    def show(context: click.Context, _: click.Parameter, asked: bool) -> None:
        if asked and not context.resilient_parsing:
            context.meta[ALL] = True
            click.echo(context.get_help())
            context.exit()

    return click.Option(
        [HELP_ALL],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        help="Show every option and exit.",
    )


def command_words(context: click.Context) -> str:
    """The words of the command after ``srsql``."""
    words: list[str] = []
    at: click.Context | None = context
    while at is not None and at.parent is not None:
        words.insert(0, str(at.info_name))
        at = at.parent
    return " ".join(words)


def typed_word(words: Sequence[str], option: str) -> str | None:
    """What stands after an option, or after its ``=``."""
    for place, word in enumerate(words):
        if word == option and place + 1 < len(words):
            return words[place + 1]
        if word.startswith(f"{option}="):
            return word.partition("=")[2]
    return None


def long_name(option: click.Parameter) -> str:
    """The name of an option without its hyphens, the longest if there are several."""
    return max(option.opts, key=len).lstrip("-")


def write_options(context: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the options of the command in sections: the usual ones, those of the model that was
    typed, or all."""
    words, known = command_words(context), told()
    options = [
        param
        for param in context.command.get_params(context)
        if isinstance(param, click.Option) and not param.hidden
    ]
    own = _own_records(context, options)
    shown = _chosen(context, words, options, own)
    if own:
        with formatter.section(f"Parameters of {_model(context)}"):
            formatter.write_dl(list(own.values()))
    for heading in (*known.sections, FURTHER):
        records = [
            record
            for option in shown
            if known.section(words, long_name(option)) == heading
            if long_name(option) not in own
            if (record := option.get_help_record(context))
        ]
        if records:
            with formatter.section(heading):
                formatter.write_dl(records)
    _write_rest(context, formatter, len(options) - len({*map(long_name, shown), *own}))


def _write_rest(context: click.Context, formatter: click.HelpFormatter, hidden: int) -> None:
    """Say where the options are that this help leaves out."""
    if isinstance(context.command, click.Group) or context.meta.get(ALL):
        return
    part: Part | None = context.meta.get(PART)
    path = context.command_path + (f" {part.word}" if part else "")
    hidden -= len(part.without) if part else 0
    with formatter.section("More"):
        rows = [(f"{path} {HELP_ALL}", f"{hidden} more options.")]
        if any("--model" in param.opts for param in context.command.params):
            rows.append((f"{context.command_path} --model MODEL --help", "What that model takes."))
        formatter.write_dl(rows, col_max=60)


def _chosen(
    context: click.Context, words: str, options: Iterable[click.Option], own: dict[str, Record]
) -> list[click.Option]:
    """The options that the help has, beside those of the model: of other models none, and without
    ``--help-all`` no more than ``OPTIONS_SHOWN`` in all."""
    options = list(options)
    part: Part | None = context.meta.get(PART)
    if part is not None:
        options = [option for option in options if long_name(option) not in part.without]
    model = _model(context)
    if model:
        foreign = _of_models() - own.keys()
        options = [option for option in options if long_name(option) not in foreign]
    if context.meta.get(ALL) or isinstance(context.command, click.Group):
        return options
    always = {"help", HELP_ALL.lstrip("-")}
    first = [
        option
        for option in options
        if long_name(option) not in {*own, *always} and told().is_shown(words, long_name(option))
    ]
    if part is not None:
        shown = {*map(long_name, first)}
        mine = [option for option in options if long_name(option) in part.own]
        first = [*mine, *(option for option in first if long_name(option) in shown - part.own)]
    if own or part is not None:
        first = first[: max(0, OPTIONS_SHOWN - len(own) - len(always))]
    return [*first, *(option for option in options if long_name(option) in always)]


def _model(context: click.Context) -> str | None:
    """The model that was typed, if the command takes one and there is such a model."""
    typed = typed_word(context.meta.get(WORDS, ()), "--model")
    for param in context.command.params:
        if "--model" in param.opts and isinstance(param.type, click.Choice):
            return typed if typed in param.type.choices else None
    return None


def _own_records(context: click.Context, options: Sequence[click.Option]) -> dict[str, Record]:
    """What the model that was typed takes, by name, in the words of its own declarations."""
    model = _model(context)
    if model is None:
        return {}
    found: dict[str, Record] = {}
    by_name = {long_name(option): option for option in options}
    for name, help_text, default in kept("models")[model]:
        record = by_name[name].get_help_record(context) if name in by_name else None
        if record:
            shown = f"  [default: {default}]" if default else ""
            found[name] = (record[0], f"{help_text[:1].upper()}{help_text[1:]}.{shown}")
    return found


def _of_models() -> set[str]:
    """Every option that some models take and others do not."""
    return {name for (name,) in kept("models")[""]}


def no_such_option(context: click.Context, wrong: click.NoSuchOption) -> click.UsageError:
    """What is said of an option that there is not."""
    from srsql.engine.parameters import nearest

    known = [name for param in context.command.get_params(context) for name in param.opts]
    near = nearest(wrong.option_name, known)
    return click.NoSuchOption(
        wrong.option_name, _no_such("option", wrong.option_name, near), ctx=context
    )


def no_such_command(context: click.Context, group: click.Group, name: str) -> click.UsageError:
    """What is said of a command that there is not: the one that was misspelt, or those that do what
    the word says."""
    from srsql.engine.parameters import nearest

    near = nearest(name, group.commands)
    meant = [word for word in told().words.get(name.lower(), ()) if word in group.commands]
    hint = near or " or ".join(f"'{context.command_path} {word}'" for word in meant)
    return click.NoSuchCommand(name, _no_such("command", name, hint), ctx=context)


def _no_such(what: str, name: str, hint: str | None) -> str:
    return f"No such {what} {name!r}." + (f" Did you mean {hint}?" if hint else "")


def write_commands(group: click.Group, formatter: click.HelpFormatter) -> None:
    """Write the commands of a group, those of ``srsql`` itself under their headings."""
    rest = dict(group.commands)
    room = max(map(len, rest), default=0)

    def write(heading: str, rows: list[Record]) -> None:
        if rows:
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(room), text) for name, text in rows])

    for heading, lines in told().groups.items():
        write(heading, [(n, text) for n, text in lines.items() if rest.pop(n, None)])
    width = formatter.width - room - 6
    write("Commands", [(name, each.get_short_help_str(width)) for name, each in rest.items()])
