"""The one tidy table of a comparison: a row per quarter, cell and measure."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from srsql.engine.errors import CompareError, SrsqlError
from srsql.engine.parameters.takes import Amount, Whole
from srsql.engine.study.compare.grid import COMPARED, Cell

_VARIED = tuple(name for name in COMPARED if name != "theta")
FIRST = ("quarter", "model", "theta", *_VARIED, "cases", "seed")
LAST = (
    "measure", "scope", "violating", "total", "ratio", "threshold", "passed", "seconds",
    "peak_mib", "error",
)  # fmt: skip
MEASURED = ("seconds", "peak_mib")
"""Columns that another run of the same grid gives other values."""
_NUMBERS = (
    *(name for name in _VARIED if isinstance(COMPARED[name].takes, Amount)),
    *("violating", "total", "ratio", "threshold", *MEASURED),
)
_INTEGERS = (
    *(name for name in _VARIED if isinstance(COMPARED[name].takes, Whole)),
    *("cases", "seed"),
)
DIGITS = 12
"""Sums of floating-point numbers depend on the order of threads beyond this many."""
Row = dict[str, Any]


def finite(value: Any) -> Any:
    """A value that JSON has, and that another run gives again."""
    if not isinstance(value, float):
        return value
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None


def read_cell(file: Path) -> dict[str, Any] | None:
    """What a finished cell left; None if it is not finished or its file is damaged."""
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return told if isinstance(told, dict) and "rows" in told and "peak_mib" in told else None


def collect(
    todo: Sequence[tuple[Cell, Path]], broken: Mapping[Path, str], quarters: str
) -> list[Row]:
    """The rows of all cells in the order of the grid; a refused cell is one row."""
    rows: list[Row] = []
    for cell, file in todo:
        of = {"model": cell.model, "theta": cell.theta, **dict(cell.parameters)}
        why = cell.refused or broken.get(file)
        told = None if why else read_cell(file)
        if told is None:
            rows.append({"quarter": quarters, "measure": "release", "error": why, **of})
            continue
        for row in told["rows"]:
            found = row | of | {"peak_mib": told["peak_mib"]}
            rows.append(found | {"quarter": row["quarter"] or quarters})
    return rows


def frame(rows: Sequence[Row]) -> pd.DataFrame:
    """The rows with every column, parameters first."""
    more = sorted({name for row in rows for name in row} - {*FIRST, *LAST})
    texts = [row | {n: str(row[n]) for n in more if row.get(n) is not None} for row in rows]
    made = pd.DataFrame(texts, columns=[*FIRST, *more, *LAST])
    types = {
        name: "float64"
        if name in _NUMBERS
        else "Int64"
        if name in _INTEGERS
        else "boolean"
        if name == "passed"
        else "string"
        for name in made.columns
    }
    return made.astype(types)


def write_table(rows: Sequence[Row], folder: Path) -> list[Path]:
    """``results.parquet`` and ``results.csv``, each put in its place when it is whole.

    Raises:
        CompareError: they cannot be written.
    """
    made = frame(rows)
    return [
        put_whole(folder / "results.parquet", lambda file: made.to_parquet(file, index=False)),
        put_whole(
            folder / "results.csv",
            lambda file: made.to_csv(file, index=False, lineterminator="\n"),
        ),
    ]


def put_whole(
    file: Path, write: Callable[[Path], object], error: type[SrsqlError] = CompareError
) -> Path:
    """Have ``write`` make a file beside, and put it in its place when it is whole.

    Raises:
        SrsqlError: of the kind ``error``: it cannot be written; what was there stays.
    """
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        write(beside)
        os.replace(beside, file)
    except OSError as why:
        beside.unlink(missing_ok=True)
        raise error(f"{file} cannot be written ({why.strerror})") from None
    return file
