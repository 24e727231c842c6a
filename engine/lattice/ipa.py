"""IPA (Lee 2020): perturb the nodes of the lattice, and take one (Algorithm 2); its comparators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from srsql.engine.catalog.dimensions import Dimension
from srsql.engine.errors import NoGroupError, ReleaseError
from srsql.engine.lattice.cube import (
    Figures,
    Levels,
    Made,
    Node,
    cube_counts,
    figures,
    lattice,
    least_nodes,
    smallest_class,
)
from srsql.engine.store.warehouse import Warehouse

if TYPE_CHECKING:
    from srsql.udfs.columns import Ints
    from srsql.udfs.lattice_node import Budget, Counts, PerturbedCounts
    from srsql.udfs.mechanisms import Source

MOST_CELLS = 4_000_000
"""Cells of a domain that get noise of their own; beyond, noise is nearly all there would be."""


@dataclass(frozen=True)
class Shares:
    """What of epsilon is spent on each step; by default as Lee 2020, "Data utility", has it."""

    suppression: Fraction = Fraction(1, 10)
    insertion: Fraction = Fraction(3, 10)
    value: Fraction = Fraction(3, 10)
    candidates: Fraction = Fraction(3, 10)

    @property
    def total(self) -> Fraction:
        """Of all four steps."""
        return self.suppression + self.insertion + self.value + self.candidates


@dataclass(frozen=True)
class IpaParameters:
    """The parameters of IPA."""

    epsilon: Fraction
    least: int
    """t"""
    sound: bool
    """The node is chosen from statistics with noise of their own, before anything is perturbed."""
    shares: Shares = Shares()
    printed: bool = False
    """Word for word: the loop of Algorithm 1, and the sum over dimensions of equation 6."""

    @property
    def budget(self) -> Budget:
        """What is spent at one node."""
        from srsql.udfs.lattice_node import Budget

        of, epsilon = self.shares, self.epsilon
        return Budget(
            self.least,
            of.suppression * epsilon,
            of.insertion * epsilon,
            of.value * epsilon,
            self.printed,
        )

    @property
    def candidates(self) -> Fraction:
        """What is spent on the choice of the node."""
        return self.shares.candidates * self.epsilon


def anonymize(
    warehouse: Warehouse, dimensions: Sequence[Dimension], parameters: IpaParameters, source: Source
) -> Made:
    """IPA on the cube of ``load_cube``.

    Raises:
        ReleaseError: the lattice, or with ``sound`` the domain, is too large.
    """
    if not parameters.sound:
        return _choose_perturbed(warehouse, dimensions, parameters, source)
    levels = _choose_by_noise(warehouse, dimensions, parameters, source)
    node = cube_counts(warehouse, dimensions, levels)
    made, seen = _perturbed(node, parameters, source, dimensions)
    return Made(levels, node.nodes, made, [seen])


def _choose_perturbed(
    warehouse: Warehouse, dimensions: Sequence[Dimension], parameters: IpaParameters, source: Source
) -> Made:
    """Algorithm 2: every node is perturbed, one is drawn by equation 12.

    A node takes the place of the one held with the chance of its weight in the sum so far, which
    draws as equation 12 does and keeps one perturbed node in memory.
    """
    import numpy as np

    from srsql.udfs.lattice_node import node_weight

    nodes = lattice(dimensions)
    total, held = 0, None
    seen: list[Figures] = []
    weights: list[int] = []
    for levels in nodes:
        node = cube_counts(warehouse, dimensions, levels)
        made, found = _perturbed(node, parameters, source, dimensions)
        seen.append(found)
        loss = found.loss.il_printed if parameters.printed else found.loss.il
        weight = node_weight(loss, parameters.candidates, len(nodes))
        weights.append(weight)
        total += weight
        if int(source.uniform.below(np.array([total]))[0]) < weight:
            held = (levels, node.nodes, made)
    if held is None:
        raise ReleaseError("there is no dimension to generalize: name some with --dimensions")
    drawn = [
        replace(found, probability=weight / total)
        for found, weight in zip(seen, weights, strict=True)
    ]
    return Made(*held, drawn)


def _perturbed(
    node: Node, parameters: IpaParameters, source: Source, dimensions: Sequence[Dimension]
) -> tuple[PerturbedCounts, Figures]:
    from srsql.udfs.lattice_node import loss_of, perturb

    made = perturb(node.counts, parameters.budget, source)
    loss = loss_of(node.counts, made, node.penalties(), len(dimensions))
    return made, figures(node.levels, loss, node.counts.classes, made)


def _choose_by_noise(
    warehouse: Warehouse, dimensions: Sequence[Dimension], parameters: IpaParameters, source: Source
) -> Levels:
    """The node of least expected loss, by the sizes of all leaf cells with noise of scale
    1 / epsilon of the candidates: a record is in one cell, so this is differentially private, and
    so is whatever is worked out of it."""
    import numpy as np

    from srsql.udfs.lattice_node import expected_loss, noisy_counts, roll_up

    finest = cube_counts(warehouse, dimensions, (0,) * len(dimensions))
    widths = leaf_widths(dimensions)
    cells = cell_numbers(finest.nodes, widths)
    noise = source.laplace(1 / parameters.candidates, need_cells(dimensions, widths, 1))
    noisy = noisy_counts(cells, finest.counts.sizes, noise).reshape(widths)
    least: tuple[float, Levels] | None = None
    for levels in lattice(dimensions):
        maps, penalties = [], np.zeros((1,) * len(dimensions))
        for axis, (dimension, level) in enumerate(zip(dimensions, levels, strict=True)):
            values = dimension.on_level(level)
            become = np.array(dimension.maps[level], dtype=np.int64)[: widths[axis]]
            maps.append(np.searchsorted(values, become))
            shape = tuple(len(values) if at == axis else 1 for at in range(len(dimensions)))
            penalties = penalties + dimension.penalties()[values].reshape(shape)
        sizes = roll_up(noisy, maps).ravel()
        loss = expected_loss(
            sizes, penalties.ravel(), len(dimensions), parameters.least, parameters.budget.insertion
        )
        if least is None or (loss, levels) < least:
            least = (loss, levels)
    if least is None:
        raise ReleaseError("there is no dimension to generalize: name some with --dimensions")
    return least[1]


def leaf_widths(dimensions: Sequence[Dimension]) -> tuple[int, ...]:
    """How many leaves each dimension has, what is not known included."""
    return tuple(len(dimension.on_level(0)) for dimension in dimensions)


def cell_numbers(nodes: Ints, widths: tuple[int, ...]) -> Ints:
    """[n] the number in the domain of each row [n, d] of leaves; on level 0 a node is its leaf."""
    import numpy as np

    return np.asarray(np.ravel_multi_index(tuple(nodes.T), widths), dtype=np.int64)


def need_cells(dimensions: Sequence[Dimension], widths: tuple[int, ...], values: int) -> int:
    """How many cells the domain has.

    Raises:
        ReleaseError: more than ``MOST_CELLS``.
    """
    count = values
    for width in widths:
        count *= width
    if count > MOST_CELLS:
        raise ReleaseError(
            f"the domain of {', '.join(d.name for d in dimensions)}"
            + (f" and {values:,} informative values" if values > 1 else "")
            + f" has {count:,} cells, at most {MOST_CELLS:,} get noise: leave some out "
            "(--dimensions), or take an informative column of fewer values (--informative)"
        )
    return count


def k_anonymous(warehouse: Warehouse, dimensions: Sequence[Dimension], k: int) -> Made:
    """The node of least NCP in which every class has k records; nothing is suppressed.

    NCP grows with generalization, so it is least at a minimal node. Ties: the lower one.

    Raises:
        ReleaseError: not even ``*`` has k records.
    """
    from srsql.udfs.lattice_node import loss_of

    lattice(dimensions)  # refuses one that is too large
    minimal = least_nodes(
        tuple(dimension.top for dimension in dimensions),
        lambda levels: smallest_class(warehouse, dimensions, levels) >= k,
    )
    if not minimal:
        raise NoGroupError(f"fewer than {k:,} records: not even one class of them is {k}-anonymous")
    seen: list[Figures] = []
    for levels in sorted(minimal, key=lambda found: (sum(found), found)):
        node = cube_counts(warehouse, dimensions, levels)
        made = _as_it_is(node.counts)
        loss = loss_of(node.counts, made, node.penalties(), len(dimensions))
        seen.append(figures(levels, loss, node.counts.classes, made))
    best = min(seen, key=lambda found: found.loss.ncp).levels
    node = cube_counts(warehouse, dimensions, best)
    taken = [replace(found, probability=float(found.levels == best)) for found in seen]
    return Made(best, node.nodes, _as_it_is(node.counts), taken)


def noisy_histogram(
    warehouse: Warehouse, dimensions: Sequence[Dimension], epsilon: Fraction, source: Source
) -> Made:
    """Laplace noise on the count of every combination of leaves and informative value.

    Records are made anew: as many as the noisy count says, none where it is below 0 (Lee 2020,
    Tables 2 and 3).

    Raises:
        ReleaseError: there are too many combinations.
    """
    import numpy as np

    from srsql.udfs.lattice_node import loss_of, recreate

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
    seen = replace(figures(levels, loss, len(nodes), made), probability=1.0)
    return Made(levels, nodes, made, [seen])


def _as_it_is(counts: Counts) -> PerturbedCounts:
    import numpy as np

    from srsql.udfs.lattice_node import PerturbedCounts

    return PerturbedCounts(
        counts.owner,
        counts.value,
        counts.count,
        np.zeros(counts.classes, np.int64),
        np.zeros(counts.classes, np.bool_),
    )
