"""The check of a disassociated release: its published tables alone, then beside the originals.

It shares nothing with what makes the release. What the published tables keep is k^m-anonymity of
every chunk and the rules of SPEC section 11 that Guarantee 1 needs; what they keep of the originals
is that the originals are one of the datasets that they stand for.
"""

from __future__ import annotations

from dataclasses import replace

from srsql.engine.catalog.released_terms import ALL, PublishedTerms, Reader
from srsql.engine.catalog.releases import Release, ReleasedTerms
from srsql.engine.checks import Evidence, as_measures, checked_key, measured
from srsql.engine.checks.published_regions import placed_records
from srsql.engine.measures import Clustered, Measure, MeasureRow
from srsql.engine.risk.term_counts import ORIGINALS, load_originals
from srsql.engine.store.statements import literal, query

CHUNKS = ("record_chunk", "shared_chunk")
KERNELS = "srsql.udfs.checks.witnesses"
"""As ``load_kernels`` takes them."""
STEPS = 100_000_000
"""Of the search for a breach in one chunk; what is not decided by then is not proved."""
PLACES = ("joint_clusters", "record_chunk", "shared_chunk", "item_chunk")
BARE = ("clusters", "record_chunk", "item_chunk")
CHUNKED = "chunked_cluster"
"""The clusters that have a record chunk."""
BARE_CLUSTERS: dict[Clustered | None, str | None] = {"terms": None, "groups": None, "rows": CHUNKED}
"""As ``chunk_calls`` takes them: a cluster of whole rows may be one of records without a term."""
MEMBERS: dict[Clustered | None, tuple[str, ...]] = {
    "terms": ("members",),
    "groups": ("members_of_groups", "add_cases_without_terms"),
    "rows": ("members", "add_all_cases_without_terms"),
}
"""The statements that find the cluster of every original record."""


def chunk_calls(
    tables: PublishedTerms, release_id: int, k: int, m: int, size: int, *, bare: str | None = None
) -> dict[str, str]:
    """Macro -> its call, of every check that needs the published tables alone.

    Args:
        tables: of the release.
        release_id: stands in the rows.
        k: least number of records that share what an attacker knows.
        m: number of terms that they may know, of any size.
        size: least number of records of a cluster.
        bare: name of the clusters that must have a record chunk or enough items, where a record
            may have no term; None: all clusters.
    """
    id_ = f"{release_id:d}"
    bounds = f"{k:d}", f"{m:d}", id_
    told = replace(tables, clusters=bare or tables.clusters)
    return {
        "check_term_structure": tables.call("check_term_structure", ALL, id_),
        "check_km": tables.call("check_km", CHUNKS, *bounds[:2], f"{STEPS:d}", id_),
        "check_cluster_size": tables.call(
            "check_cluster_size", ("clusters",), f"{max(size, k):d}", id_
        ),
        "check_bare_clusters": told.call("check_bare_clusters", BARE, *bounds),
        "check_one_place": tables.call("check_one_place", PLACES, id_),
    }


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
        m: number of terms that they may know, of any size.
        cluster_size: least number of records of a cluster: max(k, l); None: k.
        sensitive: name of a table ``(term)`` of the terms that are kept apart.
    """
    calls = [*chunk_calls(tables, release_id, k, m, cluster_size or k).values()]
    if sensitive is not None:
        calls.append(_apart_call(tables, release_id, literal(sensitive)))
    return measured(warehouse, calls)


def check_row_terms(
    reader: Reader, tables: PublishedTerms, k: int, m: int, cluster_size: int
) -> list[MeasureRow]:
    """The same where whole rows are taken apart, so that a record may have no term."""
    calls = chunk_calls(tables, 0, k, m, cluster_size, bare=CHUNKED)
    return measured(reader, calls.values(), _chunked(tables))


def _chunked(tables: PublishedTerms) -> dict[str, str]:
    """The query of ``CHUNKED``."""
    return {
        CHUNKED: f"SELECT c.cluster, c.records FROM {tables.clusters} AS c "
        f"SEMI JOIN {tables.record_chunk} AS r ON c.cluster = r.cluster"
    }


def _support_call(tables: PublishedTerms, release_id: int, originals: str) -> str:
    counted = ("clusters", "record_chunk", "shared_chunk", "item_chunk")
    return tables.call("check_term_support", counted, originals, f"{release_id:d}")


def _projection_call(tables: PublishedTerms, release_id: int, originals: str, members: str) -> str:
    return tables.call("check_projection", ALL, originals, members, f"{release_id:d}")


def _apart_call(tables: PublishedTerms, release_id: int, sensitive: str) -> str:
    return tables.call("check_kept_apart", CHUNKS, sensitive, f"{release_id:d}")


def check_reconstructed(
    warehouse: Reader, tables: PublishedTerms, release_id: int
) -> list[MeasureRow]:
    """The sampled dataset is one of those that the published tables stand for.

    Needs ``tables.reconstructed``, a table ``(record, cluster, term)``. Records without a term are
    not in it, so they are not missed.
    """
    assert tables.reconstructed is not None
    member = f"SELECT DISTINCT r.record, r.cluster FROM {tables.reconstructed} AS r"
    call = _projection_call(
        tables, release_id, literal(tables.reconstructed), literal("sampled_member")
    )
    return [
        replace(row, measure="check_reconstructed")
        for row in measured(warehouse, [call], {"sampled_member": member})
        if row.scope != "record"
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
    for shared, owner, chunk, known, subrecords in warehouse.rows(
        "SELECT b.shared, b.owner, b.chunk, b.known, b.subrecords FROM "
        + tables.call("km_breaches", CHUNKS, f"{k:d}", f"{m:d}", f"{STEPS:d}")
        + " AS b ORDER BY b.shared, b.owner, b.chunk LIMIT ?",
        [limit],
    ):
        found.append(
            f"{_place(shared, owner, chunk)}: {', '.join(known)} "
            f"{'occurs' if len(known) == 1 else 'occur together'} in {subrecords} subrecord(s), "
            f"k is {k}"
        )
    for shared, owner, chunk, terms in _undecided(warehouse, tables, k, m)[:limit]:
        found.append(
            f"{_place(shared, owner, chunk)}: that its {terms} terms are {k}^{m}-anonymous is not "
            f"provable within {STEPS:,} steps"
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


def longest_unproved(warehouse: Reader, tables: PublishedTerms, k: int, m: int) -> int:
    """Most terms of a chunk of which it is not decided whether it is k^m-anonymous; 0: none is.

    Args:
        warehouse: or any connection with the macros in it.
        tables: of the release.
        k: least number of records that share what an attacker knows.
        m: number of terms that they may know.
    """
    return max((row[3] for row in _undecided(warehouse, tables, k, m)), default=0)


def _undecided(
    warehouse: Reader, tables: PublishedTerms, k: int, m: int
) -> list[tuple[bool, int, int, int]]:
    """Shared, owner, chunk and terms of each chunk that the search did not decide."""
    return [
        (shared, owner, chunk, terms)
        for shared, owner, chunk, terms in warehouse.rows(
            "SELECT u.shared, u.owner, u.chunk, u.terms FROM "
            + tables.call("km_unproved", CHUNKS, f"{k:d}", f"{m:d}", f"{STEPS:d}")
            + " AS u WHERE u.known IS NULL ORDER BY u.shared, u.owner, u.chunk"
        )
    ]


def _place(shared: bool, owner: int, chunk: int) -> str:
    return f"{'joint cluster' if shared else 'cluster'} {owner}, chunk {chunk}"


def check_chunks(evidence: Evidence, macro: str) -> list[Measure]:
    """One of the checks that the published tables allow."""
    release, terms = evidence.release, _terms(evidence)
    tables, bare = _tables(release), BARE_CLUSTERS[evidence.facts.clusters]
    size = max(release.k, terms.diversity, terms.term_cases or 0)
    k = terms.term_k or release.k
    calls = chunk_calls(tables, release.release_id, k, terms.m, size, bare=bare)
    named = _chunked(tables) if bare and macro == "check_bare_clusters" else None
    return as_measures(measured(release.warehouse, [calls[macro]], named))


def check_kept_apart(evidence: Evidence) -> list[Measure]:
    """Sensitive terms stand in item chunks alone."""
    release, sensitive = evidence.release, "sensitive_item"
    call = _apart_call(_tables(release), release.release_id, literal(sensitive))
    items = query("checks/terms", "sensitive_items")
    return as_measures(measured(release.warehouse, [call], {sensitive: items}))


def check_term_support(evidence: Evidence) -> list[Measure]:
    """Every term is published as often as the originals hold it."""
    originals, _ = _originals(evidence)
    call = _support_call(_tables(evidence.release), evidence.release.release_id, originals)
    return as_measures(measured(evidence.release.warehouse, [call]))


def check_projection(evidence: Evidence) -> list[Measure]:
    """The chunks are what the originals show there."""
    release = evidence.release
    call = _projection_call(_tables(release), release.release_id, *_originals(evidence))
    return as_measures(measured(release.warehouse, [call]))


def check_item_cases(evidence: Evidence) -> list[Measure]:
    """No more cases hold an item without a count than is promised."""
    release, terms = evidence.release, _terms(evidence)
    assert terms.item_cases is not None, "a release that is made promises it"
    call = _tables(release).call(
        "check_item_cases", ("item_chunk",), *_originals(evidence), f"{terms.item_cases:d}",
        f"{release.release_id:d}",
    )  # fmt: skip
    return as_measures(measured(release.warehouse, [call]))


def check_region_caps(evidence: Evidence) -> list[Measure]:
    """No value has more holders in a region of a cluster than its threshold allows."""
    release = evidence.release
    _originals(evidence)
    told = {
        "record_place": placed_records(
            release.visible_dataset, release.schema, release.release_id
        ).sql("duckdb"),
        "record_value": query("checks/terms", "values_of_records"),
        "value_theta": query("checks/terms", "value_thresholds"),
    }
    sensitive = _terms(evidence).sensitive_attributes(release.dataset)
    parameters = {"attributes": list(sensitive), "release": release.release_id}
    return evidence.ask(
        "check_region_caps", *map(literal, told), tables=told, parameters=parameters
    )


def check_sampled_dataset(evidence: Evidence) -> list[Measure]:
    """The sampled dataset is one that the chunks stand for."""
    release = evidence.release
    return as_measures(check_reconstructed(release.warehouse, _tables(release), release.release_id))


def _originals(evidence: Evidence) -> tuple[str, str]:
    """Tables (record, term) and (record, cluster) of the originals.

    Where clusters lie inside QID-groups, a group with too few terms is one cluster, its cases
    without a term included.
    """
    release, terms = evidence.release, _terms(evidence)
    warehouse = release.warehouse

    def fill() -> None:
        load_originals(warehouse, release.dataset, release.release_id, terms, checked_key)
        for statement in MEMBERS[evidence.facts.clusters]:
            warehouse.run(query("checks/terms", statement))

    return literal(ORIGINALS), evidence.once("srsql_original_cluster", fill)


def _tables(release: Release) -> PublishedTerms:
    return PublishedTerms.in_schema(release.schema)


def _terms(evidence: Evidence) -> ReleasedTerms:
    assert evidence.terms is not None, "the check applies to releases with terms"
    return evidence.terms
