"""Figures of the released regions: how wide they are, and what is missing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from srsql.engine.report.shapes import Missingness, Widths
from srsql.engine.report.quarter_figures import BLUE, GREY, ORANGE, PALE, WIDTH, label, number
from srsql.engine.report.drawing import settings, svg


def widths(found: Sequence[Widths]) -> str:
    """One panel per quasi-identifier: how wide the regions of the cases are."""
    across = min(3, len(found))
    down = math.ceil(len(found) / across)
    with settings():
        figure = Figure(figsize=(WIDTH, 2.25 * down), layout="constrained")
        for place, width in enumerate(found):
            axis = figure.add_subplot(down, across, place + 1)
            axis.set_title(label(width.name), loc="left")
            if not sum(width.cases.values()):
                axis.text(0.5, 0.5, "missing in every case", ha="center", transform=axis.transAxes)
                axis.set_axis_off()
            elif width.kind == "numeric":
                _cumulative(axis, width)
            else:
                _levels(axis, width)
            if place % across == 0:
                axis.set_ylabel("share of cases")
        return svg(
            figure,
            "widths",
            "Widths of the regions per quasi-identifier: " + ", ".join(w.name for w in found),
        )


def _cumulative(axis: Axes, width: Widths) -> None:
    """Share of the cases whose region is at most so wide."""
    total = sum(width.cases.values())
    ends = list(width.cases)
    shares = [n / total for n in accumulate(width.cases.values())]
    last = max(ends[-1], 1)
    axis.step([*ends, last * 1.04], [*shares, 1.0], where="post", color=BLUE)
    axis.plot([ends[0], ends[0]], [0, shares[0]], color=BLUE)
    median = next(end for end, share in zip(ends, shares, strict=True) if share >= 0.5)
    axis.axvline(median, color=GREY, linestyle=":", linewidth=1)
    right = median > last / 2
    axis.annotate(
        f"median {number(median)}",
        (median, 0.03),
        (-4 if right else 4, 0),
        textcoords="offset points",
        ha="right" if right else "left",
        fontsize=8,
    )
    axis.set_xlim(-last * 0.04, last * 1.04)
    axis.set_ylim(0, 1.02)
    axis.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axis.set_xlabel(f"width of region, {width.unit}" if width.unit else "width of region")


def _levels(axis: Axes, width: Widths) -> None:
    """Share of the cases at each height of the hierarchy."""
    total = sum(width.cases.values()) + width.missing
    names = {0: "exact"} | {h: f"{h} up" for h in range(1, width.top)}
    names[width.top] = label(width.root, 12) + "\nor missing"
    counts = [width.cases.get(float(height), 0) for height in names]
    counts[-1] += width.missing
    shares = [count / total for count in counts]
    bars = axis.bar(range(len(names)), shares, color=BLUE, width=0.62)
    axis.bar_label(bars, [f"{share:.0%}" for share in shares], fontsize=8, padding=1)
    axis.set_xticks(range(len(names)), list(names.values()))
    axis.set_ylim(0, 1.12)
    axis.set_yticks([0, 0.25, 0.5, 0.75, 1])
    axis.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axis.set_xlabel("height of the released node")


def missing(rows: Sequence[Missingness]) -> str:
    """Per quasi-identifier of the released cases: released, given up, missing before."""
    with settings():
        figure = Figure(figsize=(WIDTH, 0.75 + 0.34 * len(rows)))
        axis = figure.add_subplot()
        parts = (
            ("released as a region", BLUE, "",
             [r.released - r.released_missing - r.given_up for r in rows]),
            ("known, given up", ORANGE, "////", [r.given_up for r in rows]),
            ("missing in the originals", PALE, "", [r.released_missing for r in rows]),
        )  # fmt: skip
        start = [0.0] * len(rows)
        for name, colour, hatch, counts in parts:
            shares = [
                n / r.released if r.released else 0 for n, r in zip(counts, rows, strict=True)
            ]
            axis.barh(
                range(len(rows)), shares, left=start, color=colour, hatch=hatch,
                edgecolor="white", height=0.62, label=name,
            )  # fmt: skip
            start = [a + b for a, b in zip(start, shares, strict=True)]
        axis.set_yticks(range(len(rows)), [label(r.name) for r in rows])
        axis.invert_yaxis()
        axis.set_xlim(0, 1)
        axis.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        axis.set_xlabel("share of released cases")
        axis.tick_params(axis="y", length=0)
        axis.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3, borderaxespad=0.2)
        return svg(figure, "missing", "Missing values before and after, per quasi-identifier")
