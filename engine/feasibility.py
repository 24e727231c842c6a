"""Whether the thresholds can be met at all, and what to do about values that cannot (SPEC 6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from srsql.engine.errors import InfeasibleError
from srsql.engine.warehouse import Warehouse

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
