"""Values that break their bounds are suppressed, and the rest of the case is released."""

from __future__ import annotations

from srsql.engine import measures as of
from srsql.engine.models.base import SUPPRESS
from srsql.engine.release.features.feature import Asked, Feature, Refusal
from srsql.engine.release.manifest import SUPPRESSED_SHARES

OPTIONS = ("--on-infeasible", "--leftovers")


def _not_shown(option: str) -> tuple[Refusal[Asked], ...]:
    """What an option has no values for."""
    says = (
        f"{option} suppress is for values that rows of cases show and theta bounds, which is not "
        "so with "
    )
    do = f"use {option} withhold"
    return (
        Refusal(
            Asked,
            f"{option} suppress",
            "--terms",
            lambda at: at.wanted.choices[option] == SUPPRESS and at.wanted.terms is not None,
            says + "terms apart from rows",
            do,
        ),
        Refusal(
            Asked,
            f"{option} suppress",
            "a model whose rows show no values that theta bounds",
            lambda at: (
                at.wanted.choices[option] == SUPPRESS and not at.wanted.model.shows_bounded_values()
            ),
            says + "the model {model}",
            do,
        ),
    )


SUPPRESSION = Feature(
    "suppression",
    "Values that break their thresholds are left out of the rows of some cases, and the rest of "
    "these cases is released.",
    options=("on_infeasible", "leftovers"),
    stages=("find_what_may_be_lost", "release_rests"),
    checks=(of.SUPPRESSED,),
    facts={"theta_bounds": str, **dict.fromkeys(SUPPRESSED_SHARES, int)},
    refusals=tuple(refusal for option in OPTIONS for refusal in _not_shown(option)),
)
