"""Value generalization hierarchies, numbered so that generalization is interval containment.

Nodes are numbered in preorder (siblings in file order). The subtree of a node is then the
interval ``[pre, last]``; node *a* generalizes node *b* exactly if ``a.pre <= b.pre`` and
``b.last <= a.last``; and the lowest common ancestor of a set is the deepest node whose interval
holds the hull of the set's intervals. Kernels and SQL macros treat every attribute, numeric or
categorical, as such an interval.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property, lru_cache
from importlib.resources.abc import Traversable
from pathlib import Path

from srsql.schemas.outside import breaks_line, read_text, toml_of

_KEYS = ("node", "parent", "low", "high")


class HierarchyError(ValueError):
    """A hierarchy file is not one tree; the text names the node or the line."""


@dataclass(frozen=True)
class Hierarchy:
    """A tree over node labels in preorder; every list is indexed by preorder number."""

    labels: tuple[str, ...]
    parent: tuple[int, ...]
    """Preorder number of the parent; -1 for the root."""
    low: tuple[Decimal | None, ...]
    high: tuple[Decimal | None, ...]
    """Inclusive range of a leaf of a numeric attribute (own unit), or None."""

    @cached_property
    def last(self) -> tuple[int, ...]:
        """Largest preorder number in each node's subtree."""
        last = list(range(len(self.labels)))
        for node in range(len(self.labels) - 1, 0, -1):
            last[self.parent[node]] = max(last[self.parent[node]], last[node])
        return tuple(last)

    @cached_property
    def height(self) -> tuple[int, ...]:
        """Length of the longest path from each node down to a leaf (SPEC, h(node))."""
        height = [0] * len(self.labels)
        for node in range(len(self.labels) - 1, 0, -1):
            height[self.parent[node]] = max(height[self.parent[node]], height[node] + 1)
        return tuple(height)

    @cached_property
    def depth(self) -> tuple[int, ...]:
        """Number of edges from the root to each node."""
        depth = [0] * len(self.labels)
        for node in range(1, len(self.labels)):
            depth[node] = depth[self.parent[node]] + 1
        return tuple(depth)

    @cached_property
    def leaf_count(self) -> tuple[int, ...]:
        """Number of leaves under each node; 1 for a leaf."""
        count = [int(h == 0) for h in self.height]
        for node in range(len(self.labels) - 1, 0, -1):
            count[self.parent[node]] += count[node]
        return tuple(count)

    @cached_property
    def ranges(self) -> tuple[tuple[Decimal | None, Decimal | None], ...]:
        """Least and greatest value of the leaves under each node, where the leaves have ranges."""
        ends = list(zip(self.low, self.high, strict=True))
        for node in range(len(self.labels) - 1, 0, -1):
            above = self.parent[node]
            last = ends[above][1]
            ends[above] = (ends[node][0], ends[node][1] if last is None else last)
        return tuple(ends)

    @cached_property
    def number(self) -> dict[str, int]:
        """Preorder number of each label."""
        return {label: node for node, label in enumerate(self.labels)}

    def ancestors(self, node: int) -> list[int]:
        """The node itself and every node above it, nearest first."""
        path = [node]
        while self.parent[path[-1]] >= 0:
            path.append(self.parent[path[-1]])
        return path


def load_hierarchy(path: Path | Traversable) -> Hierarchy:
    """Read a hierarchy from CSV (``node,parent[,low,high]``) or TOML (``[[nodes]]`` of the same).

    Raises:
        HierarchyError: not exactly one root, a cycle, an unknown parent, a repeated node,
            a control character, a range on an inner node or one that is not a pair of numbers.
        OSError: the file cannot be read.
    """
    return _of_text(read_text(path), path.name.lower().endswith(".toml"))


@lru_cache(maxsize=32)
def _of_text(text: str, toml: bool) -> Hierarchy:
    """One command reads the same declaration several times; large trees take a second each."""
    if toml:
        nodes = toml_of(text).get("nodes", [])
        if not isinstance(nodes, list) or not all(isinstance(row, dict) for row in nodes):
            raise HierarchyError("key nodes must be [[nodes]] with node and parent")
        return build_hierarchy([{k: str(v) for k, v in row.items()} for row in nodes])
    lines = list(filter(None, csv.reader(io.StringIO(text))))
    header = lines.pop(0) if lines else []
    places = {name: place for place, name in enumerate(header)}
    if {len(line) for line in lines} <= {len(header)}:
        columns: list[Sequence[str]] = list(zip(*lines, strict=True)) or [()] * len(header)
    else:
        width = range(len(header))
        columns = [[line[at] if at < len(line) else "" for line in lines] for at in width]
    blank = [""] * len(lines)
    return _of_columns(*(columns[places[key]] if key in places else blank for key in _KEYS))


def build_hierarchy(rows: list[dict[str, str]]) -> Hierarchy:
    """Number the nodes of ``rows`` (keys node, parent, low, high) in preorder.

    Raises:
        HierarchyError: see :func:`load_hierarchy`.
    """
    return _of_columns(*([row.get(key) or "" for row in rows] for key in _KEYS))


def _of_columns(
    node: Sequence[str], parent: Sequence[str], low: Sequence[str], high: Sequence[str]
) -> Hierarchy:
    """The tree of the columns of a file; trees may have as many nodes as there are post codes."""
    labels = [text.strip() for text in node]
    if "" in labels:
        raise HierarchyError("a row has no node label: give every row a node")
    if breaks_line("".join(labels)):
        label = next(each for each in labels if breaks_line(each))
        raise HierarchyError(
            f"node {label!r} holds a line end or another control character: remove it"
        )
    known = set(labels)
    if len(known) < len(labels):
        twice = next(label for label, count in Counter(labels).items() if count > 1)
        raise HierarchyError(f"node {twice!r} is listed twice: keep one row")
    children: dict[str, list[str]] = {}
    for label, text in zip(labels, parent, strict=True):
        children.setdefault(text.strip(), []).append(label)
    ranges = {
        label: pair
        for label, *ends in zip(labels, low, high, strict=True)
        if (ends[0] or ends[1]) and (pair := _range(label, *ends)) is not None
    }
    roots = children.get("", [])
    if len(roots) != 1:
        raise HierarchyError(f"{len(roots)} nodes have no parent: a hierarchy has exactly one root")
    unknown = [label for label in children if label and label not in known]
    if unknown:
        raise HierarchyError(f"parent {unknown[0]!r} is not a node: add a row for it")
    return _preorder(roots[0], labels, children, ranges)


def _range(node: str, low: str, high: str) -> tuple[Decimal, Decimal] | None:
    low, high = low.strip(), high.strip()
    if not low and not high:
        return None
    try:
        pair = Decimal(low), Decimal(high)
    except InvalidOperation:
        raise HierarchyError(f"node {node!r} has a range that is not two numbers") from None
    if not (pair[0].is_finite() and pair[1].is_finite()):
        raise HierarchyError(f"node {node!r} has a range that is not two numbers")
    if pair[0] > pair[1]:
        raise HierarchyError(f"node {node!r} has low above high")
    return pair


def _preorder(
    root: str,
    nodes: list[str],
    children: dict[str, list[str]],
    ranges: dict[str, tuple[Decimal, Decimal]],
) -> Hierarchy:
    """The tree, depth first; children that are all leaves, as most are, go in together."""
    labels: list[str] = []
    parents: list[int] = []
    stack = [(root, -1)]
    while stack:
        label, parent = stack.pop()
        below, here = children.get(label, []), len(labels)
        labels.append(label)
        parents.append(parent)
        if children.keys().isdisjoint(below):
            labels += below
            parents += [here] * len(below)
        else:
            stack.extend((child, here) for child in reversed(below))
    if len(labels) != len(nodes):
        reached = set(labels)
        lost = next(label for label in nodes if label not in reached)
        raise HierarchyError(f"node {lost!r} is not reachable from the root: break the cycle")
    inner = [label for label in ranges if label in children]
    if inner:
        raise HierarchyError(f"inner node {inner[0]!r} has a range: only leaves have one")
    none = (None, None)
    return Hierarchy(
        labels=tuple(labels),
        parent=tuple(parents),
        low=tuple(ranges.get(label, none)[0] for label in labels),
        high=tuple(ranges.get(label, none)[1] for label in labels),
    )
