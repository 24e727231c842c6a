"""What is asked of a release, what became of it, and how long each stage took."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from srsql.engine.grouping.cases import Knowledge
from srsql.engine.grouping.feasibility import OnInfeasible
from srsql.engine.grouping.symptoms import USUAL_RULE, SymptomsRule
from srsql.engine.grouping.thresholds import ThetaPolicy
from srsql.engine.models.base import GroupingModel
from srsql.engine.terms.parameters import Terms

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Request:
    """What is asked of one release."""

    quarter: str
    model: GroupingModel
    theta: ThetaPolicy
    seed: int
    missing: Literal["keep", "drop"] = "keep"
    on_infeasible: OnInfeasible = "error"
    knowledge: Knowledge | None = None
    series: str = "main"
    symptoms: SymptomsRule = USUAL_RULE
    terms: Terms | None = None
    """Which terms are disassociated, and how."""
    draft: bool = False
    supersede: bool = False
    may_be_empty: bool = False
    """A quarter of which nothing can be released becomes an empty release."""


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
