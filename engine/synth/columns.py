"""Columns before they are text: coded words, whole numbers, joined parts; and dates as words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from srsql.engine.synth.draws import Bools, Floats, Ints
from srsql.engine.synth.tails import Words

_DAY_ZERO = np.datetime64("1960-01-01", "D")
_DAYS = 52_000


@dataclass(frozen=True)
class Coded:
    """Words chosen by code; a negative code is blank."""

    words: Words
    codes: Ints

    def take(self, rows: Ints) -> Coded:
        """Return the column for some rows."""
        return Coded(self.words, self.codes[rows])


@dataclass(frozen=True)
class Joined:
    """Several columns written one after another into one field; a blank part blanks it all."""

    parts: tuple[Column, ...]


Column = Coded | Joined | Ints | str
"""What becomes one field of a line; a plain string is the same on every line."""


def render(column: Column, start: int, stop: int) -> pa.Array | pa.Scalar:
    """Return rows ``start`` to ``stop`` of a column as text; blanks are null."""
    if isinstance(column, str):
        return pa.scalar(column)
    if isinstance(column, Joined):
        parts = [render(part, start, stop) for part in column.parts]
        return pc.binary_join_element_wise(*parts, "", null_handling="emit_null")
    if isinstance(column, Coded):
        codes = column.codes[start:stop]
        return _text(column.words).take(pa.array(codes, mask=codes < 0))
    return pa.array(column[start:stop]).cast(pa.string())


_texts: dict[int, tuple[Words, pa.Array]] = {}


def _text(words: Words) -> pa.Array:
    """Return the words as an Arrow array, made once for each array of words that lives on."""
    known = _texts.get(id(words))
    if known is not None and known[0] is words:
        return known[1]
    text = pa.array(words, pa.string())
    if len(words) > 10_000:
        _texts.clear() if len(_texts) > 8 else None
        _texts[id(words)] = (words, text)
    return text


def coded(choices: list[str], codes: Ints, shown: Bools | None = None) -> Coded:
    """Return a column of a few choices, blank where not ``shown`` or where the choice is empty."""
    blank = np.array([choice == "" for choice in choices])[codes]
    if shown is not None:
        blank = blank | ~shown
    return Coded(np.array(choices, dtype=object), np.where(blank, -1, codes))


def decimals(values: Floats, shown: Bools) -> Coded:
    """Return numbers of at most three decimals, written without trailing zeros."""
    found, codes = np.unique(np.round(values, 3), return_inverse=True)
    words = [f"{value:.3f}".rstrip("0").rstrip(".") for value in found.tolist()]
    return Coded(np.array(words, dtype=object), np.where(shown, codes, -1))


@cache
def _dates() -> Words:
    days = np.datetime_as_string(_DAY_ZERO + np.arange(_DAYS)).tolist()
    whole = [day.replace("-", "") for day in days]
    return np.array([*whole, *(d[:6] for d in whole), *(d[:4] for d in whole)], dtype=object)


def quarter_start(index: Ints | int) -> Ints:
    """Return the day number of the first day of a quarter."""
    months = (np.asarray(index, dtype=np.int64) * 3 - 1970 * 12).astype("datetime64[M]")
    return (months.astype("datetime64[D]") - _DAY_ZERO).astype(np.int64)


def dates(days: Ints, shown: Bools, precision: Ints | int = 0) -> Coded:
    """Return dates of 8 digits, of 6 where ``precision`` is 1, of 4 where it is 2."""
    codes = np.clip(days, 0, _DAYS - 1) + np.asarray(precision, dtype=np.int64) * _DAYS
    return Coded(_dates(), np.where(shown, codes, -1))
