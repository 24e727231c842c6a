"""Spark carries parts, 4.0 or later: one at a time in a task, by public interfaces of Arrow alone.

A part goes to Spark as one row: its number, and itself as a stream of Arrow in a binary column, so
that no type of ours becomes one of Spark's and back. Rows are spread by their number, since Spark
would put small ones into one task, and ``groupBy("part").applyInArrow`` has one at a time in
memory. In the task DuckDB works on it in memory, with the macros and kernels of the srsql that is
installed there, which has to be this one: version, statements and kernels are compared. No object
of the JVM is touched, so Spark Connect will do.

What fails in a task comes back as its answer, in one line, and is not tried again. A worker that is
killed is Spark's to replace: it tries again as often as its session says (``local[2]`` does not,
``local[2,4]`` does), or the whole job fails, and whoever asked for it rolls back. A task keeps
nothing and writes nothing, so that trying again changes nothing.

Source: SPEC section 17.
"""

from __future__ import annotations

import hashlib
import pickle
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from srsql import udfs
from srsql.engine.errors import WarehouseError, one_line, printable
from srsql.engine.store.definitions import definitions
from srsql.engine.workers.carriers import Task, database_of_a_part
from srsql.version import __version__

OLDEST = 4
"""Major version of Spark: the first with these interfaces."""
WAVE = 16 * 2**20
"""Bytes of parts that one job has, as they are sent; a part that takes more has a job of its own.
The driver of Spark has them several times over, by default in 1 GiB."""
LARGEST = 2**31 - 2**24
"""Bytes of a part at most: Spark has a row in one piece."""
ANSWER = "part int, found binary, problem string"
"""The columns of what comes back of each part: what became of it, or why not."""
_STACK = re.compile(r"\s*(at |File \"|\^+|\.\.\. \d+ more|Traceback |JVM stacktrace|$)")
_RAISED = re.compile(r"(Caused by: )?([\w$]+\.)*(?P<said>\w+(Error|Exception): .*)")
_LOST = re.compile(r"Python worker exited unexpectedly|ExecutorLostFailure", re.IGNORECASE)


class SparkCarrier:
    """Carries parts to the workers of a Spark session, which stays open.

    Parts are originals, with numbers in the place of names; what comes back of a bucket of a lake
    has ids and terms as they are. Whoever can read what the cluster sends or keeps on its disks can
    read them, so it has to be guarded like the warehouse.

    Args:
        session: of Spark or Spark Connect, 4.0 or later.
        memory_limit: what DuckDB may take in a task, such as ``"2GB"``; empty: what is there.

    Raises:
        WarehouseError: it is no such session.
    """

    def __init__(self, session: Any, memory_limit: str = "") -> None:
        self._session, self._limit = session, memory_limit
        version = str(getattr(session, "version", ""))
        major = version.partition(".")[0]
        if not (major.isdigit() and hasattr(session, "createDataFrame")):
            raise WarehouseError(
                f"SparkCarrier({printable(repr(session)[:60])}): give a session of Spark"
            )
        if int(major) < OLDEST:
            raise WarehouseError(f"this is Spark {version}, and {OLDEST}.0 or later is needed")

    def carry(self, work: Task, parts: Iterable[pa.Table]) -> Iterator[pa.Table]:
        """See :class:`~srsql.engine.workers.carriers.Carrier`.

        Raises:
            WarehouseError: a worker has no srsql, or another one; the work failed, or Spark did.
        """
        task = _task(pickle.dumps(work, protocol=5), identity(), self._limit)
        for wave in _waves((_packed(part), work.weight(part)) for part in parts):
            answers = self._answers(task, wave)
            problems = answers.column("problem").drop_null()
            if len(problems):
                raise WarehouseError(f"a worker of Spark failed: {problems[0].as_py()}")
            numbers = answers.column("part").to_pylist()
            if sorted(numbers) != list(range(len(wave))):
                raise WarehouseError(
                    f"Spark brought back {len(numbers):,} parts of {len(wave):,}: run it again"
                )
            for place in sorted(range(len(wave)), key=numbers.__getitem__):
                yield _unpacked(answers.column("found")[place].as_buffer())

    def _answers(self, task: Callable[[pa.Table], pa.Table], wave: list[bytes]) -> pa.Table:
        """What becomes of some parts, in the columns of ``ANSWER``."""
        numbers = pa.array(range(len(wave)), pa.int32())
        rows = pa.table({"part": numbers, "data": pa.array(wave, pa.binary())})
        try:
            with unwarned():
                sent = self._session.createDataFrame(rows).repartition(len(wave), "part")
                return sent.groupBy("part").applyInArrow(task, ANSWER).toArrow()
        except Exception as error:  # of pyspark, py4j, gRPC or a server, each of its own kind
            raise WarehouseError(f"Spark did not carry the parts: {reason(error)}") from None


def _task(work: bytes, here: str, limit: str) -> Callable[[pa.Table], pa.Table]:
    """What is done where a part is carried. It is sent by value and brings its own words, since
    srsql may be missing there."""

    def task(group: pa.Table) -> pa.Table:
        import pyarrow

        found: bytes | None = None
        problem: str | None
        try:
            from srsql.engine.extras.spark.carrier import answered
        except ImportError as error:
            problem = f"{here} is not installed there for its Python ({error})"
        else:
            found, problem = answered(work, here, limit, group.column("data")[0].as_py())
        return pyarrow.table(
            {
                "part": group.column("part"),
                "found": pyarrow.array([found], pyarrow.binary()),
                "problem": pyarrow.array([problem], pyarrow.string()),
            }
        )

    return task


def answered(work: bytes, here: str, limit: str, part: bytes) -> tuple[bytes | None, str | None]:
    """Where a part is carried: what becomes of it, or why nothing does.

    Args:
        work: pickled.
        here: the :func:`identity` of whoever asks.
        limit: of memory, as DuckDB takes it; empty: none.
        part: as a stream of Arrow, and so is what becomes of it.
    """
    if here != identity():
        return None, f"it has {identity()}, and {here} asks it: install the same there"
    try:
        made: Task = pickle.loads(work)
        return _packed(made.on(_own(limit), _unpacked(part))), None
    except Exception as error:  # whatever it is, whoever asked for it tells it
        _own.cache_clear()
        return None, one_line(error) or type(error).__name__


@cache
def identity() -> str:
    """What a worker has to have in common with whoever asks: srsql with its statements and kernels,
    and what runs them."""
    from srsql.udfs.caches import digest_of

    kernels = digest_of(Path(str(udfs.__file__)).parent)
    digest = hashlib.sha256(f"{definitions()}/{kernels}".encode()).hexdigest()
    return f"srsql {__version__} (sources {digest[:12]}) on DuckDB {duckdb.__version__}"


_own = cache(database_of_a_part)
"""The database of a worker, for one part after the other."""


def reason(error: BaseException) -> str:
    """One line on an error of Spark's, of whose stack nobody here has any use."""
    text = str(error)
    if _LOST.search(text):
        return (
            "it lost a worker at work, as often as it may try (out of memory?); run it again, with "
            "more memory for workers, or with more --parts"
        )
    lines = [line.strip(" :") for line in text.splitlines() if not _STACK.match(line)]
    raised = [found for line in lines if (found := _RAISED.match(line))]
    said = raised[-1]["said"] if raised else (lines or [type(error).__name__])[0]
    return one_line(ValueError(said))


def _waves(parts: Iterable[tuple[bytes, int]]) -> Iterator[list[bytes]]:
    """Parts of about ``WAVE`` bytes together, with the weight of each.

    Raises:
        WarehouseError: Spark cannot carry one.
    """
    wave: list[bytes] = []
    size = 0
    for part, weight in parts:
        if len(part) > LARGEST:
            raise WarehouseError(
                f"a part takes {len(part) >> 20:,} MiB, and Spark carries {LARGEST >> 20:,} at "
                "most: give more --parts, or leave Spark out"
            )
        more = len(part) + weight
        if wave and size + more > WAVE:
            yield wave
            wave, size = [], 0
        wave.append(part)
        size += more
    if wave:
        yield wave


def _packed(table: pa.Table) -> bytes:
    """A table as a stream of Arrow."""
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with pa.ipc.new_stream(sink, table.schema, options=options) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


def _unpacked(data: pa.Buffer | bytes) -> pa.Table:
    with pa.ipc.open_stream(data) as stream:
        return stream.read_all()


@contextmanager
def unwarned() -> Iterator[None]:
    """Spark's doubts about a version of pandas concern nobody: only Arrow is asked."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support", FutureWarning)
        yield
