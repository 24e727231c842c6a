"""The search for the nearest published records, against all pairs in exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.examples import REPEATABLE
from oracles.nearest import mean_distance
from oracles.trees import Tree, trees

from srsql.schemas.hierarchy import build_hierarchy
from srsql.udfs.risk.nearest_records import NodeDistances, Points, nearest

pytestmark = pytest.mark.slow

Row = tuple[tuple[int, int] | None, ...]


def points(rows: list[Row]) -> Points:
    ends = [[value or (-7, -9) for value in row] for row in rows]
    array = np.array(ends, dtype=np.int64).reshape(len(rows), -1, 2)
    known = np.array([[value is not None for value in row] for row in rows])
    return Points(array[:, :, 0], array[:, :, 1], known)


def node_loss(tree: Tree, first: str, second: str) -> tuple[int, int]:
    one, other = set(tree.path(first)), set(tree.path(second))
    return len(one ^ other), len(one | other)


def distances(qids: list[int | Tree]) -> NodeDistances:
    """Of all pairs of nodes, also of those that no record has."""
    rows = []
    for place, tree in enumerate(qids):
        if isinstance(tree, Tree):
            labels = build_hierarchy(tree.rows()).labels
            for own, first in enumerate(labels):
                for published, second in enumerate(labels):
                    rows.append((place, own, published, *node_loss(tree, first, second)))
    columns = np.array(rows, dtype=np.int64).reshape(-1, 5).T
    return NodeDistances(*columns)


def brute(qids: list[int | Tree], own: list[Row], shown: list[Row]) -> list[tuple[int, int]]:
    labels = [build_hierarchy(q.rows()).labels if isinstance(q, Tree) else () for q in qids]
    pairs = []
    for r, mine in enumerate(own):
        losses = []
        for theirs in shown:
            total = Fraction(0)
            for qid, names, a, b in zip(qids, labels, mine, theirs, strict=True):
                if a is None or b is None:
                    total += a is not b
                elif isinstance(qid, Tree):
                    total += Fraction(*node_loss(qid, names[a[0]], names[b[0]]))
                else:
                    total += mean_distance(Fraction(a[0] + a[1], 2), *b) / qid
            losses.append(total)
        pairs += [(r, t) for t, total in enumerate(losses) if total == min(losses)]
    return pairs


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[int | Tree], list[Row], list[Row]]:
    """Few values, so that many sums tie, and more records than a leaf of the search holds."""
    qids = draw(st.lists(st.one_of(st.sampled_from([3, 7, 12]), trees(6)), min_size=1, max_size=3))

    def value(qid: int | Tree) -> st.SearchStrategy[tuple[int, int] | None]:
        if isinstance(qid, Tree):
            tree = build_hierarchy(qid.rows())
            known = st.integers(0, len(tree.labels) - 1).map(lambda n: (n, tree.last[n]))
        else:
            end = st.integers(0, qid)
            known = st.tuples(end, end).map(lambda pair: (min(pair), max(pair)))
        return st.one_of(known, known, known, st.none())

    row = st.tuples(*map(value, qids))
    return qids, *(draw(st.lists(row, min_size=1, max_size=most, unique=True)) for most in (8, 60))


@REPEATABLE
@given(table=tables())
def test_the_search_finds_what_comparing_all_pairs_finds(
    table: tuple[list[int | Tree], list[Row], list[Row]],
) -> None:
    qids, own, shown = table
    spans = np.array([q if isinstance(q, int) else 0 for q in qids])
    found = nearest(points(own), points(shown), spans, distances(qids))
    assert list(map(tuple, found.tolist())) == brute(qids, own, shown)


@pytest.mark.thorough
def test_the_search_of_many_finds_what_comparing_all_pairs_finds() -> None:
    """Records as a quarter has them, of regions and of points; floats decide nearly all."""
    rng = np.random.default_rng(5)
    sex = Tree({"Any": "", "M": "Any", "F": "Any"})
    qids: list[int | Tree] = [120, 400, sex]

    def drawn(n: int, widest: int) -> list[Row]:
        rows = set()
        for _ in range(n):
            age, weight = int(rng.integers(0, 100)), int(rng.integers(40, 120))
            wide = int(rng.integers(0, widest + 1))
            node = int(rng.integers(0, 3))
            row: Row = (
                (age, age + wide),
                (weight, weight + 2 * wide),
                (node, [2, 1, 2][node]),
            )
            rows.add(tuple(v if rng.random() > 0.1 else None for v in row))
        return sorted(rows, key=repr)

    for widest in (0, 12):
        own, shown = drawn(10, 0), drawn(400, widest)
        found = nearest(points(own), points(shown), np.array([120, 400, 0]), distances(qids))
        assert list(map(tuple, found.tolist())) == brute(qids, own, shown)


def test_nobody_has_nearest_records_where_nothing_is_published() -> None:
    one, none = points([((3, 3),)]), Points(*np.empty((2, 0, 1), np.int64), np.empty((0, 1), bool))
    for own, shown in ((one, none), (none, one)):
        assert nearest(own, shown, np.array([9]), distances([9])).shape == (0, 2)


def test_a_pair_of_nodes_without_a_distance_is_refused() -> None:
    tree = Tree({"a": "", "b": "a"})
    full = distances([tree])
    short = NodeDistances(*(column[:-1] for column in vars(full).values()))
    nodes = points([((0, 1),), ((1, 1),)])
    with pytest.raises(ValueError, match="needs a distance"):
        nearest(nodes, nodes, np.array([0]), short)


def test_sums_that_floats_cannot_tell_apart_are_told_apart() -> None:
    """a / p - b / q = 1 / (p q), about 1e-12: the second record is nearer."""
    p, q = 1_000_003, 1_000_033
    a = pow(q, -1, p)
    b = (a * q - 1) // p
    assert Fraction(a, p) - Fraction(b, q) == Fraction(1, p * q)
    shown: list[Row] = [((a, a), (0, 0)), ((0, 0), (b, b))]
    found = nearest(points([((0, 0), (0, 0))]), points(shown), np.array([p, q]), distances([p, q]))
    assert found.tolist() == [[0, 1]]


def test_sums_that_are_equal_tie_although_floats_differ() -> None:
    assert 0.1 + 0.2 != 0.3
    shown: list[Row] = [((1, 1), (2, 2)), ((3, 3), (0, 0)), ((4, 4), (0, 0))]
    found = nearest(
        points([((0, 0), (0, 0))]), points(shown), np.array([10, 10]), distances([10, 10])
    )
    assert found.tolist() == [[0, 0], [0, 1]]
