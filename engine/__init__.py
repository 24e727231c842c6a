"""The engine: what happens in which order."""

from srsql.engine.api.engine import Engine
from srsql.engine.warehouse.frames import as_frame
from srsql.engine.warehouse.warehouse import install

__all__ = ["Engine", "as_frame", "install"]
