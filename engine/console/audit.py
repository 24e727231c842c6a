"""What a terminal shows of attacks: `audit`, `import-release`, `attack`; and of `explain`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from srsql.engine.console import Legend, Parts, Table, gap_lines, result_table

if TYPE_CHECKING:
    from srsql.engine.artifact.counts_audit import CountsAudit
    from srsql.engine.audit.attack import Attack, Excluded, ExclusionSet, Inference, Region
    from srsql.engine.audit.audit import Audit, AuditRow
    from srsql.engine.audit.evidence import GroupEvidence
    from srsql.engine.audit.imports.import_counts import ImportedCounts
    from srsql.engine.audit.imports.import_release import ImportedRelease
    from srsql.engine.risk.joined_series import SeriesAudit
    from srsql.engine.steward.explain import Explained, GroupSize

EVIDENCE = 100
"""Groups with evidence per release and scope; `Engine.audit.run` gives all."""
SHOWN_GROUPS = 5
"""Of them, groups in words."""
AUDIT_COLUMNS = [
    "quarter",
    "model",
    "scope",
    "attacks",
    "not evaluated",
    "k",
    "alpha",
    "groups",
    "DIR",
    "DSR",
    "SSGR",
    "P",
    "U",
    "E",
    "G",
    "safe",
]
REGION_COLUMNS = ["group", "quasi-identifier", "region", "why", "low set by", "high set by"]
TEXTS_SHOWN = 5
"""Members, or values, that are named in one place; `--json` has them all."""
JOINED_COLUMNS = [
    "quarter",
    "series",
    "model",
    "scope",
    "k",
    "cases",
    "linked",
    "< k alone",
    "< k joined",
    "safe",
]
LEGEND = ("b", "f", "l", "md", "ss", "p", "u", "e", "g", "dir", "dsr", "ssgr")
"""Terms of the table, by their keys in the glossary."""
_SETS = (
    ("b", "B", "an earlier release rules them out"),
    ("f", "F", "a later one does"),
    ("l", "L", "seen before, but the target is new"),
    ("md", "MD", "in the next quarter, but the target is not"),
)
LINES_SHOWN = 20
"""Lines of one list; `--json` has them all."""
_MEANING = {
    "B": "had an earlier region that does not cover what is known",
    "F": "have a later region that does not cover what is known",
    "L": "in an earlier release, but the target is new",
    "MD": "in the next quarter, but the target is not",
    "P": "not in the next quarter, but the target is",
    "E": "in a later version of the quarter, which the target left",
    "G": "in a release that is out now, but the target left for good",
}


def counts_parts(audit: CountsAudit) -> Parts:
    """The verdict of imported tables of counts, each rule, and what nobody can judge."""
    from srsql.engine.artifact.counts_audit import CountsCheck
    from srsql.engine.audit.count_differences import CountDifference

    yield audit.verdict
    yield f"series {audit.series} of {audit.dataset}, k {audit.k}, theta {audit.theta}"
    yield result_table("rules of count tables", CountsCheck, audit.checks)
    if audit.differences:
        yield result_table("differences", CountDifference, audit.differences)
    yield from (f"not judged: {text}" for text in audit.cannot_show)


def parts_of(audit: Audit | SeriesAudit | CountsAudit, *, kept: bool = False) -> Parts:
    """An audit of one series, or of all together; ``kept``: as releases kept it."""
    from srsql.engine.artifact.counts_audit import CountsAudit
    from srsql.engine.risk.joined_series import SeriesAudit

    how = "as its releases kept it" if kept else "audited in full"
    if isinstance(audit, CountsAudit):
        return counts_parts(audit)
    return joined_parts(audit) if isinstance(audit, SeriesAudit) else audit_parts(audit, how)


def joined_parts(audit: SeriesAudit) -> Parts:
    """The releases of each quarter as they were joined, and the verdict."""
    from srsql.engine.audit.count_differences import CountDifference

    yield audit.verdict
    yield Table("all series joined", JOINED_COLUMNS, joined_rows(audit))
    if not audit.releases:
        yield "no quarter is held by two releases with rows of cases: nothing can be joined"
    for row in audit.releases:
        if row.few:
            yield (
                f"{row.quarter}, series {row.series} (release {row.release_id}), "
                f"scope={row.scope}: {row.few:,} of "
                f"{row.cases:,} cases are left with fewer than {row.k} candidates by whoever also "
                f"has {', '.join(row.joined)}"
            )
    if audit.counts:
        yield result_table("tables of counts that differ by fewer than k", CountDifference,
                           audit.counts)  # fmt: skip
    if audit.left_out:
        yield f"without rows of cases, left out: series {', '.join(audit.left_out)}"
    yield f"all series of {audit.dataset}: " + ("safe" if audit.safe else "NOT safe")


def joined_rows(audit: SeriesAudit) -> Iterator[list[str]]:
    """The cells of ``JOINED_COLUMNS`` for each release."""
    for row in audit.releases:
        replaced = "" if row.status == "released" else f" ({row.status})"
        yield [
            row.quarter,
            row.series + replaced,
            row.model,
            row.scope,
            str(row.k),
            f"{row.cases:,}",
            _ratio(row.linked, row.cases),
            _ratio(row.few_alone, row.cases),
            _ratio(row.few, row.cases),
            "NO" if row.few else "yes",
        ]


def audit_parts(audit: Audit, how: str) -> Parts:
    """The verdict, the releases as they were judged, the worst groups, what the columns are."""
    from srsql.engine.audit.count_differences import CountDifference
    from srsql.schemas.glossary import term

    yield audit.verdict
    if not audit.safe:
        yield from group_lines(audit)
    yield from audit_lines(audit, how)
    yield Table("audit", AUDIT_COLUMNS, audit_rows(audit))
    if audit.counts:
        yield result_table("tables of counts that differ by fewer than k", CountDifference,
                       audit.counts)  # fmt: skip
    if audit.safe:
        yield from group_lines(audit)
    yield Legend([f"{told.term}: {told.short}" for told in map(term, LEGEND)])


def audit_rows(audit: Audit) -> Iterator[list[str]]:
    """The cells of ``AUDIT_COLUMNS`` for each release and scope."""
    for row in audit.releases:
        replaced = "" if row.status == "released" else f" ({row.status})"
        yield [
            row.quarter + replaced,
            row.model,
            row.scope,
            ",".join(row.attacks),
            ",".join(row.not_evaluated),
            str(row.k),
            row.alpha or "",
            f"{row.groups:,}",
            _ratio(row.dig, row.groups),
            _ratio(row.dsg, row.groups),
            _ratio(row.ssg, row.groups) if "ss" in row.attacks else "",
            "" if row.persistence is None else _ratio(row.persistence, row.groups),
            "" if row.union is None else _ratio(row.union, row.groups),
            "" if row.erasure is None else f"{row.erasure:,}",
            "" if row.leaving is None else _ratio(row.leaving.groups, row.groups),
            "yes" if row.safe else "NO",
        ]


def audit_lines(audit: Audit, how: str) -> Iterator[str]:
    """The verdict, what is not protected, and what else is worth knowing."""
    verdict = "safe" if audit.safe else "NOT safe"
    yield f"series {audit.series} of {audit.dataset}: {verdict}, {how}"
    yield from _notes(audit.releases)
    waiting = dict.fromkeys(row.quarter for row in audit.releases if "md" in row.not_evaluated)
    if waiting:
        yield (
            f"{', '.join(waiting)}: MD is not judged, since who is in the period that follows is "
            "not known: it is neither released nor taken in, or was not when a verdict was kept"
        )
    yield from gap_lines(audit.gaps, audit.without_calendar)
    if audit.left_out:
        yield f"  {audit.left_out}"
    if audit.folded is not None:
        yield (
            f"by folded terms (term_key {audit.folded.term_key}): {audit.folded.above:,} of "
            f"{audit.folded.regions:,} regions above theta; new releases of this series can fold "
            f"from now on: --term-key {audit.folded.term_key} --change"
        )


def group_lines(audit: Audit) -> Iterator[str]:
    """The worst groups of each release."""
    for row in audit.releases:
        groups = [
            group
            for group in audit.evidence
            if (group.release_id, group.scope) == (row.release_id, row.scope)
            and (group.dig or group.dsg or group.ssg)
        ]
        for group in groups[:SHOWN_GROUPS]:
            yield from _group(group)
        left = [g for g in audit.erasure if (g.release_id, g.scope) == (row.release_id, row.scope)]
        for group in left[:SHOWN_GROUPS]:
            yield from _group(group, left=True)
        if len(groups) > SHOWN_GROUPS:
            yield f"  and other groups of {row.quarter} at scope={row.scope} (--json shows more)"


def _candidates(count: int) -> str:
    return f"{count:,} candidate" + ("" if count == 1 else "s")


def _group(group: GroupEvidence, *, left: bool = False) -> Iterator[str]:
    who = "a target" if group.case_id is None else f"case {group.case_id}"
    knows = [f"{name} {_text(value, 'missing')}" for name, value in group.qid.items()]
    knows += ["new"] if group.new else []
    knows += ["not in the next quarter"] if group.stopped else []
    knows += [f"{group.window} quarter"] if group.window else []
    knows += ["in no later version"] if left else []
    yield (
        f"{group.quarter}, scope={group.scope}, group {group.group_id}: {who} "
        f"({', '.join(knows)}) has {_candidates(group.candidates)}, {group.remaining:,} "
        + ("remains" if group.remaining == 1 else "remain")
        + (", fewer than k" if group.dig else "")
    )
    for field, name, reason in _SETS:
        if size := getattr(group, field):
            yield f"  {name}: {size:,}, {reason}"
    if group.dsg and group.confidence is not None:
        yield (
            f"  {group.term}: confidence {group.confidence:.4g} exceeds theta {group.theta}"
            + _other(group, group.term_case_id)
        )
    if group.ssg and group.ss_share is not None:
        yield f"  substantially many symptoms: share {group.ss_share:.4g} exceeds alpha"


def _other(group: GroupEvidence, case_id: str | None) -> str:
    return "" if case_id in (None, group.case_id) else f" for case {case_id} of the group"


def _notes(rows: list[AuditRow]) -> Iterator[str]:
    """What is counted once per release, whatever the scope."""
    promises: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if not row.undefended:
            continue
        played = "p" in row.attacks  # else P is told as a figure, which gates nothing
        told = ", ".join(name for name in row.undefended if played or name != "p")
        told += "" if played else ", nor against P" if told else "P"
        quarters = promises.setdefault((row.model, told), [])
        if row.quarter not in quarters:
            quarters.append(row.quarter)
    for (model, told), quarters in promises.items():
        when = quarters[0] if len(quarters) == 1 else f"{quarters[0]} to {quarters[-1]}"
        yield f"{when}: {model} does not defend against {told}"
    seen = set()
    for row in rows:
        if row.release_id in seen:
            continue
        seen.add(row.release_id)
        if row.internal is not None:
            yield (
                f"{row.quarter}: {row.model} perturbs {', '.join(row.perturbed)}. A perturbed "
                "value rules nobody out, so attacks take it as any; what B, F and L find by the "
                "rest is reported and gates nothing. Safe: the internal groups keep k and theta"
                + (f": {row.internal:,} do not" if row.internal else "")
            )
        if row.erasure is not None:
            yield _left(row)
        if row.leaving is not None and row.leaving.groups:
            yield (
                f"{row.quarter} (release {row.release_id}): G, knowing who left for good, leaves "
                f"as few as {row.leaving.fewest:,} candidates: {row.leaving.cases:,} such cases "
                f"in {row.leaving.groups:,} groups have fewer than {row.k} (informative, no model "
                "bounds it)"
            )
        if row.outside:
            yield f"{row.quarter}: the region of {row.outside:,} cases does not cover them"
        if row.qid_bounding:
            yield (
                f"{row.quarter}: {row.qid_bounding:,} old cases have a region that does not cover "
                "all their earlier ones (informative)"
            )
        if row.suppressed:
            yield f"{row.quarter}: {suppressed_text(row.suppressed)}"
        if row.targets == "cells":
            yield f"{row.quarter}: without originals, judged for every value the regions tell apart"


def _left(row: AuditRow) -> str:
    """What an attacker finds who knows that a case left this version, and what gates."""
    gates = "" if row.erasure_claimed else ", which is not promised and gates nothing"
    return (
        f"{row.quarter} (release {row.release_id}, replaced): E, knowing who left, finds "
        f"{row.erasure:,} groups in danger{gates}; {row.erasure_series:,} with all releases made "
        "since (informative, nothing defends it)"
    )


def _ratio(part: int, whole: int) -> str:
    return f"{part / whole if whole else 0:.4g} ({part:,})"


def _text(value: Any, unknown: str) -> str:
    """A value, an interval, or what stands for a value that is not known."""
    if value is None:
        return unknown
    if isinstance(value, dict):
        low, high = value["low"], value["high"]
        return f"{low}" if low == high else f"{low} to {high}"
    return str(value)


def suppressed_text(rows: int) -> str:
    """What it means that rows were declared suppressed."""
    return (
        f"rows declared suppressed, judged as if they were not published: {rows:,}. What they "
        "still show belongs, as anybody can see, to those whom no other row fits"
    )


def _counts_imported(found: ImportedCounts) -> Iterator[str]:
    if found.was_there:
        yield "the same file was imported before, read in the same way: nothing to do"
    yield (
        f"{found.quarter} imported into series {found.series} of {found.dataset}: {found.cells:,} "
        f"counts of {', '.join(found.items)} by {', '.join(found.strata) or 'no strata'}"
    )
    thresholds = ", ".join(found.sensitive) or "none (--sensitive COLUMN)"
    yield f"  columns that a threshold is of: {thresholds}"
    yield f"  'srsql audit --series {found.series}' judges them"


def imported_lines(found: ImportedRelease | ImportedCounts) -> Iterator[str]:
    """What became of an import."""
    from srsql.engine.audit.imports.import_counts import ImportedCounts

    if isinstance(found, ImportedCounts):
        yield from _counts_imported(found)
        return
    known = "with their raw quasi-identifiers" if found.originals else "without originals"
    if found.was_there:
        yield "the same files were imported before, read in the same way: nothing to do"
    yield (
        f"{found.quarter} imported into series {found.series} of {found.dataset}: "
        f"{found.rows:,} rows, {found.cases:,} cases ({found.new_cases:,} new) in "
        f"{found.groups:,} groups, {known}"
    )
    if found.suppressed:
        yield f"  {suppressed_text(found.suppressed)}"
    yield f"  {found.ss_cases:,} cases with substantially many values"
    for name, read in found.quasi_identifiers.items():
        yield f"  an attacker may know {name}: {read}"
    yield (
        f"  an attacker may infer {', '.join(found.sensitive)}"
        if found.sensitive
        else (
            "  no column of sensitive values (--map term=COLUMN): an audit counts candidates alone"
        )
    )
    if found.unread:
        listed = ", ".join(found.unread[:LINES_SHOWN])
        more = ", ..." if len(found.unread) > LINES_SHOWN else ""
        yield f"  not read, as if no attacker knew it: {listed}{more}"


def attack_lines(attack: Attack) -> Iterator[str]:
    """How many remain and what is inferred of them, then the attack step by step, then who they
    are."""
    beyond = [each for each in attack.inferences if each.exceeds]
    yield (
        f"{_cases(len(attack.remaining))} of {len(attack.candidates):,} remain; "
        + (f"{len(beyond):,} values EXCEED their threshold" if beyond else _most_sure(attack))
    )
    knows = [f"{name} {_text(value, 'any')}" for name, value in attack.known.items()]
    knows += ["in no earlier release"] if attack.new else []
    knows += ["not in the next quarter"] if attack.stopped else []
    knows += ["in the next quarter as well"] if attack.stayed else []
    knows += ["in no later version of the quarter"] if attack.left else []
    knows += ["left for good"] if attack.gone else []
    yield (
        f"{attack.quarter}, series {attack.series} ({attack.model}): the target is known by "
        + (", ".join(knows) or "nothing but being in the release")
    )
    yield f"C: {_cases(len(attack.candidates))} covered by what is known"
    yield from map(_excluded, attack.exclusions)
    if attack.ss_share is not None:
        yield (
            f"ss: {attack.ss_cases:,} of {len(attack.remaining):,} have substantially many "
            f"symptoms, share {attack.ss_share:.4g}"
        )
    for kept in attack.persistence:
        yield (
            f"P (informative): {_cases(kept.cases)} if the target is also known to be in "
            f"{kept.quarter}"
        )
    yield "what may be inferred of those who remain, the most confident first:"
    yield from _inferences(attack.inferences, len(attack.remaining))
    if attack.union:
        yield "U (informative): with what other releases tell of those who remain"
        yield from _inferences(attack.union, len(attack.remaining))
    yield f"remaining: {_cases(len(attack.remaining))}{_some(attack.remaining)}"
    for kept in attack.persistence:
        yield f"also in {kept.quarter}: {_cases(kept.cases)}{_some(kept.case_ids)}"
    yield "candidates:"
    listed = (f"  case {c.case_id}: {_region(c.region)}" for c in attack.candidates[:LINES_SHOWN])
    yield from _capped(list(listed), len(attack.candidates))
    for exclusion in attack.exclusions:
        yield from _reasons(exclusion, attack.known)


def _most_sure(attack: Attack) -> str:
    """How sure the attacker is of the value that is held most often."""
    if not attack.inferences:
        return "nothing is inferred"
    first = attack.inferences[0]
    judged = any(each.theta is not None for each in attack.inferences)
    none = "no value exceeds its threshold, " if judged else ""
    return f"{none}the most confident is {first.term} at {first.confidence:.4g}"


def _inferences(inferences: Sequence[Inference], remaining: int) -> Iterator[str]:
    for inference in inferences[:LINES_SHOWN]:
        theta = "" if inference.theta is None else f", theta {inference.theta}"
        beyond = " EXCEEDED" if inference.exceeds else ""
        yield (
            f"  {inference.term}: confidence {inference.confidence:.4g} "
            f"({inference.holders:,} of {remaining:,}){theta}{beyond}"
        )
    yield from _capped([], max(0, len(inferences) - LINES_SHOWN), "values")


def _excluded(exclusion: ExclusionSet) -> str:
    if not exclusion.evaluated:
        return f"{exclusion.name}: not evaluated, since no later quarter is released"
    return f"{exclusion.name}: {_cases(exclusion.cases)} out, {_MEANING[exclusion.name]}"


def _reasons(exclusion: ExclusionSet, known: Region) -> Iterator[str]:
    """Why cases are out of the candidates."""
    if exclusion.excluded:
        yield f"out by {exclusion.name}:"
    absent = exclusion.name == "P"
    listed = [
        f"  case {e.case_id}: {_reason(e, known, absent=absent)}"
        for e in exclusion.excluded[:LINES_SHOWN]
    ]
    yield from _capped(listed, len(exclusion.excluded), "reasons")


def _reason(excluded: Excluded, known: Region, *, absent: bool) -> str:
    if excluded.region is None:
        return f"is {'not ' if absent else ''}in {excluded.quarter}"
    missed = ", ".join(_text(known[name], "any") for name in excluded.region)
    return f"{_region(excluded.region)} in {excluded.quarter}, which does not cover {missed}"


def _capped(lines: list[str], total: int, what: str = "cases") -> Iterator[str]:
    yield from lines
    if total > len(lines):
        yield f"  and {total - len(lines):,} more {what} (--json has all)"


def _some(case_ids: Sequence[str]) -> str:
    if not case_ids:
        return ""
    return (
        ": " + ", ".join(case_ids[:LINES_SHOWN]) + (", ..." if len(case_ids) > LINES_SHOWN else "")
    )


def _cases(count: int) -> str:
    return f"{count:,} case{'' if count == 1 else 's'}"


def _region(region: Region) -> str:
    return ", ".join(f"{name} {_text(value, 'any')}" for name, value in region.items())


def explained_parts(found: Explained) -> Parts:
    """Why a case has its region and its group, or is withheld."""
    as_asked = "" if found.asked == found.case_id else f" (asked: {found.asked})"
    reason = "" if found.reason is None else f", {found.reason}"
    new = {None: "", True: ", new in it", False: ", seen before"}[found.is_new]
    draft = " (draft)" if found.status == "draft" else ""
    yield (
        f"{found.quarter}{draft}, series {found.series} ({found.model}): case {found.case_id}"
        f"{as_asked} is {found.outcome}{reason}{new}; for the steward, not for publication"
    )
    yield from (f"  {text}" for text in found.why)
    if found.parts:
        rows = [
            [
                str(part.group),
                part.attribute,
                _text(part.region, "missing"),
                part.why,
                _named(part.low_by),
                _named(part.high_by),
            ]
            for part in found.parts
        ]
        yield Table("region", REGION_COLUMNS, rows)
    for group in found.groups:
        yield from _size_lines(found, group)
    if found.cannot_tell:
        yield "cannot be told: " + "; ".join(found.cannot_tell)


def _size_lines(found: Explained, group: GroupSize) -> Iterator[str]:
    """How large a group is, and why it cannot be smaller."""
    counted = (
        "" if group.carriers == group.cases else f", of which {group.carriers:,} count towards k"
    )
    yield (
        f"group {group.group}: {_cases(group.cases)} ({group.new_cases:,} new){counted}; every "
        f"group needs {group.needs:,}: k is {found.k}"
        + (
            f", and a group that holds {_named(found.raised_by)} once needs {group.needs:,}"
            if found.raised_by
            else ""
        )
    )
    if group.value is not None:
        yield (
            f"  the value that leaves it the least room: {group.value}, held by {group.held:g} of "
            f"{group.carriers:,}, threshold {group.theta}: {group.value_needs:,} are needed for it"
        )


def _named(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - TEXTS_SHOWN:,} more" if len(texts) > TEXTS_SHOWN else ""
    return ", ".join(texts[:TEXTS_SHOWN]) + more


map_option = click.option(
    "--map",
    "columns",
    multiple=True,
    callback=lambda context, parameter, texts: named_columns(texts),
    help="What a column is, such as age=Alter; may be repeated. Without --dataset every name is "
    "what an attacker may know, but case (its id), term (what must not be inferred), quarter and "
    "group_id.",
)
"""Columns of a foreign table by what they are."""


def named_columns(texts: Sequence[str]) -> dict[str, str] | None:
    """Name -> column, of texts such as ``age=Alter``; None: there are none.

    Raises:
        UsageError: one is no such text, or two are of the same name.
    """
    named = {name.strip().lower(): told for name, _, told in (t.partition("=") for t in texts)}
    if len(named) < len(texts) or not all(name and told.strip() for name, told in named.items()):
        raise click.UsageError("--map takes NAME=COLUMN, such as --map age=Alter, each name once")
    return named or None


def known_values(qids: Sequence[str]) -> dict[str, str]:
    """What an attacker knows, of texts such as ``age=37``.

    Raises:
        UsageError: one is no such text, or two are of the same name.
    """
    known = dict(text.partition("=")[::2] for text in qids)
    if len(known) < len(qids) or not all("=" in text for text in qids):
        raise click.UsageError("--qid takes NAME=VALUE, such as --qid age=37, each name once")
    return known
