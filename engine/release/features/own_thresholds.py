"""Thresholds of patients of their own (``--own-theta``)."""

from __future__ import annotations

from collections.abc import Callable

from srsql.engine import measures as of
from srsql.engine.models.base import SUPPRESS
from srsql.engine.release.features.feature import (
    Asked,
    Feature,
    OnDataset,
    OnShown,
    Refusal,
    Wanted,
)

ASKED = "--own-theta"
OWN_THETA = "own_theta"
"""What the manifests call the column; no threshold of a patient leaves the house."""


def _not_with(other: str, holds: Callable[[Wanted], bool], why: str) -> Refusal[Asked]:
    return Refusal(
        Asked,
        ASKED,
        other,
        lambda at: at.wanted.own_theta is not None and holds(at.wanted),
        f"--own-theta is proved of rows that show the values of cases, and {why}",
        "leave one of them out",
    )


def own_facts(asked: str | None) -> dict[str, str]:
    """What the manifests tell; nothing where no column is named."""
    return {OWN_THETA: asked} if asked else {}


def _is_no_column(at: OnDataset) -> bool:
    own, columns = at.wanted.own_theta, at.dataset.table(at.dataset.report_table).columns
    return own is not None and own not in {each.name for each in columns}


def _is_published(at: OnShown) -> bool:
    return (at.dataset.report_table, at.wanted.own_theta) in at.dataset.published


def _words(at: OnDataset) -> dict[str, object]:
    return {"column": at.wanted.own_theta, "table": at.dataset.report_table}


OWN_THRESHOLDS = Feature(
    "own thresholds",
    "Each value of a patient who asked for it has a threshold of theirs at most.",
    options=("own_theta",),
    stages=("lower", "keep_asked"),
    checks=(of.OWN_THRESHOLDS,),
    facts={OWN_THETA: str},
    refusals=(
        _not_with(
            "a model whose rows show no values that theta bounds",
            lambda of: not of.model.shows_bounded_values(),
            "the model {model} has none that theta bounds",
        ),
        _not_with(
            "--terms",
            lambda of: of.terms is not None or of.tables is not None,
            "--terms tells these apart from them",
        ),
        _not_with(
            "--count persons",
            lambda of: of.unit.parted,
            "--count persons counts several cases as one",
        ),
        _not_with(
            "values that are suppressed",
            lambda of: SUPPRESS in of.choices.values(),
            "a value that is suppressed is not shown",
        ),
        Refusal(
            OnDataset,
            ASKED,
            "a dataset that declares several sets of quasi-identifiers",
            lambda at: at.wanted.own_theta is not None and bool(at.dataset.qid_set),
            "--own-theta is proved of regions of all quasi-identifiers, and the dataset declares "
            "several sets",
            "leave it out",
        ),
        Refusal(
            OnDataset,
            ASKED,
            "a column that the table of reports has not",
            _is_no_column,
            "--own-theta {column}: {table} has no such column",
            "name one of this table, without the table",
            _words,
        ),
        Refusal(
            OnShown,
            ASKED,
            "a column that is published",
            _is_published,
            "--own-theta {column}: the column is published, which would tell who asked for more "
            "protection",
            "leave it out of publish in the dataset, or of --columns",
            _words,
        ),
    ),
)
