"""Which utility policy a release follows: a file, a hierarchy's nodes, or frequent itemsets."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from srsql.engine.errors import PolicyError
from srsql.engine.terms.itemsets import frequent_itemsets
from srsql.engine.terms.policies import (
    UtilityPolicy,
    frequency_policy,
    hierarchy_policy,
    load_policy,
    load_tree,
    put_constraints,
    similarity_policy,
)
from srsql.engine.warehouse.released_terms import put_originals
from srsql.engine.warehouse.warehouse import Warehouse

TERMS = "temp.main.srsql_basket_term"
WAYS = "a CSV file (constraint, term), level:N:FILE, sim:N:FILE or sup:PERCENT"


@dataclass(frozen=True)
class PolicyChoice:
    """One utility policy, or where in the data it comes from."""

    name: str
    """For the manifests; never a path."""
    fixed: UtilityPolicy | None = None
    percent: str | None = None
    """Minimum support of the itemsets that become constraints, in percent of the records."""

    def find(self, warehouse: Warehouse) -> UtilityPolicy:
        """The policy itself; of itemsets, those of the quarter's baskets."""
        if self.fixed is not None:
            return self.fixed
        percent = self.percent or ""
        originals = put_originals(warehouse, terms=TERMS)
        return frequency_policy(frequent_itemsets(warehouse, originals, percent), percent)


def parse_policy(text: str) -> PolicyChoice:
    """``FILE``, ``level:N:FILE``, ``sim:N:FILE`` or ``sup:PERCENT``.

    Raises:
        PolicyError: it is none of them, or the file is wrong.
    """
    kind, _, rest = text.partition(":")
    if kind == "sup":
        return PolicyChoice(text, percent=rest)
    if kind in ("level", "sim"):
        number, _, file = rest.partition(":")
        if not number.isdecimal() or not file:
            raise PolicyError(f"--policy {text!r}: give {WAYS}")
        make = hierarchy_policy if kind == "level" else similarity_policy
        made = make(load_tree(Path(file)), int(number))
        return PolicyChoice(f"{kind}:{number}", made)
    policy = load_policy(Path(text))
    return PolicyChoice(f"file of {len(policy.constraints)} constraints", policy)


def put_chosen(warehouse: Warehouse, choice: PolicyChoice | None, release_id: int) -> None:
    """Fill ``srsql_constraint`` for the kernels, and the catalog; without a choice it is empty."""
    policy = choice.find(warehouse) if choice else UtilityPolicy("none", {})
    put_constraints(warehouse, policy, TERMS)
    pairs = [(name, term) for name, terms in policy.constraints.items() for term in terms]
    warehouse.run(
        "INSERT INTO srsql.utility_constraint SELECT ?, unnest(?::VARCHAR[]), unnest(?::VARCHAR[])",
        [release_id, [name for name, _ in pairs], [term for _, term in pairs]],
    )
