"""Groups made part by part (``--parts``): each missingness pattern is cut, its parts are carried.

A pattern is cut by the category with the fewest distinct values (of FAERS, sex), then by quantile
ranges of the number with the fewest, into parts of some ten thousand cases that carry the bounds
(``srsql.parts_of``). Thresholds and what is feasible at all come from the whole quarter and go
along to every part. Cases that no group of their part can take get a second round, in which they
may join the groups of all parts.

Why the bounds hold: k, theta, NC-bounding and alpha are properties of a *group*, and covering of a
*case*. A group that keeps them within its part keeps them, whatever other parts hold; a case
covers its earlier regions before anything is cut. Nothing else is promised by grouping, so whatever
the parts, even drawn at random, the same checks and audits hold. What parts change is loss, and
who can be placed: a value that the whole quarter can spread over its groups may be too frequent in
one part. So parts are joined and tried again until no case is withheld for it, or until there is
one part, which is the run without; the best that was tried is kept, so that never more cases are
withheld than without parts.

The cut follows from the cases and the rule, never from workers or memory, and every draw from the
seed and the number of the part: the result does not depend on who carries it. The rule may be
known; the cut points are order statistics of people, and are told nobody.

Source: SPEC section 17; which quasi-identifiers, and joining, are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from srsql.engine.grouping.feasibility import SUPPRESSION, Bounds
from srsql.engine.grouping.patterns import FOR_WANT_OF_A_GROUP, Group, Grouping, refine_groups
from srsql.engine.store.statements import create, query, temporary
from srsql.engine.store.warehouse import Warehouse
from srsql.engine.workers.carriers import Work, carry_rows

TOPIC = "grouping/parts"
LEAST = 10_000
"""Cases that carry the bounds in a part, about so many at least."""
JOINED = 4
"""So many parts become one where cases are withheld."""
RULE = (
    "each set of known quasi-identifiers by the category with the fewest values, then by quantile "
    f"ranges of the number with the fewest, about {LEAST:,} cases or more in a part; joined where "
    "cases would be withheld"
)
"""What the manifest tells of parts; never where a cut lies."""


@dataclass
class Parts:
    """One attempt to group and refine a quarter by parts."""

    grouping: Grouping
    most: int | None
    """Parts of a pattern at most; 1: none is cut; None: as many as there can be."""
    bounds: Bounds
    """Names the tables that bound the groups of the model."""
    largest: int = field(default=1, init=False)
    """Into how many parts a pattern was cut."""

    def __post_init__(self) -> None:
        """No pattern is cut yet."""
        if self.most != 1:
            self.warehouse.run(query(TOPIC, "none"))

    @property
    def warehouse(self) -> Warehouse:
        """Where the cases are."""
        return self.grouping.warehouse

    def group(self, parameters: dict[str, Any]) -> None:
        """Fill ``srsql_grouped`` with the groups of a pattern; a leftover is in group -1.

        Args:
            parameters: of ``group_cases``, the pattern among them.
        """
        pattern = {"pattern": parameters["pattern"]}
        if self.most == 1 or not self._cut(pattern):
            self.warehouse.run(self.bounds.query("grouping/patterns", "group_cases"), parameters)
            return
        rest = {"leftovers": "withhold"}
        self._carry("group_part", self._query("part_cases"), {**parameters, **rest}, pattern)
        if self.warehouse.value(query(TOPIC, "leftovers"), pattern):
            self.warehouse.run(query(TOPIC, "leave_parts"), pattern)
            self.warehouse.run(self._query("second_round"), parameters)

    def group_ahead(self, parameters: list[dict[str, Any]]) -> Group:
        """Group patterns that are not cut, as many at a time as there are threads.

        Args:
            parameters: of ``group_cases`` for each pattern; but for the pattern, k and the draw
                they are alike.

        Returns:
            What takes in the groups of one of them.
        """
        apart = ("pattern", "k", "draw")
        problems = [{name: each[name] for name in apart} for each in parameters]
        alike = {name: value for name, value in parameters[0].items() if name not in apart}
        self.warehouse.run(
            self.bounds.query("grouping/patterns", "group_ahead"), {"problems": problems, **alike}
        )

        def take(pattern: int) -> None:
            self.warehouse.run(query("grouping/patterns", "take_ahead"), {"pattern": pattern})

        return take

    def refine(self, rules: Mapping[str, Any]) -> None:
        """Refine the groups of each part; what is withheld then may join any group."""
        statement = self.bounds.query("grouping/patterns", "refine_groups")
        if self.largest > 1:
            grouping = self.grouping
            given = {
                "weight_scale": grouping.weight_scale,
                "k": grouping.k,
                "rules": {"diversity": 0, "attributes": 0, **rules},
            }
            self._carry("refine_part", self._query("group_cases"), given, {})
            waits = query(SUPPRESSION, "waiting")
            if not self.warehouse.value(waits, {"reasons": list(FOR_WANT_OF_A_GROUP)}):
                return
        refine_groups(self.grouping, statement, rules)

    def _query(self, name: str) -> str:
        return self.bounds.query(TOPIC, name)

    def _cut(self, pattern: dict[str, Any]) -> bool:
        """Cut a pattern, if it can be."""
        self.warehouse.run(query(TOPIC, "forget"), pattern)
        cut = {**pattern, "most": self.most, "at_least": LEAST}
        self.warehouse.run(query(TOPIC, "cut"), cut)
        parts = int(self.warehouse.value(query(TOPIC, "is_cut"), pattern))
        self.largest = max(self.largest, parts)
        return parts > 1

    def _carry(
        self, name: str, rows: str, parameters: dict[str, Any], pattern: dict[str, Any]
    ) -> None:
        """Have the groups of all parts made anew, and take them in."""
        con = self.warehouse.con
        shared = {
            table: con.sql(f"FROM temp.main.{actual}").to_arrow_table()
            for table, actual in (
                ("srsql_attribute", "srsql_attribute"),
                ("srsql_theta", self.bounds.threshold_table),
            )
        }
        work = Work(query(TOPIC, name), shared, parameters)
        take = [query(TOPIC, "take_groups")]
        if name == "refine_part":
            take.insert(0, query(TOPIC, "drop_groups"))
        carry_rows(self.warehouse, self.grouping.carrier, work, rows, pattern, take)


def group_in_parts(grouping: Grouping, parts: str, attempt: Callable[[int | None], int]) -> None:
    """Group and refine a quarter, by parts that are joined until none withholds a case.

    Args:
        grouping: what is grouped.
        parts: 1, another number or ``auto``.
        attempt: groups with so many parts of a pattern at most (None: as many as there can be), and
            says into how many one was cut.
    """
    most = None if parts == "auto" else int(parts)
    if most == 1:
        attempt(1)
        return
    warehouse = grouping.warehouse
    tables = _changed_by(grouping)
    at_first = _withheld(warehouse)
    _copy(warehouse, tables, "", "start")
    best: int | None = None
    while True:
        cut = attempt(most)
        withheld = _withheld(warehouse)
        if withheld == at_first:
            return
        if cut == 1:
            if best is not None and best <= withheld:
                _copy(warehouse, tables, "best", "")
            return
        if best is None or withheld < best:
            best = withheld
            _copy(warehouse, tables, "", "best")
        most = max(1, cut // JOINED)
        _copy(warehouse, tables, "start", "")


def _withheld(warehouse: Warehouse) -> int:
    return int(warehouse.value(query(TOPIC, "withheld")))


def _changed_by(grouping: Grouping) -> list[str]:
    """The tables that grouping changes, without ``srsql_``."""
    tables = ["profile", "grouped", "withheld"]
    if grouping.suppression is not None:
        values = dict.fromkeys(("srsql_case_term", grouping.bounds.value_table))
        tables += ["suppressed", *(name.removeprefix("srsql_") for name in values)]
    return tables


def _copy(warehouse: Warehouse, tables: list[str], source: str, target: str) -> None:
    """Copy tables, each under its name with what it is at that time before it; empty: now."""
    for name in tables:
        names = ["_".join(filter(None, ("srsql", when, name))) for when in (source, target)]
        rows = exp.select("*").from_(temporary(names[0]))
        warehouse.run(create(exp.to_table(names[1]), rows, temp=True))
