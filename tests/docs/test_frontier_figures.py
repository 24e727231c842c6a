"""The figures of the frontier show what its tables tell, and load nothing."""

from __future__ import annotations

from types import ModuleType
from xml.etree import ElementTree

import pytest
from support.scripts import DOCS, load


@pytest.fixture(scope="module")
def builder() -> ModuleType:
    return load(DOCS / "build_frontier.py")


@pytest.mark.slow
@pytest.mark.parametrize("file", sorted(path.name for path in DOCS.glob("frontier-*.svg")))
def test_a_figure_shows_its_table_and_stands_on_the_page(builder: ModuleType, file: str) -> None:
    text = (DOCS / file).read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    shown = ElementTree.fromstring(builder.drawn(file).svg_file().decode())
    assert root.get("aria-label") == shown.get("aria-label")
    assert "<script" not in text
    assert "@import" not in text
    assert f"]({file})" in builder.PAGE.read_text(encoding="utf-8")


def test_every_figure_that_is_drawn_is_there(builder: ModuleType) -> None:
    assert set(builder.FIGURES) == {path.name for path in DOCS.glob("frontier-*.svg")}


def test_a_page_without_the_table_is_told(builder: ModuleType) -> None:
    with pytest.raises(SystemExit, match="no table of a frontier"):
        list(builder.settings("a page\n\nVAERS\n\n| a |\n", "VAERS"))
