"""The figures of a comparison: a panel per setting, a line per model, mostly over the quarters."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from string import Formatter
from typing import Annotated, Any, Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator
from pydantic import AfterValidator, BaseModel, ConfigDict, TypeAdapter

from srsql.engine.extras.study.results import Column, Conditions, Row, hold, value_of
from srsql.engine.report.drawing import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    WIDTH,
    Image,
    label,
    number,
    settings,
    svg,
)

_COLOURS = (BLUE, ORANGE, RED, GREEN, GREY, PURPLE, SKY, "black")
_MARKERS = "os^Dv<>P"
_STYLES = ("-", "--", ":", "-.")
_HATCHES = ("", "//", "..", "xx", "\\\\")
_SHARES = ("share_suppression", "share_insertion", "share_value", "share_candidates")
_VARIED = (
    "m", "policy", "term_attributes", "partners", "pooled_by", "suppress_below", *_SHARES,
    "informative", "dimensions", "cases",
)  # fmt: skip
"""Parameters that a line names where the figure has more than one value of them."""
_BESIDE = tuple(name for name in _VARIED if name not in ("m", "policy"))
"""Those of them that no figure distinguishes by other means."""
_PANELS = 12
"""Panels up to which a figure is drawn whole; it says how many it leaves out."""
_TITLE = 46
"""Letters of a line above a panel."""
_NAMED = 12
"""Places up to which each has its name on the axis."""
_ROOM = 34
"""Letters below a panel."""
_SHARE = "{} (share, 0 to 1)"
_VALUES: Mapping[str, str] = {
    "are": "mean relative error (1: 100 %)",
    "are_released": "mean relative error (1: 100 %)",
    "ar_bias": "AR, difference",
    "ar_rev": "AR, chance (0 to 1)",
    "audit_dir": _SHARE.format("groups"),
    "audit_dsr": _SHARE.format("groups"),
    "audit_ssgr": _SHARE.format("groups"),
    "combinations": _SHARE.format("combinations"),
    "dr": _SHARE.format("groups"),
    "emd": "loss (0 to 1)",
    "group_count": "cases",
    "group_mean": "mean, in the data's unit",
    "il": "NCP + EMD + Rate (0 to 3)",
    "mre": _SHARE.format("constraints"),
    "mre_within_5": _SHARE.format("constraints"),
    "ncp": "loss (0 to 1)",
    "nil": "NIL (0 to 1)",
    "nil_star": "NIL* (0 to 1)",
    "rate": "loss (0 to 1)",
    "rr": "RR, chance (0 to 1)",
    "rr_bias": "RR, difference",
    "signal_a_change": "cases, difference",
    "signal_prr_change": "PRR, difference",
    "signals_kept": _SHARE.format("signals"),
    "signals_lost": _SHARE.format("signals"),
    "signals_undecided": _SHARE.format("signals"),
    "suppressed_terms": _SHARE.format("distinct terms"),
    "withheld": _SHARE.format("cases"),
}
"""Measure -> what its ratio is, in which unit, beside the axis of the values."""
Point = str | float
Lines = dict[str, dict[Point, float]]
"""Label of a line -> place on the horizontal axis -> value."""


ORDERS: Mapping[str, tuple[str, ...]] = {
    "error_intervals": (
        "< -10", "[-10, -5)", "[-5, -2.5)", "[-2.5, 0)", "0", "(0, 2.5)", "[2.5, 5)", "[5, 10)",
        ">= 10",
    ),
    "holders": (*(str(n) for n in range(1, 11)), "> 10"),
}  # fmt: skip
"""Places that are no numbers, in their order: matching relative errors in percent, as
``srsql.matching_error_intervals`` has them; how many cases hold a combination of terms."""


def _filled(text: str) -> str:
    """A text that can be filled with the values of a row."""
    for _, name, _, _ in Formatter().parse(text):
        if name is not None:
            TypeAdapter(Column).validate_python(name)
    return text


_Text = Annotated[str, AfterValidator(_filled)]


class PaperFigure(BaseModel):
    """A figure of a paper, or of this comparison.

    Columns and parameters are those of the table, or what is read off a row
    (``results.READ_OFF``); texts of lines and panels have them in braces.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    paper: str
    place: str
    name: str
    """What is shown."""
    models: tuple[str, ...] = ()
    """Empty: all."""
    measure: str | tuple[str, ...] | dict[str, str]
    """Several: a line for each; by model: the measure of each model."""
    scope: str
    """``*``: any; over the quarters, a panel for each."""
    at: Column = "quarter"
    """Where a row is on the horizontal axis: a column (nothing in it: nowhere)."""
    axis: str = ""
    """What the horizontal axis shows, if not quarters."""
    order: Literal["error_intervals", "holders"] | None = None
    """Of places that are no numbers: values are columns then."""
    panel: tuple[Column, ...] = ("k", "theta")
    """Parameters that a panel is for one value of."""
    line: _Text = ""
    """What a line is for, if not for a model and its parameters."""
    below: _Text = ""
    """A panel for each of these texts, too."""
    where: Conditions = {}
    value: Column = "ratio"
    """What is shown."""
    original: bool = False
    """Whether the originals (``total`` of a row) have a line, too."""

    def measures(self, model: str) -> tuple[str, ...]:
        """What is shown of a model."""
        if isinstance(self.measure, dict):
            return (self.measure[model],) if model in self.measure else ()
        return (self.measure,) if isinstance(self.measure, str) else self.measure

    @property
    def values_label(self) -> str:
        """What the axis of the values shows; of several measures each once."""
        if self.value != "ratio":
            return self.value
        named = self.measure.values() if isinstance(self.measure, dict) else self.measure
        listed = (self.measure,) if isinstance(self.measure, str) else tuple(named)
        return ", ".join(dict.fromkeys(_VALUES[name] for name in listed))

    @property
    def places_label(self) -> str:
        """What the axis of the places shows."""
        return self.axis or {"quarter": "period"}.get(self.at, self.at.replace("_", " "))

    def place_of(self, row: Row) -> Point | None:
        """Where a row is on the horizontal axis."""
        place: Point | None = value_of(row, self.at)
        return place


def figures_of(paper: Mapping[str, Any]) -> Iterator[PaperFigure]:
    """The figures of a paper, of which a file tells its name and an entry for each figure."""
    for entry in paper["figure"]:
        yield PaperFigure.model_validate({"paper": paper["paper"], **entry})


OWN = tuple(
    figures_of(tomllib.loads(Path(__file__).with_name("figures.toml").read_text(encoding="utf-8")))
)
"""What every model is compared by, whatever the papers show."""


class _Values(dict[str, Any]):
    """A row as the texts of lines and panels ask it."""

    def __missing__(self, name: str) -> Any:
        return value_of(self, name)


def panels(figure: PaperFigure, rows: Sequence[Row]) -> dict[str, Lines]:
    """Title of a panel -> its lines; empty where the table has nothing for the figure.

    Values of the same setting (under other seeds) are averaged.
    """
    chosen = [row for row in rows if _shown(figure, row)]
    varied = [name for name in _VARIED if len(_values(chosen, name)) > 1]
    found: dict[str, dict[str, dict[Point, list[float]]]] = {}
    for row in chosen:
        panel = found.setdefault(_title(figure, row), {})
        point = figure.place_of(row)
        assert point is not None
        if row.get(figure.value) is not None:
            value = row["violating"] if figure.original else row[figure.value]
            panel.setdefault(_line(figure, row, varied), {}).setdefault(point, []).append(value)
        if figure.original and row.get("total") is not None:
            panel.setdefault("original", {}).setdefault(point, []).append(row["total"])
    return {
        title: {
            line: {point: fmean(values) for point, values in points.items()}
            for line, points in lines.items()
        }
        for title, lines in found.items()
        if lines
    }


def _values(rows: Sequence[Row], name: str) -> set[Any]:
    return {row[name] for row in rows if row.get(name) is not None}


def _natural(name: str) -> list[tuple[float, str]]:
    """Numbers in a name in their order: k = 5 comes before k = 25."""
    parts = re.split(r"(\d+(?:\.\d+)?)", name)
    return [
        (float(part), "") if place % 2 else (-1.0, part) for place, part in enumerate(parts) if part
    ]


def _shown(figure: PaperFigure, row: Row) -> bool:
    return (
        (not figure.models or row["model"] in figure.models)
        and row["measure"] in figure.measures(row["model"])
        and figure.scope in ("*", row.get("scope"))
        and (row.get(figure.value) is not None or figure.original)
        and ":" not in str(row["quarter"])
        and hold(figure.where, row)
        and figure.place_of(row) is not None
    )


def _title(figure: PaperFigure, row: Row) -> str:
    setting = [str(row["quarter"])] if figure.at != "quarter" else []
    setting += [
        f"{name} = {row[name]}"
        for name in figure.panel
        if row.get(name) is not None and name != figure.at
    ]
    below = figure.below.format_map(_Values(row))
    if figure.scope == "*" and figure.at == "quarter" and row.get("scope"):
        below = row["scope"]
    return ", ".join(setting) + (f"\n{below}" if below else "")


def _line(figure: PaperFigure, row: Row, varied: Sequence[str]) -> str:
    if figure.line:
        left = [f"{n} {row[n]}" for n in varied if n in _BESIDE and row.get(n) and n != figure.at]
        return ", ".join([figure.line.format_map(_Values(row)), *left])
    setting = [
        f"{name} {row[name]:g}"
        for name in ("l", "alpha", "epsilon")
        if row.get(name) is not None and name != figure.at
    ]
    setting += [row["calibration"]] if row.get("calibration") else []
    setting += [
        f"{name.replace('_', ' ')} {row[name]}"
        for name in varied
        if row.get(name) is not None and name != figure.at
    ]
    name = (
        row["model"]
        if len(figure.measures(row["model"])) == 1
        else f"{row['measure']} of {row['model']}"
    )
    return name + (f" ({', '.join(setting)})" if setting else "")


def draw(figure: PaperFigure, rows: Sequence[Row], key: str) -> tuple[Image, str] | None:
    """The figure and its caption; None where the table has nothing for it.

    Args:
        figure: what is shown.
        rows: the table.
        key: tells its parts from those of other figures of the page.
    """
    found = panels(figure, rows)
    if not found:
        return None
    shown = dict(list(found.items())[:_PANELS])
    left = len(found) - len(shown)
    points = _points(figure, shown)
    names = sorted({name for lines in shown.values() for name in lines}, key=_natural)
    with settings():
        columns = min(2, len(shown))
        most = max(map(len, shown.values()))
        height = 0.7 + 0.24 * most if len(points) == 1 else 2.3
        count = math.ceil(len(shown) / columns)
        legend = 0.0 if len(points) == 1 else 0.2 * math.ceil(len(names) / 2)
        drawing = Figure(figsize=(WIDTH, count * (height + 0.5) + legend), layout="constrained")
        for place, (title, lines) in enumerate(shown.items()):
            axis = drawing.add_subplot(count, columns, place + 1)
            heading = "\n".join(label(line, _TITLE) for line in title.splitlines())
            axis.set_title(heading, loc="left", fontsize=8.5)
            if len(points) == 1:
                _bars(axis, lines, most)
                axis.set_xlabel(figure.values_label)
            else:
                (_columns if figure.order else _lines)(axis, points, names, lines)
                axis.set_xlabel(figure.places_label)
                axis.set_ylabel(figure.values_label if place % columns == 0 else "")
        if len(points) > 1:
            handles_of: dict[str, Any] = {}
            for axis in drawing.axes:
                handles, labels = axis.get_legend_handles_labels()
                handles_of |= dict(zip(labels, handles, strict=True))
            drawing.legend(
                [handles_of[name] for name in names], names, loc="outside lower left", ncols=2
            )
        image = svg(drawing, key, f"{figure.name} by model")
    quarters = sorted({str(row["quarter"]) for row in rows if _shown(figure, row)})
    span = quarters[0] if len(quarters) == 1 else f"{quarters[0]} to {quarters[-1]}"
    more = f"; {left} more settings are in the table" if left else ""
    return image, f"{figure.paper}, {figure.place}: {figure.name}, {span}{more}"


def _points(figure: PaperFigure, shown: Mapping[str, Lines]) -> list[Point]:
    """The places of all panels, in order."""
    found = {point for lines in shown.values() for line in lines.values() for point in line}
    if figure.order:
        return [point for point in ORDERS[figure.order] if point in found]
    return sorted(found, key=lambda point: (isinstance(point, str), point))


def _bars(axis: Axes, lines: Lines, most: int) -> None:
    """A bar each, as thick as in the panel that has the most."""
    names = sorted(lines)
    values = [next(iter(lines[name].values())) for name in names]
    bars = axis.barh(range(len(names)), values, color=BLUE, height=0.62)
    axis.bar_label(bars, [number(value) for value in values], padding=3, fontsize=8)
    axis.set_yticks(range(len(names)), [label(name, 40) for name in names])
    axis.set_ylim(most - 0.5, -0.5)
    axis.margins(x=0.36)
    axis.xaxis.set_major_locator(MaxNLocator(nbins=4 if max(map(abs, values)) < 1000 else 1))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
    axis.axvline(0, color="black", linewidth=0.8)
    axis.tick_params(axis="y", length=0)


def _lines(
    axis: Axes,
    points: Sequence[Point],
    names: Sequence[str],
    lines: Mapping[str, dict[Point, float]],
) -> None:
    for name, values in lines.items():
        order = names.index(name)
        axis.plot(
            range(len(points)), [values.get(point, math.nan) for point in points], label=name,
            color=_COLOURS[order % len(_COLOURS)], marker=_MARKERS[order % len(_MARKERS)],
            linestyle=_STYLES[order // len(_COLOURS) % len(_STYLES)], markersize=4,
        )  # fmt: skip
    every = max(1, math.ceil(len(points) / _NAMED))
    places = range(0, len(points), every)
    _ticks(axis, places, [points[n] for n in places])
    axis.margins(y=0.1)


def _columns(
    axis: Axes,
    points: Sequence[Point],
    names: Sequence[str],
    lines: Mapping[str, dict[Point, float]],
) -> None:
    width = 0.8 / len(names)
    for name, values in lines.items():
        order = names.index(name)
        axis.bar(
            [n + (order - (len(names) - 1) / 2) * width for n in range(len(points))],
            [values.get(point, 0.0) for point in points], width, label=name,
            color=_COLOURS[order % len(_COLOURS)],
            hatch=_HATCHES[order % len(_HATCHES)], edgecolor="white",
        )  # fmt: skip
    _ticks(axis, range(len(points)), points)


def _ticks(axis: Axes, places: Sequence[int], points: Sequence[Point]) -> None:
    """Names of places, aslant where they would not fit side by side; values without exponents."""
    names = [_named(point) for point in points]
    aslant = sum(map(len, names)) + 2 * len(names) > _ROOM
    axis.set_xticks(list(places), names, rotation=45 if aslant else 0)
    axis.ticklabel_format(axis="y", style="plain", useOffset=False)


def _named(point: Point) -> str:
    return label(point, 12) if isinstance(point, str) else f"{point:g}"
