"""What `srsql ingest` prints."""

from __future__ import annotations

from collections.abc import Iterator

from srsql.engine.ingest import IngestedPeriod

COLUMNS = ["table", "file", "records", "loaded", "rejected", "values set missing", "orphans"]


def file_rows(item: IngestedPeriod) -> Iterator[list[str]]:
    """The cells of ``COLUMNS`` for each file."""
    for file in item.files:
        counts = (file.records, file.loaded, file.rejected, file.values_rejected, file.orphans)
        yield [file.table, file.file, *[f"{n:,}" for n in counts]]


def lines(item: IngestedPeriod) -> Iterator[str]:
    """What else there is to say of one quarter."""
    if item.status == "unchanged":
        yield f"{item.quarter}: the same files are loaded already, nothing to do"
        return
    for file in item.files:
        for reason, count in file.reasons.items():
            yield f"  {file.file}: {count:,} x {reason}"
    if item.deleted_cases:
        yield f"  {item.deleted_cases:,} cases on the DELETED list"
