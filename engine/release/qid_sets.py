"""Releases that protect several sets of quasi-identifiers, each by itself (``[[qid_set]]``)."""

from __future__ import annotations

from srsql.engine.catalog.releases import QID_SETS, Release
from srsql.engine.errors import ReleaseError
from srsql.engine.models import MODELS
from srsql.engine.models.base import SUPPRESS
from srsql.engine.release.request import Request
from srsql.engine.risk.qid_sets import union_shares
from srsql.schemas import Dataset


def need_sets_kept(dataset: Dataset, request: Request) -> None:
    """Refuse what cannot be kept for several sets of quasi-identifiers.

    Args:
        dataset: of the release.
        request: what is asked for.

    Raises:
        ReleaseError: the text names the first option, and what to do.
    """
    if not dataset.qid_set:
        return
    names = ", ".join(each.name for each in dataset.qid_set)
    where = f"dataset {dataset.name} declares several sets of quasi-identifiers ({names})"
    model = request.model
    if not model.keeps_qid_sets:
        *others, last = (name for name, kind in MODELS.items() if kind.keeps_qid_sets)
        raise ReleaseError(
            f"{where}, which {model.name} does not keep each by itself: give --model "
            f"{', '.join(others)} or {last}, or a dataset without [[qid_set]]"
        )
    refused = {
        "--count persons": request.counts_persons,
        "--terms": request.terms is not None,
        f"--leftovers {SUPPRESS}": model.leftovers == SUPPRESS,
        f"--on-infeasible {SUPPRESS}": request.on_infeasible == SUPPRESS,
        "--parts": model.parts != "1",
        "--max-delay": request.max_delay is not None,
    }
    for option, given in refused.items():
        if given:
            raise ReleaseError(f"{where}, with which {option} does not go: leave it out")


def set_facts(release: Release) -> dict[str, str | int]:
    """What the manifests tell of sets of quasi-identifiers; nothing where there are none."""
    if not release.dataset.qid_set:
        return {}
    shares = union_shares(release.warehouse, release.dataset, release.release_id)
    return {QID_SETS: release.dataset.sets_text, **shares}
