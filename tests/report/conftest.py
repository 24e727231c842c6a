"""One series, its pages, and what they are compared with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from support.pages import Page
from support.quarters import Report, write_quarter

from srsql.engine.api.engine import Engine

QUARTERS = ("2011Q2", "2011Q3", "2011Q4")
SEED = 918273645
SCRIPT = '<script>alert("x")</script>'
MARKUP = "</svg></table><img src=https://evil.example/x onerror=alert(1)>&amp;{{ 7*7 }}'; DROP --"
DRUGS = (SCRIPT, "Drug 1", "Drug 2", "Drug 3")
REACTIONS = (MARKUP, "Reaction 1", "Reaction 2", "Reaction 3", "Reaction 4")


def report(n: int, quarter: int) -> Report:
    """Case ``7007000 + n``; ages in hours and weights in pounds, which no release shows as such."""
    case = 7007000 + n
    kind = n % 4
    usual = Report(
        primaryid=10 * case + quarter,
        caseid=case,
        age=str(175320 + 103461 * (n % 5) + 313 * n),
        age_cod="HR",
        sex="MF"[n % 2] if n % 7 else "",
        wt=f"{120 + n % 31}.6789" if n % 3 else "",
        wt_cod="LBS",
        pt=(REACTIONS[kind if n % 5 else 4], f"Own {n}"),
        indi=("Common disease",) if n % 3 else (f"Disease {n % 11}",),
        drugs=(DRUGS[kind] if n % 9 else "Drug 2",),
    )
    return replace(usual, age="") if n % 6 == 0 else usual


@pytest.fixture(scope="session")
def archives(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Three quarters of 90 cases, of which 20 come again in the next."""
    folder = tmp_path_factory.mktemp("archives")
    return {
        quarter: write_quarter(folder, quarter, [report(n, i) for n in range(70 * i, 70 * i + 90)])
        for i, quarter in enumerate(QUARTERS)
    }


@pytest.fixture(scope="session")
def db(archives: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The series released: a common disease that breaks its threshold has cases withheld."""
    path = tmp_path_factory.mktemp("series") / "w.duckdb"
    with Engine(path) as engine:
        engine.ingest(list(archives.values()))
        for quarter in QUARTERS:
            made = engine.release(
                quarter, k=3, theta="0.5", seed=SEED, on_infeasible="withhold", leftovers="withhold"
            )
            assert made.manifest["cases"]["withheld"] > 0
    return path


@pytest.fixture(scope="session")
def engine(db: Path) -> Iterator[Engine]:
    with Engine(db, read_only=True) as opened:
        yield opened


@dataclass(frozen=True)
class Pages:
    """The four pages as text and parsed."""

    html: dict[str, str]
    page: dict[str, Page]


@pytest.fixture(scope="session")
def pages(engine: Engine) -> Pages:
    """Internal and public, of the middle quarter and of the series."""
    html = {
        f"{'public' if public else 'internal'} {quarter or 'series'}": engine.report(
            quarter, public=public
        ).html
        for quarter in (QUARTERS[1], None)
        for public in (False, True)
    }
    return Pages(html, {name: Page(text) for name, text in html.items()})


@pytest.fixture(scope="module", autouse=True)
def drawn(every_page: None) -> None:
    """What is looked at here is how pages are drawn."""
