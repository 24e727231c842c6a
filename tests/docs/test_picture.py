"""The picture of the README is the one that an attack draws, and a page of its own."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest
from support.scripts import DOCS, ROOT, load


@pytest.fixture(scope="module")
def builder() -> ModuleType:
    return load(DOCS / "build_picture.py")


def test_the_picture_loads_nothing_and_has_colours_for_both_schemes(builder: ModuleType) -> None:
    text = builder.PICTURE.read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    assert {element.tag.rpartition("}")[2] for element in root.iter()} == {
        "svg", "style", "rect", "text"
    }  # fmt: skip
    assert "url(" not in text
    assert "@import" not in text
    light, dark = builder.STYLE.split("@media (prefers-color-scheme: dark)")
    for kind in ("card", "text", "quiet", "found", "among", "bad", "good"):
        assert kind in light
        assert kind in dark


@pytest.mark.thorough
def test_the_picture_is_what_the_attacks_find(builder: ModuleType, tmp_path: Path) -> None:
    found = builder.attacked(tmp_path)
    assert len(found.before) == 1
    assert len(found.after) >= builder.K
    assert builder.PICTURE.read_text(encoding="utf-8") == builder.drawn(found)


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_pages_show_it(page: str) -> None:
    assert "attack.svg)" in (ROOT / page).read_text(encoding="utf-8")
