"""Terms are told apart from the rows of cases (``--terms``)."""

from __future__ import annotations

from collections.abc import Callable

from srsql.engine import measures as of
from srsql.engine.models.base import GroupingModel
from srsql.engine.release.features.feature import (
    Feature,
    InGroups,
    OnTermRows,
    OnTerms,
    Refusal,
    Words,
)
from srsql.engine.terms.parameters import DisassociationParameters

Given = Callable[[DisassociationParameters], bool]
OF_CHUNKS: dict[str, Given] = {
    "--max-cluster-size": lambda terms: terms.max_cluster_size is not None,
    "--partners": lambda terms: terms.partners != "shared",
    "--pooled-by": lambda terms: terms.pooled_by != "terms",
}
"""Options of clusters and chunks, which generalized terms have not."""


def _takes_no_terms(model: GroupingModel) -> bool:
    """Whether its rows are none of which terms can be told apart."""
    bounds = model.claimed_bounds.guaranteed != {"k", "theta"}
    return model.shape.of_no_case(True, False) or (
        model.shape.shows_cases and (model.claimed_bounds.drawn or bounds)
    )


def _not_of_nodes(option: str, given: Given) -> Refusal[OnTerms]:
    return Refusal(
        OnTerms,
        option,
        "a model that generalizes terms",
        lambda at: (
            at.wanted.model.term_format == "nodes"
            and at.wanted.terms is not None
            and given(at.wanted.terms)
        ),
        f"{option} does not go with the model {{model}}",
    )


def _told_by_region(at: OnTermRows) -> list[Words]:
    """Quasi-identifiers that are made from rows whose terms are told apart from cases."""
    dataset, terms = at.dataset, at.wanted.terms
    if terms is None or not at.wanted.model.shape.shows_cases:
        return []
    named = (*dataset.sensitive, *dataset.quasi_sensitive)
    apart = terms.of_clusters(
        lambda: {each.table for each in named if each.column in terms.attributes},
        lambda: {each.table for each in named},
    )
    return [
        {"qid": qid.name, "table": table, "source": source}
        for qid in dataset.qid
        if (made := dataset.derived_of(qid.column))
        for table, source in made.sources
        if table in apart
    ]


TERMS = Feature(
    "terms apart from rows",
    "Terms are told of clusters of cases or as nodes of a tree, and of no row.",
    options=(
        "terms",
        "m",
        "l",
        "policy",
        "term_attributes",
        "sensitive_terms",
        "repeated_terms",
        "partners",
        "pooled_by",
    ),
    stages=("need_a_cluster", "take_apart", "fill_terms"),
    checks=(of.CHUNKS, of.SENSITIVE, of.NODES, of.SOME_NODES),
    facts={
        "terms": str,
        "m": int,
        "l": int,
        "terms_kept_apart": int,
        "utility_policy": str,
        "repeated_terms": str,
        "terms_guarantee": str,
    },
    refusals=(
        Refusal(
            OnTerms,
            "a model that releases terms alone",
            "no --terms",
            lambda at: at.wanted.terms is None and at.wanted.model.shape.tells_terms(asked=False),
            "the model {model} releases terms only: say which",
        ),
        _not_of_nodes(
            "--sensitive-terms", lambda terms: bool(terms.kept_apart) or terms.diversity > 1
        ),
        Refusal(
            OnTerms,
            "--terms",
            "a model with noise, over a lattice, or that does not keep k and theta",
            lambda at: at.wanted.terms is not None and _takes_no_terms(at.wanted.model),
            "--terms does not go with the model {model}",
        ),
        *(_not_of_nodes(option, given) for option, given in OF_CHUNKS.items()),
        Refusal(
            InGroups,
            "--l above k",
            "--terms within groups",
            lambda at: (
                at.wanted.terms is not None and at.wanted.terms.diversity > at.wanted.model.k
            ),
            "--l {diversity} is above k = {k}",
            "within QID-groups clusters cannot be larger than groups are; give a larger --k",
            lambda at: {
                "diversity": at.wanted.terms.diversity if at.wanted.terms else 1,
                "k": at.wanted.model.k,
            },
        ),
        Refusal(
            OnTermRows,
            "--terms",
            "a quasi-identifier that is made from rows whose terms are told apart",
            lambda at: bool(_told_by_region(at)),
            "--terms: the quasi-identifier {qid} is made from {table}.{source}, and what rows of "
            "{table} tell is told apart from cases: its region would tell it, leave it out of the "
            "dataset or leave these terms with their rows",
            words=lambda at: _told_by_region(at)[0],
        ),
    ),
)
