"""Q1 to Q4 of Lee 2020 asked of a release and of its originals; the steward's.

The paper asks for the patients of one disease, by age group and for each sex: how many there are
(Q1, Q2), and the mean of an amount (Q3, Q4).
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from srsql.engine.catalog.datasets import raw_term, term_keys
from srsql.engine.catalog.dimensions import informative_attribute
from srsql.engine.catalog.layout import derived, raw_table
from srsql.engine.measures import MeasureRow
from srsql.engine.risk.group_queries import (
    AgeGroup,
    Counted,
    GroupQuestion,
    by_age_group,
    counted,
    node_share,
)
from srsql.engine.store.statements import column, query
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, Qid

FEWEST = 2
"""Leaves of a dimension by which questions are asked apart."""


@dataclass(frozen=True)
class GroupAnswer:
    """One group of one question: what the rows answer, and the originals."""

    value: str
    """The informative value asked for, in upper case."""
    condition: str
    """Leaf of the dimension that questions are asked apart by; empty: of none."""
    age_group: int
    """Its first age."""
    lower: int
    expected: float
    upper: int
    original: float
    mean_amount: float | None
    original_mean: float | None


def group_answers(
    warehouse: Warehouse,
    dataset: Dataset,
    release_id: int,
    value: str | None = None,
    width: int = 5,
) -> list[GroupAnswer]:
    """Q1 to Q4 over the dimensions of a release: all groups that either side has.

    Groups are those of the first numeric dimension, questions are asked apart by the leaves of the
    categorical dimension with the fewest (at least two), and the amount is the second numeric
    dimension, if there is one. A case that holds several values shows one, so that of values held
    beside others the rows count less than the originals.

    Args:
        warehouse: which holds the release and the originals.
        dataset: as it was released.
        release_id: of the catalog.
        value: of the informative column; None: the one that most cases hold, the first by name of
            several.
        width: of a group, in the unit of the dimension.

    Returns:
        Nothing where the release has no numeric dimension, or no case holds a value.
    """
    quarter, schema, shown, informative = warehouse.rows(
        query("risk/group_queries", "lattice_release"), {"release_id": release_id}
    )[0]
    # a number that declares groups is released by them, and asked for by its bounds all the same
    numbers = [q for q in dataset.qid if q.kind == "numeric" and q.name in shown]
    if value:
        (value,) = term_keys(warehouse, [value], dataset.term_key)
    else:
        value = _most_held(warehouse, dataset, quarter, informative)
    if not numbers or value is None:
        return []
    split = _split(dataset, shown)
    labels = split[1] if split else [""]
    amount = numbers[1] if len(numbers) > 1 else None
    answers = []
    for label in labels:
        question = GroupQuestion(
            (informative, value),
            {split[0].name: label} if split else {},
            age=numbers[0].name,
            amount=amount.name if amount else None,
            width=width,
        )
        answer = by_age_group(warehouse, dataset, schema, question)
        rows = original_rows(dataset, informative, numbers, split and (split[0], label))
        truth = counted(warehouse, rows, {"value": value, "quarter": quarter}, width, numbers[0])
        answers += _together(value, label, answer, truth.groups)
    return answers


def answer_errors(release_id: int, answers: list[GroupAnswer]) -> list[MeasureRow]:
    """How far the answers are off, as uniform rows, one for each question.

    ``group_count_error``: sum of |expected - original| over the groups by the sum of the originals.
    ``group_mean_error``: mean of |mean - mean of the originals| over the groups that have both.
    """
    rows = []
    for value, condition in dict.fromkeys((a.value, a.condition) for a in answers):
        mine = [a for a in answers if (a.value, a.condition) == (value, condition)]
        scope = f"{value}, {condition}" if condition else value
        off = sum(abs(a.expected - a.original) for a in mine)
        total = sum(a.original for a in mine)
        rows.append(_row(release_id, "group_count_error", scope, off, total))
        both = [
            abs(a.mean_amount - a.original_mean)
            for a in mine
            if a.mean_amount is not None and a.original_mean is not None
        ]
        if both:
            rows.append(_row(release_id, "group_mean_error", scope, sum(both), len(both)))
    return rows


def _row(release_id: int, measure: str, scope: str, off: float, total: float) -> MeasureRow:
    ratio = off / total if total else None
    return MeasureRow(release_id, measure, scope, off, total, ratio, None, None)


def _together(value: str, label: str, answer: Counted, truth: list[AgeGroup]) -> list[GroupAnswer]:
    nothing = AgeGroup(0, 0, 0.0, answer.hidden, None)  # rows that tell no age may be of any
    ours, theirs = ({row.age_group: row for row in rows} for rows in (answer.groups, truth))
    found = []
    for group in sorted(ours.keys() | theirs.keys()):
        row, original = ours.get(group, nothing), theirs.get(group, nothing)
        found.append(
            GroupAnswer(
                value, label, group, row.lower, row.expected, row.upper, original.expected,
                row.mean_amount, original.mean_amount,
            )
        )  # fmt: skip
    return found


def _split(dataset: Dataset, shown: list[str]) -> tuple[Qid, list[str]] | None:
    """The categorical dimension of fewest leaves, with their labels."""
    found = []
    for qid in dataset.qid:
        if qid.kind == "categorical" and qid.name in shown:
            tree = dataset.hierarchies[qid.name]
            leaves = [
                label for label, height in zip(tree.labels, tree.height, strict=True) if not height
            ]
            if len(leaves) >= FEWEST:
                found.append((qid, leaves))
    return min(found, key=lambda one: len(one[1]), default=None)


def _most_held(
    warehouse: Warehouse, dataset: Dataset, quarter: str, informative: str
) -> str | None:
    attribute = informative_attribute(dataset, informative)
    term = raw_term(dataset, attribute.table, attribute.column, "v")
    statement = (
        exp.select(term)
        .from_(raw_table(dataset, attribute.table, alias="v"))
        .join(raw_table(dataset, dataset.report_table, alias="t"), on=_same_report(dataset))
        .where(column("quarter", "v").eq(exp.Placeholder()))
        .where(term.copy().is_(exp.null()).not_())
        .group_by(term.copy())
        .order_by(
            exp.Ordered(
                this=exp.Count(this=exp.Distinct(expressions=[column(dataset.case_id, "t")])),
                desc=True,
            ),
            term.copy(),
        )
        .limit(1)
    )
    found = warehouse.rows(statement.sql("duckdb"), [quarter])
    return found[0][0] if found else None


def original_rows(
    dataset: Dataset,
    informative: str,
    numbers: list[Qid],
    asked: tuple[Qid, str] | None,
) -> exp.Select:
    """``(low, high, share, amount)`` of each case of the quarter that holds the value.

    Parameters: $value and $quarter. What a case's reports say differently is taken
    as the released rows take it: bounds of a number, and of a category what tells nothing.
    """
    attribute = informative_attribute(dataset, informative)
    holders = (
        exp.select(column(dataset.case_id, "t").as_("case_id"))
        .distinct()
        .from_(raw_table(dataset, attribute.table, alias="v"))
        .join(raw_table(dataset, dataset.report_table, alias="t"), on=_same_report(dataset))
        .where(
            raw_term(dataset, attribute.table, attribute.column, "v").eq(
                exp.Placeholder(this="value")
            )
        )
        .where(column("quarter", "v").eq(exp.Placeholder(this="quarter")))
    )
    share: exp.Expr = exp.convert(1.0)
    if asked is not None:
        qid, label = asked
        node = column(derived(qid.name), "t")
        root = exp.Literal.string(dataset.hierarchies[qid.name].labels[0])
        one = exp.case().when(exp.func("min", node).eq(exp.func("max", node.copy())),
                              exp.func("min", node.copy())).else_(root)  # fmt: skip
        share = node_share(dataset, qid, label, one)
    ends = [
        [exp.Mul(this=exp.func(end, column(derived(qid.name), "t")),
                 expression=exp.Literal.number(format(qid.granularity, "f")))
         for end in ("min", "max")]
        for qid in numbers[:2]
    ]  # fmt: skip
    middle: exp.Expr = exp.null()
    if len(ends) > 1:
        middle = exp.Div(this=exp.paren(ends[1][0] + ends[1][1]), expression=exp.convert(2))
    return (
        exp.select(
            exp.cast(ends[0][0], "BIGINT").as_("low"),
            exp.cast(ends[0][1], "BIGINT").as_("high"),
            exp.cast(share, "DOUBLE").as_("share"),
            exp.cast(middle, "DOUBLE").as_("amount"),
        )
        .from_(holders.subquery(alias="h"))
        .join(
            raw_table(dataset, dataset.report_table, alias="t"),
            on=column("case_id", "h").eq(column(dataset.case_id, "t")),
        )
        .where(column("quarter", "t").eq(exp.Placeholder(this="quarter")))
        .group_by(column("case_id", "h"))
    )


def _same_report(dataset: Dataset) -> exp.Expr:
    return exp.and_(
        column(dataset.report_id, "v").eq(column(dataset.report_id, "t")),
        column("quarter", "v").eq(column("quarter", "t")),
    )
