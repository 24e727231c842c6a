"""Counts tell the items of cases, and no row does (``--terms tables``, SPEC section 19).

Why the claim (``COUNTS_CLAIM`` of ``models/base.py``) holds for a release:

* (a) to (c): the rules R2, R3 and G1 to G3, by the proof in ``sql_macros/terms/count_tables.sql``.
  Strata are functions of published regions (R1), and counts are of released rows alone, so that
  ``case_count`` says no more than those rows do.
* (d): R6. A case is counted in the first release that has it, so that tables of two periods are
  functions of disjoint sets of cases: whatever data sets fit them, any pair of such fits both. No
  told table is revised (R7): corrections are refused, and a second table of the same cases needs a
  yes (``--allow-linkable``), after which the claim is not made.
* Rows: their groups keep k, and what a series model promises of candidates, over regions alone.
  They are made with no item at hand, so no region depends on one.
"""

from __future__ import annotations

from collections.abc import Callable

from srsql.engine import measures as of
from srsql.engine.catalog.series import ORIGINAL, PER_QUARTER
from srsql.engine.models.base import GroupingModel, promise_by_counts
from srsql.engine.release.features.feature import (
    Asked,
    Feature,
    InSeries,
    OnDataset,
    Refusal,
    Wanted,
)
from srsql.engine.terms.count_tables import TableParameters
from srsql.schemas import Dataset

ASKED = "--terms tables"
_LEAVE = "leave one of them out"
UNPROVED: dict[str, tuple[Callable[[Wanted], bool], str]] = {
    "--draft": (
        lambda wanted: wanted.draft,
        "it is confirmed when other tables of its cases may be out",
    ),
    "--count persons": (
        lambda wanted: wanted.unit.parted,
        "a case that is new may be of a person who was counted before",
    ),
    "--max-delay": (
        lambda wanted: wanted.max_delay is not None,
        "the proof is of cases that are released in their own period",
    ),
    "--knowledge": (
        lambda wanted: wanted.knowledge is not None,
        "whoever knows a disease by its drug has more than counts tell",
    ),
    "values that are suppressed": (
        lambda wanted: wanted.suppresses,
        "counts are of all values of a case, and need no suppression",
    ),
}
"""What the proof of the claim does not cover -> where it is asked for, and why."""


def takes_none(model: GroupingModel) -> bool:
    """Whether its rows are none that keep k and theta by their regions alone."""
    counts = model.shape.shows_cases or model.shape.counts_items
    of_regions = counts and not model.claimed_bounds.drawn
    kept = model.claimed_bounds.guaranteed == {"k", "theta"}
    return not of_regions or not kept or model.symptoms_limit is not None


def _columns(at: OnDataset) -> bool:
    return at.wanted.tables is not None and bool(at.wanted.columns)


def _not_with(other: str, holds: Callable[[Wanted], bool], why: str) -> Refusal[Asked]:
    return Refusal(
        Asked,
        ASKED,
        other,
        lambda at: at.wanted.tables is not None and holds(at.wanted),
        f"{ASKED} does not go with {other}, since {why}",
        _LEAVE,
    )


def table_facts(
    model: GroupingModel, tables: TableParameters, dataset: Dataset
) -> dict[str, str | int]:
    """What both manifests tell of counts, and the guarantee in the place of the model's.

    Args:
        model: of the release.
        tables: with what the dataset has by default.
        dataset: of the release.
    """
    return {"guarantee": promise_by_counts(model), **tables.facts(dataset)}


COUNTS = Feature(
    "count tables",
    "Counts tell the items of cases by strata, and rows show a region and no item.",
    options=("strata", "table_k", "table_items"),
    stages=("set_items_apart", "leave_counted_out", "count_items", "need_new_units"),
    checks=(of.COUNT_TABLES, of.REGION_COUNTS),
    facts={
        "rows_of_cases": str,
        "table_k": int,
        "table_items": str,
        "table_pairs": str,
        "table_strata": str,
    },
    refusals=(
        Refusal(
            Asked,
            ASKED,
            "a model whose rows are not regions that keep k and theta, or that bounds alpha",
            lambda at: at.wanted.tables is not None and takes_none(at.wanted.model),
            f"{ASKED} does not go with the model {{model}}: rows beside counts keep k alone, in "
            "regions that hold the values of their cases",
            "give --model ms or ppms++",
        ),
        Refusal(
            Asked,
            "--model tables",
            "--terms disassociate",
            lambda at: at.wanted.model.shape.counts_items and at.wanted.terms is not None,
            "the model {model} releases counts, and no terms of clusters",
            "leave --terms out",
        ),
        *(_not_with(other, holds, why) for other, (holds, why) in UNPROVED.items()),
        Refusal(
            OnDataset,
            ASKED,
            "a dataset that declares several sets of quasi-identifiers",
            lambda at: at.wanted.tables is not None and bool(at.dataset.qid_set),
            "dataset {dataset} declares several sets of quasi-identifiers ({sets}), with which "
            f"{ASKED} does not go: leave it out",
            words=lambda at: {
                "dataset": at.dataset.name,
                "sets": ", ".join(each.name for each in at.dataset.qid_set),
            },
        ),
        Refusal(
            OnDataset,
            ASKED,
            "--columns",
            _columns,
            f"{ASKED} releases no rows that could show other columns than regions",
            "leave --columns out",
        ),
        Refusal(
            InSeries,
            ASKED,
            "original ids",
            lambda at: at.wanted.tables is not None and at.of.ids == ORIGINAL,
            f"original ids join the rows of {ASKED} with those of the source",
            "leave --ids out, or give another --series",
        ),
        Refusal(
            InSeries,
            ASKED,
            "--ids per-quarter",
            lambda at: at.wanted.tables is not None and at.of.ids == PER_QUARTER,
            f"counts of {ASKED} are of new cases, and ids of a quarter do not tell which rows are: "
            "the difference would count the others",
            "leave --ids out, or give another --series",
        ),
        Refusal(
            InSeries,
            ASKED,
            "--supersede",
            lambda at: at.wanted.tables is not None and at.wanted.supersede,
            "counts that are out are never revised: two tables of the same cases are subtracted "
            "from each other",
            "leave --supersede out, or give another --series",
        ),
    ),
)
