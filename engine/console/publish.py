"""What `srsql publish` and `srsql verify` print."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from srsql.engine.artifact.publish.publish import Published
from srsql.engine.artifact.verify import CHECKS, Verified

FILE_COLUMNS = ["file", "rows", "bytes", "sha256"]
CHECK_COLUMNS = ["artifact", "check", "passed", "faults", "of", "proves"]


def file_rows(published: Published) -> Iterator[list[str]]:
    """The cells of ``FILE_COLUMNS``."""
    for file in published.files:
        rows = "" if file["rows"] is None else f"{file['rows']:,}"
        yield [file["name"], rows, f"{file['bytes']:,}", file["sha256"]]


def published_lines(published: Published) -> Iterator[str]:
    """What else there is to know, and what to do next."""
    counts = published.counts
    gone = counts["withheld_cases"]
    withheld = (
        "nothing is told of what was withheld" if gone is None else f"{gone:,} cases withheld"
    )
    yield (
        f"{published.quarter} of series {published.series}: {counts['released_cases']:,} cases, "
        f"{counts['released_reports']:,} reports; {withheld}"
    )
    yield f"  verified before it was put in place: {', '.join(published.checks)}"
    if published.new_key:
        yield (
            f"  a new key is in {published.new_key}: keep it secret, and give it again for every "
            "later quarter"
        )
    if published.withdrawn:
        yield (
            f"  {published.withdrawn:,} of its cases were withdrawn by the regulator since it was "
            "released: 'srsql release --supersede' makes it without them"
        )
    for folder in published.unfinished:
        yield f"  {folder} is left from a publication that was cut off: remove it"
    yield f"  anybody can check it: srsql verify {published.path}"


def check_rows(verified: Verified) -> Iterator[list[str]]:
    """The cells of ``CHECK_COLUMNS``."""
    for check in verified.checks:
        yield [
            check.artifact,
            check.name,
            "yes" if check.passed else "NO",
            f"{len(check.faults):,}",
            f"{check.total:,}",
            CHECKS[check.name],
        ]


def verified_lines(verified: Verified) -> Iterator[str]:
    """Where checks fail, what was not run, what cannot be shown, the verdict."""
    for check in verified.checks:
        for place in check.where:
            yield f"  {check.artifact}, {check.name}: {place}"
        if len(check.faults) > len(check.where):
            yield f"  ... and {len(check.faults) - len(check.where):,} more"
    for name in verified.not_run:
        yield f"  not run, because of the above: {name}"
    yield "not shown by an artifact alone:"
    for text in verified.cannot_show:
        yield f"  - {text}"
    yield "passed" if verified.passed else "FAILED"


def verified_document(verified: Verified) -> dict[str, Any]:
    """The JSON document."""
    return {
        "artifacts": list(verified.artifacts),
        "passed": verified.passed,
        "checks": [
            {
                "artifact": check.artifact,
                "name": check.name,
                "passed": check.passed,
                "faults": len(check.faults),
                "total": check.total,
                "where": check.where,
            }
            for check in verified.checks
        ],
        "not_run": list(verified.not_run),
        "cannot_show": list(verified.cannot_show),
    }
