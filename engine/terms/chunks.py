"""Terms told as disassociated chunks (Loukides 2014): how they are made, and their check."""

from __future__ import annotations

from srsql.engine.checks.term_chunks import check_originals, check_reconstructed, check_terms
from srsql.engine.measures import MeasureRow
from srsql.engine.terms.disassociate import disassociate
from srsql.engine.terms.parameters import Terms
from srsql.engine.warehouse.catalog import normalized
from srsql.engine.warehouse.layout import CLUSTER_GROUP
from srsql.engine.warehouse.released_terms import PublishedTerms
from srsql.engine.warehouse.statements import column
from srsql.engine.warehouse.warehouse import Warehouse

CLUSTER_SIZE = 2
"""Clusters are split until they have fewer than this many times k records (the paper's note 4)."""
ORIGINALS = "temp.main.srsql_told_original"
MEMBERS = "temp.main.srsql_told_member"
APART = "temp.main.srsql_told_apart"


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
        warehouse.run_step("terms/steps/small_parts.sql")
        warehouse.run_step("terms/steps/renumber.sql")  # the order of groups is not published
        warehouse.run_step("terms/steps/reconstruct.sql")  # over all clusters
        warehouse.run(
            f"CREATE OR REPLACE TEMP TABLE {CLUSTER_GROUP} AS "
            "SELECT DISTINCT c.cluster_no AS cluster, b.part AS group_no "
            "FROM temp.main.srsql_cluster AS c "
            "INNER JOIN temp.main.srsql_basket_case AS b ON c.record_no = b.record_no"
        )


def check_told_chunks(
    warehouse: Warehouse, schema: str, release_id: int, k: int, terms: Terms, *, grouped: bool
) -> list[MeasureRow]:
    """Every check of the chunks beside the originals; needs ``srsql_cluster`` and ``ORIGINALS``.

    ``grouped``: a group with too few terms is one cluster, its cases without a term included.
    """
    tables = PublishedTerms.in_schema(schema)
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_told_member AS "
        "SELECT b.case_no AS record, k.cluster_no AS cluster FROM temp.main.srsql_cluster AS k "
        "INNER JOIN temp.main.srsql_basket_case AS b ON k.record_no = b.record_no"
    )
    if grouped:
        _add_members_without_terms(warehouse)
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_told_apart AS SELECT DISTINCT i.item AS term "
        "FROM temp.main.srsql_case_item AS i "
        "SEMI JOIN temp.main.srsql_sensitive_term AS s ON i.term = s.term"
    )
    rows = check_terms(
        warehouse,
        tables,
        release_id,
        k,
        terms.m,
        cluster_size=max(k, terms.diversity),
        sensitive=APART if terms.kept_apart else None,
    )
    rows += check_originals(warehouse, tables, release_id, ORIGINALS, MEMBERS)
    return rows + check_reconstructed(warehouse, tables, release_id)


def check_shown_chunks(
    warehouse: Warehouse, schema: str, release_id: int, k: int, terms: Terms
) -> list[MeasureRow]:
    """What the chunks show by themselves."""
    tables = PublishedTerms.in_schema(schema)
    size = max(k, terms.diversity)
    return check_terms(warehouse, tables, release_id, k, terms.m, cluster_size=size)


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


def _add_members_without_terms(warehouse: Warehouse) -> None:
    """Cases without a term count as records where their group is a cluster as a whole."""
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_told_bare AS "
        "SELECT g.case_no AS record, s.cluster_no AS cluster "
        "FROM temp.main.srsql_small_part AS s "
        "INNER JOIN temp.main.srsql_grouped AS g ON s.part = g.group_no "
        "ANTI JOIN temp.main.srsql_told_original AS o ON g.case_no = o.record"
    )
    warehouse.run(
        "INSERT INTO temp.main.srsql_told_member "
        "SELECT b.record, b.cluster FROM temp.main.srsql_told_bare AS b"
    )
    warehouse.run(
        "INSERT INTO temp.main.srsql_told_original "
        "SELECT b.record, NULL FROM temp.main.srsql_told_bare AS b"
    )
