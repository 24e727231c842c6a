"""The life of a publication: read the released rows, build beside, verify, move into place.

Files appear complete or not at all: the folder of an artifact, and the key file. The key file of
pseudonymous publications has 64 random bytes in hexadecimal, readable by its owner. A holder of the
key can tell which pseudonym a known case id has. It stays with the steward; the same key in every
quarter keeps the pseudonyms of a case equal.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

import duckdb

from srsql.engine.artifact.format import (
    CATALOGUES,
    DUCKDB_FILE,
    MANIFEST,
    MOST_KEY,
    MOST_SUMS,
    SIGNATURE,
    SUMS,
    AnyManifest,
    Manifest,
    Stated,
    file_digest,
    private_key,
    quarters_of,
    sign,
)
from srsql.engine.artifact.publish.manifest import (
    Made,
    PublishableRelease,
    claims,
    describe,
    find_range,
    find_release,
    public_facts,
    release_facts,
    thresholds_of,
)
from srsql.engine.artifact.publish.tables import (
    Plan,
    memory_limit,
    plan_counts,
    plan_tables,
    plan_terms,
    prove,
    prove_texts,
    staging,
)
from srsql.engine.artifact.verify.verify import verify
from srsql.engine.catalog.releases import key_of, released_terms, staleness
from srsql.engine.checks.secrets import need_published_pseudonyms
from srsql.engine.errors import PublishError, UnsafeArtifactError, one_line
from srsql.engine.measures import MeasureRow
from srsql.engine.parameters import STORAGE_VERSION, Format
from srsql.engine.release.exposure import Consent, links_handed_on, unpublishable
from srsql.engine.release.request import is_range, range_ends
from srsql.engine.store.database_file import need_usable
from srsql.engine.store.scratch import (
    name_new,
    need_free,
    private_file,
    private_folder,
    put_folder,
    sync,
)
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset
from srsql.schemas.outside import json_of, read_bytes, read_text

Progress = Callable[[str], None]
FORMATS: tuple[str, ...] = get_args(Format)
CASE_IDS = ("as-released", "pseudonym")
KEY_BYTES = 64
_STORAGE = re.compile(r"v\d+\.\d+\.\d+|latest")


@dataclass(frozen=True)
class PublishRequest:
    """What to publish, where to, and how."""

    quarter: str
    to: Path
    series: str
    format: Format = "parquet"
    case_ids: Literal["as-released", "pseudonym"] = "as-released"
    key_file: Path | None = None
    storage_version: str | None = None
    """Of a DuckDB file: the oldest DuckDB that can read it."""
    consent: Consent = field(default_factory=Consent)
    """To the rows that link to other releases of the quarter."""
    sign: Path | None = None
    """PEM file with the Ed25519 key that the hashes are signed with."""
    stale: bool = False
    """Publish a release although cases have left it since it was made."""
    if_needed: bool = False
    """An artifact that is there already, file by file the same, is as good as a new one."""
    csv_safe: bool = False
    """Put an apostrophe before the cells of CSV files that a spreadsheet would run as formulas."""
    not_ids: tuple[str, ...] = ()
    """Words of texts that are ids of other reports or cases as well, and are none there."""
    stated: Stated = field(default_factory=Stated)
    """What the publisher says of it, for catalogues and papers."""

    def __post_init__(self) -> None:
        """Refuse what contradicts itself."""
        if self.format not in FORMATS:
            raise PublishError(f"--format {self.format}: give one of {', '.join(FORMATS)}")
        if self.case_ids not in CASE_IDS:
            raise PublishError(f"--case-ids {self.case_ids}: give one of {', '.join(CASE_IDS)}")
        if (self.case_ids == "pseudonym") != (self.key_file is not None):
            raise PublishError("--case-ids pseudonym and --key-file FILE go together")
        for key in (self.key_file, self.sign):
            if key and key.resolve().is_relative_to(self.to.resolve()):
                raise PublishError(
                    f"the key file {key} would lie in the artifact: keep it elsewhere"
                )
        if self.storage_version is not None:
            if self.format != "duckdb":
                raise PublishError("--storage-version is for --format duckdb")
            if not _STORAGE.fullmatch(self.storage_version):
                raise PublishError(
                    f"--storage-version {self.storage_version!r}: give a version of DuckDB such as "
                    "v1.4.0, or latest"
                )


@dataclass(frozen=True)
class Published:
    """What was published."""

    quarter: str
    series: str
    path: str
    format: str
    case_ids: str
    counts: dict[str, int | None]
    files: list[dict[str, Any]]
    """name, rows (None: not a table), bytes, sha256."""
    checks: list[str]
    """Names of the checks of ``srsql verify`` that it passed before it was moved into place."""
    new_key: str | None
    """The key file, if it was made now."""
    stale: str
    """What has left the release since it was made, which the artifact does not tell; or empty."""
    unfinished: list[str]
    """Folders beside it that could not be removed: of other users, or of publications that run."""
    links: list[MeasureRow]
    """How many rows link to each other release of the quarter, superseded ones included."""
    unchanged: bool = False
    """It was there already, file by file the same, and nothing was done."""


def publish(
    warehouse: Warehouse,
    dataset: Dataset,
    publication: PublishRequest,
    progress: Progress | None = None,
) -> Published:
    """Write the artifact of a released quarter, or of a range; nothing in the warehouse changes.

    Args:
        warehouse: where the quarter was released.
        dataset: whose quarter.
        publication: what to publish, where to, and how.
        progress: takes the name of each stage.

    Raises:
        PublishError: the quarter is not released or not ours, or the artifact cannot be written;
            nothing is at the place it was to go to.
        CheckFailedError: a column of it would show what the dataset schema does not let out.
    """
    if publication.if_needed and publication.to.is_dir() and any(publication.to.iterdir()):
        return _compared(warehouse, dataset, publication, progress)
    step = progress or (lambda _: None)
    quarter, to, key_file = publication.quarter, publication.to, publication.key_file
    signing = private_key(publication.sign) if publication.sign else None
    form, storage = publication.format, publication.storage_version or STORAGE_VERSION
    try:
        with _refusing_what_is_there(to):
            need_free(to)  # before any work, and once more at the end
        with warehouse.beside_another(), warehouse.transaction():
            releases = _releases(warehouse, dataset, publication)
            stale = []
            for release in releases:
                if refused := unpublishable(warehouse, release.release_id):
                    raise PublishError(f"{release.quarter} {refused}")
                stale += staleness(warehouse, release_id=release.release_id)
            for one in stale:
                if one.counted:
                    raise PublishError(one.line)
                if not publication.stale:
                    raise PublishError(f"{one.line}, or give --stale to publish it as it is")
            step("links")
            links = [
                row
                for release in releases
                for row in links_handed_on(
                    warehouse,
                    dataset,
                    release.release_id,
                    f"{release.quarter} in series {release.series!r}",
                    publication.consent,
                )
            ]
            with built_beside(to) as (folder, scratch):
                key, new_key = read_or_make_key(key_file) if key_file else (None, False)
                with staging(warehouse, folder, form, storage, scratch) as files:
                    made = []
                    for number, release in enumerate(releases):
                        done = f"{number} of {len(releases)} quarters; {release.quarter}: "
                        step(f"{done if len(releases) > 1 else ''}lineage")
                        own = dataset.keyed(key_of(warehouse, release.release_id))
                        plans = _plans(warehouse, own, release, key)
                        known = prove_texts(warehouse, own, release, publication.not_ids)
                        step(f"{done if len(releases) > 1 else ''}rows")
                        label = release.quarter if len(releases) > 1 else None
                        rows = files.stage(plans, number, label)
                        model = str(public_facts(warehouse, release)["model"])
                        told = thresholds_of(warehouse, release.release_id, model)
                        made.append(
                            Made(
                                release,
                                own,
                                rows,
                                files.shown(own, number, label),
                                files.unprotected(own, rows, told, number, label),
                                known,
                            )
                        )
                    parts = claims(
                        warehouse,
                        made,
                        key,
                        form,
                        publication.stated,
                        csv_safe=publication.csv_safe,
                    )
                    cases = files.released_cases(dataset, parts)
                    files.write(parts)
                step("report and manifest")
                ids = [release.release_id for release in releases]
                manifest = describe(warehouse, dataset, parts, ids, folder, cases)
                if signing is not None:
                    sign(folder, signing)
                step("verification")
                found = verify(folder, memory_limit=memory_limit(warehouse))
                if not found.passed:
                    raise UnsafeArtifactError(
                        f"{quarter} was not published, the artifact fails its own check: "
                        + (found.failures or found.not_run)[0]
                    )
    except (duckdb.Error, OSError) as error:
        raise PublishError(
            f"{quarter} was not published, nothing is at {to}: {one_line(error)}"
        ) from error
    return Published(
        quarter=quarter,
        series=publication.series,
        path=str(to),
        format=publication.format,
        case_ids=publication.case_ids,
        counts=_counts(parts),
        files=_files(to, manifest),
        checks=list(dict.fromkeys(check.name for check in found.checks)),
        new_key=str(key_file) if new_key else None,
        stale="; ".join(one.line for one in stale),
        unfinished=[str(path) for path in unfinished(to)],
        links=links,
    )


def _compared(
    warehouse: Warehouse, dataset: Dataset, publication: PublishRequest, progress: Progress | None
) -> Published:
    """Publish once more in a folder of its own, and hold what is there against it, file by file.

    That takes as long as publishing, and passes over nothing that differs: another release, form or
    key, a file that was changed since.

    Raises:
        PublishError: something differs; the text names the files.
    """
    to, key = publication.to, publication.key_file
    if key and not key.exists():
        raise PublishError(f"{to} is there, and its key file {key} is not: give the one it has")
    with private_folder(to, "unfinished") as folder:
        again = replace(publication, to=folder / to.name, if_needed=False)
        made = publish(warehouse, dataset, again, progress)
        differs = _differing(publication, again.to)
    if differs:
        raise PublishError(
            f"{to} holds something else than {publication.quarter} of series "
            f"{publication.series!r} as asked ({', '.join(differs)} differ): what left the house "
            "is not overwritten, give another --to"
        )
    return replace(made, path=str(to), unchanged=True)


def _differing(publication: PublishRequest, made: Path) -> list[str]:
    """The files of an artifact that was made once more that are not as they are in the first.

    A DuckDB file has an identifier that is drawn at random, on which the hashes depend: of it
    contents and storage version are compared, and of what tells its hash and size all else.
    """
    to, duck = publication.to, publication.format == "duckdb"
    ours, theirs = ({p.name: _digest(p) for p in f.iterdir()} for f in (made, to))
    drawn = {DUCKDB_FILE, MANIFEST, SUMS, SIGNATURE} if duck else set()
    found = {n for n in ours.keys() | theirs.keys() if ours.get(n) != theirs.get(n)}
    told = {n for n in found & ours.keys() & theirs.keys() if n in CATALOGUES} if duck else set()
    found -= {n for n in told if _undrawn(made, n) == _undrawn(to, n)}
    missing = {n for n in drawn if (n in ours) != (n in theirs)}
    if found - drawn or missing or not duck:
        return sorted(found - drawn | missing)
    if _compared_manifest(made) != _compared_manifest(to) or not verify(to).passed:
        return [MANIFEST]
    if _storage_version(made) != _storage_version(to):
        return [DUCKDB_FILE]
    if publication.sign:  # Ed25519 has one signature of a text
        signed = private_key(publication.sign).sign(read_bytes(to / SUMS, MOST_SUMS))
        return [] if read_bytes(to / SIGNATURE, MOST_SUMS) == signed else [SIGNATURE]
    return []


def _digest(path: Path) -> str:
    return file_digest(path) if _is_own(path) else "no file"


def _is_own(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _undrawn(folder: Path, name: str) -> bytes | None:
    """A file without the hash and the size of the DuckDB file beside it; None: it is no file."""
    own, file = folder / name, folder / DUCKDB_FILE
    if not _is_own(own) or not _is_own(file):
        return None
    text = read_bytes(own, links=False)
    for drawn in (_digest(file), str(file.stat().st_size)):
        text = text.replace(drawn.encode(), b"")
    return text


def _compared_manifest(folder: Path) -> Any:
    """The manifest without the hashes of the DuckDB file and of what tells that hash: the contents
    of these are compared."""
    manifest = json_of(read_text(folder / MANIFEST, encoding="utf-8"))
    compared = {DUCKDB_FILE, *CATALOGUES}
    return manifest | {"files": {n: v for n, v in manifest["files"].items() if n not in compared}}


def _storage_version(folder: Path) -> Any:
    with duckdb.connect(folder / DUCKDB_FILE, read_only=True) as con:
        (row,) = con.execute(
            "SELECT d.tags FROM system.main.duckdb_databases() AS d "
            "WHERE d.database_name = system.main.current_database()"
        ).fetchall()
    return row


def _releases(
    warehouse: Warehouse, dataset: Dataset, publication: PublishRequest
) -> list[PublishableRelease]:
    """The release of the quarter, or those of all quarters of a range."""
    series, quarter = publication.series, publication.quarter
    if not is_range(quarter):
        return [find_release(warehouse, dataset, series, quarter)]
    return find_range(warehouse, dataset, series, *range_ends(quarter))


def _plans(
    warehouse: Warehouse, dataset: Dataset, release: PublishableRelease, key: bytes | None
) -> list[Plan]:
    """What to read of a release, every column of it traced to what may be shown."""
    plans = plan_tables(dataset, release.schema, key, keyed=release.keyed)
    if released_terms(warehouse, release.release_id):
        grouped = dataset.rows and not dataset.cluster_columns
        plans += plan_terms(dataset, release.schema, grouped=grouped)
    plans += plan_counts(dataset, release.schema) if dataset.counted else []
    prove(warehouse, dataset, release, plans)
    if key is not None and dataset.rows:
        shown, _ = release_facts(warehouse, dataset, release)
        rows = next(plan.query for plan in plans if plan.name == dataset.report_table)
        need_published_pseudonyms(shown, rows, key)
    return plans


def _counts(parts: list[Manifest]) -> dict[str, int | None]:
    """What is released and withheld; of several quarters, each of which counts its cases, added."""
    told = [part.counts.model_dump() for part in parts]
    return {
        name: None if any(each[name] is None for each in told) else sum(e[name] for e in told)
        for name in told[0]
    }


def _files(folder: Path, manifest: AnyManifest) -> list[dict[str, Any]]:
    rows: dict[str, int] = {}
    for table in (item for part in quarters_of(manifest) for item in part.tables):
        rows[table.file] = rows.get(table.file, 0) + table.rows
    return [
        {
            "name": path.name,
            "rows": rows.get(path.name),
            "bytes": path.stat().st_size,
            "sha256": file_digest(path),
        }
        for path in sorted(folder.iterdir())
    ]


@contextmanager
def built_beside(target: Path) -> Iterator[tuple[Path, Path]]:
    """Yield (an empty folder, a folder for scratch); the first becomes ``target`` at the end.

    Raises:
        PublishError: something is at ``target`` already, or at the end; see ``put_folder``.
    """
    need_usable(target)
    with _refusing_what_is_there(target), put_folder(target) as (folder, scratch):
        yield folder, scratch


@contextmanager
def _refusing_what_is_there(target: Path) -> Iterator[None]:
    """What is at ``target`` is an error that says what to do."""
    try:
        yield
    except FileExistsError as error:
        if error.filename != str(target.absolute()):
            raise
        raise PublishError(
            f"{error.filename} exists and is not an empty folder: what left the house is not "
            "overwritten, give another --to, or --if-needed where it is to hold just this"
        ) from None


def unfinished(target: Path) -> list[Path]:
    """What is left beside ``target`` of publications that crashed, or is made by others now."""
    prefix = f".{target.absolute().name}."
    return sorted(
        path
        for path in target.absolute().parent.iterdir()
        if path.name.startswith(prefix) and path.name.endswith(".unfinished")
    )


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
        text = read_text(path, MOST_KEY, encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        raise PublishError(f"the key file {path} cannot be read: {error}") from None
    if not re.fullmatch(r"[0-9a-f]{128}\n?", text):
        raise PublishError(
            f"{path} is not a key file (128 hexadecimal digits): give the one that the earlier "
            "quarters were published with, or a name that does not exist yet"
        )
    return bytes.fromhex(text.strip())


def _make_key(path: Path) -> tuple[bytes, bool]:
    """A new key under that name, or the one that another publication made there meanwhile.

    The name appears with the whole key behind it, which is written in a private folder.
    """
    key = secrets.token_bytes(KEY_BYTES)
    try:
        with private_folder(path, "unfinished") as folder:
            beside = folder / "key"
            private_file(beside)
            beside.write_text(key.hex() + "\n", encoding="ascii")
            sync(beside)
            name_new(beside, path)  # never over a file that is there
        sync(path.absolute().parent)
    except FileExistsError:
        return _read_key(path), False
    except OSError as error:
        raise PublishError(f"the key file {path} cannot be made: {error}") from None
    return key, True
