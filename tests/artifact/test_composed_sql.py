"""The statements that are composed from the columns of a dataset or of a manifest."""

from __future__ import annotations

from typing import Any

import pytest
from support.snapshots import check_snapshot

from srsql.engine.artifact.format import TERM_TABLES, Manifest, content_query
from srsql.engine.artifact.publish.tables import attachment, plan_tables, plan_terms
from srsql.engine.artifact.verify.rows import crowded_regions, row_queries
from srsql.engine.artifact.verify.verify import region_rows
from srsql.schemas import load_dataset

KEY = bytes(range(64))


def columns(**roles: str) -> list[dict[str, Any]]:
    kinds = {"term": "VARCHAR", "node": "VARCHAR", "period": "VARCHAR", "sensitive": "VARCHAR"}
    attributes = {"lower bound": "age", "upper bound": "age", "node": "sex"}
    return [
        {"name": name, "type": kinds.get(role, "BIGINT"), "role": role}
        | ({"attribute": attributes[role]} if role in attributes else {})
        for name, role in roles.items()
    ]


@pytest.fixture
def manifest() -> Manifest:
    """Reports with a region, one table of values, and disassociated terms by region."""
    ids = {"primaryid": "report id", "caseid": "case id"}
    region = {"age_low": "lower bound", "age_high": "upper bound", "sex": "node"}
    tables = {
        "demo": columns(**ids, quarter="period", **region),
        "reac": columns(**ids, pt="sensitive"),
    }
    for name, shown in TERM_TABLES.items():
        tables[name] = columns(**{n: "joint cluster" if n == "joint" else n for n in shown})
    tables["clusters"] += columns(**region)
    return Manifest.model_validate(
        {
            "artifact_version": 1, "software_version": "0", "dataset": "faers",
            "dataset_version": 1, "dataset_fingerprint": "0" * 64, "series": "main",
            "quarter": "2011Q3", "earlier_releases": (), "format": "parquet",
            "case_ids": "as released", "key_id": None, "model": "ms", "guarantee": "k",
            "perturbed": False, "k": 3, "attacks": (), "parameters": {},
            "counts": {"released_cases": 9, "released_reports": 9}, "report_table": "demo",
            "terms": {"attributes": ("indi_pt",), "m": 2, "diversity": 1},
            "attributes": [{"name": "age", "kind": "numeric"},
                           {"name": "sex", "kind": "categorical"}],
            "tables": [
                {"name": name, "file": f"{name}.parquet", "rows": 9, "content_sha256": "0" * 64,
                 "columns": of} for name, of in tables.items()
            ],
            "files": {},
        }
    )  # fmt: skip


@pytest.mark.parametrize("name", ["report_row", "child_row", "sensitive_cell"])
def test_what_the_rows_of_an_artifact_are_checked_by(manifest: Manifest, name: str) -> None:
    check_snapshot(f"artifact/{name}", row_queries(manifest)[name].sql("duckdb"))


def test_what_artifacts_of_a_series_are_gathered_by(manifest: Manifest) -> None:
    check_snapshot("artifact/region_rows", region_rows(1, manifest).sql("duckdb"))


def test_what_finds_regions_with_more_records_than_cases(manifest: Manifest) -> None:
    check_snapshot("artifact/crowded_regions", crowded_regions(manifest).sql("duckdb"))


def test_what_the_digest_of_rows_is_made_of(manifest: Manifest) -> None:
    reports = manifest.table("demo")
    check_snapshot(
        "artifact/content", content_query("srsql_loaded_demo", reports.columns).sql("duckdb")
    )


@pytest.mark.parametrize(("key", "name"), [(None, "as_released"), (KEY, "pseudonyms")])
def test_what_reads_released_views(key: bytes | None, name: str) -> None:
    plans = plan_tables(load_dataset("faers"), "release_2011q3", key, keyed=False)
    check_snapshot(f"artifact/{name}", ";".join(plan.query.sql("duckdb") for plan in plans))


def test_what_reads_released_terms() -> None:
    plans = plan_terms(load_dataset("faers"), "release_2011q3", grouped=True)
    check_snapshot("artifact/terms", ";".join(plan.query.sql("duckdb") for plan in plans))


def test_a_storage_version_is_data() -> None:
    assert attachment("v1.4.0") == "ATTACH ? AS artifact (STORAGE_VERSION 'v1.4.0')"
    assert attachment("x'); DROP--") == "ATTACH ? AS artifact (STORAGE_VERSION 'x''); DROP--')"
