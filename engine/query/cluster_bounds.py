"""A COUNT over a release whose whole rows are taken apart: rows have regions, clusters have items.

A question may ask for cases that hold one item or two, each of a table that it joins: those that an
equality or IN names, or each that it groups by. Its conditions on quasi-identifiers are answered of
the rows as ever (``count_bounds``); how many rows of a cluster meet them, and how many of its
records hold the items, bounds how many do both. ``engine/shapes/clusters.py`` has the proof.

The statement calls macros of the warehouse (``srsql.term_margins``, ``srsql.cluster_tables``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from srsql.engine.catalog.datasets import text_key
from srsql.engine.catalog.layout import CLUSTER, CLUSTERS
from srsql.engine.errors import QueryError
from srsql.engine.query.count_bounds import Composer
from srsql.engine.query.question import Question
from srsql.engine.query.vocabulary import QUARTER, Item, Views, excerpt
from srsql.engine.query.worlds import WORLD, depends_on_world
from srsql.engine.shapes.clusters import ClusterViews
from srsql.engine.signals.rules import did_you_mean
from srsql.engine.store.statements import column, table, union_all
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

SIDES = ("drug", "reaction")
"""What the macros call the first item and the second."""
_ALL = ""
"""Stands for any item of a list, where the question does not group by them."""
_SPELLINGS = (exp.Upper, exp.Lower, exp.Trim, exp.Paren)


@dataclass
class Term:
    """One joined table, of which a row with one of these items must exist."""

    item: Item
    column: str | None = None
    names: list[exp.Expr] = field(default_factory=list)
    """Literals; none: the question groups by the item."""
    group: int | None = None
    """Number of the group that it is."""
    attribute: str = ""
    """As items tell it."""

    @property
    def is_several(self) -> bool:
        """Whether it may stand for several items at once."""
        return len(self.names) > 1 or "/" in self.attribute


@dataclass(frozen=True)
class ClusterQuestion:
    """A question with its items apart from the rest."""

    rest: Question
    """Of the report table alone, without the groups of items."""
    terms: tuple[Term, ...]
    groups: tuple[int | None, ...]
    """Of each group of the question, its number among those of ``rest``; None: it is an item."""
    asked: Question


def read_terms(
    warehouse: Warehouse, dataset: Dataset, views: Views, question: Question
) -> ClusterQuestion:
    """Take the items of a question out of it.

    Args:
        warehouse: with the released clusters.
        dataset: the original schema.
        views: of one quarter.
        question: over the original schema.

    Raises:
        QueryError: it asks something that clusters do not tell.
    """
    views_of_terms = ClusterViews.of(warehouse, _schema(views))
    return _Reader(dataset, question, views.term_key).read(views_of_terms)


class _Reader:
    def __init__(self, dataset: Dataset, question: Question, version: int) -> None:
        self.dataset, self.question, self.version = dataset, question, version
        self.terms = {
            item.alias: Term(item)
            for item, _ in question.joins
            if item.table.name != dataset.report_table
        }
        self.reports: dict[str, str] = {}
        """Alias -> another one that speaks of the same report."""

    def read(self, views: ClusterViews) -> ClusterQuestion:
        dataset, question = self.dataset, self.question
        if not question.is_count:
            raise QueryError(
                "where whole rows are taken apart, one COUNT without a FILTER is answered, with "
                "HAVING and LIMIT on it: ask for shares, means and quantiles of other releases"
            )
        if question.counted == "rows" or (
            question.counted == "reports" and not dataset.reports_are_cases
        ):
            raise QueryError(
                "where whole rows are taken apart, cases are counted: ask for "
                f"COUNT(DISTINCT {dataset.case_id})"
            )
        facts = [fact for _, on in question.joins if on for fact in _conjuncts(on)]
        kept = [c for fact in (*facts, *question.conditions) for c in self._rest(fact)]
        groups, numbers = list[tuple[str, exp.Expr]](), list[int | None]()
        for number, (label, node) in enumerate(question.groups):
            if term := self._term_of(node):
                term.column, term.group = _bare(node).name, number
                numbers.append(None)
            else:
                self._need_released(node)
                numbers.append(len(groups))
                groups.append((label, node))
        found = tuple(self.terms.values())
        self._check(found)
        for term in found:
            term.attribute = self._attribute(views, term)
        home = self._report_item()
        rest = replace(
            question,
            unit=home.alias,
            counted="cases",
            joins=((home, None),),
            conditions=tuple(kept),
            groups=tuple(groups),
            order=(),
            lookups=(),
            blanked=(),
            limit=None,
            offset=0,
        )
        if len(found) == 2 and found[1].is_several:
            found = found[::-1]
        if len(found) == 2 and found[1].is_several:
            raise QueryError(
                "of two items one may stand for several (IN, or a drug in any role): name the "
                "other one alone"
            )
        return ClusterQuestion(rest, found, tuple(numbers), question)

    def _report_item(self) -> Item:
        """The report table, joined or not; our alias of the rows."""
        for item, _ in self.question.joins:
            if item.table.name == self.dataset.report_table:
                return item
        return Item("t_report", "", self.dataset.table(self.dataset.report_table))

    def _rest(self, fact: exp.Expr) -> Iterator[exp.Expr]:
        """The fact, unless it joins tables or names items."""
        if isinstance(fact, exp.EQ) and self._links(fact):
            return
        if not any(c.table in self.terms for c in fact.find_all(exp.Column)):
            self._need_released(fact)
            yield fact
            return
        is_known = isinstance(fact, exp.Not) and isinstance(fact.this.unnest(), exp.Is)
        if is_known and self._term_of(fact.this.unnest().this):
            return  # of what is grouped by: every item has a name
        node = fact.unnest()
        values = [node.right] if isinstance(node, exp.EQ) else getattr(node, "expressions", [])
        tested = node.left if isinstance(node, exp.EQ) else node.this
        if isinstance(node, exp.EQ) and isinstance(tested, exp.Literal):
            tested, values = node.right, [node.left]
        term = self._term_of(tested) if isinstance(node, (exp.EQ, exp.In)) else None
        if term is None or depends_on_world(fact) or not all(_is_text(v) for v in values):
            raise QueryError(
                f"{excerpt(fact)}: items are told of clusters, so a question names them by = or IN "
                "in conditions that must all hold"
            )
        if term.names:
            raise QueryError(f"{term.item.given} is named twice: join the table once for each item")
        term.column, term.names = _bare(tested).name, list(values)

    def _links(self, fact: exp.EQ) -> bool:
        """Whether it joins two tables; notes which then speak of one report."""
        left, right = fact.left, fact.right
        ids = self.dataset.id_columns
        if not (isinstance(left, exp.Column) and isinstance(right, exp.Column)):
            return False
        if left.name == right.name == QUARTER:
            return True
        if left.name != right.name or left.name not in ids:
            return False
        if left.name == self.dataset.report_id and not self.dataset.reports_are_cases:
            self.reports[self._root(left.table)] = self._root(right.table)
        return True

    def _root(self, alias: str) -> str:
        while self.reports.get(alias, alias) != alias:
            alias = self.reports[alias]
        return alias

    def _term_of(self, node: exp.Expr) -> Term | None:
        bare = _bare(node)
        return self.terms.get(bare.table) if isinstance(bare, exp.Column) else None

    def _need_released(self, node: exp.Expr) -> None:
        """Refuse columns of the report that such rows do not show, and items in other places."""
        if node.find(exp.Exists):
            raise QueryError(
                "a subquery is refused where whole rows are taken apart: join the table of the item"
            )
        shown = {*self.dataset.id_columns, QUARTER}
        shown |= {n for q in self.dataset.qid for n in (q.name, f"{q.name}_low", f"{q.name}_high")}
        for c in node.find_all(exp.Column):
            if c.table in self.terms:
                raise QueryError(
                    f"{excerpt(node)}: group by the column of an item itself, or name items by ="
                )
            if c.table != WORLD and c.name not in shown:
                raise QueryError(
                    f"column {c.name} is not released where whole rows are taken apart: rows show "
                    "their region and cluster"
                )

    def _check(self, found: Sequence[Term]) -> None:
        if len(found) > 2:
            raise QueryError("more than two items are not counted together: ask for two at most")
        for term in found:
            if term.column is None:
                raise QueryError(
                    f"{term.item.given} is joined and no item of it is named: write "
                    f"{term.item.given}.COLUMN = '...', or group by it"
                )
        if len(found) == 2:
            one, other = found
            if self._root(one.item.alias) == self._root(other.item.alias):
                raise QueryError(
                    f"items are told of cases, not of reports: join {one.item.given} and "
                    f"{other.item.given} by {self.dataset.case_id}"
                )
            same_column = (one.item.table.name, one.column) == (other.item.table.name, other.column)
            if same_column and not _apart(one, other, self.version):
                raise QueryError(
                    f"{one.item.given} and {other.item.given} may be one item: name two that differ"
                )

    def _attribute(self, views: ClusterViews, term: Term) -> str:
        assert term.column is not None
        told = views.attribute(term.column)
        declared = [t.name for t in self.dataset.tables if term.column in t.publish]
        if told is None or term.item.table.name not in declared:
            raise QueryError(
                f"{term.item.given}.{term.column} is no item of this release, which tells "
                f"{', '.join(views.told) or 'none'}"
            )
        return told


def _apart(one: Term, other: Term, version: int) -> bool:
    """Whether two items of one column are surely different ones, by that version of their key."""
    names = [{text_key(n.name, version) for n in term.names} for term in (one, other)]
    return all(names) and not names[0] & names[1]


def _bare(node: exp.Expr) -> exp.Expr:
    """A column without what changes its spelling alone."""
    while isinstance(node, _SPELLINGS):
        node = node.this
    return node


def _is_text(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and node.is_string


def _conjuncts(node: exp.Expr) -> list[exp.Expr]:
    if isinstance(node, exp.Paren):
        return _conjuncts(node.this)
    if isinstance(node, exp.And):
        return [*_conjuncts(node.left), *_conjuncts(node.right)]
    return [node]


def _schema(views: Views) -> str:
    (schema,) = views.schemas.values()
    return schema


def unknown_items(
    warehouse: Warehouse, views: Views, question: ClusterQuestion, *, allowed: bool
) -> Iterator[str]:
    """What is to be said of each named item that no cluster has.

    Raises:
        QueryError: there is one, and that is not allowed. It names others that are told.
    """
    told = ClusterViews.of(warehouse, _schema(views))
    for term in question.terms:
        names = exp.select(column("name", "i")).from_(told.items(term.attribute).subquery("i"))
        for name in term.names:
            wanted = exp.select("1").from_(names.subquery("n"))
            wanted = wanted.where(
                column("name", "n").eq(text_key(name.name, views.term_key))
            ).limit(1)
            if warehouse.rows(wanted.sql("duckdb")):
                continue
            text = f"no cluster has {term.column} {name.name!r}"
            if not allowed:
                raise QueryError(f"{text}{did_you_mean(warehouse, names, name.name)}")
            yield f"{text}: it counts as none"


def item_records(
    warehouse: Warehouse, views: Views, question: ClusterQuestion
) -> list[tuple[float, int | None]]:
    """Of each item, of how many records one without a count is told on average, and at most."""
    told = ClusterViews.of(warehouse, _schema(views))
    most = told.item_cases(warehouse)
    return [(told.item_mean(warehouse, term.attribute), most) for term in question.terms]


def compose_cluster_bounds(
    dataset: Dataset,
    views: Views,
    question: ClusterQuestion,
    withheld: str | None,
    records: Sequence[tuple[float, int | None]],
) -> str:
    """The text of the statement that answers a question.

    Args:
        dataset: the original schema.
        views: of one quarter.
        question: with its items apart.
        withheld: column of the public manifest by which the upper bound is raised.
        records: of each item, of how many one without a count is told on average, and at most.

    Returns:
        A SELECT of the group columns, lower, expected, upper and known.

    Raises:
        QueryError: the comparisons are too many.
    """
    schema, asked = _schema(views), question.asked
    composer = Composer(dataset, views, question.rest)
    steps = composer.steps()
    steps |= _cluster_steps(dataset, views, question, records)
    labels = [label for label, _ in asked.groups]
    sides = {term.group: side for term, side in zip(question.terms, SIDES, strict=False)}
    groups: list[exp.Expr] = [
        column(composer.groups[number], "w") if number is not None else column(sides[n], "h")
        for n, number in enumerate(question.groups)
    ]
    total = [
        _sum(
            exp.func(
                "greatest", 0, column("fewest", "h") + column(end, "w") - column("records", "h")
            )
        )
        for end in ("lower", "known")
    ]
    share = column("mean", "h") * column("expected", "w") / column("records", "h")
    expected = exp.cast(_sum(exp.cast(share, "DECIMAL(38, 12)")), "DOUBLE")
    upper = _sum(exp.func("least", column("most", "h"), column("upper", "w")))
    if withheld is not None:
        query = exp.select(exp.func("max", column(withheld, "m"))).from_(
            table(schema, "manifest", alias="m")
        )
        upper = exp.Add(this=upper, expression=query.subquery())
    final = (
        exp.select(*[g.copy().as_(n, quoted=True) for g, n in zip(groups, labels, strict=True)])
        .select(
            exp.cast(total[0], "BIGINT").as_("lower"),
            expected.as_("expected"),
            exp.cast(upper, "BIGINT").as_("upper"),
            exp.cast(total[1], "BIGINT").as_("known"),
        )
        .from_(table("held", alias="h"))
        .join(table("crowd", alias="w"), on=column("cluster", "h").eq(column("cluster", "w")))
    )
    if groups:
        final = final.group_by(*[g.copy() for g in groups])
        final = final.order_by(*_order(asked, groups))
    if asked.limit is not None:
        final = final.limit(asked.limit)
    if asked.offset:
        final = final.offset(asked.offset)
    for name, step in steps.items():
        final = final.with_(exp.to_identifier(name), as_=step, materialized=name in _READ_BY_NAME)
    return final.sql("duckdb", pretty=True)


_READ_BY_NAME = {"crowd", "sizes", "holding", "item_mean", "margin", "wanted"}
"""Steps that macros read by their names."""


def _cluster_steps(
    dataset: Dataset,
    asked: Views,
    question: ClusterQuestion,
    records: Sequence[tuple[float, int | None]],
) -> dict[str, exp.Query]:
    """Who of each cluster meets the conditions, and how many of its records hold the items."""
    schema, version = _schema(asked), asked.term_key
    counted = {
        "lower": column("certain", "b"), "expected": column("part", "b"),
        "upper": exp.Literal.number(1), "known": column("known", "b"),
    }  # fmt: skip
    groups = [f"group_{n}" for n in range(len(question.rest.groups))]
    crowd = (
        exp.select(column(CLUSTER, "d"), *[column(name, "b") for name in groups])
        .select(*[exp.Sum(this=value).as_(name) for name, value in counted.items()])
        .from_(table("bound", alias="b"))
        .join(
            table(schema, dataset.report_table, alias="d"),
            on=column("unit", "b").eq(column(dataset.case_id, "d")),
        )
        .group_by(column(CLUSTER, "d"), *[column(name, "b") for name in groups])
    )
    sizes = exp.select(column("cluster", "c"), column("records", "c")).from_(
        table(schema, CLUSTERS, alias="c")
    )
    steps: dict[str, exp.Query] = {"crowd": crowd, "sizes": sizes}
    if not question.terms:
        steps["held"] = _held("sizes", dict.fromkeys(("fewest", "mean", "most"), "s.records"))
        return steps
    views = ClusterViews(schema, ())
    steps["holding"] = union_all(
        [_holding(views, t, side, version) for t, side in zip(question.terms, SIDES, strict=False)]
    )
    listed: list[exp.Query] = [
        exp.select(exp.Literal.string(side).as_("side")).select(
            exp.cast(exp.Literal.number(repr(mean)), "DOUBLE").as_("mean"),
            exp.cast(exp.convert(most), "BIGINT").as_("most"),
        )
        for side, (mean, most) in zip(SIDES, records, strict=False)
    ]
    steps["item_mean"] = union_all(listed)
    steps["margin"] = exp.select("m.*").from_(
        _call("term_margins", "sizes", "holding", "item_mean", alias="m")
    )
    if len(question.terms) == 1:
        one = {"fewest": "s.least", "mean": "s.mean", "most": "s.most", "drug": "s.name"}
        steps["held"] = _held("margin", one)
        return steps
    steps["wanted"] = (
        exp.select(column("name", "d").as_("drug"), column("name", "r").as_("reaction"))
        .distinct()
        .from_(table("margin", alias="d"))
        .join(table("margin", alias="r"), on=column("cluster", "d").eq(column("cluster", "r")))
        .where(column("side", "d").eq("drug"), column("side", "r").eq("reaction"))
    )
    steps["pair_table"] = exp.select("t.*").from_(
        _call("cluster_tables", "margin", "sizes", "holding", "wanted", alias="t")
    )
    both = {"fewest": "s.a.least", "mean": "s.a.mean", "most": "s.a.most",
            "drug": "s.drug", "reaction": "s.reaction"}  # fmt: skip
    steps["held"] = _held("pair_table", both)
    return steps


def _holding(views: ClusterViews, term: Term, side: str, version: int) -> exp.Select:
    """(cluster, chunk, subrecord, side, name) of the items of one term.

    ``version``: of the key that the names of items are.
    """
    name = exp.Literal.string(_ALL) if term.names else column("name", "i")
    keys = [column(n, "i") for n in ("cluster", "chunk", "subrecord")]
    rows = exp.select(*keys, exp.Literal.string(side).as_("side"), name.as_("name"))
    rows = rows.from_(views.items(term.attribute).subquery("i"))
    if not term.names:
        return rows
    return rows.where(column("name", "i").isin(*[text_key(n.name, version) for n in term.names]))


def _held(source: str, columns: dict[str, str]) -> exp.Select:
    """(cluster, records, ...): the columns of a step, beside the records of its clusters."""
    listed: list[exp.Expr] = [
        exp.maybe_parse(text, dialect="duckdb").as_(name) for name, text in columns.items()
    ]
    return (
        exp.select(column("cluster", "s"), column("records", "n"), *listed)
        .from_(table(source, alias="s"))
        .join(table("sizes", alias="n"), on=column("cluster", "s").eq(column("cluster", "n")))
    )


def _call(macro: str, *tables: str, alias: str) -> exp.Table:
    return exp.Table(
        this=exp.Anonymous(this=macro, expressions=[exp.Literal.string(t) for t in tables]),
        db=exp.to_identifier("srsql"),
        alias=exp.TableAlias(this=exp.to_identifier(alias)),
    )


def _order(question: Question, groups: Sequence[exp.Expr]) -> Iterator[exp.Expr]:
    for order in question.order:
        key: exp.Expr = (
            exp.Literal.number(len(groups) + 2)
            if order.group is None
            else groups[order.group].copy()
        )
        yield exp.Ordered(this=key, desc=order.descending, nulls_first=order.nulls_first)
    named = {order.group for order in question.order}
    for n, group in enumerate(groups):
        if n not in named:
            yield exp.Ordered(this=group.copy(), desc=False, nulls_first=False)


def _sum(values: exp.Expr) -> exp.Expr:
    return exp.func("coalesce", exp.Sum(this=values), 0)
