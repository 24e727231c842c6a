"""The check of a disassociated release: its published tables alone, then beside the originals.

It shares nothing with what makes the release. What the published tables keep is k^m-anonymity of
every chunk and the rules of SPEC section 11 that Guarantee 1 needs; what they keep of the originals
is that the originals are one of the datasets that they stand for.
"""

from __future__ import annotations

from dataclasses import replace

from srsql.engine.measures import MeasureRow
from srsql.engine.risk.term_counts import ORIGINALS
from srsql.engine.warehouse.released_terms import ALL, PublishedTerms, Reader
from srsql.engine.warehouse.releases import ReleasedTerms
from srsql.engine.warehouse.statements import literal
from srsql.engine.warehouse.warehouse import Warehouse

CHUNKS = ("record_chunk", "shared_chunk")
PLACES = ("joint_clusters", "record_chunk", "shared_chunk", "item_chunk")
BARE = ("clusters", "record_chunk", "item_chunk")


def check_terms(
    warehouse: Reader,
    tables: PublishedTerms,
    release_id: int,
    k: int,
    m: int,
    *,
    cluster_size: int | None = None,
    sensitive: str | None = None,
) -> list[MeasureRow]:
    """Every check that the published tables allow; none raises, ``passed`` tells.

    Args:
        warehouse: or any connection with the macros in it.
        tables: of the release.
        release_id: stands in the rows.
        k: least number of records that share what an attacker knows.
        m: number of terms that he may know, of any size.
        cluster_size: least number of records of a cluster: max(k, l); None: k.
        sensitive: name of a table ``(term)`` of the terms that are kept apart.
    """
    id_ = f"{release_id:d}"
    bounds = f"{k:d}", f"{m:d}", id_
    size = max(k, cluster_size or k)
    calls = [
        tables.call("check_term_structure", ALL, id_),
        tables.call("check_km", CHUNKS, *bounds),
        tables.call("check_cluster_size", ("clusters",), f"{size:d}", id_),
        tables.call("check_bare_clusters", BARE, *bounds),
        tables.call("check_one_place", PLACES, id_),
    ]
    if sensitive is not None:
        calls.append(tables.call("check_kept_apart", CHUNKS, literal(sensitive), id_))
    return _measured(warehouse, calls)


def check_originals(
    warehouse: Reader,
    tables: PublishedTerms,
    release_id: int,
    originals: str,
    members: str | None = None,
) -> list[MeasureRow]:
    """The published tables hold every term of every record once.

    Args:
        warehouse: in which all tables are.
        tables: of the release.
        release_id: stands in the rows.
        originals: name of a table ``(record, term)``, distinct; NULL stands for no term.
        members: name of a table ``(record, cluster)``, cluster as published: then the chunks are
            compared with what the records show there. None: only counts are compared.
    """
    id_ = f"{release_id:d}"
    calls = [
        tables.call(
            "check_term_support",
            ("clusters", "record_chunk", "shared_chunk", "item_chunk"),
            literal(originals),
            id_,
        )
    ]
    if members is not None:
        calls.append(
            tables.call("check_projection", ALL, literal(originals), literal(members), id_)
        )
    return _measured(warehouse, calls)


def check_reconstructed(
    warehouse: Reader, tables: PublishedTerms, release_id: int
) -> list[MeasureRow]:
    """The sampled dataset is one of those that the published tables stand for.

    Needs ``tables.reconstructed``, a table ``(record, cluster, term)``. Records without a term are
    not in it, so they are not missed.
    """
    assert tables.reconstructed is not None
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_sampled_member AS "
        f"SELECT DISTINCT r.record, r.cluster FROM {tables.reconstructed} AS r"
    )
    rows = check_originals(
        warehouse, tables, release_id, tables.reconstructed, "temp.main.srsql_sampled_member"
    )
    return [
        replace(row, measure="check_reconstructed")
        for row in rows
        if row.measure == "check_projection" and row.scope != "record"
    ]


def breaches(
    warehouse: Reader, tables: PublishedTerms, k: int, m: int, limit: int = 20
) -> list[str]:
    """What is wrong with the published tables, in words, the first ``limit`` of each kind."""
    found = [
        place
        for (place,) in warehouse.rows(
            "SELECT f.place FROM "
            + tables.call("term_structure_faults", ALL)
            + " AS f ORDER BY f.scope, f.place LIMIT ?",
            [limit],
        )
    ]
    for shared, owner, chunk, terms, subrecords, common in warehouse.rows(
        "SELECT b.shared, b.owner, b.chunk, b.terms, b.subrecords, b.common FROM "
        + tables.call("km_breaches", CHUNKS, f"{k:d}", f"{m:d}")
        + " AS b ORDER BY b.shared, b.owner, b.chunk LIMIT ?",
        [limit],
    ):
        found.append(
            f"{'joint cluster' if shared else 'cluster'} {owner}, chunk {chunk}: {terms} term(s) "
            f"of {', '.join(common)} occur together in {subrecords} subrecord(s), k is {k}"
        )
    for cluster, records, chunks, subrecords, needed in warehouse.rows(
        "SELECT b.cluster, b.records, b.chunks, b.subrecords, b.needed FROM "
        + tables.call("bare_clusters", BARE, f"{k:d}", f"{m:d}")
        + " AS b ORDER BY b.cluster LIMIT ?",
        [limit],
    ):
        found.append(
            f"cluster {cluster}: {subrecords} subrecord(s) in {chunks} chunk(s) for {records} "
            f"records without an item chunk, {needed} are needed"
        )
    for scope, owner, term in warehouse.rows(
        "SELECT d.scope, d.owner, d.term FROM "
        + tables.call("doubled_terms", PLACES)
        + " AS d ORDER BY d.scope, d.owner, d.term LIMIT ?",
        [limit],
    ):
        found.append(f"{scope} of {owner}: term {term} has a second place there")
    return found


def _measured(warehouse: Reader, calls: list[str]) -> list[MeasureRow]:
    return [
        MeasureRow(*row)
        for call in calls
        for row in warehouse.rows(f"SELECT c.* FROM {call} AS c ORDER BY c.scope")
    ]


MEMBERS = "temp.main.srsql_told_member"


APART = "temp.main.srsql_told_apart"


def check_told_chunks(
    warehouse: Warehouse,
    schema: str,
    release_id: int,
    k: int,
    terms: ReleasedTerms,
    *,
    grouped: bool,
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
        sensitive=APART if terms.sensitive else None,
    )
    rows += check_originals(warehouse, tables, release_id, ORIGINALS, MEMBERS)
    return rows + check_reconstructed(warehouse, tables, release_id)


def check_shown_chunks(
    warehouse: Warehouse, schema: str, release_id: int, k: int, terms: ReleasedTerms
) -> list[MeasureRow]:
    """What the chunks show by themselves."""
    tables = PublishedTerms.in_schema(schema)
    size = max(k, terms.diversity)
    return check_terms(warehouse, tables, release_id, k, terms.m, cluster_size=size)


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
