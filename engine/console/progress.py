"""How far long work is: elapsed and remaining time, on a terminal or in a pipe."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import click
from rich.console import Console
from rich.text import Text

from srsql.engine.errors import printable

EVERY = 10.0
"""Seconds between the lines in a pipe."""
_COUNTED = re.compile(r"(\d[\d,]*) of (\d[\d,]*)")


class Progress:
    """The step that work is at, and how long it still takes.

    A step that says "3 of 20" tells how much is done of what; from the pace so far follows what
    remains. When the text before the count or the total changes, or a step counts nothing, other
    work has begun.

    Args:
        clock: seconds of some clock.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._begun = clock, clock()
        self._text = "working"
        self._part: tuple[str, int] | None = None
        self._from = self._at = (0, self._begun)
        """How much was done, and when: at the beginning of the part, and at the last change."""
        self._total = 0

    def step(self, text: str) -> None:
        """Work is at this step."""
        self._text = printable(text)
        if (found := _COUNTED.search(text)) is None:
            self._part, self._at = None, self._from
            return
        done, total = (int(number.replace(",", "")) for number in found.groups())
        part = (text[: found.start()], total)
        now = (done, self._clock())
        if part != self._part:
            self._part, self._total, self._from, self._at = part, total, now, now
        elif done != self._at[0]:
            self._at = now

    @property
    def remaining(self) -> float | None:
        """Seconds that the counted work will still take; None: nobody can tell, since nothing of
        it is done yet, or it takes longer than what was done."""
        done = self._at[0] - self._from[0]
        if done <= 0:
            return None
        pace = (self._at[1] - self._from[1]) / done
        left = pace * (self._total - self._at[0]) - (self._clock() - self._at[1])
        return left if left > 0 else None

    @property
    def percent(self) -> int | None:
        """How much of the counted work is done; None: it counts nothing."""
        return None if self._part is None else 100 * self._at[0] // max(self._total, 1)

    @property
    def line(self) -> str:
        """Elapsed and remaining time, how much is done, and the step."""
        left, done = self.remaining, self.percent
        told = [f"{_minutes(self._clock() - self._begun)} elapsed"]
        told += [] if done is None else [f"{done} %"]
        told += [] if left is None else [f"about {_minutes(left)} left"]
        return f"{', '.join(told)}: {self._text}"

    def __rich__(self) -> Text:
        """What a terminal shows at the moment: one line, cut where the terminal ends."""
        return Text(self.line, no_wrap=True, overflow="ellipsis")


def _minutes(seconds: float) -> str:
    """Such as 6:05, or 1:06:05."""
    whole = int(seconds)
    hours, minutes = divmod(whole // 60, 60)
    return (f"{hours}:{minutes:02}" if hours else f"{minutes}") + f":{whole % 60:02}"


@contextmanager
def shown_on(console: Console) -> Iterator[Callable[[str], None]]:
    """Take the steps of long work: a terminal has one line that changes, a pipe one in 10 seconds.

    Args:
        console: of stderr.
    """
    progress = Progress()
    if console.is_terminal:
        with console.status(progress):
            yield progress.step
        return
    ended = threading.Event()

    def tell() -> None:
        while not ended.wait(EVERY):
            with suppress(OSError, ValueError):  # nobody reads stderr
                click.echo(progress.line, err=True)

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield progress.step
    finally:
        ended.set()
        teller.join()
