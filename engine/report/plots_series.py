"""The figures of a series: one panel per question, quarters along the axis."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from srsql.engine.report.quarter_figures import BLUE, GREEN, GREY, ORANGE, RED, WIDTH, label, thousands
from srsql.engine.report.drawing import settings, svg

_STYLES = (
    (BLUE, "-", "o"),
    (ORANGE, "--", "s"),
    (RED, ":", "^"),
    (GREEN, "-.", "D"),
    (GREY, "-", "v"),
)
Line = tuple[str, Sequence[float | None]]


def stacked(quarters: Sequence[str], parts: Sequence[tuple[str, Sequence[int]]], name: str) -> str:
    """Stacked bars of cases per quarter."""
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
    """One line per measure over the quarters; None leaves a gap."""
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
