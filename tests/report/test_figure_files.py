"""The figures of a page as files: those of the page, the same bytes every time, inert."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from report.conftest import QUARTERS, Pages
from support.command import srsql
from support.pages import Page

from srsql.engine.api.engine import Engine
from srsql.engine.errors import ReportError
from srsql.engine.report.drawing import number
from srsql.engine.report.quarter_figures import exposure, group_figures, group_sizes
from srsql.engine.report.shapes import Shapes, bounds_of_regions

pytestmark = pytest.mark.thorough

QUARTER = QUARTERS[1]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def folder(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The figures of the public page of a quarter."""
    folder = tmp_path_factory.mktemp("figures") / "new"
    made = engine.report(QUARTER, public=True, figures=folder)
    assert sorted(made.files) == sorted(map(str, folder.iterdir()))
    return folder


def test_every_figure_of_the_page_and_no_other_is_a_file(folder: Path, pages: Pages) -> None:
    keys = [
        found["id"].removeprefix("figure-")
        for found in pages.page[f"public {QUARTER}"].all("figure")
    ]
    expected = {f"srsql-report-{QUARTER}-public-{k}.{f}" for k in keys for f in ("svg", "png")}
    assert {file.name for file in folder.iterdir()} == expected
    assert len(keys) >= 3


def test_the_page_is_the_same_whether_figures_are_written_or_not(
    engine: Engine, pages: Pages, tmp_path: Path
) -> None:
    made = engine.report(QUARTER, public=True, figures=tmp_path)
    assert made.html == pages.html[f"public {QUARTER}"]


def test_a_drawing_is_complete_in_itself_and_runs_nothing(folder: Path, pages: Pages) -> None:
    shown = "".join(pages.page[f"public {QUARTER}"].text)
    for file in folder.glob("*.svg"):
        text = file.read_text(encoding="utf-8")
        root = ElementTree.fromstring(text)
        assert root.tag == f"{SVG}svg"
        tags = {element.tag.removeprefix(SVG) for element in root.iter()}
        assert tags & {"script", "image", "foreignObject", "metadata", "a"} == set()
        assert "var(" not in text
        assert "<!DOCTYPE" not in text
        marks = re.sub(r">[^<]+<", "><", text)  # a hostile name is shown, and shown as text
        assert set(re.findall(r"https?://[^\"' ]+", marks)) == {
            "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink",
        }  # fmt: skip
        ids = {element.attrib["id"] for element in root.iter() if "id" in element.attrib}
        links = re.findall(r'xlink:href="#([^"]*)"|url\(#([^)]*)\)', text)
        assert {a or b for a, b in links} <= ids
        for element in root.iter(f"{SVG}text"):
            assert (element.text or "").strip() in shown


def test_the_same_release_gives_the_same_files(db: Path, folder: Path, tmp_path: Path) -> None:
    with Engine(db, read_only=True, threads=1) as again:
        again.report(QUARTER, public=True, figures=tmp_path)
    assert {f.name: f.read_bytes() for f in tmp_path.iterdir()} == {
        f.name: f.read_bytes() for f in folder.iterdir()
    }


def test_the_command_writes_page_and_figures(
    db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SRSQL_DB", str(db))
    page = tmp_path / "page.html"
    answer = srsql("report", "--public", "--out", page, "--figures", tmp_path / "f", "--json")
    assert (answer.code, answer.err) == (0, "")
    assert sorted(answer.json["figures"]) == sorted(map(str, (tmp_path / "f").iterdir()))
    assert len(answer.json["figures"]) == 2 * len(Page(page.read_text()).all("figure"))
    answer = srsql("report", "--public", "--out", page, "--figures", page)
    assert answer.code != 0
    assert "give another --figures" in answer.err


def test_a_folder_that_cannot_be_made_is_refused(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept")
    with pytest.raises(ReportError, match="cannot be made"):
        engine.report(QUARTER, public=True, figures=tmp_path / "file")
    assert (tmp_path / "file").read_text() == "kept"


def test_groups_that_are_all_far_larger_than_k_are_drawn() -> None:
    drawn = group_sizes({2450: 1}, 5, "group")
    assert "&gt; 45" in drawn.svg


def test_the_share_of_a_threshold_is_drawn_up_to_the_greatest() -> None:
    line = exposure({0.5: 3, 5.0: 1}, "region").canvas.axes[0].lines[0]
    x = [float(value) for value in line.get_xdata()]
    assert x == sorted(x)
    assert x[-1] > 5


def test_a_bound_that_the_model_does_not_keep_is_not_drawn_as_kept() -> None:
    assert bounds_of_regions("ppms++") == {"k", "theta"}
    assert bounds_of_regions("ppms-dp-all") == frozenset()
    shapes = Shapes({1: 4, 9: 2}, (), {0.5: 3, 5.0: 3}, ())
    sizes, confidences = group_figures(shapes, None, "region", limit=None)
    assert sizes.caption == "6 regions by their number of cases: 1 to 9."
    assert confidences.caption.endswith("The model promises no threshold within a region.")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (12345.6, "12,346"), (1822.18, "1,822"), (999.95, "1000"), (0.00345, "0.00345"),
        (7_021_000.0, "7,021,000"), (-16614.5, "-16,614"), (0.0, "0"),
    ],
)  # fmt: skip
def test_a_number_is_shown_without_an_exponent(value: float, text: str) -> None:
    assert number(value) == text
