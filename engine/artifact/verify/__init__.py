"""What an artifact shows of itself: the checks, what each proves, and what it found.

Nothing here imports anything that makes a release or an artifact: models are asked for what they
promise, and the macros of ``checks`` for k^m-anonymity.
"""

from srsql.engine.artifact.verify.verdict import (
    CHECKS,
    DECLARATION_TEXT,
    FIGURES,
    FOREIGN_DATASET,
    SHOWN_FIGURES,
    UNKNOWN_VERSION,
    Check,
    Verified,
    figures,
    windows_left,
)

__all__ = [
    "CHECKS",
    "DECLARATION_TEXT",
    "FIGURES",
    "FOREIGN_DATASET",
    "SHOWN_FIGURES",
    "UNKNOWN_VERSION",
    "Check",
    "Verified",
    "figures",
    "windows_left",
]
