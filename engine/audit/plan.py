"""What an audit evaluates: the releases of a series, the attacks and bounds of each, a target.

``plan`` reads it off the catalog; ``prepare`` and ``load_subject`` lay it out in temporary tables,
which the steps of a scope (``SCOPE_STEPS``) read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from sqlglot import exp

from srsql.engine.catalog.releases import key_of, not_released, without_releases
from srsql.engine.catalog.series import period_numbers
from srsql.engine.errors import AttackError, AuditError
from srsql.engine.grouping.thresholds import MAX_DENOMINATOR, ThetaPolicy, apply_theta
from srsql.engine.ingest import units
from srsql.engine.parameters import ATTACKS, SCOPES
from srsql.engine.store.statements import (
    column,
    create,
    dotted,
    query,
    scalar_macro,
    table,
    temporary,
)
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, Qid
from srsql.schemas.hierarchy import Hierarchy

WINDOWS = tuple((window, inside) for window in ("next", "previous") for inside in (True, False))
"""What persistence knows, one of them at a time: that the target is, or is not, in the next or in
the previous period."""
UNPROMISED = ("b", "f", "l")
"""What a release is audited for that promises nothing."""
RAW_BOXES = "raw boxes"
"""Not a file, since it depends on how many quasi-identifiers there are: ``_lay_out_raw_boxes``."""
SCOPE_STEPS = {
    ("group", True): (RAW_BOXES, "audit/targets", "audit/scope_group"),
    ("group", False): ("audit/cells", "audit/scope_group"),
    ("match", True): ("audit/places", "audit/points", "audit/scope_match"),
    ("match", False): ("audit/places", "audit/cells_match", "audit/points", "audit/scope_match"),
}
"""Scope, whether originals are known -> the steps that evaluate it; ``match`` goes on from what
``group`` left."""
TARGET_STEPS = (RAW_BOXES, "audit/targets")
"""Those that lay out the targets of originals, which no value of a case changes."""


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
    """Whether the raw quasi-identifiers of its cases are known; asked only where it is reported, as
    for ss cases."""
    reported: bool
    newer: tuple[int, ...]
    """The later versions of its quarter."""
    since: tuple[int, ...]
    """All releases of the series that were made after it was replaced, of whatever quarter."""
    claims_erasure: bool
    """Whether whoever left it hides among k: every later version took whole groups out."""
    known: tuple[int, ...] | None = None
    """Positions of the quasi-identifiers that the attacker knows; None: all of them."""
    suppressed: int = 0
    """Rows of somebody else's table that were declared suppressed."""


@dataclass(frozen=True)
class AuditOptions:
    """What the caller asks for; None leaves it to each release."""

    quarter: str | None = None
    """The only one to report; the attacker has the others all the same."""
    attacks: tuple[str, ...] | None = None
    """Some of ``ATTACKS``; default: what each release promises, else ``b``, ``f``, ``l``."""
    scopes: tuple[str, ...] = SCOPES
    """Some of ``SCOPES``; ``match`` is left out of a release whose cases may have several regions,
    since a case would count in each."""
    k: int | None = None
    """Least number of cases; default: each release's own, as for ``theta`` and ``alpha``."""
    theta: ThetaPolicy | None = None
    """Thresholds of the values."""
    alpha: Fraction | None = None
    """Greatest share of cases with substantially many symptoms."""
    draft: int | None = None
    """A draft that counts as released."""
    without: int | None = None
    """A release that the attacker has not got, to learn what it changes."""
    next_cases: exp.Query | None = None
    """The cases (case_id), each once, of the quarter after the newest release, so that MD can be
    told of it before that quarter is released; None: they are not known."""
    evidence: int | None = None
    """At most so many groups per release and scope; default: all in danger."""
    releases: frozenset[int] | None = None
    """The only ones to report, as for ``quarter``."""
    union: bool = False
    """Evaluate U as well, which takes about as long again."""
    leaving: bool = False
    """Evaluate G as well, at scope = group, which takes a look at who is in which release."""
    held: frozenset[int] | None = None
    """The only releases that the attacker has; default: all that are or were out."""
    known: tuple[int, ...] | None = None
    """Positions of the quasi-identifiers that the attacker knows; None: all of them."""
    keep: bool = False
    """Keep the verdicts in the catalog (see :mod:`srsql.engine.audit.verdicts`); the bounds and
    attacks are those of each release, and a transaction is open."""


def plan(
    warehouse: Warehouse, dataset: Dataset, series: str, options: AuditOptions
) -> list[Subject]:
    """The releases that an attacker has, in order.

    Raises:
        AuditError: an unknown series, quarter or attack, or a bound that nobody told.
    """
    _check(options)
    rows = warehouse.rows(
        query("audit/plan", "releases_of_series"),
        {
            "dataset": dataset.name,
            "series": series,
            "draft": options.draft,
            "without": options.without,
            "held": None if options.held is None else sorted(options.held),
        },
    )
    if not rows:
        raise AuditError(without_releases(warehouse, dataset.name, series))
    quarters = sorted({row[1] for row in rows})
    if options.quarter is not None and options.quarter not in quarters:
        raise AuditError(not_released(warehouse, dataset.name, series, options.quarter))
    numbers = period_numbers(warehouse, quarters)
    subjects = []
    for seq, row in enumerate(rows):
        release_id, quarter, model, status, k, weight_scale, promised, num, den, _ = row
        reported = options.quarter in (None, quarter) and (
            options.releases is None or release_id in options.releases
        )
        knows_originals, knows_ss, without_theta, suppressed = True, True, 0, 0
        if reported:
            ((knows_originals, knows_ss, without_theta, suppressed),) = warehouse.rows(
                query("audit/plan", "known_facts"), {"release_id": release_id}
            )
        newer = [other for other in rows[seq + 1 :] if other[1] == quarter]
        newest = quarter == quarters[-1]
        asked = options.attacks or tuple(promised or ()) or UNPROMISED
        unknown = [
            *(["md"] if newest and options.next_cases is None else []),
            *([] if knows_ss else ["ss"]),
        ]
        told = Fraction(num, den) if den else None
        subject = Subject(
            release_id=release_id,
            seq=seq,
            quarter=quarter,
            quarter_no=numbers[quarter],
            model=model,
            status=status,
            k=options.k if options.k is not None else k,
            alpha=options.alpha if options.alpha is not None else told,
            weight_scale=weight_scale,
            attacks=tuple(a for a in ATTACKS if a in asked and a not in unknown),
            not_evaluated=tuple(a for a in ATTACKS if a in asked and a in unknown),
            undefended=tuple(a for a in ATTACKS if k and a not in (promised or ())),
            newest=newest,
            originals=knows_originals,
            reported=reported,
            newer=tuple(other[0] for other in newer),
            since=tuple(other[0] for other in rows if newer and other[0] >= newer[0][0]),
            claims_erasure=bool(newer) and all(other[-1] for other in newer),
            known=options.known,
            suppressed=suppressed,
        )
        if subject.reported:
            _check_bounds(subject, thetas=options.theta is not None or not without_theta)
        subjects.append(subject)
    return subjects


def _check(options: AuditOptions) -> None:
    wrong = [name for name in options.attacks or () if name not in ATTACKS]
    if wrong or options.attacks == ():
        raise AuditError(f"--attacks {','.join(wrong)!r}: choose some of {','.join(ATTACKS)}")
    if options.k is not None and options.k < 1:
        raise AuditError(f"--k {options.k}: give a number of cases from 1 on")
    if options.alpha is not None and not (
        0 <= options.alpha <= 1 and options.alpha.denominator <= MAX_DENOMINATOR
    ):
        raise AuditError(f"--alpha {options.alpha}: give a share between 0 and 1")


def _check_bounds(subject: Subject, *, thetas: bool) -> None:
    """Refuse a release that lacks bounds to judge by, naming all of them.

    Args:
        subject: the release.
        thetas: whether the thresholds of its values are known.
    """
    told = {"k": ("--k", subject.k >= 1), "thresholds": ("--theta", thetas)}
    if "ss" in subject.attacks:
        told["alpha"] = ("--alpha (or leave ss out of --attacks)", subject.alpha is not None)
    lacking = [(f"no {name}", option) for name, (option, known) in told.items() if not known]
    if lacking:
        bounds, options = (" and ".join(listed) for listed in zip(*lacking, strict=True))
        raise AuditError(f"the release of {subject.quarter} tells {bounds}: give {options}")


@contextmanager
def workspace(warehouse: Warehouse) -> Iterator[None]:
    """Temporary tables that begin with ``srsql_audit_`` are gone afterwards.

    After an error within a transaction they go with its rollback.
    """
    yield
    for (name,) in warehouse.rows(query("audit/plan", "temporary_tables")):
        warehouse.run(f"DROP TABLE {dotted('temp', 'main', name)}")


def prepare(warehouse: Warehouse, subjects: list[Subject], next_cases: exp.Query | None) -> None:
    """Lay out what the attacker knows of the series, in temporary tables.

    Where not every release is reported, that is what he knows of the cases of those that are.
    """
    none = exp.select(exp.cast(exp.null(), "VARCHAR").as_("case_id")).limit(0)
    target = exp.to_table("srsql_audit_next")
    warehouse.run(create(target, none if next_cases is None else next_cases, temp=True))
    warehouse.run(query("audit/verdicts", "create_no_part"))
    warehouse.run(query("audit/audit", "create_persistent"))
    follow(warehouse, subjects, {subject.release_id for subject in subjects if subject.reported})


def follow(warehouse: Warehouse, subjects: list[Subject], reported: Collection[int]) -> None:
    """Lay out the regions and the history of whoever is in the releases ``reported``, or in the
    groups of ``srsql_audit_part``."""
    asked = {
        "release_ids": [subject.release_id for subject in subjects],
        "quarters": [subject.quarter_no for subject in subjects],
        "reported": [subject.release_id in reported for subject in subjects],
        "known": positions_of(subjects[0].known),
    }
    everything = len(reported) == len(subjects)
    warehouse.run_step("audit/appearances_all" if everything else "audit/appearances", asked)
    warehouse.run_step("audit/series", asked)


def load_subject(
    warehouse: Warehouse,
    subject: Subject,
    theta: ThetaPolicy | None,
    not_in: tuple[int, ...] = (),
    window: tuple[str, bool] | None = None,
) -> None:
    """Lay out the cases, groups and bounds of one release.

    Args:
        warehouse: where ``prepare`` laid out the series.
        subject: the release.
        theta: thresholds of the values; None: its own.
        not_in: releases that the target, and so every candidate, is known not to be in.
        window: one of ``WINDOWS``, which the attacker knows of the target, and so of every
            candidate; None: neither is asked.

    Raises:
        AuditError: the catalog lacks thresholds of the release.
    """
    _fill_bounds(warehouse, subject, theta)
    asked = step_parameters(subject, window)
    warehouse.run_step("audit/release", {**asked, "not_in": list(not_in)})
    warehouse.run_step("audit/sizes", {"release_id": subject.release_id})


def run_scope(
    warehouse: Warehouse,
    subject: Subject,
    scope: str,
    window: tuple[str, bool] | None = None,
    *,
    without: Collection[str] = (),
) -> None:
    """Lay out what one scope of a release is judged by; ``without`` these of ``SCOPE_STEPS``."""
    for step in SCOPE_STEPS[scope, subject.originals]:
        if step in without:
            continue
        if step == RAW_BOXES:
            _lay_out_raw_boxes(warehouse, subject)
        else:
            warehouse.run_step(step, step_parameters(subject, window))


def _lay_out_raw_boxes(warehouse: Warehouse, subject: Subject) -> None:
    """Fill ``srsql_audit_raw`` (case_no, box) with the raw quasi-identifiers of the cases.

    No released value tells targets apart by what was perturbed, and an attacker knows no others
    than ``subject.known``.

    Source: SPEC section 9.
    """
    asked = {"release_id": subject.release_id}
    rows = warehouse.rows(query("audit/plan", "box_positions"), asked)
    places = [
        (position, roots, not perturbed and (subject.known is None or position in subject.known))
        for position, *roots, perturbed in rows
    ]
    boxes = raw_boxes(subject.release_id, places)
    warehouse.run(create(exp.to_table("srsql_audit_raw"), boxes, temp=True))


def raw_boxes(
    release_id: int, places: Sequence[tuple[int, Sequence[int | None], bool]]
) -> exp.Query:
    """(case_no, box) of the cases of a release; no rows where there is no position.

    A forgotten case, whose values are erased, has none. Each position is looked up by itself: to
    gather the rows of a case takes twice as long.

    Args:
        release_id: of the release.
        places: the positions of the boxes, in order, with the ends of the root of each (None: a
            number) and whether the attacker knows it.
    """
    box: list[exp.Expr] = []
    forgotten = column("case_id", "m").eq(column("token", "f"))
    rows = (
        exp.select(column("case_no", "m"))
        .from_(temporary("srsql_audit_member", alias="m"))
        .join(table("srsql", "forgotten_case", alias="f"), on=forgotten, join_type="anti")
    )
    for position, roots, known in places:
        unbounded = scalar_macro("unbounded_end")
        if not known:
            box += [unbounded, unbounded.copy()]
            continue
        name = f"q{position}"
        low, high = (column(end, name) for end in ("low", "high"))
        says = scalar_macro("says_nothing", low.copy(), high.copy(), *map(exp.convert, roots))
        of_case = (
            column("release_id", name).eq(release_id),
            column("position", name).eq(position),
            column("case_no", name).eq(column("case_no", "m")),
            says.not_(),
        )
        rows = rows.join(
            table("srsql", "case_qid", alias=name), on=exp.and_(*of_case), join_type="left"
        )
        box += [exp.func("coalesce", end, unbounded.copy()) for end in (exp.Neg(this=low), high)]
    rows = rows.select(exp.cast(exp.array(*box), "BIGINT[]").as_("box"))
    return rows if places else rows.limit(0)


def step_parameters(subject: Subject, window: tuple[str, bool] | None = None) -> dict[str, Any]:
    """What the steps of an audit take of the release that is audited, and of a window."""
    side, inside = window or (None, True)
    return {
        "side": side,
        "inside": inside,
        "release_id": subject.release_id,
        "known": positions_of(subject.known),
        "newest": subject.newest,
        **{name: name in subject.attacks for name in ATTACKS if name != "p"},
        "k": subject.k,
        "weight_scale": subject.weight_scale,
    }


def positions_of(known: tuple[int, ...] | None) -> list[int] | None:
    """Positions as a parameter of a step."""
    return None if known is None else list(known)


def _fill_bounds(warehouse: Warehouse, subject: Subject, policy: ThetaPolicy | None) -> None:
    """Fill ``srsql_audit_bound`` with what one release is judged by."""
    own = {"release_id": subject.release_id}
    if warehouse.value(query("audit/plan", "terms_without_threshold"), own):
        raise AuditError(
            f"the catalog lacks thresholds of the release of {subject.quarter}: release it in "
            "another --series"
        )
    alpha = subject.alpha if subject.alpha is not None else Fraction(1)
    warehouse.run(
        query("audit/plan", "create_bounds"),
        {
            "ss": "ss" in subject.attacks,
            "alpha_num": alpha.numerator,
            "alpha_den": alpha.denominator,
        },
    )
    if policy is None:
        warehouse.run(query("audit/plan", "add_bounds_of_release"), own)
        return
    warehouse.run(query("audit/plan", "create_terms"), own)
    apply_theta(warehouse, policy, key_of(warehouse, subject.release_id), spelled=False)
    warehouse.run(query("audit/plan", "add_bounds_of_policy"))
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
    plain: dict[str, Any] = {"unit_column": None, "unit_in_value": False, "units": {}}
    plain["missing"] = ()
    named = {"name": "value", "column": "value", "kind": "numeric"}
    single = qid.model_copy(update=named | plain)
    rows = exp.select(exp.alias_(exp.Literal.string(text), "value"))
    granules, reason = units.granules_or_reason(single)
    known = units.with_granules(rows, [single]).subquery("known")
    selected = exp.select(granules, reason).from_(known)
    value, wrong = warehouse.rows(selected.sql(dialect="duckdb"))[0]
    if value is None:
        unit = f" in {qid.unit}" if qid.unit else ""
        raise AttackError(
            f"--qid {qid.name}={text}: {wrong or 'no value'}; give one number{unit}, or leave "
            f"{qid.name} out where the attacker does not know it"
        )
    return int(value)
