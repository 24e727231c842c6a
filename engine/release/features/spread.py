"""Other processes, Spark or a carrier carry parts; one quarter or a range is asked for."""

from __future__ import annotations

from collections.abc import Callable

from srsql.engine.parameters import declared
from srsql.engine.release.features.feature import ByOthers, Feature, OfRange, Refusal, Words

CARRIED = "--spark, or a carrier"


def _words(at: ByOthers) -> Words:
    name = "a carrier" if at.wanted.spark is None else "--spark"
    return {"asked": name, "model": at.wanted.model.name}


def _carried(
    other: str, holds: Callable[[ByOthers], bool], says: str, do: str
) -> Refusal[ByOthers]:
    return Refusal(
        ByOthers,
        CARRIED,
        other,
        lambda at: (at.wanted.spark is not None or at.carrier is not None) and holds(at),
        says,
        do,
        _words,
    )


def _no_parts(
    other: str, holds: Callable[[ByOthers], bool], says: str, do: str
) -> Refusal[ByOthers]:
    """The same where neither clusters nor buckets of a lake are carried."""

    def nothing_else(at: ByOthers) -> bool:
        buckets = at.in_lake and at.wanted.carries_buckets
        return not at.wanted.makes_clusters and not buckets and holds(at)

    return _carried(other, nothing_else, f"{{asked}} is for parts, and {says}", do)


SPREAD = Feature(
    "parts that others carry",
    "Parts, clusters and buckets of a lake are carried by workers, Spark or a carrier.",
    options=("parts", "workers", "spark"),
    facts={"parts_rule": str},
    refusals=(
        _carried(
            "--workers",
            lambda at: at.wanted.workers > 1,
            "{asked} takes the place of --workers",
            "leave one of them out",
        ),
        _no_parts(
            "a model that makes no parts",
            lambda at: "parts" not in declared(type(at.wanted.model)),
            "the model {model} makes none",
            "leave it out",
        ),
        _no_parts(
            "a dataset that declares several sets of quasi-identifiers",
            lambda at: at.by_set,
            "several sets of quasi-identifiers make none",
            "leave it out",
        ),
        _no_parts(
            "--parts 1",
            lambda at: at.wanted.model.parts == "1",
            "with --parts 1 there is one, so that nothing would be spread",
            "give --parts auto, or leave {asked} out",
        ),
        Refusal(
            ByOthers,
            "--spark",
            "a carrier",
            lambda at: at.wanted.spark is not None and at.carrier is not None,
            "--spark takes the place of a carrier",
            "leave one of them out",
        ),
    ),
)
RANGES = Feature(
    "ranges of quarters",
    "All quarters of a range are released, one after the other.",
    refusals=(
        Refusal(
            OfRange,
            "--draft or --supersede",
            "a range of quarters",
            lambda at: at.wanted.draft or at.wanted.supersede,
            "--draft and --supersede take one quarter, not a range",
        ),
    ),
)
