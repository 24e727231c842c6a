"""The audit of a release series: what an attacker who joins its releases finds out.

Huang 2021, Definitions 1 to 5, judged for every case of every release in SQL (SPEC section 9).
What it shows does not defend anything: it tells which groups an attacker of the chosen kinds
narrows down to fewer than k cases, to a value with more confidence than theta, or to a share of
cases with substantially many symptoms above alpha.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from srsql.engine.audit.count_differences import CountDifference
from srsql.engine.audit.evidence import GroupEvidence, gather
from srsql.engine.audit.plan import (
    TARGET_STEPS,
    WINDOWS,
    AuditOptions,
    Subject,
    load_subject,
    plan,
    prepare,
    run_scope,
    step_parameters,
    workspace,
)
from srsql.engine.catalog.releases import as_released, countable_scopes
from srsql.engine.catalog.series import IMPORTED, PER_QUARTER, find_series, gaps, without_calendar
from srsql.engine.errors import AuditError
from srsql.engine.parameters import ATTACKS, SCOPES
from srsql.engine.store.frames import Framed
from srsql.engine.store.statements import query
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

__all__ = [
    "ATTACKS", "SCOPES", "Audit", "AuditOptions", "AuditRow", "FoldedTerms", "GroupEvidence",
    "audit",
]  # fmt: skip

PARTED = (
    "the release of {quarter} by {model} shows reports of a case in several regions, so the cases "
    "that match cannot be counted: give --scope group"
)
GROUP_LEFT_OUT = (
    "scope=group is not judged: sets of quasi-identifiers share their groups, so that nobody who "
    "knows one set knows in which group a case is"
)
BY_SETS = (
    "dataset {dataset} declares several sets of quasi-identifiers, of which no group is one: "
    "give --scope match"
)


@dataclass(frozen=True)
class Leaving:
    """Groups of a release, to one who knows that a case is in no release any more that is out, of
    a later quarter, and of any if this one was replaced: who appears there is no candidate.

    Source: docs/models.md (leaving several quarters).
    """

    groups: int
    """With such cases, fewer than k."""
    cases: int
    """In them."""
    fewest: int | None
    """Candidates that the group with the fewest leaves; None where nobody left."""


@dataclass(frozen=True)
class AuditRow:
    """One release at one scope."""

    release_id: int
    quarter: str
    model: str
    status: str
    scope: str
    attacks: tuple[str, ...]
    """Those evaluated."""
    not_evaluated: tuple[str, ...]
    """Those asked for that cannot be told yet, such as ``md`` of the newest quarter."""
    undefended: tuple[str, ...]
    """Attacks that the release does not promise to withstand, such as ``md`` where stopping was
    assumed of all; empty for somebody else's, which promises nothing known."""
    targets: str
    """``originals``: the cases' raw values; ``cells``: every value that the regions tell apart."""
    suppressed: int
    """Rows of somebody else's table that were declared suppressed, and are judged as if they were
    not published."""
    k: int
    alpha: str | None
    """As an exact fraction; None if ``ss`` is not evaluated."""
    groups: int
    dig: int
    dsg: int
    ssg: int
    dir: float
    dsr: float
    ssgr: float
    persistence: int | None
    """Groups in danger under P: where it was asked for it gates, at both scopes; else it informs,
    counts k alone, and is None at scope=match, where it is not evaluated."""
    self_excluded: int | None
    """Cases that their own other regions rule out for whoever knows their values, which P does not
    count; None where P does not gate, originals are not known, or a verdict was kept."""
    union: int | None
    """Groups in danger under U (informative): some value, united over all releases in which the
    candidates appear, is inferred beyond its threshold; ids that are new in every quarter leave
    what the release itself tells. None where it was not asked for."""
    erasure: int | None
    """Groups in danger under E: of those who left with the next version of the quarter, who is
    known to have left. None where the release has no later version."""
    erasure_claimed: bool
    """E gates: every later version took whole groups out, and left no remainder."""
    erasure_series: int | None
    """The same where candidates are also out who are in any release, of any quarter, that was made
    since (informative: nothing defends it)."""
    leaving: Leaving | None
    """What is left of groups to one who knows that the target left for good (informative: nothing
    defends it), of which k alone is counted; None at scope=match, of the newest quarter unless it
    was replaced, where ids are new in every quarter, and where it was not asked for."""
    outside: int | None
    """Cases whose raw values their region does not cover; None without originals."""
    qid_bounding: int
    """Old cases whose region does not cover all their earlier ones (informative)."""
    qid_bounding_earliest: int
    """Old cases whose region does not cover their earliest one (informative)."""
    perturbed: tuple[str, ...]
    """Quasi-identifiers that were perturbed. Such a value rules nobody out for certain, so the
    attacks take it as "any", and what they find is reported without a verdict."""
    internal: int | None
    """Groups that break k or theta before any attack: what a perturbed release is judged by; None
    for a release that perturbs nothing."""

    @property
    def defends_all(self) -> bool:
        """Whether the release promises to withstand every attack that was evaluated."""
        return self.model != IMPORTED and not set(self.attacks) & set(self.undefended)

    @property
    def safe(self) -> bool:
        """Whether no group is dangerous; of a perturbed one, whether its groups keep k; and whether
        who left it hides, where that is promised."""
        if self.erasure_claimed and self.erasure:
            return False
        if self.internal is not None:
            return self.internal == 0
        return not (self.dig or self.dsg or self.ssg)


@dataclass(frozen=True)
class FoldedTerms:
    """Releases that bound each spelling of a term, read by folded terms."""

    term_key: int
    """The version of the key that folds spellings."""
    quarters: tuple[str, ...]
    """Of the releases that compare terms by version 0."""
    regions: int
    """That they publish."""
    above: int
    """Those of them in which a folded term is more frequent than the least threshold of its
    spellings."""


@dataclass(frozen=True)
class Audit(Framed):
    """The audit of a series."""

    _tables: ClassVar[tuple[str, ...]] = ("releases",)

    dataset: str
    series: str
    safe: bool
    releases: list[AuditRow]
    """One per release and scope, in the order of the series."""
    evidence: list[GroupEvidence]
    """Per release and scope the dangerous groups, worst first; at scope=group the worst group even
    if it is safe."""
    erasure: list[GroupEvidence]
    """Those in danger under E, of the releases that have a later version."""
    gaps: tuple[str, ...] = ()
    """Where periods are missing between the released ones, in words: no attack joins the releases
    on both sides as neighbours."""
    without_calendar: tuple[str, ...] = ()
    """Periods whose label no calendar knows: the next one in order counts as the one that follows.
    """
    left_out: str | None = None
    """A scope that was asked for and does not exist here, and why; None: there is none."""
    folded: FoldedTerms | None = None
    """What folded terms would show (informative); None: terms are folded already, or were not
    looked at."""
    counts: tuple[CountDifference, ...] = ()
    """Tables of counts that differ from another table of their period by 1 to k - 1 cases; with
    any, the series is not safe."""

    @property
    def verdict(self) -> str:
        """Whether the series is safe and by which figures, in one sentence."""
        if not self.releases:
            return "Nothing was judged."
        if self.counts and all(row.safe for row in self.releases):
            found = sum(each.found for each in self.counts)
            return (
                f"Unsafe: {_counted(found, 'difference')} of tables of counts of one period, which "
                "are of fewer than k cases."
            )
        return _safe(self.releases) if self.safe else _unsafe(self)


def _safe(rows: Sequence[AuditRow]) -> str:
    found = []
    if attacked := [row for row in rows if row.internal is None]:
        attacks = _listed({name for row in attacked for name in row.attacks})
        whose = "was played"
        if all(row.defends_all for row in attacked):
            whose = "the model defends against"
        groups = sum(_worst(attacked, "groups").values())
        beyond = "a value with more confidence than its threshold"
        if any("ss" in row.attacks for row in attacked):
            beyond += ", or substantially many symptoms beyond alpha"
        found.append(
            f"no attack that {whose} ({attacks}) finds fewer than {_span(attacked)} candidates "
            f"for anybody, or {beyond}, in {_counted(groups, 'group')} of "
            f"{_counted(len(_worst(attacked, 'groups')), 'release')}"
        )
    if drawn := {row.release_id: row for row in rows if row.internal is not None}:
        found.append(
            f"the groups behind the drawn values of {_counted(len(drawn), 'release')} keep k and "
            "theta, and attacks on what was drawn gate nothing"
        )
    if any(row.erasure_claimed for row in rows):
        found.append("whoever left a corrected quarter is one of at least k")
    return f"Safe: {'; '.join(found)}."


def _unsafe(audit: Audit) -> str:
    rows = audit.releases
    attacked = [row for row in rows if row.internal is None]
    groups = sum(_worst(attacked, "groups").values())
    left = [group.remaining for group in audit.evidence if group.dig]
    fewest = f" (as few as {min(left):,})" if left else ""
    told = {
        "dig": f"leave somebody with fewer than {_span(attacked or rows)} candidates{fewest}",
        "dsg": "let a value be inferred with more confidence than its threshold",
        "ssg": "let substantially many symptoms be inferred beyond alpha",
    }
    found = []
    for figure, text in told.items():
        if number := sum(_worst(attacked, figure).values()):
            found.append(f"{number:,} of {_counted(groups, 'group')} {text}")
    if number := sum(_worst(rows, "internal").values()):
        found.append(f"{_counted(number, 'group')} behind drawn values break k or theta")
    claimed = [row for row in rows if row.erasure_claimed]
    if number := sum(_worst(claimed, "erasure").values()):
        found.append(f"{_counted(number, 'group')} give away who left a corrected quarter")
    where = list(dict.fromkeys(row.quarter for row in rows if not row.safe))
    return f"Unsafe: {'; '.join(found)}; {_counted(len(where), 'quarter')}: {', '.join(where)}."


def _worst(rows: Sequence[AuditRow], figure: str) -> dict[int, int]:
    """A figure of each release, at the scope where it is greatest."""
    found: dict[int, int] = {}
    for row in rows:
        found[row.release_id] = max(found.get(row.release_id, 0), getattr(row, figure) or 0)
    return found


def _listed(attacks: Collection[str]) -> str:
    return ", ".join(name.upper() for name in ATTACKS if name in attacks) or "none"


def _span(rows: Sequence[AuditRow]) -> str:
    """The k of the releases, or the least and the greatest."""
    all_k = sorted({row.k for row in rows})
    return f"{all_k[0]}" if len(all_k) == 1 else f"{all_k[0]} to {all_k[-1]}"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def audit(
    warehouse: Warehouse,
    dataset: Dataset,
    series: str,
    options: AuditOptions | None = None,
    progress: Callable[[str], None] | None = None,
) -> Audit:
    """Judge every release of a series; nothing but temporary tables is written, unless the verdicts
    are to be kept.

    Source: Huang 2021, Definitions 1 to 5; SPEC section 9.

    Args:
        warehouse: may be read-only, or within a transaction.
        dataset: whose series it is.
        series: the releases that the attacker has.
        options: what is judged, by which attacks and bounds; default: everything, by what each
            release promises.
        progress: told how many releases are judged, of how many.

    Returns:
        A row for every release and scope, and the groups in danger.

    Raises:
        AuditError: an unknown series, quarter or attack, or a bound that nobody told.
    """
    options = options or AuditOptions()
    if dataset.qid_set and options.known is None:
        return _audit_by_set(warehouse, dataset, series, options, progress)
    wrong = [scope for scope in options.scopes if scope not in SCOPES]
    if wrong or not options.scopes:
        raise AuditError(f"--scope {','.join(wrong)!r}: choose group or match")
    subjects = plan(warehouse, dataset, series, options)
    found = find_series(warehouse, dataset, series)
    no_join = found is not None and found.ids == PER_QUARTER
    rows: list[AuditRow] = []
    shown: list[GroupEvidence] = []
    leaving: list[GroupEvidence] = []
    with workspace(warehouse):
        prepare(warehouse, subjects, options.next_cases)
        reported = [subject for subject in subjects if subject.reported]
        gone = _leaving(warehouse, subjects) if options.leaving and not no_join else {}
        for number, subject in enumerate(reported):
            if progress:
                progress(f"{number} of {len(reported)} releases; {subject.quarter}: attacks")
            windows = _windows(warehouse, dataset, subject, options)
            load_subject(warehouse, subject, options.theta)
            judged = list(_judge(warehouse, dataset, subject, options))
            scopes = [row.scope for row, _ in judged]
            united = {row.scope: row.dsg for row, _ in judged} if options.union else {}
            if options.union and not no_join:
                united = _united(warehouse, subject, scopes)
            erased = _erased(warehouse, dataset, subject, options, scopes)
            for row, groups in judged:
                groups = groups + windows.get(row.scope, [])
                figures, left = erased.get(row.scope, ({}, []))
                if row.scope == "group":
                    figures = {**figures, "leaving": gone.get(row.release_id)}
                rows.append(replace(row, union=united.get(row.scope), **figures))
                shown.extend(groups)
                leaving.extend(left)
            if options.keep:
                _keep_rows(warehouse, subjects, rows[len(rows) - len(judged) :])
    quarters = [subject.quarter for subject in subjects]
    safe = all(row.safe for row in rows)
    found_gaps = tuple(gaps(warehouse, quarters))
    unknown = tuple(without_calendar(warehouse, quarters))
    return Audit(dataset.name, series, safe, rows, shown, leaving, found_gaps, unknown)


def _audit_by_set(
    warehouse: Warehouse,
    dataset: Dataset,
    series: str,
    options: AuditOptions,
    progress: Callable[[str], None] | None,
) -> Audit:
    """Judge a series by attackers who know one set of quasi-identifiers, one set after the other.

    The candidates of who knows a set are the cases whose regions cover it, whatever they show of
    other sets: scope = match, where a position that is not known says nothing. The groups of the
    catalog are those of who knows all sets, so that there is no scope = group, and no verdict is
    kept. The scope of a row names the set.

    Raises:
        AuditError: as of an audit, or scope = group alone is asked for.
    """
    if "match" not in options.scopes and set(options.scopes) <= set(SCOPES):
        raise AuditError(BY_SETS.format(dataset=dataset.name))
    found: list[Audit] = []
    for name, positions in dataset.set_positions.items():
        asked = replace(
            options,
            scopes=tuple(scope for scope in options.scopes if scope != "group"),
            known=positions,
            keep=False,
        )
        one = audit(warehouse, dataset, series, asked, progress)
        names = [qid.name for qid in dataset.of_set(name).qid]

        def named(
            group: GroupEvidence, name: str = name, names: list[str] = names
        ) -> GroupEvidence:
            known = {key: value for key, value in group.qid.items() if key in names}
            return replace(group, scope=f"{group.scope}, {name}", qid=known)

        found.append(
            replace(
                one,
                releases=[replace(row, scope=f"{row.scope}, {name}") for row in one.releases],
                evidence=[named(group) for group in one.evidence],
                erasure=[named(group) for group in one.erasure],
            )
        )
    left_out = GROUP_LEFT_OUT if "group" in options.scopes else None
    return replace(
        found[0],
        left_out=left_out,
        safe=all(one.safe for one in found),
        releases=[row for one in found for row in one.releases],
        evidence=[group for one in found for group in one.evidence],
        erasure=[group for one in found for group in one.erasure],
    )


def _judge(
    warehouse: Warehouse, dataset: Dataset, subject: Subject, options: AuditOptions
) -> Iterator[tuple[AuditRow, list[GroupEvidence]]]:
    """The row and the evidence of one release at each scope."""
    dataset = as_released(warehouse, dataset, subject.release_id)
    scopes = _countable(warehouse, subject, options.scopes)
    if not scopes:
        raise AuditError(PARTED.format(quarter=subject.quarter, model=subject.model))
    for scope in _evaluated(warehouse, subject, scopes):
        if scope == "group":
            facts = _facts(warehouse, subject)
        if scope in scopes:
            row = _row(warehouse, subject, scope, facts)
            if options.keep:
                _keep_groups(warehouse, subject, scope)
            if "p" in subject.attacks:  # what a window found is shown by the window
                _find_dangerous(warehouse, subject, None)
            yield row, gather(warehouse, dataset, subject, scope, options.evidence)


def _countable(warehouse: Warehouse, subject: Subject, scopes: tuple[str, ...]) -> tuple[str, ...]:
    """The scopes at which candidates can be counted: across regions not where these part cases."""
    countable = countable_scopes(warehouse, subject.release_id)
    return tuple(scope for scope in scopes if scope in countable)


def _windows(
    warehouse: Warehouse, dataset: Dataset, subject: Subject, options: AuditOptions
) -> dict[str, list[GroupEvidence]]:
    """By scope the groups in danger under persistence; ``srsql_audit_persistent`` has them, too.

    Each window is an audit of its own, of the cases that the target can be by what is known of it.
    MD and P are windows: neither joins another one, that would be three periods.

    Source: docs/decisions.md, D286.
    """
    found: dict[str, list[GroupEvidence]] = {scope: [] for scope in options.scopes}
    warehouse.run(query("audit/audit", "create_persistent"))
    if "p" not in subject.attacks:
        return found
    alone = replace(subject, attacks=tuple(a for a in subject.attacks if a not in ("md", "p")))
    dataset = as_released(warehouse, dataset, subject.release_id)
    scopes = _countable(warehouse, subject, options.scopes)
    for window in WINDOWS:
        load_subject(warehouse, alone, options.theta, window=window)
        for scope in _evaluated(warehouse, alone, scopes, window):
            if scope not in scopes:
                continue
            warehouse.run(query("audit/audit", "create_dangerous_in_window"), {"k": subject.k})
            warehouse.run(query("audit/audit", "add_persistent"), {"scope": scope})
            shown = gather(warehouse, dataset, alone, scope, options.evidence, with_safe=False)
            side, inside = window
            told = f"{'in' if inside else 'not in'} {side}"
            found[scope] += [replace(group, persistent=True, window=told) for group in shown]
    return found


def _find_dangerous(warehouse: Warehouse, subject: Subject, scope: str | None) -> None:
    """Fill ``srsql_audit_dangerous``, with what windows found where a scope is given."""
    asked = {"k": subject.k, "scope": scope}
    warehouse.run(query("audit/audit", "create_dangerous"), asked)


def _evaluated(
    warehouse: Warehouse,
    subject: Subject,
    scopes: Collection[str],
    window: tuple[str, bool] | None = None,
    *,
    same_targets: bool = False,
) -> Iterator[str]:
    """Each scope once it is laid out; ``group`` always, since ``match`` goes on from it.

    ``same_targets``: those of originals are laid out already; without originals a scope has its
    own.
    """
    for scope in SCOPES:
        if scope == "match" and scope not in scopes:
            continue
        known = TARGET_STEPS if same_targets else ()
        run_scope(warehouse, subject, scope, window, without=known)
        yield scope


def _united(warehouse: Warehouse, subject: Subject, scopes: list[str]) -> dict[str, int]:
    """Groups in danger under U at each scope; the tables of the release tell more from then on."""
    warehouse.run_step("audit/union", step_parameters(subject))
    found: dict[str, int] = {}
    for scope in _evaluated(warehouse, subject, scopes, same_targets=True):
        found[scope] = int(warehouse.value(query("audit/audit", "groups_with_breaches")))
    return found


def _leaving(warehouse: Warehouse, subjects: Sequence[Subject]) -> dict[int, Leaving]:
    """By release that is followed by others: its groups under G."""
    newest = max((subject.quarter for subject in subjects), default="")
    asked = {
        "release_ids": [subject.release_id for subject in subjects],
        "quarters": [subject.quarter for subject in subjects],
        "replaced": [bool(subject.newer) for subject in subjects],
        "all_k": [subject.k for subject in subjects],
    }
    found = {
        release_id: Leaving(*figures)
        for release_id, *figures in warehouse.rows(query("audit/audit", "leaving"), asked)
    }
    return {
        subject.release_id: found.get(subject.release_id, Leaving(0, 0, None))
        for subject in subjects
        if subject.newer or subject.quarter < newest
    }


def _erased(
    warehouse: Warehouse,
    dataset: Dataset,
    subject: Subject,
    options: AuditOptions,
    scopes: list[str],
) -> dict[str, tuple[dict[str, Any], list[GroupEvidence]]]:
    """By scope the figures of the erasure attack, and the groups in danger under it.

    The target is known to have left with the next version of the quarter, so that candidates who
    are in a later version are out; it is evaluated on those who are in none. Attacks that the
    release does not promise to withstand count only where the caller asks for them.

    Source: SPEC section 5.
    """
    if not subject.newer:
        return {}
    kept = [
        a for a in subject.attacks if a != "p" and (options.attacks or a not in subject.undefended)
    ]
    subject = replace(subject, attacks=tuple(kept))
    dataset = as_released(warehouse, dataset, subject.release_id)
    found: dict[str, tuple[dict[str, Any], list[GroupEvidence]]] = {
        scope: ({"erasure_claimed": subject.claims_erasure}, []) for scope in scopes
    }
    for figure, not_in in (("erasure_series", subject.since), ("erasure", subject.newer)):
        load_subject(warehouse, subject, options.theta, not_in)
        for scope in _evaluated(warehouse, subject, scopes):
            if scope not in scopes:
                continue
            _find_dangerous(warehouse, subject, None)
            figures, groups = found[scope]
            figures[figure] = int(warehouse.value(query("audit/audit", "groups_in_danger")))
            if figure == "erasure":
                groups += gather(
                    warehouse, dataset, subject, scope, options.evidence, with_safe=False
                )
    return found


def _row(warehouse: Warehouse, subject: Subject, scope: str, facts: dict[str, Any]) -> AuditRow:
    """The figures of one release at the scope that was evaluated last."""
    gates = "p" in subject.attacks
    _find_dangerous(warehouse, subject, scope if gates else None)
    groups = int(warehouse.value(query("audit/audit", "number_of_groups")))
    shares = {
        measure: (int(found), ratio or 0.0)
        for measure, found, ratio in warehouse.rows(
            query("audit/audit", "shares"),
            {"groups": groups, "release_id": subject.release_id, "scope": scope},
        )
    }
    persistent = warehouse.value(query("audit/audit", "persistent_groups"))
    return AuditRow(
        release_id=subject.release_id,
        quarter=subject.quarter,
        model=subject.model,
        status=subject.status,
        scope=scope,
        attacks=subject.attacks,
        not_evaluated=subject.not_evaluated,
        undefended=subject.undefended,
        targets="originals" if subject.originals else "cells",
        suppressed=subject.suppressed,
        k=subject.k,
        alpha=str(subject.alpha) if "ss" in subject.attacks else None,
        groups=groups,
        dig=shares["dir"][0],
        dsg=shares["dsr"][0],
        ssg=shares["ssgr"][0],
        dir=shares["dir"][1],
        dsr=shares["dsr"][1],
        ssgr=shares["ssgr"][1],
        persistence=int(persistent) if scope == "group" or gates else None,
        union=None,
        erasure=None,
        erasure_claimed=False,
        erasure_series=None,
        leaving=None,
        **facts,
    )


def _facts(warehouse: Warehouse, subject: Subject) -> dict[str, Any]:
    """What an audit counts besides danger."""
    own = {"release_id": subject.release_id}
    outside = warehouse.value(query("audit/audit", "cases_outside"))
    unbounded, earliest = warehouse.rows(query("audit/audit", "qid_bounding"))[0]
    perturbed = warehouse.rows(query("audit/audit", "perturbed"), own)
    broken = None
    if perturbed:
        asked = {**own, "k": subject.k}
        broken = int(warehouse.value(query("audit/audit", "internal_breaches"), asked))
    gates = subject.originals and "p" in subject.attacks
    excluded = warehouse.value(query("audit/audit", "self_excluded")) if gates else None
    return {
        "self_excluded": excluded,
        "perturbed": tuple(name for (name,) in perturbed),
        "internal": broken,
        "outside": int(outside) if subject.originals else None,
        "qid_bounding": unbounded,
        "qid_bounding_earliest": earliest,
    }


def _keep_groups(warehouse: Warehouse, subject: Subject, scope: str) -> None:
    """Keep the groups that are in danger at the scope that was evaluated last, or uncertain."""
    place = {"release_id": subject.release_id, "scope": scope}
    warehouse.run(query("audit/verdicts", "drop_groups"), place)
    warehouse.run(query("audit/verdicts", "keep_dangerous"), place)
    if scope == "match":
        find_uncertain(warehouse, subject)
        warehouse.run(query("audit/verdicts", "keep_uncertain"), place)


def find_uncertain(warehouse: Warehouse, subject: Subject) -> None:
    """Fill ``srsql_audit_uncertain`` with the groups laid out that do not keep k and every
    threshold by themselves, as ``subject`` is judged."""
    parameters = step_parameters(subject)
    asked = {name: parameters[name] for name in ("l", "md", "k", "weight_scale")}
    warehouse.run(query("audit/verdicts", "create_uncertain"), asked)


def _keep_rows(warehouse: Warehouse, subjects: Sequence[Subject], rows: Sequence[AuditRow]) -> None:
    """Keep the figures of one release, with the releases that they depend on."""
    release_id = rows[0].release_id
    warehouse.run(query("audit/verdicts", "drop_verdict"), {"release_id": release_id})
    for row in rows:
        warehouse.run(
            query("audit/verdicts", "keep_verdict"),
            {
                "release_id": release_id,
                "scope": row.scope,
                "attacker": sorted(subject.release_id for subject in subjects),
                "attacks": list(row.attacks),
                "groups": row.groups,
                "outside": row.outside,
                "qid_bounding": row.qid_bounding,
                "qid_bounding_earliest": row.qid_bounding_earliest,
                "internal": row.internal,
                "erasure": row.erasure,
                "erasure_series": row.erasure_series,
            },
        )
