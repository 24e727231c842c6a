"""Releases of which some values are perturbed, and what is known of some of their terms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st
from oracles import nearest as oracle
from oracles.releases import Qid, Release, Value, releases
from oracles.trees import Tree

from srsql.schemas.hierarchy import build_hierarchy

NOISE = Mapping[tuple[int, int], Value]
"""(number of the case, QID) -> what is published in the place of the region of its group."""


def coded(qid: Qid, value: Value) -> tuple[int | None, int | None]:
    if isinstance(value, str):
        tree = build_hierarchy(qid.rows())
        return tree.number[value], tree.last[tree.number[value]]
    return value or (None, None)


def store(sql: Any, release: Release, noise: NOISE) -> None:
    """Write the release to the catalog as number 1, with these perturbed values."""
    release.store(sql, 1)
    sql.rows("DELETE FROM srsql.perturbed")
    sql.insert(
        "srsql.perturbed",
        [(1, n, q, *coded(release.qids[q], value)) for (n, q), value in noise.items()],
    )


def values_of(qid: Qid) -> st.SearchStrategy[Any]:
    if isinstance(qid, Tree):
        return st.sampled_from(sorted(qid.above))
    end = st.integers(0, qid)
    return st.tuples(end, end).map(lambda pair: (min(pair), max(pair)))


@st.composite
def worlds(draw: st.DrawFn) -> tuple[Release, NOISE, oracle.Knowledge]:
    """A release, some of it perturbed, and what is known of some of its terms."""
    release = draw(releases())
    numbers = range(len(release.cases))
    noise = {}
    for q in draw(st.sets(st.sampled_from(range(len(release.qids))))):
        point = values_of(release.qids[q])
        if isinstance(release.qids[q], int) and draw(st.booleans()):
            point = point.map(lambda pair: (pair[0], pair[0]))
        noise |= {(n, q): draw(st.one_of(st.none(), point, point, point)) for n in numbers}
    knowledge = {}
    for term in draw(st.sets(st.sampled_from("stux"))):
        row = st.fixed_dictionaries(
            {}, optional={q: values_of(qid) for q, qid in enumerate(release.qids)}
        ).filter(bool)
        knowledge[term] = draw(st.lists(row, min_size=1, max_size=2))
    return release, noise, knowledge
