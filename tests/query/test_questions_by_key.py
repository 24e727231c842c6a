"""Questions compare and group terms by their keys: all spellings of a term are one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support.quarters import crowd, write_quarter

from srsql.engine.api.analyst import open_artifact
from srsql.engine.api.engine import Engine
from srsql.engine.errors import QueryError

SPELLINGS = ("Crohn's disease", "CROHN^S DISEASE", "Crohn\u2019s  Disease.")
"""Of one term; the sentence of the test says which cases have which."""
BY_KEY = "terms are compared and grouped by their keys"
COUNT = "SELECT COUNT(DISTINCT caseid) FROM reac WHERE "


def reports() -> list[tuple[int, str]]:
    """Case -> its reaction: every third case has the term, each in one of three spellings."""
    return [
        (case, SPELLINGS[case // 3 % 3] if case % 3 == 0 else f"Reaction {case % 11:02d}")
        for case in range(1, 61)
    ]


HOLDERS = sum(term in SPELLINGS for _, term in reports())


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A quarter in which a term has three spellings; of it one series by keys, one by spellings."""
    folder, terms = tmp_path_factory.mktemp("keys"), dict(reports())
    found = [
        replace(r, pt=(terms[r.caseid],), indi=("Pain",), drugs=("crohn`s DISEASE",))
        for r in crowd(60)
    ]
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest([write_quarter(folder, "2011Q4", found)])
        asked = {"k": 3, "theta": "1", "seed": 1, "allow_linkable": True}
        engine.release("2011Q4", **asked)
        engine.release("2011Q4", series="old", term_key=0, **asked)
        yield engine


def released(engine: Engine) -> dict[str, int]:
    """Spelling -> released cases that have it."""
    return dict(
        engine.sql("SELECT r.pt, count(DISTINCT r.caseid) FROM released.reac AS r GROUP BY r.pt")
    )


@pytest.mark.parametrize(
    "condition",
    [
        "pt = 'crohn`s DISEASE'",
        "'Crohn^s disease' = pt",
        "pt IN ('Nobody has it', 'CROHNS DISEASE', 'Cr\u00f6hn\u02bcs disease')",
        "UPPER(TRIM(pt)) = 'Crohn''s disease'",
        "NOT pt <> 'Crohn''s disease'",
        "CASE WHEN caseid = caseid THEN pt ELSE 'none' END = 'Crohn^s disease'",
    ],
)
def test_an_equality_finds_all_spellings_of_a_term(house: Engine, condition: str) -> None:
    own = sum(count for term, count in released(house).items() if term in SPELLINGS)
    assert own == HOLDERS
    answer = house.query(COUNT + condition, allow_unknown=True)
    assert answer.rows == ((own, float(own), own, own),)
    assert any(note.startswith(BY_KEY) for note in answer.notes)
    assert "srsql.term_key" not in answer.sql  # plain SQL over the views


def test_groups_are_keys_and_each_has_the_cases_of_all_its_spellings(house: Engine) -> None:
    answer = house.query("SELECT pt, COUNT(DISTINCT caseid) FROM reac GROUP BY pt")
    due: dict[str, int] = {}
    for term, count in released(house).items():
        key = "crohn's disease" if term in SPELLINGS else term.lower()
        due[key] = due.get(key, 0) + count
    assert {row[0]: row[1] for row in answer.rows} == due
    upper = house.query("SELECT UPPER(pt), COUNT(DISTINCT caseid) FROM reac GROUP BY UPPER(pt)")
    assert {row[0]: row[1] for row in upper.rows} == {key.upper(): n for key, n in due.items()}


def test_two_columns_are_compared_by_their_keys(house: Engine) -> None:
    asked = (
        "SELECT COUNT(DISTINCT r.caseid) FROM reac r JOIN drug d ON r.primaryid = d.primaryid "
        "WHERE r.pt = d.drugname"
    )
    assert house.query(asked).rows == ((HOLDERS, float(HOLDERS), HOLDERS, HOLDERS),)


def test_searches_and_ranges_look_at_spellings(house: Engine) -> None:
    spelled = released(house)
    for condition, found in (
        ("pt LIKE 'CROHN%'", [term for term in spelled if term.startswith("CROHN")]),
        ("pt >= 'D'", [term for term in spelled if term >= "D"]),
    ):
        ((lower, _, upper, _),) = house.query(COUNT + condition).rows
        assert lower == upper == sum(spelled[term] for term in found) > 0


def test_a_series_of_version_0_is_asked_by_spellings_as_before(house: Engine) -> None:
    spelled = released(house)
    for term in SPELLINGS:
        quoted = term.replace("'", "''")
        answer = house.query(f"{COUNT}pt = '{quoted}'", series="old")
        assert answer.rows[0][0] == spelled[term]
        assert not any(note.startswith(BY_KEY) for note in answer.notes)
    with pytest.raises(QueryError, match="no released row has pt"):
        house.query(f"{COUNT}pt = 'crohn^s disease'", series="old")


@pytest.mark.thorough
def test_an_artifact_answers_by_keys_as_its_manifest_says(house: Engine, tmp_path: Path) -> None:
    house.publish("2011Q4", tmp_path / "out", allow_linkable=True)
    asked = f"{COUNT}pt = 'crohn^s disease'"
    with open_artifact(tmp_path / "out") as artifact:
        assert artifact.query(asked).rows == house.query(asked).rows
        assert artifact.spellings(column="pt") == house.spellings(column="pt", released_only=True)


def test_what_may_spell_a_placeholder_is_not_searched_for(house: Engine) -> None:
    """It is published as missing, however it is spelled."""
    count = "SELECT COUNT(DISTINCT caseid) FROM indi WHERE "
    for condition in ("indi_pt ILIKE 'product used for unkn\u00f6wn%'", "indi_pt LIKE '%.%'"):
        with pytest.raises(QueryError, match="published as missing"):
            house.query(count + condition)
    with pytest.raises(QueryError, match="means not known"):
        house.query(f"{count}indi_pt = 'Product used for unknown indication.'")
    assert house.query(f"{count}indi_pt LIKE 'Pa%'").rows[0][0] > 0
