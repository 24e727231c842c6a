"""Help that a person can read: sections, a screen at first, everything where it is asked for."""

from __future__ import annotations

import click
import pytest
from support.command import srsql

from srsql.cli import cli
from srsql.engine.api.arguments import ARGUMENTS
from srsql.engine.api.signals import SignalCalls
from srsql.engine.console.field_signals import PARTS
from srsql.engine.console.sections import FURTHER, OPTIONS_SHOWN, long_name, told
from srsql.engine.console.session import each_command
from srsql.engine.models import MODELS
from srsql.engine.parameters import arguments_of, declared, option_name
from srsql.engine.release.request import release_options
from srsql.engine.terms.parameters import DisassociationParameters

COMMANDS = dict(each_command(cli))
HELP = {"help", "help-all"}


def names(words: str) -> set[str]:
    """Every option of a command, by its long name."""
    params = COMMANDS[words].params
    return {long_name(param) for param in params if isinstance(param, click.Option)}


def listed(*arguments: str) -> set[str]:
    """The options that a help lists."""
    answer = srsql(*arguments)
    assert (answer.code, answer.err) == (0, "")
    heads = [line.split("  ")[1] for line in answer.out.splitlines() if line.startswith("  -")]
    found = {word.strip(",") for head in heads for word in head.split()}
    return {word.lstrip("-") for word in found if word.startswith("--")}


def shortened(words: str, options: set[str]) -> set[str]:
    """The options by their longest names, without other names of the same ones."""
    longest = {
        name.lstrip("-"): long_name(param)
        for param in COMMANDS[words].params
        for name in param.opts
    }
    return {longest.get(name, name) for name in options}


@pytest.mark.parametrize("words", COMMANDS)
def test_a_help_has_at_most_16_options_and_help_all_has_every_one(words: str) -> None:
    first = shortened(words, listed(*words.split(), "--help"))
    assert len(first) <= OPTIONS_SHOWN
    assert first >= HELP
    required = {
        long_name(param)
        for param in COMMANDS[words].params
        if isinstance(param, click.Option) and param.required
    }
    assert first >= required, "whoever must give an option sees it"
    assert shortened(words, listed(*words.split(), "--help-all")) == names(words) | HELP


def test_every_option_stands_in_a_section_and_no_section_names_what_there_is_not() -> None:
    every = {name for words in COMMANDS for name in names(words)} | HELP | {"version", "debug"}
    own = {f"{words} --{name}" for words in COMMANDS for name in names(words)}
    listed = [name for known in told().sections.values() for name in known]
    assert len(listed) == len(set(listed))
    assert set(listed) <= every | own
    assert set(told().rare) <= every
    for words in COMMANDS:
        for name in names(words):
            assert told().section(words, name) != FURTHER, (words, name)
    for words, shown in told().often.items():
        assert set(shown) <= names(words)


def test_every_command_stands_in_one_group_with_a_line_that_fits() -> None:
    grouped = [name for group in told().groups.values() for name in group]
    assert sorted(grouped) == sorted(cli.commands)
    lines = [line for group in told().groups.values() for line in group.values()]
    assert max(map(len, lines)) <= 60


@pytest.mark.parametrize("command", ["release", "series create", "series set"])
@pytest.mark.parametrize("model", MODELS)
def test_the_help_of_a_model_has_what_it_takes_and_nothing_that_only_others_take(
    model: str, command: str
) -> None:
    own = {option_name(name).lstrip("-") for name in declared(MODELS[model])}
    if MODELS[model].shape.tells_terms(asked=False):
        own |= {
            option_name(name).lstrip("-")
            for name, each in declared(DisassociationParameters).items()
            if each.of != "--terms disassociate"
        }
    of_some = {
        option_name(name).lstrip("-")
        for name, option in release_options().items()
        if not option.common
    }
    for words in (["--model", model, "--help"], ["--help", f"--model={model}"]):
        shown = listed(*command.split(), *words)
        assert len(shown - {"period"}) <= OPTIONS_SHOWN
        assert shown >= own
        assert not shown & (of_some - own)
    rest = listed(*command.split(), "--model", model, "--help-all")
    assert shortened(command, rest) == (names(command) - (of_some - own)) | HELP


def test_a_model_that_there_is_not_is_refused_where_it_is_run_and_help_is_still_help() -> None:
    assert "--theta" in srsql("release", "--model", "magic", "--help").out


@pytest.mark.parametrize("word", PARTS)
def test_a_word_behind_signals_has_a_help_of_its_own_options(word: str) -> None:
    shown = listed("signals", word, "--help")
    assert len(shown - {"period"}) <= OPTIONS_SHOWN
    every = listed("signals", word, "--help-all") - {"period"}
    takes = {
        told.option.lstrip("-")
        for told in arguments_of(getattr(SignalCalls, PARTS[word][0]), ARGUMENTS).values()
    }
    takes |= {"all"} if word == "export" else set()
    common = names("signals") - {
        told.option.lstrip("-")
        for call, _ in PARTS.values()
        for told in arguments_of(getattr(SignalCalls, call), ARGUMENTS).values()
    }
    marks = {"trend", "likelihood"}
    assert every - HELP == takes | (common - marks)  # the word is the mark


def test_the_words_behind_signals_are_the_old_options() -> None:
    for words, options in (
        (("trend", "--drug", "X"), ("--trend", "--drug", "X")),
        (("likelihood", "--drug", "X"), ("--likelihood", "--drug", "X")),
        (("export", "pvda", "--all"), ("--export", "pvda", "--all")),
        (("interaction", "--with-drug", "Y"), ("--with-drug", "Y")),
        (("pairs", "--all"), ("--all",)),
    ):
        read = []
        for given in (words, options):
            context = click.Context(COMMANDS["signals"], info_name="signals")
            COMMANDS["signals"].parse_args(context, list(given))
            read.append(context.params)
        assert read[0] == read[1]
    for words in (("interaction", "--drug", "X"), ("pairs", "--drug", "X", "--trend")):
        answer = srsql("signals", *words, "--artifact", "nowhere")
        assert answer.code == 2
        assert f"see srsql signals {words[0]} --help" in answer.err
