"""`srsql query` of what a release shows otherwise: placeholders, pseudonyms, numbers of drugs."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest
from support.quarters import crowd, write_quarter

from srsql.engine.api.engine import Engine
from srsql.engine.errors import QueryError

pytestmark = pytest.mark.slow

CASES = "SELECT COUNT(DISTINCT caseid) FROM demo"


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A quarter with placeholders in several spellings, and two reports of every case."""
    folder = tmp_path_factory.mktemp("spoken")
    words = (
        "A",
        "Bee",
        "Product used for unknown indication",
        "PRODUCT USED for unknown INDICATION",
    )
    first = [
        replace(report, indi=(words[n % 4], words[n // 4 % 4], ""), pt=("R", "S")[: 1 + n % 2])
        for n, report in enumerate(crowd(32))
    ]
    again = [
        replace(report, primaryid=report.primaryid + 1, pt=("T",), drugs=("Drug 1", "Drug 2"))
        for report in first
    ]
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest([write_quarter(folder, "2011Q3", first + again)])
        engine.release("2011Q3", k=2, theta="1", seed=1, ids="original")
        engine.release("2011Q3", k=2, theta="1", seed=1, series="partners", allow_linkable=True)
        assert engine.query("SELECT COUNT(DISTINCT primaryid) FROM demo").rows[0][0] == 64
        yield engine


BLANK = "SELECT COUNT(*) FROM indi WHERE "
HIDDEN = [
    pytest.param(f"{BLANK} indi_pt IS NULL", marks=pytest.mark.thorough),
    *(
        f"{BLANK} {condition}"
        for condition in (
            "NOT trim(indi_pt) IS NULL",
            "indi_pt <> 'Disease 01'",
            "NOT indi_pt = 'Disease 01'",
            "NOT (indi_drug_seq = '1' AND indi_pt = 'Disease 01')",
            "indi_pt NOT IN ('Disease 01')",
            "indi_pt > 'Disease 01'",
            "indi_pt BETWEEN 'A' AND 'Z'",
            "indi_pt LIKE 'Product%'",
            "indi_pt LIKE '%USE_%unknown%'",
            "lower(indi_pt) LIKE 'p_o%on'",
            "indi_pt ILIKE 'DRUG%'",
            "indi_pt LIKE trim(' D%')",
            "indi_pt NOT LIKE 'Disease%'",
            "starts_with(indi_pt, '')",
            "contains(upper(indi_pt), 'UNKNOWN')",
            "'Disease' LIKE indi_pt",
            "indi_pt = indi_pt",
        )
    ),
    "SELECT COUNT(*) FROM indi JOIN reac USING (primaryid) WHERE indi_pt = pt",
    f"{CASES} WHERE EXISTS (SELECT 1 FROM indi WHERE indi.caseid = demo.caseid AND indi_pt <> 'x')",
    "SELECT CASE WHEN indi_pt <> 'x' THEN 'a' ELSE 'b' END AS g, COUNT(*) FROM indi GROUP BY g",
    "SELECT CASE WHEN 1 = 1 THEN indi_pt END AS g, COUNT(*) FROM indi GROUP BY g",
]


@pytest.mark.parametrize("sql", HIDDEN)
def test_conditions_that_a_placeholder_may_meet_are_refused(spoken: Engine, sql: str) -> None:
    with pytest.raises(QueryError, match="'Product used for unknown indication' and the like"):
        spoken.query(sql)


@pytest.mark.parametrize(
    "condition",
    [
        "indi_pt = 'A'",
        "'A' IN (indi_pt, 'C')",
        "lower(indi_pt) IN ('a', 'b')",
        "NOT indi_pt <> 'A'",
        "NOT (indi_pt <> 'A' OR NOT EXISTS (SELECT 1 FROM reac r WHERE "
        "r.primaryid = indi.primaryid AND r.pt = 'R'))",
        "indi_pt LIKE 'Bee%' OR indi_pt LIKE 'Disease_'",
        "starts_with(upper(indi_pt), 'BEE')",
        "NOT EXISTS (SELECT 1 FROM indi i WHERE i.primaryid = indi.primaryid AND i.indi_pt = 'A')",
    ],
)
def test_what_no_placeholder_meets_is_counted_as_in_the_originals(
    spoken: Engine, condition: str
) -> None:
    sql = f"SELECT COUNT(*) FROM indi WHERE {condition}"
    ((truth,),) = spoken.con.execute(sql.replace("FROM ", "FROM raw_faers.")).fetchall()
    assert truth
    found = spoken.query(sql, allow_unknown=True)
    assert found.rows == ((truth, float(truth), truth, truth),)


@pytest.mark.thorough
def test_a_pattern_is_refused_just_where_some_spelling_of_a_placeholder_matches(
    spoken: Engine,
) -> None:
    rng = random.Random(3)
    terms = ["Product used for unknown indication", "Drug use for unknown indication"]
    outcomes = set()
    for _ in range(40):
        pattern = rng.choice(terms)
        for _ in range(rng.randint(1, 3)):
            start = rng.randrange(len(pattern))
            gone = rng.choice([0, 1, 1, len(pattern)])
            pattern = pattern[:start] + rng.choice("%_") + pattern[start + gone :]
        matched = spoken.con.execute(
            "SELECT bool_or(term ILIKE ?) FROM unnest(?) AS t(term)", [pattern, terms]
        ).fetchall()[0][0]
        try:
            spoken.query(f"SELECT COUNT(*) FROM indi WHERE indi_pt LIKE '{pattern.swapcase()}'")
            refused = False
        except QueryError:
            refused = True
        assert refused == matched, pattern
        outcomes.add(refused)
    assert outcomes == {True, False}


def test_groups_of_a_column_with_placeholders_have_no_row_for_the_missing(spoken: Engine) -> None:
    found = spoken.query("SELECT indi_pt, COUNT(*) FROM indi GROUP BY 1")
    truth = spoken.con.execute(
        "SELECT lower(indi_pt), count(*) FROM raw_faers.indi "
        "WHERE upper(indi_pt) <> 'PRODUCT USED FOR UNKNOWN INDICATION' GROUP BY 1 ORDER BY 1"
    ).fetchall()
    assert [(name, lower) for name, lower, *_ in found.rows] == truth
    assert any("indi_pt is missing or only says that it is not known" in n for n in found.notes)
    twice = spoken.query(
        "SELECT a.indi_pt AS one, b.indi_pt AS other, COUNT(*) FROM indi a JOIN indi b "
        "USING (primaryid) GROUP BY ALL"
    )
    assert {row[:2] for row in twice.rows} == {(a, b) for a in ("a", "bee") for b in ("a", "bee")}
    asked = (
        "SELECT CASE WHEN indi_pt = 'A' THEN 'a' ELSE 'other' END AS g, COUNT(*) FROM indi "
        "GROUP BY g ORDER BY g"
    )
    truth = spoken.con.execute(asked.replace("indi G", "raw_faers.indi G")).fetchall()
    assert [row[:2] for row in spoken.query(asked).rows] == truth


def test_reports_are_those_of_the_table_that_is_named(spoken: Engine) -> None:
    counts = {
        (a, b): spoken.query(
            f"SELECT COUNT(DISTINCT {a}.primaryid) FROM demo d JOIN reac r ON d.caseid = r.caseid "
            f"WHERE {b}.primaryid = 11 AND d.age >= 0"
        ).rows[0]
        for a in "dr"
        for b in "dr"
    }
    assert {pair: (low, high) for pair, (low, _, high, _) in counts.items()} == {
        ("d", "d"): (1, 1),
        ("d", "r"): (2, 2),
        ("r", "d"): (2, 2),
        ("r", "r"): (1, 1),
    }


@pytest.mark.parametrize(
    ("sql", "name"),
    [
        (f"{CASES} WHERE caseid = 7", "caseid"),
        (f"{CASES} WHERE primaryid NOT IN (71, 72)", "primaryid"),
        (f"{CASES} WHERE primaryid BETWEEN 1 AND 2", "primaryid"),
        (f"{CASES} WHERE primaryid = caseid", "primaryid"),
        (
            "SELECT COUNT(*) FROM demo, drug d WHERE d.caseid = demo.caseid AND d.primaryid > 1",
            "",
        ),
        ("SELECT caseid, COUNT(*) FROM demo GROUP BY 1", "caseid"),
        ("SELECT CASE WHEN 1 = 1 THEN caseid END AS g, COUNT(*) FROM demo GROUP BY g", "caseid"),
    ],
)
def test_pseudonyms_are_compared_with_each_other_only(spoken: Engine, sql: str, name: str) -> None:
    with pytest.raises(QueryError, match=f"{name}: ids of series 'partners' are pseudonyms"):
        spoken.query(sql, series="partners")


@pytest.mark.parametrize(
    "condition",
    [
        "d.drug_seq = '1'",
        "d.drug_seq IN ('1', '2')",
        "d.drug_seq < i.indi_drug_seq",
        "d.drug_seq LIKE '1%'",
        "trim(d.drug_seq) = i.indi_drug_seq",
        "d.drug_seq = i.indi_pt",
        "EXISTS (SELECT 1 FROM drug e WHERE e.caseid = d.caseid AND e.drug_seq = d.drug_seq)",
    ],
)
def test_numbers_that_a_series_counts_anew_are_compared_within_a_report(
    spoken: Engine, condition: str
) -> None:
    sql = f"SELECT COUNT(*) FROM drug d JOIN indi i USING (primaryid) WHERE {condition}"
    with pytest.raises(QueryError, match="series 'partners' counts it from 1 in every report"):
        spoken.query(sql, series="partners")


@pytest.mark.thorough
def test_pseudonyms_and_numbers_join_as_the_originals_do(spoken: Engine) -> None:
    for sql in (
        "SELECT COUNT(*) FROM drug d JOIN indi i ON d.primaryid = i.primaryid "
        "AND d.drug_seq = i.indi_drug_seq WHERE i.indi_pt = 'A'",
        "SELECT COUNT(DISTINCT d.primaryid) FROM drug d JOIN indi i ON d.caseid = i.caseid "
        "WHERE d.primaryid <> i.primaryid AND i.indi_drug_seq IS NOT NULL",
        "SELECT COUNT(DISTINCT caseid) FROM demo WHERE caseid IN (SELECT caseid FROM reac "
        "WHERE pt = 'S')",
    ):
        own = spoken.query(sql)
        assert own.rows[0][0] > 0
        assert spoken.query(sql, series="partners").rows == own.rows
