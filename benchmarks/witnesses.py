"""Whether a chunk is k^m-anonymous: the search of the check against all sets of m terms."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from srsql.engine.checks.term_chunks import STEPS
from srsql.udfs.checks.cuts import BROKEN, UNDECIDED
from srsql.udfs.checks.witnesses import Chunks, search, warm_up

K, SEED = 5, 2014
# (terms, subrecords, terms that each lacks, m)
SMALL = [(16, 40, 3, 3), (16, 40, 3, 6), (20, 60, 3, 5)]
COMPARED = [*SMALL, (24, 60, 3, 4), (24, 60, 3, 6), (24, 60, 3, 8), (24, 60, 5, 8)]
ALONE = [(40, 160, 5, 8), (40, 160, 5, 12), (80, 400, 4, 4), (200, 1000, 3, 3)]


def chunk(terms: int, subrecords: int, lacks: int) -> NDArray[np.bool_]:
    """[subrecords, terms] which has which: one fewer than k have all, the others lack so many."""
    rng = np.random.default_rng(SEED)
    held = np.ones((subrecords, terms), np.bool_)
    for row in held[K - 1 :]:
        row[rng.choice(terms, lacks, replace=False)] = False
    return held


def packed(held: NDArray[np.bool_]) -> Chunks:
    """The same for the kernel."""
    kinds = Counter(tuple(np.flatnonzero(row).tolist()) for row in held)
    return Chunks(
        np.array([0, len(kinds)], np.int64),
        np.array(list(kinds.values()), np.int64),
        np.cumsum([0, *map(len, kinds)]).astype(np.int64),
        np.array([t for kind in kinds for t in kind], np.int64),
    )


def by_definition(held: NDArray[np.bool_], m: int) -> bool:
    """Whether a set of m terms that occurs does so fewer than k times; smaller ones need no look,
    since every subrecord here has m terms or more."""
    columns = [sum(1 << int(r) for r in np.flatnonzero(held[:, t])) for t in range(held.shape[1])]
    found = False
    for together in combinations(columns, m):
        common = together[0]
        for column in together[1:]:
            common &= column
        found |= 0 < common.bit_count() < K
    return found


def main(small: bool) -> None:
    """Print the table."""
    warm_up()
    names = ("terms", "subrecords", "m", "steps", "ms", "verdict")
    print("".join(f"{name:>12}" for name in names))
    for case in SMALL if small else [*COMPARED, *ALONE]:
        terms, subrecords, lacks, m = case
        held = chunk(terms, subrecords, lacks)
        chunks = packed(held)
        began = perf_counter()
        found = search(chunks, K, m, STEPS)
        seconds = perf_counter() - began
        verdict = int(found.verdict[0])
        name = {BROKEN: "broken", UNDECIDED: "undecided"}.get(verdict, "anonymous")
        cells = (terms, subrecords, m, f"{found.steps[0]:,}", f"{1000 * seconds:.1f}", name)
        line = "".join(f"{cell:>12}" for cell in cells)
        if case in ALONE:
            print(line, flush=True)
            continue
        began = perf_counter()
        broken = by_definition(held, m)
        ratio = (perf_counter() - began) / seconds
        print(f"{line}  by the definition {ratio:,.0f} times as long", flush=True)
        if broken != (verdict == BROKEN):
            raise SystemExit("the search and the definition give different verdicts")
