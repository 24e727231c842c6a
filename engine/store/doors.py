"""Doors to what is extra: the core names an extra here, and loads it where somebody asks for it.

Who needs a package that is not installed is told which extra has it.

An extra imports the public face of the core, and nothing of the core imports an extra (a contract
of the layers in pyproject.toml), so that a door can be closed without a change behind it. Packages
that an extra of the distribution brings are named here, too: an error says which one does.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from srsql.engine.errors import SrsqlError

DOORS = {
    "catalogues": "catalogues.catalogues:catalogues",
    "exports": "exports.exports:Writing",
    "persons": "persons.duplicates:find_duplicates",
    "review_form": "review_form.form:review_form",
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


EXTRAS = {
    "cryptography": "sign",
    "opendp": "noise",
    "pyspark": "spark",
    "scipy": "signals",
    "splink": "persons",
}
"""Package -> the extra that brings it; the core does without."""


def installed(package: str) -> bool:
    """Whether a package is there; it is not loaded."""
    return find_spec(package) is not None


def lacking(package: str, wanted: str) -> str:
    """What is said where a package is not installed: ``wanted`` needs it, and how it comes."""
    return (
        f"{wanted} needs the package {package}, which is not installed: "
        f"pip install 'srsql[{EXTRAS[package]}]'"
    )


def need(package: str, wanted: str, error: type[SrsqlError]) -> None:
    """Refuse what needs a package that is not installed.

    Raises:
        SrsqlError: of the kind ``error``.
    """
    if not installed(package):
        raise error(lacking(package, wanted))
