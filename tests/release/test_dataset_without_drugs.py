"""A dataset of people and their visits, without a drug: what is said of what it publishes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from srsql.engine.api.engine import Engine
from srsql.engine.console.release import closing_lines

pytestmark = pytest.mark.thorough

PEOPLE = """
name = "people"
title = "People and what they came for"
version = 1
report_table = "person"
report_id = "person_id"
case_id = "person_id"
id_type = "integer"

[source]
reader = "csv"
delimiter = ","
period_pattern = '(?i)^(?:person|visit|cost)[_-]?((?:19|20)\\d\\d)'
period_label = "{0}"

[tables.person]
files = ["person*.csv"]
publish = []
columns = ["person_id", "age"]

[tables.visit]
files = ["visit*.csv"]
publish = ["diagnosis"]
columns = ["visit_id", "person_id", "diagnosis"]

[tables.cost]
files = ["cost*.csv"]
publish = ["amount"]
columns = ["cost_id", "person_id", "amount"]

[[qid]]
name = "age"
kind = "numeric"
column = "age"
unit = "year"
domain = [0, 120]
granularity = 1

[[sensitive]]
table = "visit"
column = "diagnosis"
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("people")
    (folder / "people.toml").write_text(PEOPLE)
    tables = {
        "person": ["person_id,age", *(f"{n},{30 + n}" for n in range(1, 41))],
        "visit": ["visit_id,person_id,diagnosis", *(f"{n},{n},Ill {n % 9}" for n in range(1, 41))],
        "cost": ["cost_id,person_id,amount", *(f"{n},{n},{n % 3}" for n in range(1, 41))],
    }
    (folder / "in").mkdir()
    for name, lines in tables.items():
        (folder / "in" / f"{name}2011.csv").write_text("\n".join(lines) + "\n")
    return folder


def test_what_a_dataset_without_drugs_publishes_is_said_by_the_names_of_its_tables(
    place: Path,
) -> None:
    with Engine(place / "w.duckdb", dataset=place / "people.toml") as engine:
        engine.ingest([place / "in"])
        released = engine.release("2011", k=3, theta="1", seed=1)
        first_screen = "\n".join(closing_lines(released))
        assert "not protected: values of visit are published as they are" in first_screen
        assert "drugs" not in first_screen.split("not protected")[1].splitlines()[0]
        assert released.manifest["known_items"] == "values of visit"
        told = json.loads(engine.sql("SELECT to_json(m) FROM release_2011.manifest AS m")[0][0])
        assert told["known_items"] == "values of visit"
        assert told["published_verbatim"] == "visit.diagnosis, cost.amount"
        text = engine.report("2011").html
        assert "<b>one</b> of the values of visit that are published" in text
        assert "singled out by region and 2 values of visit" in text
        engine.publish("2011", place / "out")
    readme = (place / "out" / "README.md").read_text(encoding="utf-8")
    assert "one of the patient's values of visit\n" in readme
    assert "drugs or terms\ncan be left" not in readme
