"""Risk and loss of a release, as the rows of the SQL macros that measure it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from srsql.engine.measures import MeasureRow
from srsql.engine.warehouse.series import IMPORTED
from srsql.engine.warehouse.warehouse import Warehouse

MACROS = (
    "information_loss({id})",
    "star_information_loss({id})",
    "danger_ratio({id})",
    "withheld_rate({id})",
    "suppression_rate({id})",
    "group_sizes({id})",
    "lattice_loss({id})",
)
"""Calls in the schema ``srsql``; each returns uniform rows."""
SUPPRESSED = ("suppressed", "chosen")
"""Measure and scope of suppressed classes, which are not the values that cases gave up."""


def measure(warehouse: Warehouse, release_id: int) -> list[MeasureRow]:
    """Every metric that applies to the release, computed now from the catalog.

    Which of its bounds the release keeps, and so which verdict stands, the registry of checks
    says (``engine.checks.registry.judged``). Of somebody else's release neither k nor theta nor
    what was withheld is known, so nothing is said about them; nor of what its cases lost, unless
    their originals were told.
    """
    rows = [
        MeasureRow(*row)
        for macro in MACROS
        for row in warehouse.rows(
            "SELECT m.* FROM srsql."
            + macro.format(id=int(release_id))
            + " AS m ORDER BY m.measure DESC, m.scope"
        )
    ]
    if any(row.measure == "il" for row in rows):  # regions are not what the release shows
        made = {"il", "ncp", "emd", "rate", "ncp (eq. 6)", "counterfeits", "withheld"}
        return [r for r in rows if r.measure in made or (r.measure, r.scope) == SUPPRESSED]
    model, perturbs = warehouse.rows(
        "SELECT r.model, EXISTS (SELECT 1 FROM srsql.perturbation AS p"
        " WHERE p.release_id = r.release_id) FROM srsql.release AS r WHERE r.release_id = ?",
        [release_id],
    )[0]
    if perturbs:  # a draw has no width, so the loss of regions says nothing
        return [row for row in rows if row.measure not in ("nil", "il_per_group")]
    if model != IMPORTED:
        return rows
    return [
        replace(row, violating=None, threshold=None, passed=None)
        if row.measure == "group_size"
        else row
        for row in rows
        if row.measure not in ("dr", "withheld") and (row.measure != "nil_star" or row.total)
    ]


def store_measures(
    warehouse: Warehouse, release_id: int, stage: str, rows: list[tuple[Any, ...]]
) -> None:
    """Keep uniform rows in ``srsql.measure``."""
    if rows:  # one statement: each of them would cost as much as all
        marks = ", ".join(["(?, ?, ?, ?, ?, ?, ?, ?, ?)"] * len(rows))
        warehouse.run(
            f"INSERT INTO srsql.measure VALUES {marks}",
            [value for row in rows for value in (release_id, stage, *row[1:])],
        )
