"""What an attacker knows of the target: values of quasi-identifiers, coded as the catalog does."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from sqlglot import exp

from srsql.engine.errors import AttackError
from srsql.engine.ingest import units
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset, Qid
from srsql.schemas.hierarchy import Hierarchy


def known_intervals(
    warehouse: Warehouse, dataset: Dataset, knowledge: Mapping[str, str]
) -> dict[str, tuple[int, int]]:
    """QID -> the interval of its value, in granules or preorder numbers of nodes.

    Raises:
        AttackError: no such quasi-identifier or one given twice, no number or an impossible one,
            no node.
    """
    known: dict[str, tuple[int, int]] = {}
    for name, text in knowledge.items():
        qid = next((q for q in dataset.qid if q.name == name.strip().lower()), None)
        if qid is None:
            names = ", ".join(q.name for q in dataset.qid)
            raise AttackError(f"--qid {name}: no such quasi-identifier; {dataset.name} has {names}")
        if qid.name in known:
            raise AttackError(f"--qid {qid.name} is given twice: an attacker knows one value of it")
        known[qid.name] = _interval(warehouse, dataset, qid, text)
    return known


def _interval(warehouse: Warehouse, dataset: Dataset, qid: Qid, text: str) -> tuple[int, int]:
    if qid.kind == "numeric":
        granules = _granules(warehouse, qid, text)
        return granules, granules
    tree = dataset.hierarchies[qid.name]
    codes = {label.strip().upper(): label for label in (*qid.aliases, *tree.labels)}
    label = codes.get(text.strip().upper(), "")
    node = tree.number.get(label, tree.number.get(qid.aliases.get(label, "")))
    if node is None and qid.ranged:
        node = _leaf(tree, _granules(warehouse, qid, text) * qid.granularity)
    if node is None:
        shown = ", ".join(tree.labels[:12]) + (", ..." if len(tree.labels) > 12 else "")
        raise AttackError(
            f"--qid {qid.name}={text}: not a node of its hierarchy, which has {shown}"
        )
    return node, tree.last[node]


def _leaf(tree: Hierarchy, value: Decimal) -> int:
    """The leaf whose range holds a number of the domain; leaves tile it."""
    return next(
        node
        for node, (low, high) in enumerate(tree.ranges)
        if not tree.height[node] and low is not None and high is not None and low <= value <= high
    )


def _granules(warehouse: Warehouse, qid: Qid, text: str) -> int:
    plain: dict[str, Any] = {"unit_column": None, "units": {}, "missing": ()}
    named = {"name": "value", "column": "value", "kind": "numeric"}
    single = qid.model_copy(update=named | plain)
    rows = exp.select(exp.alias_(exp.Literal.string(text), "value"))
    granules, reason = units.granules_or_reason(single)
    known = units.with_granules(rows, [single]).subquery("known")
    query = exp.select(granules, reason).from_(known)
    value, wrong = warehouse.rows(query.sql(dialect="duckdb"))[0]
    if value is None:
        unit = f" in {qid.unit}" if qid.unit else ""
        raise AttackError(
            f"--qid {qid.name}={text}: {wrong or 'no value'}; give one number{unit}, or leave "
            f"{qid.name} out where the attacker does not know it"
        )
    return int(value)
