"""Artifacts, opened to be asked: what analysts get instead of a warehouse.

The rows of one or several artifacts of one series go into a database in memory that has nothing
else, so that questions and signals run on them as they do on the released views of a warehouse,
with the same answers. The maker of the artifacts is a stranger: only the files of the closed list
are read, each held against its hash, by a connection that opens no other file (see
``verify.reading``), and what comes out of it are rows of the declared columns.

That the bounds hold is not looked at here: ``srsql verify`` does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
from sqlglot import exp

from srsql.engine.artifact.documents import public_manifest
from srsql.engine.artifact.format import Manifest, quarters_of
from srsql.engine.artifact.verify.declarations import (
    differences,
    shipped_dataset,
    with_shown,
)
from srsql.engine.artifact.verify.files import check_files, read_hierarchies, read_thresholds
from srsql.engine.artifact.verify.published_rows import published_rows
from srsql.engine.artifact.verify.reading import check_tables, connection, loaded, read_tables
from srsql.engine.catalog.public_database import (
    BATCH,
    PublicSeries,
    fill,
    public_connection,
)
from srsql.engine.catalog.series import ORIGINAL, PSEUDONYM, Series
from srsql.engine.errors import ArtifactError, one_line
from srsql.engine.parameters import MAIN
from srsql.engine.store.database_file import Limits
from srsql.engine.store.database_file import connection as own_connection
from srsql.engine.store.statements import column, temporary
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset


@dataclass(frozen=True)
class Opened:
    """The rows of artifacts in a database of their own."""

    warehouse: Warehouse
    dataset: Dataset
    """With the tables that have rows."""
    series: PublicSeries
    manifests: tuple[Manifest, ...]
    """Of each quarter, oldest first."""


@contextmanager
def opened(
    folders: Sequence[Path],
    dataset: Dataset | None = None,
    *,
    threads: int | None = None,
    memory_limit: str | None = None,
) -> Iterator[Opened]:
    """Read artifacts of one series into a database in memory, which is gone afterwards.

    Args:
        folders: of one quarter or several each, in any order.
        dataset: that was released; None: one that ships with srsql.
        threads: of DuckDB.
        memory_limit: of the process, such as ``"8GB"``.

    Raises:
        VerifyError: a folder is no artifact.
        ArtifactError: one is not as it was published, they do not go together, or nobody told what
            their dataset declares.
    """
    parts = _parts(folders)
    _refuse_mixed([manifest for _, manifest in parts])
    schema = _dataset_of(parts, dataset)
    series = _series(schema, [manifest for _, manifest in parts])
    limit = Limits(threads, memory_limit).settings().get("memory_limit") or _default_limit()
    with public_connection(limit, threads) as con:
        own = Warehouse(con)
        try:
            with connection(*dict.fromkeys(folder for folder, _ in parts)) as reader:
                rows = _Rows(reader, dict(zip(series.schemas.values(), parts, strict=True)))
                with own.guarded():
                    fill(own, rows, schema, series)
        except (duckdb.Error, OSError, ValueError, ArithmeticError, pa.ArrowException) as error:
            raise ArtifactError(f"the artifacts cannot be read: {one_line(error)}") from None
        con.execute("SET enable_external_access = false")
        yield Opened(own, schema, series, tuple(manifest for _, manifest in parts))


def _default_limit() -> str:
    with own_connection() as con:
        ((limit,),) = con.execute("SELECT current_setting('memory_limit')").fetchall()
    return str(limit)


def _parts(folders: Sequence[Path]) -> list[tuple[Path, Manifest]]:
    """Every quarter of every folder, oldest first."""
    if not folders:
        raise ArtifactError("give the folder of an artifact, as 'srsql publish' wrote it")
    found: list[tuple[Path, Manifest]] = []
    for folder in folders:
        checks, manifest = check_files(folder)
        faults = [fault for check in checks for fault in check.faults]
        if manifest is None or faults:
            why = faults[0] if faults else "its manifest cannot be read"
            raise ArtifactError(
                f"{folder} is not as it was published: {why}; 'srsql verify' tells everything"
            )
        with connection(folder) as con:
            beside = check_tables(con, folder, manifest).faults
        if beside:
            raise ArtifactError(f"{folder} is not as it was published: {beside[0]}")
        found += [(folder, part) for part in quarters_of(manifest)]
    return sorted(found, key=lambda each: each[1].quarter)


def _refuse_mixed(parts: Sequence[Manifest]) -> None:
    """Artifacts whose rows cannot be counted together."""
    first = parts[0]
    quarters = [part.quarter for part in parts]
    for quarter in quarters:
        if quarters.count(quarter) > 1:
            raise ArtifactError(f"{quarter} is in two of the artifacts: give one of them")
    for other in parts[1:]:
        for what, one, two in (
            (
                "dataset",
                (first.dataset, first.dataset_version),
                (other.dataset, other.dataset_version),
            ),
            ("series", first.series, other.series),
            ("ids", _ids_of(first), _ids_of(other)),
            ("key of the pseudonyms", first.key_id, other.key_id),
            ("quasi-identifiers", first.attributes, other.attributes),
            ("version of the key of terms", first.term_key, other.term_key),
            (
                "tables",
                {t.name: t.columns for t in first.tables},
                {t.name: t.columns for t in other.tables},
            ),
        ):
            if one != two:
                raise ArtifactError(
                    f"{other.quarter} has another {what} than {first.quarter}: give artifacts of "
                    "one series, published alike"
                )


def _ids_of(manifest: Manifest) -> tuple[str, bool]:
    """Which ids, and whether they are pseudonyms; early artifacts tell the second alone."""
    keyed = manifest.case_ids == PSEUDONYM
    told = manifest.parameters.get("ids")
    kind = str(told) if told is not None else PSEUDONYM if keyed else ORIGINAL
    return kind, kind != ORIGINAL


def _dataset_of(parts: Sequence[tuple[Path, Manifest]], given: Dataset | None) -> Dataset:
    """What was released, as the dataset's file declares it and the artifacts have it."""
    first = parts[0][1]
    if given is not None and given.name != first.dataset:
        raise ArtifactError(
            f"the artifacts are of dataset {first.dataset!r}, not of {given.name!r}"
        )
    given = None if given is None else with_shown(first, given.keyed(first.term_key))
    found = shipped_dataset(first) if given is None else given
    if found is None:
        raise ArtifactError(
            f"dataset {first.dataset!r}, version {first.dataset_version}, does not ship with this "
            "srsql: give its file (--dataset), which whoever published the artifact has"
        )
    if given is not None:
        found = published_rows(first).shown(given)
    for folder, manifest in parts:
        try:
            faults = differences(manifest, read_hierarchies(folder, manifest), found)
        except ValueError as error:
            raise ArtifactError(f"{folder}: {one_line(error)}") from None
        if faults:
            raise ArtifactError(f"{folder} is not as dataset {found.name!r} declares: {faults[0]}")
    return found


def _series(dataset: Dataset, parts: Sequence[Manifest]) -> PublicSeries:
    """The series with the names that a warehouse gives its views."""
    name = parts[0].series
    kind, keyed = _ids_of(parts[0])
    plain = Series(dataset.name, name, "", "", None, kind)
    schemas = {part.quarter: plain.plain_schema(part.quarter) for part in parts}
    if len(set(schemas.values())) < len(schemas):
        raise ArtifactError("two quarters of the artifacts differ in upper and lower case alone")
    return PublicSeries(
        name,
        schemas,
        frozenset(item.name for item in parts[0].tables),
        {part.quarter: part.model for part in parts},
        "released" if name == MAIN else f"released_{name}".lower(),
        kind,
        keyed,
    )


class _Rows:
    """The rows of the artifacts, quarter by quarter, each read when it is first asked for."""

    def __init__(
        self, con: duckdb.DuckDBPyConnection, parts: dict[str, tuple[Path, Manifest]]
    ) -> None:
        self._con, self._parts = con, parts
        self._read: str | None = None

    def __call__(self, schema: str, view: str) -> pa.RecordBatchReader:
        """The rows of a view of a release, or of its public manifest."""
        folder, manifest = self._parts[schema]
        if view == "manifest":
            thresholds = zip(*read_thresholds(folder, manifest), strict=True)
            facts = public_manifest(thresholds, manifest)
            return pa.RecordBatchReader.from_batches(facts.schema, facts.to_batches())
        if self._read != schema:
            faults = read_tables(self._con, folder, manifest)
            if faults:
                raise ArtifactError(f"{folder} is not as it was published: {faults[0]}")
            self._read = schema
        names = [column(c.name, "t") for c in manifest.table(view).columns]
        rows = exp.select(*names).from_(temporary(loaded(view), alias="t"))
        return self._con.sql(rows.sql("duckdb")).to_arrow_reader(BATCH)
