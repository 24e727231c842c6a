"""What a stage of a release is, and what the stages so far have made of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from srsql.engine.catalog.layout import Built
from srsql.engine.catalog.releases import Release
from srsql.engine.catalog.series import Series
from srsql.engine.checks import Evidence
from srsql.engine.grouping.feasibility import InfeasibleValue, Suppression
from srsql.engine.grouping.history import HistoryRule
from srsql.engine.grouping.patterns import Grouping
from srsql.engine.measures import Measure, MeasureRow
from srsql.engine.release.request import Released, Request
from srsql.engine.risk.units import UnitsOfGroups
from srsql.engine.terms.parameters import DisassociationParameters

Tables = dict[str, str]
"""Temporary tables: what the headers of steps call them, and the name that they have."""


@dataclass
class Made:
    """What the stages of a release made so far; whatever has no value yet is a later stage's."""

    current: Release
    series: Series
    ingestion_id: int
    """The data that it is made of."""
    loaded: Callable[[int | None], None]
    """Waits for the kernels, as far as so many cases need them compiled."""
    draw: str
    """Text from which every random choice is derived."""
    terms: DisassociationParameters | None
    """What is told apart from records; once that is done, with what can be promised of it."""
    tables: Tables = field(default_factory=dict)
    """The temporary tables that stages hand on."""
    suppression: Suppression | None = None
    """Values that are suppressed where cases would be withheld; None: none."""
    weight_scale: int = field(init=False)
    """What a certain value weighs."""
    rule: HistoryRule = field(init=False)
    grouping: Grouping = field(init=False)
    """What the model groups."""
    infeasible: list[InfeasibleValue] = field(init=False)
    """Values that had to give way."""
    limited: dict[str, int] = field(default_factory=dict)
    """How many terms a chunk was allowed, where that had to be limited."""
    pool: tuple[dict[str, str | int], dict[str, Any]] = field(init=False)
    """What the public and the private manifest tell of cases that wait."""
    built: list[Built] = field(init=False)
    """The released tables."""
    exposed: list[MeasureRow] = field(init=False)
    """What known items single out."""
    units: UnitsOfGroups = field(default_factory=UnitsOfGroups)
    """How many others than cases its groups keep."""
    released: Released = field(init=False)
    evidence: Evidence = field(init=False)
    checks: list[Measure] = field(init=False)
    shares: list[Measure] = field(init=False)
    """What the audit found of the series."""


def every_release(request: Request) -> bool:
    """What applies whatever is asked for."""
    return True


@dataclass(frozen=True)
class Stage:
    """One entry of the registry of stages."""

    title: str
    """What progress and times call it; stages of one title follow each other."""
    does: str
    """In a whole sentence."""
    run: Callable[[Request, Made], Tables]
    """Does it, and returns the temporary tables that it hands on."""
    reads: str = ""
    """Temporary tables of earlier stages, as the headers of steps call them, with blanks between;
    which of them there are depends on what is asked for."""
    writes: str = ""
    """Temporary tables that it makes and later stages read."""
    applies: Callable[[Request], bool] = every_release


def handed_on(names: str) -> Tables:
    """Temporary tables that have their usual names."""
    return {name: f"srsql_{name}" for name in names.split()}
