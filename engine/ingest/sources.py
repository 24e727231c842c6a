"""What to ingest: the files of each period, and which table each one fills."""

from __future__ import annotations

import hashlib
import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import IO

from srsql.engine.errors import IngestError
from srsql.schemas import Dataset

CHUNK = 1 << 20
_DOCUMENTS = {
    ".pdf",
    ".doc",
    ".docx",
    ".htm",
    ".html",
    ".rtf",
    ".xls",
    ".xlsx",
    ".xml",
    ".db",
    ".md",
}
_OURS = "srsql."


@dataclass(frozen=True)
class Member:
    """One file of a source: in a directory, or inside a zip."""

    name: str
    """Name relative to the source, as messages and the catalog show it."""
    path: Path
    inside: str | None = None
    """Name inside the zip ``path``; None for a plain file."""
    table: str | None = None
    """The declared table it fills; None for a list of withdrawn cases."""

    @property
    def base(self) -> str:
        """The file's own name."""
        return PurePosixPath(self.name.replace("\\", "/")).name

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """The file's bytes as a stream."""
        if self.inside is None:
            with self.path.open("rb") as plain:
                yield plain
        else:
            with zipfile.ZipFile(self.path) as archive, archive.open(self.inside) as packed:
                yield packed


@dataclass(frozen=True)
class RelationRows:
    """The rows of one table for one period, as ``relations.period_source`` copies them."""

    name: str
    """The relation as messages and the catalog show it."""
    table: str
    """The declared table it fills."""
    store: str
    """The temporary table that holds them as records (see ``records``)."""
    columns: tuple[str, ...]
    """Names of their fields, trimmed, lower-cased."""
    records: int
    sha256: str
    """Over the rows in their order."""


@dataclass(frozen=True)
class PeriodSource:
    """All files of one period, the report table's first."""

    name: str
    """Of the zip, file or directory; of tables, that of the report table's."""
    quarter: str
    sha256: str
    """Of the zip's or single file's bytes; otherwise over its members' names and digests."""
    members: tuple[Member | RelationRows, ...]


def find_sources(
    paths: Sequence[str | Path], dataset: Dataset, period: str | None
) -> list[PeriodSource]:
    """The periods at ``paths``.

    Args:
        paths: zips, directories, single files, or directories full of zips.
        dataset: declares which files belong to it.
        period: the label of the period where no file name has it.

    Returns:
        One source for each period, in the order of ``paths``.

    Raises:
        IngestError: there is nothing, a required table is missing, two files are for one table, or
            a period is unknown, contradictory or given twice.
    """
    expanded = [entry for path in paths for entry in _expand(Path(path), dataset)]
    found: dict[str, PeriodSource] = {}
    for path in expanded:
        source = _source(path, dataset, period)
        other = found.setdefault(source.quarter, source)
        if other is not source:
            raise IngestError(
                f"{other.name} and {path.name} both hold {source.quarter}: "
                "give one of them, or put the files of one period into one directory"
            )
    return list(found.values())


def digest(stream: IO[bytes]) -> str:
    """SHA-256 of everything left in ``stream``."""
    sha = hashlib.sha256()
    while chunk := stream.read(CHUNK):
        sha.update(chunk)
    return sha.hexdigest()


def _expand(path: Path, dataset: Dataset) -> list[Path]:
    if not path.exists():
        raise IngestError(f"{path}: no such file or directory")
    if path.is_dir() and not any(m.table for m in _matched(_directory(path), dataset)):
        zips = sorted(p for p in path.iterdir() if p.suffix.lower() == ".zip")
        if zips:
            return zips
    return [path]


def _source(path: Path, dataset: Dataset, period: str | None) -> PeriodSource:
    if path.is_dir():
        members = _matched(_directory(path), dataset)
    elif path.suffix.lower() == ".zip" or zipfile.is_zipfile(path):
        members = _matched(_archive(path), dataset)
    else:
        members = _matched([Member(_text(path.name), path)], dataset)
        if len(dataset.tables) == 1 and not members:
            members = [Member(_text(path.name), path, table=dataset.tables[0].name)]
    if not any(member.table for member in members):
        raise IngestError(f"{path.name}: no file of dataset {dataset.name!r} in it (see --dataset)")
    quarter = _quarter(path, members, dataset, period)
    return PeriodSource(
        _text(path.name), quarter, _digest(path, members), _choose(path, members, dataset)
    )


def _directory(path: Path) -> list[Member]:
    files = sorted(p for p in path.rglob("*") if p.is_file())
    return [Member(_text(p.relative_to(path).as_posix()), p) for p in files]


def _text(name: str) -> str:
    """The name of a file as text, whatever its bytes are."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _archive(path: Path) -> list[Member]:
    try:
        with zipfile.ZipFile(path) as archive:
            names = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
    except zipfile.BadZipFile:
        raise IngestError(f"{path.name} is not a complete zip: download it again") from None
    return [Member(name, path, inside=name) for name in names]


def _matched(members: list[Member], dataset: Dataset) -> list[Member]:
    """The members that some table or the withdrawn lists claim."""
    found = []
    for member in members:
        base = member.base.lower()
        stray = base.startswith((".", _OURS)) or "__MACOSX" in member.name
        if stray or PurePosixPath(base).suffix in _DOCUMENTS:
            continue
        tables = [t.name for t in dataset.tables if _fits(base, t.files)]
        if len(tables) > 1:
            raise IngestError(f"{member.name} fits tables {tables[0]} and {tables[1]}: rename it")
        if tables or _fits(base, dataset.source.deleted_files):
            table = tables[0] if tables else None
            found.append(Member(member.name, member.path, member.inside, table))
    return found


def _fits(base: str, globs: tuple[str, ...]) -> bool:
    return any(fnmatch(base, glob.lower()) for glob in globs)


def _choose(path: Path, members: list[Member], dataset: Dataset) -> tuple[Member, ...]:
    """One member a table, the report table first, then the withdrawn lists."""
    chosen = []
    for table in sorted(dataset.tables, key=lambda t: t.name != dataset.report_table):
        fitting = [m for m in members if m.table == table.name]
        if len(fitting) > 1:
            newer = [m for m in fitting if PurePosixPath(m.base.lower()).stem.endswith("_new")]
            if len(newer) != 1:
                raise IngestError(
                    f"{path.name}: {fitting[0].name} and {fitting[1].name} both fit table "
                    f"{table.name}: keep one"
                )
            fitting = newer
        if not fitting and table.required:
            wanted = " or ".join(table.files)
            raise IngestError(f"{path.name}: no file for table {table.name} ({wanted})")
        chosen += fitting
    return (*chosen, *(m for m in members if m.table is None))


def _quarter(path: Path, members: list[Member], dataset: Dataset, period: str | None) -> str:
    labels = {label: m.base for m in members if (label := _label(m.base, dataset)) is not None}
    if len(labels) > 1:
        (one, file), (two, other) = list(labels.items())[:2]
        raise IngestError(
            f"{path.name} holds more than one period ({file} is {one}, {other} is {two}): "
            "give each period its own zip or directory"
        )
    label = next(iter(labels), None) or _label(path.name, dataset)
    given = period.strip() if period is not None else None
    if given == "":
        raise IngestError("the period is blank: give a label such as 2011Q4")
    if label is not None and given is not None and given != label:
        raise IngestError(f"{path.name} is {label} by its file names, not {given}")
    if (label or given) is None:
        raise IngestError(f"{path.name}: no period in its file names: give it with --period")
    return str(label or given)


def _label(name: str, dataset: Dataset) -> str | None:
    pattern, label = dataset.source.period_pattern, dataset.source.period_label
    match = re.search(pattern, name) if pattern else None
    if match is None:
        return None
    for position, group in enumerate(match.groups()):
        if re.fullmatch(r"\d{4}", group or ""):
            label = label.replace(f"20{{{position}}}", f"{{{position}}}")
    return label.format(*match.groups())


def _digest(path: Path, members: list[Member]) -> str:
    if path.is_file():
        with path.open("rb") as stream:
            return digest(stream)
    sha = hashlib.sha256()
    for member in sorted(members, key=lambda m: m.name):
        with member.open() as stream:
            sha.update(f"{digest(stream)} {member.name}\n".encode("utf-8", "surrogateescape"))
    return sha.hexdigest()
