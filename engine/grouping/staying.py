"""Groups for the model ``ppms-stay``: classes of those who go on and who stop, cohorts as a whole.

Four stages, of which the first and the last place *units* (a cohort, or a case by itself):

1. Cohorts of which somebody goes on open groups with new cases of both classes (or join one that is
   open), since those who go on are few.
2. All other cases by themselves that go on are grouped as by ``ppms++`` and refined; then those who
   stop. Every group has one class.
3. Cohorts of which nobody goes on, and whatever has no group yet, join groups.
4. What is left is withheld.

Refinement stays within stage 2. It moves cases one by one, and neither a cohort nor the two classes
of a group may be torn.

Source: docs/decisions.md, D287 and D288.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from srsql.engine.grouping.feasibility import drop_withheld
from srsql.engine.grouping.patterns import Grouping
from srsql.engine.store.statements import create, query, temporary

TOPIC = "grouping/cohorts"
KERNELS = "srsql.udfs.grouping.cohorts"


def group_staying(grouping: Grouping, group_class: Callable[[], object]) -> None:
    """Fill ``srsql_grouped`` and ``srsql_withheld`` from ``srsql_profile``.

    Args:
        grouping: what is grouped.
        group_class: groups the cases of ``srsql_profile`` by the model's greedy clustering.
    """
    warehouse = grouping.warehouse
    asked = {"k": grouping.k, "weight_scale": grouping.weight_scale}
    warehouse.run_step("grouping/cohorts", {"release_id": grouping.release.release_id})
    warehouse.run(query(TOPIC, "withhold_cohorts"), asked)
    drop_withheld(warehouse)
    warehouse.run(query(TOPIC, "create_staying"))
    warehouse.run(query(TOPIC, "open_groups"), asked)
    _copy(grouping, "srsql_profile", "srsql_stay_profile")
    _copy(grouping, "srsql_withheld", "srsql_stay_withheld")
    for goes_on in (True, False):
        warehouse.run(query(TOPIC, "lay_out_class"), {"goes_on": goes_on})
        warehouse.run("DELETE FROM temp.main.srsql_withheld")
        warehouse.run("DELETE FROM temp.main.srsql_grouped")
        group_class()
        warehouse.run(query(TOPIC, "take_class"))
    _copy(grouping, "srsql_stay_profile", "srsql_profile")
    _copy(grouping, "srsql_stay_withheld", "srsql_withheld")
    warehouse.run("DELETE FROM temp.main.srsql_grouped")
    warehouse.run(query(TOPIC, "join_groups"), asked)
    warehouse.run(query(TOPIC, "group"))
    warehouse.run(query(TOPIC, "withhold"), {"k": grouping.k})


def _copy(grouping: Grouping, source: str, target: str) -> None:
    rows = exp.select("*").from_(temporary(source))
    grouping.warehouse.run(create(exp.to_table(target), rows, temp=True))
