"""Persons, drugs and conditions of OMOP, from CSV files to an artifact that is asked by name."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.dictionaries import write_omop

from srsql import open_artifact, verify
from srsql.engine.api.engine import Engine

pytestmark = pytest.mark.thorough

SEX = {8507: "M", 8532: "F"}
ABOVE = {3: {"PARACILLINE"}, 4: {"PARACILLINE", "IBUFORIN"}, 1: {"PARACILLINE"}}


@dataclass(frozen=True)
class Person:
    number: int
    gender: int
    birth: int
    drugs: tuple[int, ...]
    conditions: tuple[int, ...]


def people() -> list[Person]:
    rng = random.Random(2)
    return [
        Person(
            number,
            rng.choice([8507, 8532, 8551]),
            rng.randint(1930, 2005),
            tuple(rng.sample([0, 1, 3, 4], rng.choice([1, 2]))),
            tuple(rng.sample([0, 6, 7, 8], rng.choice([1, 2]))),
        )
        for number in range(1, 61)
    ]


def write_cdm(folder: Path, persons: list[Person]) -> Path:
    """The three tables with columns of the CDM, some of which no dataset of ours declares."""
    folder.mkdir()
    tables = {
        "PERSON": ["person_id,gender_concept_id,year_of_birth,day_of_birth,person_source_value"]
        + [f"{p.number},{p.gender},{p.birth},7,secret-{p.number}" for p in persons],
        "DRUG_EXPOSURE": ["drug_exposure_id,person_id,drug_concept_id,drug_exposure_start_date"]
        + [f"{p.number}{n},{p.number},{d},2011-02-03" for p in persons
           for n, d in enumerate(p.drugs)],
        "CONDITION_OCCURRENCE": ["condition_occurrence_id,person_id,condition_concept_id"]
        + [f"{p.number}{n},{p.number},{c}" for p in persons for n, c in enumerate(p.conditions)],
    }  # fmt: skip
    for name, rows in tables.items():
        (folder / f"{name}.csv").write_text("\n".join(rows) + "\n")
    return folder


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Person]]:
    """A folder with a published artifact and a vocabulary; and the persons, of whom all are in."""
    folder, persons = tmp_path_factory.mktemp("omop"), people()
    write_omop(folder / "vocabulary")
    with Engine(folder / "w.duckdb", dataset="omop") as engine:
        (loaded,) = engine.ingest([write_cdm(folder / "cdm", persons)], period="2011")
        assert {file.table: file.loaded for file in loaded.files} == {
            "person": 60,
            "drug_exposure": sum(len(p.drugs) for p in persons),
            "condition_occurrence": sum(len(p.conditions) for p in persons),
        }
        engine.release("2011", k=3, theta="1", seed=1, leftovers="merge")
        assert engine.sql("SELECT count(*) FROM srsql.withheld AS w") == [(0,)]
        engine.publish("2011", folder / "out")
    return folder, persons


def test_an_artifact_of_persons_is_verified_and_holds_nothing_else(
    place: tuple[Path, list[Person]],
) -> None:
    folder, _ = place
    found = verify([folder / "out"])
    assert found.passed
    texts = b"".join(file.read_bytes() for file in (folder / "out").rglob("*") if file.is_file())
    for hidden in (b"secret-1", b"2011-02-03", b"day_of_birth"):
        assert hidden not in texts
    with open_artifact(folder / "out") as artifact:
        columns = artifact.sql(
            "SELECT DISTINCT column_name FROM duckdb_columns() WHERE schema_name = 'release_2011' "
            "AND table_name IN ('person', 'drug_exposure', 'condition_occurrence')"
        )
    assert {name for (name,) in columns} == {
        "person_id", "quarter", "birth_low", "birth_high", "sex", "drug_concept_id",
        "condition_concept_id",
    }  # fmt: skip


def test_questions_by_ingredient_hold_the_truth(place: tuple[Path, list[Person]]) -> None:
    folder, persons = place
    level = [f"drug_concept_id=Ingredient:{folder / 'vocabulary'}"]
    with open_artifact(folder / "out") as artifact:
        groups = artifact.query(
            "SELECT drug_concept_id, COUNT(DISTINCT person_id) FROM drug_exposure "
            "GROUP BY drug_concept_id", level=level,
        ).rows  # fmt: skip
        (born,) = artifact.query(
            "SELECT COUNT(DISTINCT person.person_id) FROM person JOIN drug_exposure "
            "USING (person_id) WHERE drug_concept_id = 'Ibuforin' AND birth < 1960 AND sex = 'F'",
            level=level,
        ).rows
    assert {row[0]: row[1] for row in groups} == {
        name: sum(any(name in ABOVE.get(d, ()) for d in p.drugs) for p in persons)
        for name in ("PARACILLINE", "IBUFORIN")
    }
    takers = [p for p in persons if 4 in p.drugs and p.birth < 1960]
    surely = sum(SEX.get(p.gender) == "F" for p in takers)
    possibly = sum(SEX.get(p.gender) != "M" for p in takers)
    assert born[0] <= surely <= possibly <= born[2]


def test_signals_count_conditions_by_name(place: tuple[Path, list[Person]]) -> None:
    folder, persons = place
    level = [f"drug_concept_id=Ingredient:{folder / 'vocabulary'}",
             f"condition_concept_id=Concept:{folder / 'vocabulary'}"]  # fmt: skip
    with open_artifact(folder / "out") as artifact:
        (signal,) = artifact.signals(
            drug="paracilline", reaction="throbbing head", level=level
        ).signals
        lacking = artifact.drugs(f"condition_concept_id=PT:{folder / 'vocabulary'}", unmatched=True)
    holds = [(bool({1, 3, 4} & {*p.drugs}), 6 in p.conditions) for p in persons]
    cells = [sum(each == both for each in holds)
             for both in ((True, True), (True, False), (False, True), (False, False))]  # fmt: skip
    counted = signal.released
    assert [counted.a, counted.b, counted.c, counted.d] == cells
    assert [(each.value, each.cases) for each in lacking.values] == [
        ("8", sum(8 in p.conditions for p in persons))
    ]
