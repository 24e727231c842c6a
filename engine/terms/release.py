"""The part of a release that takes terms apart: baskets, clusters, chunks, and their check."""

from __future__ import annotations

from srsql.engine.errors import ReleaseError
from srsql.engine.request import Request
from srsql.engine.terms.asked import Terms
from srsql.engine.terms.baskets import load_baskets
from srsql.engine.terms.build import CLUSTER_GROUP
from srsql.engine.terms.choice import put_chosen
from srsql.engine.terms.disassociate import disassociate
from srsql.engine.terms.told import keep_terms
from srsql.engine.warehouse import Warehouse
from srsql.schemas import Dataset

CLUSTER_SIZE = 2
"""Clusters are split until they have fewer than this many times k records (the paper's note 4)."""


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
    _keep_apart(warehouse, terms)
    disassociate(
        warehouse,
        k=k,
        m=terms.m,
        max_size=CLUSTER_SIZE * least,
        least=least,
        seed=request.seed,
        joint_limit=0 if grouped else None,  # what clusters share would cross groups
    )
    if grouped:
        warehouse.run_step("step_small_parts.sql")
        warehouse.run_step("step_reconstruct.sql")  # over all clusters
        warehouse.run(
            f"CREATE OR REPLACE TEMP TABLE {CLUSTER_GROUP} AS "
            "SELECT DISTINCT c.cluster_no AS cluster, b.part AS group_no "
            "FROM temp.main.srsql_cluster AS c "
            "INNER JOIN temp.main.srsql_basket_case AS b ON c.record_no = b.record_no"
        )


def _keep_apart(warehouse: Warehouse, terms: Terms) -> None:
    """Number the sensitive terms; a prefix or an occurrence number does not make another term."""
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_kept_apart AS SELECT DISTINCT t.term_no "
        "FROM temp.main.srsql_case_item AS i "
        "INNER JOIN temp.main.srsql_basket_term AS t ON i.item = t.term "
        "WHERE i.term IN (SELECT unnest(?::VARCHAR[]))",
        [sorted(terms.kept_apart)],
    )
