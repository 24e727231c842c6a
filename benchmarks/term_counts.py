"""What disassociation keeps of counts, by how clusters are made, joined and counted.

``python -m benchmarks term_counts --source FILE --quarter 2022Q4 --attributes indi_pt`` releases
the terms of one quarter by each way of putting small parts together and of choosing partners, and
asks each release the workloads of ``srsql metrics`` (Loukides 2014, section 6): ARE of W1 (itemsets
that so many percent of the records hold), of W2 and of random sets that some record holds.

``--cases 10,20,40`` takes whole rows apart instead (``--term-attributes``, in clusters of at least
so many cases of whole groups): the sizes are compared, and the usual ways are used.

*counted* is the share of the occurrences of terms that chunks tell, the rest are item terms.
Seconds are those of processors, of the release as a whole.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from srsql import Engine
from srsql.engine.errors import SrsqlError
from srsql.engine.risk.metrics import measure_terms
from srsql.engine.risk.term_counts import ORIGINALS

WORKLOADS = {
    "W1, 2.5 %": "W1 2.5", "W1, 0.625 %": "W1 .625", "W2, all": "W2", "W2, 1 of them": "W2 1",
    "W2 held, all": "held", "W2 held, 2 of them": "held 2",
}  # fmt: skip
"""Scopes of the measure ``are``, and how the table calls them."""


@dataclass(frozen=True)
class Kept:
    """What one release keeps."""

    clusters: int
    joints: int
    counted: float
    seconds: float
    are: Mapping[str, float | None]
    """ARE by workload."""


def measure(engine: Engine, quarter: str, series: str, options: Mapping[str, Any]) -> Kept:
    """Release a quarter to a series of its own, and ask it the workloads."""
    began = process_time()
    made = engine.release.make(quarter, series=series, seed=1, allow_linkable=True, **options)
    seconds = process_time() - began
    rows = measure_terms(engine.warehouse, engine.dataset(), made.release_id)
    are = {row.scope: row.ratio for row in rows if row.measure == "are"}
    ((clusters, joints, told, held),) = engine.sql(
        f"SELECT (SELECT count(*) FROM {made.schema}.clusters), "
        f"(SELECT count(DISTINCT j.joint) FROM {made.schema}.joint_clusters AS j), "
        f"(SELECT count(*) FROM {made.schema}.record_chunk) + "
        f"(SELECT count(*) FROM {made.schema}.shared_chunk), "
        f"(SELECT count(*) FROM {ORIGINALS})"
    )
    return Kept(clusters, joints, told / held, seconds, are)


def settings(given: argparse.Namespace) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is compared: its name, and the options of its release."""
    common = {
        "k": given.k, "m": given.m, "term_attributes": given.attributes,
        "on_infeasible": "withhold",
    }  # fmt: skip
    if given.cases is None:
        del common["on_infeasible"]
        for pooled_by, partners in product(("splits", "terms"), ("neighbours", "shared")):
            ways = {"pooled_by": pooled_by, "partners": partners}
            yield f"{pooled_by}, {partners}", common | ways | {"model": "disassociation"}
        return
    for cases in given.cases.split(","):
        options = {"model": "ms", "terms": "disassociate", "term_cases": int(cases)}
        yield f"{int(cases):,} cases", common | options


def command(arguments: list[str]) -> None:
    """Release, ask and print; see the module."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks term_counts", description=__doc__)
    parser.add_argument("--source", type=Path, required=True, help="files of the quarter")
    parser.add_argument("--quarter", required=True)
    parser.add_argument("--dataset", help="faers, vaers or a file; by default faers")
    parser.add_argument("--attributes", default="indi_pt", help="as --term-attributes takes them")
    parser.add_argument("--cases", help="sizes of clusters of whole rows, with commas between")
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--m", type=int, default=2)
    options = parser.parse_args(arguments)
    head = ["clusters", "joints", "counted", "CPU s", *WORKLOADS.values()]
    print(f"{'':20}" + "".join(f"{name:>10}" for name in head))
    with (
        TemporaryDirectory(prefix="srsql-counts-") as folder,
        Engine(Path(folder) / "warehouse.duckdb") as engine,
    ):
        engine.ingest(options.source, dataset=options.dataset, allow_incomplete=True)
        for number, (name, asked) in enumerate(settings(options)):
            try:
                kept = measure(engine, options.quarter, f"s{number}", asked)
            except SrsqlError as error:
                print(f"{name:20} {error}", flush=True)
                continue
            found = [kept.are.get(scope) for scope in WORKLOADS]
            cells = [f"{kept.clusters:,}", f"{kept.joints:,}", f"{kept.counted:.1%}"]
            cells += [f"{kept.seconds:.1f}"]
            cells += ["" if share is None else f"{share:.4f}" for share in found]
            print(f"{name:20}" + "".join(f"{cell:>10}" for cell in cells), flush=True)
