"""The one registry of stages: all that a release does between its first and its last statement.

``release`` runs those that apply, in this order, in one transaction; docs/features.md lists them.
"""

from __future__ import annotations

from srsql.engine.release.stages.cases import (
    CASES,
    COUNTED_BEFORE,
    FEASIBLE,
    HISTORY,
    ITEMS_APART,
    KERNELS,
    LATE_WITHHELD,
    LOSABLE,
    OWN_THRESHOLDS,
    THRESHOLDS,
)
from srsql.engine.release.stages.counts import COUNTED, NEW_UNITS
from srsql.engine.release.stages.grouping import CLUSTER_NEEDED, GROUP_NEEDED, GROUPING, RESTS
from srsql.engine.release.stages.noise import COUNTED_WITH_NOISE, ONE_KIND
from srsql.engine.release.stages.proofs import AUDIT, CHECKS, LINKS, METRICS, SHOWN, SINGLED_OUT
from srsql.engine.release.stages.published import VIEWS
from srsql.engine.release.stages.regions import IDS, PARTED, REGIONS, TERMS
from srsql.engine.release.stages.stage import Stage
from srsql.engine.release.stages.tables import (
    ASKED_THRESHOLDS,
    BUDGET,
    CATALOG,
    ITEM_THRESHOLDS,
    LATTICE_ROWS,
    ROWS,
    TERM_TABLES,
)

STAGES: tuple[Stage, ...] = (
    CASES,
    HISTORY,
    LATE_WITHHELD,
    COUNTED_BEFORE,
    LOSABLE,
    KERNELS,
    THRESHOLDS,
    OWN_THRESHOLDS,
    ITEMS_APART,
    FEASIBLE,
    GROUPING,
    RESTS,
    CLUSTER_NEEDED,
    GROUP_NEEDED,
    REGIONS,
    PARTED,
    IDS,
    TERMS,
    CATALOG,
    ASKED_THRESHOLDS,
    ITEM_THRESHOLDS,
    BUDGET,
    ROWS,
    TERM_TABLES,
    LATTICE_ROWS,
    COUNTED,
    NEW_UNITS,
    COUNTED_WITH_NOISE,
    ONE_KIND,
    SINGLED_OUT,
    VIEWS,
    LINKS,
    CHECKS,
    AUDIT,
    METRICS,
    SHOWN,
)
