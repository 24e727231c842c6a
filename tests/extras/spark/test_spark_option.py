"""What is refused of ``--spark`` and carriers, and what is said of Spark's errors; without it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from support.command import srsql
from support.quarters import crowd, write_quarter
from support.released import content

from srsql import Engine, SparkCarrier
from srsql.engine.errors import ReleaseError, WarehouseError
from srsql.engine.extras.spark import carrier as spark
from srsql.engine.extras.spark.carrier import reason
from srsql.engine.grouping import parts as parts_module
from srsql.engine.terms import disassociate
from srsql.engine.workers.carriers import InProcess, Work


class Counted(InProcess):
    """Does the work here, and counts the parts."""

    parts = 0

    def carry(self, work: Work, parts: Iterable[pa.Table]) -> Iterator[pa.Table]:
        for found in super().carry(work, parts):
            self.parts += 1
            yield found


@contextmanager
def of_a_quarter(folder: Path) -> Iterator[Engine]:
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest(write_quarter(folder, "2011Q4", crowd(60)))
        yield engine


@pytest.fixture
def loaded(tmp_path: Path) -> Iterator[Engine]:
    with of_a_quarter(tmp_path) as engine:
        yield engine


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """One for all that is refused, which changes nothing."""
    with of_a_quarter(tmp_path_factory.mktemp("untouched")) as engine:
        yield engine


@pytest.mark.thorough
def test_a_carrier_of_the_caller_gets_the_parts_and_stays_open(
    loaded: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts_module, "LEAST", 12)
    with Counted() as own:
        loaded.release("2011Q4", model="ms", parts="auto", carrier=own)
        once = own.parts
        loaded.release_range("2011Q4:2011Q4", model="ms", parts="auto", series="b", carrier=own,
                             allow_linkable=True)  # fmt: skip
        assert own._own is not None
    assert once > 1
    assert own.parts > once


@pytest.mark.thorough
@pytest.mark.parametrize(
    "options", [{"model": "disassociation"}, {"model": "ms", "theta": "1", "terms": "disassociate"}]
)
def test_clusters_of_terms_are_carried_whatever_the_parts(
    options: dict[str, Any], loaded: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disassociate, "CARRIED_RECORDS", 12)
    clusters = []
    with Counted() as own:
        for series, carrier in (("a", None), ("b", own)):
            loaded.release("2011Q4", k=4, seed=1, series=series, allow_linkable=True,
                           carrier=carrier, **options)  # fmt: skip
            schema = f"release_{series}_2011q4"
            clusters.append(loaded.sql(
                "SELECT c.* EXCLUDE (cluster), list_sort(list(i.term)) "
                f"FROM {schema}.clusters AS c "
                f"LEFT JOIN {schema}.item_chunk AS i ON c.cluster = i.cluster "
                "GROUP BY ALL ORDER BY ALL"
            ))  # fmt: skip
    assert own.parts > 1
    assert clusters[0] == clusters[1]
    assert all(clusters[0])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"spark": "local[2]", "parts": "auto", "workers": 2}, "--spark takes the place of --work"),
        ({"carrier": InProcess(), "parts": "2", "workers": 2}, "a carrier takes the place of --wo"),
        (
            {"spark": "local[2]"},
            "with --parts 1 there is one, so that nothing would be spread: giv",
        ),
        ({"carrier": InProcess(), "parts": 1}, "a carrier is for parts, and with --parts 1 there"),
        ({"spark": "local[2]", "model": "full-domain"}, "the model full-domain makes none: leave "),
        ({"spark": "local[2]", "model": "cba"}, "the model cba makes none: leave it out"),
        ({"spark": "local[2]", "parts": "auto", "carrier": InProcess()}, "--spark takes the place"),
        ({"carrier": "local[2]", "parts": "auto"}, "--carrier 'local[2]': give a carrier, such as"),
    ],
)
def test_what_would_carry_nothing_is_refused(
    options: dict[str, Any], words: str, untouched: Engine
) -> None:
    before = content(untouched.con)
    with pytest.raises(ReleaseError) as told:
        untouched.release("2011Q4", **{"model": "ms", **options})
    assert words in str(told.value)
    assert content(untouched.con) == before


@pytest.mark.slow
def test_without_pyspark_the_extra_is_named(
    loaded: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(WarehouseError, match=r"not installed: pip install 'srsql\[spark\]'$"):
        loaded.release("2011Q4", model="ms", parts="auto", spark="local[2]")


@pytest.mark.slow
def test_nothing_of_an_address_that_is_not_there_is_opened(loaded: Engine) -> None:
    pytest.importorskip("pyspark", reason="the extra srsql[spark] is not installed")
    with pytest.raises(WarehouseError, match=r"^--spark sc://127\.0\.0\.1:9: nobody answers there"):
        loaded.release("2011Q4", model="ms", parts="auto", spark="sc://127.0.0.1:9")


def test_a_token_is_no_argument(tmp_path: Path) -> None:
    answer = srsql("release", "--quarter", "2011Q4", "--db", tmp_path / "none.duckdb",
                   "--spark", "sc://host/;use_ssl=true;token=secret")  # fmt: skip
    assert answer.code == 2
    assert "SPARK_CONNECT_AUTHENTICATE_TOKEN" in answer.err
    assert "secret" not in answer.err


class Session:
    """What tells its version, and has nothing else of a session."""

    version = "3.5.1"
    createDataFrame = None  # noqa: N815


def test_only_a_session_of_spark_4_is_taken() -> None:
    with pytest.raises(WarehouseError, match=r"^this is Spark 3\.5\.1, and 4\.0 or later"):
        SparkCarrier(Session())
    with pytest.raises(WarehouseError, match=r"give a session of Spark$"):
        SparkCarrier("local[2]\x1b[2J")


JAVA = """An error occurred while calling None.org.apache.spark.api.java.JavaSparkContext.
: org.apache.spark.SparkException: Could not parse Master URL: 'nonsense'
\tat org.apache.spark.SparkContext$.createTaskScheduler(SparkContext.scala:3)
\tat java.base/java.lang.Thread.run(Thread.java:840)
"""
CAUSED = (
    JAVA
    + """Caused by: java.net.ConnectException: Connection refused: host\x1b]0;x\x07
\t... 20 more
"""
)
PYTHON = """
  An exception was thrown from the Python worker. Please see the stack trace below.
[PYTHON_EXCEPTION] An exception was thrown from the worker: Traceback (most recent call last):
  File "/opt/worker.py", line 27, in main
    import pyarrow
    ^^^^^^^^^^^^^^
ModuleNotFoundError: No module named 'pyarrow'
 SQLSTATE: 38000
"""
LOST = """An error occurred while calling o244.getResult.
: org.apache.spark.SparkException: Exception thrown in awaitResult:
Caused by: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 17.0
failed 1 times, most recent failure: Lost task 0.0 in stage 17.0 (TID 35) (192.0.2.2 executor
driver): org.apache.spark.SparkException: Python worker exited unexpectedly (crashed).
"""


@pytest.mark.parametrize(
    ("text", "due"),
    [
        (JAVA, "SparkException: Could not parse Master URL: 'nonsense'"),
        (CAUSED, "ConnectException: Connection refused: host\\x1b]0;x\\x07"),
        (PYTHON, "ModuleNotFoundError: No module named 'pyarrow'"),
        ("[A_CODE] Some words.\nMore words.", "[A_CODE] Some words."),
        ("", "ValueError"),
    ],
)
def test_one_line_says_what_spark_says_in_many(text: str, due: str) -> None:
    assert reason(ValueError(text)) == due


def test_a_worker_that_was_lost_is_told_as_such() -> None:
    assert reason(ValueError(LOST)).startswith("it lost a worker at work, as often as it may try")


def test_parts_go_in_waves_and_one_that_is_too_large_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(spark, "WAVE", 10)
    parts = [(bytes(size), weight) for size, weight in ((4, 0), (4, 0), (4, 0), (30, 0), (1, 0))]
    waves = [[len(part) for part in wave] for wave in spark._waves(parts)]
    assert waves == [[4, 4], [4], [30], [1]]
    files = [(bytes(1), weight) for weight in (5, 3, 3, 20, 1)]  # what comes back counts as well
    assert [len(wave) for wave in spark._waves(files)] == [2, 1, 1, 1]
    monkeypatch.setattr(spark, "LARGEST", 3 * 2**20)
    with pytest.raises(WarehouseError, match="a part takes 4 MiB, and Spark carries 3 at most"):
        list(spark._waves([(bytes(4 * 2**20), 0)]))


def test_what_is_answered_is_a_table_or_one_line() -> None:
    work = spark.pickle.dumps(
        Work("SELECT p.x + 1 AS x FROM temp.main.srsql_part_row AS p", {}, {})
    )
    part = spark._packed(pa.table({"x": [1, None]}))
    found, problem = spark.answered(work, spark.identity(), "", part)
    assert problem is None
    assert found is not None
    assert spark._unpacked(found).to_pydict() == {"x": [2, None]}
    wrong = spark.pickle.dumps(Work("SELECT error('a\nb')", {}, {}))
    found, problem = spark.answered(wrong, spark.identity(), "", part)
    assert found is None
    assert problem is not None
    assert problem.endswith("a b")
    assert spark.answered(b"", "srsql 9.9", "", part)[1] == (
        f"it has {spark.identity()}, and srsql 9.9 asks it: install the same there"
    )
    spark._own.cache_clear()
