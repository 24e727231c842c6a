"""The check of released terms: k^m, what their guarantee needs, and that none was made up.

The originals it compares with are read off the raw rows anew; who is in which cluster is the one
thing that only the making of the release knows.
"""

from __future__ import annotations

from dataclasses import astuple

from srsql.engine.checks.postcheck import require_passed
from srsql.engine.checks.term_chunks import check_shown_chunks, check_told_chunks
from srsql.engine.measures import Measure, MeasureRow
from srsql.engine.risk.term_counts import load_originals
from srsql.engine.warehouse.released_terms import PublishedNodes, Reader
from srsql.engine.warehouse.releases import ReleasedTerms, released_terms
from srsql.engine.warehouse.statements import literal
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset


def check_released_terms(
    warehouse: Warehouse,
    dataset: Dataset,
    schema: str,
    release_id: int,
    k: int,
    terms: ReleasedTerms,
    *,
    grouped: bool,
) -> list[Measure]:
    """Every check of the terms in ``schema``; needs the tables that the release was made with.

    ``grouped``: clusters lie inside QID-groups.

    Raises:
        CheckFailedError: one of them failed; the text names it.
    """
    load_originals(warehouse, dataset, release_id, terms)
    check = {"chunks": check_told_chunks, "nodes": check_told_nodes}[terms.term_format]
    rows = check(warehouse, schema, release_id, k, terms, grouped=grouped)
    measures = [astuple(row) for row in rows]
    require_passed(measures)
    return measures


def check_shown_terms(warehouse: Warehouse, schema: str, release_id: int, k: int) -> list[Measure]:
    """What the terms in ``schema`` show by themselves, if the release has any.

    Raises:
        CheckFailedError: a bound is broken; the text names it.
    """
    terms = released_terms(warehouse, release_id)
    if terms is None:
        return []
    check = {"chunks": check_shown_chunks, "nodes": check_shown_nodes}[terms.term_format]
    rows = check(warehouse, schema, release_id, k, terms)
    measures = [astuple(row) for row in rows]
    require_passed(measures)
    return measures


LEVEL = "temp.main.srsql_node_level"


BASKETS = literal("temp.main.srsql_node_basket")


HOLDERS = literal("temp.main.srsql_node_holder")


def check_nodes(
    warehouse: Reader, tables: PublishedNodes, release_id: int, k: int, m: int, constraints: str
) -> list[MeasureRow]:
    """Every check that the published tables and the policy allow; ``passed`` tells.

    Args:
        warehouse: or any connection with the macros in it.
        tables: of the release.
        release_id: stands in the rows.
        k: least number of records that share what an attacker knows.
        m: number of terms that he may know, of any size.
        constraints: name of a table ``(name, term)``: the utility policy.
    """
    calls = tables.check(release_id, constraints)
    return measured(warehouse, calls) + _check_km(warehouse, tables, release_id, k, m)


def measured(warehouse: Reader, calls: list[str]) -> list[MeasureRow]:
    """The uniform rows of calls of checks."""
    return [
        MeasureRow(*row)
        for call in calls
        for row in warehouse.rows(f"SELECT c.* FROM {call} AS c ORDER BY c.scope")
    ]


def _check_km(
    warehouse: Reader, tables: PublishedNodes, release_id: int, k: int, m: int
) -> list[MeasureRow]:
    """Each set of up to m nodes that a record holds is held by k: one row for each size.

    A set that breaks the bound is not made longer: it is a breach by itself.
    """
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_node_basket AS SELECT DISTINCT g.record, "
        f"g.node AS term FROM {tables.generalized_terms} AS g WHERE g.node IS NOT NULL"
    )
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_node_level AS SELECT b.term AS set_no, b.term, "
        "count(*) AS records FROM temp.main.srsql_node_basket AS b GROUP BY b.term"
    )
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_node_holder AS "
        "SELECT b.record, b.term AS set_no, b.term AS last FROM temp.main.srsql_node_basket AS b"
    )
    rows = []
    for size in range(1, m + 1):
        if size > 1:
            _lengthen(warehouse, k)
        ((rare, sets),) = warehouse.rows(
            f"SELECT count(*) FILTER (WHERE l.records < ?), count(*) FROM {LEVEL} AS l", [k]
        )
        if not sets:
            break
        scope = f"{size} of them" if size > 1 else "1 generalized term"
        rows.append(
            MeasureRow(release_id, "check_node_km", scope, rare, sets, rare / sets, k, rare == 0)
        )
    return rows


def _lengthen(warehouse: Reader, k: int) -> None:
    """From the sets of one size to those of the next, and who holds them."""
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_node_longer AS "
        "SELECT l.set_no AS before, l.term, l.records, row_number() OVER () AS set_no "
        f"FROM srsql.frequent_longer({HOLDERS}, {BASKETS}, 1) AS l"
    )
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_node_level AS "
        "SELECT l.* FROM temp.main.srsql_node_longer AS l"
    )
    warehouse.run("DELETE FROM temp.main.srsql_node_longer AS l WHERE l.records < ?", [k])
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_node_next AS SELECT h.* FROM srsql.itemset_holders("
        f"{HOLDERS}, {BASKETS}, {literal('temp.main.srsql_node_longer')}) AS h"
    )
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_node_holder AS "
        "SELECT n.* FROM temp.main.srsql_node_next AS n"
    )


def check_told_nodes(
    warehouse: Warehouse,
    schema: str,
    release_id: int,
    k: int,
    terms: ReleasedTerms,
    *,
    grouped: bool,
) -> list[MeasureRow]:
    """Every check of the nodes beside the originals; needs ``srsql_generalized_record``."""
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_told_number AS SELECT b.case_no, r.record "
        "FROM temp.main.srsql_generalized_record AS r "
        "INNER JOIN temp.main.srsql_basket_case AS b ON r.record_no = b.record_no"
    )
    call = PublishedNodes.in_schema(schema).check_records(
        release_id, "temp.main.srsql_told_original", "temp.main.srsql_told_number"
    )
    return check_shown_nodes(warehouse, schema, release_id, k, terms) + measured(warehouse, [call])


def check_shown_nodes(
    warehouse: Warehouse, schema: str, release_id: int, k: int, terms: ReleasedTerms
) -> list[MeasureRow]:
    """What the nodes show by themselves, and beside the policy in the catalog."""
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_told_constraint AS SELECT c.name, c.term "
        "FROM srsql.utility_constraint AS c WHERE c.release_id = ?",
        [release_id],
    )
    return check_nodes(
        warehouse,
        PublishedNodes.in_schema(schema),
        release_id,
        k,
        terms.m,
        "temp.main.srsql_told_constraint",
    )
