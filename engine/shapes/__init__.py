"""Shapes: how the rows of a release tell the truth, one class a shape, each in its file.

A shape is found once, and readers ask it what they need; none of them decides by its kind.
"""

from __future__ import annotations

from srsql.engine.catalog.releases import (
    as_newest,
    over_lattice,
    qid_sets,
    series_over_lattice,
    with_shown_columns,
)
from srsql.engine.catalog.series import FOREIGN, IMPORTED, find_series
from srsql.engine.errors import SrsqlError
from srsql.engine.shapes.chunks import Chunks
from srsql.engine.shapes.clusters import Clusters
from srsql.engine.shapes.counts import Counts
from srsql.engine.shapes.drawn_values import DrawnValues
from srsql.engine.shapes.foreign import Foreign, ForeignCounts
from srsql.engine.shapes.lattice_rows import LatticeRows
from srsql.engine.shapes.noisy_counts import NoisyCounts
from srsql.engine.shapes.region_counts import RegionCounts
from srsql.engine.shapes.region_sets import RegionSets
from srsql.engine.shapes.regions import Regions, Shape, Telling
from srsql.engine.store.statements import query
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

__all__ = [
    "Chunks", "Clusters", "Counts", "DrawnValues", "Foreign", "LatticeRows", "NoisyCounts",
    "RegionCounts", "Regions", "Shape", "Telling", "asked_shape", "catalog_shape", "need_cases",
    "release_shape", "series_dataset", "series_shape", "shape_of",
]  # fmt: skip


def shape_of(visible_dataset: Dataset) -> Shape:
    """The shape of what rows show.

    Args:
        visible_dataset: with the tables of which a release, or a series, has rows.
    """
    if visible_dataset.cluster_columns:
        return Clusters()
    if visible_dataset.counted:
        if visible_dataset.noisy:
            return NoisyCounts()
        return Counts() if visible_dataset.rows else RegionCounts()
    if not visible_dataset.rows:
        return Chunks()
    return RegionSets() if visible_dataset.qid_set else Regions()


def asked_shape(
    shape: Shape, *, taken_apart: bool, counted: bool = False, noisy: bool = False
) -> Shape:
    """The shape of a release that is asked for.

    Args:
        shape: of the rows of its model.
        taken_apart: they are to be taken apart, which those of cases can be.
        counted: counts are to tell their items.
        noisy: counts with noise are to.
    """
    if noisy:
        return NoisyCounts()
    if counted:
        return shape.of_cases(Counts(), shape)
    return Clusters() if taken_apart and shape.shows_cases else shape


def series_shape(warehouse: Warehouse, visible_dataset: Dataset, series: str) -> Shape:
    """The shape of the releases of a series, with the tables of which it has rows."""
    found = find_series(warehouse, visible_dataset, series)
    if found is not None and found.family in FOREIGN:
        return Foreign() if found.family == IMPORTED else ForeignCounts()
    if series_over_lattice(warehouse, visible_dataset.name, series):
        return LatticeRows()
    return shape_of(visible_dataset)


def need_cases(
    warehouse: Warehouse, visible_dataset: Dataset, series: str, error: type[SrsqlError]
) -> None:
    """Refuse what is about cases, of which a series may show none.

    Raises:
        SrsqlError: of the kind ``error``.
    """
    series_shape(warehouse, visible_dataset, series).need_cases(series, error)


def release_shape(warehouse: Warehouse, visible_dataset: Dataset, release_id: int) -> Shape:
    """The shape of a release.

    Args:
        warehouse: with the catalog rows of the release, which may be read-only.
        visible_dataset: with the tables of which the release has rows.
        release_id: of the release.
    """
    return _made(warehouse, release_id) or shape_of(visible_dataset)


def catalog_shape(warehouse: Warehouse, release_id: int) -> Shape:
    """The shape of a release that is stored, as far as measures of its groups ask for it."""
    regions = RegionSets() if qid_sets(warehouse, release_id) else Regions()
    return _made(warehouse, release_id) or regions


def _made(warehouse: Warehouse, release_id: int) -> Shape | None:
    """The shape that the model of a release alone decides; None: it does not."""
    asked = {"release_id": release_id}
    ((model, perturbs),) = warehouse.rows(query("risk/metrics", "kind"), asked)
    if model == IMPORTED:
        return Foreign()
    if over_lattice(warehouse, release_id):
        return LatticeRows()
    ((counts, rows),) = warehouse.rows(query("terms/count_tables", "release_counts"), asked)
    if counts:
        return Counts() if rows else RegionCounts()
    if warehouse.value(query("terms/noisy_tables", "release_noisy"), asked):
        return NoisyCounts()
    return DrawnValues() if perturbs else None


def series_dataset(warehouse: Warehouse, dataset: Dataset, series: str) -> Dataset:
    """The dataset with the tables of which the series has rows, the columns that they show, and
    the key by which its newest release compares terms."""
    dataset = with_shown_columns(warehouse, dataset, series)
    dataset = as_newest(warehouse, dataset, series)
    names = {"dataset": dataset.name, "series": series}
    ((counts, rows),) = warehouse.rows(query("terms/count_tables", "series_counts"), names)
    if counts:
        return dataset.with_counts(rows=rows)
    if warehouse.value(query("terms/noisy_tables", "series_noisy"), names):
        return dataset.with_counts(noisy=True)
    found = warehouse.rows(
        query("warehouse/releases", "series_disassociated"),
        {"dataset": dataset.name, "series": series},
    )
    if series_over_lattice(warehouse, dataset.name, series):
        return dataset.without_terms((), rows=False)
    if not found:
        return dataset
    if any(row[2] for row in found):
        return dataset.without_terms(None, rows=True)
    return dataset.without_terms({row[0] for row in found}, rows=all(row[1] for row in found))
