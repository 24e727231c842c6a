"""Counts with noise tell the items of cases, and no row does (``--terms noisy-tables``, R8).

Why the claim (``NOISY_CLAIM``) holds for a series of releases:

* One table: the proof in ``sql_macros/terms/noisy_tables.sql``; tables of a release add up.
* A case is counted in the first period that has it, released or not, which depends on its own
  reports alone (and on which periods are out). So tables of several periods are functions of
  disjoint sets of cases, and the budget of a case is spent once.
* Strata are of values as reported. Regions, which depend on other cases, decide nothing.
* Which values of a case count, beyond the most that it may add, depends on the case alone.
"""

from __future__ import annotations

from collections.abc import Callable

from srsql.engine import measures as of
from srsql.engine.catalog.series import ORIGINAL, PER_QUARTER
from srsql.engine.models.base import GroupingModel, promise_by_noise
from srsql.engine.release.features.count_tables import UNPROVED, takes_none
from srsql.engine.release.features.feature import (
    Asked,
    Feature,
    InSeries,
    OnDataset,
    Refusal,
    Wanted,
)
from srsql.engine.terms.noisy_tables import OF, NoisyParameters
from srsql.schemas import Dataset

_LEAVE = "leave one of them out"


def noisy_facts(
    model: GroupingModel, noisy: NoisyParameters, dataset: Dataset
) -> dict[str, str | int]:
    """What both manifests tell of counts with noise, and the guarantee in the place of the model's.

    Args:
        model: of the release.
        noisy: with what the dataset has by default.
        dataset: of the release.
    """
    marked = {} if noisy.publishable else {"publication": "not for publication"}
    words = promise_by_noise(model, str(noisy.epsilon), str(noisy.delta), seeded=bool(marked))
    return {"guarantee": words, **noisy.facts(dataset), **marked}


def _not_with(other: str, holds: Callable[[Wanted], bool]) -> Refusal[Asked]:
    return Refusal(
        Asked,
        OF,
        other,
        lambda at: at.wanted.noisy is not None and holds(at.wanted),
        f"{OF} does not go with {other}, as exact tables do not",
        _LEAVE,
    )


NOISY = Feature(
    "count tables with noise",
    "Counts with noise tell the items of all cases of a period, and rows show a region alone.",
    options=("delta", "case_items", "case_pairs"),
    stages=("count_with_noise",),
    checks=(of.NOISY_TABLES,),
    facts={
        "noisy_epsilon": str,
        "noisy_delta": str,
        "noisy_case_items": int,
        "noisy_case_pairs": int,
        "noisy_items": str,
        "noisy_pairs": str,
        "noisy_strata": str,
        "noisy_source": str,
    },
    refusals=(
        Refusal(
            Asked,
            OF,
            "--model tables",
            lambda at: at.wanted.noisy is not None and at.wanted.model.shape.counts_items,
            f"{OF} does not go with the model {{model}}, whose counts are exact",
            "give --model ms or ppms++",
        ),
        Refusal(
            Asked,
            OF,
            "a model whose rows are not regions that keep k and theta, or that bounds alpha",
            lambda at: at.wanted.noisy is not None and takes_none(at.wanted.model),
            f"{OF} does not go with the model {{model}}: rows beside counts keep k alone, in "
            "regions that hold the values of their cases",
            "give --model ms or ppms++",
        ),
        *(_not_with(other, holds) for other, (holds, _) in UNPROVED.items()),
        Refusal(
            OnDataset,
            OF,
            "a dataset that declares several sets of quasi-identifiers",
            lambda at: at.wanted.noisy is not None and bool(at.dataset.qid_set),
            "dataset {dataset} declares several sets of quasi-identifiers ({sets}), with which "
            f"{OF} does not go: leave it out",
            words=lambda at: {
                "dataset": at.dataset.name,
                "sets": ", ".join(each.name for each in at.dataset.qid_set),
            },
        ),
        Refusal(
            OnDataset,
            OF,
            "--columns",
            lambda at: at.wanted.noisy is not None and bool(at.wanted.columns),
            f"{OF} releases no rows that could show other columns than regions",
            "leave --columns out",
        ),
        Refusal(
            InSeries,
            OF,
            "original ids, or those of a quarter",
            lambda at: at.wanted.noisy is not None and at.of.ids in (ORIGINAL, PER_QUARTER),
            f"rows beside {OF} have pseudonyms that are the same in all quarters",
            "leave --ids out, or give another --series",
        ),
        Refusal(
            InSeries,
            OF,
            "--supersede",
            lambda at: at.wanted.noisy is not None and at.wanted.supersede,
            "counts that are out are never revised: a second draw of the same cases spends their "
            "budget again",
            "leave --supersede out, or give another --series",
        ),
    ),
)
