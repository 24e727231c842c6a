"""Spark at an address (``--spark``): a session of ours, opened when there is something to carry.

Spark within this machine listens to this machine alone, keeps what it has to in the private folder
of the warehouse, encrypted, and starts workers with this interpreter. What it would print is not
shown: a failure comes back as an error of one line.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa

from srsql.engine.errors import WarehouseError, one_line, printable
from srsql.engine.extras.spark.carrier import SparkCarrier, reason, unwarned
from srsql.engine.store.doors import need
from srsql.engine.workers.carriers import Task

CONNECT = "sc"
"""The scheme of Spark Connect."""
CONNECT_PORT = 15002
PATIENCE = 10.0
"""Seconds for a server of Spark Connect to be there, which its client would ask for minutes."""
SETTINGS = {
    "spark.io.encryption.enabled": "true",
    "spark.log.level": "OFF",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
WITHIN = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:+ExitOnOutOfMemoryError",  # else it waits for ever
    "spark.driver.host": "127.0.0.1",
}
"""Of Spark within this machine."""


class SparkAt:
    """Carries parts to Spark at an address, as long as this lasts.

    Args:
        url: ``local[N]``, ``sc://HOST:PORT`` of Spark Connect, or another master of Spark.
        folder: where Spark within this machine may keep what it has to; None: where it does.
    """

    def __init__(self, url: str, folder: Path | None = None) -> None:
        self._url, self._folder = url, folder
        self._opened = ExitStack()
        self._carrier: SparkCarrier | None = None

    def __enter__(self) -> SparkAt:
        """Nothing is started yet.

        Raises:
            WarehouseError: pyspark is missing, or nobody is at the address.
        """
        need("pyspark", "--spark", WarehouseError)
        if self._url.startswith(f"{CONNECT}:"):
            _need_server(self._url)
        return self

    def __exit__(self, *_: object) -> None:
        """The session ends, and what it was doing."""
        self._carrier = None
        self._opened.close()

    def carry(self, work: Task, parts: Iterable[pa.Table]) -> Iterator[pa.Table]:
        """See :class:`~srsql.engine.workers.carriers.Carrier`."""
        waiting = iter(parts)
        first = next(waiting, None)
        if first is None:
            return
        if self._carrier is None:
            session = self._opened.enter_context(_session(self._url, self._folder))
            self._carrier = SparkCarrier(session)
        yield from self._carrier.carry(work, chain([first], waiting))


def _need_server(url: str) -> None:
    try:
        place = urlsplit(url)
        where = (place.hostname or "", place.port or CONNECT_PORT)
        if place.scheme != CONNECT or not where[0]:
            raise ValueError("give sc://HOST:PORT")
        socket.create_connection(where, timeout=PATIENCE).close()
    except (OSError, ValueError) as error:
        raise WarehouseError(f"{_option(url)}: nobody answers there: {one_line(error)}") from None


@contextmanager
def _session(url: str, folder: Path | None) -> Iterator[Any]:
    """A session of ours; it ends with the block.

    Raises:
        WarehouseError: there is one of somebody else's in this process, or none can be opened.
    """
    from pyspark.sql import SparkSession

    connect, within = url.startswith(f"{CONNECT}:"), url.startswith("local")
    try:
        builder = SparkSession.builder.appName("srsql")
        with unwarned(), _quietly(within=within):
            if connect:
                session = builder.remote(url).create()
            elif SparkSession.getActiveSession() is None:
                private = {"spark.local.dir": str(folder)} if within and folder else {}
                for name, value in (SETTINGS | (WITHIN if within else {}) | private).items():
                    builder = builder.config(name, value)
                session = builder.master(url).getOrCreate()
            else:
                session = None
    except Exception as error:
        needed = "" if connect else " (Spark needs Java 17 or later here)"
        raise WarehouseError(
            f"{_option(url)}: no session can be opened{needed}: {reason(error)}"
        ) from None
    if session is None:
        raise WarehouseError(
            f"{_option(url)}: this process has a session of Spark already: "
            "give carrier=SparkCarrier(session)"
        )
    try:
        yield session
    finally:
        with suppress(Exception):  # it may be gone
            session.stop()


def _option(url: str) -> str:
    return f"--spark {printable(url[:60])}"


@contextmanager
def _quietly(*, within: bool) -> Iterator[None]:
    """While Spark starts: what its JVM would print goes nowhere, then and later, and Ctrl-C stays
    ours, which it would take.

    ``within``: workers are processes of this machine; they find modules where this one does.
    """
    found = {
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    before = {name: os.environ.get(name) for name in found}
    main = threading.current_thread() is threading.main_thread()
    taken = signal.getsignal(signal.SIGINT) if main else None
    streams = {number: os.dup(number) for number in (1, 2)}
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        if within:
            os.environ.update(found)
        for number in streams:
            os.dup2(nowhere, number)
        yield
    finally:
        for number, stream in streams.items():
            os.dup2(stream, number)
            os.close(stream)
        os.close(nowhere)
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        if taken is not None:
            signal.signal(signal.SIGINT, taken)
