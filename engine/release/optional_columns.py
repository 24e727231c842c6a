"""Columns that a dataset publishes only where a series asks for them (``--columns``)."""

from __future__ import annotations

from srsql.engine.catalog.releases import OPTIONAL_COLUMNS, optional_columns
from srsql.engine.errors import ReleaseError
from srsql.engine.release.request import Request
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset


def with_optional(warehouse: Warehouse, dataset: Dataset, request: Request) -> Dataset:
    """The dataset with the optional columns that a release asks for published as well.

    Args:
        warehouse: with the other releases of the series, which show the same columns.
        dataset: of the release.
        request: what is asked for.

    Raises:
        ReleaseError: a column is not optional, or another release of the series shows others.
    """
    asked = sorted(set(request.columns or ()))
    try:
        shown = dataset.with_columns(asked)
    except ValueError as error:
        raise ReleaseError(f"--columns: {error}") from None
    others = optional_columns(warehouse, dataset.name, request.series, request.quarter)
    for columns in others:
        if columns != asked:
            raise ReleaseError(
                f"series {request.series!r} shows the optional columns "
                f"{', '.join(columns) or 'none'} in its other quarters, and this release "
                f"{', '.join(asked) or 'none'}: a series shows the same in all, give another "
                "--series"
            )
    return shown


def need_shown(visible_dataset: Dataset, request: Request) -> None:
    """Refuse optional columns of a table of which the release has no rows.

    Raises:
        ReleaseError: the text names the first.
    """
    shown = {".".join(place) for place in visible_dataset.published}
    for column in request.columns or ():
        if column not in shown:
            raise ReleaseError(
                f"--columns {column}: this release has no rows of {column.partition('.')[0]} that "
                "could show it: leave it out"
            )


def optional_facts(request: Request) -> dict[str, str]:
    """What the manifests tell of optional columns; nothing where none is asked for."""
    asked = sorted(set(request.columns or ()))
    return {OPTIONAL_COLUMNS: ", ".join(asked)} if asked else {}
