"""Cases that no group has room for wait for the next period (``--max-delay``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from srsql.engine import measures as of
from srsql.engine.catalog.releases import Release
from srsql.engine.catalog.series import ORIGINAL
from srsql.engine.grouping.patterns import FOR_WANT_OF_A_GROUP
from srsql.engine.ingest.records import plain_name
from srsql.engine.release.features.feature import (
    Asked,
    Feature,
    InSeries,
    Refusal,
    Wanted,
    WithIds,
)
from srsql.engine.store.statements import query
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset
from srsql.schemas.file_layout import read_from

ASKED = "--max-delay"


def _none_waits(other: str, holds: Callable[[Wanted], bool], why: str) -> Refusal[Asked]:
    """What no case can wait with."""
    return Refusal(
        Asked,
        ASKED,
        other,
        lambda at: at.wanted.max_delay is not None and holds(at.wanted),
        f"--max-delay holds back cases that no group has room for, and {why}",
        "leave it out",
    )


def _waiting(at: InSeries) -> bool:
    """Whether somebody waits, or may."""
    return at.waits or at.wanted.max_delay is not None


def dated(dataset: Dataset) -> list[str]:
    """Published columns that may tell when a report came: what is made from dates, and periods.

    A column is known by what it is read from, whatever the dataset calls it.
    """
    shown = dataset.published
    periods = {plain_name(each.period_column) for each in dataset.tables if each.period_column}
    row_period = dataset.source.row_period
    of_rows = dataset.table(dataset.report_table), row_period.column if row_period else ""
    periods |= {plain_name(text) for text in read_from(*of_rows)}

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


HOLD_BACK = Feature(
    "cases that wait",
    "A case that no group has room for waits, and is tried again in the next period.",
    options=("max_delay",),
    checks=(of.HOLDING_BACK, of.TAKING_IN, of.UNITS_TAKEN_IN),
    facts={"max_delay": int, "waiting_cases": int, "waiting_reports": int},
    refusals=(
        _none_waits(
            "a model that does not group cases",
            lambda wanted: (
                not wanted.model.shape.shows_cases or wanted.model.claimed_bounds.unit == "report"
            ),
            "{model} does not group cases",
        ),
        _none_waits(
            "a model with noise",
            lambda wanted: wanted.model.claimed_bounds.drawn,
            "{model} does not tell how many are withheld",
        ),
        _none_waits(
            "a model that withstands persistence",
            lambda wanted: "p" in wanted.model.defended_attacks,
            "{model} promises who is in consecutive releases, which waiting changes",
        ),
        _none_waits(
            "--terms",
            lambda wanted: wanted.terms is not None,
            "terms that are told apart from rows are of the cases of one period",
        ),
        Refusal(
            WithIds,
            ASKED,
            "original ids",
            lambda at: at.wanted.max_delay is not None and at.ids == ORIGINAL,
            "series {name!r} has original ids, whose order tells which cases waited",
            "leave --max-delay out, or give another --series, which gets pseudonyms",
            lambda at: {"name": at.name},
        ),
        Refusal(
            InSeries,
            ASKED,
            "published columns that are made from dates",
            lambda at: _waiting(at) and bool(dated(at.dataset)),
            "{dataset} publishes {columns} of every report, made from dates, which tell which "
            "cases waited",
            "leave --max-delay out, or declare a dataset that has these as quasi-identifiers, or "
            "not at all",
            lambda at: {"dataset": at.dataset.name, "columns": ", ".join(dated(at.dataset))},
        ),
        Refusal(
            InSeries,
            ASKED,
            "--supersede",
            lambda at: _waiting(at) and at.wanted.supersede,
            "series {name!r} holds cases back, which later periods took in: --supersede would "
            "release them twice, so leave it out, or give another --series",
            words=lambda at: {"name": at.of.name},
        ),
    ),
)


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
