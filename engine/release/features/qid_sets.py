"""Several sets of quasi-identifiers are protected each by itself (``[[qid_set]]``)."""

from __future__ import annotations

from collections.abc import Callable

from srsql.engine.catalog.releases import QID_SETS, Release
from srsql.engine.models import able_to
from srsql.engine.models.base import SUPPRESS
from srsql.engine.release.features.feature import Feature, OnDataset, Refusal, Wanted, Words
from srsql.engine.shapes.region_sets import UNION_SHARES, union_shares

DECLARED = "a dataset that declares several sets of quasi-identifiers"
_WHERE = "dataset {dataset} declares several sets of quasi-identifiers ({sets})"


def _words(at: OnDataset) -> Words:
    *others, last = able_to("qid sets")
    return {
        "dataset": at.dataset.name,
        "sets": ", ".join(each.name for each in at.dataset.qid_set),
        "model": at.wanted.model.name,
        "others": ", ".join(others),
        "last": last,
    }


def _not_with(option: str, given: Callable[[Wanted], bool]) -> Refusal[OnDataset]:
    """An option that is not for several sets."""
    return Refusal(
        OnDataset,
        DECLARED,
        option,
        lambda at: bool(at.dataset.qid_set) and given(at.wanted),
        f"{_WHERE}, with which {option} does not go",
        "leave it out",
        _words,
    )


def set_facts(release: Release) -> dict[str, str | int]:
    """What the manifests tell of sets of quasi-identifiers; nothing where there are none."""
    if not release.dataset.qid_set:
        return {}
    shares = union_shares(release.warehouse, release.dataset, release.release_id)
    return {QID_SETS: release.dataset.sets_text, **shares}


SETS = Feature(
    "sets of quasi-identifiers",
    "k and the thresholds hold for whoever knows one of several sets of quasi-identifiers.",
    facts={QID_SETS: str, **dict.fromkeys(UNION_SHARES, int)},
    refusals=(
        Refusal(
            OnDataset,
            DECLARED,
            "a model that does not keep each by itself",
            lambda at: bool(at.dataset.qid_set) and at.wanted.model.name not in able_to("qid sets"),
            f"{_WHERE}, which {{model}} does not keep each by itself",
            "give --model {others} or {last}, or a dataset without [[qid_set]]",
            _words,
        ),
        _not_with("--count persons", lambda of: of.unit.parted),
        _not_with("--terms", lambda of: of.terms is not None),
        _not_with(f"--leftovers {SUPPRESS}", lambda of: of.choices["--leftovers"] == SUPPRESS),
        _not_with(
            f"--on-infeasible {SUPPRESS}", lambda of: of.choices["--on-infeasible"] == SUPPRESS
        ),
        _not_with("--parts", lambda of: of.model.parts != "1"),
        _not_with("--max-delay", lambda of: of.max_delay is not None),
    ),
)
