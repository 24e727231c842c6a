"""The public report of an artifact, drawn once more from its released rows and its manifest.

The page is made by ``report``, which stands on a floor below and reads nothing here but what the
artifact has; where the same versions of everything draw it, it has the same bytes.
"""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
from sqlglot import exp

from srsql.engine.artifact.format import REPORT, Manifest
from srsql.engine.artifact.verify.declaration import shipped_dataset
from srsql.engine.artifact.verify.reading import loaded, read_thresholds
from srsql.engine.warehouse.statements import column, temporary
from srsql.schemas import Dataset

OF_OTHERS = (
    "{quarter}: that {page} says what the released rows say, since {why}: read it as the word of "
    "whoever published it"
)


def page_verdict(
    con: duckdb.DuckDBPyConnection, folder: Path, manifest: Manifest
) -> tuple[list[str], list[str]]:
    """Whether the report is the one that the rows give, and what cannot be shown of that.

    Args:
        con: into which the tables were loaded.
        folder: of the artifact.
        manifest: that declares them.

    Raises:
        ValueError: the thresholds cannot be read.
    """
    if manifest.report_table is None:
        return [], []
    # brings matplotlib, which no other check needs
    from srsql.engine.report.page import written_by

    ours, dataset = written_by(), shipped_dataset(manifest)
    why = ""
    if dataset is None:
        why = f"nobody else knows what dataset {manifest.dataset!r} declares"
    elif manifest.report_written_by != ours:
        why = f"{manifest.report_written_by or 'an earlier version'} drew it, this is {ours}"
    if why or dataset is None:
        return [], [OF_OTHERS.format(quarter=manifest.quarter, page=REPORT, why=why)]
    page = folder / REPORT
    if not page.is_file():
        return [], []  # missed among the files
    if drawn(con, folder, manifest, dataset).encode() != page.read_bytes():
        return [f"{REPORT} is not what the released rows and the manifest give"], []
    return [], []


def drawn(
    con: duckdb.DuckDBPyConnection, folder: Path, manifest: Manifest, dataset: Dataset
) -> str:
    """The public report of the rows that were loaded and of the manifest.

    Args:
        con: into which the tables were loaded.
        folder: of the artifact.
        manifest: that declares them.
        dataset: that was released, with the tables that have rows here.

    Raises:
        ValueError: the thresholds cannot be read.
    """
    from srsql.engine.report.public_edition import BATCH, public_database, public_quarter

    facts = _public_manifest(folder, manifest)

    def rows_of(_: str, view: str) -> pa.RecordBatchReader:
        if view == "manifest":
            return pa.RecordBatchReader.from_batches(facts.schema, facts.to_batches())
        table = manifest.table(view)
        names = [column(c.name, "t") for c in table.columns]
        rows = exp.select(*names).from_(temporary(loaded(view), alias="t"))
        return con.sql(rows.sql("duckdb")).to_arrow_reader(BATCH)

    views = {table.name for table in dataset.row_tables}
    schemas = {manifest.quarter: "release"}
    with public_database(con, rows_of, dataset, manifest.series, schemas, views) as released:
        return public_quarter(released, manifest.quarter)


def _public_manifest(folder: Path, manifest: Manifest) -> pa.Table:
    """The one row of the release's public manifest, as far as the artifact tells it."""
    counts = {n: v for n, v in manifest.counts.model_dump().items() if v is not None}
    values, nums, dens = read_thresholds(folder)
    thresholds = [
        {"value": value, "theta": num / den if den else None}
        for value, num, den in zip(values, nums, dens, strict=True)
    ]
    row = {
        "quarter": manifest.quarter,
        "dataset": manifest.dataset,
        "dataset_version": manifest.dataset_version,
        "dataset_fingerprint": manifest.dataset_fingerprint,
        "software_version": manifest.software_version,
        "model": manifest.model,
        "guarantee": manifest.guarantee,
        "k": manifest.k,
        "attacks": ",".join(manifest.attacks) or "none",
        **manifest.parameters,
        **{f"{table.name}_rows": table.rows for table in manifest.tables},
        **counts,
    }
    entry = pa.struct([("value", pa.string()), ("theta", pa.float64())])
    columns = {name: pa.array([value]) for name, value in row.items()}
    return pa.table({**columns, "thresholds": pa.array([thresholds], pa.list_(entry))})
