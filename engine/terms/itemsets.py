"""Frequent itemsets of the baskets, level by level."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from srsql.engine.errors import PolicyError
from srsql.engine.warehouse.statements import literal
from srsql.engine.warehouse.warehouse import Warehouse

FREQUENT = literal("temp.main.srsql_frequent_basket")


HOLDERS = literal("temp.main.srsql_itemset_holder")


LONGER = literal("temp.main.srsql_itemset_longer")


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
    sets, start = dict(found), len(found)
    while found and (longest is None or len(next(iter(found.values())).terms) < longest):
        rows = warehouse.rows(
            f"SELECT l.set_no, l.term, l.records "
            f"FROM srsql.frequent_longer({HOLDERS}, {FREQUENT}, {at_least:d}) AS l "
            "ORDER BY l.set_no, l.term"
        )
        found = {
            start + i: Itemset((*found[before].terms, term), count)
            for i, (before, term, count) in enumerate(rows)
        }
        sets.update(found)
        if len(sets) > at_most:
            raise PolicyError(
                f"more than {at_most:,} sets of terms have a support of {percent} %: raise it"
            )
        _next_level(warehouse, [row[0] for row in rows], [row[1] for row in rows], start)
        start += len(rows)
    return list(sets.values())


def _first_level(warehouse: Warehouse, originals: str, at_least: int) -> list[tuple[int, str, int]]:
    """The frequent terms; baskets and holders are reduced to them."""
    rows = warehouse.rows(
        f"SELECT f.set_no, f.term, f.records "
        f"FROM srsql.frequent_terms({literal(originals)}, {at_least:d}) AS f ORDER BY f.term"
    )
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_frequent_basket AS "
        f"SELECT o.record, o.term FROM {originals} AS o WHERE list_contains(?::VARCHAR[], o.term)",
        [[row[1] for row in rows]],
    )
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_itemset_holder AS "
        "SELECT b.record, n.set_no, b.term AS last FROM temp.main.srsql_frequent_basket AS b "
        "INNER JOIN (SELECT unnest(?::VARCHAR[]) AS term, "
        "unnest(range(len(?::VARCHAR[]))) AS set_no) AS n ON b.term = n.term",
        [[row[1] for row in rows]] * 2,
    )
    return rows


def _next_level(warehouse: Warehouse, before: list[int], terms: list[str], start: int) -> None:
    """Holders of the sets of the next level, which are numbered from ``start``."""
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_itemset_longer AS "
        "SELECT unnest(?::BIGINT[]) AS before, unnest(?::VARCHAR[]) AS term, "
        "unnest(range(?::BIGINT, ?::BIGINT)) AS set_no",
        [before, terms, start, start + len(terms)],
    )
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_itemset_next AS SELECT h.* "
        f"FROM srsql.itemset_holders({HOLDERS}, {FREQUENT}, {LONGER}) AS h"
    )
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_itemset_holder AS "
        "SELECT n.* FROM temp.main.srsql_itemset_next AS n"
    )
