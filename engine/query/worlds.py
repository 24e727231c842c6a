"""Worlds: the ways in which the values behind the released regions may stand to a question.

The comparisons of a question cut each quasi-identifier into cells, within which all of them are
decided; a world is one cell per quasi-identifier. Within a world a question has no quasi-identifier
left, so it is asked exactly; what holds in every world of a region is certain, what holds in one of
them possible. A cell for the missing value, in which every comparison is NULL, belongs to regions
that may hide one: NULL bounds and the root.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from sqlglot import exp

from srsql.engine.errors import QueryError
from srsql.engine.signals.rules import leaves
from srsql.engine.warehouse.statements import column
from srsql.schemas import Dataset, Hierarchy, Qid

WORLD = "w"
"""Alias of the worlds in rewritten statements."""
FAR = 2**40
MOST = 4096
Span = tuple[int, int]
Truth = bool | None


@dataclass(frozen=True)
class Atom:
    """One comparison of a quasi-identifier with constants."""

    position: int
    values: tuple[Span, ...]
    """Where it is true: granules or numbers of leaves, ascending, apart from each other."""


@dataclass(frozen=True)
class Cell:
    """Values of one quasi-identifier among which no comparison tells."""

    spans: tuple[Span, ...]
    """Empty: the missing value."""
    truth: tuple[Truth, ...]
    """Of each atom of the quasi-identifier."""
    label: str | None
    """The leaf, where the question groups by them."""


@dataclass(frozen=True)
class World:
    """A cell of each quasi-identifier that the question speaks of."""

    cells: tuple[int, ...]
    truth: Mapping[str, Truth]
    """Column of an atom -> whether it holds."""
    labels: tuple[str | None, ...]


def truth_column(number: int) -> exp.Column:
    """The column of the worlds that tells whether an atom holds."""
    return column(f"holds_{number}", WORLD)


def label_column(qid: Qid) -> exp.Column:
    """The column of the worlds with the leaf of a categorical quasi-identifier."""
    return column(f"leaf_{qid.name}", WORLD)


def undecided(node: exp.Expr) -> bool:
    """Whether an expression depends on the world."""
    return any(c.table == WORLD for c in node.find_all(exp.Column))


def numeric_spans(qid: Qid, operator: type[exp.Expr], limit: Fraction) -> tuple[Span, ...]:
    """The granules that compare so with a number in the unit of the quasi-identifier."""
    point = limit / Fraction(qid.granularity)
    below, above = math.floor(point), math.ceil(point)
    if operator in (exp.EQ, exp.NEQ):
        spans = ((below, below),) if below == above else ()
        return spans if operator is exp.EQ else complement(spans)
    ends: dict[type[exp.Expr], Span] = {
        exp.LT: (-FAR, above - 1),
        exp.LTE: (-FAR, below),
        exp.GT: (below + 1, FAR),
        exp.GTE: (above, FAR),
    }
    low, high = ends[operator]
    return ((max(low, -FAR), min(high, FAR)),) if max(low, -FAR) <= min(high, FAR) else ()


def node_spans(qid: Qid, tree: Hierarchy, text: str) -> tuple[Span, ...]:
    """The leaves under the node of that label or source code, whatever its case.

    Raises:
        QueryError: no such node, or a code that means "not known".
    """
    wanted = text.strip().upper()
    codes = {code.strip().upper(): label for code, label in qid.aliases.items()}
    labels = {label.strip().upper(): label for label in tree.labels}
    label = labels.get(wanted) or codes.get(wanted)
    if wanted in {code.strip().upper() for code in qid.missing}:
        raise QueryError(f"{qid.name} = '{text}': a release does not tell which values are missing")
    if label is None or label not in tree.number:
        raise QueryError(f"{qid.name} has no value '{text}': it has {', '.join(tree.labels[:12])}")
    return (leaves(tree)[tree.number[label]],)


def union(parts: Iterable[tuple[Span, ...]]) -> tuple[Span, ...]:
    """The values in any of the parts."""
    merged: list[Span] = []
    for low, high in sorted(span for part in parts for span in part):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(merged[-1][1], high)
        else:
            merged.append((low, high))
    return tuple(merged)


def complement(spans: Sequence[Span]) -> tuple[Span, ...]:
    """The other values."""
    ends = [-FAR - 1, *(end for low, high in spans for end in (low - 1, high)), FAR]
    return tuple(
        (low + 1, high) for low, high in zip(ends[::2], ends[1::2], strict=True) if low < high
    )


def possible_span(dataset: Dataset, qid: Qid) -> Span:
    """The values that ingestion lets through: granules, or numbers of leaves."""
    if qid.kind == "categorical":
        return leaves(dataset.hierarchies[qid.name])[0]
    limits = qid.domain if isinstance(qid.domain, tuple) else qid.limits
    if limits is None:
        return -FAR, FAR
    low, high = (Fraction(end) / Fraction(qid.granularity) for end in limits)
    return math.ceil(low), math.floor(high)


def make_cells(
    dataset: Dataset, position: int, atoms: Sequence[Atom], *, labelled: bool
) -> list[Cell]:
    """The cells of one quasi-identifier; the last one is the missing value."""
    qid = dataset.qid[position]
    first, last = possible_span(dataset, qid)
    tree = dataset.hierarchies.get(qid.name) if qid.kind == "categorical" else None
    starts = {first} | {end for a in atoms for low, high in a.values for end in (low, high + 1)}
    if labelled:
        starts |= set(range(first, last + 1))
    cuts = sorted(start for start in starts if first <= start <= last)
    names = [n for n, h in zip(tree.labels, tree.height, strict=True) if h == 0] if tree else []
    found: dict[tuple[tuple[Truth, ...], str | None], list[Span]] = {}
    for low, after in zip(cuts, [*cuts[1:], last + 1], strict=True):
        truth = tuple(any(a <= low <= b for a, b in atom.values) for atom in atoms)
        label = names[low] if labelled else None
        found.setdefault((truth, label), []).append((low, after - 1))
    missing = Cell((), (None,) * len(atoms), None)
    return [Cell(union([tuple(s)]), t, label) for (t, label), s in found.items()] + [missing]


def make_worlds(
    cells: Mapping[int, Sequence[Cell]], columns: Mapping[int, Sequence[str]], condition: exp.Expr
) -> list[World]:
    """The worlds in which the condition may hold.

    Args:
        cells: position -> its cells.
        columns: position -> the columns of its atoms.
        condition: over those columns and others, whose value is open.

    Raises:
        QueryError: there are too many.
    """
    if math.prod(len(listed) for listed in cells.values()) > MOST:
        raise QueryError(
            f"the comparisons of {len(cells)} quasi-identifiers make more than {MOST:,} "
            "combinations: ask several questions"
        )
    worlds = []
    for numbers in product(*(range(len(listed)) for listed in cells.values())):
        chosen = {p: listed[n] for (p, listed), n in zip(cells.items(), numbers, strict=True)}
        truth = {
            name: value
            for p, cell in chosen.items()
            for name, value in zip(columns[p], cell.truth, strict=True)
        }
        if True in _outcomes(condition, truth):
            worlds.append(World(numbers, truth, tuple(cell.label for cell in chosen.values())))
    return worlds


def _outcomes(node: exp.Expr, truth: Mapping[str, Truth]) -> set[Truth]:
    """What a condition may come to in a world, in three-valued logic."""
    if isinstance(node, exp.Paren):
        return _outcomes(node.this, truth)
    if isinstance(node, exp.Not):
        return {None if value is None else not value for value in _outcomes(node.this, truth)}
    if isinstance(node, (exp.And, exp.Or)):
        rule: Callable[[Truth, Truth], Truth] = _both if isinstance(node, exp.And) else _either
        left, right = _outcomes(node.left, truth), _outcomes(node.right, truth)
        return {rule(a, b) for a in left for b in right}
    if isinstance(node, exp.Boolean):
        return {bool(node.this)}
    if isinstance(node, exp.Column) and node.table == WORLD:
        return {truth[node.name]}
    return {True, False, None}


def _both(one: Truth, other: Truth) -> Truth:
    if one is False or other is False:
        return False
    return None if one is None or other is None else True


def _either(one: Truth, other: Truth) -> Truth:
    if one is True or other is True:
        return True
    return None if one is None or other is None else False
