"""What an artifact tells of the derived columns of its dataset."""

from __future__ import annotations

from srsql.engine.artifact.format import DerivedClaim
from srsql.schemas import Dataset
from srsql.schemas.derived import Elapsed, Number, Occurs, Period


def derived_claims(dataset: Dataset) -> tuple[DerivedClaim, ...]:
    """The rule and the claim of every derived column that is shown.

    Args:
        dataset: with the tables of which there are rows.
    """
    return tuple(
        DerivedClaim(
            name=each.name,
            attributes=tuple(q.name for q in dataset.qid if q.column == each.name)
            if dataset.rows
            else (),
            rule=each.rule,
            sources=tuple(".".join(place) for place in each.sources),
            step=each.step if isinstance(each, Period) else None,
            classes=each.classes if isinstance(each, (Elapsed, Number)) else (),
            values=each.values if isinstance(each, Occurs) else (),
            labels=each.labels or (),
            claim=each.claim,
        )
        for each in dataset.told_derived
    )
