"""What an audit shows of the groups in danger."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from srsql.engine.audit.plan import Subject
from srsql.engine.warehouse.statements import literal
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset

_ALL = 2**62


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
    """In danger under P (informative; evaluated at scope=group only)."""
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


def gather(
    warehouse: Warehouse,
    dataset: Dataset,
    subject: Subject,
    scope: str,
    found: tuple[str, str],
    at_most: int | None,
) -> list[GroupEvidence]:
    """The dangerous groups of one release at one scope, worst first."""
    limit = at_most if at_most is not None else 2**31
    safe = "true" if scope == "group" else "false"
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_audit_worst AS SELECT w.* FROM srsql.worst_groups("
        f"'temp.main.srsql_audit_dangerous', {literal('temp.main.' + found[0])}, {limit:d},"
        f" {safe}) AS w"
    )
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_audit_told AS SELECT b.* FROM "
        f"temp.main.{found[1]} AS b SEMI JOIN temp.main.srsql_audit_worst AS w "
        "ON b.group_id = w.group_id"
    )
    if scope == "group":
        tables = ", ".join(
            literal(f"temp.main.srsql_audit_{name}")
            for name in ("worst", "target", "load", "pair", "held", "bound")
        )
        warehouse.run(
            "INSERT INTO temp.main.srsql_audit_told SELECT s.target_no, s.group_id, s.term_no,"
            " s.theta_num, s.theta_den, s.whole, s.weight "
            f"FROM srsql.remaining_shares({tables}, {subject.weight_scale:d}) AS s"
        )
    told = {
        row[0]: row[1:]
        for row in warehouse.rows(
            "SELECT o.* FROM srsql.outstanding('temp.main.srsql_audit_told',"
            " 'temp.main.srsql_audit_target', 'temp.main.srsql_audit_member',"
            f" {subject.release_id:d}) AS o"
        )
    }
    rows = warehouse.rows(
        "SELECT w.group_id, w.dig, w.dsg, w.ssg, w.persistent, m.case_id, t.box, t.is_new,"
        " t.stopped, w.candidates, w.b, w.f, w.l, w.md, w.remaining "
        "FROM temp.main.srsql_audit_worst AS w "
        "INNER JOIN temp.main.srsql_audit_target AS t ON w.target_no = t.target_no "
        "LEFT JOIN temp.main.srsql_audit_member AS m ON t.case_no = m.case_no ORDER BY w.place"
    )
    place = (subject.release_id, subject.quarter, scope)
    return [
        GroupEvidence(
            *(*place, *row[:6], known(dataset, row[6]), *row[7:], *_outstanding(told.get(row[0])))
        )
        for row in rows
    ]


def _outstanding(told: tuple[Any, ...] | None) -> tuple[Any, ...]:
    """``term``, ``confidence``, ``theta``, ``term_case_id``, ``ss_share``."""
    if told is None:
        return (None,) * 5
    term, confidence, num, den, case_id, ss_share = told
    theta = str(Fraction(num, den)) if num is not None and den else None
    return term, confidence, theta, case_id, ss_share


def known(dataset: Dataset, box: list[int]) -> dict[str, Any]:
    """A box as it would be published: see ``GroupEvidence.qid``."""
    found: dict[str, Any] = {}
    for position, qid in enumerate(dataset.qid):
        low, high = -box[2 * position], box[2 * position + 1]
        if high == _ALL:
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
