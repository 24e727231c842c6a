"""Counts tell the items of cases, and no row does (SPEC section 19)."""

from __future__ import annotations

from srsql.engine.audit.count_differences import count_differences
from srsql.engine.errors import LinkableError
from srsql.engine.release.request import Request
from srsql.engine.release.stages.stage import Made, Stage, Tables, handed_on
from srsql.engine.store.statements import query
from srsql.engine.terms.count_tables import TOPIC, build_counts, make_counts


def count_items(request: Request, made: Made) -> Tables:
    """Make the count tables, and tell the thresholds of what they count."""
    assert request.tables is not None
    current, warehouse = made.current, made.current.warehouse
    make_counts(current, request.tables)
    own = {"release_id": current.release_id}
    warehouse.run(query(TOPIC, "told_thresholds"), own)
    made.built += build_counts(current)
    return handed_on(COUNTED.writes)


def need_new_units(request: Request, made: Made) -> Tables:
    """Refuse a second table of the same cases, unless that is wanted (rules R6, R7).

    Raises:
        LinkableError: other tables count some of them.
    """
    current = made.current
    own = {"release_id": current.release_id}
    found = current.warehouse.rows(query(TOPIC, "counted_elsewhere"), own)
    if found and not request.allow_linkable:
        quarter, series, cases = found[0]
        raise LinkableError(
            f"{cases:,} cases of {current.quarter} are counted in the tables of {quarter} in "
            f"series {series!r}: two tables of the same cases are subtracted from each other, give "
            "--allow-linkable if both are to be out"
        )
    differ = count_differences(
        current.warehouse,
        current.visible_dataset,
        quarter=current.quarter,
        release_id=current.release_id,
        own_k=request.tables.k if request.tables else None,
    )
    if differ and not request.allow_linkable:
        first = differ[0]
        raise LinkableError(
            f"{first.found:,} counts of {current.quarter} differ from those of {first.one} by "
            f"fewer than k cases ({first.example}): whoever has both subtracts them, give "
            "--allow-linkable if both are to be out"
        )
    return {}


COUNTED = Stage(
    "counts",
    "Cases that no earlier release has are counted by stratum, item and pair of items.",
    count_items,
    reads="case_report grouped identity item_theta public_region role",
    writes="counted_item counted_kind counted_unit count_stratum held_item pub_case_count "
    "pub_item_count pub_pair_count pub_region_count pub_stratum told_count unit_item",
    applies=lambda request: request.tables is not None,
)
NEW_UNITS = Stage(
    "counts",
    "No other table that is out counts the same cases.",
    need_new_units,
    applies=lambda request: request.tables is not None and not request.draft,
)
