"""Columns that a dataset publishes only where a series asks for them (``--columns``)."""

from __future__ import annotations

from srsql.engine.catalog.releases import OPTIONAL_COLUMNS, optional_columns
from srsql.engine.errors import ReleaseError
from srsql.engine.release.features.feature import Feature, OnShown, Refusal, Words
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset


def with_optional(
    warehouse: Warehouse, dataset: Dataset, columns: tuple[str, ...] | None, series: str,
    quarter: str,
) -> Dataset:  # fmt: skip
    """The dataset with the optional columns that a release asks for published as well.

    Args:
        warehouse: with the other releases of the series, which show the same columns.
        dataset: of the release.
        columns: that are asked for.
        series: of the release.
        quarter: of the release.

    Raises:
        ReleaseError: a column is not optional, or another release of the series shows others.
    """
    asked = sorted(set(columns or ()))
    try:
        shown = dataset.with_columns(asked)
    except ValueError as error:
        raise ReleaseError(f"--columns: {error}") from None
    for others in optional_columns(warehouse, dataset.name, series, quarter):
        if others != asked:
            raise ReleaseError(
                f"series {series!r} shows the optional columns "
                f"{', '.join(others) or 'none'} in its other quarters, and this release "
                f"{', '.join(asked) or 'none'}: a series shows the same in all, give another "
                "--series"
            )
    return shown


def optional_facts(columns: tuple[str, ...] | None) -> dict[str, str]:
    """What the manifests tell of optional columns; nothing where none is asked for."""
    asked = sorted(set(columns or ()))
    return {OPTIONAL_COLUMNS: ", ".join(asked)} if asked else {}


def _hidden(at: OnShown) -> list[str]:
    """Columns of tables of which the release has no rows."""
    shown = {".".join(place) for place in at.dataset.published}
    return [column for column in at.wanted.columns or () if column not in shown]


def _words(at: OnShown) -> Words:
    column = _hidden(at)[0]
    return {"column": column, "table": column.partition(".")[0]}


COLUMNS = Feature(
    "optional columns",
    "Columns are published as the reports have them, for which no bound of a model holds.",
    options=("columns",),
    facts={OPTIONAL_COLUMNS: str},
    refusals=(
        Refusal(
            OnShown,
            "--columns",
            "a table of which the release has no rows",
            lambda at: bool(_hidden(at)),
            "--columns {column}: this release has no rows of {table} that could show it",
            "leave it out",
            _words,
        ),
    ),
)
