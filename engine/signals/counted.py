"""What was counted, as the answers to trends, interactions and tests over a drug say it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from srsql.engine.catalog.levels import told_of_levels
from srsql.engine.catalog.releases import told_of_units
from srsql.engine.measures import MeasureRow
from srsql.engine.parameters import Form, Missing
from srsql.engine.signals.asked import (
    Asked,
    dropped_cases,
    left_out,
    perturbed_quarters,
    quarters_together,
    replaced_quarters,
)
from srsql.engine.signals.cases import ORIGINAL
from srsql.engine.signals.rules import Condition, Counting
from srsql.engine.store.warehouse import Warehouse

if TYPE_CHECKING:
    from srsql.engine.signals.results import Signals


@dataclass(frozen=True)
class Counted:
    """Which cases were counted, and how."""

    dataset: str
    series: str
    quarters: tuple[str, ...]
    roles: tuple[str, ...]
    """Empty: every role, or the dataset has none."""
    condition: Condition
    missing: Missing
    """What became of cases without a value that the condition asks for."""
    released_only: bool
    without: tuple[str, ...]
    """Dominant drugs and reactions whose cases were left out, in words."""
    without_indications: bool
    """Reactions that a case has as an indication, too, were left out."""
    levels: tuple[str, ...]
    """On which levels drugs and reactions are counted, in words."""
    unknown: tuple[str, ...]
    """What was asked for that no case has, in words; it counts as none."""
    suppressed: int
    """So many released cases, at most, may have any one reaction although no row shows it."""
    suppressed_drugs: int
    """So many may have any one drug although no row shows it."""
    remarks: tuple[str, ...]
    """What both rest on, in words."""
    dropped: int
    """Cases of the originals that are not compared (``--missing drop``)."""
    perturbed: tuple[str, ...]
    """Quarters whose values were drawn at random: their lower and upper are no bounds."""
    persons: tuple[str, ...]
    """Quarters whose releases count suspected duplicates as one person."""
    changed_since: tuple[str, ...]
    """Quarters whose raw rows were replaced after their release."""


@dataclass(frozen=True)
class ExportedFile:
    """One file, and how many rows it has without its header."""

    path: str
    rows: int


@dataclass(frozen=True)
class Exported:
    """What was written."""

    form: Form
    drug: str | None
    """Of TreeScan, whose counts are of one drug."""
    files: tuple[ExportedFile, ...]
    links: list[MeasureRow]
    """Rows of cases that link to other releases of their quarter; none where counts are written."""
    stale: tuple[str, ...]
    """Releases with cases that have left since they were made, which the files have, in words."""
    counted: Counted
    strata: tuple[str, ...] = ()
    """What cases are parted by, in columns of the file."""


def counted(
    warehouse: Warehouse, series: str, asked: Asked, condition: Condition, counting: Counting
) -> Counted:
    """What is said of an answer.

    Args:
        warehouse: may be read-only.
        series: whose releases.
        asked: which cases.
        condition: that they meet.
        counting: how they were counted.
    """
    return Counted(condition=condition, **about(warehouse, series, asked, counting))


def about(warehouse: Warehouse, series: str, asked: Asked, counting: Counting) -> dict[str, Any]:
    """What every answer says of who was counted and how, by field."""
    scope, compared = asked.scope, ORIGINAL in asked.sides
    return {
        "dataset": scope.dataset.name,
        "series": series,
        "quarters": tuple(scope.releases),
        "roles": scope.roles,
        "missing": counting.missing,
        "released_only": not compared,
        "without": left_out(counting),
        "without_indications": counting.without_indications,
        "levels": tuple(told_of_levels(warehouse, scope.levels)),
        "unknown": asked.unknown,
        "suppressed": asked.suppressed.reactions,
        "suppressed_drugs": asked.suppressed.drugs,
        "remarks": asked.suppressed.remarks,
        "dropped": dropped_cases(warehouse, scope) if compared else 0,
        "perturbed": perturbed_quarters(warehouse, scope),
        "persons": quarters_together(warehouse, scope),
        "changed_since": replaced_quarters(warehouse, scope) if compared else (),
    }


def told_together(about: Signals | Counted) -> Iterator[str]:
    """What is to be known where several cases count as one, and a condition asks for values."""
    return told_of_units(about.persons)
