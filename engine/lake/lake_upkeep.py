"""A lake is looked after: is every file of it what was written, was it moved, how is it copied."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from srsql.engine.errors import DamagedError, OutdatedError, WarehouseError, printable
from srsql.engine.lake.lake import LakeInfo, lake_info, point_views
from srsql.engine.store.database_file import NO_LIMITS, NOW, Limits, Wait
from srsql.engine.store.lake_files import Lake, read_marker, write_marker
from srsql.engine.store.runs import recorded
from srsql.engine.store.scratch import digest, private_folder, sync
from srsql.engine.store.warehouse import Warehouse


def look_at_lake(
    path: Path,
    *,
    check: bool = False,
    moved_to: Path | None = None,
    limits: Limits = NO_LIMITS,
    wait: Wait = NOW,
) -> LakeInfo:
    """What lies in the lake of a warehouse file, after it was checked, or said where it is now.

    Args:
        path: of the warehouse.
        check: hold every byte against the digests of the catalog; a lake that was moved is always
            held against them.
        moved_to: the folder that it was moved to, which the catalog has afterwards.
        limits: what the process may take.
        wait: how long for another process to let the warehouse go.

    Raises:
        DamagedError: it is not where the catalog says, or a file is missing or damaged.
        WarehouseError: the warehouse has no lake, or the folder is none, or another one.
    """
    try:
        opened = Warehouse(
            path, read_only=moved_to is None, **asdict(limits), wait=wait, whole=False
        )
    except OutdatedError:
        Warehouse(path, **asdict(limits), wait=wait, whole=False).close()
        opened = Warehouse(path, read_only=True, **asdict(limits), wait=wait, whole=False)
    with opened as warehouse, warehouse.guarded():
        if warehouse.lake is None:
            raise WarehouseError(f"{path} has no lake: its raw rows are kept in the file")
        if moved_to is not None:
            folder = Path(os.path.abspath(moved_to))
            with recorded(warehouse, "lake", {"moved_to": folder}):
                _move(warehouse, warehouse.lake, folder)
        warehouse.lake.need_whole()
        if check:
            warehouse.lake.need_unchanged(warehouse.lake.files)
        found = lake_info(warehouse)
    assert found is not None
    return found


def _move(warehouse: Warehouse, lake: Lake, folder: Path) -> None:
    """Have the catalog and the views say that the lake is in ``folder``, which is held against what
    they list."""
    marker = read_marker(folder)
    if marker is None or marker[0] != lake.name:
        whose = "no lake" if marker is None else "the lake of another warehouse"
        raise WarehouseError(
            f"{printable(str(folder))} is {whose}: give --moved-to the folder that has the files "
            "of this one"
        )
    there = Lake(lake.name, folder, lake.changes, lake.files)
    there.need_whole()
    there.need_unchanged(there.files)
    with warehouse.transaction():
        point_views(warehouse, folder)
    warehouse.read_lake()


def copy_files(lake: Lake, to: Path) -> None:
    """Copy what is listed of a lake to a new folder, for its owner alone, byte by byte checked.

    Raises:
        DamagedError: a file has other bytes than were written.
        OSError: the copy cannot be written.
    """
    lake.need_whole()
    to.mkdir(mode=0o700)
    write_marker(to, lake.name, lake.changes)
    folders = {to}
    for each in lake.files:
        target = to / each.file
        for parent in reversed(target.relative_to(to).parents):
            (to / parent).mkdir(mode=0o700, exist_ok=True)
            folders.add(to / parent)
        shutil.copyfile(lake.folder / each.file, target)
        target.chmod(0o600)
        sync(target)
        if digest(target) != each.sha256:
            lake.need_unchanged([each])
            raise DamagedError(f"{printable(str(target))} was not written as it was read")
    for folder in folders:
        sync(folder)


@contextmanager
def copied_beside(lake: Lake, target: Path) -> Iterator[Path]:
    """A copy of a lake in a private folder beside ``target``, gone at the end if still there."""
    with private_folder(target, "copying") as folder:
        made = folder / target.name
        copy_files(lake, made)
        yield made


def point(file: Path, folder: Path, limits: Limits = NO_LIMITS) -> None:
    """Have a warehouse file that nobody else has say that its lake is in ``folder``."""
    opened = Warehouse(file, **asdict(limits), whole=False)
    with opened as warehouse, warehouse.guarded(), warehouse.transaction():
        point_views(warehouse, folder)
