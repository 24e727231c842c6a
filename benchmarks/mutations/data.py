"""Small quarters in the layout of FAERS, made of plain rules, and what is ingested of them."""

from __future__ import annotations

import random
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path


@dataclass(frozen=True)
class Report:
    """One report; an empty field is missing."""

    report: int
    case: int
    age: str
    sex: str
    weight: str
    reactions: tuple[str, ...]
    diseases: tuple[str, ...]
    drugs: tuple[str, ...]


def report_of(case: int, version: int = 1, terms: int = 40) -> Report:
    """A case with all quasi-identifiers known and terms that nobody near shares."""
    return Report(
        1_000_000 + 10 * case + version,
        100_000 + case,
        str(20 + case * 7 % 60),
        "MF"[case % 2],
        str(50 + case * 13 % 50),
        (f"Reaction {case % terms:02d}",),
        (f"Disease {case * 3 % terms:02d}",),
        (f"Drug {case % 9}",),
    )


def crowd(cases: Iterable[int], version: int = 1, terms: int = 40) -> list[Report]:
    """Such reports of several cases."""
    return [report_of(case, version, terms) for case in cases]


def moved(reports: Iterable[Report]) -> list[Report]:
    """The same cases a year later, every third of another weight."""
    return [
        replace(
            each,
            age=str(int(each.age) + 1),
            weight=str(int(each.weight) + (17 if each.case % 3 == 0 else 0)),
        )
        for each in reports
    ]


def crowded(reports: Iterable[Report], value: str, every: int) -> list[Report]:
    """The same with a reaction that every so manyth of them has, too."""
    return [
        replace(each, reactions=(value, *each.reactions)) if number % every == 0 else each
        for number, each in enumerate(reports)
    ]


def with_gaps(reports: Iterable[Report]) -> list[Report]:
    """Every sixth without a weight, every eleventh with neither weight nor age."""
    found = []
    for number, each in enumerate(reports):
        one = replace(each, weight="") if number % 6 == 0 else each
        found.append(replace(one, weight="", age="") if number % 11 == 0 else one)
    return found


def baskets(count: int, seed: int = 1) -> list[Report]:
    """Cases of three ages with several reactions of a few, some of them together as a rule."""
    luck = random.Random(seed)
    names = [f"Reaction {number:02d}" for number in range(14)]
    found = []
    for case in range(1, count + 1):
        chosen = {names[min(int(luck.expovariate(0.35)), 13)] for _ in range(4)}
        if luck.random() < 0.4:
            chosen |= {names[0], names[1]}
        one = replace(report_of(case), age=str(30 + 10 * (case % 3)), weight=str(60 + case % 2))
        found.append(replace(one, reactions=tuple(sorted(chosen))))
    return found


def write(folder: Path, quarter: str, reports: Iterable[Report]) -> Path:
    """``folder/faers_ascii_QUARTER.zip`` with the tables of the reports."""
    rows: dict[str, list[str]] = {
        "DEMO": ["primaryid$caseid$age$age_cod$sex$wt$wt_cod$mfr_num$reporter_country"],
        "DRUG": ["primaryid$caseid$drug_seq$role_cod$drugname"],
        "REAC": ["primaryid$caseid$pt$drug_rec_act"],
        "INDI": ["primaryid$caseid$indi_drug_seq$indi_pt"],
        "OUTC": ["primaryid$caseid$outc_cod"],
    }
    for each in reports:
        ids = f"{each.report}${each.case}"
        units = "YR" if each.age else "", "KG" if each.weight else ""
        rows["DEMO"].append(
            f"{ids}${each.age}${units[0]}${each.sex}${each.weight}${units[1]}$M-{each.case}$US"
        )
        rows["DRUG"] += [f"{ids}${n}$PS${name}" for n, name in enumerate(each.drugs, 1)]
        rows["REAC"] += [f"{ids}${term}$" for term in each.reactions]
        rows["INDI"] += [f"{ids}${n}${term}" for n, term in enumerate(each.diseases, 1)]
        rows["OUTC"].append(f"{ids}$HO")
    path = folder / f"faers_ascii_{quarter}.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, lines in rows.items():
            text = "".join(f"{line}\n" for line in lines)
            archive.writestr(f"ascii/{name}{quarter[2:]}.txt", text)
    return path
