"""Files of others: what a user or an artifact names is read here, and nowhere else.

A file that comes from outside can be a pipe that never ends, a device, a link to somewhere else, as
large as a disk, or nested so deep that its reader breaks off. So only plain files are opened,
without waiting for anybody, no more bytes are read than the caller says, and documents are nested
``MOST_DEPTH`` deep at most. A file system that does not answer is waited for like any other file.
"""

from __future__ import annotations

import errno
import io
import json
import os
import re
import stat
import tomllib
from collections.abc import Callable
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, TextIO

MOST_TEXT = 1 << 26
"""Bytes of a text with rows, such as thresholds, a hierarchy or a dictionary's excerpt."""
MOST_TOML = 1 << 22
"""Bytes of a TOML document, whose reader takes long for what is large."""
MOST_DEPTH = 32
"""Tables and lists within each other."""
_KINDS = (
    (stat.S_ISFIFO, "a pipe (FIFO)"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISDIR, "a folder"),
)
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_PART = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+"""
_BREAKS_LINE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_LONG_KEY = re.compile(rf"(?<![A-Za-z0-9_-])(?:{_PART}\.[ \t]*+){{{MOST_DEPTH}}}")


class OutsideError(OSError):
    """A file of others is not read: it is no plain file, too large, or leads elsewhere."""

    def __init__(self, path: Path, text: str) -> None:
        super().__init__(errno.EPERM, text, str(path))

    def __str__(self) -> str:
        """What is wrong, as a clause."""
        return str(self.strerror)


def need_plain(path: Path, *, links: bool = True) -> None:
    """Refuse what is no plain file, before anything opens it.

    Args:
        path: of the file.
        links: whether the name may be a link to one.

    Raises:
        OutsideError: it is something else.
        OSError: it is not there, or cannot be looked at.
    """
    _need_regular(path, path.lstat() if not links else path.stat())


def open_plain(path: Path, *, links: bool = True) -> io.BufferedReader:
    """A plain file, opened to read its bytes.

    Args:
        path: of the file.
        links: whether the name may be a link to one.

    Raises:
        OutsideError: it is something else.
        OSError: it cannot be opened.
    """
    need_plain(path, links=links)
    flags = _FLAGS if links else _FLAGS | getattr(os, "O_NOFOLLOW", 0)
    handle = os.open(path, flags)
    try:
        _need_regular(path, os.fstat(handle))  # what was looked at may have been replaced since
    except BaseException:
        os.close(handle)
        raise
    return os.fdopen(handle, "rb")


def read_bytes(path: Path, most: int = MOST_TEXT, *, links: bool = True) -> bytes:
    """The bytes of a plain file.

    Args:
        path: of the file.
        most: how many bytes are read.
        links: whether the name may be a link to one.

    Raises:
        OutsideError: it is something else, or has more bytes.
        OSError: it cannot be read.
    """
    with open_plain(path, links=links) as file:
        if os.fstat(file.fileno()).st_size > most:
            raise _too_large(path, most)
        found = file.read(most + 1)  # what it says of its size is not believed
    if found is None:  # a file of the kernel's that has nothing to say yet
        raise OutsideError(path, "it cannot be read without waiting for others: give a plain file")
    if len(found) > most:
        raise _too_large(path, most)
    return found


def read_text(
    path: Path | Traversable, most: int = MOST_TEXT, *, encoding: str = "utf-8-sig"
) -> str:
    """The text of a plain file, or of one that ships.

    Args:
        path: of the file.
        most: how many bytes are read.
        encoding: of the text.

    Raises:
        UnicodeDecodeError: it has other bytes.
        OSError: see ``read_bytes``.
    """
    if not isinstance(path, Path):
        return path.read_text(encoding=encoding)
    with io.TextIOWrapper(io.BytesIO(read_bytes(path, most)), encoding=encoding) as text:
        return text.read()


def open_text(path: Path, most: int = MOST_TEXT, *, encoding: str = "utf-8-sig") -> TextIO:
    """A plain file, opened to read its text line by line, line ends as they are.

    Args:
        path: of the file.
        most: bytes that it may have.
        encoding: of the text.

    Raises:
        OutsideError: it is something else, or has more bytes.
        OSError: it cannot be opened.
    """
    file = open_plain(path)
    if os.fstat(file.fileno()).st_size > most:
        file.close()
        raise _too_large(path, most)
    return io.TextIOWrapper(file, encoding=encoding, newline="")


def breaks_line(text: str) -> bool:
    """Whether a text holds a line end or another control character (C0, DEL, C1): none that is
    published does."""
    return _BREAKS_LINE.search(text) is not None


def need_within(path: Path, folder: Path) -> None:
    """Refuse a file of a folder that a link leads out of it.

    Raises:
        OutsideError: it lies elsewhere.
    """
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        raise OutsideError(
            path, f"it is a link that leads out of {folder}: put the file itself there"
        )


def read_toml(path: Path, most: int = MOST_TOML) -> dict[str, Any]:
    """A TOML document.

    Raises:
        tomllib.TOMLDecodeError: it is none, or nested too deep.
        UnicodeDecodeError: it is no text.
        OSError: see ``read_bytes``.
    """
    return toml_of(read_text(path, most, encoding="utf-8"))


def toml_of(text: str) -> dict[str, Any]:
    """The document that a TOML text says.

    Raises:
        tomllib.TOMLDecodeError: it is none, or nested too deep.
    """
    deep = tomllib.TOMLDecodeError(f"it is nested more than {MOST_DEPTH} deep")
    if _LONG_KEY.search(text):  # of which the reader looks at each beginning
        raise deep
    try:
        found = tomllib.loads(text)
    except RecursionError:
        raise deep from None
    if not _is_shallow(found):
        raise deep
    return found


def json_of(
    text: str,
    pairs: Callable[[list[tuple[str, Any]]], Any] | None = None,
    *,
    most_depth: int = MOST_DEPTH,
) -> Any:
    """The document that a JSON text says.

    Args:
        text: of the document.
        pairs: makes an object of its names and values; None: a dictionary.
        most_depth: how deep it may be nested.

    Raises:
        ValueError: it is none, or nested too deep.
    """
    try:
        found = json.loads(text, object_pairs_hook=pairs)
    except RecursionError:
        raise ValueError(f"it is nested more than {most_depth} deep") from None
    if not _is_shallow(found, most_depth):
        raise ValueError(f"it is nested more than {most_depth} deep")
    return found


def _is_shallow(found: Any, most: int = MOST_DEPTH) -> bool:
    """Whether a document is nested no deeper than that; without recursion."""
    level = [found]
    for _ in range(most + 1):
        inner: list[Any] = []
        for each in level:
            if isinstance(each, dict):
                inner += each.values()
            elif isinstance(each, list):
                inner += each
        if not inner:
            return True
        level = inner
    return False


def _need_regular(path: Path, found: os.stat_result) -> None:
    if stat.S_ISREG(found.st_mode):
        return
    if stat.S_ISLNK(found.st_mode):
        raise OutsideError(path, "it is a link: give the file itself")
    what = next((words for is_so, words in _KINDS if is_so(found.st_mode)), "something else")
    raise OutsideError(path, f"it is {what}: give a plain file")


def _too_large(path: Path, most: int) -> OutsideError:
    return OutsideError(path, f"it has more than {most:,} bytes: give a smaller one")
