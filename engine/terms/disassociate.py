"""Disassociation: from baskets of terms to the tables that are published (Loukides 2014)."""

from __future__ import annotations

import hashlib

from srsql.engine.errors import ReleaseError
from srsql.engine.terms.parameters import DisassociationParameters
from srsql.engine.warehouse.catalog import normalized
from srsql.engine.warehouse.layout import CLUSTER_GROUP
from srsql.engine.warehouse.statements import column
from srsql.engine.warehouse.warehouse import Warehouse

JOINT_CLUSTERS = 8
"""Clusters of full size that a joint cluster may hold, in records."""


def parts_too_small(warehouse: Warehouse, least: int) -> list[tuple[int, int]]:
    """Parts of ``srsql_part`` with fewer than ``least`` records, as (part_no, records)."""
    return [
        (part, records)
        for part, records in warehouse.rows(
            "SELECT p.part_no, p.records FROM srsql.parts_too_small('temp.main.srsql_part', ?) AS p"
            " ORDER BY p.part_no",
            [least],
        )
    ]


def disassociate(
    warehouse: Warehouse,
    *,
    k: int,
    m: int,
    max_size: int | None = None,
    least: int | None = None,
    seed: int | None = None,
    order_seed: int | None = None,
    joint_limit: int | None = None,
) -> None:
    """Disassociate ``srsql_basket``; the result is in ``srsql_cluster`` ... and ``srsql_pub_*``.

    Guarantees k^m-anonymity of every record chunk and shared chunk, clusters of ``least`` records
    or more, and Guarantee 1 of the paper as SPEC section 11 has it. Who knows more than m terms of
    a record, or other records, is not defended against.

    Args:
        warehouse: with the tables that ``terms/steps/disassociate.sql`` names.
        k: records that any m known terms leave at least; 2 or more.
        m: terms of a record that an attacker knows; 1 or more.
        max_size: a part with fewer records is a cluster; default 2k.
        least: records of a cluster; max(k, l) with terms kept apart; default k.
        seed: of the reconstructed dataset, never to be published; None draws securely.
        order_seed: of the order of subrecords, for experiments only; None draws securely.
        joint_limit: records of a joint cluster; default 8 clusters of ``max_size``.

    Raises:
        ReleaseError: a parameter makes no sense, or a part has fewer than ``least`` records.
    """
    max_size = 2 * k if max_size is None else max_size
    least = k if least is None else least
    if k < 2 or m < 1 or max_size < k or least < k:
        raise ReleaseError(
            f"disassociation needs k >= 2, m >= 1 and clusters of k records or more, not k = {k}, "
            f"m = {m}, cluster sizes {least} and {max_size}"
        )
    if small := parts_too_small(warehouse, least):
        raise ReleaseError(
            f"{len(small)} parts of the data, {sum(n for _, n in small)} records in all, have "
            f"fewer than {least} records each: no cluster can be made of them"
        )
    warehouse.run(
        "CREATE TEMP TABLE IF NOT EXISTS srsql_repeated (term_no INTEGER, base_no INTEGER)"
    )
    warehouse.run_step(
        "terms/disassociate",
        step_parameters(k, m, max_size, least, joint_limit, order_seed),
    )
    reconstruct(warehouse, seed)


def step_parameters(
    k: int,
    m: int,
    max_size: int,
    least: int,
    joint_limit: int | None,
    order_seed: int | None,
) -> dict[str, int | None]:
    """What the step ``terms/disassociate`` takes; see :func:`disassociate`."""
    most = JOINT_CLUSTERS * max(max_size, least) if joint_limit is None else joint_limit
    return {
        "k": k,
        "m": m,
        "max_size": max_size,
        "least": least,
        "joint_limit": most,
        "order_seed": order_seed,
    }


def reconstruct(warehouse: Warehouse, seed: int | None) -> None:
    """Sample one dataset that could have been the original one from the published tables.

    ``seed``: never to be published; None draws securely.
    """
    warehouse.run_step(
        "terms/reconstruct",
        {"chunk_seed": _derived(seed, "chunks"), "item_seed": _derived(seed, "items")},
    )


def _derived(seed: int | None, use: str) -> int | None:
    """A seed of its own for each use, so that no two draws repeat each other."""
    if seed is None:
        return None
    return int.from_bytes(hashlib.sha256(f"{seed}/disassociation/{use}".encode()).digest()[:7])


CLUSTER_SIZE = 2
"""Clusters are split until they have fewer than this many times k records (the paper's note 4)."""


def make_chunks(
    warehouse: Warehouse, terms: DisassociationParameters, k: int, seed: int, *, grouped: bool
) -> None:
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


def _keep_apart(warehouse: Warehouse, terms: DisassociationParameters) -> None:
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
        "CREATE OR REPLACE TEMP TABLE srsql_sensitive_number AS SELECT DISTINCT t.term_no "
        "FROM temp.main.srsql_case_item AS i "
        "INNER JOIN temp.main.srsql_basket_term AS t ON i.item = t.term "
        "SEMI JOIN temp.main.srsql_sensitive_term AS s ON i.term = s.term"
    )


def not_held(warehouse: Warehouse, terms: DisassociationParameters) -> list[str]:
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
