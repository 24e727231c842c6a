"""The hold-back pool of a series (``--max-delay``): who waits for the next period, and until when.

A case that is withheld for want of a group waits: its reports are among those of the next period
that the series releases (``warehouse/waiting.py``). It is released there with a group that keeps
every bound, waits on, or is withheld for good once it has waited so many periods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from srsql.engine.catalog.releases import Release
from srsql.engine.grouping.patterns import FOR_WANT_OF_A_GROUP
from srsql.engine.store.statements import query
from srsql.engine.store.warehouse import Warehouse

TOPIC = "release/waiting"


def wait(current: Release, max_delay: int | None) -> tuple[dict[str, str | int], dict[str, Any]]:
    """Have withheld cases wait that no group had room for, and that have not waited long enough.

    Args:
        current: with its rows in the catalog.
        max_delay: how many periods a case waits at most; None: none waits from now on.

    Returns:
        What the public manifest tells of the pool, and what the private one does.
    """
    warehouse, own = current.warehouse, {"release_id": current.release_id}
    ((taken_in, otherwise),) = warehouse.rows(query(TOPIC, "taken_in"), own)
    private = {"taken_in": taken_in} | ({"reported_otherwise": otherwise} if otherwise else {})
    warehouse.run(query(TOPIC, "keep_taken"), own)
    if max_delay is None:
        return {}, (private if taken_in or otherwise else {})
    asked = {"max_delay": max_delay, "reasons": list(FOR_WANT_OF_A_GROUP)}
    warehouse.run(query(TOPIC, "wait"), own | asked)
    rows = _counts(warehouse, current.release_id)
    public: dict[str, str | int] = {
        "max_delay": max_delay,
        "waiting_cases": sum(row[1] for row in rows),
        "waiting_reports": sum(row[2] for row in rows),
    }
    return public, private | {"waiting": _by_reason(rows)}


def wait_on(current: Release, before: int, told: Mapping[str, Any]) -> dict[str, Any]:
    """Have those wait who waited in the version that a correction takes groups out of.

    Who is taken out with a group does not wait: earlier versions show them.

    Args:
        current: the new version, with its rows in the catalog.
        before: the number of the version before.
        told: the private manifest of that version.

    Returns:
        What the private manifest of the new one tells of the pool.
    """
    warehouse, own = current.warehouse, {"release_id": current.release_id}
    warehouse.run(query(TOPIC, "keep_taken"), own)
    if "waiting" not in told:
        return {}
    warehouse.run(query(TOPIC, "wait_on"), own | {"before": before})
    return {"waiting": _by_reason(_counts(warehouse, current.release_id))}


def _counts(warehouse: Warehouse, release_id: int) -> list[tuple[Any, ...]]:
    return warehouse.rows(query(TOPIC, "counts"), {"release_id": release_id})


def _by_reason(rows: Sequence[tuple[Any, ...]]) -> dict[str, dict[str, int]]:
    return {reason: {"cases": cases, "reports": reports} for reason, cases, reports in rows}
