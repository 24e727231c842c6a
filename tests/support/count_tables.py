"""Units, items and strata as the macros of count tables take them, and what they tell as keys."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from oracles.count_tables import NOTHING, Item, Key, Rules, Told, Tree, Unit
from support.sql import Sql


def told_by_macro(sql: Sql, units: Iterable[Unit], tree: Tree, rules: Rules) -> Told:
    """The told cells of ``srsql.count_tables``, without those of 0, as the oracle has them."""
    listed = list(units)
    nodes = {node: number for number, node in enumerate(tree.nodes())}
    items = sorted(
        {item for _, held in listed for item in held} | {(name, None) for name in rules.single},
        key=str,
    )
    numbers = {item: number for number, item in enumerate(items)}
    first = {name: min(n for i, n in numbers.items() if i[0] == name) for name, _ in items}
    parents = {child: parent for parent, found in tree.children.items() for child in found}
    tables = [
        sql.table(
            "stratum",
            "node INTEGER, parent INTEGER",
            [(nodes[node], nodes.get(parents.get(node, ""))) for node in nodes],
        ),
        sql.table(
            "counted_unit",
            "unit INTEGER, leaf INTEGER",
            [(number, nodes[leaf]) for number, (leaf, _) in enumerate(listed)],
        ),
        sql.table(
            "unit_item",
            "unit INTEGER, item_no INTEGER",
            [(n, numbers[item]) for n, (_, held) in enumerate(listed) for item in held],
        ),
        sql.table(
            "counted_item",
            "item_no INTEGER, group_no INTEGER, attribute VARCHAR, rest BOOLEAN, "
            "theta_num BIGINT, theta_den BIGINT",
            [
                (
                    number,
                    first[item[0]] if item[0] in rules.single else number,
                    item[0],
                    item[1] is None,
                    *_threshold(rules, item),
                )
                for item, number in numbers.items()
            ],
        ),
        sql.table(
            "counted_kind",
            "attribute VARCHAR, other VARCHAR",
            [sorted(kind) for kind in rules.kinds],
        ),
    ]
    names = list(nodes)
    told: dict[Key, dict[str, int]] = {}
    for item, other, node, count in sql.rows(
        f"SELECT c.item_no, c.other_no, c.node, c.units "
        f"FROM srsql.count_tables({', '.join(tables)}, {rules.k:d}) AS c"
    ):
        key = (
            NOTHING if item is None else frozenset(items[n] for n in (item, other) if n is not None)
        )
        assert names[node] not in told.setdefault(key, {}), "a stratum is told once"
        told[key][names[node]] = count
    return told


def _threshold(rules: Rules, item: Item) -> tuple[int, int]:
    theta = rules.theta.get(item, Fraction(1))
    return theta.numerator, theta.denominator


def without_empty(told: Told) -> Told:
    """The cells that a table prints."""
    return {key: {n: count for n, count in cells.items() if count} for key, cells in told.items()}
