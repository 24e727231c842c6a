"""The base cube of a quarter and what a node makes of it, by SQL (``lattice/lattice.sql``).

One GROUP BY for each node, over counts; the data are never copied for a node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from sqlglot import exp

from srsql.engine.catalog.dimensions import Dimension
from srsql.engine.errors import ReleaseError
from srsql.engine.store.statements import query
from srsql.engine.store.warehouse import Warehouse

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from srsql.udfs.columns import Ints
    from srsql.udfs.lattice_node import Counts, Loss, PerturbedCounts

MOST_COMBINATIONS = 2**126
"""Combinations of leaves that 128-bit integers number."""


def load_cube(warehouse: Warehouse, dimensions: Sequence[Dimension], seed: int | None) -> None:
    """Fill ``srsql_cell``, ``srsql_cube`` and ``srsql_informative(value, spelling)``.

    A case is one record. One that holds several informative values shows one of them, drawn
    uniformly by itself, so that no other case has a part in it.

    Args:
        warehouse: with ``srsql_grouped``, ``srsql_box`` and ``srsql_held_value(case_no, term,
            spelling)``.
        dimensions: of the lattice.
        seed: of an experiment; None: the secure generator.

    Raises:
        ReleaseError: there are more combinations of leaves than can be numbered.
    """
    leaves = [max(len(d.ends), d.unknown + 1) for d in dimensions]
    if prod(leaves) > MOST_COMBINATIONS:
        raise ReleaseError(
            f"{', '.join(d.name for d in dimensions)} have more combinations of values than can be "
            "numbered: leave some out (--dimensions)"
        )
    ends = [
        (place, dimension.position, low, high, leaf)
        for place, dimension in enumerate(dimensions)
        for leaf, (low, high) in enumerate(dimension.ends)
    ]
    names = ("places", "positions", "lows", "highs", "leaves")
    warehouse.run_step(
        "lattice/cube",
        {"unknown": [dimension.unknown for dimension in dimensions], "seed": seed}
        | {name: [end[at] for end in ends] for at, name in enumerate(names)},
    )


def cube_counts(warehouse: Warehouse, dimensions: Sequence[Dimension], levels: Levels) -> Node:
    """Group the cube at one node of the lattice."""
    from srsql.udfs.lattice_node import Counts

    maps = [list(d.maps[level]) for d, level in zip(dimensions, levels, strict=True)]
    warehouse.run(query("lattice/nodes", "classes"), {"maps": maps})
    nodes = _nodes(warehouse, len(dimensions))
    owner, value, count = _columns(warehouse, query("lattice/nodes", "counts"))
    domain = int(warehouse.value(query("lattice/nodes", "informative_values")))
    return Node(levels, nodes, Counts(owner, value, count, len(nodes), domain), dimensions)


class Node:
    """One node: its classes and their records."""

    def __init__(
        self, levels: Levels, nodes: Ints, counts: Counts, dimensions: Sequence[Dimension]
    ) -> None:
        self.levels = levels
        self.nodes = nodes
        """[classes, d] the value of each dimension."""
        self.counts = counts
        self._dimensions = dimensions

    def penalties(self) -> NDArray[np.float64]:
        """[classes] equation 5, summed over the dimensions."""
        import numpy as np

        parts = [d.penalties()[self.nodes[:, at]] for at, d in enumerate(self._dimensions)]
        return np.asarray(np.stack(parts).sum(axis=0), dtype=np.float64)


def smallest_class(warehouse: Warehouse, dimensions: Sequence[Dimension], levels: Levels) -> int:
    """Records of the smallest class of a node; 0 if there is none."""
    maps = [list(d.maps[level]) for d, level in zip(dimensions, levels, strict=True)]
    return int(warehouse.value(query("lattice/nodes", "smallest_class"), {"maps": maps}))


def _nodes(warehouse: Warehouse, width: int) -> Ints:
    import numpy as np

    each = [
        exp.func("list_extract", exp.column("nodes", table="c"), exp.convert(place + 1))
        for place in range(width)
    ]
    values = (
        exp.select(exp.column("class_no", table="c"))
        .select(*[item.as_(f"node_{place}") for place, item in enumerate(each)])
        .distinct()
        .from_("temp.main.srsql_node_class AS c")
        .order_by(exp.column("class_no", table="c"))
    )
    return np.stack(_columns(warehouse, values.sql("duckdb"))[1:], axis=1)


def _columns(warehouse: Warehouse, statement: str) -> list[Ints]:
    import numpy as np

    found = warehouse.con.execute(statement).fetchnumpy()
    return [np.asarray(values, dtype=np.int64) for values in found.values()]


Levels = tuple[int, ...]
"""The level of each dimension; a node of the lattice."""


MOST_NODES = 20_000


def lattice(dimensions: Sequence[Dimension]) -> list[Levels]:
    """Every node, the finest first: by the sum of levels, then by levels.

    Raises:
        ReleaseError: there are more than ``MOST_NODES``.
    """
    count = 1
    for dimension in dimensions:
        count *= dimension.top + 1
    if count > MOST_NODES:
        raise ReleaseError(
            f"the lattice of {', '.join(d.name for d in dimensions)} has {count:,} nodes, at most "
            f"{MOST_NODES:,} are looked at: leave some out (--dimensions)"
        )
    every = product(*(range(dimension.top + 1) for dimension in dimensions))
    return sorted(every, key=lambda levels: (sum(levels), levels))


def least_nodes(tops: Levels, keeps: Callable[[Levels], bool]) -> list[Levels]:
    """The minimal nodes that keep a property which every generalization of such a node keeps.

    As Incognito: subsets of the attributes first, the smallest ones first, the others being at the
    top of their trees. What one node shows is not asked of those above it (they keep it) or below
    it (they do not).

    Args:
        tops: the top level of each dimension.
        keeps: asks one node.
    """
    known: dict[Levels, bool] = {}
    nodes = sorted(
        product(*(range(top + 1) for top in tops)),
        key=lambda levels: (_free(levels, tops), sum(levels), levels),
    )
    for levels in nodes:
        if levels in known:
            continue
        found = keeps(levels)
        for other in _above(levels, tops) if found else _below(levels):
            known[other] = found
    kept = {levels for levels, found in known.items() if found}
    return [
        levels for levels in sorted(kept) if not any(lower in kept for lower in _one_below(levels))
    ]


def _free(levels: Levels, tops: Levels) -> int:
    """How many attributes are not generalized to ``*``."""
    return sum(level < top for level, top in zip(levels, tops, strict=True))


def _above(levels: Levels, tops: Levels) -> Iterator[Levels]:
    return product(*(range(low, top + 1) for low, top in zip(levels, tops, strict=True)))


def _below(levels: Levels) -> Iterator[Levels]:
    return product(*(range(level + 1) for level in levels))


def _one_below(levels: Levels) -> Iterator[Levels]:
    for place, level in enumerate(levels):
        if level:
            yield (*levels[:place], level - 1, *levels[place + 1 :])


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
    probability: float | None = None
    """With which the node is taken, given what was perturbed; None: it cannot be told."""


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
    import numpy as np

    from srsql.udfs.lattice_node import PerturbedCounts

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
