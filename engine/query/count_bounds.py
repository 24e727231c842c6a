"""The bounds of a COUNT: a question over the original schema as one SELECT over released views.

It is plain SQL without macros, so that an analyst can run it wherever the views are. Its steps:

* ``exact_match``: the distinct rows that the exact conditions leave, each with what it counts as
  (``unit``), the region of its case and the values of the exact parts of the other conditions;
* ``world``: the cells in which all comparisons of quasi-identifiers are decided (``worlds``);
* ``outcome``: the worlds in which a unit counts, and the group that it counts for;
* ``piece_Q``, ``share_Q``: the values of each cell of a quasi-identifier, and the share of each
  region that lies in them, uniform over its values (over the domain where it has no bounds);
* ``verdict``, ``bound``: whether a unit counts in all worlds of its region, and how much of it
  counts; of several quarters of a case the one that tells most.

The sum over the units is ``lower`` where they count in all worlds, ``upper`` where they count in
some, and ``expected`` by the share of their region. It is ``known`` where the region lies in one
cell of each quasi-identifier, so that it decides every comparison: a missing value decides none,
and neither does a region that straddles a limit, although the question may hold all the same.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from srsql.engine.query.aggregates import Measure
from srsql.engine.query.question import Question
from srsql.engine.query.relations import add_tables
from srsql.engine.query.suppression import Hidden
from srsql.engine.query.vocabulary import Views
from srsql.engine.query.worlds import (
    WORLD,
    Shares,
    World,
    bounds_of,
    constants,
    depends_on_world,
    label_column,
    make_cells,
    make_worlds,
    truth_column,
    value_column,
)
from srsql.engine.signals.rules import granules
from srsql.engine.store.statements import column, table
from srsql.schemas import Dataset


def compose_count_bounds(
    dataset: Dataset,
    views: Views,
    question: Question,
    withheld: str | None,
    hidden: Hidden | None = None,
) -> str:
    """The text of the statement that answers a question.

    Args:
        dataset: the dataset of the views.
        views: the released views that the statement reads.
        question: what the analyst wants to know.
        withheld: column of the public manifests by which the upper bound is raised.
        hidden: how many may have a value that is suppressed; None: no case.

    Returns:
        A SELECT of the group columns, lower, expected, upper and known.

    Raises:
        QueryError: the comparisons are too many.
    """
    composer = Composer(dataset, views, question)
    return composer.statement(withheld, hidden).sql("duckdb", pretty=True)


class Composer:
    """Composes the steps of one statement.

    Args:
        dataset: the dataset of the views.
        views: the released views that the statement reads.
        question: what the analyst wants to know.
        measure: which of its aggregates; None: the count of all that meet its conditions.
    """

    def __init__(
        self, dataset: Dataset, views: Views, question: Question, measure: Measure | None = None
    ) -> None:
        self.dataset, self.views, self.question = dataset, views, question
        self.hit = measure.hit if measure is not None else None
        self.valued = measure.position if measure is not None else None
        asked = [*question.conditions, *(e for _, e in question.groups)]
        asked += [self.hit] if self.hit is not None else []
        named = {c.name for e in asked for c in e.find_all(exp.Column) if c.table == WORLD}
        self.atoms = {
            truth_column(n).name: atom
            for n, atom in enumerate(question.atoms)
            if truth_column(n).name in named
        }
        self.banded = {band.position for band in question.bands}
        used = {atom.position for atom in self.atoms.values()} | question.labelled | self.banded
        used |= set() if self.valued is None else {self.valued}
        self.used = {p: qid for p, qid in enumerate(dataset.qid) if p in used}
        self.cells = {
            p: make_cells(
                dataset,
                p,
                [atom for atom in self.atoms.values() if atom.position == p],
                labelled=p in question.labelled,
                bands=[band for band in question.bands if band.position == p],
            )
            for p in self.used
        }
        self.shares = Shares(dataset, views, self.cells, self.valued)
        self.exact: list[exp.Expr] = []
        open_conditions = [c for c in question.conditions if depends_on_world(c)]
        self.condition: exp.Expr = exp.and_(*open_conditions) if open_conditions else exp.true()
        self.keys = ["unit"]
        if views.cumulative and question.counted != "rows" and self.used:
            self.keys.append("quarter")
        self.groups = [f"group_{n}" for n in range(len(question.groups))]

    def statement(self, withheld: str | None, hidden: Hidden | None) -> exp.Select:
        """All steps, and the sums."""
        steps = self.steps()
        final = self.by_group(*self._sums(withheld, hidden))
        if self.groups:
            final = final.order_by(*self._order())
        if self.question.limit is not None:
            final = final.limit(self.question.limit)
        if self.question.offset:
            final = final.offset(self.question.offset)
        return with_steps(final, steps)

    def by_group(self, *sums: exp.Expr) -> exp.Select:
        """The groups by their labels, each with sums over ``bound``, as ``b``."""
        final = exp.select(
            *[
                column(name, "b").as_(label, quoted=True)
                for name, (label, _) in zip(self.groups, self.question.groups, strict=True)
            ],
            *sums,
        ).from_(table("bound", alias="b"))
        return final.group_by(*[column(name, "b") for name in self.groups])

    def steps(self) -> dict[str, exp.Query]:
        """The steps up to ``bound``, in their order."""
        outcome = self._outcome()  # first: it finds out which exact parts are needed
        steps: dict[str, exp.Query] = {"exact_match": self._exact_match()}
        if self.used:
            steps["world"] = self._world()
        steps["outcome"] = outcome
        for position, qid in self.used.items():
            steps |= self.shares.steps(position, qid)
        return steps | {"verdict": self._verdict(), "bound": self._bound()}

    def _exact_match(self) -> exp.Select:
        """The distinct rows that the exact conditions leave; counted where rows are asked for."""
        joins = self.question.joins
        home = joins[0][0].alias
        unit = self.question.unit
        rows = unit is None
        listed: list[exp.Expr] = []
        if unit is not None:
            name = (
                self.dataset.case_id if self.question.counted == "cases" else self.dataset.report_id
            )
            listed.append(column(name, unit).as_("unit"))
        if "quarter" in self.keys:
            listed.append(self.views.quarter(home).as_("quarter"))
        report = next(
            (i.alias for i, _ in joins if i.table.name == self.dataset.report_table), home
        )
        for qid in self.used.values():
            listed += [
                granules(qid, column(name, report)).as_(name, quoted=True)
                for name in bounds_of(qid)
            ]
        listed += [e.copy().as_(f"exact_{n}") for n, e in enumerate(self.exact)]
        facts = [c for c in self.question.conditions if not depends_on_world(c)]
        query = add_tables(exp.select(*listed), self.views, joins).where(*facts)
        if not rows:
            return query.distinct()
        names = [column(item.alias, "r") for item in listed]
        counted = exp.select(*names, exp.Count(this=exp.Star()).as_("weight"))
        if not listed:
            query = query.select(exp.Literal.number(1).as_("one"))
        else:
            counted = counted.group_by(*[name.copy() for name in names])
        return exp.select("row_number() OVER () AS unit", "u.*", dialect="duckdb").from_(
            counted.from_(query.subquery("r")).subquery("u")
        )

    def _world(self) -> exp.Select:
        """One row per world in which the question may count something."""
        columns = {
            p: [name for name, atom in self.atoms.items() if atom.position == p] for p in self.used
        }
        worlds = make_worlds(self.cells, columns, self.condition)
        labelled = [n for n, p in enumerate(self.used) if p in self.question.labelled]
        names = [f"cell_{qid.name}" for qid in self.used.values()]
        names += [name for listed in columns.values() for name in listed]
        names += [label_column(list(self.used.values())[n]).name for n in labelled]
        banded = [n for n, p in enumerate(self.used) if p in self.banded]
        names += [value_column(list(self.used.values())[n]).name for n in banded]
        listed = [
            w
            for w in worlds
            if all(w.labels[n] is not None for n in labelled)
            and all(w.values[n] is not None for n in banded)
        ]

        def row(world: World) -> list[exp.Expr]:
            truth = [_literal(world.truth[name], "BOOLEAN") for n in columns.values() for name in n]
            labels = [_literal(world.labels[n], "VARCHAR") for n in labelled]
            values = [exp.cast(exp.convert(world.values[n]), "BIGINT") for n in banded]
            return [*(exp.convert(number) for number in world.cells), *truth, *labels, *values]

        if listed:
            return constants([row(world) for world in listed], names)
        none = (None,) * len(self.used)
        nothing = World((0,) * len(self.used), dict.fromkeys(names), none, none)
        return constants([row(nothing)], names).where(exp.false())

    def _outcome(self) -> exp.Select:
        """The worlds in which a unit counts, and the group that it counts for."""
        on = self._over_worlds(self.condition)
        groups = [
            self._over_worlds(expression).as_(name)
            for name, (_, expression) in zip(self.groups, self.question.groups, strict=True)
        ]
        carried = [
            *self.keys,
            *(name for qid in self.used.values() for name in bounds_of(qid)),
        ]
        carried += ["weight"] if self.question.counted == "rows" else []
        query = exp.select(
            *[column(name, "a") for name in carried],
            *[column(f"cell_{qid.name}", WORLD) for qid in self.used.values()],
            *groups,
            *self._marks(),
        ).from_(table("exact_match", alias="a"))
        if self.used:
            query = query.join(table("world", alias=WORLD), on=on)
        # rows of ``exact_match`` differ, but need not without the columns that are left out here
        groups_by = [expression for _, expression in self.question.groups]
        if self.question.counted == "rows" or all(part in groups_by for part in self.exact):
            return query
        return query.distinct()

    def _marks(self) -> list[exp.Expr]:
        """What ``outcome`` tells beside the group."""
        return []

    def _over_worlds(self, node: exp.Expr) -> exp.Expr:
        """An expression over ``exact_match`` and ``world``; its exact parts become columns."""
        if isinstance(node, exp.Column) and node.table == WORLD:
            return node.copy()
        if isinstance(node, (exp.Literal, exp.Boolean, exp.Null, exp.DataType)):
            return node.copy()
        is_value = not isinstance(node, exp.If)  # a branch of CASE is none
        if is_value and not depends_on_world(node):
            if node not in self.exact:
                self.exact.append(node.copy())
            return column(f"exact_{self.exact.index(node)}", "a")
        built = node.copy()
        for key, value in node.args.items():
            if isinstance(value, exp.Expr):
                built.set(key, self._over_worlds(value))
            elif isinstance(value, list):
                built.set(key, [self._over_worlds(item) for item in value])
        return built

    def _verdict(self) -> exp.Select:
        """Of each unit of a quarter and a group, whether it counts in all worlds of its region."""
        names = [*self.keys, *self.groups]
        cells: exp.Expr = exp.Literal.number(1)
        share: exp.Expr = exp.Literal.number(1)
        query = exp.select(*[column(name, "c") for name in names]).from_(self._outcomes())
        for n, qid in enumerate(self.used.values()):
            alias = f"s{n}"
            cells = (
                exp.func("max", column("cells", alias))
                if n == 0
                else (cells * exp.func("max", column("cells", alias)))
            )
            share = column("share", alias) if n == 0 else share * column("share", alias)
            cell = f"cell_{qid.name}"
            query = query.join(
                table(f"share_{qid.name}", alias=alias),
                on=exp.and_(
                    *[
                        exp.NullSafeEQ(this=column(name, "c"), expression=column(name, alias))
                        for name in bounds_of(qid)
                    ],
                    column(cell, "c").eq(column("cell", alias)),
                ),
            )
        weight: exp.Expr = exp.Literal.number(1)
        if self.question.counted == "rows":
            weight = exp.func("max", column("weight", "c"))
        return query.select(
            weight.as_("weight"),
            exp.EQ(this=exp.Count(this=exp.Star()), expression=cells).as_("certain"),
            exp.EQ(this=cells.copy(), expression=exp.Literal.number(1)).as_("known"),
            exp.Sum(this=exp.cast(share, "DECIMAL(18, 12)")).as_("part"),
            *self._verdict_columns(cells, exp.cast(share, "DECIMAL(18, 12)")),
        ).group_by(*[column(name, "c") for name in names])

    def _outcomes(self) -> exp.Expr:
        """What verdicts are made of, as ``c``: a row for each unit, group and world."""
        return table("outcome", alias="c")

    def _verdict_columns(self, cells: exp.Expr, share: exp.Expr) -> list[exp.Expr]:
        """What a verdict tells beside that of a count.

        Args:
            cells: so many worlds a region has.
            share: of the region that lies in a world.
        """
        return []

    def _bound(self) -> exp.Select:
        """Each unit and group, over its quarters."""
        names = ["unit", *self.groups]
        certain, known = (
            exp.case().when(column(name, "j"), exp.Literal.number(1)).else_("0")
            for name in ("certain", "known")
        )
        part = (
            exp.case()
            .when(column("certain", "j"), exp.Literal.number(1))
            .else_(exp.func("least", 1, column("part", "j")))
        )
        return (
            exp.select(
                *[column(name, "j") for name in names],
                exp.func("max", column("weight", "j")).as_("weight"),
                exp.func("max", certain).as_("certain"),
                exp.func("max", part).as_("part"),
                exp.func("max", known).as_("known"),
            )
            .from_(table("verdict", alias="j"))
            .group_by(*[column(name, "j") for name in names])
        )

    def _sums(self, withheld: str | None, hidden: Hidden | None) -> list[exp.Expr]:
        weight = column("weight", "b")
        sums: dict[str, exp.Expr] = {
            "lower": exp.cast(_total(column("certain", "b") * weight), "BIGINT"),
            "expected": exp.cast(_total(column("part", "b") * weight.copy()), "DOUBLE"),
            "upper": exp.cast(_total(weight.copy()), "BIGINT"),
            "known": exp.cast(_total(column("known", "b") * weight.copy()), "BIGINT"),
        }
        if hidden is not None:
            sums["upper"] = hidden.raised(sums["upper"])
            for name in ("lower", "known") if hidden.absence_counts else ():
                sums[name] = hidden.lowered(sums[name])
        if withheld is not None:
            for n, schema in enumerate(self.views.schemas.values()):
                query = exp.select(exp.func("max", column(withheld, f"m{n}"))).from_(
                    table(schema, "manifest", alias=f"m{n}")
                )
                sums["upper"] = exp.Add(this=sums["upper"], expression=query.subquery())
        return [value.as_(name) for name, value in sums.items()]

    def _order(self) -> list[exp.Expr]:
        keys: list[exp.Expr] = []
        for order in self.question.order:
            if order.group is None:
                key: exp.Expr = exp.Literal.number(len(self.groups) + 2)
            else:
                key = column(self.groups[order.group], "b")
            keys.append(exp.Ordered(this=key, desc=order.descending, nulls_first=order.nulls_first))
        named = {order.group for order in self.question.order}
        return keys + [
            exp.Ordered(this=column(name, "b"), desc=False, nulls_first=False)
            for n, name in enumerate(self.groups)
            if n not in named
        ]


def with_steps(final: exp.Select, steps: Mapping[str, exp.Query]) -> exp.Select:
    """The statement with its steps in front of it."""
    for name, query in steps.items():
        final = final.with_(exp.to_identifier(name), as_=query)
    return final


def _literal(value: bool | str | None, kind: str) -> exp.Expr:
    return exp.cast(exp.null(), kind) if value is None else exp.convert(value)


def _total(values: exp.Expr) -> exp.Expr:
    return exp.func("coalesce", exp.Sum(this=values), 0)
