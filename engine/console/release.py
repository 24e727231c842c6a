"""What `srsql release` prints."""

from __future__ import annotations

from collections.abc import Iterator

from srsql.engine.release.ranges import Range
from srsql.engine.release.request import Released

RANGE_COLUMNS = ["quarter", "cases", "new", "groups", "withheld", "why", "NIL", "seconds"]


def release_lines(released: Released) -> Iterator[str]:
    """What became of one quarter; the rows of its views follow as a table."""
    facts = released.manifest
    groups = "" if _apart(released) else f" in {facts['groups']:,} groups"
    yield (
        f"{released.quarter} {released.status} as {released.schema}: "
        f"{facts['cases']['released']:,} cases{groups}, "
        f"{facts['cases']['withheld']:,} withheld"
    )
    if facts["cases"]["old"]:
        yield f"  {facts['cases']['new']:,} new cases, {facts['cases']['old']:,} seen before"
    for reason, counts in facts["withheld"].items():
        yield f"  withheld, {reason}: {counts['cases']:,} cases, {counts['reports']:,} reports"
    for name, count in facts["values_given_up"].items():
        yield f"  {name} released as missing although known for {count:,} cases"
    unknown = facts.get("sensitive_terms_not_held", [])
    if unknown:
        more = f" and {len(unknown) - 1:,} more" if len(unknown) > 1 else ""
        yield (
            f"  no released case holds the sensitive term {unknown[0]!r}{more}: check the "
            "spelling, since a term that is not named is told as any other"
        )
    if facts["k_effective"] != facts["k"]:
        yield f"  groups hold {facts['k_effective']} cases, since a smaller theta needs them"


def closing_lines(released: Released) -> Iterator[str]:
    """How long it took, and what was checked."""
    if released.seconds:
        yield "  seconds: " + ", ".join(f"{k} {v:.2f}" for k, v in released.seconds.items())
    attacks = released.manifest.get("attacks", "none")
    if released.manifest.get("noise", "none") != "none":
        yield f"  {released.manifest['guarantee']}"
    kept = released.manifest.get("keeps", "k, theta")
    if "terms" in released.manifest:
        kept += ", k^m-anonymity of the terms"
    what = "row numbers" if _apart(released) else "completeness, regions"
    yield f"  checked on the released rows: {kept}, {what}, lineage" + (
        "" if attacks == "none" else f"; audited with the whole series: {attacks}"
    )


def _apart(released: Released) -> bool:
    """Whether the rows are no case's."""
    return "informative" in released.manifest


def range_rows(made: Range) -> Iterator[list[str]]:
    """The cells of ``RANGE_COLUMNS`` for each released quarter."""
    for one in made.released:
        facts = one.manifest
        nil = facts["metrics"].get("nil (release)")
        yield [
            one.quarter,
            f"{facts['cases']['released']:,}" if facts["groups"] else "none (empty release)",
            f"{facts['cases']['new']:,}",
            f"{facts['groups']:,}",
            f"{facts['cases']['withheld']:,}",
            ", ".join(f"{why} {n['cases']:,}" for why, n in facts["withheld"].items()),
            "" if nil is None else f"{nil:.4f}",
            f"{sum(one.seconds.values()):.1f}",
        ]


def range_lines(made: Range) -> Iterator[str]:
    """What else there is to say of a range."""
    if made.already:
        yield f"  already released, left as they are: {', '.join(made.already)}"
    if not made.released:
        yield f"  nothing to do between {made.first} and {made.last}"
