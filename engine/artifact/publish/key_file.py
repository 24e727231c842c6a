"""The key file of pseudonymous publications: 64 random bytes in hexadecimal, readable by its owner.

Whoever has the key can tell which pseudonym a known case id has. It stays with the steward; the
same key in every quarter keeps the pseudonyms of a case equal.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
from pathlib import Path

from srsql.engine.artifact.publish.atomic_files import sync
from srsql.engine.errors import PublishError

BYTES = 64


def read_or_make_key(path: Path) -> tuple[bytes, bool]:
    """The key in the file, which is made if it is absent; and whether it was made.

    Raises:
        PublishError: the file is something else, or cannot be read or written.
    """
    if path.exists():
        return _read(path), False
    return _make(path)


def _read(path: Path) -> bytes:
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


def _make(path: Path) -> tuple[bytes, bool]:
    """A new key under that name, or the one that another publication made there meanwhile.

    The name appears with the whole key behind it: a crash leaves a hidden file beside it, with a
    key that nobody uses.
    """
    key = secrets.token_bytes(BYTES)
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
        return _read(path), False
    except OSError as error:
        raise PublishError(f"the key file {path} cannot be made: {error}") from None
    return key, True
