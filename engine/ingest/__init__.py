"""Ingestion: source files become raw tables, every line of them accounted for."""

from srsql.engine.ingest.account import IngestedFile, IngestedPeriod
from srsql.engine.ingest.intake import (
    Intake,
    ingest,
    intake,
)
from srsql.engine.ingest.period import (
    IngestOptions,
    explained,
    in_file_order,
)

__all__ = [
    "IngestOptions",
    "IngestedFile",
    "IngestedPeriod",
    "Intake",
    "explained",
    "in_file_order",
    "ingest",
    "intake",
]
