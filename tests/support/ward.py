"""A small dataset with a derived column of every rule, and files of it."""

from __future__ import annotations

import random
from datetime import date
from pathlib import Path

TOML = """
name = "ward"
report_table = "visit"
report_id = "visit_id"
case_id = "patient_id"

[source]
reader = "csv"

[tables.visit]
files = ["visit*.csv"]
publish = ["month", "onset", "grave", "many"]
columns = ["visit_id", "patient_id", "age", "seen", "told"]

[tables.taken]
files = ["taken*.csv"]
publish = ["drug"]
columns = ["visit_id", "patient_id", "drug", "begun"]

[tables.finding]
files = ["finding*.csv"]
publish = ["finding", "grade"]
columns = ["visit_id", "patient_id", "finding", "grade"]

[[derived]]
name = "seen_year"
rule = "period"
source = "visit.seen"
step = "year"
claim = "sources withheld"

[[derived]]
name = "seen_quarter"
rule = "period"
source = "visit.seen"
step = "quarter"
claim = "sources withheld"

[[derived]]
name = "month"
rule = "period"
source = "visit.told"
step = "month"
claim = "sources withheld"

[[derived]]
name = "onset"
rule = "elapsed"
start = "taken.begun"
end = "visit.told"
classes = [7, 30, 90]
claim = "sources withheld"

[[derived]]
name = "grave"
rule = "occurs"
source = "finding.grade"
values = ["DE", "ho"]
yes = "serious"
no = "not serious"
claim = "sources published"

[[derived]]
name = "many"
rule = "number"
source = "taken.drug"
classes = [2, 5]
claim = "sources published"

[[qid]]
name = "age"
kind = "numeric"
column = "age"
domain = [0, 120]

[[qid]]
name = "year"
kind = "numeric"
column = "seen_year"
domain = [2015, 2030]

[[qid]]
name = "season"
kind = "categorical"
column = "seen_quarter"
hierarchy = "quarters.csv"

[[sensitive]]
table = "finding"
column = "finding"

[[quasi_sensitive]]
table = "taken"
column = "drug"
"""
QUARTERS = [f"{year}Q{quarter}" for year in range(2015, 2023) for quarter in range(1, 5)]


def write_ward(folder: Path) -> Path:
    nodes = ["2015-2022,Any", *(f"{year},2015-2022" for year in range(2015, 2023))]
    nodes += [f"{name},{name[:4]}" for name in QUARTERS]
    (folder / "quarters.csv").write_text("\n".join(["node,parent", "Any,", *nodes]))
    (folder / "ward.toml").write_text(TOML)
    return folder / "ward.toml"


def day(rng: random.Random) -> str:
    when = date(2018, 1, 1).toordinal() + rng.randrange(600)
    plain = date.fromordinal(when).isoformat()
    return rng.choice(
        [plain, plain, plain.replace("-", ""), plain[:7], plain[:4], "", "2018-02-31",
         f" {plain}T10:00 ", "unknown", "201913", "1999-05-05"]
    )  # fmt: skip


def write_rows(folder: Path, rng: random.Random, reports: int) -> dict[int, dict[str, object]]:
    """Files of one period; per report what its rows say."""
    found: dict[int, dict[str, object]] = {}
    files = {name: ["visit_id,patient_id," + rest] for name, rest in (
        ("visit", "age,seen,told"), ("taken", "drug,begun"), ("finding", "finding,grade")
    )}  # fmt: skip
    for report in range(1, reports + 1):
        ids = f"{report},{report}"
        seen, told = day(rng), day(rng)
        drugs = [(rng.choice(["Ada", "ada ", "Bor", "Cis", "Dol", "Eta", ""]), day(rng))
                 for _ in range(rng.choice([0, 1, 2, 6, 9]))]  # fmt: skip
        grades = [rng.choice(["de", "HO", "OT", " ", ""]) for _ in range(rng.randrange(3))]
        files["visit"].append(f"{ids},{rng.randrange(90)},{seen},{told}")
        files["taken"] += [f"{ids},{name},{begun}" for name, begun in drugs]
        files["finding"] += [f"{ids},F{rng.randrange(9)},{grade}" for grade in grades]
        found[report] = {"seen": seen, "told": told, "drugs": drugs, "grades": grades}
    (folder / "rows").mkdir()
    for name, lines in files.items():
        (folder / "rows" / f"{name}.csv").write_text("\n".join(lines) + "\n")
    return found
