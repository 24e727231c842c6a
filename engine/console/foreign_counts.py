"""`verify --counts`: a table of counts of somebody else, in the place of artifacts."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from srsql.engine.console import Command
from srsql.engine.errors import VerifyError

if TYPE_CHECKING:
    from srsql.engine.artifact.verify import Verified

ITEMS = "drug,reaction"
K = 5


def counts_options(command: Command) -> Command:
    """The file, and what it is held to."""
    for option in (
        click.option("--items", help=f"--counts: columns of items.  [default: {ITEMS}]"),
        click.option(
            "--theta",
            multiple=True,
            metavar="COLUMN=NUMBER",
            help="--counts: threshold of the values of a column, such as reaction=0.4; may be "
            "repeated.",
        ),
        click.option(
            "--k", type=int, help=f"--counts: cases of a count, at least.  [default: {K}]"
        ),
        click.option(
            "--counts",
            type=click.Path(path_type=Path),
            help="Hold somebody else's CSV of counts to the rules of --terms tables: columns of "
            "items and strata, where an empty field stands for all, and cases.",
        ),
    ):
        command = option(command)
    return command


def verified(
    folders: Sequence[Path],
    public_key: Path | None,
    *,
    counts: Path | None,
    k: int | None,
    theta: Sequence[str],
    items: str | None,
) -> Verified:
    """What was found of artifacts, or of a table of counts.

    Raises:
        UsageError: both are asked for, or neither.
        VerifyError: a folder is no artifact, the file no such table, or a threshold none.
    """
    from srsql.engine.artifact.verify.foreign_counts import verify_foreign_counts
    from srsql.engine.artifact.verify.verify import verify

    if counts is None:
        if k is not None or theta or items:
            raise click.UsageError("--k, --theta and --items belong to --counts FILE: give it")
        if not folders:
            raise click.UsageError("give the folders of artifacts, --counts FILE, or --page FILE")
        return verify(folders, public_key)
    if folders or public_key is not None:
        raise click.UsageError("--counts checks a file that is no artifact: give it alone")
    listed = [name.strip() for name in (items or ITEMS).split(",")]
    thresholds = dict(map(_threshold, theta))
    return verify_foreign_counts(counts, K if k is None else k, thresholds, listed)


def _threshold(text: str) -> tuple[str, Fraction]:
    name, _, number = text.rpartition("=")
    try:
        found = Fraction(number.strip())
    except (ValueError, ZeroDivisionError):
        found = Fraction(-1)
    if not name.strip() or not 0 <= found <= 1:
        raise VerifyError(f"--theta {text!r}: give a column and a number, as reaction=0.4")
    return name.strip(), found
