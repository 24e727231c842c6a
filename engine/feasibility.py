"""What of a quarter can be released at all: feasible thresholds, complete cases, k_effective."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from srsql.engine.errors import InfeasibleError, ReleaseError
from srsql.engine.warehouse import Warehouse
from srsql.schemas import Dataset

OnInfeasible = Literal["error", "withhold"]
SHOWN = 10


@dataclass(frozen=True)
class InfeasibleValue:
    """A value more frequent than its threshold."""

    value: str
    cases: int
    total: int
    frequency: float
    theta: float


def infeasible_values(warehouse: Warehouse, cases: str) -> list[InfeasibleValue]:
    """Values that the cases of table ``cases`` hold too often for any grouping of them."""
    return [
        InfeasibleValue(*row)
        for row in warehouse.rows(
            "SELECT t.spelling, i.cases, i.total, i.weight / (i.total * r.unit),"
            " q.theta_num / q.theta_den "
            "FROM srsql.infeasible('temp.main.srsql_case_term', 'temp.main.srsql_theta', ?,"
            " (SELECT u.unit FROM temp.main.srsql_run AS u)) AS i "
            "INNER JOIN temp.main.srsql_term AS t ON i.term_no = t.term_no "
            "INNER JOIN temp.main.srsql_theta AS q ON i.term_no = q.term_no "
            "CROSS JOIN temp.main.srsql_run AS r "
            "ORDER BY i.weight / i.total DESC, t.spelling",
            [cases],
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
        raise InfeasibleError(_explain(values))
    withhold(warehouse, "temp.main.srsql_profile", "infeasible")
    return values


def withhold(warehouse: Warehouse, profiles: str, reason: str) -> int:
    """Withhold the greedy, inclusion-minimal set that makes ``profiles`` feasible; its size."""
    before = warehouse.value("SELECT count(*) FROM temp.main.srsql_withheld")
    warehouse.run(
        "INSERT INTO temp.main.srsql_withheld "
        "SELECT w.case_no, ? FROM srsql.withhold_infeasible(?, 'temp.main.srsql_case_term',"
        " 'temp.main.srsql_theta',"
        " (SELECT u.unit FROM temp.main.srsql_run AS u)) AS w",
        [reason, profiles],
    )
    drop_withheld(warehouse)
    return int(warehouse.value("SELECT count(*) FROM temp.main.srsql_withheld") - before)


def drop_withheld(warehouse: Warehouse) -> None:
    """Take withheld cases out of the profiles."""
    warehouse.run(
        "DELETE FROM temp.main.srsql_profile AS p WHERE p.case_no IN "
        "(SELECT w.case_no FROM temp.main.srsql_withheld AS w)"
    )


def _explain(values: list[InfeasibleValue]) -> str:
    shown = "; ".join(
        f"{v.value!r} in {v.cases:,} of {v.total:,} cases ({v.frequency:.1%}) > theta {v.theta:g}"
        for v in values[:SHOWN]
    )
    more = f"; and {len(values) - SHOWN} more" if len(values) > SHOWN else ""
    return (
        f"no grouping can meet theta for {len(values)} value(s): {shown}{more}. Ways out: raise "
        "theta for them (--theta levels:FILE), use --theta frequency, or withhold cases "
        "(--on-infeasible withhold)"
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
    """The smallest group that can hold every value at all: k theta_s >= 1 (SPEC section 6)."""
    need = warehouse.value(
        "SELECT max((q.theta_den + q.theta_num - 1) // q.theta_num) "
        "FROM temp.main.srsql_theta AS q "
        "WHERE q.theta_num > 0 AND q.term_no IN (SELECT t.term_no "
        "FROM temp.main.srsql_case_term AS t SEMI JOIN temp.main.srsql_profile AS p "
        "ON t.case_no = p.case_no)"
    )
    return max(k, int(need or 0))


def need_groups(warehouse: Warehouse, quarter: str, k: int, leftovers: str) -> None:
    """Refuse a quarter of which nothing is left, or leftovers where they are an error.

    Raises:
        ReleaseError: the text tells why cases were withheld.
    """
    released, unplaced = warehouse.rows(
        "SELECT (SELECT count(*) FROM temp.main.srsql_grouped),"
        " (SELECT count(*) FROM temp.main.srsql_withheld AS w WHERE w.reason = 'no_group_fits')"
    )[0]
    if not released:
        reasons = warehouse.rows(
            "SELECT w.reason, count(*) FROM temp.main.srsql_withheld AS w GROUP BY w.reason "
            "UNION ALL SELECT 'deleted', count(DISTINCT d.case_id) "
            "FROM temp.main.srsql_deleted AS d ORDER BY 2 DESC, 1"
        )
        why = ", ".join(f"{reason} {count:,}" for reason, count in reasons if count)
        raise ReleaseError(
            f"nothing of {quarter} can be released with groups of {k}: every case is "
            f"withheld ({why or 'it has none'}); lower k, raise theta or keep missing values"
        )
    if unplaced and leftovers == "error":
        raise ReleaseError(
            f"{unplaced:,} case(s) of {quarter} fit no group: use --leftovers withhold or merge"
        )
