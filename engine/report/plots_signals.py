"""Figures of signals: before and after, and the strongest with their intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence

import matplotlib
from matplotlib.figure import Figure

from srsql.engine.report.quarter_figures import BLUE, GREY, RED, WIDTH, label, plain_numbers
from srsql.engine.report.drawing import settings, svg

_FEW = 100
"""Pairs up to which the dots are large."""
_POINTS = 1500
"""Pairs up to which a scatter draws every one."""


def scatter(panels: Sequence[tuple[str, Sequence[tuple[float, float]]]]) -> str:
    """Released against original PRR on logarithmic axes, one panel per condition.

    Every pair is a dot; where there are too many, cells are shaded by their number of pairs.
    """
    panels = [panel for panel in panels if panel[1]]
    everything = [value for _, pairs in panels for pair in pairs for value in pair]
    low, high = min(everything) / 1.4, max(everything) * 1.4
    # few enough shades that the scale beside it is drawn as shapes, not as a picture
    shades = matplotlib.colormaps["Blues"].resampled(12)
    with settings():
        figure = Figure(figsize=(WIDTH, 3.2), layout="constrained")
        for place, (title, pairs) in enumerate(panels):
            axis = figure.add_subplot(1, max(2, len(panels)), place + 1)
            x, y = [p[0] for p in pairs], [p[1] for p in pairs]
            axis.set_xscale("log")
            axis.set_yscale("log")
            axis.plot([low, high], [low, high], color=RED, linewidth=0.8, zorder=1)
            if len(pairs) <= _POINTS:
                size, shade = (16, 0.8) if len(pairs) <= _FEW else (7, 0.45)
                axis.scatter(x, y, s=size, color=BLUE, alpha=shade, linewidths=0, zorder=2)
            else:
                cells = axis.hexbin(
                    x, y, gridsize=44, xscale="log", yscale="log", bins="log", cmap=shades,
                    mincnt=1, zorder=2, linewidths=0.1,
                    extent=(math.log10(low), math.log10(high)) * 2, vmin=0.4,
                )  # fmt: skip
                # along the identity line, so that this corner is free
                bar = figure.colorbar(cells, cax=axis.inset_axes((0.7, 0.08, 0.05, 0.4)))
                bar.outline.set_visible(False)
                bar.set_label("pairs", fontsize=8)
                plain_numbers(bar.ax.yaxis)
            axis.set_xlim(low, high)
            axis.set_ylim(low, high)
            axis.set_box_aspect(1)
            plain_numbers(axis.xaxis, axis.yaxis)
            axis.set_title(f"{title} ({len(pairs):,} pairs)", loc="left")
            axis.set_xlabel("PRR, originals")
            axis.set_ylabel("PRR, released" if place == 0 else "")
        return svg(figure, "scatter", "Released against original PRR of every pair, identity line")


def forest(rows: Sequence[tuple[str, float, float, float]]) -> str:
    """Released PRR with its interval, one line per pair: name, low, point, high."""
    with settings():
        figure = Figure(figsize=(WIDTH, 0.6 + 0.25 * len(rows)))
        axis = figure.add_subplot()
        places = range(len(rows))
        for place, (_, low, _, high) in zip(places, rows, strict=True):
            axis.plot([low, high], [place, place], color=GREY, linewidth=1.1, zorder=1)
        axis.scatter([row[2] for row in rows], places, s=22, color=BLUE, marker="s", zorder=2)
        axis.axvline(1, color=RED, linestyle="--", linewidth=1)
        axis.set_xscale("log")
        plain_numbers(axis.xaxis)
        axis.set_yticks(places, [label(row[0], 52) for row in rows])
        axis.set_xlim(min(0.8, min(row[1] for row in rows) * 0.9), None)
        axis.invert_yaxis()
        axis.set_xlabel("PRR with 95 % interval (logarithmic)")
        axis.tick_params(axis="y", length=0)
        return svg(figure, "forest", "PRR of the strongest pairs with 95 % intervals")
