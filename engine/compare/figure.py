"""The figures of a comparison: a panel per setting, a line per model over the quarters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from srsql.engine.compare.claims import Row, kind
from srsql.engine.report.plots import BLUE, GREEN, GREY, ORANGE, RED, WIDTH, label
from srsql.engine.report.svg import settings, svg

_COLOURS = (BLUE, ORANGE, RED, GREEN, GREY, "#CC79A7", "#56B4E9", "black")
_MARKERS = "os^Dv<>P"
_STYLES = ("-", "--", ":", "-.")
_PANELS = 12
"""Panels up to which a figure is drawn whole; it says how many it leaves out."""
_TITLE = 46
"""Letters of a line above a panel."""
_NAMED = 12
"""Quarters up to which each has its name on the axis."""


@dataclass(frozen=True)
class Spec:
    """A figure of a paper, or of this comparison."""

    paper: str
    place: str
    name: str
    """What is shown."""
    models: tuple[str, ...]
    """Empty: all."""
    measure: str
    scope: str
    """``*``: a panel for each."""
    thetas: str = ""
    """Kind of thresholds (see ``claims.kind``); empty: any."""


Lines = dict[str, dict[str, float]]
"""Label of a model -> quarter -> value."""


def panels(spec: Spec, rows: Sequence[Row]) -> dict[str, Lines]:
    """Title of a panel -> its lines; empty where the table has nothing for the figure."""
    found: dict[str, Lines] = {}
    for row in rows:
        if (
            row["measure"] != spec.measure
            or (spec.models and row["model"] not in spec.models)
            or spec.scope not in ("*", row.get("scope"))
            or (spec.thetas and kind(row) not in ("", spec.thetas))
            or row.get("ratio") is None
            or ":" in str(row["quarter"])
        ):
            continue
        title = [f"{name} = {row[name]}" for name in ("k", "theta") if row.get(name) is not None]
        below = f"\n{row['scope']}" if spec.scope == "*" and row.get("scope") else ""
        told = [f"{n} {row[n]:g}" for n in ("l", "alpha", "epsilon") if row.get(n) is not None]
        told += [row["calibration"]] if row.get("calibration") else []
        line = row["model"] + (f" ({', '.join(told)})" if told else "")
        found.setdefault(", ".join(title) + below, {}).setdefault(line, {})[row["quarter"]] = row[
            "ratio"
        ]
    return found


def draw(spec: Spec, rows: Sequence[Row], key: str) -> tuple[str, str] | None:
    """The figure and its caption; None where the table has nothing for it."""
    found = panels(spec, rows)
    if not found:
        return None
    shown = dict(list(found.items())[:_PANELS])
    left = len(found) - len(shown)
    quarters = sorted({q for lines in shown.values() for line in lines.values() for q in line})
    names = sorted({name for lines in shown.values() for name in lines})
    with settings():
        columns = min(2, len(shown))
        height = 0.5 + 0.24 * len(names) if len(quarters) == 1 else 2.3
        count = math.ceil(len(shown) / columns)
        legend = 0.0 if len(quarters) == 1 else 0.2 * math.ceil(len(names) / 2)
        figure = Figure(figsize=(WIDTH, count * (height + 0.5) + legend), layout="constrained")
        for place, (title, lines) in enumerate(shown.items()):
            axis = figure.add_subplot(count, columns, place + 1)
            told = [label(line, _TITLE) for line in title.splitlines()]
            axis.set_title("\n".join(told), loc="left", fontsize=8.5)
            if len(quarters) == 1:
                _bars(axis, lines)
            else:
                _lines(axis, quarters, names, lines)
        if len(quarters) > 1:
            drawn: dict[str, Any] = {}
            for axis in figure.axes:
                handles, labels = axis.get_legend_handles_labels()
                drawn |= dict(zip(labels, handles, strict=True))
            figure.legend([drawn[name] for name in names], names, loc="outside lower left", ncols=2)
        image = svg(figure, key, f"{spec.name} by model")
    span = quarters[0] if len(quarters) == 1 else f"{quarters[0]} to {quarters[-1]}"
    more = f"; {left} more settings are in the table" if left else ""
    return image, f"{spec.paper}, {spec.place}: {spec.name}, {span}{more}"


def _bars(axis: Axes, lines: Lines) -> None:
    names = sorted(lines)
    values = [next(iter(lines[name].values())) for name in names]
    bars = axis.barh(range(len(names)), values, color=BLUE, height=0.62)
    axis.bar_label(bars, [f"{value:.4g}" for value in values], padding=3, fontsize=8)
    axis.set_yticks(range(len(names)), [label(name, 40) for name in names])
    axis.invert_yaxis()
    axis.margins(x=0.36)
    axis.axvline(0, color="black", linewidth=0.8)
    axis.tick_params(axis="y", length=0)


def _lines(
    axis: Axes, quarters: Sequence[str], names: Sequence[str], lines: Mapping[str, dict[str, float]]
) -> None:
    for name, values in lines.items():
        order = names.index(name)
        axis.plot(
            range(len(quarters)), [values.get(q, math.nan) for q in quarters], label=name,
            color=_COLOURS[order % len(_COLOURS)], marker=_MARKERS[order % len(_MARKERS)],
            linestyle=_STYLES[order // len(_COLOURS) % len(_STYLES)], markersize=4,
        )  # fmt: skip
    every = max(1, math.ceil(len(quarters) / _NAMED))
    places = range(0, len(quarters), every)
    axis.set_xticks(list(places), [label(quarters[n], 12) for n in places], rotation=45)
    axis.margins(y=0.1)
