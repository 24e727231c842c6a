"""Shares: how much of each released region lies in each cell, as steps of a rewritten statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from srsql.engine.query.views import Views
from srsql.engine.query.worlds import Cell, possible_span
from srsql.engine.signals.rules import leaves
from srsql.engine.warehouse.statements import column, table
from srsql.schemas import Dataset, Qid

_MISSING = exp.cast(exp.null(), "BIGINT")


@dataclass(frozen=True)
class Shares:
    """The steps for each quasi-identifier of a question."""

    dataset: Dataset
    views: Views
    cells: Mapping[int, Sequence[Cell]]
    """Position -> cells."""

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
                .from_(table("asked", alias="a"))
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


def granules(qid: Qid, bound: exp.Expr) -> exp.Expr:
    """A released bound in granules, which it is a multiple of."""
    if qid.kind == "categorical" or qid.granularity == 1:
        return bound
    granularity = exp.Literal.number(format(qid.granularity.normalize(), "f"))
    return exp.cast(exp.func("round", exp.Div(this=bound, expression=granularity)), "BIGINT")


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
