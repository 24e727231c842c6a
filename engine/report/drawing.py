"""Figures as SVG inside a page: the same bytes for the same data, no reference outside."""

from __future__ import annotations

import io
import re
import warnings
from typing import Any
from xml.etree import ElementTree

import matplotlib
from matplotlib.figure import Figure

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
