"""The one registry of features, and the loop that refuses what does not go together.

docs/features.md is generated from it.
"""

from __future__ import annotations

from srsql.engine.errors import ReleaseError
from srsql.engine.release.features.as_printed import PRINTED
from srsql.engine.release.features.count_tables import COUNTS
from srsql.engine.release.features.feature import Asked, Feature
from srsql.engine.release.features.hold_back import HOLD_BACK
from srsql.engine.release.features.late import LATE
from srsql.engine.release.features.noisy_tables import NOISY
from srsql.engine.release.features.optional_columns import COLUMNS
from srsql.engine.release.features.own_thresholds import OWN_THRESHOLDS
from srsql.engine.release.features.persons import PERSONS
from srsql.engine.release.features.qid_sets import SETS
from srsql.engine.release.features.spread import RANGES, SPREAD
from srsql.engine.release.features.suppression import SUPPRESSION
from srsql.engine.release.features.terms_apart import TERMS
from srsql.engine.release.features.whole_rows import WHOLE_ROWS

FEATURES: tuple[Feature, ...] = (
    PERSONS,
    TERMS,
    WHOLE_ROWS,
    COUNTS,
    NOISY,
    HOLD_BACK,
    LATE,
    SUPPRESSION,
    OWN_THRESHOLDS,
    SETS,
    COLUMNS,
    PRINTED,
    SPREAD,
    RANGES,
)


def refuse(subject: Asked) -> None:
    """Refuse what does not go together, as far as it is known now.

    Args:
        subject: a request with what is known of it; its type says which refusals it is asked for.

    Raises:
        ReleaseError: the first refusal that holds, in the order of the registry.
    """
    for feature in FEATURES:
        for refusal in feature.refusals:
            if refusal.of is type(subject) and refusal.holds(subject):
                raise ReleaseError(refusal.text(subject))
