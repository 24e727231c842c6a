"""How far counts may be off because sensitive values are suppressed of some cases.

A release that suppresses values (``--on-infeasible suppress``, ``--leftovers suppress``) shows
fewer of them than its cases have. Its public manifest tells in shares of how many cases and
reports, at most: that many may meet a condition on such values although no row says so. They are
counted in ``upper``, and never in ``known``. A condition that the absence of a value meets (NOT, IS
NULL, CASE) may hold of as many that do not meet it, so ``lower`` and ``known`` count them out.
"""

from __future__ import annotations

from dataclasses import dataclass

import sqlglot
from sqlglot import exp

from srsql.engine.catalog.layout import key_column
from srsql.engine.catalog.releases import ANY_VALUE, ONE_VALUE, most_suppressed, suppressing
from srsql.engine.errors import QueryError
from srsql.engine.query.question import Question
from srsql.engine.query.vocabulary import Views, source_of
from srsql.engine.store.statements import column, table
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

SHARES = {
    "cases": (ANY_VALUE, "released_cases"),
    "reports": ("suppressed_reports_per_10000", "released_reports"),
}
"""What is counted -> columns of the public manifest: a share, rounded up, and of how many."""
_SAME = (exp.Upper, exp.Lower, exp.Trim, exp.Paren)


@dataclass(frozen=True)
class Hidden:
    """How many of what is counted may have a value that no row shows."""

    schemas: tuple[str, ...]
    """Of the releases that suppress values."""
    every: tuple[str, ...]
    """Of all releases that are asked."""
    share: str
    released: str
    """Columns of their public manifests."""
    absence_counts: bool
    """A condition may be met because a value is absent."""

    def most(self) -> exp.Expr:
        """The expression for so many, added up over the releases."""
        return _added([most_suppressed(s, self.share, self.released) for s in self.schemas])

    def raised(self, upper: exp.Expr) -> exp.Expr:
        """An upper count with those that may have the value, of all that are released at most."""
        everybody = _added([
            exp.select(exp.func("max", column(self.released, "m")))
            .from_(table(schema, "manifest", alias="m"))
            .subquery()
            for schema in self.every
        ])  # fmt: skip
        others = exp.Sub(this=everybody, expression=upper.copy())
        more = exp.func("greatest", 0, exp.func("least", self.most(), others))
        return exp.cast(exp.Add(this=upper, expression=more), "BIGINT")

    def lowered(self, lower: exp.Expr) -> exp.Expr:
        """A lower count without those of which the absence of a value decides."""
        less = exp.Sub(this=lower, expression=self.most())
        return exp.cast(exp.func("greatest", 0, less), "BIGINT")


def _added(parts: list[exp.Subquery]) -> exp.Expr:
    total: exp.Expr = parts[0]
    for part in parts[1:]:
        total = exp.Add(this=total, expression=part)
    return exp.paren(total)


def hidden_by(
    warehouse: Warehouse, dataset: Dataset, views: Views, question: Question, text: str
) -> Hidden | None:
    """What may be hidden from a question; None: nothing, or it asks for no sensitive value.

    Args:
        warehouse: may be read-only.
        dataset: of the question.
        views: that answer it.
        question: as it was understood.
        text: as it was written.

    Raises:
        QueryError: rows of suppressed values are counted.
    """
    sensitive = {
        (a.table, name) for a in dataset.sensitive for name in (a.column, key_column(a.column))
    }
    names = {item.alias: item.table.name for item, _ in question.joins}
    parts = [*question.conditions, *(on for _, on in question.joins if on is not None)]
    parts += [measure.hit for measure in question.measures if measure.hit is not None]
    inner = [found for part in parts for found in part.find_all(exp.Table)]
    names |= {found.alias: found.name for found in inner}
    named = [found for part in parts for found in part.find_all(exp.Subquery)]
    names |= {found.alias: source_of(found) for found in named if found.alias}
    if not {name for name, _ in sensitive} & set(names.values()):
        return None
    schemas = suppressing(warehouse, views.schemas.values())
    if not schemas:
        return None
    if question.counted == "rows":
        raise QueryError(
            "values of some cases are suppressed, and how many rows told them is not published: "
            f"count cases or reports, with COUNT(DISTINCT {dataset.case_id}) or "
            f"COUNT(DISTINCT {dataset.report_id})"
        )
    share, released = SHARES[question.counted]
    grouped = [expression for _, expression in question.groups]
    asked = [
        found
        for part in [*(p for p in parts if not _is_given(p, grouped)), *grouped]
        for found in part.find_all(exp.Column)
        if (names.get(found.table, ""), found.name) in sensitive
    ]
    # names on levels stand in the columns of spellings
    named_on_levels = {(each.attribute.table, each.attribute.column) for each in views.levels}
    several = any((names[found.table], found.name) in named_on_levels for found in asked)
    one = len(asked) == 1 and not several and _is_one_value(asked[0], grouped)
    if question.counted == "cases" and one:
        share = ONE_VALUE
    every = tuple(views.schemas.values())
    return Hidden(schemas, every, share, released, _asks_for_absence(text))


def _is_given(part: exp.Expr, grouped: list[exp.Expr]) -> bool:
    """Whether a condition only says that what the question groups by has a value."""
    inner = part.this if isinstance(part, exp.Not) else None
    return isinstance(inner, exp.Is) and inner.this in grouped


def _is_one_value(asked: exp.Column, grouped: list[exp.Expr]) -> bool:
    """Whether a column is compared with one value, or grouped by: each group is of one."""
    node: exp.Expr = asked
    while isinstance(node.parent, _SAME):
        node = node.parent
    if any(node is each for each in grouped):
        return True
    other = node.parent
    if isinstance(other, exp.EQ):
        return isinstance(other.left, exp.Literal) or isinstance(other.right, exp.Literal)
    return isinstance(other, exp.In) and len(other.expressions) == 1


def _asks_for_absence(text: str) -> bool:
    tree = sqlglot.parse_one(text, read="duckdb")
    return tree.find(exp.Not, exp.Is, exp.Case) is not None
