"""`srsql import-release` and `srsql attack` as a person sees them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from support.foreign import dataset, table

pytestmark = pytest.mark.thorough

GUIDE = Path(__file__).parents[2] / "docs" / "guide.md"
HEADER = "quarter case_id age_low age_high sex adr disease"
ROWS = [
    ("2011Q1", 1, 30, 39, "F", "Rash", ""),
    ("2011Q1", 2, 30, 39, "F", "Cough", ""),
    ("2011Q2", 2, 40, 49, "F", "Cough", ""),
    ("2011Q2", 3, 30, 49, "Any", "Itch;Rash", "Flu"),
]


@pytest.fixture
def series(tmp_path: Path, srsql: Callable[..., Any]) -> Callable[..., Any]:
    """The command, on a warehouse with both quarters."""
    dataset(tmp_path)
    table(tmp_path / "t.csv", HEADER, ROWS)
    for quarter in ("2011Q1", "2011Q2"):
        answer = srsql("import-release", "t.csv", "--quarter", quarter, "--dataset", "other.toml")
        assert answer.code == 0, answer.err
    return srsql


def test_the_guide_s_example_does_what_the_guide_says(
    tmp_path: Path, srsql: Callable[..., Any]
) -> None:
    guide = GUIDE.read_text(encoding="utf-8")
    section = guide.split("Audit a foreign series")[1].split("\n## ")[0]
    blocks: list[list[str]] = [[]]
    for line in section.splitlines():
        if line.startswith("    "):
            blocks[-1].append(line[4:])
        elif line.strip() and blocks[-1]:
            blocks.append([])
        elif blocks[-1]:
            blocks[-1].append("")
    whole = ["\n".join(block).strip() + "\n" for block in blocks]
    table, by_names, toml, tree, rows, commands = whole[:6]
    (tmp_path / "theirs.csv").write_text(table, encoding="utf-8")
    for command in by_names.replace("\\\n", " ").strip().splitlines():
        answer = srsql(*shlex.split(command)[1:], "--db", tmp_path / "theirs.duckdb")
        assert answer.code == 0, answer.err
    assert answer.out.startswith("Safe: ")
    for name, text in (("huang.toml", toml), ("sex.csv", tree), ("released.csv", rows)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    for command in commands.strip().splitlines():
        answer = srsql(*shlex.split(command)[1:])
        assert answer.code == (" audit " in command), answer.err
    assert "remaining: 2 cases: 5, 7" in answer.out


def test_an_attack_is_told_step_by_step(series: Callable[..., Any]) -> None:
    told = series("attack", "--quarter", "2011Q2", "--qid", "age=45", "--qid", "SEX=f", "--new").out
    assert told.splitlines() == [
        "2011Q2, series main (imported): the target is known by age 45, sex F, "
        "in no earlier release",
        "C: 2 cases covered by what is known",
        "  case 2: age 40 to 49, sex F",
        "  case 3: age 30 to 49, sex Any",
        "B: 1 case out, had an earlier region that does not cover what is known",
        "  case 2: age 30 to 39 in 2011Q1, which does not cover 45",
        "F: 0 cases out, have a later region that does not cover what is known",
        "L: 1 case out, in an earlier release, but the target is new",
        "  case 2: is in 2011Q1",
        "remaining: 1 case: 3",
        "  flu: confidence 1 (1 of 1)",
        "  itch: confidence 1 (1 of 1)",
        "  rash: confidence 1 (1 of 1)",
        "ss: 1 of 1 have substantially many symptoms, share 1",
    ]


def test_md_of_the_newest_quarter_is_not_evaluated(series: Callable[..., Any]) -> None:
    answer = series("attack", "--quarter", "2011Q2", "--stopped")
    assert "MD: not evaluated, since no later quarter is released" in answer.out.splitlines()
    assert series("attack", "--quarter", "2011Q2", "--stopped", "--json").json["not_evaluated"] == [
        "MD"
    ]


def test_who_stayed_is_among_those_of_the_next_quarter(series: Callable[..., Any]) -> None:
    answer = series("attack", "--quarter", "2011Q1", "--stayed", "--json")
    assert answer.json["remaining"] == ["2"]
    (excluded,) = [each for each in answer.json["exclusions"] if each["name"] == "P"]
    assert [case["case_id"] for case in excluded["excluded"]] == ["1"]
    text = series("attack", "--quarter", "2011Q1", "--stayed").out
    assert (
        "P: 1 case out, not in the next quarter, but the target is\n  case 1: is not in 2011Q2"
        in text
    )
    assert "P (informative)" not in text
    assert "remaining: 1 case: 2" in text


def test_who_stayed_in_the_newest_quarter_is_not_evaluated(series: Callable[..., Any]) -> None:
    answer = series("attack", "--quarter", "2011Q2", "--stayed", "--json")
    assert answer.json["not_evaluated"] == ["P"]
    assert answer.json["remaining"] == ["2", "3"]


def test_nobody_stops_and_stays(series: Callable[..., Any]) -> None:
    answer = series("attack", "--quarter", "2011Q1", "--stayed", "--stopped")
    assert (answer.code, answer.err.count("\n")) == (2, 1)
    assert "--stopped and --stayed contradict each other" in answer.err


def test_json_is_one_document_with_everything(series: Callable[..., Any]) -> None:
    answer = series("attack", "--quarter", "2011Q1", "--qid", "age=35", "--json")
    found = answer.json
    assert answer.err == ""
    assert found["known"] == {"age": {"low": 35, "high": 35}}
    assert [c["case_id"] for c in found["candidates"]] == ["1", "2"]
    assert found["exclusions"][1] == {
        "name": "F",
        "evaluated": True,
        "cases": 1,
        "excluded": [
            {"case_id": "2", "quarter": "2011Q2", "region": {"age": {"low": 40, "high": 49}}}
        ],
    }
    assert found["persistence"] == [{"quarter": "2011Q2", "cases": 0, "case_ids": []}]


def test_long_lists_are_cut_in_the_text_alone(tmp_path: Path, srsql: Callable[..., Any]) -> None:
    dataset(tmp_path)
    rows = [(case, 30, 39, "F", f"t{case}", "") for case in range(50)]
    table(tmp_path / "t.csv", "case_id age_low age_high sex adr disease", rows)
    srsql("import-release", "t.csv", "--quarter", "2011Q1", "--dataset", "other.toml")
    lines = srsql("attack", "--quarter", "2011Q1").out.splitlines()
    assert "  and 30 more cases (--json has all)" in lines
    assert "  and 30 more values (--json has all)" in lines
    assert len(srsql("attack", "--quarter", "2011Q1", "--json").json["candidates"]) == 50


def test_theta_is_compared_exactly_where_it_is_known(
    series: Callable[..., Any], tmp_path: Path
) -> None:
    with duckdb.connect(tmp_path / "w.duckdb") as con:
        con.execute("UPDATE srsql.threshold SET theta_num = 1, theta_den = 2 WHERE term <> 'RASH'")
        con.execute("UPDATE srsql.threshold SET theta_num = 1, theta_den = 3 WHERE term = 'RASH'")
    found = series("attack", "--quarter", "2011Q1", "--qid", "sex=F", "--json").json
    assert {i["term"]: (i["theta"], i["exceeds"]) for i in found["inferences"]} == {
        "COUGH": ("1/2", False),
        "RASH": ("1/3", True),
    }
    assert "RASH: confidence 0.5 (1 of 2), theta 1/3 EXCEEDED" in (
        series("attack", "--quarter", "2011Q1").out
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--quarter 2011Q3", "2011Q3 is not released in series 'main' of other (it has: 2011Q1 to"),
        (
            "--quarter 2011Q1 --series b",
            "series 'b' of other has no releases (series there are: main)",
        ),
        ("--quarter 2011Q1 --qid wt=3", "--qid wt: no such quasi-identifier; other has age, sex"),
        ("--quarter 2011Q1 --qid age=old", "--qid age=old: not a number; give one number in years"),
        ("--quarter 2011Q1 --qid age=30-40", "--qid age=30-40: not a number"),
        ("--quarter 2011Q1 --qid age=400", "--qid age=400: outside 0 to 120 years"),
        ("--quarter 2011Q1 --qid age=", "--qid age=: no value"),
        (
            "--quarter 2011Q1 --qid sex=X",
            "--qid sex=X: not a node of its hierarchy, which has Any,",
        ),
        ("--quarter 2011Q1 --qid age=1 --qid AGE=2", "--qid age is given twice"),
        ("--quarter 2011Q1 --qid age", "--qid takes NAME=VALUE"),
        ("--quarter 2011Q1 --qid age=1 --qid age=2", "each name once"),
    ],
)
def test_what_makes_no_sense_is_one_line_and_exit_code_2(
    series: Callable[..., Any], arguments: str, said: str
) -> None:
    answer = series("attack", *arguments.split())
    assert answer.code == 2
    assert said in answer.err
    assert answer.err.count("\n") == 1
    assert answer.out == ""


def test_a_refused_import_is_one_line_and_exit_code_2(
    tmp_path: Path, srsql: Callable[..., Any]
) -> None:
    dataset(tmp_path)
    table(tmp_path / "t.csv", HEADER, [*ROWS, ("2011Q1", 4, 30, 20, "F", "a", "")])
    answer = srsql("import-release", "t.csv", "--quarter", "2011Q1", "--dataset", "other.toml")
    assert answer.code == 2
    assert answer.err == (
        "srsql: t.csv line 6: age: low above high (30 > 20); nothing was registered\n"
    )


def test_import_tells_what_it_registered(series: Callable[..., Any]) -> None:
    answer = series(
        "import-release", "t.csv", "--quarter", "2011Q2", "--dataset", "other", "--series", "b",
        "--json",
    )  # fmt: skip
    assert answer.json == {
        "release_id": 3,
        "dataset": "other",
        "series": "b",
        "quarter": "2011Q2",
        "cases": 2,
        "new_cases": 2,
        "ss_cases": 1,
        "groups": 2,
        "rows": 2,
        "originals": False,
        "quasi_identifiers": {
            "age": "a number, 0 to 120 years",
            "sex": "a category, 2 nodes side by side below Any",
        },
        "sensitive": ["adr", "disease"],
        "unread": [],
    }


def test_status_and_metrics_say_nothing_that_is_not_known(series: Callable[..., Any]) -> None:
    released = series("status", "--json").json["releases"]
    assert [(r["quarter"], r["model"], r["released_cases"]) for r in released] == [
        ("2011Q1", "imported", 2),
        ("2011Q2", "imported", 2),
    ]
    rows = series("metrics", "--quarter", "2011Q1", "--json").json
    assert {row["measure"] for row in rows} == {"nil", "il_per_group", "group_size"}
    assert {row["passed"] for row in rows} == {None}


def test_an_attack_changes_nothing(series: Callable[..., Any], tmp_path: Path) -> None:
    before = (tmp_path / "w.duckdb").read_bytes()
    series("attack", "--quarter", "2011Q1", "--qid", "age=35", "--new", "--stopped")
    assert (tmp_path / "w.duckdb").read_bytes() == before


def test_an_own_release_is_attacked_like_any_other(
    tmp_path: Path, srsql: Callable[..., Any]
) -> None:
    from oracles.clinic import findings, visits, write

    data = write(tmp_path / "clinic", visits(), findings(["a", "b", "c", "d"]))
    for command in (
        f"ingest {data} --dataset {tmp_path / 'clinic' / 'clinic.toml'} --period 2011Q1",
        "release --quarter 2011Q1 --k 3 --theta 1/2 --seed 1",
    ):
        answer = srsql(*command.split())
        assert answer.code == 0, answer.err
    found = srsql("attack", "--quarter", "2011Q1", "--qid", "age=35", "--json").json
    assert {"P05"} <= {c["case_id"] for c in found["candidates"]}
    assert len(found["candidates"]) >= 3
    assert all(i["theta"] == "1/2" and i["exceeds"] is False for i in found["inferences"])
    assert json.dumps(found["exclusions"][0]["excluded"]) == "[]"


def test_who_left_for_good_is_none_of_those_who_appear_later(series: Callable[..., Any]) -> None:
    told = series("attack", "--quarter", "2011Q1", "--gone").out.splitlines()
    assert "the target is known by left for good" in told[0]
    assert "G: 1 case out, in a release that is out now, but the target left for good" in told
    assert "remaining: 1 case: 1" in told
    newest = series("attack", "--quarter", "2011Q2", "--gone", "--json").json
    assert newest["not_evaluated"] == ["G"]
    wrong = series("attack", "--quarter", "2011Q1", "--gone", "--stayed")
    assert (wrong.code, "--gone and --stayed contradict" in wrong.err) == (2, True)
