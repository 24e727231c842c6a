"""The dimension attributes of Lee 2020: the levels that each can be generalized to.

A dimension has leaves, numbered from 0, and one more for what is not known. A level maps every leaf
to a node; level 0 is the leaves, the top level one node, ``*``. Nodes are numbered level by level.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from srsql.engine.catalog.layout import in_units
from srsql.engine.errors import ReleaseError
from srsql.engine.store.statements import column
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, Qid, Sensitive
from srsql.schemas.hierarchy import Hierarchy

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from srsql.udfs.columns import Ints

WIDTHS = (1, 5, 10)
"""Granules of the first levels of a number without declared groups; then each doubles."""


@dataclass(frozen=True)
class Node:
    """What a published row shows: bounds in granules, or a label; neither is ``*``."""

    leaves: int
    """How many leaves it covers (1: it is one)."""
    low: int | None = None
    high: int | None = None
    label: str | None = None


@dataclass(frozen=True)
class Dimension:
    """One dimension attribute with its levels."""

    name: str
    position: int
    """Of the quasi-identifier in the dataset schema."""
    ends: tuple[tuple[int, int], ...]
    """The (low, high) of each leaf as cases have them; one that matches no leaf is not known."""
    maps: tuple[tuple[int, ...], ...]
    """[level][leaf] -> node; the last leaf is what is not known."""
    nodes: tuple[Node, ...]

    @property
    def top(self) -> int:
        """The level of ``*``."""
        return len(self.maps) - 1

    @property
    def unknown(self) -> int:
        """The leaf of what is not known."""
        return len(self.ends)

    def penalties(self) -> NDArray[np.float64]:
        """[nodes] Lee 2020, equation 5."""
        import numpy as np

        from srsql.udfs.lattice_node import penalty

        covered = np.array([node.leaves for node in self.nodes], dtype=np.int64)
        return penalty(covered, np.int64(len(self.ends)) + 0 * covered)

    def on_level(self, level: int) -> Ints:
        """The nodes of one level."""
        import numpy as np

        return np.unique(np.array(self.maps[level], dtype=np.int64))


def dimensions_of(dataset: Dataset, names: Sequence[str]) -> tuple[Dimension, ...]:
    """The dimensions of that name, in schema order; all quasi-identifiers if none is named.

    Raises:
        ReleaseError: there is no such quasi-identifier, or it has no declared bounds.
    """
    known = [qid.name for qid in dataset.qid]
    for name in names:
        if name not in known:
            raise ReleaseError(
                f"--dimensions {name}: {dataset.name} has the quasi-identifiers {', '.join(known)}"
            )
    found = []
    for position, qid in enumerate(dataset.qid):
        if names and qid.name not in names:
            continue
        if qid.kind == "categorical":
            tree = dataset.hierarchies[qid.name]
            found.append(_of_tree(qid, position, tree))
        else:
            found.append(_of_number(qid, position, *_granules(dataset, qid)))
    return tuple(found)


def _of_tree(qid: Qid, position: int, tree: Hierarchy) -> Dimension:
    """Level l cuts the tree at the depth of its deepest leaf less l; shallower leaves stay."""
    leaves = [node for node, height in enumerate(tree.height) if height == 0]
    maps: list[tuple[int, ...]] = []
    nodes: list[Node] = []
    for level in range(tree.height[0] + 1):
        cut = tree.height[0] - level
        above = [
            next(node for node in tree.ancestors(leaf) if tree.depth[node] <= cut)
            for leaf in leaves
        ]
        numbers = {node: len(nodes) + at for at, node in enumerate(dict.fromkeys(above))}
        nodes += [_tree_node(qid, tree, node) for node in numbers]
        unknown = len(nodes)
        if cut:
            nodes.append(Node(leaves=1))
        else:
            unknown = numbers[0]
        maps.append((*(numbers[node] for node in above), unknown))
    return Dimension(
        qid.name, position, tuple((leaf, leaf) for leaf in leaves), tuple(maps), tuple(nodes)
    )


def _tree_node(qid: Qid, tree: Hierarchy, node: int) -> Node:
    covered = tree.leaf_count[node]
    if node == 0 and tree.height[0]:
        return Node(covered)
    if not qid.ranged:
        return Node(covered, label=tree.labels[node])
    low, high = (int(end // qid.granularity) for end in tree.ranges[node] if end is not None)
    return Node(covered, low, high)


def _of_number(qid: Qid, position: int, low: int, high: int) -> Dimension:
    """Intervals of 1, 5, 10, 20, 40 ... granules from the least value of the domain on."""
    count = high - low + 1
    widths = list(WIDTHS)
    while widths[-1] * 2 < count:
        widths.append(widths[-1] * 2)
    maps: list[tuple[int, ...]] = []
    nodes: list[Node] = []
    for width in (width for width in widths if width < count):
        first = len(nodes)
        for start in range(0, count, width):
            size = min(width, count - start)
            nodes.append(Node(size, low + start, low + start + size - 1))
        maps.append((*(first + leaf // width for leaf in range(count)), len(nodes)))
        nodes.append(Node(leaves=1))
    maps.append((len(nodes),) * (count + 1))
    nodes.append(Node(count))
    ends = tuple((value, value) for value in range(low, high + 1))
    return Dimension(qid.name, position, ends, tuple(maps), tuple(nodes))


def _granules(dataset: Dataset, qid: Qid) -> tuple[int, int]:
    bounds = qid.domain if isinstance(qid.domain, tuple) else qid.limits
    if bounds is None:
        raise ReleaseError(
            f"quasi-identifier {qid.name!r} of {dataset.name} has an observed domain without "
            "limits: its intervals need declared bounds"
        )
    low, high = (Decimal(end) / qid.granularity for end in bounds)
    return int(low.to_integral_value("ROUND_CEILING")), int(high.to_integral_value("ROUND_FLOOR"))


FIRST = "first"
"""Stands for the first sensitive attribute that is published."""


ALL = "all"
"""Stands for every quasi-identifier."""


def requested_dimensions(dataset: Dataset, names: str) -> tuple[Dimension, ...]:
    """The dimensions ``age,sex,...``, or all.

    Raises:
        ReleaseError: see ``dimensions_of``.
    """
    listed = [] if names == ALL else [name.strip() for name in names.split(",") if name.strip()]
    return dimensions_of(dataset, listed)


def informative_attribute(dataset: Dataset, name: str) -> Sensitive:
    """The sensitive or quasi-sensitive attribute whose values are published as they are.

    Raises:
        ReleaseError: there is none of that name, or it is not published.
    """
    known = [
        attribute
        for attribute in (*dataset.sensitive, *dataset.quasi_sensitive)
        if attribute.column in dataset.table(attribute.table).publish
    ]
    for attribute in known:
        if name in (FIRST, attribute.column):
            return attribute
    names = ", ".join(dict.fromkeys(a.column for a in known)) or "none"
    raise ReleaseError(
        f"--informative {name}: no published sensitive column of {dataset.name} (it has: {names})"
    )


def shown_columns(dataset: Dataset, dimensions: Sequence[Dimension]) -> list[str]:
    """Published columns of the dimensions."""
    return [name for each in dimensions for name in dataset.qid[each.position].published]


def load_nodes(warehouse: Warehouse, dimensions: Sequence[Dimension]) -> None:
    """Fill ``srsql_dimension_node(position, level, node, low, high, label)``."""
    rows = sorted(
        {
            (d.position, level, node)
            for d in dimensions
            for level, leaves in enumerate(d.maps)
            for node in leaves
        }
    )
    nodes = {d.position: d.nodes for d in dimensions}
    shown = [nodes[position][node] for position, _, node in rows]
    _insert(
        warehouse,
        "srsql_dimension_node",
        {"position": "INTEGER", "level": "INTEGER", "node": "INTEGER", "low": "BIGINT",
         "high": "BIGINT", "label": "VARCHAR"},
        [
            *([row[at] for row in rows] for at in range(3)),
            [node.low for node in shown],
            [node.high for node in shown],
            [node.label for node in shown],
        ],
    )  # fmt: skip


def value_columns(dataset: Dataset, qid: Qid, alias: str) -> dict[str, exp.Expr]:
    """Published columns of one dimension, from its node in ``alias``."""
    return shown_as(dataset, qid, lambda end: column(end, alias), column("label", alias))


def shown_as(
    dataset: Dataset, qid: Qid, end: Callable[[str], exp.Expr], label: exp.Expr
) -> dict[str, exp.Expr]:
    """Published columns of one dimension: its ends in its unit, or its label."""
    return qid.published_as(
        lambda: {f"{qid.name}_{each}": in_units(qid, end(each)) for each in ("low", "high")},
        lambda: {
            qid.name: exp.func(
                "coalesce", label, exp.Literal.string(dataset.hierarchies[qid.name].labels[0])
            )
        },
    )


def _insert(
    warehouse: Warehouse, name: str, kinds: dict[str, str], columns: Sequence[list[Any]]
) -> None:
    """A temporary table of our own name from columns of equal length."""
    listed = ", ".join(f"unnest(?::{kind}[]) AS {shown}" for shown, kind in kinds.items())
    warehouse.run(f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT {listed}", list(columns))
