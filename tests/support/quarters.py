"""Small FAERS quarters from Python lists, exact to the field."""

from __future__ import annotations

import random
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path


@dataclass(frozen=True)
class Report:
    """One report; a blank field is missing."""

    primaryid: int
    caseid: int
    age: str = ""
    sex: str = ""
    wt: str = ""
    pt: tuple[str, ...] = ()
    indi: tuple[str, ...] = ()
    drugs: tuple[str, ...] = ()
    age_cod: str = "YR"
    wt_cod: str = "KG"
    roles: tuple[str, ...] = ()
    """Of the drugs, in their order; the rest are primary suspects."""


def write_quarter(
    folder: Path, quarter: str, reports: Sequence[Report], deleted: Sequence[int] = ()
) -> Path:
    """``folder/faers_ascii_QUARTER.zip``: the five tables, and a DELETED list if there is one."""
    rows: dict[str, list[str]] = {
        "DEMO": ["primaryid$caseid$age$age_cod$sex$wt$wt_cod$mfr_num$reporter_country"],
        "DRUG": ["primaryid$caseid$drug_seq$role_cod$drugname"],
        "REAC": ["primaryid$caseid$pt$drug_rec_act"],
        "INDI": ["primaryid$caseid$indi_drug_seq$indi_pt"],
        "OUTC": ["primaryid$caseid$outc_cod"],
    }
    for r in reports:
        ids = f"{r.primaryid}${r.caseid}"
        age_cod, wt_cod = r.age_cod if r.age else "", r.wt_cod if r.wt else ""
        rows["DEMO"].append(f"{ids}${r.age}${age_cod}${r.sex}${r.wt}${wt_cod}$MFR-{r.caseid}$US")
        roles = (*r.roles, *["PS"] * len(r.drugs))
        rows["DRUG"] += [f"{ids}${n + 1}${roles[n]}${name}" for n, name in enumerate(r.drugs)]
        rows["REAC"] += [f"{ids}${term}$" for term in r.pt]
        rows["INDI"] += [f"{ids}${n}${term}" for n, term in enumerate(r.indi, start=1)]
        rows["OUTC"].append(f"{ids}$HO")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"faers_ascii_{quarter}.zip"
    short = quarter[2:]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, lines in rows.items():
            archive.writestr(f"ascii/{name}{short}.txt", "".join(f"{line}\n" for line in lines))
        if deleted:
            archive.writestr(f"deleted/DELETE{short}.txt", "".join(f"{case}\n" for case in deleted))
    return path


def crowd(count: int, first: int = 1, terms: int = 40, version: int = 1) -> list[Report]:
    """Cases with every QID known and two terms each that nobody near shares."""
    return [
        Report(
            primaryid=10 * case + version,
            caseid=case,
            age=str(20 + case * 7 % 60),
            sex="MF"[case % 2],
            wt=str(50 + case * 13 % 50),
            pt=(f"Reaction {case % terms:02d}",),
            indi=(f"Disease {case * 3 % terms:02d}",),
            drugs=(f"Drug {case % 9}",),
        )
        for case in range(first, first + count)
    ]


def side_effects(seed: int, drugs: list[str], reactions: list[str]) -> list[Report]:
    """60 cases of two drugs, of which the first brings the first reaction.

    Every fifth has no age, every seventh two reports.
    """
    luck = random.Random(seed)
    found: list[Report] = []
    for n, report in enumerate(crowd(60)):
        taken, told = luck.sample(drugs, 2), luck.sample(reactions, 2)
        if drugs[0] in taken and luck.random() < 0.8:
            told = [reactions[0], luck.choice(reactions[1:])]
        roles = ("PS", luck.choice(["SS", "C"]))
        one = replace(report, pt=tuple(told), drugs=tuple(taken), roles=roles)
        found.append(replace(one, age="") if n % 5 == 0 else one)
        if n % 7 == 0:
            later = replace(found[-1], primaryid=one.primaryid + 7_000_000)
            found.append(replace(later, pt=(luck.choice(reactions),)))
    return found


def next_version(report: Report) -> Report:
    """A follow-up of the same case, as another report."""
    return replace(report, primaryid=report.primaryid + 1)


def arrivals(rng: random.Random, quarter: int, people: int) -> list[Report]:
    """New cases, and some of the ones before, whose values may have moved."""
    new = range(people * quarter, people * (quarter + 1))
    old = [case for case in range(people * quarter) if rng.random() < 0.25]
    found = []
    for case in (*old, *new):
        home = random.Random(case)
        moved = rng if rng.random() < 0.1 else home
        shared = [f"Common {i}" for i in range(3) if rng.random() < 0.15]
        found.append(
            Report(
                primaryid=case * 10 + quarter,
                caseid=case,
                age=str(moved.randint(1, 90)) if home.random() < 0.9 else "",
                sex=home.choice("MF") if home.random() < 0.9 else "",
                wt=str(moved.choice([50, 60, 70, 90])) if home.random() < 0.8 else "",
                pt=(*shared, f"Rare {rng.randrange(40)}"),
                indi=(f"Disease {rng.randrange(30)}",),
                drugs=(f"Drug {rng.randrange(6)}",),
            )
        )
    return found
