"""The engine: what happens in which order."""

from srsql.engine.engine import Engine
from srsql.engine.frames import as_frame
from srsql.engine.warehouse import install

__all__ = ["Engine", "as_frame", "install"]
