"""From columns to archives: words, numbers and dates become text, lines, and files on disk.

A column is kept as codes and words until its lines are joined in bulk. Archives have fixed zip
stamps; they are made in a private folder beside their place and then renamed.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from srsql.engine.extras.synth.draws import Bools, Floats, Ints
from srsql.engine.extras.synth.quarters import SynthError
from srsql.engine.extras.synth.vocabulary import Words
from srsql.engine.store.scratch import name_new, private_folder

_DAY_ZERO = np.datetime64("1960-01-01", "D")
_DAYS = 52_000
_SLICE = 250_000
_STAMP = (1980, 1, 1, 0, 0, 0)
_LEVEL = 2


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

    def take(self, rows: Ints) -> Joined:
        """Return the column for some rows."""
        return Joined(tuple(some_rows(part, rows) for part in self.parts))


Column = Coded | Joined | Ints | str
"""What becomes one field of a line; a plain string is the same on every line."""


def some_rows(column: Column, rows: Ints) -> Column:
    """Return a column for some rows."""
    if isinstance(column, str):
        return column
    return column.take(rows)


def render(column: Column, start: int, stop: int) -> pa.Array | pa.Scalar:
    """Return some rows of a column as text; blanks are null.

    Args:
        column: the column.
        start: the first row.
        stop: the row behind the last one.
    """
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
    """Return a column of a few choices.

    Args:
        choices: the words; an empty one is a blank.
        codes: the index of each row's word.
        shown: where the column is not blank; None: everywhere.
    """
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
    digits = [day.replace("-", "") for day in days]
    return np.array([*digits, *(d[:6] for d in digits), *(d[:4] for d in digits)], dtype=object)


def quarter_start(index: Ints | int) -> Ints:
    """Return the day number of the first day of a quarter."""
    months = (np.asarray(index, dtype=np.int64) * 3 - 1970 * 12).astype("datetime64[M]")
    return (months.astype("datetime64[D]") - _DAY_ZERO).astype(np.int64)


def day_number(day: str) -> int:
    """Return the number of a day (see ``quarter_start``) that is written YYYY-MM-DD."""
    return int((np.datetime64(day, "D") - _DAY_ZERO).astype(np.int64))


def dates(days: Ints, shown: Bools, precision: Ints | int = 0) -> Coded:
    """Return dates as the archives write them.

    Args:
        days: day numbers (see ``quarter_start``).
        shown: where the column is not blank.
        precision: 0 for dates of 8 digits, 1 for those of 6, 2 for those of 4.
    """
    codes = np.clip(days, 0, _DAYS - 1) + np.asarray(precision, dtype=np.int64) * _DAYS
    return Coded(_dates(), np.where(shown, codes, -1))


class Sink(Protocol):
    """Where an archive's files go, one after the other."""

    def add(self, name: str, chunks: Iterable[bytes]) -> None:
        """Write one file."""


class _Zip:
    def __init__(self, path: Path) -> None:
        self._zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL)

    def add(self, name: str, chunks: Iterable[bytes]) -> None:
        info = zipfile.ZipInfo(name, _STAMP)
        info.compress_type, info.create_system = zipfile.ZIP_DEFLATED, 3
        info.external_attr = 0o644 << 16
        info._compresslevel = _LEVEL  # type: ignore[attr-defined]  # writestr's only other way in
        with self._zip.open(info, "w", force_zip64=True) as file:
            for chunk in chunks:
                file.write(chunk)

    def close(self) -> None:
        self._zip.close()


class _Folder:
    def __init__(self, path: Path) -> None:
        self._path = path
        path.mkdir()

    def add(self, name: str, chunks: Iterable[bytes]) -> None:
        target = self._path / name
        target.parent.mkdir(exist_ok=True)
        with target.open("wb") as file:
            for chunk in chunks:
                file.write(chunk)

    def close(self) -> None:
        return None


def lines(header: bytes, columns: list[Column], rows: int, *, trailing: bool) -> Iterator[bytes]:
    """Yield a table's bytes.

    Args:
        header: its first line, without its end; empty: none, where lines follow on others.
        columns: its columns, which are joined by ``$``.
        rows: how many lines follow.
        trailing: whether every line ends in ``$``.
    """
    if header:
        yield header + b"\r\n"
    end = "$\r\n" if trailing else "\r\n"
    for start in range(0, rows, _SLICE):
        stop = min(start + _SLICE, rows)
        fields = [render(column, start, stop) for column in columns]
        text = pc.binary_join_element_wise(
            *fields, "$", null_handling="replace", null_replacement=""
        )
        text = pc.binary_join_element_wise(text, pa.scalar(end), "")
        offsets, data = text.buffers()[1:]
        ends = memoryview(offsets).cast("i")
        yield memoryview(data)[ends[text.offset] : ends[text.offset + len(text)]].tobytes()


@contextmanager
def archive(target: Path, *, zipped: bool) -> Iterator[Sink]:
    """Open an archive in a folder beside ``target`` and rename it there at the end.

    The same archive already there is left as it is; a different one is never overwritten.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with private_folder(target, "unfinished") as folder:
            beside = folder / target.name
            sink = _Zip(beside) if zipped else _Folder(beside)
            try:
                yield sink
            finally:
                sink.close()
            if target.exists():
                if not _same(beside, target):
                    raise SynthError(
                        f"{target} exists and differs; choose another directory or remove it"
                    )
            elif zipped:
                name_new(beside, target)
            else:
                os.rename(beside, target)
    except OSError as error:
        raise SynthError(f"cannot write {target}: {error.strerror or error}") from error


def _same(left: Path, right: Path) -> bool:
    if left.is_dir() != right.is_dir():
        return False
    if not left.is_dir():
        return _same_bytes(left, right)
    names = [sorted(p.relative_to(root) for root in [side] for p in root.rglob("*"))
             for side in (left, right)]  # fmt: skip
    return names[0] == names[1] and all(
        _same_bytes(left / name, right / name) for name in names[0] if (left / name).is_file()
    )


def _same_bytes(left: Path, right: Path) -> bool:
    if left.stat().st_size != right.stat().st_size:
        return False
    with left.open("rb") as a, right.open("rb") as b:
        while chunk := a.read(1 << 20):
            if chunk != b.read(1 << 20):
                return False
    return True
