"""The public editions: made of released views and public manifests, and of nothing else."""

from __future__ import annotations

from typing import Any

from srsql.engine.models import MODELS
from srsql.engine.report.blocks import attacks, group_figures, width_figure
from srsql.engine.report.figures import Shapes, Widths, released_shapes
from srsql.engine.report.page import Fact, Table, Value, render
from srsql.engine.report.released import Released
from srsql.engine.report.signal_figures import strongest, strongest_blocks
from srsql.engine.report.words import undefended
from srsql.engine.signals.results import Signal

_SPECIAL = frozenset({"guarantee", "thresholds", "withheld_cases", "withheld_reports"})
"""Columns of the public manifest that have a place of their own on the page."""


def public_quarter(released: Released, quarter: str) -> str:
    """The page of one released quarter."""
    manifest = released.manifest(quarter)
    shapes = released_shapes(released, quarter)
    k = int(manifest["k"])
    pairs, listed = 0, list[Signal]()
    if released.dataset.signals is not None and shapes.groups:
        pairs, listed = strongest(released.warehouse, released.dataset, released.series, quarter)
    return render(
        "public_quarter.html.j2",
        dataset=released.dataset,
        series=released.series,
        quarter=quarter,
        facts=_facts(manifest, shapes),
        guarantee=manifest["guarantee"],
        undefended=undefended(attacks(manifest)),
        attacked=bool(attacks(manifest)),
        parameters=parameters(manifest),
        withheld=told_withheld(manifest),
        k=k,
        shapes=shapes,
        groups=group_figures(shapes, k, "region"),
        thetas=_thetas(manifest, shapes),
        widths=width_figure(shapes),
        missing=_missing(shapes),
        smallest=_smallest(shapes, k),
        has_signals=released.dataset.signals is not None,
        pairs=pairs,
        signal_blocks=strongest_blocks(listed),
    )


def told_withheld(manifest: dict[str, Any]) -> tuple[int, int] | None:
    """Cases and reports withheld, where the public may know.

    A count of what is not there is exact, which no model with a privacy budget can afford: it is
    shown only of a model known to have none, and only if the manifest lets it out.
    """
    counts = manifest.get("withheld_cases"), manifest.get("withheld_reports")
    model = MODELS.get(str(manifest.get("model")))
    if model is None or model.perturbs_values or manifest.get("epsilon") is not None:
        return None
    return None if counts[0] is None or counts[1] is None else (int(counts[0]), int(counts[1]))


def _facts(manifest: dict[str, Any], shapes: Shapes) -> list[Fact]:
    facts = [
        Fact("cases", "cases released", manifest["released_cases"]),
        Fact("reports", "reports released", manifest["released_reports"]),
        Fact("regions", "published regions", shapes.groups),
        Fact("k", "k", int(manifest["k"])),
    ]
    if shapes.sizes:
        facts.append(Fact("smallest", "cases in the smallest region", min(shapes.sizes)))
    told = told_withheld(manifest)
    if told is not None:
        facts.append(Fact("withheld", "cases withheld", told[0]))
    return facts


def parameters(manifest: dict[str, Any]) -> Table:
    """The scalars of the public manifest."""
    return Table(
        "parameters",
        "Parameters and counts of the public manifest",
        ("parameter", "value"),
        [
            (name.replace("_", " "), value if isinstance(value, (int, str)) else str(value))
            for name, value in manifest.items()
            if name not in _SPECIAL
        ],
    )


def _thetas(manifest: dict[str, Any], shapes: Shapes) -> Table:
    counted: dict[float, int] = {}
    for told in manifest["thresholds"]:
        counted[told["theta"]] = counted.get(told["theta"], 0) + 1
    highest = {theta: conf for theta, _, conf in shapes.highest}
    return Table(
        "thetas",
        "Released sensitive values by threshold; confidence: the highest of such a value in any "
        "published region",
        ("θ", "released values", "confidence", "holds"),
        [
            (theta, counted[theta], highest.get(theta), _holds(theta, highest.get(theta)))
            for theta in sorted(counted)
        ],
    )


def _holds(theta: float, confidence: float | None) -> bool | None:
    return None if confidence is None else confidence <= theta * (1 + 1e-12)


def _missing(shapes: Shapes) -> Table:
    """Cases without a region, per quasi-identifier."""
    rows: list[tuple[Value, ...]] = []
    for width in shapes.widths:
        count = without_region(width)
        what = "missing" if width.kind == "numeric" else f"{width.root} (not told)"
        rows.append((width.name, what, count, count / shapes.cases if shapes.cases else None))
    return Table(
        "missingness",
        "Missing values as released",
        ("quasi-identifier", "released as", "cases", "share"),
        rows,
    )


def without_region(width: Widths) -> int:
    """Cases that the release tells nothing of in one quasi-identifier."""
    return width.missing + (width.cases.get(float(width.top), 0) if width.kind != "numeric" else 0)


def _smallest(shapes: Shapes, k: int) -> Table | None:
    """What somebody learns of a case in the smallest region, over all regions of that size."""
    if not shapes.sizes:
        return None
    size = min(shapes.sizes)
    worst = max(shapes.exposure) if shapes.exposure else None
    return Table(
        "smallest",
        "An attacker who knows the quasi-identifiers of somebody in this release",
        ("step", "outcome", "bound"),
        [
            ("candidates in the smallest region", size, k),
            ("regions of that size", shapes.sizes[size], None),
            ("chance to pick the right case", 1 / size, 1 / k),
            ("highest confidence in a value, as a share of its threshold", worst, 1),
        ],
    )
