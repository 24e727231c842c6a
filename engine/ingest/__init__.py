"""Ingestion: source files become raw tables, every line of them accounted for."""

from srsql.engine.ingest.account import IngestedFile, IngestedPeriod
from srsql.engine.ingest.ingestion import IngestOptions, ingest

__all__ = ["IngestOptions", "IngestedFile", "IngestedPeriod", "ingest"]
