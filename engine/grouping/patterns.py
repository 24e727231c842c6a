"""Grouping within missingness patterns, and what becomes of patterns that are too small.

A pattern needs k cases that carry the bounds: for MS any, for PPMS new ones.

A pattern is the set of QIDs a case is grouped by, as a bit mask. Patterns are worked off from the
most QIDs to the fewest. A pattern that cannot be released gives its cases to a pattern with fewer
QIDs, where more cases share the missing values: the occupied subset with the most QIDs (then the
most cases), or, where none is occupied, the subset with one QID less that the most other cases
could still reach. What the empty pattern cannot take is withheld.
"""

from __future__ import annotations

from collections.abc import Callable

from srsql.engine.grouping.feasibility import choose_surplus, infeasible_values, withhold
from srsql.engine.warehouse.warehouse import Warehouse

Group = Callable[[int], None]
"""Groups the cases of one pattern into ``srsql_placed(case_no, group_no)``, -1 for not placed."""


def group_by_pattern(warehouse: Warehouse, k: int, group: Group) -> None:
    """Fill ``srsql_grouped(case_no, group_no, pattern)``; the rest goes to ``srsql_withheld``."""
    counts = _counts(warehouse)
    done: set[int] = set()
    while waiting := [p for p, n in counts.items() if n and p not in done]:
        pattern = max(waiting, key=lambda p: (p.bit_count(), -p))
        done.add(pattern)
        if _carriers(warehouse, pattern) >= k:
            _relieve(warehouse, pattern, counts)
            counts = _counts(warehouse)
        if _carriers(warehouse, pattern) >= k:
            group(pattern)
            if warehouse.value("SELECT max(p.group_no) FROM temp.main.srsql_placed AS p") >= 0:
                _accept(warehouse, pattern)
                continue
        if counts.get(pattern, 0):
            _give_up(warehouse, pattern, counts, "pattern_too_small")
            counts = _counts(warehouse)


def _counts(warehouse: Warehouse) -> dict[int, int]:
    return dict(
        warehouse.rows(
            "SELECT p.pattern, count(*) FROM temp.main.srsql_profile AS p GROUP BY p.pattern"
        )
    )


def _carriers(warehouse: Warehouse, pattern: int) -> int:
    return int(
        warehouse.value(
            "SELECT count(*) FROM temp.main.srsql_profile AS p WHERE p.pattern = ? AND p.carrier",
            [pattern],
        )
    )


def _relieve(warehouse: Warehouse, pattern: int, counts: dict[int, int]) -> None:
    """Move or withhold the cases without which the pattern meets every threshold."""
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_part AS "
        "SELECT p.case_no, p.carrier FROM temp.main.srsql_profile AS p "
        "WHERE p.pattern = ?",
        [pattern],
    )
    if not infeasible_values(warehouse, "temp.main.srsql_part"):
        return
    target = _target(pattern, counts)
    if target is None:
        withhold(warehouse, "temp.main.srsql_part", "pattern_infeasible")
        return
    choose_surplus(warehouse, "temp.main.srsql_part")
    warehouse.run(
        "UPDATE temp.main.srsql_profile SET pattern = ? "
        "WHERE case_no IN (SELECT s.case_no FROM temp.main.srsql_surplus AS s)",
        [target],
    )


def _accept(warehouse: Warehouse, pattern: int) -> None:
    """Take over the groups of ``srsql_placed``; withhold what no group could take."""
    warehouse.run(
        "INSERT INTO temp.main.srsql_grouped "
        "SELECT p.case_no, p.group_no + s.start, ? FROM temp.main.srsql_placed AS p CROSS JOIN "
        "(SELECT coalesce(max(g.group_no) + 1, 0) AS start FROM temp.main.srsql_grouped AS g) AS s "
        "WHERE p.group_no >= 0",
        [pattern],
    )
    warehouse.run(
        "INSERT INTO temp.main.srsql_withheld "
        "SELECT p.case_no, 'no_group_fits' FROM temp.main.srsql_placed AS p WHERE p.group_no < 0"
    )


def _give_up(warehouse: Warehouse, pattern: int, counts: dict[int, int], reason: str) -> None:
    target = _target(pattern, counts)
    if target is None:
        warehouse.run(
            "INSERT INTO temp.main.srsql_withheld "
            "SELECT p.case_no, ? FROM temp.main.srsql_profile AS p WHERE p.pattern = ?",
            [reason, pattern],
        )
        warehouse.run("DELETE FROM temp.main.srsql_profile WHERE pattern = ?", [pattern])
        return
    warehouse.run(
        "UPDATE temp.main.srsql_profile SET pattern = ? WHERE pattern = ?", [target, pattern]
    )


def _target(pattern: int, counts: dict[int, int]) -> int | None:
    """The pattern that takes the cases of ``pattern``; None below the empty one."""
    if pattern == 0:
        return None
    subsets = [p for p, n in counts.items() if n and p != pattern and p & pattern == p]
    if subsets:
        return max(subsets, key=lambda p: (p.bit_count(), counts[p], -p))
    smaller = [pattern & ~(1 << bit) for bit in range(pattern.bit_length()) if pattern >> bit & 1]
    return max(
        smaller,
        key=lambda p: (sum(n for q, n in counts.items() if q & p == p and q != pattern), -p),
    )
