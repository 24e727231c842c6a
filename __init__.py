"""srsql: SQL-native anonymization of spontaneous adverse-event reports on DuckDB."""

from srsql.engine import Engine, as_frame, install
from srsql.engine.artifact.verify.verify import verify
from srsql.engine.errors import SrsqlError
from srsql.version import __version__

__all__ = ["Engine", "SrsqlError", "__version__", "as_frame", "install", "verify"]
