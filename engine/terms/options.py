"""What the command line and Python callers say of terms, as one :class:`Terms`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from srsql.engine.errors import ReleaseError
from srsql.engine.terms.choice import parse_policy
from srsql.engine.terms.parameters import Terms

DISASSOCIATE = "disassociate"
KEYS = ("m", "term_attributes", "policy", "sensitive_terms", "repeated_terms")
"""Options that are for terms alone."""


def make_terms(options: Mapping[str, Any], *, terms_only: bool) -> Terms | None:
    """The terms that are to be disassociated; None: they are released with their rows.

    Args:
        options: ``terms`` and ``KEYS`` and ``l``; None: the default.
        terms_only: the model releases nothing else.

    Raises:
        ReleaseError: options that go with nothing, or a file of terms that cannot be read.
        PolicyError: the policy is none.
    """
    given = {key: options.get(key) for key in KEYS}
    if options.get("terms") not in (None, DISASSOCIATE):
        raise ReleaseError(f"--terms {options['terms']}: give {DISASSOCIATE}")
    if not terms_only and options.get("terms") is None:
        for key, value in given.items():
            if value:
                raise ReleaseError(
                    f"--{key.replace('_', '-')} goes with --terms {DISASSOCIATE} or the model "
                    "disassociation or cba"
                )
        return None
    if options.get("l") is not None and not given["sensitive_terms"]:
        raise ReleaseError("--l needs --sensitive-terms: which terms it is for")
    names = given["term_attributes"] or ""
    listed = names.split(",") if isinstance(names, str) else list(names)
    sensitive, policy = given["sensitive_terms"], given["policy"]
    return Terms(
        attributes=tuple(name.strip() for name in listed if name.strip()),
        m=2 if given["m"] is None else given["m"],
        diversity=1 if options.get("l") is None else options["l"],
        kept_apart=_read_terms(Path(sensitive)) if sensitive else frozenset(),
        policy=parse_policy(str(policy)) if policy else None,
        repeated=bool(given["repeated_terms"]),
    )


def _read_terms(path: Path) -> frozenset[str]:
    """One term a line; the warehouse compares them in the form its data have."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ReleaseError(f"--sensitive-terms {path}: cannot be read: {error}") from None
    found = frozenset(line.strip() for line in lines if line.strip())
    if not found:
        raise ReleaseError(f"--sensitive-terms {path}: no term in it")
    return found
