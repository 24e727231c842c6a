"""A small dataset with two sets of quasi-identifiers that share one, and a quarter of it."""

from __future__ import annotations

import random
from pathlib import Path

from support.artifacts import read_csv, rehash, thresholds_of, write_csv

SETS = {"clinic": ("age", "sex", "wt"), "work": ("country", "job", "age")}
TOML = """
name = "two"
report_table = "visit"
report_id = "visit_id"
case_id = "patient_id"

[source]
reader = "csv"

[tables.visit]
files = ["visit*.csv"]
publish = []
columns = ["visit_id", "patient_id", "age", "sex", "wt", "country", "job"]

[tables.finding]
files = ["finding*.csv"]
publish = ["finding", "drug"]
columns = ["visit_id", "patient_id", "finding", "drug"]

[[qid]]
name = "age"
kind = "numeric"
column = "age"
domain = [0, 120]

[[qid]]
name = "sex"
kind = "categorical"
column = "sex"
hierarchy = "sex.csv"

[[qid]]
name = "wt"
kind = "numeric"
column = "wt"
domain = [0, 400]

[[qid]]
name = "country"
kind = "categorical"
column = "country"
hierarchy = "country.csv"

[[qid]]
name = "job"
kind = "categorical"
column = "job"
hierarchy = "job.csv"

[[qid_set]]
name = "clinic"
qids = ["age", "sex", "wt"]

[[qid_set]]
name = "work"
qids = ["country", "job", "age"]

[[sensitive]]
table = "finding"
column = "finding"

[[quasi_sensitive]]
table = "finding"
column = "drug"
"""


def write_sets(
    folder: Path, *changes: tuple[str, str], sets: dict[str, tuple[str, ...]] | None = None
) -> Path:
    """The dataset, with texts of it changed, or with other sets."""
    trees = {
        "sex": "M,Any\nF,Any",
        "country": "Europe,Any\nAsia,Any\nDE,Europe\nFR,Europe\nJP,Asia\nCN,Asia",
        "job": "health,Any\nMD,health\nPH,health\nCN,Any",
    }
    for name, nodes in trees.items():
        (folder / f"{name}.csv").write_text(f"node,parent\nAny,\n{nodes}\n")
    text = TOML
    if sets is not None:
        first, last = text.index("[[qid_set]]"), text.index("[[sensitive]]")
        told = "".join(f'[[qid_set]]\nname = "{name}"\nqids = {list(qids)}\n\n'
                       for name, qids in sets.items())  # fmt: skip
        text = text[:first] + told + text[last:]
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    (folder / "two.toml").write_text(text)
    return folder / "two.toml"


NAMES = ("age", "sex", "wt", "country", "job")
Values = tuple[str, ...]
"""Of ``NAMES``; empty: missing."""


def write_rows(folder: Path, seed: int, cases: int, missing: float = 0.15) -> Path:
    """Files of one quarter, of which some values are missing; some cases have two reports."""
    rng = random.Random(seed)
    drawn = {case: _values(rng, missing) for case in range(1, cases + 1)}
    return _write(folder, rng, drawn)


def write_series(
    folder: Path, seed: int, cases: int, periods: tuple[str, ...], missing: float = 0.1
) -> dict[str, dict[int, Values]]:
    """A folder of files for each period, and what its cases report.

    A third of the cases of a period come back in the next one, some with another value, one more or
    one less.
    """
    rng = random.Random(seed)
    found: dict[str, dict[int, Values]] = {}
    first, before = 1, dict[int, Values]()
    for period in periods:
        drawn = {case: _values(rng, missing) for case in range(first, first + cases)}
        first += cases
        for case, values in before.items():
            if rng.random() < 0.35:
                other = _values(rng, missing)
                change = rng.randrange(2 * len(values))
                drawn[case] = tuple(
                    new if place == change else old
                    for place, (old, new) in enumerate(zip(values, other, strict=True))
                )
        _write(folder / period, rng, drawn)
        found[period] = before = drawn
    return found


def _values(rng: random.Random, missing: float) -> Values:
    own = (
        str(rng.choice([rng.randrange(18, 90), rng.randrange(40, 60)])),
        rng.choice("MF"),
        str(rng.randrange(45, 120)),
        rng.choice(["DE", "DE", "FR", "JP", "CN", "Europe"]),
        rng.choice(["MD", "MD", "PH", "CN"]),
    )
    return tuple("" if rng.random() < missing else value for value in own)


def _write(folder: Path, rng: random.Random, drawn: dict[int, Values]) -> Path:
    visits, findings = [",".join(("visit_id", "patient_id", *NAMES))], []
    for case, own in drawn.items():
        for report in range(1, 3 if rng.random() < 0.1 else 2):
            visits.append(",".join([f"{case * 10 + report}", str(case), *own]))
            for _ in range(rng.randrange(1, 4)):
                term = f"F{min(rng.randrange(40), rng.randrange(40))}"
                findings.append(f"{case * 10 + report},{case},{term},D{rng.randrange(5)}")
    folder.mkdir(parents=True)
    (folder / "visit.csv").write_text("\n".join(visits) + "\n")
    text = "\n".join(["visit_id,patient_id,finding,drug", *findings])
    (folder / "finding.csv").write_text(text + "\n")
    return folder


def give_one_finding(folder: Path, region: tuple[str, ...]) -> None:
    """Forge a CSV artifact: all cases of the first row's region of a set have the same finding.

    ``region``: columns of the set.
    """
    rows = read_csv(folder, "visit")
    values = [rows[0][name] for name in region]
    own = [row["visit_id"] for row in rows if [row[name] for name in region] == values]
    findings = read_csv(folder, "finding")
    finding = min(name for name, (num, den) in thresholds_of(folder).items() if num < den)
    for row in findings:
        if row["visit_id"] in own:
            row["finding"] = finding
    write_csv(folder, "finding", findings)
    rehash(folder, counts=True)


def move_case(folder: Path, columns: tuple[str, ...]) -> None:
    """Forge a CSV artifact: the first case shows, at some columns, what another region shows."""
    rows = read_csv(folder, "visit")
    other = next(r for r in rows if all(r[name] != rows[0][name] for name in columns))
    moved = {name: other[name] for name in columns} | {"wt_low": "1", "wt_high": "2"}
    case = rows[0]["patient_id"]
    for row in rows:
        row |= moved if row["patient_id"] == case else {}
    write_csv(folder, "visit", rows)
    rehash(folder, counts=True)
