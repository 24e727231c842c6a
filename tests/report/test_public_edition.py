"""The public edition knows nothing but what is released."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from report.conftest import QUARTERS, SEED, Pages, report
from support.pages import Page
from support.released import views

from srsql.engine.api.engine import Engine
from srsql.engine.errors import ReportError

pytestmark = pytest.mark.slow

QUARTER = QUARTERS[1]
MANIFEST = f"release_{QUARTER.lower()}.manifest"


@contextmanager
def stripped(db: Path, target: Path) -> Iterator[Engine]:
    """A warehouse that has the released rows, the public manifests and the names of the views."""
    with Engine(target) as engine:
        engine.con.execute(f"ATTACH '{db}' AS full_one (READ_ONLY)")
        for number, quarter in enumerate(QUARTERS, start=1):
            schema = f"release_{quarter.lower()}"
            engine.con.execute(f"CREATE SCHEMA {schema}")
            for name in ("demo", "drug", "reac", "indi", "outc", "manifest"):
                engine.con.execute(f"CREATE TABLE {schema}.{name} AS FROM full_one.{schema}.{name}")
            engine.con.execute(
                "INSERT INTO srsql.release VALUES (?, 'faers', 'main', ?, 'unknown', 'released',"
                " 0, 0, 1, ?, NULL, '{}')",
                [number, quarter, schema],
            )
        engine.con.execute(
            "INSERT INTO srsql.series VALUES"
            " ('faers', 'main', 'unknown', 'released', NULL, 'original')"
        )
        engine.con.execute("DETACH full_one")
        yield engine


@pytest.mark.thorough
def test_the_pages_are_the_same_from_a_database_that_holds_released_rows_only(
    db: Path, pages: Pages, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.duckdb"
    copy.write_bytes(db.read_bytes())
    with stripped(copy, tmp_path / "stripped.duckdb") as engine:
        for quarter, name in ((QUARTER, f"public {QUARTER}"), (None, "public series")):
            made = engine.report(quarter, public=True, dataset="faers")
            assert made.html == pages.html[name]


def test_no_raw_value_no_withheld_case_and_no_secret_is_in_the_public_pages(
    engine: Engine, pages: Pages
) -> None:
    raw = [report(n, i) for i, _ in enumerate(QUARTERS) for n in range(70 * i, 70 * i + 90)]
    withheld = {
        case
        for (case,) in engine.sql(
            "SELECT w.case_id FROM srsql.withheld AS w EXCEPT SELECT m.case_id "
            "FROM srsql.member AS m"
        )
    }
    assert withheld
    secrets = {str(SEED), "w.duckdb", "faers_ascii_", "MFR-", "srsql_data"}
    secrets |= {r.age for r in raw if r.age} | {r.wt for r in raw if r.wt}
    secrets |= withheld | {f"OWN {case}" for case in withheld}
    secrets |= {str(r.primaryid) for r in raw} | {str(r.caseid) for r in raw}
    for name in (f"public {QUARTER}", "public series"):
        text = pages.html[name].upper()
        words = set(re.findall(r"[\w.]+", text))  # a number, not some digits of a coordinate
        found = [s for s in secrets if s in words or (not s.isdigit() and s.upper() in text)]
        assert found == []
    told = pages.html[f"internal {QUARTER}"]
    assert str(SEED) in told
    assert "faers_ascii_" in told


def test_no_group_and_no_private_count_has_a_name_on_the_public_page(pages: Pages) -> None:
    page = pages.page[f"public {QUARTER}"]
    names = {str(row[0]) for row in page.tables["parameters"].rows} | set(page.facts)
    assert names & {"seed", "groups", "source", "files", "nil", "new", "reasons"} == set()
    assert "group_id" not in pages.html[f"public {QUARTER}"]


@pytest.mark.thorough
def test_a_later_release_does_not_change_the_public_page_of_a_quarter(
    archives: dict[str, Path], pages: Pages, tmp_path: Path
) -> None:
    with Engine(tmp_path / "w.duckdb") as early:
        early.ingest([archives[q] for q in QUARTERS[:2]])
        for quarter in QUARTERS[:2]:
            early.release(quarter, k=3, theta="0.5", seed=SEED, on_infeasible="withhold")
        assert early.report(QUARTER, public=True).html == pages.html[f"public {QUARTER}"]


@pytest.fixture(scope="module")
def bare(db: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """The stripped warehouse, whose manifest of ``QUARTER`` tests change."""
    folder = tmp_path_factory.mktemp("bare")
    copy = folder / "copy.duckdb"
    copy.write_bytes(db.read_bytes())
    with stripped(copy, folder / "stripped.duckdb") as engine:
        engine.con.execute(
            f"UPDATE {MANIFEST} SET withheld_cases = 424242, withheld_reports = 434343"
        )
        engine.con.execute(f"CREATE TABLE main.kept AS FROM {MANIFEST}")
        yield engine


@pytest.mark.thorough
def test_a_withheld_count_that_the_manifest_lets_out_is_shown(bare: Engine) -> None:
    bare.con.execute(f"CREATE OR REPLACE TABLE {MANIFEST} AS FROM main.kept")
    page = Page(bare.report(QUARTER, public=True, dataset="faers").html)
    assert page.facts["withheld"] == 424242
    assert "434,343 reports" in page.within("withheld")


@pytest.mark.thorough
def test_the_date_of_release_is_shown_where_the_manifest_has_one(bare: Engine) -> None:
    undated = (
        f"CREATE OR REPLACE TABLE {MANIFEST} AS SELECT * EXCLUDE (release_date) FROM main.kept"
    )
    bare.con.execute(undated)
    assert "· released" not in bare.report(QUARTER, public=True, dataset="faers").html
    replaced = "SELECT * REPLACE ('2026-11-22' AS release_date) FROM main.kept"
    dated = f"CREATE OR REPLACE TABLE {MANIFEST} AS {replaced}"
    bare.con.execute(dated)
    page = Page(bare.report(QUARTER, public=True, dataset="faers").html)
    assert "· released 2026-11-22" in "".join(page.text)
    assert ["release date", "2026-11-22"] in page.tables["parameters"].rows


@pytest.mark.thorough
@pytest.mark.parametrize(
    "change",
    [
        "SELECT *, '0.5' AS epsilon",
        "SELECT * REPLACE ('ppms-dp-all' AS model)",
        "SELECT * REPLACE (NULL::BIGINT AS withheld_cases)",
        "SELECT * EXCLUDE (withheld_cases, withheld_reports)",
    ],
)
def test_it_is_not_shown_where_the_model_has_a_budget_or_the_manifest_no_count(
    bare: Engine, change: str
) -> None:
    bare.con.execute(f"CREATE OR REPLACE TABLE {MANIFEST} AS {change} FROM main.kept")
    for quarter in (QUARTER, None):
        html = bare.report(quarter, public=True, dataset="faers").html
        assert "withheld" not in Page(html).facts
        assert [n for n in ("424242", "424,242", "434343", "434,343") if n in html] == []


@pytest.mark.thorough
def test_a_draft_has_an_internal_page_and_no_public_one(
    archives: dict[str, Path], tmp_path: Path
) -> None:
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([archives[QUARTERS[0]]])
        engine.release(QUARTERS[0], k=3, theta="0.5", seed=1, on_infeasible="withhold", draft=True)
        page = Page(engine.report(QUARTERS[0]).html)
        assert "Draft" in "".join(page.text)
        assert "candidates" not in page.tables  # nobody can attack what nobody has
        assert page.facts["cases"] > 0
        with pytest.raises(ReportError, match="is a draft"):
            engine.report(QUARTERS[0], public=True)
        with pytest.raises(ReportError, match="no releases"):
            engine.report()


@pytest.mark.thorough
def test_another_series_shows_its_pseudonyms_to_nobody_and_its_own_rows_only(
    archives: dict[str, Path], tmp_path: Path
) -> None:
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([archives[QUARTERS[0]]])
        engine.release(
            QUARTERS[0], k=3, theta="0.5", seed=1, on_infeasible="withhold", series="partners"
        )
        assert views(engine.con, "release_partners_2011q2")
        html = engine.report(QUARTERS[0], public=True, series="partners").html
        ids = {str(i) for (i,) in engine.sql("SELECT caseid FROM release_partners_2011q2.demo")}
        assert [i for i in ids if i in html] == []
        (key,) = engine.sql("SELECT hex(pseudonym_key) FROM srsql.series")[0]
        assert key not in html
        assert Page(html).facts["cases"] == len(ids)
        assert "partners" in html


@pytest.mark.thorough
def test_the_copy_is_gone_and_the_warehouse_unchanged_afterwards(db: Path, tmp_path: Path) -> None:
    copy = tmp_path / "w.duckdb"
    copy.write_bytes(db.read_bytes())
    with Engine(copy, read_only=True) as engine:
        before = engine.sql("SELECT table_name FROM duckdb_tables() ORDER BY ALL")
        engine.report(QUARTER, public=True)
        engine.report(public=False)
        assert engine.sql("SELECT table_name FROM duckdb_tables() ORDER BY ALL") == before
    assert copy.read_bytes() == db.read_bytes()
