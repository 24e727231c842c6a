"""What is counted of the sensitive values of a case: substantially many symptoms, diversity."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from math import isqrt, sqrt

from sqlglot import exp

from srsql.engine.catalog.releases import Release
from srsql.engine.catalog.series import next_cases_query
from srsql.engine.errors import ReleaseError
from srsql.engine.store.statements import create, query
from srsql.engine.store.warehouse import Warehouse
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


def find_substantial(release: Release, rule: SymptomsRule) -> None:
    """Keep in ``srsql.ss_rule`` from how many values on a case has substantially many.

    Args:
        release: with the tables of ``grouping/steps/cases.sql``.
        rule: as asked for.

    Raises:
        ReleaseError: the rule names an attribute that is not a sensitive one.

    Source:
        Huang 2021, Definition 6.
    """
    warehouse = release.warehouse
    attributes = _attributes(release.dataset)
    known = {name.lower(): name for name in attributes}
    for name in rule.counts:
        if name not in known:
            raise ReleaseError(
                f"--ss-rule: {name!r} is no sensitive attribute (it has: {', '.join(attributes)})"
            )
    cases = warehouse.value(query("grouping/cases", "case_count"))
    means: list[float] = []
    deviations: list[float] = []
    cutoffs: list[int | None] = []
    counted = _moments(release, attributes)
    for name, _, total, squares in counted:
        spread = cases * squares - total * total
        means.append(total / cases if cases else 0)
        deviations.append(sqrt(spread) / cases if cases else 0)
        if not cases:
            cutoffs.append(None)
        elif rule.multiplier is None:
            cutoffs.append(rule.counts.get(name.lower()))
        else:
            cutoffs.append(cutoff(cases, total, squares, rule.multiplier))
    warehouse.run(
        query("grouping/symptoms", "store_rule"),
        {
            "release_id": release.release_id,
            "attributes": [name for name, *_ in counted],
            "by_spelling": [by_spelling for _, by_spelling, *_ in counted],
            "means": means,
            "deviations": deviations,
            "cutoffs": cutoffs,
        },
    )


def _moments(release: Release, attributes: list[str]) -> list[tuple[str, bool, int, int]]:
    """Attribute, whether its spellings are counted, sum and sum of squares over the cases.

    Spellings are counted as well where some case has a term in several: a case has substantially
    many symptoms by its terms or by their spellings (SPEC section 2). Version 0 of the key of terms
    counts terms alone.
    """
    rows = release.warehouse.rows(query("grouping/symptoms", "moments"), {"attributes": attributes})
    moments = {name: sums for name, *sums in rows}
    found = [(name, False, *moments[name][:2]) for name in attributes]
    if release.dataset.term_key:
        found += [
            (name, True, *moments[name][2:])
            for name in attributes
            if moments[name][2:] != moments[name][:2]
        ]
    return found


def find_next_cases(release: Release, quarter: str | None) -> None:
    """Fill ``srsql_next_case(case_id)``: who is in ``quarter``, as ingested or as released."""
    warehouse = release.warehouse
    if quarter is None:
        warehouse.run(query("grouping/symptoms", "no_next_cases"))
        return
    cases = next_cases_query(release.dataset, quarter)
    warehouse.run(create(exp.to_table("srsql_next_case"), cases, temp=True))
    warehouse.run(
        query("grouping/symptoms", "released_next_cases"),
        {"release_id": release.release_id, "quarter": quarter},
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
    """Fill ``srsql_value(case_no, value_no, attribute_no)``: the sensitive values of each record.

    A value is a term of one sensitive attribute.
    """
    warehouse.run_step("grouping/values", {"attributes": _attributes(dataset)})


def partition_pattern(warehouse: Warehouse, dataset: Dataset, pattern: int, least: int) -> None:
    """Add the groups of one missingness pattern to ``srsql_grouped``.

    Args:
        warehouse: with ``srsql_value`` (see ``set_values``).
        dataset: an attribute of which nobody has a value counts all the same.
        pattern: the QIDs grouped by, as a bit mask.
        least: distinct values of each sensitive attribute in a group.

    Source:
        Gal et al. 2008, as Lin 2016 compares with it.
    """
    warehouse.run(
        query("grouping/patterns", "partition_cases"),
        {"pattern": pattern, "least": least, "attributes": attribute_count(dataset)},
    )


def attribute_count(dataset: Dataset) -> int:
    """How many sensitive attributes there are, whether or not anybody has a value of them."""
    return len(_attributes(dataset))


def _attributes(dataset: Dataset) -> list[str]:
    return list(dict.fromkeys(attribute.column for attribute in dataset.sensitive))
