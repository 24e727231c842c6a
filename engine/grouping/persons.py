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
from srsql.engine.grouping.cases import Unit, work_out
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


@dataclass(frozen=True)
class Persons(Unit):
    """Suspected duplicates are one person each; everybody else is one as well.

    Nobody carries buckets of a lake, since the cases of a person lie in several.
    """

    match: Fraction = Fraction(9, 10)
    """The match probability from which on two cases are one person."""
    parted: bool = field(default=True, init=False)

    @property
    def name(self) -> str:
        """In the words of the checks."""
        return "person"

    def number(self, release: Release) -> None:
        """Number the reports of the quarter by persons.

        Raises:
            ReleaseError: see ``need_search``.
        """
        need_search(release)
        asked = {"release_id": release.release_id, "at_least": float(self.match)}
        release.warehouse.run_step("grouping/persons", asked)

    def part(self, release: Release, weight_scale: int, carriers: str) -> None:
        """Make records of cases again, after persons were grouped and their regions made.

        From here on a group's records are its cases, as every measure and audit takes them.
        Thresholds hold of persons; where they would not hold of cases, only the first case of a
        person stays.
        """
        warehouse = release.warehouse
        asked = {"release_id": release.release_id, "carriers": carriers}
        warehouse.run_step("grouping/cases_of_persons", asked)
        work_out(release, weight_scale, "case")
        warehouse.run_step("grouping/spare_duplicates", {"weight_scale": weight_scale})

    def told(self, guarantee: str) -> dict[str, str]:
        """What the public manifest tells of a release that counts persons."""
        return {
            "guarantee": guarantee,
            "counted": "persons",
            "match_probability": f"{float(self.match):g}",
        }
