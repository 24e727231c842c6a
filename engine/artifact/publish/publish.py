"""The life of a publication: read the released rows, build beside, verify, move into place."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import duckdb

from srsql.engine.artifact.publish.files import write_tables
from srsql.engine.artifact.publish.folder import built_beside, unfinished
from srsql.engine.artifact.publish.key_file import key_id, read_or_make_key
from srsql.engine.artifact.publish.layout import (
    COUNTS,
    DICTIONARY,
    HIERARCHIES,
    MANIFEST,
    README,
    REPORT,
    SUMS,
    THRESHOLDS,
    VERSION,
    Counts,
    Format,
    Manifest,
    Table,
    TermsClaim,
    file_digest,
    sums_text,
)
from srsql.engine.artifact.publish.released import Release, find_release
from srsql.engine.artifact.publish.tables import plan_tables, plan_terms, prove
from srsql.engine.artifact.publish.texts import (
    attributes_of,
    counts_sql,
    dictionary_csv,
    hierarchies_csv,
    readme,
    thresholds_csv,
)
from srsql.engine.artifact.verify.verify import verify
from srsql.engine.errors import PublishError, one_line
from srsql.engine.models import MODELS
from srsql.engine.models.perturbing import NOT_FOR_PUBLICATION
from srsql.engine.warehouse.releases import released_terms
from srsql.engine.warehouse.statements import dotted
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset

Progress = Callable[[str], None]
FORMATS: tuple[str, ...] = get_args(Format)
CASE_IDS = ("as-released", "pseudonym")
STORAGE_VERSION = "v1.4.0"
"""The oldest DuckDB still in use that reads our Parquet and whose files all later ones read."""
_STORAGE = re.compile(r"v\d+\.\d+\.\d+|latest")


@dataclass(frozen=True)
class Publication:
    """What to publish, where to, and how."""

    quarter: str
    to: Path
    series: str
    format: Format = "parquet"
    case_ids: Literal["as-released", "pseudonym"] = "as-released"
    key_file: Path | None = None
    storage_version: str | None = None
    """Of a DuckDB file: the oldest DuckDB that can read it."""

    def __post_init__(self) -> None:
        """Refuse what contradicts itself."""
        if self.format not in FORMATS:
            raise PublishError(f"--format {self.format}: give one of {', '.join(FORMATS)}")
        if self.case_ids not in CASE_IDS:
            raise PublishError(f"--case-ids {self.case_ids}: give one of {', '.join(CASE_IDS)}")
        if (self.case_ids == "pseudonym") != (self.key_file is not None):
            raise PublishError("--case-ids pseudonym and --key-file FILE go together")
        if self.key_file and self.key_file.resolve().is_relative_to(self.to.resolve()):
            raise PublishError(
                f"the key file {self.key_file} would lie in the artifact: keep it elsewhere"
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
    withdrawn: int
    """Released cases that the regulator has withdrawn since."""
    unfinished: list[str]
    """Folders that publications which crashed left behind."""


def publish(
    warehouse: Warehouse, dataset: Dataset, asked: Publication, progress: Progress | None = None
) -> Published:
    """Write the artifact of a released quarter; nothing in the warehouse changes.

    Raises:
        PublishError: not released, not ours, or the artifact cannot be written; nothing is at the
            place it was to go to.
        CheckFailedError: a column of it would show what the dataset schema does not let out.
    """
    step = progress or (lambda _: None)
    try:
        with warehouse.transaction():
            release = find_release(warehouse, dataset, asked.series, asked.quarter)
            _refuse_unpublishable(warehouse, asked, release)
            with built_beside(asked.to) as (folder, scratch):
                key, made = read_or_make_key(asked.key_file) if asked.key_file else (None, False)
                step("lineage")
                plans = plan_tables(dataset, release.schema, key, keyed=release.keyed)
                if released_terms(warehouse, release.release_id):
                    plans += plan_terms(dataset, release.schema, grouped=dataset.rows)
                prove(warehouse, dataset, release, plans)
                step("rows")
                storage = asked.storage_version or STORAGE_VERSION
                tables = write_tables(warehouse, plans, folder, asked.format, storage, scratch)
                step("report and manifest")
                manifest = _describe(warehouse, dataset, asked, release, key, tables, folder)
                step("verification")
                found = verify(folder)
                if not found.passed:
                    raise PublishError(
                        f"{asked.quarter} was not published, the artifact fails its own check: "
                        + found.failures[0]
                    )
            withdrawn = _withdrawn(warehouse, release)
    except (duckdb.Error, OSError) as error:
        raise PublishError(
            f"{asked.quarter} was not published, nothing is at {asked.to}: {one_line(error)}"
        ) from error
    return Published(
        quarter=asked.quarter,
        series=asked.series,
        path=str(asked.to),
        format=asked.format,
        case_ids=asked.case_ids,
        counts=manifest.counts.model_dump(),
        files=_files(asked.to, manifest),
        checks=[check.name for check in found.checks],
        new_key=str(asked.key_file) if made else None,
        withdrawn=withdrawn,
        unfinished=[str(path) for path in unfinished(asked.to)],
    )


def _refuse_unpublishable(warehouse: Warehouse, asked: Publication, release: Release) -> None:
    """Some models are there to be compared with alone."""
    model = _facts(warehouse, release)["model"]
    refused = MODELS[str(model)].unpublishable if model in MODELS else ""
    if refused:
        raise PublishError(f"{asked.quarter} was released by {model}, {refused}")


def _describe(
    warehouse: Warehouse,
    dataset: Dataset,
    asked: Publication,
    release: Release,
    key: bytes | None,
    tables: list[Table],
    folder: Path,
) -> Manifest:
    """Write what stands beside the rows, then the manifest over it, then the hashes over all."""
    facts = _facts(warehouse, release)
    if facts.get("publication") == NOT_FOR_PUBLICATION:
        raise PublishError(
            f"{asked.quarter} is marked {NOT_FOR_PUBLICATION}: its noise is that of a seeded "
            "experiment; release it with --noise secure"
        )
    counts = Counts(**{n: facts.pop(n) for n in Counts.model_fields if n in facts})
    model, guarantee = str(facts.pop("model")), str(facts.pop("guarantee"))
    software, version, fingerprint = (
        facts.pop(name) for name in ("software_version", "dataset_version", "dataset_fingerprint")
    )
    attacks = str(facts.pop("attacks"))
    attributes = attributes_of(dataset) if dataset.rows else ()
    case_ids: Literal["pseudonym", "as released"] = "pseudonym" if key else "as released"
    title = f"{dataset.name}, {asked.quarter}"
    told = released_terms(warehouse, release.release_id)
    claim = (
        TermsClaim(attributes=told.attributes, m=told.m, diversity=told.diversity) if told else None
    )
    documents = {
        README: readme(title, model, guarantee, facts, counts, tables, case_ids, claim),
        DICTIONARY: dictionary_csv(tables, attributes),
        THRESHOLDS: thresholds_csv(
            warehouse, release.release_id, kept="theta" in MODELS[model].guaranteed_bounds
        ),
        HIERARCHIES: hierarchies_csv(dataset),
    }
    if dataset.rows:
        from srsql.engine.report import report  # brings matplotlib, which nothing else needs

        page = report(warehouse, dataset, asked.series, asked.quarter, public=True)
        documents[REPORT] = page.html.encode()
    if claim:
        documents[COUNTS] = counts_sql()
    for name, content in documents.items():
        (folder / name).write_bytes(content)
    digests = {path.name: file_digest(path) for path in sorted(folder.iterdir())}
    manifest = Manifest(
        artifact_version=VERSION,
        software_version=software,
        dataset=dataset.name,
        dataset_version=version,
        dataset_fingerprint=fingerprint,
        series=asked.series,
        quarter=asked.quarter,
        earlier_releases=release.earlier,
        format=asked.format,
        case_ids=case_ids,
        key_id=key_id(key) if key else None,
        model=model,
        guarantee=guarantee,
        perturbed=MODELS[model].perturbs_values,
        k=facts.pop("k"),
        attacks=() if attacks == "none" else tuple(attacks.split(",")),
        parameters=facts,
        counts=counts,
        report_table=dataset.report_table if dataset.rows else None,
        terms=claim,
        attributes=attributes,
        tables=tuple(tables),
        files=digests,
    )
    text = json.dumps(manifest.model_dump(mode="json"), indent=1, ensure_ascii=False) + "\n"
    (folder / MANIFEST).write_text(text, encoding="utf-8")
    digests[MANIFEST] = file_digest(folder / MANIFEST)
    (folder / SUMS).write_text(sums_text(digests), encoding="utf-8")
    return manifest


def _facts(warehouse: Warehouse, release: Release) -> dict[str, Any]:
    """The public manifest of the release, without what the artifact tells elsewhere."""
    cursor = warehouse.con.execute(
        f"SELECT * EXCLUDE (thresholds, quarter, dataset) FROM {dotted(release.schema, 'manifest')}"
    )
    names = [entry[0] for entry in cursor.description or ()]
    facts = dict(zip(names, cursor.fetchall()[0], strict=True))
    return {name: value for name, value in facts.items() if not name.endswith("_rows")}


def _withdrawn(warehouse: Warehouse, release: Release) -> int:
    return int(
        warehouse.value(
            "SELECT count(DISTINCT m.case_id) FROM srsql.member AS m "
            "INNER JOIN srsql.release AS r ON m.release_id = r.release_id "
            "INNER JOIN srsql.deleted_case AS d ON r.dataset = d.dataset AND m.case_id = d.case_id "
            "WHERE m.release_id = ?",
            [release.release_id],
        )
    )


def _files(folder: Path, manifest: Manifest) -> list[dict[str, Any]]:
    rows: dict[str, int] = {}
    for table in manifest.tables:
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
