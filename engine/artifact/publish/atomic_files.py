"""Building a folder beside the place it is for, and moving it there whole."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from srsql.engine.errors import PublishError


@contextmanager
def built_beside(target: Path) -> Iterator[tuple[Path, Path]]:
    """Yield (an empty folder, a folder for scratch); the first becomes ``target`` at the end.

    Until the last step, one rename, there is nothing at ``target``; after an error or a crash there
    never will be. A crash leaves a hidden folder beside it (see ``unfinished``).

    Raises:
        PublishError: something is at ``target`` already, or at the end.
    """
    target = target.absolute()
    if target.is_symlink() or (target.exists() and not _is_empty(target)):
        raise _exists(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    staging = target.parent / f".{target.name}.{secrets.token_hex(6)}.unfinished"
    staging.mkdir()
    try:
        folder, scratch = staging / "artifact", staging / "scratch"
        folder.mkdir()
        scratch.mkdir()
        yield folder, scratch
        for path in (*folder.iterdir(), folder):
            sync(path)
        _move(folder, target)
        sync(target.parent)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def unfinished(target: Path) -> list[Path]:
    """What crashed publications to ``target`` left beside it; nothing in it is secret."""
    prefix = f".{target.absolute().name}."
    return sorted(
        path
        for path in target.absolute().parent.iterdir()
        if path.name.startswith(prefix) and path.name.endswith(".unfinished")
    )


def _move(folder: Path, target: Path) -> None:
    """In one step; what another publication put there meanwhile stays."""
    try:
        os.replace(folder, target)  # of an empty folder at most
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise _exists(target) from None
        raise


def _exists(target: Path) -> PublishError:
    return PublishError(
        f"{target} exists and is not an empty folder: what left the house is not overwritten, "
        "give another --to"
    )


def _is_empty(path: Path) -> bool:
    return path.is_dir() and not any(path.iterdir())


def sync(path: Path) -> None:
    """Let a file, or the names in a folder, survive a loss of power."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
