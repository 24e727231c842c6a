"""The files of an artifact: held against their hashes, the manifest, and the small ones of rows."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from srsql.engine.artifact.format import (
    HIERARCHIES,
    MANIFEST,
    MOST_FILE,
    MOST_ROWS,
    MOST_SUMS,
    QUARTER,
    SIGNATURE,
    SIGNATURE_BYTES,
    SUMS,
    THRESHOLDS,
    AnyManifest,
    Manifest,
    QuarterManifest,
    RangeManifest,
    file_digest,
    files_of,
    quarters_of,
    sums_text,
)
from srsql.engine.artifact.verify.contradictions import Trees, range_faults, shape_faults
from srsql.engine.artifact.verify.verdict import Check
from srsql.engine.errors import VerifyError, one_line
from srsql.schemas.outside import read_bytes

MOST_BYTES = 2**26
"""Of a manifest."""
UNSAFE, MARKED = r"^[=+\-@\t\r]", r"^'+[=+\-@\t\r]"
"""A cell that a spreadsheet runs as a formula if it is no number, and one that was marked, so that
none does (see ``Manifest.csv_safe``). Written down here a second time, on purpose."""
NUMBER = r"[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?"
_UNSAFE, _MARKED, _NUMBER = (re.compile(pattern) for pattern in (UNSAFE, MARKED, NUMBER))
_LINE = re.compile(r"([0-9a-f]{64})  ([^/\n]+)")


def check_files(folder: Path) -> tuple[list[Check], AnyManifest | None]:
    """The checks ``files`` and ``manifest``, and the manifest if rows can be checked by it.

    Raises:
        VerifyError: the folder is no artifact, or cannot be read.
    """
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise VerifyError(f"{folder} cannot be read: {one_line(error)}") from None
    if not {MANIFEST, SUMS} & {entry.name for entry in entries}:
        raise VerifyError(
            f"{folder} is not an artifact (no {MANIFEST}, no {SUMS}): give the folder that "
            "'srsql publish' wrote"
        )
    plain = {e.name: e for e in entries if e.is_file() and not e.is_symlink()}
    faults = [f"{printable(e.name)} is not a plain file" for e in entries if e.name not in plain]
    try:
        large = {n for n, p in plain.items() if p.stat().st_size > _most_bytes(n)}
        faults += [f"{printable(n)} has more than {_most_bytes(n):,} bytes" for n in sorted(large)]
        plain = {name: path for name, path in plain.items() if name not in large}
        digests = {name: file_digest(path) for name, path in plain.items()}
    except OSError as error:
        raise VerifyError(f"{folder} cannot be read: {one_line(error)}") from None
    listed, unclear = _listed(plain.get(SUMS))
    if SIGNATURE in plain and plain[SIGNATURE].stat().st_size != SIGNATURE_BYTES:
        faults.append(f"{SIGNATURE} is no signature, which has {SIGNATURE_BYTES} bytes")
    unlisted = (SUMS, SIGNATURE)  # a signature is made of the list, and after it
    others = {n: d for n, d in digests.items() if n not in unlisted}
    faults += unclear + _differences(listed, others, SUMS)
    files = Check("files", faults, len(entries))
    if MANIFEST not in plain:
        return [files, Check("manifest", [f"{MANIFEST} is missing"], 1)], None
    manifest, faults = _read_manifest(plain[MANIFEST])
    if manifest is None:
        return [files, Check("manifest", faults, 1)], None
    others.pop(MANIFEST)
    parts = quarters_of(manifest)
    faults = [fault for part in parts for fault in shape_faults(part)]
    if isinstance(manifest, RangeManifest):
        faults += range_faults(manifest)
    usable = not faults and all(manifest.files.get(n) and n in plain for n in _needed(manifest))
    faults += _differences(dict(manifest.files), others, MANIFEST) + _strangers(manifest, others)
    return [files, Check("manifest", faults, 1)], manifest if usable else None


def _most_bytes(name: str) -> int:
    """How large a file of an artifact may be, so that reading it ends in time."""
    return {SUMS: MOST_SUMS, MANIFEST: MOST_BYTES, THRESHOLDS: MOST_ROWS}.get(name, MOST_FILE)


def _strangers(manifest: AnyManifest, found: Collection[str]) -> list[str]:
    """Files that are listed and that no artifact has, and those that each has and this one not."""
    known, listed = files_of(manifest) - {MANIFEST, SUMS}, manifest.files.keys()
    return [
        *(f"{name} is no file of an artifact" for name in sorted(listed - known)),
        *(f"{name} is missing" for name in sorted(known - listed - set(found))),
    ]


def _needed(manifest: AnyManifest) -> set[str]:
    """The files without which no row can be checked."""
    tables = {table.file for part in quarters_of(manifest) for table in part.tables}
    return {THRESHOLDS, HIERARCHIES} | tables


def printable(name: str) -> str:
    """A file's name as text, whatever bytes it has."""
    return name.encode("utf-8", "backslashreplace").decode()


def _listed(path: Path | None) -> tuple[dict[str, str], list[str]]:
    if path is None:
        return {}, [f"{SUMS} is missing"]
    text = read_bytes(path, MOST_SUMS, links=False).decode("utf-8", "replace")
    found, faults = {}, []
    for number, line in enumerate(text.split("\n")[:-1], start=1):
        match = _LINE.fullmatch(line)
        if match:
            found[match[2]] = match[1]
        else:
            faults.append(f"{SUMS} line {number} is not a hash and a name")
    if not faults and sums_text(found) != text:
        faults.append(f"{SUMS} is not as it was written: its lines are out of order or not all")
    return found, faults


def _differences(listed: dict[str, str], found: dict[str, str], where: str) -> list[str]:
    """What the digests of files differ in from those that are listed in ``where``."""
    faults = [f"{printable(n)} is missing" for n in sorted(listed.keys() - found.keys())]
    faults += [
        f"{printable(n)} is not listed in {where}" for n in sorted(found.keys() - listed.keys())
    ]
    return faults + [
        f"{printable(n)} was changed: its hash is not the one in {where}"
        for n in sorted(listed.keys() & found.keys())
        if listed[n] != found[n]
    ]


class _Kind(BaseModel):
    """What tells a manifest of several quarters from one of one."""

    quarters: Any = None


def _read_manifest(path: Path) -> tuple[AnyManifest | None, list[str]]:
    try:
        text = read_bytes(path, MOST_BYTES, links=False)
        several = _Kind.model_validate_json(text).quarters is not None
        kind: type[RangeManifest | Manifest] = RangeManifest if several else Manifest
        return kind.model_validate_json(text), []
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        return None, [f"{MANIFEST} cannot be read: {key or 'document'}: {first['msg']}"]
    except OSError as error:
        return None, [f"{MANIFEST} cannot be read: {error}"]


Thresholds = tuple[list[str], list[int], list[int]]
"""Values, numerators and denominators of their thresholds, side by side."""


def read_thresholds(folder: Path, manifest: Manifest) -> Thresholds:
    """The thresholds that an artifact tells.

    Args:
        folder: of the artifact.
        manifest: of the quarter.

    Raises:
        ValueError: the file is not as it was written.
    """
    values, nums, dens = [], [], []
    header, rows = ["value", "theta_num", "theta_den"], list[list[str]]()
    if isinstance(manifest, QuarterManifest):
        every = _read_rows(folder / THRESHOLDS, [QUARTER, *header], safe=manifest.csv_safe)
        rows = [row[1:] for row in every if row[0] == manifest.quarter]
    else:
        rows = _read_rows(folder / THRESHOLDS, header, safe=manifest.csv_safe)
    for value, num, den in rows:
        values.append(value)
        nums.append(int(num))
        dens.append(int(den))
    return values, nums, dens


def read_hierarchies(folder: Path, manifest: Manifest) -> Trees:
    """Attribute -> its rows (node, parent); the parent of a root is empty.

    Args:
        folder: of the artifact.
        manifest: of it, or of one of its quarters.

    Raises:
        ValueError: the file is not as it was written.
    """
    trees: Trees = {}
    header = ["attribute", "node", "parent"]
    rows = _read_rows(folder / HIERARCHIES, header, safe=manifest.csv_safe)
    for attribute, node, parent in rows:
        trees.setdefault(attribute, []).append((node, parent))
    return trees


def _read_rows(path: Path, header: list[str], *, safe: bool) -> list[list[str]]:
    """The rows of one of the small files; ``safe``: none of their cells is said to be a formula.

    Raises:
        ValueError: it has another header, a row of another width, or a formula.
    """
    try:
        rows = list(
            csv.reader(io.StringIO(read_bytes(path, MOST_ROWS, links=False).decode()), strict=True)
        )
    except (csv.Error, UnicodeDecodeError, OSError) as error:
        raise ValueError(f"{path.name} cannot be read: {error}") from None
    if rows[:1] != [header] or any(len(row) != len(header) for row in rows):
        raise ValueError(f"{path.name} has not the columns {', '.join(header)} in every row")
    if not safe:
        return rows[1:]
    if any(_UNSAFE.match(cell) and not _NUMBER.fullmatch(cell) for row in rows for cell in row):
        raise ValueError(
            f"{path.name} has a cell that a spreadsheet runs as a formula, though csv_safe is true"
        )
    return [[cell[_MARKED.match(cell) is not None :] for cell in row] for row in rows[1:]]
