"""Colours of pages and figures: variables of the style sheet, legible in both schemes."""

from __future__ import annotations

import re

import pytest

from srsql.engine.report import quarter_figures, signal_figures
from srsql.engine.report.drawing import WARNING, scheme_css
from srsql.engine.report.page import DRAWING, _source, written_by
from srsql.engine.report.shapes import Missingness

STYLE = (scheme_css() + _source("report.css")).partition("@media print")[0]
DRAWN = {
    "sizes": quarter_figures.group_sizes({3: 10, 4: 2, 60: 1}, 3, "group"),
    "risk": quarter_figures.risk_figure(
        [("DIR", 0, 4, True), ("DSR", 1, 4, False), ("P", 1, 4, None)]
    ).image,
    "steps": quarter_figures.steps([("candidates C", 9), ("excluded by B", 2), ("remain", 7)], 3),
    "missing": quarter_figures.missing_figure([Missingness("age", 9, 2, 7, 1, 1)]).image,
    "exposure": quarter_figures.exposure({0.5: 3, 1.0: 1}, "group"),
    "forest": signal_figures.forest([("A → B", 1.0, 2.0, 3.0)]),
    "scatter": signal_figures.scatter([("all", [(1.01**n, 1.02**n) for n in range(1, 200)] * 10)]),
}  # fmt: skip


def variables(*, dark: bool) -> dict[str, str]:
    """Name -> value as a screen of the scheme has it."""
    found: dict[str, str] = {}
    for block in re.finditer(r"(@media[^{]*\{\s*)?:root\s*\{([^}]*)\}", STYLE):
        if block[1] is None or (dark and "prefers-color-scheme: dark" in block[1]):
            found |= dict(re.findall(r"--([\w-]+):\s*(#[0-9a-fA-F]{6})\b", block[2]))
    return found


def light(colour: str) -> float:
    """Relative luminance, WCAG 2."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((light(one), light(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_whatever_is_read_has_the_contrast_of_wcag_aa(dark: bool) -> None:
    found = variables(dark=dark)
    pairs = [("ink", "paper"), ("ink", "panel"), ("soft", "paper"), ("soft", "panel"),
             ("accent", "paper"), ("bad", "paper"), ("warning", "paper")]  # fmt: skip
    pairs += [(f"{name}-ink", f"{name}-panel") for name in ("internal", "public", "draft")]
    assert {pair: contrast(*(found[n] for n in pair)) for pair in pairs if contrast(
        *(found[n] for n in pair)) < 4.5} == {}  # fmt: skip
    assert (light(found["paper"]) < 0.05) == dark


@pytest.mark.parametrize("name", DRAWN)
def test_a_figure_of_a_page_has_the_colours_of_its_style_sheet(name: str) -> None:
    drawn = DRAWN[name].svg
    assert re.findall(r"#[0-9a-fA-F]{6}", drawn) == []
    used = set(re.findall(r"var\(--([\w-]+)\)", drawn))
    assert used <= set(variables(dark=False)) & set(variables(dark=True))
    assert re.findall(r"#[0-9a-fA-F]{6}", DRAWN[name].svg_file().decode()) != []


def test_the_versions_that_decide_the_bytes_of_a_page_have_the_drawing() -> None:
    assert f", drawing {DRAWING}, " in written_by()
    assert DRAWING >= 2


def test_letters_are_in_ink_or_in_a_red_that_can_be_read() -> None:
    for name, image in DRAWN.items():
        for style in re.findall(r'<text[^>]*style="([^"]*)"', image.svg):
            colours = re.findall(r"fill: ([^;]*)", style)
            assert set(colours) <= {"currentColor", "var(--warning)"}, name
    assert WARNING.lower() not in (DRAWN["forest"].svg_file().decode())
