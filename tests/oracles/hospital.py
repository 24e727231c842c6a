"""A hospital's own warehouse: its tables, types and names, and the dataset that describes them."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

COMMON = """
name = "clinic"
report_table = "visit"
report_id = "visit_id"
case_id = "patient_id"
id_type = "{id_type}"

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
missing = ["unknown"]

[[sensitive]]
table = "finding"
column = "finding"

[[quasi_sensitive]]
table = "finding"
column = "drug"
"""
TABLES = """
[source]
reader = "table"
period = "{period}"

[tables.visit]
relation = '{visit}'
{visit_period}
publish = ["ward"]

[tables.visit.columns]
visit_id = ["Visit No."]
patient_id = ["Patient"]
age = ["Âge (years)"]
sex = []
ward = []

[tables.finding]
relation = '{finding}'
{finding_period}
publish = ["finding", "drug"]

[tables.finding.columns]
visit_id = ["Visit No."]
finding = ["what's found"]
drug = []
"""
FILES = """
[source]
reader = "csv"

[tables.visit]
files = ["visit*.csv"]
publish = ["ward"]

[tables.visit.columns]
visit_id = ["Visit No."]
patient_id = ["Patient"]
age = ["Âge (years)"]
sex = []
ward = []

[tables.finding]
files = ["finding*.csv"]
publish = ["finding", "drug"]

[tables.finding.columns]
visit_id = ["Visit No."]
finding = ["what's found"]
drug = []
"""
VISIT = ["Visit No.", "Patient", "Âge (years)", "sex", "ward"]
FINDING = ["Visit No.", "what's found", "drug"]
Row = Sequence[str | None]


def toml(*, id_type: str = "text", **changes: str) -> str:
    """The dataset of the tables; ``changes`` as the keys in ``TABLES``."""
    usual = {
        "period": "label",
        "visit": 'hospital."Adverse Events"',
        "finding": "hospital.finding",
        "visit_period": 'period_column = "Quarter"',
        "finding_period": "",
    }
    return COMMON.format(id_type=id_type) + TABLES.format(**(usual | changes))


@dataclass
class Hospital:
    """Rows of both tables, with their period first; all text, None for NULL."""

    visits: list[Row] = field(default_factory=list)
    findings: list[Row] = field(default_factory=list)

    def create(self, con: duckdb.DuckDBPyConnection) -> None:
        """The tables in the schema ``hospital``; the period of a finding is in ``Quarter``, too."""
        con.execute("CREATE SCHEMA hospital")
        for name, columns, rows in (
            ('hospital."Adverse Events"', VISIT, self.visits),
            ("hospital.finding", FINDING, self.findings),
        ):
            listed = ", ".join(f'"{column}" VARCHAR' for column in ["Quarter", *columns])
            con.execute(f"CREATE TABLE {name} ({listed}, \"surname\" VARCHAR DEFAULT 'Doe')")
            marks = ", ".join("?" * (len(columns) + 1))
            for row in rows:
                con.execute(f"INSERT INTO {name} VALUES ({marks}, 'Doe')", list(row))

    def write(self, folder: Path, period: str, id_type: str = "text") -> Path:
        """The rows of one period as CSV files in the order that tables are read in."""
        folder.mkdir(parents=True)
        (folder / "clinic.toml").write_text(COMMON.format(id_type=id_type) + FILES)
        data = folder / "data"
        data.mkdir()
        for name, columns, rows in (
            ("visit", VISIT, self.visits),
            ("finding", FINDING, self.findings),
        ):
            own = [row[1:] for row in rows if row[0] == period]
            with (data / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file, quoting=csv.QUOTE_ALL)
                writer.writerows([columns, *ordered(own, id_type)])
        return data


def ordered(rows: Iterable[Row], id_type: str = "text") -> list[Row]:
    """By id, whole numbers in their order first, then by all fields as text; NULL last."""

    def key(row: Row) -> tuple[object, ...]:
        number = _number(row[0])
        first = (0, number) if number is not None else (1, 0)
        return (first, *((value is None, (value or "").encode()) for value in row))

    return sorted(rows, key=key)


def _number(text: str | None) -> int | None:
    plain = (text or "").strip(" ")
    sign = plain[:1] in ("-", "+")
    digits = plain[1:] if sign else plain
    return int(plain) if digits.isascii() and digits.isdigit() and len(digits) < 30 else None
