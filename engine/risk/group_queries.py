"""Q1 to Q4 of Lee 2020 on released rows: counts, and means of an amount, by age group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from sqlglot import exp

from srsql.engine.catalog.datasets import term_key
from srsql.engine.catalog.layout import ROWS
from srsql.engine.errors import QueryError
from srsql.engine.store.statements import column, query, table, with_rows
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, Qid


@dataclass(frozen=True)
class AgeGroup:
    """One row of an answer."""

    age_group: int
    lower: int
    expected: float
    upper: int
    mean_amount: float | None


@dataclass(frozen=True)
class Counted:
    """An answer, and how many rows fit the conditions but tell no age: they may be of any group,
    and each of the domain's is expected to have its share of them."""

    groups: list[AgeGroup]
    hidden: int


@dataclass(frozen=True)
class GroupQuestion:
    """How many rows have a value and meet conditions, by age group."""

    informative: tuple[str, str]
    """Column and value, compared in upper case."""
    conditions: Mapping[str, str]
    """Categorical dimension -> node label. A row generalized above it counts with that node's share
    of the leaves."""
    age: str = "age"
    """The numeric dimension to group by."""
    amount: str | None = None
    """A numeric dimension to average, by the middle of its interval."""
    width: int = 5
    """Of a group, in the age's unit."""


def by_age_group(
    warehouse: Warehouse, dataset: Dataset, schema: str, question: GroupQuestion
) -> Counted:
    """How many released rows each age group has (Q1, Q2), and the mean of an amount (Q3, Q4).

    Args:
        warehouse: which holds the release.
        dataset: as it was released.
        schema: of the release's views, such as ``release_2011q4``.
        question: what is asked for.

    Raises:
        QueryError: a name is no dimension of that kind, a label no node, or the width below 1.

    Source:
        Lee 2020, "Real-world analysis".
    """
    if question.width < 1:
        raise QueryError(f"an age group has at least 1 year, not {question.width}")
    rows = released_rows(dataset, schema, question)
    age = _qid(dataset, question.age, "numeric")
    return counted(warehouse, rows, {"value": question.informative[1]}, question.width, age)


def released_rows(dataset: Dataset, schema: str, question: GroupQuestion) -> exp.Select:
    """``(low, high, share, amount)`` of each released row that has the value ``$value``.

    Args:
        dataset: as it was released.
        schema: of the release's views.
        question: what is asked for.

    Raises:
        QueryError: a name is no dimension of that kind, or a label no node.
    """
    share: exp.Expr = exp.convert(1.0)
    for name, label in question.conditions.items():
        qid = _qid(dataset, name, "categorical")
        part = node_share(dataset, qid, label, column(qid.name, "r"))
        share = exp.Mul(this=share, expression=part)
    middle: exp.Expr = exp.cast(exp.null(), "DOUBLE")
    if question.amount is not None:
        low, high = _ends(_qid(dataset, question.amount, "numeric"))
        middle = exp.cast(exp.Div(this=exp.paren(low + high), expression=exp.convert(2)), "DOUBLE")
    low, high = _ends(_qid(dataset, question.age, "numeric"))
    informative = term_key(column(question.informative[0], "r"), dataset.term_key)
    asked = exp.cast(exp.Placeholder(this="value"), "VARCHAR")
    return (
        exp.select(
            exp.cast(low, "BIGINT").as_("low"),
            exp.cast(high, "BIGINT").as_("high"),
            exp.cast(share, "DOUBLE").as_("share"),
            middle.as_("amount"),
        )
        .from_(table(schema, ROWS, alias="r"))
        .where(informative.eq(term_key(asked, dataset.term_key)))
    )


def counted(
    warehouse: Warehouse, rows: exp.Query, parameters: Mapping[str, object], width: int, age: Qid
) -> Counted:
    """The groups of the rows of a query, as the macro ``srsql.age_groups`` takes them.

    Args:
        warehouse: which holds the rows.
        rows: ``(low, high, share, amount)``.
        parameters: of the query.
        width: of a group.
        age: whose domain says which ages a row without one may be of.
    """
    low, high = (int(end * age.granularity) for end in age.ends) if age.ends else (None, None)
    asked = {**parameters, "width": width, "domain_low": low, "domain_high": high}
    statement = with_rows(query("risk/group_queries", "counts"), asked_row=rows)
    answer = warehouse.rows(statement.sql(dialect="duckdb"), asked)
    groups = [AgeGroup(*row) for _, *row in answer if row[0] is not None]
    return Counted(groups, answer[0][0])


def _qid(dataset: Dataset, name: str, kind: Literal["numeric", "categorical"]) -> Qid:
    known = {(qid.name, qid.bounded): qid for qid in dataset.with_categories().qid}
    found = known.get((name, kind == "numeric"))
    if found is None:
        raise QueryError(f"{name!r} is no {kind} quasi-identifier")
    return found


def _ends(qid: Qid) -> tuple[exp.Column, exp.Column]:
    return column(f"{qid.name}_low", "r"), column(f"{qid.name}_high", "r")


def node_share(dataset: Dataset, qid: Qid, label: str, shown: exp.Expr) -> exp.Expr:
    """1 for the node and those below it, its share of the leaves for those above, else 0.

    Args:
        dataset: with the hierarchy.
        qid: whose nodes they are.
        label: of the node that is asked for.
        shown: the label that a row has.

    Raises:
        QueryError: there is no such node.
    """
    tree = dataset.hierarchies[qid.name]
    if label not in tree.number:
        raise QueryError(f"{label!r} is no node of {qid.name}")
    asked = tree.number[label]
    answer = exp.case()
    for node, name in enumerate(tree.labels):
        if asked <= node <= tree.last[asked]:
            part = Fraction(1)
        elif node <= asked <= tree.last[node]:
            part = Fraction(tree.leaf_count[asked], tree.leaf_count[node])
        else:
            continue
        answer = answer.when(shown.copy().eq(exp.Literal.string(name)), exp.convert(float(part)))
    return answer.else_(exp.convert(0.0))
