"""The hold-back pool of a series (``--max-delay``): who waits for the next period, and until when.

A case that is withheld for want of a group waits: its reports are among those of the next period
that the series releases (``warehouse/waiting.py``). It is released there with a group that keeps
every bound, waits on, or is withheld for good once it has waited so many periods.
"""

from __future__ import annotations

from typing import Any

from srsql.engine.errors import ReleaseError
from srsql.engine.grouping.patterns import FOR_WANT_OF_A_GROUP
from srsql.engine.release.request import Request
from srsql.engine.warehouse.releases import Release
from srsql.engine.warehouse.series import ORIGINAL, Series
from srsql.engine.warehouse.statements import query

TOPIC = "release/waiting"


def need_pool(request: Request, series: Series, *, waits: bool) -> None:
    """Refuse what would tell who waited, or take a period back that others followed on.

    Args:
        request: what is asked for.
        series: that it is to be released in.
        waits: some case of the series waits, or waited.

    Raises:
        ReleaseError: the text says what to do.
    """
    if request.max_delay is not None and series.ids == ORIGINAL:
        raise ReleaseError(
            f"series {series.name!r} has original ids, whose order tells which cases waited: leave "
            "--max-delay out, or give another --series, which gets pseudonyms"
        )
    if request.supersede and (waits or request.max_delay is not None):
        raise ReleaseError(
            f"series {series.name!r} holds cases back, which later periods took in: --supersede "
            "would release them twice, so leave it out, or give another --series"
        )


def wait(current: Release, request: Request) -> tuple[dict[str, str | int], dict[str, Any]]:
    """Have withheld cases wait that no group had room for, and that have not waited long enough.

    Args:
        current: with its rows in the catalog.
        request: says how many periods a case waits at most; None: none waits from now on.

    Returns:
        What the public manifest tells of the pool, and what the private one does.
    """
    warehouse, own = current.warehouse, {"release_id": current.release_id}
    taken_in = int(warehouse.value(query(TOPIC, "taken_in"), own))
    if request.max_delay is None:
        return {}, ({"taken_in": taken_in} if taken_in else {})
    asked = {"max_delay": request.max_delay, "reasons": list(FOR_WANT_OF_A_GROUP)}
    warehouse.run(query(TOPIC, "wait"), own | asked)
    rows = warehouse.rows(query(TOPIC, "counts"), own)
    public: dict[str, str | int] = {
        "max_delay": request.max_delay,
        "waiting_cases": sum(row[1] for row in rows),
        "waiting_reports": sum(row[2] for row in rows),
    }
    waiting = {reason: {"cases": cases, "reports": reports} for reason, cases, reports in rows}
    return public, {"taken_in": taken_in, "waiting": waiting}
