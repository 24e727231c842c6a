"""The hold-back pool of a series (``--max-delay``): who waits for the next period, and until when.

A case that is withheld for want of a group waits: its reports are among those of the next period
that the series releases (``warehouse/waiting.py``). It is released there with a group that keeps
every bound, waits on, or is withheld for good once it has waited so many periods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from srsql.engine.errors import ReleaseError
from srsql.engine.grouping.patterns import FOR_WANT_OF_A_GROUP
from srsql.engine.ingest.records import plain_name
from srsql.engine.release.request import Request
from srsql.engine.warehouse.releases import Release
from srsql.engine.warehouse.series import ORIGINAL, Series
from srsql.engine.warehouse.statements import query
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset
from srsql.schemas.dataset import read_from

TOPIC = "release/waiting"


def need_pool(request: Request, series: Series, dataset: Dataset, *, waits: bool) -> None:
    """Refuse what would tell who waited, or take a period back that others followed on.

    Args:
        request: what is asked for.
        series: that it is to be released in.
        dataset: with the columns that the series publishes.
        waits: some case of the series waits, or waited.

    Raises:
        ReleaseError: the text says what to do.
    """
    need_no_order(request, series.name, series.ids)
    told = _dates(dataset) if waits or request.max_delay is not None else []
    if told:
        raise ReleaseError(
            f"{dataset.name} publishes {', '.join(told)} of every report, made from dates, which "
            "tell which cases waited: leave --max-delay out, or declare a dataset that has these "
            "as quasi-identifiers, or not at all"
        )
    if request.supersede and (waits or request.max_delay is not None):
        raise ReleaseError(
            f"series {series.name!r} holds cases back, which later periods took in: --supersede "
            "would release them twice, so leave it out, or give another --series"
        )


def need_no_order(request: Request, series: str, ids: str | None) -> None:
    """Refuse ids that tell who waited.

    Args:
        request: what is asked for.
        series: its name.
        ids: those that it has, or is to have.

    Raises:
        ReleaseError: they are the source's own; the text says what to do.
    """
    if request.max_delay is not None and ids == ORIGINAL:
        raise ReleaseError(
            f"series {series!r} has original ids, whose order tells which cases waited: leave "
            "--max-delay out, or give another --series, which gets pseudonyms"
        )


def _dates(dataset: Dataset) -> list[str]:
    """Published columns that may tell when a report came: what is made from dates, and periods.

    A column is known by what it is read from, whatever the dataset calls it.
    """
    shown = dataset.published
    periods = {plain_name(each.period_column) for each in dataset.tables if each.period_column}

    def told(table: str, name: str) -> bool:
        """Whether it may be read from a column of periods."""
        return any(plain_name(text) in periods for text in read_from(dataset.table(table), name))

    derived = {each.name: each for each in dataset.derived}
    found = []
    for declared in dataset.tables:
        for name in declared.publish:
            if (declared.name, name) not in shown:
                continue
            made = derived[name] if dataset.makes(declared.name, name) else None
            places = [(declared.name, name)] if made is None else made.sources
            if (made is not None and made.dates) or any(told(*place) for place in places):
                found.append(name)
    return list(dict.fromkeys(found))


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
