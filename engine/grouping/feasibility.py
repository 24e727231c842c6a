"""What of a quarter can be released at all: feasible thresholds, complete cases, k_effective."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from srsql.engine.errors import InfeasibleError, NothingToReleaseError, ReleaseError
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset

OnInfeasible = Literal["error", "withhold"]
SHOWN = 10
SYMPTOMS = "substantially many symptoms (alpha)"


@dataclass(frozen=True)
class InfeasibleValue:
    """A value more frequent than its threshold."""

    value: str
    cases: int
    total: int
    frequency: float
    theta: float


@dataclass(frozen=True)
class Limits:
    """What must stay below which share of the carriers: the names of two tables, and a unit."""

    held: str
    """Table (case_no, term_no, weight)."""
    thresholds: str
    """Table (term_no, theta_num, theta_den)."""
    unit: int
    """Weight of a certain value."""
    name: str = "theta"
    """What bounds the values: theta, or the alpha of a comparator."""


def limits(warehouse: Warehouse) -> Limits:
    """The values and their thresholds; with alpha the substantial symptoms are one of them."""
    unit, alpha_den, bound = warehouse.rows(
        "SELECT u.unit, u.alpha_den, u.bound FROM temp.main.srsql_run AS u"
    )[0]
    if bound != "theta":
        return Limits("temp.main.srsql_bound_term", "temp.main.srsql_bound_theta", unit, bound)
    if alpha_den is None:
        return Limits("temp.main.srsql_case_term", "temp.main.srsql_theta", unit)
    return Limits("temp.main.srsql_burden", "temp.main.srsql_limit", unit * alpha_den)


def infeasible_values(warehouse: Warehouse, cases: str) -> list[InfeasibleValue]:
    """Values that the cases of table ``cases`` hold too often for any grouping of them."""
    bound = limits(warehouse)
    return [
        InfeasibleValue(*row)
        for row in warehouse.rows(
            "SELECT coalesce(t.spelling, ?), i.cases, i.total, i.weight / (i.total * ?),"
            " q.theta_num / q.theta_den "
            "FROM srsql.infeasible(?, ?, ?, ?) AS i "
            "LEFT JOIN temp.main.srsql_term AS t ON i.term_no = t.term_no "
            "INNER JOIN query_table(?) AS q ON i.term_no = q.term_no "
            "ORDER BY i.weight / i.total DESC, t.spelling",
            [
                SYMPTOMS,
                bound.unit,
                bound.held,
                bound.thresholds,
                cases,
                bound.unit,
                bound.thresholds,
            ],
        )
    ]


def resolve_infeasible(warehouse: Warehouse, choice: OnInfeasible) -> list[InfeasibleValue]:
    """Refuse, or withhold cases until every threshold can be met over the whole quarter.

    Raises:
        InfeasibleError: ``choice`` is ``error`` and there is an infeasible value; the text names
            the values with their frequencies and the ways out.
    """
    values = infeasible_values(warehouse, "temp.main.srsql_profile")
    if not values:
        return []
    if choice == "error":
        everybody = warehouse.value("SELECT bool_and(p.carrier) FROM temp.main.srsql_profile AS p")
        name = limits(warehouse).name
        raise InfeasibleError(_explain(values, name, everybody_carries=bool(everybody)))
    withhold(warehouse, "temp.main.srsql_profile", "infeasible")
    return values


def withhold(warehouse: Warehouse, profiles: str, reason: str) -> None:
    """Withhold the greedy, inclusion-minimal set that makes ``profiles`` feasible."""
    choose_surplus(warehouse, profiles)
    warehouse.run(
        "INSERT INTO temp.main.srsql_withheld "
        "SELECT s.case_no, ? FROM temp.main.srsql_surplus AS s",
        [reason],
    )
    drop_withheld(warehouse)


def choose_surplus(warehouse: Warehouse, profiles: str) -> None:
    """Fill ``srsql_surplus(case_no)``: without these cases ``profiles`` is feasible."""
    bound = limits(warehouse)
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_surplus AS "
        "SELECT w.case_no FROM srsql.withhold_infeasible(?, ?, ?, ?) AS w",
        [profiles, bound.held, bound.thresholds, bound.unit],
    )


def drop_withheld(warehouse: Warehouse) -> None:
    """Take withheld cases out of the profiles."""
    warehouse.run(
        "DELETE FROM temp.main.srsql_profile AS p WHERE p.case_no IN "
        "(SELECT w.case_no FROM temp.main.srsql_withheld AS w)"
    )


def _explain(values: list[InfeasibleValue], name: str, *, everybody_carries: bool) -> str:
    records = "cases" if name == "theta" else "reports"
    counted = (
        f"{{:,}} of {{:,}} {records}"
        if everybody_carries
        else "{:,} cases to {:,} that carry the bound"
    )
    shown = "; ".join(
        f"{v.value!r} in {counted.format(v.cases, v.total)} ({v.frequency:.1%}) > {name} "
        f"{v.theta:g}"
        for v in values[:SHOWN]
    )
    more = f"; and {len(values) - SHOWN} more" if len(values) > SHOWN else ""
    ways = []
    if name == "alpha" or any(v.value == SYMPTOMS for v in values):
        ways.append("raise --alpha")
    if name == "theta" and any(v.value != SYMPTOMS for v in values):
        ways += ["raise theta for them (--theta levels:FILE)", "use --theta frequency"]
    return (
        f"no grouping can meet {name} for {len(values)} value(s): {shown}{more}. Ways out: "
        f"{', '.join(ways)}, or withhold cases (--on-infeasible withhold)"
    )


def drop_incomplete(warehouse: Warehouse, dataset: Dataset, missing: str) -> None:
    """``missing = "drop"``: cases that lack a QID stay out (the papers' choice)."""
    if missing == "drop":
        warehouse.run(
            "INSERT INTO temp.main.srsql_withheld "
            "SELECT p.case_no, 'missing_qid' FROM temp.main.srsql_profile AS p WHERE p.known <> ?",
            [2 ** len(dataset.qid) - 1],
        )
        drop_withheld(warehouse)


def k_effective(warehouse: Warehouse, k: int) -> int:
    """The smallest group that can hold every value at all: k theta_s >= 1 (SPEC section 6).

    With alpha it can hold a case with substantially many symptoms, too.
    """
    bound = limits(warehouse)
    need = warehouse.value(
        "SELECT max((q.theta_den + q.theta_num - 1) // q.theta_num) "
        "FROM query_table(?) AS q "
        "WHERE q.theta_num > 0 AND q.term_no IN (SELECT t.term_no "
        "FROM query_table(?) AS t SEMI JOIN temp.main.srsql_profile AS p "
        "ON t.case_no = p.case_no)",
        [bound.thresholds, bound.held],
    )
    return max(k, int(need or 0))


def withhold_all(warehouse: Warehouse, reason: str) -> None:
    """Withhold every case that is still to be grouped."""
    warehouse.run(
        "INSERT INTO temp.main.srsql_withheld "
        "SELECT p.case_no, ? FROM temp.main.srsql_profile AS p",
        [reason],
    )
    drop_withheld(warehouse)


def carriers(warehouse: Warehouse) -> int:
    """How many cases that are still to be grouped count towards k."""
    return int(warehouse.value("SELECT count(*) FROM temp.main.srsql_profile AS p WHERE p.carrier"))


def need_groups(
    warehouse: Warehouse, quarter: str, k: int, leftovers: str, *, may_be_empty: bool
) -> None:
    """Refuse a quarter of which nothing is left, or leftovers where they are an error.

    Raises:
        NothingToReleaseError: the text tells why cases were withheld.
        ReleaseError: leftovers are an error, and there are some.
    """
    released, unplaced = warehouse.rows(
        "SELECT (SELECT count(*) FROM temp.main.srsql_grouped),"
        " (SELECT count(*) FROM temp.main.srsql_withheld AS w WHERE w.reason = 'no_group_fits')"
    )[0]
    if not released and not may_be_empty:
        reasons = warehouse.rows(
            "SELECT w.reason, count(*) FROM temp.main.srsql_withheld AS w GROUP BY w.reason "
            "UNION ALL SELECT 'deleted', count(DISTINCT d.case_id) "
            "FROM temp.main.srsql_deleted AS d ORDER BY 2 DESC, 1"
        )
        why = ", ".join(f"{reason} {count:,}" for reason, count in reasons if count)
        raise NothingToReleaseError(
            f"nothing of {quarter} can be released with groups of {k}: every case is "
            f"withheld ({why or 'it has none'}); lower k, raise theta or keep missing values"
        )
    if unplaced and leftovers == "error":
        raise ReleaseError(
            f"{unplaced:,} case(s) of {quarter} fit no group: use --leftovers withhold or merge"
        )
