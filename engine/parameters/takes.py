"""Which values a parameter takes: how they are read, in which bounds, and how they are refused."""

from __future__ import annotations

import operator
import os
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from numbers import Real as AnyReal
from pathlib import Path
from typing import Any

_LETTERS_SHOWN = 60
"""Characters of a wrong value that its refusal repeats."""
_AMOUNT = re.compile(r"[+-]?(\d{1,18}/\d{1,18}|(\d{1,18}\.?\d{0,30}|\.\d{1,30})(e[+-]?\d{1,2})?)")


class RefusedError(Exception):
    """A value that a parameter does not take; its reader raises an error of its own kind."""


def is_number(value: object) -> bool:
    """Whether a value is a number, which True and False are not here."""
    return isinstance(value, AnyReal | Decimal) and not isinstance(value, bool)


@dataclass(frozen=True)
class Takes(ABC):
    """Which values a parameter takes."""

    @property
    @abstractmethod
    def words(self) -> str:
        """The kind of value, for refusals and the documentation."""

    @abstractmethod
    def parse(self, value: Any, option: str) -> Any:
        """The value as the engine has it; what it has already read it leaves as it is.

        Raises:
            RefusedError: the value is of another kind.
        """

    def read(self, value: Any, option: str) -> Any:
        """The value as the engine has it, within its bounds.

        Raises:
            RefusedError: the value is of another kind, or out of bounds.
        """
        return self.parse(value, option)

    def show(self, value: Any) -> str:
        """A value as a caller writes it."""
        return str(value)

    def refused(self, value: Any, option: str) -> RefusedError:
        """The refusal of a value of another kind, in one line."""
        shown = (
            repr(value)
            if len(repr(value)) <= _LETTERS_SHOWN
            else f"{repr(value)[:_LETTERS_SHOWN]}..."
        )
        return RefusedError(f"{option} {' '.join(shown.split())}: give {self.words}")


@dataclass(frozen=True)
class Text(Takes):
    """Text; a number stands for its text, as a year does that is a period."""

    @property
    def words(self) -> str:
        """Text."""
        return "text"

    def parse(self, value: Any, option: str) -> str:
        """The text."""
        if is_number(value):
            return str(value)
        if not isinstance(value, str):
            raise self.refused(value, option)
        return value


@dataclass(frozen=True)
class Day(Takes):
    """A day of the calendar."""

    @property
    def words(self) -> str:
        """How it is written."""
        return "a day as YYYY-MM-DD"

    def parse(self, value: Any, option: str) -> str:
        """The day in that form."""
        if isinstance(value, date) and not isinstance(value, datetime):
            return value.isoformat()
        text = value.strip() if isinstance(value, str) else ""
        with suppress(ValueError):
            if date.fromisoformat(text).isoformat() == text:
                return text
        raise self.refused(value, option)


@dataclass(frozen=True)
class OneOf(Takes):
    """One of a few words."""

    choices: tuple[str, ...]

    @property
    def words(self) -> str:
        """The choices."""
        return f"one of {', '.join(self.choices)}" if len(self.choices) > 1 else self.choices[0]

    def parse(self, value: Any, option: str) -> str:
        """The word."""
        if not isinstance(value, str) or value not in self.choices:
            raise self.refused(value, option)
        return value


@dataclass(frozen=True)
class Flag(Takes):
    """True or False; an option of the command line without a value."""

    @property
    def words(self) -> str:
        """Both of them."""
        return "True or False"

    def parse(self, value: Any, option: str) -> bool:
        """The same."""
        if not isinstance(value, bool):
            raise self.refused(value, option)
        return value


@dataclass(frozen=True)
class Whole(Takes):
    """A whole number between two bounds."""

    low: int | None = None
    high: int | None = None
    too_low: str = ""
    """Why it cannot be lower, as a sentence; empty: the bounds are told."""
    too_high: str = ""

    @property
    def words(self) -> str:
        """What it is."""
        return "a whole number"

    def parse(self, value: Any, option: str) -> int:
        """The number."""
        if isinstance(value, bool):
            raise self.refused(value, option)
        try:
            return operator.index(value)
        except TypeError:
            raise self.refused(value, option) from None

    def read(self, value: Any, option: str) -> int:
        """The number, within the bounds."""
        number = self.parse(value, option)
        low, high = self.low is not None and number < self.low, number > (self.high or number)
        why = self.too_low if low else self.too_high
        if (low or high) and why:
            raise RefusedError(f"{option.removeprefix('--')} is {number}: {why}")
        if low or high:
            least = "" if self.low is None else f" from {self.low:,}"
            most = " on" if self.high is None else f" to {self.high:,}"
            raise RefusedError(f"{option} {number}: give a whole number{least}{most}")
        return number


@dataclass(frozen=True)
class Real(Takes):
    """A number between two bounds, both included."""

    low: float
    high: float

    @property
    def words(self) -> str:
        """The bounds."""
        return f"a number from {self.low:g} to {self.high:g}"

    def parse(self, value: Any, option: str) -> float:
        """The number, within the bounds."""
        if not is_number(value) or not self.low <= value <= self.high:
            raise self.refused(value, option)
        return float(value)


@dataclass(frozen=True)
class Amount(Takes):
    """An exact amount above 0, such as a share or a budget; a number or fraction."""

    most: Fraction | int | None = None
    denominator: int | None = None
    """The largest, since amounts are counted in 64 bits."""
    limited: bool = True
    """Else the call that takes it judges its size."""
    noun: str = "number"

    @property
    def words(self) -> str:
        """How it is written."""
        return f"a {self.noun} such as 0.5 or 1/3"

    def parse(self, value: Any, option: str) -> Fraction:
        """The amount, exactly; of a floating-point number what it is written as."""
        if isinstance(value, Fraction):
            return value
        written = isinstance(value, str) or is_number(value)
        if written and _AMOUNT.fullmatch(text := str(value).strip().lower()):
            with suppress(ZeroDivisionError):
                return Fraction(text)
        raise self.refused(value, option)

    def read(self, value: Any, option: str) -> Fraction:
        """The amount, within the bounds."""
        amount = self.parse(value, option)
        fine = self.denominator is None or amount.denominator <= self.denominator
        if self.limited and not (0 < amount <= (self.most or amount) and fine):
            most = "" if self.most is None else f", at most {self.most}"
            exact = f", with a denominator up to {self.denominator:,}" if self.denominator else ""
            raise RefusedError(f"{option} {amount}: give a {self.noun} above 0{most}{exact}")
        return amount

    def show(self, value: Any) -> str:
        """As a decimal, if it is a short one."""
        decimal = f"{float(value):g}"
        return decimal if Fraction(decimal) == value else str(value)


@dataclass(frozen=True)
class File(Takes):
    """The path of a file or folder."""

    @property
    def words(self) -> str:
        """What it is."""
        return "a path"

    def parse(self, value: Any, option: str) -> Path:
        """The path."""
        if not isinstance(value, str | os.PathLike):
            raise self.refused(value, option)
        return Path(value)


@dataclass(frozen=True)
class Files(Takes):
    """Several paths, or one."""

    @property
    def words(self) -> str:
        """What they are."""
        return "a list of paths"

    def parse(self, value: Any, option: str) -> tuple[Path, ...]:
        """The paths."""
        if isinstance(value, str | os.PathLike):
            return (Path(value),)
        found = tuple(value) if isinstance(value, Iterable) else None
        if found is None or not all(isinstance(each, str | os.PathLike) for each in found):
            raise self.refused(value if found is None else found, option)
        return tuple(map(Path, found))


@dataclass(frozen=True)
class Names(Takes):
    """Several names: a list, or text with commas between them."""

    joined: bool = False
    """The engine has them as one text with commas."""

    @property
    def words(self) -> str:
        """How they are written."""
        return "a list of names, or text with commas between them"

    def parse(self, value: Any, option: str) -> Any:
        """The names, empty ones left out."""
        if isinstance(value, list | tuple) and all(isinstance(name, str) for name in value):
            return ",".join(value) if self.joined else tuple(value)
        if not isinstance(value, str):
            raise self.refused(value, option)
        return value if self.joined else tuple(n for n in map(str.strip, value.split(",")) if n)

    def show(self, value: Any) -> str:
        """With commas between them."""
        return value if isinstance(value, str) else ",".join(value)


@dataclass(frozen=True)
class Parsed(Takes):
    """What a function makes of text, a number or a path; what it made before stays."""

    of: type
    function: Callable[[str], Any]
    written: str
    """How the text is written."""
    numbers: bool = False
    """A number stands for its text."""
    listed: bool = False
    """A list stands for its text, with commas."""
    show_with: Callable[[Any], str] = str
    content: Callable[[Any], Any] | None = None
    """What a file said that the text names, as JSON has it; None or empty: the text says all."""

    @property
    def words(self) -> str:
        """How it is written."""
        return self.written

    def parse(self, value: Any, option: str) -> Any:
        """The function's result, with the errors that it raises."""
        if isinstance(value, self.of):
            return value
        texts = isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)
        if self.listed and value and texts:
            return self.function(",".join(value))
        if isinstance(value, str | os.PathLike) or (self.numbers and is_number(value)):
            return self.function(str(value))
        raise self.refused(value, option)

    def show(self, value: Any) -> str:
        """As the caller wrote it."""
        return self.show_with(value)


@dataclass(frozen=True)
class Several(Takes):
    """A list of values of one kind."""

    of: Takes
    as_read: bool = False
    """Each as the engine has it; else as the caller wrote it."""

    @property
    def words(self) -> str:
        """Each of them."""
        return f"a list, of which each is {self.of.words}"

    def parse(self, value: Any, option: str) -> tuple[Any, ...]:
        """The values, each of which can be read."""
        if not isinstance(value, list | tuple):
            raise self.refused(value, option)
        read = tuple(self.of.parse(each, option) for each in value)
        return read if self.as_read else tuple(value)

    def show(self, value: Any) -> str:
        """With commas between them."""
        return ",".join(map(str, value))


@dataclass(frozen=True)
class MadeBy(Takes):
    """An object of a class whose module is not imported for that: who has one has imported it."""

    module: str
    name: str

    @property
    def words(self) -> str:
        """What the object is."""
        return f"an object of the class {self.name}"

    def parse(self, value: Any, option: str) -> Any:
        """The object itself."""
        made = getattr(sys.modules.get(self.module), self.name, None)
        if made is None or not isinstance(value, made):
            raise self.refused(value, option)
        return value


@dataclass(frozen=True)
class Instance(Takes):
    """An object of one of some classes."""

    classes: tuple[type, ...] | Callable[[], tuple[type, ...]]
    """Or a call for those of a module that is not imported for this."""
    what: str

    @property
    def words(self) -> str:
        """What the object is."""
        return self.what

    def parse(self, value: Any, option: str) -> Any:
        """The object itself; what is true or false is no number."""
        classes = self.classes if isinstance(self.classes, tuple) else self.classes()
        if isinstance(value, bool) or not isinstance(value, classes):
            raise self.refused(value, option)
        return value
