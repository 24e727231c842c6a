"""Counts, signals and thresholds on a level of a dictionary, over the drugs of the real 2022Q4.

The dictionary is made here of what the quarter itself tells: each name of a drug with the active
ingredients that its rows tell most often. Spellings that differ in blanks, hyphens, stops, brackets
and codes of dictionaries are one name; one of which no row tells any ingredient is what it lacks.
"""

from __future__ import annotations

import csv
import re
import shutil
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from support.command import srsql
from support.real_data import DATA, needs

from srsql.engine.api.engine import Engine

pytestmark = [pytest.mark.thorough, needs("faers/faers_ascii_2022Q4.zip")]
QUARTER, MOST = "2022Q4", "ACETAMINOPHEN"
BETWEEN = dict.fromkeys(map(ord, "-\u2010\u2011\u2012\u2013\u2014.,;:'\u2019\"/\\()[]{}*_"), " ")
CODE = re.compile(r"/[0-9]{5,}/")


@dataclass
class Told:
    """What the file of drugs tells, read without the engine."""

    cases: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Name -> the cases that have it."""
    entries: list[tuple[str, str]] = field(default_factory=list)
    """A name and an ingredient, as the dictionary has them."""
    ingredients: dict[str, set[str]] = field(default_factory=dict)
    """Name -> what the entries that are spelled like it say; names that none is are not in it."""

    def names(self, ingredient: str) -> set[str]:
        return {name for name, of in self.ingredients.items() if ingredient in of}

    def holders(self, ingredient: str) -> set[str]:
        return set[str]().union(*(self.cases[name] for name in self.names(ingredient)))


def spelling(name: str) -> str:
    return " ".join(CODE.sub(" ", name).translate(BETWEEN).split()) or name


def rows(table: str) -> Iterator[dict[str, str]]:
    with zipfile.ZipFile(DATA / "faers" / "faers_ascii_2022Q4.zip") as archive:
        file = next(name for name in archive.namelist() if table in name.upper())
        header, *lines = archive.read(file).decode("utf-8").splitlines()
    for line in lines:
        yield dict(zip(header.split("$"), line.split("$"), strict=False))


@pytest.fixture(scope="module")
def told() -> Told:
    found, counted = Told(), defaultdict[str, Counter[str]](Counter)
    for row in rows("DRUG"):
        name = row["drugname"].strip().upper()
        if name:
            found.cases[name].add(row["caseid"])
            if row["prod_ai"].strip():
                counted[name][row["prod_ai"].strip().upper()] += 1
    spelled: dict[str, set[str]] = defaultdict(set)
    for name, texts in counted.items():
        parts = {part.strip() for part in texts.most_common(1)[0][0].split("\\")}
        found.entries += [(name, part) for part in sorted(parts)]
        spelled[spelling(name)] |= parts
    found.ingredients = {n: spelled[spelling(n)] for n in found.cases if spelling(n) in spelled}
    return found


@pytest.fixture(scope="module")
def level(told: Told, tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("dictionary") / "drugs.csv"
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["name", "ingredient"])
        writer.writerows(told.entries)
    return f"drugname=ingredient:{file}"


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory, real: Any) -> Path:
    place: Path = real(QUARTER, tmp_path_factory.mktemp("real") / "w.duckdb")
    with Engine(place) as engine:
        engine.release(QUARTER, k=5, theta="frequency", seed=1, refine="off")
        assert engine.sql("SELECT count(*) FROM srsql.withheld AS w") == [(0,)]
    return place


def test_what_the_dictionary_lacks_is_listed_by_cases(db: Path, told: Told, level: str) -> None:
    """The figures of docs/signals.md."""
    with Engine(db, read_only=True) as engine:
        every = engine.drugs(level)
        lacking = engine.drugs(level, unmatched=True)
    due = sorted(
        ((len(cases), name) for name, cases in told.cases.items() if name not in told.ingredients),
        key=lambda found: (-found[0], found[1]),
    )
    assert [(each.cases, each.value) for each in lacking.values] == due
    assert (every.found, every.lacking) == (len(told.cases), len(due)) == (1831, 148)
    assert (every.holders, every.covered) == (887, 781)
    names = {name for each in every.values for name in each.names}
    assert len(names) == len({one for of in told.ingredients.values() for one in of}) == 1130
    shown = srsql("drugs", "--level", level, "--unmatched", "--db", db)
    assert shown.code == 0
    assert due[0][1].split()[0] in shown.out


def test_spellings_of_an_ingredient_are_one_name_with_all_their_cases(
    db: Path, told: Told, level: str
) -> None:
    with Engine(db, read_only=True) as engine:
        answer = engine.query(
            "SELECT drugname, COUNT(DISTINCT caseid) FROM drug GROUP BY drugname", level=[level]
        )
    listed = {spelling(one) for of in told.ingredients.values() for one in of}

    def key(name: str) -> str:
        return spelling(name) if spelling(name) in listed else name

    counts = {key(row[0]): row[1:] for row in answer.rows}
    assert len(counts) == len(answer.rows)  # spellings of an ingredient are one, too
    holders: dict[str, set[str]] = defaultdict(set)
    for name, of in told.ingredients.items():
        for ingredient in of:
            holders[key(ingredient)] |= told.cases[name]
    for name in told.cases.keys() - told.ingredients.keys():
        holders[key(name)] |= told.cases[name]  # counts as itself
    assert {name: set(row) for name, row in counts.items()} == {
        name: {len(cases)} for name, cases in holders.items()
    }
    own = max(len(told.cases[name]) for name in told.names(MOST))
    assert (len(told.names(MOST)), len(told.holders(MOST)), own) == (39, 121, 54)


def test_signals_on_the_level_count_the_cases_of_every_spelling(
    db: Path, told: Told, level: str
) -> None:
    reactions: dict[str, set[str]] = defaultdict(set)
    for row in rows("REAC"):
        reactions[row["pt"].strip().upper()].add(row["caseid"])
    everybody = {row["caseid"] for row in rows("DEMO")}
    holders = told.holders(MOST)
    reaction = max(reactions, key=lambda term: (len(reactions[term] & holders), term))
    both = len(holders & reactions[reaction])
    with Engine(db, read_only=True) as engine:
        asked: dict[str, Any] = {"reaction": reaction, "roles": ["all"]}
        (one,) = engine.signals(drug=MOST, **asked, level=[level]).signals
        (spelled,) = engine.signals(drug=MOST, **asked).signals
        (women,) = engine.signals(drug=MOST, **asked, level=[level], sex="F", min_age=18).signals
        pairs = len(engine.signals(every_pair=True, released_only=True).signals)
        named = len(engine.signals(every_pair=True, released_only=True, level=[level]).signals)
    assert one.original is not None
    cells = [both, len(holders) - both, len(reactions[reaction]) - both]
    cells.append(len(everybody) - sum(cells))
    for side in (one.original, one.released):
        assert [side.a, side.b, side.c, side.d] == cells
    assert spelled.released.a < one.released.a
    assert women.original is not None
    for cell in "abcd":
        low, high = (getattr(women.released, f"{cell}_{end}") for end in ("lower", "upper"))
        assert low <= getattr(women.original, f"{cell}_lower")
        assert getattr(women.original, f"{cell}_upper") <= high
    assert (reaction, cells[0], spelled.released.a) == ("DRUG INEFFECTIVE", 42, 27)
    assert (pairs, named) == (7998, 6704)


def test_a_threshold_of_a_name_bounds_each_spelling_in_every_region(
    tmp_path: Path, told: Told, level: str
) -> None:
    """Drugs are sensitive here; a quarter of a region's cases may have one spelling of the name."""
    schemas = resources.files("srsql.schemas")
    for name in ("hierarchies", "knowledge"):
        with resources.as_file(schemas / name) as folder:
            shutil.copytree(folder, tmp_path / name)
    text = (schemas / "faers.toml").read_text(encoding="utf-8")
    text = text.replace('name = "faers"', 'name = "own"', 1)
    (tmp_path / "own.toml").write_text(
        text.replace('[[quasi_sensitive]]\ntable = "drug"', '[[sensitive]]\ntable = "drug"')
    )
    policy = tmp_path / "theta.toml"
    dictionary = level.partition(":")[2]
    policy.write_text(
        f'default = 1\ndictionary = "{dictionary}"\n\n[[group]]\ntheta = "1/4"\n'
        f'level = "ingredient"\nvalues = ["{MOST}"]\n'
    )
    with Engine(tmp_path / "w.duckdb", dataset=tmp_path / "own.toml") as engine:
        engine.ingest([DATA / "faers" / "faers_ascii_2022Q4.zip"], allow_incomplete=True)
        engine.release(
            QUARTER, model="ms", k=5, theta=f"levels:{policy}", seed=1, refine="off",
            on_infeasible="suppress", leftovers="suppress",
        )  # fmt: skip
        shares = dict(
            engine.sql(
                "SELECT h.term, h.theta_num::VARCHAR || '/' || h.theta_den::VARCHAR "
                "FROM srsql.threshold AS h"
            )
        )
        shown = engine.sql(
            "SELECT m.age_low, m.age_high, m.wt_low, m.wt_high, m.sex, m.caseid, "
            "list(upper(trim(d.drugname))) FROM release_2022q4.demo AS m "
            "LEFT JOIN release_2022q4.drug AS d ON m.caseid = d.caseid GROUP BY ALL"
        )
    spellings = told.names(MOST)
    assert {Fraction(shares[name]) for name in spellings} == {Fraction(1, 4)}
    others = {name for name in told.cases if name not in spellings}
    assert {Fraction(shares[name]) for name in others & shares.keys()} == {Fraction(1)}
    regions: dict[Any, list[set[str]]] = defaultdict(list)
    for *region, _, drugs in shown:
        regions[tuple(region)].append({drug for drug in drugs if drug})
    for cases in regions.values():
        assert len(cases) >= 5
        held = Counter(drug for drugs in cases for drug in drugs if drug in spellings)
        assert all(Fraction(count, len(cases)) <= Fraction(1, 4) for count in held.values())
