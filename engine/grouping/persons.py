"""Persons in the place of cases: suspected duplicates are one record until groups are made.

The cases of one person are merged as the reports of one case are: hull of the values, union of the
terms. So k, theta and new or old count persons, by the same code. Afterwards every case has the
region of its person and is released as its own rows; where that breaks a threshold counted by
cases, only the first case of a person stays in the group.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from srsql.engine.catalog.releases import Release
from srsql.engine.errors import ReleaseError
from srsql.engine.measures import cell
from srsql.engine.store.statements import query

TOPIC = "grouping/duplicates"
LEAST = 0.5
"""Pairs below are not kept."""


@dataclass(frozen=True)
class ClustersAt:
    """What is one person at a threshold."""

    threshold: float = field(metadata=cell("match probability", "number"))
    pairs: int = field(metadata=cell("pairs", "count"))
    clusters: int = field(metadata=cell("persons of several cases", "count"))
    cases: int = field(metadata=cell("their cases", "count"))
    """In clusters, so that there are ``cases - clusters`` fewer persons than cases."""
    largest: int = field(metadata=cell("most", "count"))


@dataclass(frozen=True)
class Duplicates:
    """What a search for suspected duplicates found."""

    dataset: str
    cases: int
    compared: dict[str, str]
    """What was compared, and the column it is of."""
    pairs: int
    """Kept: of at least ``least``."""
    least: float
    seed: int
    library: str
    at: list[ClustersAt]


def need_search(release: Release) -> None:
    """Refuse to count persons where nobody looked for them, or not in all that there is, or where
    the series suppressed values, which it did of cases.

    Raises:
        ReleaseError: the text says what to run.
    """
    unseen = release.warehouse.rows(
        query(TOPIC, "unseen"), {"dataset": release.dataset.name, "quarter": release.quarter}
    )
    if unseen:
        raise ReleaseError(
            f"--count persons needs to know suspected duplicates up to {release.quarter}, and "
            f"{', '.join(row[0] for row in unseen[:3])} {'were' if len(unseen) > 1 else 'was'} not "
            "searched as it is now: run 'srsql duplicates' first"
        )
    if release.warehouse.value(query(TOPIC, "suppressed"), {"release_id": release.release_id}):
        raise ReleaseError(
            f"--count persons does not go with values that are suppressed, and series "
            f"{release.series!r} suppressed some of cases: leave it out, or start another --series"
        )


def merge_persons(release: Release, at_least: Fraction) -> None:
    """Number the reports of the quarter by persons; within ``load_cases``.

    Args:
        release: registered in the catalog.
        at_least: the match probability from which on two cases are one person.

    Raises:
        ReleaseError: see ``need_search``.
    """
    need_search(release)
    release.warehouse.run_step(
        "grouping/persons", {"release_id": release.release_id, "at_least": float(at_least)}
    )


def no_persons(release: Release) -> None:
    """Every case stands for itself."""
    release.warehouse.run(query(TOPIC, "no_persons"))
