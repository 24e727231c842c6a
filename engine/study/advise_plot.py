"""Risk against loss: a marker for each model, the frontier a line, the bounds drawn."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from srsql.engine.report.plots import BLUE, GREEN, GREY, ORANGE, PALE, RED, WIDTH, label
from srsql.engine.report.svg import settings, svg
from srsql.engine.study.settings import Setting

_COLOURS = (BLUE, ORANGE, GREEN, GREY, "#CC79A7", "#56B4E9", "black")
_MARKERS = "os^DvP<>"
_NAMES = {
    "worst": "worst risk: 1 / fewest candidates that remain of any target",
    "mean": "mean risk: RR of one draw",
}
_FAR = 1.5
"""Times the axis: how far off a bound is still drawn."""


def draw(
    found: Sequence[Setting],
    sampled: Sequence[Setting],
    recommended: Setting | None,
    max_risk: float | None,
    max_loss: float | None,
) -> str:
    """The figure: a panel for each kind of risk, since they are not compared.

    Settings measured on the quarter are filled, those tried on a sample alone are not.
    """
    measured = {one.label for one in found if not one.error}
    rest = [one for one in sampled if not one.error and one.label not in measured]
    shown = [one for one in found if not one.error]
    kinds = [k for k in _NAMES if any(s.risk_is == k for s in (*shown, *rest))]
    models = sorted({one.model for one in (*shown, *rest)})
    with settings():
        figure = Figure(figsize=(WIDTH, 3.5 * len(kinds)), layout="constrained")
        for place, kind in enumerate(kinds):
            axis = figure.add_subplot(len(kinds), 1, place + 1)
            mine = [s for s in shown if s.risk_is == kind]
            _points(axis, models, mine, [s for s in rest if s.risk_is == kind])
            _frontier(axis, mine)
            _names(axis, mine)
            axis.margins(0.15)
            _bounds(axis, max_risk, max_loss)
            if recommended is not None and recommended.risk_is == kind:
                axis.plot(
                    *_xy([recommended]), marker="o", markersize=15,
                    markerfacecolor="none", markeredgecolor=RED, markeredgewidth=1.8,
                    linestyle="none", label="recommended",
                )  # fmt: skip
            axis.set_xlabel(_NAMES[kind])
            axis.set_ylabel("loss: w + (1 − w) NIL*")
            axis.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0)
        return svg(figure, "frontier", _told(shown, recommended))


def _xy(shown: Sequence[Setting]) -> tuple[list[float], list[float]]:
    return [one.point[0] for one in shown], [one.point[1] for one in shown]


def _points(
    axis: Axes, models: Sequence[str], shown: Sequence[Setting], rest: Sequence[Setting]
) -> None:
    for order, model in enumerate(models):
        colour, marker = _COLOURS[order % len(_COLOURS)], _MARKERS[order % len(_MARKERS)]
        for which, fill, more in ((shown, colour, ""), (rest, "white", ", sample alone")):
            mine = [s for s in which if s.model == model]
            if mine:
                axis.plot(
                    *_xy(mine), marker=marker, linestyle="none", color=colour,
                    markerfacecolor=fill, label=model + more,
                )  # fmt: skip


def _frontier(axis: Axes, shown: Sequence[Setting]) -> None:
    ends = sorted({s.point for s in shown if s.frontier})
    if ends:
        x, y = zip(*ends, strict=True)
        axis.plot(x, y, color="black", linewidth=1.0, drawstyle="steps-post", label="frontier")


def _names(axis: Axes, shown: Sequence[Setting]) -> None:
    """One name a point of the frontier: settings that measure the same share it."""
    at: dict[tuple[float, float], list[str]] = {}
    for one in shown:
        if one.frontier:
            told = [f"k={one.k}", one.theta or "", f"ε={one.epsilon}" if one.epsilon else ""]
            place = (round(one.point[0], 4), round(one.point[1], 4))
            at.setdefault(place, []).append(" ".join(part for part in told if part))
    for place, names in at.items():
        text = names[0] + (f" (+{len(names) - 1})" if len(names) > 1 else "")
        axis.annotate(label(text, 30), place, (6, 3), textcoords="offset points", fontsize=7)


def _bounds(axis: Axes, max_risk: float | None, max_loss: float | None) -> None:
    """What lies beyond a bound is hatched; one far beyond every setting is not drawn."""
    right, top = axis.get_xlim()[1], axis.get_ylim()[1]
    name = "bounds"
    if max_risk is not None and max_risk < _FAR * right:
        right = max(right, max_risk * 1.15)
        axis.axvline(max_risk, color=RED, linestyle="--", linewidth=1.0, label=name)
        _beyond(axis, (max_risk, 0), right - max_risk, _FAR * top)
        name = ""
    if max_loss is not None and max_loss < _FAR * top:
        top = max(top, max_loss * 1.15)
        axis.axhline(max_loss, color=RED, linestyle="--", linewidth=1.0, label=name or None)
        _beyond(axis, (0, max_loss), _FAR * right, top - max_loss)
    axis.set_xlim(0, right)
    axis.set_ylim(0, top)


def _beyond(axis: Axes, corner: tuple[float, float], width: float, height: float) -> None:
    axis.add_patch(
        Rectangle(
            corner, width, height, facecolor="none", edgecolor=PALE, hatch="////", linewidth=0
        )
    )


def _told(shown: Sequence[Setting], recommended: Setting | None) -> str:
    frontier = ", ".join(s.label for s in shown if s.frontier)
    best = f"; recommended: {recommended.label}" if recommended else ""
    return f"Risk against loss of {len(shown)} settings; on the frontier: {frontier}{best}"
