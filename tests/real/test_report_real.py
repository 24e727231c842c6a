"""Reports of a real quarter: counted again from the released rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from support.pages import Page
from support.real_data import needs
from support.released import regions, rows, terms_of

from srsql.engine.api.engine import Engine

pytestmark = [pytest.mark.thorough, needs("faers/faers_ascii_2022Q4.zip")]
SCHEMA = "release_2022q4"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory, real: Any) -> Iterator[Engine]:
    with Engine(real("2022Q4", tmp_path_factory.mktemp("real") / "w.duckdb")) as opened:
        opened.release("2022Q4", k=5, theta="frequency", on_infeasible="withhold", seed=77001133)
        yield opened


def test_the_public_page_of_2022q4_is_what_the_released_rows_say(engine: Engine) -> None:
    html = engine.report("2022Q4", public=True).html
    page = Page(html)
    found, terms = regions(engine.con, SCHEMA), terms_of(engine.con, SCHEMA)
    assert page.facts["cases"] == sum(map(len, found.values())) > 8000
    assert page.facts["regions"] == len(found)
    thetas = {
        row["value"]: row["theta"]
        for row in rows(
            engine.con, f"SELECT unnest(thresholds, recursive := true) FROM {SCHEMA}.manifest"
        )
    }
    highest: dict[float, float] = {}
    for cases in found.values():
        held: dict[str, int] = {}
        for case in cases:
            for term in terms[case]:
                held[term] = held.get(term, 0) + 1
        for term, n in held.items():
            theta = thetas[term]
            highest[theta] = max(highest.get(theta, 0), n / len(cases))
    shown = {row[0]: row for row in page.tables["thetas"].rows}
    assert {theta: row[2] for theta, row in shown.items()} == pytest.approx(highest)
    assert sum(float(row[1]) for row in shown.values()) == len(thetas)
    assert all(row[3] == "yes" for row in shown.values())
    assert "77001133" not in html
    assert "faers_ascii" not in html
    assert len(html) < 1_000_000


def test_the_internal_page_of_2022q4_compares_thousands_of_pairs_and_stays_small(
    engine: Engine,
) -> None:
    html = engine.report("2022Q4").html
    page = Page(html)
    criteria = page.tables["criteria"].by("condition", "criterion")
    every = criteria["all cases", "PRR: lower bound > 1"]
    adult = criteria["age ≥ 18 years", "PRR: lower bound > 1"]
    assert every["before"] == every["after"]  # nothing is withheld
    assert (every["lost"], every["gained"]) == (0, 0)
    assert 1000 < float(adult["pairs"]) < float(every["pairs"])
    assert "changed-0" not in page.tables
    assert len(page.tables["changed-1"].rows) > 5
    nil = next(m.ratio for m in engine.metrics("2022Q4") if m.measure == "nil")
    assert page.facts["nil"] == nil
    assert len(html) < 1_000_000
