"""What HORPART leaves too small becomes clusters of similar records."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from srsql.udfs.integers import whole
from srsql.udfs.problem import Ints


class Chains(NamedTuple):
    """Where the chains lie in the order of the records; parents before their children."""

    start: Ints
    stop: Ints


@njit(cache=True)
def pool_leaves(leaf_start: Ints, chains: Chains, bounds: Ints, least: int) -> Ints:
    """The cluster of every leaf: a number that its leaves share."""
    leaves = len(leaf_start) - 1
    cluster = np.full(leaves, -1, np.int64)
    following = np.full(leaves, -1, np.int64)
    depth = whole(0)
    deepest = len(chains.start) + 1
    head, tail = np.full(deepest, -1, np.int64), np.full(deepest, -1, np.int64)
    size, stop = np.zeros(deepest, np.int64), np.zeros(deepest, np.int64)
    c = part = whole(0)
    last = whole(-1)
    for i in range(leaves):
        while c < len(chains.start) and chains.start[c] == leaf_start[i]:
            depth += 1
            stop[depth] = chains.stop[c]
            size[depth], head[depth] = 0, -1
            c += 1
        records = leaf_start[i + 1] - leaf_start[i]
        if records >= least:
            cluster[i] = last = i
        else:
            last = _into_pool(
                depth, i, i, records, least, head, tail, size, following, cluster, last
            )
        while depth > 0 and stop[depth] == leaf_start[i + 1]:
            depth -= 1
            above, below = depth, depth + 1
            if size[below] == 0:
                continue
            if depth > 0:
                last = _into_pool(
                    above, head[below], tail[below], size[below], least,
                    head, tail, size, following, cluster, last,
                )  # fmt: skip
            else:
                _give(head[below], last, following, cluster)
        if leaf_start[i + 1] == bounds[part + 1]:
            part += 1
            last = -1
    return cluster


@njit(cache=True)
def _into_pool(
    depth: int, first: int, final: int, records: int, least: int, head: Ints, tail: Ints,
    size: Ints, following: Ints, cluster: Ints, last: int,
) -> int:  # fmt: skip
    """Add leaves ``first`` to ``final`` to a pool; the cluster finished last."""
    if size[depth] == 0:
        head[depth] = first
    else:
        following[tail[depth]] = first
    tail[depth] = final
    size[depth] += records
    if size[depth] < least:
        return last
    made = int(head[depth])
    _give(made, made, following, cluster)
    size[depth] = 0
    return made


@njit(cache=True)
def _give(leaf: int, number: int, following: Ints, cluster: Ints) -> None:
    while leaf >= 0:
        cluster[leaf] = number
        leaf = following[leaf]
