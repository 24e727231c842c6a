"""What an audit evaluates: the releases of a series, the attacks and bounds of each, one target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from sqlglot import exp

from srsql.engine.errors import AttackError, AuditError
from srsql.engine.grouping.thresholds import MAX_DENOMINATOR, ThetaPolicy, apply_theta
from srsql.engine.ingest import units
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset, Qid
from srsql.schemas.hierarchy import Hierarchy

ATTACKS = ("b", "f", "l", "md", "ss")
"""Backward, forward, latest, missing (next quarter) and substantial-symptoms attacks."""
UNPROMISED = ("b", "f", "l")
"""What a release is audited for that promises nothing."""


@dataclass(frozen=True)
class Subject:
    """One release of the series and how it is judged."""

    release_id: int
    seq: int
    """Place in the order of quarter and release id."""
    quarter: str
    quarter_no: int
    model: str
    status: str
    k: int
    alpha: Fraction | None
    weight_scale: int
    attacks: tuple[str, ...]
    """Those evaluated."""
    not_evaluated: tuple[str, ...]
    """Those asked for that cannot be evaluated on what is known."""
    undefended: tuple[str, ...]
    """Those that the release does not promise to withstand; empty for somebody else's."""
    newest: bool
    originals: bool
    """Whether the raw quasi-identifiers of its cases are known."""
    reported: bool


@dataclass(frozen=True)
class Choice:
    """What the caller asks for; None leaves it to each release."""

    quarter: str | None = None
    attacks: tuple[str, ...] | None = None
    k: int | None = None
    theta: ThetaPolicy | None = None
    alpha: Fraction | None = None
    draft: int | None = None
    """A draft that counts as released."""
    without: int | None = None
    """A release that the attacker has not got, to learn what it changes."""
    next_cases: str | None = None
    releases: frozenset[int] | None = None
    """The only ones to report; the attacker has the others all the same."""


def plan(warehouse: Warehouse, dataset: Dataset, series: str, choice: Choice) -> list[Subject]:
    """The releases that an attacker has, in order.

    Raises:
        AuditError: an unknown series, quarter or attack, or a bound that nobody told.
    """
    _check(choice)
    rows = warehouse.rows(
        "SELECT r.release_id, r.quarter, r.model, r.status, r.k, r.weight_scale, p.attacks,"
        " p.alpha_num, p.alpha_den,"
        " EXISTS (SELECT 1 FROM srsql.case_qid AS q WHERE q.release_id = r.release_id)"
        "  OR NOT EXISTS (SELECT 1 FROM srsql.member AS m WHERE m.release_id = r.release_id),"
        " EXISTS (SELECT 1 FROM srsql.case_flag AS t WHERE t.release_id = r.release_id)"
        "  OR NOT EXISTS (SELECT 1 FROM srsql.member AS m WHERE m.release_id = r.release_id) "
        "FROM srsql.release AS r "
        "LEFT JOIN srsql.defended_attack AS p ON r.release_id = p.release_id "
        "WHERE r.dataset = $dataset AND r.series = $series AND r.release_id IN "
        "(SELECT e.release_id FROM srsql.exposed_release AS e UNION ALL SELECT $draft) "
        "AND r.release_id IS DISTINCT FROM $without ORDER BY r.quarter, r.release_id",
        {
            "dataset": dataset.name,
            "series": series,
            "draft": choice.draft,
            "without": choice.without,
        },
    )
    if not rows:
        raise AuditError(
            f"series {series!r} of {dataset.name} has no releases: give --series or --dataset, "
            "or release a quarter first"
        )
    quarters = sorted({row[1] for row in rows})
    if choice.quarter is not None and choice.quarter not in quarters:
        raise AuditError(
            f"{choice.quarter} is not released in series {series!r} of {dataset.name} (it has: "
            f"{quarters[0]} to {quarters[-1]}): give another --quarter, --series or --dataset"
        )
    subjects = []
    for seq, row in enumerate(rows):
        release_id, quarter, model, status, k, weight_scale, promised, num, den, *known = row
        newest = quarter == quarters[-1]
        asked = choice.attacks or tuple(promised or ()) or UNPROMISED
        unknown = [
            *(["md"] if newest and choice.next_cases is None else []),
            *([] if known[1] else ["ss"]),
        ]
        subject = Subject(
            release_id=release_id,
            seq=seq,
            quarter=quarter,
            quarter_no=quarters.index(quarter),
            model=model,
            status=status,
            k=choice.k if choice.k is not None else k,
            alpha=choice.alpha if choice.alpha is not None else Fraction(num, den) if den else None,
            weight_scale=weight_scale,
            attacks=tuple(a for a in ATTACKS if a in asked and a not in unknown),
            not_evaluated=tuple(a for a in ATTACKS if a in asked and a in unknown),
            undefended=tuple(a for a in ATTACKS if k and a not in (promised or ())),
            newest=newest,
            originals=known[0],
            reported=choice.quarter in (None, quarter)
            and (choice.releases is None or release_id in choice.releases),
        )
        if subject.reported:
            _check_bounds(subject)
        subjects.append(subject)
    return subjects


def _check(choice: Choice) -> None:
    wrong = [name for name in choice.attacks or () if name not in ATTACKS]
    if wrong or choice.attacks == ():
        raise AuditError(f"--attacks {','.join(wrong)!r}: choose some of {','.join(ATTACKS)}")
    if choice.k is not None and choice.k < 1:
        raise AuditError(f"--k {choice.k}: give a number of cases from 1 on")
    if choice.alpha is not None and not (
        0 <= choice.alpha <= 1 and choice.alpha.denominator <= MAX_DENOMINATOR
    ):
        raise AuditError(f"--alpha {choice.alpha}: give a share between 0 and 1")


def _check_bounds(subject: Subject) -> None:
    if subject.k < 1:
        raise AuditError(f"the release of {subject.quarter} tells no k: give --k")
    if "ss" in subject.attacks and subject.alpha is None:
        raise AuditError(
            f"the release of {subject.quarter} tells no alpha: give --alpha, or leave ss out of "
            "--attacks"
        )


def fill_theta(warehouse: Warehouse, subject: Subject, policy: ThetaPolicy | None) -> None:
    """Fill ``srsql_audit_theta`` with the thresholds that one release is judged by.

    Raises:
        AuditError: the release does not tell them, and no policy is given.
    """
    own = "FROM srsql.threshold AS t WHERE t.release_id = ?"
    if warehouse.value(
        "SELECT count(*) FROM (SELECT DISTINCT c.term_no FROM srsql.case_term AS c"
        " WHERE c.release_id = $id EXCEPT"
        " SELECT t.term_no FROM srsql.threshold AS t WHERE t.release_id = $id)",
        {"id": subject.release_id},
    ):
        raise AuditError(
            f"the catalog lacks thresholds of the release of {subject.quarter}: supersede it"
        )
    if policy is None:
        if warehouse.value(f"SELECT count(*) {own} AND t.theta_den = 0", [subject.release_id]):
            raise AuditError(f"the release of {subject.quarter} tells no thresholds: give --theta")
        warehouse.run(
            "CREATE OR REPLACE TEMP TABLE srsql_audit_theta AS "
            f"SELECT t.term_no, t.theta_num, t.theta_den {own}",
            [subject.release_id],
        )
        return
    warehouse.run(
        f"CREATE OR REPLACE TEMP TABLE srsql_term AS SELECT t.term_no, t.term, t.cases {own}",
        [subject.release_id],
    )
    apply_theta(warehouse, policy)
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_audit_theta AS "
        "SELECT t.term_no, t.theta_num, t.theta_den FROM temp.main.srsql_theta AS t"
    )
    for name in ("term", "theta", "level"):
        warehouse.run(f"DROP TABLE IF EXISTS temp.main.srsql_{name}")


def known_intervals(
    warehouse: Warehouse, dataset: Dataset, knowledge: Mapping[str, str]
) -> dict[str, tuple[int, int]]:
    """QID -> the interval of its value, in granules or preorder numbers of nodes.

    Raises:
        AttackError: no such quasi-identifier or one given twice, no number or an impossible one,
            no node.
    """
    known: dict[str, tuple[int, int]] = {}
    for name, text in knowledge.items():
        qid = next((q for q in dataset.qid if q.name == name.strip().lower()), None)
        if qid is None:
            names = ", ".join(q.name for q in dataset.qid)
            raise AttackError(f"--qid {name}: no such quasi-identifier; {dataset.name} has {names}")
        if qid.name in known:
            raise AttackError(f"--qid {qid.name} is given twice: an attacker knows one value of it")
        known[qid.name] = _interval(warehouse, dataset, qid, text)
    return known


def _interval(warehouse: Warehouse, dataset: Dataset, qid: Qid, text: str) -> tuple[int, int]:
    if qid.kind == "numeric":
        granules = _granules(warehouse, qid, text)
        return granules, granules
    tree = dataset.hierarchies[qid.name]
    codes = {label.strip().upper(): label for label in (*qid.aliases, *tree.labels)}
    label = codes.get(text.strip().upper(), "")
    node = tree.number.get(label, tree.number.get(qid.aliases.get(label, "")))
    if node is None and qid.ranged:
        node = _leaf(tree, _granules(warehouse, qid, text) * qid.granularity)
    if node is None:
        shown = ", ".join(tree.labels[:12]) + (", ..." if len(tree.labels) > 12 else "")
        raise AttackError(
            f"--qid {qid.name}={text}: not a node of its hierarchy, which has {shown}"
        )
    return node, tree.last[node]


def _leaf(tree: Hierarchy, value: Decimal) -> int:
    """The leaf whose range holds a number of the domain; leaves tile it."""
    return next(
        node
        for node, (low, high) in enumerate(tree.ranges)
        if not tree.height[node] and low is not None and high is not None and low <= value <= high
    )


def _granules(warehouse: Warehouse, qid: Qid, text: str) -> int:
    plain: dict[str, Any] = {"unit_column": None, "units": {}, "missing": ()}
    named = {"name": "value", "column": "value", "kind": "numeric"}
    single = qid.model_copy(update=named | plain)
    rows = exp.select(exp.alias_(exp.Literal.string(text), "value"))
    granules, reason = units.granules_or_reason(single)
    known = units.with_granules(rows, [single]).subquery("known")
    query = exp.select(granules, reason).from_(known)
    value, wrong = warehouse.rows(query.sql(dialect="duckdb"))[0]
    if value is None:
        unit = f" in {qid.unit}" if qid.unit else ""
        raise AttackError(
            f"--qid {qid.name}={text}: {wrong or 'no value'}; give one number{unit}, or leave "
            f"{qid.name} out where the attacker does not know it"
        )
    return int(value)
