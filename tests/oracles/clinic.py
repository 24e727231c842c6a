"""A small dataset of its own kind: its schema, and CSV files of any rows."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

TOML = """
name = "clinic"
report_table = "visit"
report_id = "visit_id"
case_id = "patient_id"
id_type = "text"

[source]
reader = "csv"

[tables.visit]
files = ["visit*.csv"]
publish = ["ward"]
columns = ["visit_id", "patient_id", "age", "sex", "ward", "surname"]

[tables.finding]
files = ["finding*.csv"]
publish = ["finding", "drug"]
columns = ["visit_id", "finding", "drug", "physician"]

[[qid]]
name = "age"
kind = "numeric"
column = "age"
domain = [0, 120]

[[qid]]
name = "sex"
kind = "categorical"
column = "sex"
hierarchy = "hierarchies/sex.csv"

[[sensitive]]
table = "finding"
column = "finding"

[[quasi_sensitive]]
table = "finding"
column = "drug"
"""

Visit = tuple[str, str, int, str, str, str]
"""visit_id, patient_id, age, sex, ward, surname."""
Finding = tuple[str, str, str, str]
"""visit_id, finding, drug, physician."""


def visits(count: int = 12) -> list[Visit]:
    return [
        (f"V{i:02}", f"P{i:02}", 20 + 3 * i, "MF"[i % 2], f"ward {i % 3}", f"surname {i}")
        for i in range(count)
    ]


def findings(names: Sequence[str], count: int = 12) -> list[Finding]:
    """One finding and one drug a visit, from ``names`` in turn."""
    return [
        (f"V{i:02}", names[i % len(names)], names[-1 - i % len(names)], f"physician {i}")
        for i in range(count)
    ]


def write(folder: Path, of_visits: Iterable[Visit], of_findings: Iterable[Finding]) -> Path:
    """Write the schema and the files; the folder of the files (``clinic.toml`` is beside it)."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "clinic.toml").write_text(TOML, encoding="utf-8")
    data = folder / "data"
    data.mkdir()
    for name, header, rows in (
        ("visit", ["visit_id", "patient_id", "age", "sex", "ward", "surname"], of_visits),
        ("finding", ["visit_id", "finding", "drug", "physician"], of_findings),
    ):
        with (data / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([header, *rows])
    return data
