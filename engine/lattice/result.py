"""What is made of a quarter at a node of the lattice, before it is rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from srsql.engine.lattice.dimensions import Dimension
from srsql.engine.lattice.nodes import Levels
from srsql.udfs import Ints
from srsql.udfs.lattice_node import Loss, PerturbedCounts


@dataclass(frozen=True)
class Figures:
    """What one node would lose; for the steward alone."""

    levels: Levels
    loss: Loss
    classes: int
    records: int
    """Of the anonymized dataset."""
    suppressed: int
    """Classes."""
    counterfeits: int


@dataclass(frozen=True)
class Made:
    """The node that was taken, and what was seen of the lattice on the way."""

    levels: Levels
    nodes: Ints
    """[classes, d] the value of each dimension."""
    records: PerturbedCounts
    looked_at: list[Figures]


def nothing(dimensions: Sequence[Dimension]) -> Made:
    """Of a quarter without a record: no rows, at the top of the lattice."""
    none = np.zeros(0, np.int64)
    return Made(
        tuple(dimension.top for dimension in dimensions),
        np.zeros((0, len(dimensions)), np.int64),
        PerturbedCounts(none, none, none, none, np.zeros(0, np.bool_)),
        [],
    )


def figures(levels: Levels, loss: Loss, classes: int, made: PerturbedCounts) -> Figures:
    """The figures of one node."""
    return Figures(
        levels,
        loss,
        classes,
        int(made.count.sum()),
        int(made.suppressed.sum()),
        int(made.counterfeits.sum()),
    )
