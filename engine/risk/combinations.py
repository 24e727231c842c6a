"""How many records share a combination of terms (Loukides 2014, section 6.2 and Fig. 12)."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction

from srsql.engine.warehouse.released_terms import put_sets
from srsql.engine.warehouse.statements import literal
from srsql.engine.warehouse.warehouse import Warehouse

MANY = 11
"""From so many records on, combinations are told together ("> 10")."""


@dataclass(frozen=True)
class CombinationShare:
    """The share of the distinct combinations of so many terms that so many records hold."""

    terms: int
    records: int
    """1 to 10, or 11 for more than 10."""
    share: float
    exact: bool
    """False: estimated from ``examined`` occurrences of combinations."""
    examined: int


def combination_shares(
    warehouse: Warehouse,
    originals: str,
    *,
    sizes: tuple[int, ...] = (2, 3, 4, 5),
    budget: int = 1_000_000,
    samples: int = 5_000,
    seed: int = 0,
) -> list[CombinationShare]:
    """Shares of the combinations of each size by the number of records, 1 to 10 and more than 10.

    A size whose records have at most ``budget`` combinations is counted exactly. Else (a record of
    400 terms has 83 milliard of 5) combinations are drawn, each as likely as the number of records
    that hold it, and a drawn one weighs 1 / that number, which is counted exactly: the estimate of
    each share is consistent whatever the lengths of the records.

    Args:
        warehouse: in which the originals are.
        originals: name of a table ``(record, term)``, distinct.
        sizes: numbers of terms.
        budget: combinations, with repetitions, up to which all are made.
        samples: combinations drawn otherwise.
        seed: of the draws.
    """
    lengths = dict(
        warehouse.rows(
            f"SELECT o.record, count(*) FROM {originals} AS o GROUP BY o.record ORDER BY o.record"
        )
    )
    shares: list[CombinationShare] = []
    for size in sizes:
        made = sum(math.comb(n, s) for n in lengths.values() for s in range(1, size + 1))
        total = sum(math.comb(n, size) for n in lengths.values())
        if not total:
            continue
        exact = made <= budget
        weights = (
            _all(warehouse, originals, size)
            if exact
            else _drawn(warehouse, originals, lengths, size, samples, seed)
        )
        together = sum(weights.values())
        shares.extend(
            CombinationShare(
                size, n, float(weights.get(n, 0) / together), exact, total if exact else samples
            )
            for n in range(1, MANY + 1)
        )
    return shares


def _all(warehouse: Warehouse, originals: str, size: int) -> dict[int, Fraction]:
    found: dict[int, Fraction] = defaultdict(Fraction)
    for records, combinations in warehouse.rows(
        "SELECT c.records, c.combinations "
        f"FROM srsql.combination_frequencies({literal(originals)}, {size:d}) AS c"
    ):
        found[min(records, MANY)] += combinations
    return found


def _drawn(
    warehouse: Warehouse,
    originals: str,
    lengths: dict[int, int],
    size: int,
    samples: int,
    seed: int,
) -> dict[int, Fraction]:
    luck = random.Random(f"{seed} {size}")
    chosen = luck.choices(list(lengths), [math.comb(n, size) for n in lengths.values()], k=samples)
    held: dict[int, list[str]] = dict(
        warehouse.rows(
            f"SELECT o.record, list(o.term ORDER BY o.term) FROM {originals} AS o "
            "SEMI JOIN (SELECT unnest(?::BIGINT[]) AS record) AS c ON o.record = c.record "
            "GROUP BY o.record",
            [sorted(set(chosen))],
        )
    )
    sets = put_sets(warehouse, [luck.sample(held[record], size) for record in chosen])
    found: dict[int, Fraction] = defaultdict(Fraction)
    for (records,) in warehouse.rows(
        f"SELECT c.records FROM srsql.basket_counts({literal(originals)}, {sets}) AS c"
    ):
        found[min(records, MANY)] += Fraction(1, records)
    return found
