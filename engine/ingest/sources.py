"""What to ingest: the files of each period, and which table each one fills."""

from __future__ import annotations

import hashlib
import os
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import IO

from srsql.engine.catalog.periods import days_of, is_batch_of, may_overlap
from srsql.engine.errors import IngestError
from srsql.schemas import Dataset, builtin_names, load_dataset
from srsql.schemas.outside import OutsideError, breaks_line, need_plain, need_within, open_plain
from srsql.schemas.roles import LONGEST_TEXT

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
_WEEK = re.compile(r"(?<![0-9])([0-9]{4})-?[Ww]([0-9]{2})(?![0-9])")
_LISTED = 5
"""Files that a message names."""


SIZES = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
SIZES |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
RATIO, LEAST, MOST = 100, 64 * 10**6, 8 * 10**9
"""What a zip may take unpacked: so many times its own size, but so much in any case and no more
than that. Quarters as published take 2 to 6 times, single files of them up to 9 times; by its rows
the largest quarter of FAERS takes less than half a GB."""


@dataclass
class Unpacking:
    """What one source may take unpacked, and has taken: counted as its bytes come.

    What a zip says of itself is checked first, so that most of them are refused before a byte is
    written; but it may say anything, and its entries may lie on top of each other.
    """

    name: str
    limit: int
    taken: int = 0

    def take(self, size: int) -> None:
        """Count bytes before they are written.

        Raises:
            IngestError: they are more than the source may take.
        """
        self.taken += size
        if self.taken > self.limit:
            raise self.too_large()

    def too_large(self, declared: int | None = None) -> IngestError:
        """The refusal; ``declared``: what the source says that it takes."""
        size = f"more than {_size(self.limit)}" if declared is None else _size(declared)
        more = "" if declared is None else f", which is more than {_size(self.limit)}"
        return IngestError(
            f"{self.name} takes {size} unpacked{more}: nothing was changed; if you know where it "
            "comes from, say how much it may take with --max-unpacked, such as 20GB"
        )


def most_unpacked(text: str | None, packed: int | None = None) -> int:
    """How many bytes may come of a source.

    Args:
        text: what ``--max-unpacked`` says, such as 20GB; None: the usual bound.
        packed: the size of a zip; None: of what is not one, where no ratio tells anything.

    Raises:
        IngestError: the text is no size.
    """
    if text is None:
        return MOST if packed is None else min(MOST, max(LEAST, RATIO * packed))
    match = re.fullmatch(r"\s*([0-9]{1,15})\s*([KMGT]I?B)?\s*", text, re.IGNORECASE)
    if match is None or not int(match[1]):
        raise IngestError(f"--max-unpacked {text!r}: give a size such as 20GB or 500MB")
    return int(match[1]) * SIZES.get((match[2] or "").upper(), 1)


def _size(count: int) -> str:
    unit = next((u for u in ("TB", "GB", "MB", "KB") if count >= SIZES[u]), "")
    return f"{count / SIZES[unit]:.1f} {unit}" if unit else f"{count} bytes"


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
    unpacking: Unpacking | None = field(default=None, compare=False)
    """What the zip that it is in may take; None for a plain file."""

    def take(self, size: int) -> None:
        """Count bytes that were read of it before they are written.

        Raises:
            IngestError: the zip that it is in takes more than it may.
        """
        if self.unpacking is not None:
            self.unpacking.take(size)

    @property
    def base(self) -> str:
        """The file's own name."""
        return PurePosixPath(self.name.replace("\\", "/")).name

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """The file's bytes as a stream."""
        if self.inside is None:
            with open_plain(self.path) as plain:
                yield plain
        else:
            with opened_zip(self.path) as archive, archive.open(self.inside) as packed:
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
    paths: Sequence[str | Path],
    dataset: Dataset,
    period: str | None,
    max_unpacked: str | None = None,
    *,
    named: bool = True,
) -> list[PeriodSource]:
    """The periods at ``paths``.

    Args:
        paths: zips, directories, single files, or directories full of zips.
        dataset: declares which files belong to it.
        period: the label of the period where no file name has it.
        max_unpacked: what the files of a zip may take (see ``most_unpacked``).
        named: a source without a period by its name is refused; else it has its own name for one,
            since its rows tell theirs.

    Returns:
        One source for each period, in the order of ``paths``.

    Raises:
        IngestError: there is nothing, a required table is missing, two files are for one table, or
            a period is unknown, contradictory, given twice or has a label that no release could
            show; or a zip takes too much unpacked.
    """
    expanded = [entry for path in paths for entry in _expand(Path(path), dataset)]
    found: dict[str, PeriodSource] = {}
    for path in expanded:
        usual = None if named else _text(path.stem)
        source = _bounded(_source(path, dataset, period, usual), path, max_unpacked)
        other = found.setdefault(source.quarter, source)
        if other is not source:
            raise IngestError(
                f"{other.name} and {path.name} both hold {source.quarter}: "
                "give one of them, or put the files of one period into one directory"
            )
    need_labels(found)
    return list(found.values())


def _bounded(source: PeriodSource, path: Path, max_unpacked: str | None) -> PeriodSource:
    """The source with a bound on what its zip takes, if it is one and says that it keeps to it."""
    limit = most_unpacked(max_unpacked, path.stat().st_size)
    packed = {m.inside for m in source.members if isinstance(m, Member)} - {None}
    if not packed:
        return source
    unpacking = Unpacking(source.name, limit)
    with opened_zip(path) as archive:
        declared = sum(e.file_size for e in archive.infolist() if e.filename in packed)
    if declared > limit:
        raise unpacking.too_large(declared)
    members = tuple(
        replace(m, unpacking=unpacking) if isinstance(m, Member) else m for m in source.members
    )
    return replace(source, members=members)


def members_at(path: Path) -> list[Member]:
    """The files at a path that may hold records: of a folder, of a zip, or the file itself.

    Raises:
        IngestError: there is nothing, no plain file, or a zip that is not complete.
    """
    if not path.exists():
        raise IngestError(f"{path}: no such file or directory")
    folder = path if path.is_dir() else None
    if folder is None:
        _need_source(path, None)
    found = [member for member in _members(path) if not _is_stray(member)]
    for member in found if folder is not None else ():
        _need_source(member.path, folder)
    if folder is None or not all(_is_zip(member.path) for member in found):
        return found
    return [inner for member in found for inner in members_at(member.path)]


def digest(stream: IO[bytes]) -> str:
    """SHA-256 of everything left in ``stream``."""
    sha = hashlib.sha256()
    while chunk := stream.read(CHUNK):
        sha.update(chunk)
    return sha.hexdigest()


def _expand(path: Path, dataset: Dataset) -> list[Path]:
    if not path.exists():
        raise IngestError(f"{path}: no such file or directory")
    if not path.is_dir():
        _need_source(path, None)
    elif not any(m.table for m in _matched(_directory(path), dataset)):
        zips = sorted(p for p in path.iterdir() if p.suffix.lower() == ".zip")
        for each in zips:
            _need_source(each, path)
        if zips:
            return zips
    return [path]


def _need_source(path: Path, folder: Path | None) -> None:
    """Refuse what is no plain file, or lies outside of the folder that was named.

    Raises:
        IngestError: the text says what to do.
    """
    try:
        need_plain(path)
        if folder is not None:
            need_within(path, folder)
    except OSError as error:
        told = error if isinstance(error, OutsideError) else error.strerror
        raise IngestError(f"{_text(str(path))} cannot be ingested: {told}") from None


@contextmanager
def opened_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """A zip, opened to be read."""
    with open_plain(path) as file, zipfile.ZipFile(file) as archive:
        yield archive


def _is_zip(path: Path) -> bool:
    if path.is_dir():
        return False
    with open_plain(path) as file:
        return zipfile.is_zipfile(file)


def _files_below(folder: Path) -> Iterator[Path]:
    """All that lies in a folder and below, where no link is followed to another folder."""
    for place, _, names in os.walk(folder):
        yield from (Path(place) / name for name in names)


def _source(path: Path, dataset: Dataset, period: str | None, usual: str | None) -> PeriodSource:
    members = _matched(_members(path), dataset)
    if not members and not path.is_dir() and not _is_zip(path):
        own = [table for table in dataset.tables if table.same_file is None]
        members = [Member(_text(path.name), path, table=t.name) for t in own if len(own) == 1]
    if not any(member.table for member in members):
        raise IngestError(_strange(path, dataset))
    if path.is_dir():
        for member in members:
            _need_source(member.path, path)
    quarter = _quarter(path, members, dataset, period, usual)
    return PeriodSource(
        _text(path.name), quarter, _digest(path, members), _choose(path, members, dataset)
    )


def _strange(path: Path, dataset: Dataset) -> str:
    """One line on a source without a file of the dataset: of which one that ships it has some."""
    members = _members(path)
    for name in builtin_names():
        if name != dataset.name and any(m.table for m in _matched(members, load_dataset(name))):
            return f"{path.name} looks like {name.upper()}: give --dataset {name}"
    wanted = ", ".join(glob for table in dataset.tables for glob in table.files if table.required)
    there = ", ".join(member.base for member in members[:_LISTED]) or "nothing"
    return (
        f"{path.name}: no file of dataset {dataset.name!r} in it (it has: {there}"
        f"{', ...' if len(members) > _LISTED else ''}; wanted: {wanted}): give the right file, or "
        "--dataset"
    )


def _members(path: Path) -> list[Member]:
    """All files at a path, whatever they hold."""
    if path.is_dir():
        return _directory(path)
    if path.suffix.lower() == ".zip" or _is_zip(path):
        return _archive(path)
    return [Member(_text(path.name), path)]


def _directory(path: Path) -> list[Member]:
    files = sorted(p for p in _files_below(path) if p.is_file())
    return [Member(_text(p.relative_to(path).as_posix()), p) for p in files]


def _text(name: str) -> str:
    """The name of a file as text, whatever its bytes are."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _archive(path: Path) -> list[Member]:
    try:
        with opened_zip(path) as archive:
            names = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
    except zipfile.BadZipFile:
        raise IngestError(f"{path.name} is not a complete zip: download it again") from None
    return [Member(name, path, inside=name) for name in names]


def _matched(members: list[Member], dataset: Dataset) -> list[Member]:
    """The members that some table or the withdrawn lists claim."""
    found = []
    for member in members:
        if _is_stray(member):
            continue
        base = member.base.lower()
        tables = [t.name for t in dataset.tables if _fits(base, t.files)]
        if len(tables) > 1:
            raise IngestError(f"{member.name} fits tables {tables[0]} and {tables[1]}: rename it")
        if tables or _fits(base, dataset.source.deleted_files):
            table = tables[0] if tables else None
            found.append(Member(member.name, member.path, member.inside, table))
    return found


def _is_stray(member: Member) -> bool:
    """Whether a file is a document, hidden, or our own."""
    base = member.base.lower()
    stray = base.startswith((".", _OURS)) or "__MACOSX" in member.name
    return stray or PurePosixPath(base).suffix in _DOCUMENTS


def _fits(base: str, globs: tuple[str, ...]) -> bool:
    return any(fnmatch(base, glob.lower()) for glob in globs)


def _choose(path: Path, members: list[Member], dataset: Dataset) -> tuple[Member, ...]:
    """One member a table, the report table first, then the withdrawn lists."""
    chosen = []
    for table in sorted(dataset.tables, key=lambda t: t.name != dataset.report_table):
        fitting = [m for m in members if m.table == (table.same_file or table.name)]
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
        if table.same_file is not None:  # what becomes of a file is told of each table apart
            fitting = [
                replace(m, name=f"{m.name} ({table.name})", table=table.name) for m in fitting
            ]
        chosen += fitting
    return (*chosen, *(m for m in members if m.table is None))


def _quarter(
    path: Path, members: list[Member], dataset: Dataset, period: str | None, usual: str | None
) -> str:
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
    if given is not None and dataset.source.row_period is not None:
        return given  # files are named for the newest of their periods, if for any
    weeks = {w for name in (path.name, *(m.base for m in members)) if (w := _week(name))}
    if given is not None and weeks and not any(may_overlap(given, week) for week in weeks):
        raise IngestError(f"{path.name} is {min(weeks)} by its file names, not {given}")
    if label is not None and given is not None and given != label:
        if is_batch_of(given, label):  # files of a week that are named for their quarter
            return given
        raise IngestError(f"{path.name} is {label} by its file names, not {given}")
    if given is None and label is None:
        if usual is not None:
            return usual
        if len(weeks) != 1:
            raise IngestError(f"{path.name}: no period in its file names: give it with --period")
        return weeks.pop()
    week = _week(path.name)
    if given is None and label is not None and week is not None:
        return _week_or(label, week, path)
    return str(label or given)


def need_labels(labels: Iterable[str]) -> None:
    """Refuse periods whose labels no release could show.

    Raises:
        IngestError: a label holds a control character, or is longer than a published text may be.
    """
    for label in labels:
        if breaks_line(label):
            wrong = "holds a line end or another control character"
        elif len(label) > LONGEST_TEXT:
            wrong = f"has more than {LONGEST_TEXT} characters"
        else:
            continue
        raise IngestError(f"the period {label[:60]!r} {wrong}: give a label such as 2011Q4")


def _week_or(label: str, week: str, path: Path) -> str:
    """The period of a source that a week is named for, with files in it that name ``label``."""
    if is_batch_of(week, label):
        return week
    if days_of(week) is not None and days_of(week) == days_of(label):
        return label
    raise IngestError(
        f"{path.name} is {week} by its own name and {label} by the files in it: give --period "
        f"{label}, or rename it"
    )


def _week(name: str) -> str | None:
    """The ISO week that a name has, as 2026W07; a day may be that of an export."""
    match = _WEEK.search(name)
    return f"{match[1]}W{match[2]}" if match else None


def _label(name: str, dataset: Dataset) -> str | None:
    pattern, label = dataset.source.period_pattern, dataset.source.period_label
    match = re.search(pattern, name) if pattern else None
    if match is None:
        return None
    for position, group in enumerate(match.groups()):
        if re.fullmatch("[0-9]{4}", group or ""):
            label = label.replace(f"20{{{position}}}", f"{{{position}}}")
    return label.format(*match.groups())


def _digest(path: Path, members: list[Member]) -> str:
    if path.is_file():
        with open_plain(path) as stream:
            return digest(stream)
    sha = hashlib.sha256()
    for member in sorted(members, key=lambda m: m.name):
        with member.open() as stream:
            sha.update(f"{digest(stream)} {member.name}\n".encode("utf-8", "surrogateescape"))
    return sha.hexdigest()
