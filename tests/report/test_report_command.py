"""Quarters with nothing in them, other datasets, somebody else's series, and the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from report.conftest import QUARTERS
from support.command import Answer, srsql
from support.foreign import TOML, table
from support.pages import Page
from support.quarters import Report, crowd, write_quarter

from srsql.engine.api.engine import Engine
from srsql.engine.errors import ReleaseError, ReportError

pytestmark = pytest.mark.thorough

OTHER = TOML.replace("files = []", 'files = ["*.csv"]\npublish = ["adr"]')


def test_a_quarter_of_one_case_and_an_empty_series_have_pages(tmp_path: Path) -> None:
    with Engine(tmp_path / "w.duckdb") as engine:
        lone = [Report(11, 1, "40", "F", "70", ("Alone",), ("Pain",), ("Drug",))]
        engine.ingest([write_quarter(tmp_path, "2011Q1", lone)])
        engine.release_range("2011Q1:2011Q1", k=3, theta="0.5", seed=1)
        for quarter in ("2011Q1", None):
            for public in (False, True):
                html = engine.report(quarter, public=public).html
                assert Page(html).facts["cases"] == 0
                assert "withheld" in Page(html).facts or quarter is None
                assert "ALONE" not in html.upper() or not public
        engine.ingest([write_quarter(tmp_path, "2011Q2", crowd(30, first=100))])
        engine.release("2011Q2", k=3, theta="0.5", seed=1)
        page = Page(engine.report(public=True).html)
        assert page.tables["quarters"].column("quarter") == ["2011Q1", "2011Q2"]
        assert page.facts["cases"] == 30


def test_a_dataset_without_signals_and_without_child_tables_has_pages(tmp_path: Path) -> None:
    schema = tmp_path / "other.toml"
    schema.write_text(OTHER, encoding="utf-8")
    data = table(
        tmp_path / "all.csv",
        "case_id years gender adr disease",
        [(n, 20 + n % 9, "MF"[n % 2], f"a{n % 5}", f"d{n}") for n in range(1, 41)],
    )
    with Engine(tmp_path / "w.duckdb", dataset=schema) as engine:
        engine.ingest([data], period="2020")
        engine.release("2020", k=3, theta="0.5", seed=1)
        internal, public = (Page(engine.report("2020", public=p).html) for p in (False, True))
        assert "does not say" in internal.within("s-signals")
        assert "does not say" in public.within("s-signals")
        assert public.facts["cases"] == 40
        (row,) = public.tables["thetas"].rows
        assert row[1] == 5  # the diseases are not published
        assert Page(engine.report(public=True).html).facts["quarters"] == 1


def test_an_unknown_quarter_or_series_is_refused(engine: Engine) -> None:
    with pytest.raises(ReleaseError, match="2031Q1 is not released"):
        engine.report("2031Q1")
    with pytest.raises(ReportError, match="'nobody' of faers has no releases"):
        engine.report(series="nobody")


@pytest.fixture
def here(db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory; the series is the warehouse."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SRSQL_DB", str(db))
    return tmp_path


def refused(answer: Answer) -> str:
    assert (answer.code, answer.out) == (2, "")
    (line,) = answer.err.splitlines()
    return line


@pytest.mark.parametrize(
    ("arguments", "file"),
    [
        (["--quarter", QUARTERS[0], "--public"], f"srsql-report-{QUARTERS[0]}-public.html"),
        (["--public"], "srsql-report-main-public.html"),
        ([], "srsql-report-main.html"),
    ],
)
def test_the_command_names_the_file_it_writes(here: Path, arguments: list[str], file: str) -> None:
    answer = srsql("report", *arguments, "--json")
    assert (answer.code, answer.err) == (0, "")
    assert answer.json["file"] == file
    assert answer.json["bytes"] == (here / file).stat().st_size
    assert answer.json["edition"] == ("public" if "--public" in arguments else "internal")
    assert [path.name for path in here.iterdir()] == [file]


def test_the_internal_edition_is_announced_as_such(here: Path) -> None:
    answer = srsql("report", "--quarter", QUARTERS[0], "--out", "steward.html")
    assert answer.code == 0
    assert "not for publication" in answer.out
    assert "INTERNAL" in (here / "steward.html").read_text(encoding="utf-8")


def test_a_report_that_cannot_be_made_or_written_is_one_line_and_leaves_the_old_one(
    here: Path,
) -> None:
    kept = here / "kept.html"
    kept.write_text("the old one")
    assert "2031Q1" in refused(srsql("report", "--quarter", "2031Q1", "--out", kept))
    assert "nowhere" in refused(srsql("report", "--public", "--out", here / "nowhere" / "x.html"))
    assert "is a directory" in refused(srsql("report", "--public", "--out", here))
    assert "no warehouse" in refused(srsql("report", "--db", "none.duckdb"))
    assert kept.read_text() == "the old one"
    assert list(here.iterdir()) == [kept]


def test_the_demo_leaves_a_report_of_each_edition(tmp_path: Path) -> None:
    answer = srsql("demo", tmp_path / "demo", "--json")
    assert answer.code == 0, answer.err
    told = json.loads(answer.out)["reports"]
    pages = [Page(Path(file).read_text(encoding="utf-8")) for file in told]
    banners = ["INTERNAL" in "".join(page.text) for page in pages]
    assert sorted(banners) == [False, True, True]
    assert all(page.facts["cases"] > 0 for page in pages)
