"""Suspected duplicates as a test says them, in the place of a search."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from srsql.engine.api.engine import Engine
from srsql.engine.checks import TOPIC
from srsql.engine.store.statements import query

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
        "'a test', '{}' FROM srsql.ingestion AS i WHERE NOT i.replaced OR i.ingestion_id IN "
        "(SELECT d.ingestion_id FROM srsql.dump_period AS d WHERE d.label IS NOT NULL)",
        [dataset],
    )


def of_units(
    sql: Any,
    call: str,
    placed: Iterable[tuple[str, str]],
    values: Iterable[tuple[str, str]],
    told: Iterable[tuple[str, str, bool]],
) -> float:
    """How many regions break a bound, by a check that counts others than cases.

    Args:
        sql: the fixture.
        call: of the check, with the tables ``unit_row`` and ``unit_value``.
        placed: the region and case of every released row.
        values: case and term, as the rows show them.
        told: case, who is counted in its place, and whether that one carries the bounds.
    """
    sql.table("srsql_published_row", "region VARCHAR, case_id VARCHAR", placed)
    sql.table("srsql_published_value", "case_id VARCHAR, term VARCHAR", values)
    sql.table("seen_unit", "case_id VARCHAR, unit VARCHAR, carries BOOLEAN", told)
    made = ", ".join(
        f"unit_{name} AS ({query(TOPIC, f'unit_{name}s')})" for name in ("row", "value")
    )
    ((_, _, _, violating, *_),) = sql.rows(f"WITH {made} SELECT c.* FROM srsql.{call} AS c")
    return float(violating)
