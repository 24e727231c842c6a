"""What an artifact shows of itself: the checks, what each proves, and what it found.

Nothing here imports anything that makes a release or an artifact: models are asked for what they
promise, and the macros of ``checks`` for k^m-anonymity.
"""

from srsql.engine.artifact.verify.verdict import (
    CHECKS,
    FIGURES,
    OTHER,
    OWN,
    REWORDED,
    SHOWN_FIGURES,
    Check,
    Verified,
    figures,
    windows_left,
)

__all__ = [
    "CHECKS",
    "FIGURES",
    "OTHER",
    "OWN",
    "REWORDED",
    "SHOWN_FIGURES",
    "Check",
    "Verified",
    "figures",
    "windows_left",
]
