"""A parameter is declared in one place, and everything that has it has it from there."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import click
import pytest

from srsql import cli
from srsql.engine.extras.study.grid import Grid, cells, grid_parameters
from srsql.engine.extras.study.settings import Sweep
from srsql.engine.models import MODELS, make_model
from srsql.engine.parameters import declared
from srsql.engine.release.request import Option, make_request, release_options

ROOT = Path(cli.__file__).parent
OPTIONS = release_options()
LEAST = 20
"""Characters of the first part of a help text that is put together of several."""


@pytest.fixture(scope="module")
def texts() -> Counter[str]:
    """Every text in the code, and how often it stands there."""
    return Counter(
        node.value
        for file in (ROOT / "cli.py", *(ROOT / "engine").rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


@pytest.mark.parametrize("option", OPTIONS.values(), ids=list(OPTIONS))
def test_the_help_of_an_option_stands_in_one_place(option: Option, texts: Counter[str]) -> None:
    for each in option.declarations:
        told = each.parameter.help
        parts = [t for t in texts if t == told or (len(t) >= LEAST and told.startswith(t))]
        assert sum(texts[text] for text in parts) == 1


def test_the_command_has_an_option_for_every_declaration_and_no_other_of_its_own() -> None:
    own = {"quarter", "dataset", "confirm", "db", "as_json", "shown_as", "shown_in"}
    own |= {"quiet", "verbose", "log", "wait", "threads", "memory_limit", "sources", "shown_whole"}
    params = {p.name: p for p in cli.cli.commands["release"].params}
    assert set(params) == own | set(OPTIONS)
    for keyword, option in OPTIONS.items():
        found = params[keyword]
        assert isinstance(found, click.Option)
        assert found.opts == [f"--{keyword.replace('_', '-')}"]
        assert all(each.parameter.help in (found.help or "") for each in option.declarations)


def test_a_release_without_options_has_the_declared_defaults() -> None:
    request = make_request("2011Q1", {})
    for keyword, option in OPTIONS.items():
        told = option.first
        if option.common and told.field and keyword not in ("seed", "date"):
            owner = request if hasattr(request, told.field) else request.model
            assert getattr(owner, told.field) == told.default


@pytest.mark.parametrize("model", MODELS)
def test_every_parameter_of_a_model_is_a_fact_of_its_manifest_or_says_that_it_is_not(
    model: str,
) -> None:
    facts = make_model(model).public_facts
    for keyword, told in declared(MODELS[model]).items():
        assert (keyword in facts) == (told.in_facts and told.told_default)


def test_a_grid_and_a_sweep_vary_what_is_declared_for_them() -> None:
    varied = {name for name, option in OPTIONS.items() if option.compared is not None}
    assert varied <= set(grid_parameters())
    assert set(params_of("compare")) >= varied
    (cell,) = cells(Grid(("ms",)))
    assert dict(cell.options)["k"] == OPTIONS["k"].first.default
    advised = {name for name, option in OPTIONS.items() if option.first.advised is not None}
    assert advised <= set(declared(Sweep))
    assert set(params_of("advise")) >= set(declared(Sweep))


def params_of(command: str) -> list[str]:
    return [p.name for p in cli.cli.commands[command].params if p.name]
