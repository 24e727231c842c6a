"""The checks of generalized terms: k^m of the nodes, and that each record has those of its terms.

The originals that they are compared with are read off the raw rows anew; the published number of a
record is the one thing that only the making of the release knows.
"""

from __future__ import annotations

from srsql.engine.catalog.released_terms import PublishedNodes, Reader
from srsql.engine.checks import Evidence, as_measures, checked_key, measured, uniform_rows
from srsql.engine.measures import Measure, MeasureRow
from srsql.engine.risk.term_counts import ORIGINALS, load_originals
from srsql.engine.store.statements import query

TOPIC = "checks/terms"
CONSTRAINTS, NUMBERS = "constraint_term", "published_number"


def km_of_nodes(
    warehouse: Reader, tables: PublishedNodes, release_id: int, k: int, m: int
) -> list[MeasureRow]:
    """Each set of up to m nodes that a record holds is held by k: one row for each size.

    A set that breaks the bound is not made longer: it is a breach by itself.
    """
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_itemset_basket AS SELECT DISTINCT g.record, "
        f"g.node AS term FROM {tables.generalized_terms} AS g WHERE g.node IS NOT NULL"
    )
    warehouse.run(query(TOPIC, "node_holders"))
    warehouse.run(query(TOPIC, "node_sets"))
    rows = []
    for size in range(1, m + 1):
        if size > 1:
            warehouse.run(query(TOPIC, "longer_node_sets"))
            warehouse.run(query(TOPIC, "longer_node_holders"), [k])
        ((rare, held),) = warehouse.rows(query(TOPIC, "rare_node_sets"), [k])
        if not held:
            break
        scope = f"{size} of them" if size > 1 else "1 generalized term"
        rows.append(
            MeasureRow(release_id, "check_node_km", scope, rare, held, rare / held, k, rare == 0)
        )
    return rows


def check_node_structure(evidence: Evidence) -> list[Measure]:
    """The published tables are such as generalization makes."""
    structure, _ = _calls(evidence)
    return as_measures(measured(evidence.release.warehouse, [structure]))


def check_node_constraints(evidence: Evidence) -> list[Measure]:
    """No node mixes constraints of the policy in the catalog."""
    _, constraints = _calls(evidence)
    policy = {CONSTRAINTS: query(TOPIC, "utility_constraints")}
    given = {"release": evidence.release.release_id}
    return uniform_rows(evidence.release.warehouse, constraints, policy, given)


def check_node_km(evidence: Evidence) -> list[Measure]:
    """Every set of nodes that a record holds is held by k records."""
    release, terms = evidence.release, evidence.terms
    assert terms is not None, "the check applies to releases with terms"
    tables = PublishedNodes.in_schema(release.schema)
    return as_measures(
        km_of_nodes(release.warehouse, tables, release.release_id, release.k, terms.m)
    )


def check_generalized_records(evidence: Evidence) -> list[Measure]:
    """Every record has the nodes of its own terms."""
    release, terms = evidence.release, evidence.terms
    assert terms is not None, "the check applies to releases with terms"
    warehouse, dataset = release.warehouse, release.dataset
    load_originals(warehouse, dataset, release.release_id, terms, checked_key)
    call = PublishedNodes.in_schema(release.schema).check_records(
        release.release_id, ORIGINALS, NUMBERS
    )
    numbers = {NUMBERS: query(TOPIC, "generalized_numbers")}
    return as_measures(measured(release.warehouse, [call], numbers))


def _calls(evidence: Evidence) -> list[str]:
    release = evidence.release
    return PublishedNodes.in_schema(release.schema).check(release.release_id, CONSTRAINTS)
