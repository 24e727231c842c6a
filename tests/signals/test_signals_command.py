"""`srsql signals`: what it prints, what it refuses in one line."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.command import Answer, srsql
from support.quarters import crowd, write_quarter

from srsql.engine.api.engine import Engine

PAIR = ("--drug", "drug 1", "--reaction", "REACTION 01")


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("signals")
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest([write_quarter(folder, "2011Q4", crowd(80, terms=3))])
        engine.release("2011Q4", k=3, theta="1", seed=1)
    return folder / "w.duckdb"


def signals(db: Path, *arguments: object) -> Answer:
    return srsql("signals", "--db", db, *arguments)


def test_a_pair_is_printed_with_both_sides_and_a_warning_not_to_publish(db: Path) -> None:
    answer = signals(db, *PAIR, "--min-age", 18, "--sex", "female")
    assert (answer.code, answer.err) == (0, "")
    assert "drug 1, age >= 18, sex F" in " ".join(answer.out.split())
    assert "not for publication" in answer.out
    released = signals(db, *PAIR, "--released-only")
    assert "original" not in released.out
    assert "not for publication" not in released.out


def test_json_is_one_document_with_every_measure(db: Path) -> None:
    answer = signals(db, *PAIR, "--json")
    assert (answer.code, answer.err, len(answer.out.splitlines())) == (0, "", 1)
    (signal,) = answer.json["signals"]
    assert {"prr", "ror_low", "chi2", "ic", "ic_shrunk", "a_upper"} <= set(signal["released"])
    assert signal["bias"]["a_bias"] == 1
    assert answer.json["roles"] == ["PS", "SS"]


def test_all_pairs_come_with_the_quantiles_of_their_bias(db: Path) -> None:
    answer = signals(db, "--all", "--max-age", 50)
    assert answer.code == 0, answer.err
    assert "PRR, released / original" in answer.out
    assert "pairs of at least 3 cases" in answer.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "give --drug and --reaction, or --rules, or --all"),
        (("--drug", "x"), "give --drug and --reaction"),
        ((*PAIR, "--all"), "or --all"),
        ((*PAIR, "--min-age", "old"), "'old' is not a number"),
        ((*PAIR, "--max-age", "nan"), "'nan' is not a number"),
        ((*PAIR, "--min-age", 9, "--max-age", 3), "min-age 9 is above max-age 3"),
        ((*PAIR, "--sex", "X"), "which has Any, M, F"),
        ((*PAIR, "--quarter", "2099Q1"), "2099Q1 is not released"),
        ((*PAIR, "--series", "other"), "series 'other' of faers has no releases"),
        (("--rules", "none.csv"), "none.csv: cannot be read"),
    ],
)
def test_what_cannot_be_computed_exits_2_with_one_line(
    db: Path, arguments: tuple[object, ...], words: str
) -> None:
    answer = signals(db, *arguments)
    assert (answer.code, answer.out) == (2, "")
    (line,) = answer.err.splitlines()
    assert words in line


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("drug,min_age\nx,1\n", "no column 'reaction'"),
        ("drug,reaction,weight\nx,y,1\n", "column 'weight' is none of"),
        ("drug,reaction\n", "has no rules"),
        ("drug,reaction\nx,\n", "line 2: drug and reaction must be given"),
        ("drug,reaction\nx,y,z\n", "line 2: more fields"),
        ("drug,reaction,min_age\nx,y,z\n", "line 2: min-age 'z' is not a number"),
        ("drug,reaction,sex\nx,y,\nx,y,Z\n", "line 3: sex 'Z' is not a node"),
    ],
)
def test_a_rule_that_makes_no_sense_is_named_with_its_line(
    db: Path, tmp_path: Path, text: str, words: str
) -> None:
    (tmp_path / "rules.csv").write_text(text)
    answer = signals(db, "--rules", tmp_path / "rules.csv")
    assert answer.code == 2
    (line,) = answer.err.splitlines()
    assert words in line


def test_hostile_names_are_data(db: Path) -> None:
    answer = signals(db, "--drug", "x'); DROP TABLE demo; --", "--reaction", '"', "--json")
    assert answer.json["signals"][0]["released"]["prr"] is None
    roles = signals(db, *PAIR, "--roles", "PS'; --", "--json").json
    assert roles["roles"] == ["PS'; --"]
    assert roles["signals"][0]["released"]["a"] == 0
