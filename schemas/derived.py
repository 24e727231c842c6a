"""Derived columns: what is told of a report instead of the values that it is made from.

A derived column is one coarse value of a report, made at ingestion by the rule that the dataset
declares. It may be a quasi-identifier, or be published like any other column of the report table.
What is claimed of it follows from its rule and from what else is published.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from srsql.schemas.roles import Name, Strict

WITHHELD: Literal["sources withheld"] = "sources withheld"
PUBLISHED: Literal["sources published"] = "sources published"
Claim = Literal["sources withheld", "sources published"]
"""Whether what a column is made from is published beside it."""
LEAST_DAYS = 7
"""Days that a class of times holds at least."""
LEAST_NUMBERS = 2
"""Numbers that a class of counts holds at least."""


def _place(value: object) -> object:
    """``table.column`` as two words; what is no text is left alone."""
    if not isinstance(value, str):
        return value
    words = value.split(".")
    if len(words) != 2:
        raise ValueError(f"{value!r} does not name a column: write table.column")
    return tuple(words)


Place = Annotated[tuple[Name, Name], BeforeValidator(_place)]
"""Table and column."""


class _Rule(Strict):
    name: Name
    claim: Claim

    @property
    def sources(self) -> tuple[Place, ...]:
        """What it is made from."""
        return ()

    @property
    def dates(self) -> bool:
        """Whether it is made from dates, which are never published."""
        return False

    @property
    def labels(self) -> tuple[str, ...] | None:
        """Every value that it can have; None: periods, of which there is no end."""
        return None

    @property
    def number(self) -> bool:
        """Whether its values are whole numbers."""
        return False


class Period(_Rule):
    """The year, quarter or month of a date; of several dates of a report, of the earliest."""

    rule: Literal["period"]
    source: Place
    step: Literal["year", "quarter", "month"]

    @property
    def sources(self) -> tuple[Place, ...]:
        """The date."""
        return (self.source,)

    @property
    def dates(self) -> bool:
        """It is made from a date."""
        return True

    @property
    def number(self) -> bool:
        """Years are."""
        return self.step == "year"


class Elapsed(_Rule):
    """The class of the days from the earliest start to the earliest end of a report."""

    rule: Literal["elapsed"]
    start: Place
    end: Place
    classes: tuple[int, ...] = Field(min_length=1)
    """Days with which a class begins, after the one that begins with day 0."""

    @property
    def sources(self) -> tuple[Place, ...]:
        """Both dates."""
        return (self.start, self.end)

    @property
    def dates(self) -> bool:
        """It is made from dates."""
        return True

    @property
    def labels(self) -> tuple[str, ...]:
        """The class before the start comes first."""
        return ("before the start", *class_labels(self.classes, " days"))

    @model_validator(mode="after")
    def _coarse(self) -> Elapsed:
        need_width(self.classes, LEAST_DAYS, "days")
        return self


class Occurs(_Rule):
    """Whether some row of the report has one of the values."""

    rule: Literal["occurs"]
    source: Place
    values: tuple[str, ...] = ()
    """Compared as terms are; empty: any value at all."""
    yes: str = Field(default="yes", min_length=1)
    no: str = Field(default="no", min_length=1)

    @property
    def sources(self) -> tuple[Place, ...]:
        """The column with the values."""
        return (self.source,)

    @property
    def labels(self) -> tuple[str, ...]:
        """Both answers."""
        return (self.yes, self.no)

    @model_validator(mode="after")
    def _two(self) -> Occurs:
        if self.yes == self.no:
            raise ValueError("yes and no are the same word: give two")
        return self


class Number(_Rule):
    """The class of the number of different values that a report has."""

    rule: Literal["number"]
    source: Place
    classes: tuple[int, ...] = Field(min_length=1)
    """Numbers with which a class begins, after the one that begins with 0."""

    @property
    def sources(self) -> tuple[Place, ...]:
        """The column with the values."""
        return (self.source,)

    @property
    def labels(self) -> tuple[str, ...]:
        """From few to many."""
        return class_labels(self.classes, "")

    @model_validator(mode="after")
    def _coarse(self) -> Number:
        need_width(self.classes, LEAST_NUMBERS, "numbers")
        return self


Derived = Annotated[Period | Elapsed | Occurs | Number, Field(discriminator="rule")]


def class_labels(classes: tuple[int, ...], unit: str) -> tuple[str, ...]:
    """The classes from 0 that begin with these numbers, in words.

    Args:
        classes: first numbers of every class but that of 0, ascending.
        unit: what stands behind the numbers.
    """
    closed = [f"{low}-{high - 1}{unit}" for low, high in pairwise((0, *classes))]
    return (*closed, f"{classes[-1]}{unit} or more")


def need_width(classes: tuple[int, ...], least: int, what: str) -> None:
    """Refuse classes that are out of order, or hold fewer numbers than ``least``.

    Raises:
        ValueError: the text names the first such class.
    """
    for low, high in pairwise((0, *classes)):
        if high - low < least:
            raise ValueError(
                f"classes: from {low} to below {high} are fewer than {least} {what}: a class as "
                f"narrow is no class; give ascending numbers at least {least} apart, from {least}"
            )


def rule_text(derived: Period | Elapsed | Occurs | Number) -> str:
    """The rule of a column in words, without its claim."""
    sources = [".".join(place) for place in derived.sources]
    if isinstance(derived, Period):
        return f"{derived.step} of {sources[0]}"
    if isinstance(derived, Elapsed):
        return f"days from {sources[0]} to {sources[1]} in classes: {', '.join(derived.labels)}"
    if isinstance(derived, Number):
        return f"number of different {sources[0]} in classes: {', '.join(derived.labels)}"
    what = f"is one of {', '.join(derived.values)}" if derived.values else "is known"
    return f"{derived.yes} where some {sources[0]} {what}, else {derived.no}"


def claim_text(derived: Period | Elapsed | Occurs | Number, shown: set[Place]) -> str:
    """What is claimed of a column beside the columns that are published.

    Args:
        derived: the column.
        shown: table and column of what is published as it is.
    """
    sources = [".".join(place) for place in derived.sources]
    told = [".".join(place) for place in derived.sources if place in shown]
    if told:
        return f"protects nothing of {' and '.join(told)}, published in the same release"
    return f"{' and '.join(sources)} {'is' if len(sources) == 1 else 'are'} not published"
