"""Counts with noise tell the items of cases, and no row does (SPEC section 19, R8)."""

from __future__ import annotations

from srsql.engine.errors import LinkableError
from srsql.engine.grouping.perturbation import ON_TABLES
from srsql.engine.release.request import Request
from srsql.engine.release.stages.stage import Made, Stage, Tables, handed_on
from srsql.engine.store.statements import query
from srsql.engine.terms.noisy_tables import (
    TOPIC,
    build_noisy_counts,
    make_noisy_counts,
)


def count_with_noise(request: Request, made: Made) -> Tables:
    """Make the tables, and charge every case that they count."""
    assert request.noisy is not None
    make_noisy_counts(made.current, request.noisy, made.draw)
    made.built += build_noisy_counts(made.current)
    return handed_on(COUNTED_WITH_NOISE.writes)


def need_one_kind(request: Request, made: Made) -> Tables:
    """Refuse tables of cases that other tables count, unless that is wanted (rules R6, R8).

    Raises:
        LinkableError: they do.
    """
    current, noisy = made.current, request.noisy is not None
    own = {"release_id": current.release_id}
    charged = {**own, "mechanism": ON_TABLES, "own": not noisy}
    found = current.warehouse.rows(query(TOPIC, "counted_with_noise"), charged)
    kind, exact = "with noise", []
    if noisy:
        exact = current.warehouse.rows(query(TOPIC, "counted_exactly"), own)
        kind = "exact" if exact else kind
    if (exact or found) and not request.allow_linkable:
        quarter, series, cases = (exact or found)[0]
        raise LinkableError(
            f"{cases:,} cases of {current.quarter} are counted in the tables ({kind}) of {quarter} "
            f"in series {series!r}: a case stands in exact tables or in tables with noise, and in "
            "one of them alone, give --allow-linkable if both are to be out"
        )
    return {}


COUNTED_WITH_NOISE = Stage(
    "noise",
    "Cases of the period that no earlier table with noise counts are counted by stratum, item and "
    "pair of items, noise is added, and each is charged its budget.",
    count_with_noise,
    reads="case case_report",
    writes="noisy_case_cell noisy_held noisy_item noisy_item_cell noisy_kind noisy_leaf noisy_pair "
    "noisy_pair_cell noisy_unit pub_count_noise pub_noisy_case_count pub_noisy_item_count "
    "pub_noisy_pair_count",
    applies=lambda request: request.noisy is not None,
)
ONE_KIND = Stage(
    "noise",
    "No case stands both in exact tables and in tables with noise, or in two with noise.",
    need_one_kind,
    reads="case noisy_unit",
    applies=lambda request: request.noisy is not None or request.tables is not None,
)
