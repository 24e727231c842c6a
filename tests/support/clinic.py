"""A small dataset like FAERS, whose regions can be tried value by value, and quarters of it."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from importlib import resources
from pathlib import Path
from typing import Any

import duckdb
from oracles.query import LEAVES, Record
from support.quarters import Report, write_quarter
from support.released import rows

from srsql.engine.api.engine import Engine

AGES, WEIGHTS, SEXES = (0, 6), (0, 10), ("A", "B", "C")
"""Years; kg in steps of 2."""
OUTSIDE = (-4, -2, 0, 2, 4, 6, 8, 10, 12, 38, 40, 42)
"""Weights on every side of the numbers that questions compare with."""
DRUGS, TERMS = ("Ada", "Bor", "Cis", ""), ("Pain", "Rash", "pain", "It's")
UNKNOWN = ("Product used for unknown indication", "DRUG USE FOR UNKNOWN INDICATION")
"""Terms of ``indi`` that are published as missing, in any case."""
CHILDREN = {"drug": "drugname", "reac": "pt", "indi": "indi_pt", "outc": "outc_cod"}
QUARTERS = ("2011Q1", "2011Q2")


def write_dataset(folder: Path, observed: bool) -> Path:
    """FAERS with small domains; ``observed``: the domain of weights is not declared."""
    text = (resources.files("srsql.schemas") / "faers.toml").read_text(encoding="utf-8")
    kg = 'domain = "observed"' if observed else f"domain = {list(WEIGHTS)}"
    for old, new in (
        ('name = "faers"', 'name = "mini"'),
        ("domain = [0, 120]", f"domain = {list(AGES)}"),
        ('groups = "hierarchies/age_groups.csv"', ""),
        ("domain = [0, 400]\ngranularity = 1", f"{kg}\ngranularity = 2"),
        ('hierarchy = "hierarchies/sex.csv"', 'hierarchy = "kinds.csv"'),
        ('MALE = "M", FEMALE = "F"', 'MALE = "A", FEMALE = "B"'),
    ):
        assert old in text
        text = text.replace(old, new)
    (folder / "kinds.csv").write_text("node,parent\nAny,\nAB,Any\nA,AB\nB,AB\nC,Any\n")
    text = "".join(line for line in text.splitlines(True) if not line.startswith("groups = "))
    (folder / "mini.toml").write_text(text, encoding="utf-8")
    return folder / "mini.toml"


def random_quarter(rng: random.Random, cases: range, quarter: int) -> list[Report]:
    """Some values missing; some cases have several reports, which may contradict each other."""
    found = []
    for case in cases:
        age, kg = rng.randint(*AGES), 2 * rng.randint(0, 5)
        kind, known = rng.choice(SEXES), [rng.random() < 0.8 for _ in range(3)]
        for number in range(rng.choice([1, 1, 1, 2, 3])):
            moved = min(AGES[1], age + (rng.random() < 0.2))
            found.append(
                Report(
                    100 * case + number + 10 * (quarter if case % 3 else 0),
                    case,
                    age=str(moved) if known[0] else "",
                    wt=str(kg) if known[1] else "",
                    sex=rng.choice([kind, kind, kind, "AB"]) if known[2] else "",
                    pt=tuple(t for t in TERMS if rng.random() < 0.4),
                    indi=(
                        *(t for t in TERMS[:2] if rng.random() < 0.3),
                        *UNKNOWN[: case % 3],
                    ),
                    drugs=tuple(d for d in DRUGS if rng.random() < 0.4),
                )
            )
    return found


def released_series(
    folder: Path, db: Path, *, model: str, seed: int, observed: bool, theta: str, k: int = 3
) -> list[list[Report]]:
    """Two quarters, released; cases of the second are partly those of the first."""
    rng = random.Random(seed)
    quarters = [random_quarter(rng, cases, n) for n, cases in ((0, range(14)), (1, range(7, 20)))]
    quarters = [reports_of(reports) for reports in quarters]
    with Engine(db, dataset=write_dataset(folder, observed)) as engine:
        for label, reports in zip(QUARTERS, quarters, strict=True):
            engine.ingest([write_quarter(folder, label, reports)], allow_incomplete=True)
            engine.release(
                label, model=model, k=k, theta=theta, seed=seed, on_infeasible="withhold",
                ids="original",
            )  # fmt: skip
    return quarters


def reports_of(reports: Sequence[Report]) -> list[Report]:
    """The reports whose ids differ, as ingestion takes them."""
    return list({report.primaryid: report for report in reports}.values())


def records(
    db: Path, quarters: list[list[Report]], *, observed: bool, asked: Sequence[str] = QUARTERS
) -> list[Record]:
    """Every released case of the quarters ``asked``, its originals and its region."""
    found = []
    with duckdb.connect(str(db), read_only=True) as con:
        views = {q: rows(con, f'SELECT * FROM "release_{q.lower()}".demo') for q in asked}
    ends = [r[f"wt_{end}"] for v in views.values() for r in v for end in ("low", "high")]
    known = [end for end in ends if end is not None] or [0]
    seen = (min(known), max(known), "observed") if observed else WEIGHTS
    for label, reports in zip(QUARTERS, quarters, strict=True):
        if label not in asked:
            continue
        shown = {row["caseid"]: row for row in views[label]}
        for case, row in shown.items():
            own = [report for report in reports if report.caseid == case]
            found.append(Record(case, label, _children(own), _hull(own), _region(row, seen)))
    return found


def unreleased(db: Path, quarters: list[list[Report]]) -> list[Record]:
    """The cases that were not released."""
    known = {(r.case, r.quarter) for r in records(db, quarters, observed=False)}
    return [
        Record(case, label, _children(own), _hull(own))
        for label, reports in zip(QUARTERS, quarters, strict=True)
        for case in sorted({report.caseid for report in reports})
        for own in [[report for report in reports if report.caseid == case]]
        if (case, label) not in known
    ]


def _children(own: Sequence[Report]) -> Mapping[int, Mapping[str, Sequence[Mapping[str, Any]]]]:
    return {
        r.primaryid: {
            "drug": [
                {"drugname": name or None, "drug_seq": str(n)} for n, name in enumerate(r.drugs, 1)
            ],
            "reac": [{"pt": term} for term in r.pt],
            "indi": [
                {"indi_pt": term, "indi_drug_seq": str(n)} for n, term in enumerate(r.indi, 1)
            ],
            "outc": [{"outc_cod": "HO"}],
        }
        for r in own
    }


def _hull(own: Sequence[Report]) -> dict[str, list[Any]]:
    ages = [int(r.age) for r in own if r.age]
    weights = [int(r.wt) for r in own if r.wt]
    kinds = {leaf for r in own if r.sex for leaf in LEAVES[r.sex]}
    if "C" in kinds and len(kinds) > 1:
        kinds = set(SEXES)
    return {
        "age": list(range(min(ages), max(ages) + 1)) if ages else [None],
        "wt": list(range(min(weights), max(weights) + 1, 2)) if weights else [None],
        "sex": sorted(kinds) if kinds else [None],
    }


def _region(row: Mapping[str, Any], seen: tuple[int, int]) -> dict[str, list[tuple[Any, Fraction]]]:
    """The possible values with their shares; missing ones are possible where nothing is known."""
    region = {}
    for name, domain, step in (("age", AGES, 1), ("wt", seen, 2)):
        low, high = row[f"{name}_low"], row[f"{name}_high"]
        inside = domain if low is None else (low, high)
        listed = range(inside[0], inside[1] + 1, step)
        shares: list[tuple[Any, Fraction]] = [(value, Fraction(1, len(listed))) for value in listed]
        if low is None:
            shares.append((None, Fraction(0)))
            if domain not in (AGES, WEIGHTS):  # not declared: anything, where nothing is known
                shares += [(far, Fraction(0)) for far in OUTSIDE if far not in listed]
        region[name] = shares
    leaves = SEXES if row["sex"] == "Any" else sorted(LEAVES[row["sex"]])
    region["sex"] = [(leaf, Fraction(1, len(leaves))) for leaf in leaves]
    if row["sex"] == "Any":
        region["sex"].append((None, Fraction(0)))
    return region
