"""Disassociated datasets in Python: what is published, and the tables that a macro reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from srsql.engine.catalog.released_terms import ALL, PublishedTerms
from srsql.engine.checks import measured
from srsql.engine.measures import MeasureRow
from srsql.engine.store.statements import literal
from srsql.engine.store.warehouse import Warehouse

Subrecord = frozenset[str]
Place = tuple[str, int, int]
"""Kind ('own', 'item', 'shared'), owner (cluster or joint cluster), chunk (0 for items)."""

TABLES = {
    "clusters": ("cluster INTEGER", "records INTEGER"),
    "joint_clusters": ("joint INTEGER", "cluster INTEGER"),
    "record_chunk": ("cluster INTEGER", "chunk INTEGER", "subrecord INTEGER", "term VARCHAR"),
    "shared_chunk": ("joint INTEGER", "chunk INTEGER", "subrecord INTEGER", "term VARCHAR"),
    "item_chunk": ("cluster INTEGER", "term VARCHAR"),
}


@dataclass
class Published:
    """Chunks are lists of non-empty subrecords, keyed by (owner, chunk)."""

    records: dict[int, int]
    joints: dict[int, frozenset[int]] = field(default_factory=dict)
    own: dict[tuple[int, int], list[Subrecord]] = field(default_factory=dict)
    shared: dict[tuple[int, int], list[Subrecord]] = field(default_factory=dict)
    items: dict[int, frozenset[str]] = field(default_factory=dict)

    def above(self, cluster: int) -> list[int]:
        """The joint clusters that hold the cluster."""
        return [joint for joint, members in self.joints.items() if cluster in members]

    def crowd(self, joint: int) -> int:
        return sum(self.records[cluster] for cluster in self.joints[joint])

    def places(self, cluster: int) -> dict[str, Place]:
        """Where the cluster has each of its terms."""
        found: dict[str, Place] = dict.fromkeys(self.items.get(cluster, ()), ("item", cluster, 0))
        for (owner, chunk), subrecords in self.own.items():
            if owner == cluster:
                found |= {t: ("own", owner, chunk) for s in subrecords for t in s}
        for (owner, chunk), subrecords in self.shared.items():
            if cluster in self.joints[owner]:
                found |= {t: ("shared", owner, chunk) for s in subrecords for t in s}
        return found

    def rows(self) -> dict[str, list[tuple[Any, ...]]]:
        """The published tables."""
        return {
            "clusters": list(self.records.items()),
            "joint_clusters": [(j, c) for j, members in self.joints.items() for c in members],
            "record_chunk": _chunk_rows(self.own),
            "shared_chunk": _chunk_rows(self.shared),
            "item_chunk": [(c, t) for c, terms in self.items.items() for t in terms],
        }


def _chunk_rows(chunks: Mapping[tuple[int, int], list[Subrecord]]) -> list[tuple[Any, ...]]:
    return [
        (owner, chunk, number, term)
        for (owner, chunk), subrecords in chunks.items()
        for number, subrecord in enumerate(subrecords, 1)
        for term in sorted(subrecord)
    ]


def project(
    records: Sequence[Subrecord],
    member: Sequence[int],
    joints: Mapping[int, frozenset[int]],
    places: Mapping[tuple[int, str], Place],
) -> Published:
    """What is published of the records when the terms have these places.

    Args:
        records: sets of terms.
        member: the cluster of each record.
        joints: joint cluster -> its clusters; those that get no shared chunk are left out.
        places: (cluster, term) -> place, for every term that occurs in the cluster.
    """
    made = Published({c: member.count(c) for c in sorted(set(member))})
    for record, cluster in zip(records, member, strict=True):
        parts: dict[Place, set[str]] = {}
        for term in record:
            parts.setdefault(places[cluster, term], set()).add(term)
        for (kind, owner, chunk), terms in parts.items():
            if kind == "item":
                made.items[cluster] = made.items.get(cluster, frozenset()) | terms
            else:
                chunks = made.own if kind == "own" else made.shared
                chunks.setdefault((owner, chunk), []).append(frozenset(terms))
    for subrecords in (*made.own.values(), *made.shared.values()):
        subrecords.sort(key=sorted)
    used = {joint for joint, _ in made.shared}
    made.joints = {joint: members for joint, members in joints.items() if joint in used}
    return made


def published_again(made: Published, records: Sequence[Subrecord]) -> Published:
    """What is published of records, in the order of their clusters, with the places of ``made``."""
    member = [c for c, n in made.records.items() for _ in range(n)]
    places = {(c, t): p for c in made.records for t, p in made.places(c).items()}
    return project(records, member, made.joints, places)


def warehouse(sql: Any) -> Warehouse:
    """The connection as a warehouse, made once."""
    if not hasattr(sql, "house"):
        sql.house = Warehouse(sql.con)
    made: Warehouse = sql.house
    return made


def load(sql: Any, rows: Mapping[str, Sequence[tuple[Any, ...]]]) -> PublishedTerms:
    """Make the tables of the published rows, and name them."""
    for name, columns in TABLES.items():
        fill(sql, name, columns, rows[name])
    return PublishedTerms(*(f"temp.main.{name}" for name in TABLES))


def fill(sql: Any, name: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> str:
    """Make a temporary table of rows; its name."""
    values = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in columns]
    parts = ", ".join(
        f"unnest(?::{column.split()[1]}[]) AS {column.split()[0]}" for column in columns
    )
    sql.con.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT {parts}", values)
    return f"temp.main.{name}"


def load_originals(sql: Any, records: Sequence[Subrecord], member: Sequence[int]) -> None:
    """``temp.main.originals`` and ``temp.main.members``, as the checks take them."""
    held = [(i, term) for i, record in enumerate(records) for term in sorted(record)]
    fill(sql, "originals", ("record INTEGER", "term VARCHAR"), held)
    fill(sql, "members", ("record INTEGER", "cluster INTEGER"), list(enumerate(member)))


def check_originals(
    house: Warehouse,
    tables: PublishedTerms,
    release_id: int,
    originals: str,
    members: str | None = None,
) -> list[MeasureRow]:
    """That the published tables hold every term of every record once.

    ``originals``: name of a table ``(record, term)``; ``members``: of one ``(record, cluster)``, by
    which the chunks are compared, too.
    """
    counted = ("clusters", "record_chunk", "shared_chunk", "item_chunk")
    own, number = literal(originals), f"{release_id:d}"
    calls = [tables.call("check_term_support", counted, own, number)]
    if members is not None:
        calls.append(tables.call("check_projection", ALL, own, literal(members), number))
    return measured(house, calls)
