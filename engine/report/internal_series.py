"""The internal edition of a series, our own or a foreign one: quarters side by side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from srsql.engine.audit.audit import AuditRow, audit
from srsql.engine.audit.plan import AuditOptions
from srsql.engine.catalog.releases import staleness
from srsql.engine.catalog.series import IDS, awaited_cases
from srsql.engine.report.drawing import Line, lines, stacked
from srsql.engine.report.glossary import (
    beside_region,
    danger_terms,
    singled_out_facts,
    suppressed_facts,
    undefended,
)
from srsql.engine.report.imported_quarter import UNTOLD, not_told, verdict_sentence
from srsql.engine.report.internal_quarter import read_subject
from srsql.engine.report.page import Fact, Figure, Page, Table, Value, render
from srsql.engine.shapes import series_shape
from srsql.engine.store.statements import query
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset


@dataclass(frozen=True)
class Row:
    """One release; see ``srsql.report_series``."""

    release_id: int
    quarter: str
    model: str
    k: int
    cases: int
    new_cases: int
    reports: int
    groups: int
    withheld: int
    everyone: int
    nil: float | None
    dr: float | None


@dataclass(frozen=True)
class _Ours:
    """What the page says of a series of our own."""

    bounds: AuditOptions | None
    imported: ClassVar[bool] = False
    """As the template takes it."""

    @property
    def judged(self) -> bool:
        """Whether groups in danger are told: by bounds, its own or given ones."""
        return True

    @property
    def options(self) -> AuditOptions:
        """The bounds of the audit."""
        return self.bounds or AuditOptions()

    def beside(self, shown: list[AuditRow]) -> dict[str, Any]:
        """What stands beside the audit."""
        return {"verdict": "", "not_told": []}

    def facts(self, rows: list[Row]) -> list[Fact]:
        """What is known of those who are not released."""
        return [Fact("withheld", "cases withheld, summed", sum(r.withheld for r in rows))]

    def known(self, columns: tuple[Value, ...]) -> tuple[Value, ...]:
        """What is known of a release, of all columns of the table of quarters."""
        return columns


class _Theirs(_Ours):
    """What it says of a foreign one."""

    imported: ClassVar[bool] = True

    @property
    def judged(self) -> bool:
        """It tells no bounds of its own."""
        return self.bounds is not None

    @property
    def options(self) -> AuditOptions:
        """Where none are given, such as nothing can break."""
        return self.bounds or UNTOLD

    def beside(self, shown: list[AuditRow]) -> dict[str, Any]:
        """The verdict, and what cannot be told."""
        originals = all(row.targets == "originals" for row in shown)
        return {
            "verdict": verdict_sentence(shown, self.bounds),
            "not_told": not_told(judged=self.judged, originals=originals),
        }

    def facts(self, rows: list[Row]) -> list[Fact]:
        """Nothing."""
        return []

    def known(self, columns: tuple[Value, ...]) -> tuple[Value, ...]:
        """Neither its model nor what it withheld."""
        return (columns[0], *columns[3:9])


def internal_series(
    warehouse: Warehouse, dataset: Dataset, series: str, bounds: AuditOptions | None = None
) -> Page:
    """The page of all releases that are out, each attacked with all the others.

    Args:
        warehouse: may be read-only; nothing but temporary tables is written.
        dataset: the dataset of the series.
        series: its name; at least one of its releases is out.
        bounds: what an imported series is judged by; None: it is told without a verdict.

    Returns:
        The page.
    """
    rows = [
        Row(*row)
        for row in warehouse.rows(
            query("report/release", "series"), {"dataset": dataset.name, "series": series}
        )
    ]
    about = series_shape(warehouse, dataset, series).whose(_Ours, _Theirs)(bounds)
    options, judged = about.options, about.judged
    scope = "match" if dataset.qid_set else "group"
    coming = awaited_cases(warehouse, dataset, series)
    options = replace(options, scopes=(scope,), evidence=0, next_cases=coming, leaving=True)
    audited = audit(warehouse, dataset, series, options)
    # by set there are several verdicts of a release, of which the worst stands
    verdicts = {row.release_id: row for row in sorted(audited.releases, key=_dangerous)}
    shown = [verdicts[row.release_id] for row in rows]
    left = [row.erasure for row in audited.releases if row.erasure is not None]
    gone = [row.leaving.groups for row in audited.releases if row.leaving is not None]
    worst = warehouse.value(query("report/release", "suppressed"), {"releases": [*verdicts]})
    latest = read_subject(warehouse, dataset, series, rows[-1].release_id)
    return render(
        "internal_series.html.j2",
        dataset=dataset,
        series=series,
        imported=about.imported,
        judged=judged,
        **about.beside(shown),
        first=rows[0].quarter,
        last=rows[-1].quarter,
        stale=[
            each.line
            for each in staleness(warehouse, dataset.name, series)
            if each.status == "released"
        ],
        facts=[
            Fact("quarters", "quarters", len(rows)),
            Fact("cases", "cases in all", rows[-1].everyone),
            Fact("reports", "reports in all", sum(row.reports for row in rows)),
            *about.facts(rows),
            *([Fact("dangerous", "groups in danger", sum(map(_dangerous, verdicts.values())))]
              if judged else []),
            *([Fact("leaving", "groups with fewer than k left, of cases that left for good",
                    sum(gone))] if gone else []),
            *([Fact("left", "groups in danger under E, of cases that left", sum(left))]
              if left else []),
            *suppressed_facts(latest.manifest, worst),
            *singled_out_facts(latest.manifest),
        ],
        **beside_region(latest.release.visible_dataset, latest.manifest),
        ids=IDS.get(latest.manifest.get("ids", "")),
        date=latest.manifest.get("release_date"),
        guarantee=latest.manifest.get("guarantee"),
        undefended=undefended(latest.manifest),
        quarters=_quarters(rows, about),
        risk=Table(
            "risk",
            "Audit of the series as it stands now, candidates "
            + ("by the worst set of quasi-identifiers" if dataset.qid_set else "within the group")
            + ": groups in danger",
            ("quarter", "attacks", "not evaluated", "groups", "DIG", "DSG", "SSG", "DIR", "DSR",
             "SSGR", "P", "P gates", "self-excluded", "G", "safe"),
            [
                (r.quarter, ", ".join(a.upper() for a in j.attacks),
                 ", ".join(a.upper() for a in j.not_evaluated) or None, j.groups, j.dig, j.dsg,
                 j.ssg if "ss" in j.attacks else None, j.dir, j.dsr,
                 j.ssgr if "ss" in j.attacks else None, j.persistence, "p" in j.attacks,
                 j.self_excluded, None if j.leaving is None else j.leaving.groups, j.safe)
                for r in rows
                for j in [verdicts[r.release_id]]
            ],
        ),
        legend=danger_terms(),
        figures=_figures(rows, shown, judged=judged) if len(rows) > 1 else [],
        single=_single(rows),
    )  # fmt: skip


def _single(rows: list[Row]) -> str:
    """A series of one release in words: a chart of it would have one dot."""
    if len(rows) > 1:
        return ""
    (only,) = rows
    return (
        f"One release is out, so nothing can be compared over time yet: {only.quarter} has "
        f"{only.cases:,} cases in {only.groups:,} groups."
    )


def _quarters(rows: list[Row], about: _Ours) -> Table:
    """What is known of the releases."""
    columns = (
        "quarter", "model", "k", "cases", "new", "old", "reports", "cases so far", "groups",
        "cases withheld", "NIL", "DR",
    )  # fmt: skip
    found = [
        about.known(
            (r.quarter, r.model, r.k, r.cases, r.new_cases, r.cases - r.new_cases, r.reports,
             r.everyone, r.groups, r.withheld, r.nil, r.dr)
        )
        for r in rows
    ]  # fmt: skip
    named = tuple(str(name) for name in about.known(columns))
    return Table("quarters", "The series, quarter by quarter", named, found)


def _dangerous(row: AuditRow) -> int:
    return row.dig + row.dsg + row.ssg


def _figures(rows: list[Row], audits: list[AuditRow], *, judged: bool) -> list[Figure]:
    """Without loss where none was measured, and without danger where nothing is judged."""
    quarters = [row.quarter for row in rows]
    danger: list[Line] = [
        ("DIR", [j.dir for j in audits]),
        ("DSR", [j.dsr for j in audits]),
        ("SSGR", [j.ssgr if "ss" in j.attacks else None for j in audits]),
        (
            "P" if all("p" in j.attacks for j in audits) else "P, not defended",
            [(j.persistence or 0) / j.groups if j.groups else None for j in audits],
        ),
    ]
    shown = [line for line in danger if any(value is not None for value in line[1])]
    figures = [
        Figure(
            "cases",
            stacked(
                quarters,
                [("new", [r.new_cases for r in rows]),
                 ("old", [r.cases - r.new_cases for r in rows]),
                 ("withheld", [r.withheld for r in rows])],
                "cases",
            ),
            "Cases per quarter: new, old (in an earlier release)"
            + (", withheld." if any(row.withheld for row in rows) else "."),
        ),
        Figure(
            "cumulative",
            lines(quarters, [("cases so far", [r.everyone for r in rows])], "cumulative",
                  "cases so far", share=False),
            "Distinct cases released so far.",
        ),
    ]  # fmt: skip
    if any(row.nil is not None for row in rows):
        figures.append(
            Figure(
                "nil",
                lines(quarters, [("NIL", [r.nil for r in rows])], "nil", "NIL", share=True),
                "Information loss: the share of the quasi-identifiers' detail that was lost.",
            )
        )  # fmt: skip
    if judged:
        figures.append(
            Figure(
                "danger",
                lines(quarters, shown, "danger", "share of groups", share=True),
                "Groups in danger when every release is attacked with all the others. What is "
                "promised lies at 0 %; P is in no model's promise.",
            )
        )  # fmt: skip
    figures.append(
        Figure(
            "groups",
            lines(quarters, [("groups", [r.groups for r in rows])], "groups", "groups",
                  share=False),
            "Groups per quarter.",
        )
    )  # fmt: skip
    return figures
