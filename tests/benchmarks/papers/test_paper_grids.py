"""The commands recorded for the figures of the papers measure what figures and claims need."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click
import pytest
from support.benchmark import load

from srsql.cli import cli
from srsql.engine.extras.study.figures import panels
from srsql.engine.extras.study.grid import Cell, Grid, cells, grid_parameters

claims = load("papers.claims")
CLAIMS = claims.CLAIMS
GRIDS = claims.GRIDS
PAPERS = claims.PAPERS
PaperGrid = claims.PaperGrid
document = claims.document
FIGURES = claims.FIGURES

Row = dict[str, Any]
NAMES = [document(name)["paper"] for name in PAPERS]
SUPPORTS = ("5", "2.5", "1.25", "0.625")
OF_TERMS = [
    *(("are", f"W1, {support} %") for support in SUPPORTS),
    *(("are", f"{name}, {size}") for name in ("W2", "W2 held")
      for size in ("all", *(f"{n} of them" for n in (1, 2, 3, 4)))),
    ("suppressed_terms", "distinct term"), ("mre_within_5", "constraint"), ("mre", "0"),
    *(("combinations", f"{n} terms, held by 1") for n in (2, 3, 4, 5)), ("stage", "terms"),
]  # fmt: skip
OF_NODES = [
    *((part, scope) for part in ("il", "ncp", "emd", "rate")
      for scope in ("chosen", "expected", "height 1", "height 2")),
    ("group_count_error", "STROKE, M"), ("group_mean_error", "STROKE, M"),
    ("group_count", "STROKE, M, 5"), ("group_mean", "STROKE, M, 5"),
]  # fmt: skip
MEASURED = {"Loukides 2014": OF_TERMS, "Lee 2020": OF_NODES}


def cells_of(grid: PaperGrid, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Cell]:
    """The cells of the command, as the command line reads it."""
    (folder / "levels.csv").write_text("value,theta\nRash,0.2\n*,0.4\n")
    (folder / "rules.csv").write_text("drug,reaction\nA,Rash\n")
    monkeypatch.chdir(folder)
    words = shlex.split(grid.command)
    assert words[:2] == ["srsql", "compare"]
    outer = click.Context(cli, **cli.context_settings)
    with cli.commands["compare"].make_context("compare", words[2:], parent=outer) as context:
        given = {name: value for name, value in context.params.items()
                 if value is not None and name in (*grid_parameters(), "models")}  # fmt: skip
    return cells(Grid(**given))


def rows_of(cell: Cell, listed: list[tuple[str, str]]) -> list[Row]:
    base: Row = {"quarter": "2011Q4", "model": cell.model, **dict(cell.parameters)}
    rows: list[Row] = []
    for measure, scope in listed:
        row = base | {"measure": measure, "scope": scope, "ratio": 0.5, "violating": 1.0,
                      "total": 9.0, "seconds": 1.0}  # fmt: skip
        rows.append(row)
        if measure == "are":
            rows += [row | {"measure": name} for name in
                     ("are_deviation", "are_released", "are_released_deviation")]  # fmt: skip
    return rows


def test_every_figure_has_a_command() -> None:
    for paper in NAMES:
        listed = [place for grid in GRIDS if grid.paper == paper for place in grid.places]
        assert len(listed) == len(set(listed))
        assert set(listed) == {figure.place for figure in FIGURES if figure.paper == paper}


@pytest.mark.slow
@pytest.mark.parametrize(
    "grid",
    [
        pytest.param(grid, marks=pytest.mark.thorough) if "Fig. 12" in grid.places else grid
        for grid in GRIDS
    ],
    ids=lambda grid: f"{grid.paper}, {grid.places[0]}",
)
def test_a_command_can_be_typed_and_has_the_models_of_its_figures(
    grid: PaperGrid, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = cells_of(grid, tmp_path, monkeypatch)
    assert [cell.refused for cell in found if cell.refused] == []
    asked = {model for figure in FIGURES if figure.paper == grid.paper
             and figure.place in grid.places for model in figure.models}  # fmt: skip
    assert asked <= {cell.model for cell in found}


@pytest.mark.slow
@pytest.mark.parametrize(
    "paper", [pytest.param("Loukides 2014", marks=pytest.mark.thorough), "Lee 2020"]
)
def test_what_the_commands_measure_tells_every_claim_and_draws_every_figure(
    paper: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tables of all commands of a paper, in which every cell has every measure."""
    tables: list[list[Row]] = []
    for grid in (grid for grid in GRIDS if grid.paper == paper):
        found = cells_of(grid, tmp_path, monkeypatch)
        tables.append([row for cell in found for row in rows_of(cell, MEASURED[paper])])
        drawn = {f.place for f in FIGURES if f.paper == paper and panels(f, tables[-1])}
        assert set(grid.places) <= drawn
    untold = {
        claim.id
        for claim in CLAIMS
        if claim.paper == paper
        and all(claim.judge(table).outcome == "cannot be told" for table in tables)
    }
    assert untold == set()
