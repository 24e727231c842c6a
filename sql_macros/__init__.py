"""SQL macros, one topic a file; `MACRO_FILES` is the order of installation.

Files named ``step_*.sql`` are not macros but the static statements of one step of a release.
"""

MACRO_FILES: tuple[str, ...] = (
    "super_record.sql",
    "thresholds.sql",
    "grouping.sql",
    "loss.sql",
    "released_qid.sql",
    "star_loss.sql",
    "nearest.sql",
    "linkage.sql",
    "medical.sql",
    "risk.sql",
    "checks.sql",
    "pseudonym.sql",
    "manifest.sql",
    "attack.sql",
    "exclusion.sql",
    "covering.sql",
    "cells.sql",
    "evidence.sql",
    "signals.sql",
    "shrinkage.sql",
    "report.sql",
    "perturbation.sql",
    "perturbation_checks.sql",
    "disassociation.sql",
    "disassociated.sql",
)
