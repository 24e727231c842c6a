from __future__ import annotations

from support.fixtures import engine, kept

__all__ = ["engine", "kept"]
