"""Is the folder whole: every file there, each byte as it was, nothing added?"""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import ValidationError

from srsql.engine.artifact.publish.layout import (
    DUCKDB_FILE,
    HIERARCHIES,
    MANIFEST,
    SUMS,
    THRESHOLDS,
    Manifest,
    file_digest,
    sums_text,
)
from srsql.engine.artifact.verify.verdict import Check
from srsql.engine.errors import VerifyError, one_line
from srsql.engine.warehouse.layout import CLUSTERS, COLUMNS

_LINE = re.compile(r"([0-9a-f]{64})  ([^/\n]+)")


def check_files(folder: Path) -> tuple[list[Check], Manifest | None]:
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
    try:
        digests = {name: file_digest(path) for name, path in plain.items()}
    except OSError as error:
        raise VerifyError(f"{folder} cannot be read: {one_line(error)}") from None
    faults = [f"{shown(e.name)} is not a plain file" for e in entries if e.name not in plain]
    listed, unclear = _listed(plain.get(SUMS))
    faults += unclear + _differences(listed, {n: d for n, d in digests.items() if n != SUMS}, SUMS)
    files = Check("files", faults, len(entries))
    if MANIFEST not in plain:
        return [files, Check("manifest", [f"{MANIFEST} is missing"], 1)], None
    manifest, faults = _read(plain[MANIFEST])
    if manifest is None:
        return [files, Check("manifest", faults, 1)], None
    others = {n: d for n, d in digests.items() if n not in (SUMS, MANIFEST)}
    faults = _contradictions(manifest)
    usable = not faults and all(manifest.files.get(n) and n in plain for n in _needed(manifest))
    faults += _differences(dict(manifest.files), others, MANIFEST)
    return [files, Check("manifest", faults, 1)], manifest if usable else None


def _needed(manifest: Manifest) -> set[str]:
    """The files without which no row can be checked."""
    return {THRESHOLDS, HIERARCHIES, *(table.file for table in manifest.tables)}


def shown(name: str) -> str:
    """A file's name as text, whatever bytes it has."""
    return name.encode("utf-8", "backslashreplace").decode()


def _listed(path: Path | None) -> tuple[dict[str, str], list[str]]:
    if path is None:
        return {}, [f"{SUMS} is missing"]
    text = path.read_bytes().decode("utf-8", "replace")
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


def _differences(told: dict[str, str], found: dict[str, str], where: str) -> list[str]:
    faults = [f"{shown(n)} is missing" for n in sorted(told.keys() - found.keys())]
    faults += [f"{shown(n)} is not listed in {where}" for n in sorted(found.keys() - told.keys())]
    return faults + [
        f"{shown(n)} was changed: its hash is not the one in {where}"
        for n in sorted(told.keys() & found.keys())
        if told[n] != found[n]
    ]


def _read(path: Path) -> tuple[Manifest | None, list[str]]:
    try:
        return Manifest.model_validate_json(path.read_bytes()), []
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        return None, [f"{MANIFEST} cannot be read: {key or 'document'}: {first['msg']}"]


def _contradictions(manifest: Manifest) -> list[str]:
    """What a manifest must not say of itself."""
    faults = []
    names = [table.name for table in manifest.tables]
    apart = set(COLUMNS) if manifest.terms else set()
    """Tables without ids."""
    reports = manifest.report_table
    if reports is None and not (apart and apart == set(names)):
        return [f"{MANIFEST}: there is no report table, nor the tables of terms alone"]
    if len(set(names)) < len(names) or (reports is not None and reports not in names):
        return [f"{MANIFEST}: the tables are not each there once, the report table among them"]
    known = {attribute.name for attribute in manifest.attributes}
    for table in manifest.tables:
        expected = DUCKDB_FILE if manifest.format == "duckdb" else f"{table.name}.{manifest.format}"
        if table.file != expected or table.file not in manifest.files:
            faults.append(f"{MANIFEST}: table {table.name} is not in {expected}")
        columns = [column.name for column in table.columns]
        if len(set(columns)) < len(columns):
            faults.append(f"{MANIFEST}: table {table.name} has a column twice")
        roles = [column.role for column in table.columns]
        ids = (roles.count("report id"), roles.count("case id"))
        if table.name in apart:
            if tuple(columns[: len(COLUMNS[table.name])]) != COLUMNS[table.name] or any(ids):
                faults.append(f"{MANIFEST}: table {table.name} has not the columns of terms")
        elif ids[0] != 1 or ids[1] > 1:
            faults.append(f"{MANIFEST}: table {table.name} has not one report id")
        told = {c.attribute for c in table.columns if c.attribute}
        regions = {reports, CLUSTERS} if apart else {reports}
        if told != (known if table.name in regions else set()):
            faults.append(f"{MANIFEST}: table {table.name} does not have the region's columns")
    if reports is None:
        return faults
    if [c.role for c in manifest.reports.columns].count("period") != 1:
        faults.append(f"{MANIFEST}: the report table has not one period")
    if not known or len(known) < len(manifest.attributes):
        faults.append(f"{MANIFEST}: the quasi-identifiers are none, or not each there once")
    return faults
