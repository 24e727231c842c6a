"""COUNT over sets of terms: of a release alone, and of the originals it is measured against."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol

from sqlglot import exp

from srsql.engine.catalog.datasets import raw_term, term_key
from srsql.engine.catalog.layout import raw_table
from srsql.engine.catalog.released_terms import (
    PublishedNodes,
    PublishedTerms,
    put_sets,
)
from srsql.engine.catalog.releases import ReleasedTerms, TermFormat
from srsql.engine.shapes.item_means import item_mean, least_support
from srsql.engine.store.statements import (
    column,
    create,
    literal,
    normal_form,
    query,
    table,
    temporary,
    union_all,
    with_rows,
)
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset


@dataclass(frozen=True)
class TermCount:
    """How many records hold every term of a set.

    In every dataset that the release stands for, the originals among them, it is between ``lower``
    and ``upper``; ``expected`` is its mean over them.
    """

    terms: tuple[str, ...]
    lower: int
    expected: float
    upper: int


class Answering(Protocol):
    """Published tables that answer COUNT queries over sets of terms."""

    @property
    def reconstructed(self) -> str | None:
        """Name of one sampled dataset ``(record, ..., term)``; None: there is none."""
        ...

    @property
    def shown(self) -> tuple[str, ...]:
        """Names of the tables that have a column ``term``: together, every released term."""
        ...

    def counts(self, sets: str) -> str:
        """Rows (set_no, lower, expected, upper); ``sets``: a name as SQL text."""
        ...

    def matches(self, sets: str) -> str:
        """Rows (set_no, expected): records that hold a term of the set or more."""
        ...


_PUBLISHED: dict[TermFormat, Callable[[str], Answering]] = {
    "chunks": PublishedTerms.in_schema,
    "nodes": PublishedNodes.in_schema,
}


def published_terms(term_format: TermFormat, schema: str) -> Answering:
    """The published tables of a release in the schema of its views."""
    return _PUBLISHED[term_format](schema)


def count_terms(
    warehouse: Warehouse, tables: Answering, sets: Iterable[Collection[str]]
) -> list[TermCount]:
    """The counts of many sets by one query, in the order of the sets.

    Raises:
        QueryError: a set is empty.
    """
    asked = [tuple(sorted(set(s))) for s in sets]
    if not asked:
        return []
    name = put_sets(warehouse, asked)
    rows = warehouse.rows(
        "SELECT c.set_no, c.lower, c.expected, c.upper FROM "
        + tables.counts(name)
        + " AS c ORDER BY c.set_no"
    )
    return [TermCount(asked[number], lower, mean, upper) for number, lower, mean, upper in rows]


_ORIGINAL_TERM = "srsql_original_term"
ORIGINALS = f"temp.main.{_ORIGINAL_TERM}"
"""Where ``load_originals`` puts the terms of the released cases."""


KeyOf = Callable[[exp.Expr, int], exp.Expr]
"""The key of a term, of its text and the version of the key."""


def load_originals(
    warehouse: Warehouse,
    dataset: Dataset,
    release_id: int,
    terms: ReleasedTerms,
    key_of: KeyOf = term_key,
) -> str:
    """Read the terms of the released cases off the raw rows anew.

    Args:
        warehouse: with the raw rows.
        dataset: of the release.
        release_id: of the catalog.
        terms: what the release publishes apart from records.
        key_of: derives the key of a term; checks have their own derivation.

    Returns:
        The name of a table ``(record, term)``, distinct; records are numbered by case.
    """
    quarter = warehouse.value(
        "SELECT r.quarter FROM srsql.release AS r WHERE r.release_id = ?", [release_id]
    )
    rows = with_rows(
        query("risk/term_counts", "original_terms"),
        report_value=report_values(dataset, release_id, terms, key_of),
    )
    warehouse.run(
        create(temporary(_ORIGINAL_TERM), rows, temp=True),
        {"quarter": quarter, "repeated": terms.repeated},
    )
    return ORIGINALS


def report_values(
    dataset: Dataset, release_id: int, terms: ReleasedTerms, key_of: KeyOf = term_key
) -> exp.Query:
    """(record, prefix, term, times) of every report of a released case in $quarter.

    Args:
        dataset: of the release.
        release_id: of the catalog.
        terms: what the release publishes apart from records.
        key_of: derives the key of a term.
    """
    places = {a.column: a.table for a in (*dataset.sensitive, *dataset.quasi_sensitive)}
    parts: list[exp.Query] = []
    for attribute in terms.attributes:
        name, _, beside = attribute.partition("/")
        value: exp.Expr = column(name, "t")
        value = key_of(value, dataset.term_key) if name in places else normal_form(value)
        prefixed = terms.whole_rows or len(terms.attributes) > 1
        prefix = f"{attribute}:" if prefixed else ""
        source = places.get(name) or next(t.name for t in dataset.tables if name in t.publish)
        if beside:
            qualifier = normal_form(column(beside, "t"))
            shown = exp.DPipe(this=exp.Literal.string("/"), expression=qualifier)
            some = exp.Case().when(qualifier.copy().neq(""), shown).else_(exp.Literal.string(""))
            value = exp.func("concat", value, some)
        parts.append(
            raw_values(dataset, release_id, name, source)
            .select(
                column("case_no", "m").as_("record"),
                exp.Literal.string(prefix).as_("prefix"),
                value.as_("term"),
                exp.Count(this=exp.Star()).as_("times"),
            )
            .group_by(column("case_no", "m"), column(dataset.report_id, "t"), value.copy())
        )
    return union_all(parts)


def raw_values(dataset: Dataset, release_id: int, name: str, source: str) -> exp.Select:
    """FROM the rows ``t`` of a released case ``m`` in $quarter in which an attribute has a value.

    Args:
        dataset: of the release.
        release_id: of the catalog.
        name: column of the attribute.
        source: its table.
    """
    known = {a.column for a in (*dataset.sensitive, *dataset.quasi_sensitive)}
    has_value = (
        raw_term(dataset, source, name, "t").is_(exp.null()).not_()
        if name in known
        else normal_form(column(name, "t")).neq("")
    )
    return (
        exp.select()
        .from_(raw_table(dataset, source, alias="t"))
        .join(
            raw_table(dataset, dataset.report_table, alias="r"),
            on=exp.and_(
                column(dataset.report_id, "r").eq(column(dataset.report_id, "t")),
                column("quarter", "r").eq(column("quarter", "t")),
            ),
        )
        .join(
            table("srsql", "member", alias="m"),
            on=exp.cast(column(dataset.case_id, "r"), "VARCHAR").eq(column("case_id", "m")),
        )
        .where(column("release_id", "m").eq(release_id))
        .where(column("quarter", "t").eq(exp.Placeholder(this="quarter")))
        .where(has_value)
    )


_ITEM_MEAN = "srsql_item_term_mean"


def at_item_means(
    warehouse: Warehouse, tables: PublishedTerms, terms: ReleasedTerms
) -> PublishedTerms:
    """The tables with what each item term stands for, where whole rows are taken apart, and in how
    many records it is at most, which such a release promises.

    Of terms in chunks of other releases an item term stands for one record, as in the paper: there
    what is rare within a group, and not k alone, decides which terms have a count.
    """
    means = [item_mean(warehouse, tables, name) for name in terms.weighed_attributes]
    if not means:
        return tables
    names = ("clusters", "record_chunk", "item_chunk")
    call = tables.call("item_term_means", names, "map(?::VARCHAR[], ?::DOUBLE[])", "?::DOUBLE")
    most = max(1, least_support(warehouse, tables) - 1)
    warehouse.run(
        f"CREATE OR REPLACE TEMP TABLE {_ITEM_MEAN} AS FROM {call}",
        [list(terms.weighed_attributes), means, most],
    )
    return replace(tables, item_means=f"temp.main.{_ITEM_MEAN}", item_cases=terms.item_cases)


MANY = 11
"""From so many records on, combinations are told together ("> 10")."""


@dataclass(frozen=True)
class CombinationShare:
    """The share of the distinct combinations of so many terms that so many records hold."""

    terms: int
    records: int
    """1 to 10, or 11 for more than 10."""
    share: float
    exact: bool
    """False: estimated from ``examined`` occurrences of combinations."""
    examined: int


def combination_shares(
    warehouse: Warehouse,
    originals: str,
    *,
    sizes: tuple[int, ...] = (2, 3, 4, 5),
    budget: int = 1_000_000,
    samples: int = 5_000,
    seed: int = 0,
) -> list[CombinationShare]:
    """Shares of the combinations of each size by the number of records, 1 to 10 and more than 10.

    A size whose records have at most ``budget`` combinations is counted exactly. Else (a record of
    400 terms has 83 milliard of 5) combinations are drawn, each as likely as the number of records
    that hold it, and a drawn one weighs 1 / that number, which is counted exactly: the estimate of
    each share is consistent whatever the lengths of the records.

    Args:
        warehouse: in which the originals are.
        originals: name of a table ``(record, term)``, distinct.
        sizes: numbers of terms.
        budget: combinations, with repetitions, up to which all are made.
        samples: combinations drawn otherwise.
        seed: of the draws.
    """
    lengths = dict(
        warehouse.rows(
            f"SELECT o.record, count(*) FROM {originals} AS o GROUP BY o.record ORDER BY o.record"
        )
    )
    shares: list[CombinationShare] = []
    for size in sizes:
        made = sum(math.comb(n, s) for n in lengths.values() for s in range(1, size + 1))
        total = sum(math.comb(n, size) for n in lengths.values())
        if not total:
            continue
        exact = made <= budget
        weights = (
            _all(warehouse, originals, size)
            if exact
            else _drawn(warehouse, originals, lengths, size, samples, seed)
        )
        together = sum(weights.values())
        shares.extend(
            CombinationShare(
                size, n, float(weights.get(n, 0) / together), exact, total if exact else samples
            )
            for n in range(1, MANY + 1)
        )
    return shares


def _all(warehouse: Warehouse, originals: str, size: int) -> dict[int, Fraction]:
    found: dict[int, Fraction] = defaultdict(Fraction)
    for records, combinations in warehouse.rows(
        "SELECT c.records, c.combinations "
        f"FROM srsql.combination_frequencies({literal(originals)}, {size:d}) AS c"
    ):
        found[min(records, MANY)] += combinations
    return found


def _drawn(
    warehouse: Warehouse,
    originals: str,
    lengths: dict[int, int],
    size: int,
    samples: int,
    seed: int,
) -> dict[int, Fraction]:
    luck = random.Random(f"{seed} {size}")
    chosen = luck.choices(list(lengths), [math.comb(n, size) for n in lengths.values()], k=samples)
    held: dict[int, list[str]] = dict(
        warehouse.rows(
            f"SELECT o.record, list(o.term ORDER BY o.term) FROM {originals} AS o "
            "SEMI JOIN (SELECT unnest(?::BIGINT[]) AS record) AS c ON o.record = c.record "
            "GROUP BY o.record",
            [sorted(set(chosen))],
        )
    )
    sets = put_sets(warehouse, [luck.sample(held[record], size) for record in chosen])
    found: dict[int, Fraction] = defaultdict(Fraction)
    for (records,) in warehouse.rows(
        f"SELECT c.records FROM srsql.basket_counts({literal(originals)}, {sets}) AS c"
    ):
        found[min(records, MANY)] += Fraction(1, records)
    return found
