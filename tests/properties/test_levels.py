"""Counts on a level of a dictionary are as exact as counts of values, and bounds hold the truth."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import pytest
from oracles import levels as oracle
from oracles.signals import Case, Condition, contingency
from support.dictionaries import write_meddra
from support.quarters import Report, write_quarter

from srsql.engine.api.engine import Engine
from srsql.engine.signals.results import Measures

pytestmark = pytest.mark.thorough

INGREDIENT: dict[str, set[str]] = {
    "BRAND A": {"ALPHA"}, "ALPHA 5 MG": {"ALPHA"}, "ALPHA": {"ALPHA"}, "BOTH": {"ALPHA", "BETA"},
    "BETA": {"BETA"},
}  # fmt: skip
GROUP = {"PAIN": {"BODY"}, "FEVER": {"BODY"}, "RASH": {"SKIN", "BODY"}, "BODY": {"BODY"}}
DRUGS = ("Brand A", "alpha 5 mg", "Alpha", "both", "beta", "Unlisted", "BRAND A ", "unlisted ")
REACTIONS = ("Pain", "Rash", "Cough", "Fever")
SPAN, SEXES = (0, 120), {"M": (0, 0), "F": (1, 1)}


@dataclass(frozen=True)
class Place:
    """Two released quarters, and the dictionaries."""

    engine: Engine
    level: tuple[str, str]
    quarters: list[list[Report]]


def reports(rng: random.Random, cases: range, version: int) -> list[Report]:
    found = []
    for case in cases:
        found += [
            Report(
                100 * case + 10 * version + number,
                case,
                age=rng.choice(["", str(rng.randint(10, 70))]) if number == 0 else "",
                sex=rng.choice(["M", "F", ""]) if number == 0 else "",
                wt="70",
                pt=tuple(r for r in REACTIONS if rng.random() < 0.3),
                drugs=tuple(d for d in DRUGS if rng.random() < 0.3),
                roles=tuple(rng.choices(("PS", "C"), [4, 1], k=len(DRUGS))),
                indi=tuple(rng.choices(
                    ("Pain", "Product used for unknown indication", "Cough"), k=1
                )),
            )
            for number in range(rng.choice([1, 2]))
        ]  # fmt: skip
    return found


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder, rng = tmp_path_factory.mktemp("levels"), random.Random(11)
    rows = [("name", "ingredient")] + [(t, n) for t, names in INGREDIENT.items() for n in names]
    (folder / "drugs.csv").write_text("\n".join(",".join(row) for row in rows))
    rows = [("term", "group")] + [(t, n) for t, names in GROUP.items() for n in names]
    rows += [("Product used for unknown indication", "ADMINISTRATIVE")]
    (folder / "terms.csv").write_text("\n".join(",".join(row) for row in rows))
    quarters = [reports(rng, range(1, 45), 1), reports(rng, range(25, 70), 2)]
    engine = Engine(folder / "w.duckdb")
    for label, found in zip(("2011Q1", "2011Q2"), quarters, strict=True):
        engine.ingest([write_quarter(folder, label, found)])
        engine.release(label, model="ppms++", k=3, theta="1", seed=3, leftovers="merge")
    assert engine.sql("SELECT count(*) FROM srsql.withheld AS w") == [(0,)]
    level = (f"drugname=ingredient:{folder / 'drugs.csv'}", f"pt=group:{folder / 'terms.csv'}")
    return Place(engine, level, quarters)


def latest(quarters: list[list[Report]]) -> dict[int, list[Report]]:
    """Each case with its reports of the latest quarter that has it."""
    newest = {report.caseid: n for n, found in enumerate(quarters) for report in found}
    return {c: [r for r in quarters[n] if r.caseid == c] for c, n in newest.items()}


def truth(quarters: list[list[Report]]) -> list[Case]:
    """Each case as its latest quarter tells, in the oracle's shape, on the levels."""
    found = []
    for own in latest(quarters).values():
        ages = [int(report.age) for report in own if report.age]
        sexes = [SEXES[report.sex][0] for report in own if report.sex]
        suspects = [
            drug
            for report in own
            for drug, role in zip(report.drugs, report.roles, strict=False)
            if role == "PS"
        ]
        found.append(
            Case(
                oracle.names(INGREDIENT, suspects),
                oracle.names(GROUP, [term for report in own for term in report.pt]),
                {
                    0: (min(ages), max(ages)) if ages else None,
                    2: (min(sexes), max(sexes)) if sexes else None,
                },
            )
        )
    return found


def bounds(measured: Measures, cell: str) -> tuple[int, int]:
    return getattr(measured, f"{cell}_lower"), getattr(measured, f"{cell}_upper")


def test_pairs_of_ingredient_and_group_are_counted_as_the_originals_have_them(place: Place) -> None:
    found = place.engine.signals(every_pair=True, level=place.level)
    cases = truth(place.quarters)
    assert {s.drug for s in found.signals} >= {"alpha", "beta", "unlisted"}
    assert {s.reaction for s in found.signals} == {"body", "skin", "cough"}
    for signal in found.signals:
        table = contingency(cases, signal.drug, signal.reaction, {})
        assert signal.original == signal.released
        assert {cell: getattr(signal.released, cell) for cell in "abcd"} == {
            cell: counts[1] for cell, counts in table.items()
        }
    assert found.levels == (
        "drugname counts on level ingredient of drugs.csv: names are compared by the keys of "
        "terms; 1 of 6 values are not in it and count as themselves",
        "pt counts on level group of terms.csv: names are compared by the keys of terms; "
        "1 of 4 values are not in it and count as themselves",
    )


def test_spellings_of_a_value_are_one_in_what_is_said_of_a_level(place: Place) -> None:
    """``drugs --unmatched`` counts the same; published rows keep the spellings of the reports."""
    rows = place.engine.sql("SELECT count(DISTINCT d.drugname) FROM released.drug AS d")
    assert rows == [(8,)]
    answer = place.engine.query("SELECT COUNT(DISTINCT caseid) FROM drug WHERE drugname = 'ALPHA'",
                                level=place.level[0])  # fmt: skip
    found = place.engine.drugs(place.level[0], series="main")
    assert (found.lacking, found.found) == (1, 6)
    assert answer.notes[-1].endswith("; 1 of 6 values are not in it and count as themselves")


def test_no_table_is_left_behind(place: Place) -> None:
    place.engine.query("SELECT COUNT(DISTINCT caseid) FROM reac WHERE pt = 'BODY'",
                       level=place.level)  # fmt: skip
    place.engine.drugs(place.level[0], unmatched=True)
    found = place.engine.sql("SELECT t.table_name FROM duckdb_tables() AS t WHERE t.temporary")
    assert not [name for (name,) in found if name.startswith("srsql_level")]


def test_under_a_condition_the_truth_lies_between_the_bounds(place: Place) -> None:
    asked = {0: Condition((18, 50), SPAN), 2: Condition(SEXES["F"], (0, 1))}
    found = place.engine.signals(
        every_pair=True, min_age=18, max_age=50, sex="F", level=place.level
    )
    cases = truth(place.quarters)
    assert found.signals
    for signal in found.signals:
        assert signal.original is not None
        for cell, (lower, expected, upper) in contingency(
            cases, signal.drug, signal.reaction, asked
        ).items():
            assert bounds(signal.original, cell) == (lower, upper)
            assert getattr(signal.original, cell) == pytest.approx(float(expected), abs=1e-6)
            least, most = bounds(signal.released, cell)
            assert least <= lower <= upper <= most


def holders(quarters: list[list[Report]], column: str, name: str) -> set[int]:
    """The cases of which some report of some quarter has the name on the level."""
    tables = {"drugs": INGREDIENT, "pt": GROUP}
    return {
        report.caseid
        for found in quarters
        for report in found
        if name in oracle.names(tables[column], getattr(report, column))
    }


@pytest.mark.parametrize(("column", "name"), [("pt", "Body"), ("pt", "skin"), ("drugs", "ALPHA")])
def test_a_question_without_quasi_identifiers_is_answered_exactly(
    place: Place, column: str, name: str
) -> None:
    table, shown = ("reac", "pt") if column == "pt" else ("drug", "drugname")
    everybody = {report.caseid for found in place.quarters for report in found}
    wanted = holders(place.quarters, column, name.lower())
    (row,) = place.engine.query(
        f"SELECT COUNT(DISTINCT caseid) FROM {table} WHERE {shown} = '{name}'", level=place.level
    ).rows
    assert row == (len(wanted),) * 4
    (row,) = place.engine.query(
        f"SELECT COUNT(DISTINCT caseid) FROM demo WHERE caseid NOT IN (SELECT caseid FROM {table} "
        f"WHERE {shown} IN ('{name}'))", quarter="2011Q1", level=place.level,
    ).rows  # fmt: skip
    first = {report.caseid for report in place.quarters[0]}
    assert row[0] == len(first - holders(place.quarters[:1], column, name.lower()))
    assert row[0] <= len(everybody)


def test_groups_by_a_level_are_the_cases_of_each_name(place: Place) -> None:
    answer = place.engine.query(
        "SELECT pt, COUNT(DISTINCT caseid) FROM reac GROUP BY pt", level=[place.level[1]]
    )
    assert {row[0]: row[1] for row in answer.rows} == {
        name: len(holders(place.quarters, "pt", name)) for name in ("body", "skin", "cough")
    }
    assert answer.notes[-1].startswith("pt counts on level group of terms.csv")


def test_bounds_of_a_question_with_ages_hold_the_truth(place: Place) -> None:
    for name in ("body", "skin"):
        (row,) = place.engine.query(
            "SELECT COUNT(DISTINCT demo.caseid) FROM demo JOIN reac USING (primaryid) "
            f"WHERE pt = '{name}' AND age >= 40", quarter="2011Q1", level=place.level,
        ).rows  # fmt: skip
        ages = {
            case: {int(r.age) for r in place.quarters[0] if r.caseid == case and r.age}
            for case in holders(place.quarters[:1], "pt", name)
        }
        surely = sum(bool(known) and min(known) >= 40 for known in ages.values())
        possibly = sum(not known or max(known) >= 40 for known in ages.values())
        assert row[0] <= surely <= possibly <= row[2]


def test_what_means_not_known_has_no_name_on_a_level(place: Place) -> None:
    level = [place.level[1].replace("pt=", "indi_pt=")]
    answer = place.engine.query(
        "SELECT indi_pt, COUNT(DISTINCT caseid) FROM indi GROUP BY indi_pt", level=level
    )
    names = {row[0] for row in answer.rows}
    assert not {"ADMINISTRATIVE", None} & names
    assert {"BODY", "COUGH"} <= names
    (row,) = place.engine.query(
        "SELECT COUNT(DISTINCT caseid) FROM indi WHERE NOT indi_pt = 'BODY'", level=level
    ).rows
    found = {
        r.caseid for q in place.quarters for r in q for i in r.indi
        if i in ("Cough",)
    }  # fmt: skip
    assert row[0] == row[2] == len(found)


def test_rows_are_counted_on_a_level_where_each_has_one_name(place: Place, tmp_path: Path) -> None:
    from srsql.engine.errors import QueryError

    with pytest.raises(QueryError, match=r"'Rash' has several names on level group.*count cases"):
        place.engine.query("SELECT COUNT(*) FROM reac", level=[place.level[1]])
    level = [f"pt=soc:{write_meddra(tmp_path)}"]
    (row,) = place.engine.query(
        "SELECT COUNT(*) FROM reac WHERE pt = 'Body as a whole'", level=level
    ).rows
    assert (
        row[0]
        == row[2]
        == sum(term in ("Pain", "Fever") for q in place.quarters for r in q for term in r.pt)
    )


def test_a_name_allows_for_every_case_of_which_some_value_is_suppressed(tmp_path: Path) -> None:
    """Six of ten cases have Rash, six Burn, four may: two lose the one, two the other."""
    people = [
        Report(
            10 * n, n, age=str(30 + n), sex="M", wt="70", drugs=("Drug",),
            pt=(*(["Rash"] if n <= 6 else []), *(["Burn"] if n >= 5 else []), f"Own {n}"),
        )
        for n in range(1, 11)
    ]  # fmt: skip
    (tmp_path / "skin.csv").write_text("term,hlt\nRash,Skin\nBurn,Skin\n")
    level, shown = [f"pt=hlt:{tmp_path / 'skin.csv'}"], []
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q4", people)])
        for seed in range(3):
            series = f"s{seed}"
            engine.release("2011Q4", model="ms", k=10, theta="0.4", seed=seed, series=series,
                           on_infeasible="suppress", allow_linkable=True)  # fmt: skip
            (row,) = engine.query("SELECT COUNT(DISTINCT caseid) FROM reac WHERE pt = 'Skin'",
                                  series=series, level=level).rows  # fmt: skip
            (signal,) = engine.signals(drug="drug", reaction="skin", series=series, level=level,
                                       released_only=True).signals  # fmt: skip
            shown.append(row[0])
            assert row[0] <= 10 <= row[2]
            assert signal.released.a_lower <= 10 <= signal.released.a_upper
    assert min(shown) < 8  # more cases lost their name than lost any one value
