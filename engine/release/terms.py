"""The part of a release that takes terms apart from rows: which tables keep them, and the rest."""

from __future__ import annotations

from functools import partial

from srsql.engine.checks.term_chunks import longest_unproved
from srsql.engine.errors import InfeasibleError, NothingToReleaseError, ReleaseError
from srsql.engine.grouping.feasibility import withhold_all
from srsql.engine.models.base import GroupingModel
from srsql.engine.release.request import Request
from srsql.engine.terms.baskets import check_attributes, load_baskets
from srsql.engine.terms.generalize import MAKING
from srsql.engine.terms.parameters import DisassociationParameters
from srsql.engine.terms.policies import put_chosen
from srsql.engine.warehouse.carriers import Carrier
from srsql.engine.warehouse.released_terms import PublishedTerms
from srsql.engine.warehouse.releases import Release
from srsql.engine.warehouse.statements import query
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset

TOPIC = "release/terms"


def need_terms(release: Release, request: Request, terms: DisassociationParameters) -> None:
    """Before regions are made: where terms alone are released, a cluster's worth of cases has some.

    Where a quarter may be empty, it is: its cases are withheld.

    Args:
        release: with ``srsql_grouped``.
        request: the model, and whether the quarter may be empty.
        terms: the attributes, and how few cases of a cluster may have them.

    Raises:
        ReleaseError: too few cases have a term, or one has a term that may not be released.
    """
    if request.model.releases_case_rows:
        return
    warehouse, quarter = release.warehouse, release.quarter
    least = max(request.model.k, terms.diversity)
    if warehouse.value("SELECT count(*) FROM temp.main.srsql_grouped"):
        load_baskets(warehouse, release.dataset, quarter, terms, grouped=False, least=least)
        _refuse_never_released(warehouse)
        records = warehouse.value("SELECT count(*) FROM temp.main.srsql_part")
        if records >= least:
            return
        if not request.may_be_empty:
            raise NothingToReleaseError(
                f"{records:,} cases of {quarter} have a term of "
                f"{', '.join(terms.attributes)}, a cluster needs {least:,}: nothing can be released"
            )
    withhold_all(warehouse, "no_group_fits")
    warehouse.run("DELETE FROM temp.main.srsql_grouped")


def _refuse_never_released(warehouse: Warehouse) -> None:
    """Thresholds bound what is known of regions, so terms alone have none, but 0 bars a term."""
    barred = warehouse.rows(query(TOPIC, "never_released"))
    if barred:
        raise InfeasibleError(
            f"theta of {len(barred):,} term(s) is 0, which is never released: {barred[0][0]!r} "
            "and the like would be, since this model withholds no case for its terms: give "
            "another --theta, or --terms disassociate with a model that does"
        )


def release_terms(
    release: Release, request: Request, terms: DisassociationParameters, carrier: Carrier | None
) -> dict[str, int]:
    """Fill the tables ``srsql_pub_*`` from the released cases of the quarter.

    Args:
        release: with ``srsql_grouped``.
        request: the model and the seed.
        terms: what is told apart from records, and how.
        carrier: carries clusters; None: nobody.

    Returns:
        What the private manifest tells of it: how many terms a chunk was allowed, where that had to
        be limited.

    Raises:
        ReleaseError: clusters would have to be larger than groups are.
    """
    warehouse, model = release.warehouse, request.model
    k, grouped = model.k, model.releases_case_rows
    least = max(k, terms.diversity)
    if grouped and least > k:
        raise ReleaseError(
            f"--l {terms.diversity} is above k = {k}: within QID-groups clusters cannot be larger "
            "than groups are; give a larger --k"
        )
    load_baskets(warehouse, release.dataset, release.quarter, terms, grouped=grouped, least=least)
    _store_terms(release, terms, model)
    put_chosen(warehouse, terms.policy, release.release_id)
    chunks = PublishedTerms.in_schema("temp", "main", prefix="srsql_pub_")
    most = MAKING[model.term_format].make(
        warehouse, terms, k, request.seed, grouped=grouped,
        longest_unproved=partial(longest_unproved, warehouse, chunks, k, terms.m), carrier=carrier,
    )  # fmt: skip
    return {} if most is None else {"chunk_terms": most}


def family_of(family: str, terms: DisassociationParameters | None) -> str:
    """What the releases of a series have in common: rows that some have and others do not would
    show in one quarter what is taken apart in the next."""
    if terms is None:
        return family
    return f"{family}, {'+'.join(terms.attributes)} disassociated"


def visible_part(
    dataset: Dataset, model: GroupingModel, terms: DisassociationParameters | None
) -> Dataset:
    """The dataset with the tables of which a release will have rows.

    Args:
        dataset: as the model takes it.
        model: which may release no rows of cases at all.
        terms: what is told apart from records; None: nothing.

    Raises:
        ReleaseError: the model or the dataset does not go with them.
    """
    if terms is None:
        if model.releases_synthetic_rows:
            return dataset.without_terms((), rows=False)
        if not model.releases_case_rows:
            raise ReleaseError(f"the model {model.name} releases terms only: say which")
        return dataset
    if model.term_format == "nodes" and (terms.kept_apart or terms.diversity > 1):
        raise ReleaseError(f"--sensitive-terms does not go with the model {model.name}")
    if model.releases_synthetic_rows or (
        model.releases_case_rows
        and (model.perturbs_values or model.guaranteed_bounds != {"k", "theta"})
    ):
        raise ReleaseError(f"--terms does not go with the model {model.name}")
    check_attributes(dataset, terms)
    return dataset.without_terms(terms.attributes, rows=model.releases_case_rows)


def _store_terms(release: Release, terms: DisassociationParameters, model: GroupingModel) -> None:
    """Write into the catalog what a release disassociates."""
    release.warehouse.run(
        query(TOPIC, "store"),
        {
            "release_id": release.release_id,
            "attributes": list(terms.attributes),
            "m": terms.m,
            "diversity": terms.diversity,
            "repeated": terms.repeated,
            "with_rows": model.releases_case_rows,
            "term_format": model.term_format,
        },
    )
