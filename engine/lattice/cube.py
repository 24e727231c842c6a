"""The base cube of a quarter and what a node makes of it, by SQL (``lattice/lattice.sql``).

One GROUP BY for each node, over counts; the data are never copied for a node.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from srsql.engine.lattice.dimensions import Dimension
from srsql.engine.lattice.nodes import Levels
from srsql.engine.warehouse.statements import create
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.udfs import Ints
from srsql.udfs.lattice_node import Counts

CELLS, CUBE, CLASSES = (f"temp.main.srsql_{name}" for name in ("cell", "cube", "node_class"))


def load_cube(warehouse: Warehouse, dimensions: Sequence[Dimension], seed: int | None) -> None:
    """Fill ``srsql_cell``, ``srsql_cube`` and ``srsql_informative(value, spelling)``.

    A case is one record. One that holds several informative values shows one of them, drawn
    uniformly by itself, so that no other case has a part in it.

    Args:
        warehouse: with ``srsql_grouped``, ``srsql_box`` and ``srsql_held_value(case_no, term,
            spelling)``.
        dimensions: of the lattice.
        seed: of an experiment; None: the secure generator.
    """
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_leaf_end"
        " (place INTEGER, position INTEGER, low BIGINT, high BIGINT, leaf INTEGER)"
    )
    for place, dimension in enumerate(dimensions):
        warehouse.run(
            "INSERT INTO temp.main.srsql_leaf_end "
            "SELECT ?, ?, unnest(?::BIGINT[]), unnest(?::BIGINT[]), unnest(?::INTEGER[])",
            [
                place,
                dimension.position,
                [low for low, _ in dimension.ends],
                [high for _, high in dimension.ends],
                list(range(len(dimension.ends))),
            ],
        )
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_lattice_run AS "
        "SELECT ?::INTEGER[] AS unknown, ?::BIGINT AS seed",
        [[dimension.unknown for dimension in dimensions], seed],
    )
    warehouse.run_step("lattice/steps/cube.sql")


def cube_counts(warehouse: Warehouse, dimensions: Sequence[Dimension], levels: Levels) -> Node:
    """Group the cube at one node of the lattice."""
    maps = [list(d.maps[level]) for d, level in zip(dimensions, levels, strict=True)]
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_node_class AS "
        f"SELECT c.* FROM srsql.node_classes('{CELLS}', ?::INTEGER[][]) AS c",
        [maps],
    )
    nodes = _nodes(warehouse, len(dimensions))
    owner, value, count = _columns(
        warehouse, f"SELECT c.* FROM srsql.rolled_counts('{CUBE}', '{CLASSES}') AS c"
    )
    domain = int(warehouse.value("SELECT count(*) FROM temp.main.srsql_informative"))
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
        parts = [d.penalties()[self.nodes[:, at]] for at, d in enumerate(self._dimensions)]
        return np.asarray(np.stack(parts).sum(axis=0), dtype=np.float64)


def smallest_class(warehouse: Warehouse, dimensions: Sequence[Dimension], levels: Levels) -> int:
    """Records of the smallest class of a node; 0 if there is none."""
    maps = [list(d.maps[level]) for d, level in zip(dimensions, levels, strict=True)]
    return int(
        warehouse.value(
            "SELECT coalesce(min(s.records), 0) FROM (SELECT sum(e.records) AS records "
            f"FROM srsql.node_classes('{CELLS}', ?::INTEGER[][]) AS c "
            "INNER JOIN temp.main.srsql_cell AS e ON c.cell = e.cell GROUP BY c.class_no) AS s",
            [maps],
        )
    )


def _nodes(warehouse: Warehouse, width: int) -> Ints:
    each = [
        exp.func("list_extract", exp.column("nodes", table="c"), exp.convert(place + 1))
        for place in range(width)
    ]
    query = (
        exp.select(exp.column("class_no", table="c"))
        .select(*[item.as_(f"node_{place}") for place, item in enumerate(each)])
        .distinct()
        .from_("temp.main.srsql_node_class AS c")
        .order_by(exp.column("class_no", table="c"))
    )
    warehouse.run(create(exp.to_table("srsql_class"), query, temp=True))
    columns = _columns(warehouse, "SELECT c.* FROM temp.main.srsql_class AS c ORDER BY c.class_no")
    return np.stack(columns[1:], axis=1)


def _columns(warehouse: Warehouse, query: str) -> list[Ints]:
    found = warehouse.con.execute(query).fetchnumpy()
    return [np.asarray(values, dtype=np.int64) for values in found.values()]
