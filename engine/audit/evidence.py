"""What an audit shows: the groups in danger, and how far the worst target is narrowed down.

An audit says which groups break bounds (``gather`` shows them); ``extremes`` says how far from them
the worst target is, which is what settings are compared by (``srsql advise``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from srsql.engine.audit.plan import (
    AuditOptions,
    Subject,
    load_subject,
    plan,
    prepare,
    run_scope,
    workspace,
)
from srsql.engine.catalog.series import awaited_cases
from srsql.engine.errors import AuditError
from srsql.engine.store.statements import query
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

_UNBOUNDED_END = 2**62
_ALL_GROUPS = 2**31 - 1


@dataclass(frozen=True)
class GroupEvidence:
    """One group, by the target of it of which the fewest candidates remain."""

    release_id: int
    quarter: str
    scope: str
    group_id: int
    dig: bool
    dsg: bool
    ssg: bool
    persistent: bool
    """In danger under P (informative at scope=group, unless P was asked for)."""
    case_id: str | None
    """The target; None where the raw values are not known."""
    qid: dict[str, Any]
    """QID -> value of the target: a node or ``{"low": ..., "high": ...}``; None: missing."""
    new: bool
    """The attacker uses that the target is in no earlier release."""
    stopped: bool
    """The attacker uses that the target is not in the next quarter."""
    candidates: int
    b: int
    f: int
    l: int  # noqa: E741
    md: int
    remaining: int
    term: str | None
    """The value that stands out most: above its threshold if one is, for any target of the group,
    else for this target; None if none remains that could exceed its threshold."""
    confidence: float | None
    theta: str | None
    """As an exact fraction."""
    term_case_id: str | None
    """The target of ``term``."""
    ss_share: float | None
    """Share of cases with substantially many symptoms: the greatest above alpha, if one is, else
    that of this target at scope=group."""
    window: str | None = None
    """Where P was asked for and puts the group in danger: what the attacker knows of the target
    beside, ``in next``, ``not in next``, ``in previous`` or ``not in previous`` (period)."""


@dataclass(frozen=True)
class Extremes:
    """The worst target of one release, who has every other release of the series as well."""

    attacks: tuple[str, ...]
    """Those evaluated: what the release promises to withstand, else b, f and l."""
    fewest: int | None
    """Fewest candidates that remain for any target in its group; None: there is no target. Where
    regions cover their cases, no fewer remain of all cases that match: those of the other groups
    whose region covers the target come on top. They may be very many, since a missing value
    matches everybody, and nobody should rely on an attacker taking such a case for as likely."""
    term: str | None
    """The value of which most is inferred, of those with a threshold below 1."""
    held: int | None
    """Of a target's remaining candidates in its group, so many hold it, in units of the release;"""
    of: int | None
    """of so many. ``held / of`` is the confidence: the greatest of all targets and values."""
    theta: float | None
    """Its threshold."""


def gather(
    warehouse: Warehouse,
    dataset: Dataset,
    subject: Subject,
    scope: str,
    at_most: int | None,
    *,
    with_safe: bool = True,
) -> list[GroupEvidence]:
    """The dangerous groups of one release at the scope that was evaluated last, worst first.

    Source: Huang 2021, Definitions 1 to 5.

    Args:
        warehouse: where the steps of the scope were run.
        dataset: names the quasi-identifiers.
        subject: the release.
        scope: one of ``SCOPES``.
        at_most: how many groups; None: all.
        with_safe: at scope=group a safe group is shown where none is dangerous.
    """
    if at_most == 0:
        return []
    rows = warehouse.rows(
        query("audit/evidence", "worst_groups"),
        {
            "release_id": subject.release_id,
            "at_most": at_most if at_most is not None else _ALL_GROUPS,
            "at_scope_group": scope == "group",
            "with_safe": with_safe and scope == "group",
            "weight_scale": subject.weight_scale,
        },
    )
    place = (subject.release_id, subject.quarter, scope)
    return [
        GroupEvidence(*(*place, *row[:6], known(dataset, row[6]), *row[7:15], *_value(row[15:])))
        for row in rows
    ]


def _value(columns: tuple[Any, ...]) -> tuple[Any, ...]:
    """``term``, ``confidence``, ``theta``, ``term_case_id``, ``ss_share`` of a group."""
    term, confidence, num, den, case_id, ss_share = columns
    theta = str(Fraction(num, den)) if num is not None and den else None
    return term, confidence, theta, case_id, ss_share


def known(dataset: Dataset, box: list[int]) -> dict[str, Any]:
    """A box as it would be published: see ``GroupEvidence.qid``."""
    found: dict[str, Any] = {}
    for position, qid in enumerate(dataset.qid):
        low, high = -box[2 * position], box[2 * position + 1]
        if high == _UNBOUNDED_END:
            found[qid.name] = None
        elif qid.kind == "categorical":
            found[qid.name] = dataset.hierarchies[qid.name].labels[low]
        else:
            ends = (granules * qid.granularity for granules in (low, high))
            found[qid.name] = dict(
                zip(
                    ("low", "high"),
                    (int(e) if e == e.to_integral_value() else float(e) for e in ends),
                    strict=True,
                )
            )
    return found


def extremes(
    warehouse: Warehouse,
    dataset: Dataset,
    series: str,
    quarter: str,
    attacks: tuple[str, ...] | None = None,
) -> Extremes:
    """Audit the release of one quarter for its worst target; only temporary tables are written.

    Source: Huang 2021, Definitions 1 to 5; candidates as in SPEC section 9.

    Args:
        warehouse: may be read-only.
        dataset: whose series it is.
        series: the releases that the attacker has.
        quarter: its newest release is judged.
        attacks: as of an audit; default: what the release promises, else b, f and l.

    Raises:
        AuditError: the quarter is not released in the series, or tells no bounds; see
            ``Dataset.need_one_set``.
    """
    dataset.need_one_set(
        AuditError,
        "and its groups are those of who knows all of them: audit it at --scope match",
    )
    options = AuditOptions(quarter, attacks)
    subjects = plan(warehouse, dataset, series, options)
    if any("md" in s.not_evaluated for s in subjects if s.reported):
        awaited = awaited_cases(warehouse, dataset, series)
        if awaited is not None:
            options = replace(options, next_cases=awaited)
            subjects = plan(warehouse, dataset, series, options)
    subject = [s for s in subjects if s.reported][-1]
    with workspace(warehouse):
        prepare(warehouse, subjects, options.next_cases)
        load_subject(warehouse, subject, None)
        run_scope(warehouse, subject, "group")
        fewest = warehouse.value(query("audit/evidence", "fewest_remaining"))
        return Extremes(subject.attacks, fewest, *_greatest_share(warehouse, subject))


def _greatest_share(
    warehouse: Warehouse, subject: Subject
) -> tuple[str | None, int | None, int | None, float | None]:
    """``term``, ``held``, ``of``, ``theta`` of the surest inference."""
    rows = warehouse.rows(
        query("audit/evidence", "greatest_share"),
        {"release_id": subject.release_id, "weight_scale": subject.weight_scale},
    )
    if not rows:
        return None, None, None, None
    term, held, of, theta = rows[0]
    return term, int(held), int(of), theta
