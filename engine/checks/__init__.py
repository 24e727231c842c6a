"""Proof from the released rows; imports nothing that makes a release."""

from srsql.engine.checks.evidence import (
    NOISY_LATTICE,
    TOPIC,
    Asked,
    Evidence,
    as_measures,
    catalog_facts,
    checked_key,
    measured,
    require_proof,
    uniform_rows,
)

__all__ = [
    "NOISY_LATTICE",
    "TOPIC",
    "Asked",
    "Evidence",
    "as_measures",
    "catalog_facts",
    "checked_key",
    "measured",
    "require_proof",
    "uniform_rows",
]
