"""Who carries what a release cuts into parts: this process, its workers, or Spark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace

from srsql.engine.catalog.releases import Release
from srsql.engine.grouping.patterns import Grouping
from srsql.engine.lake.lake import lies_in_lake
from srsql.engine.release.features.feature import ByOthers
from srsql.engine.release.features.table import refuse
from srsql.engine.release.request import Request
from srsql.engine.store import doors
from srsql.engine.store.warehouse import Warehouse
from srsql.engine.workers.carriers import Carrier, local_carrier
from srsql.schemas import Dataset


@contextmanager
def carried(
    warehouse: Warehouse, dataset: Dataset, request: Request, carrier: Carrier | None
) -> Iterator[Request]:
    """The request with who carries its parts: the carrier, or Spark at its address meanwhile.

    Raises:
        ReleaseError: both are asked for, or nothing is carried.
        WarehouseError: Spark cannot be asked.
    """
    in_lake = lies_in_lake(warehouse, dataset)
    refuse(ByOthers(request, carrier, in_lake, bool(dataset.qid_set)))
    if request.spark is None:
        yield request if carrier is None else replace(request, carrier=carrier)
        return
    with doors.opened("spark")(request.spark, warehouse.scratch) as spark:
        yield replace(request, carrier=spark)


def buckets_carrier(current: Release, request: Request) -> AbstractContextManager[Carrier | None]:
    """Who carries the buckets of a lake, where somebody else is asked at all and records are cases,
    which lie in one bucket each."""
    warehouse = current.warehouse
    if not request.carries_buckets or not lies_in_lake(warehouse, current.dataset):
        return nullcontext(None)
    if current.dataset.intake:  # reports of waiting cases lie in buckets of other periods
        return nullcontext(None)
    return _asked(warehouse, request)


def parts_carrier(grouping: Grouping, request: Request) -> AbstractContextManager[Carrier]:
    """Who carries parts; as long as nothing is cut, nobody is asked."""
    if request.model.parts == "1":
        return nullcontext(grouping.carrier)
    if request.carrier is not None:
        return nullcontext(request.carrier)
    return local_carrier(grouping.warehouse, request.workers)


def clusters_carrier(
    warehouse: Warehouse, request: Request
) -> AbstractContextManager[Carrier | None]:
    """Who carries clusters of terms, where somebody else is asked at all."""
    return _asked(warehouse, request) if request.makes_clusters else nullcontext(request.carrier)


def _asked(warehouse: Warehouse, request: Request) -> AbstractContextManager[Carrier | None]:
    """Who is asked for; None: nobody."""
    if request.carrier is not None or request.workers == 1:
        return nullcontext(request.carrier)
    return local_carrier(warehouse, request.workers)
