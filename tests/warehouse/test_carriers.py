"""Who carries parts: what comes back is the same, nothing is left running, failures are told."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from support.quarters import crowd, write_quarter

from srsql.engine.api.engine import Engine
from srsql.engine.errors import WarehouseError
from srsql.engine.grouping import parts as parts_module
from srsql.engine.store.warehouse import Warehouse
from srsql.engine.workers import carriers
from srsql.engine.workers.carriers import (
    Carrier,
    InProcess,
    LocalWorkers,
    Work,
    database_of_a_part,
    local_carrier,
)

pytestmark = pytest.mark.slow

SUMS = Work(
    "SELECT c.part, sum(c.x * f.x)::BIGINT + $more AS total FROM temp.main.srsql_part_row AS c "
    "CROSS JOIN temp.main.srsql_factor AS f GROUP BY c.part",
    {"srsql_factor": pa.table({"x": [10]})},
    {"more": 1},
)
DUE = [(part, 10 * sum(range(part + 1)) + 1) for part in range(7)]


def parts() -> Iterator[pa.Table]:
    for part in range(7):
        yield pa.table({"part": [part] * (part + 1), "x": list(range(part + 1))})


def totals(carrier: Carrier, work: Work = SUMS) -> list[tuple[int, int]]:
    found = list(carrier.carry(work, parts()))
    return sorted((row["part"], row["total"]) for table in found for row in table.to_pylist())


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.thorough
def test_every_carrier_brings_back_what_becomes_of_each_part() -> None:
    with LocalWorkers(2) as workers:
        assert totals(workers) == DUE
        more = Work(SUMS.statement, SUMS.shared, {"more": 5})
        assert totals(workers, more) == [(part, total + 4) for part, total in DUE]
        pids = [process.pid for process in workers._running]
    assert len(pids) == 2
    assert not any(map(alive, pids))
    with InProcess() as own:
        assert totals(own) == DUE


def test_no_worker_is_started_for_nothing() -> None:
    with LocalWorkers(3) as workers:
        assert list(workers.carry(SUMS, iter(()))) == []
        assert workers._running == []


@pytest.mark.thorough
def test_what_fails_in_a_worker_is_told_in_one_line() -> None:
    wrong = Work("SELECT error('no such luck')", {}, {})
    with (
        LocalWorkers(1) as workers,
        pytest.raises(WarehouseError, match=r"a worker process failed: .*no such luck") as told,
    ):
        totals(workers, wrong)
    assert "\n" not in str(told.value)


@pytest.mark.thorough
def test_a_worker_that_is_killed_is_told_and_the_others_end() -> None:
    with LocalWorkers(2) as workers:
        coming = workers.carry(SUMS, parts())
        next(coming)
        pids = [process.pid for process in workers._running]
        os.kill(pids[0], signal.SIGKILL)
        with pytest.raises(WarehouseError, match="a worker process ended by signal 9"):
            list(coming)
    assert not any(map(alive, pids))


@pytest.mark.thorough
def test_what_nobody_took_is_no_answer_of_other_work() -> None:
    more = Work(SUMS.statement, SUMS.shared, {"more": 5})
    with LocalWorkers(2) as workers:
        coming = workers.carry(SUMS, parts())
        next(coming)
        coming.close()  # while both are at work
        assert totals(workers, more) == [(part, total + 4) for part, total in DUE]


def test_all_who_carry_share_half_of_the_limit_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[str] = []
    monkeypatch.setattr(carriers, "LocalWorkers", lambda n, limit: limits.append(limit) or own)
    own = InProcess()
    with Warehouse(":memory:", memory_limit="1400MiB") as warehouse:
        with local_carrier(warehouse, 4):
            half = warehouse.value("SELECT current_setting('memory_limit')")
        whole = warehouse.value("SELECT current_setting('memory_limit')")
    assert limits == [f"{1000 * 2**20 // 8}B"]
    assert (half, whole) == ("500.0 MiB", "1000.0 MiB")
    with InProcess("64MB") as limited:
        list(limited.carry(SUMS, parts()))
        assert limited._own is not None
        assert limited._own.value("SELECT current_setting('memory_limit')") == "61.0 MiB"


@pytest.mark.thorough
def test_a_release_whose_worker_is_killed_leaves_the_warehouse_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts_module, "LEAST", 12)
    received = LocalWorkers._received

    def kill(self: LocalWorkers, process: object) -> pa.Table:
        self._running[-1].kill()
        return received(self, process)  # type: ignore[arg-type]

    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest(write_quarter(tmp_path, "2011Q4", crowd(120)))
        options = {"model": "ms", "parts": "auto", "workers": 2, "seed": 1}
        with monkeypatch.context() as killing:
            killing.setattr(LocalWorkers, "_received", kill)
            with pytest.raises(WarehouseError, match="a worker process ended"):
                engine.release("2011Q4", **options)
        assert engine.con.execute("SELECT count(*) FROM srsql.release").fetchall() == [(0,)]
        assert engine.release("2011Q4", **options).rows["demo"] == 120


def test_a_part_that_is_too_large_is_an_error_and_is_written_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with database_of_a_part("40MB") as own, pytest.raises(duckdb.OutOfMemoryException):
        own.run("CREATE TEMP TABLE large AS SELECT r.range AS a FROM range(20_000_000) AS r")
    assert list(tmp_path.iterdir()) == []
