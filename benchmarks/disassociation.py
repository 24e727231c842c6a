"""Disassociation of baskets with a heavy tail of terms: seconds of each step, and the oracle's."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from itertools import chain
from math import log
from pathlib import Path
from time import perf_counter

import duckdb
import numpy as np
from numpy.typing import NDArray

from benchmarks.kernel import peak_mib
from srsql.engine.store.statements import query, step_file
from srsql.engine.store.warehouse import Warehouse
from srsql.engine.terms.disassociate import (
    JOINT_CLUSTERS,
    ClusterSizes,
    disassociate,
    step_parameters,
)

TERMS, K, M, SEED = 10_000, 5, 2, 2014
SIZES, SMALL_SIZES, COMPARED = (50_000, 500_000), (5_000, 20_000), 2_000
FIRST, STEP = "terms/clusters", "terms/disassociate"


@dataclass(frozen=True)
class Row:
    """One measurement, without compilation, in a process of its own."""

    records: int
    seconds: float
    peak_mib: float
    clusters: int
    joints: int
    item_share: float
    shared_share: float
    steps: dict[str, float]
    warm_up: float
    oracle: float | None = None
    same: bool | None = None


def basket(n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Records and terms: five terms a record or so, most drawn from one of 300 topics.

    The terms of a topic and of the whole follow a Zipf tail.
    """
    rng = np.random.default_rng(SEED)
    count = np.minimum(1 + rng.poisson(4.2, n), 40)
    record = np.repeat(np.arange(n), count)
    share = 1 / (np.arange(1, TERMS + 1) + 10.0)
    drawn = np.searchsorted(np.cumsum(share / share.sum()), rng.random(len(record)))
    topic = rng.integers(0, 300, n)[record]
    tail = (rng.pareto(1.2, len(record)) * 3).astype(np.int64) % TERMS
    drawn = np.where(rng.random(len(record)) < 0.6, (topic * 7919 + tail) % TERMS, drawn)
    pairs = np.unique(record * TERMS + np.minimum(drawn, TERMS - 1))
    return pairs // TERMS, pairs % TERMS


def prepare(con: duckdb.DuckDBPyConnection, n: int) -> None:
    """The tables that the step reads; the 400 most frequent terms in constraints of ten."""
    record, term = basket(n)
    con.register("drawn", {"record_no": record, "term_no": term})
    for statement in (
        "CREATE OR REPLACE TEMP TABLE srsql_basket AS SELECT record_no::INTEGER AS record_no,"
        " term_no::INTEGER AS term_no FROM drawn",
        "CREATE OR REPLACE TEMP TABLE srsql_part AS SELECT DISTINCT record_no, 0 AS part_no"
        " FROM srsql_basket",
        "CREATE OR REPLACE TEMP TABLE srsql_basket_term AS SELECT DISTINCT term_no,"
        " 'TERM ' || term_no AS term FROM srsql_basket",
        "CREATE OR REPLACE TEMP TABLE srsql_constraint AS SELECT term_no,"
        " (term_no // 10)::INTEGER AS constraint_no FROM srsql_basket_term WHERE term_no < 400",
        "CREATE OR REPLACE TEMP TABLE srsql_sensitive_number (term_no INTEGER)",
    ):
        con.execute(statement)
    con.unregister("drawn")


def measure(n: int, compare: bool) -> Row:
    con = duckdb.connect()
    warehouse = Warehouse(con)
    prepare(con, 500)
    began = perf_counter()
    disassociate(warehouse, k=K, m=M)
    warm_up = perf_counter() - began
    prepare(con, n)
    began = perf_counter()
    disassociate(warehouse, k=K, m=M)
    seconds = perf_counter() - began
    peak = peak_mib()
    steps: dict[str, float] = {}
    values = step_parameters(K, M, ClusterSizes.of(K), None)
    vertical = con.extract_statements(query("terms/disassociate", "chunk_clusters"))
    for statement in chain(step_file(FIRST).statements(), vertical, step_file(STEP).statements()):
        began = perf_counter()
        con.execute(statement, {name: values[name] for name in statement.named_parameters})
        text = statement.query.strip()
        name = text.split()[5 if text.startswith("CREATE") else 2]
        steps[name] = steps.get(name, 0.0) + perf_counter() - began
    value = warehouse.value
    held = value("SELECT count(*) FROM temp.main.srsql_basket")
    kept = value("SELECT count(*) FROM temp.main.srsql_pub_record_chunk")
    shared = value("SELECT count(*) FROM temp.main.srsql_pub_shared_chunk")
    row = Row(
        n,
        seconds,
        peak,
        value("SELECT count(*) FROM temp.main.srsql_pub_clusters"),
        value("SELECT coalesce(max(j.joint), 0) FROM temp.main.srsql_pub_joint_clusters AS j"),
        (held - kept - shared) / held,
        shared / held,
        steps,
        warm_up,
        *(by_definition(con, n) if compare else ()),
    )
    con.close()
    return row


def by_definition(con: duckdb.DuckDBPyConnection, n: int) -> tuple[float, bool]:
    """Seconds of the oracle of the tests, plain Python, on the same data; whether they agree."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from oracles import disassociation as oracle

    record, term = basket(n)
    baskets: list[set[int]] = [set() for _ in range(n)]
    for r, t in zip(record.tolist(), term.tolist(), strict=True):
        baskets[r].add(t)
    policy = [frozenset(range(10 * u, 10 * u + 10)) for u in range(40)]
    sys.setrecursionlimit(100_000)
    began = perf_counter()
    made = oracle.disassociated(
        [frozenset(b) for b in baskets],
        K,
        M,
        policy=policy,
        max_size=2 * K,
        least=K,
        limit=JOINT_CLUSTERS * 2 * K,
    )
    seconds = perf_counter() - began
    chunks = con.execute("SELECT c.* FROM temp.main.srsql_chunk_term AS c").fetchall()
    shared = con.execute("SELECT s.* FROM temp.main.srsql_shared_term AS s").fetchall()
    same = set(chunks) == {
        (number, chunk, t)
        for number, cluster in enumerate(made.clusters, 1)
        for chunk, terms in enumerate([cluster.items, *cluster.chunks])
        for t in terms
    }
    same &= set(shared) == {
        (number, chunk, t)
        for number, (_, chunks_of) in enumerate(made.joints, 1)
        for chunk, terms in enumerate(chunks_of, 1)
        for t in terms
    }
    return seconds, same


def measure_apart(n: int, compare: bool = False) -> Row:
    command = [sys.executable, "-m", "benchmarks.disassociation", str(n), str(int(compare))]
    return Row(**json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout))


def main(small: bool) -> None:
    """Print the table."""
    head = (
        "records",
        "seconds",
        "peak MiB",
        "clusters",
        "joints",
        "in items",
        "shared",
        "oracle s",
    )
    print("".join(f"{column:>10}" for column in head))
    compared = _print(measure_apart(COMPARED, compare=True))
    rows = [_print(measure_apart(n)) for n in (SMALL_SIZES if small else SIZES)]
    slope = log(rows[-1].seconds / rows[0].seconds) / log(rows[-1].records / rows[0].records)
    print(f"cost grows as n^{slope:.2f} from {rows[0].records:,} to {rows[-1].records:,} records")
    print(f"compilation, or loading its cache (not counted above): {compared.warm_up:.1f} s")
    for name, seconds in sorted(rows[-1].steps.items(), key=lambda step: -step[1])[:12]:
        print(f"{seconds:>10.3f} {name}")


def _print(row: Row) -> Row:
    cells = [f"{row.records:,}", f"{row.seconds:.2f}", f"{row.peak_mib:.0f}", f"{row.clusters:,}"]
    cells += [f"{row.joints:,}", f"{row.item_share:.1%}", f"{row.shared_share:.1%}"]
    if row.oracle is not None:
        ratio = f"{row.oracle / row.seconds:.0f} times as long"
        cells.append(f"  by the definitions {row.oracle:.1f} s, {ratio}")
    print("".join(f"{cell:>10}" for cell in cells), flush=True)
    if row.same is False:
        raise SystemExit("the kernels and the definitions give different chunks")
    return row


if __name__ == "__main__":
    print(json.dumps(vars(measure(int(sys.argv[1]), bool(int(sys.argv[2]))))))
