"""Counts of every cell of a domain with noise: the histogram Lee 2020 compares with, and the
statistics from which the sound calibration takes a node."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from srsql.udfs.choice import Floats
from srsql.udfs.lattice.node_loss import SENSITIVITY
from srsql.udfs.lattice.node_noise import Counts, Perturbed
from srsql.udfs.problem import Ints


def noisy_counts(cells: Ints, counts: Ints, noise: Ints) -> Ints:
    """[len(noise)] the count of every cell with its noise; ``cells`` are those that have one."""
    found = noise.copy()
    found[cells] += counts
    return found


def recreated(counts: Counts, cells: Ints, noise: Ints) -> tuple[Counts, Perturbed, Ints]:
    """Records made anew from the noisy counts of all (dimension cell, informative value) pairs.

    Args:
        counts: the original records, a class for each dimension cell that has some.
        cells: [classes] the number of that cell in the domain.
        noise: [all cells * counts.domain] of each pair, cell by cell.

    Returns:
        The original records and the new ones, by the classes of either, and [classes] their cells.
    """
    at = cells[counts.owner] * counts.domain + counts.value
    noisy = np.maximum(noisy_counts(at, counts.count, noise), 0)
    shown = np.flatnonzero(noisy)
    all_cells = np.union1d(shown // counts.domain, cells)
    before = np.zeros(len(noise), np.int64)
    before[at] = counts.count
    owner = np.searchsorted(all_cells, shown // counts.domain)
    extra = np.maximum(noisy - before, 0)[shown]
    original = Counts(
        np.searchsorted(all_cells, cells)[counts.owner],
        counts.value,
        counts.count,
        len(all_cells),
        counts.domain,
    )
    made = Perturbed(
        owner=owner,
        value=shown % counts.domain,
        count=noisy[shown],
        counterfeits=np.bincount(owner, extra, minlength=len(all_cells)).astype(np.int64),
        suppressed=np.zeros(len(all_cells), np.bool_),
    )
    return original, made, all_cells


def rolled_up(cells: Ints, maps: Sequence[Ints]) -> Ints:
    """Counts of the leaves [w_1, ..., w_d] at a node: leaf i of axis a becomes ``maps[a][i]``.

    Returns:
        [v_1, ..., v_d] with v_a the largest value of the map and one.
    """
    for axis, become in enumerate(maps):
        moved = np.moveaxis(cells, axis, 0)
        grouped = np.zeros((int(become.max()) + 1, *moved.shape[1:]), np.int64)
        np.add.at(grouped, become, moved)
        cells = np.moveaxis(grouped, 0, axis)
    return cells


def expected_loss(
    sizes: Ints, penalties: Floats, dimensions: int, least: int, insertion: Fraction
) -> float:
    """About what IL would be, from noisy class sizes alone.

    EMD is taken as the share of counterfeits, which it cannot exceed.

    Args:
        sizes: [classes] noisy; what is below 0 counts as 0.
        penalties: [classes] equation 5, summed over the dimensions.
        dimensions: |A_dim|.
        least: t.
        insertion: epsilon of the counterfeits.
    """
    known = np.maximum(sizes, 0)
    total = int(known.sum())
    if total == 0:
        return float(SENSITIVITY)
    kept = known > least
    extra = float(1 / insertion) / 2  # the mean of the noise where it is positive, times one half
    hidden = int(known[~kept].sum())
    ncp = (float(known[kept] @ penalties[kept]) + hidden * dimensions) / (total * dimensions)
    added = extra * int(kept.sum())
    rate = float(np.mean(extra / (known[kept] + extra))) if kept.any() else 0.0
    return ncp + added / (total + added) + rate
