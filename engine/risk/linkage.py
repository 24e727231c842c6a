"""How well one who knows a case's QID can link it to its published record: RR and AR_rev.

Medical background knowledge (diseases -> sex, age range) narrows the attacker's candidates.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from importlib import resources
from importlib.resources.abc import Traversable
from math import ceil, floor
from pathlib import Path
from typing import Any

from srsql.engine.catalog.datasets import term_keys
from srsql.engine.errors import DatasetError
from srsql.engine.measures import MeasureRow
from srsql.engine.store.statements import dotted, query
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, Qid
from srsql.schemas.outside import read_text

_PLAIN = ("rr", "ar_rev")
_INFORMED = ("rr_medical", "rr_bias", "ar_medical", "ar_bias")


def measure_linkage(
    warehouse: Warehouse, dataset: Dataset, release_id: int, medical: Medical | None
) -> list[MeasureRow]:
    """RR and AR_rev of a release, without and with medical knowledge (Wu 2022, section V).

    Nothing but temporary tables is written; the warehouse may be read-only.

    Args:
        warehouse: where the release is.
        dataset: of the release.
        release_id: of the release.
        medical: what the attacker knows about diseases; None leaves those rows out.

    Returns:
        No rows where the originals are not known (an imported release).

    Raises:
        DatasetError: the medical knowledge names no node of a hierarchy.
    """
    parameters: dict[str, Any] = {"release_id": release_id}
    parameters |= medical_parameters(warehouse, dataset, release_id, medical)
    tables = warehouse.run_step("risk/linkage", parameters)
    found = {
        row[1]: MeasureRow(*row)
        for row in warehouse.rows(query("risk/linkage", "risks"), parameters)
    }
    for name in tables.values():
        warehouse.run(f"DROP TABLE {dotted('temp', 'main', name)}")
    rows = [found[name] for name in (*_PLAIN, *(_INFORMED if medical else ()))]
    return [row for row in rows if row.total]


def telling_cases(
    warehouse: Warehouse, dataset: Dataset, release_id: int, medical: Medical | None
) -> int:
    """The released cases that show a disease of which medical knowledge speaks.

    Where there are none, ``rr_bias`` and ``ar_bias`` are 0 whatever the model does (Wu 2022,
    Figs. 10 and 11): they tell nothing of it.

    Args:
        warehouse: where the release is.
        dataset: of the release.
        release_id: of the release.
        medical: what the attacker knows about diseases; None is nothing.
    """
    if medical is None:
        return 0
    parameters = {
        "release_id": release_id,
        "terms": list(_terms(warehouse, medical, dataset.term_key).values()),
    }
    return int(warehouse.value(query("risk/linkage", "telling_cases"), parameters))


DISEASE = "disease"
_ENDLESS = 2**62
Ends = tuple[Decimal | None, Decimal | None]


@dataclass(frozen=True)
class MedicalRow:
    """Who has a disease, by one row of the file; rows of the same disease are alternatives."""

    disease: str
    values: dict[str, str | Ends]
    """QID -> the node of a category, or the inclusive range of a number (None: no end)."""


@dataclass(frozen=True)
class Medical:
    """The rows of a file, in order."""

    source: str
    rows: tuple[MedicalRow, ...]


def shipped_medical(dataset: Dataset) -> Medical | None:
    """What ships; None for a dataset that lacks one of its quasi-identifiers."""
    file = resources.files("srsql.schemas") / "knowledge" / "medical.csv"
    header = next(csv.reader(io.StringIO(file.read_text(encoding="utf-8"))))
    return read_medical(dataset, file) if set(header) <= {DISEASE, *_columns(dataset)} else None


def read_medical(dataset: Dataset, path: Path | Traversable) -> Medical:
    """Read a CSV: ``disease``, a category by its name, a number as ``NAME_low`` and ``NAME_high``.

    A blank field says nothing; a row must say something.

    Raises:
        DatasetError: the file cannot be read, has another column, or a row that means nothing.
    """
    allowed = _columns(dataset)
    try:
        reader = csv.DictReader(io.StringIO(read_text(path), newline=""))
        header = [name.strip() for name in reader.fieldnames or ()]
        if DISEASE not in header or len(set(header)) < len(header):
            raise DatasetError(f"{path.name}: the header must name {DISEASE}, each column once")
        unknown = [name for name in header if name not in (DISEASE, *allowed)]
        if unknown:
            raise DatasetError(
                f"{path.name}: column {unknown[0]!r} is none of {DISEASE}, {', '.join(allowed)}"
            )
        reader.fieldnames = header
        rows = [_row(fields, allowed, f"{path.name}, line {reader.line_num}") for fields in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DatasetError(f"{path.name}: cannot be read: {error}") from None
    return Medical(path.name, tuple(rows))


def _columns(dataset: Dataset) -> dict[str, Qid]:
    found = {}
    for qid in dataset.qid:
        ends = ("_low", "_high") if _is_number(qid) else ("",)
        found.update({f"{qid.name}{end}": qid for end in ends})
    return found


def _is_number(qid: Qid) -> bool:
    """Whether the dataset takes it as a number, whatever a release takes it as."""
    return qid.domain is not None


def _row(fields: dict[Any, Any], allowed: dict[str, Qid], where: str) -> MedicalRow:
    if None in fields:
        raise DatasetError(f"{where}: more fields than the header has columns")
    texts = {name: (fields.get(name) or "").strip() for name in (DISEASE, *allowed)}
    values: dict[str, str | Ends] = {}
    for name, qid in allowed.items():
        if texts[name] and not _is_number(qid):
            values[qid.name] = texts[name]
        elif texts[name]:
            low, high = (_number(texts[f"{qid.name}_{end}"], where) for end in ("low", "high"))
            if low is not None and high is not None and low > high:
                raise DatasetError(f"{where}: {qid.name}_low is above {qid.name}_high")
            values[qid.name] = (low, high)
    if not texts[DISEASE] or not values:
        raise DatasetError(f"{where}: a row needs a {DISEASE} and a value that it goes with")
    return MedicalRow(texts[DISEASE], values)


def _number(text: str, where: str) -> Decimal | None:
    try:
        value = Decimal(text) if text else None
    except InvalidOperation:
        value = Decimal("NaN")
    if value is not None and not value.is_finite():
        raise DatasetError(f"{where}: {text!r} is not a number")
    return value


def medical_parameters(
    warehouse: Warehouse, dataset: Dataset, release_id: int, medical: Medical | None
) -> dict[str, list[Any]]:
    """The rows as intervals of the release's own coding: lists of the same length.

    Args:
        warehouse: where the release is.
        dataset: of the release.
        release_id: of the release.
        medical: the rows; None is none.

    Returns:
        The lists by the names of the parameters of the query ``risk/linkage``.

    Raises:
        DatasetError: a row names no node of its hierarchy.
    """
    lines: list[tuple[str | None, int, int, int, int]] = []
    if medical is not None:
        terms = _terms(warehouse, medical, dataset.term_key)
        coding = _Coding(warehouse, dataset, release_id)
        lines = [
            (terms[row.disease], number, position, low, high)
            for number, row in enumerate(medical.rows)
            for name, value in row.values.items()
            for position, low, high in coding.intervals(
                name, value, f"{medical.source}: {row.disease}"
            )
        ]
    names = ("terms", "numbers", "positions", "lows", "highs")
    return {name: [line[place] for line in lines] for place, name in enumerate(names)}


def _terms(warehouse: Warehouse, medical: Medical, version: int) -> dict[str, str | None]:
    """Each disease of the rows -> its key, of that version."""
    names = list(dict.fromkeys(row.disease for row in medical.rows))
    return dict(zip(names, term_keys(warehouse, names, version), strict=True))


class _Coding:
    """How one release codes the values of its quasi-identifiers."""

    def __init__(self, warehouse: Warehouse, dataset: Dataset, release_id: int) -> None:
        self.qids = {qid.name: (position, qid) for position, qid in enumerate(dataset.qid)}
        key = {"release_id": release_id}
        self.kinds: dict[int, str] = dict(warehouse.rows(query("risk/metrics", "attributes"), key))
        self.nodes: dict[int, list[tuple[str, int, int, Decimal | None, Decimal | None]]] = {}
        for position, *node in warehouse.rows(query("risk/metrics", "nodes"), key):
            self.nodes.setdefault(position, []).append(tuple(node))

    def intervals(self, name: str, value: str | Ends, where: str) -> list[tuple[int, int, int]]:
        """(position, low, high) of each interval that the value may lie in."""
        position, qid = self.qids[name]
        if isinstance(value, str):
            found = [(pre, last) for node, pre, last, *_ in self.nodes[position] if node == value]
            if not found:
                raise DatasetError(f"{where}: {value!r} is no node of the hierarchy of {name}")
        elif self.kinds[position] == "numeric":
            low, high = value
            found = [
                (
                    -_ENDLESS if low is None else ceil(low / qid.granularity),
                    _ENDLESS if high is None else floor(high / qid.granularity),
                )
            ]
        else:  # a number that the release takes as a category: the leaves that the range meets
            low, high = value
            found = [
                (pre, last)
                for _, pre, last, least, most in self.nodes[position]
                if least is not None
                and most is not None
                and (low is None or most >= low)
                and (high is None or least <= high)
            ]
            found = found or [(-_ENDLESS, -_ENDLESS)]
        return [(position, *ends) for ends in found]
