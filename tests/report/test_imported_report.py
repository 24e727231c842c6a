"""Pages on somebody else's series: what its table tells, and a line for what it cannot tell."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.foreign import TOML, table
from support.pages import Page

from srsql.engine.api.engine import Engine
from srsql.engine.errors import AuditError, ReportError

pytestmark = pytest.mark.slow

HUANG = Path(__file__).parent.parent / "golden" / "huang2021"
QUARTERS = ("2011Q1", "2011Q2", "2011Q3")
BOUNDS = {"k": 3, "theta": "1/3"}


@pytest.fixture(scope="module")
def huang(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Table 2 of Huang 2021 with its originals."""
    with Engine(tmp_path_factory.mktemp("huang") / "w.duckdb") as engine:
        for quarter in QUARTERS:
            engine.import_release(
                HUANG / "released_table2.csv", quarter, dataset=HUANG / "huang.toml",
                originals=HUANG / "original.csv",
            )  # fmt: skip
        yield engine


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A table alone: a group of six and one of two."""
    folder = tmp_path_factory.mktemp("bare")
    schema = folder / "other.toml"
    schema.write_text(TOML, encoding="utf-8")
    rows = [(n, 20, 30, "M", f"a{n}", "d") for n in range(6)]
    rows += [(n, 40, 60, "F", "b", "d") for n in (6, 7)]
    file = table(folder / "r.csv", "case_id age_low age_high sex adr disease", rows)
    with Engine(folder / "w.duckdb") as engine:
        engine.import_release(file, "2011Q1", dataset=schema)
        yield engine


@pytest.mark.thorough
def test_the_page_of_a_quarter_has_what_the_audit_finds(huang: Engine) -> None:
    page = Page(huang.report("2011Q2", **BOUNDS).html)
    row = next(row for row in huang.audit(quarter="2011Q2", scopes=("group",), **BOUNDS).releases)
    assert page.facts["groups"] == row.groups == 4
    assert page.facts["dangerous"] == row.dig + row.dsg == 0
    assert page.facts["outside"] == row.outside
    assert page.within("verdict").startswith("Safe with k = 3 and θ = 1/3: in none of the 4 groups")
    worst = huang.audit(quarter="2011Q2", scopes=("group",), evidence=1, **BOUNDS).evidence[0]
    text = page.within("s-attack")
    assert f"case {worst.case_id} of group {worst.group_id}" in text
    assert f"{worst.remaining:,} remain, where k = 3" in text
    for key in ("sizes", "widths", "risk", "steps", "missing"):
        assert f"figure-{key}" in page.of, key
    told = page.within("not-told")
    assert "no manifest comes with the table" in told
    assert "originals" not in told
    assert "--k" not in told


def test_a_group_that_is_too_small_is_told_in_a_sentence(bare: Engine) -> None:
    page = Page(bare.report("2011Q1", k=3, theta="1").html)
    assert page.within("verdict") == (
        "Not safe with k = 3 and θ = 1: of 2 groups, in 1 fewer than k candidates remain (DIG), "
        "under B, F, L."
    )
    assert page.facts["dangerous"] == 1
    assert page.facts["smallest"] == 2
    assert "the group is in danger" in page.within("s-attack")
    assert "the originals were not imported" in page.within("not-told")
    assert "missing" not in page.tables


@pytest.mark.thorough
def test_without_bounds_nothing_is_judged_and_the_page_says_so(bare: Engine) -> None:
    page = Page(bare.report("2011Q1").html)
    assert page.within("verdict").startswith("Nothing is judged")
    assert "dangerous" not in page.facts
    assert "risk" not in {key.removeprefix("figure-") for key in page.of}
    assert "k = 1" not in page.within("s-attack")
    assert "2 remain" in page.within("s-attack")
    assert "--k and --theta" in page.within("not-told")


@pytest.mark.thorough
def test_the_page_of_the_series_has_the_verdict_of_all_quarters(huang: Engine) -> None:
    page = Page(huang.report(**BOUNDS).html)
    assert page.tables["quarters"].column("quarter") == list(QUARTERS)
    audited = huang.audit(scopes=("group",), evidence=0, **BOUNDS)
    risk = page.tables["risk"].by("quarter")
    assert {row.quarter: (row.groups, row.dig, row.dsg) for row in audited.releases} == {
        quarter: (row["groups"], row["DIG"], row["DSG"]) for (quarter,), row in risk.items()
    }
    assert page.within("verdict").startswith("Safe" if audited.safe else "Not safe")
    assert "figure-nil" not in page.of
    told = Page(huang.report().html)
    assert told.within("verdict").startswith("Nothing is judged")
    assert "risk" not in told.tables
    assert "--k and --theta" in told.within("not-told")


@pytest.mark.thorough
def test_what_is_asked_of_the_wrong_kind_of_series_is_refused(
    huang: Engine, bare: Engine, engine: Engine
) -> None:
    with pytest.raises(ReportError, match="no released views"):
        bare.report("2011Q1", public=True)
    with pytest.raises(AuditError, match="no thresholds: give --theta"):
        huang.report("2011Q1", k=3)
    with pytest.raises(AuditError, match="no k: give --k"):
        huang.report(theta="1/3")
    with pytest.raises(ReportError, match="bounds of its own"):
        engine.report(k=3, theta="0.5")
