"""The figures of one quarter: arrays in, an ``svg`` element out.

Colours are those of Okabe and Ito, which colour-blind readers tell apart; where colours carry
meaning, hatching or position does too, so that print in black and white reads the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate

import matplotlib
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, PercentFormatter

from srsql.engine.report.figures import Missingness, Widths
from srsql.engine.report.svg import plain, settings, svg

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
_POINTS = 1500
"""Pairs up to which a scatter draws every one."""


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
        ticks = [tick for tick in MaxNLocator(integer=True, nbins=9).tick_values(1, last)]
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
    axis.annotate(
        f"median {number(median)}", (median, 0.03), (4, 0), textcoords="offset points", fontsize=8
    )
    axis.set_xlim(-last * 0.04, last * 1.04)
    axis.set_ylim(0, 1.02)
    axis.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axis.set_xlabel(f"width of region, {width.unit}" if width.unit else "width of region")


def _levels(axis: Axes, width: Widths) -> None:
    """Share of the cases at each height of the hierarchy."""
    total = sum(width.cases.values()) + width.missing
    names = {0: "exact"} | {h: f"{h} up" for h in range(1, width.top)}
    names[width.top] = label(f"{width.root} or missing", 18)
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
            ("released as a region", BLUE, "", [r.released - r.released_missing - r.given_up for r in rows]),
            ("known, given up", ORANGE, "////", [r.given_up for r in rows]),
            ("missing in the originals", PALE, "", [r.released_missing for r in rows]),
        )  # fmt: skip
        start = [0.0] * len(rows)
        for name, colour, hatch, counts in parts:
            shares = [n / r.released if r.released else 0 for n, r in zip(counts, rows, strict=True)]
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
                axis.scatter(x, y, s=7, color=BLUE, alpha=0.45, linewidths=0, zorder=2)
            else:
                cells = axis.hexbin(
                    x, y, gridsize=44, xscale="log", yscale="log", bins="log", cmap=shades,
                    mincnt=1, zorder=2, linewidths=0.1,
                    extent=(math.log10(low), math.log10(high)) * 2, vmin=0.4,
                )  # fmt: skip
                # along the identity line, so that this corner is free
                bar = figure.colorbar(cells, cax=axis.inset_axes((0.7, 0.08, 0.05, 0.4)))
                bar.outline.set_visible(False)  # type: ignore[operator]
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
