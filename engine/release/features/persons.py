"""Persons are counted in the place of cases (``--count persons``)."""

from __future__ import annotations

from srsql.engine import measures as of
from srsql.engine.grouping.persons import LEAST
from srsql.engine.models import able_to
from srsql.engine.release.features.feature import Asked, Feature, Refusal

ASKED = "--count persons"
_APART = "leave one of them out"

PERSONS = Feature(
    "persons",
    "k, the thresholds and new or old are of persons: suspected duplicates count once.",
    options=("count", "match"),
    stages=("part_records",),
    checks=(of.OTHER_UNITS, of.UNITS_TAKEN_IN),
    facts={"counted": str, "match_probability": str},
    refusals=(
        Refusal(
            Asked,
            ASKED,
            f"--match below {LEAST:g}",
            lambda at: at.wanted.unit.parted and at.wanted.match < LEAST,
            "--match {match:g}: pairs below {least:g} are not kept",
            "give at least {least:g}",
            lambda at: {"match": float(at.wanted.match), "least": LEAST},
        ),
        Refusal(
            Asked,
            ASKED,
            "a model that counts cases alone",
            lambda at: at.wanted.unit.parted and at.wanted.model.name not in able_to("persons"),
            "--count persons is for the models {able}, and not for {model}",
            words=lambda at: {
                "able": ", ".join(able_to("persons")),
                "model": at.wanted.model.name,
            },
        ),
        Refusal(
            Asked,
            ASKED,
            "--terms",
            lambda at: at.wanted.unit.parted and at.wanted.terms is not None,
            "--count persons does not go with --terms",
            _APART,
        ),
        Refusal(
            Asked,
            ASKED,
            "values that are suppressed",
            lambda at: at.wanted.unit.parted and at.wanted.suppresses,
            "--count persons does not go with values that are suppressed",
            _APART,
        ),
        Refusal(
            Asked,
            ASKED,
            "--knowledge",
            lambda at: at.wanted.unit.parted and at.wanted.knowledge is not None,
            "--count persons does not go with --knowledge, by which thresholds of persons are not "
            "checked",
            _APART,
        ),
    ),
)
