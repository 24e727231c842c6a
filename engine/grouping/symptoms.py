"""What is counted of the sensitive values of a case: substantially many symptoms, diversity."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from math import isqrt, sqrt

from sqlglot import exp

from srsql.engine.errors import ReleaseError
from srsql.engine.warehouse.periods import next_cases_query
from srsql.engine.warehouse.statements import create
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset

_BY_SPREAD = re.compile(r"mean\s*\+\s*(?:(\d+(?:\.\d+)?)\s*\*?\s*)?sd")
_BY_COUNT = re.compile(r"(\w+)\s*>=\s*(\d{1,9})")


@dataclass(frozen=True)
class SymptomsRule:
    """From how many values of a sensitive attribute a case has substantially many."""

    text: str = "mean+sd"
    multiplier: Fraction | None = Fraction(1)
    """Standard deviations above the mean, over the quarter's super-records (Huang 2021)."""
    counts: dict[str, int] = field(default_factory=dict)
    """Attribute -> count, where the rule gives counts."""


USUAL_RULE = SymptomsRule()


def parse_symptoms_rule(text: str) -> SymptomsRule:
    """Read ``mean+sd``, ``mean+2sd`` or ``pt>=10,indi_pt>=5``.

    Raises:
        ReleaseError: it is none of them.
    """
    plain = text.strip().lower()
    spread = _BY_SPREAD.fullmatch(plain)
    if spread:
        return SymptomsRule(text.strip(), Fraction(spread[1] or 1))
    counts = [_BY_COUNT.fullmatch(part.strip()) for part in plain.split(",")]
    if not all(counts):
        raise ReleaseError(
            f"--ss-rule {text!r}: give mean+sd, mean+2sd, or counts such as pt>=10,indi_pt>=5"
        )
    return SymptomsRule(text.strip(), None, {c[1]: int(c[2]) for c in counts if c})


def find_substantial(warehouse: Warehouse, dataset: Dataset, rule: SymptomsRule) -> None:
    """Fill ``srsql_ss_rule`` and ``srsql_substantial(case_no)``.

    Raises:
        ReleaseError: the rule names an attribute that is not a sensitive one.
    """
    attributes = list(dict.fromkeys(a.column for a in dataset.sensitive))
    named = {name.lower(): name for name in attributes}
    for name in rule.counts:
        if name not in named:
            raise ReleaseError(
                f"--ss-rule: {name!r} is no sensitive attribute (it has: {', '.join(attributes)})"
            )
    warehouse.run_step("grouping/symptoms")
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_ss_rule "
        "(attribute VARCHAR, mean DOUBLE, sd DOUBLE, cutoff BIGINT)"
    )
    cases = warehouse.value("SELECT count(DISTINCT c.case_id) FROM temp.main.srsql_case AS c")
    for name in attributes:
        total, squares = warehouse.rows(
            "SELECT coalesce(sum(s.symptoms), 0)::BIGINT,"
            " coalesce(sum(s.symptoms * s.symptoms), 0)::BIGINT "
            "FROM temp.main.srsql_symptoms AS s WHERE s.attribute = ?",
            [name],
        )[0]
        spread = cases * squares - total * total
        bound = (
            rule.counts.get(name.lower())
            if rule.multiplier is None
            else cutoff(cases, total, squares, rule.multiplier)
        )
        warehouse.run(
            "INSERT INTO temp.main.srsql_ss_rule VALUES (?, ?, ?, ?)",
            [name, total / cases, sqrt(spread) / cases, bound] if cases else [name, 0, 0, None],
        )
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_substantial AS SELECT DISTINCT c.case_no "
        "FROM temp.main.srsql_symptoms AS s INNER JOIN temp.main.srsql_ss_rule AS r "
        "ON s.attribute = r.attribute AND s.symptoms >= r.cutoff "
        "INNER JOIN temp.main.srsql_case AS c ON s.case_id = c.case_id"
    )


def find_next_cases(warehouse: Warehouse, dataset: Dataset, quarter: str | None) -> None:
    """Fill ``srsql_next_case(case_id)``: who is in ``quarter``, as ingested or as released."""
    if quarter is None:
        warehouse.run("CREATE OR REPLACE TEMP TABLE srsql_next_case (case_id VARCHAR)")
        return
    warehouse.run(
        create(exp.to_table("srsql_next_case"), next_cases_query(dataset, quarter), temp=True)
    )
    warehouse.run(
        "INSERT INTO temp.main.srsql_next_case SELECT DISTINCT m.case_id FROM srsql.member AS m "
        "INNER JOIN srsql.exposed_release AS r ON m.release_id = r.release_id "
        "CROSS JOIN temp.main.srsql_run AS u "
        "INNER JOIN srsql.release AS own ON u.release_id = own.release_id "
        "WHERE r.dataset = own.dataset AND r.series = own.series "
        "AND r.quarter = (SELECT min(l.quarter) FROM srsql.exposed_release AS l WHERE"
        " l.dataset = own.dataset AND l.series = own.series"
        " AND l.quarter > own.quarter) "
        "AND m.case_id NOT IN (SELECT n.case_id FROM temp.main.srsql_next_case AS n)"
    )


def cutoff(n: int, total: int, total_of_squares: int, multiplier: Fraction) -> int | None:
    """The least integer ``c`` with ``c >= mean + multiplier * sd``, by integers alone.

    Args:
        n: number of cases.
        total: sum of their numbers of values; ``total_of_squares`` the sum of the squares.
        total_of_squares: see ``total``.
        multiplier: how many population standard deviations above the mean; may be negative.

    Returns:
        The cutoff; None where the standard deviation is 0, so that no case stands out.

    Source:
        Huang 2021, Definition 6 and section 5 (multiplier 1). With ``x = c * n - total`` the
        condition is ``x >= multiplier * sqrt(n * total_of_squares - total ** 2)``.
    """
    spread = n * total_of_squares - total * total
    if spread <= 0:
        return None
    square = multiplier * multiplier * spread
    below = isqrt(square.numerator // square.denominator)
    exact = below * below == square
    least = -below if multiplier < 0 else below if exact else below + 1
    return -((-total - least) // n)


def set_values(warehouse: Warehouse, dataset: Dataset) -> None:
    """Fill ``srsql_value(case_no, value_no)``, ``srsql_value_kind`` and ``srsql_sensitive``.

    A value is a term of one sensitive attribute (``srsql_value_kind``: value_no, attribute_no);
    an attribute that nobody has a value of is in ``srsql_sensitive(attribute_no)`` all the same.
    """
    names = list(dict.fromkeys(a.column for a in dataset.sensitive))
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_sensitive AS "
        "SELECT u.place - 1 AS attribute_no, u.attribute FROM (SELECT unnest(?::VARCHAR[]) AS"
        " attribute, unnest(range(1, len(?::VARCHAR[]) + 1)) AS place) AS u",
        [names, names],
    )
    warehouse.run_step("grouping/values")


def partition_pattern(warehouse: Warehouse, pattern: int, least: int) -> None:
    """Fill ``srsql_placed`` with the groups of one missingness pattern."""
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_placed AS SELECT g.case_no, g.group_no "
        "FROM srsql.partition_cases('temp.main.srsql_profile', 'temp.main.srsql_bounded',"
        " 'temp.main.srsql_value', 'temp.main.srsql_value_kind', 'temp.main.srsql_sensitive',"
        " 'temp.main.srsql_attribute', ?, ?) AS g",
        [pattern, least],
    )
