"""Drafts: a release that was made and checked, but not exposed yet."""

from __future__ import annotations

import json

from sqlglot import exp

from srsql.engine.checks import Evidence
from srsql.engine.checks.registry import prove
from srsql.engine.errors import ReleaseError
from srsql.engine.release.manifest import released_rows
from srsql.engine.release.request import Released
from srsql.engine.release.series import make_identity, refresh_series_views, supersede_release
from srsql.engine.release.views import create_views
from srsql.engine.warehouse.layout import raw_table
from srsql.engine.warehouse.releases import (
    Release,
    as_released,
    over_lattice,
    perturbed_positions,
    terms_apart,
)
from srsql.engine.warehouse.series import Series, find_series, schema_of
from srsql.engine.warehouse.statements import column, create, dotted, table
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset


def confirm(warehouse: Warehouse, dataset: Dataset, quarter: str, series_name: str) -> Released:
    """Expose a draft: check its bounds again and move its views to the release schema.

    Raises:
        ReleaseError: there is no draft, or the series went on since it was made.
    """
    series = find_series(warehouse, dataset, series_name)
    drafts = series and warehouse.rows(
        "SELECT r.release_id, r.schema_name, r.k, r.private_manifest FROM srsql.release AS r "
        "WHERE r.dataset = ? AND r.series = ? AND r.quarter = ? AND r.status = 'draft'",
        [dataset.name, series_name, quarter],
    )
    if not series or not drafts:
        raise ReleaseError(
            f"no draft of {quarter} in series {series_name!r}: make one with "
            f"'srsql release --quarter {quarter} --draft'"
        )
    release_id, schema, k, manifest = drafts[0]
    with warehouse.transaction():
        later = warehouse.value(
            "SELECT max(r.quarter) FROM srsql.exposed_release AS r "
            "WHERE r.dataset = ? AND r.series = ? "
            "AND NOT list_contains(?::INTEGER[], r.release_id)",
            [dataset.name, series_name, json.loads(manifest).get("made_after", [])],
        )
        if later is not None:
            raise ReleaseError(
                f"{later} was released after this draft of {quarter} was made: make the draft again"
            )
        stale = warehouse.rows(
            "SELECT i.replaced, (SELECT count(*) FROM srsql.member AS m INNER JOIN"
            " srsql.deleted_case AS d ON m.case_id = d.case_id"
            " WHERE m.release_id = r.release_id AND d.dataset = r.dataset) "
            "FROM srsql.release AS r INNER JOIN srsql.ingestion AS i USING (ingestion_id) "
            "WHERE r.release_id = ?",
            [release_id],
        )
        if stale != [(False, 0)]:
            raise ReleaseError(
                f"since this draft of {quarter} was made its source was replaced or cases of it "
                "were deleted: make the draft again"
            )
        if perturbed_positions(warehouse, release_id) or terms_apart(warehouse, release_id):
            _identify(warehouse, dataset, series, release_id, quarter)
        seen = as_released(warehouse, dataset, release_id)
        taken = dataset.with_categories() if over_lattice(warehouse, release_id) else dataset
        evidence = Evidence(
            Release(warehouse, taken, seen, release_id, series.name, quarter, schema, k)
        )
        prove(evidence, "checks", again=True)
        for name in ("srsql_released", "srsql_identity"):
            warehouse.run(f"DROP TABLE IF EXISTS {dotted('temp', 'main', name)}")
        prove(evidence, "audit", again=True)
        supersede_release(warehouse, series, quarter, but=release_id)
        stores = dict(
            warehouse.rows(
                "SELECT v.view_name, 'release_' || ?::VARCHAR || '_' || v.view_name "
                "FROM duckdb_views() AS v WHERE v.schema_name = ? "
                "AND v.database_name = current_database()",
                [release_id, schema],
            )
        )
        warehouse.run(f"DROP SCHEMA {dotted(schema)} CASCADE")
        schema = schema_of(warehouse, series, quarter)
        create_views(warehouse, schema, stores)
        warehouse.run(
            "UPDATE srsql.release SET status = 'released', schema_name = ? WHERE release_id = ?",
            [schema, release_id],
        )
        refresh_series_views(warehouse, dataset, series)
        rows = released_rows(warehouse, stores)
    return Released(
        release_id, quarter, series_name, schema, "released", json.loads(manifest), rows
    )


def _identify(
    warehouse: Warehouse, dataset: Dataset, series: Series, release_id: int, quarter: str
) -> None:
    """Fill ``srsql_identity`` anew: whose rows a draft that does not show its groups has."""
    reports = (
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
        .where(column("quarter", "t").eq(exp.Placeholder()))
        .where(column("release_id", "m").eq(release_id))
    )
    warehouse.run(create(exp.to_table("srsql_released"), reports, temp=True), [quarter])
    make_identity(warehouse, dataset, series)
