"""Noise and the exponential choice: seconds per million draws, and what the library costs alone.

The library's exponential mechanism (report noisy max with Gumbel noise) takes one call per draw;
its cost is measured beside ours, which draws all rows of a column from integer weights with words
of the library's secure generator.
"""

from __future__ import annotations

import resource
from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any

import duckdb

import srsql
from srsql.schemas import load_dataset

CASES, SMALL = 1_000_000, 100_000
GROUPS_OF = 12
LIBRARY_DRAWS = 2_000


def main(small: bool) -> None:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    count = SMALL if small else CASES
    faers = load_dataset("faers")
    con = duckdb.connect()
    srsql.install(con)
    con.execute("SET threads = 2")
    rows: list[tuple[str, float, float]] = []

    def timed(name: str, call: Callable[[], Any]) -> None:
        wall, cpu = perf_counter(), process_time()
        call()
        rows.append((name, perf_counter() - wall, process_time() - cpu))

    con.execute(
        "CREATE TEMP TABLE noisy AS SELECT i::INTEGER AS case_no, i // ? AS group_no,"
        " (40 + hash(i) % 80)::BIGINT AS wt, (hash(i + 7) % ?)::BIGINT AS leaf "
        "FROM range(?) AS r(i)",
        [GROUPS_OF, len(faers.groups["age"].labels), count],
    )
    draws = {
        "sound": "SELECT n.case_no, 1200 AS numerator, 1 AS denominator FROM temp.main.noisy AS n",
        "paper": "SELECT n.case_no, greatest(max(n.wt) OVER w - min(n.wt) OVER w, 5) AS numerator,"
        " 1 AS denominator FROM temp.main.noisy AS n WINDOW w AS (PARTITION BY n.group_no)",
    }
    doms = {
        "sound": "SELECT n.case_no, [n.leaf] AS dom FROM temp.main.noisy AS n",
        "paper": "SELECT n.case_no, g.dom FROM temp.main.noisy AS n INNER JOIN (SELECT m.group_no,"
        " list_sort(list(DISTINCT m.leaf)) AS dom FROM temp.main.noisy AS m GROUP BY 1) AS g"
        " ON n.group_no = g.group_no",
    }
    for calibration in ("sound", "paper"):
        con.execute(f"CREATE OR REPLACE TEMP TABLE draws AS {draws[calibration]}")
        con.execute(f"CREATE OR REPLACE TEMP TABLE doms AS {doms[calibration]}")
        for source, seed in (("secure", None), ("seeded", 1)):
            timed(
                f"laplace, {calibration}, {source}",
                lambda seed=seed: con.execute(
                    "CREATE OR REPLACE TEMP TABLE z AS "
                    "SELECT z.* FROM srsql.laplace_noise('temp.main.draws', ?) AS z",
                    [seed],
                ),
            )
            for name, tree in (("age", faers.groups["age"]), ("sex", faers.hierarchies["sex"])):
                if name == "sex":
                    con.execute(
                        "CREATE OR REPLACE TEMP TABLE used AS SELECT d.case_no,"
                        " list_sort(list_distinct([x % 3 FOR x IN d.dom])) AS dom "
                        "FROM temp.main.doms AS d"
                    )
                else:
                    con.execute(
                        "CREATE OR REPLACE TEMP TABLE used AS SELECT d.* FROM temp.main.doms AS d"
                    )
                timed(
                    f"choice of {name}, {calibration}, {source}",
                    lambda tree=tree, seed=seed, how=calibration: con.execute(
                        "CREATE OR REPLACE TEMP TABLE z AS SELECT z.* FROM "
                        "srsql.exponential_choice('temp.main.used', ?, 1, 3, ?, ?) AS z",
                        [list(tree.parent), how, seed],
                    ),
                )
    print(f"{count:,} cases, one call per column")
    for name, wall, cpu in rows:
        print(f"  {name:32} {wall:8.2f} s   {cpu / count * 1e6:8.2f} CPU-µs per draw")
    secure = sum(wall for name, wall, _ in rows if name.endswith("sound, secure"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"  all columns of FAERS, sound, secure {secure:.2f} s; peak {peak:.2f} GiB")
    con.close()
    _library(dp)


def _library(dp: Any) -> None:
    """What OpenDP costs per draw in its own calls."""
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    laplace = dp.m.make_laplace(*space, scale=1200.0)
    scores = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
    gumbel = dp.m.make_noisy_max(*scores, dp.zero_concentrated_divergence(), scale=6.0)
    print("the library alone, CPU-µs per draw")
    for name, call in (
        ("laplace, one vector", lambda: laplace([0] * LIBRARY_DRAWS)),
        ("laplace, one call per draw", lambda: [laplace([0]) for _ in range(LIBRARY_DRAWS)]),
        ("noisy max of 13, Gumbel", lambda: [gumbel([0.0] * 13) for _ in range(LIBRARY_DRAWS)]),
    ):
        start = process_time()
        call()
        print(f"  {name:32} {(process_time() - start) / LIBRARY_DRAWS * 1e6:8.1f}")
