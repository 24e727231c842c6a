"""What Lee 2020 compares IPA with: full-domain k-anonymity, and a histogram with noise."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from srsql.engine.errors import ReleaseError
from srsql.engine.lattice.cube import cube_counts, smallest_class
from srsql.engine.lattice.dimensions import Dimension
from srsql.engine.lattice.ipa import cell_numbers, leaf_widths, need_cells
from srsql.engine.lattice.nodes import lattice, least_nodes
from srsql.engine.lattice.result import Figures, Made, figures
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.udfs.lattice_node import Counts, PerturbedCounts, loss_of, recreate
from srsql.udfs.mechanisms import Source


def k_anonymous(warehouse: Warehouse, dimensions: Sequence[Dimension], k: int) -> Made:
    """The node of least NCP in which every class has k records; nothing is suppressed.

    NCP grows with generalization, so it is least at a minimal node. Ties: the lower one.

    Raises:
        ReleaseError: not even ``*`` has k records.
    """
    lattice(dimensions)  # refuses one that is too large
    minimal = least_nodes(
        tuple(dimension.top for dimension in dimensions),
        lambda levels: smallest_class(warehouse, dimensions, levels) >= k,
    )
    if not minimal:
        raise ReleaseError(f"fewer than {k:,} records: not even one class of them is {k}-anonymous")
    seen: list[Figures] = []
    for levels in sorted(minimal, key=lambda found: (sum(found), found)):
        node = cube_counts(warehouse, dimensions, levels)
        made = _as_it_is(node.counts)
        loss = loss_of(node.counts, made, node.penalties(), len(dimensions))
        seen.append(figures(levels, loss, node.counts.classes, made))
    best = min(seen, key=lambda found: found.loss.ncp).levels
    node = cube_counts(warehouse, dimensions, best)
    return Made(best, node.nodes, _as_it_is(node.counts), seen)


def noisy_histogram(
    warehouse: Warehouse, dimensions: Sequence[Dimension], epsilon: Fraction, source: Source
) -> Made:
    """Laplace noise on the count of every combination of leaves and informative value.

    Records are made anew: as many as the noisy count says, none where it is below 0 (Lee 2020,
    Tables 2 and 3).

    Raises:
        ReleaseError: there are too many combinations.
    """
    levels = (0,) * len(dimensions)
    finest = cube_counts(warehouse, dimensions, levels)
    widths = leaf_widths(dimensions)
    count = need_cells(dimensions, widths, finest.counts.domain)
    noise = source.laplace(1 / epsilon, count)
    cells = cell_numbers(finest.nodes, widths)
    original, made, shown = recreate(finest.counts, cells, noise)
    nodes = np.stack(np.unravel_index(shown, widths), axis=1).astype(np.int64)
    parts = [d.penalties()[nodes[:, at]] for at, d in enumerate(dimensions)]
    loss = loss_of(original, made, np.sum(np.stack(parts), axis=0), len(dimensions))
    return Made(levels, nodes, made, [figures(levels, loss, len(nodes), made)])


def _as_it_is(counts: Counts) -> PerturbedCounts:
    return PerturbedCounts(
        counts.owner,
        counts.value,
        counts.count,
        np.zeros(counts.classes, np.int64),
        np.zeros(counts.classes, np.bool_),
    )
