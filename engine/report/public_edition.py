"""The public edition: made of released views and public manifests, and of nothing else.

It is made in a database of its own that holds nothing else: whatever its statements say, there is
no raw table and no private catalog that they could reach.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import duckdb
from sqlglot import exp

from srsql.engine.catalog.public_database import (
    PublicSeries,
    RowsOf,
    fill,
    limits_of,
    public_connection,
)
from srsql.engine.catalog.series import IDS
from srsql.engine.models import MODELS
from srsql.engine.report.drawing import lines, stacked
from srsql.engine.report.glossary import (
    beside_region,
    defended_attacks,
    singled_out_facts,
    suppressed_facts,
    undefended,
)
from srsql.engine.report.page import Fact, Figure, Page, Table, Value, render
from srsql.engine.report.quarter_figures import group_figures, width_figure
from srsql.engine.report.shapes import (
    Shapes,
    arrivals,
    bounds_of_regions,
    published_at_ends,
    published_shapes,
)
from srsql.engine.report.signal_figures import strongest, strongest_blocks
from srsql.engine.shapes import shape_of
from srsql.engine.signals.results import Signal
from srsql.engine.store.statements import table
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

_SPECIAL = frozenset({"guarantee", "thresholds", "withheld_cases", "withheld_reports"})
"""Columns of the public manifest that have a place of their own on the page."""


@dataclass(frozen=True)
class PublicDatabase:
    """Released views and public manifests of one series, and nothing else."""

    warehouse: Warehouse
    dataset: Dataset
    series: str
    schemas: dict[str, str]
    """Quarter -> schema of its views."""
    ids: str | None = None
    """Which ids are published, where others than the series has."""

    def manifest(self, quarter: str) -> dict[str, Any]:
        """The one row of the public manifest."""
        source = table(self.schemas[quarter], "manifest", alias="m")
        (told,) = self.warehouse.records(exp.select("m.*").from_(source).sql(dialect="duckdb"))
        return told | ({"ids": self.ids} if self.ids else {})


@contextmanager
def public_database(
    con: duckdb.DuckDBPyConnection, rows: RowsOf, dataset: Dataset, series: str,
    schemas: dict[str, str], views: set[str], ids: str | None = None,
) -> Iterator[PublicDatabase]:  # fmt: skip
    """Copy released views into a database in memory, which is gone afterwards.

    Args:
        con: of which the database takes the limits of memory and threads.
        rows: of the views.
        dataset: for their names.
        series: whose they are.
        schemas: quarter -> schema of its views, oldest first.
        views: which of them are needed, beside the manifest.
        ids: which ids are published, where others than the series has.
    """
    with public_connection(*limits_of(con)) as inner:
        own = Warehouse(inner)
        with own.guarded():
            fill(own, rows, dataset, PublicSeries(series, schemas, frozenset(views)))
            yield PublicDatabase(own, dataset, series, schemas, ids)


def public_quarter(released: PublicDatabase, quarter: str) -> Page:
    """The page of one released quarter."""
    manifest = released.manifest(quarter)
    own, dataset, schema = released.warehouse, released.dataset, released.schemas[quarter]
    shapes = published_shapes(own, dataset, schema)
    kept = shape_of(dataset).kept(bounds_of_regions(manifest["model"]))
    limit = 1 if "theta" in kept else None
    k = int(manifest["k"]) if "k" in kept else None
    pairs, listed = 0, list[Signal]()
    if dataset.signal_rows and shapes.groups:
        pairs, listed = strongest(own, dataset, released.series, quarter)
    return render(
        "public_quarter.html.j2",
        dataset=dataset,
        series=released.series,
        quarter=quarter,
        facts=_facts(manifest, shapes),
        **beside_region(released.dataset, manifest),
        ids=IDS.get(manifest.get("ids", "")),
        date=manifest.get("release_date"),
        guarantee=manifest["guarantee"],
        undefended=undefended(manifest),
        attacked=bool(defended_attacks(manifest)),
        parameters=_parameters(manifest),
        withheld=public_withheld_counts(manifest),
        k=k,
        shapes=shapes,
        groups=group_figures(shapes, k, "region", limit),
        thetas=_thetas(manifest, shapes, limit),
        worthless=published_at_ends(own, dataset, schema, manifest["model"]),
        widths=width_figure(shapes),
        missing=_missing(shapes),
        smallest=_smallest(shapes, k, limit),
        has_signals=dataset.signal_rows,
        pairs=pairs,
        signal_blocks=strongest_blocks(listed),
    )


def public_withheld_counts(manifest: dict[str, Any]) -> tuple[int, int] | None:
    """Cases and reports withheld, where the public may know.

    A count of what is not there is exact, which no model with a privacy budget can afford: it is
    shown only of a model known to have none, and only if the manifest lets it out.
    """
    counts = manifest.get("withheld_cases"), manifest.get("withheld_reports")
    model = MODELS.get(str(manifest.get("model")))
    if model is None or model.claimed_bounds.drawn or manifest.get("epsilon") is not None:
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
    if withheld := public_withheld_counts(manifest):
        facts.append(Fact("withheld", "cases withheld", withheld[0]))
    return facts + singled_out_facts(manifest) + suppressed_facts(manifest)


def _parameters(manifest: dict[str, Any]) -> Table:
    """The scalars of the public manifest, by name."""
    return Table(
        "parameters",
        "Parameters and counts of the public manifest",
        ("parameter", "value"),
        [
            (name.replace("_", " "), value if isinstance(value, (int, str)) else str(value))
            for name, value in sorted(manifest.items())
            if name not in _SPECIAL
        ],
    )


def _thetas(manifest: dict[str, Any], shapes: Shapes, limit: int | None) -> Table:
    counted = Counter(threshold["theta"] for threshold in manifest["thresholds"])
    highest = {theta: conf for theta, _, conf in shapes.highest}
    return Table(
        "thetas",
        "Released sensitive values by threshold; confidence: the highest of such a value in any "
        "published region",
        ("θ", "released values", "confidence", "holds"),
        [
            (
                theta,
                counted[theta],
                share,
                share <= limit * theta * (1 + 1e-12) if limit and share is not None else None,
            )
            for theta in sorted(counted)
            for share in [highest.get(theta)]
        ],
    )


def _missing(shapes: Shapes) -> Table:
    """Cases without a region, per quasi-identifier."""
    rows: list[tuple[Value, ...]] = []
    for width in shapes.widths:
        count = width.without_region
        what = "missing" if width.kind == "numeric" else f"{width.root} (not told)"
        rows.append((width.name, what, count, count / shapes.cases if shapes.cases else None))
    return Table(
        "missingness",
        "Missing values as released",
        ("quasi-identifier", "released as", "cases", "share"),
        rows,
    )


def _smallest(shapes: Shapes, k: int | None, limit: int | None) -> Table | None:
    """What an attacker learns of a case in the smallest region, over all regions of that size."""
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
            ("chance to pick the right case", 1 / size, 1 / k if k else None),
            (
                "highest confidence in a value, as a share of its threshold",
                worst,
                limit,
            ),
        ],
    )


def public_series(released: PublicDatabase) -> Page:
    """The page of all released quarters, side by side; reads manifests and report tables."""
    quarters = list(released.schemas)
    manifests = {quarter: released.manifest(quarter) for quarter in quarters}
    shapes = {
        quarter: published_shapes(released.warehouse, released.dataset, schema, confidences=False)
        for quarter, schema in released.schemas.items()
    }
    arrived = _arrivals(released)
    rows: list[tuple[Any, ...]] = []
    for quarter in quarters:
        manifest, shape = manifests[quarter], shapes[quarter]
        withheld = public_withheld_counts(manifest)
        new, so_far = arrived[quarter]
        rows.append(
            (quarter, manifest["model"], manifest["k"], manifest["released_cases"], new,
             manifest["released_cases"] - new, manifest["released_reports"], so_far, shape.groups,
             min(shape.sizes) if shape.sizes else None, withheld[0] if withheld else None)
        )  # fmt: skip
    latest = manifests[quarters[-1]]
    return render(
        "public_series.html.j2",
        dataset=released.dataset,
        series=released.series,
        first=quarters[0],
        last=quarters[-1],
        facts=[
            Fact("quarters", "quarters", len(quarters)),
            Fact("cases", "cases in all", rows[-1][7]),
            Fact("reports", "reports in all", sum(row[6] for row in rows)),
            Fact("k", "smallest k", min(int(m["k"]) for m in manifests.values())),
            *singled_out_facts(latest),
        ],
        **beside_region(released.dataset, latest),
        ids=IDS.get(latest.get("ids", "")),
        date=latest.get("release_date"),
        guarantee=latest["guarantee"],
        undefended=undefended(latest),
        quarters=Table(
            "quarters",
            "The series, quarter by quarter",
            ("quarter", "model", "k", "cases", "new", "old", "reports", "cases so far", "regions",
             "smallest region", "cases withheld"),
            rows,
        ),
        figures=_series_figures(quarters, rows, shapes) if len(quarters) > 1 else [],
        single=len(quarters) == 1,
    )  # fmt: skip


def _arrivals(released: PublicDatabase) -> dict[str, tuple[int, int]]:
    """Quarter -> cases that no earlier one has, and distinct cases so far."""
    statement = arrivals(released.dataset, released.schemas).sql(dialect="duckdb")
    new = dict.fromkeys(released.schemas, 0) | dict(released.warehouse.rows(statement))
    return dict(zip(new, zip(new.values(), accumulate(new.values()), strict=True), strict=True))


def _series_figures(
    quarters: list[str], rows: list[tuple[Any, ...]], shapes: dict[str, Shapes]
) -> list[Figure]:
    _, _, _, _, new, old, _, so_far, regions, *_ = zip(*rows, strict=True)
    names = [width.name for width in shapes[quarters[0]].widths]
    missing = [
        [shape.widths[place].without_region / shape.cases if shape.cases else None
         for shape in shapes.values()]
        for place in range(len(names))
    ]  # fmt: skip
    return [
        Figure(
            "cases",
            stacked(quarters, [("new", new), ("old", old)], "cases"),
            "Released cases per quarter: new, and seen in an earlier released quarter.",
        ),
        Figure(
            "cumulative",
            lines(quarters, [("cases so far", so_far)], "cumulative", "cases so far", share=False),
            "Distinct cases released so far.",
        ),
        Figure(
            "regions",
            lines(quarters, [("published regions", regions)], "regions", "published regions",
                  share=False),
            "Published regions per quarter.",
        ),
        Figure(
            "blank",
            lines(quarters, list(zip(names, missing, strict=True)), "blank", "share of cases",
                  share=True),
            "Share of the cases released without a region, per quasi-identifier.",
        ),
    ]  # fmt: skip
