"""The pages in a real browser: drawn, as wide as the window, no request, no complaint; light and
dark; with names and contrast for whoever needs them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import escape, unescape
from pathlib import Path
from typing import Any

import pytest
from matplotlib.image import imread
from report.conftest import QUARTERS, Pages
from support.advice import advice
from support.comparisons import table

from srsql.engine.api.engine import Engine
from srsql.engine.extras.study import advise_page, compare_page
from srsql.schemas import load_dataset

BROWSER = next(
    (
        path
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (path := shutil.which(name))
    ),
    None,
)
pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium on PATH"),
]
HUANG = Path(__file__).parent.parent / "golden" / "huang2021"
EDITIONS = [
    f"{edition} {what}" for edition in ("internal", "public") for what in (QUARTERS[1], "series")
]
EVERY = [*EDITIONS, "imported quarter", "imported series", "advise", "compare"]
CHECK = (Path(__file__).parent / "page_check.js").read_text(encoding="utf-8")
DARK, LIGHT = 0, 1
"""Of the browser's setting for the colour scheme that a reader prefers."""
OUTER = """<!DOCTYPE html><html lang="en"><head><meta name="color-scheme" content="light dark">
<title>waits</title></head><body style="margin: 0"><script>
addEventListener("message", event => {{ document.title = "measured " + event.data; }});
</script><iframe style="border: 0; width: {width}px; height: 3000px" srcdoc="{page}"></iframe>
</body></html>"""
"""A window can be no narrower than some browsers want; a frame can."""


@pytest.fixture(scope="module")
def every(pages: Pages, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Every kind of page."""
    with Engine(tmp_path_factory.mktemp("imported") / "w.duckdb") as engine:
        for quarter in ("2011Q1", "2011Q2", "2011Q3"):
            engine.import_release(
                HUANG / "released_table2.csv", quarter, dataset=HUANG / "huang.toml",
                originals=HUANG / "original.csv",
            )  # fmt: skip
        imported = {
            "imported quarter": engine.report("2011Q2", k=3, theta="1/3").html,
            "imported series": engine.report(k=3, theta="1/3").html,
        }
    faers = load_dataset("faers")
    rows = [row for paper in ("Lin 2016", "Huang 2021", "Loukides 2014") for row in table(paper, 3)]
    studies = {
        "advise": advise_page.page(faers, advice()),
        "compare": compare_page.page(faers, "2011Q3:2011Q4", rows),
    }
    return pages.html | imported | studies


def browse(folder: Path, scheme: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    assert BROWSER is not None
    command = [
        BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--hide-scrollbars", "--enable-logging=stderr", f"--user-data-dir={folder / 'profile'}",
        f"--blink-settings=preferredColorScheme={scheme}", *arguments,
    ]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)


def measured(html: str, folder: Path, width: int, scheme: int) -> dict[str, Any]:
    """What a script finds in a copy of the page, which has no policy against scripts."""
    copy = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", html)
    copy = copy.replace("</body>", f"<script>{CHECK}</script></body>")
    file = folder / "outer.html"
    file.write_text(OUTER.format(width=width, page=escape(copy)), encoding="utf-8")
    done = browse(folder, scheme, "--dump-dom", "--virtual-time-budget=5000",
                  f"--window-size={max(width, 600)},3000", file.as_uri())  # fmt: skip
    assert "CONSOLE" not in done.stderr
    found = re.search(r"<title>measured (.*?)</title>", done.stdout)
    assert found is not None
    return dict(json.loads(unescape(found[1])))


@pytest.mark.parametrize("name", EVERY)
def test_a_page_is_drawn_without_a_complaint(
    every: dict[str, str], tmp_path: Path, name: str
) -> None:
    file = tmp_path / "page.html"
    file.write_text(every[name], encoding="utf-8")
    shot = tmp_path / "page.png"
    done = browse(tmp_path, LIGHT, f"--screenshot={shot}", "--window-size=1200,4000", file.as_uri())
    assert "CONSOLE" not in done.stderr
    image = imread(shot)[:, :, :3]
    dark = (image.min(axis=2) < 0.9).mean()
    assert 0.005 < dark < 0.5
    assert (image[:2000].min(axis=2) < 0.5).any()


@pytest.mark.parametrize("name", EVERY)
def test_in_the_dark_nothing_stays_white(every: dict[str, str], tmp_path: Path, name: str) -> None:
    file, shot = tmp_path / "page.html", tmp_path / "page.png"
    file.write_text(every[name], encoding="utf-8")
    browse(tmp_path, DARK, f"--screenshot={shot}", "--window-size=1200,4000", file.as_uri())
    image = imread(shot)[:, :, :3]
    assert (image.max(axis=2) < 0.3).mean() > 0.8
    assert (image.min(axis=2) > 0.85).mean() < 0.02


@pytest.mark.parametrize(
    ("width", "scheme"), [(400, DARK), (1400, LIGHT)], ids=["narrow, dark", "wide, light"]
)
@pytest.mark.parametrize("name", EVERY)
def test_a_page_fits_its_window_and_can_be_read_by_anybody(
    every: dict[str, str], tmp_path: Path, name: str, width: int, scheme: int
) -> None:
    """Nothing is wider than the window or cut off, loads, is too pale, or lacks a name."""
    assert measured(every[name], tmp_path, width, scheme) == {
        "wide": 0, "out": [], "loads": [], "pale": [], "unnamed": [], "headings": [], "long": [],
        "white": [],
    }  # fmt: skip


FAULTS = """<!DOCTYPE html><html><head><title>faulty</title>
<meta name="color-scheme" content="light dark"></head><body>
<h1>a</h1><h3>b</h3><a href="#nowhere">link</a>
<div style="width: 900px">wide</div><p style="color: #777; background: #888">pale</p>
<figure><svg viewBox="0 0 99 99" width="99px"><path d="M 0 0 H 99 V 99 H 0 Z" style="fill: #fff"/>
</svg></figure><p style="width: 3000px; line-height: 20px">{words}</p></body></html>"""


def test_the_check_finds_whatever_it_looks_for(tmp_path: Path) -> None:
    page = FAULTS.format(words="a word or two of many " * 100)
    found = measured(page, tmp_path, 400, DARK)
    assert found.pop("loads") == []
    assert found.pop("wide") > 2000
    assert found.pop("headings") == ["b"]
    assert len(found.pop("unnamed")) == 3  # the page, its drawing, its link
    assert all(found.values()), found
    assert measured(page, tmp_path, 400, LIGHT)["white"] == []
