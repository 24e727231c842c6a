"""Suspected duplicates as a test says them, in the place of a search."""

from __future__ import annotations

from collections.abc import Iterable

from srsql.engine.api.engine import Engine

Pairs = Iterable[tuple[str, str, float]]


def suspect(engine: Engine, pairs: Pairs, dataset: str = "faers") -> None:
    """Have the warehouse know these pairs of all that is ingested now."""
    con = engine.con
    con.execute("DELETE FROM srsql.suspected_duplicate")
    con.execute("DELETE FROM srsql.duplicate_search")
    for one, other, probability in pairs:
        con.execute(
            "INSERT INTO srsql.suspected_duplicate VALUES (?, ?, ?, ?)",
            [dataset, min(one, other), max(one, other), probability],
        )
    con.execute(
        "INSERT INTO srsql.duplicate_search SELECT ?, list(i.ingestion_id), 0, 0.5, 1, "
        "'a test', '{}' FROM srsql.ingestion AS i WHERE NOT i.replaced",
        [dataset],
    )
