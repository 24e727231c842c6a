"""The figures of one quarter: arrays in, an ``svg`` element out.

Colours are those of Okabe and Ito, which colour-blind readers tell apart; where colours carry
meaning, hatching or position does too, so that print in black and white reads the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, PercentFormatter

from srsql.engine.report.drawing import plain, settings, svg

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
_BARS = 40
"""Sizes that get a bar of their own; larger groups share one."""
_LABELLED = 12
"""Bars up to which each has its number."""
_STEEP = 30
"""Ratio of the highest to the lowest bar above which the axis is logarithmic."""


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


def risk(rows: Sequence[tuple[str, float, float, bool | None]]) -> str:
    """Bars of the shares of groups in danger.

    ``rows``: name, groups in danger, groups, whether it holds (None: nothing is promised).
    """
    with settings():
        figure = Figure(figsize=(WIDTH, 0.5 + 0.26 * len(rows)))
        axis = figure.add_subplot()
        for place, (_, found, total, passed) in enumerate(rows):
            share = found / total if total else 0.0
            colour, hatch = (GREY, "////") if passed is None else (GREEN if passed else RED, "")
            axis.barh(place, share, color=colour, hatch=hatch, edgecolor="white", height=0.62)
            told = "" if passed is None else ("  holds" if passed else "  BROKEN")
            axis.annotate(
                f"{share:.2%}  ({found:,.0f} of {total:,.0f}){told}",
                (share, place),
                (4, 0),
                textcoords="offset points",
                va="center",
                fontsize=8,
            )
        axis.axvline(0, color="black", linewidth=1.2)
        axis.set_yticks(range(len(rows)), [row[0] for row in rows])
        axis.invert_yaxis()
        axis.set_xlim(0, 1.0)
        axis.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        axis.set_xlabel("share of groups in danger (promised: 0 %)")
        axis.tick_params(axis="y", length=0)
        return svg(figure, "risk", "Shares of groups in danger: " + _told(rows))


def _told(rows: Sequence[tuple[str, float, float, bool | None]]) -> str:
    return "; ".join(f"{name}: {found:,.0f} of {total:,.0f}" for name, found, total, _ in rows)


def group_sizes(sizes: dict[int, int], k: int, what: str) -> str:
    """Histogram of the groups (or published regions) over their number of cases."""
    last = max(min(max(sizes), k + _BARS), k)
    bars = {size: groups for size, groups in sizes.items() if size <= last}
    more = sum(groups for size, groups in sizes.items() if size > last)
    with settings():
        figure = Figure(figsize=(WIDTH, 2.3))
        axis = figure.add_subplot()
        drawn = axis.bar(list(bars), list(bars.values()), color=BLUE, width=0.86)
        if len(bars) <= _LABELLED:
            axis.bar_label(drawn, [f"{n:,}" for n in bars.values()], fontsize=8, padding=1)
            axis.margins(y=0.12)
        ticks = MaxNLocator(integer=True, nbins=9).tick_values(1, last)
        shown = sorted({int(tick) for tick in ticks if 1 <= tick <= last} | {k})
        shown = [tick for tick in shown if tick == k or abs(tick - k) > last / 25]
        names = [str(tick) for tick in shown]
        if more:
            axis.bar(last + 3, more, color=BLUE, width=2.4, hatch="////", edgecolor="white")
            kept = [n for n, tick in enumerate(shown) if tick < last - 2]
            shown = [*(shown[n] for n in kept), last + 3]
            names = [*(names[n] for n in kept), f"> {last}"]
        axis.set_xticks(shown, names)
        axis.axvline(k - 0.5, color=RED, linestyle="--", linewidth=1.2)
        axis.annotate(
            f"k = {k}", (k - 0.5, 1), (0, 2), xycoords=("data", "axes fraction"),
            textcoords="offset points", ha="center", va="bottom", color=RED, fontsize=8.5,
        )  # fmt: skip
        if max(sizes.values()) > _STEEP * min(sizes.values()):
            axis.set_yscale("log")
            axis.set_ylim(bottom=0.7)
            plain_numbers(axis.yaxis)
        else:
            thousands(axis, y=True)
        axis.set_xlim(min(k - 4.0, min(sizes) - 1.0), last + (5 if more else 1))
        axis.set_xlabel(f"cases in the {what}")
        axis.set_ylabel(f"{what}s")
        return svg(
            figure,
            "sizes",
            f"Histogram of {sum(sizes.values()):,} {what}s by their number of cases: from "
            f"{min(sizes):,} to {max(sizes):,}, k = {k}",
        )


def reasons(rows: Sequence[tuple[str, int]]) -> str:
    """Bars of what was withheld, by reason."""
    with settings():
        figure = Figure(figsize=(WIDTH, 0.55 + 0.28 * len(rows)))
        axis = figure.add_subplot()
        bars = axis.barh(range(len(rows)), [n for _, n in rows], color=ORANGE, height=0.62)
        axis.bar_label(bars, [f"{n:,}" for _, n in rows], padding=3, fontsize=8)
        axis.set_yticks(range(len(rows)), [name.replace("_", " ") for name, _ in rows])
        axis.invert_yaxis()
        axis.set_xlim(0, max(n for _, n in rows) * 1.12)
        axis.set_xlabel("cases withheld")
        axis.tick_params(axis="y", length=0)
        thousands(axis, x=True)
        return svg(figure, "reasons", "Cases withheld, by reason")


def exposure(found: dict[float, int], what: str) -> str:
    """Share of the groups whose most exposed value uses up at most so much of its threshold."""
    total = sum(found.values())
    ends, shares = list(found), [n / total for n in accumulate(found.values())]
    with settings():
        figure = Figure(figsize=(WIDTH, 2.2))
        axis = figure.add_subplot()
        axis.step([0, *ends, 1.05], [0, *shares, 1], where="post", color=BLUE)
        axis.axvline(1, color=RED, linestyle="--", linewidth=1.2)
        axis.annotate(
            "threshold", (1, 0.04), (-4, 0), textcoords="offset points", ha="right", color=RED,
            fontsize=8.5,
        )  # fmt: skip
        axis.set_xlim(0, max(1.05, ends[-1] * 1.02))
        axis.set_ylim(0, 1.02)
        axis.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        axis.set_xlabel("highest confidence / its threshold θ (values with θ < 1)")
        axis.set_ylabel(f"share of {what}s")
        return svg(
            figure,
            "exposure",
            f"Cumulative share of {what}s by the highest ratio of confidence to threshold; the "
            f"highest of all is {number(ends[-1])}",
        )


def steps(rows: Sequence[tuple[str, int]], k: int) -> str:
    """The candidates of one attacker, exclusion set by exclusion set; the last is who remains."""
    with settings():
        figure = Figure(figsize=(WIDTH, 0.6 + 0.28 * len(rows)))
        axis = figure.add_subplot()
        colours = [BLUE, *[ORANGE] * (len(rows) - 2), GREEN if rows[-1][1] >= k else RED]
        hatches = ["", *["////"] * (len(rows) - 2), ""]
        bars = axis.barh(
            range(len(rows)), [n for _, n in rows], color=colours, hatch=hatches,
            edgecolor="white", height=0.62,
        )  # fmt: skip
        axis.bar_label(bars, [f"{n:,}" for _, n in rows], padding=3, fontsize=8)
        axis.axvline(k, color=RED, linestyle="--", linewidth=1.2)
        axis.annotate(
            f"k = {k}", (k, 1), (0, 2), xycoords=("data", "axes fraction"),
            textcoords="offset points", color=RED, fontsize=8.5, ha="center", va="bottom",
        )  # fmt: skip
        axis.set_yticks(range(len(rows)), [name for name, _ in rows])
        axis.invert_yaxis()
        axis.set_xlim(0, max(max(n for _, n in rows), k) * 1.14)
        axis.set_xlabel("cases")
        axis.tick_params(axis="y", length=0)
        thousands(axis, x=True)
        return svg(figure, "steps", "Candidates of the attacker, what is excluded, who remains")
