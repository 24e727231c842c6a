"""The public file of a series: what is out of it, in a file of its own beside the warehouse.

Whoever can read a warehouse can read the originals in it. A warehouse that is split keeps a second
file for each series that is to be read by others: the released rows, the public manifests, the
macros, and the catalog as the published rows show it. Nothing is ever taken out of that file; it is
written anew beside the one that there is and takes its name in one step, so that readers see the
state of before or of after, and that no block of it holds what was erased.

DuckDB writes one file a transaction. So the warehouse is committed first; it says which public
files there are, and each of these says itself what was out when it was made. Where the two differ
(a kill came between, the file is missing, a backup took the place of the warehouse), the next
command that writes the warehouse makes the file anew.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import duckdb
import pyarrow as pa

from srsql.engine.catalog.datasets import registered_dataset
from srsql.engine.catalog.public_database import PublicSeries, fill_releases, rows_of
from srsql.engine.catalog.series import FOREIGN, ORIGINAL, Series, find_series
from srsql.engine.errors import BusyError, WarehouseError, one_line
from srsql.engine.parameters import MAIN
from srsql.engine.release.exposure import unshared
from srsql.engine.release.series import refresh_series_views
from srsql.engine.shapes import series_dataset
from srsql.engine.steward.public_catalog import TOPIC, Shown, copy_facts, lay_out
from srsql.engine.store.database_file import (
    NO_LIMITS,
    NOW,
    Limits,
    Wait,
    attached,
    make,
    need_usable,
)
from srsql.engine.store.definitions import definitions
from srsql.engine.store.scratch import private_folder, sync
from srsql.engine.store.statements import query
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

STORAGE = "v1.5.0"
"""Oldest DuckDB that can read a public file. Under v1.4.0 and before DuckDB keeps no MATERIALIZED
of a macro, by which audits would compute their parts again and again."""
RETRY = "the next command that writes the warehouse, or 'srsql split', makes it anew"


@dataclass(frozen=True)
class PublicFile:
    """The public file of a series."""

    dataset: str
    series: str
    path: str
    quarters: list[str]
    """That it holds."""
    held: int
    """Releases that are out and not in it, since they show a case that was forgotten: it gets them
    back once they are corrected."""
    bytes_on_disk: int
    made: bool
    """It was written now; else it held all of this already."""
    kept: bool = True
    """It is kept up to date; else it stays as it is from now on, and is to be deleted."""


@dataclass(frozen=True)
class _Listed:
    dataset: str
    series: str
    path: str
    home: str
    token: str
    epoch: str

    @property
    def file(self) -> Path:
        return Path(self.path)


class Refreshing:
    """What keeps the public files of a warehouse as they are to be, change by change.

    Where one could not be brought up to date, the next change is refused before it is made.
    """

    def __init__(self, warehouse: Warehouse) -> None:
        self._warehouse = warehouse
        self._known: dict[str, str] = {}
        """Path of a file -> what it holds, as this process has seen or written it."""
        self._due = False

    def begin(self) -> None:
        """Try once more what could not be done.

        Raises:
            WarehouseError: it cannot be done now either.
        """
        if self._due:
            self.committed()

    def committed(self) -> None:
        """Bring every public file up to date.

        Raises:
            WarehouseError: one cannot be; what was committed stays.
        """
        self._due = True
        for listed in listed_files(self._warehouse):
            state = _state(self._warehouse, listed)
            if self._known.get(listed.path) != state:
                _refresh(self._warehouse, listed, state)
                self._known[listed.path] = state
        self._due = False


def listed_files(warehouse: Warehouse) -> list[_Listed]:
    """The public files of a warehouse."""
    return [_Listed(*row) for row in warehouse.rows(query(TOPIC, "files"))]


def split(warehouse: Warehouse, dataset: Dataset, series: str, to: Path) -> PublicFile:
    """Keep a public file of a series from now on, and make it.

    Args:
        warehouse: open for writing; within ``guarded``.
        dataset: whose series.
        series: of which the file holds what is out.
        to: the file, which is not there yet, or is the public file of the series already.

    Raises:
        WarehouseError: there is no such series, it shows ids of the source or foreign rows, it has
            a public file elsewhere, or the file cannot be made: the warehouse is as it was.
    """
    found = _publishable(warehouse, dataset, series)
    need_usable(to)
    path = os.path.realpath(to)
    own = (dataset.name, found.name)
    standing = [each for each in listed_files(warehouse) if (each.dataset, each.series) == own]
    if standing and standing[0].path != path:
        raise WarehouseError(
            f"series {series!r} has its public file at {standing[0].path}: run 'srsql split --stop"
            f"{_named(series)}' first, and delete that file"
        )
    if standing:
        (listed,) = standing
        with _without_refreshing(warehouse), warehouse.transaction():
            warehouse.run(query(TOPIC, "move"), {**_names(listed), "home": _home(warehouse)})
        return _now(warehouse, replace(listed, home=_home(warehouse)))
    if not Path(path).parent.is_dir():
        raise WarehouseError(f"there is no folder {Path(path).parent}: make it first")
    if os.path.lexists(path):
        raise WarehouseError(f"{to} is there already: give --to the name of a new file")
    drawn = (secrets.token_hex(16) for _ in range(2))
    listed = _Listed(*own, path, _home(warehouse), *drawn)
    with _without_refreshing(warehouse):
        with warehouse.transaction():
            warehouse.run(query(TOPIC, "keep"), asdict(listed))
        try:
            return _now(warehouse, listed)
        except BaseException:
            with suppress(duckdb.Error, WarehouseError), warehouse.transaction():
                warehouse.run(query(TOPIC, "stop"), _names(listed))
            raise


def public_files(warehouse: Warehouse, known: PublicFile | None = None) -> list[PublicFile]:
    """Every public file of a warehouse, as it is to be; one that is not is made anew.

    Args:
        warehouse: open for writing; within ``guarded``.
        known: one that was looked at just now.
    """
    return [
        known if known is not None and known.path == each.path else _now(warehouse, each)
        for each in listed_files(warehouse)
    ]


def stop(warehouse: Warehouse, dataset: Dataset, series: str) -> PublicFile:
    """Keep no public file of a series any more; the one that there is stays as it is.

    Raises:
        WarehouseError: it has none.
    """
    for listed in listed_files(warehouse):
        if (listed.dataset, listed.series) == (dataset.name, series):
            with _without_refreshing(warehouse), warehouse.transaction():
                warehouse.run(query(TOPIC, "stop"), _names(listed))
            size = listed.file.stat().st_size if listed.file.is_file() else 0
            own = (listed.dataset, listed.series, listed.path)
            return PublicFile(*own, [], 0, size, made=False, kept=False)
    raise WarehouseError(
        f"series {series!r} of {dataset.name} has no public file: 'srsql split' lists those that "
        "there are"
    )


def carry_files(warehouse: Warehouse, standing: Sequence[tuple[str, ...]] | None) -> None:
    """Have a restored warehouse keep the public files of the one that it replaces, each of which
    is made anew.

    Args:
        warehouse: the backup, about to take the place.
        standing: the public files of the warehouse as it was; None: they cannot be read, and those
            that the backup knows are kept.
    """
    if standing is not None:
        known = {(each.dataset, each.series) for each in listed_files(warehouse)}
        for row in standing:
            listed = _Listed(*row)
            if (listed.dataset, listed.series) in known:
                warehouse.run(query(TOPIC, "stop"), _names(listed))
            warehouse.run(query(TOPIC, "keep"), asdict(listed))
    warehouse.run(query(TOPIC, "renew"), {"epoch": secrets.token_hex(16)})


def follow(warehouse: Warehouse) -> None:
    """Bring the public files of a warehouse up to date, and again after every change.

    What cannot be done now is told when something is to be changed.
    """
    warehouse.follower = Refreshing(warehouse)
    with suppress(WarehouseError):
        warehouse.follower.committed()


def refresh_files(path: Path, limits: Limits = NO_LIMITS, wait: Wait = NOW) -> None:
    """Bring the public files of a warehouse up to date that was written otherwise than by a call of
    the engine."""
    with Warehouse(path, **asdict(limits), wait=wait) as warehouse, warehouse.guarded():
        Refreshing(warehouse).committed()


def _publishable(warehouse: Warehouse, dataset: Dataset, series: str) -> Series:
    """The series, if what is out of it may stand in a file for others.

    Raises:
        WarehouseError: see ``split``.
    """
    found = find_series(warehouse, dataset, series)
    if found is None:
        raise WarehouseError(
            f"there is no series {series!r} of {dataset.name}: 'srsql series show' lists them"
        )
    if found.family in FOREIGN:
        raise WarehouseError(
            f"series {series!r} has somebody else's releases, of which the rows are not here: "
            "split a series of your own"
        )
    if found.ids == ORIGINAL:
        raise WarehouseError(
            f"series {series!r} shows the ids of the source, and a public file has pseudonyms "
            "alone: make a series with --ids pseudonym, or publish artifacts with --case-ids "
            "pseudonym"
        )
    for release_id, quarter, *_ in warehouse.rows(
        query(TOPIC, "shown"), {"dataset": dataset.name, "series": series}
    ):
        if refused := unshared(warehouse, release_id):
            raise WarehouseError(f"series {series!r} is not split: {quarter} {refused}")
    return found


def _now(warehouse: Warehouse, listed: _Listed) -> PublicFile:
    """A public file as it is to be."""
    state = _state(warehouse, listed)
    made = _refresh(warehouse, listed, state)
    return PublicFile(
        listed.dataset,
        listed.series,
        listed.path,
        [each.quarter for each in _shown(warehouse, listed)],
        int(warehouse.value(query(TOPIC, "held"), _names(listed))),
        listed.file.stat().st_size,
        made,
    )


def _refresh(warehouse: Warehouse, listed: _Listed, state: str) -> bool:
    """Write a public file anew unless it holds what it is to hold; whether it was written.

    Raises:
        WarehouseError: it is no public file of this warehouse, somebody writes it, or it cannot be
            written.
    """
    if listed.home != _home(warehouse):
        raise WarehouseError(
            f"the public file {listed.path} is kept by the warehouse at {listed.home}, and this is "
            f"a copy: run 'srsql split --stop{_named(listed.series)}'; or, if the warehouse was "
            f"moved here, 'srsql split --to {listed.path}{_named(listed.series)}'"
        )
    try:
        if _held_state(listed) == state:
            return False
        _write(warehouse, listed, state)
    except (OSError, duckdb.Error, pa.ArrowException) as error:
        why = error.strerror if isinstance(error, OSError) else None
        raise WarehouseError(
            f"the public file {listed.path} is not up to date ({why or one_line(error)}): {RETRY}"
        ) from None
    return True


def _held_state(listed: _Listed) -> str | None:
    """What a public file says that it holds; None: it is not there.

    Raises:
        WarehouseError: something else is there, which is not overwritten.
    """
    if not os.path.lexists(listed.path):
        return None
    try:
        with attached(listed.file, read_only=True) as con:
            con.execute("SET enable_external_access = false")
            rows = con.execute(query(TOPIC, "origin")).fetchall()
    except BusyError as error:
        raise WarehouseError(f"the public file is not up to date: {error}") from None
    except (duckdb.Error, WarehouseError):
        rows = []
    if [token for token, _ in rows] != [listed.token]:
        raise WarehouseError(
            f"{listed.path} is not the public file that this warehouse wrote, and is not "
            f"overwritten: move it away, then run 'srsql split', or 'srsql split --stop"
            f"{_named(listed.series)}'"
        )
    return str(rows[0][1])


def _write(warehouse: Warehouse, listed: _Listed, state: str) -> None:
    """Write a public file beside the one that there is, then give it its name.

    Only rows of released views and parameters go into it, by statements of its own connection.
    """
    path = listed.file
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else _usual_mode()
    with private_folder(path) as folder, warehouse.beside_another():
        made = folder / path.name
        make(made, STORAGE)
        with Warehouse(made, **asdict(warehouse.limits)) as own, own.beside_another():
            own.run("SET temp_directory = ?", [str(folder / "spill")])
            with own.guarded():
                _fill(warehouse, own, listed)
                own.run(query(TOPIC, "mark"), {"token": listed.token, "state": state})
        made.chmod(mode)
        sync(made)
        path.with_name(f"{path.name}.wal").unlink(missing_ok=True)  # of another file
        os.replace(made, path)
        sync(path.parent)


def _fill(warehouse: Warehouse, own: Warehouse, listed: _Listed) -> None:
    dataset = registered_dataset(warehouse, listed.dataset)
    found = find_series(warehouse, dataset, listed.series)
    assert found is not None  # a series is never removed that has a release
    shown = _shown(warehouse, listed)
    views = {each.schema: _views(warehouse, each.schema) for each in shown}
    public = PublicSeries(
        found.name,
        {each.quarter: each.schema for each in shown},
        frozenset(),
        {each.quarter: each.model for each in shown},
        found.cumulative_schema,
        found.ids,
        keyed=True,
        own_views=views,
    )
    fill_releases(own, rows_of(warehouse), dataset, public)
    for each in shown:
        copy_facts(warehouse, own, each)
    for each in shown:
        lay_out(warehouse, own, dataset, found.name, each)
    series = find_series(own, dataset, found.name)
    if shown and series is not None:
        visible = series_dataset(own, dataset, series.name)
        with own.transaction():
            refresh_series_views(own, visible, series)


def _home(warehouse: Warehouse) -> str:
    """Where the file of a warehouse is."""
    path = str(warehouse.value(query(TOPIC, "home"), {"database": warehouse.database}))
    return os.path.realpath(path) if path else ""


def _shown(warehouse: Warehouse, listed: _Listed) -> list[Shown]:
    """The releases that a public file holds, in order; none that no artifact may have either."""
    rows = [
        row
        for row in warehouse.rows(query(TOPIC, "shown"), _names(listed))
        if not unshared(warehouse, row[0])
    ]
    return [
        Shown(release_id, quarter, model, schema, number)
        for number, (release_id, quarter, model, schema, *_) in enumerate(rows, start=1)
    ]


def _views(warehouse: Warehouse, schema: str) -> frozenset[str]:
    asked = {"database": warehouse.database, "schema": schema}
    return frozenset(name for (name,) in warehouse.rows(query(TOPIC, "views"), asked))


def _state(warehouse: Warehouse, listed: _Listed) -> str:
    asked = _names(listed) | {
        "software": definitions(),
        "epoch": listed.epoch,
        "releases": [each.release_id for each in _shown(warehouse, listed)],
    }
    return str(warehouse.value(query(TOPIC, "state"), asked))


def _names(listed: _Listed) -> dict[str, object]:
    return {"dataset": listed.dataset, "series": listed.series}


def _named(series: str) -> str:
    return f" --series {series}" if series != MAIN else ""


def _usual_mode() -> int:
    """The rights that this process gives to a new file."""
    mask = os.umask(0o077)
    os.umask(mask)
    return 0o666 & ~mask


@contextmanager
def _without_refreshing(warehouse: Warehouse) -> Iterator[None]:
    """While this lasts a commit concerns no public file."""
    follower, warehouse.follower = warehouse.follower, None
    try:
        yield
    finally:
        warehouse.follower = follower
