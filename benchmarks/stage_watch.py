"""How long one stage of releases takes: what several benchmarks ask."""

from __future__ import annotations

import resource
from time import perf_counter


class StageWatch:
    """Told each stage when it begins, after the place in a range; adds up one of them."""

    def __init__(self, stage: str) -> None:
        self._stage = stage
        self._began: list[float] | None = None
        self.seconds = 0.0
        """By the clock."""
        self.cpu = 0.0
        """Of this process."""
        self.others = 0.0
        """Of the processor, of processes that this one ended meanwhile."""

    def __call__(self, step: str) -> None:
        """A stage begins, and so the one before is over."""
        now = _used()
        if self._began is not None:
            seconds, cpu, others = (b - a for a, b in zip(self._began, now, strict=True))
            self.seconds += seconds
            self.cpu += cpu
            self.others += others
        self._began = now if step.rpartition(": ")[2] == self._stage else None


def _used() -> list[float]:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return [perf_counter(), *(each.ru_utime + each.ru_stime for each in used)]
