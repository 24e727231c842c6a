"""Baskets of terms, disassociated: the step's tables in, its tables out, as Python sets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import duckdb
from support.published_terms import Published

from srsql.engine.store.warehouse import Warehouse
from srsql.engine.terms.disassociate import ClusterSizes, disassociate

SIZES = ("least", "max_size", "joint_limit", "partners", "lexicographic")
INPUTS = {
    "srsql_basket": "record_no INTEGER, term_no INTEGER",
    "srsql_part": "record_no INTEGER, part_no INTEGER",
    "srsql_constraint": "term_no INTEGER, constraint_no INTEGER",
    "srsql_sensitive_number": "term_no INTEGER",
    "srsql_basket_term": "term_no INTEGER, term VARCHAR",
}


class Desk:
    """A warehouse in memory, for one disassociation after the other."""

    def __init__(self, threads: int | None = None) -> None:
        self.con = duckdb.connect()
        self.warehouse = Warehouse(self.con, threads=threads)

    def close(self) -> None:
        self.con.close()

    def put(
        self,
        baskets: Sequence[Iterable[int]],
        *,
        parts: Sequence[int] | None = None,
        constraints: Sequence[Iterable[int]] = (),
        kept_apart: Iterable[int] = (),
        names: Mapping[int, str] | None = None,
    ) -> None:
        """Make the tables that the step reads."""
        held = [(r, t) for r, basket in enumerate(baskets) for t in set(basket)]
        terms = sorted({t for _, t in held})
        self._fill("srsql_basket", held)
        self._fill("srsql_part", list(enumerate(parts or [0] * len(baskets))))
        policy = [(t, u) for u, terms_of in enumerate(constraints) for t in terms_of]
        self._fill("srsql_constraint", policy)
        self._fill("srsql_sensitive_number", [(t,) for t in set(kept_apart)])
        self._fill("srsql_basket_term", [(t, names[t] if names else f"T{t:03}") for t in terms])

    def run(self, k: int, m: int, **options: Any) -> None:
        sizes = {name: options.pop(name) for name in SIZES if name in options}
        disassociate(self.warehouse, k=k, m=m, sizes=ClusterSizes.of(k, **sizes), **options)

    def rows(self, table: str) -> list[tuple[Any, ...]]:
        return self.con.execute(f"SELECT t.* FROM temp.main.{table} AS t").fetchall()

    def clusters(self) -> list[frozenset[int]]:
        """Records of each cluster, in the order of their numbers."""
        found: dict[int, set[int]] = {}
        for record, cluster in self.rows("srsql_cluster"):
            found.setdefault(cluster, set()).add(record)
        assert sorted(found) == list(range(1, len(found) + 1))
        return [frozenset(found[c]) for c in sorted(found)]

    def chunks(self) -> dict[int, list[frozenset[int]]]:
        """Terms of the item chunk and of each record chunk, by cluster."""
        return _numbered(self.rows("srsql_chunk_term"), item=True)

    def joints(self) -> dict[int, frozenset[int]]:
        """Clusters of each joint cluster."""
        found: dict[int, set[int]] = {}
        for joint, cluster in self.rows("srsql_pub_joint_clusters"):
            found.setdefault(joint, set()).add(cluster)
        return {joint: frozenset(found[joint]) for joint in sorted(found)}

    def shared(self) -> dict[int, list[frozenset[int]]]:
        """Terms of each shared chunk, by joint cluster."""
        return {j: chunks[1:] for j, chunks in _numbered(self.rows("srsql_shared_term")).items()}

    def published(self) -> Published:
        """The published tables; the subrecords of a chunk in the order of their terms."""
        made = Published(dict(self.rows("srsql_pub_clusters")))
        for joint, cluster in self.rows("srsql_pub_joint_clusters"):
            made.joints[joint] = made.joints.get(joint, frozenset()) | {cluster}
        for table, chunks in (("record_chunk", made.own), ("shared_chunk", made.shared)):
            parts: dict[tuple[int, int], dict[int, set[str]]] = {}
            for owner, chunk, subrecord, term in self.rows(f"srsql_pub_{table}"):
                parts.setdefault((owner, chunk), {}).setdefault(subrecord, set()).add(term)
            for key, subrecords in parts.items():
                chunks[key] = sorted(map(frozenset, subrecords.values()), key=sorted)
        for cluster, term in self.rows("srsql_pub_item_chunk"):
            made.items[cluster] = made.items.get(cluster, frozenset()) | {term}
        return made

    def _fill(self, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
        self.con.execute(f"CREATE OR REPLACE TEMP TABLE {table} ({INPUTS[table]})")
        if rows:
            marks = ", ".join("(" + ", ".join("?" * len(row)) + ")" for row in rows)
            flat = [value for row in rows for value in row]
            self.con.execute(f"INSERT INTO temp.main.{table} VALUES {marks}", flat)


def _numbered(
    rows: list[tuple[Any, ...]], *, item: bool = False
) -> dict[int, list[frozenset[int]]]:
    """Terms by owner and chunk, from chunk 0 on; numbers have no gaps."""
    found: dict[int, dict[int, set[int]]] = {}
    for owner, chunk, term in rows:
        found.setdefault(owner, {0: set()}).setdefault(chunk, set()).add(term)
    for chunks in found.values():
        assert sorted(chunks) == list(range(len(chunks)))
    return {
        owner: [frozenset(chunks[c]) for c in sorted(chunks)]
        for owner, chunks in sorted(found.items())
    }
