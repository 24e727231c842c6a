"""Files that appear complete or not at all: the folder of an artifact, and the key file.

The key file of pseudonymous publications has 64 random bytes in hexadecimal, readable by its owner.
Whoever has the key can tell which pseudonym a known case id has. It stays with the steward; the
same key in every quarter keeps the pseudonyms of a case equal.
"""

from __future__ import annotations

import errno
import hashlib
import hmac
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from srsql.engine.errors import PublishError

KEY_BYTES = 64


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


def read_or_make_key(path: Path) -> tuple[bytes, bool]:
    """The key in the file, which is made if it is absent; and whether it was made.

    Raises:
        PublishError: the file is something else, or cannot be read or written.
    """
    if path.exists():
        return _read_key(path), False
    return _make_key(path)


def _read_key(path: Path) -> bytes:
    try:
        text = path.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        raise PublishError(f"the key file {path} cannot be read: {error}") from None
    if not re.fullmatch(r"[0-9a-f]{128}\n?", text):
        raise PublishError(
            f"{path} is not a key file (128 hexadecimal digits): give the one that the earlier "
            "quarters were published with, or a name that does not exist yet"
        )
    return bytes.fromhex(text.strip())


def key_id(key: bytes) -> str:
    """What may be told of a key: equal for equal keys, and nothing else."""
    return hmac.new(key, b"srsql key id", hashlib.sha256).hexdigest()


def _make_key(path: Path) -> tuple[bytes, bool]:
    """A new key under that name, or the one that another publication made there meanwhile.

    The name appears with the whole key behind it: a crash leaves a hidden file beside it, with a
    key that nobody uses.
    """
    key = secrets.token_bytes(KEY_BYTES)
    beside = path.absolute().parent / f".{path.name}.{secrets.token_hex(6)}.unfinished"
    try:
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(key.hex() + "\n")
                file.flush()
                os.fsync(file.fileno())
            os.link(beside, path)  # never over a file that is there
        finally:
            beside.unlink()
        sync(path.absolute().parent)
    except FileExistsError:
        return _read_key(path), False
    except OSError as error:
        raise PublishError(f"the key file {path} cannot be made: {error}") from None
    return key, True
