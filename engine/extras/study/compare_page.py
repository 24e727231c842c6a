"""One offline page of a comparison: each model and setting, and whole rows that are taken apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import PercentFormatter

from srsql.engine.extras.study.figures import OWN, PaperFigure, draw
from srsql.engine.extras.study.results import FIRST, LOADING, Row
from srsql.engine.extras.study.row_settings import RowSetting
from srsql.engine.report.drawing import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    WIDTH,
    Image,
    settings,
    svg,
)
from srsql.engine.report.page import Fact, Figure, Table, Value, render
from srsql.schemas import Dataset

_PARAMETERS = ("theta", "k", "l", "alpha", "epsilon", "calibration")
_FURTHER = tuple(name for name in FIRST if name not in ("quarter", "model", "seed", *_PARAMETERS))
"""Parameters that have a column where some setting has them; what differs in the seed is one."""
_MEANS = (
    ("NIL", "nil", "release"),
    ("NIL*", "nil_star", "release"),
    ("DR", "dr", "without E"),
    ("RR", "rr", "release"),
    ("withheld", "withheld", "cases"),
)


def page(dataset: Dataset, quarters: str, rows: Sequence[Row]) -> str:
    """The page; the same table gives the same.

    Args:
        dataset: whose quarters.
        quarters: what was compared, as it was asked for.
        rows: the table.
    """
    errors = [row for row in rows if row.get("error")]
    parameters = _varied(rows)
    settings = {_setting(row, parameters) for row in rows}
    return render(
        Path(__file__).with_name("compare.html.j2"),
        dataset=dataset,
        series="compared",
        quarters=quarters,
        facts=[
            Fact("settings", "models and settings", len(settings)),
            Fact("failed", "refused or failed", len(errors)),
        ],
        summary=_summary(rows),
        own=draw_all(OWN, rows, "own")[0],
        failed=Table(
            "failed",
            "Refused or failed, with the reason",
            (*_headings(parameters), "quarter", "stage", "reason"),
            [
                (*_setting(row, parameters), row["quarter"], row["measure"], row["error"])
                for row in errors
            ],
        ),
    ).html  # fmt: skip


def draw_all(
    wanted: Sequence[PaperFigure], rows: Sequence[Row], key: str
) -> tuple[list[Figure], list[str]]:
    """The figures that the table has something for, and the names of the others."""
    figures, missing = [], []
    for number, one in enumerate(wanted):
        drawing = draw(one, rows, f"{key}-{number}")
        if drawing is None:
            missing.append(f"{one.place} ({one.name})")
        else:
            figures.append(Figure(f"{key}-{number}", *drawing))
    return figures, missing


def _varied(rows: Sequence[Row]) -> tuple[str, ...]:
    """Those that some setting has; shares of epsilon only where they differ."""
    seen = {name: {row[name] for row in rows if row.get(name) is not None} for name in _FURTHER}
    return _PARAMETERS + tuple(
        name for name, values in seen.items() if len(values) > name.startswith("share_")
    )


def _headings(parameters: Sequence[str]) -> tuple[str, ...]:
    """Of the columns of ``_setting``, in words, so that long ones take several lines."""
    return ("model", *(name.replace("_", " ") for name in parameters))


def _setting(row: Row, parameters: Sequence[str]) -> tuple[Value, ...]:
    return (row["model"], *map(row.get, parameters))


def _summary(rows: Sequence[Row]) -> Table:
    """A line per setting: means over quarters and seeds, seconds of all, the workers' peak."""
    parameters = _varied(rows)
    means: dict[tuple[Value, ...], dict[str, list[float]]] = {}
    seconds: dict[tuple[Value, ...], float] = {}
    peak: dict[tuple[Value, ...], float] = {}
    for row in rows:
        key = _setting(row, parameters)
        mine = means.setdefault(key, {name: [] for name, *_ in _MEANS})
        if row.get("peak_mib") is not None:
            peak[key] = max(row["peak_mib"], peak.get(key, 0.0))
        if row["measure"] == "stage" and row["scope"] != LOADING and row.get("seconds"):
            seconds[key] = seconds.get(key, 0.0) + row["seconds"]
        for name, measure, scope in _MEANS:
            if (row["measure"], row.get("scope")) == (measure, scope):
                mine[name] += [row["ratio"]] if row.get("ratio") is not None else []
    return Table(
        "summary",
        "Means over the quarters; seconds of all releases without loading kernels, peak memory",
        (*_headings(parameters), *(name for name, *_ in _MEANS), "seconds", "MiB"),
        [
            (
                *key,
                *(fmean(mine[name]) if mine[name] else None for name, *_ in _MEANS),
                seconds.get(key),
                peak.get(key),
            )
            for key, mine in means.items()
        ],
    )


_COLUMNS = (
    "rows", "k", "m", "below k", "cases looked at", "told", "a", "PRR", "MHRA before",
    "MHRA kept", "MHRA others", "EB05 before", "EB05 kept", "EB05 others", "ARE W1", "ARE W2",
    "keeps", "seconds",
)  # fmt: skip
_COLOURS = (BLUE, ORANGE, GREEN, PURPLE, SKY, "black")
_LINES, _MARKERS = (":", "-", "--", "-."), "osD^"
_WHOLE = "whole\nrows"
_APART = 0.05
"""Of the distance of two sizes: how far points of other k and m stand beside each other."""


def row_table(found: Sequence[RowSetting]) -> Table:
    """The settings that were measured, each with its figures."""
    return Table(
        "rows-settings",
        "Rows left whole, and taken apart in clusters of at least so many cases, against m known "
        "items",
        _COLUMNS,
        [
            (
                one.size, one.k, one.m, one.below_k, one.looked_at, one.follows, one.a_ratio,
                one.prr_ratio, one.mhra_before, one.mhra_kept, one.mhra_others, one.eb05_before,
                one.eb05_kept, one.eb05_others, one.are_w1, one.are_w2, one.keeps, one.seconds,
            )
            for one in found
            if not one.error
        ],
    )  # fmt: skip


def draw_rows(found: Sequence[RowSetting]) -> Image:
    """The frontier: size of clusters, k and m against signals kept and candidates below k.

    Colours tell k, lines and markers m; whole rows stand last.

    Args:
        found: settings of one quarter; sizes are shown in multiples of k.
    """
    shown = [one for one in found if not one.error]
    times = sorted({_times(one) for one in shown if one.term_cases is not None})
    places = {size: place for place, size in enumerate(times)}
    panels: tuple[tuple[str, Callable[[RowSetting], float | None]], ...] = (
        ("signals kept, MHRA", lambda one: one.share("mhra")),
        ("signals kept, EB05", lambda one: one.share("eb05")),
        ("cases below k", lambda one: one.below_k),
    )
    groups = sorted({(one.k, one.m or 0) for one in shown if one.term_cases is not None})
    ks, ms = sorted({one.k for one in shown}), sorted({m for _, m in groups})
    with settings():
        drawing = Drawing(figsize=(WIDTH, 5.6), layout="constrained")
        for number, (name, figure) in enumerate(panels, 1):
            axis = drawing.add_subplot(len(panels), 1, number)
            for turn, (k, m) in enumerate(groups):
                beside = (turn - (len(groups) - 1) / 2) * _APART
                points = [
                    (places[_times(one)] + beside, value)
                    for one in sorted(shown, key=_times)
                    if (one.k, one.m) == (k, m) and one.term_cases is not None
                    and (value := figure(one)) is not None
                ]  # fmt: skip
                style = ms.index(m) % len(_LINES)
                _plot(axis, points, _COLOURS[ks.index(k) % len(_COLOURS)],
                      (_LINES[style], _MARKERS[style]), f"k = {k}, m = {m}")  # fmt: skip
            for one in shown:
                if one.term_cases is None and (value := figure(one)) is not None:
                    colour = _COLOURS[ks.index(one.k) % len(_COLOURS)]
                    beside = (ks.index(one.k) - (len(ks) - 1) / 2) * 3 * _APART
                    _plot(axis, [(len(times) + beside, value)], colour, ("none", "*"), "")
            axis.axvline(len(times) - 0.5, color=GREY, linewidth=0.7, linestyle=":")
            axis.set_xticks(range(len(times) + 1), [*(f"{size:g} k" for size in times), _WHOLE])
            axis.set_xlim(-0.6, len(times) + 0.6)
            axis.set_ylim(-0.04, 1.06)
            axis.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
            axis.set_ylabel(name)
            if number == 1 and groups:
                axis.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0)
        axis.set_xlabel("least size of a cluster")
        return svg(drawing, "rows", _description(shown))


def _times(one: RowSetting) -> float:
    """Its clusters in multiples of k."""
    return (one.term_cases or 0) / one.k


def _plot(
    axis: Axes,
    points: Sequence[tuple[float, float]],
    colour: str,
    style: tuple[str, str],
    label: str,
) -> None:
    x, y = [point[0] for point in points], [point[1] for point in points]
    axis.plot(
        x, y, color=colour, linestyle=style[0], marker=style[1], markersize=5,
        label=label or None, clip_on=False,
    )  # fmt: skip


def _description(shown: Sequence[RowSetting]) -> str:
    """The figure for those who do not see it."""
    told = [
        f"{one.size}{f', m = {one.m}' if one.m else ''}, k = {one.k}: "
        + ", ".join(
            f"{name} {value:.0%}"
            for name, value in (("MHRA", one.share("mhra")), ("EB05", one.share("eb05")),
                                ("below k", one.below_k))
            if value is not None
        )
        for one in shown
    ]  # fmt: skip
    return "Signals kept, and cases with fewer than k candidates: " + "; ".join(told)
