"""Baskets of terms, generalized: the step's tables in, its tables out, as Python sets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from support.baskets import Desk

from srsql.engine.catalog.released_terms import PublishedNodes
from srsql.engine.checks import measured
from srsql.engine.checks.term_nodes import km_of_nodes
from srsql.engine.measures import MeasureRow
from srsql.engine.terms.generalize import generalize_terms

TABLES = PublishedNodes("temp.main.srsql_pub_generalized_terms", "temp.main.srsql_pub_term_nodes")
Node = frozenset[int]


class Generalized:
    """One anonymization after the other, in a warehouse in memory."""

    def __init__(self) -> None:
        self.desk = Desk()

    def make(
        self, baskets: list[frozenset[int]], policy: list[frozenset[int]], k: int, m: int
    ) -> None:
        self.desk.put(baskets, constraints=policy, names={t: f"T{t}" for t in range(99)})
        generalize_terms(self.desk.warehouse, k=k, m=m)

    def nodes(self) -> dict[int, Node]:
        """Published node -> its terms."""
        found: dict[int, set[int]] = {}
        for node, term in self.desk.rows("srsql_pub_term_nodes"):
            found.setdefault(node, set()).add(int(term[1:]))
        return {node: frozenset(terms) for node, terms in found.items()}

    def records(self) -> list[frozenset[Node]]:
        """The generalized terms of each published record, in the order of their numbers."""
        nodes, found = self.nodes(), {}
        for record, node in self.desk.rows("srsql_pub_generalized_terms"):
            found.setdefault(record, set()).update({nodes[node]} if node else set())
        assert sorted(found) == list(range(1, len(found) + 1))
        return [frozenset(found[record]) for record in sorted(found)]

    def checks(self, k: int, m: int, policy: list[frozenset[int]]) -> list[MeasureRow]:
        """Every check of the published tables, beside the policy and the baskets."""
        run = self.desk.warehouse.run
        run(
            "CREATE OR REPLACE TEMP TABLE named AS SELECT unnest(?::VARCHAR[]) AS name, "
            "unnest(?::VARCHAR[]) AS term",
            [
                [f"u{i}" for i, terms in enumerate(policy) for _ in terms],
                [f"T{t}" for terms in policy for t in terms],
            ],
        )
        run(
            "CREATE OR REPLACE TEMP TABLE originals AS SELECT b.record_no AS record, t.term "
            "FROM srsql_basket AS b INNER JOIN srsql_basket_term AS t USING (term_no)"
        )
        run(
            "CREATE OR REPLACE TEMP TABLE numbering AS SELECT r.record_no AS case_no, r.record "
            "FROM srsql_generalized_record AS r"
        )
        call = TABLES.check_records(1, "temp.main.originals", "temp.main.numbering")
        made = measured(self.desk.warehouse, TABLES.check(1, "temp.main.named"))
        made += km_of_nodes(self.desk.warehouse, TABLES, 1, k, m)
        return made + measured(self.desk.warehouse, [call])

    def failed(self, k: int, m: int, policy: list[frozenset[int]]) -> set[tuple[str, str]]:
        return {(c.measure, c.scope) for c in self.checks(k, m, policy) if not c.passed}


@contextmanager
def generalized() -> Iterator[Generalized]:
    made = Generalized()
    yield made
    made.desk.close()
