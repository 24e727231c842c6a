"""Wu 2022, Table I: the three attacks of Section III on a released series."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent / "wu2022"


@pytest.fixture(scope="module")
def table_1(imported: Callable[..., Any]) -> Any:
    quarters = ["2011Q1", "2011Q2", "2011Q3"]
    return imported(HERE / "released_table1.csv", HERE / "wu.toml", quarters)


def candidates(found: dict[str, Any]) -> set[str]:
    return {candidate["case_id"] for candidate in found["candidates"]}


def excluded(found: dict[str, Any]) -> dict[str, set[str]]:
    return {e["name"]: {one["case_id"] for one in e["excluded"]} for e in found["exclusions"]}


@pytest.mark.slow
def test_backward_attack_on_a_male_of_37(table_1: Any) -> None:
    found = table_1.attack("2011Q3", "--qid", "sex=Male", "--qid", "age=37")
    assert candidates(found) == {"1", "3", "7", "12"}
    assert excluded(found) == {"B": {"1", "3", "7"}, "F": set()}
    assert found["remaining"] == ["12"]
    assert {i["term"]: i["confidence"] for i in found["inferences"]} == {"diabetes": 1, "flu": 1}


def test_forward_attack_on_a_male_of_44(table_1: Any) -> None:
    found = table_1.attack("2011Q2", "--qid", "sex=Male", "--qid", "age=44")
    assert candidates(found) == {"1", "3", "8", "9"}
    assert excluded(found)["F"] == {"1", "3"}


def test_latest_attack_on_a_new_female_of_30(table_1: Any) -> None:
    found = table_1.attack("2011Q3", "--qid", "sex=Female", "--qid", "age=30", "--new")
    assert excluded(found) == {"B": set(), "F": set(), "L": {"13", "14"}}
    assert found["remaining"] == ["15", "16"]
    assert [(i["term"], i["confidence"]) for i in found["inferences"]] == [("breast cancer", 1)]


def test_each_exclusion_tells_where_the_case_was_seen(table_1: Any) -> None:
    found = table_1.attack("2011Q3", "--qid", "sex=Male", "--qid", "age=37")
    reasons = {
        e["case_id"]: (e["quarter"], e["region"]) for e in found["exclusions"][0]["excluded"]
    }
    assert reasons == {
        "1": ("2011Q1", {"age": {"low": 20, "high": 30}}),
        "3": ("2011Q1", {"age": {"low": 20, "high": 30}}),
        "7": ("2011Q1", {"age": {"low": 30, "high": 35}}),
    }


@pytest.mark.slow
@pytest.mark.parametrize("scope", ["group", "match"])
def test_an_audit_without_originals_finds_the_groups_of_the_examples(
    table_1: Any, scope: str
) -> None:
    found = table_1.audit("--attacks", "b,f,l", "--scope", scope, "--k", 4, "--theta", "1/2")
    assert found["code"] == 1
    assert not found["safe"]
    assert [
        (row["quarter"], row["targets"], row["dig"], row["dsg"]) for row in found["releases"]
    ] == [
        ("2011Q1", "cells", 2, 2),
        ("2011Q2", "cells", 1, 1),
        ("2011Q3", "cells", 2, 2),
    ]
    worst = {(e["quarter"], e["group_id"]): e["remaining"] for e in found["evidence"] if e["dig"]}
    assert worst[("2011Q2", 1)] == 1
    assert worst[("2011Q3", 1)] == 1
    assert worst[("2011Q3", 2)] == 2
