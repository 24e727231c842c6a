"""How figures are drawn: one style, numbers and names on axes, charts over quarters, SVG.

A figure becomes an ``svg`` element inside the page: the same bytes for the same data, no reference
outside. Colours are those of Okabe and Ito, which colour-blind readers tell apart; where colours
carry meaning, hatching or position does too, so that print in black and white reads the same.
Inside a page they are variables of its style sheet, which has a dark value for each (``SCHEME``);
as files of its own a figure has the colours of a light page, whatever program shows it.
"""

from __future__ import annotations

import io
import json
import math
import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import matplotlib
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, PercentFormatter

from srsql.schemas.outside import json_of

BLUE, ORANGE, RED, GREEN, GREY, PALE, PURPLE, SKY = (
    "#0072B2",
    "#E69F00",
    "#D55E00",
    "#009E73",
    "#6B6B6B",
    "#D9D9D9",
    "#CC79A7",
    "#56B4E9",
)
WARNING = "#A84300"
"""Red of letters: 4.5 times as dark as the page, which the red of areas is not."""
SHADES = (
    "#D3E5F1", "#BFDAEA", "#ABCEE4", "#97C2DD", "#83B6D6", "#6FAACF", "#5A9EC8", "#4591C0",
    "#3083B5", "#1C74A8", "#0A6496", "#00527F",
)  # fmt: skip
"""From few to many."""
SCHEME: dict[str, tuple[str, str]] = {
    BLUE: ("blue", "#4DA3E0"),
    ORANGE: ("orange", "#EDB23E"),
    RED: ("red", "#F08A4B"),
    GREEN: ("green", "#35C29B"),
    GREY: ("grey", "#A9A9A7"),
    PALE: ("pale", "#5A5A5A"),
    PURPLE: ("purple", "#E0A3C6"),
    SKY: ("sky", "#A8DCFA"),
    WARNING: ("warning", "#FF9E6B"),
} | {
    light: (f"shade-{place}", dark)
    for place, (light, dark) in enumerate(
        zip(
            SHADES,
            ("#1F3B50", "#24475F", "#2A536F", "#305F7E", "#386C8E", "#41799E", "#4C87AE",
             "#5A95BD", "#6AA4CB", "#7EB3D8", "#95C3E4", "#B2D6F0"),
            strict=True,
        )
    )
}  # fmt: skip
"""Colour on a light page -> its name in the style sheet, its value on a dark page. Black is the ink
of the page, white its paper."""
WIDTH = 6.5
"""Inches: the text width of a printed page."""
_STYLES = (
    (BLUE, "-", "o"),
    (ORANGE, "--", "s"),
    (RED, ":", "^"),
    (GREEN, "-.", "D"),
    (GREY, "-", "v"),
)
Line = tuple[str, Sequence[float | None]]
"""Name and one value per quarter; None leaves a gap."""
_SVG = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}href"
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]+")
_FAMILY = re.compile(r"font-family: [^;]*;? ?")
_FONT = re.compile(r"font: (?:\w+ )*?([\d.]+px) [^;]*")
_COLOUR = re.compile(r"(fill|stroke): (#[0-9a-fA-F]{6})")
_POINTED = "pointed at: "
"""Begins the id under which a mark carries its texts to the drawing, as JSON."""
_DOTS = 200
"""Dots per inch of a picture."""
_STYLED = frozenset(
    {"axes", "figure", "font", "grid", "hatch", "image", "legend", "lines", "mathtext", "patch",
     "path", "savefig", "scatter", "svg", "text", "xtick", "ytick"}
)  # fmt: skip
"""What of the defaults is restored, so that no matplotlibrc of the reader's changes a figure."""
_SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none",  # text stays text: small, searchable, in the reader's own font
    "text.parse_math": False,  # a "$" in a drug's name is a dollar
    "axes.unicode_minus": True,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9,
    "axes.labelsize": 8.5,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "hatch.linewidth": 0.6,
    "lines.linewidth": 1.4,
    "axes.linewidth": 0.7,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
}


def plain(text: str) -> str:
    """``text`` in one line that any XML may hold."""
    return _CONTROL.sub(" ", text)


def number(value: float) -> str:
    """A number as tables and axes show it."""
    if math.isinf(value) or math.isnan(value):
        return "–"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def thousands(axis: Axes, *, x: bool = False, y: bool = False) -> None:
    """Counts on an axis: whole numbers, with commas."""
    for wanted, which in ((x, axis.xaxis), (y, axis.yaxis)):
        if wanted:
            which.set_major_locator(MaxNLocator(integer=True, nbins=6))
            which.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.0f}"))


def plain_numbers(*axes: Axis) -> None:
    """Powers of ten on a logarithmic axis, without mathematics to set."""
    for axis in axes:
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        axis.set_minor_formatter(FuncFormatter(lambda value, _: ""))


def label(text: str, longest: int = 34) -> str:
    """A foreign name beside an axis."""
    text = plain(text)
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def pointed(mark: Artist, *texts: str) -> None:
    """What a reader sees who points at a mark.

    Args:
        mark: a bar, or points that matplotlib draws as one.
        texts: one, or of points one each, in the order in which they are drawn.
    """
    mark.set_gid(_POINTED + json.dumps(texts))


def pointed_bars(bars: Iterable[Artist], texts: Iterable[str]) -> None:
    """What a reader sees who points at each of some bars."""
    for bar, text in zip(bars, texts, strict=True):
        pointed(bar, text)


def settings() -> Any:
    """While this lasts, figures are made and drawn in the style of the reports."""
    usual: dict[Any, Any] = {
        name: value
        for name, value in matplotlib.rcParamsDefault.items()
        if name.partition(".")[0] in _STYLED
    }
    return matplotlib.rc_context(usual | _SETTINGS)


@dataclass(frozen=True)
class Image:
    """A figure as a page holds it, and as files hold it."""

    canvas: Figure
    name: str
    """Begins every id in it, so that two figures of a page share none."""
    label: str
    """What it shows, for those who do not see it."""
    svg: str
    """The element inside a page, in the colours of the page's style sheet."""

    def __html__(self) -> str:
        """What templates put in."""
        return self.svg

    def svg_file(self) -> bytes:
        """A file of its own: no script, no date, no reference outside, on white."""
        root = _drawn(self.canvas, self.name, "white")
        _describe(root, self.label)
        root.attrib = {
            "xmlns": _SVG.strip("{}"), "xmlns:xlink": _LINK[1:].partition("}")[0], **root.attrib,
            "height": _points(root.get("viewBox", ""), 3),
            "font-family": "Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif",
        }  # fmt: skip
        for element in root.iter():
            link = element.attrib.pop("href", None)
            if link is not None:  # what programs read that know no SVG 2
                element.set("xlink:href", link)
        text = ElementTree.tostring(root, encoding="unicode", short_empty_elements=True)
        return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'.encode()

    def png_file(self) -> bytes:
        """A picture on white, in 200 dots per inch; no date."""
        return _saved(
            self.canvas, self.name, "white", "png", dpi=_DOTS, metadata={"Software": None}
        )


def svg(figure: Figure, name: str, label: str) -> Image:
    """The figure as an image of a page.

    Args:
        figure: made within ``settings``.
        name: begins every id in it, so that two figures of a page share none.
        label: what it shows, for those who do not see it.
    """
    root = _drawn(figure, name, "none")
    for element in root.iter():
        _use_scheme(element)
    _describe(root, label)
    text = ElementTree.tostring(root, encoding="unicode", short_empty_elements=True)
    return Image(figure, name, label, text)


def _saved(figure: Figure, name: str, paper: str, form: str, **more: Any) -> bytes:
    """What matplotlib writes of a figure."""
    buffer = io.BytesIO()
    with warnings.catch_warnings(), settings():
        warnings.simplefilter("ignore", UserWarning)  # characters that the metrics' font lacks
        matplotlib.rcParams["svg.hashsalt"] = name
        figure.savefig(
            buffer, format=form, facecolor=paper, bbox_inches="tight", pad_inches=0.04, **more
        )
    return buffer.getvalue()


def _drawn(figure: Figure, name: str, paper: str) -> ElementTree.Element:
    """The drawing with ids of its own, without namespaces, metadata and fonts."""
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    root = ElementTree.fromstring(_saved(figure, name, paper, "svg", metadata=nothing))
    _clean(root, name)
    return root


def _describe(root: ElementTree.Element, label: str) -> None:
    """Its size, and what it shows."""
    box = root.get("viewBox", "0 0 1 1")
    title = ElementTree.Element("title")
    title.text = plain(label)
    root.attrib = {
        "viewBox": box, "role": "img", "width": _points(box), "class": "plot",
        "aria-label": plain(label),
    }  # fmt: skip
    root.insert(0, title)


def _use_scheme(element: ElementTree.Element) -> None:
    """Colours become those of the page, be it light or dark."""
    style = element.get("style", "")
    for name in ("fill", "stroke"):  # of a hatching; variables are for styles alone
        if element.get(name, "none") != "none":
            style = f"{name}: {element.attrib.pop(name)}; {style}"
    if style:
        element.set("style", _COLOUR.sub(lambda m: f"{m[1]}: {_variable(m[2])}", style))


def _variable(colour: str) -> str:
    colour = colour.upper()
    if colour == "#000000":
        return "currentColor"
    if colour == "#FFFFFF":
        return "var(--paper)"
    return f"var(--{SCHEME[colour][0]})" if colour in SCHEME else colour


def scheme_css() -> str:
    """The colours of the figures for a style sheet, light and dark; print is on white."""
    light, dark = (
        " ".join(f"--{name}: {value};" for name, value in pairs)
        for pairs in (
            [(name, light) for light, (name, _) in SCHEME.items()],
            list(SCHEME.values()),
        )
    )
    return (
        f":root {{ {light} }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
    )


def _points(box: str, place: int = 2) -> str:
    return f"{float(box.split()[place]):.0f}pt"


def _clean(root: ElementTree.Element, name: str) -> None:
    """Own ids, no namespaces, no metadata, the font of the page."""
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.endswith("metadata"):
                parent.remove(child)
    for element in list(root.iter()):
        element.tag = element.tag.removeprefix(_SVG)
        if element.get("id", "").startswith(_POINTED):
            _give_titles(element, json_of(element.attrib.pop("id").removeprefix(_POINTED)))
        link = element.attrib.pop(_LINK, None)
        if link is not None:
            element.set("href", f"#{name}-{link.removeprefix('#')}")
        if "id" in element.attrib:
            element.set("id", f"{name}-{element.attrib['id']}")
        for key, value in element.attrib.items():
            if "url(#" in value:
                element.set(key, value.replace("url(#", f"url(#{name}-"))
        if "style" in element.attrib:
            style = _FAMILY.sub("", element.attrib["style"])
            element.set("style", _FONT.sub(r"font-size: \1", style))


def _give_titles(mark: ElementTree.Element, texts: list[str]) -> None:
    """Titles of a mark, which programs show beside the pointer: of one, or of each point."""
    points = [element for element in mark.iter() if element.tag in ("use", f"{_SVG}use")]
    for place, text in zip(points or [mark], texts, strict=True):
        title = ElementTree.Element("title")
        title.text = plain(text)
        place.insert(0, title)


def stacked(
    quarters: Sequence[str], parts: Sequence[tuple[str, Sequence[int]]], name: str
) -> Image:
    """Stacked bars of cases per quarter.

    Args:
        quarters: along the axis.
        parts: names and counts, one count per quarter; a part without cases is left out.
        name: begins the ids of the figure.

    Returns:
        The image.
    """
    with settings():
        figure = Figure(figsize=(WIDTH, 2.4))
        axis = figure.add_subplot()
        start = [0] * len(quarters)
        parts = [part for part in parts if any(part[1])]
        for (what, counts), (colour, _, _), hatch in zip(
            parts, _STYLES, ("", "////", "\\\\\\\\"), strict=False
        ):
            bars = axis.bar(
                range(len(quarters)), counts, bottom=start, color=colour, hatch=hatch,
                edgecolor="white", width=0.7, label=what,
            )  # fmt: skip
            at = zip(quarters, counts, strict=True)
            pointed_bars(bars, (f"{quarter}: {count:,} {what}" for quarter, count in at))
            start = [a + b for a, b in zip(start, counts, strict=True)]
        _quarters(axis, quarters)
        axis.set_ylabel("cases")
        axis.set_ylim(0, max(*start, 1) * 1.05)
        thousands(axis, y=True)
        if parts:
            axis.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3, borderaxespad=0.2)
        return svg(figure, name, "Cases per quarter: " + ", ".join(what for what, _ in parts))


def lines(
    quarters: Sequence[str], found: Sequence[Line], name: str, axis_label: str, *, share: bool
) -> Image:
    """One line per measure over the quarters.

    Args:
        quarters: along the axis.
        found: the lines, each with a value per quarter.
        name: begins the ids of the figure.
        axis_label: what the values are.
        share: the values are shares of 1.

    Returns:
        The image.
    """
    with settings():
        figure = Figure(figsize=(WIDTH, 2.2))
        axis = figure.add_subplot()
        top = 0.0
        for order, (what, values) in enumerate(found):
            colour, style, marker = _STYLES[order % len(_STYLES)]
            points = [math.nan if value is None else float(value) for value in values]
            top = max([top, *(value for value in points if not math.isnan(value))])
            (line,) = axis.plot(
                range(len(quarters)), points, color=colour, linestyle=style, marker=marker,
                markersize=max(3.5, 7 - 1.5 * order), label=what, clip_on=False,
            )  # fmt: skip
            shown = "{:.2%}".format if share else number
            told = [(q, v) for q, v in zip(quarters, points, strict=True) if not math.isnan(v)]
            pointed(line, *(f"{quarter}: {what} {shown(value)}" for quarter, value in told))
        _quarters(axis, quarters)
        axis.set_ylabel(axis_label)
        axis.set_ylim(0, top * 1.08 if top else 0.05 if share else 1)
        if share:
            axis.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=None))
        else:
            thousands(axis, y=True)
        if len(found) > 1:
            axis.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3, borderaxespad=0.2)
        return svg(figure, name, f"{axis_label} per quarter: " + ", ".join(w for w, _ in found))


def _quarters(axis: Axes, quarters: Sequence[str]) -> None:
    every = max(1, math.ceil(len(quarters) / 12))
    places = range(0, len(quarters), every)
    axis.set_xticks(list(places), [label(quarters[place], 12) for place in places])
    beside = max(0.6, (5 - len(quarters)) / 2)  # so that one bar does not fill a figure
    axis.set_xlim(-beside, len(quarters) - 1 + beside)
    axis.set_xlabel("period")
