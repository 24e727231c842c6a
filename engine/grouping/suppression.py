"""Values that are suppressed of cases so that the rest of these cases is released.

Where no grouping could keep a value below its threshold (``--on-infeasible suppress``) cases lose
it before they are grouped (``feasibility``). Here is what becomes of leftovers (``--leftovers
suppress``), and of what other releases of the series suppressed already.

What it promises: theta bounds the *published* values of every region. Whoever knows how values
are suppressed knows, of a group that holds one as often as theta allows, that more of its cases may
have it; ``srsql.suppressed_confidence`` tells how far that goes.

Absence tells, so: no report loses its last value of an attribute; what the drugs of a case suggest
of a value counts on; who loses it is drawn among all whose loss would do; and what is suppressed of
a case stays so in its series, while what the series told of it before is never suppressed.

Source: Lin 2016, "Conclusions", names suppression and counterfeits; the rules are ours.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from srsql.engine.catalog.releases import Release
from srsql.engine.grouping.feasibility import BY_THETA, SUPPRESSION, Suppression, take_out
from srsql.engine.grouping.patterns import PATTERN_INFEASIBLE, Grouping
from srsql.engine.store.statements import query
from srsql.engine.store.warehouse import Warehouse

KERNELS = "srsql.udfs.grouping.leftover_values"
HIDDEN = "srsql_hidden"
OF_LEFTOVERS = ("no_group_fits",)
OF_INFEASIBLE = ("infeasible", PATTERN_INFEASIBLE)
"""Reasons for which a case is withheld since its values break their bounds, by the option."""


def keep_suppressed(release: Release, weight_scale: int) -> None:
    """Suppress of the cases what another release of the series suppressed of them.

    Args:
        release: with the tables of ``grouping/steps/history.sql``.
        weight_scale: what a certain value weighs.
    """
    release.warehouse.run_step(
        "grouping/suppressed", {"release_id": release.release_id, "weight_scale": weight_scale}
    )
    if suppresses(release.warehouse):
        take_out(release.warehouse, replace(BY_THETA, weight_scale=weight_scale), weight_scale)


def find_losable(release: Release, suppression: Suppression) -> None:
    """Find out what may be suppressed of which case, after ``keep_suppressed``."""
    release.warehouse.run_step("grouping/losable", {"weight_scale": suppression.weight_scale})


def suppresses(warehouse: Warehouse) -> bool:
    """Whether anything is suppressed of some case."""
    return bool(warehouse.value(query(SUPPRESSION, "suppresses")))


def list_hidden(warehouse: Warehouse) -> bool:
    """Fill ``srsql_hidden(report_id, term)`` with what no row may show; False: there is nothing."""
    warehouse.run(query(SUPPRESSION, "hidden"))
    return bool(warehouse.value(f"SELECT EXISTS (FROM temp.main.{HIDDEN})"))


def suppress_withheld(grouping: Grouping, suppression: Suppression, alpha: Fraction | None) -> None:
    """Let cases that were withheld join groups, for the least number of suppressed values each.

    They join groups of the pattern with the most of the quasi-identifiers that they know, or, where
    none of these can take them, of another one, to which they give up the others.

    Args:
        grouping: that was made, with ``srsql_withheld``.
        suppression: says for which of them.
        alpha: largest share of cases with substantially many symptoms; None: any.
    """
    warehouse = grouping.warehouse
    limit = alpha or Fraction(1)
    reasons = [
        *(OF_INFEASIBLE if suppression.infeasible else ()),
        *(OF_LEFTOVERS if suppression.leftovers else ()),
    ]
    for pattern, _ in warehouse.rows(query(SUPPRESSION, "patterns")):
        if not warehouse.value(query(SUPPRESSION, "waiting"), {"reasons": reasons}):
            return
        warehouse.run(
            query(SUPPRESSION, "suppress_leftovers"),
            {
                "reasons": reasons,
                "pattern": pattern,
                "weight_scale": suppression.weight_scale,
                "k": grouping.k,
                "draw": f"{suppression.draw}/leftovers/{pattern}",
                "rules": {"alpha_num": limit.numerator, "alpha_den": limit.denominator},
            },
        )
        warehouse.run(query(SUPPRESSION, "join_groups"), {"pattern": pattern})
        warehouse.run(query(SUPPRESSION, "not_withheld"))
        warehouse.run(query(SUPPRESSION, "keep_suppressed"))
        take_out(warehouse, grouping.bounds, suppression.weight_scale)
