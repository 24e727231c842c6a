"""The public editions: made of released views and public manifests, and of nothing else."""

from __future__ import annotations

from typing import Any

from srsql.engine.models import MODELS
from srsql.engine.report import plots
from srsql.engine.report.figures import Shapes, Widths, released_regions, released_shapes
from srsql.engine.report.internal import group_figures, width_figure
from srsql.engine.report.page import Fact, Figure, Table, Value, render
from srsql.engine.report.plots_series import lines, stacked
from srsql.engine.report.released import Released
from srsql.engine.report.signal_figures import strongest
from srsql.engine.report.words import undefended
from srsql.engine.signals import Signal
from srsql.engine.statements import column, table

_SPECIAL = frozenset({"guarantee", "thresholds", "withheld_cases", "withheld_reports"})
"""Columns of the public manifest that have a place of their own on the page."""


def public_quarter(released: Released, quarter: str) -> str:
    """The page of one released quarter."""
    manifest = released.manifest(quarter)
    shapes = released_shapes(released, quarter)
    k = int(manifest["k"])
    pairs, listed = 0, []
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
        signal_blocks=_signals(listed),
    )


def attacks(manifest: dict[str, Any]) -> list[str]:
    """The attacks that the release withstands."""
    told = str(manifest.get("attacks") or "none")
    return [] if told == "none" else told.split(",")


def told_withheld(manifest: dict[str, Any]) -> tuple[int, int] | None:
    """Cases and reports withheld, where the public may know.

    A count of what is not there is exact, which no model with a privacy budget can afford: it is
    shown only of a model known to have none, and only if the manifest lets it out.
    """
    counts = manifest.get("withheld_cases"), manifest.get("withheld_reports")
    if manifest.get("model") not in MODELS or manifest.get("epsilon") is not None:
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
        what = "missing" if width.kind == "numeric" else f"{width.root} (missing or contradicting)"
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


def _signals(listed: list[Signal]) -> list[Figure | Table]:
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
            plots.forest(bars),
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


def public_series(released: Released) -> str:
    """The page of all released quarters, side by side; reads manifests and report tables."""
    quarters = list(released.schemas)
    manifests = {quarter: released.manifest(quarter) for quarter in quarters}
    shapes = {quarter: released_regions(released, quarter) for quarter in quarters}
    seen = _arrivals(released)
    rows: list[tuple[Value, ...]] = []
    for quarter in quarters:
        manifest, shape = manifests[quarter], shapes[quarter]
        told = told_withheld(manifest)
        new, everyone = seen[quarter]
        rows.append(
            (quarter, manifest["model"], manifest["k"], manifest["released_cases"], new,
             manifest["released_cases"] - new, manifest["released_reports"], everyone, shape.groups,
             min(shape.sizes) if shape.sizes else None, told[0] if told else None)
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
            Fact("reports", "reports in all", sum(m["released_reports"] for m in manifests.values())),
            Fact("k", "smallest k", min(int(m["k"]) for m in manifests.values())),
        ],
        guarantee=latest["guarantee"],
        undefended=undefended(attacks(latest)),
        quarters=Table(
            "quarters",
            "The series, quarter by quarter",
            ("quarter", "model", "k", "cases", "new", "old", "reports", "cases so far", "regions",
             "smallest region", "cases withheld"),
            rows,
        ),
        figures=_series_figures(quarters, rows, shapes),
    )  # fmt: skip


def _arrivals(released: Released) -> dict[str, tuple[int, int]]:
    """Quarter -> cases that no earlier one has, and distinct cases so far."""
    case_id = column(released.dataset.case_id, "v").sql("duckdb")
    found, so_far = {}, 0
    released.warehouse.run("CREATE OR REPLACE TEMP TABLE srsql_report_seen (case_id VARCHAR)")
    for quarter, schema in released.schemas.items():
        view = table(schema, released.dataset.report_table, alias="v").sql("duckdb")
        released.warehouse.run(
            "CREATE OR REPLACE TEMP TABLE srsql_report_arrived AS "
            f"SELECT DISTINCT {case_id}::VARCHAR AS case_id FROM {view} "
            f"ANTI JOIN temp.main.srsql_report_seen AS s ON {case_id}::VARCHAR = s.case_id"
        )
        released.warehouse.run(
            "INSERT INTO temp.main.srsql_report_seen SELECT a.case_id "
            "FROM temp.main.srsql_report_arrived AS a"
        )
        new = int(
            released.warehouse.value("SELECT count(*) FROM temp.main.srsql_report_arrived AS a")
        )
        so_far += new
        found[quarter] = (new, so_far)
    return found


def _series_figures(
    quarters: list[str], rows: list[tuple[Any, ...]], shapes: dict[str, Shapes]
) -> list[Figure]:
    names = [width.name for width in shapes[quarters[0]].widths]
    blank = [
        [without_region(shapes[q].widths[p]) / shapes[q].cases if shapes[q].cases else None for q in quarters]
        for p in range(len(names))
    ]  # fmt: skip
    return [
        Figure(
            "cases",
            stacked(quarters, [("new", [r[4] for r in rows]), ("old", [r[5] for r in rows])], "cases"),
            "Released cases per quarter: new, and seen in an earlier released quarter.",
        ),
        Figure(
            "cumulative",
            lines(quarters, [("cases so far", [r[7] for r in rows])], "cumulative", "cases so far", share=False),
            "Distinct cases released so far.",
        ),
        Figure(
            "regions",
            lines(quarters, [("published regions", [r[8] for r in rows])], "regions", "regions", share=False),
            "Published regions per quarter.",
        ),
        Figure(
            "blank",
            lines(quarters, list(zip(names, blank, strict=True)), "blank", "share of cases", share=True),
            "Share of the cases released without a region, per quasi-identifier.",
        ),
    ]  # fmt: skip
