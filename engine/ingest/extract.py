"""Bring one file into the workspace: unpacked, UTF-8, LF line ends, never whole in memory."""

from __future__ import annotations

import codecs
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from srsql.engine.errors import IngestError
from srsql.engine.ingest.sources import CHUNK, Member
from srsql.engine.warehouse.warehouse import Warehouse

LONGEST_LINE = 8 << 20
SEPARATOR = "\U0010fffe"
"""A noncharacter that no line holds after extraction: the line scan's column delimiter."""
RETURN = "\U0010ffff"
"""Stands for a carriage return inside a line, which DuckDB's reader would refuse."""

_ODD = re.compile(f"[\udc80-\udcff\0{SEPARATOR}{RETURN}]")
_REPAIR = {
    chr(0xDC00 + byte): bytes([byte]).decode("cp1252", "ignore") or chr(byte)
    for byte in range(0x80, 0x100)
}


@dataclass(frozen=True)
class Extracted:
    """One file, ready to be read."""

    path: Path
    sha256: str
    """Of the original bytes."""
    lines: int
    """Physical lines; a missing final newline makes no difference."""
    repaired: int
    """Bytes that were not UTF-8 (now read as cp1252), NUL bytes (dropped), noncharacters."""
    returns: bool
    """Whether some line holds a carriage return that does not end it."""


@contextmanager
def workspace(warehouse: Warehouse) -> Iterator[Path]:
    """A temporary directory beside the warehouse file, removed with what killed runs left."""
    if warehouse.path is None:
        with tempfile.TemporaryDirectory(prefix="srsql-") as folder:
            yield Path(folder)
        return
    parent = warehouse.path.with_name(warehouse.path.name + ".tmp")
    mine = f"ingest-{os.getpid()}-"
    parent.mkdir(exist_ok=True)
    for leftover in parent.glob("ingest-*"):
        if not leftover.name.startswith(mine):
            shutil.rmtree(leftover, ignore_errors=True)
    place = Path(tempfile.mkdtemp(prefix=mine, dir=parent))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)
        with suppress(OSError):  # DuckDB keeps it while it spills there
            parent.rmdir()


def extract_binary(member: Member, target: Path) -> Extracted:
    """Copy ``member`` as it is; ``lines`` stays 0."""
    sha = hashlib.sha256()
    with member.open() as source, target.open("wb") as copy:
        while chunk := source.read(CHUNK):
            sha.update(chunk)
            copy.write(chunk)
    return Extracted(target, sha.hexdigest(), lines=0, repaired=0, returns=False)


def extract_text(member: Member, target: Path) -> Extracted:
    """Copy ``member`` to ``target`` as clean UTF-8 lines.

    Raises:
        IngestError: a line longer than 8 MB, so not a text file.
    """
    sha, cleaner = hashlib.sha256(), _Cleaner()
    lines = unfinished = 0
    with member.open() as source, target.open("wb") as copy:
        while True:
            chunk = source.read(CHUNK)
            sha.update(chunk)
            clean = cleaner.feed(chunk, final=not chunk)
            copy.write(clean)
            lines += clean.count(b"\n")
            last = clean.rfind(b"\n")
            unfinished = unfinished + len(clean) if last < 0 else len(clean) - last - 1
            if unfinished > LONGEST_LINE:
                raise IngestError(
                    f"{member.name}: line {lines + 1} is longer than {LONGEST_LINE >> 20} MB: "
                    "is it a text file?"
                )
            if not chunk:
                break
    return Extracted(
        target, sha.hexdigest(), lines + (unfinished > 0), cleaner.repaired, cleaner.returns
    )


class _Cleaner:
    """Chunk by chunk: no BOM, LF line ends, every byte that is not UTF-8 read as cp1252."""

    def __init__(self) -> None:
        self.repaired = 0
        self.returns = False
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._held = ""
        self._begun = False

    def feed(self, chunk: bytes, *, final: bool) -> bytes:
        text = self._held + self._decoder.decode(chunk, final)
        if not self._begun and text:
            text = text.removeprefix("\ufeff")
            self._begun = True
        self._held = ""
        if text.endswith("\r"):
            self._held, text = "" if final else "\r", text[:-1]
        text = self._without_odd(text)
        if "\r" in text:
            text = text.replace("\r\n", "\n")
            if "\r" in text:
                self.returns = True
                text = text.replace("\r", RETURN)
        return text.encode()

    def _without_odd(self, text: str) -> str:
        if text.isascii() and "\0" not in text:
            return text
        text, repairs = _ODD.subn(_repair, text)
        self.repaired += repairs
        return text


def _repair(match: re.Match[str]) -> str:
    odd = match[0]
    return "" if odd == "\0" else _REPAIR.get(odd, "\ufffd")
