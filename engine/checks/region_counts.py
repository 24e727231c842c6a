"""Checks of counts of regions, where no row of a case is released: from what is published, the
catalog and originals.

A published region is coded as the catalog codes that of a group; its cases are the members of such
groups, and the originals of these have to lie in it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from sqlglot import exp

from srsql.engine.catalog.layout import REGION_COUNT, region_columns
from srsql.engine.checks.evidence import Evidence, as_measures, uniform_rows
from srsql.engine.checks.published_regions import region_ends
from srsql.engine.checks.released_rows import inside_query
from srsql.engine.measures import Measure, MeasureRow
from srsql.engine.store.statements import column, literal, table, temporary

CREATE = "CREATE OR REPLACE TEMP TABLE"
SHOWN, ENDS, PLACED, REPORTS = (
    f"srsql_checked_region_{name}" for name in ("count", "end", "case", "report")
)
NAME = "check_region_counts"


def region_units(evidence: Evidence) -> exp.Query:
    """(region_no, the columns of the region, unit) of every case that is counted."""
    _load(evidence)
    names = region_columns(evidence.release.visible_dataset)
    originals = exp.select(column("case_id", "d")).distinct()
    originals = originals.from_(temporary("srsql_identity", alias="d"))
    text = exp.cast(column("case_id", "i"), "VARCHAR")
    return (
        exp.select(
            column("group_id", "r").as_("region_no"),
            *[column(name, "r") for name in names],
            column("case_id", "i").as_("unit"),
        )
        .from_(temporary(SHOWN, alias="r"))
        .join(
            temporary(PLACED, alias="p"),
            on=column("group_id", "r").eq(column("region_no", "p")),
        )
        .join(originals.subquery("i"), on=text.eq(column("case_id", "p")))
    )


def check_region_counts(evidence: Evidence) -> list[Measure]:
    """Every region counts k of the cases whose originals lie in it, and each case counts once."""
    release = evidence.release
    _load(evidence)
    told = evidence.asked.k if evidence.asked else None
    names = [literal(f"temp.main.{each}") for each in (SHOWN, PLACED)]
    rows = evidence.ask(NAME, *names, max(told or 0, release.k))
    counted = any(total for *_, total, _, _, _ in rows)
    return rows + (_inside(evidence) if counted else [])  # of nobody there is no original


def _inside(evidence: Evidence) -> list[Measure]:
    """Originals of counted reports lie in the region of their case."""
    release = evidence.release
    dataset, identity = release.visible_dataset, temporary("srsql_identity", alias="i")
    placed = region_units(evidence).subquery("c")
    reports = (
        exp.select(
            column("public_report", "i").as_(dataset.report_id, quoted=True),
            exp.Literal.string(release.quarter).as_("quarter"),
            *[column(name, "c") for name in region_columns(dataset)],
        )
        .from_(placed)
        .join(identity, on=column("unit", "c").eq(column("case_id", "i")))
    )
    evidence.table(REPORTS, lambda: reports)
    rows = inside_query(dataset, temporary(REPORTS, alias="v"), release.release_id, set())
    found = uniform_rows(release.warehouse, rows.subquery().sql("duckdb"))
    return as_measures(
        replace(MeasureRow(*row), measure=NAME, scope="original of a report") for row in found
    )


def _load(evidence: Evidence) -> None:
    """Published regions with a number each, as the catalog codes them, and the cases of each."""
    release = evidence.release
    dataset = release.visible_dataset
    number = exp.Window(this=exp.Anonymous(this="row_number")).as_("group_id")
    shown = exp.select(
        number,
        number.this.copy().as_("region_no"),
        exp.cast(exp.null(), "INTEGER").as_("case_no"),
        column("cases", "t").as_("reports"),
        column("cases", "t"),
        *[column(name, "t") for name in region_columns(dataset)],
    ).from_(table(release.schema, REGION_COUNT, alias="t"))
    placed = f"srsql.counted_regions({literal(f'temp.main.{ENDS}')}, {release.release_id:d})"
    for name, text in (
        (SHOWN, shown.sql("duckdb")),
        (ENDS, region_ends(dataset, SHOWN).sql("duckdb")),
        (PLACED, f"SELECT p.* FROM {placed} AS p"),
    ):
        evidence.once(name, partial(release.warehouse.run, f"{CREATE} {name} AS {text}"))
