"""Itemsets level by level and combinations by size, against sets that are counted one by one."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.examples import REPEATABLE
from support.published_terms import Subrecord, fill

BASKETS = "'temp.main.level_basket'"
baskets = st.lists(st.frozensets(st.sampled_from("abcdef"), min_size=1), min_size=1, max_size=15)


def put(sql: Any, records: list[Subrecord]) -> None:
    rows = [(n, term) for n, record in enumerate(records) for term in sorted(record)]
    fill(sql, "level_basket", ("record INTEGER", "term VARCHAR"), rows)


def supports(records: list[Subrecord], size: int) -> Counter[tuple[str, ...]]:
    """How many records hold each set of ``size`` terms that one of them holds."""
    return Counter(held for record in records for held in combinations(sorted(record), size))


@pytest.mark.slow
@REPEATABLE
@given(records=baskets, at_least=st.integers(1, 5))
def test_frequent_terms_are_those_that_so_many_records_hold(
    sql: Any, records: list[Subrecord], at_least: int
) -> None:
    put(sql, records)
    rows = sql.rows(f"FROM srsql.frequent_terms({BASKETS}, {at_least})")
    assert {(number, (term,), n) for number, term, n in rows} == {
        (0, held, n) for held, n in supports(records, 1).items() if n >= at_least
    }


@REPEATABLE
@given(records=baskets, at_least=st.integers(1, 4), size=st.integers(1, 3))
def test_a_level_follows_from_the_one_below(
    sql: Any, records: list[Subrecord], at_least: int, size: int
) -> None:
    """Of the holders of sets of ``size`` terms: the longer sets, and who holds these."""
    frequent = {held[0] for held, n in supports(records, 1).items() if n >= at_least}
    kept = [record & frequent for record in records]
    put(sql, kept)
    sets = sorted(held for held, n in supports(kept, size).items() if n >= at_least)
    numbers = {held: number for number, held in enumerate(sets)}
    holders = fill(
        sql,
        "level_holder",
        ("record INTEGER", "set_no BIGINT", "last VARCHAR"),
        [(n, number, held[-1]) for n, r in enumerate(kept) for held, number in numbers.items()
         if r >= set(held)],
    )  # fmt: skip
    rows = sql.rows(f"FROM srsql.frequent_longer('{holders}', {BASKETS}, {at_least})")
    longer = {held: n for held, n in supports(kept, size + 1).items() if n >= at_least}
    assert {((*sets[number], term), n) for number, term, n in rows} == set(longer.items())
    numbered = dict(enumerate(sorted(longer), 100))
    named = fill(
        sql,
        "level_longer",
        ("set_no BIGINT", "before BIGINT", "term VARCHAR"),
        [(number, numbers[held[:-1]], held[-1]) for number, held in numbered.items()],
    )
    rows = sql.rows(f"FROM srsql.itemset_holders('{holders}', {BASKETS}, '{named}')")
    assert sorted(rows) == sorted(
        (n, number, held[-1])
        for n, record in enumerate(kept)
        for number, held in numbered.items()
        if record >= set(held)
    )


@REPEATABLE
@given(records=baskets, size=st.integers(1, 5))
def test_combinations_are_counted_by_how_many_records_hold_them(
    sql: Any, records: list[Subrecord], size: int
) -> None:
    put(sql, records)
    rows = sql.rows(f"FROM srsql.combination_frequencies({BASKETS}, {size})")
    assert dict(rows) == Counter(supports(records, size).values())


@REPEATABLE
@given(
    policy=st.lists(st.tuples(st.integers(0, 3), st.sampled_from([" a", "A ", "b", "Zz", "c\t"]))),
    terms=st.sets(st.sampled_from(["a", "B", "zZ", " c"])),
)
def test_a_policy_is_told_in_the_terms_that_the_data_have(
    sql: Any, policy: list[tuple[int, str]], terms: set[str]
) -> None:
    """SQL's trim takes blanks away and no tabulator."""
    named = fill(sql, "level_policy", ("constraint_no INTEGER", "term VARCHAR"), policy)
    known = fill(sql, "level_known", ("term VARCHAR",), [(term,) for term in sorted(terms)])
    rows = sql.rows(f"FROM srsql.policy_terms('{named}', '{known}')")
    assert sorted(rows) == sorted(
        {(u, t) for u, term in policy for t in terms
         if term.strip(" ").upper() == t.strip(" ").upper()}
    )  # fmt: skip
