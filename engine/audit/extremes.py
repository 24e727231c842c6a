"""How far an attacker of the audit narrows the worst target of a release down.

An audit says which groups break bounds; this says how far from them the worst target is, which is
what settings are compared by (``srsql advise``).
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from srsql.engine.audit.audit import STEPS, load_subject, prepare, step_parameters, workspace
from srsql.engine.audit.plan import Choice, Subject, plan
from srsql.engine.warehouse.series import next_cases_query, next_quarter
from srsql.engine.warehouse.statements import create, literal
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset

_TABLES = ("sets", "target", "group_term_weight", "pair", "held", "bound")


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
        AuditError: the quarter is not released in the series, or tells no bounds.
    """
    choice = Choice(quarter, attacks)
    subjects = plan(warehouse, dataset, series, choice)
    if any("md" in s.not_evaluated for s in subjects if s.reported):
        awaited = next_quarter(warehouse, dataset, quarter)
        if awaited is not None:
            warehouse.run(create(exp.to_table(NEXT), next_cases_query(dataset, awaited), temp=True))
            choice = Choice(quarter, attacks, next_cases=f"temp.main.{NEXT}")
            subjects = plan(warehouse, dataset, series, choice)
    subject = [s for s in subjects if s.reported][-1]
    with workspace(warehouse):
        prepare(warehouse, subjects, choice.next_cases)
        load_subject(warehouse, subject, None)
        for file in STEPS["group", subject.originals]:
            warehouse.run_step(file, step_parameters(subject))
        fewest = warehouse.value(
            "SELECT f.remaining FROM srsql.fewest_remaining('temp.main.srsql_audit_sets') AS f"
        )
        return Extremes(subject.attacks, fewest, *_greatest(warehouse, subject))


def _greatest(
    warehouse: Warehouse, subject: Subject
) -> tuple[str | None, int | None, int | None, float | None]:
    tables = ", ".join(literal(f"temp.main.srsql_audit_{name}") for name in _TABLES)
    rows = warehouse.rows(
        "SELECT t.term, g.weight, g.whole, g.theta_num / g.theta_den "
        f"FROM srsql.greatest_share({tables}, {subject.weight_scale:d}) AS g "
        "INNER JOIN srsql.threshold AS t ON g.term_no = t.term_no AND t.release_id = ?",
        [subject.release_id],
    )
    if not rows:
        return None, None, None, None
    term, held, of, theta = rows[0]
    return term, int(held), int(of), theta


NEXT = "srsql_awaited"
