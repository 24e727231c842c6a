"""COUNT from a disassociated release: bounds and means against all ways that chunks can meet."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import log, prod
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.examples import REPEATABLE
from oracles.published_terms import count_range, match_mean, random_places, reconstruct
from support.published_terms import Published, Subrecord, fill, load, project, warehouse

from srsql.engine.catalog.released_terms import put_sets
from srsql.engine.errors import QueryError
from srsql.engine.risk.term_counts import count_terms

FORESTS: list[dict[int, frozenset[int]]] = [
    {},
    {1: frozenset({1, 2})},
    {1: frozenset({1, 2}), 2: frozenset({1, 2, 3})},
    {1: frozenset({2, 3}), 2: frozenset({1, 2, 3})},
]
"""Joint clusters over clusters 1 to 3, the last two one above the other."""
TINY = settings(REPEATABLE, max_examples=20)


def world(
    seed: int, forest: int, sizes: tuple[int, ...], terms: str = "abcd"
) -> tuple[list[Subrecord], list[int], Published]:
    """Random records, and what is published of them when terms have random places."""
    luck = random.Random(seed)
    member = [c for c, size in enumerate(sizes, 1) for _ in range(size)]
    records = [frozenset(t for t in terms if luck.random() < 0.5) or frozenset("a") for _ in member]
    joints = FORESTS[forest]
    return (
        records,
        member,
        project(records, member, joints, random_places(luck, records, member, joints)),
    )


worlds = {"seed": st.integers(0, 10_000), "forest": st.integers(0, len(FORESTS) - 1)}


@pytest.mark.slow
@TINY
@given(**worlds)
def test_bounds_are_the_fewest_and_most_and_expected_is_the_mean_of_all_datasets(
    sql: Any, seed: int, forest: int
) -> None:
    records, _, made = world(seed, forest, (3, 2, 2), "abc")
    sets = [c for size in (1, 2, 3) for c in combinations("abc", size)]
    counts = count_terms(warehouse(sql), load(sql, made.rows()), sets)
    assert [c.terms for c in counts] == sets
    for count in counts:
        fewest, mean, most = count_range(made, frozenset(count.terms))
        assert (count.lower, count.upper) == (fewest, most), count
        assert count.expected == pytest.approx(float(mean)), count
        assert count.lower <= sum(set(count.terms) <= r for r in records) <= count.upper


@TINY
@given(**worlds, item_cases=st.integers(1, 2))
def test_an_item_that_few_records_hold_narrows_the_bounds_to_what_is_reached(
    sql: Any, seed: int, forest: int, item_cases: int
) -> None:
    _, _, made = world(seed, forest, (3, 2, 2), "abc")
    sets = [c for size in (1, 2, 3) for c in combinations("abc", size)]
    tables = replace(load(sql, made.rows()), item_cases=item_cases)
    for count in count_terms(warehouse(sql), tables, sets):
        fewest, _, most = count_range(made, frozenset(count.terms), item_cases)
        assert (count.lower, count.upper) == (fewest, most), count


@pytest.mark.slow
@TINY
@given(**worlds, sizes=st.tuples(*[st.integers(4, 9)] * 3))
def test_the_truth_and_every_reconstruction_lie_within_the_bounds(
    sql: Any, seed: int, forest: int, sizes: tuple[int, int, int]
) -> None:
    records, _, made = world(seed, forest, sizes, "abcdef")
    sets = [c for size in (1, 2, 3, 4) for c in combinations("abcdef", size)]
    luck = random.Random(seed)
    samples = [records, *(reconstruct(made, luck) for _ in range(5))]
    for count in count_terms(warehouse(sql), load(sql, made.rows()), sets):
        for sample in samples:
            assert count.lower <= sum(set(count.terms) <= r for r in sample) <= count.upper
        assert count.lower <= count.expected <= count.upper


@pytest.mark.parametrize("seed", range(3))
def test_expected_is_what_reconstructions_average_to(sql: Any, seed: int) -> None:
    """400 datasets: six standard errors of what they vary by."""
    _, _, made = world(seed, 2, (6, 5, 7))
    sets = [c for size in (1, 2, 3, 4) for c in combinations("abcd", size)]
    luck = random.Random(seed)
    samples = [reconstruct(made, luck) for _ in range(400)]
    house, tables = warehouse(sql), load(sql, made.rows())
    for count in count_terms(house, tables, sets):
        found = [sum(set(count.terms) <= r for r in sample) for sample in samples]
        mean = sum(found) / len(found)
        spread = (sum((x - mean) ** 2 for x in found) / len(found) / len(found)) ** 0.5
        assert count.expected == pytest.approx(mean, abs=6 * spread + 0.02)


@settings(REPEATABLE, max_examples=12)
@given(**worlds)
def test_matches_are_the_mean_over_reconstructions(sql: Any, seed: int, forest: int) -> None:
    """``srsql.term_matches``: 1 - the chance that no chunk gives the record a term of the set."""
    _, _, made = world(seed, forest, (5, 4, 6))
    sets = [frozenset(c) for size in (1, 2, 3, 4) for c in combinations("abcd", size)]
    call = load(sql, made.rows()).matches(put_sets(warehouse(sql), sets))
    found = dict(sql.rows(f"SELECT set_no, expected FROM {call}"))
    for number, asked in enumerate(sets):
        total = Fraction(0)
        for cluster, size in made.records.items():
            none = Fraction(1)
            for (owner, _), subrecords in made.own.items():
                if owner == cluster:
                    none *= 1 - Fraction(sum(bool(s & asked) for s in subrecords), size)
            for (owner, _), subrecords in made.shared.items():
                if cluster in made.joints[owner]:
                    carriers = sum(bool(s & asked) for s in subrecords)
                    none *= 1 - Fraction(carriers, made.crowd(owner))
            none *= (1 - Fraction(1, size)) ** len(asked & made.items.get(cluster, frozenset()))
            total += (1 - none) * size
        assert found[number] == pytest.approx(float(total))


MEANS = {"a": 1.5, "c": 2.0}


@pytest.mark.slow
@settings(REPEATABLE, max_examples=4)
@given(**worlds)
def test_item_terms_stand_for_their_mean_and_bounds_stay_as_they_are(
    sql: Any, seed: int, forest: int
) -> None:
    """``srsql.term_counts_at_means`` and ``srsql.term_matches_at_means``, record by record."""
    _, _, made = world(seed, forest, (3, 2, 2), "abc")
    sets = [c for size in (1, 2, 3) for c in combinations("abc", size)]
    house, tables = warehouse(sql), load(sql, made.rows())
    fill(sql, "means", ("term VARCHAR", "mean DOUBLE"), list(MEANS.items()))
    at_means = replace(tables, item_means="temp.main.means")
    plain, found = (count_terms(house, each, sets) for each in (tables, at_means))
    for one, other in zip(plain, found, strict=True):
        assert (one.terms, one.lower, one.upper) == (other.terms, other.lower, other.upper)
        mean = sum(
            size * float(prod(chances(made, cluster, set(one.terms)) or [0]))
            for cluster, size in made.records.items()
        )
        assert other.expected == pytest.approx(min(max(mean, one.lower), one.upper))
    matches = dict(sql.rows(f"FROM {at_means.matches(put_sets(house, [tuple('ac')]))}"))
    some = sum(
        size * (1 - float(prod(1 - chance for term in "ac" for chance in
                               chances(made, cluster, {term}) or [0])))
        for cluster, size in made.records.items()
        if not together(made, cluster, "a", "c")
    )  # fmt: skip
    if not any(together(made, cluster, "a", "c") for cluster in made.records):
        assert matches[0] == pytest.approx(some)


def test_the_excess_of_an_attribute_goes_to_the_terms_that_many_clusters_show(sql: Any) -> None:
    """``srsql.item_term_means``: scaled to the mean of the attribute, at most so many."""
    clusters = range(1, 100)
    items = [(c, "x:common") for c in clusters if c <= 50]
    items += [(c, "x:rare") for c in clusters if c <= 2] + [(9, "y:other")]
    fill(sql, "clusters", ("cluster INTEGER", "records INTEGER"), [(c, 20) for c in clusters])
    fill(sql, "items", ("cluster INTEGER", "term VARCHAR"), items)
    told = [(c, 1, n, "x:common") for c in (60, 61) for n in range(5)]
    columns = ("cluster INTEGER", "chunk INTEGER", "subrecord INTEGER", "term VARCHAR")
    fill(sql, "chunks", columns, told)

    def means(most: float) -> dict[str, float]:
        return dict(
            sql.rows(
                "SELECT term, mean FROM srsql.item_term_means('temp.main.clusters', "
                f"'temp.main.chunks', 'temp.main.items', map(['x'], [1.4]), {most})"
            )
        )

    found = means(4)
    excess = {
        term: -log(1 - n / 100) / (n / 100) - 1 for term, n in (("x:common", 52), ("x:rare", 2))
    }
    typical = (50 * excess["x:common"] + 2 * excess["x:rare"]) / 52
    for term, of in excess.items():
        assert found[term] == pytest.approx(1 + 0.4 * of / typical)
    assert (50 * found["x:common"] + 2 * found["x:rare"]) / 52 == pytest.approx(1.4)
    assert found["x:rare"] < 1.02 < found["x:common"]
    assert found["y:other"] == 1
    assert means(1.2)["x:common"] == 1.2


def chances(made: Published, cluster: int, asked: set[str]) -> list[Fraction] | None:
    """Of each part of a set, the chance that a record of the cluster holds it; None: no place."""
    places, size = made.places(cluster), made.records[cluster]
    if not asked <= places.keys():
        return None
    parts: dict[Any, set[str]] = defaultdict(set)
    for term in asked:
        kind, owner, chunk = places[term]
        parts[kind, owner, term if kind == "item" else chunk].add(term)
    found = []
    for (kind, owner, chunk), part in parts.items():
        if kind == "item":
            found.append(Fraction(MEANS.get(chunk, 1)) / size)
            continue
        subrecords = (made.own if kind == "own" else made.shared)[owner, chunk]
        crowd = size if kind == "own" else made.crowd(owner)
        found.append(Fraction(sum(part <= s for s in subrecords), crowd))
    return found


def together(made: Published, cluster: int, one: str, other: str) -> bool:
    """Whether both terms are told in one chunk of records."""
    places = made.places(cluster)
    return one in places and places[one] == places.get(other) and places[one][0] != "item"


def test_matches_of_one_sample_are_near_their_mean(sql: Any) -> None:
    _, _, made = world(4, 2, (9, 9, 9))
    asked = frozenset("ab")
    call = load(sql, made.rows()).matches(put_sets(warehouse(sql), [asked]))
    ((_, expected),) = sql.rows(f"FROM {call}")
    luck = random.Random(1)
    found = [match_mean(made, asked, luck) for _ in range(300)]
    assert sum(found) / 300 == pytest.approx(expected, abs=0.5)


def test_a_set_of_one_part_is_exact(sql: Any) -> None:
    records, _, made = world(7, 3, (6, 6, 6))
    whole = {
        frozenset(t for s in chunk for t in s)
        for chunk in (*made.own.values(), *made.shared.values())
    }
    house, tables = warehouse(sql), load(sql, made.rows())
    exact = [t for t in "abcd" if not any(t in items for items in made.items.values())]
    assert exact or whole
    for count in count_terms(house, tables, [(t,) for t in exact]):
        truth = sum(count.terms[0] in r for r in records)
        assert (count.lower, count.expected, count.upper) == (truth, truth, truth)


def test_clusters_together_never_hold_more_than_their_shared_chunk(sql: Any) -> None:
    """Each of two clusters could take all three subrecords with x, both together cannot."""
    a, x = frozenset("a"), frozenset("x")
    made = Published(
        {1: 5, 2: 5},
        {1: frozenset({1, 2})},
        own={(1, 1): [a] * 5, (2, 1): [a] * 5},
        shared={(1, 1): [x] * 3},
    )
    (count,) = count_terms(warehouse(sql), load(sql, made.rows()), ["ax"])
    assert (count.lower, count.expected, count.upper) == (3, 3, 3)


def test_terms_that_are_nowhere_or_never_together_count_0(sql: Any) -> None:
    made = Published({1: 3, 2: 3}, own={(1, 1): [frozenset("a")] * 3, (2, 1): [frozenset("b")] * 3})
    house, tables = warehouse(sql), load(sql, made.rows())
    for count in count_terms(house, tables, [("zz",), ("a", "zz"), ("a", "b")]):
        assert (count.lower, count.expected, count.upper) == (0, 0, 0)
    assert count_terms(house, tables, []) == []
    with pytest.raises(QueryError, match="has no term"):
        count_terms(house, tables, [("a",), ()])
