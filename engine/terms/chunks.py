"""Terms told as disassociated chunks (Loukides 2014): how they are made, and their check."""

from __future__ import annotations

from srsql.engine.terms.disassociate import disassociate, reconstruct
from srsql.engine.terms.parameters import Terms
from srsql.engine.warehouse.catalog import normalized
from srsql.engine.warehouse.layout import CLUSTER_GROUP
from srsql.engine.warehouse.statements import column
from srsql.engine.warehouse.warehouse import Warehouse

CLUSTER_SIZE = 2
"""Clusters are split until they have fewer than this many times k records (the paper's note 4)."""


def make_chunks(warehouse: Warehouse, terms: Terms, k: int, seed: int, *, grouped: bool) -> None:
    """Fill the tables ``srsql_pub_*`` of clusters and chunks from the baskets.

    ``grouped``: clusters lie inside QID-groups.
    """
    least = max(k, terms.diversity)
    _keep_apart(warehouse, terms)
    disassociate(
        warehouse,
        k=k,
        m=terms.m,
        max_size=CLUSTER_SIZE * least,
        least=least,
        seed=seed,
        joint_limit=0 if grouped else None,  # what clusters share would cross groups
    )
    if grouped:
        warehouse.run_step("terms/small_parts")
        # the order of groups is not published
        warehouse.run_step("terms/renumber", {"order_seed": None})
        reconstruct(warehouse, seed)  # over all clusters
        warehouse.run(
            f"CREATE OR REPLACE TEMP TABLE {CLUSTER_GROUP} AS "
            "SELECT DISTINCT c.cluster_no AS cluster, b.part AS group_no "
            "FROM temp.main.srsql_cluster AS c "
            "INNER JOIN temp.main.srsql_basket_case AS b ON c.record_no = b.record_no"
        )


def _keep_apart(warehouse: Warehouse, terms: Terms) -> None:
    """Number the sensitive terms; a prefix or an occurrence number does not make another term.

    Names are brought to the form of the data by the same expression: Python's upper case is another
    than the warehouse's (of a sharp s), and a name that is missed would be a term told of records.
    """
    name = normalized(column("name", "n")).sql("duckdb")
    warehouse.run(
        f"CREATE OR REPLACE TEMP TABLE srsql_sensitive_term AS SELECT DISTINCT {name} AS term "
        "FROM (SELECT unnest(?::VARCHAR[]) AS name) AS n",
        [sorted(terms.kept_apart)],
    )
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_kept_apart AS SELECT DISTINCT t.term_no "
        "FROM temp.main.srsql_case_item AS i "
        "INNER JOIN temp.main.srsql_basket_term AS t ON i.item = t.term "
        "SEMI JOIN temp.main.srsql_sensitive_term AS s ON i.term = s.term"
    )


def not_held(warehouse: Warehouse, terms: Terms) -> list[str]:
    """Sensitive terms that no released case holds: misspelt, or not in the quarter.

    Needs the tables that :func:`make_chunks` left.
    """
    if not terms.kept_apart:
        return []
    return [
        name
        for (name,) in warehouse.rows(
            "SELECT s.term FROM temp.main.srsql_sensitive_term AS s "
            "ANTI JOIN temp.main.srsql_case_item AS i ON s.term = i.term ORDER BY s.term"
        )
    ]
