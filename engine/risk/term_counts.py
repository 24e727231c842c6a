"""COUNT over sets of terms, from a release alone: lower, expected, upper."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Protocol

from srsql.engine.warehouse.released_terms import (
    ALL,
    PublishedNodes,
    PublishedTerms,
    put_sets,
)
from srsql.engine.warehouse.releases import TermFormat
from srsql.engine.warehouse.statements import literal
from srsql.engine.warehouse.warehouse import Warehouse


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


def count_pairs(
    warehouse: Warehouse, tables: PublishedTerms, terms: Iterable[str]
) -> list[TermCount]:
    """The co-occurrence of every two of the terms; pairs that no record can hold are left out."""
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_asked_term AS SELECT unnest(?::VARCHAR[]) AS term",
        [sorted(set(terms))],
    )
    pairs = warehouse.rows(
        "SELECT p.one, p.other FROM "
        + tables.call("term_pairs", ALL[1:], literal("temp.main.srsql_asked_term"))
        + " AS p ORDER BY p.one, p.other"
    )
    return [c for c in count_terms(warehouse, tables, pairs) if c.upper]
