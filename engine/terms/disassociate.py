"""Disassociation: from baskets of terms to the tables that are published (Loukides 2014)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from srsql.engine.catalog.datasets import term_key as key_of_term
from srsql.engine.errors import NoGroupError, ReleaseError
from srsql.engine.store.statements import column, query
from srsql.engine.store.warehouse import Warehouse
from srsql.engine.terms.parameters import DisassociationParameters
from srsql.engine.workers.carriers import Carrier, Work, carry_rows

PARTNERS = 16
"""Clusters that one meets in the list of each term that it could share."""
JOINT_CLUSTERS = 8
"""Clusters of full size that a joint cluster may hold, in records."""
CARRIED_RECORDS = 10_000
"""Records of the clusters that are carried together, about so many at least."""
TOPIC = "terms/disassociate"
CHUNK_TERMS = 2**31 - 1
"""Terms that a chunk may have: all."""
CLUSTER_SIZE = 2
"""Clusters are split until they have fewer than this many times k records (the paper's note 4)."""


def parts_too_small(warehouse: Warehouse, least: int) -> list[tuple[int, int]]:
    """Parts of ``srsql_part`` with fewer than ``least`` records, as (part_no, records)."""
    found = warehouse.rows(query(TOPIC, "parts_too_small"), {"least": least})
    return [(part, records) for part, records in found]


@dataclass(frozen=True)
class ClusterSizes:
    """How many records clusters and joint clusters may have, and how many terms their chunks."""

    least: int
    """Of a cluster: max(k, l) with terms kept apart, else k."""
    max_size: int
    """A part with fewer records is a cluster."""
    joint_limit: int
    """Of a joint cluster; 0: none is made."""
    chunk_terms: int = CHUNK_TERMS
    """Of a chunk."""
    partners: int = 0
    """Clusters that one meets in the list of each term that it could share; 0: neighbours in one
    list meet."""
    lexicographic: bool = False
    """Records of parts that are too small for a cluster are pooled in the order of their terms."""
    whole_groups: bool = False
    """Clusters are unions of groups of records, and no sensitive value is told above its threshold
    (see ``checks.whole_rows``)."""

    @classmethod
    def of(
        cls,
        k: int,
        *,
        least: int | None = None,
        max_size: int | None = None,
        joint_limit: int | None = None,
        partners: int = 0,
        lexicographic: bool = False,
    ) -> ClusterSizes:
        """The sizes of the paper: k, 2k (its note 4), and joint clusters of 8 full ones."""
        least = k if least is None else least
        max_size = CLUSTER_SIZE * k if max_size is None else max_size
        most = JOINT_CLUSTERS * max(max_size, least) if joint_limit is None else joint_limit
        return cls(least, max_size, most, partners=partners, lexicographic=lexicographic)


def disassociate(
    warehouse: Warehouse,
    *,
    k: int,
    m: int,
    sizes: ClusterSizes | None = None,
    seed: int | None = None,
    order_seed: int | None = None,
    carrier: Carrier | None = None,
) -> None:
    """Disassociate ``srsql_basket``; the result is in ``srsql_cluster`` ... and ``srsql_pub_*``.

    Guarantees k^m-anonymity of every record chunk and shared chunk, clusters of ``least`` records
    or more, and Guarantee 1 of the paper as SPEC section 11 has it. Who knows more than m terms of
    a record, or other records, is not defended against.

    Args:
        warehouse: with the tables that the steps ``clusters`` and ``disassociate`` read.
        k: records that any m known terms leave at least; 2 or more.
        m: terms of a record that an attacker knows; 1 or more.
        sizes: of clusters; None: those of the paper.
        seed: of the reconstructed dataset, never to be published; None draws securely.
        order_seed: of the order of subrecords, for experiments only; None draws securely.
        carrier: carries clusters to where their chunks are made, which are the same; None: nobody.

    Raises:
        ReleaseError: a parameter makes no sense, or a part has fewer than ``least`` records.
    """
    sizes = sizes or ClusterSizes.of(k)
    least, max_size = sizes.least, sizes.max_size
    if k < 2 or m < 1 or max_size < k or least < k:
        raise ReleaseError(
            f"disassociation needs k >= 2, m >= 1 and clusters of k records or more, not k = {k}, "
            f"m = {m}, cluster sizes {least} and {max_size}"
        )
    if small := parts_too_small(warehouse, least):
        raise NoGroupError(
            f"{len(small)} parts of the data, {sum(n for _, n in small)} records in all, have "
            f"fewer than {least} records each: no cluster can be made of them"
        )
    warehouse.run(
        "CREATE TEMP TABLE IF NOT EXISTS srsql_repeated (term_no INTEGER, base_no INTEGER)"
    )
    parameters = step_parameters(k, m, sizes, order_seed)
    warehouse.run_step(
        "terms/group_clusters" if sizes.whole_groups else "terms/clusters", parameters
    )
    chunk_clusters(warehouse, k, m, sizes.chunk_terms, carrier)
    if sizes.whole_groups:
        warehouse.run(query(TOPIC, "bound_chunks"), {"k": k, "m": m})
        put_apart(warehouse, warehouse.rows(query(TOPIC, "held_often"), {"k": k}))
    warehouse.run_step("terms/disassociate", parameters)
    reconstruct(warehouse, seed)


def chunk_clusters(
    warehouse: Warehouse,
    k: int,
    m: int,
    chunk_terms: int = CHUNK_TERMS,
    carrier: Carrier | None = None,
) -> None:
    """Fill ``srsql_chunk_term``: VERPART makes the chunks of each cluster from its records alone.

    Args:
        warehouse: with what the step ``terms/clusters`` wrote.
        k: see :func:`disassociate`.
        m: see :func:`disassociate`.
        chunk_terms: of a chunk at most.
        carrier: see :func:`disassociate`.
    """
    given = {"k": k, "m": m, "chunk_terms": chunk_terms}
    if carrier is not None:
        roles = warehouse.con.sql("FROM temp.main.srsql_term_role").to_arrow_table()
        work = Work(query(TOPIC, "chunk_part"), {"srsql_term_role": roles}, given)
        rows, size = query(TOPIC, "cluster_parts"), {"at_least": CARRIED_RECORDS}
        if carry_rows(warehouse, carrier, work, rows, size, [query(TOPIC, "take_chunks")]):
            return
    warehouse.run(query(TOPIC, "chunk_clusters"), given)


def step_parameters(
    k: int, m: int, sizes: ClusterSizes, order_seed: int | None
) -> dict[str, int | None]:
    """What the two steps of :func:`disassociate` take."""
    return {"k": k, "m": m, "order_seed": order_seed} | asdict(sizes)


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


@dataclass(frozen=True)
class Judge:
    """Who checks a release, as far as its maker asks."""

    longest_unproved: Callable[[], int]
    """The terms of the longest chunk that they cannot prove."""
    told_too_much: Callable[[Collection[int] | None], list[tuple[int, str]]] = lambda _: []
    """Cluster and term of what is told above its threshold in some region, beside other terms: of
    some clusters, or of all (None)."""


def make_chunks(
    warehouse: Warehouse,
    terms: DisassociationParameters,
    k: int,
    seed: int,
    *,
    grouped: bool,
    judge: Judge,
    carrier: Carrier | None = None,
) -> int | None:
    """Fill the tables ``srsql_pub_*`` of clusters and chunks from the baskets.

    That the chunks are k^m-anonymous follows from how they are made, but who checks a release has
    to find it out anew, in so many steps. Where that fails they are made again of half as many
    terms as the longest that failed. It ends: a chunk of one term is proved by counting. Then what
    is told too much of regions gets chunks of its own, which tell of no other term.

    Args:
        warehouse: with the baskets and the policy.
        terms: how terms are disassociated.
        k: records that any m known terms leave at least.
        seed: of the reconstructed dataset.
        grouped: clusters lie inside QID-groups.
        judge: who checks the release.
        carrier: see :func:`disassociate`.

    Returns:
        The most terms that a chunk was allowed; None: all.
    """
    whole = terms.whole_rows
    least = max(terms.least(k), least_for_thresholds(warehouse) if whole else 0)
    if terms.max_cluster_size is not None and terms.max_cluster_size < least:
        raise ReleaseError(
            f"--max-cluster-size {terms.max_cluster_size:,} is below the {least:,} records that a "
            "cluster needs: give a larger one, or leave it out"
        )
    sizes = ClusterSizes.of(
        k,
        least=least,
        max_size=terms.max_cluster_size or CLUSTER_SIZE * least,
        joint_limit=0 if grouped else None,  # what clusters share would cross groups
        partners=PARTNERS if terms.partners == "shared" else 0,
        lexicographic=terms.pooled_by == "terms",
    )
    sizes = replace(sizes, whole_groups=whole)
    term_k = (terms.term_k or k) if whole else k

    def make() -> None:
        disassociate(warehouse, k=term_k, m=terms.m, sizes=sizes, seed=seed, carrier=carrier)

    make()
    while (longest := judge.longest_unproved()) > 1:
        sizes = replace(sizes, chunk_terms=longest // 2)
        make()
    found = judge.told_too_much(None)
    while found:
        put_apart(warehouse, found)
        warehouse.run_step("terms/disassociate", step_parameters(term_k, terms.m, sizes, None))
        # the chunks of other clusters are what they were
        found = judge.told_too_much({cluster for cluster, _ in found})
    if grouped:
        if not whole:
            warehouse.run_step("terms/small_parts")
        # the order of groups is not published
        warehouse.run_step("terms/renumber", {"order_seed": None})
        reconstruct(warehouse, seed)  # over all clusters
    return sizes.chunk_terms if sizes.chunk_terms < CHUNK_TERMS else None


def put_apart(warehouse: Warehouse, found: Sequence[tuple[Any, ...]]) -> None:
    """Give each of some terms (cluster, term), which k records hold or more, a chunk of its own.

    What is left of a chunk without a term is as k^m-anonymous as it was, and a chunk of one term is
    so where the chunk was from which it comes.
    """
    if not found:
        return
    clusters, names = zip(*found, strict=True)
    warehouse.run(query(TOPIC, "put_apart"), {"clusters": list(clusters), "terms": list(names)})


def most_of_an_item(warehouse: Warehouse) -> int:
    """Records that hold an item without a count, of the one in its cluster that most do; 0: none is
    without."""
    return int(warehouse.value(query(TOPIC, "most_of_an_item")) or 0)


def least_for_thresholds(warehouse: Warehouse) -> int:
    """Records that a cluster needs so that every sensitive value can be told of it at all.

    The terms of a value that stand in its item chunk are expected in one record each.
    """
    return int(warehouse.value(query(TOPIC, "least_for_thresholds")) or 0)


def keep_apart(warehouse: Warehouse, terms: DisassociationParameters, term_key: int) -> None:
    """Number the sensitive terms among the baskets, which :func:`make_chunks` keeps apart.

    Names become keys of that version by the expression that the data did: a name that is missed
    would be a term told of records.
    """
    name = key_of_term(column("name", "n"), term_key).sql("duckdb")
    warehouse.run(
        f"CREATE OR REPLACE TEMP TABLE srsql_sensitive_term AS SELECT DISTINCT {name} AS term "
        "FROM (SELECT unnest(?::VARCHAR[]) AS name) AS n",
        [sorted(terms.kept_apart)],
    )
    warehouse.run(query(TOPIC, "sensitive_numbers"))


def not_held(warehouse: Warehouse, terms: DisassociationParameters) -> list[str]:
    """Sensitive terms that no released case holds: misspelt, or not in the quarter.

    Needs the tables that :func:`make_chunks` left.
    """
    if not terms.kept_apart:
        return []
    found = warehouse.rows(query(TOPIC, "sensitive_terms_not_held"))
    return [name for (name,) in found]
