"""Tables as somebody else publishes them, and the smallest dataset that describes them."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

TOML = """
name = "other"
report_table = "reports"
report_id = "case_id"
case_id = "case_id"

[source]
reader = "csv"

[tables.reports]
files = []

[tables.reports.columns]
case_id = ["caseid"]
years = ["age_years"]
gender = []
adr = ["reaction"]
disease = []

[[qid]]
name = "age"
kind = "numeric"
column = "years"
unit = "years"
domain = [0, 120]

[[qid]]
name = "sex"
kind = "categorical"
column = "gender"
hierarchy = "hierarchies/sex.csv"
aliases = { "1" = "M", "2" = "F" }
missing = ["UNK"]

[[sensitive]]
table = "reports"
column = "adr"
missing = ["not told"]

[[sensitive]]
table = "reports"
column = "disease"
"""


def dataset(folder: Path, text: str = TOML) -> Path:
    """Write the dataset's file."""
    file = folder / "other.toml"
    file.write_text(text, encoding="utf-8")
    return file


def table(file: Path, header: str, rows: Iterable[Sequence[Any]]) -> Path:
    """Write a CSV file; the columns of ``header`` are separated by blanks."""
    with file.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([header.split(), *rows])
    return file
