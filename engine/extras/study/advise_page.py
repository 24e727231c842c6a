"""The files of an advice: one offline page with its figure, and the table as CSV and Parquet."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import get_args, get_type_hints

import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.patches import Rectangle
from pyarrow import parquet

from srsql.engine.errors import AdviseError
from srsql.engine.extras.study.choice import describe_withheld, format_share
from srsql.engine.extras.study.compare_page import draw_rows, row_table
from srsql.engine.extras.study.results import put_in_place, write_csv
from srsql.engine.extras.study.row_settings import RowSetting
from srsql.engine.extras.study.settings import Advice, Setting
from srsql.engine.report.drawing import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PALE,
    PURPLE,
    RED,
    SKY,
    WIDTH,
    Image,
    label,
    settings,
    svg,
)
from srsql.engine.report.page import Fact, Figure, Table, Value, render
from srsql.schemas import Dataset

_LEFT_OUT = ("withheld_why", "infeasible")
_COLUMNS = (
    "model", "k", "theta", "epsilon", "leftovers", "refine", "worst risk", "candidates",
    "mean risk (RR)", "loss", "NIL*", "withheld", "share", "suppressed", "groups", "smallest",
    "confidence", "DSR", "2 items", "frontier", "keeps", "seconds",
)  # fmt: skip
_COLOURS = (BLUE, ORANGE, GREEN, GREY, PURPLE, SKY, "black")
_MARKERS = "os^DvP<>"
_NAMES = {
    "worst": "worst risk: 1 / fewest candidates that remain of any target",
    "mean": "mean risk: RR of one draw",
}
_ARROW = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
_FAR = 1.5
"""Times the axis: how far off a bound is still drawn."""


def write_all(dataset: Dataset, advice: Advice, out: Path, *, safe: bool) -> list[str]:
    """``advise.html``, ``advise.csv`` and ``advise.parquet``, each put in its place when complete.

    Where ways of taking whole rows apart were measured, also ``advise-rows.csv`` and
    ``advise-rows.parquet``.

    Args:
        dataset: whose quarter.
        advice: what is shown.
        out: folder of the files.
        safe: no cell of the CSV file is a formula.

    Returns:
        Their paths.

    Raises:
        AdviseError: they cannot be written.
    """
    table = table_of(advice)
    text = page(dataset, advice)
    wanted: tuple[tuple[str, Callable[[Path], object]], ...] = (
        ("advise.html", lambda file: file.write_text(text, encoding="utf-8")),
        ("advise.csv", lambda file: write_csv(table, file, safe=safe)),
        ("advise.parquet", lambda file: parquet.write_table(table, file)),
    )
    if advice.row_settings:
        rows = table_of_rows(advice)
        wanted += (
            ("advise-rows.csv", lambda file: write_csv(rows, file, safe=safe)),
            ("advise-rows.parquet", lambda file: parquet.write_table(rows, file)),
        )
    return [str(put_in_place(out / name, write, AdviseError)) for name, write in wanted]


def table_of(advice: Advice) -> pa.Table:
    """A row per setting and what it was measured on; withheld cases by reason as columns."""
    whys = sorted({why for s in (*advice.settings, *advice.sampled) for why in s.withheld_why})
    rows = [
        {name: value for name, value in asdict(one).items() if name not in _LEFT_OUT}
        | {"recommended": one == advice.recommended}
        | {f"withheld_{why}": one.withheld_why.get(why, 0) for why in whys}
        for one in (*advice.settings, *advice.sampled)
    ]
    return pa.Table.from_pylist(rows)


def table_of_rows(advice: Advice) -> pa.Table:
    """A row per way of taking whole rows apart."""
    best = advice.rows.recommended if advice.rows else None
    types = get_type_hints(RowSetting)
    fields = [pa.field(name, _ARROW[next(t for t in (get_args(of) or (of,)) if t in _ARROW)])
              for name, of in types.items()]  # fmt: skip
    rows = [asdict(one) | {"recommended": one == best} for one in advice.row_settings]
    return pa.Table.from_pylist(rows, pa.schema([*fields, pa.field("recommended", pa.bool_())]))


def _on(advice: Advice) -> str:
    return f"a sample of {advice.sample:,} of" if advice.quick else "all"


def page(dataset: Dataset, advice: Advice) -> str:
    """The page; the same advice gives the same."""
    best = advice.recommended or advice.nearest
    facts = [Fact("cases", "cases in the quarter", advice.cases)]
    if advice.sample is not None:
        facts.append(Fact("sample", "of them in the sample", advice.sample))
    if best is not None:
        facts += [
            Fact("risk", f"{best.risk_is} risk", best.risk, format_share(best.risk)),
            Fact("loss", "loss", best.loss, format_share(best.loss)),
            Fact("withheld", "cases withheld", best.withheld),
            Fact(
                "singled-out",
                "of cases singled out by region and 2 drugs or terms",
                best.singled_out,
                format_share(best.singled_out),
            ),
        ]
    image = draw(
        advice.settings, advice.sampled, advice.recommended, advice.max_risk, advice.max_loss
    )
    return render(
        Path(__file__).with_name("advise.html.j2"),
        dataset=dataset,
        series=advice.series,
        advice=advice,
        facts=facts,
        command=[shlex.quote(word) for word in advice.command or []],
        withheld=describe_withheld(best) if best else [],
        figure=Figure("frontier", image, "Each setting by risk and loss; filled: measured on the "
                      "whole quarter; hatched: beyond a bound (one far from every setting is not "
                      "drawn)"),
        measured=_table(
            "settings", f"Measured on {_on(advice)} {advice.cases:,} cases", advice.settings
        ),
        sampled=_table(
            "sampled", f"Tried on a sample of {advice.sample or 0:,} cases", advice.sampled
        ),
        failed=Table(
            "failed",
            "Settings without a release, with the reason",
            ("setting", "measured on", "reason"),
            [
                (one.label, one.measured_on, one.error)
                for one in (*advice.settings, *advice.sampled)
                if one.error
            ]
            + [(one.label, "quarter", one.error) for one in advice.row_settings if one.error],
        ),
        rows_command=[shlex.quote(word) for word in (advice.rows and advice.rows.command) or []],
        row_figure=Figure("rows", draw_rows(advice.row_settings), "What each way of taking whole "
                          "rows apart keeps of signals, and whom it leaves to be singled out")
        if advice.row_settings else None,
        row_table=row_table(advice.row_settings),
    ).html  # fmt: skip


def _table(key: str, caption: str, settings: list[Setting]) -> Table:
    return Table(key, caption, _COLUMNS, [_row(one) for one in settings if not one.error])


def _row(one: Setting) -> tuple[Value, ...]:
    return (
        one.model,
        one.k,
        one.theta,
        one.epsilon,
        one.leftovers,
        one.refine,
        one.risk if one.risk_is == "worst" else None,
        one.fewest,
        one.rr,
        one.loss,
        one.nil_star,
        one.withheld,
        one.withheld_share,
        one.given_up,
        one.groups,
        one.smallest,
        one.confidence,
        one.dsr,
        one.singled_out,
        "on it" if one.frontier else None,
        one.keeps if one.measured_on == "quarter" else None,
        one.seconds,
    )


def draw(
    found: Sequence[Setting],
    sampled: Sequence[Setting],
    recommended: Setting | None,
    max_risk: float | None,
    max_loss: float | None,
) -> Image:
    """The figure: a panel for each kind of risk, since they are not compared.

    Settings measured on the quarter are filled, those tried on a sample alone are not.

    Args:
        found: the settings that were measured on the quarter.
        sampled: those that were tried on the sample.
        recommended: one of ``found``, which is marked.
        max_risk: the bound that is drawn, if there is one.
        max_loss: so is this one.
    """
    measured = {one.label for one in found if not one.error}
    rest = [one for one in sampled if not one.error and one.label not in measured]
    shown = [one for one in found if not one.error]
    kinds = [k for k in _NAMES if any(s.risk_is == k for s in (*shown, *rest))]
    models = sorted({one.model for one in (*shown, *rest)})
    with settings():
        drawing = Drawing(figsize=(WIDTH, 3.5 * len(kinds)), layout="constrained")
        for place, kind in enumerate(kinds):
            axis = drawing.add_subplot(len(kinds), 1, place + 1)
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
        return svg(drawing, "frontier", _description(shown, recommended))


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
            theta = f"θ={one.theta}" if one.theta else ""
            parts = [f"k={one.k}", theta, f"ε={one.epsilon}" if one.epsilon else ""]
            place = (round(one.point[0], 4), round(one.point[1], 4))
            at.setdefault(place, []).append(" ".join(part for part in parts if part))
    for place, names in at.items():
        text = names[0] + (f" (+{len(names) - 1})" if len(names) > 1 else "")
        axis.annotate(label(text, 30), place, (8, 4), textcoords="offset points", fontsize=7)


def _bounds(axis: Axes, max_risk: float | None, max_loss: float | None) -> None:
    """What lies beyond a bound is hatched; one far beyond every setting is not drawn."""
    right, top = axis.get_xlim()[1], axis.get_ylim()[1] * 1.06
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


def _description(shown: Sequence[Setting], recommended: Setting | None) -> str:
    frontier = ", ".join(s.label for s in shown if s.frontier)
    best = f"; recommended: {recommended.label}" if recommended else ""
    return f"Risk against loss of {len(shown)} settings; on the frontier: {frontier}{best}"
