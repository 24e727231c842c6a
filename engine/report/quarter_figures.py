"""The figures of one quarter: arrays in, a figure with its caption or its image out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import MaxNLocator, PercentFormatter

from srsql.engine.report.drawing import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PALE,
    RED,
    WARNING,
    WIDTH,
    Image,
    label,
    number,
    plain_numbers,
    pointed_bars,
    settings,
    svg,
    thousands,
)
from srsql.engine.report.page import Figure
from srsql.engine.report.shapes import BeforeAfter, Missingness, Shapes, Widths

_BARS = 40
"""Sizes that get a bar of their own; larger groups share one."""
_LABELLED = 12
"""Bars up to which each has its number, if they are not spread over twice as many sizes."""
_LEAVES = 8
"""Leaves of a category that get bars of their own, the most frequent ones."""
_STEEP = 30
"""Ratio of the highest to the lowest bar above which the axis is logarithmic."""


def group_figures(shapes: Shapes, k: int | None, what: str, limit: int | None = 1) -> list[Figure]:
    """Sizes and exposure of the groups or published regions.

    Args:
        shapes: what is drawn.
        k: the least size that is promised; None: no bound is drawn.
        what: ``group`` or ``region``.
        limit: of confidences, in shares of their thresholds; None: none is promised.

    Returns:
        The figures that there is something for.
    """
    found = []
    if shapes.sizes:
        found.append(
            Figure(
                "sizes",
                group_sizes(shapes.sizes, k, what),
                f"{shapes.groups:,} {what}s by their number of cases: {min(shapes.sizes):,} to "
                f"{max(shapes.sizes):,}"
                + ("." if k is None else "; none may lie left of the dashed line."),
            )
        )
    if shapes.exposure:
        found.append(
            Figure(
                "exposure",
                exposure(shapes.exposure, what),
                f"Sensitive values: for each {what}, the highest ratio of a value's confidence to "
                "its threshold, over the values whose threshold is below 1. "
                + (
                    "The line has to be at 100 % where it meets the dashed one."
                    if limit
                    else f"The model promises no threshold within a {what}."
                ),
            )
        )
    return found


def width_figure(shapes: Shapes) -> Figure | None:
    """Widths of the regions, if any case has one."""
    if not any(any(width.cases.values()) for width in shapes.widths):
        return None
    return Figure(
        "widths",
        widths(shapes.widths),
        "Width of the released region per quasi-identifier. Numbers: share of the cases whose "
        "interval is at most so wide (0: the exact value), over the cases that have one. "
        "Categories: share of the cases by the height of the released node.",
    )


def before_after_figure(found: Sequence[BeforeAfter]) -> Figure | None:
    """Originals beside what is released, a panel for each quasi-identifier that has values."""
    told = [each for each in found if any(each.before) or any(each.after)]
    if not told:
        return None
    return Figure(
        "before-after",
        before_after(told),
        "Released cases by their originals (grey) and as released (blue). A region counts in every "
        "place that it covers, by its share; values that are missing or given up are in neither.",
    )


def before_after(found: Sequence[BeforeAfter]) -> Image:
    """One panel per quasi-identifier: shares of the cases that have a value, before and after."""
    with settings():
        figure, panels = _panels([one.name for one in found])
        for axis, one in zip(panels, found, strict=True):
            (_of_leaves if one.labels else _of_places)(axis, one)
        names = ", ".join(one.name for one in found)
        return svg(figure, "before-after", f"Cases before and after, by {names}")


def _panels(names: Sequence[str]) -> tuple[Canvas, list[Axes]]:
    """A figure of shares of cases with a panel for each quasi-identifier."""
    across = min(3, len(names))
    down = math.ceil(len(names) / across)
    figure = Canvas(figsize=(WIDTH, 2.25 * down), layout="constrained")
    panels = []
    for place, name in enumerate(names):
        axis = figure.add_subplot(down, across, place + 1)
        axis.set_title(label(name), loc="left")
        if place % across == 0:
            axis.set_ylabel("share of cases")
        panels.append(axis)
    return figure, panels


def _part(counts: Sequence[float]) -> list[float]:
    return [count / (sum(counts) or 1) for count in counts]


def _of_places(axis: Axes, one: BeforeAfter) -> None:
    before, after = _part(one.before), _part(one.after)
    axis.stairs(before, one.ends, fill=True, color=PALE)
    axis.stairs(after, one.ends, color=BLUE, linewidth=1.4)
    axis.set_ylim(0, max(*before, *after) * 1.08)
    axis.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=None))
    axis.set_xlabel(one.unit or label(one.name))


def _of_leaves(axis: Axes, one: BeforeAfter) -> None:
    before, after = _part(one.before), _part(one.after)
    order = sorted(range(len(before)), key=lambda i: (-before[i], -after[i], i))
    shown, rest = order[:_LEAVES], order[_LEAVES:]
    pairs = [(label(one.labels[i], 12), before[i], after[i]) for i in shown]
    if rest:
        pairs.append(("others", sum(before[i] for i in rest), sum(after[i] for i in rest)))
    at = range(len(pairs))
    for side, (when, colour) in enumerate((("originals", PALE), ("released", BLUE))):
        shares = [pair[side + 1] for pair in pairs]
        bars = axis.bar([i + 0.4 * side - 0.2 for i in at], shares, 0.4, color=colour)
        told = zip(pairs, shares, strict=True)
        pointed_bars(bars, (f"{pair[0]}, {when}: {share:.1%}" for pair, share in told))
    axis.set_xticks(list(at), [pair[0] for pair in pairs], rotation=90 if len(pairs) > 4 else 0)
    axis.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=None))


def risk_figure(rows: Sequence[tuple[str, float, float, bool | None]]) -> Figure:
    """Bars of the shares of groups in danger; where there are none, words say it.

    ``rows``: name, groups in danger, groups, whether it holds (None: nothing is promised).
    """
    told = _shares(rows)
    kept = [name for name, found, _, passed in rows if not found and passed is not False]
    rows = [row for row in rows if row[0] not in kept] or rows
    none = f" No group is in danger by {', '.join(kept)}." if kept else ""
    with settings():
        figure = Canvas(figsize=(WIDTH, 0.8 + 0.26 * len(rows)))
        axis = figure.add_subplot()
        for place, (_, found, total, passed) in enumerate(rows):
            share = found / total if total else 0.0
            colour, hatch = (GREY, "////") if passed is None else (GREEN if passed else RED, "")
            bars = axis.barh(
                place, share, color=colour, hatch=hatch, edgecolor="white", height=0.62
            )
            verdict = "" if passed is None else ("  holds" if passed else "  BROKEN")
            text = f"{share:.2%}  ({found:,.0f} of {total:,.0f}){verdict}"
            pointed_bars(bars, [f"{rows[place][0]}: {text}"])
            axis.annotate(
                text,
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
        image = svg(figure, "risk", "Shares of groups in danger: " + told)
    return Figure(
        "risk",
        image,
        "Share of groups in danger, attacked with the whole series. In brackets the candidates: "
        "those of the target's group, or all cases whose region matches what the attacker knows; "
        "for DR, with or without external knowledge. Hatched: measured, not promised by the model."
        + none,
    )


def _shares(rows: Sequence[tuple[str, float, float, bool | None]]) -> str:
    return "; ".join(f"{name}: {found:,.0f} of {total:,.0f}" for name, found, total, _ in rows)


def group_sizes(sizes: dict[int, int], k: int | None, what: str) -> Image:
    """Histogram of groups over their number of cases.

    Args:
        sizes: cases -> groups of so many.
        k: the bound, drawn as a line; None: it is not known.
        what: ``group`` or ``region``.

    Returns:
        The image.
    """
    least = min(sizes) if k is None else k
    last = max(min(max(sizes), least + _BARS), least)
    bars = {size: groups for size, groups in sizes.items() if size <= last}
    more = sum(groups for size, groups in sizes.items() if size > last)
    with settings():
        figure = Canvas(figsize=(WIDTH, 2.3))
        axis = figure.add_subplot()
        drawn = axis.bar(list(bars), list(bars.values()), color=BLUE, width=0.86)
        told = bars.items()
        pointed_bars(drawn, (f"{size:,} cases: {many:,} {what}s" for size, many in told))
        if bars and len(bars) <= _LABELLED and last - min(bars) <= 2 * _LABELLED:
            axis.bar_label(drawn, [f"{n:,}" for n in bars.values()], fontsize=8, padding=1)
            axis.margins(y=0.12)
        ticks = MaxNLocator(integer=True, nbins=9).tick_values(1, last)
        shown = sorted({int(tick) for tick in ticks if 1 <= tick <= last} | {least})
        shown = [tick for tick in shown if tick == least or abs(tick - least) > last / 25]
        names = [f"{tick:,}" for tick in shown]
        if more:
            rest = axis.bar(last + 3, more, color=BLUE, width=2.4, hatch="////", edgecolor="white")
            pointed_bars(rest, [f"more than {last:,} cases: {more:,} {what}s"])
            places = [n for n, tick in enumerate(shown) if tick < last - 2]
            shown = [*(shown[n] for n in places), last + 3]
            names = [*(names[n] for n in places), f"> {last:,}"]
        axis.set_xticks(shown, names)
        if k is not None:
            axis.axvline(k - 0.5, color=RED, linestyle="--", linewidth=1.2)
            axis.annotate(
                f"k = {k}", (k - 0.5, 1), (0, 2), xycoords=("data", "axes fraction"),
                textcoords="offset points", ha="center", va="bottom", color=WARNING, fontsize=8.5,
            )  # fmt: skip
        if max(sizes.values()) > _STEEP * min(sizes.values()):
            axis.set_yscale("log")
            axis.set_ylim(bottom=0.7)
            plain_numbers(axis.yaxis)
        else:
            thousands(axis, y=True)
        axis.set_xlim(max(0.0, min(least - 4.0, min(sizes) - 1.0)), last + (5 if more else 1))
        axis.set_xlabel(f"cases in the {what}")
        axis.set_ylabel(f"{what}s")
        return svg(
            figure,
            "sizes",
            f"Histogram of {sum(sizes.values()):,} {what}s by their number of cases: from "
            f"{min(sizes):,} to {max(sizes):,}" + ("" if k is None else f", k = {k}"),
        )


def reasons_figure(rows: Sequence[tuple[str, int]]) -> Figure:
    """Bars of what was withheld, by reason."""
    with settings():
        figure = Canvas(figsize=(WIDTH, 0.55 + 0.28 * len(rows)))
        axis = figure.add_subplot()
        bars = axis.barh(range(len(rows)), [n for _, n in rows], color=ORANGE, height=0.62)
        axis.bar_label(bars, [f"{n:,}" for _, n in rows], padding=3, fontsize=8)
        pointed_bars(bars, (f"{name.replace('_', ' ')}: {n:,} cases" for name, n in rows))
        axis.set_yticks(range(len(rows)), [name.replace("_", " ") for name, _ in rows])
        axis.invert_yaxis()
        axis.set_xlim(0, max(n for _, n in rows) * 1.12)
        axis.set_xlabel("cases withheld")
        axis.tick_params(axis="y", length=0)
        thousands(axis, x=True)
        image = svg(figure, "reasons", "Cases withheld, by reason")
    return Figure("reasons", image, "Cases withheld, by reason.")


def exposure(found: dict[float, int], what: str) -> Image:
    """Share of the groups whose most exposed value uses up at most so much of its threshold."""
    total = sum(found.values())
    ends, shares = list(found), [n / total for n in accumulate(found.values())]
    with settings():
        figure = Canvas(figsize=(WIDTH, 2.2))
        axis = figure.add_subplot()
        last = max(1.05, ends[-1] * 1.02)
        axis.step([0, *ends, last], [0, *shares, 1], where="post", color=BLUE)
        axis.axvline(1, color=RED, linestyle="--", linewidth=1.2)
        axis.annotate(
            "threshold", (1, 0.04), (-4, 0), textcoords="offset points", ha="right", color=WARNING,
            fontsize=8.5,
        )  # fmt: skip
        axis.set_xlim(0, last)
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


def steps(rows: Sequence[tuple[str, int]], k: int | None) -> Image:
    """The candidates of one attacker, exclusion set by exclusion set; the last is who remains."""
    with settings():
        figure = Canvas(figsize=(WIDTH, 0.6 + 0.28 * len(rows)))
        axis = figure.add_subplot()
        left = GREY if k is None else GREEN if rows[-1][1] >= k else RED
        colours = [BLUE, *[ORANGE] * (len(rows) - 2), left]
        hatches = ["", *["////"] * (len(rows) - 2), ""]
        bars = axis.barh(
            range(len(rows)), [n for _, n in rows], color=colours, hatch=hatches,
            edgecolor="white", height=0.62,
        )  # fmt: skip
        axis.bar_label(bars, [f"{n:,}" for _, n in rows], padding=3, fontsize=8)
        pointed_bars(bars, (f"{name}: {n:,} cases" for name, n in rows))
        if k is not None:
            axis.axvline(k, color=RED, linestyle="--", linewidth=1.2)
            axis.annotate(
                f"k = {k}", (k, 1), (0, 2), xycoords=("data", "axes fraction"),
                textcoords="offset points", color=WARNING, fontsize=8.5, ha="center", va="bottom",
            )  # fmt: skip
        axis.set_yticks(range(len(rows)), [name for name, _ in rows])
        axis.invert_yaxis()
        axis.set_xlim(0, max(*(n for _, n in rows), k or 1) * 1.14)
        axis.set_xlabel("cases")
        axis.tick_params(axis="y", length=0)
        thousands(axis, x=True)
        return svg(figure, "steps", "Candidates of the attacker, what is excluded, who remains")


def widths(found: Sequence[Widths]) -> Image:
    """One panel per quasi-identifier: how wide the regions of the cases are."""
    with settings():
        figure, panels = _panels([width.name for width in found])
        for axis, width in zip(panels, found, strict=True):
            if not sum(width.cases.values()):
                axis.text(0.5, 0.5, "missing in every case", ha="center", transform=axis.transAxes)
                axis.set_axis_off()
            elif width.kind == "numeric":
                _cumulative(axis, width)
            else:
                _levels(axis, width)
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
    pointed_bars(bars, (f"{n:,} of {total:,} cases" for n in counts))
    axis.set_xticks(range(len(names)), list(names.values()))
    axis.set_ylim(0, 1.12)
    axis.set_yticks([0, 0.25, 0.5, 0.75, 1])
    axis.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axis.set_xlabel("height of the released node")


def missing_figure(rows: Sequence[Missingness]) -> Figure:
    """Per quasi-identifier of the released cases: released, given up, missing before."""
    with settings():
        figure = Canvas(figsize=(WIDTH, 0.75 + 0.34 * len(rows)))
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
            bars = axis.barh(
                range(len(rows)), shares, left=start, color=colour, hatch=hatch,
                edgecolor="white", height=0.62, label=name,
            )  # fmt: skip
            told = zip(rows, counts, strict=True)
            pointed_bars(bars, (f"{r.name}, {name}: {n:,} of {r.released:,}" for r, n in told))
            start = [a + b for a, b in zip(start, shares, strict=True)]
        axis.set_yticks(range(len(rows)), [label(r.name) for r in rows])
        axis.invert_yaxis()
        axis.set_xlim(0, 1)
        axis.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        axis.set_xlabel("share of released cases")
        axis.tick_params(axis="y", length=0)
        axis.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3, borderaxespad=0.2)
        image = svg(figure, "missing", "Missing values before and after, per quasi-identifier")
    return Figure(
        "missing",
        image,
        "Released cases per quasi-identifier: released as a region, known but given up (its "
        "set of cases was too small, or the model releases none), missing in the originals.",
    )
