"""Worlds: the ways in which the values behind the released regions may stand to a question.

The comparisons of a question cut each quasi-identifier into cells, within which all of them are
decided; a world is one cell per quasi-identifier. Within a world a question has no quasi-identifier
left, so it is asked exactly; what holds in every world of a region is certain, what holds in one of
them possible. A cell for the missing value, in which every comparison is NULL, belongs to regions
that may hide one: NULL bounds and the root.

``Shares`` composes the steps of the rewritten statement that say how much of each region lies in
each cell.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from sqlglot import exp

from srsql.engine.errors import QueryError
from srsql.engine.query.vocabulary import Views
from srsql.engine.signals.rules import granules, leaves
from srsql.engine.store.statements import column, table
from srsql.schemas import Dataset, Qid

_MISSING = exp.cast(exp.null(), "BIGINT")
WORLD = "w"
"""Alias of the worlds in rewritten statements."""
FARTHEST_VALUE = 2**40
WORLDS_AT_MOST = 4096
Span = tuple[int, int]
Truth = bool | None


@dataclass(frozen=True)
class Atom:
    """One comparison of a quasi-identifier with constants."""

    position: int
    values: tuple[Span, ...]
    """Where it is true: granules or numbers of leaves, ascending, apart from each other."""


@dataclass(frozen=True)
class Band:
    """An expression of a numeric quasi-identifier by which the question groups."""

    position: int
    parts: tuple[tuple[Span, ...], ...]
    """The values of which it is one and the same, for each that it may be."""


@dataclass(frozen=True)
class Cell:
    """Values of one quasi-identifier among which no comparison tells."""

    spans: tuple[Span, ...]
    """Empty: the missing value."""
    truth: tuple[Truth, ...]
    """Of each atom of the quasi-identifier."""
    label: str | None
    """The leaf, where the question groups by them."""

    @property
    def value(self) -> int | None:
        """One of its values, for all of which a band is the same; None: the missing value."""
        return self.spans[0][0] if self.spans else None


@dataclass(frozen=True)
class World:
    """A cell of each quasi-identifier that the question speaks of."""

    cells: tuple[int, ...]
    truth: Mapping[str, Truth]
    """Column of an atom -> whether it holds."""
    labels: tuple[str | None, ...]
    values: tuple[int | None, ...]
    """One of each cell."""


def truth_column(number: int) -> exp.Column:
    """The column of the worlds that tells whether an atom holds."""
    return column(f"holds_{number}", WORLD)


def label_column(qid: Qid) -> exp.Column:
    """The column of the worlds with the leaf of a categorical quasi-identifier."""
    return column(f"leaf_{qid.name}", WORLD)


def value_column(qid: Qid) -> exp.Column:
    """The column of the worlds with one value of the cell of a number, in granules."""
    return column(f"value_{qid.name}", WORLD)


def depends_on_world(node: exp.Expr) -> bool:
    """Whether an expression depends on the world."""
    return any(c.table == WORLD for c in node.find_all(exp.Column))


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
    ends = [
        -FARTHEST_VALUE - 1,
        *(end for low, high in spans for end in (low - 1, high)),
        FARTHEST_VALUE,
    ]
    return tuple(
        (low + 1, high) for low, high in zip(ends[::2], ends[1::2], strict=True) if low < high
    )


def possible_span(dataset: Dataset, qid: Qid) -> Span:
    """The values that ingestion lets through: granules, or numbers of leaves."""
    if qid.kind == "categorical":
        return leaves(dataset.hierarchies[qid.name])[0]
    limits = qid.domain if isinstance(qid.domain, tuple) else qid.limits
    if limits is None:
        return -FARTHEST_VALUE, FARTHEST_VALUE
    low, high = (Fraction(end) / Fraction(qid.granularity) for end in limits)
    return math.ceil(low), math.floor(high)


def make_cells(
    dataset: Dataset,
    position: int,
    atoms: Sequence[Atom],
    *,
    labelled: bool,
    bands: Sequence[Band] = (),
) -> list[Cell]:
    """Cut one quasi-identifier into cells.

    Args:
        dataset: has the quasi-identifier and its hierarchy.
        position: which of its quasi-identifiers.
        atoms: the comparisons of it, each of which is decided within a cell.
        labelled: the question groups by its leaves, so that no cell has two of them.
        bands: what it groups by beside them, each of which is the same within a cell.

    Returns:
        The cells; the last one is the missing value.
    """
    qid = dataset.qid[position]
    first, last = possible_span(dataset, qid)
    tree = dataset.hierarchies.get(qid.name) if qid.kind == "categorical" else None
    starts = {first} | {end for a in atoms for low, high in a.values for end in (low, high + 1)}
    listed = [part for band in bands for part in band.parts]
    starts |= {end for part in listed for low, high in part for end in (low, high + 1)}
    if labelled:
        starts |= set(range(first, last + 1))
    cuts = sorted(start for start in starts if first <= start <= last)
    part_starts = [
        sorted((start, n) for n, part in enumerate(band.parts) for start, _ in part)
        for band in bands
    ]
    names = [n for n, h in zip(tree.labels, tree.height, strict=True) if h == 0] if tree else []
    found: dict[tuple[tuple[Truth, ...], str | None, tuple[int, ...]], list[Span]] = {}
    for low, after in zip(cuts, [*cuts[1:], last + 1], strict=True):
        truth = tuple(any(a <= low <= b for a, b in atom.values) for atom in atoms)
        label = names[low] if labelled else None
        band = tuple(each[bisect_right(each, (low, len(each))) - 1][1] for each in part_starts)
        found.setdefault((truth, label, band), []).append((low, after - 1))
    missing = Cell((), (None,) * len(atoms), None)
    return [Cell(union([tuple(s)]), t, label) for (t, label, _), s in found.items()] + [missing]


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
    if math.prod(len(listed) for listed in cells.values()) > WORLDS_AT_MOST:
        raise QueryError(
            f"the comparisons of {len(cells)} quasi-identifiers make more than {WORLDS_AT_MOST:,} "
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
            labels = tuple(cell.label for cell in chosen.values())
            values = tuple(cell.value for cell in chosen.values())
            worlds.append(World(numbers, truth, labels, values))
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


@dataclass(frozen=True)
class Shares:
    """The steps for each quasi-identifier of a question."""

    dataset: Dataset
    views: Views
    cells: Mapping[int, Sequence[Cell]]
    """Position -> cells."""
    valued: int | None = None
    """The quasi-identifier whose values are asked for: of each region and cell, the ends of what
    they have in common stand beside the share."""

    def steps(self, position: int, qid: Qid) -> dict[str, exp.Select]:
        """Of each region, the cells that it touches."""
        steps = {f"piece_{qid.name}": _pieces(self.cells[position])}
        names = bounds_of(qid)
        if qid.kind == "categorical":
            tree = self.dataset.hierarchies[qid.name]
            ends = leaves(tree)
            nodes: list[list[exp.Expr]] = [
                [
                    exp.Literal.string(label),
                    *([_MISSING] * 2 if n == 0 else map(exp.convert, ends[n])),
                ]
                for n, label in enumerate(tree.labels)
            ]
            steps[f"region_{qid.name}"] = constants(nodes, [qid.name, "low", "high"])
        else:
            steps[f"region_{qid.name}"] = (
                exp.select(
                    *[column(name, "a") for name in names],
                    column(names[0], "a").as_("low"),
                    column(names[1], "a").as_("high"),
                )
                .distinct()
                .from_(table("exact_match", alias="a"))
            )
        low, high = self._domain(qid)
        if not isinstance(low, exp.Literal):
            steps[f"domain_{qid.name}"] = self._observed(qid)
        region = [column(name, "r") for name in names]
        start = exp.func("coalesce", column("low", "r"), low)
        end = exp.func("coalesce", column("high", "r"), high)
        inside = exp.func("least", end, column("high", "p")) - exp.func(
            "greatest", start, column("low", "p")
        )
        part = (
            exp.case()
            .when(column("low", "p").is_(exp.null()).not_(), exp.func("greatest", 0, inside + 1))
            .else_("0")
        )
        share = exp.cast(exp.Sum(this=part), "DOUBLE") / exp.paren(
            exp.func("max", end.copy()) - exp.func("max", start.copy()) + 1
        )
        query = (
            exp.select(*region, column("cell", "p"), share.as_("share"))
            .select(
                exp.Window(
                    this=exp.Count(this=exp.Star()), partition_by=[e.copy() for e in region]
                ).as_("cells")
            )
            .from_(table(f"region_{qid.name}", alias="r"))
        )
        if position == self.valued:
            query = query.select(
                exp.func("min", _inner("greatest", "low")).as_("first"),
                exp.func("max", _inner("least", "high")).as_("last"),
            )
        if not isinstance(low, exp.Literal):
            query = query.join(table(f"domain_{qid.name}", alias="d"), join_type="cross")
        touches = exp.or_(
            column("low", "r").is_(exp.null()),
            exp.and_(
                exp.LTE(this=column("low", "r"), expression=column("high", "p")),
                exp.LTE(this=column("low", "p"), expression=column("high", "r")),
            ),
        )
        steps[f"share_{qid.name}"] = query.join(
            table(f"piece_{qid.name}", alias="p"), on=touches
        ).group_by(*[e.copy() for e in region], column("cell", "p"))
        return steps

    def _domain(self, qid: Qid) -> tuple[exp.Expr, exp.Expr]:
        """What a region without bounds spans: the declared domain, or what all regions span."""
        if qid.kind == "numeric" and not isinstance(qid.domain, tuple):
            return column("low", "d"), column("high", "d")
        low, high = possible_span(self.dataset, qid)
        return exp.convert(low), exp.convert(high)

    def _observed(self, qid: Qid) -> exp.Select:
        low, high = (granules(qid, column(name, "t")) for name in bounds_of(qid))
        return exp.select(
            exp.func("coalesce", exp.func("min", low), 0).as_("low"),
            exp.func("coalesce", exp.func("max", high), 0).as_("high"),
        ).from_(self.views.table(self.dataset.report_table, "t"))


def bounds_of(qid: Qid) -> list[str]:
    """The released columns of a quasi-identifier."""
    return [f"{qid.name}_low", f"{qid.name}_high"] if qid.kind == "numeric" else [qid.name]


def _inner(function: str, end: str) -> exp.Expr:
    """An end of what a region and a piece have in common; NULL for the missing value."""
    return (
        exp.case()
        .when(column("low", "r").is_(exp.null()), column(end, "p"))
        .else_(exp.func(function, column(end, "r"), column(end, "p")))
    )


def _pieces(cells: Sequence[Cell]) -> exp.Select:
    """The values of each cell; the missing one has none."""
    rows: list[list[exp.Expr]] = []
    for number, cell in enumerate(cells):
        rows += [
            [exp.convert(number), exp.convert(low), exp.convert(high)] for low, high in cell.spans
        ] or [[exp.convert(number), _MISSING, _MISSING]]
    return constants(rows, ["cell", "low", "high"])


def constants(rows: Sequence[Sequence[exp.Expr]], names: Sequence[str]) -> exp.Select:
    """Rows of constants."""
    values = exp.values(
        [tuple(item.copy() for item in row) for row in rows],
        alias="v",
        columns=list(names),
    )
    return exp.select(*[column(name, "v") for name in names]).from_(values)
