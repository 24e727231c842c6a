"""Whole rows that are taken apart: what is told of values, and clusters of whole groups."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from oracles.published_terms import covers_its_records, is_km_anonymous, worlds
from oracles.whole_rows import Clusters, likeliest
from support.published_terms import (
    Place,
    Published,
    Subrecord,
    fill,
    load,
    project,
    warehouse,
)

from srsql.engine.catalog.released_terms import Items
from srsql.engine.checks.whole_rows import (
    OtherItems,
    inferred,
    known_shares,
    longest_untold,
    share_faults,
    told_values,
)
from srsql.udfs.terms.bounding import Thresholds, bounded_chunks
from srsql.udfs.terms.horizontal import Baskets, split_records
from srsql.udfs.terms.vertical import group_holdings

pytestmark = pytest.mark.slow

TERMS = ("pt:A", "pt:B", "indi_pt:A", "drugname:X", "drugname:Y", "outc_cod:HO")
SENSITIVE = Items(frozenset({"pt", "indi_pt"}))
VALUES = {"pt:A": "A", "pt:B": "B", "indi_pt:A": "A"}


def publication(luck: random.Random, clusters: int, size: int) -> Published:
    """Any publication of a few records, k^m-anonymous or not."""
    records: list[Subrecord] = []
    member: list[int] = []
    places: dict[tuple[int, str], Place] = {}
    for cluster in range(1, clusters + 1):
        for _ in range(size):
            records.append(frozenset(t for t in TERMS if luck.random() < 0.4))
            member.append(cluster)
        for term in TERMS:
            kind = luck.choice(["own", "own", "own", "item"])
            places[cluster, term] = (kind, cluster, luck.choice([1, 2]) if kind == "own" else 0)
    return project(records, member, {}, places)


@pytest.mark.parametrize("seed", range(40))
def test_what_is_told_of_a_value_is_its_probability_over_all_datasets_that_fit(
    seed: int, sql: object
) -> None:
    luck = random.Random(seed)
    made = publication(luck, 1, 3)
    m = luck.choice([1, 2, 3])
    tables = load(sql, made.rows())
    told = {
        t.value: t for t in told_values(warehouse(sql), tables, SENSITIVE, {"A": Fraction(1)}, m)
    }
    assert told.keys() == {VALUES[t] for t in made.places(1) if t in VALUES}
    for value, found in told.items():
        assert found.share == likeliest(made, 1, VALUES, value, m)
        assert found.passed == (value == "A")


@pytest.mark.parametrize("seed", range(20))
def test_a_term_without_a_threshold_follows_where_it_is_too_probable_in_some_set(
    seed: int, sql: object
) -> None:
    luck = random.Random(seed)
    made = publication(luck, 1, 3)
    m, bound = luck.choice([1, 2]), Fraction(1, luck.choice([1, 2, 3]))
    tables, others = load(sql, made.rows()), OtherItems(SENSITIVE.sensitive)
    told = {t.value: t for t in told_values(warehouse(sql), tables, others, bound, m)}
    own = {t: t for t in made.places(1) if t not in VALUES}
    assert told.keys() == own.keys()
    for term, found in told.items():
        assert found.share == likeliest(made, 1, own, term, m)
        assert found.passed == (found.share <= bound)
        assert found.follows == (found.share == 1 or found.share > bound)
    rows = known_shares([], told.values(), 1)
    assert inferred(rows) == sum(found.follows for found in told.values())
    (gate,) = [row for row in rows if row.measure == "check_other_shares"]
    assert gate.passed == all(found.passed for found in told.values())


def test_a_qualifier_makes_no_other_term() -> None:
    others = OtherItems(frozenset({"pt"}))
    assert others.value("drugname/role:A/B/PS") == others.value("drugname/role:A/B/SS")
    assert others.value("drugname/role:A") == "drugname/role:A"
    assert others.value("pt:A") is None


def test_a_value_without_a_threshold_or_above_it_is_named(sql: object) -> None:
    made = Published({1: 4}, own={(1, 1): [frozenset({"pt:A", "drugname:X"})] * 2})
    tables = load(sql, made.rows())
    assert longest_untold(warehouse(sql), tables, 2) == 0
    told = list(told_values(warehouse(sql), tables, SENSITIVE, {"A": Fraction(1, 2)}, 2))
    (fault,) = share_faults(told)
    assert "A is told with probability 1, its threshold is 1/2" in fault
    (fault,) = share_faults(told_values(warehouse(sql), tables, SENSITIVE, {}, 2))
    assert "A has no threshold" in fault


def test_a_chunk_with_too_many_sets_of_terms_is_not_proved(sql: object) -> None:
    terms = frozenset(f"pt:T{n}" for n in range(60))
    tables = load(sql, Published({1: 9}, own={(1, 1): [terms] * 9}).rows())
    assert longest_untold(warehouse(sql), tables, 5) == 60
    told = next(told_values(warehouse(sql), tables, SENSITIVE, {"T0": Fraction(1)}, 5))
    assert told.share is None
    assert not told.passed


def test_an_item_with_a_qualifier_stands_for_its_term() -> None:
    items = Items(frozenset({"pt/role"}))
    assert items.value("pt/role:A/B/PS") == "A/B"
    assert items.value("pt/role:A") == "A"
    assert items.value("drugname:A") is None


@pytest.mark.parametrize("seed", range(60))
def test_bounded_chunks_keep_every_threshold_and_stay_km_anonymous(seed: int, sql: object) -> None:
    luck = random.Random(seed)
    k, m, size = luck.choice([2, 3]), luck.choice([1, 2, 3]), luck.randint(8, 14)
    records = [frozenset(t for t in TERMS if luck.random() < 0.5) for _ in range(size)]
    support = Counter(t for r in records for t in r)
    places: dict[tuple[int, str], Place] = {}
    taken: list[str] = []
    for term in sorted(support, key=lambda t: (-support[t], t)):
        parts = [r & {*taken, term} for r in records if r & {*taken, term}]
        if is_km_anonymous(parts, k, m):
            taken.append(term)
            places[1, term] = ("own", 1, 1)
        else:
            places[1, term] = ("item", 1, 0)
    numbers = {term: n for n, term in enumerate(sorted(support))}
    pairs = [(r, numbers[t]) for r, record in enumerate(records) for t in record]
    holdings = group_holdings(
        np.zeros(len(pairs), np.int64),
        np.array([r for r, _ in pairs], np.int64),
        np.array([t for _, t in pairs], np.int64),
        1,
    )
    theta = {"A": Fraction(luck.randint(3, 9), 10), "B": Fraction(luck.randint(3, 9), 10)}
    value = {term: "AB".index(VALUES[term]) for term in numbers if term in VALUES}
    bounds = Thresholds(
        np.array([value.get(t, -1) for t in sorted(numbers)], np.int64),
        np.array([theta[VALUES[t]].numerator if t in VALUES else 1 for t in sorted(numbers)]),
        np.array([theta[VALUES[t]].denominator if t in VALUES else 1 for t in sorted(numbers)]),
    )
    chunk = np.array([places[1, t][2] for t in sorted(numbers)], np.int64)
    found = bounded_chunks(holdings, np.array([size], np.int64), chunk, bounds, k, m)
    again = {
        (1, t): (("own", 1, int(c)) if c else ("item", 1, 0))
        for t, c in zip(sorted(numbers), found, strict=True)
    }
    made = project(records, [1] * size, {}, again)
    tables = load(sql, made.rows())
    told = list(told_values(warehouse(sql), tables, SENSITIVE, theta, m))
    assert share_faults(told) == []
    assert all(is_km_anonymous(c, k, m) for c in made.own.values())
    assert covers_its_records(made, 1, k, m)
    if share_faults(told_values(warehouse(sql), load(sql, project(
        records, [1] * size, {}, places).rows()), SENSITIVE, theta, m)) == [] and (
        covers_its_records(project(records, [1] * size, {}, places), 1, k, m)
    ):  # fmt: skip
        moved = [t for t in numbers if (again[1, t][0] == "item") != (places[1, t][0] == "item")]
        assert set(moved) <= set(VALUES)  # several places are bounded by a sum, on the safe side


@pytest.mark.parametrize("seed", range(30))
def test_clusters_of_groups_are_unions_of_groups_that_are_large_enough(seed: int) -> None:
    luck = random.Random(seed)
    groups = luck.randint(1, 40)
    weight = np.array([luck.randint(3, 9) for _ in range(groups)], np.int64)
    terms = [sorted(luck.sample(range(12), luck.randint(0, 6))) for _ in range(groups)]
    least = luck.randint(1, int(weight.sum()))
    baskets = Baskets(
        np.cumsum([0, *map(len, terms)]).astype(np.int64),
        np.array([t for basket in terms for t in basket], np.int32),
        np.full(12, -1, np.int32),
        np.ones(12, np.bool_),
    )
    cluster = split_records(baskets, np.zeros(groups, np.int64), 2 * least, least, weight)
    assert len(cluster) == groups
    sizes = Counter[int]()
    for number, records in zip(cluster, weight, strict=True):
        sizes[int(number)] += int(records)
    assert min(sizes.values()) >= least
    assert set(sizes) == set(range(1, len(sizes) + 1))


@pytest.mark.parametrize("seed", range(10))
def test_groups_of_one_case_are_clustered_as_records_are(seed: int) -> None:
    luck = random.Random(seed)
    terms = [sorted(luck.sample(range(12), luck.randint(0, 6))) for _ in range(50)]
    baskets = Baskets(
        np.cumsum([0, *map(len, terms)]).astype(np.int64),
        np.array([t for basket in terms for t in basket], np.int32),
        np.full(12, -1, np.int32),
        np.ones(12, np.bool_),
    )
    part = np.zeros(50, np.int64)
    ones = split_records(baskets, part, 8, 4, np.ones(50, np.int64))
    assert ones.tolist() == split_records(baskets, part, 8, 4).tolist()


@pytest.mark.parametrize("seed", range(20))
def test_a_cluster_admits_what_a_record_holds_in_some_dataset_that_fits(seed: int) -> None:
    made = publication(random.Random(seed), 1, 3)
    found = made.rows()
    names = {
        "clusters": ("cluster", "records"), "joint_clusters": ("joint", "cluster"),
        "record_chunk": ("cluster", "chunk", "subrecord", "term"),
        "shared_chunk": ("joint", "chunk", "subrecord", "term"),
        "item_chunk": ("cluster", "term"),
    }  # fmt: skip
    clusters = Clusters.read(
        {n: [dict(zip(names[n], row, strict=True)) for row in rows] for n, rows in found.items()}
    )
    held = {record for world in worlds(made) for record in world}
    for known in (frozenset(c) for n in range(3) for c in combinations(TERMS, n)):
        assert clusters.admits(1, known) == any(known <= record for record in held)


def test_rows_that_do_not_fit_their_clusters_are_counted(sql: object) -> None:
    tables = load(sql, Published({1: 4, 2: 2}).rows())
    shown = [(1, "A", 1), (2, "A", 1), (3, "A", 1), (3, "A", 1), (4, "B", 2), (5, "B", 3)]
    fill(sql, "shown", ("case_id INTEGER", "region VARCHAR", "cluster INTEGER"), shown)
    found = warehouse(sql).rows(
        "SELECT c.scope, c.violating, c.total FROM srsql.check_row_clusters"
        f"('temp.main.shown', '{tables.clusters}', '{tables.joint_clusters}', 3, 1) AS c"
    )
    assert {scope: (bad, total) for scope, bad, total in found} == {
        "case": (1, 5), "cluster": (2, 3), "region of a cluster": (2, 3), "joint cluster": (0, 0),
    }  # fmt: skip


def test_the_macros_of_groups_and_thresholds_are_the_kernels(sql: object) -> None:
    held = [(r, t) for r in range(8) for t in ({0, 1} if r < 4 else {1, 2})]
    fill(sql, "basket", ("record_no INTEGER", "term_no INTEGER"), held)
    fill(sql, "grouped", ("record_no INTEGER", "group_no INTEGER"), [(r, r // 2) for r in range(8)])
    for name in ("no_constraint", "none_apart"):
        fill(sql, name, ("term_no INTEGER", "constraint_no INTEGER"), [])
    house = warehouse(sql)
    house.run(
        "CREATE OR REPLACE TEMP TABLE role AS FROM srsql.term_roles"
        "('temp.main.basket', 'temp.main.no_constraint', 'temp.main.none_apart')"
    )
    clusters = house.rows(
        "SELECT h.group_no, h.cluster_no FROM srsql.horizontal_groups"
        "('temp.main.basket', 'temp.main.grouped', 'temp.main.role', 5, 4, true) AS h"
    )
    assert len(clusters) == 4
    assert all(n >= 2 for n in Counter(number for _, number in clusters).values())
    fill(sql, "one", ("record_no INTEGER", "cluster_no INTEGER"), [(r, 1) for r in range(8)])
    placed = [(1, 1, t) for t in range(3)]
    fill(sql, "placed", ("cluster_no INTEGER", "chunk_no INTEGER", "term_no INTEGER"), placed)
    bound = ("term_no INTEGER", "value_no INTEGER", "theta_num BIGINT", "theta_den BIGINT")
    fill(sql, "bound", bound, [(0, 0, 2, 5)])
    found = house.rows(
        "SELECT b.chunk_no, b.term_no FROM srsql.bounded_chunks('temp.main.basket', "
        "'temp.main.one', 'temp.main.placed', 'temp.main.bound', 2, 1) AS b"
    )
    chunk = {term: number for number, term in found}
    assert chunk[0] == 0  # half of the records hold it, which is above its threshold
    assert chunk[1] == chunk[2] > 0
