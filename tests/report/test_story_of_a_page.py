"""The order of the internal page, what is folded, and a series of one quarter told in words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from report.conftest import QUARTERS, Pages, report
from support.quarters import write_quarter

from srsql.engine.api.engine import Engine

STORY = ("s-guarantee", "s-open", "s-attack", "s-told", "s-withheld", "s-parameters")


def test_the_internal_page_tells_what_is_protected_what_is_not_and_what_an_attacker_finds(
    pages: Pages,
) -> None:
    html = pages.html[f"internal {QUARTERS[1]}"]
    assert tuple(re.findall(r'<section id="([\w-]+)">', html)) == STORY
    assert re.findall(r'<a href="#([\w-]+)">', html) == list(STORY)


def test_long_tables_are_folded_and_nothing_else_is(pages: Pages) -> None:
    html = pages.html[f"internal {QUARTERS[1]}"]
    folded = "".join(re.findall(r"<details>.*?</details>", html, re.DOTALL))
    for table in ("measures", "thetas", "parameters", "files"):
        assert f'<table id="{table}">' in folded
    for table in ("loss", "missingness"):
        assert f'<table id="{table}">' in html
        assert f'<table id="{table}">' not in folded
    assert "<figure" not in folded


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A series of which one quarter is out."""
    folder: Path = tmp_path_factory.mktemp("single")
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest([write_quarter(folder, "2011Q2", [report(n, 0) for n in range(60)])])
        engine.release.make("2011Q2", k=3, theta="0.5", seed=1, on_infeasible="withhold")
        yield engine


@pytest.mark.parametrize("public", [False, True])
def test_a_series_of_one_quarter_is_told_in_words(single: Engine, public: bool) -> None:
    html = single.artifact.report(public=public).html
    assert '<p id="single">One ' in html
    assert "<figure" not in html


def test_a_series_of_several_quarters_has_its_figures(pages: Pages) -> None:
    html = pages.html["internal series"]
    assert '<p id="single">' not in html
    assert "<figure" in html


def test_figures_of_zeros_give_way_to_a_sentence(single: Engine) -> None:
    html = single.artifact.report("2011Q2").html
    found = "figure-risk" in html
    assert found != ("groups is in danger" in html)
