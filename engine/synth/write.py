"""Archives on disk: lines joined in bulk, fixed zip stamps, written beside and then renamed."""

from __future__ import annotations

import os
import shutil
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc

from srsql.engine.synth.columns import Column, render
from srsql.engine.synth.quarters import SynthError

_SLICE = 250_000
_STAMP = (1980, 1, 1, 0, 0, 0)
_LEVEL = 2


class Sink(Protocol):
    """Where an archive's files go, one after the other."""

    def add(self, name: str, chunks: Iterable[bytes]) -> None:
        """Write one file."""


class _Zip:
    def __init__(self, path: Path) -> None:
        self._zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL)

    def add(self, name: str, chunks: Iterable[bytes]) -> None:
        info = zipfile.ZipInfo(name, _STAMP)
        info.compress_type, info.create_system = zipfile.ZIP_DEFLATED, 3
        info.external_attr = 0o644 << 16
        info._compresslevel = _LEVEL  # type: ignore[attr-defined]  # writestr's only other way in
        with self._zip.open(info, "w", force_zip64=True) as file:
            for chunk in chunks:
                file.write(chunk)

    def close(self) -> None:
        self._zip.close()


class _Folder:
    def __init__(self, path: Path) -> None:
        self._path = path
        path.mkdir()

    def add(self, name: str, chunks: Iterable[bytes]) -> None:
        target = self._path / name
        target.parent.mkdir(exist_ok=True)
        with target.open("wb") as file:
            for chunk in chunks:
                file.write(chunk)

    def close(self) -> None:
        return None


def lines(header: bytes, columns: list[Column], rows: int, *, trailing: bool) -> Iterator[bytes]:
    """Yield a table's bytes: the header, then ``$``-joined lines (ending in ``$`` if trailing)."""
    yield header + b"\r\n"
    end = "$\r\n" if trailing else "\r\n"
    for start in range(0, rows, _SLICE):
        stop = min(start + _SLICE, rows)
        fields = [render(column, start, stop) for column in columns]
        text = pc.binary_join_element_wise(
            *fields, "$", null_handling="replace", null_replacement=""
        )
        text = pc.binary_join_element_wise(text, pa.scalar(end), "")
        offsets, data = text.buffers()[1:]
        ends = memoryview(offsets).cast("i")
        yield memoryview(data)[ends[text.offset] : ends[text.offset + len(text)]].tobytes()


@contextmanager
def archive(target: Path, *, zipped: bool) -> Iterator[Sink]:
    """Open an archive beside ``target`` and rename it there at the end.

    The same archive already there is left as it is; a different one is never overwritten.
    """
    beside = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _discard(beside)
        sink = _Zip(beside) if zipped else _Folder(beside)
        try:
            yield sink
        finally:
            sink.close()
        if not target.exists():
            beside.rename(target)
        elif not _same(beside, target):
            raise SynthError(f"{target} exists and differs; choose another directory or remove it")
    except OSError as error:
        raise SynthError(f"cannot write {target}: {error.strerror or error}") from error
    finally:
        _discard(beside)


def _discard(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


def _same(left: Path, right: Path) -> bool:
    if left.is_dir() != right.is_dir():
        return False
    if not left.is_dir():
        return _same_bytes(left, right)
    names = [sorted(p.relative_to(root) for root in [side] for p in root.rglob("*"))
             for side in (left, right)]  # fmt: skip
    return names[0] == names[1] and all(
        _same_bytes(left / name, right / name) for name in names[0] if (left / name).is_file()
    )


def _same_bytes(left: Path, right: Path) -> bool:
    if left.stat().st_size != right.stat().st_size:
        return False
    with left.open("rb") as a, right.open("rb") as b:
        while chunk := a.read(1 << 20):
            if chunk != b.read(1 << 20):
                return False
    return True
