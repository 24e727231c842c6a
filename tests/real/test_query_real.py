"""Questions to a real quarter: the truth of the originals lies within the bounds."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from support.real_data import needs

from srsql.engine.api.engine import Engine
from srsql.udfs.term_key import term_key

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
    own: dict[Any, set[int]] = {}
    for term, case in engine.sql(
        "SELECT DISTINCT r.pt, d.caseid FROM raw_faers.demo AS d "
        "INNER JOIN raw_faers.reac AS r USING (primaryid)"
    ):
        own.setdefault(term_key(term), set()).add(case)
    assert found == {term: (len(cases),) * 4 for term, cases in own.items()}


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


WORLDS = [
    (end, f"(p.sex = 'F'{' OR p.both_sexes' if both else ''})")
    for end in ("low", "high")
    for both in (False, True)
]
"""The least or the greatest value of every case; women, and whoever is told as both."""
VALUES = ("AVG({})", "MEDIAN({})", "QUANTILE_DISC({}, 0.9)", "QUANTILE_CONT({}, 0.25)", "MIN({})",
          "MAX({})")  # fmt: skip


def test_means_and_quantiles_of_2022q4_lie_within_the_bounds(engine: Engine) -> None:
    for value in VALUES:
        for name in ("age", "wt"):
            for where in ("1 = 1", "sex = 'F'", "sex = 'F' AND age >= 65"):
                ((lower, expected, upper, *_),) = engine.query.ask(
                    f"SELECT {value.format(name)} AS v, COUNT(DISTINCT caseid) FROM demo "
                    f"WHERE {where}"
                ).rows
                assert lower <= expected <= upper
                for end, women in WORLDS:
                    test = where.replace("sex = 'F'", women).replace("age", f"p.age_{end}")
                    ((truth,),) = engine.sql(
                        f"SELECT {value.format(f'p.{name}_{end}')} FROM person AS p WHERE {test}"
                    )
                    assert lower <= truth <= upper, (value, name, where, end)


def test_shares_bands_and_first_groups_of_2022q4_lie_within_the_bounds(engine: Engine) -> None:
    share = engine.query.ask(
        "SELECT age // 10 * 10 AS decade, COUNT(DISTINCT caseid) AS n, COUNT(DISTINCT CASE WHEN "
        "sex = 'F' THEN caseid END) / COUNT(DISTINCT caseid) AS women FROM demo GROUP BY decade"
    )
    first = engine.query.ask(
        "SELECT age // 10 * 10 AS decade, COUNT(DISTINCT caseid) AS n FROM demo "
        "WHERE age IS NOT NULL GROUP BY decade HAVING COUNT(DISTINCT caseid) > 300 "
        "ORDER BY n DESC LIMIT 4"
    )
    told = {row[0]: row for row in share.rows}
    assert first.rows
    for end, women in WORLDS:
        rows = engine.sql(
            f"SELECT p.age_{end} // 10 * 10, count(*) AS n, count(*) FILTER ({women}) / count(*) "
            f"FROM person AS p WHERE p.age_{end} IS NOT NULL GROUP BY ALL ORDER BY n DESC"
        )
        for decade, n, of_women in rows:
            lower, _, upper, _, least, _, most, _ = told[decade][1:]
            assert lower <= n <= upper
            assert least <= of_women <= most
    known = engine.sql(
        "SELECT p.age_low // 10 * 10, count(*) AS n FROM person AS p WHERE p.age_low IS NOT NULL "
        "GROUP BY ALL HAVING n > 300 ORDER BY n DESC LIMIT 4"
    )
    shown = {row[0]: row[-1] for row in first.rows} if first.has_certain else {}
    assert {decade for decade, _ in known} <= {row[0] for row in first.rows}
    assert {d for d, told_ in shown.items() if told_ == "certain"} <= {d for d, _ in known}
