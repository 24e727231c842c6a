"""Drafts: a release that was made and checked, but not exposed yet."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from srsql.engine.catalog.layout import IDENTITY, raw_table
from srsql.engine.catalog.releases import (
    NOT_IDS,
    Release,
    as_released,
    over_lattice,
    perturbed_positions,
    released_terms,
    staleness,
    terms_without_rows,
)
from srsql.engine.catalog.series import Series, create_views, find_series, schema_of
from srsql.engine.catalog.waiting import carried_from, taking_in
from srsql.engine.checks import Evidence
from srsql.engine.checks.registry import prove
from srsql.engine.errors import ReleaseError
from srsql.engine.lake.lake import need_periods
from srsql.engine.release.exposure import Consent, look_at, need_consent
from srsql.engine.release.features.own_thresholds import OWN_THETA
from srsql.engine.release.ids import make_identity
from srsql.engine.release.manifest import date_release, released_rows
from srsql.engine.release.memory import exposed_release, remember_draft
from srsql.engine.release.request import Released, today
from srsql.engine.release.series import refresh_series_views, supersede_release
from srsql.engine.store.statements import column, dotted, query, table
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset
from srsql.schemas.outside import json_of

TOPIC = "release/draft"


def confirm(
    warehouse: Warehouse,
    dataset: Dataset,
    quarter: str,
    series_name: str,
    consent: Consent,
    day: str | None = None,
    *,
    if_needed: bool = False,
) -> Released:
    """Expose a draft: check its bounds again and move its views to the release schema.

    Args:
        warehouse: with the draft.
        dataset: with the tables of which the series has rows.
        quarter: of the draft.
        series_name: of the draft.
        consent: to what it links to, and to what it promises less than what it replaces.
        day: of the release; None: today.
        if_needed: a quarter that is out, of the data that there are and without anybody who has
            left, needs no draft.

    Raises:
        ReleaseError: there is no draft, the series went on since it was made, or it lacks consent.
    """
    series = find_series(warehouse, dataset, series_name)
    drafts = series and warehouse.rows(
        query(TOPIC, "draft"),
        {"dataset": series.dataset, "series": series.name, "quarter": quarter},
    )
    if if_needed and not drafts and (there := exposed_release(warehouse, dataset, quarter, series)):
        return there
    if not series or not drafts:
        raise ReleaseError(
            f"no draft of {quarter} in series {series_name!r}: make one with "
            f"'srsql release --quarter {quarter} --draft'"
        )
    earlier = carried_from(warehouse, dataset, series_name, quarter)
    need_periods(warehouse, dataset, quarter, *earlier)
    release_id, schema, k, text = drafts[0]
    manifest = json_of(text)
    with warehouse.transaction():
        _need_current(warehouse, series, quarter, release_id, manifest.get("made_after", []))
        model_dataset = as_released(warehouse, dataset, release_id)
        draft = taking_in(
            Release(warehouse, dataset, model_dataset, release_id, series.name, quarter, schema, k)
        )
        if (
            OWN_THETA in manifest
            or perturbed_positions(warehouse, release_id)
            or terms_without_rows(warehouse, release_id)
        ):
            told = released_terms(warehouse, release_id)
            one_row = told is not None and told.whole_rows
            make_identity(draft, series, reports_of(draft), one_row=one_row)
        lattice = over_lattice(warehouse, release_id)
        shown = replace(draft, dataset=dataset.with_categories()) if lattice else draft
        evidence = Evidence(shown, not_ids=manifest.get(NOT_IDS, ()))
        prove(evidence, "checks", again=True)
        warehouse.run(f"DROP TABLE IF EXISTS {dotted('temp', 'main', IDENTITY)}")
        prove(evidence, "audit", again=True)
        found = look_at(warehouse, dataset, release_id)
        need_consent(f"{quarter} in series {series_name!r}", found, consent)
        changes: list[str] = []
        if memory := manifest.get("remembered"):
            changes = remember_draft(
                warehouse, series, memory, change=consent.change, weaker=consent.weaker
            )
        supersede_release(draft)
        stores = dict(
            warehouse.rows(
                query(TOPIC, "viewed_stores"), {"release_id": release_id, "schema": schema}
            )
        )
        warehouse.run(f"DROP SCHEMA {dotted(schema)} CASCADE")
        date_release(draft, manifest, day or today())
        schema = schema_of(warehouse, series, quarter)
        create_views(warehouse, schema, stores)
        warehouse.run(query(TOPIC, "expose"), {"release_id": release_id, "schema": schema})
        refresh_series_views(warehouse, dataset, series)
        rows = released_rows(warehouse, stores)
    return Released(
        release_id,
        quarter,
        series_name,
        schema,
        "released",
        manifest,
        rows,
        links=found.links,
        weaker=found.weaker,
        changes=changes,
    )


def _need_current(
    warehouse: Warehouse, series: Series, quarter: str, release_id: int, known_then: list[int]
) -> None:
    """Refuse a draft that other releases or data have overtaken.

    Raises:
        ReleaseError: the series went on since it was made, or its source or cases changed.
    """
    later = warehouse.value(
        query(TOPIC, "released_since"),
        {"dataset": series.dataset, "series": series.name, "known_then": known_then},
    )
    if later is not None:
        raise ReleaseError(
            f"{later} was released after this draft of {quarter} was made: make the draft again"
        )
    replaced = warehouse.value(query(TOPIC, "source_replaced"), {"release_id": release_id})
    if replaced or staleness(warehouse, release_id=release_id):
        raise ReleaseError(
            f"since this draft of {quarter} was made its source was replaced or cases of it "
            "were deleted: make the draft again"
        )


def reports_of(release: Release) -> exp.Select:
    """The reports of a release that does not show its groups, as ``make_identity`` takes them."""
    dataset = release.dataset
    return (
        exp.select(
            column(dataset.report_id, "t").as_("report_id"),
            column(dataset.case_id, "t").as_("case_id"),
            column("case_no", "m"),
            column("group_id", "m").as_("group_no"),
        )
        .from_(raw_table(dataset, dataset.report_table, alias="t"))
        .join(
            table("srsql", "member", alias="m"),
            on=exp.cast(column(dataset.case_id, "t"), "VARCHAR").eq(column("case_id", "m")),
        )
        .where(column("quarter", "t").eq(exp.Literal.string(release.quarter)))
        .where(column("release_id", "m").eq(release.release_id))
    )
