"""A dataset with many quasi-identifiers, and two quarters of it."""

from __future__ import annotations

import random
from pathlib import Path

from srsql import Engine

NUMBERS = 4
"""So many of the first are numbers; every fifth of the others has a date for source."""
QUARTERS = ("2020", "2021")


def write_wide(folder: Path, qids: int) -> Path:
    """The dataset, with so many quasi-identifiers."""
    names = [f"q{n}" for n in range(qids)]
    text = [
        'name = "wide"', 'report_table = "visit"', 'report_id = "visit_id"',
        'case_id = "patient_id"', '[source]', 'reader = "csv"', '[tables.visit]',
        'files = ["visit*.csv"]', 'publish = []',
        f"columns = {['visit_id', 'patient_id', *names]}", '[tables.finding]',
        'files = ["finding*.csv"]', 'publish = ["finding", "drug"]',
        'columns = ["visit_id", "patient_id", "finding", "drug"]',
        '[[sensitive]]', 'table = "finding"', 'column = "finding"',
        '[[quasi_sensitive]]', 'table = "finding"', 'column = "drug"',
        '[signals]', 'drug_table = "finding"', 'drug = "drug"', 'reaction_table = "finding"',
        'reaction = "finding"',
    ]  # fmt: skip
    for n, name in enumerate(names):
        column = name
        if n >= NUMBERS and n % 5 == 0:
            column = f"{name}_year"
            text += ["[[derived]]", f'name = "{column}"', 'rule = "period"', 'step = "year"']
            text += [f'source = "visit.{name}"', 'claim = "sources withheld"']
        text += ["[[qid]]", f'name = "{name}"', f'column = "{column}"']
        if column != name:
            text += ['kind = "numeric"', "domain = [1990, 2030]"]
        elif n < NUMBERS:
            text += ['kind = "numeric"', "domain = [0, 120]"]
        else:
            text += ['kind = "categorical"', 'hierarchy = "kinds.csv"']
    (folder / "kinds.csv").write_text("node,parent\nAny,\nAB,Any\nA,AB\nB,AB\nC,Any\n")
    (folder / "wide.toml").write_text("\n".join(text))
    return folder / "wide.toml"


def write_rows(folder: Path, seed: int, cases: range, qids: int) -> Path:
    """Files of one quarter; a value in twenty is missing."""
    rng = random.Random(seed)
    visits = [",".join(["visit_id", "patient_id", *(f"q{n}" for n in range(qids))])]
    findings = ["visit_id,patient_id,finding,drug"]
    for case in cases:
        home = random.Random(case)
        kind = home.randrange(4)
        values = []
        for n in range(qids):
            if n < NUMBERS:
                value = str(20 * kind + home.randrange(10))
            elif n % 5 == 0:
                value = f"{2000 + kind + home.randrange(3)}0314"
            else:
                value = home.choice(["AB", "A", "B", "C"] if home.random() < 0.2 else ["A", "B"])
            values.append("" if home.random() < 0.05 else value)
        ids = f"{case * 10 + seed},{case}"
        visits.append(",".join([ids, *values]))
        findings += [f"{ids},F{rng.randrange(30)},D{rng.randrange(4)}" for _ in range(2)]
    folder.mkdir()
    (folder / "visit.csv").write_text("\n".join(visits) + "\n")
    (folder / "finding.csv").write_text("\n".join(findings) + "\n")
    return folder


def released_wide(folder: Path, qids: int, cases: int) -> Path:
    """A warehouse with both quarters released under the default model."""
    dataset = write_wide(folder, qids)
    with Engine(folder / "w.duckdb") as engine:
        for place, quarter in enumerate(QUARTERS):
            first = 1 + place * cases // 2
            rows = write_rows(folder / quarter, place, range(first, first + cases), qids)
            engine.ingest([rows], dataset=str(dataset), period=quarter)
        for quarter in QUARTERS:
            engine.release(quarter, k=4, theta="0.6", on_infeasible="withhold", seed=1)
    return folder / "w.duckdb"
