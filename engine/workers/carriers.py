"""Who carries work that falls into parts: this process, or worker processes of this machine.

A part is an Arrow table, and so is what becomes of it; in between lies a statement that runs in a
database in memory with our macros and kernels, and knows nothing but the part and what all parts
share. So the result depends on the parts alone, never on who carries them, in which order, or how
many at once. A carrier needs one method, :meth:`Carrier.carry`: that of a cluster is in
:mod:`srsql.engine.extras.spark.carrier`.

Source: SPEC section 17.
"""

from __future__ import annotations

import os
import pickle
import subprocess
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import IO, TYPE_CHECKING, Any, Protocol, runtime_checkable

from srsql.engine.errors import WarehouseError, one_line
from srsql.engine.store.warehouse import Warehouse
from srsql.udfs.kernels import command_for

if TYPE_CHECKING:
    import pyarrow as pa

ADDRESSES = "local[N], sc://HOST:PORT or spark://HOST:PORT"
"""How --spark names where parts are carried."""
PART = "srsql_part_row"
"""The temporary table that a part is, where it is carried."""
CARRIED = "srsql_carried"
"""The temporary table that all of them come back as."""


class Task(Protocol):
    """What becomes of every part; it can be sent to wherever a part is carried."""

    def on(self, own: Warehouse, part: pa.Table) -> pa.Table:
        """What becomes of one part, in a database in memory (``database_of_a_part``)."""

    def weight(self, part: pa.Table) -> int:
        """About how many bytes come back of a part beyond those that it has itself."""


@dataclass(frozen=True)
class Work:
    """A statement is what becomes of every part (see :class:`Task`)."""

    statement: str
    """A query about ``temp.main.srsql_part_row`` and the shared tables."""
    shared: Mapping[str, pa.Table]
    """What all parts need, by the names of temporary tables."""
    parameters: Mapping[str, Any]
    """Of the statement."""

    def on(self, own: Warehouse, part: pa.Table) -> pa.Table:
        """See :class:`Task`."""
        tables = {**self.shared, PART: part}
        for name, table in tables.items():
            own.con.register(name, table)
        try:
            found = own.con.sql(self.statement, params=dict(self.parameters))
            return found.to_arrow_table()
        finally:
            for name in tables:
                own.con.unregister(name)

    def weight(self, part: pa.Table) -> int:
        """What comes back is no larger than the part."""
        return 0


@runtime_checkable
class Carrier(Protocol):
    """Carries parts to where the work is done, and back."""

    def carry(self, work: Task, parts: Iterable[pa.Table]) -> Iterator[pa.Table]:
        """What becomes of each part, in any order.

        Args:
            work: what is to be done.
            parts: taken one after the other, as soon as there is somebody for the next one.
        """


def carry_rows(
    warehouse: Warehouse,
    carrier: Carrier,
    work: Work,
    rows: str,
    parameters: Mapping[str, Any],
    take: Sequence[str],
) -> bool:
    """Have each row of a query carried as a part, and take in what becomes of all of them.

    Args:
        warehouse: where the rows are.
        carrier: who carries them.
        work: what is to be done.
        rows: the query.
        parameters: of the query.
        take: statements about ``srsql_carried``, which has what becomes of all parts.

    Returns:
        Whether there was a part at all; else no statement was run.
    """
    import pyarrow as pa

    with closing(_each(warehouse, rows, parameters)) as parts:
        found = list(carrier.carry(work, parts))
    if not found:
        return False
    warehouse.con.register(CARRIED, pa.concat_tables(found))
    try:
        for statement in take:
            warehouse.run(statement)
    finally:
        warehouse.con.unregister(CARRIED)
    return True


def _each(
    warehouse: Warehouse, rows: str, parameters: Mapping[str, Any]
) -> Generator[pa.Table, None, None]:
    """One table a row, in their order."""
    import pyarrow as pa

    with warehouse.con.sql(rows, params=dict(parameters)).to_arrow_reader(1) as reader:
        for batch in reader:
            for row in range(batch.num_rows):
                yield pa.Table.from_batches([batch.slice(row, 1)])


@contextmanager
def local_carrier(warehouse: Warehouse, workers: int) -> Iterator[Carrier]:
    """This process where one is enough, or so many workers, as long as this lasts.

    Of a limit of memory that the warehouse has, all of them together take half meanwhile.
    """
    with warehouse.beside_another():
        share = warehouse.limits.settings().get("memory_limit")
        limit = f"{int(share[:-1]) // (2 * workers)}B" if share else ""
        with InProcess(limit) if workers == 1 else LocalWorkers(workers, limit) as found:
            yield found


class InProcess:
    """One part after the other, in this process.

    Args:
        limit: of memory, as DuckDB takes it; empty: none.
    """

    def __init__(self, limit: str = "") -> None:
        self._limit = limit
        self._own: Warehouse | None = None

    def __enter__(self) -> InProcess:
        """The database is opened when there is something to carry."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        if self._own is not None:
            self._own.close()
            self._own = None

    def carry(self, work: Task, parts: Iterable[pa.Table]) -> Iterator[pa.Table]:
        """See :class:`Carrier`."""
        self._own = self._own or database_of_a_part(self._limit)
        for part in parts:
            yield work.on(self._own, part)


class LocalWorkers:
    """Worker processes of this machine, each with a database in memory; they end with the block.

    They are started when there is something to carry. One whose pipe closes ends by itself, so that
    none outlives this process, however it ends.

    Args:
        workers: how many at once.
        limit: of the memory of each, as DuckDB takes it; empty: none.
    """

    def __init__(self, workers: int, limit: str = "") -> None:
        self._workers, self._limit = workers, limit
        self._running: list[subprocess.Popen[bytes]] = []
        self._busy: dict[Any, int] = {}

    def __enter__(self) -> LocalWorkers:
        """Nothing is started yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """End them, whatever they do."""
        for process in self._running:
            process.kill()
            for pipe in (process.stdin, process.stdout):
                with suppress(OSError):
                    _open(pipe).close()
            process.wait()
        self._running.clear()
        self._busy.clear()

    def carry(self, work: Task, parts: Iterable[pa.Table]) -> Iterator[pa.Table]:
        """See :class:`Carrier`.

        Raises:
            WarehouseError: a worker failed or was ended.
        """
        try:
            yield from self._carried(work, iter(parts))
        finally:
            if self._busy:  # nobody may take what they would answer for that of another work
                self.__exit__()

    def _carried(self, work: Task, waiting: Iterator[pa.Table]) -> Iterator[pa.Table]:
        idle = list(range(self._workers))
        told: set[int] = set()
        while True:
            while idle and (part := next(waiting, None)) is not None:
                number = idle.pop(0)
                process = self._process(number)
                self._busy[_open(process.stdout)] = number
                self._send(process, (None if number in told else work, part))
                told.add(number)
            if not self._busy:
                return
            for pipe in wait(list(self._busy)):
                number = self._busy.pop(pipe)
                idle.append(number)
                yield self._received(self._running[number])

    def _process(self, number: int) -> subprocess.Popen[bytes]:
        """The worker of that number; it finds modules where this process does."""
        while len(self._running) <= number:
            command = command_for(serve, self._limit)
            self._running.append(
                subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
            )
        return self._running[number]

    def _send(self, process: subprocess.Popen[bytes], message: Any) -> None:
        try:
            _write(_open(process.stdin), message)
        except OSError:
            raise _ended(process) from None

    def _received(self, process: subprocess.Popen[bytes]) -> pa.Table:
        try:
            found = _read(_open(process.stdout))
        except (EOFError, OSError):
            raise _ended(process) from None
        if isinstance(found, str):
            raise WarehouseError(f"a worker process failed: {found}")
        return found


def _ended(process: subprocess.Popen[bytes]) -> WarehouseError:
    code = process.wait()
    how = f"by signal {-code} (out of memory?)" if code < 0 else f"with exit code {code}"
    return WarehouseError(f"a worker process ended {how}: run it again, or with fewer --workers")


def serve(limit: str) -> None:
    """Be a worker with so much memory: answer each message on standard input."""
    import signal

    with suppress(ValueError):  # whoever started it decides when it ends
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # what anybody prints is no answer
    messages = os.fdopen(os.dup(0), "rb", buffering=0)
    work: Task | None = None
    with database_of_a_part(limit) as own, suppress(EOFError, BrokenPipeError):
        while True:
            new, part = _read(messages)
            work = new or work
            try:
                found: pa.Table | str = work.on(own, part) if work else "there is no work"
            except Exception as error:  # whatever it is, whoever asked for it tells it
                found = one_line(error)
            _write(answers, found)


def database_of_a_part(limit: str = "") -> Warehouse:
    """A database in memory with our macros and kernels; kernels take one thread anyway.

    It spills nothing of a part, since the folder that its process is in may be anybody's.
    """
    own = Warehouse(":memory:", threads=1)
    if limit:
        own.run("SET memory_limit = ?", [limit])
    return own


def _write(pipe: IO[bytes], message: Any) -> None:
    """One message: its length, then what was made here and is read by nobody but us."""
    data = pickle.dumps(message, protocol=5)
    rest = memoryview(len(data).to_bytes(8, "big") + data)
    while rest:
        rest = rest[pipe.write(rest) :]


def _read(pipe: IO[bytes]) -> Any:
    """One message.

    Raises:
        EOFError: there is none.
    """
    return pickle.loads(_exactly(pipe, int.from_bytes(_exactly(pipe, 8), "big")))


def _exactly(pipe: IO[bytes], size: int) -> bytearray:
    found = bytearray()
    while len(found) < size:
        some = pipe.read(size - len(found))
        if not some:
            raise EOFError
        found += some
    return found


def _open(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe
