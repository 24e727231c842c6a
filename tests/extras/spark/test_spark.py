"""Spark carries parts: a release is the same, failures are one line, a lost worker changes nothing.

One session for all tests; what needs another is another process.
"""

from __future__ import annotations

import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from support.baskets import Desk
from support.files import copied
from support.quarters import arrivals, crowd, write_quarter
from support.released import content
from support.spark_workers import one_killed

from srsql.engine.api.engine import Engine
from srsql.engine.errors import WarehouseError
from srsql.engine.extras.spark import carrier as spark
from srsql.engine.extras.spark.address import _session
from srsql.engine.extras.spark.carrier import SparkCarrier
from srsql.engine.grouping import parts as parts_module
from srsql.engine.lake.lake_parts import BucketWork
from srsql.engine.terms import disassociate
from srsql.engine.workers.carriers import InProcess, Work

pytest.importorskip("pyspark", reason="the extra srsql[spark] is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (shutil.which("java") or os.environ.get("JAVA_HOME")), reason="there is no Java on PATH"
    ),
    # pyspark leaves the sockets open through which it sends a table
    pytest.mark.filterwarnings(
        "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
    ),
]
QUARTERS = ("2011Q1", "2011Q2")
WHOLE = Work("FROM temp.main.srsql_part_row", {}, {})
COUNTED = (
    "SELECT w.* FROM ({}) AS w CROSS JOIN "
    "(SELECT count(*) AS n FROM range(150_000_000) AS r WHERE hash(r.range) % 7 = 3) AS busy "
    "WHERE busy.n > 0"
)
"""The same statement, with work for a second or two."""
SUMS = Work(
    "SELECT p.part, sum(p.x * f.x)::BIGINT + $more AS total FROM temp.main.srsql_part_row AS p "
    "CROSS JOIN temp.main.srsql_factor AS f GROUP BY p.part",
    {"srsql_factor": pa.table({"x": [10]})},
    {"more": 1},
)


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    """Two workers at once, and a task may be tried four times."""
    with _session("local[2,4]", None) as found:
        yield found


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ingested")


def sums() -> Iterator[pa.Table]:
    for part in range(7):
        yield pa.table({"part": [part] * (part + 1), "x": list(range(part + 1))})


DUE = [{"part": part, "total": 10 * sum(range(part + 1)) + 1} for part in range(7)]


def found(carrier: Any, work: Work, parts: Iterable[pa.Table]) -> list[dict[str, Any]]:
    return [row for table in carrier.carry(work, parts) for row in table.to_pylist()]


def test_what_becomes_of_each_part_comes_back(
    session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert found(SparkCarrier(session), SUMS, sums()) == DUE
    assert found(SparkCarrier(session), SUMS, iter(())) == []
    monkeypatch.setattr(spark, "WAVE", 1500)  # several jobs
    assert len(list(spark._waves((spark._packed(table), 0) for table in sums()))) > 2
    assert found(SparkCarrier(session), SUMS, sums()) == DUE


def test_no_type_of_ours_becomes_one_of_spark(session: Any) -> None:
    part = pa.table(
        {
            "part": pa.array([3, 4], pa.uint64()),
            "small": pa.array([1, None], pa.uint8()),
            "exact": pa.array([Decimal("12345678901234567890.125"), None], pa.decimal128(38, 3)),
            "nested": pa.array([[{"a": 1, "b": [None, 2]}], []]),
            "day": pa.array([date(2011, 10, 1), None]),
            "text": pa.array(["\u0000é\u202e", ""]),
            "half": pa.array([0.1, float("inf")]),
            "none": pa.array([None, None], pa.int16()),
        }
    )
    (carried,) = SparkCarrier(session).carry(WHOLE, [part])
    with InProcess() as own:
        (due,) = own.carry(WHOLE, [part])
    assert carried.equals(due)
    assert carried.schema == due.schema


def test_a_task_has_the_memory_that_it_is_given_and_spills_nothing(session: Any) -> None:
    settings = Work(
        "SELECT current_setting('memory_limit') AS m, current_setting('temp_directory') AS t, "
        "current_setting('threads') AS n",
        {},
        {},
    )
    one = [pa.table({"part": [0]})]
    assert found(SparkCarrier(session, "64MB"), settings, one) == [
        {"m": "61.0 MiB", "t": "", "n": 1}
    ]


def test_what_fails_in_a_task_is_told_in_one_line(session: Any) -> None:
    wrong = Work("SELECT error('no such luck')", {}, {})
    with pytest.raises(WarehouseError, match=r"a worker of Spark failed: .*no such luck") as told:
        found(SparkCarrier(session), wrong, sums())
    assert "\n" not in str(told.value)
    assert "at org." not in str(told.value)
    assert found(SparkCarrier(session), SUMS, sums()) == DUE  # the next work is another


def test_a_worker_with_another_srsql_is_refused(
    session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark, "identity", lambda: "srsql 9.9 (sources 0) on DuckDB 3")
    with pytest.raises(WarehouseError) as told:
        found(SparkCarrier(session), SUMS, sums())
    monkeypatch.undo()
    assert str(told.value) == (
        f"a worker of Spark failed: it has {spark.identity()}, and srsql 9.9 (sources 0) on "
        "DuckDB 3 asks it: install the same there"
    )


def test_a_worker_that_is_killed_is_replaced(session: Any) -> None:
    long = replace(SUMS, statement=COUNTED.format(SUMS.statement))
    with one_killed() as killed:
        assert found(SparkCarrier(session), long, sums()) == DUE
    assert len(killed) == 1


class Slow:
    """Spark, with time to kill a worker in the middle of its work."""

    def __init__(self, session: Any) -> None:
        self._spark = SparkCarrier(session)
        self.jobs = 0

    def carry(self, work: Work, parts: Iterable[pa.Table]) -> Iterator[pa.Table]:
        self.jobs += 1
        if self.jobs == 1:
            name = "statement" if isinstance(work, Work) else "found"
            work = replace(work, **{name: COUNTED.format(getattr(work, name))})
        yield from self._spark.carry(work, parts)


OWN = re.compile(r"srsql_data\..*|srsql\.(?!lake|ingestion|ingested_file)")
"""Tables that tell neither where rows lie nor when they were ingested."""
MODELS: dict[str, dict[str, Any]] = {
    "ms": {"theta": "0.4"},
    "ppms++": {"theta": "frequency"},
    "ppms-alpha": {"theta": "frequency", "assume_md": "all"},
}


def series(file: Path, model: str, **carried: Any) -> dict[str, Any]:
    """All that a warehouse holds once two quarters are out."""
    with Engine(file) as engine:
        for quarter in QUARTERS:
            engine.release(
                quarter, model=model, k=3, on_infeasible="withhold", parts="auto", seed=4,
                ids="original", **MODELS[model], **carried,
            )  # fmt: skip
        return content(engine.con)


@pytest.mark.parametrize("model", MODELS)
def test_a_series_is_the_same_row_by_row(
    model: str, session: Any, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts_module, "LEAST", 12)
    rng = random.Random(3)
    quarters = {name: arrivals(rng, i, 90) for i, name in enumerate(QUARTERS)}
    paths = [
        copied(kept / "series", tmp_path / f"{name}.duckdb", quarters)
        for name in ("local", "spark")
    ]
    carrier = Slow(session) if model == "ms" else SparkCarrier(session)
    local = series(paths[0], model)
    if isinstance(carrier, Slow):  # and a worker is lost meanwhile
        with one_killed() as killed:
            carried = series(paths[1], model, carrier=carrier)
        assert len(killed) == 1
        assert carrier.jobs > 3
    else:
        carried = series(paths[1], model, carrier=carrier)
    tables = [name for name, found in local.items() if found and name.startswith("srsql.")]
    assert {"srsql.region", "srsql.threshold", "srsql.member"} <= set(tables)
    for name in local:
        assert carried[name] == local[name], name
    assert carried.keys() == local.keys()


LAKE_MODELS: dict[str, dict[str, Any]] = {
    **{
        name: {"k": 3, "on_infeasible": "withhold", "parts": "auto", "ids": "original", **options}
        for name, options in MODELS.items()
    },
    "disassociation": {"k": 3},
}
KEYED = {"srsql.id_pseudonym", "srsql.series"}
"""Disassociation has pseudonyms, whose key is drawn for each warehouse."""


@pytest.mark.parametrize(
    ("model", "lost"), [*((model, False) for model in LAKE_MODELS), ("ppms++", True)]
)
def test_a_series_of_a_lake_is_the_same_row_by_row(
    model: str, lost: bool, session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regions, thresholds, clusters and withheld cases; a worker may be lost meanwhile."""
    monkeypatch.setattr(parts_module, "LEAST", 12)
    monkeypatch.setattr(disassociate, "CARRIED_RECORDS", 20)
    rng = random.Random(3)
    sources = [
        write_quarter(tmp_path, quarter, arrivals(rng, number, 90), deleted=[7, 33] * number)
        for number, quarter in enumerate(QUARTERS)
    ]
    held = []
    for name, lake in (("local", None), ("spark", tmp_path / "lake")):
        carrier = Seen(Slow(session) if lost else SparkCarrier(session))
        carried: dict[str, Any] = {} if lake is None else {"carrier": carrier}
        with Engine(tmp_path / f"{name}.duckdb") as engine:
            engine.ingest(sources, lake=lake)
            with one_killed() if lost and lake else nullcontext([0]) as killed:
                for quarter in QUARTERS:
                    engine.release(quarter, model=model, seed=4, **LAKE_MODELS[model], **carried)
            assert len(killed) == 1
            found = content(engine.con)
            held.append({name: found[name] for name in found if OWN.match(name)})
    local, spread = held
    assert local.keys() == spread.keys()
    for name in local.keys() - (KEYED if model == "disassociation" else set()):
        assert spread[name] == local[name], name
    due = {"srsql.region", "srsql.threshold", "srsql.member", "srsql.withheld"}
    if model == "disassociation":
        due = {"srsql.disassociated", "srsql_data.release_2_record_chunk", "srsql.member"}
    assert due <= {name for name, rows in local.items() if rows}
    assert carrier.carried == {BucketWork, Work}


class Seen:
    """A carrier, and what it carried."""

    def __init__(self, carrier: Any) -> None:
        self._carrier = carrier
        self.carried: set[type[Any]] = set()

    def carry(self, work: Any, parts: Iterable[pa.Table]) -> Iterator[pa.Table]:
        for found in self._carrier.carry(work, parts):
            self.carried.add(type(work))
            yield found


def test_the_chunks_of_clusters_are_the_same(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disassociate, "CARRIED_RECORDS", 100)
    rng = np.random.default_rng(11)
    desk = Desk()
    desk.put([{int(t) for t in rng.random(4) ** 2 * 40} for _ in range(400)], kept_apart={5})
    made = []
    for carrier in (None, SparkCarrier(session)):
        desk.run(4, 2, seed=3, order_seed=4, carrier=carrier)
        tables = ("chunk_term", "pub_record_chunk", "pub_shared_chunk", "pub_item_chunk")
        made.append([desk.rows(f"srsql_{table}") for table in tables])
    desk.close()
    assert made[0] == made[1]
    assert all(made[0])


def script(text: str, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", text, *map(str, arguments)],
        capture_output=True, text=True, timeout=600, env=os.environ | environment,
        cwd=Path(__file__).parents[2],
    )  # fmt: skip


COMMAND = """
import sys
from srsql.engine.grouping import parts
parts.LEAST = 12
from srsql.cli import main
sys.argv[0] = "srsql"
main()
"""
OPTIONS = ("release", "--quarter", "2011Q1:2011Q2", "--model", "ms", "--parts", "auto",
           "--seed", "1", "--ids", "original", "--quiet")  # fmt: skip


def test_the_command_says_nothing_of_spark_and_releases_the_same(tmp_path: Path) -> None:
    quarters = {name: crowd(120, 1 + 200 * i) for i, name in enumerate(QUARTERS)}
    held = []
    for name, asked in {"spark": ("--spark", "local[2]"), "here": ()}.items():
        file = copied(tmp_path / "kept", tmp_path / f"{name}.duckdb", quarters)
        made = script(COMMAND, *OPTIONS, *asked, "--json", "--db", file)
        assert (made.returncode, made.stderr) == (0, "")
        assert [each["quarter"] for each in json.loads(made.stdout)["released"]] == list(QUARTERS)
        with Engine(file, read_only=True) as engine:
            held.append(content(engine.con))
            (run,) = engine.status().runs
        assert run["parameters"].get("spark") == (asked[1] if asked else None)
    assert held[0] == held[1]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "here.duckdb",
        "kept",
        "spark.duckdb",
    ]


LOST = """
import sys
from dataclasses import replace
from srsql.engine.grouping import parts
from srsql.engine.extras.spark.carrier import SparkCarrier
parts.LEAST = 12
whole = SparkCarrier.carry
def slow(self, work, parts):
    return whole(self, replace(work, statement=sys.argv[1].format(work.statement)), parts)
SparkCarrier.carry = slow
del sys.argv[1]
from support.spark_workers import one_killed
from srsql.cli import main
with one_killed() as killed:
    try:
        main()
    finally:
        assert len(killed) == 1
"""


def test_where_spark_does_not_try_again_the_release_is_rolled_back(tmp_path: Path) -> None:
    quarters = {name: crowd(120, 1 + 200 * i) for i, name in enumerate(QUARTERS)}
    file = copied(tmp_path / "kept", tmp_path / "w.duckdb", quarters)
    with Engine(file) as engine:
        before = content(engine.con)
    made = script(LOST, COUNTED, *OPTIONS, "--spark", "local[2]", "--db", file)
    assert made.returncode == 2
    assert made.stderr.startswith("srsql: Spark did not carry the parts: it lost a worker at work")
    assert made.stderr.count("\n") == 1
    with Engine(file) as engine:
        assert content(engine.con) == before


CONNECT = """
import json, os, sys
from pathlib import Path
os.environ["PYSPARK_PYTHON"] = sys.executable
from pyspark.sql import SparkSession
session = SparkSession.builder.remote("local[2]").getOrCreate()
assert type(session).__module__.startswith("pyspark.sql.connect")
from srsql import Engine, SparkCarrier
from srsql.engine.errors import WarehouseError
from srsql.engine.grouping import parts
from srsql.engine.workers.carriers import Work
from support.released import content
parts.LEAST = 12
held = []
for file, asked in ((sys.argv[1], {}), (sys.argv[2], {"carrier": SparkCarrier(session)})):
    with Engine(file) as engine:
        engine.release_range("2011Q1:2011Q2", model="ms", parts="auto", seed=1, ids="original",
                             **asked)
        held.append(content(engine.con))
try:
    import pyarrow
    list(SparkCarrier(session).carry(Work("SELECT error('no such luck')", {}, {}),
                                     [pyarrow.table({"part": [0]})]))
except WarehouseError as error:
    print(json.dumps([held[0] == held[1], len(held[0]), str(error)]))
session.stop()
"""


def test_spark_connect_will_do(tmp_path: Path) -> None:
    pytest.importorskip("grpc_status", reason="pyspark[connect] is not installed")
    quarters = {name: crowd(120, 1 + 200 * i) for i, name in enumerate(QUARTERS)}
    files = [copied(tmp_path / "kept", tmp_path / f"{n}.duckdb", quarters) for n in "ab"]
    made = script(CONNECT, *files)
    assert made.returncode == 0, made.stderr
    same, tables, problem = json.loads(made.stdout.splitlines()[-1])
    assert same
    assert tables > 20
    assert problem.startswith("a worker of Spark failed: ")
    assert problem.endswith("no such luck")


def test_a_worker_without_srsql_is_told(tmp_path: Path) -> None:
    cloudpickle = pytest.importorskip("pyspark.cloudpickle")
    task = spark._task(b"", "srsql 0.2", "")
    (tmp_path / "task").write_bytes(cloudpickle.dumps(task))
    made = script(
        "import sys; sys.modules['srsql'] = None\n"
        "from pyspark import cloudpickle\n"
        "import pyarrow\n"
        "task = cloudpickle.loads(open(sys.argv[1], 'rb').read())\n"
        "print(task(pyarrow.table({'part': [7], 'data': [b'']})).to_pylist())\n",
        tmp_path / "task",
    )
    assert made.stderr == ""
    (answer,) = ast.literal_eval(made.stdout)
    assert (answer["part"], answer["found"]) == (7, None)
    assert answer["problem"].startswith("srsql 0.2 is not installed there for its Python (")
