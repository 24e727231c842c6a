"""srsql: SQL-native anonymization of spontaneous adverse-event reports on DuckDB."""

from srsql.engine.api.analyst import Artifact, open_artifact
from srsql.engine.api.engine import Engine
from srsql.engine.artifact.verify.verify import verify
from srsql.engine.errors import SrsqlError
from srsql.engine.warehouse.frames import as_frame
from srsql.engine.warehouse.warehouse import install
from srsql.version import __version__

__all__ = [
    "Artifact",
    "Engine",
    "SrsqlError",
    "__version__",
    "as_frame",
    "install",
    "open_artifact",
    "verify",
]
