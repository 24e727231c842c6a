"""The published tables of a disassociated release, by name, as the macros take them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from srsql.engine.errors import QueryError
from srsql.engine.store.statements import dotted, literal
from srsql.engine.store.warehouse import Warehouse


class Reader(Protocol):
    """A warehouse, or any connection that has the macros."""

    def run(self, query: str, parameters: Sequence[Any] = ...) -> None:
        """Execute one statement for its effect."""
        ...

    def rows(self, query: str, parameters: Sequence[Any] = ...) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        ...


@dataclass(frozen=True)
class PublishedTerms:
    """Qualified names of tables or views, quoted where they need it."""

    clusters: str
    joint_clusters: str
    record_chunk: str
    shared_chunk: str
    item_chunk: str
    reconstructed: str | None = None
    """One sampled dataset; None where there is none."""
    item_means: str | None = None
    """A table (term, mean): of how many records an item term is told on average; None: of one."""
    item_cases: int | None = field(default=None, kw_only=True)
    """Of how many records of its cluster an item term is told at most; None: of all."""

    @classmethod
    def in_schema(cls, *schema: str, prefix: str = "") -> PublishedTerms:
        """The tables of one schema (or catalog and schema) under their usual names."""
        names = (
            "clusters", "joint_clusters", "record_chunk", "shared_chunk", "item_chunk",
            "reconstructed",
        )  # fmt: skip
        return cls(*(dotted(*schema, prefix + name) for name in names))

    @property
    def shown(self) -> tuple[str, ...]:
        """Names of the tables that have a column ``term``: together, every released term."""
        return self.record_chunk, self.shared_chunk, self.item_chunk

    def counts(self, sets: str) -> str:
        """Rows (set_no, lower, expected, upper) for the table named by the SQL text ``sets``."""
        most = "NULL" if self.item_cases is None else f"{self.item_cases:d}"
        given = [sets] if self.item_means is None else [sets, literal(self.item_means)]
        macro = "term_counts" if self.item_means is None else "term_counts_at_means"
        return self.call(macro, ALL, *given, most)

    def matches(self, sets: str) -> str:
        """Rows (set_no, expected): records that hold a term of the set or more."""
        if self.item_means is None:
            return self.call("term_matches", ALL, sets)
        return self.call("term_matches_at_means", ALL, sets, literal(self.item_means))

    def call(self, macro: str, tables: Sequence[str], *arguments: str) -> str:
        """A call of ``srsql.macro`` with the named tables of ours, then ``arguments`` as SQL."""
        named = [literal(getattr(self, name)) for name in tables]
        return f"srsql.{macro}({', '.join([*named, *arguments])})"


ALL = ("clusters", "joint_clusters", "record_chunk", "shared_chunk", "item_chunk")
"""What a macro over the whole release takes, in its order."""


@dataclass(frozen=True)
class Items:
    """How items are read: which of them stand for which sensitive value."""

    sensitive: frozenset[str]
    """Attributes, as the items are prefixed with them."""

    def value(self, item: str) -> str | None:
        """The sensitive value of an item; None: it has none."""
        attribute, _, term = item.partition(":")
        if attribute not in self.sensitive:
            return None
        return without_qualifier(attribute, term)


def without_qualifier(attribute: str, term: str) -> str:
    """The value of an item's term, whose attribute may be ``column/qualifier``."""
    return term.rpartition("/")[0] or term if "/" in attribute else term


def put_sets(
    warehouse: Warehouse, sets: Iterable[Iterable[str]], name: str = "srsql_term_set"
) -> str:
    """Make the temporary table ``name(set_no, term)``; sets are numbered from 0.

    Returns:
        The table's name as SQL text for a macro.

    Raises:
        QueryError: a set is empty.
    """
    numbers: list[int] = []
    terms: list[str] = []
    for number, members in enumerate(sets):
        distinct = sorted(set(members))
        if not distinct:
            raise QueryError("a set of terms has no term: give each one at least")
        numbers.extend([number] * len(distinct))
        terms.extend(distinct)
    warehouse.run(
        f"CREATE OR REPLACE TEMP TABLE {name} AS "
        "SELECT unnest(?::INTEGER[]) AS set_no, unnest(?::VARCHAR[]) AS term",
        [numbers, terms],
    )
    return literal(f"temp.main.{name}")


def put_originals(
    warehouse: Warehouse,
    baskets: str = "temp.main.srsql_basket",
    terms: str = "temp.main.srsql_basket_term",
) -> str:
    """Make ``temp.main.srsql_original(record, term)`` of the numbered baskets and their terms.

    Returns:
        The name of the table.
    """
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_original AS "
        "SELECT b.record_no AS record, t.term "
        f"FROM {baskets} AS b INNER JOIN {terms} AS t ON b.term_no = t.term_no"
    )
    return "temp.main.srsql_original"


@dataclass(frozen=True)
class PublishedNodes:
    """Qualified names of tables or views, quoted where they need it."""

    generalized_terms: str
    term_nodes: str
    reconstructed: None = None
    """A node stands for sets of terms; no dataset is sampled."""

    @classmethod
    def in_schema(cls, *schema: str) -> PublishedNodes:
        """The tables of one schema (or catalog and schema) under their usual names."""
        return cls(dotted(*schema, "generalized_terms"), dotted(*schema, "term_nodes"))

    @property
    def shown(self) -> tuple[str, ...]:
        """Name of the table that has a column ``term``: every released term."""
        return (self.term_nodes,)

    def counts(self, sets: str) -> str:
        """Rows (set_no, lower, expected, upper) for the table named by the SQL text ``sets``."""
        return self._call("node_counts", sets)

    def matches(self, sets: str) -> str:
        """Rows (set_no, expected): records that hold a term of the set or more."""
        return self._call("node_matches", sets)

    def check(self, release_id: int, constraints: str) -> list[str]:
        """Calls of the checks that need neither k nor the originals.

        ``constraints``: name of a table ``(name, term)``.
        """
        return [
            self._call("check_node_structure", f"{release_id:d}"),
            f"srsql.check_node_constraints({literal(self.term_nodes)}, {literal(constraints)}, "
            f"{release_id:d})",
        ]

    def check_records(self, release_id: int, originals: str, numbering: str) -> str:
        """A call of the check that records have the nodes of their own terms."""
        return self._call(
            "check_generalized_records", literal(originals), literal(numbering), f"{release_id:d}"
        )

    def _call(self, macro: str, *arguments: str) -> str:
        tables = literal(self.generalized_terms), literal(self.term_nodes)
        return f"srsql.{macro}({', '.join([*tables, *arguments])})"
