"""What is asked of a release, what became of it, and how long each stage took."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from srsql.engine.errors import ReleaseError
from srsql.engine.grouping.cases import Knowledge, load_knowledge
from srsql.engine.grouping.feasibility import OnInfeasible
from srsql.engine.grouping.symptoms import USUAL_RULE, SymptomsRule, parse_symptoms_rule
from srsql.engine.grouping.thresholds import ThetaPolicy, parse_theta
from srsql.engine.models.base import GroupingModel
from srsql.engine.parameters import parameter, read_fields
from srsql.engine.parameters.takes import Flag, OneOf, Parsed, Text, Whole
from srsql.engine.terms.parameters import DisassociationParameters
from srsql.engine.warehouse.series import MAIN

Progress = Callable[[str], None]
FREQUENCY = "frequency"
_THETA = "a number or fraction, frequency, or levels:FILE"
_SS_RULE = "mean+sd, mean+2sd, or counts such as pt>=10,indi_pt>=5"


@dataclass(frozen=True)
class Request:
    """What is asked of one release."""

    quarter: str
    model: GroupingModel
    theta: ThetaPolicy = parameter(
        parse_theta(FREQUENCY),
        takes=Parsed(ThetaPolicy, parse_theta, _THETA, numbers=True),
        help=f"Threshold of each sensitive value: {_THETA}",
        weaker="higher",
        compared=(FREQUENCY,),
        advised=(FREQUENCY, "0.4", "0.2"),
    )
    missing: Literal["keep", "drop"] = parameter(
        "keep",
        takes=OneOf(("keep", "drop")),
        help="Group cases with missing quasi-identifiers by pattern, or leave them out",
    )
    on_infeasible: OnInfeasible = parameter(
        "error",
        takes=OneOf(("error", "withhold")),
        help="What becomes of values more frequent than their threshold",
    )
    knowledge: Knowledge | None = parameter(
        None,
        takes=Parsed(Knowledge, lambda path: load_knowledge(Path(path)), "the path of a CSV file"),
        help="External knowledge: CSV with the columns drug, disease",
    )
    symptoms: SymptomsRule = parameter(
        USUAL_RULE,
        takes=Parsed(SymptomsRule, parse_symptoms_rule, _SS_RULE, show_with=lambda rule: rule.text),
        keyword="ss_rule",
        help=f"Substantially many symptoms: {_SS_RULE}",
    )
    terms: DisassociationParameters | None = None
    """Which terms are told apart from records, and how."""
    seed: int = parameter(
        factory=lambda: secrets.randbits(63),
        takes=Whole(),
        help="Seed of the grouping, and of seeded noise",
        usual="drawn at random",
    )
    series: str = parameter(MAIN, takes=Text(), help="Series of releases")
    draft: bool = parameter(False, takes=Flag(), help="Make it, but do not expose it yet")
    supersede: bool = parameter(
        False, takes=Flag(), help="Replace a released quarter; it stays on record"
    )
    may_be_empty: bool = False
    """A quarter of which nothing can be released becomes an empty release."""

    def __post_init__(self) -> None:
        """Read what was given as text."""
        read_fields(self, ReleaseError)


@dataclass(frozen=True)
class Released:
    """What became of it."""

    release_id: int
    quarter: str
    series: str
    schema: str
    status: str
    manifest: dict[str, Any]
    """The private manifest."""
    rows: dict[str, int]
    """Rows of each released table."""
    seconds: dict[str, float] = field(default_factory=dict)


class Clock:
    """Names the stage a release is in, and how long each took."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time one stage."""
        if self._progress:
            self._progress(name)
        start = time.perf_counter()
        yield
        self.seconds[name.partition(" (")[0]] = round(time.perf_counter() - start, 3)
