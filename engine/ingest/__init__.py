"""Ingestion: source files become raw tables, every line of them accounted for."""

from srsql.engine.ingest.account import Ingested, IngestedFile
from srsql.engine.ingest.load import ingest

__all__ = ["Ingested", "IngestedFile", "ingest"]
