"""`srsql audit`: exit codes, what is printed, what is asked for where a release tells nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.command import Answer, srsql

pytestmark = pytest.mark.slow

HUANG = Path(__file__).parent.parent / "golden" / "huang2021"
BOUNDS = ("--k", 3, "--theta", "1/3")


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Huang's Table 2: safe against B, F and L, not against MD."""
    path = tmp_path_factory.mktemp("audit") / "w.duckdb"
    for quarter in ("2011Q1", "2011Q2", "2011Q3"):
        answer = srsql(
            "import-release", HUANG / "released_table2.csv", "--quarter", quarter,
            "--dataset", HUANG / "huang.toml", "--originals", HUANG / "original.csv", "--db", path,
        )  # fmt: skip
        assert answer.code == 0, answer.err
    return path


def audited(db: Path, *arguments: object) -> Answer:
    return srsql("audit", "--db", db, *arguments)


@pytest.mark.thorough
def test_a_safe_series_exits_0_and_an_unsafe_one_1(db: Path) -> None:
    safe = audited(db, *BOUNDS, "--scope", "group", "--json")
    assert (safe.code, safe.err, safe.json["safe"]) == (0, "", True)
    assert [row["attacks"] for row in safe.json["releases"]] == [["b", "f", "l"]] * 3
    unsafe = audited(db, *BOUNDS, "--attacks", "b,f,l,md", "--json")
    assert (unsafe.code, unsafe.err, unsafe.json["safe"]) == (1, "", False)
    assert len(unsafe.out.splitlines()) == 1


def test_md_of_the_newest_quarter_is_reported_as_not_evaluated(db: Path) -> None:
    rows = audited(db, *BOUNDS, "--attacks", "md", "--scope", "group", "--json").json["releases"]
    assert [row["not_evaluated"] for row in rows] == [[], [], ["md"]]
    assert [row["attacks"] for row in rows] == [["md"], ["md"], []]


def test_the_evidence_names_the_target_and_the_sizes_of_its_exclusion_sets(db: Path) -> None:
    found = audited(
        db, *BOUNDS, "--attacks", "b,f,l,md", "--scope", "group", "--quarter", "2011Q2", "--json"
    ).json
    assert {row["quarter"] for row in found["releases"]} == {"2011Q2"}
    worst: dict[str, Any] = found["evidence"][0]
    assert (worst["case_id"], worst["qid"]) == ("18", {"age": {"low": 39, "high": 39}, "sex": "F"})
    assert (worst["candidates"], worst["md"], worst["remaining"], worst["dig"]) == (3, 2, 1, True)
    assert (worst["term"], worst["confidence"], worst["theta"]) == ("q", 1, "1/3")


def test_the_table_and_the_worst_groups_are_printed_in_words(db: Path) -> None:
    answer = audited(db, *BOUNDS, "--attacks", "b,f,l,md")
    assert answer.code == 1
    assert "NOT safe" in answer.out
    assert "has 3 candidates, 1 remains, fewer than k" in answer.out
    assert "MD: 2, in the next quarter, but the target is not" in answer.out
    every = audited(db, *BOUNDS, "--attacks", "b,f,l,md", "--all")
    assert "q: confidence 1 exceeds theta 1/3" in every.out
    first, rest = answer.out.splitlines()[:-1], every.out.splitlines()
    assert first == rest[: len(first)]
    assert answer.out.splitlines()[-1] == f"... {len(rest) - len(first)} more lines: --all"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "give --k"),
        (("--k", 3), "give --theta"),
        (("--k", 3, "--theta", "1/3", "--attacks", "ss"), "give --alpha"),
        ((*BOUNDS, "--attacks", "b,x"), "choose some of b,f,l,md,ss"),
        ((*BOUNDS, "--attacks", "ss", "--alpha", "half"), "such as 0.5 or 1/3"),
        ((*BOUNDS, "--attacks", "ss", "--alpha", "2"), "between 0 and 1"),
        ((*BOUNDS, "--series", "other"), "series 'other' of huang has no releases"),
        ((*BOUNDS, "--quarter", "2012Q1", "--dataset", "huang"), "2012Q1 is not released"),
    ],
)
def test_what_cannot_be_audited_exits_2_with_one_line_that_says_what_to_give(
    db: Path, arguments: tuple[object, ...], words: str
) -> None:
    answer = audited(db, *arguments)
    assert (answer.code, answer.out) == (2, "")
    (line,) = answer.err.splitlines()
    assert words in line
