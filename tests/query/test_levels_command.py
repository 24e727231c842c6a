"""`--level`, `srsql drugs` and `srsql dictionary`: what they print, and what they refuse."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from support.command import Answer, srsql
from support.dictionaries import write_atc, write_meddra
from support.quarters import Report, write_quarter

from srsql import open_artifact
from srsql.engine.api.engine import Engine
from srsql.engine.errors import CompareError, LevelError, PolicyError, ReleaseError, SrsqlError
from srsql.engine.extras.study.grid import Rules
from srsql.engine.grouping.thresholds import parse_theta
from srsql.engine.terms.policies import (
    UtilityPolicy,
    dictionary_policy,
    hierarchy_policy,
    parse_policy,
)
from srsql.schemas.hierarchy import load_hierarchy

pytestmark = pytest.mark.thorough

NAMES = ("Parax 500 mg", "PARAX-500-MG", "Ibuforin", "Odd stuff", "odd stuff", "Rare")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a warehouse of one released quarter, dictionaries and an artifact."""
    folder = tmp_path_factory.mktemp("levels")
    reports = [
        Report(10 * case, case, age=str(20 + case), sex="MF"[case % 2], wt="70",
               pt=(("Pain", "Rash", "Cough")[case % 3],),
               drugs=(NAMES[case % 5],) if case < 29 else ("Rare",))
        for case in range(1, 31)
    ]  # fmt: skip
    (folder / "drugs.csv").write_text(
        "name,ingredient\nParax 500 mg,Paracilline\nIbuforin,Ibuforin\n"
    )
    write_atc(folder / "atc.csv")
    write_meddra(folder)
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest([write_quarter(folder, "2011Q4", reports)])
        engine.release("2011Q4", k=3, theta="1", seed=1)
        engine.publish("2011Q4", folder / "out")
    return folder


def level(place: Path, column: str = "drugname", name: str = "ingredient") -> str:
    return f"{column}={name}:{place / ('drugs.csv' if column == 'drugname' else 'MedAscii')}"


def run(place: Path, command: str, *arguments: object) -> Answer:
    return srsql(command, *arguments, "--db", place / "w.duckdb")


def test_drugs_that_the_dictionary_lacks_are_listed_by_cases(place: Path) -> None:
    answer = run(place, "drugs", "--level", level(place), "--unmatched")
    assert (answer.code, answer.err) == (0, "")
    lines = [line.split("  ") for line in answer.out.splitlines()]
    assert [[cell.strip() for cell in line if cell] for line in lines[:4]] == [
        ["drugname on level ingredient"],
        ["value", "cases", "names"],
        ["odd stuff", "11", "-"],
        ["rare", "2", "-"],
    ]
    assert "drugs.csv has 3 of 5 values; 17 of 30 cases have no other" in answer.out
    assert "computed with the originals" in answer.out
    text = run(place, "drugs", "--level", level(place), "--format", "csv").out
    rows = list(csv.DictReader(io.StringIO(text)))
    assert {row["value"]: row["names"] for row in rows}["parax-500-mg"] == '["paracilline"]'
    assert [int(row["cases"]) for row in rows] == sorted(
        (int(row["cases"]) for row in rows), reverse=True
    )


def test_released_values_and_artifacts_are_covered_alike(place: Path) -> None:
    with Engine(place / "w.duckdb", read_only=True) as engine:
        released = engine.drugs(level(place), released_only=True)
        quarter = engine.drugs(level(place), released_only=True, quarter="2011Q4", unmatched=True)
        raw = engine.drugs(level(place))
        with pytest.raises(LevelError, match="no case has a drugname in 2010Q1"):
            engine.drugs(level(place), quarter="2010Q1")
    assert {each.value for each in released.values} <= {each.value for each in raw.values}
    assert quarter.values == tuple(each for each in released.values if not each.names)
    assert (raw.found, raw.lacking, raw.holders, raw.covered) == (5, 2, 30, 17)
    with open_artifact(place / "out") as artifact:
        assert artifact.drugs(level(place)).values == released.values
        answer = artifact.query(
            "SELECT count(DISTINCT caseid) FROM drug WHERE drugname = 'paracilline'",
            level=[level(place)],
        )
        signals = artifact.signals(drug="Paracilline", reaction="Body as a whole",
                                   level=[level(place), level(place, "pt", "SOC")])  # fmt: skip
    assert (
        answer.rows[0][0]
        == answer.rows[0][2]
        == sum(each.cases for each in released.values if each.names == ("paracilline",))
    )
    assert signals.signals[0].released.a > 0


def test_signals_and_query_say_on_which_level_they_count(place: Path) -> None:
    answer = run(place, "signals", "--drug", "paracilline", "--reaction", "body as a whole",
                 "--level", f"{level(place)},{level(place, 'pt', 'soc')}")  # fmt: skip
    assert (answer.code, answer.err) == (0, "")
    assert (
        "pt counts on level SOC of MedAscii: names are compared by the keys of terms" in answer.out
    )
    wrong = run(place, "signals", "--drug", "paracillin", "--reaction", "pain", "--level",
                level(place))  # fmt: skip
    assert wrong.code == 2
    assert "did you mean 'paracilline'" in wrong.err
    asked = "SELECT drugname, count(DISTINCT caseid) FROM drug GROUP BY drugname"
    found = run(place, "query", asked, "--level", level(place), "--json")
    assert {row[0] for row in found.json["rows"]} == {
        "paracilline", "ibuforin", "odd stuff", "rare"
    }  # fmt: skip
    wrong = run(place, "query", "SELECT count(DISTINCT caseid) FROM drug WHERE drugname = 'Parax'",
                "--level", level(place))  # fmt: skip
    assert "no released row has drugname 'Parax'" in wrong.err


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("drugname", "give COLUMN=LEVEL:FILE"),
        ("drugname=ingredient:", "give COLUMN=LEVEL:FILE"),
        ("=ingredient:drugs.csv", "give COLUMN=LEVEL:FILE"),
        ("outc_cod=a:drugs.csv", "'outc_cod' is no column with terms that rows of faers show"),
        ("drugname=class:drugs.csv", "drugs.csv has no level 'class': it has ingredient"),
        ("drugname=class:none.csv", "there is no none.csv"),
        ("drug.drugname=ingredient:drugs.csv,drugname=ingredient:drugs.csv", "drugname twice"),
        ("indi_pt=1", "signals count drugname and pt alone"),
    ],
)
def test_a_wrong_level_is_refused_in_one_line(
    place: Path, monkeypatch: pytest.MonkeyPatch, asked: str, told: str
) -> None:
    monkeypatch.chdir(place)
    answer = run(place, "signals", "--all", "--level", asked)
    assert (answer.code, len(answer.err.splitlines())) == (2, 1)
    assert told in answer.err


def test_rows_taken_apart_have_no_levels(place: Path, tmp_path: Path) -> None:
    with Engine(place / "w.duckdb") as engine:
        engine.release("2011Q4", series="rows", k=3, theta="1", seed=1, terms="disassociate",
                       term_attributes="all", allow_linkable=True)  # fmt: skip
        for call in (
            lambda: engine.signals(every_pair=True, series="rows", level=[level(place)]),
            lambda: engine.query("SELECT count(DISTINCT caseid) FROM demo", series="rows",
                                 level=[level(place)]),
        ):  # fmt: skip
            with pytest.raises(LevelError, match="tells items of clusters"):
                call()


def test_a_dictionary_is_shown_chained_and_written(place: Path, tmp_path: Path) -> None:
    answer = srsql("dictionary", place / "drugs.csv", place / "atc.csv", "--to",
                   tmp_path / "both.csv")  # fmt: skip
    assert (answer.code, answer.err) == (0, "")
    assert [line.split() for line in answer.out.splitlines()[1:4]] == [
        ["level", "terms", "names"], ["ingredient", "3", "2"], ["ATC5", "3", "2"],
    ]  # fmt: skip
    again = srsql("dictionary", tmp_path / "both.csv", "--json")
    assert [row["level"] for row in again.json][:2] == ["ingredient", "ATC5"]
    there = srsql("dictionary", place / "drugs.csv", "--to", tmp_path / "both.csv")
    assert (there.code, "is there already" in there.err) == (2, True)


def test_thresholds_follow_from_names_on_a_level(place: Path) -> None:
    file = place / "theta.toml"
    file.write_text(
        'default = 0.5\ndictionary = "MedAscii"\n[values]\nCough = 1\n'
        '[[group]]\ntheta = "1/5"\nlevel = "soc"\nvalues = ["Body as a WHOLE"]\n'
    )
    policy = parse_theta(f"levels:{file}")
    values = {value: str(theta) for value, theta in policy.values.items()}
    assert values["Pain"] == values["Fever"] == values["Ache"] == "1/5"
    assert values["Cough"] == "1"
    assert "Rash" not in values
    with Engine(place / "w.duckdb") as engine:
        engine.release("2011Q4", series="soc", k=5, theta=f"levels:{file}", seed=1,
                       allow_linkable=True, on_infeasible="withhold")  # fmt: skip
        rows = engine.sql(
            "SELECT d.age_low, d.age_high, d.sex, count(DISTINCT d.caseid), "
            "count(DISTINCT d.caseid) FILTER (WHERE r.pt = 'Pain') "
            "FROM release_soc_2011q4.demo AS d LEFT JOIN release_soc_2011q4.reac AS r "
            "ON d.primaryid = r.primaryid GROUP BY ALL"
        )
    assert sum(cases for *_, cases, _ in rows) >= 5
    assert any(held for *_, held in rows)
    assert all(held * 5 <= cases for *_, cases, held in rows)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('default = 1\n[[group]]\ntheta = 1\nlevel = "soc"\nvalues = ["x"]',
         "needs the key dictionary"),
        ('default = 1\ndictionary = "none"\n[[group]]\ntheta = 1\nlevel = "soc"\nvalues = ["x"]',
         "there is no"),
        ('default = 1\ndictionary = "MedAscii"\n[[group]]\ntheta = 1\nlevel = "soc"\n'
         'values = ["Nowhere"]', "calls no term 'Nowhere' on level soc"),
        ('default = 1\ndictionary = "MedAscii"\n[[group]]\ntheta = 1\nlevel = 2\nvalues = ["x"]',
         "must be texts"),
        ('default = 1\ndictionary = "MedAscii"\n[[group]]\ntheta = 1\nvalues = ["x"]',
         "key dictionary does nothing: give a"),
        ('default = 1\ndictionary = "none"', "key dictionary does nothing: give a"),
        ('default = 1\ndictionary = "MedAscii"\n[[group]]\ntheta = 1\nlevel = "soc"\n'
         'values = []', "has no values: list some"),
        ('default = 1\n[[group]]\ntheta = 1\nvalues = []', "has no values: list some"),
    ],
)  # fmt: skip
def test_a_wrong_level_of_thresholds_is_refused(place: Path, text: str, told: str) -> None:
    file = place / "wrong.toml"
    file.write_text(text)
    with pytest.raises(ReleaseError, match=told):
        parse_theta(f"levels:{file}")


def test_a_policy_has_a_constraint_for_each_name_on_a_level(place: Path, tmp_path: Path) -> None:
    choice = parse_policy(f"level:HLGT:{place / 'MedAscii'}")
    assert choice.name == "level:HLGT"
    assert choice.fixed is not None
    assert set(choice.fixed.constraints) == {"Feelings", "Surfaces", "Airways"}
    assert {"Pain", "Ache", "Fever"} <= set(choice.fixed.constraints["Feelings"])
    with pytest.raises(PolicyError, match=r"term .* is in the constraints"):
        dictionary_policy(place / "atc.csv", "ATC4")
    with pytest.raises(PolicyError, match="is in the constraints 'A' and 'B'"):
        UtilityPolicy("two", {"A": ("x-y",), "B": ("X  Y",)}, spelled=True)
    made = UtilityPolicy("one", {"A": ("x-y",), "B": ("z",)}, spelled=True)
    spelled = made.in_spellings_of(["X Y", "X-Y", "X  Y", "X Y /00002701/", "XY"])
    assert {name: set(terms) for name, terms in spelled.constraints.items()} == {
        "A": {"x-y", "X Y", "X  Y", "X Y /00002701/"}, "B": {"z"}
    }  # fmt: skip
    tree = tmp_path / "tree.csv"
    tree.write_text("node,parent\nAny,\nA,Any\nB,A\nx,B\ny,A\n")
    asked = dictionary_policy(tree, "1").constraints
    assert asked == hierarchy_policy(load_hierarchy(tree), 1).constraints


def test_a_comparison_knows_its_dictionaries_by_what_they_say(place: Path, tmp_path: Path) -> None:
    copy = tmp_path / "other.csv"
    copy.write_bytes((place / "drugs.csv").read_bytes())
    pair = {"drug": "Paracilline", "reaction": "pain"}
    one = Rules(**pair, level=level(place))
    assert one.call["level"] == [level(place)]
    told = one.content.rpartition("drugname=")[2]
    other = Rules(**pair, level=[f"drugname=ingredient:{copy}"])
    assert other.content.rpartition("drugname=")[2] == told
    copy.write_text("name,ingredient\nParax 500 mg,Other\n")
    assert other.content.rpartition("drugname=")[2] != told
    with pytest.raises(CompareError, match="--level needs --rules"):
        Rules(level=level(place))
    with pytest.raises(SrsqlError):
        Rules(**pair, level=5)
