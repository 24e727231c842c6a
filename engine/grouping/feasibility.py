"""What of a quarter can be released at all: feasible thresholds, complete cases, k_effective."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from srsql.engine.errors import InfeasibleError, NoGroupError, NothingToReleaseError
from srsql.engine.store.statements import bound, queries, query
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

OnInfeasible = Literal["error", "withhold", "suppress"]
SHOWN = 10
TOPIC = "grouping/feasibility"
SUPPRESSION = "grouping/suppression"
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
class Bounds:
    """What must stay below which share of the cases that carry the bounds."""

    value_table: str
    """Temporary table (case_no, term_no, weight)."""
    threshold_table: str
    """Temporary table (term_no, theta_num, theta_den)."""
    name: Literal["theta", "alpha"]
    """What the thresholds are called."""
    weight_scale: int = 1
    """What a certain value weighs."""

    def query(self, topic: str, name: str) -> str:
        """A named statement about ``srsql_case_term`` and ``srsql_theta``, about these tables."""
        text = queries(topic)[name]
        tables = {"case_term": self.value_table, "theta": self.threshold_table}
        return bound(text, {formal: t for formal, t in tables.items() if f"srsql_{formal}" in text})


BY_THETA = Bounds("srsql_case_term", "srsql_theta", "theta")
"""Each value by its own threshold."""
BY_SHARE = Bounds("srsql_bound_term", "srsql_bound_theta", "alpha")
"""One share for all values, or none (see ``bound_by_share``)."""


@dataclass(frozen=True)
class Suppression:
    """That values are suppressed where cases would be withheld, which ones and by which draws."""

    draw: str
    """Text from which every random choice is derived."""
    weight_scale: int
    """What a certain value weighs in ``srsql_case_term``."""
    infeasible: bool
    """Values that no grouping could keep below their thresholds."""
    leftovers: bool
    """Values of cases that no group could take."""


def bound_by_share(warehouse: Warehouse, share: Fraction | None) -> None:
    """Fill the tables of ``BY_SHARE``: each value that a case holds itself; None: no value."""
    limit = share or Fraction(1)
    warehouse.run_step(
        "grouping/share",
        {
            "bounded": share is not None,
            "share_num": limit.numerator,
            "share_den": limit.denominator,
        },
    )


def bound_symptoms(warehouse: Warehouse, bounds: Bounds, alpha: Fraction) -> Bounds:
    """The bounds with the share of cases with substantially many symptoms as one of them."""
    warehouse.run_step(
        "grouping/burden",
        {
            "weight_scale": bounds.weight_scale,
            "alpha_num": alpha.numerator,
            "alpha_den": alpha.denominator,
        },
    )
    return Bounds(
        BY_SHARE.value_table,
        BY_SHARE.threshold_table,
        bounds.name,
        bounds.weight_scale * alpha.denominator,
    )


def infeasible_values(
    warehouse: Warehouse, bounds: Bounds, pattern: int | None = None
) -> list[InfeasibleValue]:
    """Values that the cases of a pattern, or all, hold too often for any grouping of them."""
    return [
        InfeasibleValue(*row)
        for row in warehouse.rows(
            bounds.query(TOPIC, "infeasible_values"),
            {"pattern": pattern, "weight_scale": bounds.weight_scale, "symptoms": SYMPTOMS},
        )
    ]


def resolve_infeasible(
    warehouse: Warehouse, bounds: Bounds, choice: OnInfeasible, suppression: Suppression | None
) -> list[InfeasibleValue]:
    """Refuse, or have less of the values until every threshold can be met over the whole quarter.

    Args:
        warehouse: with ``srsql_profile``.
        bounds: what must be met.
        choice: refuse, withhold cases, or suppress values of them.
        suppression: how, for the last.

    Raises:
        InfeasibleError: ``choice`` is ``error`` and there is an infeasible value; the text names
            the values with their frequencies and the ways out.

    Source:
        SPEC section 6 (--on-infeasible).
    """
    values = infeasible_values(warehouse, bounds)
    if not values:
        return []
    if choice == "error":
        _, everybody = warehouse.rows(query(TOPIC, "carriers"))[0]
        raise InfeasibleError(_explain(values, bounds.name, everybody_carries=bool(everybody)))
    withhold_surplus(warehouse, bounds, None, "infeasible", suppression)
    return values


def withhold_surplus(
    warehouse: Warehouse,
    bounds: Bounds,
    pattern: int | None,
    reason: str,
    suppression: Suppression | None = None,
) -> None:
    """Withhold the greedy, inclusion-minimal set that makes a pattern, or all, feasible.

    Args:
        warehouse: with ``srsql_profile``.
        bounds: what must be met.
        pattern: whose cases; None: all.
        reason: why they are withheld.
        suppression: first of all values are suppressed, and cases withheld only for those that too
            few cases may lose; None: no value is.
    """
    if suppression is not None and suppression.infeasible:
        warehouse.run(
            bounds.query(SUPPRESSION, "suppress_surplus"),
            {
                "pattern": pattern,
                "weight_scale": bounds.weight_scale,
                "factor": bounds.weight_scale // suppression.weight_scale,
                "draw": f"{suppression.draw}/surplus/{pattern}",
            },
        )
        take_out(warehouse, bounds, suppression.weight_scale)
        if not infeasible_values(warehouse, bounds, pattern):
            return
    warehouse.run(
        bounds.query(TOPIC, "withhold_surplus"),
        {"pattern": pattern, "weight_scale": bounds.weight_scale, "reason": reason},
    )
    drop_withheld(warehouse)


def take_out(warehouse: Warehouse, bounds: Bounds, weight_scale: int) -> None:
    """Have the values of ``srsql_suppressed`` count for no more than drugs suggest of them.

    Args:
        warehouse: with ``srsql_case_term`` and the values of the bounds.
        bounds: what has to be met.
        weight_scale: what a certain value weighs in ``srsql_case_term``.
    """
    for each in dict.fromkeys((replace(BY_THETA, weight_scale=weight_scale), bounds)):
        warehouse.run(each.query(SUPPRESSION, "drop_values"))
        factor = each.weight_scale // weight_scale
        warehouse.run(each.query(SUPPRESSION, "weigh_values"), {"factor": factor})
    warehouse.run(query(SUPPRESSION, "hide_values"))


def move_surplus(warehouse: Warehouse, bounds: Bounds, pattern: int, target: int) -> None:
    """Move the cases without which a pattern is feasible to another pattern.

    Args:
        warehouse: with ``srsql_profile``.
        bounds: what must be met.
        pattern: whose cases.
        target: the pattern that takes them.
    """
    warehouse.run(
        bounds.query(TOPIC, "move_surplus"),
        {"pattern": pattern, "weight_scale": bounds.weight_scale, "target": target},
    )


def drop_withheld(warehouse: Warehouse) -> None:
    """Take withheld cases out of the profiles."""
    warehouse.run(query(TOPIC, "drop_withheld"))


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
    nobody = any(v.theta == 0 for v in values)
    if nobody:
        ways.append(f"give a {name} above 0, such as 0.4: 0 says that nobody may hold the value")
    if name == "alpha" or any(v.value == SYMPTOMS for v in values):
        ways.append("raise --alpha")
    if name == "theta" and any(v.value != SYMPTOMS for v in values):
        ways += [
            "raise theta for them (--theta levels:FILE)",
            "use --theta frequency",
            "suppress the values of some cases (--on-infeasible suppress)",
        ]
    return (
        f"no grouping can meet {name} for {len(values)} value(s): {shown}{more}. Ways out: "
        f"{', '.join(ways)}, or withhold {'every case that holds one' if nobody else 'cases'} "
        "(--on-infeasible withhold)"
    )


def drop_incomplete(warehouse: Warehouse, dataset: Dataset, missing: str) -> None:
    """``missing = "drop"``: cases that lack a QID stay out (the papers' choice)."""
    if missing == "drop":
        complete = 2 ** len(dataset.qid) - 1
        warehouse.run(query(TOPIC, "withhold_incomplete"), {"complete": complete})
        drop_withheld(warehouse)


def k_effective(warehouse: Warehouse, bounds: Bounds, k: int) -> int:
    """The smallest group that can hold every value at all: k theta_s >= 1 (SPEC section 6).

    With alpha it can hold a case with substantially many symptoms, too.
    """
    return max(k, int(warehouse.value(bounds.query(TOPIC, "least_group")) or 0))


def withhold_all(warehouse: Warehouse, reason: str) -> None:
    """Withhold every case that is still to be grouped."""
    warehouse.run(query(TOPIC, "withhold_all"), {"reason": reason})
    drop_withheld(warehouse)


def carriers(warehouse: Warehouse) -> int:
    """How many cases that are still to be grouped count towards k."""
    return int(warehouse.value(query(TOPIC, "carriers")))


def need_groups(
    warehouse: Warehouse, quarter: str, k: int, leftovers: str, *, may_be_empty: bool
) -> None:
    """Refuse a quarter of which nothing is left, or leftovers where they are an error.

    Args:
        warehouse: with ``srsql_grouped`` and ``srsql_withheld``.
        quarter: stands in the text.
        k: as groups were grown to.
        leftovers: what was asked for.
        may_be_empty: a quarter of which nothing is left becomes an empty release.

    Raises:
        NothingToReleaseError: the text tells why cases were withheld.
        NoGroupError: leftovers are an error, and there are some.
    """
    released, unplaced = warehouse.rows(query(TOPIC, "outcome"))[0]
    if not released and not may_be_empty:
        reasons = warehouse.rows(query(TOPIC, "reasons"))
        why = ", ".join(f"{reason} {count:,}" for reason, count in reasons if count)
        advice = "lower k, raise theta or keep missing values"
        if {reason for reason, count in reasons if count} == {"counted_before"}:
            advice = f"{quarter}:{quarter} as --quarter makes an empty release"
        raise NothingToReleaseError(
            f"nothing of {quarter} can be released with groups of {k}: every case is "
            f"withheld ({why or 'it has none'}); {advice}"
        )
    if unplaced and leftovers == "error":
        raise NoGroupError(
            f"{unplaced:,} case(s) of {quarter} fit no group: use --leftovers withhold, merge or "
            "suppress"
        )
