"""Tables and figures that both editions have."""

from __future__ import annotations

from typing import Any

from srsql.engine.measures import MeasureRow
from srsql.engine.report import plots, plots_shape
from srsql.engine.report.figures import Shapes
from srsql.engine.report.page import Figure, Table
from srsql.engine.report.words import MEASURES


def attacks(manifest: dict[str, Any]) -> list[str]:
    """The attacks that the release withstands."""
    told = str(manifest.get("attacks") or "none")
    return [] if told == "none" else told.split(",")


def measure_table(key: str, caption: str, rows: list[MeasureRow]) -> Table:
    """Uniform rows as they are, with their meaning."""
    return Table(
        key,
        caption,
        ("measure", "scope", "violating", "total", "ratio", "threshold", "holds", "meaning"),
        [
            (r.measure, r.scope, r.violating, r.total, r.ratio, r.threshold, r.passed,
             MEASURES.get(r.measure, ""))
            for r in rows
        ],
    )  # fmt: skip


def group_figures(shapes: Shapes, k: int, what: str) -> list[Figure]:
    """Sizes and exposure of the groups or published regions."""
    found = []
    if shapes.sizes:
        found.append(
            Figure(
                "sizes",
                plots.group_sizes(shapes.sizes, k, what),
                f"{shapes.groups:,} {what}s by their number of cases: {min(shapes.sizes):,} to "
                f"{max(shapes.sizes):,}; none may lie left of the dashed line.",
            )
        )
    if shapes.exposure:
        found.append(
            Figure(
                "exposure",
                plots.exposure(shapes.exposure, what),
                f"Sensitive values: for each {what}, the highest ratio of a value's confidence to "
                "its threshold, over the values whose threshold is below 1. Nothing may lie right "
                "of the dashed line.",
            )
        )
    return found


def width_figure(shapes: Shapes) -> Figure | None:
    """Widths of the regions."""
    if not shapes.sizes:
        return None
    return Figure(
        "widths",
        plots_shape.widths(shapes.widths),
        "Width of the released region per quasi-identifier. Numbers: share of the cases whose "
        "interval is at most so wide (0: the exact value), over the cases that have one. "
        "Categories: share of the cases by the height of the released node.",
    )
