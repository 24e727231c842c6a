"""CBA: from baskets of terms to generalized and suppressed ones (Loukides 2013).

``MAKING`` says for both formats of released terms, ``chunks`` and ``nodes``, what makes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from srsql.engine.catalog.releases import TermFormat
from srsql.engine.errors import ReleaseError
from srsql.engine.store.warehouse import Warehouse
from srsql.engine.terms.disassociate import Judge, make_chunks
from srsql.engine.terms.parameters import DisassociationParameters
from srsql.engine.workers.carriers import Carrier


def generalize_terms(
    warehouse: Warehouse, *, k: int, m: int, order_seed: int | None = None
) -> None:
    """Generalize ``srsql_basket``; the result is in ``srsql_generalized`` and ``srsql_pub_*``.

    Guarantees that every set of up to m generalized terms that occurs in a record does in k or
    more, and that no generalized term has terms of two utility constraints, or several of which one
    is in none.

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
    warehouse.run_step("terms/cba", {"k": k, "m": m, "order_seed": order_seed})


def make_nodes(
    warehouse: Warehouse,
    terms: DisassociationParameters,
    k: int,
    seed: int,
    *,
    grouped: bool,
    judge: Judge,
    carrier: Carrier | None = None,
) -> int | None:
    """Fill the tables ``srsql_pub_*`` of generalized terms from the baskets.

    Nothing is drawn from ``seed``: the numbers of records are told, so they are drawn securely. Nor
    is anything carried: terms are generalized over all records. There are no chunks, so none to be
    proved.
    """
    assert not grouped, "a model that releases rows does not generalize terms"
    generalize_terms(warehouse, k=k, m=terms.m)
    return None


class _Make(Protocol):
    def __call__(
        self,
        warehouse: Warehouse,
        terms: DisassociationParameters,
        k: int,
        seed: int,
        *,
        grouped: bool,
        judge: Judge,
        carrier: Carrier | None = None,
    ) -> int | None: ...


@dataclass(frozen=True)
class Making:
    """How terms become what is published."""

    kernels: str
    """As ``load_kernels`` takes them."""
    make: _Make
    """Fills the tables ``srsql_pub_*`` from the baskets and the policy."""


MAKING: dict[TermFormat, Making] = {
    "chunks": Making("srsql.udfs.terms:warm_up_disassociation", make_chunks),
    "nodes": Making("srsql.udfs.terms:warm_up_generalization", make_nodes),
}
