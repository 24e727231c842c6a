"""Questions over releases whose whole rows are taken apart: bounds, refusals, artifacts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.files import copied
from support.quarters import side_effects

from srsql.engine.api.analyst import open_artifact
from srsql.engine.api.engine import Engine
from srsql.engine.errors import QueryError

pytestmark = pytest.mark.thorough

QUARTER = "2011Q4"
DRUGS = [f"DRUG {n}" for n in range(5)]
REACTIONS = [f"REACTION {n}" for n in range(5)]
PATIENTS = side_effects(5, DRUGS, REACTIONS)
APART = {"model": "ms", "k": 3, "theta": "2/3", "seed": 1, "terms": "disassociate"}
BOTH = "FROM drug AS g JOIN reac AS r USING (caseid)"
COUNT = "COUNT(DISTINCT d.caseid)"
WITH_CASE = "FROM demo AS d JOIN drug AS g USING (caseid) JOIN reac AS r USING (caseid)"
QUESTIONS = [
    "SELECT COUNT(DISTINCT caseid) FROM demo",
    f"SELECT {COUNT} FROM demo AS d JOIN drug AS g USING (primaryid) WHERE g.drugname = 'DRUG 1'",
    f"SELECT {COUNT} FROM demo AS d, reac AS r WHERE d.caseid = r.caseid AND "
    "r.pt IN ('REACTION 1', 'REACTION 2') AND d.age >= 40",
    f"SELECT {COUNT} {WITH_CASE} WHERE g.drugname = 'DRUG 1' AND r.pt = 'REACTION 0'",
    f"SELECT {COUNT} {WITH_CASE} WHERE g.drugname IN ('DRUG 1', 'DRUG 3') AND r.pt = 'REACTION 0' "
    "AND (d.age >= 65 OR d.sex = 'F')",
    f"SELECT COUNT(DISTINCT g.caseid) {BOTH} WHERE g.drugname = 'DRUG 0' AND r.pt = 'REACTION 0'",
    f"SELECT r.pt, {COUNT} {WITH_CASE} WHERE g.drugname = 'DRUG 0' GROUP BY r.pt",
    f"SELECT g.drugname, r.pt, {COUNT} {WITH_CASE} WHERE d.sex = 'M' GROUP BY ALL",
    f"SELECT CASE WHEN d.age < 50 THEN 'below' ELSE 'above' END AS ages, {COUNT} {WITH_CASE} "
    "WHERE g.drugname = 'DRUG 2' AND r.pt = 'REACTION 3' AND d.age IS NOT NULL GROUP BY ages",
    f"SELECT d.sex, {COUNT} FROM demo AS d JOIN drug AS g USING (caseid) "
    "WHERE UPPER(g.drugname) = 'DRUG 4' GROUP BY d.sex",
    f"SELECT {COUNT} FROM demo AS d JOIN drug AS g ON d.caseid = g.caseid AND "
    "g.drugname = 'DRUG 1' JOIN drug AS h ON d.caseid = h.caseid AND h.drugname = 'DRUG 2'",
]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("questions")
    with Engine(copied(folder / "kept", folder / "w.duckdb", {QUARTER: PATIENTS})) as opened:
        opened.release(QUARTER, **APART, term_attributes="all")
        opened.release(
            QUARTER, **APART, term_attributes="drugname/role_cod,pt", term_cases=16, series="roles"
        )
        yield opened


def truth(engine: Engine, text: str) -> dict[tuple[object, ...], int]:
    """The same question over the raw rows of the cases that are released."""
    engine.con.execute(
        "CREATE OR REPLACE TEMP TABLE out_case AS "
        "SELECT m.case_id FROM srsql.member AS m WHERE m.release_id = 1"
    )
    for name, columns in (
        ("demo", "t.primaryid, t.caseid, t.srsql_age AS age, t.srsql_sex AS sex"),
        ("drug", "t.primaryid, r.caseid, t.drugname"),
        ("reac", "t.primaryid, r.caseid, t.pt"),
    ):
        engine.con.execute(
            f"CREATE OR REPLACE TEMP VIEW {name} AS SELECT DISTINCT {columns} "
            f"FROM raw_faers.{name} AS t JOIN raw_faers.demo AS r USING (primaryid) "
            "SEMI JOIN out_case AS c ON r.caseid::VARCHAR = c.case_id"
        )
    try:
        rows = engine.con.execute(text).fetchall()
    finally:
        for name in ("demo", "drug", "reac"):
            engine.con.execute(f"DROP VIEW {name}")
    return {by_key(row[:-1]): row[-1] for row in rows}


def by_key(group: tuple[object, ...]) -> tuple[object, ...]:
    """A group as answers tell it: items by their keys, which are in lower case."""
    return tuple(name.lower() if isinstance(name, str) else name for name in group)


@pytest.mark.parametrize("series", ["main", "roles"])
@pytest.mark.parametrize("text", QUESTIONS)
def test_the_originals_are_within_the_bounds(engine: Engine, text: str, series: str) -> None:
    if series == "roles" and "AS h" in text:  # of two drugs in any role, neither is one item
        with pytest.raises(QueryError, match="of two items one may stand for several"):
            engine.query(text, series=series)
        return
    found = engine.query(text, series=series)
    counts = truth(engine, text)
    told = {by_key(tuple(row[:-4])): row[-4:] for row in found.rows}
    assert set(counts) <= set(told)
    assert any(upper for _, _, upper, _ in told.values())
    for key, (lower, expected, upper, known) in told.items():
        assert known <= lower <= counts.get(key, 0) <= upper, (key, found.sql)
        assert lower - 1e-9 <= expected <= upper + 1e-9


def test_a_pair_is_counted_as_its_signal_is(engine: Engine) -> None:
    text = (
        f"SELECT {COUNT} {WITH_CASE} WHERE g.drugname = 'DRUG 1' AND r.pt = 'REACTION 2' "
        "AND d.age >= 30 AND d.sex = 'F'"
    )
    asked = {"drug": "DRUG 1", "reaction": "REACTION 2", "min_age": 30, "sex": "F"}
    (signal,) = engine.signals(**asked, released_only=True).signals
    ((lower, expected, upper, known),) = engine.query(text).rows
    told = signal.released
    assert (lower, upper, known) == (told.a_lower, told.a_upper, told.a_known)
    assert expected == pytest.approx(told.a)


def test_groups_are_ordered_and_cut_where_that_is_decided(engine: Engine) -> None:
    text = f"SELECT r.pt, {COUNT} AS n {WITH_CASE} WHERE g.drugname = 'DRUG 0' GROUP BY r.pt"
    every = list(engine.query(f"{text} ORDER BY r.pt DESC").rows)
    assert [row[0] for row in every] == sorted((row[0] for row in every), reverse=True)
    first = engine.query(f"{text} ORDER BY n DESC LIMIT 1")
    assert first.columns[-1] == "certain"
    assert len(first.rows) > 1
    most = max(row[1] for row in every)
    assert {row[0] for row in first.rows} == {row[0] for row in every if row[3] >= most}
    shown = engine.query(f"{text} HAVING {COUNT} > {most} ORDER BY r.pt")
    assert {row[-1] for row in shown.rows} == {"possible"}
    for asked in ("AVG(d.age)", f"{COUNT} FILTER (WHERE d.age > 40)"):
        with pytest.raises(QueryError, match="one COUNT without a FILTER is answered"):
            engine.query(f"SELECT {asked} {WITH_CASE} WHERE g.drugname = 'DRUG 0'")


def test_withheld_cases_raise_the_upper_bound(engine: Engine) -> None:
    text = "SELECT COUNT(DISTINCT caseid) FROM drug WHERE drugname = 'DRUG 1'"
    plain, raised = engine.query(text), engine.query(text, include_withheld=True)
    assert raised.rows[0][2] == plain.rows[0][2] + raised.withheld
    assert any("items are told of clusters" in note for note in plain.notes)


def test_an_artifact_gives_the_answers_of_the_warehouse(engine: Engine, tmp_path: Path) -> None:
    engine.publish(QUARTER, to=tmp_path / "out")
    with open_artifact(tmp_path / "out") as artifact:
        for text in QUESTIONS[::3]:
            assert artifact.query(text).rows == engine.query(text).rows


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("SELECT COUNT(*) FROM drug WHERE drugname = 'X'", "cases are counted: ask for COUNT"),
        (f"SELECT {COUNT} FROM demo AS d JOIN drug AS g USING (caseid)", "no item of it is named"),
        (
            f"SELECT {COUNT} {WITH_CASE} WHERE NOT g.drugname = 'DRUG 1' AND r.pt = 'REACTION 1'",
            "a question names them by = or IN",
        ),
        (
            f"SELECT {COUNT} FROM demo AS d JOIN drug AS g USING (caseid) "
            "WHERE g.drugname = 'DRUG 1' OR d.age > 40",
            "a question names them by = or IN",
        ),
        (
            f"SELECT {COUNT} FROM demo AS d JOIN drug AS g USING (primaryid) JOIN reac AS r "
            "USING (primaryid) WHERE g.drugname = 'DRUG 1' AND r.pt = 'REACTION 1'",
            "items are told of cases, not of reports: join g and r by caseid",
        ),
        (
            f"SELECT {COUNT} FROM demo AS d JOIN drug AS g USING (caseid) WHERE g.role_cod = 'PS'",
            "g.role_cod is no item of this release, which tells",
        ),
        (
            f"SELECT {COUNT} FROM demo AS d JOIN drug AS g USING (caseid) JOIN drug AS h "
            "USING (caseid) WHERE g.drugname = 'DRUG 1' AND h.drugname = 'drug 1'",
            "may be one item",
        ),
        (
            "SELECT COUNT(DISTINCT caseid) FROM drug WHERE drugname = 'DRUG 77'",
            "no cluster has drugname 'DRUG 77': did you mean",
        ),
        (
            f"SELECT {COUNT} FROM demo AS d WHERE EXISTS (SELECT 1 FROM drug AS g "
            "WHERE g.caseid = d.caseid AND g.drugname = 'DRUG 1')",
            "a subquery is refused where whole rows are taken apart",
        ),
    ],
)
def test_what_clusters_do_not_tell_is_refused_in_one_line(
    engine: Engine, text: str, why: str
) -> None:
    with pytest.raises(QueryError) as refused:
        engine.query(text)
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)
