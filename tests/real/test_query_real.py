"""Questions to a real quarter: the truth of the originals lies within the bounds."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from support.real_data import needs

from srsql.engine.api.engine import Engine

QUARTER = "2022Q4"
pytestmark = [pytest.mark.thorough, needs("faers/faers_ascii_2022Q4.zip")]
ORIGINALS = """
CREATE TEMP TABLE person AS
SELECT
    d.caseid,
    min(d.srsql_age) AS age_low, max(d.srsql_age) AS age_high,
    min(d.srsql_wt) AS wt_low, max(d.srsql_wt) AS wt_high,
    CASE WHEN count(DISTINCT d.srsql_sex) <= 1 THEN max(d.srsql_sex) END AS sex,
    count(DISTINCT d.srsql_sex) > 1 AS both_sexes
FROM raw_faers.demo AS d GROUP BY d.caseid
"""


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory, real: Any) -> Iterator[Engine]:
    with Engine(real("2022Q4", tmp_path_factory.mktemp("real") / "w.duckdb")) as opened:
        opened.release(QUARTER, k=5, theta="frequency", on_infeasible="withhold", seed=1)
        opened.con.execute(ORIGINALS)
        yield opened


def conditions(rng: random.Random) -> Iterator[tuple[str, str, str]]:
    """A condition, and in SQL over ``person`` when it holds of every value and of some value."""
    for _ in range(12):
        low, high = sorted(rng.sample(range(100), 2))
        yield (
            f"age BETWEEN {low} AND {high}",
            f"p.age_low >= {low} AND p.age_high <= {high}",
            f"p.age_high >= {low} AND p.age_low <= {high}",
        )
    for _ in range(6):
        edge, sex = rng.randint(20, 80), rng.choice("MF")
        yield (
            f"wt > {edge} AND sex = '{sex}'",
            f"p.wt_low > {edge} AND coalesce(p.sex = '{sex}', false)",
            f"p.wt_high > {edge} AND (coalesce(p.sex = '{sex}', false) OR p.both_sexes)",
        )
        yield (
            f"NOT (age < {edge} OR sex <> '{sex}')",
            f"p.age_low >= {edge} AND coalesce(p.sex = '{sex}', false)",
            f"p.age_high >= {edge} AND (coalesce(p.sex = '{sex}', false) OR p.both_sexes)",
        )


def test_the_truth_of_2022q4_lies_within_the_bounds(engine: Engine) -> None:
    rng = random.Random(22)
    terms = [
        row[0].replace("'", "''")
        for row in engine.sql(
            "SELECT r.pt FROM raw_faers.reac AS r GROUP BY r.pt "
            "ORDER BY count(*) DESC, r.pt LIMIT 30"
        )
    ]
    straddling = 0
    for condition, every, some in conditions(rng):
        term = rng.choice(terms)
        child = "SELECT 1 FROM raw_faers.reac AS r INNER JOIN raw_faers.demo AS d "
        child += f"USING (primaryid) WHERE d.caseid = p.caseid AND r.pt = '{term}'"
        for source, extra in (
            ("demo", "true"),
            ("demo JOIN reac USING (primaryid)", f"EXISTS ({child})"),
        ):
            text = f"SELECT COUNT(DISTINCT caseid) FROM {source} WHERE {condition}"
            text += f" AND pt = '{term}'" if extra != "true" else ""
            ((lower, expected, upper, known),) = engine.query(text, allow_unknown=True).rows
            truths = [
                engine.sql(f"SELECT count(*) FROM person AS p WHERE {test} AND {extra}")[0][0]
                for test in (every, some)
            ]
            assert lower <= truths[0] <= truths[1] <= upper, text
            assert known == lower <= expected <= upper, text
            straddling += lower < upper
    assert straddling > 20


def test_groups_of_real_terms_are_exact_where_no_quasi_identifier_is_asked(engine: Engine) -> None:
    found: dict[Any, Any] = {
        row[0]: row[1:]
        for row in engine.query(
            "SELECT pt, COUNT(DISTINCT demo.caseid) FROM demo JOIN reac USING (primaryid) "
            "GROUP BY pt"
        ).rows
    }
    own = engine.sql(
        "SELECT r.pt, count(DISTINCT d.caseid) FROM raw_faers.demo AS d "
        "INNER JOIN raw_faers.reac AS r USING (primaryid) GROUP BY r.pt"
    )
    assert found == {term: (count,) * 4 for term, count in own}


def test_the_women_from_65_whose_age_and_sex_are_known_are_told_apart(engine: Engine) -> None:
    """1,580 of the originals have a known age and sex; unknown ages made 2,184 expected of them."""
    text = "SELECT COUNT(DISTINCT caseid) FROM demo WHERE age >= 65 AND sex = 'F'"
    ((truth,),) = engine.sql(
        "SELECT count(*) FROM person AS p WHERE p.age_low >= 65 AND p.sex = 'F'"
    )
    assert truth == 1580
    ((lower, expected, upper, known),) = engine.query(text).rows
    assert known == lower <= truth < expected < upper
    assert expected > 2100
    left_out = f"{text} AND age IS NOT NULL AND sex IS NOT NULL"
    ((least, about, most, still),) = engine.query(left_out).rows
    assert (least, still) == (lower, known)
    assert least <= truth <= most < upper
    assert about == pytest.approx(truth, rel=0.005)
