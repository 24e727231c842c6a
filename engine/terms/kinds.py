"""The two formats of terms that are released apart from records, and what makes each.

``chunks``: disassociated (Loukides 2014); ``nodes``: generalized to sets of terms (CBA).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from srsql.engine.terms.chunks import make_chunks
from srsql.engine.terms.generalize import make_nodes
from srsql.engine.terms.parameters import Terms
from srsql.engine.warehouse.releases import TermFormat
from srsql.engine.warehouse.warehouse import Warehouse


class _Make(Protocol):
    def __call__(
        self, warehouse: Warehouse, terms: Terms, k: int, seed: int, *, grouped: bool
    ) -> None: ...


@dataclass(frozen=True)
class Making:
    """How terms become what is published."""

    prepare: Callable[[], None]
    """Loads the kernels, or compiles them."""
    make: _Make
    """Fills the tables ``srsql_pub_*`` from the baskets and the policy."""


def _load_chunks() -> None:
    from srsql.udfs.terms.warm_up import warm_chunks

    warm_chunks()


def _load_nodes() -> None:
    from srsql.udfs.terms.warm_up import warm_nodes

    warm_nodes()


MAKING: dict[TermFormat, Making] = {
    "chunks": Making(_load_chunks, make_chunks),
    "nodes": Making(_load_nodes, make_nodes),
}
