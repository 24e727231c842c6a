"""The part of a release that tells terms apart from records: baskets, and what becomes of them."""

from __future__ import annotations

from srsql.engine.errors import ReleaseError
from srsql.engine.request import Request
from srsql.engine.terms.asked import Terms
from srsql.engine.terms.baskets import load_baskets
from srsql.engine.terms.choice import put_chosen
from srsql.engine.terms.kinds import KINDS
from srsql.engine.terms.told import keep_terms
from srsql.engine.warehouse import Warehouse
from srsql.schemas import Dataset


def release_terms(
    warehouse: Warehouse, dataset: Dataset, request: Request, terms: Terms, release_id: int
) -> None:
    """Fill the tables ``srsql_pub_*`` from the released cases of the quarter.

    Raises:
        ReleaseError: too few cases have a term.
    """
    k, grouped = request.model.k, request.model.rows
    least = max(k, terms.diversity)
    if grouped and least > k:
        raise ReleaseError(
            f"--l {terms.diversity} is above k = {k}: within QID-groups clusters cannot be larger "
            "than groups are; give a larger --k"
        )
    load_baskets(warehouse, dataset, request.quarter, terms, grouped=grouped, least=least)
    records = warehouse.value("SELECT count(*) FROM temp.main.srsql_part")
    if not grouped and records < least:
        raise ReleaseError(
            f"{records:,} cases of {request.quarter} have a term of {', '.join(terms.attributes)}, "
            f"a cluster needs {least:,}: nothing can be released"
        )
    keep_terms(warehouse, release_id, terms, rows=grouped)
    put_chosen(warehouse, terms.policy, release_id)
    KINDS[request.model.tells].make(warehouse, terms, k, request.seed, grouped=grouped)
