"""What extras bring: who needs a package that is not installed is told which extra has it."""

from __future__ import annotations

from importlib.util import find_spec

from srsql.engine.errors import SrsqlError

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
