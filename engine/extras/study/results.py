"""The one tidy table of a comparison: a row per quarter, cell and measure; what a row says."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, ClassVar

import pyarrow as pa
from pyarrow import parquet
from pydantic import AfterValidator, BaseModel, ConfigDict, model_validator

from srsql.engine.errors import CompareError, SrsqlError
from srsql.engine.extras.study.grid import COMPARED, Cell
from srsql.engine.parameters.takes import Amount, Whole
from srsql.engine.store.frames import Framed, csv_safe
from srsql.engine.store.scratch import put_beside
from srsql.schemas.outside import json_of, read_text

_VARIED = tuple(name for name in COMPARED if name != "theta")
FIRST = ("quarter", "model", "theta", *_VARIED, "cases", "seed")
LAST = (
    "measure", "scope", "violating", "total", "ratio", "threshold", "passed", "seconds",
    "peak_mib", "error",
)  # fmt: skip
MEASURED = ("seconds", "peak_mib")
"""Columns that another run of the same grid gives other values."""
LOADING = "kernels"
"""Stage that costs once per process, and on the first use of an installation much more."""
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
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Compared(Framed):
    """What became of a comparison; frames have its tidy table, as its file has it."""

    _tables: ClassVar[tuple[str, ...]] = ("",)

    dataset: str
    quarters: list[str]
    cells: int
    already: int
    """Cells that were finished before."""
    rows: int
    errors: list[str]
    """What was refused or failed: the cell's row and the reason."""
    files: list[str]
    """Parquet, CSV, page."""

    def arrow(self) -> pa.Table:
        """The tidy table."""
        return parquet.read_table(next(file for file in self.files if file.endswith(".parquet")))


def finite(value: Any) -> Any:
    """A value that JSON has, and that another run gives again."""
    if not isinstance(value, float):
        return value
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None


def read_cell(file: Path) -> dict[str, Any] | None:
    """What a finished cell left; None if it is not finished or its file is damaged."""
    try:
        cell = json_of(read_text(file, encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return cell if isinstance(cell, dict) and "rows" in cell and "peak_mib" in cell else None


def collect(
    todo: Sequence[tuple[Cell, Path]], broken: Mapping[Path, str], quarters: str
) -> list[Row]:
    """The rows of all cells in the order of the grid; a refused cell is one row.

    Args:
        todo: every cell with its file.
        broken: of the files whose worker broke off, why.
        quarters: what a row without a quarter of its own is about.
    """
    rows: list[Row] = []
    for cell, file in todo:
        of = {"model": cell.model, "theta": cell.theta, **dict(cell.parameters)}
        why = cell.refused or broken.get(file)
        finished = None if why else read_cell(file)
        if finished is None:
            rows.append({"quarter": quarters, "measure": "release", "error": why, **of})
            continue
        for row in finished["rows"]:
            found = row | of | {"peak_mib": finished["peak_mib"]}
            rows.append(found | {"quarter": row["quarter"] or quarters})
    return rows


def table_of(rows: Sequence[Row]) -> pa.Table:
    """The rows with every column, parameters first."""
    more = sorted({name for row in rows for name in row} - {*FIRST, *LAST})
    columns = {name: _type(name) for name in (*FIRST, *more, *LAST)}
    return pa.table(
        {
            name: pa.array([_of_type(row.get(name), kind) for row in rows], kind)
            for name, kind in columns.items()
        }
    )


def _type(column: str) -> pa.DataType:
    if column == "passed":
        return pa.bool_()
    return (
        pa.float64() if column in _NUMBERS else pa.int64() if column in _INTEGERS else pa.string()
    )


def _of_type(value: Any, kind: pa.DataType) -> Any:
    return value if value is None or not pa.types.is_string(kind) else str(value)


def write_table(rows: Sequence[Row], folder: Path, *, safe: bool) -> list[Path]:
    """``results.parquet`` and ``results.csv``, each put in its place when it is complete.

    Args:
        rows: the results.
        folder: of the files.
        safe: no cell of the CSV file is a formula.

    Raises:
        CompareError: they cannot be written.
    """
    table = table_of(rows)
    return [
        put_in_place(folder / "results.parquet", lambda file: parquet.write_table(table, file)),
        put_in_place(folder / "results.csv", lambda file: write_csv(table, file, safe=safe)),
    ]


def write_csv(table: pa.Table, file: Path, *, safe: bool) -> None:
    """A table as a CSV file; ``safe``: none of its texts is a formula (see ``csv_safe``)."""
    with file.open("w", encoding="utf-8", newline="") as text:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(table.column_names)
        for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
            writer.writerow(map(csv_safe, row) if safe else row)


def put_in_place(
    file: Path, write: Callable[[Path], object], error: type[SrsqlError] = CompareError
) -> Path:
    """Have ``write`` make a file beside ``file``, and put it in its place when it is complete.

    It tells of originals, so that only its owner can read it.

    Args:
        file: where it is to stand.
        write: makes the file at the path that it is given.
        error: the kind of error that is raised.

    Raises:
        SrsqlError: of the kind ``error``: it cannot be written; what was there stays.
    """
    try:
        with put_beside(file) as beside:
            write(beside)
    except OSError as why:
        raise error(f"{file} cannot be written ({why.strerror})") from None
    return file


def threshold_policy(row: Row) -> str:
    """Which policy the thresholds follow: uniform, levels, frequency; empty: there are none."""
    theta = row.get("theta")
    if theta is None:
        return ""
    return theta if theta == "frequency" else "levels" if theta.startswith("levels:") else "uniform"


def _uniform_theta(row: Row) -> Fraction | None:
    return Fraction(row["theta"]) if threshold_policy(row) == "uniform" else None


def _in_scope(pattern: str, group: int = 1) -> Callable[[Row], str | None]:
    """What a part of the scope says, where the whole scope has this form."""
    form = re.compile(pattern)

    def read(row: Row) -> str | None:
        found = form.fullmatch(row.get("scope") or "")
        return found[group] if found else None

    return read


def _number(read: Callable[[Row], str | None]) -> Callable[[Row], float | None]:
    def number(row: Row) -> float | None:
        text = read(row)
        return None if text is None else float(text)

    return number


_COMBINATIONS = r"(\d) terms, held by (.+)"
_AGE_GROUP = r"(.*), (\d+(?:\.\d+)?)"
READ_OFF: Mapping[str, Callable[[Row], Any]] = {
    "threshold_policy": threshold_policy,
    "uniform_theta": _uniform_theta,
    "policy_kind": lambda row: str(row.get("policy") or "none").partition(":")[0],
    "support": _number(_in_scope(r"W1, (.+) %")),
    "query_terms": _number(_in_scope(r"W2, (\d) of them")),
    "held_terms": _number(_in_scope(r"W2 held, (\d) of them")),
    "combined_terms": _in_scope(_COMBINATIONS, 1),
    "holders": _in_scope(_COMBINATIONS, 2),
    "height": _number(_in_scope(r"height (\d+)")),
    "question": _in_scope(_AGE_GROUP, 1),
    "age_group": _number(_in_scope(_AGE_GROUP, 2)),
}
"""What a row says beside its columns, and how that is read off it (None: it says nothing of it).

threshold_policy: uniform, levels, frequency, or empty where thresholds do not apply;
uniform_theta: the one threshold of all values; policy_kind: hierarchy level, sim, sup, none or what
else the utility policy is (Loukides 2014, section 6.1); support: minimum support of the itemsets of
the workload W1, in percent; query_terms: terms of each query of the workload W2, held_terms: of
W2 of sets that some record holds; combined_terms,
holders: how many terms a combination has, and how many cases hold it; height: of the nodes of the
lattice that the row is the mean of (Lee 2020); question, age_group: whose cases Q1 to Q4 count, and
in which group."""


def _known(name: str) -> str:
    if name not in (*FIRST, *LAST, *READ_OFF):
        raise ValueError(f"the table has no column {name!r}, nor is it read off a row")
    return name


Column = Annotated[str, AfterValidator(_known)]
"""A column of the table, or a name of ``READ_OFF``."""


def value_of(row: Row, name: Column) -> Any:
    """A column of a row, or what is read off it (see ``READ_OFF``)."""
    return READ_OFF[name](row) if name in READ_OFF else row.get(name)


class Condition(BaseModel):
    """What one value of a row must be for the row to take part; exactly one field is given.

    A value or a list of values alone stands for ``one_of``.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    one_of: tuple[str | float, ...] = ()
    """One of these; numbers may differ by rounding."""
    one_of_or_missing: tuple[str | float, ...] = ()
    """One of these, or the model has no such parameter."""
    known: bool = False
    """Any value."""
    more_than: float | None = None
    same_as: Column | None = None
    """The number that another column has."""

    @model_validator(mode="before")
    @classmethod
    def _spelled_out(cls, given: Any) -> Any:
        found = given if isinstance(given, dict) else {"one_of": given}
        if len(found) != 1:
            raise ValueError("a condition has exactly one field")
        return {
            name: (value,) if name.startswith("one_of") and not isinstance(value, list) else value
            for name, value in found.items()
        }

    def holds(self, row: Row, name: Column) -> bool:
        """Whether it holds for the value ``name`` of a row."""
        value = value_of(row, name)
        if value is None:
            return bool(self.one_of_or_missing)
        if self.known:
            return True
        if self.more_than is not None:
            return bool(value > self.more_than)
        if self.same_as is not None:
            return _equal(value, value_of(row, self.same_as))
        return any(_equal(value, each) for each in self.one_of or self.one_of_or_missing)


Conditions = Mapping[Column, Condition]
"""What values of a row must be."""


def hold(conditions: Conditions, row: Row) -> bool:
    """Whether all conditions hold for a row."""
    return all(condition.holds(row, name) for name, condition in conditions.items())


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return bool(one == other)
    return other is not None and abs(float(one) - float(other)) < 1e-9
