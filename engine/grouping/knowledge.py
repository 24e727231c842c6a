"""External knowledge E (Lin 2016): which diseases a drug is taken for, from a CSV file."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from srsql.engine.errors import DatasetError


@dataclass(frozen=True)
class Knowledge:
    """Pairs (drug, disease), distinct; they are normalized where they are used."""

    source: str
    pairs: tuple[tuple[str, str], ...]


def load_knowledge(path: Path) -> Knowledge:
    """Read a CSV with the columns ``drug`` and ``disease``, one pair a row.

    Raises:
        DatasetError: the file cannot be read, lacks a column, or has a row with an empty field.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            if not {"drug", "disease"} <= set(reader.fieldnames or ()):
                raise DatasetError(f"{path}: the header must name the columns drug and disease")
            pairs = set()
            for row in reader:
                pair = (row["drug"] or "").strip(), (row["disease"] or "").strip()
                if not all(pair):
                    raise DatasetError(f"{path}: line {reader.line_num} has an empty field")
                pairs.add(pair)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DatasetError(f"{path}: cannot be read: {error}") from None
    return Knowledge(source=path.name, pairs=tuple(sorted(pairs)))
