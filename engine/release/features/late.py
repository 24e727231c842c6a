"""Reports of a cumulative source that came when their period was out (SPEC section 22).

The label of a release is its period of publication. T_j takes the reports received in j. It takes
those received earlier that came into the warehouse after a release of their period, of cases that
no release of the series has; these are new cases of T_j like any other. A late report of a released
case is a stored version. It is shown only in a release in which the case has a report of its own
period. No version of T_i gains a case, and reports of a period that is not out yet are of that
period.

Why every bound holds as it does without late reports. Write R(T) for the cases of a release.

* B, F: the attack rules out a case by a *released* region of an earlier or later T that does not
  cover the target. Grouping covers the released regions of every case of R(T_j) that is in an
  earlier R(T), late or not, so that B and F rule out nobody more.
* L: an old case is one of some earlier R(T). A late case is in none, so that it is new, and every
  group of T_j keeps k cases that are in no earlier release, and theta over them (NC-bounding).
* MD, P: they ask whether a case of R(T_j) is in R(T_{j+1}). A case of T_j counts as stopping where
  it has no report received in j + 1. A late case of T_{j+1} is in no earlier release, so it is not
  in T_j. A late report of a case of T_j puts it into T_{j+1} only beside a report received there,
  which makes it one that goes on; one that was promised to stop is withheld (``promised_absent``).
  So what T_j promised stays true.
* The attacker knows the period of receipt i alone: where no region of T_i covers the target, the
  candidates are all cases of T_i ... T_j that cover it, at least k in each group. Who knows receipt
  and release rules out those of the group that were released from i to j - 1. They are old in T_j,
  so that the k new ones are left, and theta over them: ``check_delay`` counts it anew.
* Who knows the others' periods of receipt as well can tell late cases from punctual ones. That is
  measured (``known_report_period``) and claimed by no model.

All of it asks that nothing published tells the date of receipt. Original ids and columns made from
dates do, so that a series with these withholds late cases (``late_not_released``). The manifest
tells one total, or "fewer than k". What dates itself by its content (the vaccine of one season) is
not defended.
"""

from __future__ import annotations

from sqlglot import exp

from srsql.engine import measures as of
from srsql.engine.catalog.late import TOPIC as ROWS
from srsql.engine.catalog.late import has_late, is_cumulative, late_rows
from srsql.engine.catalog.layout import raw_table
from srsql.engine.catalog.releases import Release
from srsql.engine.catalog.series import ORIGINAL, Series
from srsql.engine.release.features.feature import Feature
from srsql.engine.release.features.hold_back import dated
from srsql.engine.store.statements import column, query, with_rows
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

LATE_CASES = "late_cases"
"""What the manifests call the number of released cases that came late."""
LATE = Feature(
    "late arrivals",
    "Reports that came after their period was released go into the next release, where no release "
    "has their case.",
    checks=(of.LATE,),
    facts={LATE_CASES: str},
)
TOPIC = "release/waiting"


def take_late(current: Release, series: Series) -> None:
    """Decide which late reports a release takes, and keep that in ``srsql.taken_case``.

    Args:
        current: registered in the catalog, with the raw rows as they were ingested.
        series: of the release.
    """
    warehouse, dataset = current.warehouse, current.dataset.taken_from("")
    if not has_late(warehouse, dataset.name):
        return
    own = (
        exp.select(exp.cast(column(dataset.case_id, "t"), "VARCHAR").as_("case_id"))
        .distinct()
        .from_(raw_table(dataset, dataset.report_table, alias="t"))
        .where(column("quarter", "t").eq(exp.Literal.string(current.quarter)))
    )
    due = with_rows(query(TOPIC, "take_late"), late_row=late_rows(dataset), own_row=own)
    shown = shows_late(series, current.visible_dataset)
    asked = {"release_id": current.release_id, "shown": shown}
    warehouse.run(f"INSERT INTO srsql.taken_case {due.sql(dialect='duckdb')}", asked)


def shows_late(series: Series, visible_dataset: Dataset) -> bool:
    """Whether releases of a series may show late reports: nothing that they publish is made from
    dates or periods, nor are ids in the order of receipt."""
    return series.ids != ORIGINAL and not dated(visible_dataset)


def late_facts(current: Release, k: int) -> dict[str, str]:
    """What both manifests tell of late cases: one number, or that it is below k.

    Args:
        current: with its members in the catalog.
        k: of the model.

    Returns:
        Nothing where the dataset has no cumulative source.
    """
    warehouse = current.warehouse
    if not is_cumulative(warehouse, current.dataset.name):
        return {}
    cases = int(warehouse.value(query(TOPIC, "late_cases"), {"release_id": current.release_id}))
    return {LATE_CASES: str(cases) if cases >= k else f"fewer than {k}"}


def late_pending(warehouse: Warehouse, dataset: Dataset, series: str) -> tuple[int, int]:
    """What came late and no release of a series has: cases that its next release takes, and
    reports of released cases, which wait for a report of a period that is not out.

    Args:
        warehouse: may be read-only.
        dataset: of the series.
        series: its name.
    """
    if not has_late(warehouse, dataset.name):
        return 0, 0
    rows = with_rows(query(ROWS, "late_pending"), late_row=late_rows(dataset))
    asked = {"dataset": dataset.name, "series": series}
    ((cases, versions),) = warehouse.rows(rows.sql(dialect="duckdb"), asked)
    return int(cases), int(versions)
