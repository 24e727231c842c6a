"""Huang 2021, Tables 1 to 3: what the attacks make of the released series, at k = 3, theta = 1/3.

The paper's Table 3 is not safe under the paper's own definitions: case 18 (age 39) lies outside its
region, 2011Q1 group 1 leaves two cases under MD, and the share of ss cases exceeds alpha in what
remains of a group after exclusion although it does not in the whole group.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

HERE = Path(__file__).parent / "huang2021"
QUARTERS = ("2011Q1", "2011Q2", "2011Q3")


def series(imported: Callable[..., Any], table: str) -> Any:
    return imported(
        HERE / f"released_table{table}.csv",
        HERE / "huang.toml",
        QUARTERS,
        "--originals",
        HERE / "original.csv",
    )


@pytest.fixture(scope="module")
def table_2(imported: Callable[..., Any]) -> Any:
    return series(imported, "2")


@pytest.fixture(scope="module")
def table_3(imported: Callable[..., Any]) -> Any:
    return series(imported, "3")


def catalog(db: Path, query: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(db, read_only=True) as con:
        return con.execute(query).fetchall()


def known_as(sex: str, age: int) -> list[str]:
    return ["--qid", f"sex={sex}", "--qid", f"age={age}"]


@pytest.mark.slow
@pytest.mark.parametrize("table", ["table_2", "table_3"])
def test_the_ss_cases_are_16_17_and_21_of_2011q2(
    table: str, request: pytest.FixtureRequest
) -> None:
    found = catalog(
        request.getfixturevalue(table).db,
        "SELECT r.quarter, m.case_id FROM srsql.case_flag AS t "
        "INNER JOIN srsql.member AS m USING (release_id, case_no) "
        "INNER JOIN srsql.release AS r USING (release_id) WHERE t.is_ss ORDER BY m.case_no",
    )
    assert found == [("2011Q2", "16"), ("2011Q2", "17"), ("2011Q2", "21")]


def test_groups_keep_the_numbers_of_the_table(table_2: Any) -> None:
    found = catalog(
        table_2.db,
        "SELECT m.group_id, list(m.case_id::INTEGER ORDER BY m.case_no) FROM srsql.member AS m "
        "INNER JOIN srsql.release AS r USING (release_id) WHERE r.quarter = '2011Q2' "
        "GROUP BY m.group_id ORDER BY m.group_id",
    )
    assert found == [
        (1, [1, 11, 12, 14]),
        (2, [13, 15, 18]),
        (3, [16, 17, 21]),
        (4, [3, 19, 20, 22]),
    ]


def test_a_male_of_48_who_stopped_after_2011q1_is_one_of_two(table_2: Any) -> None:
    found = table_2.attack("2011Q1", *known_as("M", 48), "--stopped")
    assert {c["case_id"] for c in found["candidates"]} == {"1", "3", "5", "7"}
    assert {e["name"]: {x["case_id"] for x in e["excluded"]} for e in found["exclusions"]} == {
        "B": set(),
        "F": {"3"},
        "MD": {"1", "3"},
    }
    assert found["remaining"] == ["5", "7"]


def test_a_female_of_39_who_stopped_after_2011q2_is_case_18(table_2: Any) -> None:
    found = table_2.attack("2011Q2", *known_as("F", 39), "--stopped")
    assert found["remaining"] == ["18"]
    assert found["inferences"][0]["term"] == "q"
    assert found["inferences"][0]["confidence"] == 1


def test_whoever_is_47_in_2011q2_has_substantially_many_symptoms(table_2: Any) -> None:
    found = table_2.attack("2011Q2", "--qid", "age=47")
    assert found["remaining"] == ["16", "17", "21"]
    assert found["ss_share"] == 1


def test_in_table_3_nobody_of_39_can_be_case_18(table_3: Any) -> None:
    found = table_3.attack("2011Q2", *known_as("F", 39))
    assert "18" not in {c["case_id"] for c in found["candidates"]}


def test_in_table_3_a_male_of_48_who_stopped_is_still_one_of_two(table_3: Any) -> None:
    found = table_3.attack("2011Q1", *known_as("M", 48), "--stopped")
    assert found["remaining"] == ["5", "7"]
