"""The part of a release that takes terms apart from rows: which tables keep them, and the rest."""

from __future__ import annotations

from srsql.engine.errors import ReleaseError
from srsql.engine.grouping.feasibility import withhold_all
from srsql.engine.models.base import GroupingModel
from srsql.engine.release.request import Request
from srsql.engine.terms.baskets import check_attributes, load_baskets
from srsql.engine.terms.generalize import MAKING
from srsql.engine.terms.parameters import DisassociationParameters
from srsql.engine.terms.policies import put_chosen
from srsql.engine.warehouse.releases import TermFormat
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset


def need_terms(
    warehouse: Warehouse, dataset: Dataset, request: Request, terms: DisassociationParameters
) -> None:
    """Before regions are made: where terms alone are released, a cluster's worth of cases has some.

    Where a quarter may be empty, it is: its cases are withheld.

    Raises:
        ReleaseError: too few cases have a term, or one has a term that may not be released.
    """
    if request.model.releases_case_rows:
        return
    least = max(request.model.k, terms.diversity)
    if warehouse.value("SELECT count(*) FROM temp.main.srsql_grouped"):
        load_baskets(warehouse, dataset, request.quarter, terms, grouped=False, least=least)
        _refuse_never_released(warehouse)
        records = warehouse.value("SELECT count(*) FROM temp.main.srsql_part")
        if records >= least:
            return
        if not request.may_be_empty:
            raise ReleaseError(
                f"{records:,} cases of {request.quarter} have a term of "
                f"{', '.join(terms.attributes)}, a cluster needs {least:,}: nothing can be released"
            )
    withhold_all(warehouse, "no_group_fits")
    warehouse.run("DELETE FROM temp.main.srsql_grouped")


def _refuse_never_released(warehouse: Warehouse) -> None:
    """Thresholds bound what is known of regions, so terms alone have none, but 0 bars a term."""
    barred = warehouse.rows(
        "SELECT DISTINCT t.term FROM temp.main.srsql_theta AS h "
        "INNER JOIN temp.main.srsql_term AS t ON h.term_no = t.term_no "
        "SEMI JOIN temp.main.srsql_case_item AS i ON t.term = i.term "
        "WHERE h.theta_num = 0 ORDER BY t.term"
    )
    if barred:
        raise ReleaseError(
            f"theta of {len(barred):,} term(s) is 0, which is never released: {barred[0][0]!r} "
            "and the like would be, since this model withholds no case for its terms: give "
            "another --theta, or --terms disassociate with a model that does"
        )


def release_terms(
    warehouse: Warehouse,
    dataset: Dataset,
    request: Request,
    terms: DisassociationParameters,
    release_id: int,
) -> None:
    """Fill the tables ``srsql_pub_*`` from the released cases of the quarter.

    Raises:
        ReleaseError: clusters would have to be larger than groups are.
    """
    k, grouped = request.model.k, request.model.releases_case_rows
    least = max(k, terms.diversity)
    if grouped and least > k:
        raise ReleaseError(
            f"--l {terms.diversity} is above k = {k}: within QID-groups clusters cannot be larger "
            "than groups are; give a larger --k"
        )
    load_baskets(warehouse, dataset, request.quarter, terms, grouped=grouped, least=least)
    keep_terms(warehouse, release_id, terms, rows=grouped, term_format=request.model.term_format)
    put_chosen(warehouse, terms.policy, release_id)
    MAKING[request.model.term_format].make(warehouse, terms, k, request.seed, grouped=grouped)


def family_of(family: str, terms: DisassociationParameters | None) -> str:
    """What the releases of a series have in common: rows that some have and others do not would
    show in one quarter what is taken apart in the next."""
    if terms is None:
        return family
    return f"{family}, {'+'.join(terms.attributes)} disassociated"


def tell(dataset: Dataset, model: GroupingModel, terms: DisassociationParameters | None) -> Dataset:
    """The dataset with the tables of which a release will have rows.

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


def keep_terms(
    warehouse: Warehouse,
    release_id: int,
    terms: DisassociationParameters,
    *,
    rows: bool,
    term_format: TermFormat,
) -> None:
    """Write into the catalog what a release disassociates."""
    for place, name in enumerate(terms.attributes):
        warehouse.run(
            "INSERT INTO srsql.disassociated VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [release_id, place, name, terms.m, terms.diversity, terms.repeated, rows, term_format],
        )
