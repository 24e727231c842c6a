"""The public edition of a series: quarters side by side, from what was released of them."""

from __future__ import annotations

from typing import Any

from srsql.engine.report.blocks import attacks
from srsql.engine.report.shapes import Shapes, released_regions
from srsql.engine.report.page import Fact, Figure, Table, render
from srsql.engine.report.plots_series import lines, stacked
from srsql.engine.report.public_edition import told_withheld, without_region
from srsql.engine.report.released import Released
from srsql.engine.report.glossary import undefended
from srsql.engine.warehouse.statements import column, table


def public_series(released: Released) -> str:
    """The page of all released quarters, side by side; reads manifests and report tables."""
    quarters = list(released.schemas)
    manifests = {quarter: released.manifest(quarter) for quarter in quarters}
    shapes = {quarter: released_regions(released, quarter) for quarter in quarters}
    seen = _arrivals(released)
    rows: list[tuple[Any, ...]] = []
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
            Fact("reports", "reports in all", sum(row[6] for row in rows)),
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
        [
            without_region(shape.widths[place]) / shape.cases if shape.cases else None
            for shape in shapes.values()
        ]
        for place in range(len(names))
    ]
    counts = {
        name: [row[place] for row in rows]
        for place, name in ((4, "new"), (5, "old"), (7, "cases so far"), (8, "published regions"))
    }
    blanks = list(zip(names, blank, strict=True))
    return [
        Figure(
            "cases",
            stacked(quarters, [(name, counts[name]) for name in ("new", "old")], "cases"),
            "Released cases per quarter: new, and seen in an earlier released quarter.",
        ),
        Figure(
            "cumulative",
            _count(quarters, "cases so far", counts, "cumulative"),
            "Distinct cases released so far.",
        ),
        Figure(
            "regions",
            _count(quarters, "published regions", counts, "regions"),
            "Published regions per quarter.",
        ),
        Figure(
            "blank",
            lines(quarters, blanks, "blank", "share of cases", share=True),
            "Share of the cases released without a region, per quasi-identifier.",
        ),
    ]


def _count(quarters: list[str], name: str, counts: dict[str, list[Any]], key: str) -> str:
    return lines(quarters, [(name, counts[name])], key, name, share=False)
