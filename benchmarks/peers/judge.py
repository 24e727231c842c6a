"""What a released table lost and keeps, by one measure for all: no tool judges itself.

Original rows have (row, age, wt, sex, term), released rows (row, age_low, age_high, wt_low,
wt_high, sex, term), where NULL ends and a NULL category mean "any".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

SPANS = {"age": 120, "wt": 400}
"""Numeric quasi-identifiers: the width of the declared domain."""
CATEGORY, TERM = "sex", "term"
QIDS = (*SPANS, CATEGORY)
REGION = [f"{name}_{end}" for name in SPANS for end in ("low", "high")] + [CATEGORY]


@dataclass(frozen=True)
class Verdict:
    """Of one released table; shares and losses from 0 to 1."""

    rows: int
    released: int
    with_missing: int
    """Rows with a missing quasi-identifier."""
    with_missing_released: int
    told_as_known: int
    """Rows released with an interval or a category for a value that nobody knows."""
    untrue: int
    """Rows released in a region that does not hold their known values."""
    loss: float
    """Mean of :func:`cell_loss` over all rows and quasi-identifiers."""
    loss_released: float
    """The same over the released rows alone."""
    loss_known: float
    """The same over the known values of the released rows alone."""
    k: int
    """Least number of released rows that share a region; NULL is equal to NULL."""
    l: int  # noqa: E741 (the models' own name for it)
    """Least number of distinct terms in a region."""
    alpha: float
    """Largest share of a term in a region."""


def judge(people: pd.DataFrame, released: pd.DataFrame) -> Verdict:
    """Measure one release.

    Raises:
        ValueError: a row is released twice, or is nobody's, or has another's term.
    """
    if released["row"].duplicated().any() or not released["row"].isin(people["row"]).all():
        raise ValueError("released rows are not rows of the original")
    both = people.merge(released, on="row", how="left", suffixes=("_own", ""), indicator="found")
    out = (both["found"] == "both").to_numpy()
    if not (both.loc[out, f"{TERM}_own"] == both.loc[out, TERM]).all():
        raise ValueError("a released row has another's term")
    lost, known, untrue = (np.column_stack(part) for part in zip(*map_qids(both), strict=True))
    lost[~out] = 1.0
    some_missing = ~known.all(axis=1)
    region = released.groupby(REGION, dropna=False).ngroup()
    crowd = region.value_counts()
    holders = released.groupby([region, released[TERM]]).size()
    return Verdict(
        rows=len(people),
        released=int(out.sum()),
        with_missing=int(some_missing.sum()),
        with_missing_released=int((some_missing & out).sum()),
        told_as_known=int(((lost == 1) & ~known & out[:, None]).any(axis=1).sum()),
        untrue=int((untrue & out[:, None]).any(axis=1).sum()),
        loss=float(lost.mean()),
        loss_released=_mean(lost[out]),
        loss_known=_mean(lost[out][known[out]]),
        k=int(crowd.min()) if len(released) else 0,
        l=int(holders.groupby(level=0).size().min()) if len(released) else 0,
        alpha=float((holders / crowd.reindex(holders.index, level=0)).max())
        if len(released)
        else 0,
    )


def _mean(values: NDArray[np.float64]) -> float:
    return float(values.mean()) if values.size else 1.0


Column = tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]


def map_qids(both: pd.DataFrame) -> list[Column]:
    """Loss, whether the original is known, and whether the region leaves it out; per QID."""
    columns = []
    for name, span in SPANS.items():
        own = both[name].to_numpy(float)
        low, high = both[f"{name}_low"].to_numpy(float), both[f"{name}_high"].to_numpy(float)
        known, any_value = ~np.isnan(own), np.isnan(low)
        untrue = known & ~any_value & ((own < low) | (own > high))
        columns.append(cell_loss(known, any_value, (high - low) / span, untrue))
    own_category, shown = both[f"{CATEGORY}_own"], both[CATEGORY]
    known, any_value = own_category.notna().to_numpy(), shown.isna().to_numpy()
    untrue = known & ~any_value & (own_category != shown).to_numpy(bool)
    columns.append(cell_loss(known, any_value, np.zeros(len(both)), untrue))
    return columns


def cell_loss(
    known: NDArray[np.bool_],
    any_value: NDArray[np.bool_],
    width: NDArray[np.float64],
    untrue: NDArray[np.bool_],
) -> Column:
    """A known value costs the share of the domain that its region spans; "any" or a lie costs 1.

    A missing value costs 0 where it is released as missing ("any"), and 1 where the release
    pretends that it is known.
    """
    lost = np.where(known, np.where(any_value | untrue, 1.0, width), np.where(any_value, 0.0, 1.0))
    return lost, known, untrue
