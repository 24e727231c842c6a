"""How figures are drawn: one style, numbers and names on axes, charts over quarters, SVG.

A figure becomes an ``svg`` element inside the page: the same bytes for the same data, no reference
outside. Colours are those of Okabe and Ito, which colour-blind readers tell apart; where colours
carry meaning, hatching or position does too, so that print in black and white reads the same.
"""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

import matplotlib
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, PercentFormatter

BLUE, ORANGE, RED, GREEN, GREY, PALE = (
    "#0072B2",
    "#E69F00",
    "#D55E00",
    "#009E73",
    "#6B6B6B",
    "#D9D9D9",
)
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
_STYLED = frozenset(
    {"axes", "figure", "font", "grid", "hatch", "image", "legend", "lines", "mathtext", "patch",
     "path", "savefig", "scatter", "svg", "text", "xtick", "ytick"}
)  # fmt: skip
"""What of the defaults is restored, so that no matplotlibrc of the reader's changes a figure."""
_SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none",  # text stays text: small, searchable, in the reader's own font
    "text.parse_math": False,  # a "$" in a drug's name is a dollar
    "axes.unicode_minus": True,
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
    return f"{value:,.4g}"


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
    """A name of somebody else's beside an axis."""
    text = plain(text)
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def settings() -> Any:
    """While this lasts, figures are made and drawn in the style of the reports."""
    usual: dict[Any, Any] = {
        name: value
        for name, value in matplotlib.rcParamsDefault.items()
        if name.partition(".")[0] in _STYLED
    }
    return matplotlib.rc_context(usual | _SETTINGS)


def svg(figure: Figure, name: str, label: str) -> str:
    """The figure as an ``svg`` element.

    Args:
        figure: made within ``settings``.
        name: begins every id in it, so that two figures of a page share none.
        label: what it shows, for those who do not see it.
    """
    buffer = io.BytesIO()
    with warnings.catch_warnings(), settings():
        warnings.simplefilter("ignore", UserWarning)  # characters that the metrics' font lacks
        matplotlib.rcParams["svg.hashsalt"] = name
        figure.savefig(
            buffer,
            format="svg",
            bbox_inches="tight",
            pad_inches=0.04,
            metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")),
        )
    root = ElementTree.fromstring(buffer.getvalue())
    _clean(root, name)
    box = root.get("viewBox", "0 0 1 1")
    title = ElementTree.Element("title")
    title.text = plain(label)
    root.attrib = {"viewBox": box, "role": "img", "width": _points(box), "class": "plot"}
    root.insert(0, title)
    root.set("aria-label", plain(label))
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=True)


def _points(box: str) -> str:
    return f"{float(box.split()[2]):.0f}pt"


def _clean(root: ElementTree.Element, name: str) -> None:
    """Own ids, no namespaces, no metadata, the font of the page."""
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.endswith("metadata"):
                parent.remove(child)
    for element in root.iter():
        element.tag = element.tag.removeprefix(_SVG)
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


def stacked(quarters: Sequence[str], parts: Sequence[tuple[str, Sequence[int]]], name: str) -> str:
    """Stacked bars of cases per quarter.

    Args:
        quarters: along the axis.
        parts: names and counts, one count per quarter; a part without cases is left out.
        name: begins the ids of the figure.

    Returns:
        An ``svg`` element.
    """
    with settings():
        figure = Figure(figsize=(WIDTH, 2.4))
        axis = figure.add_subplot()
        start = [0] * len(quarters)
        parts = [part for part in parts if any(part[1])]
        for (what, counts), (colour, _, _), hatch in zip(
            parts, _STYLES, ("", "////", "\\\\\\\\"), strict=False
        ):
            axis.bar(
                range(len(quarters)), counts, bottom=start, color=colour, hatch=hatch,
                edgecolor="white", width=0.7, label=what,
            )  # fmt: skip
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
) -> str:
    """One line per measure over the quarters.

    Args:
        quarters: along the axis.
        found: the lines, each with a value per quarter.
        name: begins the ids of the figure.
        axis_label: what the values are.
        share: the values are shares of 1.

    Returns:
        An ``svg`` element.
    """
    with settings():
        figure = Figure(figsize=(WIDTH, 2.2))
        axis = figure.add_subplot()
        top = 0.0
        for order, (what, values) in enumerate(found):
            colour, style, marker = _STYLES[order % len(_STYLES)]
            points = [math.nan if value is None else float(value) for value in values]
            top = max([top, *(value for value in points if not math.isnan(value))])
            axis.plot(
                range(len(quarters)), points, color=colour, linestyle=style, marker=marker,
                markersize=max(3.5, 7 - 1.5 * order), label=what, clip_on=False,
            )  # fmt: skip
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
    axis.set_xlim(-0.6, len(quarters) - 0.4)
