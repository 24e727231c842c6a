"""Shapes: which one a release has, and what cannot be asked of it."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from srsql.engine.errors import (
    LookUpError,
    QueryError,
    ReportError,
    SignalError,
    SrsqlError,
)
from srsql.engine.models import MODELS, made_shape
from srsql.engine.shapes import (
    Chunks,
    Clusters,
    Counts,
    DrawnValues,
    Foreign,
    LatticeRows,
    RegionCounts,
    Regions,
    Shape,
    shape_of,
)
from srsql.engine.shapes.region_sets import RegionSets
from srsql.schemas import Dataset, load_dataset
from srsql.schemas.roles import QidSet

FAERS = load_dataset("faers")
BY_SET = FAERS.model_copy(
    update={"qid_set": tuple(QidSet(name=q.name, qids=(q.name,)) for q in FAERS.qid)}
)
DRAW = {"ppms-dp-num", "ppms-dp-all", "msdp-num", "msdp-all"}
OVER_LATTICE = {"ipa", "full-domain", "dp-histogram"}
TERMS = {"disassociation", "cba"}
SHAPES = (Regions, RegionSets, DrawnValues, Clusters, Chunks, LatticeRows, Foreign)


@pytest.mark.parametrize(
    ("dataset", "shape"),
    [
        (FAERS, Regions),
        (BY_SET, RegionSets),
        (FAERS.without_terms(None, rows=True), Clusters),
        (FAERS.without_terms(["pt"], rows=True), Regions),
        (FAERS.without_terms(["pt"], rows=False), Chunks),
        (FAERS.with_counts(), Counts),
        (FAERS.with_counts(rows=False), RegionCounts),
    ],
)
def test_rows_have_the_shape_of_what_they_show(dataset: Dataset, shape: type[Shape]) -> None:
    assert type(shape_of(dataset)) is shape


@pytest.mark.parametrize("model", [*MODELS, "imported", "of-tomorrow"])
def test_a_model_names_the_shape_of_what_it_releases(model: str) -> None:
    named = [(DRAW, DrawnValues), (OVER_LATTICE, LatticeRows), (TERMS, Chunks)]
    named.append(({"tables"}, RegionCounts))
    usual = Regions if model in MODELS else Foreign
    wanted = next((shape for names, shape in named if model in names), usual)
    assert type(made_shape(model)) is wanted


REFUSALS: list[tuple[Callable[[Shape], object], dict[type[Shape], str]]] = [
    (
        lambda shape: shape.need_cover("2011Q4", "m"),
        dict.fromkeys((DrawnValues, Foreign), "need not hold the original values"),
    ),
    (
        lambda shape: shape.need_one_quarter("main", SignalError),
        {Clusters: "so cases cannot be counted over several: give --quarter"},
    ),
    (
        lambda shape: shape.need_cases("main", QueryError),
        {LatticeRows: "rows that are no case's"},
    ),
    (
        lambda shape: shape.need_public("main", ReportError),
        {Foreign: "leave --public out", Chunks: "releases terms alone"},
    ),
    (
        lambda shape: shape.need_untold("main", ReportError),
        dict.fromkeys(set(SHAPES) - {Foreign}, "has bounds of its own"),
    ),
    (
        lambda shape: shape.need_region("m", LookUpError),
        {Chunks: "there is no region to explain"},
    ),
    (
        lambda shape: shape.shown(FAERS, "m"),
        {Chunks: "releases terms only: say which"},
    ),
]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("ask", "refused"), REFUSALS)
def test_what_cannot_be_asked_of_a_shape_is_refused_and_nothing_else(
    shape: type[Shape], ask: Callable[[Shape], object], refused: dict[type[Shape], str]
) -> None:
    if shape not in refused:
        ask(shape())
        return
    with pytest.raises(SrsqlError, match=re.escape(refused[shape])):
        ask(shape())


@pytest.mark.parametrize("shape", SHAPES)
def test_nobody_is_taken_out_of_a_release_whose_groups_are_not_those_of_its_rows(
    shape: type[Shape],
) -> None:
    kept = (RegionSets, LatticeRows, Foreign)
    assert bool(shape().uncorrectable) == (shape in kept)


@pytest.mark.parametrize("shape", SHAPES)
def test_bounds_of_a_model_hold_of_what_rows_show_where_regions_cover(
    shape: type[Shape],
) -> None:
    bounds = frozenset({"k", "theta"})
    proves_none = (RegionSets, DrawnValues, Foreign)
    assert shape().kept(bounds) == (frozenset() if shape in proves_none else bounds)


def test_what_is_released_in_the_place_of_another_shape_is_told() -> None:
    assert [*Chunks().instead_of(Regions())] == ["what is released: terms, was rows of cases"]
    assert [*DrawnValues().instead_of(Regions())] == []
