from __future__ import annotations

from support.fixtures import kept

__all__ = ["kept"]
