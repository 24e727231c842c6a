"""Super-records of a lake, bucket by bucket: all reports of a case lie in one.

Each bucket is merged by the step that merges a whole quarter, wherever it is carried; its cases are
numbered within it. What is left for whoever asked is to number the cases and values of all buckets,
by the order that a whole quarter has, so that the tables are the same.

Source: SPEC section 17.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from srsql.engine.catalog.datasets import registered_dataset
from srsql.engine.catalog.releases import Release
from srsql.engine.grouping.reports import (
    deleted_reports,
    load_attributes,
    number_words,
    numbered_anew,
    numbered_reports,
    report_boxes,
    report_values,
)
from srsql.engine.lake.lake_parts import BucketWork, carry_buckets
from srsql.engine.store.statements import query
from srsql.engine.store.warehouse import Warehouse
from srsql.engine.workers.carriers import Carrier
from srsql.schemas import Dataset

if TYPE_CHECKING:
    import pyarrow as pa

TOPIC = "grouping/buckets"
TAKEN = {
    "srsql_bucket_report": "reports",
    "srsql_bucket_case": "cases",
    "srsql_bucket_box": "boxes",
    "srsql_bucket_text": "texts",
    "srsql_symptoms": "symptoms",
    "srsql_deleted": "deleted",
}
"""What comes back of the buckets, by the tables that take it in."""


def merge_buckets(
    release: Release,
    carrier: Carrier,
    buckets: list[pa.Table],
    parameters: Mapping[str, Any],
    *,
    with_drugs: bool,
) -> None:
    """Fill what ``grouping/steps/cases.sql`` and ``grouping/steps/symptoms.sql`` write.

    Args:
        release: of a quarter that lies in a lake.
        carrier: carries its buckets.
        buckets: of the quarter (see ``buckets_of``).
        parameters: of the step.
        with_drugs: external knowledge is kept with the release.
    """
    warehouse, dataset = release.warehouse, release.visible_dataset
    lake = warehouse.lake
    assert lake is not None
    knowledge = None
    if with_drugs:
        own = {"release_id": release.release_id}
        knowledge = warehouse.con.sql(query(TOPIC, "knowledge"), params=own).to_arrow_table()
    make = partial(
        merge_bucket,
        dataset=dataset,
        quarter=release.quarter,
        knowledge=knowledge,
        parameters=dict(parameters),
    )
    stored = registered_dataset(warehouse, dataset.name)
    work = BucketWork(stored, lake.folder, make, query(TOPIC, "found"))
    take = {name: query(TOPIC, f"take_{what}") for name, what in TAKEN.items()}
    carry_buckets(warehouse, carrier, work, buckets, take)
    warehouse.run(numbered_anew(dataset))
    warehouse.run_step("grouping/gathered")


def merge_bucket(
    own: Warehouse,
    told: Mapping[str, Any],
    *,
    dataset: Dataset,
    quarter: str,
    knowledge: pa.Table | None,
    parameters: dict[str, Any],
) -> None:
    """Where a bucket is carried: its super-records, from the raw tables that it has there.

    Args:
        own: a database in memory.
        told: what its part has.
        dataset: of the rows.
        quarter: of the bucket.
        knowledge: external knowledge, as the catalog has it; None: there is none.
        parameters: of ``grouping/steps/cases.sql``.
    """
    withdrawn = {"dataset": dataset.name, "cases": told["withdrawn"]}
    own.run(query(TOPIC, "forget_withdrawn"))
    own.run(query(TOPIC, "withdrawn"), withdrawn)
    own.run(query(TOPIC, "forget_knowledge"))
    if knowledge is not None:
        own.con.register("srsql_knowledge", knowledge)
        own.run(query(TOPIC, "known"))
        own.con.unregister("srsql_knowledge")
    own.run(deleted_reports(dataset), [quarter, dataset.name])
    own.run(numbered_reports(dataset, "case"), [quarter])
    load_attributes(own, dataset)
    own.run(report_boxes(dataset, quarter))
    with_drugs = knowledge is not None
    number_words(own, dataset, quarter, parameters["release_id"], with_drugs=with_drugs)
    statement, values = report_values(dataset, with_drugs=with_drugs)
    own.run(statement, [quarter] * values)
    own.run_step("grouping/cases", {**parameters, "one_report": False, "one_value": False})
    own.run_step("grouping/symptoms", {"one_value": False})
