"""What is told of values where every region of a cluster keeps its thresholds, by brute force."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction

import pytest
from oracles.region_caps import Cluster, Subrecord, by_counting, by_force
from support.published_terms import Place, load, project, warehouse

from srsql.engine.catalog.released_terms import Items
from srsql.engine.checks.region_caps import Promise
from srsql.engine.checks.whole_rows import OtherItems, Told, share_faults, told_values

pytestmark = pytest.mark.slow

SENSITIVE = Items(frozenset({"pt", "indi_pt"}))
TERMS = ("pt:A", "pt:B", "indi_pt:A", "drugname:X", "drugname:Y")
VALUES = {"pt:A": "A", "pt:B": "B", "indi_pt:A": "A"}


def drawn(luck: random.Random) -> tuple[Cluster, dict[str, Fraction], dict[str, int], int]:
    """A cluster of few rows whose originals keep the caps; thresholds, item counts and m."""
    regions = tuple(luck.choice([(2, 3), (2, 2), (1, 3), (5,)]))
    rows = sum(regions)
    records = [frozenset(t for t in TERMS if luck.random() < 0.4) for _ in range(rows)]
    place = {t: luck.choice([1, 1, 1, 2, 0]) for t in TERMS}
    chunks = [
        tuple(p for r in records if (p := r & {t for t in TERMS if place[t] == n})) for n in (1, 2)
    ]
    held = Counter(t for r in records for t in r if place[t] == 0)
    theta = {}
    for value in "AB":
        worst, start = Fraction(1, 6), 0
        for size in regions:
            own = records[start : start + size]
            start += size
            holders = sum(any(VALUES.get(t) == value for t in r) for r in own)
            worst = max(worst, Fraction(holders, size))
        theta[value] = min(Fraction(1), worst + Fraction(luck.randint(0, 1), 7))
    cluster = Cluster(regions, tuple(c for c in chunks if c), frozenset(held))
    return cluster, theta, dict(held), luck.choice([1, 2])


def told_of(
    sql: object, cluster: Cluster, theta: dict[str, Fraction], item_cases: int, m: int, items: Items
) -> dict[str, Told]:
    places: dict[tuple[int, str], Place] = {
        (1, t): ("own", 1, n) for n, c in enumerate(cluster.chunks, 1) for s in c for t in s
    }
    rows = sum(cluster.regions)
    made = project([frozenset()] * rows, [1] * rows, {}, places)
    made.own = {(1, n): list(c) for n, c in enumerate(cluster.chunks, 1)}
    made.items = {1: cluster.items} if cluster.items else {}
    promise = Promise(SENSITIVE, theta, {1: Counter(cluster.regions)}, item_cases)
    given = promise.items if items is SENSITIVE else items
    thresholds = theta if items is SENSITIVE else Fraction(1)
    tables = load(sql, made.rows())
    return {t.value: t for t in told_values(warehouse(sql), tables, given, thresholds, m, promise)}


@pytest.mark.parametrize("seed", range(60))
def test_no_value_is_likelier_in_a_region_than_what_is_told_of_it(seed: int, sql: object) -> None:
    cluster, theta, held, m = drawn(random.Random(seed))
    most = max(held.values(), default=1)
    truth = by_force(cluster, VALUES, theta, held, m)
    told = told_of(sql, cluster, theta, most, m, SENSITIVE)
    counted = {p.value: p for p in by_counting(cluster, VALUES, theta, most, m)}
    assert told.keys() == truth.keys() == counted.keys()
    for value, share in truth.items():
        found, other = told[value], counted[value]
        unknown = other.worst() == 1 and None in (other.all_caps, other.own_cap)
        # a threshold of 1 binds nobody: the oracle need not know of it what it counts
        assert (found.share is None) == unknown or (found.share is None and theta[value] == 1)
        if found.share is not None:
            assert found.share >= share
            assert other.all_caps is not None
            assert other.all_caps >= share
            if found.passed:
                assert other.worst() <= theta[value]


@pytest.mark.parametrize("seed", range(30))
def test_what_is_told_is_exact_where_each_value_and_item_has_one_chunk(
    seed: int, sql: object
) -> None:
    luck = random.Random(1000 + seed)
    cluster, theta, _, m = drawn(luck)
    values = {t: t.partition(":")[2] for t in VALUES if t != "indi_pt:A"}
    chunk = tuple(s - {"indi_pt:A"} for c in cluster.chunks[:1] for s in c if s - {"indi_pt:A"})
    lone = Cluster(cluster.regions, (chunk,) if chunk else (), frozenset())
    truth = by_force(lone, values, theta, {}, m)
    found = by_counting(lone, values, theta, 1, m)
    told = told_of(sql, lone, theta, 1, m, SENSITIVE)
    for place in found:
        if any(len(s) > 1 or values.get(*s) != place.value for s in chunk if s):
            assert place.all_caps == truth[place.value]
            assert told[place.value].share == max(place.all_caps, place.own_cap or 0)
    others = told_of(sql, lone, theta, 1, m, OtherItems(SENSITIVE.sensitive))
    own = {t: t for s in chunk for t in s if t not in values}
    forced = by_force_of_others(lone, values, theta, own, m)
    assert {t: o.share for t, o in others.items()} == forced


def by_force_of_others(
    cluster: Cluster,
    values: dict[str, str],
    theta: dict[str, Fraction],
    own: dict[str, str],
    m: int,
) -> dict[str, Fraction]:
    """The same of items without a threshold: each stands for itself and is never capped."""
    found = by_force(cluster, values | own, theta | dict.fromkeys(own, Fraction(1)), {}, m)
    return {item: found[item] for item in own}


def test_caps_that_press_a_value_into_the_other_region_are_seen(sql: object) -> None:
    theta = {"A": Fraction(2, 5), "B": Fraction(1)}
    # 5 of 15 rows hold A: two in the region of 7, since its cap is 2, and so three of the 8
    held: tuple[Subrecord, ...] = (
        *[frozenset({"pt:A", "drugname:X"})] * 2, *[frozenset({"drugname:X"})] * 3,
        *[frozenset({"pt:A"})] * 3,
    )  # fmt: skip
    cluster = Cluster((7, 8), (held,), frozenset())
    (free,) = by_counting(cluster, VALUES, dict.fromkeys("AB", Fraction(1)), 1, 1)
    assert free.worst() == Fraction(2, 5)
    (place,) = by_counting(cluster, VALUES, theta, 1, 1)
    assert place.worst() == Fraction(4, 9)
    told = told_of(sql, cluster, theta, 1, 1, SENSITIVE)["A"]
    assert told.share == Fraction(4, 9)
    assert told.mixed == ("pt:A",)
    (fault,) = share_faults([told])
    assert "A is told with probability 4/9, its threshold is 2/5" in fault
    apart = ((frozenset({"pt:A"}),) * 5, (frozenset({"drugname:X"}),) * 5)
    alone = Cluster((7, 8), apart, frozenset())
    assert told_of(sql, alone, theta, 1, 1, SENSITIVE)["A"].passed


def test_thresholds_that_no_placement_keeps_are_not_proved(sql: object) -> None:
    held = (*[frozenset({"pt:A", "drugname:X"})] * 4, frozenset({"drugname:X"}))
    cluster = Cluster((5, 5), (held,), frozenset())
    told = told_of(sql, cluster, {"A": Fraction(1, 5), "B": Fraction(1)}, 1, 1, SENSITIVE)["A"]
    assert told.share is None
    assert not told.passed


def test_a_chunk_that_needs_too_many_steps_is_not_proved(
    sql: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("srsql.engine.checks.region_caps.STEPS", 3)
    held = (*[frozenset({"pt:A", "drugname:Z"})] * 3, *[frozenset({"drugname:Z"})] * 2)
    cluster = Cluster((5, 6), (held,), frozenset())
    told = told_of(sql, cluster, {"A": Fraction(2, 5), "B": Fraction(1)}, 1, 1, SENSITIVE)["A"]
    assert (told.share, told.passed) == (None, False)
