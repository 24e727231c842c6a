"""CBA: from baskets of terms to generalized and suppressed ones (Loukides 2013)."""

from __future__ import annotations

from srsql.engine.errors import ReleaseError
from srsql.engine.measures import MeasureRow
from srsql.engine.terms.nodes import check_nodes, measured
from srsql.engine.terms.parameters import Terms
from srsql.engine.warehouse.released_terms import PublishedNodes
from srsql.engine.warehouse.warehouse import Warehouse


def generalize_terms(
    warehouse: Warehouse, *, k: int, m: int, order_seed: int | None = None
) -> None:
    """Generalize ``srsql_basket``; the result is in ``srsql_generalized`` and ``srsql_pub_*``.

    Guarantees that every set of up to m generalized terms that occurs in a record does in k or
    more, and that no generalized term has terms of two utility constraints, or of one and none.

    Args:
        warehouse: with the tables that ``terms/steps/cba.sql`` names.
        k: records that any m known terms leave at least; 2 or more.
        m: terms of a record that an attacker knows; 1 or more.
        order_seed: of the numbers of records, for experiments only; None draws securely.

    Raises:
        ReleaseError: a parameter makes no sense.
    """
    if k < 2 or m < 1:
        raise ReleaseError(f"generalized terms need k >= 2 and m >= 1, not k = {k}, m = {m}")
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_cba AS "
        "SELECT ?::INTEGER AS k, ?::INTEGER AS m, ?::BIGINT AS order_seed",
        [k, m, order_seed],
    )
    warehouse.run_step("terms/steps/cba.sql")


def make_nodes(warehouse: Warehouse, terms: Terms, k: int, seed: int, *, grouped: bool) -> None:
    """Fill the tables ``srsql_pub_*`` of generalized terms from the baskets.

    Nothing is drawn from ``seed``: the numbers of records are told, so they are drawn securely.
    """
    assert not grouped, "a model that releases rows does not generalize terms"
    generalize_terms(warehouse, k=k, m=terms.m)


def check_told_nodes(
    warehouse: Warehouse, schema: str, release_id: int, k: int, terms: Terms, *, grouped: bool
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
    warehouse: Warehouse, schema: str, release_id: int, k: int, terms: Terms
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
