"""The two kinds of released terms: chunks of disassociated ones, nodes of generalized ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from srsql.engine.models import MODELS
from srsql.engine.risk.metrics import MeasureRow
from srsql.engine.risk.term_counts import Answering
from srsql.engine.terms.chunks import check_shown_chunks, check_told_chunks, make_chunks
from srsql.engine.terms.generalize import check_shown_nodes, check_told_nodes, make_nodes
from srsql.engine.terms.nodes import PublishedNodes
from srsql.engine.terms.parameters import Terms
from srsql.engine.warehouse.released_terms import PublishedTerms
from srsql.engine.warehouse.warehouse import Warehouse


class _Make(Protocol):
    def __call__(
        self, warehouse: Warehouse, terms: Terms, k: int, seed: int, *, grouped: bool
    ) -> None: ...


class _CheckTold(Protocol):
    def __call__(
        self,
        warehouse: Warehouse,
        schema: str,
        release_id: int,
        k: int,
        terms: Terms,
        *,
        grouped: bool,
    ) -> list[MeasureRow]: ...


@dataclass(frozen=True)
class Kind:
    """How terms become what is published, what proves it, and what answers counts."""

    published: Callable[[str], Answering]
    """The tables in a schema."""
    prepare: Callable[[], None]
    """Loads the kernels, or compiles them."""
    make: _Make
    """Fills the tables ``srsql_pub_*`` from the baskets and the policy."""
    check_told: _CheckTold
    """Every check, with what only the making of the release knows."""
    check_shown: Callable[[Warehouse, str, int, int, Terms], list[MeasureRow]]
    """The checks that need nothing but the published tables and the catalog."""


def _load_chunks() -> None:
    from srsql.udfs.terms.arrow_kernels import warm_up_disassociation

    warm_up_disassociation()


def _load_nodes() -> None:
    from srsql.udfs.terms.arrow_kernels import warm_up_generalization

    warm_up_generalization()


KINDS: dict[Literal["chunks", "nodes"], Kind] = {
    "chunks": Kind(
        PublishedTerms.in_schema, _load_chunks, make_chunks, check_told_chunks, check_shown_chunks
    ),
    "nodes": Kind(
        PublishedNodes.in_schema, _load_nodes, make_nodes, check_told_nodes, check_shown_nodes
    ),
}
"""By ``GroupingModel.tells``."""


def kind_of(warehouse: Warehouse, release_id: int) -> Kind:
    """The kind of a release in the catalog that has terms of one."""
    model = warehouse.value(
        "SELECT r.model FROM srsql.release AS r WHERE r.release_id = ?", [release_id]
    )
    return KINDS[MODELS[model].tells]
