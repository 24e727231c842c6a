"""`srsql signals`: what it prints, what it refuses in one line."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from math import exp
from pathlib import Path

import pytest
from oracles.signals import measures
from rich.console import Console
from support.command import Answer, srsql
from support.printed import print_table
from support.quarters import crowd, write_quarter

from srsql.engine.api.engine import Engine
from srsql.engine.console.measures import (
    SIGNAL_COLUMNS,
    prior_text,
    signal_rows,
    tall_tables,
)
from srsql.engine.signals.results import Shrinkage, agreements
from srsql.engine.signals.rules import Condition

pytestmark = pytest.mark.slow

PAIR = ("--drug", "drug 1", "--reaction", "REACTION 01")
MANY = crowd(80, terms=3)


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("signals")
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest([write_quarter(folder, "2011Q4", crowd(80, terms=3))])
        engine.release("2011Q4", k=3, theta="1", seed=1)
    return folder / "w.duckdb"


def signals(db: Path, *arguments: object) -> Answer:
    return srsql("signals", "--db", db, *arguments)


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_a_condition_shows_both_ways_to_count_who_lacks_a_value(db: Path, tmp_path: Path) -> None:
    reports = [
        replace(r, age="" if n % 4 == 0 else r.age) for n, r in enumerate(crowd(80, terms=3))
    ]
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q4", reports)])
        engine.release("2011Q4", k=3, theta="1", seed=1)
    shown = signals(tmp_path / "w.duckdb", *PAIR, "--min-age", 40)
    assert (shown.code, shown.err) == (0, "")
    for label in ("original ", "original, complete", "released ", "released, complete"):
        assert label in shown.out
    assert "a missing value counts by the condition's share of the domain" in shown.out
    both, alone = (
        signals(tmp_path / "w.duckdb", *PAIR, "--min-age", 40, "--json", *more).json
        for more in ((), ("--missing", "exclude"))
    )
    (spread,), (known,) = both["signals"], alone["signals"]
    assert spread["original"]["a"] > spread["original_complete"]["a"]
    cases = [r for r in reports if r.age and int(r.age) >= 40]
    table = [0, 0, 0, 0]
    for r in cases:
        table[2 * (r.drugs != ("Drug 1",)) + (r.pt != ("Reaction 01",))] += 1
    for name, wanted in zip("abcd", table, strict=True):
        own = known["original"]
        assert own[name] == own[f"{name}_lower"] == own[f"{name}_upper"] == own[f"{name}_known"]
        assert own[name] == spread["original_complete"][name] == wanted
    assert known["original"]["prr"] == pytest.approx(measures(*table)["prr"])
    # without a condition nobody lacks what is asked for
    free = signals(tmp_path / "w.duckdb", *PAIR, "--missing", "exclude", "--json").json
    assert free["signals"][0]["original"]["a_upper"] == sum(
        r.drugs == ("Drug 1",) and r.pt == ("Reaction 01",) for r in reports
    )
    assert free["signals"][0]["original_complete"] is None


@pytest.mark.thorough
def test_a_narrow_terminal_has_a_table_of_each_signal_with_the_data_side_by_side(
    db: Path,
) -> None:
    with Engine(db) as engine:
        found = engine.signals(drug="Drug 1", reaction="Reaction 01", min_age=40)
    (table,) = tall_tables(found)
    rows = [list(row) for row in table.rows]
    assert table.title == "Drug 1, age >= 40 => Reaction 01"
    assert list(table.columns) == [
        "", "original", "original, complete", "released", "released, complete",
    ]  # fmt: skip
    assert [row[0] for row in rows] == SIGNAL_COLUMNS[2:]
    beside = list(signal_rows(found))
    assert [row[1:] for row in rows] == [
        [own[2 + n] for own in beside] for n in range(len(rows))
    ]  # fmt: skip
    narrow = Console(width=80, force_terminal=True, no_color=True, soft_wrap=True)
    with narrow.capture() as shown:
        print_table(narrow, table.title, table.columns, rows)
    text = re.sub(r"\x1b\[[0-9;]*m", "", shown.get())
    assert max(map(len, text.splitlines())) <= 80
    words = {word for row in rows for cell in row for word in cell.split()}
    assert words <= set(text.split()), "no word is broken"


@pytest.mark.thorough
def test_csv_has_a_row_for_each_of_the_data(db: Path, tmp_path: Path) -> None:
    file = tmp_path / "out.csv"
    asked = (*PAIR, "--min-age", 40)
    beside = signals(db, *asked, "--csv", file)
    assert "PRR" in beside.out
    with file.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["data"], row["missing"]) for row in rows] == [
        ("original", "spread"), ("original", "exclude"),
        ("released", "spread"), ("released", "exclude"),
    ]  # fmt: skip
    told = signals(db, *asked, "--json").json["signals"][0]
    assert float(rows[2]["prr"]) == told["released"]["prr"]
    assert float(rows[2]["prr_bias"]) == told["bias"]["prr_bias"]
    assert (rows[0]["min_age"], rows[0]["sex"], rows[0]["prr_bias"]) == ("40", "", "")
    alone = signals(db, *asked, "--csv", "-")
    assert alone.out == file.read_text(encoding="utf-8")
    two = signals(db, *asked, "--csv", "-", "--json")
    assert (two.code, list(two.json)) == (2, ["error"])
    assert "exclude each other" in two.err
    nowhere = signals(db, *asked, "--csv", tmp_path / "none" / "out.csv")
    assert (nowhere.code, nowhere.out) == (2, "")
    assert "cannot be written" in nowhere.err


@pytest.mark.thorough
def test_a_sex_that_is_released_as_the_root_is_missing(tmp_path: Path) -> None:
    reports = [replace(r, sex="" if n % 4 == 0 else "F") for n, r in enumerate(crowd(40, terms=3))]
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q4", reports)])
        engine.release("2011Q4", k=3, theta="1", seed=1)
        for only in (True, False):
            (found,) = engine.signals(
                drug="Drug 1", reaction="Reaction 01", sex="F", missing="exclude",
                released_only=only,
            ).signals  # fmt: skip
            one = found.released
            assert one.a + one.b + one.c + one.d == 30
            assert (one.a_lower, one.d_lower) == (one.a_upper, one.d_upper)


@pytest.mark.thorough
def test_originals_that_were_dropped_for_want_of_a_value_are_not_compared(tmp_path: Path) -> None:
    reports = [
        replace(r, age="" if n % 4 == 0 else r.age) for n, r in enumerate(crowd(80, terms=3))
    ]
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q4", reports)])
        engine.release("2011Q4", k=3, theta="1", seed=1, missing="drop")
        found = engine.signals(drug="Drug 1", reaction="Reaction 01")
        only = engine.signals(drug="Drug 1", reaction="Reaction 01", released_only=True)
    (one,) = found.signals
    assert one.original is not None
    assert one.original == one.released
    assert one.original.a + one.original.b + one.original.c + one.original.d == 60
    assert (found.dropped, only.dropped) == (20, 0)


@pytest.mark.thorough
def test_a_name_that_nobody_has_is_refused_and_only_released_ones_are_named(
    tmp_path: Path,
) -> None:
    reports = crowd(40, terms=3)
    rare = replace(reports[0], age="", sex="", wt="", drugs=("Drugg 1",))
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q4", [rare, *reports[1:]])])
        engine.release("2011Q4", k=3, theta="1", seed=1, missing="drop")
    asked = ("--drug", "Drugg 11", "--reaction", "reaction 1")
    steward, analyst = (signals(tmp_path / "w.duckdb", *asked, *more)
                        for more in ((), ("--released-only",)))  # fmt: skip
    assert steward.code == analyst.code == 2
    assert "no case has the drug 'Drugg 11': did you mean 'DRUGG 1'" in steward.err
    assert "no released case has the drug 'Drugg 11': did you mean 'DRUG 1'" in analyst.err
    assert "DRUGG 1'" not in analyst.err
    allowed = signals(tmp_path / "w.duckdb", *asked, "--released-only", "--allow-unknown")
    assert allowed.code == 0
    assert "no released case has the drug 'Drugg 11': it counts as none" in allowed.out
    nobody = signals(tmp_path / "w.duckdb", *PAIR, "--min-age", 119, "--json")
    assert nobody.json["signals"][0]["released"]["a_upper"] == 0


def test_all_pairs_come_with_the_quantiles_of_their_bias(db: Path) -> None:
    answer = signals(db, "--all", "--max-age", 50)
    assert answer.code == 0, answer.err
    assert "PRR, released / original" in answer.out
    assert "pairs of surely at least 3 cases" in answer.out
    assert "undecided; " in answer.out


@pytest.mark.parametrize("released_only", [False, True])
def test_all_pairs_are_counted_and_chosen_by_columns_as_by_records(
    db: Path, released_only: bool
) -> None:
    criteria = ["signal_prr", "signal_mhra", "signal_ror", "signal_ic", "signal_eb05"]
    with Engine(db, read_only=True) as engine:
        found = engine.signals(every_pair=True, released_only=released_only)
    records = replace(found, signals=tuple(found.signals))
    assert len(records.signals) > 5
    assert agreements(found.signals, criteria) == agreements(records.signals, criteria)
    assert list(signal_rows(found)) == list(signal_rows(records))
    assert list(found.signals[2:5]) == list(records.signals[2:5])
    assert list(found.signals[::3]) == list(records.signals[::3])


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
    names = ("--drug", "x'); DROP TABLE demo; --", "--reaction", '"')
    assert signals(db, *names).code == 2
    answer = signals(db, *names, "--allow-unknown", "--json")
    assert answer.json["signals"][0]["released"]["prr"] is None
    roles = signals(db, *PAIR, "--roles", "PS'; --", "--json").json
    assert roles["roles"] == ["PS'; --"]
    assert roles["signals"][0]["released"]["a"] == 0


@pytest.mark.parametrize(
    ("alpha", "said"), [(100.0, "(at the limit of 100)"), (exp(-12), "(at the limit of 6.1e-06)")]
)
def test_a_prior_that_ends_at_a_limit_of_its_parameters_is_told(alpha: float, said: str) -> None:
    inside = Shrinkage(Condition(), "released", 900, 2.0, 0.5, 0.4, 0.1, 0.25)
    assert "limit" not in prior_text(inside)
    assert prior_text(replace(inside, alpha2=alpha)).endswith(said)
