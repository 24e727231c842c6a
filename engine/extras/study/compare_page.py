"""One offline page: what was measured of each model and setting, with the figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from srsql.engine.extras.study.figures import OWN, PaperFigure, draw
from srsql.engine.extras.study.results import FIRST, LOADING, Row
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
