"""Doors to what is extra: the core names an extra here, and loads it where somebody asks for it.

An extra imports the public face of the core, and nothing of the core imports an extra (a contract
of the layers in pyproject.toml), so that a door can be closed without a change behind it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

DOORS = {
    "catalogues": "catalogues.catalogues:catalogues",
    "exports": "exports.exports:Writing",
    "persons": "persons.duplicates:find_duplicates",
    "spark": "spark.address:SparkAt",
    "study": "study.study:Study",
}
"""Door -> the module of ``engine/extras`` behind it, and what of it is asked for."""


def opened(door: str) -> Any:
    """What is behind a door.

    Args:
        door: its name in ``DOORS``.
    """
    module, _, name = DOORS[door].partition(":")
    return getattr(import_module(f"srsql.engine.extras.{module}"), name)
