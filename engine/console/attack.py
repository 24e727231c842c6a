"""What `srsql import-release` and `srsql attack` print, line by line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from srsql.engine.audit.attack import Attack, Excluded, ExclusionSet, Region
from srsql.engine.audit.imports.import_release import ImportedRelease

SHOWN = 20
"""Lines of one list; `--json` has them all."""
_MEANING = {
    "B": "had an earlier region that does not cover what is known",
    "F": "have a later region that does not cover what is known",
    "L": "in an earlier release, but the target is new",
    "MD": "in the next quarter, but the target is not",
}


def imported_lines(imported: ImportedRelease) -> Iterator[str]:
    """What became of an import."""
    known = "with their raw quasi-identifiers" if imported.originals else "without originals"
    yield (
        f"{imported.quarter} imported into series {imported.series} of {imported.dataset}: "
        f"{imported.rows:,} rows, {imported.cases:,} cases ({imported.new_cases:,} new) in "
        f"{imported.groups:,} groups, {known}"
    )
    yield f"  {imported.ss_cases:,} cases with substantially many values"


def attack_lines(attack: Attack) -> Iterator[str]:
    """The attack step by step."""
    knows = [f"{name} {_text(value)}" for name, value in attack.known.items()]
    knows += ["in no earlier release"] if attack.new else []
    knows += ["not in the next quarter"] if attack.stopped else []
    yield (
        f"{attack.quarter}, series {attack.series} ({attack.model}): the target is known by "
        + (", ".join(knows) or "nothing but being in the release")
    )
    yield f"C: {_cases(len(attack.candidates))} covered by what is known"
    listed = (f"  case {c.case_id}: {_region(c.region)}" for c in attack.candidates[:SHOWN])
    yield from _capped(list(listed), len(attack.candidates))
    for exclusion in attack.exclusions:
        yield from _exclusion(exclusion, attack.known)
    yield f"remaining: {_cases(len(attack.remaining))}{_some(attack.remaining)}"
    for inference in attack.inferences[:SHOWN]:
        theta = "" if inference.theta is None else f", theta {inference.theta}"
        beyond = " EXCEEDED" if inference.exceeds else ""
        yield (
            f"  {inference.term}: confidence {inference.confidence:.4g} "
            f"({inference.holders:,} of {len(attack.remaining):,}){theta}{beyond}"
        )
    yield from _capped([], max(0, len(attack.inferences) - SHOWN), "values")
    if attack.ss_share is not None:
        yield (
            f"ss: {attack.ss_cases:,} of {len(attack.remaining):,} have substantially many "
            f"symptoms, share {attack.ss_share:.4g}"
        )
    for kept in attack.persistence:
        yield (
            f"P (informative): {_cases(kept.cases)} if the target is also known to be in "
            f"{kept.quarter}{_some(kept.case_ids)}"
        )


def _exclusion(exclusion: ExclusionSet, known: Region) -> Iterator[str]:
    if not exclusion.evaluated:
        yield f"{exclusion.name}: not evaluated, since no later quarter is released"
        return
    yield f"{exclusion.name}: {_cases(exclusion.cases)} out, {_MEANING[exclusion.name]}"
    listed = [f"  case {e.case_id}: {_reason(e, known)}" for e in exclusion.excluded[:SHOWN]]
    yield from _capped(listed, len(exclusion.excluded), "reasons")


def _reason(excluded: Excluded, known: Region) -> str:
    if excluded.region is None:
        return f"is in {excluded.quarter}"
    missed = ", ".join(_text(known[name]) for name in excluded.region)
    return f"{_region(excluded.region)} in {excluded.quarter}, which does not cover {missed}"


def _capped(lines: list[str], total: int, what: str = "cases") -> Iterator[str]:
    yield from lines
    if total > len(lines):
        yield f"  and {total - len(lines):,} more {what} (--json has all)"


def _some(case_ids: Sequence[str]) -> str:
    if not case_ids:
        return ""
    return ": " + ", ".join(case_ids[:SHOWN]) + (", ..." if len(case_ids) > SHOWN else "")


def _cases(count: int) -> str:
    return f"{count:,} case{'' if count == 1 else 's'}"


def _region(region: Region) -> str:
    return ", ".join(f"{name} {_text(value)}" for name, value in region.items())


def _text(value: Any) -> str:
    if value is None:
        return "any"
    if isinstance(value, dict):
        low, high = value["low"], value["high"]
        return f"{low}" if low == high else f"{low} to {high}"
    return str(value)
