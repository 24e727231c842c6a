"""The verdicts that releases keep, and what a new release changes of them.

A verdict is what the audit of one release found, with the releases that the attacker had. When one
more release N comes, imported ones included, every other release R keeps its verdict but for what N
can change. Let N come after R in the order of the series, by quarter, then by number.

* Nobody of R becomes old or has other earlier regions. What can change are the later regions of the
  cases that are in both (F, and with it B, SS and every threshold), who of them is in the next
  period (MD and P, if N is of the period just after R), and who is in any release made since R was
  replaced (E). MD becomes defined for the targets of every group of the newest period. So a group
  that holds no case of N is judged as before at scope = group, unless R is of the newest period and
  MD is among its attacks, or N is another version of its period.
* Where the region of a case in N covers its region in R, N rules the case out for no target in that
  region, whatever the group of the target. If this is true of all cases that a group shares with N,
  and N is not of the next period, nothing changes for the group at either scope, as long as all
  originals of R are in their regions.
* A group that is not *uncertain* (``srsql.uncertain_groups``) keeps k cases and every threshold,
  whatever is known of the target and whichever loose case is ruled out; so does any union of such
  groups. If none of R was uncertain and none of those that hold a case of N is so now, nobody of R
  is in danger at scope = match, neither before nor now, whatever else N does. The lemma of SPEC
  section 8 is the case of a periodical model of ours, whose groups are never uncertain.

* P asks four windows of every release that promises to withstand it, of which the backward ones
  have no groups that are certain by themselves (cohorts are, and they are old). So where a group of
  such a release would be audited again, the release is audited whole.

So only the groups that hold a case of N which the region there does not cover, and those of the
period before N that hold one of its cases, are audited again, all of them in one pass over the
catalog. Where one of them is in danger or uncertain, its whole release is audited, which is also
done where something above does not hold: R comes after N, is somebody else's, has originals outside
their regions or another version, its verdict is unknown or depends on other releases than those
that there are, or periods without a calendar change their order. U is not kept: its thresholds may
hang on what cases of other groups are in.

Source: Huang 2021, Definitions 1 to 5; SPEC sections 8 and 9.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from srsql.engine.audit.audit import Audit, AuditRow, audit, find_uncertain
from srsql.engine.audit.plan import (
    RAW_BOXES,
    AuditOptions,
    Subject,
    follow,
    plan,
    run_scope,
    step_parameters,
    workspace,
)
from srsql.engine.catalog.series import IMPORTED, gaps, without_calendar
from srsql.engine.errors import AuditError
from srsql.engine.store.statements import query
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

TOPIC = "audit/verdicts"


@dataclass(frozen=True)
class Verdict:
    """What was found of one release at one scope, and when it is true."""

    release_id: int
    scope: str
    attacker: tuple[int, ...]
    """The releases that the attacker had."""
    attacks: tuple[str, ...]
    groups: int
    dig: int
    dsg: int
    ssg: int
    persistent: int
    uncertain: int
    """Groups that do not keep k and every threshold by themselves."""
    outside: int | None
    qid_bounding: int
    qid_bounding_earliest: int
    internal: int | None
    erasure: int | None
    erasure_series: int | None


def audit_new(
    warehouse: Warehouse, dataset: Dataset, series: str, release_id: int, options: AuditOptions
) -> Audit:
    """Audit a release, and of the others of its series whatever it may have put in danger.

    A group that is not among those audited here is judged as it was without the release, and is in
    danger afterwards only if it was so before.

    Args:
        warehouse: within a transaction; the release is in the catalog.
        dataset: whose series it is.
        series: of the release.
        release_id: the release.
        options: what is judged; ``keep``: the verdicts are kept, of all releases of the series.

    Returns:
        The rows of the release and of those that were audited whole.
    """
    alone = replace(options, releases=frozenset({release_id}))
    subjects = plan(warehouse, dataset, series, alone)
    own = next(subject for subject in subjects if subject.release_id == release_id)
    others = tuple(sorted(s.release_id for s in subjects if s is not own))
    moved = _moves_neighbours(warehouse, subjects, own)
    if options.keep and moved:
        drop(warehouse, others)
    with workspace(warehouse):
        known = [] if moved else stored(warehouse, others)
        whole, parts = _touched(warehouse, subjects, own, known)
        whole |= _audit_parts(warehouse, subjects, parts, own, keep=options.keep)
    found = audit(
        warehouse, dataset, series, replace(options, releases=frozenset({release_id, *whole}))
    )
    if options.keep:
        had = list(others)
        asked = {"release_ids": had, "had": had, "has": sorted((*others, release_id))}
        warehouse.run(query(TOPIC, "keep_series"), asked)
    return found


def _moves_neighbours(warehouse: Warehouse, subjects: Sequence[Subject], own: Subject) -> bool:
    """Whether two other periods are no longer consecutive, or become so: where no calendar tells
    what follows on a period, one that comes between them parts them."""
    labels = {subject.quarter for subject in subjects}
    others = {subject.quarter for subject in subjects if subject is not own}
    if own.quarter in others or own.quarter > max(others, default=""):
        return False
    return bool(without_calendar(warehouse, labels))


def _touched(
    warehouse: Warehouse, subjects: Sequence[Subject], own: Subject, known: Sequence[Verdict]
) -> tuple[set[int], list[Subject]]:
    """The releases that are audited whole, and those of which some groups may be enough; ``known``:
    the verdicts that are kept of them."""
    everything = [subject.release_id for subject in subjects]
    asked = {"release_id": own.release_id, "release_ids": everything}
    warehouse.run_step("audit/returning", asked)
    sharing = {row[0] for row in warehouse.rows(query(TOPIC, "sharing_releases"))}
    before = max((s.quarter for s in subjects if s.quarter < own.quarter), default=None)
    others = tuple(sorted(number for number in everything if number != own.release_id))
    verdicts: dict[int, list[Verdict]] = defaultdict(list)
    for verdict in known:
        verdicts[verdict.release_id].append(verdict)
    whole: set[int] = set()
    parts: list[Subject] = []
    for subject in subjects:
        if subject is own or not (
            subject.release_id in sharing or subject.quarter in (own.quarter, before)
        ):
            continue
        becomes_defined = "md" in subject.attacks and subject.quarter == before and own.newest
        if (
            subject.seq < own.seq
            and subject.quarter != own.quarter
            and not becomes_defined
            and _keeps(subject, verdicts[subject.release_id], others)
        ):
            parts.append(subject)
        else:
            whole.add(subject.release_id)
    return whole, parts


def _keeps(subject: Subject, known: Sequence[Verdict], others: tuple[int, ...]) -> bool:
    """Whether a release before the new one keeps its verdict but for some of its groups."""
    return (
        bool(known)
        and subject.model != IMPORTED
        and not subject.newer
        and all(
            v.attacker == others
            and v.attacks == subject.attacks
            and v.outside == 0  # None: the originals are not known
            and not (v.scope == "match" and v.uncertain)
            for v in known
        )
    )


def _audit_parts(
    warehouse: Warehouse,
    subjects: list[Subject],
    parts: Sequence[Subject],
    own: Subject,
    *,
    keep: bool,
) -> set[int]:
    """Audit what the release ``own`` changes of others; those of which that is not enough."""
    asked = {
        "release_ids": [subject.release_id for subject in parts],
        "adjacent": [subject.quarter_no + 1 == own.quarter_no for subject in parts],
    }
    warehouse.run(query(TOPIC, "create_part"), asked)
    changed = {row[0] for row in warehouse.rows(query(TOPIC, "part_releases"))}
    if not changed:
        return set()
    follow(warehouse, subjects, ())
    warehouse.run(query("audit/audit", "create_persistent"))
    batches: dict[tuple[Any, ...], list[Subject]] = defaultdict(list)
    for subject in parts:
        if subject.release_id in changed and "p" not in subject.attacks:
            alike = (subject.attacks, subject.k, subject.alpha, subject.weight_scale)
            batches[alike].append(subject)
    doubtful = {s.release_id for s in parts if s.release_id in changed and "p" in s.attacks}
    for batch in batches.values():
        doubtful |= _audit_batch(warehouse, batch, keep=keep)
    return doubtful


def _audit_batch(warehouse: Warehouse, batch: Sequence[Subject], *, keep: bool) -> set[int]:
    """The releases, judged alike, of which a group is in danger or uncertain; of the others the
    verdicts of the groups are kept."""
    subject = replace(batch[0], release_id=0, originals=True)
    alpha = subject.alpha if subject.alpha is not None else Fraction(1)
    numbers = [each.release_id for each in batch]
    warehouse.run_step(
        "audit/part",
        {
            **step_parameters(subject),
            "release_ids": numbers,
            "alpha_num": alpha.numerator,
            "alpha_den": alpha.denominator,
        },
    )
    warehouse.run_step("audit/sizes", {"release_id": 0}, audit_region="srsql_audit_part_region")
    run_scope(warehouse, subject, "group", without=(RAW_BOXES,))
    asked = {"k": subject.k, "scope": None}
    warehouse.run(query("audit/audit", "create_dangerous"), asked)
    find_uncertain(warehouse, subject)
    doubtful = {row[0] for row in warehouse.rows(query(TOPIC, "doubtful_releases"))}
    if keep:
        certain = {"release_ids": [number for number in numbers if number not in doubtful]}
        for statement in ("drop_part", "keep_part"):
            warehouse.run(query(TOPIC, statement), certain)
    return doubtful & set(numbers)


def audit_again(
    warehouse: Warehouse, dataset: Dataset, series: str, options: AuditOptions
) -> Audit:
    """Audit a series in full, compare what was found with the verdicts that are kept, and keep it.

    Args:
        warehouse: no transaction is open.
        dataset: whose series it is.
        series: the releases that the attacker has.
        options: with which the verdicts of the newest release were kept.

    Raises:
        AuditError: a verdict of today is not what a full audit finds; nothing is kept.
    """
    with warehouse.transaction():
        subjects = plan(warehouse, dataset, series, options)
        has = tuple(sorted(subject.release_id for subject in subjects))
        before = {(v.release_id, v.scope): v for v in stored(warehouse, has) if v.attacker == has}
        found = audit(warehouse, dataset, series, replace(options, keep=True))
        for now in stored(warehouse, has):
            known = before.get((now.release_id, now.scope), now)
            if known != now:
                quarter = next(s.quarter for s in subjects if s.release_id == now.release_id)
                raise AuditError(
                    f"the verdict that the release of {quarter} kept at scope={now.scope} is not "
                    "that of a full audit: run 'srsql audit', publish nothing of the series until "
                    "it is safe, and report this as a defect"
                )
    return found


def kept_audit(
    warehouse: Warehouse, dataset: Dataset, series: str, quarter: str | None = None
) -> Audit:
    """The audit of a series as its releases kept it, without evidence; nothing is audited.

    Args:
        warehouse: may be read-only.
        dataset: whose series it is.
        series: the releases that the attacker has.
        quarter: the only one to report.

    Raises:
        AuditError: no verdict of some release is kept that holds for the releases of today.
    """
    subjects = plan(warehouse, dataset, series, AuditOptions(quarter))
    has = tuple(sorted(subject.release_id for subject in subjects))
    found: dict[int, list[Verdict]] = defaultdict(list)
    for verdict in stored(warehouse, has):
        if verdict.attacker == has:
            found[verdict.release_id].append(verdict)
    rows = []
    for subject in subjects:
        if not subject.reported:
            continue
        if not found[subject.release_id]:
            raise AuditError(
                f"no verdict of {subject.quarter} is kept that holds for the releases of series "
                f"{series!r} as they are now: leave --kept out to audit in full"
            )
        asked = {"release_id": subject.release_id}
        perturbed = tuple(n for (n,) in warehouse.rows(query("audit/audit", "perturbed"), asked))
        rows += [_row(subject, verdict, perturbed) for verdict in found[subject.release_id]]
    labels = [subject.quarter for subject in subjects]
    return Audit(
        dataset.name,
        series,
        all(row.safe for row in rows),
        rows,
        [],
        [],
        tuple(gaps(warehouse, labels)),
        tuple(without_calendar(warehouse, labels)),
    )


def _row(subject: Subject, verdict: Verdict, perturbed: tuple[str, ...]) -> AuditRow:
    """A verdict as an audit shows it."""
    of = verdict.groups or 1
    return AuditRow(
        release_id=subject.release_id,
        quarter=subject.quarter,
        model=subject.model,
        status=subject.status,
        scope=verdict.scope,
        attacks=verdict.attacks,
        not_evaluated=tuple(a for a in subject.not_evaluated if a not in verdict.attacks),
        undefended=subject.undefended,
        targets="originals" if subject.originals else "cells",
        suppressed=subject.suppressed,
        k=subject.k,
        alpha=str(subject.alpha) if "ss" in verdict.attacks else None,
        groups=verdict.groups,
        dig=verdict.dig,
        dsg=verdict.dsg,
        ssg=verdict.ssg,
        dir=verdict.dig / of,
        dsr=verdict.dsg / of,
        ssgr=verdict.ssg / of,
        persistence=verdict.persistent
        if verdict.scope == "group" or "p" in verdict.attacks
        else None,
        self_excluded=None,
        union=None,
        erasure=verdict.erasure,
        erasure_claimed=subject.claims_erasure,
        leaving=None,
        erasure_series=verdict.erasure_series,
        outside=verdict.outside,
        qid_bounding=verdict.qid_bounding,
        qid_bounding_earliest=verdict.qid_bounding_earliest,
        perturbed=perturbed,
        internal=verdict.internal,
    )


def stored(warehouse: Warehouse, release_ids: Collection[int]) -> list[Verdict]:
    """What is kept of some releases, by release and scope, whenever it was true."""
    rows = warehouse.rows(query(TOPIC, "kept"), {"release_ids": list(release_ids)})
    return [
        Verdict(release_id, scope, tuple(attacker), tuple(attacks), *figures)
        for release_id, scope, attacker, attacks, *figures in rows
    ]


def drop(warehouse: Warehouse, release_ids: Collection[int]) -> None:
    """Keep no verdict of some releases, of which other cases are known than before."""
    for statement in ("drop_verdicts", "drop_all_groups"):
        warehouse.run(query(TOPIC, statement), {"release_ids": list(release_ids)})
