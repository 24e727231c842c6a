"""Frequent itemsets of the baskets, level by level."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from srsql.engine.errors import PolicyError
from srsql.engine.store.statements import literal, query
from srsql.engine.store.warehouse import Warehouse


@dataclass(frozen=True)
class Itemset:
    """Terms, sorted, and the number of records that hold them all."""

    terms: tuple[str, ...]
    records: int


def frequent_itemsets(
    warehouse: Warehouse,
    originals: str,
    percent: Fraction | int | str,
    *,
    longest: int | None = None,
    at_most: int = 1_000_000,
) -> list[Itemset]:
    """Every set of terms that at least ``percent`` % of the records hold.

    Args:
        warehouse: in which the originals are.
        originals: name of a table ``(record, term)``, distinct.
        percent: minimum support in percent of the records, e.g. ``"0.625"``.
        longest: terms of the longest sets looked for; None: no limit.
        at_most: sets looked for.

    Returns:
        The sets, shorter ones first, then in the order of their terms.

    Raises:
        PolicyError: the support is not above 0 and up to 100, or more sets than ``at_most`` have
            it.
    """
    support = Fraction(percent)
    if not 0 < support <= 100:
        raise PolicyError(f"a minimum support of {percent} % is not above 0 and up to 100")
    records = warehouse.value(f"SELECT count(DISTINCT o.record) FROM {originals} AS o")
    if not records:
        return []
    at_least = math.ceil(support * records / 100)
    found = {
        number: Itemset((term,), count)
        for number, (_, term, count) in enumerate(_first_level(warehouse, originals, at_least))
    }
    itemsets, start = dict(found), len(found)
    while found and (longest is None or len(next(iter(found.values())).terms) < longest):
        rows = warehouse.rows(query("terms/itemsets", "longer_sets"), {"at_least": at_least})
        found = {
            start + i: Itemset((*found[before].terms, term), count)
            for i, (before, term, count) in enumerate(rows)
        }
        itemsets.update(found)
        if len(itemsets) > at_most:
            raise PolicyError(
                f"more than {at_most:,} sets of terms have a support of {percent} %: raise it"
            )
        _next_level(warehouse, [row[0] for row in rows], [row[1] for row in rows], start)
        start += len(rows)
    return list(itemsets.values())


def _first_level(warehouse: Warehouse, originals: str, at_least: int) -> list[tuple[int, str, int]]:
    """The frequent terms; baskets and holders are reduced to them."""
    rows = warehouse.rows(
        f"SELECT f.set_no, f.term, f.records "
        f"FROM srsql.frequent_terms({literal(originals)}, {at_least:d}) AS f ORDER BY f.term"
    )
    frequent = [row[1] for row in rows]
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_itemset_basket AS "
        f"SELECT o.record, o.term FROM {originals} AS o WHERE list_contains(?::VARCHAR[], o.term)",
        [frequent],
    )
    warehouse.run(query("terms/itemsets", "first_holders"), {"terms": frequent})
    return rows


def _next_level(warehouse: Warehouse, before: list[int], terms: list[str], start: int) -> None:
    """Holders of the sets of the next level, which are numbered from ``start``."""
    warehouse.run(
        query("terms/itemsets", "next_holders"), {"before": before, "terms": terms, "start": start}
    )
