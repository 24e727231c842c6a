"""Released tables without what is drawn securely, so that two runs can be compared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

Row = dict[str, str]
Tables = Mapping[str, list[Row]]
Canonical = list[tuple[object, ...]]
_NUMBERS = {"record_chunk": "subrecord", "shared_chunk": "subrecord"}
_LEFT_OUT = {"reconstructed": ("record",), "released_rows": ("row", "symptom")}


def without_draws(tables: Tables, *, clusters: bool) -> dict[str, Canonical]:
    """Each table as a sorted list in which no drawn number and no drawn order is left.

    Args:
        tables: those tables of one schema that have something drawn; a cumulative schema has the
            column ``quarter`` in front.
        clusters: whether the numbers of clusters are drawn, so that only contents name a cluster.
    """
    found = {name: _rows(name, rows) for name, rows in tables.items()}
    _join_reconstructed(found)
    if clusters:
        names = _cluster_names(found)
        for rows in found.values():
            for row in rows:
                if "cluster" in row:
                    row["cluster"] = names[_owner(row)]
    return {
        name: sorted((tuple(row.values()) for row in rows), key=repr)
        for name, rows in found.items()
    }


def _rows(name: str, rows: list[Row]) -> list[dict[str, object]]:
    """Subrecords as their terms, other rows without the number that is drawn."""
    if name in _NUMBERS:
        subrecords: dict[tuple[tuple[str, str], ...], list[str]] = defaultdict(list)
        for row in rows:
            key = tuple((n, v) for n, v in row.items() if n != "term")
            subrecords[key].append(row["term"])
        return [
            {n: v for n, v in key if n != _NUMBERS[name]} | {"terms": tuple(sorted(terms))}
            for key, terms in subrecords.items()
        ]
    left_out = _LEFT_OUT.get(name, ())
    return [{n: v for n, v in row.items() if n not in left_out} for row in rows]


def _join_reconstructed(tables: Mapping[str, list[dict[str, object]]]) -> None:
    """A subrecord of a shared chunk may lie in any cluster of its joint cluster."""
    joints = {_owner(row): row["joint"] for row in tables.get("joint_clusters", [])}
    for row in tables.get("reconstructed", []):
        if _owner(row) in joints:
            row["joint"], row["cluster"] = joints[_owner(row)], "any"


def _owner(row: Mapping[str, object]) -> tuple[object, object]:
    return row.get("quarter"), row["cluster"]


def _cluster_names(tables: Mapping[str, list[dict[str, object]]]) -> dict[object, int]:
    """A number for each cluster, by its contents alone; clusters with equal contents share it."""
    contents: dict[object, list[str]] = defaultdict(list)
    for name, rows in tables.items():
        if name == "reconstructed":  # follows the order of subrecords
            continue
        for row in rows:
            if "cluster" in row:
                rest = {n: v for n, v in row.items() if n != "cluster"}
                contents[_owner(row)].append(repr((name, rest)))
    for row in tables.get("reconstructed", []):
        contents.setdefault(_owner(row), [])
    signatures = {owner: tuple(sorted(rows)) for owner, rows in contents.items()}
    places = {signature: i for i, signature in enumerate(sorted(set(signatures.values())))}
    return {owner: places[signature] for owner, signature in signatures.items()}
