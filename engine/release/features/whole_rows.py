"""Whole rows are taken apart: rows tell their region and cluster, and clusters all else."""

from __future__ import annotations

from collections.abc import Callable

from srsql.engine import measures as of
from srsql.engine.catalog.series import ORIGINAL, PER_QUARTER
from srsql.engine.release.features.feature import Feature, InSeries, OnTerms, Refusal, Words
from srsql.engine.terms.parameters import ALL, DisassociationParameters

APART = "whole rows that are taken apart"
ALONE: dict[str, Callable[[OnTerms, DisassociationParameters], bool]] = {
    "--term-k": lambda at, terms: terms.term_k is not None,
    "--link-quarters": lambda at, terms: terms.link_quarters,
    "--max-cluster-size": lambda at, terms: (
        terms.max_cluster_size is not None and at.wanted.model.shape.shows_cases
    ),
}
"""Options that are for whole rows alone."""


def _option(at: OnTerms) -> Words:
    terms = at.wanted.terms
    alone = terms is None or terms.term_cases is None
    option = f"--term-attributes {ALL}" if alone else "--term-cases"
    return {"option": option, "model": at.wanted.model.name}


def _alone(
    option: str, given: Callable[[OnTerms, DisassociationParameters], bool]
) -> Refusal[OnTerms]:
    return Refusal(
        OnTerms,
        option,
        "rows that are not taken apart",
        lambda at: (
            at.wanted.terms is not None
            and not at.wanted.terms.whole_rows
            and given(at, at.wanted.terms)
        ),
        f"{option} is for whole rows that are taken apart",
        f"give --term-attributes {ALL} or --term-cases as well",
    )


def _links(at: InSeries) -> bool:
    return at.wanted.terms is not None and at.wanted.terms.link_quarters


WHOLE_ROWS = Feature(
    "whole rows",
    "Rows of cases show their region and cluster alone, and all else is told of clusters.",
    options=("term_cases", "term_k", "link_quarters", "max_cluster_size"),
    stages=("tell_thresholds",),
    checks=(of.WHOLE_ROWS,),
    facts={
        "term_k": int,
        "term_cases": int,
        "item_cases": int,
        "linked_quarters": str,
        "terms_inferred": int,
    },
    refusals=(
        Refusal(
            OnTerms,
            APART,
            "a model that releases no rows of cases",
            lambda at: at.wanted.takes_rows_apart and not at.wanted.model.shape.shows_cases,
            "{option} takes whole rows apart, and the model {model} releases none",
            "leave it out, or give --terms disassociate with a model that does",
            _option,
        ),
        Refusal(
            OnTerms,
            APART,
            "--repeated-terms",
            lambda at: (
                at.wanted.takes_rows_apart
                and at.wanted.terms is not None
                and at.wanted.terms.repeated
            ),
            "--repeated-terms does not go with whole rows that are taken apart",
            "leave it out",
        ),
        *(_alone(option, given) for option, given in ALONE.items()),
        Refusal(
            InSeries,
            APART,
            "--knowledge",
            lambda at: at.wanted.takes_rows_apart and at.wanted.knowledge is not None,
            "--knowledge tells diseases of drugs, and whole rows are taken apart so that no row "
            "tells its drugs",
            "leave it out",
        ),
        Refusal(
            InSeries,
            APART,
            "original ids",
            lambda at: at.wanted.takes_rows_apart and at.of.ids == ORIGINAL,
            "original ids join rows that are taken apart with those of the source",
            "leave --ids out, or give another --series",
        ),
        Refusal(
            InSeries,
            APART,
            "ids that are the same in all quarters, without --link-quarters",
            lambda at: at.wanted.takes_rows_apart and at.of.ids != PER_QUARTER and not _links(at),
            "--ids {ids} are the same in all quarters, which tells in which clusters a case was",
            "give --ids per-quarter, or --link-quarters, with which whole rows are claimed to be "
            "safe in one quarter alone",
            lambda at: {"ids": at.of.ids},
        ),
        Refusal(
            InSeries,
            "--link-quarters",
            "--ids per-quarter",
            lambda at: at.wanted.takes_rows_apart and at.of.ids == PER_QUARTER and _links(at),
            "--link-quarters: series {name!r} has pseudonyms of each quarter, which link none",
            "leave it out, or give another --series",
            lambda at: {"name": at.of.name},
        ),
    ),
)
