"""What a report shows of signals: the originals against what is released, or released only."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from heapq import nlargest
from pathlib import Path

from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure as Canvas

from srsql.engine.catalog.releases import Release
from srsql.engine.errors import SignalError
from srsql.engine.report.drawing import (
    BLUE,
    GREY,
    RED,
    SHADES,
    WIDTH,
    Image,
    label,
    number,
    plain_numbers,
    pointed,
    pointed_bars,
    settings,
    svg,
    thousands,
)
from srsql.engine.report.glossary import CRITERIA
from srsql.engine.report.page import Figure, Table
from srsql.engine.signals.results import Agreement, Judged, Measures, Signal, agreed, judged
from srsql.engine.signals.rules import AGE, Condition
from srsql.engine.signals.run import Sifted
from srsql.engine.signals.signals import signals
from srsql.engine.signals.trends import Trend, TrendPoint
from srsql.engine.store.scratch import put_beside
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset
from srsql.schemas.glossary import term

ADULT = Decimal(18)
"""Years from which the condition of the second comparison holds."""
SIGNALS_DRAWN = 12
"""Pairs in a table or a forest plot."""
_FEW = 100
"""Pairs up to which the dots are large."""
_POINTS = 1500
"""Pairs up to which a scatter draws every one."""


@dataclass(frozen=True)
class Comparison:
    """Every pair under one condition, before and after."""

    title: str
    pairs: int
    points: list[tuple[float, float]]
    """PRR, original and released, where both are defined and above 0."""
    criteria: list[tuple[str, Agreement]]
    """Criterion, and what became of the pairs that meet it."""
    changed: list[Signal]
    """The pairs whose PRR changes most; none of those that do not change."""
    median_bias: float | None
    """Of PRR, released / original."""
    changed_since: tuple[str, ...]
    """Quarters whose raw rows were replaced after their release."""


def comparisons(release: Release) -> list[Comparison]:
    """All pairs without a condition and, where ages are in years, for adults; the steward's.

    Returns:
        One comparison per condition.
    """
    wanted = [("all cases", Condition())]
    if any(qid.name == AGE and qid.unit == "years" for qid in release.visible_dataset.qid):
        wanted.append((f"{AGE} ≥ {ADULT} years", Condition(min_age=ADULT)))
    return [_comparison(release, title, condition) for title, condition in wanted]


def _comparison(release: Release, title: str, condition: Condition) -> Comparison:
    points: list[tuple[float, float]] = []
    counted: dict[str, Counter[Judged]] = {name: Counter() for name in CRITERIA}

    def told(every: Iterator[Signal]) -> Iterator[Signal]:
        for signal in every:
            before = signal.original.prr if signal.original else None
            if before and signal.released.prr:
                points.append((before, signal.released.prr))
            for name, counts in counted.items():
                counts[judged(signal, name)] += 1
            yield signal

    found = signals(
        release.warehouse,
        release.visible_dataset,
        release.series,
        Sifted(condition, lambda every: tuple(nlargest(SIGNALS_DRAWN, told(every), key=_change))),
        quarter=release.quarter,
    )
    quantiles = {row.measure: row for row in found.quantiles}
    return Comparison(
        title,
        counted[CRITERIA[0]].total(),
        points,
        [(term(name).short, agreed(counts)) for name, counts in counted.items()],
        [signal for signal in found.signals if _change(signal) > 0],
        quantiles["prr_bias"].median if "prr_bias" in quantiles else None,
        found.changed_since,
    )


def _change(signal: Signal) -> float:
    bias = signal.bias.prr_bias if signal.bias else None
    return abs(math.log(bias)) if bias else 0.0


def strongest(
    warehouse: Warehouse, dataset: Dataset, series: str, quarter: str
) -> tuple[int, list[Signal]]:
    """The pairs of released rows that stand out most; our own or a foreign release.

    Args:
        warehouse: has the released views.
        dataset: says which columns are drug and reaction.
        series: whose release.
        quarter: which release.

    Returns:
        The number of all pairs, and those of the greatest IC025.
    """
    pairs: list[int] = []
    asked = Sifted(Condition(), strongest=SIGNALS_DRAWN, counted=pairs.append)
    found = signals(warehouse, dataset, series, asked, quarter=quarter, released_only=True)
    return pairs[0], list(found.signals)


def compared_blocks(compared: list[Comparison]) -> list[Figure | Table]:
    """The scatter, the criteria, and the pairs that change most; the steward's."""
    blocks: list[Figure | Table] = []
    if any(found.points for found in compared):
        blocks.append(
            Figure(
                "scatter",
                scatter([(found.title, found.points) for found in compared]),
                "Signals before and after: PRR of each pair of drug and reaction that has one in "
                "both, originals against what is released, on the identity line where nothing "
                "changes. A condition makes regions that straddle it count in part.",
            )
        )
    blocks.append(
        Table(
            "criteria",
            "Criteria of Lin 2016, Table 2: pairs that meet them in the originals and as released, "
            "whatever values of the regions are true; undecided: some values decide",
            ("condition", "criterion", "pairs", "before", "after", "kept", "lost", "undecided",
             "gained", "median PRR, released / original"),
            [
                (found.title, text, found.pairs, told.before, told.after, told.kept, told.lost,
                 told.undecided, told.gained, found.median_bias)
                for found in compared
                for text, told in found.criteria
            ],
        )
    )  # fmt: skip
    for place, found in enumerate(compared):
        if found.changed:
            blocks.append(_changed_pairs(f"changed-{place}", found))
    return blocks


def _changed_pairs(key: str, found: Comparison) -> Table:
    def interval(measures: Measures | None) -> str:
        if measures is None or measures.prr is None:
            return "–"
        ends = (measures.prr, measures.prr_low, measures.prr_high)
        point, low, high = (
            "–" if end is None else f"{end:.3g}" if end < 1000 else f"{end:,.0f}" for end in ends
        )
        return f"{point} ({low}–{high})"

    return Table(
        key,
        f"Most changed pairs, {found.title}",
        ("drug", "reaction", "cases before", "cases after", "PRR before", "PRR after",
         "after / before"),
        [
            (s.drug, s.reaction, s.original.a if s.original else None, s.released.a,
             interval(s.original), interval(s.released), s.bias.prr_bias if s.bias else None)
            for s in found.changed
        ],
    )  # fmt: skip


def strongest_blocks(listed: list[Signal]) -> list[Figure | Table]:
    """The strongest pairs of the released rows; our own or a foreign release."""
    if not listed:
        return []
    bars = [
        (f"{s.drug} → {s.reaction}", s.released.prr_low or 0.0, s.released.prr or 0.0,
         s.released.prr_high or 0.0)
        for s in listed
    ]  # fmt: skip
    return [
        Figure(
            "forest",
            forest(bars),
            "The pairs that stand out most (by IC025, which allows for small counts): PRR with its "
            "95 % interval, from released rows. A disproportion is no proof of a cause.",
        ),
        Table(
            "pairs",
            "The same pairs in numbers",
            ("drug", "reaction", "cases", "PRR", "low", "high", "ROR", "χ²", "IC", "IC025"),
            [
                (s.drug, s.reaction, m.a, m.prr, m.prr_low, m.prr_high, m.ror, m.chi2,
                 m.ic_shrunk, m.ic025)
                for s in listed
                for m in [s.released]
            ],
        ),
    ]  # fmt: skip


def scatter(panels: Sequence[tuple[str, Sequence[tuple[float, float]]]]) -> Image:
    """Released against original PRR on logarithmic axes, one panel per condition.

    Every pair is a dot; where there are too many, cells are shaded by their number of pairs.
    """
    panels = [panel for panel in panels if panel[1]]
    everything = [value for _, pairs in panels for pair in pairs for value in pair]
    low, high = min(everything) / 1.4, max(everything) * 1.4
    # few enough shades that the scale beside it is drawn as shapes, not as a picture
    shades = ListedColormap(SHADES)
    with settings():
        figure = Canvas(figsize=(WIDTH, 3.2), layout="constrained")
        for place, (title, pairs) in enumerate(panels):
            axis = figure.add_subplot(1, max(2, len(panels)), place + 1)
            x, y = [p[0] for p in pairs], [p[1] for p in pairs]
            axis.set_xscale("log")
            axis.set_yscale("log")
            axis.plot([low, high], [low, high], color=RED, linewidth=0.8, zorder=1)
            if len(pairs) <= _POINTS:
                size, shade = (16, 0.8) if len(pairs) <= _FEW else (7, 0.45)
                dots = axis.scatter(x, y, s=size, color=BLUE, alpha=shade, linewidths=0, zorder=2)
                pointed(dots, *(f"originals {number(a)}, released {number(b)}" for a, b in pairs))
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


def forest(rows: Sequence[tuple[str, float, float, float]]) -> Image:
    """Released PRR with its interval, one line per pair: name, low, point, high."""
    with settings():
        figure = Canvas(figsize=(WIDTH, 0.6 + 0.25 * len(rows)), layout="constrained")
        axis = figure.add_subplot()
        places = range(len(rows))
        for place, (_, low, _, high) in zip(places, rows, strict=True):
            axis.plot([low, high], [place, place], color=GREY, linewidth=1.1, zorder=1)
        drawn = [(place, row) for place, row in enumerate(rows) if row[2] > 0]
        points = axis.scatter(
            [row[2] for _, row in drawn], [place for place, _ in drawn],
            s=22, color=BLUE, marker="s", zorder=2,
        )  # fmt: skip
        pointed(
            points,
            *(f"{name}: PRR {point:.3g} ({low:.3g} to {high:.3g})"
              for _, (name, low, point, high) in drawn),
        )  # fmt: skip
        axis.axvline(1, color=RED, linestyle="--", linewidth=1)
        axis.set_xscale("log")
        plain_numbers(axis.xaxis)
        axis.set_yticks(places, [label(row[0], 44) for row in rows])
        axis.set_xlim(min(0.8, min(row[1] for row in rows) * 0.9), None)
        axis.invert_yaxis()
        axis.set_xlabel("PRR with 95 % interval (logarithmic)")
        axis.tick_params(axis="y", length=0)
        return svg(figure, "forest", "PRR of the strongest pairs with 95 % intervals")


def trend_image(trend: Trend) -> Image:
    """A pair over time, as released and, if they were compared, in the originals.

    Above the cases of each period that have both, with their bounds; below PRR with its interval of
    95 % of all periods up to each, on a logarithmic axis.
    """
    periods = [point.period for point in trend.points if point.span == "period"]
    places = range(len(periods))
    with settings():
        canvas = Canvas(figsize=(WIDTH, 4.2))
        above, below = canvas.subplots(2, 1, sharex=True)
        for order, (data, colour, hatch) in enumerate(
            (("released", BLUE, ""), ("original", RED, "////"))
        ):
            found = _of_trend(trend, data)
            if not found:
                continue
            both = [own for point, own in found if point.span == "period"]
            shift = 0.2 * (2 * order - 1) if trend.points[0].original else 0.0
            width = 0.38 if trend.points[0].original else 0.7
            bars = above.bar(
                [place + shift for place in places], [own.a for own in both], width,
                yerr=[[own.a - own.a_lower for own in both], [own.a_upper - own.a for own in both]],
                color=colour, hatch=hatch, edgecolor="white", label=data, capsize=2,
                error_kw={"linewidth": 0.8},
            )  # fmt: skip
            told = zip(periods, both, strict=True)
            pointed_bars(
                bars,
                (
                    f"{period}, {data}: {own.a:,} cases ({own.a_lower:,} to {own.a_upper:,})"
                    for period, own in told
                ),
            )
            drawn = [
                (place, own.prr, own.prr_low or own.prr, own.prr_high or own.prr)
                for place, own in enumerate(o for point, o in found if point.span == "cumulative")
                if own.prr
            ]
            if drawn:
                at, values, lows, highs = zip(*drawn, strict=True)
                margins = [
                    [v - low for v, low in zip(values, lows, strict=True)],
                    [high - v for v, high in zip(values, highs, strict=True)],
                ]
                below.errorbar(
                    [place + shift / 4 for place in at], values, margins, color=colour,
                    marker="os"[order], markersize=4, linestyle=("-", "--")[order], capsize=2,
                    elinewidth=0.8, label=data,
                )  # fmt: skip
        above.set_ylabel("cases by period")
        thousands(above, y=True)
        below.axhline(1, color=GREY, linewidth=0.8)
        below.set_yscale("log")
        plain_numbers(below.yaxis)
        below.set_ylabel("PRR, cumulative")
        every = max(1, math.ceil(len(periods) / 12))
        shown = list(places)[::every]
        below.set_xticks(shown, [label(periods[place], 12) for place in shown])
        below.set_xlabel("period")
        if trend.points[0].original:
            above.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2, borderaxespad=0.2)
        named = f"{label(trend.drug)} and {label(trend.reaction)}"
        canvas.suptitle(named, fontsize=9, x=0.02, ha="left")
        return svg(canvas, "trend", f"Cases by period and cumulative PRR: {named}")


def _of_trend(trend: Trend, data: str) -> list[tuple[TrendPoint, Measures]]:
    """The points of one side with their measures."""
    return [
        (point, own)
        for point in trend.points
        if (own := point.released if data == "released" else point.original) is not None
    ]


def write_trend(trend: Trend, file: Path) -> None:
    """Write the picture of a trend as SVG; what compares with originals its owner alone may read.

    Raises:
        SignalError: it cannot be written.
    """
    content = trend_image(trend).svg_file()
    try:
        with put_beside(file, private=not trend.counted.released_only) as beside:
            beside.write_bytes(content)
    except OSError as error:
        why = error.strerror or str(error)
        raise SignalError(f"{file} cannot be written ({why}): give another --figure") from None
