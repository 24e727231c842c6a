"""srsql: SQL-native anonymization of spontaneous adverse-event reports on DuckDB."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from srsql.version import __version__

if TYPE_CHECKING:
    from srsql.engine.api.analyst import Artifact, open_artifact
    from srsql.engine.api.engine import Engine
    from srsql.engine.api.options import (
        Bounds,
        Counting,
        ForeignTable,
        Ingestion,
        Presence,
        Publication,
        Waivers,
    )
    from srsql.engine.artifact.verify.verify import verify
    from srsql.engine.errors import SrsqlError
    from srsql.engine.extras.spark.carrier import SparkCarrier
    from srsql.engine.extras.verifier_page import write_verifier_page
    from srsql.engine.store.definitions import install
    from srsql.engine.store.frames import as_frame

__all__ = [
    "Artifact",
    "Bounds",
    "Counting",
    "Engine",
    "ForeignTable",
    "Ingestion",
    "Presence",
    "Publication",
    "SparkCarrier",
    "SrsqlError",
    "Waivers",
    "__version__",
    "as_frame",
    "install",
    "open_artifact",
    "verify",
    "write_verifier_page",
]

_PLACES = {
    "Artifact": "api.analyst",
    "Bounds": "api.options",
    "Counting": "api.options",
    "Engine": "api.engine",
    "ForeignTable": "api.options",
    "Ingestion": "api.options",
    "Presence": "api.options",
    "Publication": "api.options",
    "SparkCarrier": "extras.spark.carrier",
    "SrsqlError": "errors",
    "Waivers": "api.options",
    "as_frame": "store.frames",
    "install": "store.definitions",
    "open_artifact": "api.analyst",
    "verify": "artifact.verify.verify",
    "write_verifier_page": "extras.verifier_page",
}


def __getattr__(name: str) -> Any:
    """What the package offers is loaded when it is asked for.

    So the command takes signals before it loads anything that takes time.
    """
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"srsql.engine.{_PLACES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
