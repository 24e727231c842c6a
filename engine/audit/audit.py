"""The audit of a release series: what an attacker who joins its releases finds out.

Huang 2021, Definitions 1 to 5, judged for every case of every release in SQL (SPEC section 9).
What it shows does not defend anything: it tells which groups an attacker of the chosen kinds
narrows down to fewer than k cases, to a value with more confidence than theta, or to a share of
cases with substantially many symptoms above alpha.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from srsql.engine.audit.evidence import GroupEvidence, gather
from srsql.engine.audit.plan import ATTACKS, Choice, Subject, fill_theta, plan
from srsql.engine.errors import AuditError
from srsql.engine.grouping.thresholds import ThetaPolicy
from srsql.engine.warehouse.releases import as_released, is_parted
from srsql.engine.warehouse.statements import dotted, literal
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset

__all__ = ["ATTACKS", "SCOPES", "Audit", "AuditRow", "GroupEvidence", "audit"]

SCOPES = ("group", "match")
"""Candidates are the cases of the target's group, or all whose region covers it."""
PARTED = (
    "the release of {quarter} by {model} shows reports of a case in several regions, so the cases "
    "that match cannot be counted: give --scope group"
)
STEPS = {
    ("group", True): ("audit/targets", "audit/scope_group"),
    ("group", False): ("audit/cells", "audit/scope_group"),
    ("match", True): (
        "audit/places",
        "audit/scope_match",
        "audit/match_targets",
    ),
    ("match", False): (
        "audit/places",
        "audit/cells_match",
        "audit/scope_match",
        "audit/match_targets",
    ),
}
"""Scope, whether originals are known: what is run."""
_FOUND = {
    "group": ("srsql_audit_sets", "srsql_audit_breach"),
    "match": ("srsql_audit_match_sets", "srsql_audit_match_breach"),
}


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
    """Groups in danger under P (informative); None at scope=match, where it is not evaluated."""
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
    def safe(self) -> bool:
        """Whether no group is dangerous; of a perturbed one, whether its groups keep k."""
        if self.internal is not None:
            return self.internal == 0
        return not (self.dig or self.dsg or self.ssg)


@dataclass(frozen=True)
class Audit:
    """The audit of a series."""

    dataset: str
    series: str
    safe: bool
    releases: list[AuditRow]
    """One per release and scope, in the order of the series."""
    evidence: list[GroupEvidence]
    """Per release and scope the dangerous groups, worst first; at scope=group the worst group even
    if it is safe."""


def audit(
    warehouse: Warehouse,
    dataset: Dataset,
    series: str,
    *,
    quarter: str | None = None,
    attacks: tuple[str, ...] | None = None,
    scopes: tuple[str, ...] = SCOPES,
    k: int | None = None,
    theta: ThetaPolicy | None = None,
    alpha: Fraction | None = None,
    draft: int | None = None,
    without: int | None = None,
    next_cases: str | None = None,
    evidence: int | None = None,
    releases: frozenset[int] | None = None,
) -> Audit:
    """Judge every release of a series; nothing but temporary tables is written.

    Args:
        warehouse: may be read-only, or within a transaction.
        dataset: whose series it is.
        series: the releases that the attacker has.
        quarter: the only one to report; the attacker has the others all the same.
        attacks: some of ``ATTACKS``; default: what each release promises, else ``b``, ``f``, ``l``.
        scopes: some of ``SCOPES``; ``match`` is left out of a release whose cases may have several
            regions, since a case would count in each.
        k: least number of cases; default: each release's own, as for ``theta`` and ``alpha``.
        theta: thresholds of the values.
        alpha: greatest share of cases with substantially many symptoms.
        draft: a draft that counts as released.
        without: a release that the attacker has not got, to learn what it changes.
        next_cases: a table (case_id) that stands for the quarter after the newest release.
        releases: the only ones to report, as for ``quarter``.
        evidence: at most so many groups per release and scope; default: all in danger.

    Raises:
        AuditError: an unknown series, quarter or attack, or a bound that nobody told.
    """
    wrong = [scope for scope in scopes if scope not in SCOPES]
    if wrong or not scopes:
        raise AuditError(f"--scope {','.join(wrong)!r}: choose group or match")
    choice = Choice(quarter, attacks, k, theta, alpha, draft, without, next_cases, releases)
    subjects = plan(warehouse, dataset, series, choice)
    rows: list[AuditRow] = []
    shown: list[GroupEvidence] = []
    with workspace(warehouse):
        prepare(warehouse, subjects, next_cases)
        for subject in subjects:
            if subject.reported:
                load_subject(warehouse, subject, theta)
                for row, groups in _judge(warehouse, dataset, subject, scopes, evidence):
                    rows.append(row)
                    shown.extend(groups)
    return Audit(dataset.name, series, all(row.safe for row in rows), rows, shown)


@contextmanager
def workspace(warehouse: Warehouse) -> Iterator[None]:
    """Temporary tables that begin with ``srsql_audit_`` are gone afterwards.

    After an error within a transaction they go with its rollback.
    """
    yield
    for (name,) in warehouse.rows(
        "SELECT t.table_name FROM duckdb_tables() AS t "
        "WHERE t.temporary AND starts_with(t.table_name, 'srsql_audit_')"
    ):
        warehouse.run(f"DROP TABLE {dotted('temp', 'main', name)}")


def prepare(warehouse: Warehouse, subjects: list[Subject], next_cases: str | None) -> None:
    """What the attacker knows of the series as a whole."""
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_audit_release AS SELECT unnest($ids::INTEGER[]) AS"
        " release_id, unnest($seqs::INTEGER[]) AS seq, unnest($quarters::INTEGER[]) AS quarter_no,"
        " unnest($reported::BOOLEAN[]) AS reported",
        {
            "ids": [s.release_id for s in subjects],
            "seqs": [s.seq for s in subjects],
            "quarters": [s.quarter_no for s in subjects],
            "reported": [s.reported for s in subjects],
        },
    )
    known = f"SELECT DISTINCT n.case_id FROM query_table({literal(next_cases or '')}) AS n"
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_audit_next AS "
        + (known if next_cases is not None else "SELECT NULL::VARCHAR AS case_id LIMIT 0")
    )
    warehouse.run_step("audit/series")


def load_subject(warehouse: Warehouse, subject: Subject, theta: ThetaPolicy | None) -> None:
    """The cases, groups and bounds of one release."""
    fill_theta(warehouse, subject, theta)
    warehouse.run_step("audit/release", step_parameters(subject))


def step_parameters(subject: Subject) -> dict[str, Any]:
    """What the steps of an audit take of the release that is audited."""
    alpha = subject.alpha if subject.alpha is not None else Fraction(1)
    return {
        "release_id": subject.release_id,
        "newest": subject.newest,
        **{name: name in subject.attacks for name in ATTACKS},
        "alpha_num": alpha.numerator,
        "alpha_den": alpha.denominator,
        "k": subject.k,
        "weight_scale": subject.weight_scale,
    }


def _judge(
    warehouse: Warehouse,
    dataset: Dataset,
    subject: Subject,
    scopes: tuple[str, ...],
    evidence: int | None,
) -> Iterator[tuple[AuditRow, list[GroupEvidence]]]:
    """The row and the evidence of one release at each scope."""
    groups = int(warehouse.value("SELECT count(*) FROM temp.main.srsql_audit_crowd"))
    dataset = as_released(warehouse, dataset, subject.release_id)
    if "match" in scopes and is_parted(warehouse, subject.release_id):
        scopes = tuple(scope for scope in scopes if scope != "match")
        if not scopes:
            raise AuditError(PARTED.format(quarter=subject.quarter, model=subject.model))
    for scope in SCOPES:
        if scope == "match" and scope not in scopes:
            continue
        for file in STEPS[scope, subject.originals]:
            warehouse.run_step(file, step_parameters(subject))
        if scope == "group":
            facts = _facts(warehouse, subject)
        if scope not in scopes:
            continue
        sets, breaches = (literal(f"temp.main.{name}") for name in _FOUND[scope])
        warehouse.run(
            "CREATE OR REPLACE TEMP TABLE srsql_audit_dangerous AS SELECT d.* FROM "
            f"srsql.dangerous_groups({sets}, {breaches}, {subject.k:d}) AS d"
        )
        shares = {
            measure: (int(found), ratio or 0.0)
            for measure, found, ratio in warehouse.rows(
                "SELECT s.measure, s.violating, s.ratio FROM srsql.dangerous_shares("
                f"'temp.main.srsql_audit_dangerous', {groups:d}, {subject.release_id:d},"
                f" {literal(scope)}) AS s"
            )
        }
        persistent = warehouse.value(
            "SELECT count(*) FILTER (WHERE d.persistent) FROM temp.main.srsql_audit_dangerous AS d"
        )
        yield (
            AuditRow(
                release_id=subject.release_id,
                quarter=subject.quarter,
                model=subject.model,
                status=subject.status,
                scope=scope,
                attacks=subject.attacks,
                not_evaluated=subject.not_evaluated,
                undefended=subject.undefended,
                targets="originals" if subject.originals else "cells",
                k=subject.k,
                alpha=str(subject.alpha) if "ss" in subject.attacks else None,
                groups=groups,
                dig=shares["dir"][0],
                dsg=shares["dsr"][0],
                ssg=shares["ssgr"][0],
                dir=shares["dir"][1],
                dsr=shares["dsr"][1],
                ssgr=shares["ssgr"][1],
                persistence=int(persistent) if scope == "group" else None,
                **facts,
            ),
            gather(warehouse, dataset, subject, scope, _FOUND[scope], evidence),
        )


def _facts(warehouse: Warehouse, subject: Subject) -> dict[str, Any]:
    """What an audit counts besides danger."""
    outside = warehouse.value(
        "SELECT coalesce(sum(t.cases), 0) FROM temp.main.srsql_audit_target AS t WHERE NOT t.inside"
    )
    unbounded, earliest = warehouse.rows(
        "SELECT count(*) FILTER (WHERE NOT m.bounds_all),"
        " count(*) FILTER (WHERE NOT m.bounds_earliest) "
        "FROM temp.main.srsql_audit_member AS m"
    )[0]
    perturbed = warehouse.rows(
        "SELECT a.attribute FROM srsql.perturbation AS p INNER JOIN srsql.attribute AS a "
        "ON p.release_id = a.release_id AND p.position = a.position "
        "WHERE p.release_id = ? ORDER BY p.position",
        [subject.release_id],
    )
    broken = warehouse.value(
        "SELECT count(*) FROM srsql.internal_groups(?) AS i WHERE i.carriers < ? OR i.breached",
        [subject.release_id, subject.k],
    )
    return {
        "perturbed": tuple(name for (name,) in perturbed),
        "internal": int(broken) if perturbed else None,
        "outside": int(outside) if subject.originals else None,
        "qid_bounding": unbounded,
        "qid_bounding_earliest": earliest,
    }
