"""The dataset as a series tells it: without rows of the terms that it disassociates."""

from __future__ import annotations

from srsql.engine.errors import ReleaseError
from srsql.engine.models.base import GroupingModel
from srsql.engine.terms.baskets import check_attributes
from srsql.engine.terms.parameters import Terms
from srsql.engine.warehouse.releases import TermFormat
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset


def family_of(family: str, terms: Terms | None) -> str:
    """What the releases of a series have in common: rows that some have and others do not would
    show in one quarter what is taken apart in the next."""
    if terms is None:
        return family
    return f"{family}, {'+'.join(terms.attributes)} disassociated"


def tell(dataset: Dataset, model: GroupingModel, terms: Terms | None) -> Dataset:
    """The dataset with the tables of which a release will have rows.

    Raises:
        ReleaseError: the model or the dataset does not go with them.
    """
    if terms is None:
        if model.own_rows:
            return dataset.without_terms((), rows=False)
        if not model.rows:
            raise ReleaseError(f"the model {model.name} releases terms only: say which")
        return dataset
    if model.tells == "nodes" and (terms.kept_apart or terms.diversity > 1):
        raise ReleaseError(f"--sensitive-terms does not go with the model {model.name}")
    if model.own_rows or (model.rows and (model.perturbs or model.keeps != {"k", "theta"})):
        raise ReleaseError(f"--terms does not go with the model {model.name}")
    check_attributes(dataset, terms)
    return dataset.without_terms(terms.attributes, rows=model.rows)


def keep_terms(
    warehouse: Warehouse, release_id: int, terms: Terms, *, rows: bool, term_format: TermFormat
) -> None:
    """Write into the catalog what a release disassociates."""
    for place, name in enumerate(terms.attributes):
        warehouse.run(
            "INSERT INTO srsql.disassociated VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [release_id, place, name, terms.m, terms.diversity, terms.repeated, rows, term_format],
        )
